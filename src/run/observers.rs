//! What is told about writes, and how it adds to a result.
//!
//! The commit calls one observer; a run composes it from a list and remembers what the call wrote, so that
//! a hook such as diagnostics on write can append to that call's own result without knowing any tool.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::cancel::Cancel;
use crate::files::WriteObserver;
use crate::tool::Output;

/// A write observer that also appends to results.
pub trait AfterWrite: WriteObserver {
    /// Looks at the result of every successful call. `written` is empty when the call wrote nothing: what
    /// came too late for an earlier result may be appended then (D6).
    fn append(&self, written: &[PathBuf], cancel: &Cancel, output: &mut Output);
}

/// Who watches the writes of a run, until it ends.
pub(super) struct Watching(RwLock<Watchers>);

/// The observers, and those of them that add to results.
#[derive(Clone, Default)]
pub(super) struct Watchers {
    pub(super) observers: Observers,
    pub(super) after_write: Vec<Arc<dyn AfterWrite>>,
}

impl Watching {
    pub(super) fn new(
        observers: Vec<Arc<dyn WriteObserver>>,
        after_write: Vec<Arc<dyn AfterWrite>>,
    ) -> Self {
        Self(RwLock::new(Watchers {
            observers: Observers::new(observers),
            after_write,
        }))
    }

    pub(super) fn now(&self) -> Watchers {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Lets go of them, outside of the lock: what they own may be processes.
    pub(super) fn end(&self) {
        let mut watchers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::take(&mut *watchers);
        drop(watchers);
        drop(ended);
    }
}

/// A list of observers that acts as one, in the order of the list.
#[derive(Clone, Default)]
pub struct Observers(Vec<Arc<dyn WriteObserver>>);

impl Observers {
    /// Composes the observers.
    pub fn new(observers: Vec<Arc<dyn WriteObserver>>) -> Self {
        Self(observers)
    }

    fn each(&self, tell: impl Fn(&dyn WriteObserver)) {
        for observer in &self.0 {
            // The commit is in the middle of its work: a failing observer must not take it down (D6).
            let _ = catch_unwind(AssertUnwindSafe(|| tell(&**observer)));
        }
    }
}

impl WriteObserver for Observers {
    fn before(&self, paths: &[PathBuf]) {
        self.each(|observer| observer.before(paths));
    }

    fn after(&self, paths: &[PathBuf]) {
        self.each(|observer| observer.after(paths));
    }

    fn renaming(&self, from: &str, to: &str) {
        self.each(|observer| observer.renaming(from, to));
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.0.len()).finish()
    }
}

/// Passes the writes of one call on and remembers them.
pub(crate) struct Recorder<'a> {
    observers: &'a Observers,
    written: Mutex<BTreeSet<PathBuf>>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(observers: &'a Observers) -> Self {
        Self {
            observers,
            written: Mutex::default(),
        }
    }

    /// Returns what the call wrote, sorted.
    pub(crate) fn into_written(self) -> Vec<PathBuf> {
        self.written
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .into_iter()
            .collect()
    }
}

impl WriteObserver for Recorder<'_> {
    fn before(&self, paths: &[PathBuf]) {
        self.observers.before(paths);
    }

    fn after(&self, paths: &[PathBuf]) {
        self.written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(paths.iter().cloned());
        self.observers.after(paths);
    }

    fn renaming(&self, from: &str, to: &str) {
        self.observers.renaming(from, to);
    }
}
