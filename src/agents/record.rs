//! What is kept of an agent and of a session, and how a request becomes it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agents::AgentError;

/// Letters of an id after its prefix.
const ID_LETTERS: usize = 24;

/// One version of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// `agent_` and letters and digits.
    pub id: String,
    /// What it is called; null when the last replacement left it out.
    pub name: Option<String>,
    /// The model that it runs on.
    pub model: Option<String>,
    /// Its system prompt.
    pub instructions: Option<String>,
    /// The tools, as they were given (R168).
    pub tools: Option<Value>,
    /// Counts up from 1.
    pub version: u64,
    /// When version 1 was made, as RFC 3339 in UTC.
    pub created_at: String,
    /// When this version was made.
    pub updated_at: String,
}

/// What whoever makes or replaces an agent gives; what is left out is null (R163, D31).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFields {
    /// See [`Agent::name`].
    pub name: Option<String>,
    /// See [`Agent::model`].
    pub model: Option<String>,
    /// See [`Agent::instructions`].
    pub instructions: Option<String>,
    /// See [`Agent::tools`].
    pub tools: Option<Value>,
}

/// A session: it keeps the version that was current when it began (R167).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentSession {
    /// `session_` and letters and digits.
    pub id: String,
    /// Its agent.
    pub agent_id: String,
    /// The version of the agent that it is pinned to.
    pub agent_version: u64,
    /// When it began, as RFC 3339 in UTC.
    pub created_at: String,
}

impl Agent {
    pub(super) fn new(
        id: String,
        fields: AgentFields,
        version: u64,
        created: SystemTime,
        updated: SystemTime,
    ) -> Self {
        Self {
            id,
            name: fields.name,
            model: fields.model,
            instructions: fields.instructions,
            tools: fields.tools,
            version,
            created_at: rfc3339(created),
            updated_at: rfc3339(updated),
        }
    }

    /// A time that cannot be read is taken as now: it is only shown.
    pub(super) fn created(&self) -> SystemTime {
        humantime::parse_rfc3339(&self.created_at).unwrap_or_else(|_| SystemTime::now())
    }
}

impl AgentFields {
    /// Reads the body of a request that makes an agent.
    pub fn from_body(body: &Value) -> Result<Self, AgentError> {
        let map = object(body)?;
        Self::from_map(map, &[])
    }

    /// Reads the body of a request that replaces an agent, and the version that it replaces (R164).
    pub fn from_replacement(body: &Value) -> Result<(u64, Self), AgentError> {
        let map = object(body)?;
        let version = match map.get("version") {
            None | Some(Value::Null) => {
                return Err(invalid(
                    "version is missing: send the version that is to be replaced",
                ));
            }
            Some(version) => version.as_u64().ok_or_else(|| {
                invalid(format!(
                    "version must be a whole number of 1 or more, not {version}"
                ))
            })?,
        };
        Ok((version, Self::from_map(map, &["version"])?))
    }

    fn from_map(map: &Map<String, Value>, more: &[&str]) -> Result<Self, AgentError> {
        const KEYS: [&str; 4] = ["name", "model", "instructions", "tools"];
        // What a GET gave comes back in a PUT: these are the store's own, and are not read.
        const OWN: [&str; 3] = ["id", "created_at", "updated_at"];
        let known = |key: &String| {
            [&KEYS[..], &OWN, more]
                .iter()
                .any(|keys| keys.contains(&key.as_str()))
        };
        if let Some(key) = map.keys().find(|key| !known(key)) {
            let keys = [more, &KEYS[..]].concat().join(", ");
            return Err(invalid(format!("unknown field '{key}': expected {keys}")));
        }
        let text = |key: &str| match map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(invalid(format!("{key} must be a string"))),
        };
        Ok(Self {
            name: text("name")?,
            model: text("model")?,
            instructions: text("instructions")?,
            tools: map.get("tools").filter(|tools| !tools.is_null()).cloned(),
        })
    }
}

impl AgentSession {
    pub(super) fn new(id: String, agent: &Agent, created: SystemTime) -> Self {
        Self {
            id,
            agent_id: agent.id.clone(),
            agent_version: agent.version,
            created_at: rfc3339(created),
        }
    }
}

/// Makes an id that no other process makes: an id is no secret, so the randomness of a hash table's seed
/// is enough.
pub(super) fn new_id(prefix: &str) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut id = prefix.to_owned();
    let mut left = 0u64;
    for idx in 0..ID_LETTERS {
        // Twelve letters of 36 take 62 bits.
        if idx % 12 == 0 {
            left = RandomState::new().build_hasher().finish() ^ u64::from(std::process::id());
        }
        let letter = usize::try_from(left % 36).expect("it is below 36");
        id.push(char::from(LETTERS[letter]));
        left /= 36;
    }
    id
}

/// Whether a text could be an id, and so may become part of a path.
pub(super) fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn object(body: &Value) -> Result<&Map<String, Value>, AgentError> {
    body.as_object()
        .ok_or_else(|| invalid("the body must be a JSON object"))
}

fn invalid(message: impl Into<String>) -> AgentError {
    AgentError::Invalid(message.into())
}
