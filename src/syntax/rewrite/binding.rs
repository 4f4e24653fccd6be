//! An `else` that a rewrite would give to another `if` (D11): the text parses, and means something else.
//!
//! In the result an `else` and its `if` stand in the same pieces of what was written: both in a capture,
//! both in a template's own text, or both outside of all matches. An `if` inside of a piece that the
//! `else` is no part of has caught it.

use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::template::Output;
use crate::syntax::tree::Flat;

/// How far above its `else` an `if` stands in the trees of the grammars.
const LEVELS: usize = 2;

/// Where the first `else` stands in the output that belongs to an `if` of another piece.
pub(super) fn rebound_else(grammar: &Grammar, new: &Flat, output: &Output) -> Option<usize> {
    let mut pairs: Vec<(usize, usize)> = (0..new.nodes.len() as u32)
        .filter(|idx| {
            let node = new.node(*idx);
            node.flags() & flag::NAMED == 0 && grammar.kind_name(node.kind) == "else"
        })
        .filter_map(|idx| {
            let owner = owner(grammar, new, idx)?;
            let (owner, node) = (new.node(owner), new.node(idx));
            Some((owner.start as usize, node.start as usize))
        })
        .collect();
    pairs.sort_unstable();
    let mut pieces: Vec<_> = output.inserted.iter().map(|i| i.range.clone()).collect();
    pieces.sort_by_key(|piece| (piece.start, std::cmp::Reverse(piece.end)));
    let mut pieces = pieces.into_iter().peekable();
    // The ends of the pieces around the `if`, the innermost last; pieces lie in one another or apart.
    let mut ends: Vec<usize> = Vec::new();
    let mut rebound = None;
    for (owner, at) in pairs {
        while let Some(piece) = pieces.next_if(|piece| piece.start <= owner) {
            while ends.last().is_some_and(|end| *end <= piece.start) {
                ends.pop();
            }
            ends.push(piece.end);
        }
        while ends.last().is_some_and(|end| *end <= owner) {
            ends.pop();
        }
        if ends.last().is_some_and(|end| *end <= at) && rebound.is_none_or(|r| at < r) {
            rebound = Some(at);
        }
    }
    rebound
}

/// The `if` that an `else` belongs to.
fn owner(grammar: &Grammar, flat: &Flat, idx: u32) -> Option<u32> {
    let mut at = idx;
    for _ in 0..LEVELS {
        at = flat.node(at).parent;
        if grammar.kind_name(flat.node(at).kind).starts_with("if") {
            return Some(at);
        }
    }
    None
}
