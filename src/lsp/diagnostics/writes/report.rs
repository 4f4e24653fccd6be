//! What is told after a write.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::super::place::without_repeats;
use super::super::{Diagnostic, DiagnosticState};
use super::watch::Watch;
use crate::limits;

/// The diagnostics that are new after a write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriteReport {
    /// What is known of the written files: clean only where every server said so.
    pub state: DiagnosticState,
    /// What is new in files that the run wrote, sorted by place; the first of them.
    pub diagnostics: Vec<NewDiagnostic>,
    /// How many there are.
    pub total: usize,
    /// What is new in other files; the first of them.
    pub elsewhere: Vec<NewDiagnostic>,
    /// How many there are.
    pub elsewhere_total: usize,
    /// Which servers have not answered yet, and what they are doing.
    pub pending: BTreeSet<String>,
    /// Why there are no diagnostics: each reason once in a run, after that only whose they are.
    pub unavailable: Vec<String>,
    /// Whether the diagnostics may be older than the write: the server did not run before it.
    pub is_unsure: bool,
    /// Whether somebody else changed files before the write: what is new in other files may come from that.
    pub is_stirred: bool,
    #[serde(skip)]
    n_watched: usize,
    #[serde(skip)]
    n_found: usize,
    #[serde(skip)]
    n_unanswered: usize,
    #[serde(skip)]
    has_written: bool,
}

/// A diagnostic that appeared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewDiagnostic {
    /// The diagnostic.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// How many equal ones are new.
    pub count: usize,
    /// The function or class around it, where the server names one.
    pub symbol: Option<String>,
}

impl WriteReport {
    /// Takes note of why servers say nothing. Silence must not read as clean, also where the reason was told.
    pub(super) fn lacks(&mut self, servers: &str, why: String, told: &mut BTreeSet<String>) {
        let said = match told.insert(why.clone()) {
            true => why,
            false => format!("{servers}, as said before"),
        };
        if !self.unavailable.contains(&said) {
            self.unavailable.push(said);
        }
    }

    /// Takes note of what a written file has now.
    pub(super) fn note(&mut self, now: &[Diagnostic], watch: &Watch) {
        self.n_watched += 1;
        self.n_found += usize::from(!now.is_empty());
        self.n_unanswered += usize::from(!watch.is_answered());
    }

    /// Sorts, cuts and sums up.
    pub(super) fn close(&mut self, written: &[PathBuf]) {
        self.has_written = !written.is_empty();
        let by_place = |one: &NewDiagnostic, other: &NewDiagnostic| {
            let key = |new: &NewDiagnostic| (new.diagnostic.severity, new.diagnostic.clone());
            key(one).cmp(&key(other))
        };
        without_repeats(&mut self.elsewhere, |new| &new.diagnostic);
        self.diagnostics.sort_by(by_place);
        self.elsewhere.sort_by(by_place);
        self.total = self.diagnostics.len();
        self.elsewhere_total = self.elsewhere.len();
        self.diagnostics.truncate(limits::WRITE_SHOWN);
        self.elsewhere.truncate(limits::WRITE_ELSEWHERE);
        self.state = if self.total > 0 {
            DiagnosticState::Found
        } else if !self.pending.is_empty() {
            DiagnosticState::Pending
        } else if self.n_found > 0 {
            DiagnosticState::Found
        } else if self.n_unanswered > 0 || self.n_watched == 0 {
            DiagnosticState::Unavailable
        } else {
            DiagnosticState::Clean
        };
    }

    /// Whether the result of the call says anything of it, in its text or in its data.
    pub(super) fn is_worth_telling(&self) -> bool {
        let is_known = self.state != DiagnosticState::Unavailable;
        self.has_text() || (self.has_written && is_known)
    }

    /// Whether there is anything to read: a clean or unchanged file has nothing.
    pub fn has_text(&self) -> bool {
        let is_awaited = self.has_written && !self.pending.is_empty();
        self.total > 0 || self.elsewhere_total > 0 || is_awaited || !self.unavailable.is_empty()
    }
}

impl fmt::Display for WriteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sections = Vec::new();
        if self.total > 0 {
            let title = match self.is_unsure {
                false => "new diagnostics:",
                true => {
                    "diagnostics now (some may be older than this change: the server had not looked before):"
                }
            };
            sections.push(section(title, &self.diagnostics, self.total));
        }
        if self.elsewhere_total > 0 {
            let title = match self.is_stirred {
                false => "new diagnostics in other files:",
                true => {
                    "new diagnostics in other files (something else changed files before this, which may be the cause):"
                }
            };
            sections.push(section(title, &self.elsewhere, self.elsewhere_total));
        }
        if self.has_written && !self.pending.is_empty() {
            let pending: Vec<&str> = self.pending.iter().map(String::as_str).collect();
            sections.push(format!("diagnostics pending: {}", pending.join("; ")));
        }
        if !self.unavailable.is_empty() {
            let reasons = self.unavailable.join("; ");
            sections.push(format!("diagnostics unavailable: {reasons}"));
        }
        f.write_str(&sections.join("\n"))
    }
}

fn section(title: &str, diagnostics: &[NewDiagnostic], total: usize) -> String {
    let mut text = title.to_owned();
    for new in diagnostics {
        text.push('\n');
        text.push_str(&new.to_string());
    }
    if diagnostics.len() < total {
        text.push_str(&format!("\n… {} shown of {total}", diagnostics.len()));
    }
    text
}

impl fmt::Display for NewDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.diagnostic)?;
        if let Some(symbol) = &self.symbol {
            write!(f, " (in {symbol})")?;
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}
