//! Persistent interpreters: Python and JavaScript cells whose state survives between calls.
//!
//! A kernel is a child process that this engine drives over pipes of its own: cells go in, and output,
//! displays, bridged calls and results come out, in the order in which they happened. Frames travel on
//! private copies of descriptors that were made before any code of a user ran; descriptors 0, 1 and 2 of
//! the interpreter are others, so that nothing a cell prints can reach or imitate the protocol (R110). The
//! engine knows no tool: what a cell calls goes to a [`CellHost`].

mod conversation;
mod error;
mod interpreter;
mod prelude;
mod present;
mod process;
mod protocol;
mod report;
mod script;
mod transcript;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use serde_json::Value;

pub use error::KernelError;
pub use report::{CellError, CellReport, CellStatus, Display, Picture, StopReason};

use crate::cancel::Cancel;
use crate::child::{Env, Processes};
use crate::kernel::conversation::Conversation;
use crate::kernel::interpreter::Interpreter;
use crate::kernel::process::Kernel;
use crate::limits;

/// The interpreters of one run, one for each language; dropping it ends them.
#[derive(Debug)]
pub struct Kernels {
    processes: Processes,
    options: KernelOptions,
    python: Mutex<Seat>,
    javascript: Mutex<Seat>,
}

/// How interpreters are found and started, and how long they may be silent.
#[derive(Clone, Debug)]
pub struct KernelOptions {
    /// The folder in which cells run, and where `.venv` is looked for.
    pub folder: PathBuf,
    /// The environment of the interpreters; its `PATH` is searched.
    pub env: Env,
    /// The value of `VIRTUAL_ENV`.
    pub virtual_env: Option<PathBuf>,
    /// The Python to use, whatever else is there.
    pub python: Option<PathBuf>,
    /// The Node.js to use, whatever else is there.
    pub node: Option<PathBuf>,
    /// The command that a program inside the conversation's enclosure is started with, such as
    /// `docker exec -i NAME`; empty when there is no enclosure (R113). It is never used to start one.
    pub enclosure: Vec<String>,
    /// How long a cell may neither print nor show anything nor wait for a tool (D23); `None` is for ever.
    pub budget: Option<Duration>,
    /// How long an interrupted cell has before its interpreter is killed (D23).
    pub grace: Duration,
    /// How long an interpreter may take to start.
    pub start: Duration,
    /// Where output that is too long for an answer is kept whole; without it the middle is dropped.
    pub spill: Option<PathBuf>,
}

/// The language of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// Python 3.8 and later.
    #[default]
    Python,
    /// JavaScript, on Node.js 18 and later.
    JavaScript,
}

/// One piece of code to run.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The code.
    pub code: &'a str,
    /// Its language.
    pub language: Language,
    /// Whether the interpreter is thrown away first (R101).
    pub reset: bool,
    /// Another budget than that of the options for this cell; `Some(None)` is for ever.
    pub budget: Option<Option<Duration>>,
}

/// Runs what cells call.
pub trait CellHost: Send + Sync {
    /// Calls a tool by name; it may block, and should return soon after `cancel`. A call that does not is
    /// left behind once its cell has ended and the grace is over.
    fn call(&self, name: &str, args: Value, cancel: Cancel) -> Result<CallReply, CallFailure>;
}

/// What a bridged call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallReply {
    /// The text; a call without text gives its data to the cell.
    pub text: String,
    /// The data.
    pub data: Value,
    /// Pictures.
    pub images: Vec<Picture>,
}

/// Why a bridged call failed; the cell raises it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The kind of error.
    pub kind: String,
    /// The tool's own words.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// The place of one language: its kernel, and how the last one ended.
#[derive(Debug, Default)]
struct Seat {
    kernel: Option<Kernel>,
    n_started: u64,
}

impl KernelOptions {
    /// Makes options with the limits of the product, for this folder and environment.
    pub fn new(folder: impl Into<PathBuf>, env: Env) -> Self {
        Self {
            folder: folder.into(),
            env,
            virtual_env: None,
            python: None,
            node: None,
            enclosure: Vec::new(),
            budget: Some(limits::CELL_BUDGET),
            grace: limits::CELL_GRACE,
            start: limits::KERNEL_START,
            spill: None,
        }
    }
}

impl Language {
    /// Returns the name that the arguments use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
        }
    }
}

impl Kernels {
    /// Makes the interpreters of a run; none is started yet.
    pub fn new(processes: Processes, options: KernelOptions) -> Self {
        Self {
            processes,
            options,
            python: Mutex::default(),
            javascript: Mutex::default(),
        }
    }

    /// Returns how interpreters are started.
    pub fn options(&self) -> &KernelOptions {
        &self.options
    }

    /// Runs a cell to its end, whatever that is, and says what came of it.
    ///
    /// A cell that raises, is interrupted or takes its interpreter along is a report, no error (D25).
    /// Cells of one language run one after the other.
    pub fn run(
        &self,
        cell: &Cell<'_>,
        host: &Arc<dyn CellHost>,
        cancel: &Cancel,
    ) -> Result<CellReport, KernelError> {
        let mut seat = self.seat(cell.language);
        let mut note = None;
        if cell.reset
            && let Some(kernel) = seat.kernel.take()
        {
            kernel.close();
            note = Some("the interpreter was reset: earlier variables are gone".to_owned());
        }
        if let Some(exit) = seat.kernel.as_ref().and_then(Kernel::exit) {
            seat.kernel = None;
            note = Some(format!(
                "the interpreter had ended between two cells ({exit}): this is a new one, and earlier \
                 variables are gone"
            ));
        }
        let kernel = match seat.kernel.take() {
            Some(kernel) => kernel,
            None => {
                let interpreter = Interpreter::find(cell.language, &self.options)?;
                let kernel = Kernel::start(&self.processes, &self.options, &interpreter, cancel)?;
                seat.n_started += 1;
                kernel
            }
        };
        let conversation = Conversation::new(kernel, &self.options, host, cancel);
        let (report, kernel) = conversation.run(cell)?;
        seat.kernel = kernel;
        let notes: Vec<String> = note.into_iter().chain(report.note).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(CellReport { note, ..report })
    }

    /// Returns the languages whose interpreter lives, and whether a cell runs in it; it waits for none.
    pub fn live(&self) -> Vec<(Language, bool)> {
        let seats = [
            (Language::Python, &self.python),
            (Language::JavaScript, &self.javascript),
        ];
        let standing = |(language, seat): (Language, &Mutex<Seat>)| match seat.try_lock() {
            Ok(seat) => idle(&seat).then_some((language, false)),
            Err(TryLockError::Poisoned(seat)) => {
                idle(&seat.into_inner()).then_some((language, false))
            }
            Err(TryLockError::WouldBlock) => Some((language, true)),
        };
        seats.into_iter().filter_map(standing).collect()
    }

    /// Ends the interpreter of a language, if one runs.
    pub fn reset(&self, language: Language) {
        let kernel = self.seat(language).kernel.take();
        if let Some(kernel) = kernel {
            kernel.close();
        }
    }

    fn seat(&self, language: Language) -> MutexGuard<'_, Seat> {
        // The lock is held while a cell runs: that is what makes cells of one language queue.
        let seat = match language {
            Language::Python => &self.python,
            Language::JavaScript => &self.javascript,
        };
        seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an interpreter waits here for its next cell.
fn idle(seat: &Seat) -> bool {
    let kernel = seat.kernel.as_ref();
    kernel.is_some_and(|kernel| kernel.exit().is_none())
}

impl Drop for Kernels {
    fn drop(&mut self) {
        for language in [Language::Python, Language::JavaScript] {
            self.reset(language);
        }
    }
}
