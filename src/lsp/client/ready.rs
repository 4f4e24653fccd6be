//! When the answers of a server are whole.
//!
//! A server that has not loaded its project answers at once and plausibly: with the file it was asked
//! about, with an import line, with nothing. Every row says how its server shows that it has loaded; this
//! waits for that, within a bound, and says what is still under way where the bound is not enough.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::client::Server;
use crate::lsp::client::state::{Progress, ServerState};
use crate::lsp::error::LspError;
use crate::lsp::servers::Ready;
use crate::lsp::uri;

/// Whether the answers of a server are whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// They are.
    Ready,
    /// They may miss something, because this is still under way.
    Incomplete(String),
    /// They may miss something, and waiting does not help: this is why, and what does.
    Limited(String),
}

/// How long a server that announces its loading may take to begin, once it has handled the first document.
const BEGINS_WITHIN: Duration = Duration::from_millis(1_500);

/// How long a server that speaks of a document once it has analysed it may take for that.
const SPEAKS_WITHIN: Duration = Duration::from_secs(3);

/// The token under which clangd reports its index.
const INDEX_TOKEN: &str = "backgroundIndexProgress";

impl Readiness {
    /// Tells whether the answers are whole.
    pub fn is_ready(&self) -> bool {
        *self == Self::Ready
    }
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Incomplete(why) | Self::Limited(why) => write!(f, "index incomplete: {why}"),
        }
    }
}

impl Server {
    /// Waits until the server has loaded the project of `path`, an open document.
    ///
    /// An error is the end of the server or of the call; running out of time is none.
    pub fn wait_ready(
        &self,
        path: &Path,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Readiness, LspError> {
        let rule = self.row().ready;
        match rule {
            Ready::ProgressAfterOpen | Ready::BackgroundIndex => {
                self.wait_begin(path, rule, deadline, cancel)?;
            }
            Ready::Publication => self.wait_spoken(path, deadline, cancel),
            Ready::Progress | Ready::Quiescent | Ready::Listing => {}
        }
        let res = self.wait(deadline, cancel, |state| {
            if state.gone().is_some() || is_loaded(state, rule) {
                return Some(state.gone().map(str::to_owned));
            }
            None
        });
        match res {
            Some(None) => Ok(self.readiness()),
            Some(Some(why)) => Err(self.shared.gone_error(why)),
            None if cancel.is_cancelled() => Err(LspError::Cancelled),
            None => Ok(self.shared.update(|state| {
                let readiness = Readiness::Incomplete(under_way(state, rule));
                // The next question does not wait as long for what may never come.
                state.listing.give_up();
                readiness
            })),
        }
    }

    /// Returns what is under way now, without waiting.
    pub fn readiness(&self) -> Readiness {
        let rule = self.row().ready;
        self.look(|state| {
            if !is_loaded(state, rule) {
                return Readiness::Incomplete(under_way(state, rule));
            }
            match &state.health {
                // It has loaded what it could, and says itself that this is not the project.
                Some(health) if state.is_broken => Readiness::Limited(health.clone()),
                _ => Readiness::Ready,
            }
        })
    }

    /// Waits until the server has handled what it was told of a document: servers take the messages about
    /// one document in order, so an answer about it comes after.
    pub(crate) fn handle(
        &self,
        path: &Path,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), LspError> {
        let params = json!({"textDocument": {"uri": uri::from_path(path)}});
        match self.request("textDocument/documentSymbol", params, deadline, cancel) {
            Err(err @ (LspError::Gone { .. } | LspError::Cancelled)) => Err(err),
            // Whatever the answer is, it came after.
            Ok(_)
            | Err(
                LspError::Refused { .. } | LspError::TimedOut { .. } | LspError::Unreadable { .. },
            ) => Ok(()),
        }
    }

    /// Makes a server read what says what its project is anew, where it would do so in its own time and answer
    /// from the old project until then, or not at all.
    pub(crate) fn reload_project(&self, cancel: &Cancel) {
        let deadline = Instant::now() + self.shared.launch.timeouts.request;
        match self.row().ready {
            Ready::Quiescent => self.reload_workspace(deadline, cancel),
            Ready::Listing => self.reload_configuration(deadline, cancel),
            Ready::Progress
            | Ready::ProgressAfterOpen
            | Ready::BackgroundIndex
            | Ready::Publication => {}
        }
    }

    /// Pyright and its kin look for a change of their configuration some time after they heard of it, and for a
    /// file that comes to stand before another one not at all. Told that their settings changed, they start
    /// from both.
    fn reload_configuration(&self, deadline: Instant, cancel: &Cancel) {
        self.shared.update(|state| state.listing.reload());
        let settings = &self.shared.launch.settings;
        let params = json!({ "settings": settings });
        // One that is gone starts with the new configuration anyway.
        let _ = self
            .shared
            .notify("workspace/didChangeConfiguration", params);
        let listed = self.wait(deadline, cancel, |state| {
            (state.listing.is_complete() || state.gone().is_some()).then_some(())
        });
        if listed.is_none() {
            self.shared.update(|state| state.listing.give_up());
        }
    }

    /// Rust-analyzer would load the project by itself when it comes to the manifest that changed, and take
    /// itself for loaded until then.
    fn reload_workspace(&self, deadline: Instant, cancel: &Cancel) {
        let method = "rust-analyzer/reloadWorkspace";
        // One that does not know the request does it in its own time.
        let _ = self.request(method, Value::Null, deadline, cancel);
        // It says that it is loading before it answers the next request.
        self.answers(deadline, cancel);
    }

    /// Waits until what changed in some documents is known in all of the project.
    ///
    /// Only clangd needs it: it handles each document on a thread of its own, and answers about another one
    /// from the index of before.
    pub(crate) fn absorb(&self, changed: &[PathBuf], cancel: &Cancel) {
        if self.row().ready != Ready::BackgroundIndex {
            return;
        }
        let deadline = Instant::now() + self.shared.launch.timeouts.request;
        for path in changed {
            // A server that is gone has nothing to absorb; the question itself will say so.
            if self.handle(path, deadline, cancel).is_err() {
                return;
            }
        }
        self.all_parsed(deadline, cancel);
    }

    /// Waits until the loading that follows the first document has begun, or will not begin.
    fn wait_begin(
        &self,
        path: &Path,
        rule: Ready,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), LspError> {
        // A document that was opened since may belong to a project that is not loaded yet.
        let n_opened = self.look(|state| state.n_opened);
        if self.look(|state| state.n_handled) < n_opened {
            self.handle(path, deadline, cancel)?;
            self.shared.update(|state| state.n_handled = n_opened);
        }
        // A server with nothing to load says nothing; that is waited for once.
        let awaited = self
            .shared
            .update(|state| std::mem::replace(&mut state.awaited_begin, true));
        let has_none = rule == Ready::BackgroundIndex && !has_database(self.root());
        if awaited || has_none {
            return Ok(());
        }
        let until = (Instant::now() + BEGINS_WITHIN).min(deadline);
        self.wait(until, cancel, |state| {
            (has_begun(state, rule) || state.gone().is_some()).then_some(())
        });
        Ok(())
    }
}

impl Server {
    /// Waits until the server has published anything about a document that was opened since it was asked
    /// last. One that does not within the time has analysed it all the same, and says nothing.
    fn wait_spoken(&self, path: &Path, deadline: Instant, cancel: &Cancel) {
        let n_opened = self.look(|state| state.n_opened);
        if self.look(|state| state.n_handled) == n_opened {
            return;
        }
        let until = (Instant::now() + SPEAKS_WITHIN).min(deadline);
        self.wait(until, cancel, |state| {
            (state.published.of(path).is_some() || state.gone().is_some()).then_some(())
        });
        self.shared.update(|state| state.n_handled = n_opened);
    }
}

fn has_begun(state: &ServerState, rule: Ready) -> bool {
    match rule {
        Ready::BackgroundIndex => state
            .progress_log
            .iter()
            .any(|event| event.token == INDEX_TOKEN),
        Ready::Progress
        | Ready::Quiescent
        | Ready::ProgressAfterOpen
        | Ready::Publication
        | Ready::Listing => !state.progress_log.is_empty(),
    }
}

fn is_loaded(state: &ServerState, rule: Ready) -> bool {
    match rule {
        Ready::Quiescent => state.quiescent == Some(true),
        Ready::Progress | Ready::ProgressAfterOpen | Ready::Publication => {
            state.progress.values().all(Progress::is_diagnosing)
        }
        Ready::BackgroundIndex => !state.progress.contains_key(INDEX_TOKEN),
        // Its progress counts the open files that nobody has asked about, not what it has still to read: one
        // that is never asked about keeps it up for ever.
        Ready::Listing => state.listing.is_complete(),
    }
}

fn under_way(state: &ServerState, rule: Ready) -> String {
    let works: Vec<String> = state.progress.values().map(ToString::to_string).collect();
    if rule == Ready::Listing && !state.listing.is_complete() {
        return "the server has not listed the files of the project yet".to_owned();
    }
    match works.is_empty() {
        true => "the server is still loading".to_owned(),
        false => works.join(", "),
    }
}

fn has_database(root: &Path) -> bool {
    ["compile_commands.json", "build/compile_commands.json"]
        .iter()
        .any(|name| root.join(name).exists())
}
