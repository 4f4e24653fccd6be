//! Writing frames without ever waiting for the peer.

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use serde_json::Value;

/// The queue of messages to a peer; a thread of its own writes them.
///
/// It is unbounded, because whoever sends must not wait for a peer that does not read; [`Self::stalled`]
/// tells when the peer is to be given up. Dropping it closes the stream once what is queued is written.
pub struct Outbox {
    queue: Option<Sender<Vec<u8>>>,
    state: Arc<Mutex<State>>,
    writer: Option<JoinHandle<()>>,
}

/// The peer takes no more messages: its stream is closed or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the other end takes no more messages: {0}")]
pub struct OutboxClosed(String);

#[derive(Default)]
struct State {
    /// Since when one message is being written.
    since: Option<Instant>,
    failure: Option<String>,
}

impl Outbox {
    /// Starts the thread that writes to `output`.
    pub fn start(name: &str, output: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (queue, messages) = crossbeam_channel::unbounded();
        let state = Arc::<Mutex<State>>::default();
        let shared = Arc::clone(&state);
        let writer = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || write_all(output, &messages, &shared))?;
        Ok(Self {
            queue: Some(queue),
            state,
            writer: Some(writer),
        })
    }

    /// Queues a message.
    pub fn send(&self, message: &Value) -> Result<(), OutboxClosed> {
        if let Some(why) = &self.lock().failure {
            return Err(OutboxClosed(why.clone()));
        }
        let body = message.to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
        let closed = || OutboxClosed("it was closed".to_owned());
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(frame).map_err(|_| closed())
    }

    /// Returns for how long the peer has not taken the message that is being written; `None` when none is.
    pub fn stalled(&self) -> Option<Duration> {
        self.lock().since.map(|since| since.elapsed())
    }

    /// Returns why writing failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Takes no more messages and closes the stream after those that are queued.
    pub fn close(&mut self) {
        self.queue = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_all(mut output: impl Write, messages: &Receiver<Vec<u8>>, state: &Mutex<State>) {
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    for frame in messages {
        lock().since = Some(Instant::now());
        let res = output.write_all(&frame).and_then(|()| output.flush());
        let mut state = lock();
        state.since = None;
        if let Err(err) = res {
            state.failure = Some(err.to_string());
            return;
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.queue = None;
        // A writer that hangs in a full pipe ends when the owner of the process ends the process; joining
        // it here would wait for that.
        if let Some(writer) = self.writer.take()
            && writer.is_finished()
        {
            let _ = writer.join();
        }
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("stalled", &self.stalled())
            .field("failure", &self.failure())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::*;
    use crate::wire::{Frames, Incoming};

    #[test]
    fn writes_frames_in_order_and_closes_the_stream() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut outbox = Outbox::start("test", writer).expect("a thread");
        outbox.send(&Value::from("é")).expect("open");
        outbox.send(&Value::from(2)).expect("open");
        outbox.close();
        assert!(outbox.send(&Value::from(3)).is_err());
        let mut frames = Frames::new(reader, 100);
        let got: Vec<Incoming> =
            std::iter::from_fn(|| frames.next_incoming().expect("no fault")).collect();
        assert_eq!(
            got,
            [
                Incoming::Message(Value::from("é")),
                Incoming::Message(Value::from(2))
            ]
        );
    }

    #[test]
    fn a_peer_that_does_not_read_blocks_no_sender_and_is_seen() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let outbox = Outbox::start("test", writer).expect("a thread");
        let large = Value::from("x".repeat(1 << 20));
        for _ in 0..4 {
            outbox.send(&large).expect("open");
        }
        let deadline = Instant::now() + Duration::from_secs(10);
        while outbox.stalled().is_none() {
            assert!(Instant::now() < deadline, "the stall is not seen");
            std::thread::yield_now();
        }
        drop(outbox);
        let mut all = Vec::new();
        reader.read_to_end(&mut all).expect("what was queued");
        assert!(all.len() > 4 << 20, "nothing queued is lost");
    }

    #[test]
    fn a_closed_peer_is_reported_to_the_next_sender() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let outbox = Outbox::start("test", writer).expect("a thread");
        drop(reader);
        let deadline = Instant::now() + Duration::from_secs(10);
        while outbox.send(&Value::from(1)).is_ok() {
            assert!(Instant::now() < deadline, "the failure is not seen");
        }
        assert!(outbox.failure().is_some());
    }
}
