//! The keeper of a session: the thread that owns its processes, and the only one that ends them.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use serde_json::json;
use tempfile::TempDir;

use crate::cancel::Cancel;
use crate::child::Adopted;
use crate::dap::breakpoints;
use crate::dap::client::Client;
use crate::dap::machine::{End, EndReason, Monitor, State};
use crate::dap::transport::Link;

/// How long the last words of an adapter are waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Longer than any session.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// A thread whose end can be waited for within a bound.
pub(super) struct Helper {
    thread: JoinHandle<()>,
    done: Receiver<()>,
}

/// What the keeper owns.
pub(super) struct Kept {
    pub(super) monitor: Arc<Monitor>,
    pub(super) client: Arc<Client>,
    pub(super) link: Link,
    pub(super) reading: JoinHandle<()>,
    pub(super) beside: Option<Helper>,
    pub(super) adopted: Arc<Mutex<Vec<Adopted>>>,
    pub(super) scratch: Option<TempDir>,
    pub(super) launched: bool,
    /// Whether a debuggee that is left must be told to go on.
    pub(super) halts: bool,
    pub(super) part_wait: Duration,
    pub(super) stop_timer: Cancel,
}

impl Kept {
    /// Waits for the end of the session, whatever its cause, and makes it one.
    pub(super) fn keep(mut self) {
        let none = Cancel::new();
        loop {
            let over = self
                .monitor
                .wait(Instant::now() + FOR_EVER, &none, |machine| {
                    let over = machine.exited
                        || machine.terminated
                        || machine.eof
                        || machine.closing.is_some();
                    over.then_some(())
                });
            if over.is_ok() {
                break;
            }
        }
        self.part();
        let mut words = String::new();
        let mut stderr = String::new();
        if let Some(child) = self.link.child.take() {
            // lldb of versions 14 and 19 hangs after a failed launch; asked politely it goes.
            let closed = self.monitor.look().eof;
            // An adapter that closed its stream is about to end, and how it ends is worth knowing.
            let patience = if closed { LAST_WORDS } else { Duration::ZERO };
            let by_itself = child.wait_timeout(patience);
            let exit = by_itself.or_else(|| child.kill_tree(Duration::from_millis(500)));
            words = match (by_itself, exit) {
                (Some(exit), _) => exit.to_string(),
                (None, Some(_)) => "it closed its stream and hung".to_owned(),
                (None, None) => "it could not be ended".to_owned(),
            };
            stderr = child.stderr_tail();
        }
        let adopted =
            std::mem::take(&mut *self.adopted.lock().unwrap_or_else(PoisonError::into_inner));
        drop(adopted);
        if let Some(socket) = &self.link.socket {
            // The reading thread ends with it.
            let _ = socket.shutdown(Shutdown::Both);
        }
        let _ = self
            .monitor
            .wait(Instant::now() + LAST_WORDS, &none, |machine| {
                machine.eof.then_some(())
            });
        if self.monitor.look().eof {
            let _ = self.reading.join();
        }
        if let Some(beside) = self.beside {
            beside.finish(LAST_WORDS);
        }
        drop(self.scratch);
        self.stop_timer.cancel();
        self.monitor.change(|machine| {
            machine.flush();
            let natural = machine.exited || machine.terminated;
            if !natural && !stderr.trim().is_empty() {
                machine.words.push(&stderr);
            }
            let died = machine.closing == Some(EndReason::Terminated) && !machine.configured;
            let why = match machine.closing.take() {
                Some(why) if !died || natural => why,
                _ if natural => EndReason::Exited,
                _ if words.is_empty() => EndReason::AdapterDied("its stream ended".to_owned()),
                _ => EndReason::AdapterDied(words),
            };
            // A program that is ended from outside has no code of its own.
            let exit_code = machine.exit_code.filter(|_| why == EndReason::Exited);
            machine.state = State::Exited(End { why, exit_code });
        });
    }

    /// Takes the breakpoints off a debuggee that is left, and lets it go on: delve leaves it as it is, halted
    /// or about to halt where nobody looks.
    fn let_go(&self) {
        let none = Cancel::new();
        let (files, stopped) = {
            let machine = self.monitor.look();
            let placed = machine.placements.iter();
            let files: BTreeSet<PathBuf> = placed.map(|(path, _)| path.to_owned()).collect();
            let stopped = match &machine.state {
                State::Stopped(stop) => Some(stop.thread.unwrap_or(1)),
                State::Starting | State::Running | State::Exited(_) => None,
            };
            (files, stopped)
        };
        for file in files {
            let arguments = breakpoints::request(&file, &[]);
            // Whatever it answers, the leave is taken.
            let _ = self
                .client
                .request("setBreakpoints", arguments, self.part_wait, &none);
        }
        if let Some(thread) = stopped {
            let arguments = json!({ "threadId": thread });
            let _ = self
                .client
                .request("continue", arguments, self.part_wait, &none);
        }
    }

    /// Takes leave of the adapter within a bound.
    fn part(&self) {
        let none = Cancel::new();
        let settle = {
            let machine = self.monitor.look();
            match () {
                () if machine.eof || machine.closing.is_some() => Duration::ZERO,
                // The other of the two events follows, if the adapter sends it at all.
                () if machine.exited => LAST_WORDS,
                () => Duration::from_millis(300),
            }
        };
        let _ = self
            .monitor
            .wait(Instant::now() + settle, &none, |machine| {
                let both = machine.exited && machine.terminated;
                (both || machine.eof || machine.closing.is_some()).then_some(())
            });
        let (eof, kill) = {
            let machine = self.monitor.look();
            let detach = machine.closing == Some(EndReason::Detached)
                || (!self.launched && machine.closing != Some(EndReason::Terminated));
            (machine.eof, !detach)
        };
        if !eof && !kill && self.halts {
            self.let_go();
        }
        if !eof {
            let arguments = json!({"restart": false, "terminateDebuggee": kill});
            // Whatever it answers, and if nothing, the rest is done without it.
            let _ = self
                .client
                .request("disconnect", arguments, self.part_wait, &none);
        }
        // debugpy stays until its input ends.
        self.client.close();
        let wait = if self.link.child.is_some() {
            self.part_wait.min(LAST_WORDS)
        } else {
            Duration::ZERO
        };
        let _ = self.monitor.wait(Instant::now() + wait, &none, |machine| {
            machine.eof.then_some(())
        });
    }
}

impl Helper {
    pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let (sender, done) = crossbeam_channel::bounded(1);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                work();
                drop(sender);
            })?;
        Ok(Self { thread, done })
    }

    /// Waits for the end within a bound: a process that left its session may hold a pipe open for ever.
    fn finish(self, wait: Duration) {
        let ended = !matches!(
            self.done.recv_timeout(wait),
            Err(crossbeam_channel::RecvTimeoutError::Timeout)
        );
        if ended {
            let _ = self.thread.join();
        }
    }
}

/// Moves what a program writes beside the protocol into the output of the session.
pub(super) fn pump(mut pipe: impl Read, monitor: &Monitor, is_debuggees: bool) {
    let mut buffer = [0; 8192];
    while let Ok(n @ 1..) = pipe.read(&mut buffer) {
        monitor.change(|machine| {
            if is_debuggees && machine.configured {
                machine.output.push_bytes(&buffer[..n]);
            } else {
                machine.words.push_bytes(&buffer[..n]);
            }
        });
    }
}
