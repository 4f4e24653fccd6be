//! Arguments of a call: their schema, and errors that say how to call the tool right.
//!
//! A model repairs a call from the error alone, so every message names the argument and the hint lists
//! the accepted ones. Optional arguments may be `null`, which models write for "not given".

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::registry::nearest::nearest;
use crate::tool::ToolError;

/// What the schema of one tool says about its top-level arguments.
#[derive(Debug)]
pub(crate) struct Arguments {
    tool: String,
    /// In the schema's order; the flag says whether the argument is required.
    fields: Vec<(String, bool)>,
    closed: bool,
}

/// Generates the schema of an argument type, with everything inlined: readers of tool schemas differ in
/// how well they follow references.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(object) = schema.as_object_mut() {
        // The title is the name of a Rust type, which tells a caller nothing.
        object.remove("title");
    }
    schema
}

/// Tells whether a schema takes no argument beyond those that it names.
pub(crate) fn is_closed(schema: &Value) -> bool {
    let shut = |key: &str| schema.get(key) == Some(&Value::Bool(false));
    let branches = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_array)
            .is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_closed))
    };
    shut("additionalProperties")
        || shut("unevaluatedProperties")
        || branches("oneOf")
        || branches("anyOf")
}

impl Arguments {
    /// Reads the schema of the tool `tool`.
    pub(crate) fn new(tool: &str, schema: &Value) -> Self {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut fields: Vec<(String, bool)> = properties
            .map(|map| {
                map.keys()
                    .map(|name| (name.clone(), required.contains(&name.as_str())))
                    .collect()
            })
            .unwrap_or_default();
        // The required ones first: they are what a caller has to know.
        fields.sort_by_key(|(_, required)| !required);
        Self {
            tool: tool.to_owned(),
            fields,
            closed: is_closed(schema),
        }
    }

    /// Checks that the arguments are an object and drops optional ones that are `null`.
    pub(crate) fn normalise(&self, args: Value) -> Result<Value, ToolError> {
        let mut map = match args {
            Value::Object(map) => map,
            Value::Null => serde_json::Map::new(),
            other => {
                let message = format!(
                    "{}: arguments must be a JSON object, not {}",
                    self.tool,
                    kind_of(&other)
                );
                return Err(self.error(message, None));
            }
        };
        for (name, required) in &self.fields {
            if !required && map.get(name) == Some(&Value::Null) {
                map.remove(name);
            }
        }
        Ok(Value::Object(map))
    }

    /// Parses normalised arguments.
    pub(crate) fn parse<T: DeserializeOwned>(&self, args: &Value) -> Result<T, ToolError> {
        serde_path_to_error::deserialize(args).map_err(|err| {
            let path = err.path().to_string();
            self.explain(&path, &err.into_inner().to_string())
        })
    }

    /// Checks normalised arguments of a tool that parses them itself.
    pub(crate) fn check(&self, args: &Value) -> Result<(), ToolError> {
        let Value::Object(map) = args else {
            return Ok(());
        };
        if let Some(unknown) = map
            .keys()
            .find(|key| self.closed && !self.fields.iter().any(|(name, _)| name == *key))
        {
            return Err(self.unknown(unknown));
        }
        match self
            .fields
            .iter()
            .find(|(name, required)| *required && !map.contains_key(name))
        {
            Some((missing, _)) => Err(self.missing(missing)),
            None => Ok(()),
        }
    }

    fn explain(&self, path: &str, words: &str) -> ToolError {
        // serde words the key of the argument's place between the first pair of backquotes.
        let key = words.split('`').nth(1).unwrap_or_default();
        let at_top = path == "." || path == key;
        if words.starts_with("unknown field") && at_top {
            return self.unknown(key);
        }
        if words.starts_with("missing field") && at_top {
            return self.missing(key);
        }
        if path == "." {
            return self.error(format!("{}: {words}", self.tool), None);
        }
        let words = &plain(words);
        let suggestion = words.starts_with("unknown").then(|| {
            let options: Vec<&str> = words.split('`').skip(3).step_by(2).collect();
            nearest(key, &options)
                .first()
                .map(|near| (*near).to_owned())
        });
        self.error(
            format!("{}: argument `{path}`: {words}", self.tool),
            suggestion.flatten(),
        )
    }

    fn unknown(&self, key: &str) -> ToolError {
        let names: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
        let near = nearest(key, &names).first().map(|near| (*near).to_owned());
        self.error(format!("{} takes no argument `{key}`", self.tool), near)
    }

    fn missing(&self, key: &str) -> ToolError {
        self.error(format!("{}: missing argument `{key}`", self.tool), None)
    }

    fn error(&self, message: String, suggestion: Option<String>) -> ToolError {
        let accepted = self
            .fields
            .iter()
            .map(|(name, required)| {
                if *required {
                    format!("`{name}` (required)")
                } else {
                    format!("`{name}`")
                }
            })
            .collect::<Vec<_>>()
            .join(", ");
        let accepted = match (self.fields.is_empty(), self.closed) {
            (false, _) => format!("{} takes {accepted}", self.tool),
            (true, true) => format!("{} takes no arguments", self.tool),
            (true, false) => format!("see the schema of {}", self.tool),
        };
        ToolError::invalid_args(message).with_hint(match suggestion {
            Some(near) => format!("did you mean `{near}`? {accepted}"),
            None => accepted,
        })
    }
}

/// Says what was expected in the words of a schema instead of those of a program.
fn plain(words: &str) -> String {
    let Some((before, expected)) = words.rsplit_once(", expected ") else {
        return words.to_owned();
    };
    let expected = match expected {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number from 0 on",
        "isize" | "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        other => other,
    };
    format!("{before}, expected {expected}")
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
