//! One cell from its first frame to its end: the only loop on the host.
//!
//! Execute; read output, displays and bridged calls as they come; end when the interpreter says so or is
//! gone. Before a frame is looked at, the raw output that was written before it is taken, which keeps
//! output and displays in order. While a bridged call is out the clock of inactivity stands still (R112).

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cancel::Cancel;
use crate::child::Exit;
use crate::kernel::present::{display_of, result_of, return_line};
use crate::kernel::process::{Kernel, Late, Wake, decode};
use crate::kernel::protocol::{Done, DoneStatus, FromKernel, Return, ToKernel};
use crate::kernel::script::{Names, Script};
use crate::kernel::transcript::Transcript;
use crate::kernel::{
    CallFailure, CallReply, Cell, CellError, CellHost, CellReport, CellStatus, Display,
    KernelError, KernelOptions, Language, StopReason,
};
use crate::limits;

/// What a cell talks through.
pub(crate) struct Conversation<'a> {
    kernel: Kernel,
    options: &'a KernelOptions,
    host: &'a Arc<dyn CellHost>,
    cancel: &'a Cancel,
    cell: u64,
    transcript: Transcript,
    displays: Vec<(u64, Display)>,
    dropped: usize,
    calls: Calls,
    budget: Option<Duration>,
    /// What the cell declares, once it has been read.
    names: Option<Names>,
    /// The last sign of life.
    last: Instant,
    stopping: Option<Stopping>,
}

/// The cell was asked to stop.
#[derive(Clone, Copy)]
struct Stopping {
    reason: StopReason,
    since: Instant,
    nudged: Instant,
    killed: bool,
}

/// How often an interrupt is repeated within the grace.
const NUDGE: Duration = Duration::from_millis(250);

/// How a cell ended.
enum End {
    Done(Done),
    Died(Option<Exit>),
}

/// Bridged calls that are under way.
struct Calls {
    tokens: BTreeMap<u64, Cancel>,
    waiting: VecDeque<(u64, String, Value)>,
    /// Calls whose threads have not come back, those that the cell gave up included.
    n_running: usize,
    results: Receiver<(u64, Result<CallReply, CallFailure>)>,
    sender: Sender<(u64, Result<CallReply, CallFailure>)>,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(
        kernel: Kernel,
        options: &'a KernelOptions,
        host: &'a Arc<dyn CellHost>,
        cancel: &'a Cancel,
    ) -> Self {
        let (sender, results) = channel();
        Self {
            kernel,
            options,
            host,
            cancel,
            cell: 0,
            transcript: Transcript::new(options.spill.as_deref()),
            displays: Vec::new(),
            dropped: 0,
            calls: Calls {
                tokens: BTreeMap::new(),
                waiting: VecDeque::new(),
                n_running: 0,
                results,
                sender,
            },
            budget: options.budget,
            names: None,
            last: Instant::now(),
            stopping: None,
        }
    }

    /// Runs the cell; the kernel comes back when it lives.
    pub(crate) fn run(
        mut self,
        cell: &Cell<'_>,
    ) -> Result<(CellReport, Option<Kernel>), KernelError> {
        let raw = Arc::clone(&self.kernel.raw);
        let wake = self.kernel.wake.clone();
        let waker = self.cancel.on_cancel(move || wake.wake());
        let mut late = raw.lock();
        let end = self.talk(cell, &mut late);
        let n_left = self.end_calls();
        drop(late);
        drop(waker);
        let (mut report, kernel) = self.finish(end?);
        if n_left > 0 {
            report.note = Some(format!(
                "{n_left} bridged {} did not stop when cancelled and may still run",
                if n_left == 1 { "call" } else { "calls" }
            ));
        }
        Ok((report, kernel))
    }

    fn talk(&mut self, cell: &Cell<'_>, late: &mut Late) -> io::Result<End> {
        self.take_late(late);
        self.budget = cell.budget.unwrap_or(self.budget);
        self.kernel.n_cells += 1;
        self.cell = self.kernel.n_cells;
        let script = match cell.language {
            Language::Python => None,
            Language::JavaScript => Some(Script::of(cell.code, &self.kernel.names)),
        };
        let line = ToKernel::Exec {
            id: self.cell,
            n: self.cell,
            code: script.as_ref().map_or(cell.code, |script| &script.code),
            source: script.as_ref().map(|_| cell.code),
            echo: script.as_ref().map(|script| script.echo),
        }
        .to_line();
        self.kernel.send(&line);
        self.names = script.map(|script| script.names);
        self.last = Instant::now();
        loop {
            if self.cancel.is_cancelled() && self.stopping.is_none() {
                self.stop(StopReason::Cancel);
            }
            self.answer_calls();
            let timeout = self.patience();
            let seen = self.kernel.wait(timeout)?;
            let mut frames = match seen.frames {
                true => self.kernel.read_frames(),
                false => Vec::new(),
            };
            if seen.raw || seen.ended || !frames.is_empty() {
                self.drain();
            }
            if seen.ended {
                // What it had sent before it ended still counts.
                loop {
                    let more = self.kernel.read_frames();
                    if more.is_empty() {
                        break;
                    }
                    frames.extend(more);
                }
                self.drain();
            }
            for frame in frames {
                if let Some(end) = self.handle(frame) {
                    self.abandon_calls();
                    return Ok(end);
                }
            }
            if seen.ended {
                return Ok(End::Died(self.kernel.await_exit()));
            }
        }
    }

    /// Takes what was printed since the last cell, and says that it is of then.
    fn take_late(&mut self, late: &mut Late) {
        let raw = Arc::clone(&self.kernel.raw);
        raw.drain(&mut vec![0; 1 << 16], &mut |bytes| late.push(bytes));
        if self.kernel.is_relayed() {
            loop {
                let frames = self.kernel.read_frames();
                if frames.is_empty() {
                    break;
                }
                for frame in frames {
                    if let FromKernel::Raw { data } = frame {
                        late.push(&decode(&data));
                    }
                }
            }
        }
        if late.bytes.is_empty() {
            return;
        }
        let label = match self.kernel.n_cells {
            0 => "[printed while the interpreter started]\n",
            _ => "[printed after the previous cell had ended]\n",
        };
        self.transcript.push(label.as_bytes());
        self.transcript.push(&late.bytes);
        if late.bytes.last() != Some(&b'\n') {
            self.transcript.push(b"\n");
        }
        self.transcript.push(b"[this cell]\n");
        *late = Late::default();
    }

    /// Returns how long to wait for the next event; interrupts or kills when the time for it has come.
    fn patience(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if let Some(stopping) = &mut self.stopping {
            if stopping.killed {
                return None;
            }
            let left = (stopping.since + self.options.grace).saturating_duration_since(now);
            if left.is_zero() {
                stopping.killed = true;
                self.kernel.kill();
                return Some(Duration::ZERO);
            }
            if now.duration_since(stopping.nudged) >= NUDGE {
                stopping.nudged = now;
                self.kernel.nudge();
            }
            return Some(left.min(NUDGE));
        }
        if !self.calls.tokens.is_empty() {
            return None;
        }
        // A time too far to be named never comes.
        let deadline = self.last.checked_add(self.budget?)?;
        let left = deadline.saturating_duration_since(now);
        if left.is_zero() {
            self.stop(StopReason::Inactivity);
            return Some(self.options.grace.min(NUDGE));
        }
        Some(left)
    }

    fn stop(&mut self, reason: StopReason) {
        let now = Instant::now();
        self.stopping = Some(Stopping {
            reason,
            since: now,
            nudged: now,
            killed: false,
        });
        if self.kernel.language == Language::JavaScript || self.kernel.is_relayed() {
            self.kernel
                .send(&ToKernel::Interrupt { id: self.cell }.to_line());
        }
        self.kernel.interrupt();
    }

    fn drain(&mut self) {
        let raw = Arc::clone(&self.kernel.raw);
        let before = self.transcript.total();
        let transcript = &mut self.transcript;
        self.kernel
            .with_buffer(|buffer| raw.drain(buffer, &mut |bytes| transcript.push(bytes)));
        if self.transcript.total() > before {
            self.last = Instant::now();
        }
    }

    fn handle(&mut self, frame: FromKernel) -> Option<End> {
        self.last = Instant::now();
        match frame {
            FromKernel::Done(done) if done.id == self.cell => return Some(End::Done(done)),
            FromKernel::Raw { data } if self.kernel.is_relayed() => {
                self.transcript.push(&decode(&data));
            }
            FromKernel::Exit { code, signal } if self.kernel.is_relayed() => {
                let exit = signal.map(Exit::Signal).or(code.map(Exit::Code));
                return Some(End::Died(exit));
            }
            FromKernel::Raw { .. } | FromKernel::Exit { .. } => {}
            FromKernel::Done(_) | FromKernel::Hello { .. } => {}
            FromKernel::Display { id, cell, data } => {
                if cell == self.cell {
                    self.display(data);
                }
                self.kernel.send(&ToKernel::Ack { id }.to_line());
            }
            FromKernel::Cancel { id } => {
                self.calls.waiting.retain(|(waiting, ..)| *waiting != id);
                if let Some(token) = self.calls.tokens.remove(&id) {
                    token.cancel();
                }
            }
            FromKernel::Call {
                id,
                cell,
                name,
                args,
            } => {
                if cell != self.cell {
                    self.refuse(id, "cancelled", "the cell that made this call has ended");
                } else {
                    match serde_json::from_str(&args) {
                        Ok(args) => {
                            self.calls.tokens.insert(id, self.cancel.child());
                            self.calls.waiting.push_back((id, name, args));
                            self.start_calls();
                        }
                        Err(error) => {
                            let message = format!("the arguments of {name} are no JSON: {error}");
                            self.refuse(id, "invalid_args", &message);
                        }
                    }
                }
            }
        }
        None
    }

    fn display(&mut self, data: BTreeMap<String, String>) {
        if self.displays.len() >= limits::CELL_DISPLAYS {
            self.dropped += 1;
            return;
        }
        let display = display_of(data, self.options.spill.as_deref());
        self.displays.push((self.transcript.total(), display));
    }

    /// Starts bridged calls, each on a thread of its own, as many as may run at once.
    fn start_calls(&mut self) {
        while self.calls.n_running < limits::BRIDGED_CALLS
            && let Some((id, name, args)) = self.calls.waiting.pop_front()
        {
            let Some(token) = self.calls.tokens.get(&id).cloned() else {
                continue;
            };
            let host = Arc::clone(self.host);
            let sender = self.calls.sender.clone();
            let wake = Woken(self.kernel.wake.clone());
            let spawned = std::thread::Builder::new()
                .name(format!("call-{id}"))
                .spawn(move || {
                    let res = host.call(&name, args, token);
                    // Nobody listens any more to a call that outlived its cell.
                    let _ = sender.send((id, res));
                    drop(wake);
                });
            match spawned {
                Ok(_) => self.calls.n_running += 1,
                Err(error) => {
                    self.calls.tokens.remove(&id);
                    self.refuse(id, "failed", &format!("cannot start a thread: {error}"));
                }
            }
        }
    }

    /// Hands the results of bridged calls to the cell.
    fn answer_calls(&mut self) {
        while let Ok((id, res)) = self.calls.results.try_recv() {
            self.calls.n_running -= 1;
            // Nobody waits any more for a call that was given up.
            if self.calls.tokens.remove(&id).is_some() {
                self.kernel.send(&return_line(id, &res));
            }
            self.last = Instant::now();
        }
        self.start_calls();
    }

    fn refuse(&mut self, id: u64, kind: &str, message: &str) {
        let line = ToKernel::Ret(Return {
            id,
            val: None,
            err: Some(message),
            kind: Some(kind),
            hint: None,
        })
        .to_line();
        self.kernel.send(&line);
    }

    /// Tells threads of the cell that still wait that nobody answers them any more.
    fn abandon_calls(&mut self) {
        let ids: Vec<u64> = self.calls.tokens.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        for id in ids {
            self.refuse(id, "cancelled", "the cell that made this call has ended");
        }
        // An error here is the next cell's to see.
        let _ = self.kernel.wait(Some(Duration::ZERO));
    }

    /// Cancels what is still out, for it belongs to nobody now, and waits within the grace until it has
    /// stopped; returns how many calls have not.
    fn end_calls(&mut self) -> usize {
        self.calls.tokens.values().for_each(Cancel::cancel);
        let deadline = Instant::now() + self.options.grace;
        while self.calls.n_running > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.calls.results.recv_timeout(left).is_err() {
                break;
            }
            self.calls.n_running -= 1;
        }
        self.calls.n_running
    }

    fn finish(mut self, end: End) -> (CellReport, Option<Kernel>) {
        let spill = self.options.spill.as_deref();
        let cuts: Vec<u64> = self.displays.iter().map(|(at, _)| *at).collect();
        let output_bytes = self.transcript.total();
        let shown = self.transcript.finish(&cuts);
        let n_placed = self.displays.len();
        let mut displays: Vec<Display> = self
            .displays
            .into_iter()
            .map(|(_, display)| display)
            .collect();
        let mut report = CellReport {
            status: CellStatus::Ok,
            output: shown.parts.concat(),
            output_bytes,
            output_file: shown.file,
            result: None,
            result_file: None,
            result_bundle: BTreeMap::new(),
            displays: Vec::new(),
            displays_dropped: self.dropped,
            error: None,
            exit_code: None,
            signal: None,
            reason: self.stopping.map(|stopping| stopping.reason),
            state_kept: true,
            execution_count: self.cell,
            interpreter: self.kernel.program.clone(),
            note: None,
            parts: shown.parts,
            n_placed,
        };
        let done = match end {
            End::Died(exit) => {
                report.displays = displays;
                report.status = CellStatus::Died;
                report.state_kept = false;
                report.exit_code = exit.and_then(Exit::code).map(i64::from);
                report.signal = exit.and_then(Exit::signal_name);
                return (report, None);
            }
            End::Done(done) => done,
        };
        if let Some(data) = done.data {
            result_of(data, &mut report, &mut displays, spill);
        }
        report.displays = displays;
        // A cell that is no JavaScript has declared nothing.
        if done.etype != "SyntaxError"
            && let Some(names) = self.names.take()
        {
            self.kernel.names.add(names);
        }
        report.exit_code = done.code;
        report.status = match done.status {
            DoneStatus::Ok => CellStatus::Ok,
            // What fails after it was told to stop, such as a command that the signal ended, was stopped.
            DoneStatus::Error if report.reason.is_some() => CellStatus::Interrupted,
            DoneStatus::Error => CellStatus::Error,
            DoneStatus::Interrupted => CellStatus::Interrupted,
            DoneStatus::Exit => CellStatus::Exit,
        };
        if report.status == CellStatus::Ok {
            // It caught the interrupt and went on to its end.
            report.reason = None;
        }
        if !done.etype.is_empty() {
            report.error = Some(CellError {
                name: done.etype,
                value: done.msg,
                traceback: done.tb,
            });
        }
        (report, Some(self.kernel))
    }
}

/// Wakes the conversation when a call has ended, however it did.
struct Woken(Wake);

impl Drop for Woken {
    fn drop(&mut self) {
        self.0.wake();
    }
}
