//! Threads that empty a child's pipes, so that it never blocks on them.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use crate::child::stoppable::{Stop, Stoppable};

/// Keeps the last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Tail(Drain);

/// Keeps the first bytes of a stream and counts the rest.
#[derive(Debug)]
pub(crate) struct Head(Drain);

/// Writes a child's input.
#[derive(Debug)]
pub(crate) struct Feed {
    _thread: Stoppable,
}

#[derive(Debug)]
struct Drain {
    shared: Arc<Shared>,
    _thread: Stoppable,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    bytes: VecDeque<u8>,
    total: u64,
    ended: bool,
    keep: Keep,
}

#[derive(Clone, Copy, Debug)]
enum Keep {
    First(usize),
    Last(usize),
}

impl Tail {
    /// Starts the thread `name`.
    pub(crate) fn start(name: &str, pipe: PipeReader, capacity: usize) -> io::Result<Self> {
        Drain::start(name, pipe, Keep::Last(capacity)).map(Self)
    }

    /// Waits until the stream has ended; tells whether it has.
    pub(crate) fn wait_for_end(&self, timeout: Duration) -> bool {
        self.0.wait_for_end(timeout)
    }

    /// Returns what is kept; a cut at the front never shows half a character.
    pub(crate) fn text(&self) -> String {
        let state = self.0.shared.lock();
        let (front, back) = state.bytes.as_slices();
        let bytes = [front, back].concat();
        let cut = state.total > bytes.len() as u64;
        drop(state);
        let skip = if cut {
            bytes
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xC0 == 0x80)
                .count()
        } else {
            0
        };
        String::from_utf8_lossy(&bytes[skip..]).into_owned()
    }
}

impl Head {
    /// Starts the thread `name`.
    pub(crate) fn start(name: &str, pipe: PipeReader, capacity: usize) -> io::Result<Self> {
        Drain::start(name, pipe, Keep::First(capacity)).map(Self)
    }

    /// Waits until the stream has ended; tells whether it has.
    pub(crate) fn wait_for_end(&self, timeout: Duration) -> bool {
        self.0.wait_for_end(timeout)
    }

    /// Stops reading; returns what is kept and how many bytes there were.
    pub(crate) fn finish(self) -> (Vec<u8>, u64) {
        let mut state = self.0.shared.lock();
        (std::mem::take(&mut state.bytes).into(), state.total)
    }
}

impl Feed {
    /// Starts the thread `name`; it closes the pipe when all is written.
    pub(crate) fn start(name: &str, pipe: PipeWriter, bytes: Vec<u8>) -> io::Result<Self> {
        // With a blocking pipe the thread could not see that it shall stop.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let thread = Stoppable::start(name, move |stop| fill(pipe, stop, &bytes))?;
        Ok(Self { _thread: thread })
    }
}

impl Drain {
    fn start(name: &str, pipe: PipeReader, keep: Keep) -> io::Result<Self> {
        let state = State {
            bytes: VecDeque::new(),
            total: 0,
            ended: false,
            keep,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            ended: Condvar::new(),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            Stoppable::start(name, move |stop| {
                empty(pipe, stop, &shared);
                shared.lock().ended = true;
                shared.ended.notify_all();
            })?
        };
        Ok(Self {
            shared,
            _thread: thread,
        })
    }

    fn wait_for_end(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.lock();
        while !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            (state, _) = self
                .shared
                .ended
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        match self.keep {
            Keep::First(capacity) => {
                let room = capacity.saturating_sub(self.bytes.len());
                self.bytes.extend(&chunk[..room.min(chunk.len())]);
            }
            Keep::Last(capacity) => {
                let chunk = &chunk[chunk.len().saturating_sub(capacity)..];
                let excess = (self.bytes.len() + chunk.len()).saturating_sub(capacity);
                self.bytes.drain(..excess.min(self.bytes.len()));
                self.bytes.extend(chunk);
            }
        }
    }
}

/// Reads until the end of the stream or of the patience.
fn empty(mut pipe: PipeReader, stop: &Stop, shared: &Shared) {
    let mut buffer = [0; 16 * 1024];
    while stop.wait_for(&pipe, PollFlags::IN) {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => shared.lock().take(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes until all is written, nobody reads any more, or the patience ends.
fn fill(mut pipe: PipeWriter, stop: &Stop, mut bytes: &[u8]) {
    while !bytes.is_empty() && stop.wait_for(&pipe, PollFlags::OUT) {
        match pipe.write(bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) => {}
            // The child does not read its input to the end, as `head` does not.
            Err(_) => return,
        }
    }
}
