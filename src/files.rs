//! Placeholder of the write observer; the commit replaces it.

use std::path::PathBuf;

/// Is told about the paths that a commit is about to change and has changed.
pub trait WriteObserver: Send + Sync {
    /// Runs under the commit's lock before the first change.
    fn before(&self, paths: &[PathBuf]);
    /// Runs after the last change.
    fn after(&self, paths: &[PathBuf]);
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl WriteObserver for NoObserver {
    fn before(&self, _paths: &[PathBuf]) {}
    fn after(&self, _paths: &[PathBuf]) {}
}
