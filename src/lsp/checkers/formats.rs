//! What checkers print, one parser for each format; each takes text and gives diagnostics, whatever the text.
//!
//! Paths come out absolute, columns as the checker counts them; who called knows the unit.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::lsp::diagnostics::Severity;

/// How a checker writes its findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON lines of `cargo check --message-format=json`.
    Cargo,
    /// `SEVERITY|TYPE|CODE|FILE|LINE|COLUMN|LENGTH|MESSAGE` of `dart analyze --format=machine`.
    DartMachine,
    /// `file(line,column): error TS1234: message` of `tsc --pretty false`.
    Tsc,
    /// Packages as comments and JSON objects, and plain lines for what does not compile: `go vet -json`.
    GoVet,
    /// The one JSON object of `pyright --outputjson`.
    Pyright,
    /// The JSON array of `ruff check --output-format json`.
    Ruff,
    /// `file:line:column: severity: message [code]` of compilers, clang-tidy, mypy and ty.
    Lines,
}

/// One finding as its checker wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: PathBuf,
    /// From 1; 0 for a finding about the whole file.
    pub(super) line: usize,
    /// From 1, in the units of the checker.
    pub(super) column: usize,
    pub(super) severity: Severity,
    pub(super) code: Option<String>,
    pub(super) message: String,
}

impl Format {
    /// Reads what a checker that ran in `root` wrote; `marker` stands for findings without a file.
    pub(super) fn parse(self, output: &str, root: &Path, marker: &Path) -> Vec<Finding> {
        match self {
            Self::Cargo => cargo(output, root, marker),
            Self::DartMachine => output.lines().filter_map(|line| dart(line, root)).collect(),
            Self::Tsc => tsc(output, root, marker),
            Self::GoVet => go_vet(output, root),
            Self::Pyright => pyright(output, root),
            Self::Ruff => ruff(output, root),
            Self::Lines => output
                .lines()
                .filter_map(|line| compiler_line(line, root))
                .collect(),
        }
    }
}

#[derive(Deserialize)]
struct CargoLine {
    message: Option<CargoMessage>,
}

#[derive(Deserialize)]
struct CargoMessage {
    message: String,
    level: String,
    code: Option<CargoCode>,
    #[serde(default)]
    spans: Vec<CargoSpan>,
}

#[derive(Deserialize)]
struct CargoCode {
    code: String,
}

#[derive(Clone, Deserialize)]
struct CargoSpan {
    file_name: String,
    is_primary: bool,
    line_start: usize,
    column_start: usize,
    label: Option<String>,
    expansion: Option<Box<CargoExpansion>>,
}

#[derive(Clone, Deserialize)]
struct CargoExpansion {
    span: CargoSpan,
}

fn cargo(output: &str, root: &Path, marker: &Path) -> Vec<Finding> {
    let lines = output.lines().filter(|line| line.starts_with('{'));
    let messages = lines.filter_map(|line| serde_json::from_str::<CargoLine>(line).ok()?.message);
    messages
        .filter_map(|message| {
            let severity = match message.level.as_str() {
                "warning" => Severity::Warning,
                level if level.starts_with("error") => Severity::Error,
                _ => return None,
            };
            let primary = message.spans.iter().find(|span| span.is_primary);
            let summary = message.message.starts_with("aborting due to")
                || message.message.ends_with(" emitted");
            if primary.is_none() && summary {
                return None;
            }
            let label = primary.and_then(|span| span.label.clone());
            let text = match label {
                Some(label) if !label.is_empty() => format!("{}\n{label}", message.message),
                _ => message.message,
            };
            let place = primary.map(|span| in_sources(span, root));
            Some(Finding {
                path: place
                    .as_ref()
                    .map_or_else(|| marker.to_owned(), |span| root.join(&span.file_name)),
                line: place.as_ref().map_or(0, |span| span.line_start),
                column: place.as_ref().map_or(0, |span| span.column_start),
                severity,
                code: message.code.map(|code| code.code),
                message: text,
            })
        })
        .collect()
}

/// An error inside a macro of another crate is shown where the macro is called.
fn in_sources(span: &CargoSpan, root: &Path) -> CargoSpan {
    let is_ours = |span: &CargoSpan| {
        !span.file_name.starts_with('<') && root.join(&span.file_name).starts_with(root)
    };
    let mut here = span;
    while !is_ours(here) {
        match &here.expansion {
            Some(expansion) => here = &expansion.span,
            None => return span.clone(),
        }
    }
    here.clone()
}

fn dart(line: &str, root: &Path) -> Option<Finding> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        let field = fields.last_mut()?;
        match ch {
            // A bar or a backslash in a field is escaped.
            '\\' => field.extend(chars.next()),
            '|' => fields.push(String::new()),
            ch => field.push(ch),
        }
    }
    let [severity, _, code, file, line, column, _, message] = fields.as_slice() else {
        return None;
    };
    let severity = match severity.as_str() {
        "ERROR" => Severity::Error,
        "WARNING" => Severity::Warning,
        _ => return None,
    };
    Some(Finding {
        path: root.join(file),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        severity,
        code: Some(code.to_ascii_lowercase()),
        message: message.clone(),
    })
}

fn tsc(output: &str, root: &Path, marker: &Path) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for line in output.lines() {
        if line.starts_with("  ") {
            if let Some(last) = findings.last_mut() {
                last.message.push('\n');
                last.message.push_str(line);
            }
            continue;
        }
        findings.extend(tsc_line(line, root, marker));
    }
    findings
}

fn tsc_line(line: &str, root: &Path, marker: &Path) -> Option<Finding> {
    let finding = |severity: &str, code: &str, message: &str| {
        let is_code = code.starts_with("TS") && code[2..].bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| Finding {
            path: marker.to_owned(),
            line: 0,
            column: 0,
            severity: match severity {
                "warning" => Severity::Warning,
                _ => Severity::Error,
            },
            code: Some(code.to_owned()),
            message: message.to_owned(),
        })
    };
    for severity in ["error", "warning"] {
        if let Some((code, message)) = line
            .strip_prefix(severity)
            .and_then(|rest| rest.strip_prefix(' '))
            .and_then(|rest| rest.split_once(": "))
        {
            return finding(severity, code, message);
        }
        let Some((place, rest)) = line.split_once(&format!("): {severity} ")) else {
            continue;
        };
        let (code, message) = rest.split_once(": ")?;
        let (file, at) = place.rsplit_once('(')?;
        let (line, column) = at.split_once(',')?;
        let mut found = finding(severity, code, message)?;
        found.path = root.join(file);
        found.line = line.parse().ok()?;
        found.column = column.parse().ok()?;
        return Some(found);
    }
    None
}

fn go_vet(output: &str, root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rest = output;
    while !rest.is_empty() {
        if rest.starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            if let Some(Ok(packages)) = values.next() {
                let end = values.byte_offset();
                go_packages(&packages, root, &mut findings);
                rest = rest.get(end..).unwrap_or_default().trim_start();
                continue;
            }
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let text = line.strip_prefix("vet: ").unwrap_or(line);
        if let Some(place) = place(text, root)
            && !place.rest.is_empty()
        {
            findings.push(Finding {
                path: place.path,
                line: place.line,
                column: place.column,
                severity: Severity::Error,
                code: None,
                message: place.rest.to_owned(),
            });
        }
    }
    findings
}

fn go_packages(packages: &Value, root: &Path, findings: &mut Vec<Finding>) {
    let objects = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for (_, analyzers) in objects(packages) {
        for (analyzer, found) in objects(&analyzers) {
            for item in found.as_array().map(Vec::as_slice).unwrap_or_default() {
                let position = item["posn"].as_str().unwrap_or_default();
                let position = format!("{position}: ");
                let Some(place) = place(&position, root) else {
                    continue;
                };
                findings.push(Finding {
                    path: place.path,
                    line: place.line,
                    column: place.column,
                    severity: Severity::Warning,
                    code: Some(analyzer.clone()),
                    message: item["message"].as_str().unwrap_or_default().to_owned(),
                });
            }
        }
    }
}

fn pyright(output: &str, root: &Path) -> Vec<Finding> {
    let list = json_part(output, '{')
        .split_once("\"generalDiagnostics\"")
        .and_then(|(_, rest)| rest.split_once('['));
    items(list.map_or("", |(_, rest)| rest))
        .filter_map(|item| {
            let severity = match item["severity"].as_str()? {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                _ => return None,
            };
            let start = &item["range"]["start"];
            let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
            Some(Finding {
                path: root.join(item["file"].as_str()?),
                line: number(&start["line"]).map_or(0, |line| line.saturating_add(1)),
                column: number(&start["character"]).map_or(0, |at| at.saturating_add(1)),
                severity,
                code: item["rule"].as_str().map(str::to_owned),
                message: item["message"].as_str()?.to_owned(),
            })
        })
        .collect()
}

/// The items of a list of JSON whose end may be missing.
fn items(list: &str) -> impl Iterator<Item = Value> {
    let mut left = list;
    std::iter::from_fn(move || {
        left = left.trim_start_matches(|ch: char| ch == ',' || ch.is_whitespace());
        let mut values = serde_json::Deserializer::from_str(left).into_iter();
        let item = values.next()?.ok();
        left = &left[values.byte_offset()..];
        item
    })
}

fn ruff(output: &str, root: &Path) -> Vec<Finding> {
    let report: Value = serde_json::from_str(json_part(output, '[')).unwrap_or_default();
    let items = report.as_array().map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let number = |name: &str| {
                let number = item["location"][name].as_u64()?;
                usize::try_from(number).ok()
            };
            // Rules of style are warnings; a syntax error has no code, or one of its own.
            let code = item["code"].as_str();
            let broken = code.is_none_or(|code| code == "invalid-syntax" || code.starts_with("E9"));
            Some(Finding {
                path: root.join(item["filename"].as_str()?),
                line: number("row").unwrap_or_default(),
                column: number("column").unwrap_or_default(),
                severity: match broken || code == Some("F821") {
                    true => Severity::Error,
                    false => Severity::Warning,
                },
                code: code.map(str::to_owned),
                message: item["message"].as_str()?.to_owned(),
            })
        })
        .collect()
}

/// The JSON of an output that begins with words: tools print notes before it.
fn json_part(output: &str, open: char) -> &str {
    let at_line = output
        .match_indices(open)
        .map(|(at, _)| at)
        .find(|&at| at == 0 || output.as_bytes()[at - 1] == b'\n');
    at_line.map_or("", |at| &output[at..])
}

fn compiler_line(line: &str, root: &Path) -> Option<Finding> {
    let place = place(line, root)?;
    let (severity, rest) = [
        ("fatal error", Severity::Error),
        ("error", Severity::Error),
        ("warning", Severity::Warning),
    ]
    .into_iter()
    .find_map(|(word, severity)| Some((severity, place.rest.strip_prefix(word)?)))?;
    // ty writes the code behind the severity, all others at the end of the line.
    let (code, message) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (code, message) = rest.split_once(']')?;
            (Some(code), message.strip_prefix(':').unwrap_or(message))
        }
        None => {
            let message = rest.strip_prefix(':')?;
            match message.rsplit_once(" [") {
                Some((before, code)) if code.ends_with(']') && !code.contains(' ') => {
                    (Some(code.trim_end_matches(']')), before)
                }
                _ => (None, message),
            }
        }
    };
    Some(Finding {
        path: place.path,
        line: place.line,
        column: place.column,
        severity,
        code: code.map(str::to_owned),
        message: message.trim().to_owned(),
    })
}

/// The beginning of a line that names a place.
struct Place<'a> {
    path: PathBuf,
    line: usize,
    column: usize,
    rest: &'a str,
}

/// Reads `file:line:column: ` or `file:line: ` at the beginning of a line.
fn place<'a>(text: &'a str, root: &Path) -> Option<Place<'a>> {
    for (colon, _) in text.match_indices(':') {
        let Some((line, after)) = number(&text[colon + 1..]) else {
            continue;
        };
        let (column, after) = match number(after) {
            Some((column, after)) => (column, after),
            None => (0, after),
        };
        let Some(rest) = after.strip_prefix(' ') else {
            continue;
        };
        let file = &text[..colon];
        if file.is_empty() || file.starts_with(char::is_whitespace) {
            return None;
        }
        let file = file.strip_prefix("./").unwrap_or(file);
        return Some(Place {
            path: root.join(file),
            line,
            column,
            rest,
        });
    }
    None
}

/// Reads digits and a colon.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|ch: char| !ch.is_ascii_digit())?;
    let after = text[end..].strip_prefix(':')?;
    Some((text[..end].parse().ok()?, after))
}
