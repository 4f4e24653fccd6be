//! The cache of flat trees in one run: a second search over an unchanged file parses nothing.
//!
//! An entry is keyed by path and holds for one size and modification time. It may cover only the ranges
//! of a file that earlier searches had to parse; a search that needs others parses both together, so a
//! file is whole after a few different searches at most. Bounded by memory, least recently used first.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::limits;
use crate::syntax::source::Stamp;
use crate::syntax::tree::Flat;

/// Parsed files of one run, shared by its searches.
#[derive(Debug)]
pub struct Cache {
    inner: Mutex<Inner>,
    max_bytes: usize,
}

/// Which part of a file a flat tree covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Covered {
    Whole,
    /// Ascending and apart.
    Ranges(Vec<Range<usize>>),
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<(PathBuf, &'static str), Entry>,
    by_use: BTreeMap<u64, (PathBuf, &'static str)>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    flat: Arc<Flat>,
    covered: Covered,
    used: u64,
    bytes: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Cache::with_limit(limits::CACHE_BYTES)
    }
}

impl Cache {
    /// A cache that holds at most this many bytes of trees.
    pub fn with_limit(max_bytes: usize) -> Cache {
        Cache {
            inner: Mutex::default(),
            max_bytes,
        }
    }

    /// Bytes of trees that it holds now.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The tree of a file in the given state and what it covers, if that is all that is needed.
    pub(crate) fn find(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
        needed: &Covered,
    ) -> Option<(Arc<Flat>, Covered)> {
        let mut inner = self.lock();
        let key = (path.to_owned(), language);
        let entry = inner.entries.get(&key)?;
        if entry.stamp != stamp || !entry.covered.covers(needed) {
            return None;
        }
        let found = (Arc::clone(&entry.flat), entry.covered.clone());
        inner.touch(&key);
        Some(found)
    }

    /// What a parse should cover so that the new tree can take the place of the old one.
    pub(crate) fn widened(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
        needed: &Covered,
    ) -> Covered {
        let inner = self.lock();
        match inner.entries.get(&(path.to_owned(), language)) {
            Some(entry) if entry.stamp == stamp => needed.union(&entry.covered),
            _ => needed.clone(),
        }
    }

    /// Keeps a tree; others go if there is no room for it.
    pub(crate) fn keep(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
        covered: Covered,
        flat: &Arc<Flat>,
    ) {
        let bytes = flat.memory() + path.as_os_str().len() * 2 + size_of::<Entry>();
        let mut inner = self.lock();
        let key = (path.to_owned(), language);
        inner.remove(&key);
        if bytes > self.max_bytes {
            return;
        }
        while inner.bytes + bytes > self.max_bytes {
            let Some((_, oldest)) = inner.by_use.first_key_value() else {
                break;
            };
            let oldest = oldest.clone();
            inner.remove(&oldest);
        }
        inner.bytes += bytes;
        inner.entries.insert(
            key.clone(),
            Entry {
                stamp,
                flat: Arc::clone(flat),
                covered,
                used: 0,
                bytes,
            },
        );
        inner.touch(&key);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Inner {
    fn touch(&mut self, key: &(PathBuf, &'static str)) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(key) {
            self.by_use.remove(&entry.used);
            entry.used = self.clock;
            self.by_use.insert(self.clock, key.clone());
        }
    }

    fn remove(&mut self, key: &(PathBuf, &'static str)) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

impl Covered {
    /// Whether everything in `needed` is covered.
    fn covers(&self, needed: &Covered) -> bool {
        match (self, needed) {
            (Covered::Whole, _) => true,
            (Covered::Ranges(_), Covered::Whole) => false,
            (Covered::Ranges(_), Covered::Ranges(need)) => need.iter().all(|n| self.holds(n)),
        }
    }

    /// Whether all that stands in the range is covered without a gap.
    pub fn holds(&self, range: &Range<usize>) -> bool {
        match self {
            Covered::Whole => true,
            Covered::Ranges(have) => {
                let next = have.partition_point(|h| h.end < range.end);
                have.get(next).is_some_and(|h| h.start <= range.start)
            }
        }
    }

    fn union(&self, other: &Covered) -> Covered {
        let (Covered::Ranges(a), Covered::Ranges(b)) = (self, other) else {
            return Covered::Whole;
        };
        let mut all: Vec<Range<usize>> = a.iter().chain(b).cloned().collect();
        all.sort_by_key(|r| (r.start, r.end));
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in all {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Covered::Ranges(joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(bytes: u64) -> Stamp {
        Stamp {
            bytes,
            modified: None,
        }
    }

    #[test]
    fn an_entry_holds_for_one_state_of_the_file_and_what_it_covers() {
        let cache = Cache::default();
        let flat = Arc::new(Flat::default());
        let path = Path::new("a.rs");
        let some = |r: Range<usize>| Covered::Ranges(vec![r]);
        cache.keep(path, "rust", stamp(9), some(2..6), &flat);
        assert!(cache.find(path, "rust", stamp(9), &some(2..6)).is_some());
        assert!(cache.find(path, "rust", stamp(9), &some(3..5)).is_some());
        assert!(cache.find(path, "rust", stamp(9), &some(3..7)).is_none());
        assert!(
            cache
                .find(path, "rust", stamp(9), &Covered::Whole)
                .is_none()
        );
        assert!(cache.find(path, "rust", stamp(8), &some(2..6)).is_none());
        assert!(cache.find(path, "c", stamp(9), &some(2..6)).is_none());
        assert_eq!(
            cache.widened(path, "rust", stamp(9), &some(5..8)),
            some(2..8)
        );
        assert_eq!(
            cache.widened(path, "rust", stamp(1), &some(5..8)),
            some(5..8)
        );
    }

    #[test]
    fn the_least_recently_used_goes_first_and_the_bound_holds() {
        let flat = Arc::new(Flat::default());
        let (a, b, c) = (Path::new("a"), Path::new("b"), Path::new("c"));
        let probe = Cache::default();
        probe.keep(a, "rust", stamp(1), Covered::Whole, &flat);
        let one = probe.bytes();
        let cache = Cache::with_limit(2 * one);
        cache.keep(a, "rust", stamp(1), Covered::Whole, &flat);
        cache.keep(b, "rust", stamp(1), Covered::Whole, &flat);
        assert!(cache.find(a, "rust", stamp(1), &Covered::Whole).is_some());
        cache.keep(c, "rust", stamp(1), Covered::Whole, &flat);
        assert_eq!(cache.bytes(), 2 * one);
        assert!(cache.find(a, "rust", stamp(1), &Covered::Whole).is_some());
        assert!(cache.find(b, "rust", stamp(1), &Covered::Whole).is_none());
        let tiny = Cache::with_limit(one - 1);
        tiny.keep(a, "rust", stamp(1), Covered::Whole, &flat);
        assert_eq!(tiny.bytes(), 0);
    }
}
