//! Places in a text as servers count them, and as byte offsets.
//!
//! A server counts the units of a line in the encoding that it chose, from 0, and ends lines at `\n`,
//! `\r\n` and a lone `\r`; the tools count scalar values from 1 and end lines at `\n`. Byte offsets of the
//! text without its byte order mark are what both are converted through.

use std::sync::Arc;

use lsp_types::{Position, Range};

/// The units in which a server counts inside a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which is what a server means that names nothing.
    #[default]
    Utf16,
    /// Scalar values.
    Utf32,
}

/// The lines of one text as the protocol counts them.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Arc<[usize]>,
}

impl Encoding {
    /// Reads the name that a server gives; an unknown one is UTF-16.
    pub fn named(name: &str) -> Self {
        match name {
            "utf-8" | "utf8" => Self::Utf8,
            "utf-32" | "utf32" => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    /// Returns the name that the protocol uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    fn units(self, ch: char) -> usize {
        match self {
            Self::Utf8 => ch.len_utf8(),
            Self::Utf16 => ch.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text that has no byte order mark.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self {
            text,
            starts: starts.into(),
        }
    }

    /// The lines of a text whose starts were found before.
    pub(crate) fn with_starts(text: &'a str, starts: Arc<[usize]>) -> Self {
        Self { text, starts }
    }

    /// Returns where the lines start, for [`Self::with_starts`].
    pub(crate) fn starts(&self) -> Arc<[usize]> {
        Arc::clone(&self.starts)
    }

    /// Returns the byte offset of a place; one past the end of its line is the end of the line, and one
    /// inside a character is the beginning of the character.
    pub fn offset(&self, place: Position, encoding: Encoding) -> usize {
        let line = place.line as usize;
        let Some(start) = self.starts.get(line).copied() else {
            return self.text.len();
        };
        let content = self.content(line);
        let mut left = place.character as usize;
        for (at, ch) in content.char_indices() {
            let units = encoding.units(ch);
            if left < units {
                return start + at;
            }
            left -= units;
        }
        start + content.len()
    }

    /// Returns the byte offsets of a range; one that ends before it starts is empty.
    pub fn range(&self, range: Range, encoding: Encoding) -> std::ops::Range<usize> {
        let start = self.offset(range.start, encoding);
        let end = self.offset(range.end, encoding);
        start..end.max(start)
    }

    /// Returns the place of a byte offset; one inside a character is its beginning.
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let character = self.text[start..offset]
            .chars()
            .map(|ch| encoding.units(ch))
            .sum::<usize>();
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: u32::try_from(character).unwrap_or(u32::MAX),
        }
    }

    /// Returns a line without its ending.
    fn content(&self, line: usize) -> &'a str {
        let start = self.starts[line];
        let end = self
            .starts
            .get(line + 1)
            .copied()
            .unwrap_or(self.text.len());
        let content = &self.text[start..end];
        let content = content.strip_suffix('\n').unwrap_or(content);
        content.strip_suffix('\r').unwrap_or(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, line: u32, character: u32, encoding: Encoding) -> usize {
        Lines::new(text).offset(Position { line, character }, encoding)
    }

    // The same place in three encodings, both ways; an emoji has 4, 2 and 1 units.
    #[test]
    fn every_encoding_counts_its_own_units() {
        let text = "a😀é = x\r\nnext";
        for (encoding, units) in [
            (Encoding::Utf8, [0, 1, 5, 7]),
            (Encoding::Utf16, [0, 1, 3, 4]),
            (Encoding::Utf32, [0, 1, 2, 3]),
        ] {
            for (character, offset) in units.into_iter().zip([0, 1, 5, 7]) {
                assert_eq!(at(text, 0, character, encoding), offset, "{encoding:?}");
                let place = Lines::new(text).position(offset, encoding);
                assert_eq!(
                    (place.line, place.character),
                    (0, character),
                    "{encoding:?}"
                );
            }
        }
    }

    #[test]
    fn past_the_end_is_the_end_and_a_half_character_its_beginning() {
        let text = "a😀\r\nb\rc\n";
        assert_eq!(at(text, 0, 99, Encoding::Utf16), 5);
        assert_eq!(at(text, 0, 2, Encoding::Utf16), 1);
        assert_eq!(at(text, 0, 3, Encoding::Utf8), 1);
        assert_eq!(at(text, 1, 0, Encoding::Utf16), 7);
        assert_eq!(at(text, 2, 0, Encoding::Utf16), 9, "a lone CR ends a line");
        assert_eq!(at(text, 3, 0, Encoding::Utf16), text.len());
        assert_eq!(at(text, 99, 0, Encoding::Utf16), text.len());
    }

    #[test]
    fn a_range_that_runs_backwards_is_empty() {
        let lines = Lines::new("abc");
        let place = |character| Position { line: 0, character };
        let range = Range::new(place(2), place(1));
        assert_eq!(lines.range(range, Encoding::Utf8), 2..2);
    }

    #[test]
    fn names_are_read_and_written() {
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            assert_eq!(Encoding::named(encoding.as_str()), encoding);
        }
        assert_eq!(Encoding::named("klingon"), Encoding::Utf16);
    }
}
