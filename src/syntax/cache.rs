//! The cache of flat trees in one run: a second search over an unchanged file reads and parses nothing.
//!
//! An entry is keyed by path and holds for one size, modification time and inode. It keeps the source beside the
//! tree, so that the two are always of one state of the file. It may cover only the ranges of a file that
//! earlier searches had to parse; a search that needs others parses both together, so a file is whole
//! after a few different searches at most. Bounded by memory, least recently used first.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::limits;
use crate::syntax::source::Stamp;
use crate::syntax::split::Units;
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
    parsed: Arc<Held>,
    used: u64,
    bytes: usize,
}

/// The tree of a part of a file.
#[derive(Clone, Debug)]
pub(crate) struct PartTree {
    pub flat: Arc<Flat>,
    /// What the tree covers.
    pub covered: Covered,
    /// What it was made for.
    pub asked: Covered,
}

/// One state of a file, and the tree of a part of it.
#[derive(Debug)]
pub(crate) struct Held {
    pub source: Arc<[u8]>,
    pub tree: PartTree,
    /// The tree before it, where one cannot take the place of the other. Two, since a pattern may have two
    /// readings that are searched for in turn.
    pub other: Option<PartTree>,
    /// What the source was cut into, where that is known.
    pub units: Option<Arc<Units>>,
}

impl Default for Cache {
    fn default() -> Self {
        Cache::with_limit(limits::CACHE_BYTES)
    }
}

impl Cache {
    /// A cache that holds at most this many bytes of sources and trees.
    pub fn with_limit(max_bytes: usize) -> Cache {
        Cache {
            inner: Mutex::default(),
            max_bytes,
        }
    }

    /// Bytes of sources and trees that it holds now.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// What is known of a file in the given state.
    pub(crate) fn find(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
    ) -> Option<Arc<Held>> {
        let mut inner = self.lock();
        let key = (path.to_owned(), language);
        let entry = inner.entries.get(&key)?;
        if entry.stamp != stamp {
            return None;
        }
        let found = Arc::clone(&entry.parsed);
        inner.touch(key);
        Some(found)
    }

    /// Keeps a tree; others go if there is no room for it.
    pub(crate) fn keep(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
        parsed: Arc<Held>,
    ) {
        let other = parsed.other.as_ref();
        let bytes = parsed.tree.flat.memory()
            + other.map_or(0, |other| other.flat.memory())
            + parsed.source.len()
            + parsed.units.as_ref().map_or(0, |units| units.memory())
            + path.as_os_str().len() * 2
            + size_of::<Entry>()
            + size_of::<Held>();
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
                parsed,
                used: 0,
                bytes,
            },
        );
        inner.touch(key);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Inner {
    fn touch(&mut self, key: (PathBuf, &'static str)) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&key) {
            self.by_use.remove(&entry.used);
            entry.used = self.clock;
            self.by_use.insert(self.clock, key);
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
    pub fn covers(&self, needed: &Covered) -> bool {
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

    /// What a parse should cover so that its tree can take the place of another that covers `other`.
    pub fn union(&self, other: &Covered) -> Covered {
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
            inode: 1,
        }
    }

    fn held(covered: Covered) -> Arc<Held> {
        Arc::new(Held {
            source: Arc::from(&b"f(x)"[..]),
            tree: PartTree {
                flat: Arc::default(),
                asked: covered.clone(),
                covered,
            },
            other: None,
            units: None,
        })
    }

    #[test]
    fn an_entry_holds_for_one_state_of_the_file_and_one_language() {
        let cache = Cache::default();
        let path = Path::new("a.rs");
        cache.keep(path, "rust", stamp(9), held(Covered::Whole));
        let found = cache.find(path, "rust", stamp(9)).expect("it was kept");
        assert_eq!(&found.source[..], b"f(x)");
        assert!(cache.find(path, "rust", stamp(8)).is_none());
        assert!(cache.find(path, "c", stamp(9)).is_none());
    }

    #[test]
    fn a_tree_serves_what_it_covers() {
        let some = |r: Range<usize>| Covered::Ranges(vec![r]);
        assert!(some(2..6).covers(&some(2..6)));
        assert!(some(2..6).covers(&some(3..5)));
        assert!(!some(2..6).covers(&some(3..7)));
        assert!(!some(2..6).covers(&Covered::Whole));
        assert!(Covered::Whole.covers(&some(2..6)));
        assert_eq!(some(5..8).union(&some(2..6)), some(2..8));
        assert_eq!(some(5..8).union(&Covered::Whole), Covered::Whole);
    }

    #[test]
    fn the_least_recently_used_goes_first_and_the_bound_holds() {
        let whole = || held(Covered::Whole);
        let (a, b, c) = (Path::new("a"), Path::new("b"), Path::new("c"));
        let probe = Cache::default();
        probe.keep(a, "rust", stamp(1), whole());
        let one = probe.bytes();
        let cache = Cache::with_limit(2 * one);
        cache.keep(a, "rust", stamp(1), whole());
        cache.keep(b, "rust", stamp(1), whole());
        assert!(cache.find(a, "rust", stamp(1)).is_some());
        cache.keep(c, "rust", stamp(1), whole());
        assert_eq!(cache.bytes(), 2 * one);
        assert!(cache.find(a, "rust", stamp(1)).is_some());
        assert!(cache.find(b, "rust", stamp(1)).is_none());
        let tiny = Cache::with_limit(one - 1);
        tiny.keep(a, "rust", stamp(1), whole());
        assert_eq!(tiny.bytes(), 0);
    }
}
