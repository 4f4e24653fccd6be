//! Shell commands: one process tree each, with a working folder that is kept between them.
//!
//! A command runs in a fresh shell in a session of its own, under a keeper (see `script`) that holds its
//! tree together: whatever the command started, daemons included, is found and ended on a timeout, on a
//! cancel and with the [`Shell`]. The shell's own end decides when a command has ended; what it left running
//! lives on as a job until it ends, is killed, or the shell value is dropped. This module knows no tool.

mod job;
mod output;
mod script;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::cancel::Cancel;
use crate::child::{Env, Isolation, Processes, Program};
use crate::limits;
use crate::shell::job::{Ended, Job, Waited};
use crate::shell::output::{Told, Window};
use crate::workspace::Workspace;

/// Takes what a command in the foreground writes, as it comes; see [`ShellOptions::on_output`].
#[derive(Clone)]
pub struct OnOutput(Arc<Show>);

type Show = dyn Fn(&[u8]) + Send + Sync;

/// What a host decides about shell commands.
#[derive(Clone, Debug)]
pub struct ShellOptions {
    /// The shell, a POSIX one: bash where there is one.
    pub shell: PathBuf,
    /// The environment of every command.
    pub env: Env,
    /// Where output goes that is too long for an answer; without it the middle of it is lost.
    pub output_dir: Option<PathBuf>,
    /// Who sees the output of a command in the foreground while it runs; the answer stays the same. It is
    /// called from the thread that reads the output, so a slow one slows the command.
    pub on_output: Option<OnOutput>,
    /// How long a command may take that names no time.
    pub timeout: Duration,
    /// The longest time that a command may name.
    pub max_timeout: Duration,
}

/// Runs commands in one workspace; dropping it ends all that they started.
#[derive(Debug)]
pub struct Shell {
    processes: Processes,
    workspace: Workspace,
    options: ShellOptions,
    turn: Arc<Turn>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    folder: PathBuf,
    last_id: u64,
    jobs: BTreeMap<u64, Arc<Mutex<Job>>>,
}

/// Commands in the foreground take turns: each begins in the folder where the last one ended.
#[derive(Debug, Default)]
struct Turn {
    taken: Mutex<bool>,
    freed: Condvar,
}

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BashReport {
    /// The status of the shell; none while it runs, after a timeout, and where it could not be known.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell itself, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Standard output and standard error in the order written; the middle of a long one is left out.
    pub output: String,
    /// The file with the whole output.
    pub output_file: Option<String>,
    /// Whether the time was over; everything was ended then.
    pub timed_out: bool,
    /// The name of what still runs in the background.
    pub background_id: Option<String>,
    /// The folder in which the next command begins.
    pub cwd: String,
    /// Whether anything of the command still runs.
    pub running: bool,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Why a command did not run, or was not waited for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShellError {
    /// There is nothing to run.
    #[error("the command is empty")]
    EmptyCommand,
    /// No shell takes a NUL.
    #[error("the command holds a NUL character")]
    Nul,
    /// The system takes no argument of that length.
    #[error("the command has {bytes} bytes; the limit is {limit}", limit = limits::BASH_COMMAND_BYTES)]
    CommandTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The time is over the limit, or none.
    #[error("timeout is {} s; it must be 1 to {} s", asked.as_secs(), limit.as_secs())]
    BadTimeout {
        /// The time that was asked for.
        asked: Duration,
        /// The longest.
        limit: Duration,
    },
    /// No job has this name.
    #[error("no background command '{id}'")]
    UnknownJob {
        /// The name.
        id: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// So many run already.
    #[error("{} commands run in the background already", limits::BASH_JOBS)]
    TooManyJobs,
    /// The shell did not start.
    #[error("cannot start the shell '{}'", shell.display())]
    Start {
        /// The shell.
        shell: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Somebody cancelled the command; all its processes have ended.
    #[error("the command was cancelled")]
    Cancelled,
}

impl OnOutput {
    /// Shows output to `show`: bytes in the order written, not cut where characters or lines end.
    pub fn new(show: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }
}

impl fmt::Debug for OnOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnOutput").finish_non_exhaustive()
    }
}

impl ShellOptions {
    /// Options with the times of the requirements and no place for long output.
    pub fn new(shell: PathBuf, env: Env) -> Self {
        Self {
            shell,
            env,
            output_dir: None,
            on_output: None,
            timeout: limits::BASH_TIMEOUT,
            max_timeout: limits::BASH_MAX_TIMEOUT,
        }
    }
}

impl Shell {
    /// Makes a runner of commands that begins in the root of the workspace.
    pub fn new(processes: Processes, workspace: Workspace, options: ShellOptions) -> Self {
        let state = State {
            folder: workspace.root().to_owned(),
            last_id: 0,
            jobs: BTreeMap::new(),
        };
        Self {
            processes,
            workspace,
            options,
            turn: Arc::default(),
            state: Mutex::new(state),
        }
    }

    /// Runs a command until its shell ends, the time is over, or the cancel.
    pub fn run(
        &self,
        command: &str,
        timeout: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<BashReport, ShellError> {
        check_command(command)?;
        let timeout = self.checked_timeout(timeout)?;
        let _turn = Turn::enter(&self.turn, cancel).ok_or(ShellError::Cancelled)?;
        let mut notes = Vec::new();
        let begun_in = self.folder(&mut notes);
        let mut job = self.start(command, &begun_in, self.options.on_output.clone())?;
        match job.wait(timeout, cancel) {
            Waited::Cancelled => {
                job.kill();
                Err(ShellError::Cancelled)
            }
            Waited::TimedOut => {
                job.kill();
                notes.push(format!(
                    "timed out: ended with all its processes after {} s",
                    timeout.as_secs_f32()
                ));
                let mut report = self.report(job.tell(), &Ended::default(), notes);
                report.timed_out = true;
                Ok(report)
            }
            Waited::Ended => {
                let n_left = job.left_behind(limits::BASH_LINGER);
                let background_id = match n_left {
                    0 => {
                        job.finish();
                        None
                    }
                    _ if self.is_full() => {
                        job.kill();
                        notes.push(format!(
                            "processes that it left running were ended: {} commands run in the background",
                            limits::BASH_JOBS
                        ));
                        None
                    }
                    _ => {
                        notes.push(format!("{n_left} of its processes still run"));
                        job.start_file();
                        Some(())
                    }
                };
                let ended = job.shell_end();
                self.enter_folder(ended.folder.as_deref(), &begun_in, &mut notes);
                let mut report = self.report(job.tell(), &ended, notes);
                if background_id.is_some() {
                    report.background_id = Some(self.keep(job));
                    report.running = true;
                }
                Ok(report)
            }
        }
    }

    /// Starts a command and does not wait for it. It begins in the folder of the last command that ended,
    /// and does not change that folder.
    pub fn start_in_background(&self, command: &str) -> Result<BashReport, ShellError> {
        check_command(command)?;
        if self.is_full() {
            return Err(ShellError::TooManyJobs);
        }
        let mut notes = Vec::new();
        let folder = self.folder(&mut notes);
        let job = self.start(command, &folder, None)?;
        job.start_file();
        let told = Told {
            file: job.tell().file,
            ..Told::default()
        };
        let mut report = self.report(told, &Ended::default(), notes);
        report.background_id = Some(self.keep(job));
        report.running = true;
        Ok(report)
    }

    /// Returns the names of the commands that run in the background; it waits for nobody.
    pub fn running(&self) -> Vec<String> {
        let jobs: Vec<_> = {
            let state = self.lock();
            let jobs = state.jobs.iter();
            jobs.map(|(id, job)| (*id, Arc::clone(job))).collect()
        };
        // Somebody who holds a job is about to end it, or to hear from it.
        let runs = |job: &Mutex<Job>| job.try_lock().is_ok_and(|job| job.is_running());
        jobs.iter()
            .filter(|(_, job)| runs(job))
            .map(|(id, _)| format!("bash_{id}"))
            .collect()
    }

    /// Tells what a background command wrote since it was last asked, and whether it still runs.
    pub fn output(&self, id: &str) -> Result<BashReport, ShellError> {
        let job = self.job(id)?;
        let mut job = lock(&job);
        let running = job.is_running();
        if !running {
            job.finish();
        }
        let ended = job.shell_end();
        let mut report = self.report(job.tell(), &ended, Vec::new());
        report.background_id = Some(id.to_owned());
        report.running = running;
        Ok(report)
    }

    /// Ends a background command with all its processes, and tells what it wrote since it was last asked.
    pub fn kill(&self, id: &str) -> Result<BashReport, ShellError> {
        let job = self.job(id)?;
        let mut job = lock(&job);
        let was_running = job.is_running();
        let before = job.shell_end();
        job.kill();
        let ended = match was_running {
            true => before,
            false => job.shell_end(),
        };
        let note = match was_running {
            true => "ended with all its processes",
            false => "it had ended already",
        };
        let mut report = self.report(job.tell(), &ended, vec![note.to_owned()]);
        report.background_id = Some(id.to_owned());
        Ok(report)
    }

    fn checked_timeout(&self, timeout: Option<Duration>) -> Result<Duration, ShellError> {
        let limit = self.options.max_timeout;
        match timeout {
            None => Ok(self.options.timeout.min(limits::FOREVER)),
            Some(asked) if asked.is_zero() || asked > limit => {
                Err(ShellError::BadTimeout { asked, limit })
            }
            Some(asked) => Ok(asked.min(limits::FOREVER)),
        }
    }

    fn start(
        &self,
        command: &str,
        folder: &Path,
        on_output: Option<OnOutput>,
    ) -> Result<Job, ShellError> {
        let options = &self.options;
        let mut env = options.env.clone();
        env.set("PWD", folder);
        let program = Program::new(&options.shell, folder, env)
            .args(["-c", script::KEEPER, "toolbox-bash"])
            .args([&options.shell])
            .args([script::PRELUDE, command])
            .isolation(Isolation::Keeper);
        let window = Window::new(options.output_dir.clone());
        Job::start(&self.processes, program, window, on_output).map_err(|source| {
            ShellError::Start {
                shell: options.shell.clone(),
                source,
            }
        })
    }

    /// The folder of the next command; a folder that is gone is left for the root.
    fn folder(&self, notes: &mut Vec<String>) -> PathBuf {
        let mut state = self.lock();
        if !state.folder.is_dir() {
            notes.push(format!(
                "the working folder {} is gone; back in the workspace",
                self.workspace.display(&state.folder)
            ));
            state.folder = self.workspace.root().to_owned();
        }
        state.folder.clone()
    }

    /// Keeps the folder that a command ended in, when it is inside.
    fn enter_folder(&self, folder: Option<&Path>, begun_in: &Path, notes: &mut Vec<String>) {
        let Some(folder) = folder else {
            return;
        };
        let inside = self.workspace.resolve(folder).ok();
        match inside.filter(|folder| folder.is_dir()) {
            Some(folder) => {
                if folder != begun_in {
                    notes.push(format!(
                        "working folder: {}",
                        self.workspace.display(&folder)
                    ));
                }
                self.lock().folder = folder;
            }
            None => {
                notes.push(format!(
                    "{} is outside the workspace; the next command begins in the workspace again",
                    folder.display()
                ));
                self.lock().folder = self.workspace.root().to_owned();
            }
        }
    }

    fn report(&self, told: Told, ended: &Ended, mut notes: Vec<String>) -> BashReport {
        notes.extend(told.notes);
        BashReport {
            exit_code: ended.code,
            signal: ended.signal.clone(),
            output: told.text,
            output_file: told.file.map(|path| path.display().to_string()),
            timed_out: false,
            background_id: None,
            cwd: self.workspace.display(&self.lock().folder),
            running: false,
            notes,
        }
    }

    /// Whether as many jobs run as may. What has ended meanwhile is tidied up.
    fn is_full(&self) -> bool {
        let jobs: Vec<_> = self.lock().jobs.values().cloned().collect();
        let n_running = jobs
            .iter()
            .filter(|job| {
                let mut job = lock(job);
                let running = job.is_running();
                if !running {
                    job.finish();
                }
                running
            })
            .count();
        n_running >= limits::BASH_JOBS
    }

    fn keep(&self, job: Job) -> String {
        self.forget_oldest();
        let mut state = self.lock();
        state.last_id += 1;
        let id = state.last_id;
        state.jobs.insert(id, Arc::new(Mutex::new(job)));
        format!("bash_{id}")
    }

    /// Lets jobs go that ended long ago, the oldest first; those that run are fewer than are kept.
    fn forget_oldest(&self) {
        // A job is never looked at under the lock of the state: whoever holds a job may wait for that.
        let jobs: Vec<_> = {
            let state = self.lock();
            let n_extra = (state.jobs.len() + 1).saturating_sub(2 * limits::BASH_JOBS);
            if n_extra == 0 {
                return;
            }
            let jobs = state.jobs.iter();
            jobs.map(|(id, job)| (*id, Arc::clone(job))).collect()
        };
        if let Some((id, _)) = jobs.iter().find(|(_, job)| !lock(job).is_running()) {
            self.lock().jobs.remove(id);
        }
    }

    fn job(&self, id: &str) -> Result<Arc<Mutex<Job>>, ShellError> {
        let state = self.lock();
        let number = id
            .strip_prefix("bash_")
            .and_then(|number| number.parse().ok());
        number
            .and_then(|number: u64| state.jobs.get(&number))
            .cloned()
            .ok_or_else(|| ShellError::UnknownJob {
                id: id.to_owned(),
                known: state.jobs.keys().map(|id| format!("bash_{id}")).collect(),
            })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check_command(command: &str) -> Result<(), ShellError> {
    if command.trim().is_empty() {
        return Err(ShellError::EmptyCommand);
    }
    if command.contains('\0') {
        return Err(ShellError::Nul);
    }
    if command.len() > limits::BASH_COMMAND_BYTES {
        return Err(ShellError::CommandTooLong {
            bytes: command.len(),
        });
    }
    Ok(())
}

/// A turn that was taken; dropping it lets the next one in.
#[derive(Debug)]
struct TurnGuard(Arc<Turn>);

impl Turn {
    fn enter(turn: &Arc<Self>, cancel: &Cancel) -> Option<TurnGuard> {
        let waker = Arc::clone(turn);
        let _guard = cancel.on_cancel(move || {
            let _taken = lock(&waker.taken);
            waker.freed.notify_all();
        });
        let mut taken = lock(&turn.taken);
        loop {
            if cancel.is_cancelled() {
                return None;
            }
            if !*taken {
                break;
            }
            taken = turn
                .freed
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *taken = true;
        drop(taken);
        Some(TurnGuard(Arc::clone(turn)))
    }
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        *lock(&self.0.taken) = false;
        // Whoever is woken may be cancelled and not take the turn.
        self.0.freed.notify_all();
    }
}

impl fmt::Display for BashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.output)?;
        let mut lines = Vec::new();
        if let Some(signal) = &self.signal {
            lines.push(format!("the shell was ended by {signal}"));
        } else if let Some(code) = self.exit_code.filter(|code| *code != 0) {
            let signal = crate::child::Exit::Signal(code - 128).signal_name();
            let as_after = signal.filter(|name| code > 128 && name.starts_with("SIG"));
            let as_after = as_after.map(|name| format!(", as after {name}"));
            lines.push(format!("exit code {code}{}", as_after.unwrap_or_default()));
        }
        lines.extend(self.notes.iter().cloned());
        if let Some(id) = &self.background_id
            && self.running
        {
            lines.push(format!(
                "runs in the background as {id} until it ends, is killed, or the run ends"
            ));
            if let Some(file) = &self.output_file {
                lines.push(format!("its output: {file}"));
            }
        }
        if self.output.is_empty() && lines.is_empty() {
            lines.push("no output".to_owned());
        }
        if !self.output.is_empty() && !self.output.ends_with('\n') && !lines.is_empty() {
            writeln!(f)?;
        }
        for (idx, line) in lines.iter().enumerate() {
            let gap = if idx == 0 { "" } else { "\n" };
            write!(f, "{gap}[{line}]")?;
        }
        Ok(())
    }
}
