//! What a structural search answers: one struct, `Serialize` for programs, `Display` for readers.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::limits;
use crate::syntax::languages::Context;
use crate::text::{counted, counted_plural};

/// The answer of `ast_grep`.
#[derive(Clone, Debug, Serialize)]
pub struct SearchReport {
    /// Id of the language that was searched.
    pub language: String,
    /// The rung on which the pattern was read.
    pub context: Context,
    /// The kind of node that was searched; of a sequence, its first.
    pub kind: String,
    /// All root kinds of a sequence, a metavariable as it is written; empty for one node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Files that were looked at; where the search stopped early, up to where it stopped.
    pub files_searched: usize,
    /// Files that were not, and why.
    pub files_skipped: Vec<SkippedFile>,
    /// How many matches are listed.
    pub shown: usize,
    /// Whether more exist.
    pub truncated: bool,
    /// Candidates that were given up before all ways to match them were tried; absent where there are
    /// none.
    #[serde(skip_serializing_if = "is_zero")]
    pub given_up: usize,
    /// How many files have them.
    #[serde(skip)]
    pub files_matched: usize,
    /// The matches, by path, then position; none where they were handed over as they were found.
    pub matches: Vec<MatchReport>,
    /// What may be wrong with the pattern, where nothing matched.
    pub hint: Option<String>,
}

/// A file that was not searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SkippedFile {
    /// The file, as shown.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// One match.
#[derive(Clone, Debug, Serialize)]
pub struct MatchReport {
    /// The file, relative to the workspace.
    pub file: String,
    /// First line, from 1.
    pub line: usize,
    /// Column of the first character, from 1, in Unicode scalar values.
    pub column: usize,
    /// Last line, from 1.
    pub end_line: usize,
    /// Column one past the last character.
    pub end_column: usize,
    /// First byte, from 0.
    pub start_byte: usize,
    /// One past the last byte.
    pub end_byte: usize,
    /// The matched text; past 10,000 bytes it is cut and ends in `…`.
    pub text: String,
    /// Text of each `$NAME`.
    pub captures: BTreeMap<String, String>,
    /// Text of each `$$$NAME`.
    pub runs: BTreeMap<String, String>,
    /// The lines to show, context included.
    #[serde(skip)]
    pub lines: Vec<ShownLine>,
}

impl MatchReport {
    fn into_json(mut self) -> serde_json::Result<Value> {
        let moved = [
            ("text", Value::String(std::mem::take(&mut self.text))),
            ("captures", object(std::mem::take(&mut self.captures))),
            ("runs", object(std::mem::take(&mut self.runs))),
        ];
        let mut json = serde_json::to_value(self)?;
        for (key, value) in moved {
            json[key] = value;
        }
        Ok(json)
    }
}

fn object(texts: BTreeMap<String, String>) -> Value {
    let entries = texts.into_iter();
    Value::Object(
        entries
            .map(|(name, text)| (name, Value::String(text)))
            .collect(),
    )
}

/// A line of a file as the text answer shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLine {
    /// Its number, from 1.
    pub number: usize,
    /// Its text, clipped.
    pub text: String,
    /// Whether it belongs to the match and not to the context.
    pub matched: bool,
}

impl SearchReport {
    /// The report as JSON, as its `Serialize` writes it. The texts are moved, since those of thousands of
    /// matches would take as much memory again as they have.
    pub fn into_json(mut self) -> serde_json::Result<Value> {
        let matches = std::mem::take(&mut self.matches);
        let mut json = serde_json::to_value(self)?;
        json["matches"] = matches
            .into_iter()
            .map(MatchReport::into_json)
            .collect::<Result<_, _>>()?;
        Ok(json)
    }

    /// The sentence about what was searched, for the end of the text answer.
    pub fn summary(&self) -> String {
        let read_as = read_as(self.context, &self.kind, &self.kinds);
        let mut text = if self.shown == 0 {
            format!(
                "0 matches {read_as} in {}",
                counted(self.files_searched, "file")
            )
        } else if self.truncated {
            format!(
                "first {} {read_as}, in {}; more exist: narrow the path or raise max_results",
                counted_plural(self.shown, "match", "matches"),
                counted(self.files_matched, "file"),
            )
        } else {
            format!(
                "{} {read_as} in {} of {} searched",
                counted_plural(self.shown, "match", "matches"),
                counted(self.files_matched, "file"),
                self.files_searched
            )
        };
        if !self.files_skipped.is_empty() {
            let named: Vec<String> = self
                .files_skipped
                .iter()
                .take(5)
                .map(|s| format!("{} ({})", s.file, s.reason))
                .collect();
            let more = self.files_skipped.len().saturating_sub(named.len());
            text.push_str(&format!(
                "\nskipped {}: {}{}",
                counted(self.files_skipped.len(), "file"),
                named.join(", "),
                if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                }
            ));
        }
        if let Some(notice) = given_up(self.given_up) {
            text.push('\n');
            text.push_str(&notice);
        }
        if let Some(hint) = &self.hint {
            text.push('\n');
            text.push_str(without_preface(hint, self.context));
        }
        text
    }
}

impl fmt::Display for SearchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut file = "";
        let mut last_line = 0;
        for found in &self.matches {
            if found.file != file {
                if !file.is_empty() {
                    writeln!(f)?;
                }
                writeln!(f, "{}", found.file)?;
                file = &found.file;
                last_line = 0;
            }
            for line in &found.lines {
                // Lines that nested or neighbouring matches share are shown once.
                if line.number <= last_line {
                    continue;
                }
                let mark = if line.matched { ':' } else { '-' };
                writeln!(f, "{}{mark}{}", line.number, line.text)?;
                last_line = line.number;
            }
            let hidden = (found.end_line + 1).saturating_sub(found.line.max(last_line + 1));
            if hidden > 0 && last_line > 0 && found.end_line > last_line {
                writeln!(f, "  … {} more", counted(hidden, "line"))?;
            }
        }
        if !self.matches.is_empty() {
            writeln!(f)?;
        }
        write!(f, "{}", self.summary())
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Says that matches may be missing because candidates were given up.
pub(crate) fn given_up(n: usize) -> Option<String> {
    (n > 0).then(|| {
        format!(
            "{} given up after {} steps each, so matches may be missing: the pattern's runs and \
             repeated metavariables can be divided in too many ways",
            counted_plural(n, "candidate was", "candidates were"),
            limits::MATCH_STEPS
        )
    })
}

/// `as statement (call_expression)`, `as a sequence of 2 statements (if_statement, $$$B)`.
pub(crate) fn read_as(context: Context, kind: &str, kinds: &[String]) -> String {
    match kinds {
        [] => format!("as {context} ({kind})"),
        kinds => format!(
            "as a sequence of {} {context}s ({})",
            kinds.len(),
            kinds.join(", ")
        ),
    }
}

/// A hint without the count that the sentence before it has said already.
pub(crate) fn without_preface(hint: &str, context: Context) -> &str {
    hint.strip_prefix(&format!("0 matches as {context}; "))
        .unwrap_or(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_into_json_it_is_what_serialize_writes() {
        let texts = |name: &str| BTreeMap::from([(name.to_owned(), format!("text of {name}"))]);
        let found = MatchReport {
            file: "a.rs".to_owned(),
            line: 1,
            column: 2,
            end_line: 3,
            end_column: 4,
            start_byte: 5,
            end_byte: 6,
            text: "f(x)".to_owned(),
            captures: texts("X"),
            runs: texts("A"),
            lines: Vec::new(),
        };
        let report = SearchReport {
            language: "rust".to_owned(),
            context: Context::Expression,
            kind: "call_expression".to_owned(),
            kinds: Vec::new(),
            files_searched: 1,
            files_skipped: Vec::new(),
            shown: 2,
            truncated: false,
            given_up: 0,
            files_matched: 1,
            matches: vec![found.clone(), found],
            hint: None,
        };
        let expected = serde_json::to_string(&report).unwrap();
        let moved = serde_json::to_string(&report.into_json().unwrap()).unwrap();
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(value(&moved), value(&expected));
    }
}
