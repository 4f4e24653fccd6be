//! The debugger of one conversation: its breakpoints and its one session.
//!
//! Operations come one at a time, which the caller sees to. What outlives a session (breakpoints, the kinds
//! of exception, how the program was launched) is kept here; the last session is kept too, because its
//! output and its end are still asked for (D20).

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::dap::breakpoints::{LineBreakpoint, Wanted};
use crate::dap::control::{Waited, ended};
use crate::dap::error::DapError;
use crate::dap::machine::EndReason;
use crate::dap::plan::{AttachSpec, LaunchSpec, Planner};
use crate::dap::report::{
    AdapterEntry, AdaptersReport, BreakpointsReport, EvaluateReport, OutputReport, ScopesReport,
    SetReport, StackReport, StopReport, ThreadsReport, VariablesReport,
};
use crate::dap::session::{Plan, Session};
use crate::dap::supervisor::{Claim, Shared};
use crate::workspace::Workspace;

/// The debugger of a conversation; dropping it ends the session.
#[derive(Debug)]
pub struct Conversation {
    shared: Arc<Shared>,
    id: String,
    workspace: Workspace,
    state: Mutex<Kept>,
}

/// How the program goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    Continue,
    Over,
    In,
    Out,
}

#[derive(Debug, Default)]
struct Kept {
    wanted: Wanted,
    exceptions: Option<Vec<String>>,
    session: Option<(Arc<Session>, Claim)>,
    /// The session that ended, for questions about it.
    last: Option<Arc<Session>>,
    /// Identifiers of a later session must not look like those of an earlier one.
    epoch: i64,
    /// How to do it again.
    started: Option<Started>,
}

#[derive(Clone, Debug)]
enum Started {
    Launch(LaunchSpec),
    Attach(AttachSpec),
}

impl Conversation {
    pub(crate) fn new(shared: Arc<Shared>, id: String, workspace: Workspace) -> Self {
        Self {
            shared,
            id,
            workspace,
            state: Mutex::default(),
        }
    }

    /// Returns the workspace that paths are relative to.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Tells which adapters are usable here, and why the others are not (R75).
    pub fn adapters(&self, cancel: &Cancel) -> AdaptersReport {
        let planner = self.planner(cancel);
        let surroundings = planner.surroundings();
        let entry = |row| {
            let detected = surroundings.detect(row, self.workspace.root());
            let mut command = detected
                .program
                .as_ref()
                .ok()
                .map(|program| program.display().to_string());
            if let Some(command) = &mut command {
                for arg in &row.args {
                    command.push(' ');
                    command.push_str(arg);
                }
            }
            AdapterEntry {
                id: row.id.clone(),
                usable: detected.usable(),
                reason: detected.reason(),
                command,
                root: detected.root.map(|root| self.workspace.display(&root)),
            }
        };
        AdaptersReport {
            adapters: self.shared.rows.iter().map(entry).collect(),
        }
    }

    /// Tells whether a session is running, and where it stands (R76).
    pub fn status(&self, cancel: &Cancel) -> Result<StopReport, DapError> {
        match self.newest() {
            Some(session) => session.report(&self.workspace, Waited::Status, cancel),
            None => Ok(StopReport {
                state: "none".to_owned(),
                ..StopReport::default()
            }),
        }
    }

    /// Says which program is debugged and how that stands, without a question to the adapter; `None` without
    /// a session.
    pub fn glance(&self) -> Option<(String, &'static str)> {
        let session = self.live()?;
        let state = session.monitor.look().state_name();
        Some((session.what.clone(), state))
    }

    /// Sets the breakpoints of a file, all of them: an empty list clears it (R77). Without a session they
    /// wait for the next (R78).
    pub fn set_breakpoints(
        &self,
        file: &str,
        breakpoints: Vec<LineBreakpoint>,
        cancel: &Cancel,
    ) -> Result<BreakpointsReport, DapError> {
        if breakpoints.iter().any(|breakpoint| breakpoint.line == 0) {
            return Err(DapError::bad("line 0 is no line", "lines count from 1"));
        }
        let path = self.planner(cancel).resolve(file)?;
        if !path.is_file() && !breakpoints.is_empty() {
            return Err(DapError::not_found(
                format!("'{file}' is no file"),
                "paths are relative to the workspace",
            ));
        }
        let mut wanted: Vec<LineBreakpoint> = Vec::new();
        for breakpoint in breakpoints {
            // Two on one line are one to an adapter; the last says what it does.
            wanted.retain(|earlier| earlier.line != breakpoint.line);
            wanted.push(breakpoint);
        }
        wanted.sort_by_key(|breakpoint| breakpoint.line);
        let before = {
            let mut kept = self.lock();
            match wanted.is_empty() {
                true => kept.wanted.remove(&path),
                false => kept.wanted.insert(path.clone(), wanted.clone()),
            }
        };
        if let Some(session) = self.live()
            && let Err(error) = session.place(&path, &wanted, cancel)
        {
            // What the adapter does not have is not kept either.
            let mut kept = self.lock();
            match before {
                Some(before) => kept.wanted.insert(path, before),
                None => kept.wanted.remove(&path),
            };
            return Err(error);
        }
        Ok(self.list_breakpoints(Some(path)))
    }

    /// Chooses the kinds of exception to stop at; `None` leaves that to the adapter.
    pub fn set_exceptions(
        &self,
        filters: Option<Vec<String>>,
        cancel: &Cancel,
    ) -> Result<BreakpointsReport, DapError> {
        let mut notes = Vec::new();
        if let Some(session) = self.live() {
            notes = session.set_exceptions(filters.as_deref(), cancel)?;
        }
        self.lock().exceptions = filters;
        let mut report = self.breakpoints();
        report.notes = notes;
        Ok(report)
    }

    /// Lists all breakpoints.
    pub fn breakpoints(&self) -> BreakpointsReport {
        self.list_breakpoints(None)
    }

    /// Runs a program up to its first stop (R79).
    pub fn launch(
        &self,
        spec: LaunchSpec,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let claim = self.claim()?;
        let plan = self.planner(cancel).launch(&spec)?;
        let stops = spec.stop_on_entry;
        self.start(plan, claim, Started::Launch(spec), stops, wait, cancel)
    }

    /// Connects to a program that runs already (R80).
    pub fn attach(
        &self,
        spec: AttachSpec,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let claim = self.claim()?;
        let plan = self.planner(cancel).attach(&spec)?;
        self.start(plan, claim, Started::Attach(spec), false, wait, cancel)
    }

    /// Ends the session and does the same launch or attach again; breakpoints stay.
    pub fn restart(&self, wait: Option<Duration>, cancel: &Cancel) -> Result<StopReport, DapError> {
        let started = self.lock().started.clone().ok_or(DapError::NoSession)?;
        self.end_session(EndReason::Terminated);
        match started {
            Started::Launch(spec) => self.launch(spec, wait, cancel),
            Started::Attach(spec) => self.attach(spec, wait, cancel),
        }
    }

    /// Lets the program go on to its next stop (R81, R83).
    pub(crate) fn resume(
        &self,
        how: Resume,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let (command, operation) = match how {
            Resume::Continue => ("continue", "continue"),
            Resume::Over => ("next", "step_over"),
            Resume::In => ("stepIn", "step_in"),
            Resume::Out => ("stepOut", "step_out"),
        };
        let session = self.session()?;
        let bound = wait.unwrap_or(session.timings.stop_wait);
        session.resume(command, operation, thread, bound, cancel)?;
        self.after_stop(&session, Waited::Resume, cancel)
    }

    /// Runs to the next stop (R81); a program that runs already is waited for.
    pub fn go_on(
        &self,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        self.resume(Resume::Continue, thread, wait, cancel)
    }

    /// Moves to the next line (R83).
    pub fn step_over(
        &self,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        self.resume(Resume::Over, thread, wait, cancel)
    }

    /// Moves into the call on the line (R83).
    pub fn step_in(
        &self,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        self.resume(Resume::In, thread, wait, cancel)
    }

    /// Moves out of the function (R83).
    pub fn step_out(
        &self,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        self.resume(Resume::Out, thread, wait, cancel)
    }

    /// Runs to a line, or to a stop before it.
    pub fn run_to(
        &self,
        file: &str,
        line: usize,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let session = self.session()?;
        session.stop("run_to")?;
        let path = self.planner(cancel).resolve(file)?;
        if line == 0 || !path.is_file() {
            return Err(DapError::bad(
                format!("{file}:{line} is no line of a file"),
                "pass `file` and a `line` from 1",
            ));
        }
        let mut all = self.lock().wanted.get(&path).cloned().unwrap_or_default();
        // A breakpoint that is there already stops as it does; one with a condition gives way for now.
        all.retain(|breakpoint| breakpoint.line != line);
        all.push(LineBreakpoint::at(line));
        all.sort_by_key(|breakpoint| breakpoint.line);
        session.place(&path, &all, cancel)?;
        let placed = session
            .monitor
            .look()
            .placements
            .of(&path)
            .iter()
            .find(|placed| placed.wanted.line == line)
            .map(|placed| (placed.verified, placed.message.clone()));
        session.lock_seen().temporary = Some((path, line));
        if let Some((false, message)) = placed {
            self.drop_temporary(&session, cancel)?;
            let message = message.unwrap_or_else(|| "the adapter says no more".to_owned());
            return Err(DapError::bad(
                format!("the program cannot stop at {file}:{line}: {message}"),
                "name a line with code that is loaded",
            ));
        }
        let bound = wait.unwrap_or(session.timings.stop_wait);
        session.resume("continue", "run_to", None, bound, cancel)?;
        self.after_stop(&session, Waited::Resume, cancel)
    }

    /// Stops the program where it is (R82).
    pub fn pause(
        &self,
        thread: Option<i64>,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let session = self.session()?;
        let bound = wait.unwrap_or(session.timings.request_wait);
        session.pause(thread, bound, cancel)?;
        self.after_stop(&session, Waited::Pause, cancel)
    }

    /// Lists the threads (R84).
    pub fn threads(&self, cancel: &Cancel) -> Result<ThreadsReport, DapError> {
        self.session()?.threads(cancel)
    }

    /// Lists the frames of a thread (R85).
    pub fn stack(&self, thread: Option<i64>, cancel: &Cancel) -> Result<StackReport, DapError> {
        self.session()?.stack(&self.workspace, thread, cancel)
    }

    /// Lists the scopes of a frame (R86).
    pub fn scopes(&self, frame: Option<i64>, cancel: &Cancel) -> Result<ScopesReport, DapError> {
        self.session()?.scopes(frame, cancel)
    }

    /// Lists what a reference holds (R87).
    pub fn variables(&self, reference: i64, cancel: &Cancel) -> Result<VariablesReport, DapError> {
        self.session()?.variables(reference, cancel)
    }

    /// Evaluates an expression in a frame (R88).
    pub fn evaluate(
        &self,
        expression: &str,
        frame: Option<i64>,
        cancel: &Cancel,
    ) -> Result<EvaluateReport, DapError> {
        self.session()?.evaluate(expression, frame, cancel)
    }

    /// Sets a variable; without a reference one of the top frame.
    pub fn set_variable(
        &self,
        reference: Option<i64>,
        name: &str,
        value: &str,
        cancel: &Cancel,
    ) -> Result<SetReport, DapError> {
        self.session()?.set_variable(reference, name, value, cancel)
    }

    /// Returns what the program wrote, also after its end (R89).
    pub fn output(&self) -> Result<OutputReport, DapError> {
        let session = self.newest().ok_or(DapError::NoSession)?;
        let mut seen = session.lock_seen();
        let mut machine = session.monitor.look();
        machine.flush();
        seen.output = machine.output.total();
        Ok(OutputReport {
            text: machine.output.text(),
            dropped_bytes: machine.output.dropped(),
        })
    }

    /// Ends the session and its adapter (R90). What was launched ends too; what was attached to goes on,
    /// unless `kill` says otherwise. Where nothing runs there is nothing to end, and that is no error.
    pub fn terminate(&self, kill: bool, cancel: &Cancel) -> Result<StopReport, DapError> {
        let Some(session) = self.live() else {
            let mut report = self.status(cancel)?;
            report.notes.push("there was nothing to end".to_owned());
            return Ok(report);
        };
        let why = if session.launched || kill {
            EndReason::Terminated
        } else {
            EndReason::Detached
        };
        self.end_session(why);
        session.report(&self.workspace, Waited::Status, cancel)
    }

    fn planner<'a>(&'a self, cancel: &'a Cancel) -> Planner<'a> {
        Planner {
            shared: &self.shared,
            workspace: &self.workspace,
            cancel,
        }
    }

    /// Takes the right to start a session, or says which one lives.
    fn claim(&self) -> Result<Claim, DapError> {
        self.retire();
        if let Some((session, _)) = &self.lock().session {
            return Err(DapError::SessionLives {
                program: session.what.clone(),
                state: session.monitor.look().state_name(),
            });
        }
        self.shared
            .claim(&self.id)
            .ok_or_else(|| DapError::SessionLives {
                program: "another run of this conversation".to_owned(),
                state: "running",
            })
    }

    fn start(
        &self,
        plan: Plan,
        claim: Claim,
        started: Started,
        stops: bool,
        wait: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let (wanted, exceptions, epoch) = {
            let mut kept = self.lock();
            kept.epoch += 1;
            (kept.wanted.clone(), kept.exceptions.clone(), kept.epoch)
        };
        let mut plan = plan;
        let said = std::mem::take(&mut plan.notes);
        let (session, request, arguments) =
            Session::open(&self.shared.ground, plan, epoch, cancel)?;
        let begun = session.start(request, arguments, &wanted, exceptions.as_deref(), cancel);
        let notes = match begun {
            Ok(notes) => notes,
            Err(error) => {
                session.close(if session.launched {
                    EndReason::Terminated
                } else {
                    EndReason::Detached
                });
                return Err(error);
            }
        };
        let session = Arc::new(session);
        {
            let mut kept = self.lock();
            kept.last = None;
            kept.session = Some((Arc::clone(&session), claim));
            kept.started = Some(started);
        }
        let expects = stops || !wanted.is_empty() || exceptions.is_some();
        let timings = session.timings;
        let bound = wait.unwrap_or(if request == "attach" || !expects {
            timings.free_run_wait
        } else {
            timings.stop_wait
        });
        session.wait_for_stop(Instant::now() + bound, cancel)?;
        let mut report = self.after_stop(&session, Waited::Start, cancel)?;
        report.notes.splice(0..0, said.into_iter().chain(notes));
        Ok(report)
    }

    /// Tidies up after a stop and tells about it.
    fn after_stop(
        &self,
        session: &Arc<Session>,
        waited: Waited,
        cancel: &Cancel,
    ) -> Result<StopReport, DapError> {
        let report = session.report(&self.workspace, waited, cancel)?;
        if report.state == "stopped" {
            self.drop_temporary(session, cancel)?;
        }
        self.retire();
        Ok(report)
    }

    /// Takes the breakpoint of a run to a line away again.
    fn drop_temporary(&self, session: &Session, cancel: &Cancel) -> Result<(), DapError> {
        let temporary = session.lock_seen().temporary.take();
        if let Some((path, _)) = temporary {
            let wanted = self.lock().wanted.get(&path).cloned().unwrap_or_default();
            session.place(&path, &wanted, cancel)?;
        }
        Ok(())
    }

    /// Moves a session that has ended out of the way of the next.
    fn retire(&self) {
        let mut kept = self.lock();
        let over = kept
            .session
            .as_ref()
            .is_some_and(|(session, _)| session.end().is_some());
        if over && let Some((session, claim)) = kept.session.take() {
            kept.epoch = kept.epoch.max(session.monitor.look().epoch());
            kept.last = Some(session);
            drop(kept);
            drop(claim);
        }
    }

    fn end_session(&self, why: EndReason) {
        let session = self.live();
        if let Some(session) = session {
            session.close(why);
        }
        self.retire();
    }

    /// The session that lives.
    fn live(&self) -> Option<Arc<Session>> {
        self.retire();
        let kept = self.lock();
        kept.session
            .as_ref()
            .map(|(session, _)| Arc::clone(session))
    }

    /// The session that lives, else the last.
    fn newest(&self) -> Option<Arc<Session>> {
        self.live().or_else(|| self.lock().last.clone())
    }

    /// The session that lives, or why there is none.
    fn session(&self) -> Result<Arc<Session>, DapError> {
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let last = self.lock().last.clone().ok_or(DapError::NoSession)?;
        let end = last.end().ok_or(DapError::NoSession)?;
        Err(ended(&end, last.timings.lifetime))
    }

    fn list_breakpoints(&self, only: Option<PathBuf>) -> BreakpointsReport {
        let live = self.live().is_some();
        let session = self.newest();
        let kept = self.lock();
        let machine = session.as_ref().map(|session| session.monitor.look());
        let mut breakpoints = Vec::new();
        for (path, wanted) in &kept.wanted {
            if only.as_ref().is_some_and(|only| only != path) {
                continue;
            }
            for wanted in wanted {
                let placed = machine.as_ref().and_then(|machine| {
                    let mut placed = machine.placements.of(path).iter();
                    placed.find(|placed| placed.wanted == *wanted).cloned()
                });
                let file = self.workspace.display(path);
                breakpoints.push(wanted.entry(file, placed.as_ref()));
            }
        }
        BreakpointsReport {
            file: only.map(|path| self.workspace.display(&path)),
            breakpoints,
            exceptions: kept.exceptions.clone(),
            notes: Vec::new(),
            live,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
