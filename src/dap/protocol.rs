//! The parts of the debug adapter protocol that are used, read leniently.
//!
//! Adapters leave fields out, send `null` for them, count `seq` wrongly and give errors without words
//! (<https://microsoft.github.io/debug-adapter-protocol/specification>). So nothing here is derived: each
//! type takes from a JSON value what is there. `seq` is never looked at.

use serde_json::{Map, Value};

use crate::dap::error::Failure;

/// What came from an adapter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// The answer to a request of ours.
    Response {
        request_seq: i64,
        outcome: Result<Value, Failure>,
    },
    /// Something happened.
    Event { name: String, body: Value },
    /// The adapter asks something of us.
    Request { seq: i64, command: String },
}

impl Message {
    /// Reads a message; `None` for what is none.
    pub(crate) fn read(mut message: Value) -> Option<Self> {
        let body = message.get_mut("body").map(Value::take).unwrap_or_default();
        match message.get("type")?.as_str()? {
            "response" => {
                let request_seq = int(&message, "request_seq")?;
                let outcome = if flag(&message, "success") == Some(true) {
                    Ok(body)
                } else {
                    Err(Failure::Refused(refusal(&message, &body)))
                };
                Some(Self::Response {
                    request_seq,
                    outcome,
                })
            }
            "event" => Some(Self::Event {
                name: text(&message, "event")?,
                body,
            }),
            "request" => Some(Self::Request {
                seq: int(&message, "seq").unwrap_or_default(),
                command: text(&message, "command")?,
            }),
            _ => None,
        }
    }
}

/// The words of a failed response. The structured error comes first: `message` is often a code only.
fn refusal(message: &Value, body: &Value) -> String {
    let error = body.get("error").unwrap_or(&Value::Null);
    let structured = text(error, "format").map(|format| {
        let variables = error.get("variables").and_then(Value::as_object);
        variables
            .into_iter()
            .flatten()
            .fold(format, |words, (name, value)| {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                words.replace(&format!("{{{name}}}"), &value)
            })
    });
    structured
        .filter(|words| !words.trim().is_empty())
        .or_else(|| text(message, "message").filter(|words| !words.trim().is_empty()))
        .map(|words| words.trim_end().to_owned())
        .unwrap_or_else(|| "the adapter gave no reason".to_owned())
}

/// What an adapter says it can do; events may change it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Capabilities(Map<String, Value>);

/// A kind of exception that a session can stop at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExceptionFilter {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) default: bool,
}

impl Capabilities {
    /// Takes over what a response or an event says.
    pub(crate) fn merge(&mut self, body: &Value) {
        if let Value::Object(map) = body {
            self.0.extend(map.clone());
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    pub(crate) fn exception_filters(&self) -> Vec<ExceptionFilter> {
        let filters = self.0.get("exceptionBreakpointFilters");
        let rows = filters
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        rows.iter()
            .filter_map(|row| {
                let id = text(row, "filter")?;
                Some(ExceptionFilter {
                    label: text(row, "label").unwrap_or_else(|| id.clone()),
                    default: flag(row, "default") == Some(true),
                    id,
                })
            })
            .collect()
    }
}

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) id: i64,
    pub(crate) function: String,
    /// The path of its source, where the adapter knows one.
    pub(crate) path: Option<String>,
    /// What the adapter calls the source where it has no path.
    pub(crate) source: Option<String>,
    pub(crate) line: usize,
}

impl Frame {
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let source = value.get("source").unwrap_or(&Value::Null);
        Some(Self {
            id: int(value, "id")?,
            function: text(value, "name").map_or_else(String::new, without_hash),
            path: text(source, "path").filter(|path| !path.is_empty()),
            source: text(source, "name").filter(|name| !name.is_empty()),
            line: line(value),
        })
    }
}

/// A name without the hash that Rust's compiler puts behind it.
fn without_hash(mut name: String) -> String {
    if let Some((path, hash)) = name.rsplit_once("::h")
        && hash.len() == 16
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        name.truncate(path.len());
    }
    name
}

/// One variable, or an element of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) kind: String,
    pub(crate) reference: i64,
    /// How many children it says to have; 0 where it does not say.
    pub(crate) n_children: usize,
}

impl Variable {
    pub(crate) fn read(value: &Value) -> Option<Self> {
        Some(Self {
            name: text(value, "name")?,
            value: text(value, "value").unwrap_or_default(),
            kind: text(value, "type").unwrap_or_default(),
            reference: int(value, "variablesReference").unwrap_or_default(),
            n_children: ["namedVariables", "indexedVariables"]
                .iter()
                .filter_map(|name| usize::try_from(int(value, name)?).ok())
                .sum(),
        })
    }
}

/// One scope of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) reference: i64,
    pub(crate) expensive: bool,
    hint: Option<String>,
}

impl Scope {
    /// Whether it holds what the function itself declares.
    pub(crate) fn is_own(&self) -> bool {
        let is_one =
            |word: &str| ["locals", "arguments"].contains(&word.to_ascii_lowercase().as_str());
        self.hint.as_deref().is_some_and(is_one) || is_one(&self.name)
    }

    pub(crate) fn read(value: &Value) -> Option<Self> {
        Some(Self {
            name: text(value, "name")?,
            reference: int(value, "variablesReference")?,
            expensive: flag(value, "expensive") == Some(true),
            hint: text(value, "presentationHint"),
        })
    }
}

/// The elements of an array in a body, those that can be read.
pub(crate) fn rows<T>(body: &Value, name: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    let rows = body.get(name).and_then(Value::as_array);
    rows.map_or_else(Vec::new, |rows| rows.iter().filter_map(read).collect())
}

/// A text field.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// A number field; some adapters send numbers as floats.
pub(crate) fn int(value: &Value, name: &str) -> Option<i64> {
    let number = value.get(name)?;
    number
        .as_i64()
        .or_else(|| number.as_f64().map(|float| float as i64))
}

/// A yes or no.
pub(crate) fn flag(value: &Value, name: &str) -> Option<bool> {
    value.get(name)?.as_bool()
}

/// A line number; 0 where there is none.
pub(crate) fn line(value: &Value) -> usize {
    int(value, "line")
        .and_then(|line| usize::try_from(line).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(response: Value) -> String {
        match Message::read(response) {
            Some(Message::Response {
                outcome: Err(Failure::Refused(words)),
                ..
            }) => words,
            other => panic!("no refusal: {other:?}"),
        }
    }

    #[test]
    fn a_refusal_has_words_whatever_the_adapter_left_out() {
        let error = json!({"format": "no {what} in {n}", "variables": {"what": "file", "n": 3}});
        let response = |message: Value, body: Value| {
            json!({"type": "response", "request_seq": 1, "seq": 0, "success": false, "command": "",
                "message": message, "body": body})
        };
        assert_eq!(
            refused(response(json!("code"), json!({"error": error}))),
            "no file in 3"
        );
        assert_eq!(refused(response(json!("words"), Value::Null)), "words");
        assert_eq!(
            refused(response(Value::Null, json!({}))),
            "the adapter gave no reason"
        );
    }

    #[test]
    fn a_hash_of_rust_goes_and_other_names_stay() {
        assert_eq!(without_hash("a::b::h0123456789abcdef".to_owned()), "a::b");
        for name in ["a::h0123456789abcde", "a::h0123456789abcdeg", "main"] {
            assert_eq!(without_hash(name.to_owned()), name);
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for other in [
            json!(null),
            json!([1]),
            json!({"type": 1}),
            json!({"type": "x"}),
            json!({"type": "event"}),
        ] {
            assert_eq!(Message::read(other.clone()), None, "{other}");
        }
    }
}
