//! Waiting until a server has said what it has to say about the present text of a file.
//!
//! Servers differ in how they show that they are done: a reply to a pull, a publication that names the
//! version, the end of a compiler's progress, an answer of the TypeScript server's own, or nothing but
//! quiet. Whatever it is, the wait ends on that event or at its deadline, and silence is never an answer
//! (D2).

use std::path::Path;
use std::time::{Duration, Instant};

use lsp_types::{Position, Range};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::client::{Server, ServerState};
use crate::lsp::error::LspError;
use crate::lsp::published::{Diagnostic, Severity, Statement};

/// What a server had said before a text was changed.
#[derive(Clone, Debug)]
pub struct Mark {
    generation: u64,
    at: Instant,
    items: Vec<Diagnostic>,
}

/// What came of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The server said what is wrong with the text, perhaps nothing.
    Told(Vec<Diagnostic>),
    /// It has not said it yet; what it is doing instead.
    Pending(String),
    /// It will not say it: it is gone or cannot read the file.
    Unavailable(String),
}

/// How a server shows that it is done with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// It answers a request for diagnostics.
    Reply,
    /// The compiler that it runs after a save ends.
    Flycheck,
    /// It answers a request of the TypeScript server.
    TsServer,
    /// It publishes.
    Publication,
}

/// After a publication that names its version only a repetition can follow.
const QUIET_VERSIONED: Duration = Duration::from_millis(100);

/// After one without a version a better one may follow.
const QUIET_UNVERSIONED: Duration = Duration::from_millis(250);

/// One that repeats what was said before the change may still speak of the old text.
const QUIET_REPEATED: Duration = Duration::from_millis(750);

/// Compilers start 0.1 to 0.4 s after a save; one that has not started by then is switched off.
const FLYCHECK_BEGINS: Duration = Duration::from_secs(3);

/// What a compiler found is published in the same moment in which its end is told, or just after.
const QUIET_FLYCHECK: Duration = Duration::from_millis(100);

/// So long after a save its own check may begin, also where another one ends in between.
const FLYCHECK_FOLLOWS: Duration = Duration::from_millis(500);

const FLYCHECK: &str = "flycheck";

impl Mark {
    /// Takes note of what was said; a later statement is then known to be later.
    pub fn of(server: &Server, path: &Path) -> Self {
        server.look(|state| Self {
            generation: state.published().generation(),
            at: Instant::now(),
            items: said(state, path).map_or_else(Vec::new, |said| said.items.clone()),
        })
    }
}

/// Tells whether a server runs a compiler over the project, and needs the time that this takes.
pub fn is_slow(server: &Server) -> bool {
    Sign::of(server) == Sign::Flycheck
}

/// Tells whether a server says by itself what it finds; one that is asked publishes nothing that counts.
pub fn speaks_up(server: &Server) -> bool {
    match Sign::of(server) {
        Sign::Flycheck | Sign::Publication => true,
        Sign::Reply | Sign::TsServer => false,
    }
}

/// Waits until the server has spoken about the text that it was given after `mark`, at `version`.
pub fn settle(
    server: &Server,
    path: &Path,
    mark: &Mark,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    match Sign::of(server) {
        Sign::Reply => pull(server, path, deadline, cancel),
        Sign::Flycheck => flycheck(server, path, mark, deadline, cancel),
        Sign::TsServer => match ts_server(server, path, deadline, cancel) {
            // An older version of it does not know the request.
            Err(LspError::Refused { .. }) => {
                published(server, path, mark, version, deadline, cancel)
            }
            res => outcome(server, res),
        },
        Sign::Publication => published(server, path, mark, version, deadline, cancel),
    }
}

/// Returns what is known of a text that the server has had for a while, and waits where nothing is.
pub fn settled_already(
    server: &Server,
    path: &Path,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    let nothing = Mark {
        generation: 0,
        at: Instant::now(),
        items: Vec::new(),
    };
    match Sign::of(server) {
        Sign::Flycheck => {
            if !load(server, deadline, cancel) {
                return Settled::Pending(under_way(server));
            }
            let done = server.look(|state| {
                let ended = |event: &crate::lsp::client::ProgressEvent| {
                    !event.began && event.token.contains(FLYCHECK)
                };
                let has_ended = state.progress_log().any(ended);
                (has_ended && !is_checking(state))
                    .then(|| said(state, path).map_or_else(Vec::new, |said| said.items.clone()))
            });
            match done {
                Some(items) => Settled::Told(items),
                None => flycheck_running(server, path, nothing.at, deadline, cancel),
            }
        }
        Sign::Publication => {
            let known = server.look(|state| {
                let said = said(state, path)?;
                let is_old = said.version.is_some_and(|said| said < version);
                (!is_old).then(|| said.items.clone())
            });
            match known {
                Some(items) => Settled::Told(items),
                None => published(server, path, &nothing, version, deadline, cancel),
            }
        }
        Sign::Reply | Sign::TsServer => settle(server, path, &nothing, version, deadline, cancel),
    }
}

impl Sign {
    fn of(server: &Server) -> Self {
        match server.id() {
            _ if server.row().pull => Self::Reply,
            "rust-analyzer" => Self::Flycheck,
            "typescript-language-server" => Self::TsServer,
            _ => Self::Publication,
        }
    }
}

fn said<'a>(state: &'a ServerState, path: &Path) -> Option<&'a Statement> {
    state.published().of(path)
}

fn is_checking(state: &ServerState) -> bool {
    state
        .progress()
        .keys()
        .any(|token| token.contains(FLYCHECK))
}

fn pull(server: &Server, path: &Path, deadline: Instant, cancel: &Cancel) -> Settled {
    // The capability is registered after the start by servers that have it for the asking.
    let offered = server.wait(deadline, cancel, |state| {
        let offered = state.supports("diagnosticProvider", "textDocument/diagnostic");
        (offered || state.gone().is_some()).then_some(())
    });
    if offered.is_none() {
        return Settled::Pending(under_way(server));
    }
    outcome(server, server.pull(path, deadline, cancel))
}

fn outcome(server: &Server, res: Result<Vec<Diagnostic>, LspError>) -> Settled {
    match res {
        Ok(items) => Settled::Told(items),
        Err(LspError::TimedOut { .. } | LspError::Cancelled) => Settled::Pending(under_way(server)),
        Err(err @ LspError::Refused { .. }) => Settled::Pending(err.to_string()),
        Err(err @ (LspError::Gone { .. } | LspError::Unreadable { .. })) => {
            Settled::Unavailable(err.to_string())
        }
    }
}

fn published(
    server: &Server,
    path: &Path,
    mark: &Mark,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    let mut seen = mark.generation;
    let mut last: Option<Statement> = None;
    loop {
        let until = match &last {
            None => deadline,
            Some(said) if said.version.is_some() => said.when + QUIET_VERSIONED,
            Some(said) if said.items == mark.items => said.when + QUIET_REPEATED,
            Some(said) => said.when + QUIET_UNVERSIONED,
        };
        let newer = server.wait(until.min(deadline), cancel, |state| {
            if let Some(why) = state.gone() {
                return Some(Err(why.to_owned()));
            }
            let said = said(state, path)?;
            let is_old = said.version.is_some_and(|said| said < version);
            (said.generation > seen && !is_old).then(|| Ok(said.clone()))
        });
        match (newer, last) {
            (Some(Ok(said)), _) => {
                seen = said.generation;
                last = Some(said);
            }
            (Some(Err(why)), _) => return Settled::Unavailable(why),
            // A statement of unknown version that the deadline caught in its quiet time may be the old one.
            (None, Some(said))
                if said.version.is_none() && said.items == mark.items && until > deadline =>
            {
                return Settled::Pending(under_way(server));
            }
            (None, Some(said)) => return Settled::Told(said.items),
            (None, None) => return Settled::Pending(under_way(server)),
        }
    }
}

fn flycheck(
    server: &Server,
    path: &Path,
    mark: &Mark,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    // Before it has loaded it drops what the compiler says about files that it does not know yet, so the
    // check of a save in that time says nothing: it is asked for once more.
    let mut at = mark.at;
    if server.look(|state| state.quiescent() == Some(false)) {
        if !load(server, deadline, cancel) {
            return Settled::Pending(under_way(server));
        }
        at = Instant::now();
        if let Err(err) = server.save(path) {
            return Settled::Unavailable(err.to_string());
        }
    }
    // While it is busy, seconds may pass before it takes the save up; its answer shows that it has.
    server.answers(deadline, cancel);
    let taken = Instant::now();
    let begins = |until: Instant| {
        server.wait(until, cancel, |state| {
            let began = |event: &crate::lsp::client::ProgressEvent| {
                event.began && event.at >= at && event.token.contains(FLYCHECK)
            };
            (state.gone().is_some() || state.progress_log().any(began)).then_some(())
        })
    };
    let loaded = || server.look(|state| state.quiescent() != Some(false));
    let patience = match loaded() {
        true => (Instant::now() + FLYCHECK_BEGINS).min(deadline),
        // It checks when it has loaded.
        false => deadline,
    };
    if begins(patience).is_none() {
        return Settled::Pending(match patience < deadline {
            true => "no check has begun".to_owned(),
            false => under_way(server),
        });
    }
    flycheck_running(server, path, taken, deadline, cancel)
}

/// Waits until the server has loaded its project, or is gone; tells whether it came to that.
fn load(server: &Server, deadline: Instant, cancel: &Cancel) -> bool {
    let loaded = server.wait(deadline, cancel, |state| {
        (state.quiescent() == Some(true) || state.gone().is_some()).then_some(())
    });
    loaded.is_some()
}

/// Waits for the end of a check that runs, or that is about to.
fn flycheck_running(
    server: &Server,
    path: &Path,
    since: Instant,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    loop {
        let ended = server.wait(deadline, cancel, |state| {
            if let Some(why) = state.gone() {
                return Some(Err(why.to_owned()));
            }
            let last = state
                .progress_log()
                .rfind(|event| event.token.contains(FLYCHECK));
            let ended = last.is_some_and(|event| !event.began) && !is_checking(state);
            ended.then_some(Ok(()))
        });
        match ended {
            Some(Ok(())) => {}
            Some(Err(why)) => return Settled::Unavailable(why),
            None => return Settled::Pending(under_way(server)),
        }
        // It tells the end before what it found last; its answer shows that it has said both.
        server.answers(deadline, cancel);
        // Another one may have been asked for before this one ended: a save cancels the check that runs.
        let until = (Instant::now() + QUIET_FLYCHECK).max(since + FLYCHECK_FOLLOWS);
        let again = server.wait(until.min(deadline), cancel, |state| {
            (is_checking(state) || state.gone().is_some()).then_some(())
        });
        if again.is_none() {
            break;
        }
    }
    // A file about which nothing was ever said is clean: the compiler has looked at all of them.
    Settled::Told(
        server.look(|state| said(state, path).map_or_else(Vec::new, |said| said.items.clone())),
    )
}

/// Asks the TypeScript server itself; what its wrapper publishes has no version and comes in parts.
fn ts_server(
    server: &Server,
    path: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Vec<Diagnostic>, LspError> {
    let mut items = Vec::new();
    for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
        let params = json!({
            "command": "typescript.tsserverRequest",
            "arguments": [command, {"file": path.to_string_lossy()}],
        });
        let reply = server.request("workspace/executeCommand", params, deadline, cancel)?;
        let Some(found) = reply["body"].as_array() else {
            return Err(LspError::Refused {
                server: server.id().to_owned(),
                method: command.to_owned(),
                code: 0,
                message: reply["message"].as_str().unwrap_or("no answer").to_owned(),
                data: None,
            });
        };
        items.extend(found.iter().filter_map(ts_diagnostic));
    }
    Ok(items)
}

fn ts_diagnostic(value: &Value) -> Option<Diagnostic> {
    // Lines and offsets of the TypeScript server count from 1.
    let place = |value: &Value| {
        let number = |name: &str| {
            let number = value[name].as_u64()?.saturating_sub(1);
            u32::try_from(number).ok()
        };
        Some(Position {
            line: number("line")?,
            character: number("offset")?,
        })
    };
    Some(Diagnostic {
        range: Range {
            start: place(&value["start"])?,
            end: place(&value["end"])?,
        },
        severity: match value["category"].as_str() {
            Some("error") | None => Severity::Error,
            Some("warning") => Severity::Warning,
            Some("message") => Severity::Information,
            Some(_) => Severity::Hint,
        },
        code: value["code"].as_i64().map(|code| code.to_string()),
        message: value["text"].as_str()?.to_owned(),
        source: Some("typescript".to_owned()),
        raw: Value::Null,
    })
}

/// What a server that has not answered is doing, as far as it says so.
fn under_way(server: &Server) -> String {
    server.look(|state| match state.progress().values().next() {
        Some(progress) => progress.to_string(),
        None => "no answer yet".to_owned(),
    })
}
