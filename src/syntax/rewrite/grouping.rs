//! Which captures and replacements need parentheses in their new place (D16).
//!
//! The result is parsed without any first. Where a capture, or a whole replacement, is no longer one
//! node there, or stands where its language (if not its grammar) wants parentheses, they are added,
//! innermost places first: what is around may then need none.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::syntax::grammar::Grammar;
use crate::syntax::languages::{Leading, Wrap};
use crate::syntax::matcher::Capture;
use crate::syntax::template::{Inserted, Output, Place, Planned, Template, TemplatePiece};
use crate::syntax::tree::Flat;

/// How often parentheses are added and the result parsed again; the last time all are, and the time
/// before all around captures.
const N_ROUNDS: usize = 6;

/// How many places that a result with errors may do without are tried one by one.
const N_SPARED: usize = 24;

/// Larger results are not parsed once more for each place.
const SPARED_BYTES: usize = 1 << 20;

/// What deciding on parentheses needs to know of one file.
pub(super) struct Grouping<'a> {
    pub grammar: &'a Grammar,
    pub template: &'a Template,
    pub planned: &'a [Planned],
    pub one_expression: bool,
    pub old: &'a Flat,
}

/// An output and its parse.
type Result = (Output, Flat);

impl Grouping<'_> {
    /// The result with the parentheses that it needs, given the one without.
    pub fn settle(
        &self,
        bare: Result,
        attempt: &dyn Fn(&HashSet<Place>) -> Option<Result>,
    ) -> Result {
        let mut places = HashSet::new();
        let mut best = bare;
        if best.1.n_errors > self.old.n_errors
            && let Some((repaired, result)) = self.repaired(&best, attempt)
        {
            places = repaired;
            best = result;
        }
        for round in 1..=N_ROUNDS {
            let mut more = self.regrouped(&best, &places, round < N_ROUNDS - 1);
            // With all captures in parentheses, the replacements in them need none.
            if round == N_ROUNDS - 1 && more.iter().any(|place| place.1.is_some()) {
                more.retain(|place| place.1.is_some());
            }
            if more.is_empty() {
                break;
            }
            let mut with = places.clone();
            with.extend(more);
            match attempt(&with) {
                Some(result) if result.1.n_errors <= best.1.n_errors => {
                    places = with;
                    best = result;
                }
                _ => break,
            }
        }
        self.spared(best, places, attempt)
    }

    /// The result without the parentheses around nested replacements that those added later, further
    /// out, have made superfluous.
    fn spared(
        &self,
        mut best: Result,
        mut places: HashSet<Place>,
        attempt: &dyn Fn(&HashSet<Place>) -> Option<Result>,
    ) -> Result {
        let mut nested: Vec<Place> = places
            .iter()
            .copied()
            .filter(|(planned, piece)| piece.is_none() && self.is_nested(*planned))
            .collect();
        nested.sort_unstable();
        for place in nested.into_iter().take(n_spared(&best)) {
            places.remove(&place);
            match attempt(&places) {
                Some(without)
                    if without.1.n_errors <= best.1.n_errors
                        && self.regrouped(&without, &places, false).is_empty() =>
                {
                    best = without;
                }
                _ => {
                    places.insert(place);
                }
            }
        }
        best
    }

    /// Whether a match lies in one of those shortly before it, as matches are in order.
    fn is_nested(&self, planned: usize) -> bool {
        let end = self.planned[planned].found.range.end;
        planned > 0
            && self.planned[..planned]
                .iter()
                .rev()
                .take(N_SPARED)
                .any(|p| end <= p.found.range.end)
    }

    /// The places whose parentheses take the new syntax errors away, if some do.
    fn repaired(
        &self,
        bare: &Result,
        attempt: &dyn Fn(&HashSet<Place>) -> Option<Result>,
    ) -> Option<(HashSet<Place>, Result)> {
        let (output, tree) = bare;
        let broken: HashSet<usize> = output
            .inserted
            .iter()
            .filter(|i| i.piece.is_none())
            .filter(|i| {
                tree.errors
                    .iter()
                    .any(|e| e.start as usize <= i.range.end && i.range.start <= e.end as usize)
            })
            .map(|i| i.planned)
            .collect();
        let of = |whole: bool| {
            output
                .inserted
                .iter()
                .filter(|i| broken.contains(&i.planned) && i.piece.is_none() == whole)
                .filter(|i| self.may_wrap(i) && !i.range.is_empty())
                .map(|i| (i.planned, i.piece))
                .collect::<HashSet<Place>>()
        };
        for whole in [false, true] {
            let mut places = of(whole);
            let Some(mut result) = attempt(&places).filter(|r| r.1.n_errors <= self.old.n_errors)
            else {
                continue;
            };
            let mut order: Vec<Place> = places.iter().copied().collect();
            order.sort_unstable();
            for place in order.into_iter().take(n_spared(&result)) {
                places.remove(&place);
                match attempt(&places) {
                    Some(with) if with.1.n_errors <= self.old.n_errors => result = with,
                    _ => {
                        places.insert(place);
                    }
                }
            }
            return Some((places, result));
        }
        None
    }

    /// Whether parentheses may be put around what was inserted.
    fn may_wrap(&self, inserted: &Inserted) -> bool {
        let Some(piece) = inserted.piece else {
            return self.one_expression;
        };
        let TemplatePiece::Slot { slot, run: false } = self.template.pieces[piece] else {
            return false;
        };
        let capture = self.planned[inserted.planned].found.captures[slot];
        if capture.nodes.0 == capture.nodes.1 {
            return false;
        }
        let kind = self.grammar.kind_name(self.old.node(capture.nodes.0).kind);
        let is_type = kind == "type" || kind.ends_with("_type");
        !is_type || self.grammar.row.syntax.type_parentheses
    }

    /// The places that need parentheses and have none. With `innermost`, those without another such
    /// place inside.
    fn regrouped(&self, result: &Result, have: &HashSet<Place>, innermost: bool) -> HashSet<Place> {
        let (output, new) = result;
        let bracketed = self.grammar.bracketed();
        let inserted = output.inserted.iter();
        let mut wanted: Vec<Range<u32>> = inserted
            .map(|i| i.range.start as u32..i.range.end as u32)
            .collect();
        if !bracketed.is_empty() {
            let around: Vec<Range<u32>> = wanted.iter().filter_map(with_brackets).collect();
            wanted.extend(around);
        }
        let new_nodes = NodesAt::new(new, wanted.into_iter());
        let captures = self.planned.iter().flat_map(|p| &p.found.captures);
        let old_nodes = NodesAt::new(self.old, captures.map(|c| c.bytes.0..c.bytes.1));
        let mut places = HashSet::new();
        // Insertions are listed innermost first, so the last one taken is the nearest inside.
        let mut last: Option<Range<usize>> = None;
        for inserted in &output.inserted {
            let place = (inserted.planned, inserted.piece);
            if have.contains(&place) || inserted.range.is_empty() || !self.may_wrap(inserted) {
                continue;
            }
            if self.is_kept(inserted, new, &new_nodes, &old_nodes) {
                continue;
            }
            let holds_one = last
                .as_ref()
                .is_some_and(|l| inserted.range.start <= l.start && l.end <= inserted.range.end);
            if !(innermost && holds_one) {
                last = Some(inserted.range.clone());
                places.insert(place);
            }
        }
        places
    }

    /// Whether what was inserted is one node of its kind where it now stands.
    fn is_kept(
        &self,
        inserted: &Inserted,
        new: &Flat,
        new_nodes: &NodesAt,
        old_nodes: &NodesAt,
    ) -> bool {
        let range = inserted.range.start as u32..inserted.range.end as u32;
        let after = new_nodes.at(&range);
        let kind_after = |idx: &u32| new.node(*idx).kind;
        let is_refused = after.iter().any(|idx| self.is_refused(new, *idx));
        let Some(TemplatePiece::Slot { slot, .. }) =
            inserted.piece.map(|piece| &self.template.pieces[piece])
        else {
            return !after.is_empty() && !is_refused;
        };
        let plan = &self.planned[inserted.planned];
        let capture = plan.found.captures[*slot];
        let bytes = capture.bytes.0..capture.bytes.1;
        let before = old_nodes.at(&bytes);
        // What the source writes so already means the same again, however the grammar groups it.
        if is_refused && !before.iter().any(|idx| self.is_refused(self.old, *idx)) {
            return false;
        }
        if plan
            .inner
            .iter()
            .any(|i| self.planned[*i].found.range == bytes)
        {
            // Another rewrite took its place: any one node will do.
            return !after.is_empty();
        }
        if self.keeps_brackets(capture, &range, new, new_nodes) {
            return true;
        }
        // The last node in it has the range of the capture where that is one token.
        let last = self.old.node(capture.nodes.1 - 1);
        if last.start == bytes.start && last.end == bytes.end {
            return true;
        }
        let kind = self.old.node(capture.nodes.0).kind;
        let before = old_nodes.at(&bytes);
        after
            .iter()
            .map(kind_after)
            .any(|k| k == kind || before.iter().any(|b| self.old.node(*b).kind == k))
    }

    /// Whether the inside of brackets of their own kind (a lone generator's) is the inside of such again.
    fn keeps_brackets(
        &self,
        capture: Capture,
        range: &Range<u32>,
        new: &Flat,
        new_nodes: &NodesAt,
    ) -> bool {
        let is_inside = |flat: &Flat, idx: u32| {
            self.grammar.bracketed().iter().any(|kinds| {
                let node = flat.node(idx);
                node.kind == kinds.instead && flat.node(node.parent).kind == kinds.under
            })
        };
        let around = self.old.node(capture.nodes.0).parent;
        let last = self.old.last_child(around);
        is_inside(self.old, around)
            && last == Some(capture.nodes.1)
            && with_brackets(range)
                .is_some_and(|range| new_nodes.at(&range).iter().any(|idx| is_inside(new, *idx)))
    }

    /// Whether a node stands where its language takes it in parentheses only.
    fn is_refused(&self, new: &Flat, idx: u32) -> bool {
        self.grammar
            .row
            .syntax
            .wraps
            .iter()
            .any(|wrap| self.is_of_kind(wrap, new, idx) && self.stands_in(wrap, new, idx))
    }

    fn is_of_kind(&self, wrap: &Wrap, new: &Flat, idx: u32) -> bool {
        let name = |idx: u32| self.grammar.kind_name(new.node(idx).kind);
        wrap.kinds.iter().any(|kind| match kind.split_once(' ') {
            Some((kind, token)) => name(idx) == kind && new.children(idx).any(|c| name(c) == token),
            None => name(idx) == *kind,
        })
    }

    fn stands_in(&self, wrap: &Wrap, new: &Flat, idx: u32) -> bool {
        let name = |idx: u32| self.grammar.kind_name(new.node(idx).kind);
        let mut at = idx;
        loop {
            let parent = new.node(at).parent;
            if parent == at {
                return false;
            }
            if name(parent) == wrap.parent && !(wrap.leading == Leading::Below && at == idx) {
                let before = new.previous_sibling(at);
                let after = (new.node(at).next < new.node(parent).next).then(|| new.node(at).next);
                let is = |wanted: &str, found: Option<u32>| {
                    wanted.is_empty() || found.is_some_and(|f| name(f) == wanted)
                };
                if is(wrap.after, before) && is(wrap.before, after) {
                    return true;
                }
            }
            // A mere wrapper around the node is passed in any case.
            let (outer, inner) = (new.node(parent), new.node(at));
            let goes_on = outer.start == inner.start
                && (wrap.leading != Leading::No || outer.end == inner.end);
            if !goes_on {
                return false;
            }
            at = parent;
        }
    }
}

/// A range with the bracket on both sides of it.
fn with_brackets(range: &Range<u32>) -> Option<Range<u32>> {
    Some(range.start.checked_sub(1)?..range.end + 1)
}

/// How many places are tried one by one in a result.
fn n_spared(result: &Result) -> usize {
    if result.0.bytes.len() > SPARED_BYTES {
        0
    } else {
        N_SPARED
    }
}

/// The nodes that have exactly one of the wanted ranges, found in one pass: looking for each range on
/// its own would cost the breadth or the depth of the tree each time.
struct NodesAt(HashMap<Range<u32>, Vec<u32>>);

impl NodesAt {
    fn new(flat: &Flat, wanted: impl Iterator<Item = Range<u32>>) -> NodesAt {
        let mut nodes: HashMap<Range<u32>, Vec<u32>> = wanted.map(|r| (r, Vec::new())).collect();
        for (idx, node) in (0u32..).zip(&flat.nodes) {
            if let Some(nodes) = nodes.get_mut(&(node.start..node.end)) {
                nodes.push(idx);
            }
        }
        NodesAt(nodes)
    }

    fn at(&self, range: &Range<u32>) -> &[u32] {
        self.0.get(range).map_or(&[], Vec::as_slice)
    }
}
