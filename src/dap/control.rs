//! Letting the debuggee go on, and telling where it stands.
//!
//! Every answer here is the same report: one call tells why and where the program stopped, what the source
//! says there and what the locals hold, so that nobody has to ask four times. A wait has a bound, and a
//! program that is still running then is no error (D19).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::dap::adapters::Dialect;
use crate::dap::breakpoints::LineBreakpoint;
use crate::dap::client::Answer;
use crate::dap::error::{DapError, Failure};
use crate::dap::family;
use crate::dap::inspect::shown_file;
use crate::dap::machine::{End, EndReason, Handle, Machine, NoChange, State, Stop};
use crate::dap::protocol::{Frame, Scope, rows, text};
use crate::dap::report::{ExceptionEntry, Place, SourceLine, StopReport, VariableEntry};
use crate::dap::session::Session;
use crate::limits;
use crate::text::{LineIndex, clip};
use crate::workspace::Workspace;

/// Bytes of a source file that is read to show some lines of it.
const SOURCE_BYTES: u64 = 8 << 20;

/// Characters of a local's value in the answer to a stop.
const LOCAL_CHARS: usize = 120;

/// Bytes of new output that an answer shows.
const NEW_OUTPUT_BYTES: usize = 2_000;

/// How long a second stop is waited for where a pause and a step met (debugpy sends both).
const BURST: Duration = Duration::from_millis(30);

/// How often a stop is described anew because the program stopped again meanwhile.
const RETRIES: usize = 4;

/// Pseudo variables that adapters put before the real ones.
const PSEUDO: [&str; 4] = [
    "special variables",
    "function variables",
    "class variables",
    "protected variables",
];

/// What the caller waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Start,
    Resume,
    Pause,
    /// Nothing: it only asks.
    Status,
}

/// The error of an operation on a session that has ended.
pub(crate) fn ended(end: &End, lifetime: Duration) -> DapError {
    match end.why {
        EndReason::Expired => DapError::Expired(lifetime),
        _ => DapError::Ended(describe(end)),
    }
}

/// How a session ended, in words.
fn describe(end: &End) -> String {
    let words = match &end.why {
        EndReason::Exited => "the program exited",
        EndReason::Terminated => "it was terminated",
        EndReason::Detached => "it was detached",
        EndReason::Expired => "it expired",
        EndReason::AdapterDied(how) => return format!("the adapter died ({how})"),
    };
    match end.exit_code {
        Some(code) => format!("{words} with code {code}"),
        None => words.to_owned(),
    }
}

impl Session {
    /// Lets the program go on with `command` and waits for the next stop. Whoever was told `still running`
    /// continues once more to wait on.
    pub(crate) fn resume(
        &self,
        command: &'static str,
        operation: &'static str,
        thread: Option<i64>,
        bound: Duration,
        cancel: &Cancel,
    ) -> Result<(), DapError> {
        let deadline = Instant::now() + bound;
        let stop = match self.stop(operation) {
            Err(DapError::Running("continue")) => return self.wait_for_stop(deadline, cancel),
            other => other?,
        };
        self.locate(&stop, cancel);
        let thread = self.thread(thread, &stop, cancel)?;
        let deadline = Instant::now() + bound;
        self.monitor.change(Machine::resume);
        let waiting = self.client.begin(command, json!({ "threadId": thread }));
        // The stop may come first, and an adapter may answer late: the bound holds for both.
        match self.client.wait(&waiting, deadline, cancel) {
            Answer::Reply(Ok(_)) | Answer::TimedOut => {}
            Answer::Reply(Err(Failure::Refused(words))) => {
                self.monitor.change(|machine| machine.unresume(stop));
                return Err(DapError::Refused {
                    command: operation.to_owned(),
                    words,
                    said: String::new(),
                });
            }
            // The session ends with its adapter; how is said by the report.
            Answer::Reply(Err(Failure::Gone(_))) => {}
            Answer::Cancelled => return Err(DapError::Cancelled),
        }
        self.wait_for_stop(deadline, cancel)?;
        if operation != "continue" {
            self.outlast_a_pause(cancel);
        }
        Ok(())
    }

    /// Waits for a stop or the end; that neither comes in time is no error.
    pub(crate) fn wait_for_stop(&self, deadline: Instant, cancel: &Cancel) -> Result<(), DapError> {
        let res = self.monitor.wait(deadline, cancel, |machine| {
            matches!(machine.state, State::Stopped(_) | State::Exited(_)).then_some(())
        });
        let ending = {
            let machine = self.monitor.look();
            machine.exited || machine.terminated || machine.eof
        };
        match res {
            Ok(()) => Ok(()),
            Err(NoChange::Cancelled) => Err(DapError::Cancelled),
            Err(NoChange::TimedOut) if ending => {
                // The end is under way and bounded.
                self.join();
                Ok(())
            }
            Err(NoChange::TimedOut) => Ok(()),
        }
    }

    /// A step that met a pause stops twice; the second is what the step came to.
    fn outlast_a_pause(&self, cancel: &Cancel) {
        let serial = match &self.monitor.look().state {
            State::Stopped(stop) if stop.reason == "pause" => stop.serial,
            _ => return,
        };
        let _ = self
            .monitor
            .wait(Instant::now() + BURST, cancel, |machine| {
                match &machine.state {
                    State::Stopped(stop) => stop.serial != serial,
                    _ => false,
                }
                .then_some(())
            });
    }

    /// Stops the program where it is.
    pub(crate) fn pause(
        &self,
        thread: Option<i64>,
        bound: Duration,
        cancel: &Cancel,
    ) -> Result<(), DapError> {
        match &self.monitor.look().state {
            State::Stopped(_) => return Ok(()),
            State::Exited(end) => return Err(ended(end, self.timings.lifetime)),
            State::Starting | State::Running => {}
        }
        let known = {
            let machine = self.monitor.look();
            let mut alive = machine.threads.iter().copied();
            let last = machine.last_thread;
            last.filter(|last| machine.threads.is_empty() || machine.threads.contains(last))
                .or_else(|| alive.next())
        };
        let thread = match thread.or(known) {
            Some(thread) => thread,
            // An adapter that sent no event about threads is asked.
            None => {
                let threads = self.threads(cancel).map(|report| report.threads);
                threads
                    .ok()
                    .and_then(|threads| threads.first().map(|thread| thread.id))
                    .filter(|thread| *thread > 0)
                    .unwrap_or(1)
            }
        };
        let deadline = Instant::now() + bound;
        let waiting = self.client.begin("pause", json!({ "threadId": thread }));
        match self.client.wait(&waiting, deadline, cancel) {
            Answer::Reply(Err(Failure::Refused(words))) => {
                // It may have stopped just before.
                if !matches!(self.monitor.look().state, State::Stopped(_)) {
                    return Err(DapError::Refused {
                        command: "pause".to_owned(),
                        words,
                        said: String::new(),
                    });
                }
            }
            Answer::Cancelled => return Err(DapError::Cancelled),
            Answer::Reply(_) | Answer::TimedOut => {}
        }
        self.wait_for_stop(deadline, cancel)?;
        self.monitor.change(|machine| {
            // lldb calls a pause an exception, after the signal that it uses.
            if let State::Stopped(stop) = &mut machine.state
                && is_stop_signal(stop)
            {
                stop.reason = "pause".to_owned();
            }
        });
        Ok(())
    }

    /// Tells where the session is.
    pub(crate) fn report(
        &self,
        workspace: &Workspace,
        waited: Waited,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let mut report = StopReport::default();
        for _ in 0..RETRIES {
            report = StopReport {
                adapter: Some(self.row.id.clone()),
                program: Some(self.what.clone()),
                state: self.monitor.look().state_name().to_owned(),
                ..StopReport::default()
            };
            let state = self.monitor.look().state.clone();
            match state {
                State::Starting | State::Running => {
                    if waited == Waited::Pause {
                        report.notes.push("it did not stop yet".to_owned());
                    }
                    report.notes.extend(self.about_children());
                }
                State::Exited(end) => self.tell_end(&end, workspace, &mut report),
                State::Stopped(stop) => {
                    self.tell_stop(&stop, workspace, &mut report, cancel)?;
                    // It may have gone on and stopped again while this was asked.
                    let now = self.monitor.look().state.clone();
                    if !matches!(now, State::Stopped(now) if now.serial == stop.serial) {
                        continue;
                    }
                }
            }
            break;
        }
        if waited == Waited::Start {
            report.notes.extend(self.doubtful(workspace));
        }
        let (output, clipped) = self.new_output();
        report.new_output = output;
        if clipped {
            report
                .notes
                .push("only the last of the new output is shown; see `output`".to_owned());
        }
        Ok(report)
    }

    /// What to know of a Python program that runs and has children: pydevd takes its breakpoints along into a
    /// fork, and there is nobody to let a fork go on.
    fn about_children(&self) -> Option<String> {
        let debuggee = self.monitor.look().debuggee?;
        let forks = self.row.dialect == Dialect::Debugpy && family::has_children(debuggee);
        forks.then(|| {
            "the program has child processes, which are not debugged; one that was forked and comes to a \
             breakpoint waits there until the session ends: clear the breakpoints that children reach"
                .to_owned()
        })
    }

    fn tell_end(&self, end: &End, workspace: &Workspace, report: &mut StopReport) {
        report.reason = Some(match &end.why {
            EndReason::Exited => "exited".to_owned(),
            EndReason::Terminated => "terminated".to_owned(),
            EndReason::Detached => "detached".to_owned(),
            EndReason::Expired => "expired".to_owned(),
            EndReason::AdapterDied(_) => "adapter died".to_owned(),
        });
        report.exit_code = end.exit_code;
        let machine = self.monitor.look();
        if let EndReason::AdapterDied(how) = &end.why {
            report.notes.push(format!("the adapter ended: {how}"));
            let words = machine.words.text();
            let words = words.trim();
            if !words.is_empty() {
                report.notes.push(format!("it said: {words}"));
            }
        }
        report.never_hit = machine
            .placements
            .never_hit()
            .map(|(path, placed)| Place {
                file: workspace.display(path),
                line: placed.wanted.line,
            })
            .collect();
    }

    fn tell_stop(
        &self,
        stop: &Stop,
        workspace: &Workspace,
        report: &mut StopReport,
        cancel: &Cancel,
    ) -> Result<(), DapError> {
        report.reason = Some(stop.reason.clone());
        let thread = match self.thread(None, stop, cancel) {
            Ok(thread) => thread,
            Err(DapError::Cancelled) => return Err(DapError::Cancelled),
            Err(error) => return self.unless_alive(error, report),
        };
        report.thread_id = Some(thread);
        let frames = match self.frames(thread, 1, cancel) {
            Ok((frames, _)) => frames,
            Err(DapError::Cancelled) => return Err(DapError::Cancelled),
            // delve has no stack at the entry of a program.
            Err(error) => return self.unless_alive(error, report),
        };
        let words = stop.text.as_ref().or(stop.description.as_ref());
        if let Some(frame) = frames.first() {
            report.frame_id = Some(self.monitor.change(|machine| {
                let id = machine.give(Handle::Frame(frame.id));
                machine.name_frame(id, &frame.function);
                id
            }));
            report.file = shown_file(workspace, frame);
            report.line = (frame.line > 0).then_some(frame.line);
            report.function = Some(frame.function.clone());
            report.source = source_lines(frame);
            report.breakpoint = self.breakpoint_at(stop, frame).map(|(path, wanted)| Place {
                file: workspace.display(&path),
                line: wanted.line,
            });
            report.locals = self.locals(frame.id, cancel)?;
        }
        if stop.reason == "exception" {
            report.exception = self.exception(thread, words.map(String::as_str), cancel);
        } else if let Some(words) = words
            && !is_plain(words, &stop.reason)
        {
            report.notes.push(words.clone());
        }
        Ok(())
    }

    /// Tells a part of a stop only; where the program is gone, the whole.
    fn unless_alive(&self, error: DapError, report: &mut StopReport) -> Result<(), DapError> {
        if !matches!(self.monitor.look().state, State::Stopped(_)) {
            return Ok(());
        }
        if matches!(error, DapError::Died { .. }) {
            return Err(error);
        }
        report.notes.push(error.to_string());
        Ok(())
    }

    /// The first locals of a frame; a frame without any is no error.
    fn locals(&self, frame: i64, cancel: &Cancel) -> Result<Vec<VariableEntry>, DapError> {
        let body = match self.ask("scopes", json!({ "frameId": frame }), cancel) {
            Ok(body) => body,
            Err(DapError::Cancelled) => return Err(DapError::Cancelled),
            Err(_) => return Ok(Vec::new()),
        };
        let scopes = rows(&body, "scopes", Scope::read);
        let cheap = |scope: &&Scope| !scope.expensive && scope.reference != 0;
        // gdb and older delve keep the arguments apart.
        let mut own: Vec<&Scope> = scopes.iter().filter(cheap).collect();
        if own.iter().any(|scope| scope.is_own()) {
            own.retain(|scope| scope.is_own());
        } else {
            own.truncate(1);
        }
        let at_most = limits::DEBUG_LOCALS + PSEUDO.len();
        let mut variables = Vec::new();
        for scope in own {
            match self.children(scope.reference, at_most, cancel) {
                Ok((more, _)) => variables.extend(more),
                Err(DapError::Cancelled) => return Err(DapError::Cancelled),
                Err(_) => {}
            }
        }
        Ok(variables
            .into_iter()
            .filter(|variable| !PSEUDO.contains(&variable.name.as_str()))
            .take(limits::DEBUG_LOCALS)
            .map(|variable| self.entry(variable, LOCAL_CHARS))
            .collect())
    }

    fn exception(
        &self,
        thread: i64,
        words: Option<&str>,
        cancel: &Cancel,
    ) -> Option<ExceptionEntry> {
        let plain = || {
            words.map(|words| ExceptionEntry {
                name: words.to_owned(),
                message: None,
                mode: None,
            })
        };
        // Older lldb ends at a request that it does not know.
        if !self.can("supportsExceptionInfoRequest") {
            return plain();
        }
        let Ok(body) = self.ask("exceptionInfo", json!({ "threadId": thread }), cancel) else {
            return plain();
        };
        let details = body.get("details").unwrap_or(&Value::Null);
        let name = text(&body, "exceptionId")
            .or_else(|| text(details, "typeName"))
            .filter(|name| !name.is_empty());
        let message = text(&body, "description").or_else(|| text(details, "message"));
        Some(ExceptionEntry {
            name: name
                .or_else(|| words.map(str::to_owned))
                .unwrap_or_default(),
            message: message.filter(|message| !message.is_empty()),
            mode: text(&body, "breakMode"),
        })
    }

    /// Finds out which breakpoint a stop is at before the program goes on and the place is lost.
    fn locate(&self, stop: &Stop, cancel: &Cancel) {
        let known = self.lock_seen().stop >= stop.serial;
        if known || !stop.hit_ids.is_empty() || !stop.reason.contains("breakpoint") {
            return;
        }
        let frame = self
            .thread(None, stop, cancel)
            .and_then(|thread| self.frames(thread, 1, cancel));
        if let Ok((frames, _)) = frame
            && let Some(frame) = frames.first()
        {
            self.breakpoint_at(stop, frame);
        }
    }

    /// The breakpoint of a stop; each stop counts as one hit, however often it is asked about.
    fn breakpoint_at(&self, stop: &Stop, frame: &Frame) -> Option<(PathBuf, LineBreakpoint)> {
        let mut seen = self.lock_seen();
        if seen.stop >= stop.serial {
            return seen.breakpoint.clone();
        }
        let of_breakpoint = stop.reason.contains("breakpoint") || !stop.hit_ids.is_empty();
        let path = frame.path.as_deref().map(Path::new);
        let found = path.filter(|_| of_breakpoint).and_then(|path| {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let wanted = self
                .monitor
                .change(|machine| machine.placements.at_stop(&stop.hit_ids, &path, frame.line));
            Some((path, wanted?))
        });
        seen.stop = stop.serial;
        seen.breakpoint = found.clone();
        found
    }

    /// What is to be said of breakpoints that are not where they were asked for.
    fn doubtful(&self, workspace: &Workspace) -> Vec<String> {
        let machine = self.monitor.look();
        machine
            .placements
            .iter()
            .filter_map(|(path, placed)| {
                let file = workspace.display(path);
                let asked = placed.wanted.line;
                if !placed.verified {
                    let message = placed
                        .message
                        .as_deref()
                        .unwrap_or("the adapter says no more");
                    return Some(format!(
                        "breakpoint {file}:{asked} is not verified: {message}"
                    ));
                }
                placed
                    .moved_from()
                    .map(|_| format!("breakpoint {file}:{asked} moved to line {}", placed.line))
            })
            .collect()
    }

    /// What the program wrote since it was last told.
    fn new_output(&self) -> (String, bool) {
        let mut seen = self.lock_seen();
        let mut machine = self.monitor.look();
        machine.flush();
        let mut text = machine.output.since(seen.output);
        let clipped = text.len() > NEW_OUTPUT_BYTES || machine.output.dropped() > seen.output;
        if text.len() > NEW_OUTPUT_BYTES {
            let mut from = text.len() - NEW_OUTPUT_BYTES;
            while !text.is_char_boundary(from) {
                from += 1;
            }
            text.drain(..from);
        }
        seen.output = machine.output.total();
        (text, clipped)
    }

    pub(crate) fn lock_seen(&self) -> std::sync::MutexGuard<'_, super::session::Seen> {
        self.seen
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn is_stop_signal(stop: &Stop) -> bool {
    let says = |words: &Option<String>| {
        words
            .as_deref()
            .is_some_and(|words| words.contains("SIGSTOP"))
    };
    stop.reason == "signal" || says(&stop.description) || says(&stop.text)
}

/// Whether an adapter's words say no more than the reason.
fn is_plain(words: &str, reason: &str) -> bool {
    let words = words.to_lowercase();
    let reason = reason.to_lowercase();
    words.is_empty() || words.contains(&reason) || words.starts_with("paused") || words == "step"
}

/// The lines around the place of a frame, as far as there is a file.
fn source_lines(frame: &Frame) -> Vec<SourceLine> {
    let Some(path) = frame.path.as_deref().filter(|_| frame.line > 0) else {
        return Vec::new();
    };
    let readable = fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= SOURCE_BYTES);
    let Some(bytes) = readable.then(|| fs::read(path).ok()).flatten() else {
        return Vec::new();
    };
    let index = LineIndex::new(&bytes);
    let around = limits::DEBUG_SOURCE_LINES;
    let first = frame.line.saturating_sub(around).max(1);
    let last = (frame.line + around).min(index.line_count());
    (first..=last)
        .filter_map(|line| {
            Some(SourceLine {
                line,
                text: clip(&index.line(line)?, limits::LINE_CHARS).into_owned(),
                current: line == frame.line,
            })
        })
        .collect()
}
