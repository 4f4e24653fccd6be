//! Cuts Dart and Java into declarations, and class bodies into members.
//!
//! In both every declaration ends with a semicolon or with its body, so no line break matters.

use super::lexer::{Dialect, Kind, Lexer, Token};
use super::{UnitKind, Units};

pub(super) fn split_dart(source: &[u8]) -> Option<Units> {
    split(source, &DART)
}

pub(super) fn split_java(source: &[u8]) -> Option<Units> {
    split(source, &JAVA)
}

struct Grammar {
    dialect: Dialect,
    /// Words that may stand before the one that tells what is declared.
    modifiers: &'static [&'static str],
    /// Words that begin a declaration whose body holds members.
    containers: &'static [&'static str],
    /// Words after which a declaration does not end with a body but with a semicolon.
    assigning: &'static [&'static str],
}

const DART: Grammar = Grammar {
    dialect: Dialect::Dart,
    modifiers: &["abstract", "base", "final", "interface", "mixin", "sealed"],
    containers: &["class", "extension", "mixin"],
    assigning: &[],
};

const JAVA: Grammar = Grammar {
    dialect: Dialect::Java,
    modifiers: &[
        "abstract",
        "final",
        "private",
        "protected",
        "public",
        "sealed",
        "static",
        "strictfp",
    ],
    containers: &["class", "interface", "record"],
    assigning: &["default"],
};

/// Deeper classes are single units.
const DEEPEST_CLASS: usize = 40;

fn split(source: &[u8], grammar: &Grammar) -> Option<Units> {
    let mut lexer = Lexer::new(source, grammar.dialect);
    let mut units = Units::default();
    declarations(&mut lexer, &mut units, grammar, 0)?;
    units.comments = lexer.comments;
    units.literals = lexer.literals;
    Some(units)
}

/// Reads declarations up to the end of the source or the brace that closes their class.
fn declarations(
    lexer: &mut Lexer<'_>,
    units: &mut Units,
    grammar: &Grammar,
    level: usize,
) -> Option<()> {
    loop {
        let first = lexer.next()?;
        match first.kind {
            Kind::End if level == 0 => return Some(()),
            Kind::Close if level > 0 => return Some(()),
            Kind::End | Kind::Close => return None,
            _ => {}
        }
        let idx = units.open(first.lead, UnitKind::Item);
        let mut end = declaration(lexer, units, grammar, idx, first, level)?;
        while lexer.peek_mark()? == b';' {
            end = lexer.next()?.end;
        }
        units.close(idx, end);
    }
}

fn declaration(
    lexer: &mut Lexer<'_>,
    units: &mut Units,
    grammar: &Grammar,
    idx: usize,
    first: Token,
    level: usize,
) -> Option<usize> {
    let mut token = annotations(lexer, first)?;
    while lexer.is_one_of(token, grammar.modifiers) && lexer.peek()?.kind == Kind::Word {
        token = lexer.next()?;
    }
    // `non-sealed`, and `@interface`, which `annotations` left alone.
    while lexer.mark(token) == b'@' || lexer.mark(token) == b'-' || lexer.is_word(token, "non") {
        token = lexer.next()?;
    }
    let is_container = level < DEEPEST_CLASS
        && lexer.is_one_of(token, grammar.containers)
        && lexer.peek()?.kind == Kind::Word;
    let mut state = State {
        grammar,
        assigned: false,
        operator: false,
        parameters: false,
        initializers: false,
        is_type: false,
    };
    let mut before = token;
    loop {
        match (token.kind, lexer.mark(token)) {
            (Kind::End | Kind::Close, _) => return None,
            (_, b';') => return Some(token.end),
            (Kind::Open, b'{') if is_container => {
                units.make_container(idx, token.end);
                declarations(lexer, units, grammar, level + 1)?;
                return Some(lexer.last.end);
            }
            (Kind::Open, b'{') => {
                let inside = lexer.peek()?;
                // Only a constructor may begin so.
                let delegates = lexer.is_one_of(inside, &["super", "this"]);
                let close = lexer.group(before, units)?;
                // The members of an enum need what stands before them.
                if state.is_type {
                    units.cuts.retain(|(cut, _)| cut.start < token.start);
                }
                if state.ends_after_body(lexer)? {
                    // What makes a function of Dart asynchronous stands in its header.
                    if lexer.dialect == Dialect::Java
                        && state.parameters
                        && !state.is_type
                        && !delegates
                    {
                        let header = first.lead..token.start;
                        units.cuts.push((header, UnitKind::Header));
                    }
                    return Some(close.end);
                }
            }
            (Kind::Open, open) => {
                lexer.group(before, units)?;
                state.parameters |= open == b'(';
            }
            _ => state.see(lexer, token),
        }
        before = lexer.last;
        token = lexer.next()?;
    }
}

/// Steps over annotations, each with its arguments.
fn annotations(lexer: &mut Lexer<'_>, first: Token) -> Option<Token> {
    let mut token = first;
    while lexer.mark(token) == b'@' {
        let name = lexer.peek()?;
        if lexer.is_word(name, "interface") {
            return Some(token);
        }
        token = lexer.next()?;
        if token.kind != Kind::Word {
            return None;
        }
        loop {
            token = lexer.next()?;
            match lexer.mark(token) {
                b'.' => {
                    lexer.next()?;
                }
                b'(' => {
                    lexer.plain_group()?;
                    token = lexer.next()?;
                    break;
                }
                b'<' if lexer.dialect == Dialect::Dart => return None,
                _ => break,
            }
        }
    }
    Some(token)
}

struct State<'a> {
    grammar: &'a Grammar,
    /// An expression has begun, so braces belong to it and only a semicolon ends.
    assigned: bool,
    /// The name of an operator may hold an equals sign.
    operator: bool,
    parameters: bool,
    /// The initializers of a constructor have begun: its body may follow, and literals before it.
    initializers: bool,
    /// A class of a kind that is no container here.
    is_type: bool,
}

impl State<'_> {
    fn see(&mut self, lexer: &Lexer<'_>, token: Token) {
        match lexer.mark(token) {
            b'=' => {
                let before = lexer.byte(token.start.wrapping_sub(1));
                let compares =
                    matches!(before, b'=' | b'<' | b'>' | b'!') || lexer.byte(token.end) == b'=';
                let names_operator = self.operator && !self.parameters;
                self.assigned |= !compares && !names_operator && !self.initializers;
            }
            b':' if self.parameters && self.grammar.dialect == Dialect::Dart => {
                self.initializers |= !self.assigned;
            }
            _ => {
                self.operator |= lexer.is_word(token, "operator");
                self.is_type |= lexer.is_one_of(token, &["class", "enum", "interface", "record"]);
                // Before the parameters of a Java method the same word is a modifier.
                self.assigned |= self.parameters && lexer.is_one_of(token, self.grammar.assigning);
            }
        }
    }

    fn ends_after_body(&self, lexer: &mut Lexer<'_>) -> Option<bool> {
        if self.assigned {
            return Some(false);
        }
        if !self.initializers {
            return Some(true);
        }
        let next = lexer.peek()?;
        let begins_member =
            matches!(next.kind, Kind::Word | Kind::Close | Kind::End) || lexer.mark(next) == b'@';
        Some(begins_member)
    }
}
