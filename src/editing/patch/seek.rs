//! Finds consecutive lines in a text with four levels of tolerance, strictest first.
//!
//! The levels are those of the `apply_patch` of codex: exact; without spaces at the ends of lines; without
//! spaces at either end; and with typographic dashes, quotes and spaces read as their plain forms.

/// How much was overlooked to find a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// Nothing.
    Exact,
    /// Spaces at the ends of lines.
    TrailingSpace,
    /// Spaces at both ends of lines.
    SurroundingSpace,
    /// Typographic characters too.
    Typography,
}

/// Where lines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere from the start on.
    Anywhere,
    /// At the very end.
    End,
}

/// Where lines were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The index of the first line.
    pub index: usize,
    /// What was overlooked.
    pub tolerance: Tolerance,
}

impl Tolerance {
    /// Every level, strictest first.
    pub const ALL: [Self; 4] = [
        Self::Exact,
        Self::TrailingSpace,
        Self::SurroundingSpace,
        Self::Typography,
    ];

    /// The name that data uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TrailingSpace => "trailing_space",
            Self::SurroundingSpace => "surrounding_space",
            Self::Typography => "typography",
        }
    }

    fn same(self, line: &str, wanted: &str) -> bool {
        match self {
            Self::Exact => line == wanted,
            Self::TrailingSpace => line.trim_end() == wanted.trim_end(),
            Self::SurroundingSpace => line.trim() == wanted.trim(),
            Self::Typography => plain(line).eq(plain(wanted)),
        }
    }
}

/// Finds `wanted` in `lines` from `start` on. No lines are found at the start.
pub fn seek(lines: &[&str], wanted: &[&str], start: usize, place: Place) -> Option<Found> {
    let last = lines.len().checked_sub(wanted.len())?;
    let first = match place {
        Place::Anywhere => start,
        Place::End => last,
    };
    if first < start || first > last {
        return None;
    }
    Tolerance::ALL.into_iter().find_map(|tolerance| {
        let fits = |index: &usize| {
            let window = &lines[*index..*index + wanted.len()];
            let mut pairs = window.iter().zip(wanted);
            pairs.all(|(line, wanted)| tolerance.same(line, wanted))
        };
        let index = (first..=last).find(fits)?;
        Some(Found { index, tolerance })
    })
}

/// A line with every run of spaces made one space, and typographic characters made plain.
pub fn squeezed(line: &str) -> String {
    let plain: String = plain(line).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The characters of a line without the spaces at its ends, typographic ones made plain.
fn plain(line: &str) -> impl Iterator<Item = char> {
    line.trim().chars().map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2018}'..='\u{201B}' => '\'',
        '\u{201C}'..='\u{201F}' => '"',
        '\u{A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        c => c,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        lines: &[&str],
        wanted: &[&str],
        start: usize,
        place: Place,
    ) -> Option<(usize, Tolerance)> {
        seek(lines, wanted, start, place).map(|found| (found.index, found.tolerance))
    }

    #[test]
    fn each_level_finds_what_the_stricter_one_does_not() {
        let check = |line: &str, wanted: &str, tolerance| {
            let expected = tolerance_index(tolerance);
            assert_eq!(found(&["x", line], &[wanted], 0, Place::Anywhere), expected);
        };
        fn tolerance_index(tolerance: Option<Tolerance>) -> Option<(usize, Tolerance)> {
            tolerance.map(|tolerance| (1, tolerance))
        }
        check("a b", "a b", Some(Tolerance::Exact));
        check("a b \t", "a b", Some(Tolerance::TrailingSpace));
        check("\ta b", "  a b", Some(Tolerance::SurroundingSpace));
        check(
            "a – ‘b’ “c”\u{A0}d",
            "a - 'b' \"c\" d",
            Some(Tolerance::Typography),
        );
        check("a  b", "a b", None);
        check("a b", "A b", None);
    }

    #[test]
    fn a_strict_place_further_down_wins_over_a_tolerant_one() {
        assert_eq!(
            found(&["a ", "a"], &["a"], 0, Place::Anywhere),
            Some((1, Tolerance::Exact))
        );
    }

    #[test]
    fn the_start_and_the_end_bound_the_search() {
        let lines = ["a", "b", "a", "b"];
        assert_eq!(
            found(&lines, &["a"], 1, Place::Anywhere),
            Some((2, Tolerance::Exact))
        );
        assert_eq!(found(&lines, &["a"], 3, Place::Anywhere), None);
        assert_eq!(
            found(&lines, &["a", "b"], 0, Place::End),
            Some((2, Tolerance::Exact))
        );
        assert_eq!(found(&lines, &["a"], 0, Place::End), None);
        assert_eq!(found(&lines, &["b"], 4, Place::End), None);
        assert_eq!(found(&["a"], &["a", "b"], 0, Place::Anywhere), None);
        assert_eq!(
            found(&lines, &[], 2, Place::Anywhere),
            Some((2, Tolerance::Exact))
        );
        assert_eq!(found(&[], &[], 0, Place::End), Some((0, Tolerance::Exact)));
    }
}
