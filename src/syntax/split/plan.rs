//! Chooses the ranges of one source that a search has to parse.
//!
//! The choice is sound by one argument: a match lies inside one unit or in the text around the
//! units, so a unit in which not all runs of the pattern occur can hold no match. Which parts of a
//! pattern may reach into a unit is the caller's knowledge; it comes in as the `Shape`.

use std::ops::Range;
use std::sync::Arc;

use super::{UnitKind, Units, split};
use crate::syntax::prefilter::{Needles, Occurrences};

/// How the root of a pattern relates to the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The root is one expression or simple statement that cannot contain an item.
    ///
    /// Nothing of the pattern stands inside braces and the caller reads captures as text: what
    /// stands in braces is left out too where no whole match can be in it, also inside a capture.
    /// Whether two captures are the same is to be asked again where they have gaps.
    Inner,
    /// The root is one node that may have a body (`fn $F($$$A) { $$$B }`, `if $C: $$$B`).
    ///
    /// It may be a unit itself but does not hold units; inside a kept unit nothing is left out.
    Block,
    /// As `Block`, and what stands in each pair of braces of the pattern is one run (`{ $$$B }`).
    ///
    /// For the first of two passes: bodies are left out as for `Inner`, so the tree shows where
    /// the matches are but not what is in them, and a repeated metavariable may seem to match.
    Outline,
    /// The root may contain or span units (a class, a module, a sequence of several nodes), or is a
    /// comment, which may stand outside of all units.
    Whole,
}

/// What to parse of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: the source holds no match.
    Skip,
    /// All of it.
    Whole,
    /// Only these ranges, ascending and apart. If that tree has an error, all of it.
    Ranges(Vec<Range<usize>>),
}

/// Plans the parse of one source for a pattern.
pub fn plan(language: &str, needles: &Needles, shape: Shape, source: &[u8]) -> Plan {
    let units = || split(language, source).map(Arc::new);
    plan_of_units(language, needles, shape, source, &units)
}

/// As [`plan`], with the units from the caller, who is asked only where they are needed.
pub fn plan_of_units(
    language: &str,
    needles: &Needles,
    shape: Shape,
    source: &[u8],
    units: &dyn Fn() -> Option<Arc<Units>>,
) -> Plan {
    if !needles.usable() {
        return Plan::Whole;
    }
    if shape == Shape::Whole {
        return match needles.may_match(source) {
            true => Plan::Whole,
            false => Plan::Skip,
        };
    }
    let Some(occurrences) = needles.occurrences(source) else {
        return Plan::Skip;
    };
    let Some(units) = units() else {
        return Plan::Whole;
    };
    // What only stands in comments is in no match.
    let occurrences = occurrences.outside(&units.comments);
    if !occurrences.within(0..source.len()) {
        return Plan::Skip;
    }
    let keep = units_to_keep(&units, &occurrences, shape);
    // Around the outermost units stand only comments.
    if !units.roots().any(|(root, _)| keep[root]) {
        return Plan::Skip;
    }
    let mut gaps = gaps(&units, &keep);
    if !KEEP_COMMENTS.contains(&language) {
        leave_out_comments(source, &mut gaps, &units.comments);
    }
    kept(source, &gaps)
}

/// Languages in which a comment may hold the line end that ends a statement, and Python, where the gap of a
/// comment would be joined with that of the body after it, over the end of the line.
const KEEP_COMMENTS: &[&str] = &["go", "javascript", "jsx", "python", "tsx", "typescript"];

/// Adds the comments that stand outside of the gaps to them: they are no part of any match, and often a
/// third of the source.
fn leave_out_comments(source: &[u8], gaps: &mut Vec<Range<usize>>, comments: &[Range<usize>]) {
    let n_gaps = gaps.len();
    let mut next = 0;
    for comment in comments {
        while next < n_gaps && gaps[next].end <= comment.start {
            next += 1;
        }
        let apart = next == n_gaps || gaps[next].start >= comment.end;
        // A comment may be all that parts two tokens.
        let blank = |at: Option<usize>| {
            at.and_then(|at| source.get(at))
                .is_none_or(|byte| *byte <= b' ')
        };
        let spaced = blank(comment.start.checked_sub(1)) || blank(Some(comment.end));
        if apart && spaced {
            gaps.push(comment.clone());
        }
    }
    gaps.sort_by_key(|gap| gap.start);
}

/// Plans the second parse of a source, in which all that touches one of the places is whole.
///
/// The places are the ranges of the nodes that the first pass found, ascending by their start.
pub fn plan_around(units: &Units, places: &[Range<usize>], source: &[u8]) -> Plan {
    // The end that reaches farthest among the places up to each, since places may nest.
    let reach: Vec<usize> = places
        .iter()
        .scan(0, |farthest, place| {
            *farthest = place.end.max(*farthest);
            Some(*farthest)
        })
        .collect();
    let touches = |range: &Range<usize>| {
        let n_before = places.partition_point(|place| place.start < range.end);
        n_before > 0 && reach[n_before - 1] > range.start
    };
    let keep: Vec<bool> = units.list.iter().map(|unit| touches(&unit.range)).collect();
    kept(source, &gaps(units, &keep))
}

/// A gap saves the parse of its bytes but costs a piece to put together and to look places up in.
const SMALLEST_GAP: usize = 16;

/// Above this share of the source, in percent, a partial parse saves nothing worth a fallback.
const LARGEST_SHARE: usize = 95;

/// Collects what can be left out, ascending and apart.
fn gaps(units: &Units, keep: &[bool]) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut idx = 0;
    while let Some(unit) = units.list.get(idx) {
        if keep[idx] {
            idx += 1;
        } else {
            gaps.push(unit.range.clone());
            idx += 1 + unit.descendants;
        }
    }
    gaps
}

fn units_to_keep(units: &Units, occurrences: &Occurrences, shape: Shape) -> Vec<bool> {
    let mut keep = vec![false; units.list.len()];
    // The list has each unit before those inside it, so backwards the members are decided first.
    for idx in (0..units.list.len()).rev() {
        let unit = &units.list[idx];
        let is_header = |idx: usize| units.list[idx].kind == UnitKind::Header;
        let member = || (units.children(idx)).any(|(child, _)| keep[child] && !is_header(child));
        // What of a match stands in a block that it holds is a run or inside a metavariable, so its own
        // tokens stand around the blocks, unless all of it is in one.
        let around = || {
            let blocks = units.children(idx).filter(|(child, _)| !is_header(*child));
            let blocks = blocks.map(|(_, block)| block.range.clone());
            occurrences.within_but_for(unit.range.clone(), blocks)
        };
        keep[idx] = match unit.kind {
            UnitKind::Block if shape == Shape::Block => true,
            UnitKind::Item if shape == Shape::Block => occurrences.within(unit.range.clone()),
            // The item around it decides.
            UnitKind::Header => shape == Shape::Block,
            UnitKind::Block => member() || around(),
            UnitKind::Item => match around() {
                true => {
                    if let Some((header, _)) = units.children(idx).find(|(at, _)| is_header(*at)) {
                        keep[header] = true;
                    }
                    true
                }
                false => member(),
            },
            // The runs may be spread over members none of which has them all.
            UnitKind::Container => member() || occurrences.within(unit.range.start..unit.body),
        };
    }
    keep
}

/// Gives the ranges between the gaps, after joining gaps that only white space separates.
fn kept(source: &[u8], gaps: &[Range<usize>]) -> Plan {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for gap in gaps {
        match joined.last_mut() {
            Some(last) if source[last.end..gap.start].iter().all(|&byte| byte <= b' ') => {
                last.end = gap.end;
            }
            _ => joined.push(gap.clone()),
        }
    }
    let smallest = SMALLEST_GAP;
    joined.retain(|gap| gap.len() >= smallest);
    let n_dropped: usize = joined.iter().map(|gap| gap.len()).sum();
    let n_kept = source.len() - n_dropped;
    if n_kept * 100 > source.len() * LARGEST_SHARE {
        return Plan::Whole;
    }
    let mut ranges = Vec::with_capacity(joined.len() + 1);
    let mut from = 0;
    for gap in &joined {
        if gap.start > from {
            ranges.push(from..gap.start);
        }
        from = gap.end;
    }
    if from < source.len() {
        ranges.push(from..source.len());
    }
    Plan::Ranges(ranges)
}
