//! Texts at a terminal, of which nothing may steer it.
//!
//! What comes from files, programs, models and the web may hold control sequences, marks that turn the
//! direction of writing, and characters that nobody sees. It is taken out, or shown as an escape.

use std::borrow::Cow;

/// Takes out what could steer a terminal or turn the direction of writing; line ends stay, tabs become
/// blanks.
pub fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(ch) = rest.chars().next() {
        rest = &rest[ch.len_utf8()..];
        match ch {
            '\n' => plain.push('\n'),
            '\t' => plain.push(' '),
            // A whole colour code, not its first character alone: `[31m` would be left to read.
            '\x1b' => rest = after_sequence(rest),
            ch if steers(ch) => {}
            ch => plain.push(ch),
        }
    }
    plain
}

/// Shows what could steer a terminal as an escape, for texts of which nothing may be hidden; line ends stay.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\n' => shown.push('\n'),
            ch if steers(ch) => shown.extend(ch.escape_unicode()),
            ch => shown.push(ch),
        }
    }
    shown
}

/// The same for the content of files and the words of programs: their tabs and CRLF line ends stay too.
pub fn content(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(ch) = rest.next() {
        match ch {
            '\n' | '\t' => shown.push(ch),
            // A line of a diff keeps its end.
            '\r' if rest.peek() == Some(&'\n') => shown.push(ch),
            ch if steers(ch) => shown.extend(ch.escape_unicode()),
            ch => shown.push(ch),
        }
    }
    Cow::Owned(shown)
}

/// The same for JSON, which stays the JSON that it is: such a character can stand in its strings alone.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|ch| ch != '\n' && steers(ch)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\n' => shown.push('\n'),
            ch if steers(ch) => {
                let units = ch.encode_utf16(&mut [0; 2]).to_vec();
                shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
            ch => shown.push(ch),
        }
    }
    Cow::Owned(shown)
}

/// Skips the rest of a control sequence (ECMA-48: `ESC [`, parameters, one final byte).
fn after_sequence(rest: &str) -> &str {
    let Some(parameters) = rest.strip_prefix('[') else {
        return rest;
    };
    let end = parameters.find(|ch: char| !(' '..='?').contains(&ch));
    match end {
        Some(end) if parameters[end..].starts_with(|ch: char| ('@'..='~').contains(&ch)) => {
            &parameters[end + 1..]
        }
        _ => rest,
    }
}

/// C0, C1, the bidirectional controls, separators that some terminals break lines at, and characters that
/// are there without being seen.
fn steers(ch: char) -> bool {
    ch.is_control()
        || matches!(
            ch,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_keeps_its_form_and_steers_nothing() {
        assert!(matches!(content("a\tb\n"), Cow::Borrowed(_)));
        assert_eq!(content("gr\u{fc}n\r\n"), "gr\u{fc}n\r\n");
        assert_eq!(content("a\u{1b}[2J\rb"), "a\\u{1b}[2J\\u{d}b");
        assert_eq!(content("\u{202e}x\u{9b}\u{7f}"), "\\u{202e}x\\u{9b}\\u{7f}");
        assert_eq!(visible("a\tb"), "a\\u{9}b", "nothing is hidden there");
    }

    // It is the same JSON to whoever reads it.
    #[test]
    fn json_stays_what_it_says() {
        let value = serde_json::json!({"text": "a\u{1b}\u{9b}\u{202e}\u{e0001}\u{fc}\n"});
        let shown = json(&format!("{value:#}")).into_owned();
        assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{e0001}']));
        assert!(
            shown.contains("\\u009b\\u202e\\udb40\\udc01\u{fc}"),
            "{shown}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).ok(),
            Some(value)
        );
        assert!(matches!(json("{}\n"), Cow::Borrowed(_)));
    }
}
