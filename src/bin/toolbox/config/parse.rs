//! Reads one `toolbox.toml` into settings, each with the place where it stands.
//!
//! A wrong file is one error: the place, the key, what is expected and what is there. Nothing is decided here
//! about whose settings win.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolbox::limits;
use toolbox::run::{Decision, Rule, SubjectKind, Target};
use toolbox::tool::Tier;
use toolbox::tools::{RULE_TARGETS, TOOL_ALIASES};

use super::keys::{self, Kind};

/// One value of one key.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    /// The rule, where the key is `approval.rules`: there each rule is a setting of its own.
    pub(crate) rule: Option<(Rule, Decision)>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    User { file: PathBuf, line: usize },
    Project { file: PathBuf, line: usize },
    Flag(&'static str),
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    User,
    Project,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", file.display())]
pub(crate) struct ConfigError {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) message: String,
}

/// A complaint about a place in the text.
struct Wrong {
    at: Range<usize>,
    message: String,
}

type Checked<T = Value> = Result<T, Wrong>;

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    owner: Owner,
    settings: Vec<Setting>,
}

/// Reads a file.
pub(crate) fn read(file: &Path, text: &str, owner: Owner) -> Result<Vec<Setting>, ConfigError> {
    let mut reader = Reader {
        file,
        text,
        owner,
        settings: Vec::new(),
    };
    let res = match DeTable::parse(text) {
        Ok(table) => reader.table(table.get_ref(), &mut Vec::new()),
        Err(error) => Err(Wrong {
            at: error.span().unwrap_or_default(),
            message: error.message().to_owned(),
        }),
    };
    match res {
        Ok(()) => Ok(reader.settings),
        Err(wrong) => {
            let (line, column) = reader.place(&wrong.at);
            Err(ConfigError {
                file: file.to_owned(),
                line,
                column,
                message: wrong.message,
            })
        }
    }
}

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &mut Vec<String>) -> Checked<()> {
        for (name, value) in table {
            path.push(name.get_ref().to_string());
            self.entry(name.span(), value, path)?;
            path.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        name: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        path: &mut Vec<String>,
    ) -> Checked<()> {
        let shown = path.join(".");
        if let Some(key) = keys::find(path) {
            if key.kind == Kind::Rules {
                return self.rules(value, path);
            }
            let value = checked(key.kind, value, &shown)?;
            self.keep(&name, path, value, None);
            return Ok(());
        }
        if keys::below(path).is_empty() {
            let above = &path[..path.len() - 1];
            let known = keys::below(above).join(", ");
            let place = match above.is_empty() {
                true => "at the top".to_owned(),
                false => format!("under `{}`", above.join(".")),
            };
            return Err(Wrong {
                at: name,
                message: format!("unknown key `{shown}`; the keys {place} are {known}"),
            });
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, path),
            other => Err(Wrong {
                at: value.span(),
                message: format!("`{shown}` must be a table, not {}", described(other)),
            }),
        }
    }

    fn rules(&mut self, value: &Spanned<DeValue<'_>>, path: &[String]) -> Checked<()> {
        let DeValue::Array(rules) = value.get_ref() else {
            return Err(wrong(Kind::Rules, value, "approval.rules"));
        };
        for rule in rules {
            let DeValue::Table(table) = rule.get_ref() else {
                return Err(wrong(Kind::Rules, rule, "approval.rules"));
            };
            let (rule_value, compiled) = read_rule(table, rule.span())?;
            self.keep(&rule.span(), path, rule_value, Some(compiled));
        }
        Ok(())
    }

    fn keep(
        &mut self,
        at: &Range<usize>,
        path: &[String],
        value: Value,
        rule: Option<(Rule, Decision)>,
    ) {
        let (file, (line, _)) = (self.file.to_owned(), self.place(at));
        // What a tool is called at dispatch is what its decision is looked up by.
        let mut path = path.to_vec();
        if let [approval, tools, name] = &mut path[..]
            && approval == "approval"
            && tools == "tools"
        {
            *name = canonical(name);
        }
        self.settings.push(Setting {
            path,
            value,
            origin: match self.owner {
                Owner::User => Origin::User { file, line },
                Owner::Project => Origin::Project { file, line },
            },
            rule,
        });
    }

    /// Line and column, counted from 1, the column in characters.
    fn place(&self, at: &Range<usize>) -> (usize, usize) {
        let mut end = at.start.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

fn read_rule(table: &DeTable<'_>, at: Range<usize>) -> Checked<(Value, (Rule, Decision))> {
    let mut words: Map<String, Value> = Map::new();
    for (name, value) in table {
        let known = ["tool", "command", "path", "argument", "decision"];
        if !known.contains(&name.get_ref().as_ref()) {
            return Err(Wrong {
                at: name.span(),
                message: format!(
                    "unknown key `{}` of a rule; the keys are {}",
                    name.get_ref(),
                    known.join(", ")
                ),
            });
        }
        let shown = format!("approval.rules.{}", name.get_ref());
        let kind = match name.get_ref().as_ref() {
            "decision" => Kind::Decision,
            _ => Kind::Text,
        };
        words.insert(name.get_ref().to_string(), checked(kind, value, &shown)?);
    }
    let word = |name: &str| words.get(name).and_then(Value::as_str);
    let fail = |message: String| Wrong {
        at: at.clone(),
        message: format!("the rule {message}"),
    };
    let missing = |name: &str| fail(format!("lacks the key `{name}`"));
    let tool = canonical(word("tool").ok_or_else(|| missing("tool"))?);
    let decision: Decision = word("decision")
        .ok_or_else(|| missing("decision"))?
        .parse()
        .map_err(|err| fail(format!("is wrong: {err}")))?;
    let (is_command, pattern) = match (word("command"), word("path")) {
        (Some(command), None) => (true, command),
        (None, Some(path)) => (false, path),
        _ => return Err(fail("needs one of `command` and `path`".to_owned())),
    };
    let row = RULE_TARGETS
        .iter()
        .find(|row| row.tool == tool && (row.kind == SubjectKind::Command) == is_command);
    let target = match (word("argument"), row) {
        (Some(pointer), _) if !pointer.starts_with('/') => {
            return Err(fail(format!(
                "has the argument '{pointer}', which is no JSON pointer such as /command"
            )));
        }
        (Some(pointer), _) => Target::new(
            pointer,
            match is_command {
                true => SubjectKind::Command,
                false => SubjectKind::Path,
            },
        ),
        (None, Some(row)) => row.target(),
        (None, None) => {
            let kind = if is_command { "command" } else { "path" };
            let known: Vec<&str> = RULE_TARGETS
                .iter()
                .filter(|row| (row.kind == SubjectKind::Command) == is_command)
                .map(|row| row.tool)
                .collect();
            return Err(fail(format!(
                "is about a {kind} of {tool}, where none is known: {} {} one, and `argument` names it \
                 for others",
                known.join(", "),
                if known.len() == 1 { "has" } else { "have" },
            )));
        }
    };
    let rule = match is_command {
        true => Rule::command(&tool, target, pattern, decision),
        false => Rule::path(&tool, target, pattern, decision),
    };
    let rule = rule.map_err(|err| fail(format!("is wrong: {err}")))?;
    words.insert("tool".to_owned(), json!(tool));
    Ok((Value::Object(words), (rule, decision)))
}

/// The canonical name of a tool (D33).
fn canonical(name: &str) -> String {
    TOOL_ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, canonical)| canonical)
        .to_owned()
}

fn wrong(kind: Kind, value: &Spanned<DeValue<'_>>, shown: &str) -> Wrong {
    Wrong {
        at: value.span(),
        message: format!(
            "`{shown}` must be {}, not {}",
            kind.expected(),
            described(value.get_ref())
        ),
    }
}

/// Checks a value against what its key takes.
fn checked(kind: Kind, value: &Spanned<DeValue<'_>>, shown: &str) -> Checked {
    let json = to_json(value)?;
    let fits = match (kind, &json) {
        (Kind::Tier, Value::String(word)) => word.parse::<Tier>().is_ok(),
        (Kind::Decision, Value::String(word)) => word.parse::<Decision>().is_ok(),
        (Kind::Bool, Value::Bool(_)) | (Kind::Table, Value::Object(_)) => true,
        (Kind::Text, Value::String(text)) => !text.contains('\0'),
        (Kind::Program | Kind::Folder, Value::String(text)) => named(text),
        (Kind::Texts, Value::Array(texts)) => texts.iter().all(Value::is_string),
        (Kind::Argv, Value::Array(words)) => {
            words.first().and_then(Value::as_str).is_some_and(named)
                && words
                    .iter()
                    .all(|word| word.as_str().is_some_and(|word| !word.contains('\0')))
        }
        (Kind::Folders, Value::Array(paths)) => paths.iter().all(|path| {
            path.as_str()
                .is_some_and(|path| Path::new(path).is_absolute())
        }),
        (Kind::Seconds, Value::Number(number)) => number
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0 && seconds <= limits::FOREVER.as_secs_f64()),
        (Kind::Count, Value::Number(number)) => number.as_u64().is_some_and(|count| count > 0),
        (Kind::Url, Value::String(address)) => url::Url::parse(address)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()),
        (Kind::Brief, Value::String(word)) => {
            matches!(word.as_str(), "argument" | "stdin" | "file")
        }
        (Kind::Transport, Value::String(word)) => {
            word == "stdio" || (word.starts_with('-') && !word.contains('\0'))
        }
        (Kind::Variables, Value::Object(map)) => map.iter().all(|(name, value)| {
            named(name)
                && !name.contains('=')
                && value.as_str().is_some_and(|value| !value.contains('\0'))
        }),
        _ => false,
    };
    match fits {
        true => Ok(json),
        false => Err(wrong(kind, value, shown)),
    }
}

/// Whether a text can name a program, a file or a variable.
fn named(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0')
}

fn to_json(value: &Spanned<DeValue<'_>>) -> Checked {
    let number = |number: Option<Number>, text: &str| {
        number.map(Value::Number).ok_or_else(|| Wrong {
            at: value.span(),
            message: format!("the number {text} cannot be used"),
        })
    };
    Ok(match value.get_ref() {
        DeValue::String(text) => json!(text),
        DeValue::Integer(digits) => {
            let whole = i64::from_str_radix(digits.as_str(), digits.radix());
            number(whole.ok().map(Number::from), digits.as_str())?
        }
        DeValue::Float(digits) => {
            let float = digits.as_str().parse().ok().and_then(Number::from_f64);
            number(float, digits.as_str())?
        }
        DeValue::Boolean(truth) => json!(truth),
        DeValue::Datetime(time) => json!(time.to_string()),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(to_json).collect::<Checked<Vec<_>>>()?)
        }
        DeValue::Table(table) => {
            let mut map = Map::new();
            for (name, value) in table {
                map.insert(name.get_ref().to_string(), to_json(value)?);
            }
            Value::Object(map)
        }
    })
}

/// Longest value that an error repeats, in characters.
const DESCRIBED_CHARS: usize = 60;

fn described(value: &DeValue<'_>) -> String {
    let text = match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(digits) => digits.as_str().to_owned(),
        DeValue::Float(digits) => digits.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(values) if values.is_empty() => "an empty list".to_owned(),
        DeValue::Array(_) => "such a list".to_owned(),
        DeValue::Table(_) => "such a table".to_owned(),
    };
    match text.chars().count() > DESCRIBED_CHARS {
        true => text
            .chars()
            .take(DESCRIBED_CHARS)
            .chain("…".chars())
            .collect(),
        false => text,
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User { file, line } | Self::Project { file, line } => {
                write!(f, "{}:{line}", file.display())
            }
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
