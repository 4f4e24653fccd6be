//! The matcher: a backtracking machine over the flat tree.
//!
//! The state is a pair of positions, in the program and in the preorder array, plus the node whose
//! children are being read; because parents are linked, nothing recurses and an alternative is a few
//! words on a stack. Runs try their shortest length first. Where a pattern has several runs, failed
//! states are remembered, so the work stays polynomial; with repeated metavariables the memory is
//! keyed by what those hold. A failed attempt never leaves bindings behind. It must not know files.

mod brackets;
mod ends;
mod machine;
mod tokens;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::syntax::cache::Covered;
use crate::syntax::grammar::flag;
use crate::syntax::matcher::machine::Machine;
use crate::syntax::pattern::{Op, Pattern};
use crate::syntax::tree::Flat;

/// A match: where, and what each slot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// Byte range, without a terminator that the pattern does not write.
    pub range: Range<u32>,
    /// First node.
    pub root: u32,
    /// One past the last node.
    pub root_end: u32,
    /// What each slot of the pattern bound.
    pub captures: Vec<Capture>,
}

/// What a slot bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    /// First node, and one past the last (equal for an empty run, and for a string's body).
    pub nodes: (u32, u32),
    /// Byte range; empty for an empty run.
    pub bytes: (u32, u32),
}

impl Match {
    /// The byte range.
    pub fn place(&self) -> Range<usize> {
        self.range.start as usize..self.range.end as usize
    }
}

impl Capture {
    /// The byte range.
    pub fn place(&self) -> Range<usize> {
        self.bytes.0 as usize..self.bytes.1 as usize
    }
}

/// The candidates that took more steps than one may, each counted once however often its file is
/// looked at.
#[derive(Debug, Default)]
pub(crate) struct GivenUp(Mutex<HashSet<(u64, u32)>>);

impl GivenUp {
    /// How many there were.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn note(&self, source: &[u8], start: u32) {
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert((hasher.finish(), start));
    }
}

/// A source node that kept a candidate from matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NearMiss {
    /// The node that the pattern does not mention.
    pub extra: u32,
}

/// Finds every match in a file, in source order, up to `limit`.
pub(crate) fn find(pattern: &Pattern, flat: &Flat, source: &[u8], limit: usize) -> Vec<Match> {
    find_in_part(pattern, flat, source, limit, None)
}

/// As [`find`], in a tree of a part of the file. What two captures of one name hold is taken for the same
/// where the tree has gaps in them.
pub(crate) fn find_in_part(
    pattern: &Pattern,
    flat: &Flat,
    source: &[u8],
    limit: usize,
    covered: Option<&Covered>,
) -> Vec<Match> {
    let mut machine = Machine::new(pattern, flat, source);
    machine.covered = covered;
    let mut matches = Vec::new();
    for idx in candidates(pattern, flat) {
        if matches.len() >= limit {
            break;
        }
        if has_foreign_prefix(pattern, flat, idx) {
            continue;
        }
        if let Some(found) = machine.run(idx) {
            matches.push(found);
        } else if machine.gave_up() {
            pattern.given_up.note(source, flat.node(idx).start);
        }
    }
    matches
}

/// Finds the candidates that one unmentioned node keeps from matching.
pub(crate) fn near_misses(
    pattern: &Pattern,
    flat: &Flat,
    source: &[u8],
    limit: usize,
) -> Vec<NearMiss> {
    let mut machine = Machine::new(pattern, flat, source);
    let mut misses = Vec::new();
    for idx in candidates(pattern, flat) {
        if misses.len() >= limit {
            break;
        }
        let prefix = has_foreign_prefix(pattern, flat, idx);
        // With an attribute before it, all else must fit: a run would leave something to be skipped too.
        machine.lenient = !prefix;
        machine.skipped = None;
        if machine.run(idx).is_none() {
            continue;
        }
        let extra = match prefix {
            true => flat.previous_sibling(idx),
            false => machine.skipped,
        };
        misses.extend(extra.map(|extra| NearMiss { extra }));
    }
    misses
}

fn candidates<'a>(pattern: &'a Pattern, flat: &'a Flat) -> Box<dyn Iterator<Item = u32> + 'a> {
    let all = 0..flat.nodes.len() as u32;
    match &pattern.ops[0] {
        Op::Enter { kind }
        | Op::Leaf { kind, .. }
        | Op::Body { kind, .. }
        | Op::Token { kind, .. } => {
            let kind = *kind;
            Box::new(all.filter(move |idx| flat.node(*idx).kind == kind))
        }
        _ => Box::new(all.skip(1)),
    }
}

/// Whether an attribute or decorator that the pattern does not mention stands before the node (D11).
fn has_foreign_prefix(pattern: &Pattern, flat: &Flat, idx: u32) -> bool {
    !pattern.root_attached && prefix_of(flat, idx)
        || pattern.root_attached && pattern.sequence && prefix_of(flat, idx)
}

fn prefix_of(flat: &Flat, idx: u32) -> bool {
    flat.previous_sibling(idx)
        .is_some_and(|p| flat.node(p).flags() & flag::ATTACHED != 0)
}
