//! Ends the children of a host that is told to end.

use std::fmt;
use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

use crate::child::Processes;

/// Keeps the handling of signals in force; dropping it gives the signals up.
#[must_use = "dropping the guard gives the signals up"]
pub struct SignalGuard {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Processes {
    /// On SIGTERM, SIGHUP and SIGINT, ends every child as [`Processes::end_all`] does and then ends this
    /// process by the same signal, so that whoever waits for it sees the truth.
    ///
    /// It is for a command that owns its process; a library inside another host leaves signals alone.
    pub fn end_on_signals(&self, grace: Duration) -> io::Result<SignalGuard> {
        let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT])?;
        let handle = signals.handle();
        let processes = self.clone();
        let thread = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    processes.end_all(grace);
                    // It fails for signals that it does not know; these three it knows.
                    let _ = emulate_default_handler(signal);
                }
            })?;
        Ok(SignalGuard {
            handle,
            thread: Some(thread),
        })
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for SignalGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalGuard").finish_non_exhaustive()
    }
}
