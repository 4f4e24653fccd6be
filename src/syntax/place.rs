//! Where a match stands in its file: line, column, and the lines to show.
//!
//! Everything is found in a time that does not depend on the length of the line, so that the many
//! matches of a minified file cost what those of any other file do. The text is valid UTF-8 here.

use std::cell::OnceCell;
use std::ops::Range;

use crate::limits;
use crate::text::{LineIndex, Position, clip};

/// Bytes between two places whose character count is kept.
const STRIDE: usize = 4096;

/// The lines and columns of one file.
pub(crate) struct Places<'a> {
    source: &'a [u8],
    index: LineIndex<'a>,
    /// Characters before each multiple of the stride; only long lines need them.
    counts: OnceCell<Vec<usize>>,
}

impl<'a> Places<'a> {
    pub fn new(source: &'a [u8]) -> Places<'a> {
        Places {
            source,
            index: LineIndex::new(source),
            counts: OnceCell::new(),
        }
    }

    pub fn line_count(&self) -> usize {
        self.index.line_count()
    }

    /// The line and column of a byte.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.source.len());
        let line = self.index.line_of(offset);
        let start = self.index.line_range(line).map_or(0, |r| r.start);
        let n_chars = match offset.saturating_sub(start) {
            0..STRIDE => count(&self.source[start.min(offset)..offset]),
            _ => self
                .chars_before(offset)
                .saturating_sub(self.chars_before(start)),
        };
        Position {
            line,
            column: n_chars + 1,
        }
    }

    /// A line cut to a bearable length, around a byte of it where it is long.
    pub fn shown_line(&self, line: usize, around: Option<usize>) -> Option<String> {
        let range = self.index.line_range(line)?;
        if range.len() <= limits::LINE_CHARS {
            return Some(self.text(range).trim_end().to_owned());
        }
        let mut start = range.start;
        if let Some(at) = around.filter(|at| *at > start + limits::LINE_CHARS / 2) {
            start = at.min(range.end);
            for _ in 0..limits::LINE_CHARS / 4 {
                start -= 1;
                while start > range.start && is_continuation(self.source[start]) {
                    start -= 1;
                }
            }
        }
        // Enough for one character more than are shown, whatever their lengths.
        let end = range.end.min(start + (limits::LINE_CHARS + 1) * 4 + 4);
        let text = self.text(start..end);
        let text = if end == range.end {
            text.trim_end()
        } else {
            &text
        };
        let shown = clip(text, limits::LINE_CHARS);
        Some(if start > range.start {
            format!("…{shown}")
        } else {
            shown.into_owned()
        })
    }

    fn text(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(&self.source[range]).into_owned()
    }

    fn chars_before(&self, offset: usize) -> usize {
        let stride = offset / STRIDE;
        let counts = self.counts.get_or_init(|| {
            let mut n_chars = 0;
            let chunks = self.source.chunks(STRIDE).map(|chunk| {
                n_chars += count(chunk);
                n_chars
            });
            std::iter::once(0).chain(chunks).collect()
        });
        counts[stride] + count(&self.source[stride * STRIDE..offset])
    }
}

/// A text of an answer, cut before it is copied: nested matches would copy the square of the source.
pub(crate) fn clipped(bytes: &[u8]) -> String {
    let mut end = bytes.len().min(limits::MATCH_TEXT_BYTES);
    while end < bytes.len() && is_continuation(bytes[end]) {
        end -= 1;
    }
    let mut text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    if end < bytes.len() {
        text.push('…');
    }
    text
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| !is_continuation(**b)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_line_index() {
        // D15
        let long = "é x\u{1F600}y ".repeat(3_000);
        let source = format!("\u{FEFF}a é\r\n{long}\n\n{long}z");
        let places = Places::new(source.as_bytes());
        let index = LineIndex::new(source.as_bytes());
        for (offset, _) in source.char_indices().filter(|(i, _)| i % 7 == 0 || *i < 9) {
            assert_eq!(places.position(offset), index.position(offset), "{offset}");
        }
        assert_eq!(places.position(usize::MAX), index.position(usize::MAX));
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}MATCH{}  ", "é".repeat(1_000), "z".repeat(1_000));
        let source = format!("short  \n{line}\n");
        let places = Places::new(source.as_bytes());
        assert_eq!(places.shown_line(1, Some(0)).unwrap(), "short");
        let shown = places.shown_line(2, Some(8 + 2_000)).unwrap();
        assert!(shown.starts_with("…é") && shown.ends_with("z…"), "{shown}");
        assert_eq!(shown.chars().count(), limits::LINE_CHARS + 2);
        assert_eq!(shown.find("MATCH"), Some("…".len() + 60 * 2));
        let shown = places.shown_line(2, None).unwrap();
        assert!(shown.starts_with('é') && shown.ends_with("é…"), "{shown}");
        let shown = places.shown_line(2, Some(source.len() - 1)).unwrap();
        assert!(shown.ends_with('z'), "{shown}");
        assert_eq!(places.shown_line(3, None), None);
    }

    #[test]
    fn texts_are_cut_at_a_character() {
        let text = "é".repeat(limits::MATCH_TEXT_BYTES);
        let cut = clipped(text.as_bytes());
        assert_eq!(cut.len(), limits::MATCH_TEXT_BYTES + '…'.len_utf8());
        assert_eq!(clipped(b"abc"), "abc");
        let odd = format!("a{text}");
        assert!(clipped(odd.as_bytes()).ends_with("é…"));
    }
}
