//! What is wrong with one file, asked of its servers now (R17, D2).

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::place::{doubt, told, without_repeats};
use super::{Diagnostic, DiagnosticState, Severity};
use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::error::Unusable;
use crate::lsp::question::within;
use crate::lsp::settle::{Mark, Settled, settle, settled_now};
use crate::lsp::supervisor::Supervisor;
use crate::text::counted;

/// The errors and warnings of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDiagnostics {
    /// The file, as answers show it.
    pub file: String,
    /// What is known.
    pub state: DiagnosticState,
    /// Sorted by place; the first of them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of the diagnostics are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// Which servers have not answered or cannot, and why.
    pub missing: Vec<String>,
}

/// Asks every server of a file, syncs it first, and waits until each has spoken about its present text, or
/// for `time`.
pub fn diagnostics_of(
    supervisor: &Supervisor,
    path: &Path,
    time: Duration,
    cancel: &Cancel,
) -> Result<FileDiagnostics, Unusable> {
    let deadline = Instant::now() + time;
    let (primary, linters, stale, is_late) = within(deadline, cancel, |stop| {
        let primary = supervisor.server_for(path, stop);
        let linters = supervisor.linters_for(path, stop);
        let stale = supervisor.refresh(stop);
        let is_late = stop.is_cancelled() && !cancel.is_cancelled();
        (primary, linters, stale, is_late)
    });
    let mut missing = Vec::new();
    let mut servers = Vec::new();
    match primary {
        Ok(server) => servers.push(server),
        // Its start goes on.
        Err(unusable) if is_late && unusable.cancelled => {
            let starting = unusable.reasons.last().map_or("", |reason| &reason.server);
            return Ok(FileDiagnostics {
                file: supervisor.workspace().display(path),
                state: DiagnosticState::Pending,
                diagnostics: Vec::new(),
                shown: 0,
                total: 0,
                missing: vec![format!("{starting}: it is still starting")],
            });
        }
        Err(unusable) if linters.is_empty() => return Err(unusable),
        Err(unusable) => missing.push(unusable.to_string()),
    }
    let mut state = match servers.is_empty() {
        true => DiagnosticState::Unavailable,
        false => DiagnosticState::Clean,
    };
    servers.extend(linters);
    missing.extend(stale);
    let mut diagnostics = Vec::new();
    for server in servers {
        let settled = ask(&server, path, deadline, cancel);
        // What describes the project was not understood: it is checked by other rules. The server says so
        // while it works on the first question.
        let complains = !server.row().complains.is_empty();
        missing.extend(server.complaint().filter(|_| complains));
        match settled {
            Settled::Told(items) => {
                if let Some(why) = doubt(&server, path, &items) {
                    missing.push(format!("whether these errors are real: {why}"));
                }
                diagnostics.extend(told(supervisor.workspace(), &server, path, &items));
            }
            Settled::Pending(why) => {
                state = DiagnosticState::Pending;
                missing.push(format!("{}: {why}", server.id()));
            }
            Settled::Unavailable(why) => {
                if state == DiagnosticState::Clean {
                    state = DiagnosticState::Unavailable;
                }
                missing.push(why);
            }
        }
    }
    without_repeats(&mut diagnostics, |it| it);
    diagnostics.sort();
    diagnostics.dedup();
    if !diagnostics.is_empty() {
        state = DiagnosticState::Found;
    }
    let total = diagnostics.len();
    diagnostics.truncate(limits::DIAGNOSTICS_SHOWN);
    Ok(FileDiagnostics {
        file: supervisor.workspace().display(path),
        state,
        shown: diagnostics.len(),
        total,
        diagnostics,
        missing,
    })
}

fn ask(server: &Server, path: &Path, deadline: Instant, cancel: &Cancel) -> Settled {
    let mark = Mark::of(server, path);
    match server.sync(path) {
        // A compiler runs after a save, and after nothing else.
        Ok(synced) if synced.changed => match server.save(path) {
            Ok(()) => settle(server, path, &mark, synced.version, deadline, cancel),
            Err(err) => Settled::Unavailable(err.to_string()),
        },
        Ok(synced) => settled_now(server, path, synced.version, deadline, cancel),
        Err(err) => Settled::Unavailable(err.to_string()),
    }
}

impl fmt::Display for FileDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = &self.file;
        match self.state {
            DiagnosticState::Clean => write!(f, "{file} is clean: no errors or warnings")?,
            DiagnosticState::Pending => write!(f, "diagnostics of {file} are pending")?,
            DiagnosticState::Unavailable => write!(f, "diagnostics of {file} are unavailable")?,
            DiagnosticState::Found => write!(f, "{}", Summary(&self.diagnostics, self.total))?,
        }
        for diagnostic in &self.diagnostics {
            write!(f, "\n{diagnostic}")?;
        }
        if self.shown < self.total {
            write!(f, "\n… {} shown of {}", self.shown, self.total)?;
        }
        for missing in &self.missing {
            write!(f, "\nnot known yet: {missing}")?;
        }
        Ok(())
    }
}

/// `2 errors, 1 warning`.
struct Summary<'a>(&'a [Diagnostic], usize);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(shown, total) = self;
        if shown.len() < *total {
            return write!(f, "{total} errors and warnings");
        }
        let n_errors = shown
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .count();
        let counts = [(n_errors, "error"), (total - n_errors, "warning")];
        let mut comma = "";
        for (n, noun) in counts.into_iter().filter(|(n, _)| *n > 0) {
            write!(f, "{comma}{}", counted(n, noun))?;
            comma = ", ";
        }
        Ok(())
    }
}
