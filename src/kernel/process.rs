//! One interpreter process: its pipes, its end, and what it prints while nobody asks.
//!
//! All pipes are read without blocking by whoever has the turn: the conversation while a cell runs, and a
//! thread of the kernel's own between cells, so that a thread or child of an earlier cell never blocks on
//! a full pipe. That the process has ended is learnt from the process, never from the end of a pipe, which
//! its children may hold open.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::cancel::Cancel;
use crate::child::stoppable::{Stop, Stoppable};
use crate::child::{Child, Exit, Isolation, Processes, Program, Stderr, Stream};
use crate::kernel::interpreter::Interpreter;
use crate::kernel::prelude::{Prelude, SAFE_PATH, SHIM};
use crate::kernel::protocol::{FromKernel, Lines};
use crate::kernel::script::Names;
use crate::kernel::{KernelError, KernelOptions, Language};
use crate::limits;

/// An interpreter that is ready for cells.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) language: Language,
    /// What the interpreter says it is: its path and version.
    pub(crate) program: String,
    pub(crate) n_cells: u64,
    /// What the cells of JavaScript have declared.
    pub(crate) names: Names,
    enclosed: bool,
    pub(crate) raw: Arc<RawOutput>,
    pub(crate) wake: Wake,
    stdin: Option<PipeWriter>,
    outbox: Vec<u8>,
    frames: PipeReader,
    lines: Lines,
    buffer: Vec<u8>,
    ended: OwnedFd,
    late: Option<Stoppable>,
    /// What the environment of everything that this interpreter started holds.
    mark: String,
    child: Child,
}

/// What the interpreter and its children print; the lock is the turn to read it.
#[derive(Debug)]
pub(crate) struct RawOutput {
    pipe: PipeReader,
    turn: Mutex<Late>,
}

/// What was printed while no cell ran.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub(crate) bytes: Vec<u8>,
    pub(crate) dropped: u64,
}

/// Wakes a conversation that waits for the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    reader: Arc<PipeReader>,
    writer: Arc<PipeWriter>,
}

/// What a wait saw.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) raw: bool,
    pub(crate) frames: bool,
    pub(crate) ended: bool,
}

/// Bytes of one read: a pipe holds 64 KiB unless somebody made it larger.
const CHUNK: usize = 1 << 17;

impl Kernel {
    /// Starts an interpreter and waits until it is ready.
    pub(crate) fn start(
        processes: &Processes,
        options: &KernelOptions,
        interpreter: &Interpreter,
        cancel: &Cancel,
    ) -> Result<Self, KernelError> {
        let enclosed = !options.enclosure.is_empty();
        let prelude = match enclosed {
            true => Prelude::relayed(interpreter.language),
            false => Prelude::of(interpreter.language),
        };
        let mark = mark();
        let mut env = options.env.clone().with(MARK, &mark);
        let mut words: Vec<String> = options.enclosure.clone();
        if !enclosed {
            words.extend(["sh", "-c", SHIM, "sh"].map(str::to_owned));
        }
        if interpreter.language == Language::Python {
            let (name, value) = SAFE_PATH;
            match enclosed {
                true => words.extend(["env".to_owned(), format!("{name}={value}")]),
                // Who asks for it himself keeps it.
                false if env.get(name).is_none() => env.set(name, value),
                false => {}
            }
        }
        words.extend(interpreter.words.iter().cloned());
        words.extend(prelude.args);
        let named = match options.enclosure.is_empty() {
            true => interpreter.words.join(" "),
            false => options.enclosure.join(" "),
        };
        let program = Program::new(&words[0], &options.folder, env)
            .args(&words[1..])
            .isolation(Isolation::Session)
            .stdin(Stream::Piped)
            .stdout(Stream::Piped)
            .stderr(Stderr::Piped);
        let spawned = processes.spawn(&program);
        let mut child = spawned.map_err(|source| KernelError::Spawn {
            program: named.clone(),
            source,
        })?;
        let pid = Pid::from_raw(child.pid().cast_signed()).expect("children have numbers");
        let ended = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
        let streams = (child.take_stdin(), child.take_stdout(), child.take_stderr());
        let (Some(stdin), Some(frames), Some(pipe)) = streams else {
            return Err(io::Error::other("a stream of the interpreter is missing").into());
        };
        ioctl_fionbio(&stdin, true).map_err(io::Error::from)?;
        ioctl_fionbio(&frames, true).map_err(io::Error::from)?;
        ioctl_fionbio(&pipe, true).map_err(io::Error::from)?;
        let mut kernel = Self {
            language: interpreter.language,
            program: named,
            n_cells: 0,
            names: Names::default(),
            enclosed,
            raw: Arc::new(RawOutput {
                pipe,
                turn: Mutex::default(),
            }),
            wake: Wake::new()?,
            stdin: Some(stdin),
            outbox: prelude.payload,
            frames,
            lines: Lines::default(),
            buffer: vec![0; CHUNK],
            ended,
            late: None,
            mark,
            child,
        };
        kernel.await_hello(options, cancel)?;
        let raw = Arc::clone(&kernel.raw);
        let late = Stoppable::start(&child_name(pid), move |stop| read_late(&raw, stop));
        kernel.late = Some(late?);
        Ok(kernel)
    }

    fn await_hello(&mut self, options: &KernelOptions, cancel: &Cancel) -> Result<(), KernelError> {
        let wake = self.wake.clone();
        let _guard = cancel.on_cancel(move || wake.wake());
        let deadline = Instant::now() + options.start;
        let raw = Arc::clone(&self.raw);
        let mut late = raw.lock();
        loop {
            if cancel.is_cancelled() {
                return Err(KernelError::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let seen = self.wait(Some(left))?;
            let buffer = &mut vec![0; CHUNK];
            raw.drain(buffer, &mut |bytes| late.push(bytes));
            for frame in self.read_frames() {
                match frame {
                    FromKernel::Hello { program, version } => {
                        self.program = match version.is_empty() {
                            true => program,
                            false => format!("{program} ({version})"),
                        };
                        return Ok(());
                    }
                    FromKernel::Raw { data } => late.push(&decode(&data)),
                    _ => {}
                }
            }
            if seen.ended || left.is_zero() {
                let exit = self.child.wait_timeout(limits::KERNEL_QUIT);
                raw.drain(buffer, &mut |bytes| late.push(bytes));
                let said = String::from_utf8_lossy(&late.bytes).into_owned();
                let ended = match exit {
                    Some(exit) => exit.to_string(),
                    None => format!("no answer in {} s", options.start.as_secs()),
                };
                return Err(match options.enclosure.is_empty() {
                    true => KernelError::NotReady {
                        program: self.program.clone(),
                        ended,
                        said,
                    },
                    false => KernelError::NoEnclosure {
                        prefix: self.program.clone(),
                        ended,
                        said,
                    },
                });
            }
        }
    }

    /// Returns how the interpreter ended, if it has.
    ///
    /// Whoever collects the status may not have come to it yet, so the process itself is looked at.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let mut fds = [PollFd::new(&self.ended, PollFlags::IN)];
        match poll(&mut fds, Some(&Timespec::default())) {
            Ok(1) => Some(self.await_exit().unwrap_or(Exit::Unknown)),
            _ => self.child.exit(),
        }
    }

    /// Returns how the interpreter ended, once it is seen to have.
    pub(crate) fn await_exit(&self) -> Option<Exit> {
        self.child.wait_timeout(limits::KERNEL_QUIT)
    }

    /// Tells whether a relay stands between the host and the interpreter.
    pub(crate) fn is_relayed(&self) -> bool {
        self.enclosed
    }

    /// Puts a frame into the line to the interpreter; [`Self::wait`] sends it.
    pub(crate) fn send(&mut self, line: &[u8]) {
        self.outbox.extend_from_slice(line);
    }

    /// Sends what fits, and waits until there is something to look at or the time is over.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Seen> {
        self.flush();
        let timeout = timeout.map(|timeout| {
            Timespec::try_from(timeout).unwrap_or(Timespec {
                tv_sec: i64::from(i32::MAX),
                tv_nsec: 0,
            })
        });
        let mut fds = vec![
            PollFd::new(&self.raw.pipe, PollFlags::IN),
            PollFd::new(&self.frames, PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
            PollFd::new(&*self.wake.reader, PollFlags::IN),
        ];
        if let Some(stdin) = &self.stdin
            && !self.outbox.is_empty()
        {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        if ready[3] {
            self.wake.clear();
        }
        self.flush();
        Ok(Seen {
            raw: ready[0],
            frames: ready[1],
            ended: ready[2],
        })
    }

    /// Reads what the interpreter has sent.
    pub(crate) fn read_frames(&mut self) -> Vec<FromKernel> {
        match (&self.frames).read(&mut self.buffer) {
            Ok(n) => self
                .lines
                .push(&self.buffer[..n], limits::KERNEL_FRAME_BYTES),
            Err(_) => Vec::new(),
        }
    }

    /// Lends the buffer that reads go through.
    pub(crate) fn with_buffer<R>(&mut self, read: impl FnOnce(&mut [u8]) -> R) -> R {
        read(&mut self.buffer)
    }

    fn flush(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        let mut sent = 0;
        while sent < self.outbox.len() {
            match stdin.write(&self.outbox[sent..]) {
                Ok(n) => sent += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // The interpreter has closed its end; its exit says the rest.
                Err(_) => sent = self.outbox.len(),
            }
        }
        self.outbox.drain(..sent);
    }

    /// Asks the cell that runs to stop.
    pub(crate) fn interrupt(&self) {
        if self.enclosed {
            // A signal would hit the command that leads into the enclosure; the relay gets a frame.
            return;
        }
        // SIGINT ends the commands that the cell runs. Python code may ignore it, or a library may wait in
        // the C library for a command, so the interpreter gets a signal of its own besides.
        self.child.interrupt();
        self.nudge();
    }

    /// Sends the interpreter its own signal again: with threads of native code about, the one that must
    /// wake up may have missed it. The interpreter counts them as one.
    pub(crate) fn nudge(&self) {
        if self.language == Language::Python
            && !self.enclosed
            && let Some(pid) = Pid::from_raw(self.child.pid().cast_signed())
        {
            let _ = kill_process(pid, Signal::USR2);
        }
    }

    /// Kills the interpreter and everything that it started; returns how it ended.
    pub(crate) fn kill(&self) -> Option<Exit> {
        self.child.kill_tree(Duration::ZERO)
    }

    /// Lets the interpreter run its exit handlers, then ends it and everything that it started.
    pub(crate) fn close(mut self) {
        self.quit();
    }

    fn quit(&mut self) {
        if self.enclosed {
            // The relay sees the end of its input and ends the interpreter behind it.
            self.stdin = None;
            if self.child.exit().is_none() {
                self.child.wait_timeout(2 * limits::KERNEL_QUIT);
            }
        } else if self.child.exit().is_none() {
            // SIGTERM reaches what the interpreter started while it is still known whose it is; the
            // interpreter takes it as the wish to run its exit handlers.
            self.child.kill_tree(limits::KERNEL_QUIT);
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.quit();
        sweep(&self.mark);
    }
}

impl RawOutput {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Late> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is in the pipe now; a writer that floods it cannot hold the reader up.
    pub(crate) fn drain(&self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) {
        let mut left = ioctl_fionread(&self.pipe).unwrap_or(0);
        while left > 0 {
            let room = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            match (&self.pipe).read(&mut buffer[..room]) {
                Ok(0) => return,
                Ok(n) => {
                    take(&buffer[..n]);
                    left = left.saturating_sub(n as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

impl Late {
    /// Keeps the last bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * limits::LATE_BYTES {
            let excess = self.bytes.len() - limits::LATE_BYTES;
            self.bytes.drain(..excess);
            self.dropped += excess as u64;
        }
    }
}

impl Wake {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        ioctl_fionbio(&reader, true)?;
        ioctl_fionbio(&writer, true)?;
        Ok(Self {
            reader: Arc::new(reader),
            writer: Arc::new(writer),
        })
    }

    pub(crate) fn wake(&self) {
        // A full pipe wakes as well.
        let _ = (&*self.writer).write(&[0]);
    }

    fn clear(&self) {
        let mut buffer = [0; 64];
        while matches!((&*self.reader).read(&mut buffer), Ok(n) if n == buffer.len()) {}
    }
}

/// The variable that tells whose a process is.
const MARK: &str = "TOOLBOX_KERNEL";

/// Makes a value for [`MARK`] that no other interpreter has.
fn mark() -> String {
    let since = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
}

/// Kills what an interpreter left in sessions of its own: once it is dead nothing else tells whose they are.
fn sweep(mark: &str) {
    let line = format!("{MARK}={mark}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return;
    };
    for entry in entries.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else {
            continue;
        };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
            continue;
        };
        // The descriptor is opened first: the environment that is read after it is that process's.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == line.as_bytes())
        {
            let _ = pidfd_send_signal(descriptor, Signal::KILL);
        }
    }
}

/// Raw output as a relay sends it.
pub(crate) fn decode(data: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(data)
        .unwrap_or_default()
}

fn child_name(pid: Pid) -> String {
    format!("kernel-{pid}")
}

/// Reads what comes while no cell runs: whoever runs a cell holds the turn, and this waits for it.
fn read_late(raw: &RawOutput, stop: &Stop) {
    let mut buffer = vec![0; 1 << 14];
    while stop.wait_for(&raw.pipe, PollFlags::IN) {
        let mut late = raw.lock();
        match (&raw.pipe).read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => late.push(&buffer[..n]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            Err(_) => return,
        }
    }
}
