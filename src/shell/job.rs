//! One started command: its processes, the thread that reads what it writes, and how it ended.

use std::io::{self, PipeReader, Read};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::cancel::Cancel;
use crate::child::stoppable::{Stop, Stoppable};
use crate::child::{Child, Exit, Processes, Program, Stderr, Stream};
use crate::limits;
use crate::shell::OnOutput;
use crate::shell::output::{Told, Window};
use crate::shell::script::Reports;

/// How long the end of the output is waited for after every process has ended. Only a process that got
/// away with the pipe keeps it open longer.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A started command; dropping it ends all its processes.
#[derive(Debug)]
pub(super) struct Job {
    shared: Arc<Shared>,
    thread: Option<Stoppable>,
    child: Option<Child>,
    ended: Option<Ended>,
}

/// How the shell of a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// The status, as shells count it; none where nobody could report it.
    pub(super) code: Option<i32>,
    /// The signal that ended the shell itself.
    pub(super) signal: Option<String>,
    /// The folder that it was in.
    pub(super) folder: Option<PathBuf>,
}

/// Why a wait came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    Ended,
    TimedOut,
    Cancelled,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    window: Window,
    reports: Reports,
    /// Whether the shell has reported its end, or whoever would report it is gone.
    shell_ended: bool,
    output_ended: bool,
}

impl Job {
    /// Starts the keeper that `program` describes.
    pub(super) fn start(
        processes: &Processes,
        program: Program,
        window: Window,
        on_output: Option<OnOutput>,
    ) -> io::Result<Self> {
        let program = program
            .stdin(Stream::Piped)
            .stdout(Stream::Piped)
            .stderr(Stderr::Piped);
        let mut child = processes.spawn(&program)?;
        let streams = child.take_stdout().zip(child.take_stderr());
        let (output, reports) = streams.expect("both streams were asked for above");
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                window,
                reports: Reports::default(),
                shell_ended: false,
                output_ended: false,
            }),
            changed: Condvar::new(),
        });
        let thread = {
            let pump = Pump {
                shared: Arc::clone(&shared),
                on_output,
            };
            Stoppable::start(&format!("bash-{}", child.pid()), move |stop| {
                pump.run(output, reports, stop);
                let mut state = pump.shared.lock();
                state.shell_ended = true;
                state.output_ended = true;
                pump.shared.changed.notify_all();
            })?
        };
        Ok(Self {
            shared,
            thread: Some(thread),
            child: Some(child),
            ended: None,
        })
    }

    /// Waits until the shell has ended; what it wrote is in the window then.
    pub(super) fn wait(&self, timeout: Duration, cancel: &Cancel) -> Waited {
        let waker = Arc::clone(&self.shared);
        let _guard = cancel.on_cancel(move || {
            // Under the lock, or the waiter could look just before and sleep just after.
            let _state = waker.lock();
            waker.changed.notify_all();
        });
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.lock();
        loop {
            if state.shell_ended {
                return Waited::Ended;
            }
            if cancel.is_cancelled() {
                return Waited::Cancelled;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Waited::TimedOut;
            }
            (state, _) = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many processes still run, once the shell has ended; waits at most `patience` for their end.
    pub(super) fn left_behind(&self, patience: Duration) -> usize {
        self.child
            .as_ref()
            .map_or(0, |child| child.others(patience))
    }

    /// Whether anything of the command still runs.
    pub(super) fn is_running(&self) -> bool {
        if self.child.is_none() {
            return false;
        }
        let shell_ended = self.shared.lock().shell_ended;
        !shell_ended || self.left_behind(Duration::ZERO) > 0
    }

    /// Begins the file that takes the whole output.
    pub(super) fn start_file(&self) {
        self.shared.lock().window.start_file();
    }

    /// Tells what came since the last time.
    pub(super) fn tell(&self) -> Told {
        let mut state = self.shared.lock();
        let more_to_come = !state.output_ended;
        state.window.tell(more_to_come)
    }

    /// Ends every process, SIGTERM first, and reads what is left of the output.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &self.child {
            child.kill_tree(limits::BASH_GRACE);
        }
        self.finish();
    }

    /// Ends what is left, at once, and reads what is left of the output.
    pub(super) fn finish(&mut self) {
        let without_code = self.shell_end().code.is_none() && self.shared.lock().shell_ended;
        let Some(child) = self.child.take() else {
            return;
        };
        // Its pipe closes a moment before the end of the keeper is known.
        let keeper = match without_code {
            true => child.wait_timeout(LAST_WORDS),
            false => child.exit(),
        };
        drop(child);
        let deadline = Instant::now() + LAST_WORDS;
        let mut state = self.shared.lock();
        while !state.output_ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.thread = None;
        let ended = self.shell_end();
        if ended.code.is_none()
            && let Some(ended) = &mut self.ended
        {
            // The keeper went first, as after `kill -9 0`: its own end is all that is known.
            ended.signal = keeper.and_then(Exit::signal_name);
        }
    }

    /// How the shell ended, as far as that is known.
    pub(super) fn shell_end(&mut self) -> Ended {
        if self.ended.as_ref().is_none_or(|ended| ended.code.is_none()) {
            let state = self.shared.lock();
            if state.shell_ended {
                let code = state.reports.code;
                let folder = state.reports.folder.clone();
                let kept = self.ended.take().and_then(|ended| ended.signal);
                // A shell that ends itself reports its folder first; one that is killed cannot.
                let signal = match (code, &folder) {
                    (Some(code), None) if code > 128 => Exit::Signal(code - 128).signal_name(),
                    _ => None,
                };
                self.ended = Some(Ended {
                    code,
                    signal: signal.or(kept),
                    folder,
                });
            }
        }
        self.ended.clone().unwrap_or_default()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread of a job works on.
struct Pump {
    shared: Arc<Shared>,
    on_output: Option<OnOutput>,
}

impl Pump {
    /// Reads both pipes until their ends, or until it is told to stop.
    fn run(&self, output: PipeReader, reports: PipeReader, stop: &Stop) {
        let shared = &*self.shared;
        let mut output = Some(output);
        let mut reports = Some(reports);
        let mut buffer = vec![0; 64 * 1024];
        while output.is_some() || reports.is_some() {
            let pipes = [output.as_ref(), reports.as_ref()];
            let Some(ready) = stop.wait(pipes, PollFlags::IN) else {
                return;
            };
            let [has_output, has_reports] = ready.streams;
            if has_reports && let Some(pipe) = &mut reports {
                let n = read(pipe, &mut buffer);
                // What the shell wrote is in the other pipe by now, and must be told with its end; what
                // others write meanwhile could go on for ever.
                if let Some(output) = &mut output {
                    self.drain(output);
                }
                let mut state = shared.lock();
                if n > 0 {
                    state.reports.take(&buffer[..n]);
                    state.shell_ended |= state.reports.code.is_some();
                } else {
                    reports = None;
                    state.shell_ended = true;
                }
                shared.changed.notify_all();
            }
            if has_output && let Some(pipe) = &mut output {
                match read_ready(pipe, &mut buffer) {
                    Some(0) => {
                        output = None;
                        shared.lock().output_ended = true;
                        shared.changed.notify_all();
                    }
                    Some(n) => self.take(&buffer[..n]),
                    None => {}
                }
            }
            if ready.stopped {
                return;
            }
        }
    }

    /// Reads as much as lies in the pipe now.
    fn drain(&self, pipe: &mut PipeReader) {
        let Ok(n) = rustix::io::ioctl_fionread(&*pipe) else {
            return;
        };
        let mut bytes = vec![0; usize::try_from(n).unwrap_or(0)];
        if pipe.read_exact(&mut bytes).is_ok() {
            self.take(&bytes);
        }
    }

    fn take(&self, bytes: &[u8]) {
        // Whoever shows it may be held up, as a terminal can be, so no lock is held meanwhile. What comes
        // after the end of the shell is that of processes in the background.
        if let Some(OnOutput(show)) = &self.on_output
            && !self.shared.lock().shell_ended
        {
            show(bytes);
        }
        self.shared.lock().window.push(bytes);
    }
}

/// Reads what is there; a pipe that cannot be read is the same as one that has ended.
fn read(pipe: &mut PipeReader, buffer: &mut [u8]) -> usize {
    loop {
        match pipe.read(buffer) {
            Ok(n) => return n,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return 0,
        }
    }
}

/// As [`read`], but what was there may have been drained since: then nothing is waited for.
fn read_ready(pipe: &mut PipeReader, buffer: &mut [u8]) -> Option<usize> {
    let mut fds = [PollFd::new(&*pipe, PollFlags::IN)];
    let at_once = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut fds, Some(&at_once)) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(read(pipe, buffer)),
    }
}
