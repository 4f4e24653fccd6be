//! One session: an adapter, its debuggee, and the threads that keep them.
//!
//! A keeper thread owns the processes and is the only one that ends them, whatever the cause: the program's
//! end, a call, the end of the time, the death of the adapter, the end of the run. Parting is polite within
//! a bound and certain after it. A debuggee sits in a process group of its own, often outside its adapter's
//! reach once that is killed, so its number is kept as well.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cancel::Cancel;
use crate::child::{Adopted, Processes};
use crate::dap::adapters::{AdapterRow, Dialect};
use crate::dap::breakpoints::{LineBreakpoint, Wanted, request};
use crate::dap::client::Client;
use crate::dap::clock::Clock;
use crate::dap::error::{DapError, Failure};
use crate::dap::family;
use crate::dap::keeper::{Helper, Kept, pump};
use crate::dap::machine::{Effect, End, EndReason, Machine, Monitor, NoChange, State};
use crate::dap::supervisor::Timings;
use crate::dap::transport::{Link, Reach};

/// How a session is started.
pub(crate) struct Plan {
    pub(crate) row: AdapterRow,
    pub(crate) reach: Reach,
    /// `launch` or `attach`.
    pub(crate) request: &'static str,
    pub(crate) arguments: Value,
    /// What is debugged, for people.
    pub(crate) what: String,
    /// Whether the debuggee is ours to end.
    pub(crate) launched: bool,
    /// A folder that lives as long as the session.
    pub(crate) scratch: Option<TempDir>,
    /// What whoever started it should know.
    pub(crate) notes: Vec<String>,
}

/// What sessions use of the process that they run in.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) processes: Processes,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timings: Timings,
}

/// A session, from its start until nobody asks about it any more.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) row: AdapterRow,
    pub(crate) what: String,
    pub(crate) launched: bool,
    pub(crate) client: Arc<Client>,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) timings: Timings,
    pub(crate) seen: Mutex<Seen>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What the calls so far have shown.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How much of the output.
    pub(crate) output: u64,
    /// The stop whose breakpoint was looked up, and that breakpoint.
    pub(crate) stop: u64,
    pub(crate) breakpoint: Option<(std::path::PathBuf, LineBreakpoint)>,
    /// A breakpoint that was set for one run to a line.
    pub(crate) temporary: Option<(std::path::PathBuf, usize)>,
}

impl Session {
    /// Reaches the adapter and starts the threads; nothing is said yet.
    pub(crate) fn open(
        ground: &Ground,
        plan: Plan,
        epoch: i64,
        cancel: &Cancel,
    ) -> Result<(Self, &'static str, Value), DapError> {
        let timings = ground.timings;
        let mut link = Link::open(&ground.processes, plan.reach, timings.hello_wait, cancel)?;
        let mut machine = Machine::new(epoch);
        machine.speaks_as_program = plan.row.dialect == Dialect::Gdb;
        let monitor = Arc::new(Monitor::new(machine));
        let adopted = Arc::<Mutex<Vec<Adopted>>>::default();
        let adapter_pid = link.child.as_ref().map(crate::child::Child::pid);
        let name = format!("dap-{}", plan.row.id);
        let adopt = {
            let (adopted, processes) = (Arc::clone(&adopted), ground.processes.clone());
            // What was attached to is not ours to end.
            let ours = adapter_pid.filter(|_| plan.launched);
            move |Effect::Debuggee(pid)| {
                if ours.is_some_and(|adapter| family::belongs(pid, adapter))
                    && let Ok(debuggee) = processes.adopt(pid)
                {
                    let mut adopted = adopted.lock().unwrap_or_else(PoisonError::into_inner);
                    adopted.push(debuggee);
                }
            }
        };
        let reader = std::mem::replace(&mut link.reader, Box::new(std::io::empty()));
        let writer = std::mem::replace(&mut link.writer, Box::new(std::io::sink()));
        let failed = || DapError::io("start a thread of the debug session");
        let (client, reading) =
            Client::start(&name, reader, writer, Arc::clone(&monitor), adopt).map_err(failed())?;
        let client = Arc::new(client);
        let beside = match link.beside.take() {
            Some(pipe) => {
                let is_debuggees = plan.row.output_is_debuggees();
                let monitor = Arc::clone(&monitor);
                let pump = move || pump(pipe, &monitor, is_debuggees);
                Some(Helper::start(&format!("{name}-output"), pump).map_err(failed())?)
            }
            None => None,
        };
        let stop_timer = Cancel::new();
        let kept = Kept {
            monitor: Arc::clone(&monitor),
            client: Arc::clone(&client),
            link,
            reading,
            beside,
            adopted,
            scratch: plan.scratch,
            launched: plan.launched,
            halts: plan.row.id == "delve",
            part_wait: timings.part_wait,
            stop_timer: stop_timer.clone(),
        };
        let keeper = std::thread::Builder::new()
            .name(format!("{name}-keep"))
            .spawn(move || kept.keep())
            .map_err(failed())?;
        let session = Self {
            row: plan.row,
            what: plan.what,
            launched: plan.launched,
            client,
            monitor: Arc::clone(&monitor),
            timings,
            seen: Mutex::default(),
            threads: Mutex::new(vec![keeper]),
        };
        let clock = Arc::clone(&ground.clock);
        let until = clock.now() + timings.lifetime;
        let timer = std::thread::Builder::new()
            .name(format!("{name}-time"))
            .spawn(move || {
                if clock.wait_until(until, &stop_timer) {
                    close(&monitor, EndReason::Expired);
                }
            })
            .map_err(failed())?;
        session.lock_threads().push(timer);
        Ok((session, plan.request, plan.arguments))
    }

    /// Goes through the start until the program runs: initialize, launch or attach, breakpoints.
    ///
    /// Some adapters answer the launch before they take breakpoints and some after the configuration is
    /// done, so nothing waits for that answer alone.
    pub(crate) fn start(
        &self,
        request: &str,
        arguments: Value,
        wanted: &Wanted,
        exceptions: Option<&[String]>,
        cancel: &Cancel,
    ) -> Result<Vec<String>, DapError> {
        let deadline = Instant::now() + self.timings.start_wait;
        let res = self.client.request(
            "initialize",
            initialize(&self.row.id),
            self.timings.hello_wait,
            cancel,
        );
        let capabilities = res.map_err(|error| self.explain(error))?;
        self.monitor
            .change(|machine| machine.capabilities.merge(&capabilities));
        let launch = self.client.begin(request, arguments);
        let mut launched = false;
        // Either the adapter takes breakpoints now, or the launch failed.
        loop {
            let ready = self.monitor.wait(deadline, cancel, |machine| {
                let over = machine.eof || machine.terminated || machine.closing.is_some();
                let replied = !launched && !launch.reply().is_empty();
                (machine.initialized || over || replied).then_some(machine.initialized)
            });
            let initialized = ready.map_err(|reason| self.no_change(reason, request))?;
            if !launched && let Ok(reply) = launch.reply().try_recv() {
                reply.map_err(|failure| self.refused(request, failure))?;
                launched = true;
            }
            if initialized {
                break;
            }
            let machine = self.monitor.look();
            if machine.eof || machine.terminated || machine.closing.is_some() {
                drop(machine);
                return Err(self.died(request));
            }
        }
        for (path, breakpoints) in wanted {
            self.place(path, breakpoints, cancel)
                .map_err(|error| self.explain(error))?;
        }
        let notes = self.set_exceptions(exceptions, cancel)?;
        // lldb stops a program that it attaches to, and lets it go on when the configuration is done.
        let early = matches!(self.monitor.look().state, State::Stopped(_));
        self.monitor.change(|machine| machine.configured = true);
        let configured = if self.can("supportsConfigurationDoneRequest") {
            let done = self.client.begin("configurationDone", json!({}));
            Some(done)
        } else {
            None
        };
        // The reason of a failed launch stands in its own reply, not in that to configurationDone.
        let ready = self.monitor.wait(deadline, cancel, |machine| {
            let done = configured
                .as_ref()
                .is_none_or(|configured| !configured.reply().is_empty());
            let moved = !matches!(machine.state, State::Starting) && (!early || done);
            let over = machine.eof || machine.terminated || machine.exited;
            let refused = configured
                .as_ref()
                .is_some_and(|configured| !configured.reply().is_empty());
            let replied = launched && (refused || configured.is_none());
            (moved || over || replied || !launch.reply().is_empty()).then_some(())
        });
        if let Ok(Err(failure)) = launch.reply().try_recv() {
            return Err(self.refused(request, failure));
        }
        if let Some(Ok(Err(failure))) = configured.map(|done| done.reply().try_recv())
            && launched
        {
            return Err(self.refused("configurationDone", failure));
        }
        ready.map_err(|reason| self.no_change(reason, request))?;
        self.monitor.change(Machine::started);
        Ok(notes)
    }

    /// Tells the adapter all breakpoints of one file.
    pub(crate) fn place(
        &self,
        path: &std::path::Path,
        breakpoints: &[LineBreakpoint],
        cancel: &Cancel,
    ) -> Result<(), DapError> {
        let capabilities = self.monitor.look().capabilities.clone();
        let mut sent = Vec::new();
        let mut unsent = Vec::new();
        for breakpoint in breakpoints {
            match breakpoint.lacks(&capabilities) {
                None => sent.push(breakpoint.clone()),
                // Without its condition it would be another breakpoint.
                Some(feature) => unsent.push((
                    breakpoint.clone(),
                    format!("not set: the adapter {} has no {feature}", self.row.id),
                )),
            }
        }
        // A file without breakpoints is told too: that is how they are cleared.
        let response = self.client.request(
            "setBreakpoints",
            request(path, &sent),
            self.timings.request_wait,
            cancel,
        )?;
        self.monitor
            .change(|machine| machine.placements.placed(path, &sent, unsent, &response));
        Ok(())
    }

    /// Chooses the kinds of exception to stop at; returns what is worth saying.
    pub(crate) fn set_exceptions(
        &self,
        wanted: Option<&[String]>,
        cancel: &Cancel,
    ) -> Result<Vec<String>, DapError> {
        let known = self.monitor.look().capabilities.exception_filters();
        if known.is_empty() {
            return Ok(match wanted {
                Some([_, ..]) => vec![format!(
                    "the adapter {} cannot stop at exceptions by kind",
                    self.row.id
                )],
                _ => Vec::new(),
            });
        }
        let (mut filters, mut notes) = (Vec::new(), Vec::new());
        match wanted {
            None => filters.extend(known.iter().filter(|row| row.default).map(|row| &row.id)),
            Some(wanted) => {
                for name in wanted {
                    match known.iter().find(|row| row.id == *name) {
                        Some(row) => filters.push(&row.id),
                        None => notes.push(format!(
                            "the adapter {} has no exception filter '{name}'; it has {}",
                            self.row.id,
                            known
                                .iter()
                                .map(|row| format!("{} ({})", row.id, row.label))
                                .collect::<Vec<_>>()
                                .join(", ")
                        )),
                    }
                }
            }
        }
        let arguments = json!({ "filters": filters });
        self.client
            .request(
                "setExceptionBreakpoints",
                arguments,
                self.timings.request_wait,
                cancel,
            )
            .map_err(|error| self.explain(error))?;
        Ok(notes)
    }

    pub(crate) fn can(&self, capability: &str) -> bool {
        self.monitor.look().capabilities.has(capability)
    }

    /// Whether the session has come to its end.
    pub(crate) fn end(&self) -> Option<End> {
        match &self.monitor.look().state {
            State::Exited(end) => Some(end.clone()),
            State::Starting | State::Running | State::Stopped(_) => None,
        }
    }

    /// Ends the session and waits until no process of it is left.
    pub(crate) fn close(&self, why: EndReason) {
        close(&self.monitor, why);
        self.join();
    }

    /// Waits until no process of an ending session is left.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.lock_threads());
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// Adds what the adapter said to an error of the start.
    pub(crate) fn explain(&self, error: DapError) -> DapError {
        match error {
            DapError::Refused { command, words, .. } => {
                self.refused(&command, Failure::Refused(words))
            }
            DapError::Died { during, .. } => self.died(during.trim_start_matches("doing ")),
            DapError::Timeout { during, after, .. } => DapError::Timeout {
                during,
                after,
                said: self.said(),
            },
            other => other,
        }
    }

    fn refused(&self, command: &str, failure: Failure) -> DapError {
        match failure {
            Failure::Refused(words) => {
                let said = self.said();
                DapError::Refused {
                    command: command.to_owned(),
                    said: if said.trim() == words.trim() {
                        String::new()
                    } else {
                        said
                    },
                    words,
                }
            }
            Failure::Gone(_) => self.died(command),
        }
    }

    /// The adapter or the program ended in the middle of the start.
    fn died(&self, command: &str) -> DapError {
        // The keeper adds the adapter's exit status and its standard error.
        let closed = self.monitor.look().closing.is_some();
        self.close(EndReason::Terminated);
        let words = match self.end().map(|end| end.why) {
            Some(EndReason::AdapterDied(words)) => words,
            Some(EndReason::Expired) if closed => "the session expired".to_owned(),
            _ => "the program was over before it started".to_owned(),
        };
        DapError::Died {
            during: format!("doing {command}"),
            words,
            said: self.said(),
        }
    }

    fn no_change(&self, reason: NoChange, command: &str) -> DapError {
        match reason {
            NoChange::Cancelled => DapError::Cancelled,
            NoChange::TimedOut => DapError::Timeout {
                during: format!("doing {command}"),
                after: self.timings.start_wait,
                said: self.said(),
            },
        }
    }

    fn said(&self) -> String {
        self.monitor.look().words.text().trim().to_owned()
    }

    fn lock_threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let why = if self.launched {
            EndReason::Terminated
        } else {
            EndReason::Detached
        };
        self.close(why);
    }
}

/// Asks for the end of a session; the first cause stays.
fn close(monitor: &Monitor, why: EndReason) {
    monitor.change(|machine| {
        machine.closing.get_or_insert(why);
    });
}

fn initialize(adapter: &str) -> Value {
    json!({
        "clientID": "toolbox",
        "clientName": "toolbox",
        "adapterID": adapter,
        "locale": "en",
        "linesStartAt1": true,
        "columnsStartAt1": true,
        "pathFormat": "path",
        "supportsVariableType": true,
        "supportsVariablePaging": false,
        "supportsRunInTerminalRequest": false,
        "supportsStartDebuggingRequest": false,
    })
}
