//! What all debug sessions of a process share.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::child::{Env, Processes};
use crate::dap::adapters::{AdapterRow, with_users};
use crate::dap::clock::{Clock, SystemClock};
use crate::dap::conversation::Conversation;
use crate::dap::session::Ground;
use crate::limits;
use crate::workspace::Workspace;

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timings {
    /// How long a session lives (R73).
    pub lifetime: Duration,
    /// How long a call waits for a stop (D19).
    pub stop_wait: Duration,
    /// How long a launch without breakpoints waits for one.
    pub free_run_wait: Duration,
    /// How long an adapter may take to be reached and to say what it can do.
    pub hello_wait: Duration,
    /// How long a start may take.
    pub start_wait: Duration,
    /// How long one request may take.
    pub request_wait: Duration,
    /// How long a build before a launch may take.
    pub build_wait: Duration,
    /// How long an adapter may take to part from its debuggee before it is killed.
    pub part_wait: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            lifetime: limits::DEBUG_LIFETIME,
            stop_wait: limits::DEBUG_STOP_WAIT,
            free_run_wait: limits::DEBUG_FREE_RUN_WAIT,
            hello_wait: limits::DEBUG_HELLO_WAIT,
            start_wait: limits::DEBUG_START_WAIT,
            request_wait: limits::DEBUG_REQUEST_WAIT,
            build_wait: limits::DEBUG_BUILD_WAIT,
            part_wait: limits::DEBUG_PART_WAIT,
        }
    }
}

/// What the host decides about debug sessions.
#[derive(Clone, Debug)]
pub struct Options {
    /// The environment of adapters and debuggees; adapters are looked up in its `PATH`.
    pub env: Env,
    /// Adapters of the user; one of a known name takes its place.
    pub adapters: Vec<AdapterRow>,
    /// How long things may take.
    pub timings: Timings,
    /// The clock that the lifetime is measured by.
    pub clock: Arc<dyn Clock>,
}

impl Options {
    /// The defaults, in this environment.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            adapters: Vec::new(),
            timings: Timings::default(),
            clock: Arc::new(SystemClock::default()),
        }
    }
}

/// Starts debug sessions; a process has one, and clones share it.
#[derive(Clone)]
pub struct Supervisor(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) ground: Ground,
    pub(crate) env: Env,
    pub(crate) rows: Vec<AdapterRow>,
    /// The conversations that have a session; two runs may share a conversation.
    live: Mutex<BTreeSet<String>>,
}

/// The right of a conversation to its one session.
#[derive(Debug)]
pub(crate) struct Claim {
    shared: Arc<Shared>,
    conversation: String,
}

impl Supervisor {
    /// Makes a supervisor that starts its adapters through `processes`.
    pub fn new(processes: Processes, options: Options) -> Self {
        Self(Arc::new(Shared {
            ground: Ground {
                processes,
                clock: options.clock,
                timings: options.timings,
            },
            env: options.env,
            rows: with_users(&options.adapters),
            live: Mutex::default(),
        }))
    }

    /// Opens the debugger of a conversation; dropping it ends its session.
    pub fn conversation(&self, id: impl Into<String>, workspace: Workspace) -> Conversation {
        Conversation::new(Arc::clone(&self.0), id.into(), workspace)
    }
}

impl Shared {
    /// Claims the one session of a conversation; `None` while it has one.
    pub(crate) fn claim(self: &Arc<Self>, conversation: &str) -> Option<Claim> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.insert(conversation.to_owned()).then(|| Claim {
            shared: Arc::clone(self),
            conversation: conversation.to_owned(),
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut live = self
            .shared
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        live.remove(&self.conversation);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Shared")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
