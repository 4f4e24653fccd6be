//! The cache of one run: a second search over an unchanged file reads and parses nothing.
//!
//! An entry is keyed by path and holds for one size, modification time and inode. It keeps the source beside the
//! tree, so that the two are always of one state of the file. It may cover only the ranges of a file that
//! earlier searches had to parse; a search that needs others parses both together, so a file is whole
//! after a few different searches at most. What the last patterns found in a file is kept too: a search is
//! often followed by the rewrite of what it found. Bounded by memory; trees go first, least recently used
//! first, and what was found after them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::limits;
use crate::syntax::matcher::{Capture, Match};
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

type Key = (PathBuf, &'static str);

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Key, Entry>,
    /// Entries with a tree, by their last use.
    trees_by_use: BTreeMap<u64, Key>,
    /// Entries that have none any more, or never had one.
    others_by_use: BTreeMap<u64, Key>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    stamp: Stamp,
    held: Option<Arc<Held>>,
    answers: Vec<Arc<Answer>>,
    used: u64,
    bytes: usize,
}

/// What a pattern found in one state of a file.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The key of the pattern.
    pub pattern: Arc<str>,
    pub matches: Vec<Match>,
    /// How many matches were asked for: where there are as many, more may exist.
    pub limit: usize,
    /// Whether the file holds the pattern's tokens.
    pub near: bool,
}

impl Answer {
    /// Whether it says all that a search for so many matches would find.
    pub fn serves(&self, limit: usize) -> bool {
        self.matches.len() < self.limit || limit <= self.matches.len()
    }

    fn memory(&self) -> usize {
        let captures: usize = self.matches.iter().map(|m| m.captures.capacity()).sum();
        size_of::<Answer>()
            + self.matches.capacity() * size_of::<Match>()
            + captures * size_of::<Capture>()
    }
}

/// What is known of one state of a file.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub held: Option<Arc<Held>>,
    /// What the asked pattern found.
    pub answer: Option<Arc<Answer>>,
}

/// The answers of a file that are kept, the last ones: a pattern may have two readings.
const ANSWERS: usize = 8;

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
        pattern: &str,
    ) -> Known {
        let mut inner = self.lock();
        let key = (path.to_owned(), language);
        let Some(entry) = inner.entries.get(&key).filter(|e| e.stamp == stamp) else {
            return Known::default();
        };
        let known = Known {
            held: entry.held.clone(),
            answer: (entry.answers.iter())
                .find(|answer| &*answer.pattern == pattern)
                .cloned(),
        };
        inner.touch(key);
        known
    }

    /// Keeps a tree; others go if there is no room for it.
    pub(crate) fn keep(&self, path: &Path, language: &'static str, stamp: Stamp, held: Arc<Held>) {
        let key = (path.to_owned(), language);
        let mut inner = self.lock();
        let answers = inner.remove(&key, stamp).map(|entry| entry.answers);
        inner.put(
            key,
            stamp,
            Some(held),
            answers.unwrap_or_default(),
            self.max_bytes,
        );
    }

    /// Keeps what a pattern found.
    pub(crate) fn remember(
        &self,
        path: &Path,
        language: &'static str,
        stamp: Stamp,
        answer: Answer,
    ) {
        let key = (path.to_owned(), language);
        let mut inner = self.lock();
        let (held, mut answers) = match inner.remove(&key, stamp) {
            Some(entry) => (entry.held, entry.answers),
            None => (None, Vec::new()),
        };
        answers.retain(|known| known.pattern != answer.pattern);
        if answers.len() == ANSWERS {
            answers.remove(0);
        }
        answers.push(Arc::new(answer));
        inner.put(key, stamp, held, answers, self.max_bytes);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Inner {
    fn touch(&mut self, key: Key) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&key) {
            let by_use = match entry.held {
                Some(_) => &mut self.trees_by_use,
                None => &mut self.others_by_use,
            };
            by_use.remove(&entry.used);
            entry.used = self.clock;
            by_use.insert(self.clock, key);
        }
    }

    /// Takes an entry out; gives it where it is of this state of the file.
    fn remove(&mut self, key: &Key, stamp: Stamp) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        match entry.held {
            Some(_) => self.trees_by_use.remove(&entry.used),
            None => self.others_by_use.remove(&entry.used),
        };
        self.bytes -= entry.bytes;
        (entry.stamp == stamp).then_some(entry)
    }

    fn put(
        &mut self,
        key: Key,
        stamp: Stamp,
        held: Option<Arc<Held>>,
        answers: Vec<Arc<Answer>>,
        max_bytes: usize,
    ) {
        let entry = Entry {
            bytes: memory(&key, held.as_deref(), &answers),
            stamp,
            held,
            answers,
            used: 0,
        };
        if entry.bytes > max_bytes {
            return;
        }
        while self.bytes + entry.bytes > max_bytes && self.make_room() {}
        self.bytes += entry.bytes;
        self.entries.insert(key.clone(), entry);
        self.touch(key);
    }

    /// Lets the oldest tree go, or the oldest entry where no tree is left; false where nothing is.
    fn make_room(&mut self) -> bool {
        if let Some((used, key)) = self.trees_by_use.pop_first() {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.held = None;
                let bytes = memory(&key, None, &entry.answers);
                self.bytes -= entry.bytes - bytes;
                entry.bytes = bytes;
                self.others_by_use.insert(used, key);
            }
            return true;
        }
        let Some((_, key)) = self.others_by_use.pop_first() else {
            return false;
        };
        if let Some(entry) = self.entries.remove(&key) {
            self.bytes -= entry.bytes;
        }
        true
    }
}

/// Bytes that an entry holds.
fn memory(key: &Key, held: Option<&Held>, answers: &[Arc<Answer>]) -> usize {
    let of_held = |held: &Held| {
        let other = held.other.as_ref();
        held.tree.flat.memory()
            + other.map_or(0, |other| other.flat.memory())
            + held.source.len()
            + held.units.as_ref().map_or(0, |units| units.memory())
            + size_of::<Held>()
    };
    let of_answers: usize = answers.iter().map(|answer| answer.memory()).sum();
    held.map_or(0, of_held)
        + of_answers
        + key.0.as_os_str().len() * 2
        + size_of::<Entry>()
        + size_of::<Key>() * 2
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

    fn answer(pattern: &str, n_matches: usize, limit: usize) -> Answer {
        let found = Match {
            range: 0..4,
            root: 0,
            root_end: 1,
            captures: Vec::new(),
        };
        Answer {
            pattern: pattern.into(),
            matches: vec![found; n_matches],
            limit,
            near: true,
        }
    }

    #[test]
    fn an_entry_holds_for_one_state_of_the_file_and_one_language() {
        let cache = Cache::default();
        let path = Path::new("a.rs");
        cache.keep(path, "rust", stamp(9), held(Covered::Whole));
        cache.remember(path, "rust", stamp(9), answer("f", 1, 5));
        let known = cache.find(path, "rust", stamp(9), "f");
        assert_eq!(&known.held.expect("it was kept").source[..], b"f(x)");
        assert_eq!(known.answer.expect("it was kept").matches.len(), 1);
        let other = cache.find(path, "rust", stamp(9), "g");
        assert!(other.held.is_some() && other.answer.is_none());
        for (language, bytes) in [("rust", 8), ("c", 9)] {
            let known = cache.find(path, language, stamp(bytes), "f");
            assert!(known.held.is_none() && known.answer.is_none());
        }
        // What is known of another state is no part of a new entry.
        cache.remember(path, "rust", stamp(8), answer("g", 1, 5));
        let known = cache.find(path, "rust", stamp(8), "f");
        assert!(known.held.is_none() && known.answer.is_none());
        cache.keep(path, "rust", stamp(8), held(Covered::Whole));
        assert!(cache.find(path, "rust", stamp(8), "g").answer.is_some());
    }

    #[test]
    fn an_answer_serves_who_asks_for_no_more_than_it_knows() {
        assert!(answer("f", 3, 4).serves(usize::MAX));
        assert!(answer("f", 0, 1).serves(5));
        assert!(answer("f", 3, 3).serves(3));
        assert!(!answer("f", 3, 3).serves(4));
    }

    #[test]
    fn the_last_answers_of_a_file_are_kept() {
        let cache = Cache::default();
        let path = Path::new("a.rs");
        let names: Vec<String> = (0..=ANSWERS).map(|n| n.to_string()).collect();
        for name in &names {
            cache.remember(path, "rust", stamp(1), answer(name, 0, 1));
        }
        let is_known = |name: &str| cache.find(path, "rust", stamp(1), name).answer.is_some();
        assert!(!is_known(&names[0]) && is_known(&names[1]) && is_known(&names[ANSWERS]));
        let bytes = cache.bytes();
        cache.remember(path, "rust", stamp(1), answer(&names[ANSWERS], 0, 1));
        assert_eq!(cache.bytes(), bytes);
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
        let with_tree = probe.bytes();
        let probe = Cache::default();
        probe.remember(a, "rust", stamp(1), answer("f", 0, 1));
        let with_answer = probe.bytes();
        let probe = Cache::default();
        probe.remember(a, "rust", stamp(1), answer("f", 0, 1));
        probe.keep(a, "rust", stamp(1), whole());
        let with_both = probe.bytes();
        let knows = |cache: &Cache, path: &Path| {
            let known = cache.find(path, "rust", stamp(1), "f");
            (known.held.is_some(), known.answer.is_some())
        };
        let with_none = with_tree + with_answer - with_both;
        let cache = Cache::with_limit(2 * with_both + with_none);
        for path in [a, b] {
            cache.remember(path, "rust", stamp(1), answer("f", 0, 1));
            cache.keep(path, "rust", stamp(1), whole());
        }
        assert_eq!(cache.bytes(), 2 * with_both);
        assert_eq!(knows(&cache, a), (true, true));
        // The oldest tree goes, and what was found with it stays.
        cache.keep(c, "rust", stamp(1), whole());
        assert_eq!(cache.bytes(), with_both + with_answer + with_tree);
        assert_eq!(knows(&cache, c), (true, false));
        assert_eq!(knows(&cache, b), (false, true));
        assert_eq!(knows(&cache, a), (true, true));
        let small = Cache::with_limit(2 * with_answer);
        for path in [a, b, c] {
            small.remember(path, "rust", stamp(1), answer("f", 0, 1));
        }
        assert_eq!(small.bytes(), 2 * with_answer);
        assert_eq!(knows(&small, a), (false, false));
        assert_eq!(knows(&small, b), (false, true));
        let tiny = Cache::with_limit(with_answer - 1);
        tiny.remember(a, "rust", stamp(1), answer("f", 0, 1));
        assert_eq!(tiny.bytes(), 0);
    }
}
