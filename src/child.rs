//! Child processes: the only place that starts any.
//!
//! Every child leads a process group or session of its own, gets exactly the environment and folder that
//! the caller names, and ends with the handle that stands for it, together with everything it started.
//! Its leader stays unreaped until then, so that its number cannot be given to a foreign process while
//! the group may still be signalled. When the host itself is killed, a watcher process (see
//! [`watcher`]) ends what is left. This module knows no protocol and no tool. It needs Linux: process
//! descriptors and `/proc` are what makes the ends of trees certain.

mod capture;
mod drain;
mod exit;
mod program;
mod signals;
pub(crate) mod stoppable;
mod tree;
pub mod watcher;

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;

pub use crate::child::capture::{Capture, Captured};
pub use crate::child::exit::{Exit, Waited};
pub(crate) use crate::child::program::is_program;
pub use crate::child::program::{Env, Isolation, Program, Stderr, Stream};
pub use crate::child::signals::SignalGuard;
pub use crate::child::watcher::Watch;

use crate::cancel::Cancel;
use crate::child::drain::Tail;
use crate::child::exit::ExitCell;
use crate::child::tree::Root;
use crate::child::watcher::Watcher;

/// How long the drop of a child waits for the kernel to end it. Only a process that hangs in the kernel
/// takes longer; it is left to the watcher then.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// Starts children and knows those that live; clones share them.
///
/// The host makes one and passes it to whatever starts processes.
#[derive(Clone, Debug)]
pub struct Processes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    watch: Watch,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    closed: bool,
    last_id: u64,
    live: BTreeMap<u64, Root>,
    /// Started with the first child: a host that starts none pays for none.
    watcher: Option<Watcher>,
}

/// A child; dropping it kills it and everything that it started.
#[derive(Debug)]
pub struct Child {
    processes: Processes,
    id: u64,
    root: Root,
    process: std::process::Child,
    exit: Arc<ExitCell>,
    reaper: Option<JoinHandle<()>>,
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    tail: Option<Tail>,
}

/// A process that a child started and that ends with this handle, such as a debuggee that its adapter put
/// into a group of its own.
#[derive(Debug)]
pub struct Adopted {
    processes: Processes,
    id: u64,
    root: Root,
}

impl Processes {
    /// Makes a starter of children; `watch` says who ends them when this process is killed.
    pub fn new(watch: Watch) -> Self {
        Self(Arc::new(Shared {
            watch,
            table: Mutex::default(),
        }))
    }

    /// Starts a child.
    pub fn spawn(&self, program: &Program) -> io::Result<Child> {
        let mut command = program.command();
        let mut stdin = None;
        let mut stdout = None;
        let mut stderr = None;
        let mut stdout_writer = None;
        if program.stdin == Stream::Piped {
            let (reader, writer) = io::pipe()?;
            command.stdin(reader);
            stdin = Some(writer);
        }
        if program.stdout == Stream::Piped {
            let (reader, writer) = io::pipe()?;
            stdout_writer = Some(writer.try_clone()?);
            command.stdout(writer);
            stdout = Some(reader);
        }
        match program.stderr {
            Stderr::Null => {}
            Stderr::Piped | Stderr::Tail(_) => {
                let (reader, writer) = io::pipe()?;
                command.stderr(writer);
                stderr = Some(reader);
            }
            Stderr::WithStdout => {
                command.stderr(stdout_writer.take().map_or_else(Stdio::null, Stdio::from));
            }
        }
        drop(stdout_writer);

        let (id, root, process) = self.start(command, program.isolation)?;
        let exit = Arc::new(ExitCell::default());
        // From here on the handle exists, and its drop ends the child whatever fails below.
        let mut child = Child {
            processes: self.clone(),
            id,
            root,
            process,
            exit: Arc::clone(&exit),
            reaper: None,
            stdin,
            stdout,
            stderr,
            tail: None,
        };
        let pid = child.root.pid;
        let reaper = std::thread::Builder::new().name(format!("reap-{pid}"));
        child.reaper = Some(reaper.spawn(move || exit.settle(exit::wait_without_reaping(pid)))?);
        if let Stderr::Tail(bytes) = program.stderr
            && let Some(stderr) = child.stderr.take()
        {
            child.tail = Some(Tail::start(&format!("stderr-{pid}"), stderr, bytes)?);
        }
        Ok(child)
    }

    /// Starts a process that outlives this one, in a session of its own; returns its number.
    ///
    /// Nobody records or ends it. It is meant for a background host that ends itself.
    pub fn spawn_detached(program: &Program) -> io::Result<u32> {
        let mut command = program.command();
        before_exec(&mut command, Isolation::Session, None);
        command.spawn().map(|process| process.id())
    }

    /// Takes charge of a process that a child started: it and its group end with the handle, and with the
    /// host. Fails when no such process lives.
    pub fn adopt(&self, pid: u32) -> io::Result<Adopted> {
        let pid = tree::pid(pid).ok_or(io::ErrorKind::InvalidInput)?;
        let root = Root {
            pid,
            start: tree::start_time(pid).ok_or(io::ErrorKind::NotFound)?,
            pinned: false,
            keeper: false,
        };
        let mut table = self.lock();
        table.ready(&self.0.watch)?;
        let id = table.next_id();
        table.record(id, root)?;
        drop(table);
        Ok(Adopted {
            processes: self.clone(),
            id,
            root,
        })
    }

    /// Ends every child and refuses new ones: SIGTERM, then SIGKILL to what is left after `grace`.
    pub fn end_all(&self, grace: Duration) {
        // The lock is held throughout: no handle may reap a leader while its group is signalled here, and
        // nobody may start a child that this would miss.
        let mut table = self.lock();
        table.closed = true;
        let roots: Vec<Root> = table.live.values().copied().collect();
        tree::end(&roots, grace);
    }

    /// Returns the numbers of the children and adopted processes in charge, the oldest first.
    pub fn pids(&self) -> Vec<u32> {
        self.lock()
            .live
            .values()
            .map(|root| root.pid.as_raw_nonzero().get().unsigned_abs())
            .collect()
    }

    /// Returns how many children and adopted processes are in charge.
    pub fn live(&self) -> usize {
        self.lock().live.len()
    }

    fn start(
        &self,
        mut command: Command,
        isolation: Isolation,
    ) -> io::Result<(u64, Root, std::process::Child)> {
        let mut table = self.lock();
        let record = table.ready(&self.0.watch)?;
        let id = table.next_id();
        before_exec(&mut command, isolation, Some((record, id)));
        // The lock is held while the child starts, so that `end_all` sees every child or prevents it.
        match command.spawn() {
            Ok(process) => {
                let pid =
                    tree::pid(process.id()).expect("the kernel gives positive process numbers");
                // A child that nobody reaped has a start time, even when it has exited.
                let root = Root {
                    pid,
                    start: tree::start_time(pid).unwrap_or_default(),
                    pinned: true,
                    keeper: isolation == Isolation::Keeper,
                };
                table.live.insert(id, root);
                Ok((id, root, process))
            }
            Err(error) => {
                // The record may have been written before the exec failed.
                table.forget(id);
                Err(error)
            }
        }
    }

    /// Ends what `root` leads at once, then lets `reap` free its number.
    fn release(&self, id: u64, root: Root, reap: impl FnOnce() -> bool) {
        tree::end(&[root], Duration::ZERO);
        let mut table = self.lock();
        if reap() {
            table.forget(id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Makes sure that a watcher lives and knows every record; returns where records are written.
    fn ready(&mut self, watch: &Watch) -> io::Result<Arc<OwnedFd>> {
        if self.closed {
            return Err(io::Error::other("the host is ending its processes"));
        }
        if let Some(watcher) = &mut self.watcher
            && !watcher.is_alive()
        {
            self.watcher = None;
        }
        if self.watcher.is_none() {
            let watcher = Watcher::start(watch)?;
            for (id, root) in &self.live {
                watcher.record(*id, *root)?;
            }
            self.watcher = Some(watcher);
        }
        let watcher = self.watcher.as_ref().expect("it was started above");
        Ok(watcher.records())
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn record(&mut self, id: u64, root: Root) -> io::Result<()> {
        if let Some(watcher) = &self.watcher {
            watcher.record(id, root)?;
        }
        self.live.insert(id, root);
        Ok(())
    }

    fn forget(&mut self, id: u64) {
        self.live.remove(&id);
        if let Some(watcher) = &self.watcher {
            // A watcher that is gone has forgotten anyway; the next start of a child replaces it.
            let _ = watcher.forget(id);
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // A child that hung in the kernel beyond the patience of its handle is still in charge.
        if !self.live.is_empty()
            && let Some(watcher) = self.watcher.take()
        {
            watcher.abandon();
        }
    }
}

impl Child {
    /// Returns the process number, which is also that of the group, and of the session if it leads one.
    pub fn pid(&self) -> u32 {
        self.root.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Takes the writing end of standard input; dropping it is the end of input.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        self.stdin.take()
    }

    /// Takes the reading end of standard output.
    pub fn take_stdout(&mut self) -> Option<PipeReader> {
        self.stdout.take()
    }

    /// Takes the reading end of standard error, if it was piped.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        self.stderr.take()
    }

    /// Returns the last that the child wrote to standard error, if a tail is kept.
    ///
    /// After the exit it waits a moment for what is still in the pipe.
    pub fn stderr_tail(&self) -> String {
        let Some(tail) = &self.tail else {
            return String::new();
        };
        if self.exit.get().is_some() {
            // A grandchild may hold the pipe open for ever, so the wait is bounded.
            tail.wait_for_end(Duration::from_millis(200));
        }
        tail.text()
    }

    /// Returns how the child ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.exit.get()
    }

    /// Waits for the end of the child; `None` when it still runs after `timeout`.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<Exit> {
        match self.wait(timeout, &Cancel::new()) {
            Waited::Exited(exit) => Some(exit),
            Waited::TimedOut | Waited::Cancelled => None,
        }
    }

    /// Waits for the end of the child, the timeout or the cancel, whichever comes first.
    pub fn wait(&self, timeout: Duration, cancel: &Cancel) -> Waited {
        self.exit.wait(timeout, cancel)
    }

    /// Sends SIGINT to the child's group, as a terminal does on Ctrl-C.
    pub fn interrupt(&self) {
        // An empty group is no error: the child has ended, and its number is still its own.
        let _ = rustix::process::kill_process_group(self.root.pid, Signal::INT);
    }

    /// Waits until nothing lives that the child started, at most `patience`; returns how many processes do.
    ///
    /// What a descendant orphaned is known only of a child that leads [`Isolation::Keeper`].
    pub fn others(&self, patience: Duration) -> usize {
        tree::others(self.root, patience)
    }

    /// Ends the child and everything that it started: SIGTERM, then SIGKILL to what is left after `grace`.
    pub fn kill_tree(&self, grace: Duration) -> Option<Exit> {
        tree::end(&[self.root], grace);
        self.wait_timeout(KILL_WAIT)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Closing our ends first frees a child that is blocked on them. A keeper may take the end of its
        // input for its own, and must be there until its tree has ended.
        if !self.root.keeper {
            self.stdin = None;
        }
        self.stdout = None;
        self.stderr = None;
        let processes = self.processes.clone();
        processes.release(self.id, self.root, || {
            if self.reaper.is_some()
                && self.exit.wait(KILL_WAIT, &Cancel::new()) == Waited::TimedOut
            {
                return false;
            }
            self.process.wait().is_ok()
        });
        if self.exit.get().is_some()
            && let Some(reaper) = self.reaper.take()
        {
            // It has settled the cell, so it is at its last instruction.
            let _ = reaper.join();
        }
    }
}

impl Drop for Adopted {
    fn drop(&mut self) {
        self.processes.release(self.id, self.root, || true);
    }
}

/// Prepares what happens in the child between fork and exec: it takes its place in a group or session and
/// writes its own record to the watcher.
///
/// The child writes it and not the host, because only so is there no moment in which the child runs and
/// nobody knows: until the exec it holds the pipe open that the watcher waits on.
#[expect(unsafe_code, reason = "code between fork and exec")]
fn before_exec(command: &mut Command, isolation: Isolation, record: Option<(Arc<OwnedFd>, u64)>) {
    if isolation == Isolation::Group {
        command.process_group(0);
    }
    // A host that was started in the background or by nohup ignores signals, and what is ignored stays so
    // across an exec: an interpreter in it could never be interrupted.
    const DEFAULTED: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
    // SAFETY: between fork and exec of a process with threads only async-signal-safe work is allowed. The
    // closure makes system calls (sigaction, setsid, prctl, getpid, open, read, write, close, close_range) on memory
    // of its own stack; it neither allocates nor frees nor locks, and cannot panic. `signal` is given valid numbers
    // and the default action.
    unsafe {
        command.pre_exec(move || {
            for signal in DEFAULTED {
                libc::signal(signal, libc::SIG_DFL);
            }
            if isolation != Isolation::Group {
                rustix::process::setsid()?;
                // The mark stays across the exec, and no child inherits it.
                rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
            }
            if let Some((records, id)) = &record {
                watcher::record_self(records.as_fd(), *id)?;
            }
            // What the host itself was given by mistake (the pipe of a script around it) must not be held
            // open by what outlives the host. Linux before 5.11 does not know the flag; nothing is lost.
            libc::close_range(
                3,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC.cast_signed(),
            );
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_in_charge_at_the_end_is_left_to_the_watcher() {
        let processes = Processes::new(Watch::Shell);
        let mut hanging = Program::new("/bin/sleep", "/", Env::new())
            .args(["600"])
            .command();
        let mut hanging = hanging.spawn().expect("spawn");
        let adopted = processes.adopt(hanging.id()).expect("it lives");
        // As if the kernel had not let it end: the record stays, and the last handle goes.
        let table = std::mem::take(&mut *processes.lock());
        assert_eq!(table.live.len(), 1);
        drop(table);
        assert!(
            tree::await_end_of(hanging.id(), Duration::from_secs(20)),
            "it lives on"
        );
        hanging.wait().expect("it has ended");
        drop(adopted);
    }
}
