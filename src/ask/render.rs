//! A card as plain text, for a terminal, a log or a screen reader.
//!
//! Nothing is said by colour, position or drawn lines alone. No text of a question reaches the medium as it
//! came: control characters and those that turn the direction of writing are taken out, and lines after the
//! first are indented, so that a question can neither steer a terminal nor forge a line of its own card.

use std::fmt::Write;

use serde_json::Value;

use crate::ask::{Card, CardCall, CardKind};
use crate::limits;
use crate::text::terminal::{printable, visible};

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
        let _ = writeln!(text, "Called from: {}", outer.join(", then "));
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
                // By its number each line is known as one of this text, to whoever only hears them too.
                let shown = visible(text);
                lines.push(format!("{name}, {} lines:", shown.split('\n').count()));
                let numbered = shown.split('\n').enumerate();
                lines.extend(numbered.map(|(idx, line)| format!("  line {}: {line}", idx + 1)));
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
