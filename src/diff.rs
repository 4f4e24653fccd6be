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
        }
    }

    /// How many lines were cut.
    pub fn cut(&self) -> usize {
        self.total - self.shown
    }
}

impl fmt::Display for Clipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.cut() {
            0 => Ok(()),
            1 => writeln!(f, "... 1 more line of the diff is not shown"),
            cut => writeln!(f, "... {cut} more lines of the diff are not shown"),
        }
    }
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
