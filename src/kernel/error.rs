//! Why a cell could not be run at all. What a cell itself does wrong is a report.

use std::io;

/// No interpreter runs the cell.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// No interpreter was found.
    #[error("no {program} was found: {looked}")]
    NoInterpreter {
        /// The program that is missing.
        program: &'static str,
        /// Where it was looked for.
        looked: String,
    },
    /// The interpreter could not be started.
    #[error("cannot start {program}")]
    Spawn {
        /// The interpreter, or the command of the enclosure.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The interpreter ended or was silent before it was ready.
    #[error("{program} did not become ready: {ended}{}", tail(said))]
    NotReady {
        /// The interpreter.
        program: String,
        /// How it ended, or that it did not answer.
        ended: String,
        /// What it wrote meanwhile.
        said: String,
    },
    /// The command that leads into the enclosure ended before the interpreter was ready (D41).
    #[error(
        "the enclosure does not run: `{prefix}` ended with {ended}{}",
        tail(said)
    )]
    NoEnclosure {
        /// The command.
        prefix: String,
        /// How it ended.
        ended: String,
        /// What it wrote.
        said: String,
    },
    /// The call was cancelled before the cell began.
    #[error("cancelled before the cell began")]
    Cancelled,
    /// A pipe or thread of the host failed.
    #[error("cannot talk to the interpreter")]
    Io(#[from] io::Error),
}

fn tail(said: &str) -> String {
    let said = said.trim();
    if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    }
}
