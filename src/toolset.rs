//! Which tools an agent's configuration exposes: `agent_toolset_20260401`, parsed and checked.
//!
//! The rules are those of the requirements R138 to R141 and R150 to R158. A configuration is echoed as it
//! was given (R168), so what is parsed here is only what it means. Whatever is not understood is refused:
//! a key that were ignored could be one that takes rights away. This module knows no tool but the nine names.

use serde_json::Value;

use crate::registry::Registry;

/// The one type of toolset that is understood; another dated suffix is another toolset (R173).
pub const TOOLSET_TYPE: &str = "agent_toolset_20260401";

/// The names that `enabled_tools` may hold (R152).
pub const TOOL_NAMES: [&str; 9] = [
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    DELIVER_ARTIFACTS,
];

/// Reserved by the system: better left to the set that has everything (R151).
const DELIVER_ARTIFACTS: &str = "DeliverArtifacts";

/// What the field `tools` of an agent means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// No tool at all: the agent holds a conversation of text (R141, R169).
    Nothing,
    /// Every tool that the run has (R140, R155).
    Everything,
    /// These tools and no others (R139), in the order given, which means nothing (R172).
    Only(Vec<String>),
}

/// A field `tools` that is refused; the message goes to whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    /// One of the nine names is expected (R157); the message is a promise.
    #[error("unknown tool name '{0}'")]
    UnknownName(String),
    /// A name stands twice.
    #[error("tool name '{0}' is given twice")]
    DuplicateName(String),
    /// A name is no string.
    #[error("enabled_tools[{0}] must be a tool name, not {1}")]
    NameNoString(usize, &'static str),
    /// `enabled_tools` is no list.
    #[error("enabled_tools must be an array of tool names, not {0}")]
    NamesNoList(&'static str),
    /// `tools` is no list.
    #[error("tools must be an array that holds one toolset object, not {0}")]
    NoList(&'static str),
    /// An element of `tools` is no object.
    #[error("tools[{0}] must be a toolset object, not {1}")]
    NoObject(usize, &'static str),
    /// More than one object.
    #[error("tools must hold one toolset object, not {0}")]
    SeveralObjects(usize),
    /// The object has no type.
    #[error("tools[0].type is missing: expected '{TOOLSET_TYPE}'")]
    NoType,
    /// The type is no string.
    #[error("tools[0].type must be '{TOOLSET_TYPE}', not {0}")]
    TypeNoString(&'static str),
    /// Another type, such as that of a single tool (R158), or another date (R173).
    #[error("unknown toolset type '{0}': expected '{TOOLSET_TYPE}'")]
    UnknownType(String),
    /// A key that means nothing here.
    #[error("unknown key '{0}' in the toolset object: expected type and enabled_tools")]
    UnknownKey(String),
}

impl Toolset {
    /// Reads the field `tools`; `None` and null are the field left out.
    pub fn parse(tools: Option<&Value>) -> Result<Self, ToolsetError> {
        let objects = match tools {
            None | Some(Value::Null) => return Ok(Self::Nothing),
            Some(Value::Array(objects)) => objects,
            Some(other) => return Err(ToolsetError::NoList(kind(other))),
        };
        let mut maps = Vec::new();
        for (idx, object) in objects.iter().enumerate() {
            match object {
                Value::Object(map) => maps.push(map),
                other => return Err(ToolsetError::NoObject(idx, kind(other))),
            }
        }
        for map in &maps {
            match map.get("type") {
                None => return Err(ToolsetError::NoType),
                Some(Value::String(found)) if found == TOOLSET_TYPE => {}
                Some(Value::String(found)) => return Err(ToolsetError::UnknownType(found.clone())),
                Some(other) => return Err(ToolsetError::TypeNoString(kind(other))),
            }
            if let Some(key) = map
                .keys()
                .find(|key| !matches!(key.as_str(), "type" | "enabled_tools"))
            {
                return Err(ToolsetError::UnknownKey(key.clone()));
            }
        }
        match maps.as_slice() {
            [] => Ok(Self::Nothing),
            [map] => match map.get("enabled_tools") {
                None => Ok(Self::Everything),
                Some(Value::Array(names)) => names_of(names),
                Some(other) => Err(ToolsetError::NamesNoList(kind(other))),
            },
            several => Err(ToolsetError::SeveralObjects(several.len())),
        }
    }

    /// Returns what whoever wrote the configuration should be told (R151, D29).
    pub fn warning(&self) -> Option<&'static str> {
        match self {
            Self::Only(names) if names.iter().any(|name| name == DELIVER_ARTIFACTS) => Some(
                "DeliverArtifacts is reserved by the system: naming it in enabled_tools is not recommended",
            ),
            _ => None,
        }
    }

    /// Removes from a registry what the agent may not see (D32).
    #[must_use]
    pub fn apply(&self, registry: Registry) -> Registry {
        match self {
            Self::Nothing => registry.allow::<&str>(&[]),
            Self::Everything => registry,
            Self::Only(names) => registry.allow(names),
        }
    }
}

fn names_of(names: &[Value]) -> Result<Toolset, ToolsetError> {
    let mut found = Vec::new();
    // The first unknown name is the one reported, whatever else is wrong behind it (D30).
    for (idx, name) in names.iter().enumerate() {
        match name {
            Value::String(name) if TOOL_NAMES.contains(&name.as_str()) => found.push(name.clone()),
            Value::String(name) => return Err(ToolsetError::UnknownName(name.clone())),
            other => return Err(ToolsetError::NameNoString(idx, kind(other))),
        }
    }
    if let Some(twice) = (1..found.len()).find(|&idx| found[..idx].contains(&found[idx])) {
        return Err(ToolsetError::DuplicateName(found[twice].clone()));
    }
    Ok(match found.is_empty() {
        true => Toolset::Everything,
        false => Toolset::Only(found),
    })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
