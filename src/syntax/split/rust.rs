//! Cuts Rust into items, and modules, impls, traits and foreign blocks into theirs.

use super::lexer::{DEEPEST, Dialect, Kind, Lexer, Token};
use super::{UnitKind, Units};

pub(super) fn split(source: &[u8]) -> Option<Units> {
    let mut lexer = Lexer::new(source, Dialect::Rust);
    let mut units = Units::default();
    items(&mut lexer, &mut units, 0)?;
    units.comments = lexer.comments;
    units.literals = lexer.literals;
    Some(units)
}

/// Deeper modules are single units.
const DEEPEST_MODULE: usize = 40;

/// How an item ends.
enum End {
    Semicolon,
    /// At the first body, or a semicolon instead of it.
    Body,
    /// As `Body`, and the body holds items.
    Items,
    /// A macro call: after a body, or at the semicolon after other brackets.
    Call,
}

/// Reads items up to the end of the source or the bracket that closes their container.
fn items(lexer: &mut Lexer<'_>, units: &mut Units, level: usize) -> Option<()> {
    const { assert!(DEEPEST_MODULE < DEEPEST) };
    loop {
        let first = lexer.next()?;
        match first.kind {
            Kind::End if level == 0 => return Some(()),
            Kind::Close if level > 0 => return Some(()),
            Kind::Word | Kind::Punct => {}
            _ => return None,
        }
        let idx = units.open(first.lead, UnitKind::Item);
        let end = item(lexer, units, idx, first, level)?;
        units.close(idx, end);
    }
}

fn item(
    lexer: &mut Lexer<'_>,
    units: &mut Units,
    idx: usize,
    first: Token,
    level: usize,
) -> Option<usize> {
    let mut token = first;
    while lexer.mark(token) == b'#' {
        token = lexer.next()?;
        if lexer.mark(token) == b'!' {
            token = lexer.next()?;
        }
        if lexer.mark(token) != b'[' {
            return None;
        }
        let close = lexer.plain_group()?;
        if matches!(lexer.peek()?.kind, Kind::End | Kind::Close) {
            return Some(close.end);
        }
        token = lexer.next()?;
    }
    if lexer.mark(token) == b';' {
        return Some(token.end);
    }
    let end = head(lexer, token)?;
    let mut before = lexer.last;
    if let End::Call = end {
        return call(lexer);
    }
    // A brace inside type arguments or after a default is a constant, not a body.
    let mut angles = 0_usize;
    loop {
        let token = lexer.next()?;
        match (token.kind, lexer.mark(token)) {
            (Kind::End | Kind::Close, _) => return None,
            (_, b';') => return Some(token.end),
            (_, b'<') => angles += 1,
            (_, b'>') if !matches!(lexer.byte(token.start - 1), b'-' | b'=') => {
                angles = angles.saturating_sub(1);
            }
            (Kind::Open, b'{') => {
                let in_type = angles > 0 || lexer.mark(before) == b'=';
                match end {
                    End::Semicolon | End::Call => {}
                    End::Body | End::Items if in_type => {}
                    End::Items if level < DEEPEST_MODULE => {
                        units.make_container(idx, token.end);
                        items(lexer, units, level + 1)?;
                        return Some(lexer.last.end);
                    }
                    End::Body | End::Items => return Some(lexer.group(before, units)?.end),
                }
                lexer.group(before, units)?;
            }
            (Kind::Open, _) => {
                lexer.group(before, units)?;
            }
            _ => {}
        }
        before = lexer.last;
    }
}

/// Reads the words that tell what an item is.
fn head(lexer: &mut Lexer<'_>, first: Token) -> Option<End> {
    let mut token = first;
    loop {
        if token.kind == Kind::Literal {
            // The ABI of `extern "C" fn`.
            token = lexer.next()?;
            continue;
        }
        if token.kind != Kind::Word {
            return (lexer.mark(token) == b':').then_some(End::Call);
        }
        let next = lexer.peek()?;
        let end = match lexer.text(token) {
            b"pub" => {
                if lexer.mark(next) == b'(' {
                    lexer.next()?;
                    lexer.plain_group()?;
                }
                token = lexer.next()?;
                continue;
            }
            b"extern" if next.kind == Kind::Literal => {
                lexer.next()?;
                if lexer.peek_mark()? == b'{' {
                    return Some(End::Items);
                }
                token = lexer.next()?;
                continue;
            }
            b"extern" if lexer.mark(next) == b'{' => return Some(End::Items),
            b"extern" if lexer.is_word(next, "crate") => End::Semicolon,
            b"const" if lexer.is_one_of(next, &["fn", "unsafe", "async", "extern"]) => {
                token = lexer.next()?;
                continue;
            }
            b"unsafe" | b"async" | b"default" | b"safe" | b"auto" | b"extern"
                if next.kind == Kind::Word =>
            {
                token = lexer.next()?;
                continue;
            }
            b"fn" | b"struct" | b"enum" => End::Body,
            b"union" if next.kind == Kind::Word => End::Body,
            b"impl" | b"trait" | b"mod" => End::Items,
            b"use" | b"static" | b"type" => End::Semicolon,
            b"const" if next.kind == Kind::Word => End::Semicolon,
            _ if matches!(lexer.mark(next), b'!' | b':') => End::Call,
            _ => return None,
        };
        return Some(end);
    }
}

/// Reads a macro call or definition after its first word.
fn call(lexer: &mut Lexer<'_>) -> Option<usize> {
    loop {
        let token = lexer.next()?;
        match (token.kind, lexer.mark(token)) {
            (Kind::Word, _) | (_, b':' | b'!') => {}
            (Kind::Open, open) => {
                let close = lexer.plain_group()?;
                let semicolon = lexer.peek_mark()? == b';';
                return match (open, semicolon) {
                    (_, true) => Some(lexer.next()?.end),
                    (b'{', false) => Some(close.end),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
}
