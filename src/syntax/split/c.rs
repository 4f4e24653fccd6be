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
            Kind::End => {
                units.comments = lexer.comments;
                units.literals = lexer.literals;
                return conditionals.is_empty().then_some(units);
            }
            Kind::Directive => directive(&lexer, &mut units, &mut conditionals, first)?,
            Kind::Word => {
                let idx = units.open(first.lead, UnitKind::Item);
                let mut end = declaration(&mut lexer, &mut units, first)?;
                while lexer.peek_mark()? == b';' {
                    end = lexer.next()?.end;
                }
                units.close(idx, whole_lines(&lexer, first.lead, end));
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
    let line_end = whole_lines(lexer, token.lead, token.end);
    if name.starts_with(b"if") {
        let idx = units.open(token.lead, UnitKind::Container);
        conditionals.push(idx);
    } else if name.starts_with(b"endif") {
        let idx = conditionals.pop()?;
        units.close(
            idx,
            whole_lines(lexer, units.list[idx].range.start, token.end),
        );
        // The lines of the other branches stand between the members, so the header is everything.
        let end = units.list[idx].range.end;
        units.make_container(idx, end);
    } else if !name.starts_with(b"el") {
        let idx = units.open(token.lead, UnitKind::Item);
        units.close(idx, line_end);
    }
    Some(())
}

/// Takes the blank lines after a unit into it when it begins a line.
///
/// The node of a directive holds the line breaks that follow it, so none may be added to them.
fn whole_lines(lexer: &Lexer<'_>, start: usize, end: usize) -> usize {
    let source = lexer.source;
    let line_start = memchr::memrchr(b'\n', &source[..start]).map_or(0, |at| at + 1);
    if source[line_start..start].iter().any(|&byte| byte > b' ') {
        return end;
    }
    let rest = &source[end..];
    let len = rest.iter().position(|&byte| byte > b' ');
    let blank = &rest[..len.unwrap_or(rest.len())];
    end + memchr::memrchr(b'\n', blank).map_or(0, |at| at + 1)
}

fn declaration(lexer: &mut Lexer<'_>, units: &mut Units, first: Token) -> Option<usize> {
    let mut token = first;
    let mut before = first;
    let mut aggregate = false;
    let mut attribute = false;
    let n_directives = lexer.n_directives;
    loop {
        match (token.kind, lexer.mark(token)) {
            (Kind::End | Kind::Close, _) => return None,
            (_, b';') => return Some(token.end),
            (Kind::Open, b'{') => {
                let is_body = lexer.mark(before) == b')' && !(aggregate && attribute);
                let before_body = lexer.n_directives;
                let close = lexer.group(before, units)?;
                let next = lexer.peek()?;
                if is_body && (next.line_break || next.kind == Kind::End) {
                    // A part of a header in a conditional is one of several headers.
                    if before_body == n_directives {
                        let header = first.lead..token.start;
                        units.cuts.push((header, UnitKind::Header));
                    }
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
        // No declaration goes on behind a line of the preprocessor, so what stands before it are macros.
        if lexer.peek()?.kind == Kind::Directive {
            return Some(before.end);
        }
        token = lexer.next()?;
    }
}
