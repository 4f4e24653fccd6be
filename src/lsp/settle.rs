//! Waiting until a server has said what it has to say about the present text of a file.
//!
//! Servers differ in how they show that they are done: a reply to a pull, a publication that names the
//! version, the end of a compiler's progress, an answer of the TypeScript server's own, or nothing but
//! quiet. Whatever it is, the wait ends on that event or at its deadline, and silence is never an answer
//! (D2).

mod compiler;
mod unreached;

use std::path::Path;
use std::time::{Duration, Instant};

use lsp_types::{Position, Range};
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::client::{Server, ServerState};
use crate::lsp::error::LspError;
use crate::lsp::published::{Diagnostic, Severity, Statement};

pub(crate) use unreached::unreached;

/// What a server had said before a text was changed.
#[derive(Clone, Debug)]
pub struct Mark {
    at: Instant,
    generation: u64,
    items: Vec<Diagnostic>,
    /// How many texts before it the server has not spoken about.
    n_owed: usize,
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
    /// It publishes, and says when it has parsed what a document includes.
    Parse,
    /// It publishes.
    Publication,
}

/// After a publication that names its version only a repetition can follow.
const QUIET_VERSIONED: Duration = Duration::from_millis(100);

/// After one without a version a better one may follow.
const QUIET_UNVERSIONED: Duration = Duration::from_millis(250);

/// One that repeats what was said before the change may still speak of the old text.
const QUIET_REPEATED: Duration = Duration::from_millis(750);

/// One that follows while a word on the text before is still owed may be that word. A server may also leave
/// out a text when a newer one has come, so the wait has an end.
const QUIET_OWED: Duration = Duration::from_secs(2);

/// So long a server that publishes may take for a document that it was given once more; one that says only
/// what is new to it stays silent.
const RETOLD: Duration = Duration::from_secs(10);

impl Mark {
    /// Takes note of what was said; a later statement is then known to be later.
    pub fn of(server: &Server, path: &Path) -> Self {
        server.look(|state| Self {
            at: Instant::now(),
            generation: state.published().generation(),
            items: said(state, path).map_or_else(Vec::new, |said| said.items.clone()),
            n_owed: 0,
        })
    }

    /// The mark of a text that takes the place of one that is still waited for.
    pub(crate) fn after(self, before: &Mark, said: Option<u64>) -> Self {
        // A word since then was on one of them, the oldest perhaps.
        let is_silent = said.is_none_or(|said| said <= before.generation);
        Self {
            n_owed: before.n_owed + usize::from(is_silent),
            ..self
        }
    }

    /// Returns the number of the last statement that was made before.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }
}

/// Tells whether a server runs a compiler over the project, and needs the time that this takes.
pub fn is_slow(server: &Server) -> bool {
    Sign::of(server) == Sign::Flycheck
}

/// Tells whether a server says by itself what it finds; one that is asked publishes nothing that counts.
pub fn speaks_up(server: &Server) -> bool {
    match Sign::of(server) {
        Sign::Flycheck | Sign::Parse | Sign::Publication => true,
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
        Sign::Flycheck => compiler::checked(server, path, deadline, cancel),
        Sign::TsServer => match ts_server(server, path, deadline, cancel) {
            // An older version of it does not know the request.
            Err(LspError::Refused { .. }) => {
                published(server, path, mark, version, deadline, cancel)
            }
            res => outcome(server, res),
        },
        Sign::Parse => {
            if let Err(settled) = parsed(server, path, Some(mark.at), deadline, cancel) {
                return settled;
            }
            said_or_published(server, path, mark, version, deadline, cancel)
        }
        Sign::Publication => published(server, path, mark, version, deadline, cancel),
    }
}

/// Returns what holds now of a text that the server has had for a while, whatever changed around it, and
/// waits where that is not known.
pub fn settled_now(
    server: &Server,
    path: &Path,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    match Sign::of(server) {
        Sign::Flycheck => compiler::checked(server, path, deadline, cancel),
        // Who publishes does so for what changed; whether another file is as it was is only told when asked.
        Sign::Parse | Sign::Publication if server.is_stirred(path) => {
            let mark = Mark::of(server, path);
            let until = deadline.min(Instant::now() + RETOLD);
            match server.retell(path) {
                Ok(version) => settle(server, path, &mark, version, until, cancel),
                Err(err) => Settled::Unavailable(err.to_string()),
            }
        }
        Sign::Parse | Sign::Publication | Sign::Reply | Sign::TsServer => {
            settled_already(server, path, version, deadline, cancel)
        }
    }
}

/// Returns what is known of a text that the server has had for a while, and waits where nothing is. The
/// server is not made to look again.
pub fn settled_already(
    server: &Server,
    path: &Path,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    let nothing = Mark {
        at: Instant::now(),
        generation: 0,
        items: Vec::new(),
        n_owed: 0,
    };
    match Sign::of(server) {
        Sign::Flycheck => compiler::checked_last(server, path, deadline, cancel),
        Sign::Parse | Sign::Publication => {
            let sent = server.document(path).map(|document| document.sent);
            if server.is_parsing(path)
                && let Err(settled) = parsed(server, path, sent, deadline, cancel)
            {
                return settled;
            }
            said_or_published(server, path, &nothing, version, deadline, cancel)
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
            "clangd" => Self::Parse,
            _ => Self::Publication,
        }
    }
}

fn said<'a>(state: &'a ServerState, path: &Path) -> Option<&'a Statement> {
    state.published().of(path)
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

/// Waits until what a document includes has been parsed since a moment; every other outcome says why not.
pub(crate) fn parsed(
    server: &Server,
    path: &Path,
    since: Option<Instant>,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), Settled> {
    match server.parsed(path, since, deadline, cancel) {
        Ok(true) => Ok(()),
        Ok(false) | Err(LspError::Cancelled) => {
            Err(Settled::Pending("it parses what is included".to_owned()))
        }
        Err(err) => Err(Settled::Unavailable(err.to_string())),
    }
}

/// Takes what was said of a version, or waits for that.
fn said_or_published(
    server: &Server,
    path: &Path,
    mark: &Mark,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    let known = server.look(|state| {
        let said = said(state, path)?;
        let is_old = said.version.is_some_and(|said| said < version);
        (!is_old).then(|| said.items.clone())
    });
    match known {
        Some(items) => Settled::Told(items),
        None => published(server, path, mark, version, deadline, cancel),
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
            Some(said) if mark.n_owed > 0 => said.when + QUIET_OWED,
            Some(said) if said.items == mark.items => said.when + QUIET_REPEATED,
            Some(said) => said.when + QUIET_UNVERSIONED,
        };
        let newer = server.wait(until.min(deadline), cancel, |state| {
            if let Some(why) = state.gone() {
                return Some(Err(format!("{} is gone: {why}", server.id())));
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
                if said.version.is_none()
                    && (said.items == mark.items || mark.n_owed > 0)
                    && until > deadline =>
            {
                return Settled::Pending(under_way(server));
            }
            // Of what it speaks next, such as of other files, it has not spoken yet.
            (None, Some(said))
                if has_more_to_say(server)
                    && Instant::now() < deadline
                    && !cancel.is_cancelled() =>
            {
                let saved = server.last_save().map(|save| save.at);
                server.wait(deadline, cancel, |state| {
                    let is_over = !state.has_more_to_say(saved) || state.gone().is_some();
                    is_over.then_some(())
                });
                last = Some(said);
            }
            (None, Some(said)) => return Settled::Told(said.items),
            (None, None) => return Settled::Pending(under_way(server)),
        }
    }
}

fn has_more_to_say(server: &Server) -> bool {
    let saved = server.last_save().map(|save| save.at);
    server.look(|state| state.has_more_to_say(saved))
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
