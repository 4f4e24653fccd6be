//! The extents of bodies that end with their indentation, where a search has left out their statements.
//!
//! Nothing closes such a body, so neither its node nor the node of its statement tells in a partial tree
//! how far it reaches; the units of the source do. It must not know patterns.

use std::ops::Range;

use crate::syntax::cache::Covered;
use crate::syntax::grammar::Grammar;
use crate::syntax::matcher::Match;
use crate::syntax::split::{Content, Units, content};
use crate::syntax::tree::Flat;

use super::Source;

/// Gives the matches the extents that they have in a full parse; says whether it could. `None` for
/// languages whose bodies stand in braces.
pub(super) fn settle(
    grammar: &Grammar,
    flat: &Flat,
    covered: &Covered,
    source: &Source<'_>,
    found: &mut [Match],
) -> Option<bool> {
    let id = grammar.row.id;
    let suite = grammar.row.syntax.suite?;
    if found.is_empty() {
        return Some(true);
    }
    let Some(units) = source.units(id) else {
        return Some(*covered == Covered::Whole);
    };
    let suites = Suites {
        id,
        bytes: source.bytes,
        parents: units.parents(),
        units: &units,
    };
    let is_block = |idx: u32| grammar.kind_name(flat.node(idx).kind) == suite;
    let mut settled = true;
    for m in found {
        let Some(whole) = suites.statement(m.range.start) else {
            // A clause is no unit of its own, and where it ends in the source is not known here.
            if *covered != Covered::Whole {
                settled = false;
                m.range.end = m.range.end.max(suites.end_around(m.range.start));
            }
            continue;
        };
        let lines = suites.units.list[whole].range.clone();
        if covered.holds(&lines) {
            continue;
        }
        // Where this is not enough, all of the statement is looked at again.
        m.range.end = lines.end as u32;
        let Some(end) = suites.code_end(whole) else {
            settled = false;
            continue;
        };
        let mut bodies = Vec::new();
        for (slot, capture) in m.captures.iter().enumerate() {
            let (from, to) = capture.nodes;
            if from >= to || from as usize >= flat.nodes.len() {
                continue;
            }
            let parent = flat.node(from).parent;
            if is_block(parent) && from == parent + 1 && flat.node(parent).next == to {
                bodies.push((slot, suites.body(flat.node(from).start)));
            }
        }
        if bodies.iter().any(|(_, body)| body.is_none()) {
            settled = false;
            continue;
        }
        m.range.end = end as u32;
        for (slot, body) in bodies {
            if let Some(body) = body {
                m.captures[slot].bytes = (body.start as u32, body.end as u32);
            }
        }
    }
    Some(settled)
}

struct Suites<'a> {
    id: &'a str,
    bytes: &'a [u8],
    units: &'a Units,
    parents: Vec<Option<usize>>,
}

impl Suites<'_> {
    /// The statement whose first token begins at a place.
    fn statement(&self, start: u32) -> Option<usize> {
        let start = start as usize;
        let list = &self.units.list;
        let idx = list
            .partition_point(|unit| unit.range.start <= start)
            .checked_sub(1)?;
        // Only comments may stand before it in its unit.
        let lead = list[idx].range.start..start;
        let alone = content(self.id, self.bytes, lead) == Content::Empty;
        (alone && start < list[idx].range.end).then_some(idx)
    }

    /// Where the innermost statement around a place ends.
    fn end_around(&self, start: u32) -> u32 {
        let start = start as usize;
        let list = &self.units.list;
        let before = list.partition_point(|unit| unit.range.start <= start);
        let around = list[..before]
            .iter()
            .rev()
            .find(|unit| unit.range.end > start);
        around.map_or(self.bytes.len(), |unit| unit.range.end) as u32
    }

    /// From the first to the last token of the body that has a statement beginning at a place.
    fn body(&self, start: u32) -> Option<Range<usize>> {
        let idx = self.statement(start)?;
        let parent = self.parents[idx]?;
        let (mut first, mut last) = (None, idx);
        for (child, unit) in self.units.children(parent) {
            if unit.begins_body && child > idx {
                break;
            }
            if unit.begins_body || first.is_none() {
                first = Some(child);
            }
            last = child;
        }
        let first = self.units.list[first?].range.clone();
        let Content::Tokens(first) = content(self.id, self.bytes, first) else {
            return None;
        };
        Some(first.start..self.code_end(last)?)
    }

    /// Where the last token of a statement ends.
    fn code_end(&self, statement: usize) -> Option<usize> {
        let end = self.units.list[statement].range.end;
        // What is inside of it need not be read but for the last part.
        let mut last = statement;
        while let Some((child, _)) = self.units.children(last).last() {
            last = child;
        }
        let lines = self.units.list[last].range.start..end;
        match content(self.id, self.bytes, lines) {
            // The tree leaves out a last semicolon.
            Content::Tokens(range) if self.bytes[range.end - 1] != b';' => Some(range.end),
            _ => None,
        }
    }
}
