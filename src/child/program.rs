//! What to start, with which environment, and where its streams go.
//!
//! Nothing is inherited: the folder, the environment and each stream are said, or they are not there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment of a child: what is not said is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<OsString, OsString>);

/// What to start, and how.
#[derive(Clone, Debug)]
pub struct Program {
    program: OsString,
    args: Vec<OsString>,
    cwd: PathBuf,
    env: Env,
    pub(super) isolation: Isolation,
    pub(super) stdin: Stream,
    pub(super) stdout: Stream,
    pub(super) stderr: Stderr,
}

/// What a child leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// A process group.
    #[default]
    Group,
    /// A session without a terminal, whose groups all end with it. Its leader becomes the parent of every
    /// process that its descendants orphan, so that a daemon is found as long as the leader lives.
    Session,
    /// Such a session whose leader outlives SIGTERM, and is ended after everything that it is the parent of.
    Keeper,
}

/// Where a child's standard input or output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// Nowhere.
    #[default]
    Null,
    /// To a pipe that the handle gives out.
    Piped,
}

/// Where a child's standard error goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    /// Nowhere.
    #[default]
    Null,
    /// To a pipe that the handle gives out.
    Piped,
    /// To a thread that keeps the last so many bytes.
    Tail(usize),
    /// Where standard output goes, in the order written.
    WithStdout,
}

impl Env {
    /// Makes an empty environment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.0
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: impl AsRef<OsStr>) {
        self.0.remove(name.as_ref());
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Returns the variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<N: AsRef<OsStr>, V: AsRef<OsStr>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let mut env = Self::default();
        variables
            .into_iter()
            .for_each(|(name, value)| env.set(name, value));
        env
    }
}

impl Program {
    /// Describes a program without arguments in a process group of its own, with no input and no output.
    ///
    /// A name without a slash is looked up in the `PATH` of `env`.
    pub fn new(program: impl AsRef<OsStr>, cwd: impl AsRef<Path>, env: Env) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: cwd.as_ref().to_owned(),
            env,
            isolation: Isolation::default(),
            stdin: Stream::default(),
            stdout: Stream::default(),
            stderr: Stderr::default(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets what the child leads.
    #[must_use]
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Sets where standard input comes from.
    #[must_use]
    pub fn stdin(mut self, stdin: Stream) -> Self {
        self.stdin = stdin;
        self
    }

    /// Sets where standard output goes.
    #[must_use]
    pub fn stdout(mut self, stdout: Stream) -> Self {
        self.stdout = stdout;
        self
    }

    /// Sets where standard error goes.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(&self.env.0);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.args
            .iter()
            .try_for_each(|arg| write!(f, " {}", arg.display()))
    }
}

/// Tells whether a path leads to a file that somebody may execute.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
