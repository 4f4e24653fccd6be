//! The lexical side of patterns and templates: where metavariables stand in a text (D8).
//!
//! `$NAME` is one node, `$$$NAME` a run, NAME being `[A-Z_][A-Z0-9_]*`; a name that begins with `_`
//! binds nothing; `$$$` alone is an anonymous run; `\$NAME` writes a literal `$NAME`. Everything else,
//! `$abc` and `$1` too, is text. It must not know any grammar.

use std::ops::Range;

/// A piece of a pattern or a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text, escapes resolved.
    Text(String),
    /// A metavariable.
    Meta(Meta),
}

/// A metavariable as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// The name without dollars; empty for `$$$`.
    pub name: String,
    /// Whether it stands for a run of siblings.
    pub run: bool,
    /// Where it stands in the text.
    pub span: Range<usize>,
}

impl Piece {
    /// Bytes that it takes in the text, about.
    pub fn len(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Meta(meta) => meta.span.len(),
        }
    }
}

impl Meta {
    /// Whether the name captures (it is not anonymous and does not begin with `_`).
    pub fn binds(&self) -> bool {
        !self.name.is_empty() && !self.name.starts_with('_')
    }

    /// The metavariable as users write it.
    pub fn written(&self) -> String {
        format!("{}{}", if self.run { "$$$" } else { "$" }, self.name)
    }
}

/// Splits a text into literal pieces and metavariables.
pub(crate) fn lex(text: &str) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'$') {
            let dollars = bytes[at + 1..].iter().take_while(|b| **b == b'$').count();
            let name = name_len(&bytes[at + 1 + dollars..]);
            if (dollars == 1 && name > 0) || dollars == 3 {
                literal.push_str(&text[at + 1..at + 1 + dollars + name]);
                at += 1 + dollars + name;
                continue;
            }
        }
        if bytes[at] == b'$' {
            let dollars = bytes[at..].iter().take_while(|b| **b == b'$').count();
            let name = name_len(&bytes[at + dollars..]);
            let run = dollars == 3;
            if run || (dollars == 1 && name > 0) {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                let end = at + dollars + name;
                pieces.push(Piece::Meta(Meta {
                    name: text[at + dollars..end].to_owned(),
                    run,
                    span: at..end,
                }));
                at = end;
                continue;
            }
            literal.push_str(&text[at..at + dollars]);
            at += dollars;
            continue;
        }
        let len = text[at..].chars().next().map_or(1, char::len_utf8);
        literal.push_str(&text[at..at + len]);
        at += len;
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    pieces
}

/// Length of the metavariable name at the start of the bytes; 0 where none stands.
///
/// A name must not run on into lower-case letters: `$Ab` is literal text.
fn name_len(bytes: &[u8]) -> usize {
    let first_ok = bytes
        .first()
        .is_some_and(|b| b.is_ascii_uppercase() || *b == b'_');
    if !first_ok {
        return 0;
    }
    let len = bytes
        .iter()
        .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_')
        .count();
    match bytes.get(len) {
        Some(b) if b.is_ascii_lowercase() || *b >= 0x80 => 0,
        _ => len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        lex(text)
            .into_iter()
            .map(|p| match p {
                Piece::Text(t) => t,
                Piece::Meta(m) => format!("<{}>", m.written()),
            })
            .collect()
    }

    #[test]
    fn names_and_runs_are_lexed_longest_first() {
        // D8
        assert_eq!(shown("f($A, $$$ARGS, $_)"), "f(<$A>, <$$$ARGS>, <$_>)");
        assert_eq!(shown("$A1($B2)$$$"), "<$A1>(<$B2>)<$$$>");
        assert_eq!(shown("$_X $__"), "<$_X> <$__>");
    }

    #[test]
    fn other_dollars_are_text() {
        // D8
        for text in [
            "$abc", "$Ab", "$1", "$", "$$", "$$A", "$$$$", "${A}", "$É", "\\$x",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn a_backslash_writes_a_literal() {
        // D8
        assert_eq!(shown("\\$NAME"), "$NAME");
        assert_eq!(shown("a\\$$$B"), "a$$$B");
        assert_eq!(shown("\\\\n"), "\\\\n");
    }
}
