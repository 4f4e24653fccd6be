//! What can go wrong in a debug session.

use std::io;
use std::time::Duration;

/// Why a request to an adapter brought no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The adapter said no, in these words.
    Refused(String),
    /// The adapter is gone.
    Gone(String),
}

/// An operation of a debug session failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DapError {
    /// The arguments do not fit.
    #[error("{message}")]
    BadArguments {
        /// What does not fit.
        message: String,
        /// What would.
        hint: String,
    },
    /// What the arguments name is not there.
    #[error("{message}")]
    NotFound {
        /// What is missing.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// No adapter can debug this here.
    #[error("no debug adapter is usable for {what}: {}", reasons.join("; "))]
    Unavailable {
        /// What was to be debugged.
        what: String,
        /// Why each adapter is not usable.
        reasons: Vec<String>,
    },
    /// No session was started.
    #[error("no debug session is running")]
    NoSession,
    /// The session has ended; it ended this way.
    #[error("the debug session has ended: {0}")]
    Ended(String),
    /// The session outlived its time.
    #[error(
        "the debug session expired: a session lives {} minutes from its launch or attach",
        .0.as_secs() / 60
    )]
    Expired(Duration),
    /// A session of this conversation lives.
    #[error("a debug session of {program} is {state}: one conversation has one session")]
    SessionLives {
        /// What is debugged.
        program: String,
        /// How far it is.
        state: &'static str,
    },
    /// The debuggee runs, and the operation needs it stopped.
    #[error("the program is running: {0} needs it stopped")]
    Running(&'static str),
    /// An identifier from before the program went on.
    #[error("{noun} {id} is from before the program went on: it names nothing any more")]
    Stale {
        /// What it was.
        noun: &'static str,
        /// The identifier.
        id: i64,
    },
    /// The adapter lacks what the operation needs.
    #[error("the adapter {adapter} has no {feature}")]
    Unsupported {
        /// The adapter.
        adapter: String,
        /// What it lacks.
        feature: String,
    },
    /// The adapter refused a request.
    #[error("the adapter refused {command}: {words}{}", quoted(said))]
    Refused {
        /// The request.
        command: String,
        /// Its reason.
        words: String,
        /// What it wrote besides.
        said: String,
    },
    /// The adapter ended.
    #[error("the adapter ended while {during}: {words}{}", quoted(said))]
    Died {
        /// What was being done.
        during: String,
        /// How it ended.
        words: String,
        /// What it wrote before.
        said: String,
    },
    /// The adapter did not answer in time.
    #[error("the adapter did not answer within {} s while {during}{}", after.as_secs(), quoted(said))]
    Timeout {
        /// What was being done.
        during: String,
        /// How long it was waited for.
        after: Duration,
        /// What it wrote meanwhile.
        said: String,
    },
    /// The program could not be built.
    #[error("the build failed, nothing was launched:\n{0}")]
    Build(String),
    /// Somebody cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// The system did not do it.
    #[error("cannot {doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl DapError {
    pub(crate) fn bad(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::BadArguments {
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotFound {
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }
}

/// What a program wrote, as a paragraph of its own.
fn quoted(said: &str) -> String {
    let said = said.trim_end();
    if said.is_empty() {
        String::new()
    } else {
        format!("\n{said}")
    }
}
