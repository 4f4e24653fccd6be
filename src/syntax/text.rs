//! Matching one text that is already in memory: the smallest way to use the engine.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::syntax::SyntaxError;
use crate::syntax::grammar::Grammar;
use crate::syntax::matcher::{self, Match};
use crate::syntax::pattern::Pattern;
use crate::syntax::tree::Flat;

/// One match in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Text of each `$NAME`, by name.
    pub captures: BTreeMap<String, String>,
    /// Text of each `$$$NAME`, by name, from its first to its last element.
    pub runs: BTreeMap<String, String>,
}

/// Finds every match of a pattern in a text, in order of position. Bytes that are no UTF-8 are replaced
/// in the captured texts, never in the ranges.
pub fn find_in(
    grammar: &Grammar,
    pattern: &Pattern,
    source: &[u8],
) -> Result<Vec<Found>, SyntaxError> {
    let Some(tree) = grammar.parse(source) else {
        return Ok(Vec::new());
    };
    let flat = Flat::build(grammar, &tree, source);
    Ok(matcher::find(pattern, &flat, source, usize::MAX)
        .iter()
        .map(|m| found(pattern, source, m))
        .collect())
}

/// Turns a match into its texts.
pub(crate) fn found(pattern: &Pattern, source: &[u8], m: &Match) -> Found {
    let mut captures = BTreeMap::new();
    let mut runs = BTreeMap::new();
    for (slot, capture) in pattern.slots.iter().zip(&m.captures) {
        let text = &source[capture.place()];
        let text = String::from_utf8_lossy(text).into_owned();
        let map = if slot.run { &mut runs } else { &mut captures };
        map.insert(slot.name.clone(), text);
    }
    Found {
        range: m.place(),
        captures,
        runs,
    }
}
