//! The JSON of a request or a file, read so that no key stands twice.
//!
//! Of a key that is given twice most readers take the last. Whoever reviewed the first `tools` would have
//! approved other rights than those that hold (R139), so such a text is refused, at any depth.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::agents::AgentError;

/// Reads one JSON value; what is wrong with the text is said with its place.
pub fn parse_body(bytes: &[u8]) -> Result<Value, AgentError> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Once
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    value.map_err(|err| {
        AgentError::Invalid(match err.classify() {
            serde_json::error::Category::Data => err.to_string(),
            _ => format!("it is no JSON: {err}"),
        })
    })
}

/// Reads a value in whose objects each key stands once.
struct Once;

impl<'de> DeserializeSeed<'de> for Once {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Once {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Once)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                let key = key.escape_debug();
                return Err(A::Error::custom(format!("the key '{key}' is given twice")));
            }
            let value = entries.next_value_seed(Once)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse_body(text.as_bytes()).expect_err(text).to_string()
    }

    // R139, R164: a key stands once, at any depth and however it is spelled; the answer names it.
    #[test]
    fn a_key_that_stands_twice_is_refused() {
        assert_eq!(
            refused(r#"{"tools":[],"name":"a","tools":[{"type":"x"}]}"#),
            "the key 'tools' is given twice at line 1 column 30"
        );
        for text in [
            r#"[{"a":{"b":1,"b":1}}]"#,
            r#"{"b":1,"\u0062":2}"#,
            r#"{"b":null,"b":null}"#,
        ] {
            assert!(
                refused(text).starts_with("the key 'b' is given twice"),
                "{text}"
            );
        }
        // A line end in a key forges no line of the answer.
        assert!(refused(r#"{"a\nb":1,"a\nb":2}"#).starts_with(r"the key 'a\nb' is"));
    }

    // D30: everything else is read as it stands.
    #[test]
    fn other_texts_are_read_as_they_stand() {
        for text in [
            r#"{"a":1,"A":2,"b":{"a":[]},"c":[{"a":1},{"a":1}]}"#,
            r#"[null,true,-1,18446744073709551615,1.5,1e300,"\ud83d\ude00",""]"#,
            "7",
        ] {
            let plain: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(parse_body(text.as_bytes()).expect(text), plain);
        }
        for text in ["", "{", "{\"a\":1} x", "\u{feff}{}", "{'a':1}"] {
            assert!(refused(text).starts_with("it is no JSON: "), "{text}");
        }
        assert!(parse_body(b"\"\xff\"").is_err());
        // No depth overflows the stack.
        assert!(refused(&"[".repeat(100_000)).contains("recursion limit"));
    }
}
