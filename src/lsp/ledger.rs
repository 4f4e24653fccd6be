//! Which diagnostics a run has been told, so that it hears of each once (R34, D7).
//!
//! A diagnostic is known by its file, severity, code and message and not by its place: one that moved four
//! lines down is the same one (R35). The ledger counts, because a second equal error is a new one, and
//! forgets what went away, because an error that comes back is new again. It knows no server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lsp::diagnostics::place::without_twins;
use crate::lsp::diagnostics::{Diagnostic, Severity};
use crate::lsp::published;

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
    pub(crate) fn of_published(items: &[published::Diagnostic]) -> Self {
        let mut seen = BTreeSet::new();
        let mut counts = BTreeMap::new();
        for item in without_twins(items) {
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

    fn count(&self, key: &Key) -> usize {
        self.0.get(key).copied().unwrap_or_default()
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
    /// remembers it as told.
    pub fn newly(&self, path: &Path, baseline: &Counts, now: &[Diagnostic]) -> Vec<Appeared> {
        let counts = Counts::of(now);
        let mut ledger = self.lock();
        let told = ledger.entry(path.to_owned()).or_default();
        told.cap_at(&counts);
        let mut appeared = Vec::new();
        for (key, &count) in &counts.0 {
            let known = baseline.count(key).max(told.count(key)).min(count);
            if known == count {
                continue;
            }
            told.0.insert(key.clone(), count);
            let mut equal: Vec<_> = now
                .iter()
                .filter(|diagnostic| Key::of(diagnostic) == *key)
                .collect();
            equal.sort();
            // Which of the equal ones are new cannot be known; the last ones are as good as any.
            if let Some(diagnostic) = equal.get(known) {
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
        let appeared = ledger.newly(Path::new("/w/a.rs"), &Counts::of(baseline), now);
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
