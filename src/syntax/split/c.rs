//! Cuts C into top-level declarations and preprocessor lines.
//!
//! Conditionals are containers, as in the grammar. Where macros make the ends of declarations a
//! matter of taste, the unit grows until a semicolon or a function body ends it for sure.

use super::lexer::{Dialect, Kind, Lexer, Token};
use super::{UnitKind, Units};

pub(super) fn split(source: &[u8]) -> Option<Units> {
    let mut lexer = Lexer::new(source, Dialect::C);
    let mut units = Units::default();
    let mut conditionals: Vec<usize> = Vec::new();
    loop {
        let first = lexer.next()?;
        match first.kind {
            Kind::End => return conditionals.is_empty().then_some(units),
            Kind::Directive => directive(&lexer, &mut units, &mut conditionals, first)?,
            Kind::Word => {
                let idx = units.open(first.lead, UnitKind::Item);
                let mut end = declaration(&mut lexer, &mut units, first)?;
                while lexer.peek_mark()? == b';' {
                    end = lexer.next()?.end;
                }
                units.close(idx, end);
            }
            _ => return None,
        }
    }
}

fn directive(
    lexer: &Lexer<'_>,
    units: &mut Units,
    conditionals: &mut Vec<usize>,
    token: Token,
) -> Option<()> {
    let name = lexer.text(token)[1..].trim_ascii_start();
    // The nodes of most directives hold the line break that ends them.
    let line_end = (token.end + 1).min(lexer.source.len());
    if name.starts_with(b"if") {
        let idx = units.open(token.lead, UnitKind::Container);
        conditionals.push(idx);
    } else if name.starts_with(b"endif") {
        let idx = conditionals.pop()?;
        units.close(idx, token.end);
        // The lines of the other branches stand between the members, so the header is everything.
        let end = units.list[idx].range.end;
        units.make_container(idx, end);
    } else if !name.starts_with(b"el") {
        let idx = units.open(token.lead, UnitKind::Item);
        units.close(idx, line_end);
    }
    Some(())
}

fn declaration(lexer: &mut Lexer<'_>, units: &mut Units, first: Token) -> Option<usize> {
    let mut token = first;
    let mut before = first;
    let mut aggregate = false;
    let mut attribute = false;
    loop {
        match (token.kind, lexer.mark(token)) {
            (Kind::End | Kind::Close | Kind::Directive, _) => return None,
            (_, b';') => return Some(token.end),
            (Kind::Open, b'{') => {
                let is_body = lexer.mark(before) == b')' && !(aggregate && attribute);
                let close = lexer.group(before, units)?;
                let next = lexer.peek()?;
                if is_body && (next.line_break || next.kind == Kind::End) {
                    return Some(close.end);
                }
            }
            (Kind::Open, _) => {
                lexer.group(before, units)?;
            }
            _ => {
                aggregate |= lexer.is_one_of(token, &["struct", "union", "enum"]);
                attribute |= lexer.is_one_of(token, &["__attribute__", "__declspec"]);
            }
        }
        before = lexer.last;
        token = lexer.next()?;
    }
}
