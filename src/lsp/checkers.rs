//! The project checkers: what `diagnostics` of `"*"` runs instead of asking language servers (R18, D3).
//!
//! Every root marker of the workspace is checked by the checker that its row of the table names. A check
//! can run code of the project (build scripts, plugins), so a host can veto it. What could not be checked,
//! and why, is part of the answer: it never reads as clean. This module knows no language server.

mod columns;
mod compile;
mod database;
mod formats;
mod roots;
mod table;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Serialize;

use columns::ColumnsOf;
use formats::Finding;
use roots::{Bare, CargoWorkspace, Job};
use table::{Checker, How};

use crate::cancel::Cancel;
use crate::child::{Capture, Captured, Env, Processes, Program, Waited};
use crate::limits;
use crate::lsp::diagnostics::{Diagnostic, DiagnosticState, Severity};
use crate::text::counted;
use crate::walk::WalkError;
use crate::workspace::Workspace;

/// Runs the checkers of a project, or says why it may not.
#[derive(Clone, Debug)]
pub struct Checkers(State);

#[derive(Clone, Debug)]
enum State {
    Enabled(Arc<Settings>),
    Disabled(String),
}

#[derive(Clone, Debug)]
struct Settings {
    processes: Processes,
    env: Env,
    time: Duration,
    /// Ids of checkers that are not used.
    without: Vec<String>,
}

/// Why there is no answer at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The host does not let checkers run.
    #[error("project checkers are disabled: {0}")]
    Disabled(String),
    /// Somebody stopped it.
    #[error("the check was cancelled")]
    Cancelled,
    /// The files could not be listed.
    #[error("cannot look for root markers")]
    Walk(#[source] WalkError),
}

/// What the checkers found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Whether the project is clean, as far as that is known.
    pub state: DiagnosticState,
    /// Errors first, then by place; the first of them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of the diagnostics are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// How many of them are errors.
    pub errors: usize,
    /// What ran where, and what could not.
    pub checks: Vec<Check>,
}

/// One checker in one root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The checker.
    pub checker: String,
    /// The folder, as answers show it.
    pub root: String,
    /// How far it came.
    pub outcome: Outcome,
    /// Why it did not come to its end, or to everything.
    pub detail: Option<String>,
}

/// How far a check came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It looked at everything.
    Done,
    /// It ran and failed for another reason than what it looks for.
    Failed,
    /// It took too long; what it found until then is told.
    TimedOut,
    /// It found more than is told.
    Cut,
    /// Nothing that could check is installed.
    NotInstalled,
    /// It was left out.
    Skipped,
    /// There are sources for it, and no root marker that says how they are checked.
    NoMarker,
}

impl Checkers {
    /// Makes checkers that run with this environment; its `PATH` is where they are looked up.
    pub fn new(processes: Processes, env: Env) -> Self {
        Self(State::Enabled(Arc::new(Settings {
            processes,
            env,
            time: limits::CHECK_TIME,
            without: Vec::new(),
        })))
    }

    /// Makes checkers that the host vetoed, for this reason.
    pub fn disabled(reason: impl Into<String>) -> Self {
        Self(State::Disabled(reason.into()))
    }

    /// Sets how long all checks together may take.
    #[must_use]
    pub fn with_time(self, time: Duration) -> Self {
        self.changed(|settings| settings.time = time)
    }

    /// Leaves out checkers by the names that reports give them, such as `cargo check`.
    #[must_use]
    pub fn without(self, ids: &[String]) -> Self {
        self.changed(|settings| settings.without.extend_from_slice(ids))
    }

    fn changed(self, change: impl FnOnce(&mut Settings)) -> Self {
        let Self(mut state) = self;
        if let State::Enabled(settings) = &mut state {
            change(Arc::make_mut(settings));
        }
        Self(state)
    }

    /// Checks every root of the workspace.
    pub fn check(&self, workspace: &Workspace, cancel: &Cancel) -> Result<CheckReport, CheckError> {
        let settings = match &self.0 {
            State::Enabled(settings) => settings,
            State::Disabled(reason) => return Err(CheckError::Disabled(reason.clone())),
        };
        let run = Checking {
            settings,
            workspace,
            cancel,
            deadline: Instant::now() + settings.time.min(limits::FOREVER),
        };
        let covered = |manifest: &Path| run.cargo_workspace(manifest);
        let survey = roots::survey(workspace, &covered, cancel).map_err(CheckError::Walk)?;
        let results: Vec<(Check, Vec<Diagnostic>)> = survey
            .jobs
            .par_iter()
            .enumerate()
            .map(|(job_idx, job)| run.check(job, job_idx < limits::CHECK_ROOTS))
            .collect();
        if cancel.is_cancelled() {
            return Err(CheckError::Cancelled);
        }
        let (mut checks, found): (Vec<Check>, Vec<Vec<Diagnostic>>) = results.into_iter().unzip();
        checks.extend(survey.bare.iter().map(|bare| run.without_root(bare)));
        Ok(CheckReport::new(checks, found.concat()))
    }
}

impl Settings {
    fn uses(&self, id: &str) -> bool {
        !self.without.iter().any(|other| other == id)
    }
}

impl CheckReport {
    fn new(checks: Vec<Check>, mut diagnostics: Vec<Diagnostic>) -> Self {
        let order = |diagnostic: &Diagnostic| {
            let Diagnostic {
                path, line, column, ..
            } = diagnostic;
            (diagnostic.severity, path.clone(), *line, *column)
        };
        diagnostics
            .sort_by(|one, other| order(one).cmp(&order(other)).then_with(|| one.cmp(other)));
        // Two targets of one package, and two roots above one file, say the same.
        diagnostics.dedup();
        let total = diagnostics.len();
        let errors = diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .count();
        let n_done = checks
            .iter()
            .filter(|check| check.outcome == Outcome::Done)
            .count();
        let timed_out = checks
            .iter()
            .any(|check| check.outcome == Outcome::TimedOut);
        let state = match total {
            0 if timed_out => DiagnosticState::Pending,
            0 if n_done == 0 || n_done < checks.len() => DiagnosticState::Unavailable,
            0 => DiagnosticState::Clean,
            _ => DiagnosticState::Found,
        };
        diagnostics.truncate(limits::DIAGNOSTICS_SHOWN);
        Self {
            state,
            shown: diagnostics.len(),
            total,
            errors,
            diagnostics,
            checks,
        }
    }
}

impl CheckReport {
    fn has_no_root(&self) -> bool {
        let mut checks = self.checks.iter();
        checks.all(|check| check.outcome == Outcome::NoMarker)
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done: Vec<String> = self
            .checks
            .iter()
            .filter(|check| check.outcome == Outcome::Done)
            .map(|check| match check.root.as_str() {
                "." => check.checker.clone(),
                root => format!("{} in {root}", check.checker),
            })
            .collect();
        let by = match done.is_empty() {
            true => String::new(),
            false => format!(" ({})", done.join(", ")),
        };
        match self.state {
            DiagnosticState::Clean => write!(f, "clean: no errors or warnings{by}")?,
            DiagnosticState::Found => write!(
                f,
                "{}, {}{by}",
                counted(self.errors, "error"),
                counted(self.total - self.errors, "warning")
            )?,
            DiagnosticState::Pending => write!(f, "not known: the check took too long{by}")?,
            DiagnosticState::Unavailable if self.has_no_root() => write!(
                f,
                "not checked: no root marker of a known project here (Cargo.toml, pubspec.yaml, \
                 tsconfig.json, go.mod, a Python project, compile_commands.json)"
            )?,
            DiagnosticState::Unavailable if done.is_empty() => {
                write!(f, "not known: nothing was checked")?;
            }
            DiagnosticState::Unavailable => write!(
                f,
                "not all was checked; no errors or warnings in what was{by}"
            )?,
        }
        for diagnostic in &self.diagnostics {
            write!(f, "\n{diagnostic}")?;
        }
        if self.shown < self.total {
            write!(f, "\n… {} shown of {}", self.shown, self.total)?;
        }
        for check in &self.checks {
            let why = match check.outcome {
                Outcome::Done => {
                    if let Some(detail) = &check.detail {
                        write!(
                            f,
                            "\nnot checked: {}: {}: {detail}",
                            check.root, check.checker
                        )?;
                    }
                    continue;
                }
                Outcome::Failed => "failed",
                Outcome::TimedOut => "took too long",
                Outcome::Cut => "found more",
                Outcome::NotInstalled => "is not installed",
                Outcome::Skipped => "was left out",
                Outcome::NoMarker => {
                    let detail = check.detail.as_deref().unwrap_or_default();
                    write!(f, "\nnot checked: {detail}")?;
                    continue;
                }
            };
            let told = match check.outcome {
                Outcome::Cut => "not all told",
                _ => "not checked",
            };
            write!(f, "\n{told}: {}: {} {why}", check.root, check.checker)?;
            if let Some(detail) = &check.detail {
                write!(f, ": {detail}")?;
            }
        }
        Ok(())
    }
}

/// The checkers that do not come to what depends on a package with errors, nor to the tests of it.
const HALTS: [&str; 2] = ["cargo check", "go vet"];

/// What is said then.
const HALTED: &str = "what depends on a package with errors; fix those and check again";

/// One question.
struct Checking<'a> {
    settings: &'a Settings,
    workspace: &'a Workspace,
    cancel: &'a Cancel,
    deadline: Instant,
}

/// Why a check does not come to its end.
type Stopped = (Outcome, Option<String>);

/// What a check found, and why that is not all.
#[derive(Default)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    stopped: Option<Stopped>,
}

impl Found {
    fn join(mut self, other: Self) -> Self {
        self.diagnostics.extend(other.diagnostics);
        self.stopped = self.stopped.or(other.stopped);
        self
    }
}

impl Checking<'_> {
    fn cargo_workspace(&self, manifest: &Path) -> Option<CargoWorkspace> {
        let folder = manifest.parent()?;
        let cargo = roots::find("cargo", folder, self.workspace, &self.settings.env)?;
        let program = Program::new(cargo, folder, self.settings.env.clone()).args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version=1",
        ]);
        let captured = self.capture(&program).ok()?;
        CargoWorkspace::read(&captured.stdout)
    }

    /// Says that sources are not checked because nothing says how.
    fn without_root(&self, bare: &Bare) -> Check {
        /// How many of the markers are named.
        const NAMED: usize = 3;
        let Bare {
            row,
            n_files,
            first,
        } = bare;
        let more = |is_more: bool| if is_more { ", …" } else { "" };
        let detail = format!(
            "{} of {} ({}{}): no root marker in or above their folders ({}{})",
            counted(*n_files, "file"),
            row.language,
            self.workspace.display(first),
            more(*n_files > 1),
            row.markers[..row.markers.len().min(NAMED)].join(", "),
            more(row.markers.len() > NAMED)
        );
        let ids: Vec<&str> = row.checkers.iter().map(|checker| checker.id).collect();
        Check {
            checker: ids.join(" or "),
            root: self.workspace.display(self.workspace.root()),
            outcome: Outcome::NoMarker,
            detail: Some(detail),
        }
    }

    fn check(&self, job: &Job, within_limit: bool) -> (Check, Vec<Diagnostic>) {
        let installed = roots::installed(job.row, &job.root, self.workspace, self.settings);
        let (checker, result) = match installed {
            Some((checker, _)) if !within_limit => {
                let why = format!("more than {} roots", limits::CHECK_ROOTS);
                (checker.id.to_owned(), Err((Outcome::Skipped, Some(why))))
            }
            Some((checker, program)) => (checker.id.to_owned(), self.run(checker, &program, job)),
            None => {
                let ids = job.row.checkers.iter().map(|checker| checker.id);
                let used: Vec<&str> = ids.clone().filter(|id| self.settings.uses(id)).collect();
                match used.is_empty() {
                    true => {
                        let why = "the configuration disables it".to_owned();
                        let ids: Vec<&str> = ids.collect();
                        (ids.join(" or "), Err((Outcome::Skipped, Some(why))))
                    }
                    false => (used.join(" or "), Err((Outcome::NotInstalled, None))),
                }
            }
        };
        let (outcome, detail, diagnostics) = match result {
            Ok(Found {
                diagnostics,
                stopped: None,
            }) => {
                let has_error = diagnostics.iter().any(|it| it.severity == Severity::Error);
                let is_halted = has_error && HALTS.contains(&checker.as_str());
                let detail = is_halted.then(|| HALTED.to_owned());
                (Outcome::Done, detail, diagnostics)
            }
            Ok(Found {
                diagnostics,
                stopped: Some((outcome, detail)),
            }) => (outcome, detail, diagnostics),
            Err((outcome, detail)) => (outcome, detail, Vec::new()),
        };
        let check = Check {
            checker,
            root: self.workspace.display(&job.root),
            outcome,
            detail,
        };
        (check, diagnostics)
    }

    fn run(&self, checker: &'static Checker, program: &Path, job: &Job) -> Result<Found, Stopped> {
        let env = self.settings.env.clone();
        match checker.run {
            How::InRoot => {
                let program = Program::new(program, &job.root, env).args(checker.args);
                self.findings(checker, &program, job)
            }
            How::WithInterpreter => {
                let mut program = Program::new(program, &job.root, env).args(checker.args);
                if let Some(python) = roots::interpreter(&job.root, self.workspace) {
                    program = program.args(["--pythonpath".as_ref(), python.as_os_str()]);
                }
                self.findings(checker, &program, job)
            }
            How::OverFiles => {
                let files = self.entries(job)?.into_iter().map(|entry| entry.file);
                let program = Program::new(program, &job.root, env)
                    .args(checker.args)
                    .args(["-p".as_ref(), job.root.as_os_str()])
                    .args(files);
                self.findings(checker, &program, job)
            }
            How::CompileCommands => self.compile_all(checker, job),
        }
    }

    fn findings(
        &self,
        checker: &'static Checker,
        program: &Program,
        job: &Job,
    ) -> Result<Found, Stopped> {
        let captured = self.capture(program)?;
        let exit = match captured.waited {
            Waited::Exited(exit) => Some(exit),
            Waited::TimedOut => None,
            Waited::Cancelled => return Err((Outcome::Skipped, None)),
        };
        let stdout = String::from_utf8_lossy(&captured.stdout);
        let stderr = String::from_utf8_lossy(&captured.stderr);
        // go vet and compilers write what they find to standard error.
        let output = format!("{stdout}\n{stderr}");
        let findings = checker.format.parse(&output, &job.root, &job.marker);
        let explained = match checker.format {
            // Warnings do not make cargo fail: without an error it failed for another reason.
            formats::Format::Cargo => findings
                .iter()
                .any(|finding| finding.severity == Severity::Error),
            _ => !findings.is_empty(),
        };
        let Some(exit) = exit else {
            return Ok(Found {
                diagnostics: self.diagnostics(checker, findings),
                stopped: Some((Outcome::TimedOut, None)),
            });
        };
        if captured.stdout_total > captured.stdout.len() as u64 {
            let why = format!(
                "its output is larger than {} MiB",
                captured.stdout.len() >> 20
            );
            return Ok(Found {
                diagnostics: self.diagnostics(checker, findings),
                stopped: Some((Outcome::Cut, Some(why))),
            });
        }
        if !exit.is_success() && !explained {
            let words = stderr.lines().chain(stdout.lines());
            let first = words
                .map(str::trim)
                .find(|line| !line.is_empty() && !line.starts_with('{'))
                .unwrap_or_default();
            let why = format!("{exit}: {first}");
            return Err((Outcome::Failed, Some(why)));
        }
        Ok(Found {
            diagnostics: self.diagnostics(checker, findings),
            stopped: None,
        })
    }

    fn capture(&self, program: &Program) -> Result<Captured, Stopped> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err((Outcome::TimedOut, None));
        }
        let capture = Capture {
            input: Vec::new(),
            limit: limits::CHECK_OUTPUT_BYTES,
            timeout: left,
        };
        self.settings
            .processes
            .capture(program, capture, self.cancel)
            .map_err(|err| (Outcome::Failed, Some(err.to_string())))
    }

    fn diagnostics(&self, checker: &'static Checker, findings: Vec<Finding>) -> Vec<Diagnostic> {
        let mut columns = ColumnsOf::default();
        findings
            .into_iter()
            .map(|finding| {
                let path = self.workspace.resolve(&finding.path);
                let path = path.unwrap_or(finding.path);
                Diagnostic {
                    file: self.workspace.display(&path),
                    line: finding.line,
                    column: columns.of(&path, finding.line, finding.column, checker.columns),
                    severity: finding.severity,
                    code: finding.code,
                    message: finding.message,
                    source: Some(checker.id.to_owned()),
                    path,
                }
            })
            .collect()
    }
}
