//! What a line of a session asks for.
//!
//! Reading has no state and touches nothing, so any bytes can be thrown at it: a line becomes one request,
//! or one complaint that quotes the id where it can be read. Keys that a request does not know are passed
//! over, so that a newer client can talk to an older session.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use toolbox::limits;
use toolbox::tool::{ErrorKind, Image, Output, Tier, ToolError};

/// What a line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// To call a tool.
    Call(CallRequest),
    /// To list the tools.
    ListTools,
    /// To stop a call.
    Cancel(CallId),
    /// The answer to a question.
    Answer {
        /// The question.
        question: String,
        /// What was decided.
        answer: Answer,
    },
    /// To take in a tool of the host.
    Register(HostTool),
    /// What a tool of the host gave back.
    Return {
        /// The call of the tool.
        call: String,
        /// What came of it.
        result: Result<Output, ToolError>,
    },
    /// To say what a background session does.
    Status,
    /// To end a background session.
    Stop,
}

/// The id of a call: a JSON number or text of the client's own choice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(String);

/// A call as a line asks for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallRequest {
    pub(crate) id: CallId,
    pub(crate) tool: String,
    pub(crate) args: Value,
    /// Whether the client says that a person typed the call (D42).
    pub(crate) approved: bool,
    /// Up to which tier what the call bridges to is approved.
    pub(crate) approve: Option<Tier>,
}

/// What was decided about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Options, counted from 1, and a typed text.
    Given {
        choices: Vec<usize>,
        text: Option<String>,
    },
    /// The person chose not to answer.
    Skip,
    /// An approval.
    Approve(bool),
    /// Nobody is there who could answer.
    Unattended,
    /// The person interrupted it.
    Cancel,
}

/// A tool that the host describes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostTool {
    pub(crate) name: String,
    pub(crate) tier: Tier,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) parallel_safe: bool,
}

/// Why a line is no request, and what of it can be quoted.
#[derive(Debug)]
pub(crate) struct BadLine {
    /// The key that names what the line is about, and its value.
    pub(crate) about: Option<(&'static str, Value)>,
    pub(crate) error: ToolError,
}

/// The keys that say what a line asks for.
const VERBS: [&str; 8] = [
    "tool", "list", "cancel", "answer", "register", "return", "status", "stop",
];

const SHAPES: &str = "a request is one JSON object a line, such as \
                      {\"id\":1,\"tool\":\"ast_grep\",\"args\":{}} or {\"list\":\"tools\"}";

/// Reads a line.
pub(crate) fn read(line: &[u8]) -> Result<Request, BadLine> {
    read_whole(line).map_err(|mut bad| {
        bad.about = bad.about.filter(|(_, value)| is_quotable(value));
        bad
    })
}

fn is_quotable(value: &Value) -> bool {
    matches!(value, Value::Number(_) | Value::String(_))
        && value.to_string().len() <= limits::SESSION_ID_BYTES
}

fn read_whole(line: &[u8]) -> Result<Request, BadLine> {
    let value: Value = serde_json::from_slice(line)
        .map_err(|err| bad(id_within(line), format!("the line is no JSON: {err}")).hint(SHAPES))?;
    let Value::Object(mut object) = value else {
        return Err(bad(None, "the line is JSON, but no object").hint(SHAPES));
    };
    let verbs: Vec<&str> = VERBS
        .into_iter()
        .filter(|verb| object.contains_key(*verb))
        .collect();
    let id = object.get("id").cloned().map(|id| ("id", id));
    match verbs[..] {
        ["tool"] => call(&mut object).map_err(|error| BadLine { about: id, error }),
        [verb] => {
            let about = match (id, verb) {
                (Some(id), _) => Some(id),
                (None, "cancel" | "answer" | "return") => Some((verb, object[verb].clone())),
                (None, _) => None,
            };
            other(verb, &mut object).map_err(|error| BadLine { about, error })
        }
        [] if object.contains_key("id") => Err(bad(
            id,
            "the request lacks `tool`, the name of the tool to call",
        )),
        [] => Err(bad(id, "the line asks for nothing").hint(SHAPES)),
        ref verbs => Err(bad(
            id,
            format!("the line asks for several things: {}", verbs.join(", ")),
        )
        .hint("send one request a line")),
    }
}

/// Complains about a line over the limit.
pub(crate) fn too_long(beginning: &[u8]) -> BadLine {
    let limit = limits::SESSION_LINE_BYTES;
    bad(
        id_within(beginning),
        format!("the line is over the limit of {limit} bytes"),
    )
    .hint("put large content into a file and name the file")
}

fn other(verb: &'static str, object: &mut Map<String, Value>) -> Result<Request, ToolError> {
    match verb {
        "list" => match object.get("list").and_then(Value::as_str) {
            Some("tools") => Ok(Request::ListTools),
            _ => Err(ToolError::invalid_args("`list` takes \"tools\"")),
        },
        "cancel" => Ok(Request::Cancel(CallId::read(object.get("cancel"))?)),
        "answer" => Ok(Request::Answer {
            question: text(object, "answer")?,
            answer: answer(object)?,
        }),
        "register" => register(object.remove("register")),
        "return" => Ok(Request::Return {
            call: text(object, "return")?,
            result: returned(object)?,
        }),
        "status" => truth(object, "status").map(|()| Request::Status),
        _ => truth(object, "stop").map(|()| Request::Stop),
    }
}

fn call(object: &mut Map<String, Value>) -> Result<Request, ToolError> {
    let id = object.remove("id");
    Ok(Request::Call(CallRequest {
        id: CallId::read(id.as_ref())?,
        tool: text(object, "tool")?,
        args: match object.remove("args") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(args) => args,
        },
        approved: flag(object, "approved")?.unwrap_or(false),
        approve: match object.get("approve") {
            None | Some(Value::Null) => None,
            Some(tier) => Some(tier_of(tier)?),
        },
    }))
}

fn answer(object: &mut Map<String, Value>) -> Result<Answer, ToolError> {
    let given =
        ["choices", "text"].map(|key| object.get(key).is_some_and(|value| !value.is_null()));
    let skip = flag(object, "skip")?;
    let approve = flag(object, "approve")?;
    for (key, answer) in [
        ("unattended", Answer::Unattended),
        ("cancelled", Answer::Cancel),
    ] {
        if flag(object, key)? == Some(true) {
            return Ok(answer);
        }
    }
    match (given, skip, approve) {
        ([false, false], Some(true), None) => Ok(Answer::Skip),
        ([false, false], None | Some(false), Some(approved)) => Ok(Answer::Approve(approved)),
        ([has_choices, has_text], None | Some(false), None) if has_choices || has_text => {
            let choices = match object.get("choices") {
                None | Some(Value::Null) => Vec::new(),
                Some(choices) => serde_json::from_value(choices.clone()).map_err(|_| {
                    ToolError::invalid_args("`choices` takes a list of numbers, counted from 1")
                })?,
            };
            let text = match has_text {
                true => Some(text(object, "text")?),
                false => None,
            };
            Ok(Answer::Given { choices, text })
        }
        _ => Err(ToolError::invalid_args(
            "an answer has `choices` and `text`, or \"skip\":true, or `approve`",
        )),
    }
}

fn register(tool: Option<Value>) -> Result<Request, ToolError> {
    let Some(Value::Object(mut tool)) = tool else {
        return Err(ToolError::invalid_args(
            "`register` takes an object with name, tier, description and schema",
        ));
    };
    let schema = tool.remove("schema").unwrap_or_default();
    let tier = tool.get("tier").cloned().unwrap_or_default();
    Ok(Request::Register(HostTool {
        name: text(&tool, "name")?,
        tier: tier_of(&tier)?,
        description: text(&tool, "description")?,
        schema,
        parallel_safe: flag(&tool, "parallel_safe")?.unwrap_or(true),
    }))
}

fn returned(object: &mut Map<String, Value>) -> Result<Result<Output, ToolError>, ToolError> {
    match object.remove("error") {
        None | Some(Value::Null) => {}
        Some(Value::Object(error)) => {
            let kind = match error.get("kind") {
                None | Some(Value::Null) => ErrorKind::Failed,
                Some(kind) => serde_json::from_value(kind.clone()).map_err(|_| {
                    let kinds = ErrorKind::ALL.map(ErrorKind::as_str).join(", ");
                    ToolError::invalid_args(format!("unknown kind of error {kind}"))
                        .with_hint(format!("the kinds are: {kinds}"))
                })?,
            };
            let failed = ToolError::new(kind, text(&error, "message")?);
            return Ok(Err(match error.get("hint").and_then(Value::as_str) {
                Some(hint) => failed.with_hint(hint),
                None => failed,
            }));
        }
        Some(_) => return Err(ToolError::invalid_args("`error` takes an object")),
    }
    let words = match object.get("text") {
        None | Some(Value::Null) => String::new(),
        Some(_) => text(object, "text")?,
    };
    Ok(Ok(Output {
        text: words,
        data: object.remove("data").unwrap_or_default(),
        images: images(object.get("images"))?,
    }))
}

/// Reads pictures as answers and returns carry them.
pub(crate) fn images(value: Option<&Value>) -> Result<Vec<Image>, ToolError> {
    let image = |value: &Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (mime, data) = (text("mime")?, text("data")?);
        Some(Image {
            mime: mime.to_owned(),
            bytes: STANDARD.decode(data).ok()?,
        })
    };
    let read = match value {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(images)) => images.iter().map(image).collect(),
        Some(_) => None,
    };
    read.ok_or_else(|| {
        ToolError::invalid_args("`images` takes a list of {\"mime\",\"data\"}, data in base64")
    })
}

fn text(object: &Map<String, Value>, key: &str) -> Result<String, ToolError> {
    match object.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(ToolError::invalid_args(format!("`{key}` takes a text"))),
        None => Err(ToolError::invalid_args(format!("`{key}` is missing"))),
    }
}

fn flag(object: &Map<String, Value>, key: &str) -> Result<Option<bool>, ToolError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(ToolError::invalid_args(format!(
            "`{key}` takes true or false"
        ))),
    }
}

fn truth(object: &Map<String, Value>, key: &str) -> Result<(), ToolError> {
    match flag(object, key)? {
        Some(true) => Ok(()),
        _ => Err(ToolError::invalid_args(format!("`{key}` takes true"))),
    }
}

fn tier_of(value: &Value) -> Result<Tier, ToolError> {
    value
        .as_str()
        .and_then(|tier| tier.parse().ok())
        .ok_or_else(|| {
            ToolError::invalid_args(format!("{value} is no tier"))
                .with_hint("the tiers are read, write and exec")
        })
}

impl CallId {
    fn read(value: Option<&Value>) -> Result<Self, ToolError> {
        let Some(value) = value else {
            return Err(ToolError::invalid_args("`id` is missing")
                .with_hint("give every call an id of its own"));
        };
        let fits = value.is_u64() || value.is_i64() || value.is_string();
        let id = value.to_string();
        if !fits || id.len() > limits::SESSION_ID_BYTES {
            return Err(ToolError::invalid_args(format!(
                "an id is a whole number or a text of at most {} bytes",
                limits::SESSION_ID_BYTES
            )));
        }
        Ok(Self(id))
    }

    /// Returns the id as it was sent.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was made from a JSON value")
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn bad(about: Option<(&'static str, Value)>, message: impl Into<String>) -> BadLine {
    BadLine {
        about,
        error: ToolError::invalid_args(message),
    }
}

impl BadLine {
    fn hint(mut self, hint: &str) -> Self {
        self.error = self.error.with_hint(hint);
        self
    }
}

/// Finds the id in a line that is broken further on.
fn id_within(line: &[u8]) -> Option<(&'static str, Value)> {
    let mut id = None;
    // Only what was seen on the way counts: the end is known to be bad.
    let _ = Within(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(line));
    id.filter(is_quotable).map(|id| ("id", id))
}

struct Within<'a>(&'a mut Option<Value>);

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "id" && self.0.is_none() {
                *self.0 = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
