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
    let occurrences = needles.outside_literals(occurrences, &units.literals);
    if !occurrences.within(0..source.len()) {
        return Plan::Skip;
    }
    let mut keep = units_to_keep(&units, &occurrences, shape);
    // Around the outermost units stand only comments.
    if !units.roots().any(|(root, _)| keep[root] != Keep::Nothing) {
        return Plan::Skip;
    }
    if !units.needs_member {
        keep.iter_mut().for_each(Keep::with_header);
    }
    let mut gaps = gaps(&units, &keep);
    if units.needs_member {
        leave_out_comment_lines(source, &mut gaps, &units.comments);
    } else if !KEEP_COMMENTS.contains(&language) {
        leave_out_comments(source, &mut gaps, &units.comments);
    }
    // Half a statement without its header is none, however short the header is.
    let smallest = match units.needs_member {
        true => 1,
        false => SMALLEST_GAP,
    };
    kept(source, &gaps, smallest)
}

/// Languages in which a comment may hold the line end that ends a statement.
const KEEP_COMMENTS: &[&str] = &["go", "javascript", "jsx", "tsx", "typescript"];

/// Adds the lines that hold nothing but a comment and stand outside of the gaps. The gap of a comment behind
/// code would be joined with that of the body after it, over the end of the line.
fn leave_out_comment_lines(source: &[u8], gaps: &mut Vec<Range<usize>>, comments: &[Range<usize>]) {
    let n_gaps = gaps.len();
    let mut next = 0;
    for comment in comments {
        while next < n_gaps && gaps[next].end <= comment.start {
            next += 1;
        }
        let apart = next == n_gaps || gaps[next].start >= comment.end;
        let before = &source[..comment.start];
        let n_blanks = before
            .iter()
            .rev()
            .take_while(|byte| b" \t\x0c".contains(byte))
            .count();
        let start = comment.start - n_blanks;
        let is_line = source[..start].last().is_none_or(|byte| *byte == b'\n');
        if apart && is_line && source.get(comment.end) == Some(&b'\n') {
            gaps.push(start..comment.end + 1);
        }
    }
    gaps.sort_by_key(|gap| gap.start);
}

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
    let keep: Vec<Keep> = units
        .list
        .iter()
        .map(|unit| match touches(&unit.range) {
            true => Keep::Header,
            false => Keep::Nothing,
        })
        .collect();
    kept(source, &gaps(units, &keep), SMALLEST_GAP)
}

/// A gap saves the parse of its bytes but costs a piece to put together and to look places up in.
const SMALLEST_GAP: usize = 16;

/// Above this share of the source, in percent, a partial parse saves nothing worth a fallback.
const LARGEST_SHARE: usize = 95;

/// What of a unit is to be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nothing,
    /// Units inside of it, but none of its own tokens.
    Inside,
    /// What stands around the units inside, and some of these.
    Header,
}

impl Keep {
    fn with_header(&mut self) {
        if *self == Keep::Inside {
            *self = Keep::Header;
        }
    }
}

/// Collects what can be left out, ascending and apart.
fn gaps(units: &Units, keep: &[Keep]) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut idx = 0;
    while let Some(unit) = units.list.get(idx) {
        match keep[idx] {
            Keep::Nothing => {
                gaps.push(unit.range.clone());
                idx += 1 + unit.descendants;
            }
            Keep::Inside => {
                let mut from = unit.range.start;
                for (_, child) in units.children(idx) {
                    gaps.push(from..child.range.start);
                    from = child.range.end;
                }
                gaps.push(from..unit.range.end);
                idx += 1;
            }
            Keep::Header => idx += 1,
        }
    }
    gaps.retain(|gap| !gap.is_empty());
    gaps.sort_by_key(|gap| gap.start);
    gaps
}

fn units_to_keep(units: &Units, occurrences: &Occurrences, shape: Shape) -> Vec<Keep> {
    let mut keep = vec![Keep::Nothing; units.list.len()];
    // The list has each unit before those inside it, so backwards the members are decided first.
    for idx in (0..units.list.len()).rev() {
        let unit = &units.list[idx];
        let is_header = |idx: usize| units.list[idx].kind == UnitKind::Header;
        let inside = || {
            let mut children = units.children(idx);
            match children.any(|(child, _)| keep[child] != Keep::Nothing && !is_header(child)) {
                true if unit.names_members => Keep::Header,
                true => Keep::Inside,
                false => Keep::Nothing,
            }
        };
        // What of a match stands in a block that it holds is a run or inside a metavariable, so its own
        // tokens stand around the blocks, unless all of it is in one.
        let around = || {
            let blocks = units.children(idx).filter(|(child, _)| !is_header(*child));
            let blocks = blocks.map(|(_, block)| block.range.clone());
            occurrences.within_but_for(unit.range.clone(), blocks)
        };
        let has = |tokens: bool| match tokens {
            true => Keep::Header,
            false => inside(),
        };
        let mut own_header = None;
        let kept = match unit.kind {
            UnitKind::Block if shape == Shape::Block => Keep::Header,
            UnitKind::Item if shape == Shape::Block => {
                match occurrences.within(unit.range.clone()) {
                    true => Keep::Header,
                    false => Keep::Nothing,
                }
            }
            // The item around it decides.
            UnitKind::Header if shape == Shape::Block => Keep::Header,
            UnitKind::Header => Keep::Nothing,
            UnitKind::Block => has(around()),
            UnitKind::Item => {
                let own = around();
                if own {
                    own_header = units.children(idx).find(|(at, _)| is_header(*at));
                }
                has(own)
            }
            // The runs may be spread over members none of which has them all.
            UnitKind::Container => has(occurrences.within(unit.range.start..unit.body)),
        };
        keep[idx] = kept;
        if let Some((header, _)) = own_header {
            keep[header] = Keep::Header;
        }
    }
    keep
}

/// Gives the ranges between the gaps, after joining gaps that only white space separates.
fn kept(source: &[u8], gaps: &[Range<usize>], smallest: usize) -> Plan {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for gap in gaps {
        match joined.last_mut() {
            Some(last) if source[last.end..gap.start].iter().all(|&byte| byte <= b' ') => {
                last.end = gap.end;
            }
            _ => joined.push(gap.clone()),
        }
    }
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
