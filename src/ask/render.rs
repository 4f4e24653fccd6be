//! A card as plain text, for a terminal, a log or a screen reader.
//!
//! Nothing is said by colour, position or drawn lines alone. No text of a question reaches the medium as it
//! came: control characters and those that turn the direction of writing are taken out, and lines after the
//! first are indented, so that a question can neither steer a terminal nor forge a line of its own card.

use std::fmt::Write;

use serde_json::Value;

use crate::ask::{Card, CardCall, CardKind};
use crate::limits;

impl Card {
    /// Renders the card; the last line says how to answer.
    pub fn render(&self) -> String {
        let mut text = String::new();
        match (self.kind, &self.call) {
            (CardKind::Approval, Some(call)) => approval(&mut text, self, call),
            (CardKind::Approval, None) | (CardKind::Question, _) => question(&mut text, self),
        }
        text.push_str(&self.how_to_answer());
        text.push('\n');
        text
    }

    /// Says how the card is answered by typing.
    pub fn how_to_answer(&self) -> String {
        if self.kind == CardKind::Approval {
            return "Type y to allow it, n to deny it. Enter = deny.".to_owned();
        }
        let choose = match (self.options.len(), self.multi_select) {
            (0, _) => None,
            (1, _) => Some("1".to_owned()),
            (n_options, false) => Some(format!("a number from 1 to {n_options}")),
            (n_options, true) => Some(format!(
                "numbers from 1 to {n_options}, such as 1,{n_options} or 1-{n_options}"
            )),
        };
        let how = match (choose, self.allow_free_text) {
            (Some(choose), true) => format!("Type {choose}, or an answer of your own."),
            (Some(choose), false) => format!("Type {choose}."),
            (None, _) => "Type your answer.".to_owned(),
        };
        format!("{how} Enter = skip.")
    }
}

fn question(text: &mut String, card: &Card) {
    let _ = writeln!(text, "Question: {}", indented(&card.question));
    if let Some(context) = &card.context {
        let _ = writeln!(text, "Context: {}", indented(context));
    }
    for (idx, option) in card.options.iter().enumerate() {
        let _ = write!(text, "  {}. {}", idx + 1, one_line(&option.label));
        if let Some(description) = &option.description {
            let _ = write!(text, ": {}", one_line(description));
        }
        text.push('\n');
    }
}

fn approval(text: &mut String, card: &Card, call: &CardCall) {
    let _ = writeln!(text, "Approval: {}", indented(&card.question));
    if let Some(context) = &card.context {
        let _ = writeln!(text, "Context: {}", indented(context));
    }
    let _ = writeln!(
        text,
        "Tool: {} (tier {})",
        one_line(&call.tool),
        one_line(&call.tier)
    );
    if !call.outer.is_empty() {
        let outer: Vec<String> = call.outer.iter().map(|name| one_line(name)).collect();
        let _ = writeln!(text, "Called from: {}", outer.join(" > "));
    }
    text.push_str("Arguments:\n");
    let lines = arguments(&call.args);
    for line in lines.iter().take(limits::ASK_CALL_LINES) {
        let n_chars = line.chars().count();
        if n_chars <= limits::ASK_CALL_CHARS {
            let _ = writeln!(text, "  {line}");
            continue;
        }
        let head: String = line.chars().take(limits::ASK_CALL_CHARS).collect();
        let more = n_chars - limits::ASK_CALL_CHARS;
        let _ = writeln!(text, "  {head} ... ({more} more characters)");
    }
    if lines.len() > limits::ASK_CALL_LINES {
        let more = lines.len() - limits::ASK_CALL_LINES;
        let _ = writeln!(text, "  ... ({more} more lines; all of them would run)");
    }
}

/// The arguments, one a line; a text of several lines is shown as such, since escaped line ends are what
/// nobody can read.
fn arguments(args: &Value) -> Vec<String> {
    let Value::Object(map) = args else {
        return visible(&format!("{args:#}"))
            .lines()
            .map(str::to_owned)
            .collect();
    };
    let mut lines = Vec::new();
    for (name, value) in map {
        let name = one_line(name);
        match value {
            Value::String(text) if text.contains('\n') => {
                lines.push(format!("{name}:"));
                let shown = visible(text);
                lines.extend(shown.split('\n').map(|line| format!("  | {line}")));
            }
            Value::String(text) => lines.push(format!("{name}: {}", visible(text))),
            other => {
                let shown = visible(&format!("{other:#}"));
                let mut shown = shown.lines();
                lines.push(format!("{name}: {}", shown.next().unwrap_or_default()));
                lines.extend(shown.map(str::to_owned));
            }
        }
    }
    if lines.is_empty() {
        lines.push("(none)".to_owned());
    }
    lines
}

fn indented(text: &str) -> String {
    printable(text.trim_end()).replace('\n', "\n  ")
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}

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
