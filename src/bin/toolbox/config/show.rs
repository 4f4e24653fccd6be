//! `toolbox config`: the effective configuration, each value with where it comes from.
//!
//! The text is TOML that a file could hold, its comments the origins. Values may come from a checkout, so
//! nothing of them reaches the terminal that could steer it.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};
use toolbox::text::terminal::printable;

use super::keys::{KEYS, find};
use super::parse::{Origin, Owner, Setting};
use super::{Config, FileState, RULES};
use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};

/// The path of what is said about single tools.
const TOOLS: [&str; 2] = ["approval", "tools"];

/// What `config` takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShowConfig {}

/// Prints the effective configuration.
pub(crate) fn config(console: &Console, global: &Global, _args: ShowConfig) -> Step {
    let host = Host::open(console, global)?;
    let config = host.config();
    if console.json {
        return console.print_json(&as_json(config));
    }
    let mut text = as_text(config);
    let registry = host.registry();
    let known: Vec<String> = registry
        .specs()
        .into_iter()
        .map(|spec| spec.name.clone())
        .chain(registry.unavailable().into_iter().map(|row| row.name))
        .collect();
    for setting in strangers(config, &known) {
        let _ = writeln!(
            text,
            "# {}: no tool of this build is called `{}`: it holds for a tool of a host alone",
            plain(&setting.origin.to_string()),
            plain(setting.path.last().map_or("", String::as_str)),
        );
    }
    console.print(&text)
}

fn as_text(config: &Config) -> String {
    let mut text = String::new();
    for used in &config.files {
        let owner = owner(used.owner);
        let state = match used.state {
            FileState::Absent => " (there is none)",
            FileState::Read => "",
            FileState::Untrusted => " (not trusted: only what is harmless is taken)",
        };
        let _ = writeln!(
            text,
            "# {owner} file: {}{state}",
            plain(&used.file.display().to_string())
        );
    }
    for setting in in_order(config) {
        let line = format!("{} = {}", key(&setting.path), inline(&setting.value));
        let _ = writeln!(text, "{line}  # {}", plain(&setting.origin.to_string()));
    }
    if config.rules.is_empty() {
        let _ = writeln!(text, "{RULES} = []  # default");
    } else {
        let _ = writeln!(text, "{RULES} = [");
        for rule in &config.rules {
            let origin = plain(&rule.origin.to_string());
            let _ = writeln!(text, "  {},  # {origin}", inline(&rule.value));
        }
        text.push_str("]\n");
    }
    let unset: Vec<&str> = KEYS
        .iter()
        .map(|key| key.path)
        .filter(|path| !path.contains('*') && *path != RULES)
        .filter(|path| !config.values.keys().any(|set| set.join(".") == **path))
        .collect();
    if !unset.is_empty() {
        let _ = writeln!(text, "# not set: {}", unset.join(", "));
    }
    for ignored in config.ignored() {
        let _ = writeln!(text, "# {}", plain(&ignored));
    }
    text
}

/// What is said about tools by names that none has: a slip there would approve or forbid nothing, silently.
fn strangers<'a>(config: &'a Config, known: &[String]) -> Vec<&'a Setting> {
    let about_a_tool = |setting: &&Setting| setting.path.starts_with(&TOOLS.map(str::to_owned));
    config
        .values
        .values()
        .filter(about_a_tool)
        .filter(|setting| {
            setting
                .path
                .last()
                .is_some_and(|name| !known.contains(name))
        })
        .collect()
}

fn as_json(config: &Config) -> Value {
    let row = |setting: &Setting| {
        json!({
            "key": key(&setting.path),
            "value": setting.value,
            "origin": origin(&setting.origin),
        })
    };
    let files: Vec<Value> = config
        .files
        .iter()
        .map(|used| {
            let state = match used.state {
                FileState::Absent => "absent",
                FileState::Read => "read",
                FileState::Untrusted => "untrusted",
            };
            json!({ "owner": owner(used.owner), "file": used.file, "state": state })
        })
        .collect();
    let ignored: Vec<Value> = config
        .ignored
        .iter()
        .map(|ignored| {
            json!({
                "key": key(&ignored.path),
                "origin": origin(&ignored.origin),
                "reason": ignored.reason,
            })
        })
        .collect();
    let values: Vec<Value> = in_order(config)
        .into_iter()
        .chain(&config.rules)
        .map(row)
        .collect();
    json!({ "files": files, "values": values, "ignored": ignored })
}

/// The values in the order of the reference.
fn in_order(config: &Config) -> Vec<&Setting> {
    let mut settings: Vec<&Setting> = config.values.values().collect();
    let rank = |setting: &&Setting| {
        let path = find(&setting.path).map(|key| key.path);
        KEYS.iter().position(|key| Some(key.path) == path)
    };
    settings.sort_by_key(rank);
    settings
}

fn owner(owner: Owner) -> &'static str {
    match owner {
        Owner::User => "user",
        Owner::Project => "project",
    }
}

fn origin(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::User { file, line } => json!({ "kind": "user", "file": file, "line": line }),
        Origin::Project { file, line } => {
            json!({ "kind": "project", "file": file, "line": line })
        }
        Origin::Flag(flag) => json!({ "kind": "flag", "flag": flag }),
    }
}

/// A path as TOML writes it.
pub(crate) fn key(path: &[String]) -> String {
    let bare = |step: &String| {
        !step.is_empty()
            && step
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    path.iter()
        .map(|step| {
            if bare(step) {
                step.clone()
            } else {
                string(step)
            }
        })
        .collect::<Vec<_>>()
        .join(".")
}

/// A value on one line, as TOML writes it.
fn inline(value: &Value) -> String {
    match value {
        // TOML has none; no key takes it either.
        Value::Null => "\"\"".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(name, value)| {
                    format!("{} = {}", key(std::slice::from_ref(name)), inline(value))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A basic string of TOML; what could steer a terminal is escaped.
fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' | '\\' => quoted.extend(['\\', ch]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            ch if printable(ch.encode_utf8(&mut [0; 4])).is_empty() => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(ch));
            }
            ch => quoted.push(ch),
        }
    }
    quoted.push('"');
    quoted
}

fn plain(text: &str) -> String {
    printable(text).replace('\n', " ")
}

#[cfg(test)]
pub(super) fn tests_text(config: &Config) -> String {
    as_text(config)
}
