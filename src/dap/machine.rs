//! The state of one session: what the adapter said, and what follows from it.
//!
//! A session is starting, running, stopped or at its end. What the adapter says is applied by one thread,
//! in the order in which it came, so a stop that overtakes the answer to the request that caused it is
//! simply earlier. The only other transition is a resume, which takes place before its request is sent.
//! Each stretch between two resumes is an epoch; identifiers carry theirs, so that one from before a resume
//! names nothing afterwards (D19). Nothing here does input or output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::cancel::Cancel;
use crate::dap::breakpoints::Placements;
use crate::dap::error::DapError;
use crate::dap::output::Ring;
use crate::dap::protocol::{Capabilities, flag, int, text};
use crate::limits;

/// Identifiers of one epoch.
const IDS_PER_EPOCH: i64 = 1_000_000;

/// How far a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Starting,
    Running,
    Stopped(Stop),
    Exited(End),
}

/// Where and why the debuggee stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) reason: String,
    /// The adapter's longer words, which may name an exception or a signal.
    pub(crate) description: Option<String>,
    pub(crate) text: Option<String>,
    /// delve leaves it out after a pause.
    pub(crate) thread: Option<i64>,
    /// The breakpoints, as the adapter numbers them.
    pub(crate) hit_ids: Vec<i64>,
    /// Counts the stops of a session.
    pub(crate) serial: u64,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) why: EndReason,
    pub(crate) exit_code: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The program came to its end.
    Exited,
    /// Somebody ended the session.
    Terminated,
    /// Somebody parted from a program that goes on.
    Detached,
    /// The session outlived its time.
    Expired,
    /// The adapter ended in the middle of the session, in this way.
    AdapterDied(String),
}

/// Something to do about an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The debuggee has this process number.
    Debuggee(u32),
}

/// What an identifier that we gave out stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handle {
    Frame(i64),
    Reference(i64),
}

/// All that is known of one session.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) state: State,
    epoch: i64,
    handles: Vec<Handle>,
    known: BTreeMap<Handle, i64>,
    /// How many children a reference of the adapter has, where it said so.
    sizes: BTreeMap<i64, usize>,
    /// The functions of the frames that were given out.
    functions: BTreeMap<i64, String>,
    n_stops: u64,
    /// The adapter takes breakpoints now.
    pub(crate) initialized: bool,
    /// The start is through; what the adapter says on its console is about the program from then on.
    pub(crate) configured: bool,
    pub(crate) exited: bool,
    pub(crate) terminated: bool,
    /// The adapter's stream has ended.
    pub(crate) eof: bool,
    pub(crate) exit_code: Option<i64>,
    /// Why somebody ends the session.
    pub(crate) closing: Option<EndReason>,
    pub(crate) threads: BTreeSet<i64>,
    pub(crate) last_thread: Option<i64>,
    pub(crate) capabilities: Capabilities,
    pub(crate) output: Ring,
    /// The lines of standard output and standard error whose end has not come: adapters send them in
    /// pieces, and two streams in pieces would mix within a line.
    unfinished: [String; 2],
    /// What the adapter said itself.
    pub(crate) words: Ring,
    /// Whether the adapter says such things on the program's standard output, as gdb does.
    pub(crate) speaks_as_program: bool,
    /// The number of the debuggee's process, where the adapter told it.
    pub(crate) debuggee: Option<u32>,
    pub(crate) placements: Placements,
}

impl Machine {
    /// Starts in `epoch`, which must be above those of every session before.
    pub(crate) fn new(epoch: i64) -> Self {
        Self {
            state: State::Starting,
            epoch,
            handles: Vec::new(),
            known: BTreeMap::new(),
            sizes: BTreeMap::new(),
            functions: BTreeMap::new(),
            n_stops: 0,
            initialized: false,
            configured: false,
            exited: false,
            terminated: false,
            eof: false,
            exit_code: None,
            closing: None,
            threads: BTreeSet::new(),
            last_thread: None,
            capabilities: Capabilities::default(),
            output: Ring::new(limits::DEBUG_OUTPUT_BYTES),
            unfinished: [String::new(), String::new()],
            words: Ring::new(limits::DEBUG_WORDS_BYTES),
            speaks_as_program: false,
            debuggee: None,
            placements: Placements::default(),
        }
    }

    pub(crate) fn epoch(&self) -> i64 {
        self.epoch
    }

    pub(crate) fn state_name(&self) -> &'static str {
        match &self.state {
            State::Starting => "starting",
            State::Running => "running",
            State::Stopped(_) => "stopped",
            State::Exited(_) => "exited",
        }
    }

    /// Takes in an event.
    pub(crate) fn apply(&mut self, name: &str, body: &Value) -> Option<Effect> {
        if matches!(name, "stopped" | "exited" | "terminated") {
            self.flush();
        }
        match name {
            "initialized" => self.initialized = true,
            "stopped" => self.stopped(body),
            "continued" => self.continued(body),
            "exited" => {
                self.exited = true;
                self.exit_code = int(body, "exitCode").or(self.exit_code);
            }
            // Some adapters send it twice.
            "terminated" => self.terminated = true,
            "thread" => {
                if let Some(thread) = int(body, "threadId") {
                    if text(body, "reason").as_deref() == Some("exited") {
                        self.threads.remove(&thread);
                    } else {
                        self.threads.insert(thread);
                    }
                }
            }
            "output" => self.wrote(body),
            "breakpoint" => {
                if let Some(breakpoint) = body.get("breakpoint") {
                    self.placements.changed(breakpoint);
                }
            }
            "capabilities" => {
                if let Some(capabilities) = body.get("capabilities") {
                    self.capabilities.merge(capabilities);
                }
            }
            "process" if flag(body, "isLocalProcess") != Some(false) => {
                let pid = int(body, "systemProcessId").and_then(|pid| u32::try_from(pid).ok());
                self.debuggee = pid.filter(|pid| *pid > 1);
                return self.debuggee.map(Effect::Debuggee);
            }
            _ => {}
        }
        None
    }

    /// Begins the next epoch: the debuggee is about to go on.
    pub(crate) fn resume(&mut self) {
        self.next_epoch();
        self.state = State::Running;
    }

    /// Takes a resume back that the adapter refused, unless something happened since.
    pub(crate) fn unresume(&mut self, stop: Stop) {
        if self.state == State::Running {
            self.state = State::Stopped(stop);
        }
    }

    /// The start is through: the debuggee runs, if it does not stand already.
    pub(crate) fn started(&mut self) {
        if self.state == State::Starting {
            self.state = State::Running;
        }
    }

    /// Returns the identifier under which a frame or a reference is given out; 0 stays 0, which stands for
    /// no children.
    pub(crate) fn give(&mut self, handle: Handle) -> i64 {
        if handle == Handle::Reference(0) {
            return 0;
        }
        if let Some(id) = self.known.get(&handle) {
            return *id;
        }
        // Beyond a million nothing more is given out in an epoch; 0 says that there is nothing to expand.
        let index = i64::try_from(self.handles.len()).unwrap_or(IDS_PER_EPOCH) + 1;
        if index >= IDS_PER_EPOCH {
            return 0;
        }
        self.handles.push(handle);
        let id = self.epoch * IDS_PER_EPOCH + index;
        self.known.insert(handle, id);
        id
    }

    /// Returns what an identifier stands for.
    pub(crate) fn take(&self, noun: &'static str, id: i64) -> Result<Handle, DapError> {
        let (epoch, index) = (id.div_euclid(IDS_PER_EPOCH), id.rem_euclid(IDS_PER_EPOCH));
        let found = usize::try_from(index - 1)
            .ok()
            .and_then(|index| self.handles.get(index));
        match found {
            Some(handle) if epoch == self.epoch => Ok(*handle),
            _ if (1..self.epoch).contains(&epoch) => Err(DapError::Stale { noun, id }),
            _ => Err(DapError::not_found(
                format!("there is no {noun} {id}"),
                "use an id from the last stop, `stack`, `scopes` or `variables`",
            )),
        }
    }

    /// Remembers how many children a reference has.
    pub(crate) fn note_size(&mut self, reference: i64, n_children: usize) {
        if n_children > 0 {
            self.sizes.insert(reference, n_children);
        }
    }

    /// How many children a reference has, as far as that was said.
    pub(crate) fn size(&self, reference: i64) -> usize {
        self.sizes.get(&reference).copied().unwrap_or_default()
    }

    /// Remembers the function of a frame that was given out.
    pub(crate) fn name_frame(&mut self, id: i64, function: &str) {
        self.functions.insert(id, function.to_owned());
    }

    /// The function of a frame that was given out.
    pub(crate) fn function(&self, id: i64) -> String {
        self.functions.get(&id).cloned().unwrap_or_default()
    }

    fn next_epoch(&mut self) {
        self.epoch += 1;
        self.handles.clear();
        self.known.clear();
        self.sizes.clear();
        self.functions.clear();
    }

    fn stopped(&mut self, body: &Value) {
        if matches!(self.state, State::Exited(_)) {
            return;
        }
        let hit_ids: Vec<i64> = body
            .get("hitBreakpointIds")
            .and_then(Value::as_array)
            .map(|ids| ids.iter().filter_map(Value::as_i64).collect())
            .unwrap_or_default();
        self.placements.hit(&hit_ids);
        // A thread that stopped besides the one in focus.
        if flag(body, "preserveFocusHint") == Some(true) && matches!(self.state, State::Stopped(_))
        {
            return;
        }
        self.n_stops += 1;
        let thread = int(body, "threadId");
        self.last_thread = thread.or(self.last_thread);
        self.state = State::Stopped(Stop {
            reason: text(body, "reason").unwrap_or_else(|| "unknown".to_owned()),
            description: text(body, "description"),
            text: text(body, "text"),
            thread,
            hit_ids,
            serial: self.n_stops,
        });
    }

    fn continued(&mut self, body: &Value) {
        let State::Stopped(stop) = &self.state else {
            return;
        };
        let all = flag(body, "allThreadsContinued") != Some(false);
        let thread = int(body, "threadId");
        if all || thread.is_none() || thread == stop.thread {
            self.resume();
        }
    }

    /// Takes over lines whose end has not come.
    pub(crate) fn flush(&mut self) {
        for unfinished in &mut self.unfinished {
            self.output.push(&std::mem::take(unfinished));
        }
    }

    /// Puts words of ours where whoever looks for the program's output or the adapter's words finds them.
    pub(crate) fn remark(&mut self, words: &str) {
        self.flush();
        self.words.push(words);
        self.output.push(words);
    }

    fn wrote_stream(&mut self, stream: usize, text: &str) {
        let unfinished = &mut self.unfinished[stream];
        unfinished.push_str(text);
        let whole = match unfinished.rfind('\n') {
            _ if unfinished.len() > UNFINISHED_BYTES => unfinished.len(),
            Some(at) => at + 1,
            None => return,
        };
        self.output.push(&unfinished[..whole]);
        unfinished.drain(..whole);
    }

    fn wrote(&mut self, body: &Value) {
        let Some(text_) = text(body, "output") else {
            return;
        };
        match text(body, "category").as_deref().unwrap_or("console") {
            "telemetry" => {}
            // No program runs before the configuration is done.
            "stdout" if self.speaks_as_program && !self.configured => self.words.push(&text_),
            category @ ("stdout" | "stderr") => {
                self.wrote_stream(usize::from(category == "stderr"), &text_);
                if category == "stderr" && !self.configured {
                    self.words.push(&text_);
                }
            }
            _ => {
                // delve 1.20 tells the exit code nowhere else.
                if self.exit_code.is_none() {
                    self.exit_code = exit_status(&text_);
                }
                self.words.push(&text_);
                // From the start on, what comes on the console is a log point's message or alike.
                if self.configured && !self.terminated && !is_noise(&text_) {
                    self.output.push(&text_);
                }
            }
        }
    }
}

/// Bytes of a line without an end that are held back.
const UNFINISHED_BYTES: usize = 4096;

/// Reads the status out of `Process 42 has exited with status 3`.
fn exit_status(words: &str) -> Option<i64> {
    let (before, after) = words.split_once("exited with status")?;
    if !before.trim_start().starts_with("Process ") {
        return None;
    }
    let number = after.trim_start_matches([' ', '=']);
    let end = number
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(number.len());
    number[..end].parse().ok()
}

/// What adapters say about themselves while the program runs.
fn is_noise(words: &str) -> bool {
    let words = words.trim_start();
    words.is_empty()
        || (words.starts_with("Process ") && words.contains(" exited with status"))
        || [
            "Detaching",
            "Attached to process",
            "Executable binary set to",
            "Launched process",
        ]
        .iter()
        .any(|beginning| words.starts_with(beginning))
        || words.starts_with("Type 'dlv help'")
}

/// A machine that threads share and wait on.
#[derive(Debug)]
pub(crate) struct Monitor {
    machine: Mutex<Machine>,
    changed: Condvar,
}

/// Why a wait brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoChange {
    TimedOut,
    Cancelled,
}

impl Monitor {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine: Mutex::new(machine),
            changed: Condvar::new(),
        }
    }

    /// Looks at the machine, and changes nothing.
    pub(crate) fn look(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the machine and wakes whoever waits for that.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Machine) -> T) -> T {
        let res = change(&mut self.look());
        self.changed.notify_all();
        res
    }

    /// Waits until `ready` gives something.
    pub(crate) fn wait<T>(
        self: &Arc<Self>,
        deadline: Instant,
        cancel: &Cancel,
        mut ready: impl FnMut(&Machine) -> Option<T>,
    ) -> Result<T, NoChange> {
        let monitor = Arc::clone(self);
        let _guard = cancel.on_cancel(move || {
            // Under the lock, so that the waiting thread is either before its look at the token or waits.
            let _machine = monitor.look();
            monitor.changed.notify_all();
        });
        let mut machine = self.look();
        loop {
            if let Some(found) = ready(&machine) {
                return Ok(found);
            }
            if cancel.is_cancelled() {
                return Err(NoChange::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoChange::TimedOut);
            }
            (machine, _) = self
                .changed
                .wait_timeout(machine, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests;
