//! The steps of a commit as a test sees them, and how a step fails.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Is called before every step that is visible outside, with its name and its number in this run.
///
/// A test kills the process there, changes the world, or returns the error that the step shall have.
pub type Probe = Arc<dyn Fn(&'static str, usize) -> io::Result<()> + Send + Sync>;

/// Counts steps and carries the probe.
pub(super) struct Steps<'a> {
    probe: Option<&'a Probe>,
    count: Cell<usize>,
}

/// One step that failed.
#[derive(Debug)]
pub(super) enum Fail {
    /// The system said no.
    Io {
        step: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Somebody changed the slot of this number after it was checked.
    Stale { slot_idx: usize },
}

impl<'a> Steps<'a> {
    pub(super) fn new(probe: Option<&'a Probe>) -> Self {
        Self {
            probe,
            count: Cell::new(0),
        }
    }

    /// Runs one visible step on `path`.
    pub(super) fn run<T>(
        &self,
        step: &'static str,
        path: &Path,
        act: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, Fail> {
        let number = self.count.get();
        self.count.set(number + 1);
        self.probe
            .map_or(Ok(()), |probe| probe(step, number))
            .and_then(|()| act())
            .map_err(|source| Fail::Io {
                step,
                path: path.to_path_buf(),
                source,
            })
    }
}
