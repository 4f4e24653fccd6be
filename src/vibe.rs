//! Background workers: a roster of them per run, and the worker that is a command line.
//!
//! A [`Roster`] owns its workers. Each works through turns on a thread of its own: a turn gets the brief and
//! every later message, and comes to a result, which is delivered once. What a turn is stands behind the
//! trait [`Worker`]; [`CommandWorker`] runs a configured command, so that any agent with a command line is
//! one. Killing a worker, closing the roster and dropping it end the whole process tree. This module knows
//! no tool and decides nothing about what a worker may do: the gate is on the worker's own tools (R130).

mod command;
mod identity;
mod keeper;
mod report;
mod ring;
mod roster;
mod template;

use std::fmt;
use std::path::Path;

use serde::Serialize;

pub use crate::vibe::command::{CommandOptions, CommandWorker, ResultFrom, Way};
pub use crate::vibe::report::{Note, VibeReport, WorkerView};
pub use crate::vibe::ring::Ring;
pub use crate::vibe::roster::{Roster, RosterHandle, RosterOptions};

use crate::cancel::Cancel;
use crate::limits;

/// One kind of worker.
pub trait Worker: Send + Sync + fmt::Debug {
    /// Tells before a worker is spawned why none of this kind can work, such as a program that is missing.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Does one turn.
    ///
    /// It returns when the turn has ended, or soon after the cancel of the turn, and has ended by then
    /// whatever it started.
    fn turn(&self, turn: &Turn<'_>) -> Outcome;
}

/// What a worker is told for one turn, and where it writes.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The id of the worker, such as `worker_1`.
    pub id: &'a str,
    /// A few words about what it does.
    pub label: &'a str,
    /// Its kind.
    pub tier: WorkerTier,
    /// A UUID that stays the same in all turns of the worker and is no other worker's.
    pub conversation: &'a str,
    /// Counts up from 1.
    pub number: usize,
    /// What it was spawned with.
    pub brief: &'a str,
    /// All later messages, the oldest first.
    pub messages: &'a [String],
    /// How many of them, the last ones, no earlier turn has seen.
    pub n_new: usize,
    /// A folder for files of this worker; it goes with the roster.
    pub folder: &'a Path,
    /// Where what it prints is kept.
    pub output: &'a Ring,
    /// Tells it to stop.
    pub cancel: &'a Cancel,
}

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The work is done; this is the result.
    Done(String),
    /// The worker waits for more instructions; this is what it has to say.
    Idle(String),
    /// It failed; this is why.
    Failed(String),
}

/// The kinds of workers (R136).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerTier {
    /// Mechanical work with a clear spec.
    #[default]
    Fast,
    /// Design, judgement, or review of a fast worker's output.
    Good,
}

impl WorkerTier {
    /// Returns the name that arguments and configurations use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Good => "good",
        }
    }
}

impl fmt::Display for WorkerTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerStatus {
    /// It works, or is about to work through messages that came meanwhile.
    Running,
    /// It waits for more instructions.
    Idle,
    /// Its last turn succeeded.
    Done,
    /// Its last turn failed.
    Failed,
    /// Somebody killed it; nothing wakes it again.
    Killed,
}

impl fmt::Display for WorkerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Killed => "killed",
        })
    }
}

/// Why a roster did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VibeError {
    /// Nothing to do.
    #[error("{0} is blank")]
    Blank(&'static str),
    /// No program takes a NUL.
    #[error("{0} holds a NUL character")]
    Nul(&'static str),
    /// A text over the limit.
    #[error("{what} has {bytes} bytes; the limit is {limit}", limit = limits::VIBE_TEXT_BYTES)]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// No kind of worker is configured for a tier.
    #[error("no {0} worker is configured")]
    NoWorker(WorkerTier),
    /// The configured worker cannot work.
    #[error("the {tier} worker cannot start: {reason}")]
    Unusable {
        /// Its kind.
        tier: WorkerTier,
        /// What is wrong.
        reason: String,
    },
    /// So many run already.
    #[error("{} workers run already", limits::VIBE_WORKERS)]
    TooMany,
    /// No worker has this id.
    #[error("no worker '{id}'")]
    Unknown {
        /// The id.
        id: String,
        /// The ids there are.
        known: Vec<String>,
    },
    /// The worker was killed, so nothing can be sent to it.
    #[error("worker '{id}' was killed")]
    Killed {
        /// Its id.
        id: String,
        /// The ids of those that live.
        known: Vec<String>,
    },
    /// The roster was closed: the mode was left, or the run has ended.
    #[error("vibe mode has been left")]
    Closed,
    /// The call was cancelled; the workers go on.
    #[error("the wait was cancelled")]
    Cancelled,
    /// The system refused.
    #[error("cannot start a worker: {0}")]
    System(String),
}
