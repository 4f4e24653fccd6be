//! The unified diff that shows a person or a model what a change would do.
//!
//! It works on texts and knows nothing of files. A preview is bounded: [`Clipped`] holds the first
//! lines and says how many were cut.

use std::fmt;

use similar::TextDiff;

use crate::limits;

/// The first lines of a longer text; its `Display` ends with a notice when lines were cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipped {
    /// The lines that are shown, each with its line ending.
    pub text: String,
    /// How many lines `text` has.
    pub shown: usize,
    /// How many lines there were.
    pub total: usize,
    /// How many of the shown lines are cut because they are too long.
    pub shortened: usize,
}

/// Makes a unified diff of two texts under the name `path`; equal texts give an empty string.
///
/// The texts are compared by lines with their endings, so a change of line ending is a change.
pub fn unified(old: &str, new: &str, path: &str, context_lines: usize) -> String {
    if old == new {
        return String::new();
    }
    // The time limit only bounds texts for which the shortest diff takes quadratic time; the result
    // stays a correct diff.
    let diff = TextDiff::configure()
        .timeout(limits::DIFF_EFFORT)
        .diff_lines(old, new);
    diff.unified_diff()
        .context_radius(context_lines)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

impl Clipped {
    /// Keeps at most `max_lines` lines of `text`.
    pub fn new(text: &str, max_lines: usize) -> Self {
        let total = text.split_inclusive('\n').count();
        let shown = total.min(max_lines);
        let kept = text.split_inclusive('\n').take(shown).map(str::len).sum();
        Self {
            text: text[..kept].to_owned(),
            shown,
            total,
            shortened: 0,
        }
    }

    /// Keeps what a preview shows of a unified diff: the first lines, and of very long ones the part in
    /// which an old line and its new one begin to differ.
    pub fn of_diff(diff: &str) -> Self {
        let mut clipped = Self::new(diff, limits::DIFF_LINES);
        (clipped.text, clipped.shortened) = shorten(&clipped.text);
        clipped
    }

    /// Whether anything of the text is not shown.
    pub fn is_cut(&self) -> bool {
        self.cut() > 0 || self.shortened > 0
    }

    /// Says in sentences what is not shown, each on a line of its own.
    pub fn notice(&self) -> String {
        let mut notice = String::new();
        match self.shortened {
            0 => {}
            1 => notice.push_str("... 1 line of the diff is too long and cut\n"),
            n => notice.push_str(&format!("... {n} lines of the diff are too long and cut\n")),
        }
        match self.cut() {
            0 => {}
            1 => notice.push_str("... 1 more line of the diff is not shown\n"),
            cut => notice.push_str(&format!("... {cut} more lines of the diff are not shown\n")),
        }
        notice
    }

    /// How many lines were cut.
    pub fn cut(&self) -> usize {
        self.total - self.shown
    }
}

impl fmt::Display for Clipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(&self.notice())
    }
}

/// The diff with its long lines cut, and how many those are.
fn shorten(diff: &str) -> (String, usize) {
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    if lines
        .iter()
        .all(|line| line.len() <= limits::DIFF_LINE_BYTES)
    {
        return (diff.to_owned(), 0);
    }
    let mut out = String::new();
    let mut n_shortened = 0;
    let mut at = 0;
    while at < lines.len() {
        let block = |sign: char, from: usize| {
            let is_in = |line: &&&str| line.starts_with(sign);
            from + lines[from..].iter().take_while(is_in).count()
        };
        // A block of old lines and the block of new ones after it are compared line by line.
        let removed = block('-', at);
        let added = block('+', removed);
        let end = added.max(at + 1);
        for idx in at..end {
            let other = if idx < removed {
                removed + (idx - at)
            } else {
                at + (idx - removed)
            };
            let is_pair = added > removed && removed > at && other < added;
            let is_pair = is_pair && (idx < removed) == (other >= removed);
            let line = lines[idx];
            if line.len() <= limits::DIFF_LINE_BYTES {
                out.push_str(line);
                continue;
            }
            n_shortened += 1;
            let differs = match is_pair {
                true => common_prefix(&line[1..], &lines[other][1..]),
                false => 0,
            };
            out.push_str(&around(line, 1 + differs));
        }
        at = end;
    }
    (out, n_shortened)
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// A long line of a diff around an offset in it: its sign, what is near, and how much is left out.
fn around(line: &str, offset: usize) -> String {
    let text = line.trim_end_matches(['\n', '\r']);
    let half = limits::DIFF_LINE_BYTES / 2;
    let start = match offset > half {
        true => char_start(text, (offset - half).max(1)),
        false => 1,
    };
    let end = char_start(text, start + limits::DIFF_LINE_BYTES);
    let mut out = text[..1].to_owned();
    if start > 1 {
        out.push_str(&format!("[{} bytes] ", start - 1));
    }
    out.push_str(&text[start..end]);
    if end < text.len() {
        out.push_str(&format!(" [{} bytes]", text.len() - end));
    }
    out.push('\n');
    out
}

/// The start of the character that holds an offset, at most the end of the text.
fn char_start(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    // R60: the proposal carries a unified diff.
    #[test]
    fn a_changed_line_shows_with_its_context() {
        let old = "a\nb\nc\nd\ne\n";
        let new = "a\nb\nC\nd\ne\n";
        assert_eq!(
            unified(old, new, "src/x.c", 1),
            "--- a/src/x.c\n+++ b/src/x.c\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n"
        );
        assert_eq!(unified(old, old, "x", 3), "");
    }

    // D12: line endings are content, and a lost final newline is a change.
    #[test]
    fn line_endings_and_the_final_newline_are_compared() {
        assert!(unified("a\r\n", "a\n", "x", 3).contains("-a\r\n+a\n"));
        assert!(unified("a\n", "a", "x", 3).contains("\\ No newline at end of file"));
    }

    // R60: a line is shown whole up to the limit and cut after it, around the place of the change.
    #[test]
    fn a_huge_line_is_cut_around_its_change_and_says_so() {
        let line = |n: usize, change: &str| format!("{}{change}{}\n", "é".repeat(n), "z".repeat(n));
        let (old, new) = (line(500_000, "old"), line(500_000, "new"));
        let whole = unified(&old, &new, "min.js", 3);
        let clipped = Clipped::of_diff(&whole);
        assert!(clipped.text.len() < 3_000, "{}", clipped.text.len());
        assert_eq!(
            (clipped.shortened, clipped.cut(), clipped.is_cut()),
            (2, 0, true)
        );
        assert!(clipped.text.contains("éoldz") && clipped.text.contains("énewz"));
        assert!(
            clipped
                .to_string()
                .ends_with("2 lines of the diff are too long and cut\n")
        );

        let exact = format!("+{}\n", "x".repeat(limits::DIFF_LINE_BYTES - 2));
        assert_eq!(Clipped::of_diff(&exact).text, exact);
        assert!(!Clipped::of_diff(&exact).is_cut());
        let more = format!("+x{}", &exact[1..]);
        assert_eq!(Clipped::of_diff(&more).shortened, 1);
        assert!(
            Clipped::of_diff(&more)
                .to_string()
                .contains("1 line of the diff is too long")
        );
    }

    // R60: clipped with a notice when long, tested at n and n + 1.
    #[test]
    fn a_long_text_is_clipped_and_says_so() {
        let exact = Clipped::new("1\n2\n3\n", 3);
        assert_eq!((exact.cut(), exact.to_string().as_str()), (0, "1\n2\n3\n"));
        let one_more = Clipped::new("1\n2\n3\n4\n", 3);
        assert_eq!((one_more.shown, one_more.total), (3, 4));
        assert_eq!(
            one_more.to_string(),
            "1\n2\n3\n... 1 more line of the diff is not shown\n"
        );
        let nothing = Clipped::new("", 3);
        assert_eq!((nothing.total, nothing.to_string().as_str()), (0, ""));
    }
}
