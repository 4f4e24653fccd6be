//! The ladder: finds a rung whose scaffold takes the fragment, and the spelling of each metavariable.
//!
//! A fragment is never parsed bare: `dispose(x)` at the top level of a Dart file is a signature. Each
//! rung puts text on both sides of it. A rung takes the fragment when the whole scaffolded text parses
//! without an ERROR or MISSING node, no node crosses the fragment's edges (but for a supplied
//! terminator), and the outermost node has a kind that the rung's row accepts (D13, D14). Metavariables
//! are spelled by stand-ins; a form other than the bare identifier counts only where its text is
//! exactly one node.

mod forms;
mod roots;

use std::ops::Range;

use crate::syntax::grammar::Grammar;
use crate::syntax::ladder::forms::{Miss, spell};
use crate::syntax::languages::{Context, Rung};
use crate::syntax::metavar::{Meta, Piece};
use crate::syntax::tree::{Flat, Node};

/// A fragment that a rung took.
pub(crate) struct Placed {
    pub context: Context,
    /// The scaffolded text.
    pub text: String,
    /// Where the fragment stands in it, a supplied terminator excluded.
    pub fragment: Range<usize>,
    /// One past the supplied terminator, or `fragment.end`.
    pub extended_end: usize,
    pub flat: Flat,
    /// The stand-ins, in order: where each stands in `text`.
    pub metas: Vec<(Meta, Range<usize>)>,
    /// Node index of the root, or of the first root of a sequence.
    pub roots: Vec<u32>,
    /// Whether the fragment writes its own terminator after the last root.
    pub wrote_terminator: bool,
    /// The separator that the fragment writes after its only root, where the list around owns it.
    pub wrote_separator: Option<&'static str>,
    /// Separators that only spell a list of one and are no part of the pattern.
    pub dropped: Vec<u32>,
    /// What the scaffold put before every line of the fragment but its first.
    pub indent: &'static str,
}

impl Placed {
    /// The metavariable whose stand-in is exactly this node.
    pub fn meta_of(&self, node: &Node) -> Option<&Meta> {
        meta_of(&self.metas, node)
    }
}

fn meta_of<'a>(metas: &'a [(Meta, Range<usize>)], node: &Node) -> Option<&'a Meta> {
    let range = node.start as usize..node.end as usize;
    // The stand-ins are in order and apart.
    let idx = metas.partition_point(|(_, r)| r.start < range.start);
    let (meta, found) = metas.get(idx)?;
    (*found == range).then_some(meta)
}

/// Why a rung did not take the fragment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refusal {
    /// The rung.
    pub context: Context,
    /// What was wrong, in words.
    pub reason: String,
    /// Whether the language has no such rung at all.
    #[serde(skip)]
    pub no_such_place: bool,
}

/// Tries one context; every scaffold of it in row order, first without and then with the terminator.
/// Gives the readings of all scaffolds that take the fragment, the first one first.
pub(crate) fn place(
    grammar: &Grammar,
    pieces: &[Piece],
    context: Context,
) -> Result<Vec<Placed>, Refusal> {
    let mut readings = Vec::new();
    let syntax = &grammar.row.syntax;
    let mut best: Option<Miss> = None;
    let rungs: Vec<&Rung> = syntax
        .rungs
        .iter()
        .filter(|r| r.context == context)
        .collect();
    if rungs.is_empty() {
        return Err(Refusal {
            context,
            reason: format!("{} has no such place", grammar.row.id),
            no_such_place: true,
        });
    }
    for terminator in [None, syntax.terminator] {
        if terminator.is_none() && best.is_some() {
            break;
        }
        for rung in &rungs {
            match spell(grammar, pieces, rung, terminator.unwrap_or("")) {
                Ok(placed) => readings.push(placed),
                Err(miss) => {
                    if best.as_ref().is_none_or(|b| miss.cost < b.cost) {
                        best = Some(miss);
                    }
                }
            }
        }
        if !readings.is_empty() {
            return Ok(readings);
        }
    }
    Err(Refusal {
        context,
        reason: best.map_or_else(String::new, |m| m.reason),
        no_such_place: false,
    })
}

/// A slice of the scaffolded text with the stand-ins turned back into what the user wrote.
pub(crate) fn restored(text: &str, range: &Range<usize>, metas: &[(Meta, Range<usize>)]) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let first = metas.partition_point(|(_, r)| r.end <= at);
    for (meta, meta_range) in &metas[first..] {
        if meta_range.start >= range.end {
            break;
        }
        if meta_range.start > at {
            out.push_str(text.get(at..meta_range.start).unwrap_or(""));
        }
        out.push_str(&meta.written());
        at = meta_range.end;
    }
    if at < range.end {
        out.push_str(text.get(at..range.end).unwrap_or(""));
    }
    out
}
