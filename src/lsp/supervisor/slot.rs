//! One place for a server: whether it runs, starts, refused or broke, and when it may be started again.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::cancel::Cancel;
use crate::child::{Capture, Processes, Program, Waited};
use crate::limits;
use crate::lsp::client::{Launch, Phase as ServerPhase, Server, last_words};
use crate::lsp::detect::identity;
use crate::lsp::error::Seconds;
use crate::lsp::supervisor::Inner;
use crate::lsp::supervisor::settings::Settings;
use crate::text::counted;

/// How long the program of a server may take to say its version.
const PROBE: Duration = Duration::from_secs(15);

/// Where a server of one row and root lives.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// When it crashed, as far as that still counts.
    crashes: VecDeque<Instant>,
    /// How often it was started again after a crash.
    n_restarts: usize,
    /// How it ended last.
    last_end: Option<String>,
    /// What was open when it ended, to be opened again.
    reopen: Vec<PathBuf>,
    /// What it was started with.
    settings: Option<Settings>,
}

#[derive(Debug, Default)]
enum Phase {
    /// It was never started, or was stopped.
    #[default]
    Stopped,
    /// A thread starts it; the token ends that.
    Starting(Cancel, Instant),
    /// It runs, or has crashed since.
    Up(Arc<Server>),
    /// It did not start, and will not until something changes.
    Refused {
        why: String,
        programs: Vec<Option<Identity>>,
    },
    /// It crashed too often.
    Broken(String),
}

type Identity = (u64, u64, SystemTime);

/// What a slot says of itself, for `status`.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    Stopped,
    Starting(Instant),
    Up(Arc<Server>),
    Refused(String),
    Broken(String),
    /// It crashed and is started again with the next question.
    Crashed(String),
}

/// What programs answered to `--version`, by program and root: a toolchain file in the root decides what a
/// shim stands for.
pub(crate) type Probes = BTreeMap<(PathBuf, PathBuf), (Option<Identity>, Result<String, String>)>;

impl Slot {
    /// Returns the server if it runs and has answered `initialize`.
    pub(crate) fn running(&self) -> Option<Arc<Server>> {
        match &self.lock().phase {
            Phase::Up(server) if server.is_alive() => Some(Arc::clone(server)),
            Phase::Stopped
            | Phase::Starting(..)
            | Phase::Up(_)
            | Phase::Refused { .. }
            | Phase::Broken(_) => None,
        }
    }

    /// Returns how it stands and how often it was restarted.
    pub(crate) fn standing(&self) -> (Standing, usize) {
        let state = self.lock();
        let standing = match &state.phase {
            Phase::Stopped => match &state.last_end {
                Some(why) if !state.crashes.is_empty() => Standing::Crashed(why.clone()),
                _ => Standing::Stopped,
            },
            Phase::Starting(_, since) => Standing::Starting(*since),
            Phase::Up(server) => match server.gone() {
                None => Standing::Up(Arc::clone(server)),
                Some(why) => Standing::Crashed(why),
            },
            Phase::Refused { why, .. } => Standing::Refused(why.clone()),
            Phase::Broken(why) => Standing::Broken(why.clone()),
        };
        (standing, state.n_restarts)
    }

    /// Returns the server, started if it does not run; waits for a start that is under way, and for the
    /// pause after a crash.
    pub(crate) fn start(
        self: &Arc<Self>,
        inner: &Inner,
        launch: Launch,
        cancel: &Cancel,
    ) -> Result<Arc<Server>, String> {
        // A start ends by itself within its own time; this bound is against a defect.
        let pauses: Duration = inner.options.restarts.iter().sum();
        let deadline =
            Instant::now() + launch.timeouts.start + launch.timeouts.shutdown * 3 + pauses;
        let waker = Arc::downgrade(self);
        let _guard = cancel.on_cancel(move || {
            if let Some(slot) = waker.upgrade() {
                drop(slot.lock());
                slot.changed.notify_all();
            }
        });
        let mut state = self.lock();
        loop {
            if cancel.is_cancelled() {
                return Err("the call was cancelled".to_owned());
            }
            state.settle_crash();
            let mut until = deadline;
            match &state.phase {
                Phase::Up(server) => return Ok(Arc::clone(server)),
                Phase::Starting(..) => {}
                Phase::Broken(why) => return Err(why.clone()),
                Phase::Refused { why, programs } if *programs == identities(&launch) => {
                    return Err(why.clone());
                }
                Phase::Refused { .. } => state.phase = Phase::Stopped,
                Phase::Stopped => match state.may_start(inner) {
                    Start::Now => self.spawn(&mut state, inner, launch.clone()),
                    Start::At(due) => until = due.min(deadline),
                    Start::Never(why) => state.phase = Phase::Broken(why),
                },
            }
            if matches!(state.phase, Phase::Starting(..) | Phase::Stopped) {
                let left = until.saturating_duration_since(Instant::now());
                if Instant::now() >= deadline {
                    return Err("it is still starting".to_owned());
                }
                state = self
                    .changed
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
    }

    /// Starts the server in the background where that may be done at once.
    pub(crate) fn begin(self: &Arc<Self>, inner: &Inner, launch: Launch) {
        let mut state = self.lock();
        state.settle_crash();
        if matches!(state.phase, Phase::Stopped) && matches!(state.may_start(inner), Start::Now) {
            self.spawn(&mut state, inner, launch);
        }
    }

    /// Takes the server out, a start that is under way included; the caller ends it.
    pub(crate) fn take(&self) -> Option<Arc<Server>> {
        let mut state = self.lock();
        // The abort ends the child, so this is a matter of moments; the bound is against a defect.
        let deadline = Instant::now() + limits::LSP_SHUTDOWN * 4;
        while let Phase::Starting(abort, _) = &state.phase {
            let abort = abort.clone();
            drop(state);
            abort.cancel();
            state = self.lock();
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            if matches!(state.phase, Phase::Starting(..)) {
                state = self
                    .changed
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
        match std::mem::take(&mut state.phase) {
            Phase::Up(server) => {
                state.reopen = server.open_documents();
                Some(server)
            }
            Phase::Stopped | Phase::Starting(..) => None,
            // What was refused or broken stays so: only `reload` forgets it.
            phase @ (Phase::Refused { .. } | Phase::Broken(_)) => {
                state.phase = phase;
                None
            }
        }
    }

    /// Forgets crashes and refusals (D5).
    pub(crate) fn forgive(&self) {
        let mut state = self.lock();
        state.crashes.clear();
        state.last_end = None;
        if matches!(state.phase, Phase::Refused { .. } | Phase::Broken(_)) {
            state.phase = Phase::Stopped;
        }
    }

    /// Tells whether the server that runs was started with other settings than there are now.
    pub(crate) fn is_outdated(&self) -> bool {
        let mut state = self.lock();
        let State {
            phase, settings, ..
        } = &mut *state;
        match (phase, settings) {
            (Phase::Up(server), Some(settings)) => settings.have_changed(server),
            _ => false,
        }
    }

    /// Ends a server that answers nothing; it counts as a crash.
    pub(crate) fn give_up(&self, server: &Arc<Server>, why: &str) {
        server.give_up(why);
        self.lock().settle_crash();
    }

    fn spawn(self: &Arc<Self>, state: &mut State, inner: &Inner, launch: Launch) {
        let abort = Cancel::new();
        let programs = identities(&launch);
        let top = inner.detector.top(&launch.root);
        state.settings = Some(Settings::read(&launch.row, &launch.root, top));
        let slot = Arc::downgrade(self);
        let processes = inner.processes.clone();
        let reopen = std::mem::take(&mut state.reopen);
        let install = launch.row.install.clone();
        let token = abort.clone();
        let name = format!("start-{}", launch.row.id);
        let res = std::thread::Builder::new().name(name).spawn(move || {
            let started = first_that_starts(launch, &processes, &token);
            if let Ok(server) = &started {
                for path in &reopen {
                    // A file that is gone by now stays closed.
                    let _ = server.sync(path);
                }
            }
            // Nobody waits for a server whose slot is gone: it is dropped here.
            let Some(slot) = slot.upgrade() else { return };
            let mut state = slot.lock();
            state.phase = match started {
                Ok(server) => Phase::Up(server),
                Err(_) if token.is_cancelled() => Phase::Stopped,
                Err(Failure { why, is_program }) => Phase::Refused {
                    why: match is_program && !install.is_empty() {
                        true => format!("{why}; {install}"),
                        false => why,
                    },
                    programs,
                },
            };
            drop(state);
            slot.changed.notify_all();
        });
        state.phase = match res {
            Ok(_) => {
                if !state.crashes.is_empty() {
                    state.n_restarts += 1;
                }
                Phase::Starting(abort, Instant::now())
            }
            Err(err) => Phase::Broken(format!("no thread to start it: {err}")),
        };
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why no program of a row started.
struct Failure {
    why: String,
    /// Whether another program, or a whole one, could help.
    is_program: bool,
}

/// Starts the first program of a launch that comes up. One that does not run is passed over; one that runs
/// and refuses has spoken for all of them.
fn first_that_starts(
    mut launch: Launch,
    processes: &Processes,
    abort: &Cancel,
) -> Result<Arc<Server>, Failure> {
    loop {
        let err = match Server::start(launch.clone(), processes, abort) {
            Ok(server) => return Ok(server),
            Err(err) => err,
        };
        let is_program = err.is_about_the_program();
        let shown = launch.program.display();
        let reason = match launch.passed_over.is_empty() && launch.others.is_empty() {
            true => err.to_string(),
            false => format!("{shown}: {err}"),
        };
        if !is_program || abort.is_cancelled() {
            launch.others.clear();
        }
        launch = match launch.pass_over(reason) {
            Ok(next) => next,
            Err(why) => return Err(Failure { why, is_program }),
        };
    }
}

fn identities(launch: &Launch) -> Vec<Option<Identity>> {
    launch.programs().map(identity).collect()
}

enum Start {
    Now,
    At(Instant),
    Never(String),
}

impl State {
    /// Notes the end of a server that was not asked for.
    fn settle_crash(&mut self) {
        let Phase::Up(server) = &self.phase else {
            return;
        };
        let ServerPhase::Gone { why, at } = server.phase() else {
            return;
        };
        self.reopen = server.open_documents();
        self.crashes.push_back(at);
        self.last_end = Some(why);
        self.phase = Phase::Stopped;
    }

    fn may_start(&mut self, inner: &Inner) -> Start {
        let options = &inner.options;
        self.crashes
            .retain(|at| at.elapsed() < options.crash_window);
        let Some(last) = self.crashes.back().copied() else {
            return Start::Now;
        };
        match options.restarts.get(self.crashes.len() - 1) {
            None => Start::Never(format!(
                "it crashed {} within {}, last: {}; `reload` starts it again",
                counted(self.crashes.len(), "time"),
                Seconds(options.crash_window),
                self.last_end.as_deref().unwrap_or("no reason known"),
            )),
            Some(pause) if last.elapsed() < *pause => Start::At(last + *pause),
            Some(_) => Start::Now,
        }
    }
}

impl Inner {
    /// Asks the programs that may be shims for their version before one is started, and passes over those
    /// that give none; returns why where none is left.
    pub(crate) fn runnable(&self, mut launch: Launch, cancel: &Cancel) -> Result<Launch, String> {
        while let Some(Err(why)) = self.probed(&launch, cancel) {
            let install = launch.row.install.clone();
            let next = launch.pass_over(why);
            launch = next.map_err(|why| format!("{why}; {install}"))?;
        }
        Ok(launch)
    }

    /// Returns the version that a program that may be a shim gives, or why it gives none; nothing where
    /// there is no doubt or no telling.
    pub(crate) fn probed(
        &self,
        launch: &Launch,
        cancel: &Cancel,
    ) -> Option<Result<String, String>> {
        if !launch.row.probe {
            return None;
        }
        let key = (launch.program.clone(), launch.root.clone());
        let now = identity(&launch.program);
        let known = self.probes().get(&key).cloned();
        let res = match known {
            Some((then, res)) if then == now => res,
            _ => {
                let res = self.ask_version(launch, cancel)?;
                self.probes().insert(key, (now, res.clone()));
                res
            }
        };
        Some(res)
    }

    /// Forgets what programs said, so that they are asked again.
    pub(crate) fn forget_probes(&self) {
        self.probes().clear();
    }

    fn probes(&self) -> MutexGuard<'_, Probes> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the version or the reason; nothing where that cannot be told.
    fn ask_version(&self, launch: &Launch, cancel: &Cancel) -> Option<Result<String, String>> {
        let program =
            Program::new(&launch.program, &launch.root, launch.environment()).args(["--version"]);
        let capture = Capture {
            input: Vec::new(),
            limit: 4096,
            timeout: PROBE,
        };
        let shown = launch.program.display();
        let captured = match self.processes.capture(&program, capture, cancel) {
            Ok(captured) => captured,
            Err(err) => return Some(Err(format!("`{shown}` does not start: {err}"))),
        };
        let Waited::Exited(exit) = captured.waited else {
            // Slow is not broken: the start itself will tell.
            return None;
        };
        if exit.is_success() {
            let version = String::from_utf8_lossy(&captured.stdout);
            let version = version.lines().next().unwrap_or_default().to_owned();
            let since = launch.row.since.filter(|since| is_below(&version, *since));
            return Some(match since {
                Some(since) => Err(format!(
                    "the binary {shown} is there but no server: it is `{version}`, and {since} is needed"
                )),
                None => Ok(version),
            });
        }
        let words = last_words(&String::from_utf8_lossy(&captured.stderr));
        let words = words.unwrap_or_else(|| exit.to_string());
        Some(Err(format!(
            "the binary {shown} is there but cannot run: {words}"
        )))
    }
}

/// Whether the first number of a version is below another; where there is none, it is not known to be.
fn is_below(version: &str, since: u32) -> bool {
    let digits = version.find(|ch: char| ch.is_ascii_digit());
    let from = &version[digits.unwrap_or(version.len())..];
    let end = from.find(|ch: char| !ch.is_ascii_digit());
    let major = from[..end.unwrap_or(from.len())].parse::<u32>();
    major.is_ok_and(|major| major < since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_compared_by_its_first_number() {
        assert!(is_below("Version 5.9.3", 7));
        assert!(!is_below("Version 7.0.2", 7));
        assert!(!is_below("10.1", 7));
        assert!(!is_below("nightly", 7));
        assert!(!is_below("", 7));
    }
}
