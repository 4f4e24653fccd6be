//! What servers said is wrong with files, as they said it last.
//!
//! Publications carry a version, or none, or the same one twice; replies to a pull carry none. Each is kept
//! with a generation of its own, so that a caller can tell a new statement from an old one whatever the
//! server puts into it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lsp_types::Range;
use serde_json::Value;

/// The last statements of one server, by path.
#[derive(Clone, Debug, Default)]
pub struct Published {
    files: BTreeMap<PathBuf, Statement>,
    generation: u64,
}

/// What a server said about one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The version of the document that it speaks of, where the server says it.
    pub version: Option<i64>,
    /// A number that grows with every statement of the server, about any file.
    pub generation: u64,
    /// How it came.
    pub origin: Origin,
    /// When it came.
    pub when: Instant,
    /// The id of a pulled result, for the next pull.
    pub result_id: Option<String>,
    /// What is wrong; nothing where the file is clean.
    pub items: Vec<Diagnostic>,
}

/// How a statement came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The server published it.
    Pushed,
    /// The server was asked for it.
    Pulled,
}

/// One thing that is wrong, in the server's own counting of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub range: Range,
    /// How bad.
    pub severity: Severity,
    /// The code as text, whatever the server made it of.
    pub code: Option<String>,
    /// What.
    pub message: String,
    /// Which part of the server says so.
    pub source: Option<String>,
    /// The whole of it as the server sent it: who asks for fixes hands it back.
    pub raw: Value,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It does not work.
    Error,
    /// It may not work.
    Warning,
    /// A remark.
    Information,
    /// A suggestion.
    Hint,
}

impl Severity {
    /// Returns the name that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }
}

impl Diagnostic {
    /// Reads what a server sent; what it leaves out or misspells costs that field and not the rest.
    pub fn read(value: &Value) -> Option<Self> {
        let message = match &value["message"] {
            Value::String(text) => text.clone(),
            markup => markup["value"].as_str()?.to_owned(),
        };
        Some(Self {
            range: serde_json::from_value(value["range"].clone()).unwrap_or_default(),
            severity: match value["severity"].as_i64() {
                Some(2) => Severity::Warning,
                Some(3) => Severity::Information,
                Some(4) => Severity::Hint,
                _ => Severity::Error,
            },
            code: match &value["code"] {
                Value::String(code) => Some(code.clone()),
                Value::Number(code) => Some(code.to_string()),
                // An early draft of the protocol had `{value, target}`.
                Value::Object(code) => code.get("value").map(|value| match value {
                    Value::String(code) => code.clone(),
                    other => other.to_string(),
                }),
                _ => None,
            },
            message,
            source: value["source"].as_str().map(str::to_owned),
            raw: value.clone(),
        })
    }

    /// Reads a list of them.
    pub fn read_all(values: &Value) -> Vec<Self> {
        let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
        values.iter().filter_map(Self::read).collect()
    }
}

impl Published {
    /// Returns the last statement about a file.
    pub fn of(&self, path: &Path) -> Option<&Statement> {
        self.files.get(path)
    }

    /// Returns all statements, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Statement)> {
        self.files.iter().map(|(path, said)| (path.as_path(), said))
    }

    /// Returns the number of the newest statement.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn say(
        &mut self,
        path: PathBuf,
        origin: Origin,
        version: Option<i64>,
        result_id: Option<String>,
        items: Vec<Diagnostic>,
    ) {
        self.generation += 1;
        let statement = Statement {
            version,
            generation: self.generation,
            origin,
            when: Instant::now(),
            result_id,
            items,
        };
        self.files.insert(path, statement);
    }

    /// Notes that an earlier statement still holds.
    pub(crate) fn confirm(&mut self, path: &Path, version: Option<i64>) {
        self.generation += 1;
        if let Some(statement) = self.files.get_mut(path) {
            statement.generation = self.generation;
            statement.version = version;
            statement.when = Instant::now();
        }
    }

    /// Forgets what was said about a file that is gone.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Forgets a clean file that is not open any more, so that memory does not grow with the files seen.
    pub(crate) fn forget_clean(&mut self, path: &Path) {
        if self
            .files
            .get(path)
            .is_some_and(|said| said.items.is_empty())
        {
            self.files.remove(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_codes_of_every_kind_and_bears_missing_fields() {
        let read = |value| Diagnostic::read(&value);
        let code = |code: Value| read(json!({"message": "m", "code": code})).and_then(|it| it.code);
        assert_eq!(code(json!("E1")).as_deref(), Some("E1"));
        assert_eq!(code(json!(2304)).as_deref(), Some("2304"));
        assert_eq!(
            code(json!({"value": 7, "target": "x"})).as_deref(),
            Some("7")
        );
        assert_eq!(code(json!(null)), None);
        let bare = read(json!({"message": "m"})).expect("a message is enough");
        assert_eq!(bare.severity, Severity::Error);
        assert_eq!(read(json!({"severity": 1})), None);
        assert_eq!(Diagnostic::read_all(&json!(null)), []);
    }

    #[test]
    fn every_statement_has_a_generation_of_its_own() {
        let mut published = Published::default();
        let path = PathBuf::from("/a");
        published.say(path.clone(), Origin::Pushed, Some(1), None, Vec::new());
        published.say(path.clone(), Origin::Pushed, Some(1), None, Vec::new());
        assert_eq!(published.of(&path).map(|said| said.generation), Some(2));
        published.confirm(&path, Some(2));
        let said = published.of(&path).expect("it is there");
        assert_eq!((said.generation, said.version), (3, Some(2)));
        published.forget_clean(&path);
        assert_eq!(published.of(&path), None);
    }
}
