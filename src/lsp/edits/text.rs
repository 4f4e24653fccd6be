//! Text edits of one file: positions to offsets, the checks between edits, and the new content.
//!
//! A server knows nothing of a byte order mark, so positions count in the text without it.

use lsp_types::Range;
use serde::Deserialize;

use crate::lsp::convert::{Encoding, Lines};
use crate::text::UTF8_BOM;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireTextEdit {
    pub(crate) range: Range,
    pub(crate) new_text: String,
    pub(crate) annotation_id: Option<String>,
}

/// What the edits of one file came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) text: String,
    /// How many different edits were made.
    pub(crate) n_edits: usize,
}

/// Edits that cannot be made; lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadEdit {
    /// Two claim the same text; the line where the second begins.
    Overlap { line: usize },
    /// One begins behind the end of the text, on a line that is not there.
    Behind { line: usize, n_lines: usize },
}

/// Makes all edits at once; their positions all speak of `text`.
pub(crate) fn apply(
    text: &str,
    edits: &[WireTextEdit],
    encoding: Encoding,
) -> Result<Applied, BadEdit> {
    let lines = Lines::new(text);
    let crlf = is_crlf(text);
    // A range may end anywhere behind the text, which means its end; what begins there was meant for another
    // text. The line after the last one is where some servers append.
    let n_lines = lines.starts().len();
    let starts = edits
        .iter()
        .map(|edit| edit.range.start.line.min(edit.range.end.line) as usize);
    if let Some(line) = starts.max().filter(|line| *line > n_lines) {
        let line = line + 1;
        return Err(BadEdit::Behind { line, n_lines });
    }
    let mut placed: Vec<(usize, usize, String)> = edits
        .iter()
        .map(|edit| {
            // The TypeScript server sends ranges that end before they start; they are empty ones.
            let range = lines.range(edit.range, encoding);
            let new_text = match crlf {
                true => with_crlf(&edit.new_text),
                false => edit.new_text.clone(),
            };
            (range.start, range.end, new_text)
        })
        .collect();
    // The sort is stable: insertions at one place keep their order.
    placed.sort_by_key(|(start, end, _)| (*start, *end));
    placed.dedup();
    let mut new = String::with_capacity(text.len());
    let mut done = 0;
    for (start, end, new_text) in &placed {
        if *start < done {
            return Err(BadEdit::Overlap {
                line: lines.position(*start, encoding).line as usize + 1,
            });
        }
        new.push_str(&text[done..*start]);
        new.push_str(new_text);
        done = *end;
    }
    new.push_str(&text[done..]);
    Ok(Applied {
        text: new,
        n_edits: placed.len(),
    })
}

/// Splits the byte order mark off.
pub(crate) fn split_bom(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.strip_prefix(UTF8_BOM) {
        Some(rest) => (UTF8_BOM, rest),
        None => (&[], bytes),
    }
}

/// Tells whether every line of the text that ends, ends with CRLF.
fn is_crlf(text: &str) -> bool {
    let n_lf = text.bytes().filter(|&byte| byte == b'\n').count();
    n_lf > 0 && text.matches("\r\n").count() == n_lf
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use lsp_types::Position;

    use super::*;

    fn edit(start: (u32, u32), end: (u32, u32), new_text: &str) -> WireTextEdit {
        let at = |(line, character)| Position { line, character };
        WireTextEdit {
            range: Range {
                start: at(start),
                end: at(end),
            },
            new_text: new_text.to_owned(),
            annotation_id: None,
        }
    }

    fn made(text: &str, edits: &[WireTextEdit], encoding: Encoding) -> Result<String, usize> {
        apply(text, edits, encoding)
            .map(|applied| applied.text)
            .map_err(|bad| match bad {
                BadEdit::Overlap { line } | BadEdit::Behind { line, .. } => line,
            })
    }

    // R38: the columns of a server are in the units that were agreed, right of what is not ASCII too.
    #[test]
    fn each_encoding_counts_in_its_own_units() {
        let text = "x = \"é😀\" + old\n";
        for (encoding, start) in [
            (Encoding::Utf8, 15),
            (Encoding::Utf16, 12),
            (Encoding::Utf32, 11),
        ] {
            let edits = [edit((0, start), (0, start + 3), "new")];
            let new = made(text, &edits, encoding);
            assert_eq!(new.as_deref(), Ok("x = \"é😀\" + new\n"), "{encoding:?}");
        }
    }

    #[test]
    fn edits_come_in_any_order_and_equal_ones_collapse() {
        let edits = [
            edit((0, 8), (0, 9), "z"),
            edit((0, 0), (0, 1), "z"),
            edit((0, 8), (0, 9), "z"),
        ];
        let applied = apply("a = b + a", &edits, Encoding::Utf16).unwrap();
        assert_eq!((applied.text.as_str(), applied.n_edits), ("z = b + z", 2));
    }

    #[test]
    fn insertions_at_one_place_keep_their_order_and_go_before_a_replacement() {
        let edits = [
            edit((0, 1), (0, 2), "B"),
            edit((0, 1), (0, 1), "2"),
            edit((0, 1), (0, 1), "1"),
        ];
        assert_eq!(made("abc", &edits, Encoding::Utf16).as_deref(), Ok("a21Bc"));
    }

    // R38: an edit of lines that are not there was made for another text, and is not made at the end of this one.
    #[test]
    fn an_edit_behind_the_text_is_refused() {
        for (text, n_lines) in [("a\nb\n", 3), ("a\nb", 2), ("", 1)] {
            let at = |line| made(text, &[edit((line, 0), (line, 9), "x")], Encoding::Utf16);
            assert_eq!(at(n_lines), Ok(format!("{text}x")), "one line further");
            assert_eq!(at(n_lines + 1), Err(n_lines as usize + 2), "{text:?}");
            let whole = made(text, &[edit((0, 0), (u32::MAX, 0), "x")], Encoding::Utf16);
            assert_eq!(whole.as_deref(), Ok("x"));
        }
    }

    #[test]
    fn overlapping_edits_are_refused_and_touching_ones_are_not() {
        let touching = [edit((1, 0), (1, 1), "x"), edit((1, 1), (1, 2), "y")];
        assert_eq!(
            made("--\nab", &touching, Encoding::Utf16).as_deref(),
            Ok("--\nxy")
        );
        let overlapping = [edit((1, 0), (1, 2), "x"), edit((1, 1), (1, 2), "y")];
        assert_eq!(made("--\nab", &overlapping, Encoding::Utf16), Err(2));
        let different = [edit((1, 0), (1, 2), "x"), edit((1, 0), (1, 2), "y")];
        assert_eq!(made("--\nab", &different, Encoding::Utf16), Err(2));
    }

    #[test]
    fn a_range_that_ends_before_it_starts_is_empty() {
        let edits = [edit((0, 2), (0, 0), "-")];
        assert_eq!(made("abc", &edits, Encoding::Utf16).as_deref(), Ok("ab-c"));
    }

    // D12: CRLF survives; a file of mixed endings takes what the server sends.
    #[test]
    fn new_lines_take_the_ending_of_a_file_that_has_one() {
        let edits = [edit((0, 0), (0, 0), "x\ny\r\n")];
        assert_eq!(
            made("a\r\nb\r\n", &edits, Encoding::Utf16).as_deref(),
            Ok("x\r\ny\r\na\r\nb\r\n")
        );
        assert_eq!(
            made("a\r\nb\n", &edits, Encoding::Utf16).as_deref(),
            Ok("x\ny\r\na\r\nb\n")
        );
    }

    proptest::proptest! {
        // No positions make the edit panic or split a character.
        #[test]
        fn any_edits_of_any_text_end_in_an_answer(
            text in "[a😀é\r\n]{0,12}",
            places in proptest::collection::vec((0_u32..5, 0_u32..6, 0_u32..5, 0_u32..6), 0..4),
        ) {
            let edits: Vec<_> = places
                .iter()
                .map(|&(line, start, end_line, end)| edit((line, start), (end_line, end), "n"))
                .collect();
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let _ = apply(&text, &edits, encoding);
            }
        }
    }
}
