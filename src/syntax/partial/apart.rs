//! Reading the units of a source apart from each other, where the grammar fails on some of them.
//!
//! Macros of C, and syntax newer than a grammar, are errors for the parser, and how it goes on after one
//! depends on all that stood before. Read by itself, a unit with an error keeps it from the others, and
//! the file is read as well as each of its units can be. It must not know patterns.

use std::ops::Range;

use crate::syntax::cache::Covered;
use crate::syntax::grammar::Grammar;
use crate::syntax::split::Units;
use crate::syntax::tree::Flat;

use super::part::Part;

/// How often units with errors are taken out before the file is given up: behind an error the parser may
/// have stepped over the next one.
const ROUNDS: usize = 4;

/// Parses the ranges without the units that hold errors, and what they have of each of those by itself. `part`
/// is the parse of all the ranges. `None` when an error stands in no unit, or stays.
pub(super) fn parse<'a>(
    grammar: &'a Grammar,
    source: &'a [u8],
    ranges: &[Range<usize>],
    units: &Units,
    mut part: Part<'a>,
) -> Option<(Flat, Covered)> {
    let alone = units.stand_alone(grammar.row.id);
    let mut is_bad = vec![false; alone.len()];
    let mut rest: Vec<Range<usize>> = ranges.to_vec();
    for _ in 0..ROUNDS {
        for error in part.errors() {
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
        part = Part::parse(grammar, source, &rest, units)?;
        if !part.has_error() {
            break;
        }
    }
    let mut flat = match rest.is_empty() {
        true => Flat::default(),
        false if part.has_error() => return None,
        false => part.flat(),
    };
    let mut covered = rest;
    for (unit, _) in alone.iter().zip(&is_bad).filter(|(_, bad)| **bad) {
        // The error may be that of the unit beside it.
        let wanted = within(ranges, unit);
        if wanted.is_empty() {
            continue;
        }
        let part = Part::parse(grammar, source, &wanted, units)?;
        flat.append(part.flat());
        covered.extend(wanted);
    }
    covered.sort_by_key(|range| range.start);
    Some((flat, Covered::Ranges(covered)))
}

/// What of the ranges is in a part of the source; they ascend.
fn within(ranges: &[Range<usize>], part: &Range<usize>) -> Vec<Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= part.start);
    let ranges = ranges[first..].iter();
    ranges
        .take_while(|range| range.start < part.end)
        .map(|range| range.start.max(part.start)..range.end.min(part.end))
        .collect()
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
    fn a_part_has_what_of_the_ranges_is_in_it() {
        let ranges = [0..10, 20..30, 40..50];
        assert_eq!(within(&ranges, &(5..45)), [5..10, 20..30, 40..45]);
        assert_eq!(within(&ranges, &(22..45)), [22..30, 40..45]);
        assert!(within(&ranges, &(10..20)).is_empty());
    }

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
