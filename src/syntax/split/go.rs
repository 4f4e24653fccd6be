//! Cuts Go into its top-level declarations.

use super::lexer::{Dialect, Kind, Lexer, Token};
use super::{UnitKind, Units};

pub(super) fn split(source: &[u8]) -> Option<Units> {
    let mut lexer = Lexer::new(source, Dialect::Go);
    let mut units = Units::default();
    let mut unit: Option<usize> = None;
    let mut before = lexer.last;
    loop {
        let token = lexer.next()?;
        if token.kind == Kind::End {
            if let Some(idx) = unit {
                units.close(idx, before.end);
            }
            units.comments = lexer.comments;
            units.literals = lexer.literals;
            return Some(units);
        }
        let begins = lexer.is_one_of(token, DECLARATIONS) && ends_statement(&lexer, before, token);
        if begins || unit.is_none() {
            if !begins {
                return None;
            }
            if let Some(idx) = unit {
                units.close(idx, before.end);
            }
            unit = Some(units.open(token.lead, UnitKind::Item));
        }
        match token.kind {
            Kind::Close => return None,
            Kind::Open => before = lexer.group(before, &mut units)?,
            _ => before = token,
        }
    }
}

const DECLARATIONS: &[&str] = &["package", "import", "func", "type", "var", "const"];

/// Words after which a line break does not end a statement.
const UNFINISHED: &[&str] = &[
    "package",
    "import",
    "func",
    "type",
    "var",
    "const",
    "chan",
    "map",
    "struct",
    "interface",
];

/// Whether the language puts a semicolon between the two tokens, or one is there.
fn ends_statement(lexer: &Lexer<'_>, before: Token, token: Token) -> bool {
    match before.kind {
        Kind::End => true,
        Kind::Punct => lexer.mark(before) == b';',
        Kind::Word => token.line_break && !lexer.is_one_of(before, UNFINISHED),
        _ => token.line_break,
    }
}
