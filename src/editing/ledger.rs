//! What a run has seen of each file: the hash of the content that it last read or wrote.
//!
//! A change is based on what its author has seen. Where the disk holds something else, the author must look
//! again (D35). The ledger also hands out turns, so that two changes that a run makes at once follow each
//! other instead of one finding the other's content. It watches commits of the run's other tools: a file
//! that was as the run knew it stays known after them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::files::{ContentHash, WriteObserver};

/// The contents that one run has seen, by real path.
#[derive(Debug, Default)]
pub struct Ledger {
    seen: Mutex<Seen>,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Seen {
    hashes: BTreeMap<PathBuf, ContentHash>,
    /// Files that a commit under way found as the run knew them.
    fresh: BTreeSet<PathBuf>,
}

/// The right to change files, one holder at a time.
#[derive(Debug)]
pub struct Turn<'a>(#[expect(dead_code, reason = "holding it is its use")] MutexGuard<'a, ()>);

impl Ledger {
    /// Records what was read from a file, or written to it.
    pub fn record(&self, path: &Path, hash: ContentHash) {
        let mut seen = self.lock();
        seen.hashes.insert(path.to_path_buf(), hash);
        seen.fresh.remove(path);
    }

    /// Forgets a file that is gone.
    pub fn forget(&self, path: &Path) {
        let mut seen = self.lock();
        seen.hashes.remove(path);
        seen.fresh.remove(path);
    }

    /// The content that the run last saw; none when it never saw the file.
    pub fn last_seen(&self, path: &Path) -> Option<ContentHash> {
        self.lock().hashes.get(path).copied()
    }

    /// Waits until no other change of this run is being made.
    ///
    /// Whoever holds the turn reads, compares and commits; the commit bounds its own time.
    pub fn turn(&self) -> Turn<'_> {
        Turn(self.turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteObserver for Ledger {
    fn before(&self, paths: &[PathBuf]) {
        for path in paths {
            let known = self.last_seen(path);
            let fresh = known.is_some() && ContentHash::of_file(path).ok() == known;
            let mut seen = self.lock();
            match fresh {
                true => seen.fresh.insert(path.clone()),
                false => seen.fresh.remove(path),
            };
        }
    }

    fn after(&self, paths: &[PathBuf]) {
        for path in paths {
            // Whoever recorded the file itself knows better and took the mark away.
            if !self.lock().fresh.contains(path) {
                continue;
            }
            match ContentHash::of_file(path) {
                Ok(hash) => self.record(path, hash),
                Err(_) => self.forget(path),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D35: a commit of another tool keeps a known file known, and makes no unknown or outdated one known.
    #[test]
    fn commits_of_other_tools_are_followed() {
        let temp = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = temp.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (known, outdated, unknown) = (file("a", "1"), file("b", "2"), file("c", "3"));
        let gone = file("d", "4");
        let ledger = Ledger::default();
        ledger.record(&known, ContentHash::of(b"1"));
        ledger.record(&outdated, ContentHash::of(b"older"));
        ledger.record(&gone, ContentHash::of(b"4"));
        let paths = [
            known.clone(),
            outdated.clone(),
            unknown.clone(),
            gone.clone(),
        ];
        ledger.before(&paths);
        for path in &paths {
            std::fs::write(path, "new").unwrap();
        }
        std::fs::remove_file(&gone).unwrap();
        ledger.after(&paths);
        assert_eq!(ledger.last_seen(&known), Some(ContentHash::of(b"new")));
        assert_eq!(ledger.last_seen(&outdated), Some(ContentHash::of(b"older")));
        assert_eq!(ledger.last_seen(&unknown), None);
        assert_eq!(ledger.last_seen(&gone), None);
    }
}
