//! Reading the units of a source apart from each other, where the grammar fails on some of them.
//!
//! Macros of C, and syntax newer than a grammar, are errors for the parser, and how it goes on after one
//! depends on all that stood before. Read by itself, a unit with an error keeps it from the others, and
//! the file is read as well as each of its units can be. It must not know patterns.

use std::ops::Range;

use crate::syntax::cache::Covered;
use crate::syntax::grammar::{Grammar, errors};
use crate::syntax::split::Units;
use crate::syntax::tree::Flat;

/// How often units with errors are taken out before the file is given up: behind an error the parser may
/// have stepped over the next one.
const ROUNDS: usize = 4;

/// Parses the ranges without the units that hold errors, and each of those by itself and whole. `tree` is
/// the tree of all the ranges. `None` when an error stands in no unit, or stays.
pub(super) fn parse(
    grammar: &Grammar,
    source: &[u8],
    ranges: &[Range<usize>],
    units: &Units,
    mut tree: tree_sitter::Tree,
) -> Option<(Flat, Covered)> {
    let alone = units.stand_alone(grammar.row.id);
    let mut is_bad = vec![false; alone.len()];
    let mut rest: Vec<Range<usize>> = ranges.to_vec();
    for _ in 0..ROUNDS {
        for error in errors(&tree) {
            let first = alone.partition_point(|unit| unit.end < error.start);
            let past = alone.partition_point(|unit| unit.start <= error.end);
            if first >= past {
                return None;
            }
            is_bad[first..past].fill(true);
        }
        let bad = alone.iter().zip(&is_bad).filter(|(_, bad)| **bad);
        rest = without(ranges, bad.map(|(unit, _)| unit));
        if rest.is_empty() {
            break;
        }
        tree = grammar.parse_ranges(source, &rest)?;
        if !tree.root_node().has_error() {
            break;
        }
    }
    let mut flat = match rest.is_empty() {
        true => Flat::default(),
        false if tree.root_node().has_error() => return None,
        false => Flat::build(grammar, &tree, source),
    };
    let mut covered = rest;
    for (unit, _) in alone.iter().zip(&is_bad).filter(|(_, bad)| **bad) {
        let range = std::slice::from_ref(unit);
        let tree = grammar.parse_ranges(source, range)?;
        flat.append(Flat::build(grammar, &tree, source));
        covered.push(unit.clone());
    }
    covered.sort_by_key(|range| range.start);
    Some((flat, Covered::Ranges(covered)))
}

/// What of the ranges is in none of the holes; both ascend.
fn without<'a>(
    ranges: &[Range<usize>],
    holes: impl Iterator<Item = &'a Range<usize>>,
) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut ranges = ranges.iter().cloned().peekable();
    for hole in holes {
        while let Some(range) = ranges.next_if(|range| range.end <= hole.start) {
            left.push(range);
        }
        while let Some(range) = ranges.peek_mut() {
            if range.start >= hole.end {
                break;
            }
            if range.start < hole.start {
                left.push(range.start..hole.start);
            }
            if range.end > hole.end {
                range.start = hole.end;
                break;
            }
            ranges.next();
        }
    }
    left.extend(ranges);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_cut_out_of_ranges() {
        let cut = |holes: &[(usize, usize)]| {
            let holes: Vec<Range<usize>> = holes.iter().map(|(from, to)| *from..*to).collect();
            without(&[0..10, 20..30], holes.iter())
        };
        assert_eq!(cut(&[]), [0..10, 20..30]);
        assert_eq!(cut(&[(2, 4), (6, 8)]), [0..2, 4..6, 8..10, 20..30]);
        assert_eq!(cut(&[(5, 25)]), [0..5, 25..30]);
        assert!(cut(&[(0, 10), (12, 18), (20, 30)]).is_empty());
        assert_eq!(cut(&[(30, 40)]), [0..10, 20..30]);
    }
}
