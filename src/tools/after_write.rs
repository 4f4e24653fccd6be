//! Diagnostics on write: what the run's writes broke is part of their own results (R30 to R33).
//!
//! It is an observer of the one commit and knows no tool: whatever writes through the commit, its result
//! says what is new. It never fails a write and never changes a result that it has nothing to say about.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::cancel::Cancel;
use crate::files::WriteObserver;
use crate::lsp::Supervisor;
use crate::lsp::diagnostics::{Bounds, Diagnostic, Writes};
use crate::run::AfterWrite;
use crate::tool::Output;

/// The observer of one run; its ledger is that run's own (R34).
pub struct DiagnosticsOnWrite(Writes);

/// The key of the data under which the report stands.
const KEY: &str = "diagnostics";

/// The same beside an answer that lists diagnostics itself.
const KEY_BESIDE: &str = "new_diagnostics";

impl DiagnosticsOnWrite {
    /// Makes the observer over the language servers of the run.
    pub fn new(supervisor: Supervisor) -> Self {
        Self::with_bounds(supervisor, Bounds::default())
    }

    /// The same with bounds of the caller's.
    pub fn with_bounds(supervisor: Supervisor, bounds: Bounds) -> Self {
        Self(Writes::new(supervisor, bounds))
    }
}

impl WriteObserver for DiagnosticsOnWrite {
    fn before(&self, paths: &[PathBuf]) {
        self.0.before(paths);
    }

    fn after(&self, paths: &[PathBuf]) {
        self.0.after(paths);
    }

    fn renaming(&self, from: &str, to: &str) {
        self.0.renaming(from, to);
    }
}

impl AfterWrite for DiagnosticsOnWrite {
    fn append(&self, written: &[PathBuf], cancel: &Cancel, output: &mut Output) {
        let own = output.data.get(KEY).cloned();
        let listed = own.as_ref().and_then(Value::as_array);
        let is_listed = |diagnostic: &Diagnostic| {
            listed.into_iter().flatten().any(|own| {
                own["file"] == diagnostic.file
                    && own["line"] == diagnostic.line
                    && own["message"] == diagnostic.message
            })
        };
        let Some(report) = self.0.report(written, &is_listed, cancel) else {
            return;
        };
        let key = match own {
            Some(_) => KEY_BESIDE,
            None => KEY,
        };
        let Ok(data) = serde_json::to_value(&report) else {
            return;
        };
        if report.has_text() {
            output.append(key, &report.to_string(), data);
        } else if let Value::Object(map) = &mut output.data {
            map.insert(key.to_owned(), data);
        }
    }
}

impl fmt::Debug for DiagnosticsOnWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DiagnosticsOnWrite").field(&self.0).finish()
    }
}
