//! A command's side of the background session: finding it, starting it, telling its version apart.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};
use toolbox::child::{Env, Processes, Program};
use toolbox::limits;
use toolbox::tool::{ErrorKind, ToolError};
use toolbox::workspace::Workspace;

use crate::background::build::Build;
use crate::background::place::Place;
use crate::session::lines::{Line, next_line};

/// A connection to a background session that has said who it is.
pub(crate) struct Link {
    pub(crate) input: BufReader<UnixStream>,
    pub(crate) output: UnixStream,
    /// What it said of itself.
    hello: Value,
}

/// What a command has to say about the session that it found.
pub(crate) enum Found {
    /// It runs.
    Running(Link),
    /// It was started just now, in the place of one of another version or of none.
    Started { link: Link, replaced: bool },
}

/// Finds the session of a checkout, or starts one with these global flags.
pub(crate) fn find_or_start(
    place: &Place,
    workspace: &Workspace,
    flags: &[OsString],
) -> Result<Found, ToolError> {
    let own = Build::own();
    if let Some(link) = greet(place)?
        && link.is_of(&own)
    {
        return Ok(Found::Running(link));
    }
    let starting = place
        .starting(limits::BACKGROUND_START)
        .map_err(|err| failed(place, "cannot lock", err))?;
    let Some(_starting) = starting else {
        return Err(ToolError::new(
            ErrorKind::Timeout,
            "another command has been starting the background session for too long",
        )
        .with_hint("try again"));
    };
    let mut replaced = false;
    // Another command may have started it while this one waited.
    if let Some(link) = greet(place)? {
        if link.is_of(&own) {
            return Ok(Found::Running(link));
        }
        replace(link)?;
        replaced = true;
    }
    start(place, workspace, flags)?;
    match greet(place)? {
        Some(link) => Ok(Found::Started { link, replaced }),
        None => Err(ToolError::new(
            ErrorKind::Failed,
            "the background session ended as soon as it had started",
        )),
    }
}

/// Connects to the session that runs, whatever its version; `None` when none does.
pub(crate) fn greet(place: &Place) -> Result<Option<Link>, ToolError> {
    let stream = place
        .connect()
        .map_err(|err| failed(place, "cannot connect to the background session in", err))?;
    let Some(stream) = stream else {
        return Ok(None);
    };
    let read = || -> io::Result<Option<Link>> {
        stream.set_read_timeout(Some(limits::BACKGROUND_START))?;
        let mut link = Link {
            input: BufReader::new(stream.try_clone()?),
            output: stream.try_clone()?,
            hello: Value::Null,
        };
        match link.next() {
            Ok(Some(line)) => {
                link.hello = line["hello"].clone();
                Ok(Some(link))
            }
            // One that is about to end lets nobody in.
            Ok(None) => Ok(None),
            Err(err) if err.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(err) => Err(err),
        }
    };
    read().map_err(|err| failed(place, "the background session does not answer in", err))
}

impl Link {
    /// Sends a line.
    pub(crate) fn send(&mut self, line: &Value) -> io::Result<()> {
        self.output.write_all(format!("{line}\n").as_bytes())
    }

    /// Reads a line; `None` when the session has ended.
    pub(crate) fn next(&mut self) -> io::Result<Option<Value>> {
        next_value(&mut self.input)
    }

    /// Waits as long as it takes from here on.
    pub(crate) fn without_deadline(self) -> io::Result<Self> {
        self.output.set_read_timeout(None)?;
        Ok(self)
    }

    /// Asks for the end and waits for it.
    pub(crate) fn stop(mut self) -> Result<(), ToolError> {
        let pid = self.hello["pid"].clone();
        let mut ended = || -> io::Result<()> {
            self.send(&json!({ "stop": true }))?;
            while self.next()?.is_some() {}
            Ok(())
        };
        match ended() {
            Err(err) if is_gone(&err) => Ok(()),
            Err(err) => Err(ToolError::from_cause(ErrorKind::Timeout, err)
                .with_hint(format!("end the process {pid} by hand"))),
            Ok(()) => Ok(()),
        }
    }

    /// Asks what the session does.
    pub(crate) fn status(&mut self) -> Result<Value, ToolError> {
        let mut ask = || -> io::Result<Option<Value>> {
            self.send(&json!({ "status": true }))?;
            self.next()
        };
        match ask() {
            Ok(Some(line)) => Ok(line["status"].clone()),
            Ok(None) => Ok(Value::Null),
            Err(err) => Err(ToolError::from_cause(ErrorKind::Failed, err)),
        }
    }

    /// Fails when the session has another configuration than this command: it would do other things than
    /// this command says, and what it holds is too dear to be thrown away unasked.
    pub(crate) fn configured_as(self, digest: &str) -> Result<Self, ToolError> {
        if self.hello["config"] == *digest {
            return Ok(self);
        }
        let message =
            "the background session of this checkout has another configuration than this command";
        Err(ToolError::new(ErrorKind::Unavailable, message).with_hint(
            "give the same --config, --trust-project and --enclosure; or run `toolbox session stop`, \
             which ends what it holds, and try again",
        ))
    }

    /// Tells whether it is of this build.
    pub(crate) fn is_of(&self, own: &Build) -> bool {
        self.hello["version"] == *own.version && self.hello["build"] == *own.id
    }
}

/// Reads the next line of JSON.
pub(crate) fn next_value(input: &mut BufReader<UnixStream>) -> io::Result<Option<Value>> {
    // What a session of one's own sends is bounded by what it takes.
    match next_line(input, limits::SESSION_OUTPUT_BYTES_MAX)? {
        Some(Line::Whole(line)) => serde_json::from_slice(&line)
            .map(Some)
            .map_err(io::Error::from),
        Some(Line::TooLong(_)) => Err(io::Error::other("the background session sent too much")),
        None => Ok(None),
    }
}

fn is_gone(err: &io::Error) -> bool {
    matches!(
        err.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// Ends a session of another version, unless it works for somebody.
fn replace(mut link: Link) -> Result<(), ToolError> {
    let version = link.hello["version"]
        .as_str()
        .unwrap_or("unknown")
        .to_owned();
    let status = link.status()?;
    let calls = status["calls"].as_array().map_or(0, Vec::len);
    if calls > 0 {
        let message = format!(
            "the background session of this checkout is another build (version {version}), \
             and has calls under way"
        );
        return Err(ToolError::new(ErrorKind::Unavailable, message)
            .with_hint("wait for them, or run `toolbox session stop`"));
    }
    link.stop()
}

/// Starts a session and waits until it is ready.
fn start(place: &Place, workspace: &Workspace, flags: &[OsString]) -> Result<(), ToolError> {
    let cannot = |err| failed(place, "cannot start a background session in", err);
    let name = format!("ready.{}", std::process::id());
    let listener = place.listen(&name).map_err(cannot)?;
    let started = spawn(workspace, flags, &name)
        .and_then(|process| word(&listener, &process, limits::BACKGROUND_START));
    // A name that stays behind is in nobody's way.
    let _ = place.remove(&name);
    match started.map_err(cannot)?.as_str() {
        "ready" => Ok(()),
        "" => Err(ToolError::new(
            ErrorKind::Failed,
            "the background session ended before it was ready",
        )),
        reason => Err(ToolError::new(
            ErrorKind::Failed,
            format!("the background session could not start: {reason}"),
        )),
    }
}

fn spawn(workspace: &Workspace, flags: &[OsString], ready: &str) -> io::Result<OwnedFd> {
    let root = workspace.root();
    // It lives in the environment of whoever started it, so it finds the same programs and home.
    let environment: Env = env::vars_os().collect();
    let program = Program::new(env::current_exe()?, root, environment)
        .args(["--workspace".as_ref(), root.as_os_str()])
        .args(flags)
        .args(["background-session", "--ready", ready]);
    let pid = Processes::spawn_detached(&program)?;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits for the word of a session that starts, or for its end.
fn word(listener: &UnixListener, process: &OwnedFd, wait: Duration) -> io::Result<String> {
    let mut fds = [
        PollFd::new(listener, PollFlags::IN),
        PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN),
    ];
    let timeout = Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(wait.subsec_nanos()),
    };
    loop {
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
    }
    // Its last word may be there together with its end.
    if fds[0].revents().is_empty() {
        return Ok(String::new());
    }
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(wait))?;
    let mut word = String::new();
    stream.read_to_string(&mut word)?;
    Ok(word)
}

fn failed(place: &Place, what: &str, err: io::Error) -> ToolError {
    let message = format!("{what} '{}'", place.path().display());
    ToolError::new(ErrorKind::Failed, message).caused_by(err)
}
