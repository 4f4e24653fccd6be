//! What can go wrong between a request and its answer.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// The server was asked, and this came of it instead of an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LspError {
    /// The server answered with an error.
    #[error("{server} answered {method} with error {code}: {}", one_line(message))]
    Refused {
        /// The server.
        server: String,
        /// The request.
        method: String,
        /// The code of the protocol.
        code: i64,
        /// The server's own words.
        message: String,
        /// What the server added.
        data: Option<Value>,
    },
    /// The server did not answer in time; the request was withdrawn.
    #[error("{server} did not answer {method} within {}", Seconds(*after))]
    TimedOut {
        /// The server.
        server: String,
        /// The request.
        method: String,
        /// How long it had.
        after: Duration,
    },
    /// The caller gave up; the request was withdrawn.
    #[error("the request was cancelled")]
    Cancelled,
    /// The server is gone.
    #[error("{server} is gone: {why}")]
    Gone {
        /// The server.
        server: String,
        /// How it ended, with the last that it said.
        why: String,
    },
    /// A file cannot be given to a server.
    #[error("cannot give '{}' to a language server: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// No server answers for a file, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The file.
    pub path: PathBuf,
    /// Each server that could serve the language, and what it lacks.
    pub reasons: Vec<Reason>,
    /// Whether the caller cancelled before that was known.
    pub cancelled: bool,
}

/// Why one server does not answer for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The id of the server.
    pub server: String,
    /// What it lacks.
    pub why: String,
}

/// `ContentModified`: the text changed while the server worked; the request may be repeated.
pub const CONTENT_MODIFIED: i64 = -32801;
/// `ServerCancelled`: the server gave the request up; a diagnostic pull may be repeated.
pub const SERVER_CANCELLED: i64 = -32802;
/// `RequestCancelled`.
pub const REQUEST_CANCELLED: i64 = -32800;
/// `MethodNotFound`.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// `ServerNotInitialized`.
pub const NOT_INITIALIZED: i64 = -32002;

impl LspError {
    /// Returns the code of an error that the server answered.
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::TimedOut { .. }
            | Self::Cancelled
            | Self::Gone { .. }
            | Self::Unreadable { .. } => None,
        }
    }

    pub(crate) fn unreadable(path: &Path, why: impl fmt::Display) -> Self {
        Self::Unreadable {
            path: path.to_path_buf(),
            why: why.to_string(),
        }
    }
}

impl std::error::Error for Unusable {}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        if self.reasons.is_empty() && self.path.is_dir() {
            return write!(
                f,
                "no language server is usable for the folder '{}': `status` says what each lacks",
                name.display()
            );
        }
        if self.reasons.is_empty() {
            return write!(f, "no language server is known for '{}'", name.display());
        }
        write!(f, "no language server is usable for '{}': ", name.display())?;
        for (n, reason) in self.reasons.iter().enumerate() {
            let comma = if n == 0 { "" } else { "; " };
            write!(f, "{comma}{}: {}", reason.server, reason.why)?;
        }
        Ok(())
    }
}

/// The words of a server in one line: some come with tabs and line ends for a window.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A duration as people read it.
pub(crate) struct Seconds(pub(crate) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        if seconds < 10.0 && seconds.fract() > 0.001 {
            write!(f, "{seconds:.1} s")
        } else {
            write!(f, "{seconds:.0} s")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_server_are_one_line() {
        let refused = LspError::Refused {
            server: "gopls".to_owned(),
            method: "textDocument/rename".to_owned(),
            code: 0,
            message: "renaming conflicts:\n\ta.go:3:5:\tdeclared here\n".to_owned(),
            data: None,
        };
        assert_eq!(
            refused.to_string(),
            "gopls answered textDocument/rename with error 0: renaming conflicts: a.go:3:5: declared here"
        );
    }
}
