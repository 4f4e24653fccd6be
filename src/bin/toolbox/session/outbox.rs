//! Lines to whoever reads a session.
//!
//! One thread writes whole lines, so they never mix. Answers wait while too much is unread; what the
//! reading side of the session says itself, and events, never wait, so that a client which does not read
//! cannot keep its own requests from being read. When even those pile up, or the reader has gone away, the
//! outbox is broken, and the session ends.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolbox::limits;

/// The queue of lines; clones share it.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<Shared>);

/// The thread that writes; see [`Writer::finish`].
pub(crate) struct Writer {
    outbox: Outbox,
    thread: JoinHandle<()>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    on_broken: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    /// How far the end is: no more lines are taken, or nobody reads any more.
    phase: Phase,
    /// The writer has ended.
    ended: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Closed,
    Broken,
}

impl Outbox {
    /// Starts a writer; `on_broken` is called once when nobody reads any more.
    pub(crate) fn start(
        name: &str,
        output: impl Write + Send + 'static,
        on_broken: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<(Self, Writer)> {
        let outbox = Self(Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            on_broken: Box::new(on_broken),
        }));
        let shared = outbox.clone();
        let thread = std::thread::Builder::new()
            .name(format!("{name}-writer"))
            .spawn(move || shared.write(output))?;
        let writer = Writer {
            outbox: outbox.clone(),
            thread,
        };
        Ok((outbox, writer))
    }

    /// Queues an answer; waits while too much is unread.
    pub(crate) fn answer(&self, line: &Value) {
        let mut state = self.lock();
        while state.phase == Phase::Open && state.bytes >= limits::SESSION_OUTPUT_BYTES {
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.push(state, line);
    }

    /// Queues a line without ever waiting.
    pub(crate) fn tell(&self, line: &Value) {
        self.push(self.lock(), line);
    }

    fn push(&self, mut state: MutexGuard<'_, State>, line: &Value) {
        if state.phase != Phase::Open {
            return;
        }
        let line = format!("{line}\n");
        if state.bytes.saturating_add(line.len()) > limits::SESSION_OUTPUT_BYTES_MAX {
            drop(state);
            self.break_off();
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        drop(state);
        self.0.changed.notify_all();
    }

    fn break_off(&self) {
        let mut state = self.lock();
        let first = state.phase != Phase::Broken;
        state.phase = Phase::Broken;
        state.lines.clear();
        state.bytes = 0;
        drop(state);
        self.0.changed.notify_all();
        if first {
            (self.0.on_broken)();
        }
    }

    fn write(&self, mut output: impl Write) {
        let mut batch = String::new();
        loop {
            let mut state = self.lock();
            while state.lines.is_empty() && state.phase == Phase::Open {
                state = self
                    .0
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            batch.clear();
            // Many small lines go out in one write; the bytes count until they are written.
            while let Some(line) = state.lines.front()
                && (batch.is_empty() || batch.len() + line.len() <= 1 << 16)
            {
                let line = state.lines.pop_front().unwrap_or_default();
                batch.push_str(&line);
            }
            drop(state);
            if batch.is_empty() {
                break;
            }
            let res = output
                .write_all(batch.as_bytes())
                .and_then(|()| output.flush());
            if res.is_err() {
                self.break_off();
                break;
            }
            let mut state = self.lock();
            state.bytes = state.bytes.saturating_sub(batch.len());
            drop(state);
            self.0.changed.notify_all();
        }
        self.lock().ended = true;
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    /// Takes no more lines and waits until the queued ones are read, or for `wait`. A writer that is stuck
    /// in its stream is left behind: nothing can call it back.
    pub(crate) fn finish(self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let mut state = self.outbox.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closed;
        }
        self.outbox.0.changed.notify_all();
        while !state.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            (state, _) = self
                .outbox
                .0
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        let _ = self.thread.join();
    }
}
