//! The conversation with one adapter: requests that wait for their reply, and a thread that reads.
//!
//! The reading thread applies everything in the order in which it came: events change the machine, replies
//! are handed over. It never waits for anything but the next message.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::select_biased;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::dap::error::{DapError, Failure};
use crate::dap::machine::{Effect, Monitor};
use crate::dap::protocol::Message;
use crate::limits;
use crate::wire::{Incoming, Outbox, Pending, Waiting, read_frames};

/// What comes back for a request.
pub(crate) type Reply = Result<Value, Failure>;

/// The sending side.
#[derive(Debug)]
pub(crate) struct Client {
    outbox: Arc<Mutex<Outbox>>,
    pending: Pending<Reply>,
    monitor: Arc<Monitor>,
}

/// What became of the wait for a reply.
pub(crate) enum Answer {
    Reply(Reply),
    TimedOut,
    Cancelled,
}

impl Client {
    /// Starts the threads that write to and read from an adapter. `effect` is called on the reading thread.
    pub(crate) fn start(
        name: &str,
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
        monitor: Arc<Monitor>,
        mut effect: impl FnMut(Effect) + Send + 'static,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let outbox = Arc::new(Mutex::new(Outbox::start(&format!("{name}-write"), writer)?));
        let pending = Pending::<Reply>::new();
        let client = Self {
            outbox: Arc::clone(&outbox),
            pending: pending.clone(),
            monitor: Arc::clone(&monitor),
        };
        let sink = move |incoming: Option<Incoming>| match incoming {
            Some(Incoming::Message(message)) => match Message::read(message) {
                Some(Message::Response {
                    request_seq,
                    outcome,
                }) => {
                    // A reply that nobody waits for any more is late, and that is all.
                    pending.settle(request_seq, outcome);
                    // Some wait for a reply or an event, whichever comes first.
                    monitor.change(|_| ());
                }
                Some(Message::Event { name, body }) => {
                    if let Some(wanted) = monitor.change(|machine| machine.apply(&name, &body)) {
                        effect(wanted);
                    }
                }
                Some(Message::Request { seq, command }) => {
                    let refusal = decline(pending.begin().id(), seq, &command);
                    let _ = lock(&outbox).send(&refusal);
                    let words = format!("[the adapter asked for {command}, which was declined]\n");
                    monitor.change(|machine| machine.remark(&words));
                }
                None => {}
            },
            // Some adapters print on the stream of the protocol.
            Some(Incoming::Garbage(words)) => {
                monitor.change(|machine| machine.words.push(&format!("{words}\n")));
            }
            None => {
                let gone = Failure::Gone("its stream ended".to_owned());
                pending.close(Err(gone));
                monitor.change(|machine| machine.eof = true);
            }
        };
        let reading = read_frames(
            &format!("{name}-read"),
            reader,
            limits::DEBUG_MESSAGE_BYTES,
            sink,
        )?;
        Ok((client, reading))
    }

    /// Sends a request.
    pub(crate) fn begin(&self, command: &str, arguments: Value) -> Waiting<Reply> {
        let waiting = self.pending.begin();
        let mut message = json!({"seq": waiting.id(), "type": "request", "command": command});
        if !arguments.is_null() {
            message["arguments"] = arguments;
        }
        if let Err(closed) = lock(&self.outbox).send(&message) {
            self.pending
                .settle(waiting.id(), Err(Failure::Gone(closed.to_string())));
        }
        waiting
    }

    /// Waits for a reply.
    pub(crate) fn wait(
        &self,
        waiting: &Waiting<Reply>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Answer {
        let (sender, cancelled) = crossbeam_channel::bounded(1);
        let _guard = cancel.on_cancel(move || {
            let _ = sender.try_send(());
        });
        let late = crossbeam_channel::at(deadline);
        select_biased! {
            recv(waiting.reply()) -> reply => match reply {
                Ok(reply) => Answer::Reply(reply),
                Err(_) => Answer::Reply(Err(Failure::Gone("its stream ended".to_owned()))),
            },
            recv(cancelled) -> _ => Answer::Cancelled,
            recv(late) -> _ => Answer::TimedOut,
        }
    }

    /// Sends a request and waits for its reply.
    pub(crate) fn request(
        &self,
        command: &str,
        arguments: Value,
        wait: Duration,
        cancel: &Cancel,
    ) -> Result<Value, DapError> {
        let waiting = self.begin(command, arguments);
        match self.wait(&waiting, Instant::now() + wait, cancel) {
            Answer::Reply(reply) => reply.map_err(|failure| self.failed(command, failure)),
            Answer::Cancelled => Err(DapError::Cancelled),
            Answer::TimedOut => Err(DapError::Timeout {
                during: format!("doing {command}"),
                after: wait,
                said: String::new(),
            }),
        }
    }

    /// Makes the error of a request that failed.
    pub(crate) fn failed(&self, command: &str, failure: Failure) -> DapError {
        match failure {
            Failure::Refused(words) => DapError::Refused {
                command: command.to_owned(),
                words,
                said: String::new(),
            },
            Failure::Gone(words) => DapError::Died {
                during: format!("doing {command}"),
                words,
                said: self.monitor.look().words.text(),
            },
        }
    }

    /// Closes the stream to the adapter once what is queued is written.
    pub(crate) fn close(&self) {
        lock(&self.outbox).close();
    }
}

fn lock(outbox: &Mutex<Outbox>) -> std::sync::MutexGuard<'_, Outbox> {
    outbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers what an adapter asks. Nothing of it was offered, but some ask all the same, and wait.
fn decline(seq: i64, request_seq: i64, command: &str) -> Value {
    json!({
        "seq": seq,
        "type": "response",
        "request_seq": request_seq,
        "success": false,
        "command": command,
        "message": format!("{command} is not offered by this client"),
    })
}
