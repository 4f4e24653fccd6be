//! Lines, columns, encodings and line endings of file content, all over bytes.
//!
//! Nothing here fails or panics on bytes that are no text: a sequence that is not UTF-8 counts as one
//! character, as it would show when printed lossily. Lines end with LF or CRLF; a lone CR is content.

pub mod terminal;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};

use crate::limits;

/// The UTF-8 byte order mark.
pub const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// What the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// Valid UTF-8 without a byte order mark.
    Utf8,
    /// Valid UTF-8 that starts with a byte order mark.
    Utf8Bom,
    /// UTF-16 with a little-endian byte order mark.
    Utf16Le,
    /// UTF-16 with a big-endian byte order mark.
    Utf16Be,
    /// Text in some other encoding, such as Latin-1.
    NotUtf8,
    /// A NUL in the first 8 KiB, as ripgrep decides it.
    Binary,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
}

/// A place as people count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in Unicode scalar values, from 1.
    pub column: usize,
}

/// The starts of all lines of one content, which it borrows.
#[derive(Clone, Debug)]
pub struct LineIndex<'a> {
    bytes: &'a [u8],
    starts: Arc<[usize]>,
}

impl TextKind {
    /// Looks at the bytes and decides.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"\xFF\xFE") {
            return Self::Utf16Le;
        }
        if bytes.starts_with(b"\xFE\xFF") {
            return Self::Utf16Be;
        }
        let probe = &bytes[..bytes.len().min(limits::BINARY_PROBE_BYTES)];
        if memchr(0, probe).is_some() {
            return Self::Binary;
        }
        match std::str::from_utf8(bytes) {
            Ok(_) if bytes.starts_with(UTF8_BOM) => Self::Utf8Bom,
            Ok(_) => Self::Utf8,
            Err(_) => Self::NotUtf8,
        }
    }

    /// Tells whether the bytes can be read and rewritten as UTF-8.
    pub fn is_utf8(self) -> bool {
        matches!(self, Self::Utf8 | Self::Utf8Bom)
    }
}

impl LineEnding {
    /// The ending that most lines have; LF wins a tie. `None` when no line ends.
    pub fn dominant(bytes: &[u8]) -> Option<Self> {
        let mut n_lf = 0_usize;
        let mut n_crlf = 0_usize;
        for at in memchr_iter(b'\n', bytes) {
            if at > 0 && bytes[at - 1] == b'\r' {
                n_crlf += 1;
            } else {
                n_lf += 1;
            }
        }
        match (n_lf, n_crlf) {
            (0, 0) => None,
            (n_lf, n_crlf) if n_crlf > n_lf => Some(Self::CrLf),
            _ => Some(Self::Lf),
        }
    }

    /// The characters of the ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of `bytes`. A byte order mark belongs to no line.
    pub fn new(bytes: &'a [u8]) -> Self {
        let first = if bytes.starts_with(UTF8_BOM) {
            UTF8_BOM.len()
        } else {
            0
        };
        let mut starts = vec![first];
        starts.extend(memchr_iter(b'\n', bytes).map(|at| at + 1));
        // A final newline ends the last line and starts no other.
        if starts.len() > 1 && starts.last() == Some(&bytes.len()) {
            starts.pop();
        }
        Self {
            bytes,
            starts: starts.into(),
        }
    }

    /// The lines of a content whose starts were found before.
    pub(crate) fn with_starts(bytes: &'a [u8], starts: Arc<[usize]>) -> Self {
        Self { bytes, starts }
    }

    /// Returns where the lines start, for [`Self::with_starts`].
    pub(crate) fn starts(&self) -> Arc<[usize]> {
        Arc::clone(&self.starts)
    }

    /// How many lines there are; an empty content has one empty line.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// The line, from 1, that holds the byte at `offset`; an offset past the end is on the last line.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1)
    }

    /// The line and column of the byte at `offset`, which is taken as the end when it is past it.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.bytes.len());
        let line = self.line_of(offset);
        let start = self.starts[line - 1];
        let before = self.bytes.get(start..offset).unwrap_or_default();
        Position {
            line,
            column: count_chars(before) + 1,
        }
    }

    /// The bytes range of a line, from 1, without its ending. `None` when there is no such line.
    pub fn line_range(&self, line: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let mut end = match self.starts.get(line) {
            Some(next) => *next,
            None => self.bytes.len(),
        };
        if end > start && self.bytes[end - 1] == b'\n' {
            end -= 1;
            if end > start && self.bytes[end - 1] == b'\r' {
                end -= 1;
            }
        }
        Some(start..end)
    }

    /// A line, from 1, without its ending; what is not UTF-8 shows as U+FFFD.
    pub fn line(&self, line: usize) -> Option<Cow<'a, str>> {
        let range = self.line_range(line)?;
        Some(String::from_utf8_lossy(&self.bytes[range]))
    }
}

/// Keeps at most `max_chars` characters of a line; what was cut shows as one `…` more.
pub fn clip(line: &str, max_chars: usize) -> Cow<'_, str> {
    // A line of at most that many bytes has at most that many characters.
    if line.len() <= max_chars {
        return Cow::Borrowed(line);
    }
    match line.char_indices().nth(max_chars) {
        None => Cow::Borrowed(line),
        Some((end, _)) => Cow::Owned(format!("{}…", &line[..end])),
    }
}

fn count_chars(bytes: &[u8]) -> usize {
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()))
        .sum()
}

/// A number with its noun: `1 file`, `2 files`.
pub fn counted(n: usize, noun: &str) -> String {
    counted_plural(n, noun, &format!("{noun}s"))
}

/// A number with a noun whose plural is irregular: `1 match`, `2 matches`.
pub fn counted_plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(bytes: &[u8], offset: usize) -> (usize, usize) {
        let position = LineIndex::new(bytes).position(offset);
        (position.line, position.column)
    }

    // D15: lines and columns count from 1, columns in Unicode scalar values.
    #[test]
    fn columns_count_characters_and_not_bytes() {
        let text = "é=1;\r\n𝒳 x\n".as_bytes();
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 2), (1, 2));
        assert_eq!(at(text, 7), (2, 1));
        assert_eq!(at(text, 12), (2, 3));
        assert_eq!(at(text, 999), (2, 5));
        assert_eq!(at(b"\xE9\xE8x", 2), (1, 3));
        assert_eq!(at(b"", 0), (1, 1));
        assert_eq!(at(b"\n\n", 1), (2, 1));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(at(b"\xEF\xBB\xBFab", 4), (1, 2));
        assert_eq!(at(b"\xEF\xBB\xBFab", 1), (1, 1));
        assert_eq!(LineIndex::new(b"\xEF\xBB\xBF").line(1).as_deref(), Some(""));
    }

    #[test]
    fn lines_come_without_their_ending() {
        let index = LineIndex::new(b"a\r\n\nb\rc\n\xFFd");
        let lines: Vec<_> = (1..=index.line_count())
            .map(|line| index.line(line).unwrap().into_owned())
            .collect();
        assert_eq!(lines, ["a", "", "b\rc", "\u{FFFD}d"]);
        assert_eq!(index.line(0), None);
        assert_eq!(index.line(5), None);
        assert_eq!(LineIndex::new(b"a\n").line_count(), 1);
        assert_eq!(LineIndex::new(b"").line(1).as_deref(), Some(""));
    }

    // D12: what is not UTF-8 is told apart before anything is rewritten.
    #[test]
    fn kinds_are_told_apart() {
        let kinds: [(&[u8], TextKind); 8] = [
            (b"", TextKind::Utf8),
            ("é".as_bytes(), TextKind::Utf8),
            (b"\xEF\xBB\xBFx", TextKind::Utf8Bom),
            (b"\xFF\xFEx\0", TextKind::Utf16Le),
            (b"\xFE\xFF\0x", TextKind::Utf16Be),
            (b"caf\xE9", TextKind::NotUtf8),
            (b"\x7FELF\0", TextKind::Binary),
            (b"\xEF\xBB", TextKind::NotUtf8),
        ];
        for (bytes, kind) in kinds {
            assert_eq!(TextKind::of(bytes), kind, "{bytes:?}");
        }
        let mut late_nul = vec![b'a'; limits::BINARY_PROBE_BYTES];
        late_nul.push(0);
        assert_eq!(TextKind::of(&late_nul), TextKind::Utf8);
        late_nul[limits::BINARY_PROBE_BYTES - 1] = 0;
        assert_eq!(TextKind::of(&late_nul), TextKind::Binary);
    }

    // D16, D35: new lines take the file's own ending.
    #[test]
    fn the_dominant_ending_wins() {
        assert_eq!(LineEnding::dominant(b"a"), None);
        assert_eq!(LineEnding::dominant(b"a\r"), None);
        assert_eq!(LineEnding::dominant(b"a\nb\r\n"), Some(LineEnding::Lf));
        assert_eq!(
            LineEnding::dominant(b"a\nb\r\nc\r\n"),
            Some(LineEnding::CrLf)
        );
    }

    #[test]
    fn clipping_never_splits_a_character() {
        assert_eq!(clip("äöü", 3), "äöü");
        assert_eq!(clip("äöüx", 3), "äöü…");
        assert_eq!(clip("x", 0), "…");
        assert_eq!(clip("", 0), "");
    }

    proptest::proptest! {
        // Any bytes have lines that tile them, and any offset has a place on its line.
        #[test]
        fn every_offset_of_any_bytes_has_a_place(
            bytes in proptest::collection::vec(
                proptest::sample::select(&b"a\r\n\xC3\xA9\xEF\xBB\xBF\0"[..]), 0..40),
            max_chars in 0_usize..10,
        ) {
            let index = LineIndex::new(&bytes);
            for offset in 0..bytes.len() + 2 {
                let position = index.position(offset);
                let range = index.line_range(position.line).unwrap();
                proptest::prop_assert!(range.start <= offset || position.line == 1);
                proptest::prop_assert!(position.column >= 1);
                proptest::prop_assert!(position.column <= bytes.len() + 1);
            }
            let mut end = 0;
            for line in 1..=index.line_count() {
                let range = index.line_range(line).unwrap();
                proptest::prop_assert!(range.start >= end && range.end <= bytes.len());
                end = range.end;
                let text = index.line(line).unwrap();
                proptest::prop_assert!(clip(&text, max_chars).chars().count() <= max_chars + 1);
            }
            TextKind::of(&bytes);
            LineEnding::dominant(&bytes);
        }
    }

    #[test]
    fn only_one_is_singular() {
        let files = [0, 1, 2].map(|n| counted(n, "file"));
        assert_eq!(files, ["0 files", "1 file", "2 files"]);
        assert_eq!(counted_plural(1, "match", "matches"), "1 match");
        assert_eq!(counted_plural(2, "match", "matches"), "2 matches");
    }
}
