//! What changed on disk behind the servers: by an editor, by `sed`, by a checkout.
//!
//! The tree is looked at before every question, not watched: what a question finds is then what the disk
//! holds at that moment, and nothing runs while nobody asks. Only where the disk itself is slow a look is
//! left out now and then, and the answer says so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::limits;
use crate::lsp::client::FileChange;
use crate::lsp::error::Seconds;
use crate::lsp::supervisor::Inner;
use crate::lsp::supervisor::tree::{Scope, Tree};

/// How the files looked last time; nothing before the first server.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(Option<Seen>);

#[derive(Debug)]
struct Seen {
    tree: Tree,
    when: Instant,
    cost: Duration,
    /// What changed since [`Inner::touched`] was asked.
    touched: BTreeSet<PathBuf>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// What changed since the last look.
    pub(crate) changes: Vec<(PathBuf, FileChange)>,
    /// Why this one was left out, if it was.
    pub(crate) stale: Option<String>,
}

impl Inner {
    /// Looks at the tree for the first time, before a server does; later changes count from here.
    pub(crate) fn first_look(&self) {
        let mut snapshot = self.snapshot();
        if snapshot.0.is_none() {
            let began = Instant::now();
            let tree = self.in_scope(Tree::read);
            snapshot.0 = Some(Seen {
                tree,
                when: Instant::now(),
                cost: began.elapsed().min(limits::LSP_DEAR_LOOK),
                touched: BTreeSet::new(),
            });
        }
    }

    /// Returns which files changed since the last look.
    pub(crate) fn changes(&self) -> Look {
        let mut snapshot = self.snapshot();
        // Without a first look no server was started.
        let Some(seen) = &mut snapshot.0 else {
            return Look::default();
        };
        let since = seen.when.elapsed();
        if let Some(stale) = left_out(seen.cost, since) {
            return Look {
                changes: Vec::new(),
                stale: Some(stale),
            };
        }
        let began = Instant::now();
        let changes = self.in_scope(|scope| seen.tree.look(scope));
        seen.touched
            .extend(changes.iter().map(|(path, _)| path.clone()));
        seen.cost = began.elapsed();
        seen.when = Instant::now();
        Look {
            changes,
            stale: None,
        }
    }

    /// Returns how many files are not looked at, because there are too many.
    pub(crate) fn n_unseen(&self) -> usize {
        self.snapshot()
            .0
            .as_ref()
            .map_or(0, |seen| seen.tree.n_unseen())
    }

    /// Returns the files that changed since this was asked last, whether the servers have heard of it or not;
    /// those of the run itself are among them.
    pub(crate) fn touched(&self) -> BTreeSet<PathBuf> {
        let mut snapshot = self.snapshot();
        let Some(seen) = &mut snapshot.0 else {
            return BTreeSet::new();
        };
        let mut touched = std::mem::take(&mut seen.touched);
        // Where looking is dear, what the questions find has to do.
        if seen.cost <= limits::LSP_DEAR_LOOK {
            touched.extend(seen.tree.differing());
        }
        touched
    }

    /// Returns the files below a folder as they were at the last look, sorted, and how many were not looked at.
    pub(crate) fn files_below(&self, folder: &Path) -> (Vec<PathBuf>, usize) {
        let snapshot = self.snapshot();
        snapshot.0.as_ref().map_or((Vec::new(), 0), |seen| {
            let below = seen.tree.files().filter(|file| file.starts_with(folder));
            (below.map(Path::to_path_buf).collect(), seen.tree.n_unseen())
        })
    }

    fn snapshot(&self) -> MutexGuard<'_, Snapshot> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_scope<T>(&self, with: impl FnOnce(&Scope<'_>) -> T) -> T {
        let workspace = &self.detector.workspace;
        let mut roots = vec![workspace.root().to_path_buf()];
        roots.extend(workspace.extra_roots().iter().cloned());
        with(&Scope {
            roots: &roots,
            takes: &|path: &Path| self.detector.is_relevant(path),
            max_files: limits::LSP_SCANNED_FILES,
        })
    }
}

/// Says that a look is left out, where the last one was dear and as much time has not passed since.
fn left_out(cost: Duration, since: Duration) -> Option<String> {
    (cost > limits::LSP_DEAR_LOOK && since < cost).then(|| {
        format!(
            "files that are not open were looked at {} ago, which took {}; later changes of them are not known",
            Seconds(since),
            Seconds(cost)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // A look is left out only after a dear one, for as long as that took, and the answer says so.
    #[test]
    fn a_dear_look_is_followed_by_a_rest() {
        let (dear, brief) = (limits::LSP_DEAR_LOOK, Duration::from_millis(1));
        assert_eq!(left_out(dear, Duration::ZERO), None);
        let said = left_out(dear + brief, dear).expect("it rests");
        assert!(
            said.contains("later changes of them are not known"),
            "{said}"
        );
        assert_eq!(left_out(dear + brief, dear + brief), None);
    }
}
