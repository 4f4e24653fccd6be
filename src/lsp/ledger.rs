//! Which diagnostics a run has been told, so that it hears of each once (R34, D7).
//!
//! A diagnostic is known by its file, severity, code and message and not by its place: one that moved four
//! lines down is the same one (R35). The ledger counts, because a second equal error is a new one, and
//! forgets what went away, because an error that comes back is new again. It knows no server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lsp::diagnostics::{Diagnostic, Severity};
use crate::lsp::published;
use crate::lsp::symbol::is_identifier;

/// What one run has been told, by file.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<PathBuf, Counts>>);

/// A diagnostic that appeared, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appeared {
    /// The first of the equal ones that are new.
    pub diagnostic: Diagnostic,
    /// How many equal ones are new.
    pub count: usize,
}

/// How often each diagnostic of one file is there, without its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Key, usize>);

/// Names that things got since what was wrong was looked at: from which to which, in order.
///
/// What was said of a thing names it anew after a rename, and is the same all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renamed(Vec<(String, String)>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    severity: Severity,
    code: Option<String>,
    message: String,
}

impl Counts {
    /// Counts the diagnostics of one file.
    pub fn of(diagnostics: &[Diagnostic]) -> Self {
        let mut counts = BTreeMap::new();
        for diagnostic in diagnostics {
            *counts.entry(Key::of(diagnostic)).or_default() += 1;
        }
        Self(counts)
    }

    /// Counts what a server said about a file, as [`Self::of`] counts it when it is told.
    pub(crate) fn of_published<'a>(items: impl Iterator<Item = &'a published::Diagnostic>) -> Self {
        let mut seen = BTreeSet::new();
        let mut counts = BTreeMap::new();
        for item in items {
            let severity = match item.severity {
                published::Severity::Error => Severity::Error,
                published::Severity::Warning => Severity::Warning,
                published::Severity::Information | published::Severity::Hint => continue,
            };
            let place = (item.range.start.line, item.range.start.character);
            if seen.insert((place, severity, &item.code, &item.message, &item.source)) {
                let key = Key {
                    severity,
                    code: item.code.clone(),
                    message: without_places(&item.message),
                };
                *counts.entry(key).or_default() += 1;
            }
        }
        Self(counts)
    }

    /// Counts with the names of before.
    fn under_old_names(&self, renamed: &Renamed) -> Self {
        let mut counts = BTreeMap::new();
        for (key, count) in &self.0 {
            *counts
                .entry(key.clone().under_old_names(renamed))
                .or_default() += count;
        }
        Self(counts)
    }

    fn count(&self, key: &Key) -> usize {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// What one of both has, as often as the one that has it more often.
    pub(crate) fn or(mut self, other: &Self) -> Self {
        for (key, count) in &other.0 {
            let known = self.0.entry(key.clone()).or_default();
            *known = (*known).max(*count);
        }
        self
    }

    /// Drops what `now` has no more, or has less often.
    fn cap_at(&mut self, now: &Self) {
        self.0.retain(|key, count| {
            *count = (*count).min(now.count(key));
            *count > 0
        });
    }
}

impl Ledger {
    /// Returns what `now` has more often than the baseline and than the run was told, sorted by place, and
    /// remembers it as told. What differs by a new name alone is the same.
    pub(crate) fn newly(
        &self,
        path: &Path,
        baseline: &Counts,
        now: &[Diagnostic],
        renamed: &Renamed,
    ) -> Vec<Appeared> {
        let counts = Counts::of(now);
        let mut ledger = self.lock();
        let told = ledger.entry(path.to_owned()).or_default();
        let baseline = baseline.under_old_names(renamed);
        let known = told.under_old_names(renamed);
        told.cap_at(&counts);
        let mut appeared = Vec::new();
        for (key, &count) in &counts.under_old_names(renamed).0 {
            let known = baseline.count(key).max(known.count(key)).min(count);
            if known == count {
                continue;
            }
            let mut equal: Vec<_> = now
                .iter()
                .filter(|diagnostic| Key::of(diagnostic).under_old_names(renamed) == *key)
                .collect();
            equal.sort();
            // Which of the equal ones are new cannot be known; the last ones are as good as any.
            if let Some(diagnostic) = equal.get(known) {
                told.0.insert(Key::of(diagnostic), count);
                appeared.push(Appeared {
                    diagnostic: (*diagnostic).clone(),
                    count: count - known,
                });
            }
        }
        if told.0.is_empty() {
            ledger.remove(path);
        }
        appeared.sort_by(|one, other| one.diagnostic.cmp(&other.diagnostic));
        appeared
    }

    /// Takes note of what a file has, outside any write: what is gone will be new when it comes back.
    pub fn observe(&self, path: &Path, now: &Counts) {
        let mut ledger = self.lock();
        if let Some(told) = ledger.get_mut(path) {
            told.cap_at(now);
            if told.0.is_empty() {
                ledger.remove(path);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    fn of(diagnostic: &Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity,
            code: diagnostic.code.clone(),
            message: without_places(&diagnostic.message),
        }
    }

    fn under_old_names(mut self, renamed: &Renamed) -> Self {
        self.message = renamed.undone_in(self.message);
        self
    }
}

impl Renamed {
    /// Takes note of one more.
    pub(crate) fn add(&mut self, from: &str, to: &str) {
        self.0.push((from.to_owned(), to.to_owned()));
    }

    /// Writes the old names for the new ones, where these stand as whole words.
    fn undone_in(&self, message: String) -> String {
        let undone = |message: String, (from, to): &(String, String)| {
            let mut text = String::with_capacity(message.len());
            let mut rest = 0;
            for (at, word) in message.match_indices(to.as_str()) {
                let before = message[..at].chars().next_back();
                let after = message[at + word.len()..].chars().next();
                if !before.is_some_and(is_identifier) && !after.is_some_and(is_identifier) {
                    text.push_str(&message[rest..at]);
                    text.push_str(from);
                    rest = at + word.len();
                }
            }
            text.push_str(&message[rest..]);
            text
        };
        self.0.iter().rev().fold(message, undone)
    }
}

/// Masks the numbers of lines and columns that a message speaks of: they move when the text moves.
fn without_places(message: &str) -> String {
    let mut masked = String::with_capacity(message.len());
    let mut place = false;
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let is_kind = |ch: char| match (first.is_ascii_digit(), first.is_alphabetic()) {
            (true, _) => ch.is_ascii_digit(),
            (_, true) => ch.is_alphabetic(),
            (false, false) => !ch.is_ascii_digit() && !ch.is_alphabetic(),
        };
        let end = rest.find(|ch| !is_kind(ch)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        if first.is_ascii_digit() && place {
            masked.push('#');
            continue;
        }
        if first.is_alphabetic() {
            let word = piece.to_ascii_lowercase();
            place = matches!(
                word.as_str(),
                "line" | "lines" | "col" | "column" | "columns"
            );
        } else if !first.is_ascii_digit() {
            // `line 12:5` and `lines 3-7` keep speaking of places; a sentence end does not.
            place &= piece.trim().len() <= 1 && !piece.starts_with('.');
        }
        masked.push_str(piece);
    }
    masked
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn at(line: usize, message: &str) -> Diagnostic {
        Diagnostic {
            path: PathBuf::from("/w/a.rs"),
            file: "a.rs".to_owned(),
            line,
            column: 1,
            severity: Severity::Error,
            code: Some("E1".to_owned()),
            message: message.to_owned(),
            source: None,
        }
    }

    fn newly(ledger: &Ledger, baseline: &[Diagnostic], now: &[Diagnostic]) -> Vec<(usize, usize)> {
        let appeared = ledger.newly(
            Path::new("/w/a.rs"),
            &Counts::of(baseline),
            now,
            &Renamed::default(),
        );
        appeared
            .iter()
            .map(|appeared| (appeared.diagnostic.line, appeared.count))
            .collect()
    }

    // R32: what was there before the write is not told.
    #[test]
    fn only_what_the_baseline_lacks_is_new() {
        let ledger = Ledger::default();
        let old = at(1, "old");
        assert_eq!(newly(&ledger, from_ref(&old), from_ref(&old)), []);
        assert_eq!(
            newly(&ledger, from_ref(&old), &[old.clone(), at(2, "new")]),
            [(2, 1)]
        );
    }

    // R34, R35: told once, wherever it moves.
    #[test]
    fn a_told_one_is_not_told_again_when_it_moves() {
        let ledger = Ledger::default();
        assert_eq!(newly(&ledger, &[], &[at(3, "x")]), [(3, 1)]);
        assert_eq!(
            newly(&ledger, &[], &[at(7, "x")]),
            [],
            "the baseline lagged"
        );
        assert_eq!(newly(&ledger, &[at(3, "x")], &[at(7, "x")]), []);
        let other = Ledger::default();
        assert_eq!(
            newly(&other, &[], &[at(7, "x")]),
            [(7, 1)],
            "each run has its own"
        );
    }

    // D7: what went away is new when it comes back.
    #[test]
    fn a_broken_fixed_and_broken_again_is_told_twice() {
        let ledger = Ledger::default();
        assert_eq!(newly(&ledger, &[], &[at(3, "x")]), [(3, 1)]);
        assert_eq!(newly(&ledger, &[at(3, "x")], &[]), []);
        assert_eq!(newly(&ledger, &[], &[at(3, "x")]), [(3, 1)]);
        // The fix may also be seen by a question between two writes.
        ledger.observe(Path::new("/w/a.rs"), &Counts::default());
        assert_eq!(newly(&ledger, &[], &[at(3, "x")]), [(3, 1)]);
        ledger.observe(Path::new("/w/a.rs"), &Counts::of(&[at(9, "x")]));
        assert_eq!(newly(&ledger, &[], &[at(3, "x")]), []);
    }

    // D7: a multiset; two equal ones are one line with a count, and one more equal one is new.
    #[test]
    fn equal_ones_are_counted() {
        let ledger = Ledger::default();
        let (one, two, three) = (at(1, "x"), at(2, "x"), at(3, "x"));
        assert_eq!(newly(&ledger, &[], &[two.clone(), one.clone()]), [(1, 2)]);
        let all = [one.clone(), two.clone(), three];
        assert_eq!(newly(&ledger, &[one.clone(), two], &all), [(3, 1)]);
        assert_eq!(newly(&ledger, from_ref(&one), from_ref(&one)), []);
    }

    // R34: the key is severity, code and message.
    #[test]
    fn severity_code_and_message_tell_apart() {
        let ledger = Ledger::default();
        let base = at(1, "x");
        let mut warning = base.clone();
        warning.severity = Severity::Warning;
        let mut code = base.clone();
        code.code = None;
        for (n, other) in [warning, code, at(1, "y")].into_iter().enumerate() {
            assert_eq!(newly(&ledger, from_ref(&base), &[other]), [(1, 1)], "{n}");
        }
    }

    // R32, R38: an error that names what was renamed is the old one; one that the rename caused is new.
    #[test]
    fn an_old_error_under_a_new_name_is_not_told() {
        let path = Path::new("/w/a.rs");
        let newly = |baseline: &[&str], now: &[&str], names: &[(&str, &str)]| {
            let at = |messages: &[&str]| -> Vec<Diagnostic> {
                messages.iter().map(|message| at(1, message)).collect()
            };
            let mut renamed = Renamed::default();
            names.iter().for_each(|(from, to)| renamed.add(from, to));
            let baseline = Counts::of(&at(baseline));
            let appeared = Ledger::default().newly(path, &baseline, &at(now), &renamed);
            appeared.len()
        };
        let names = [("foo", "bar")];
        assert_eq!(newly(&["undefined: foo"], &["undefined: bar"], &names), 0);
        assert_eq!(newly(&["undefined: foo"], &["undefined: bar"], &[]), 1);
        assert_eq!(
            newly(&["undefined: foo"], &["undefined: foobar"], &names),
            1,
            "a part of a word is another name"
        );
        // What stayed under the old name, and what is there once more, count as well.
        let before = ["undefined: foo", "no foo"];
        assert_eq!(newly(&before, &["undefined: bar", "no foo"], &names), 0);
        let now = ["undefined: bar", "undefined: foo"];
        assert_eq!(newly(&before, &now, &names), 1);
        assert_eq!(newly(&[], &["bar is declared twice"], &names), 1);
        // Renamed twice, and back.
        let names = [("foo", "bar"), ("bar", "baz")];
        assert_eq!(newly(&["undefined: foo"], &["undefined: baz"], &names), 0);
        let names = [("foo", "bar"), ("bar", "foo")];
        assert_eq!(newly(&["undefined: foo"], &["undefined: foo"], &names), 0);
        // The ledger knows it under both names.
        let ledger = Ledger::default();
        let mut renamed = Renamed::default();
        renamed.add("foo", "bar");
        let none = Counts::default();
        let old = [at(1, "no foo")];
        assert_eq!(
            ledger.newly(path, &none, &old, &Renamed::default()).len(),
            1
        );
        assert_eq!(
            ledger
                .newly(path, &none, &[at(1, "no bar")], &renamed)
                .len(),
            0
        );
    }

    // R35: a message may name a place, and the place may move.
    #[test]
    fn places_in_messages_are_masked_and_other_numbers_are_not() {
        for (message, masked) in [
            (
                "redefinition of 'x' from line 12",
                "redefinition of 'x' from line #",
            ),
            ("see line 3:14, size 8", "see line #:#, size 8"),
            (
                "expected 2 arguments, found 3",
                "expected 2 arguments, found 3",
            ),
            (
                "E501 Line too long (90 > 88)",
                "E501 Line too long (90 > 88)",
            ),
            ("end of line. 7 left", "end of line. 7 left"),
            ("column 5", "column #"),
            ("", ""),
        ] {
            assert_eq!(without_places(message), masked);
        }
    }
}
