//! How a child ended, and waiting for it.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::cancel::Cancel;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended itself with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// The kernel gave no status, because somebody else reaped the child.
    Unknown,
}

/// What a wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The child ended.
    Exited(Exit),
    /// It still runs after the timeout.
    TimedOut,
    /// The token was cancelled first.
    Cancelled,
}

impl Exit {
    /// Tells whether the child ended with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// Returns the status, if the child ended itself.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Unknown => None,
        }
    }

    /// Returns the name of the signal that ended the child, such as `SIGSEGV`.
    pub fn signal_name(self) -> Option<String> {
        match self {
            Self::Signal(signal) => Some(signal_name(signal)),
            Self::Code(_) | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "killed by {}", signal_name(*signal)),
            Self::Unknown => f.write_str("ended with an unknown status"),
        }
    }
}

/// Returns the name of a signal, such as `SIGKILL`.
pub(crate) fn signal_name(signal: i32) -> String {
    match signal_hook::low_level::signal_name(signal) {
        Some(name) => name.to_owned(),
        None => match extra_name(signal) {
            Some(name) => name.to_owned(),
            None => format!("signal {signal}"),
        },
    }
}

/// The names that the signal crate leaves out.
fn extra_name(signal: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    const NAMES: [(Signal, &str); 2] = [(Signal::STKFLT, "SIGSTKFLT"), (Signal::POWER, "SIGPWR")];
    NAMES
        .iter()
        .find(|(known, _)| known.as_raw() == signal)
        .map(|(_, name)| *name)
}

/// Blocks until the process has ended, and leaves it to be reaped later.
pub(crate) fn wait_without_reaping(pid: Pid) -> Exit {
    loop {
        match waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        ) {
            Ok(Some(status)) => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, Some(signal)) => Exit::Signal(signal),
                    (None, None) => Exit::Unknown,
                };
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return Exit::Unknown,
        }
    }
}

/// Where the reaper leaves the status for all who wait.
#[derive(Debug, Default)]
pub(crate) struct ExitCell {
    exit: Mutex<Option<Exit>>,
    settled: Condvar,
}

impl ExitCell {
    pub(crate) fn settle(&self, exit: Exit) {
        *self.lock() = Some(exit);
        self.settled.notify_all();
    }

    pub(crate) fn get(&self) -> Option<Exit> {
        *self.lock()
    }

    pub(crate) fn wait(self: &Arc<Self>, timeout: Duration, cancel: &Cancel) -> Waited {
        let deadline = Instant::now().checked_add(timeout);
        let cell = Arc::clone(self);
        let _guard = cancel.on_cancel(move || {
            // Taking the lock orders this after the waiter's look at the token.
            drop(cell.lock());
            cell.settled.notify_all();
        });
        let mut exit = self.lock();
        loop {
            if let Some(exit) = *exit {
                return Waited::Exited(exit);
            }
            if cancel.is_cancelled() {
                return Waited::Cancelled;
            }
            exit = match deadline {
                None => self
                    .settled
                    .wait(exit)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Waited::TimedOut;
                    }
                    self.settled
                        .wait_timeout(exit, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Exit>> {
        self.exit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
