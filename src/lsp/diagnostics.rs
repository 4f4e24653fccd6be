//! Diagnostics as they are told: errors and warnings, with places as people count them.
//!
//! [`diagnostics_of`] answers for one file now, [`Writes`] tells after a write what is new.

mod file;
pub(crate) mod place;
mod writes;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

pub use file::{FileDiagnostics, diagnostics_of};
pub use writes::{Bounds, NewDiagnostic, WriteReport, Writes};

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
    /// The file as answers show it.
    pub file: String,
    /// The line, from 1; 0 for a diagnostic of the file or project as a whole.
    pub line: usize,
    /// The column in Unicode scalar values, from 1.
    pub column: usize,
    /// How bad it is.
    pub severity: Severity,
    /// The code in the words of its source, such as `E0308`.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Who says so, such as `rustc`.
    pub source: Option<String>,
}

/// What is known about the diagnostics of a file or a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticState {
    /// Somebody who knows said that there are none.
    Clean,
    /// There are some.
    Found,
    /// Whoever knows has not answered yet: silence is not clean (D2).
    Pending,
    /// Nobody there knows.
    #[default]
    Unavailable,
}

/// How bad a diagnostic is; information and hints are not told (D2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It does not build.
    Error,
    /// It builds, and is probably wrong.
    Warning,
}

impl Severity {
    /// Reads the number of the protocol; a server that gives none means an error. `None` for what is not
    /// told.
    pub fn of_number(number: Option<i64>) -> Option<Self> {
        match number {
            None | Some(1) => Some(Self::Error),
            Some(2) => Some(Self::Warning),
            Some(_) => None,
        }
    }

    /// The word that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Diagnostic {
    /// One line, `file:line:column: severity[code]: message`, and indented lines for the rest of a long
    /// message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        write!(f, " {}", self.severity)?;
        if let Some(code) = &self.code {
            write!(f, "[{code}]")?;
        }
        let mut lines = self.message.lines().filter(|line| !line.trim().is_empty());
        write!(f, ": {}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| write!(f, "\n    {line}"))
    }
}
