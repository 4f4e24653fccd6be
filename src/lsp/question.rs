//! One question to the servers: the file brought up to date, the symbol found, the server ready.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::{Readiness, Server};
use crate::lsp::convert::Lines;
use crate::lsp::error::{LspError, Unusable};
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::{self, SymbolError, Target};
use crate::lsp::uri;

/// Why a question has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AskError {
    /// No server answers for the file.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// The symbol is not there.
    #[error(transparent)]
    Symbol(#[from] SymbolError),
    /// The server failed.
    #[error(transparent)]
    Server(#[from] LspError),
    /// The server does not offer this.
    #[error("{server} does not offer {what}")]
    NotOffered {
        /// The server.
        server: String,
        /// What was asked of it.
        what: &'static str,
    },
}

/// A symbol as callers address it: a line, from 1, and a substring of it.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The file, resolved.
    pub path: &'a Path,
    /// The line, from 1.
    pub line: usize,
    /// A substring of the line whose leading path ends with the name, or `name#2`.
    pub symbol: &'a str,
}

/// A file that a server is ready to answer about.
#[derive(Debug)]
pub struct Opened {
    /// The server that answers.
    pub server: Arc<Server>,
    /// The file.
    pub path: PathBuf,
    /// The text that the server has.
    pub text: Arc<str>,
    /// Whether its answers are whole.
    pub readiness: Readiness,
    /// Why closed files were not looked at, if they were not.
    pub stale: Option<String>,
    /// An open file of each further project that was loaded for the question.
    pub beside: Vec<PathBuf>,
    /// When the question began.
    pub begun: Instant,
}

/// Why an answer may miss something; as JSON it is the reason alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    why: String,
    /// Whether the same question may have a whole answer later.
    passes: bool,
}

impl Supervisor {
    /// Brings the servers up to the disk, opens a file with the one that answers for it, and waits until
    /// that has loaded.
    pub fn open(&self, path: &Path, cancel: &Cancel) -> Result<Opened, AskError> {
        self.open_since(path, Instant::now(), cancel)
    }

    /// The same for a question that was begun before, and has the rest of its time.
    pub(crate) fn open_since(
        &self,
        path: &Path,
        begun: Instant,
        cancel: &Cancel,
    ) -> Result<Opened, AskError> {
        let mut opened = self.open_now_since(path, begun, cancel)?;
        let deadline = self.ready_deadline(begun);
        opened.readiness = opened.server.wait_ready(path, deadline, cancel)?;
        Ok(opened)
    }

    /// The same without the wait, for what needs no more than the file itself.
    pub fn open_now(&self, path: &Path, cancel: &Cancel) -> Result<Opened, AskError> {
        self.open_now_since(path, Instant::now(), cancel)
    }

    fn open_now_since(
        &self,
        path: &Path,
        begun: Instant,
        cancel: &Cancel,
    ) -> Result<Opened, AskError> {
        let deadline = self.start_deadline(begun);
        let server = within(deadline, cancel, |stop| self.server_for(path, stop));
        let server = server.map_err(|unusable| match unusable.reasons.last() {
            Some(last) if unusable.cancelled && !cancel.is_cancelled() => {
                AskError::Server(LspError::TimedOut {
                    server: last.server.clone(),
                    method: "initialize".to_owned(),
                    after: begun.elapsed(),
                })
            }
            _ => unusable.into(),
        })?;
        self.open_with(server, path, begun, cancel)
    }

    /// Opens a file that no server answers for with the first linter that offers something; the error is
    /// that of the servers where none does.
    pub(crate) fn open_linted(
        &self,
        path: &Path,
        begun: Instant,
        (provider, method): (&str, &str),
        unusable: Unusable,
        cancel: &Cancel,
    ) -> Result<Opened, AskError> {
        let deadline = self.start_deadline(begun);
        let linters = within(deadline, cancel, |stop| self.linters_for(path, stop));
        let mut linters = linters.into_iter();
        match linters.find(|linter| linter.supports(provider, method)) {
            Some(linter) => self.open_with(linter, path, begun, cancel),
            None => Err(unusable.into()),
        }
    }

    fn open_with(
        &self,
        server: Arc<Server>,
        path: &Path,
        begun: Instant,
        cancel: &Cancel,
    ) -> Result<Opened, AskError> {
        let deadline = self.start_deadline(begun);
        let stale = within(deadline, cancel, |stop| {
            let stale = self.refresh(stop);
            let is_late = stop.is_cancelled() && !cancel.is_cancelled();
            let late = "what others changed on disk is not taken in yet";
            stale.or_else(|| is_late.then(|| late.to_owned()))
        });
        let synced = server.sync(path)?;
        Ok(Opened {
            readiness: server.readiness(),
            server,
            path: path.to_path_buf(),
            text: synced.text,
            stale,
            beside: Vec::new(),
            begun,
        })
    }

    /// Finds the symbol of a spot in the file as the server has it.
    pub fn locate(&self, opened: &Opened, spot: Spot<'_>) -> Result<Target, SymbolError> {
        let shown = self.workspace().display(spot.path);
        symbol::locate(&opened.text, spot.line, spot.symbol, &shown)
    }

    /// Returns when one question has taken too long: its start, its wait for the server and its requests
    /// share one time.
    pub(crate) fn request_deadline(&self, opened: &Opened) -> Instant {
        let request = self.options().timeouts.request;
        (Instant::now() + request).min(self.question_deadline(opened.begun))
    }

    /// Returns when a question about the whole project has taken too long. A host that gives one question
    /// more gets it for these too.
    pub(crate) fn project_deadline(&self, opened: &Opened) -> Instant {
        let timeouts = self.options().timeouts;
        // Shorter than the product's own, it is a bound that somebody chose.
        let request = match timeouts.request < limits::LSP_REQUEST {
            true => timeouts.request,
            false => timeouts.request.max(limits::LSP_PROJECT_REQUEST),
        };
        (Instant::now() + request).min(opened.begun + request.max(timeouts.ready))
    }

    /// Returns when a question that began then is over.
    pub(crate) fn question_deadline(&self, begun: Instant) -> Instant {
        let timeouts = self.options().timeouts;
        begun + timeouts.request.max(timeouts.ready)
    }

    /// Returns until when a question waits for the start of its server; what is left is for the answer itself.
    fn start_deadline(&self, begun: Instant) -> Instant {
        let timeouts = self.options().timeouts;
        let whole = timeouts.request.max(timeouts.ready);
        begun + (whole - timeouts.request.min(whole / 4))
    }

    /// Returns until when it waits for more of the project to load, once its server has.
    pub(crate) fn loading_deadline(&self, begun: Instant) -> Instant {
        let ready = Instant::now() + self.options().timeouts.ready;
        ready.min(self.question_deadline(begun))
    }

    /// Returns until when it waits for its server to load.
    pub(crate) fn ready_deadline(&self, begun: Instant) -> Instant {
        let ready = Instant::now() + self.options().timeouts.ready;
        ready.min(self.start_deadline(begun))
    }

    /// Finds a symbol before any server is asked, so that a wrong line costs no start of one.
    pub fn check_spot(&self, spot: Spot<'_>) -> Result<(), AskError> {
        let content = crate::lsp::documents::Content::read(spot.path)?;
        let shown = self.workspace().display(spot.path);
        symbol::locate(&content.text, spot.line, spot.symbol, &shown)?;
        Ok(())
    }
}

/// Does something that a cancel ends, and ends it at a deadline.
pub(crate) fn within<T>(deadline: Instant, cancel: &Cancel, work: impl FnOnce(&Cancel) -> T) -> T {
    let stop = cancel.child();
    let (done, waiting) = crossbeam_channel::bounded::<()>(0);
    std::thread::scope(|scope| {
        let alarm = stop.clone();
        scope.spawn(move || {
            let woken = waiting.recv_deadline(deadline);
            if woken == Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                alarm.cancel();
            }
        });
        let result = work(&stop);
        drop(done);
        result
    })
}

impl Opened {
    /// Returns the parameters that name a place of the file.
    pub fn at(&self, target: Target) -> Value {
        let lines = Lines::new(&self.text);
        let position = lines.position(target.start, self.server.encoding());
        json!({
            "textDocument": {"uri": uri::from_path(&self.path)},
            "position": position
        })
    }

    /// Returns the name that was asked about, as answers are headed.
    pub fn name(&self, target: Target) -> String {
        let name = self.text.get(target.start..target.end);
        name.unwrap_or_default().to_owned()
    }

    /// Returns an error where the server does not offer something.
    pub fn needs(
        &self,
        provider: &'static str,
        method: &'static str,
        what: &'static str,
    ) -> Result<(), AskError> {
        match self.server.supports(provider, method) {
            true => Ok(()),
            false => Err(AskError::NotOffered {
                server: self.server.id().to_owned(),
                what,
            }),
        }
    }

    /// Returns why the answer may miss something, if it may.
    pub fn incomplete(&self) -> Option<Gap> {
        let passing = |why: String| Gap { why, passes: true };
        match &self.readiness {
            // A server that has loaded and complains, such as of a missing standard library, finds less, and
            // will later too.
            Readiness::Ready => {
                let lasting = |why: String| Gap { why, passes: false };
                let gap = self.server.health().map(lasting);
                gap.or_else(|| self.stale.clone().map(passing))
            }
            Readiness::Incomplete(why) => Some(passing(why.clone())),
            Readiness::Limited(why) => Some(Gap {
                why: why.clone(),
                passes: false,
            }),
        }
    }
}

impl Gap {
    /// Returns why, for messages.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.why)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = match self.passes {
            true => ", ask again later",
            false => "",
        };
        write!(
            f,
            "index incomplete: {}; the answer may miss something{again}",
            self.why
        )
    }
}
