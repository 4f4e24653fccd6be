//! What changed on disk behind the servers: by an editor, by `sed`, by a checkout.
//!
//! The tree is looked at before a question, not watched: what a question finds is then what the disk holds
//! at that moment, and nothing runs while nobody asks. Where a look takes long it is not taken each time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::FileChange;
use crate::lsp::documents::Stamp;
use crate::lsp::supervisor::Inner;
use crate::walk::{WalkOptions, walk};

/// How the files looked last time.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    files: BTreeMap<PathBuf, Stamp>,
    taken: Option<Instant>,
    cost: Duration,
}

/// A tree of so few files is looked at before every question.
const FEW_FILES: usize = 1_000;

/// A look that took less is taken before every question.
const CHEAP: Duration = Duration::from_millis(20);

/// A dearer one again only after so many times what it took.
const REST: u32 = 10;

impl Inner {
    /// Looks at the tree for the first time, before a server does; later changes count from here.
    pub(crate) fn first_look(&self) {
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        if snapshot.taken.is_none() {
            let began = Instant::now();
            snapshot.files = self.stamps();
            snapshot.cost = began.elapsed();
            snapshot.taken = Some(Instant::now());
        }
    }

    /// Returns which files changed since the last look; nothing where it is too early for another.
    pub(crate) fn changes(&self) -> Vec<(PathBuf, FileChange)> {
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a first look no server was started.
        let Some(taken) = snapshot.taken else {
            return Vec::new();
        };
        // Few files are looked at every time: only a busy machine makes that slow.
        let is_large = snapshot.files.len() > FEW_FILES;
        if is_large && snapshot.cost >= CHEAP && taken.elapsed() < snapshot.cost * REST {
            return Vec::new();
        }
        let began = Instant::now();
        let now = self.stamps();
        let changes = differences(&snapshot.files, &now);
        snapshot.files = now;
        snapshot.cost = began.elapsed();
        snapshot.taken = Some(Instant::now());
        changes
    }

    fn stamps(&self) -> BTreeMap<PathBuf, Stamp> {
        let workspace = &self.detector.workspace;
        let mut roots = vec![workspace.root().to_path_buf()];
        roots.extend(workspace.extra_roots().iter().cloned());
        let options = WalkOptions::default();
        let served = |path: &Path| self.detector.is_relevant(path);
        let Ok(walked) = walk(&roots, &options, &served, &Cancel::new()) else {
            return BTreeMap::new();
        };
        let files = walked.files.into_iter().take(limits::LSP_SCANNED_FILES);
        files
            .filter_map(|path| Stamp::of(&path).map(|stamp| (path, stamp)))
            .collect()
    }
}

fn differences(
    before: &BTreeMap<PathBuf, Stamp>,
    now: &BTreeMap<PathBuf, Stamp>,
) -> Vec<(PathBuf, FileChange)> {
    let mut changes = Vec::new();
    for (path, stamp) in now {
        match before.get(path) {
            None => changes.push((path.clone(), FileChange::Created)),
            Some(old) if old != stamp => changes.push((path.clone(), FileChange::Changed)),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    changes.extend(gone.map(|path| (path.clone(), FileChange::Deleted)));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_changed_or_gone_is_told() {
        let temp = tempfile::tempdir().expect("a folder");
        let stamp = |text: &str| {
            let path = temp.path().join("f");
            std::fs::write(&path, text).expect("writable");
            Stamp::of(&path).expect("it exists")
        };
        let (one, two) = (stamp("1"), stamp("22"));
        let map = |pairs: &[(&str, Stamp)]| {
            pairs
                .iter()
                .map(|(path, stamp)| (PathBuf::from(path), *stamp))
                .collect()
        };
        let before = map(&[("/a", one), ("/b", one), ("/c", one)]);
        let now = map(&[("/a", one), ("/b", two), ("/d", one)]);
        let expected = [
            (PathBuf::from("/b"), FileChange::Changed),
            (PathBuf::from("/d"), FileChange::Created),
            (PathBuf::from("/c"), FileChange::Deleted),
        ];
        assert_eq!(differences(&before, &now), expected);
        assert_eq!(differences(&now, &now), []);
    }
}
