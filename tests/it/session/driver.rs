//! A session in a process of its own, and a checkout for it.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A checkout beside its home, in a folder of its own.
pub(crate) struct Checkout(tempfile::TempDir);

impl Checkout {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self(tempfile::tempdir().expect("a folder"));
        for folder in [checkout.root().join(".git"), checkout.home()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        for (name, text) in files {
            fs::write(checkout.root().join(name), text).expect("a file");
        }
        checkout
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("checkout")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// The command in the root of the checkout.
    pub(crate) fn toolbox(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_toolbox"));
        command.args(args);
        command
    }

    /// Any program in the root of the checkout.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.root());
        command
    }

    pub(crate) fn session(&self, args: &[&str]) -> Driven {
        let mut command = self.toolbox(&["session"]);
        Driven::start(command.args(args))
    }
}

/// A running session; dropping it kills it.
pub(crate) struct Driven {
    /// None for a client of a session that runs by itself.
    child: Option<Child>,
    input: Option<Box<dyn Write>>,
    /// The connection of a client.
    stream: Option<UnixStream>,
    lines: Receiver<Value>,
    /// Lines that were passed over while another was looked for.
    seen: VecDeque<Value>,
}

impl Driven {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut session = Self::start_unread(command);
        session.read();
        session
    }

    /// Starts a session whose output nobody reads yet.
    pub(crate) fn start_unread(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let (_, lines) = channel();
        let input = child.stdin.take().expect("it is piped");
        Self {
            input: Some(Box::new(input)),
            stream: None,
            child: Some(child),
            lines,
            seen: VecDeque::new(),
        }
    }

    /// Drives a session that runs already.
    pub(crate) fn over(stream: UnixStream) -> Self {
        let clone = || stream.try_clone().expect("a descriptor");
        let (input, output) = (clone(), clone());
        let mut driven = Self {
            child: None,
            input: Some(Box::new(input)),
            stream: Some(stream),
            lines: channel().1,
            seen: VecDeque::new(),
        };
        driven.read_from(output);
        driven
    }

    /// Begins to read the output.
    pub(crate) fn read(&mut self) {
        let child = self.child.as_mut().expect("a process of ours");
        let stdout = child.stdout.take().expect("nobody reads yet");
        self.read_from(stdout);
    }

    fn read_from(&mut self, output: impl std::io::Read + Send + 'static) {
        let (sender, lines) = channel();
        self.lines = lines;
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.expect("UTF-8");
                let value = serde_json::from_str(&line)
                    .unwrap_or_else(|err| panic!("no line of JSON: {err}: {line}"));
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
    }

    /// Goes away without reading.
    pub(crate) fn close_output(&mut self) {
        let child = self.child.as_mut().expect("a process of ours");
        drop(child.stdout.take());
    }

    pub(crate) fn send(&mut self, line: Value) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).expect("the session reads");
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str, args: Value) {
        self.send(json!({"id": id.into(), "tool": tool, "args": args}));
    }

    /// Returns the first line, seen or to come, that fits; the others stay.
    #[track_caller]
    pub(crate) fn find(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.seen.iter().position(&fits) {
            return self.seen.remove(at).expect("it was found there");
        }
        let deadline = Instant::now() + LONG;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if fits(&line) => return line,
                Ok(line) => self.seen.push_back(line),
                Err(err) => panic!("no {what} ({err}); seen: {:#?}", self.seen),
            }
        }
    }

    /// Returns the answer to the call `id`.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        self.find(&format!("answer to {id}"), |line| {
            line["id"] == id && line["event"].is_null()
        })
    }

    /// Returns the next event of a kind.
    #[track_caller]
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        self.find(kind, |line| line["event"] == kind)
    }

    /// Tells whether a line that was seen fits.
    pub(crate) fn has_seen(&self, fits: impl Fn(&Value) -> bool) -> bool {
        self.seen.iter().any(fits)
    }

    /// Ends the input and returns the lines that nobody looked at, and how the process ended.
    pub(crate) fn end(mut self) -> (Vec<Value>, ExitStatus) {
        drop(self.input.take());
        let status = self.wait();
        let mut rest: Vec<Value> = self.seen.drain(..).collect();
        loop {
            match self.lines.recv_timeout(LONG) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => return (rest, status),
                Err(RecvTimeoutError::Timeout) => panic!("somebody holds the output open"),
            }
        }
    }

    /// Waits for the end of the process, whose input stays open.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let child = self.child.as_mut().expect("a process of ours");
        let pid = rustix::process::Pid::from_child(child);
        let handle = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty());
        let handle = handle.expect("it is our child");
        let mut fds = [rustix::event::PollFd::new(
            &handle,
            rustix::event::PollFlags::IN,
        )];
        let timeout = rustix::event::Timespec {
            tv_sec: LONG.as_secs().cast_signed(),
            tv_nsec: 0,
        };
        let ready = rustix::event::poll(&mut fds, Some(&timeout)).expect("it can be polled");
        assert_eq!(ready, 1, "the session did not end");
        child.wait().expect("it has ended")
    }

    /// Ends the input; what comes then is still to be read.
    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(self.child.as_ref().expect("a process of ours"))
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let child = self.child.as_ref().expect("a process of ours");
        let pid = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(pid, signal).expect("it lives");
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            // The thread that reads holds another descriptor of it.
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
