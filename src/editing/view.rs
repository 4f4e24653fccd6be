//! A part of a text that fits an answer: whole lines from an offset, long ones cut, and what is missing.

use std::borrow::Cow;

use crate::limits;
use crate::text::clip;

/// Which part is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewOptions {
    /// The first line, from 1.
    pub offset: usize,
    /// How many lines at most.
    pub limit: usize,
    /// How many characters of a line at most.
    pub line_chars: usize,
    /// How many bytes in all at most; the first line is shown in any case.
    pub bytes: usize,
}

/// The part that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The first line, from 1; 0 where the text is empty.
    pub start_line: usize,
    /// The last line; 0 where the text is empty.
    pub end_line: usize,
    /// How many lines the text has.
    pub total_lines: usize,
    /// The lines, each ended with LF, the text's last only when the text ends it.
    pub content: String,
    /// The lines that were cut, with how many characters each has.
    pub cut: Vec<(usize, usize)>,
    /// Whether the lines end because of the bytes in all, and not of the number asked for.
    pub full: bool,
}

/// The offset is past the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("offset {offset} is past the end: there are {total_lines} lines")]
pub struct PastEnd {
    /// The line that was asked for.
    pub offset: usize,
    /// How many lines there are.
    pub total_lines: usize,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            offset: 1,
            limit: limits::READ_LINES,
            line_chars: limits::READ_LINE_CHARS,
            bytes: limits::READ_TEXT_BYTES,
        }
    }
}

impl View {
    /// Tells whether lines follow or were cut.
    pub fn is_truncated(&self) -> bool {
        self.end_line < self.total_lines || !self.cut.is_empty()
    }
}

/// Takes a part of a text. An empty text has no lines, and any offset into it is its end.
pub fn view(text: &str, options: &ViewOptions) -> Result<View, PastEnd> {
    let total_lines = text.split_inclusive('\n').count();
    let offset = options.offset.max(1);
    let mut shown = View {
        start_line: 0,
        end_line: 0,
        total_lines,
        content: String::new(),
        cut: Vec::new(),
        full: false,
    };
    if total_lines == 0 {
        return Ok(shown);
    }
    if offset > total_lines {
        return Err(PastEnd {
            offset,
            total_lines,
        });
    }
    shown.start_line = offset;
    shown.end_line = offset - 1;
    let lines = text.split_inclusive('\n').skip(offset - 1);
    for line in lines.take(options.limit) {
        let body = line.strip_suffix('\n');
        let ended = body.is_some();
        let body = body.map_or(line, |body| body.strip_suffix('\r').unwrap_or(body));
        let kept = clip(body, options.line_chars);
        let fits = shown.content.len() + kept.len() < options.bytes;
        if !fits && shown.end_line >= shown.start_line {
            shown.full = true;
            break;
        }
        shown.end_line += 1;
        if let Cow::Owned(_) = kept {
            shown.cut.push((shown.end_line, body.chars().count()));
        }
        shown.content.push_str(&kept);
        if ended {
            shown.content.push('\n');
        }
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n_lines: usize) -> String {
        (1..=n_lines).map(|n| format!("line {n}\n")).collect()
    }

    fn shown(text: &str, options: ViewOptions) -> (usize, usize, usize, bool) {
        let view = view(text, &options).unwrap();
        let truncated = view.is_truncated();
        (view.start_line, view.end_line, view.total_lines, truncated)
    }

    // R143: 2,000 lines at n and n + 1.
    #[test]
    fn lines_beyond_the_limit_are_left_out() {
        let all = ViewOptions::default();
        assert_eq!(shown(&lines(2_000), all), (1, 2_000, 2_000, false));
        assert_eq!(shown(&lines(2_001), all), (1, 2_000, 2_001, true));
        let rest = ViewOptions {
            offset: 2_001,
            ..all
        };
        assert_eq!(shown(&lines(2_001), rest), (2_001, 2_001, 2_001, false));
        let part = ViewOptions {
            offset: 3,
            limit: 2,
            ..all
        };
        assert_eq!(shown(&lines(5), part), (3, 4, 5, true));
        assert_eq!(view(&lines(5), &part).unwrap().content, "line 3\nline 4\n");
    }

    // R143: 2,000 characters at n and n + 1, counted as characters.
    #[test]
    fn long_lines_are_cut_and_named() {
        let exact = view(&"ä".repeat(2_000), &ViewOptions::default()).unwrap();
        assert!(exact.cut.is_empty() && !exact.is_truncated());
        let text = format!("x\n{}\n", "ä".repeat(2_001));
        let longer = view(&text, &ViewOptions::default()).unwrap();
        assert_eq!(longer.cut, [(2, 2_001)]);
        assert!(longer.is_truncated());
        assert_eq!(longer.content, format!("x\n{}…\n", "ä".repeat(2_000)));
    }

    // R143: an empty file is not "shorter than the offset", and an offset past the end says how long it is.
    #[test]
    fn empty_texts_and_offsets_past_the_end() {
        let past = |offset| ViewOptions {
            offset,
            ..ViewOptions::default()
        };
        assert_eq!(shown("", past(1)), (0, 0, 0, false));
        assert_eq!(shown("", past(9)), (0, 0, 0, false));
        assert_eq!(shown("\n", past(1)), (1, 1, 1, false));
        assert_eq!(shown("a", past(1)), (1, 1, 1, false));
        let error = view("a\nb", &past(3)).unwrap_err();
        assert_eq!((error.offset, error.total_lines), (3, 2));
    }

    // The bytes in all at n and n + 1; a first line that is larger than all of them is shown.
    #[test]
    fn bytes_in_all_end_the_view() {
        let options = |bytes| ViewOptions {
            bytes,
            ..ViewOptions::default()
        };
        assert_eq!(shown("abc\nabc\n", options(8)), (1, 2, 2, false));
        assert_eq!(shown("abc\nabc\n", options(7)), (1, 1, 2, true));
        assert!(view("abc\nabc\n", &options(7)).unwrap().full);
        assert_eq!(shown("abc\nabc\n", options(1)), (1, 1, 2, true));
    }
}
