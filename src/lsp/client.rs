//! One running language server: its process, its threads, its documents and what it said.
//!
//! Four threads serve it: one reads its output and only hands over, one writes to it, one keeps the end of
//! its standard error, one waits for its end; a fifth, the owner, takes what was read, answers what the
//! server asks and changes the state. Nobody ever waits for the server while holding a lock, and everything
//! that waits has a deadline. Which server to start and when to start it again is the supervisor's affair.

mod capabilities;
mod health;
mod listing;
mod owner;
mod parsing;
mod pull;
mod ready;
mod scratch;
mod start;
mod state;
mod survey;
mod sync;
pub mod watch;

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cancel::Cancel;
use crate::child::Child;
use crate::lsp::convert::Encoding;
use crate::lsp::documents::Documents;
use crate::lsp::error::{self, LspError};
use crate::lsp::servers::ServerRow;
use crate::wire::{Outbox, Pending};

pub(crate) use crate::lsp::client::owner::last_words;
pub use crate::lsp::client::ready::Readiness;
pub(crate) use crate::lsp::client::start::Launch;
pub use crate::lsp::client::start::StartError;
pub(crate) use crate::lsp::client::state::{CHECK_TOKEN, Phase};
pub use crate::lsp::client::state::{Message, Progress, ProgressEvent, ServerState};
pub use crate::lsp::client::sync::Synced;
pub use crate::lsp::client::watch::FileChange;

/// How long things may take; a test has shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// The answer to `initialize`.
    pub start: Duration,
    /// The answer to one question.
    pub request: Duration,
    /// Until a server has loaded and indexed.
    pub ready: Duration,
    /// Each of the polite steps of an end.
    pub shutdown: Duration,
    /// How long a server may leave its input unread.
    pub stall: Duration,
}

/// One running server; dropping it ends the process and all that it started.
pub struct Server {
    shared: Arc<Shared>,
    events: Sender<Event>,
    owner: Mutex<Option<JoinHandle<()>>>,
}

/// What the threads and the callers share.
pub(crate) struct Shared {
    launch: Launch,
    /// The name in messages.
    name: String,
    child: Child,
    outbox: Mutex<Option<Outbox>>,
    pending: Pending<Reply>,
    state: Mutex<ServerState>,
    changed: Condvar,
    /// Held while a file is read and sent, so that versions and texts go out in one order. It is taken
    /// before the state, never after it.
    documents: Mutex<Documents>,
    used: Mutex<Instant>,
    started: Instant,
    /// Its own temporary folder, removed when it has ended.
    scratch: Mutex<Option<TempDir>>,
}

/// What comes back for a request.
type Reply = Result<Value, ReplyError>;

#[derive(Clone, Debug)]
enum ReplyError {
    Refused(Value),
    Gone(String),
}

/// What the owner is told.
enum Event {
    Incoming(crate::wire::Incoming),
    /// The server closed its output.
    End,
    /// The handle is dropped.
    Stop,
}

/// How often a request that the server gave up is repeated, and how long after each.
const RETRIES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
];

impl Server {
    /// Returns the row that it was started from.
    pub fn row(&self) -> &ServerRow {
        &self.shared.launch.row
    }

    /// Returns the id of its row.
    pub fn id(&self) -> &str {
        &self.shared.launch.row.id
    }

    /// Returns the folder that it was started for.
    pub fn root(&self) -> &Path {
        &self.shared.launch.root
    }

    /// Returns the process number.
    pub fn pid(&self) -> u32 {
        self.shared.child.pid()
    }

    /// Returns the units in which it counts inside a line.
    pub fn encoding(&self) -> Encoding {
        self.shared.lock().encoding
    }

    /// Returns what it answered to `initialize` as its capabilities.
    pub fn capabilities(&self) -> Value {
        self.shared.lock().capabilities.clone()
    }

    /// Tells whether it has a capability, static (`renameProvider`) or registered (`textDocument/rename`).
    pub fn supports(&self, provider: &str, method: &str) -> bool {
        self.shared.lock().provider(provider, method).is_some()
    }

    /// Tells whether it still runs.
    pub fn is_alive(&self) -> bool {
        self.gone().is_none()
    }

    /// Returns why it is gone, if it is.
    pub fn gone(&self) -> Option<String> {
        self.shared.lock().gone().map(str::to_owned)
    }

    /// Asks something once and waits for the answer until `deadline`.
    ///
    /// A request that is not answered in time, or whose caller cancels, is withdrawn. `params` of null are
    /// left out, because some servers take them for an error.
    pub fn request(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Value, LspError> {
        self.shared.touch();
        self.shared.request(method, params, deadline, cancel)
    }

    /// Asks something that only reads, and asks again where the server gave up because texts changed.
    pub fn query(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Value, LspError> {
        let mut retries = RETRIES.iter();
        loop {
            let res = self.request(method, params.clone(), deadline, cancel);
            let again = matches!(
                res.as_ref().err().and_then(LspError::code),
                Some(
                    error::CONTENT_MODIFIED
                        | error::SERVER_CANCELLED
                        | error::REQUEST_CANCELLED
                        | error::NOT_INITIALIZED
                )
            );
            match retries.next() {
                Some(pause) if again => {
                    let until = (Instant::now() + *pause).min(deadline);
                    // The pause ends early with the server or the call; nothing else is waited for.
                    self.wait(until, cancel, |state| state.gone().map(|_| ()));
                }
                _ => return res,
            }
        }
    }

    /// Tells the server something.
    pub fn notify(&self, method: &str, params: Value) -> Result<(), LspError> {
        self.shared.notify(method, params)
    }

    /// Waits until `look` finds what it looks for in the state, or until `deadline` or the cancel.
    ///
    /// It is called again whenever the server said anything that changed the state.
    pub fn wait<T>(
        &self,
        deadline: Instant,
        cancel: &Cancel,
        look: impl FnMut(&ServerState) -> Option<T>,
    ) -> Option<T> {
        Shared::wait(&self.shared, deadline, cancel, look)
    }

    /// Looks at the state as it is.
    pub fn look<T>(&self, look: impl FnOnce(&ServerState) -> T) -> T {
        look(&self.shared.lock())
    }

    /// Returns how it was found and started, for `status`.
    pub(crate) fn launch(&self) -> &Launch {
        &self.shared.launch
    }

    pub(crate) fn phase(&self) -> Phase {
        self.shared.lock().phase.clone()
    }

    /// Returns when it was last asked something.
    pub(crate) fn used(&self) -> Instant {
        *self
            .shared
            .used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn touch(&self) {
        self.shared.touch();
    }

    pub(crate) fn started(&self) -> Instant {
        self.shared.started
    }

    /// Returns what the server calls its version.
    pub fn version(&self) -> Option<String> {
        self.shared.lock().version.clone()
    }

    pub(crate) fn n_open(&self) -> usize {
        self.shared.documents().len()
    }

    pub(crate) fn stderr_tail(&self) -> String {
        self.shared.child.stderr_tail()
    }

    pub(crate) fn messages(&self) -> VecDeque<Message> {
        self.shared.lock().messages.clone()
    }

    /// Whether two requests in a row were not answered in time.
    pub(crate) fn is_suspect(&self) -> bool {
        self.shared.lock().n_timeouts >= 2
    }

    /// Tells whether the server answers at all: any answer to an unknown request will do.
    pub(crate) fn answers(&self, deadline: Instant, cancel: &Cancel) -> bool {
        let res = self
            .shared
            .request("$/toolbox/probe", Value::Null, deadline, cancel);
        let answers = matches!(res, Ok(_) | Err(LspError::Refused { .. }));
        if answers {
            self.shared.lock().n_timeouts = 0;
        }
        answers
    }

    /// Ends a server that answers nothing, without asking it to.
    pub(crate) fn give_up(&self, why: &str) {
        self.shared.update(|state| {
            if !matches!(state.phase, Phase::Gone { .. }) {
                state.phase = Phase::Gone {
                    why: why.to_owned(),
                    at: Instant::now(),
                };
            }
        });
        self.shared
            .pending
            .close(Err(ReplyError::Gone(why.to_owned())));
        self.shared.child.kill_tree(Duration::ZERO);
    }

    /// Ends the server: politely, then not.
    pub fn shut_down(&self) {
        self.shared.shut_down();
        let _ = self.events.send(Event::Stop);
        let owner = self
            .owner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(owner) = owner {
            let _ = owner.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("id", &self.id())
            .field("root", &self.root())
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn documents(&self) -> MutexGuard<'_, Documents> {
        self.documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes everybody who waits for a change.
    fn update<T>(&self, change: impl FnOnce(&mut ServerState) -> T) -> T {
        let res = change(&mut self.lock());
        self.changed.notify_all();
        res
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn gone_error(&self, why: impl Into<String>) -> LspError {
        LspError::Gone {
            server: self.name.clone(),
            why: why.into(),
        }
    }

    fn send(&self, message: &Value) -> Result<(), LspError> {
        let outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(outbox) = &*outbox else {
            return Err(self.gone_error("it was shut down"));
        };
        outbox
            .send(message)
            .map_err(|err| self.gone_error(err.to_string()))
    }

    fn notify(&self, method: &str, params: Value) -> Result<(), LspError> {
        self.send(&message(None, method, params))
    }

    fn request(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Value, LspError> {
        let began = Instant::now();
        let waiting = self.pending.begin();
        if let Some(why) = self.lock().gone() {
            return Err(self.gone_error(why));
        }
        self.send(&message(Some(waiting.id()), method, params))?;
        let (stop, stopped) = crossbeam_channel::bounded::<()>(1);
        let _guard = cancel.on_cancel(move || {
            let _ = stop.try_send(());
        });
        let left = deadline.saturating_duration_since(Instant::now());
        let reply = crossbeam_channel::select! {
            recv(waiting.reply()) -> reply => reply.ok(),
            recv(stopped) -> _ => {
                self.withdraw(waiting.id());
                return Err(LspError::Cancelled);
            }
            default(left) => None,
        };
        match reply {
            Some(Ok(value)) => {
                self.lock().n_timeouts = 0;
                Ok(value)
            }
            Some(Err(ReplyError::Refused(error))) => {
                self.lock().n_timeouts = 0;
                Err(LspError::Refused {
                    server: self.name.clone(),
                    method: method.to_owned(),
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: error["message"].as_str().unwrap_or("no message").to_owned(),
                    data: error.get("data").cloned(),
                })
            }
            Some(Err(ReplyError::Gone(why))) => Err(self.gone_error(why)),
            None => {
                self.withdraw(waiting.id());
                self.lock().n_timeouts += 1;
                Err(LspError::TimedOut {
                    server: self.name.clone(),
                    method: method.to_owned(),
                    after: began.elapsed(),
                })
            }
        }
    }

    /// Tells the server that nobody waits for an answer any more. A late one finds no request.
    fn withdraw(&self, id: i64) {
        let _ = self.notify("$/cancelRequest", json!({ "id": id }));
    }

    fn wait<T>(
        shared: &Arc<Self>,
        deadline: Instant,
        cancel: &Cancel,
        mut look: impl FnMut(&ServerState) -> Option<T>,
    ) -> Option<T> {
        let waker = Arc::downgrade(shared);
        let _guard = cancel.on_cancel(move || {
            if let Some(shared) = waker.upgrade() {
                // Taking the lock orders this after the waiter's look at the token.
                drop(shared.lock());
                shared.changed.notify_all();
            }
        });
        let mut state = shared.lock();
        loop {
            if let Some(found) = look(&state) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || cancel.is_cancelled() {
                return None;
            }
            state = shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// `shutdown`, `exit`, the end of input, SIGTERM, SIGKILL; each with its time.
    fn shut_down(&self) {
        let grace = self.launch.timeouts.shutdown;
        let is_ready = self.lock().phase == Phase::Ready;
        if is_ready {
            let deadline = Instant::now() + grace;
            let _ = self.request("shutdown", Value::Null, deadline, &Cancel::new());
            let _ = self.notify("exit", Value::Null);
        }
        let outbox = self
            .outbox
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(outbox);
        if is_ready {
            self.child.wait_timeout(grace);
        }
        self.child.kill_tree(match is_ready {
            true => grace,
            // It never became a server: there is nothing to be polite about.
            false => Duration::ZERO,
        });
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        // What cannot be removed now is left to the next start.
        drop(scratch.take());
    }
}

/// Writes a request, or a notification where there is no number. Null params are left out.
fn message(id: Option<i64>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    if !params.is_null() {
        message["params"] = params;
    }
    message
}
