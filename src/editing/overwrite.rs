//! A whole new content for a file that exists, in the file's own form (D35).

use super::content::{Endings, Text, with_endings};
use crate::text::LineEnding;

/// The new text, and what of the file's form it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The new text, without the byte order mark.
    pub text: String,
    /// Where that differs from what was passed, in words.
    pub kept: Vec<String>,
}

/// Fits a new content to a file: its byte order mark, its line endings where all are the same, and a final
/// newline where it has one. What a file lacks is taken from the content as it is.
pub fn overwrite(file: &Text, content: &str) -> Overwritten {
    let mut kept = Vec::new();
    let body = match content.strip_prefix('\u{FEFF}') {
        // The mark of the file stands for the one that was passed.
        Some(body) if file.bom => body,
        _ => content,
    };
    if file.bom && body.len() == content.len() {
        kept.push("the byte order mark of the file was kept".to_owned());
    }
    let mut text = match Endings::of(&file.text).uniform() {
        Some(ending) => {
            let text = with_endings(body, ending);
            if text != body {
                let name = match ending {
                    LineEnding::Lf => "LF",
                    LineEnding::CrLf => "CRLF",
                };
                kept.push(format!("the {name} line endings of the file were kept"));
            }
            text
        }
        None => body.to_owned(),
    };
    if file.text.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
        let crlf = file.text.ends_with("\r\n");
        text.push_str(if crlf { "\r\n" } else { "\n" });
        kept.push("the final newline of the file was kept".to_owned());
    }
    Overwritten { text, kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &[u8], content: &str, expected: &str, n_kept: usize) {
        let file = Text::decode(file).unwrap();
        let overwritten = overwrite(&file, content);
        assert_eq!(overwritten.text, expected);
        assert_eq!(overwritten.kept.len(), n_kept, "{:?}", overwritten.kept);
    }

    // D35: mark, endings and final newline of the file survive a whole new content.
    #[test]
    fn a_new_content_takes_the_form_of_the_file() {
        check(b"a\nb\n", "x\ny\n", "x\ny\n", 0);
        check(b"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n", 1);
        check(b"a\r\nb\r\n", "x\r\ny\r\n", "x\r\ny\r\n", 0);
        check(b"a\r\nb\r\n", "x\ny", "x\r\ny\r\n", 2);
        check(b"a\nb\n", "x\r\ny\r\n", "x\ny\n", 1);
        check(b"a\n", "x", "x\n", 1);
        check(b"a\n", "", "", 0);
        check(b"a", "x\n", "x\n", 0);
        check(b"a\r\nb\n", "x\ny\r\n", "x\ny\r\n", 0);
        check(b"\xEF\xBB\xBFa\n", "x\n", "x\n", 1);
        check(b"\xEF\xBB\xBFa\n", "\u{FEFF}x\n", "x\n", 0);
        check(b"a\n", "\u{FEFF}x\n", "\u{FEFF}x\n", 0);
    }
}
