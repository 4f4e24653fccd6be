//! One call of a command in the background session: its answer, its questions, its interrupt.

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use toolbox::cancel::Cancel;
use toolbox::limits;
use toolbox::tool::{ErrorKind, Output, ToolError};

use crate::background::client::{Link, next_value};
use crate::output::Console;
use crate::session::request;

/// What happens while a call is under way.
enum Event {
    /// The session said something.
    Line(Value),
    /// The session is gone.
    Gone(Option<io::Error>),
    /// The person at the terminal wants an end.
    Interrupt(i32),
    /// A question was decided here.
    Answer(Value),
}

/// Makes the call and waits for its answer.
pub(crate) fn call(
    console: &Console,
    link: Link,
    request: &Value,
    name: &str,
) -> Result<Output, ToolError> {
    let broken = |err: io::Error| {
        ToolError::new(ErrorKind::Failed, "lost the background session").caused_by(err)
    };
    let mut link = link.without_deadline().map_err(broken)?;
    // A command has few events in flight: its own call's.
    let (sender, events) = unbounded();
    interrupts(sender.clone()).map_err(broken)?;
    link.send(request).map_err(broken)?;
    let mut input = link.input;
    let lines = sender.clone();
    std::thread::Builder::new()
        .name("answers".to_owned())
        .spawn(move || {
            loop {
                let event = match next_value(&mut input) {
                    Ok(Some(line)) => Event::Line(line),
                    Ok(None) => Event::Gone(None),
                    Err(err) => Event::Gone(Some(err)),
                };
                let gone = matches!(event, Event::Gone(_));
                if lines.send(event).is_err() || gone {
                    break;
                }
            }
        })
        .map_err(broken)?;
    Conversation {
        console,
        name,
        output: link.output,
        sender,
        questions: BTreeMap::new(),
        deadline: None,
    }
    .run(&events)
}

struct Conversation<'a> {
    console: &'a Console,
    name: &'a str,
    output: std::os::unix::net::UnixStream,
    sender: Sender<Event>,
    /// Questions that are shown, and the tokens that withdraw them.
    questions: BTreeMap<String, Cancel>,
    /// Set by an interrupt: how long the answer may still take.
    deadline: Option<Instant>,
}

impl Conversation<'_> {
    fn run(mut self, events: &Receiver<Event>) -> Result<Output, ToolError> {
        loop {
            let event = match self.deadline {
                None => events.recv().map_err(RecvTimeoutError::from),
                Some(deadline) => {
                    events.recv_timeout(deadline.saturating_duration_since(Instant::now()))
                }
            };
            match event {
                Ok(Event::Line(line)) => {
                    if let Some(answer) = self.follow(line) {
                        return answer;
                    }
                }
                Ok(Event::Gone(cause)) => {
                    let error = ToolError::new(
                        ErrorKind::Failed,
                        format!(
                            "the background session ended during the call of {}",
                            self.name
                        ),
                    )
                    .with_hint("run the command again: it starts a new session");
                    return Err(match cause {
                        Some(cause) => error.caused_by(cause),
                        None => error,
                    });
                }
                Ok(Event::Interrupt(signal)) => {
                    if self.deadline.is_some() {
                        // Whoever asks twice does not want to wait. The session cancels what it loses.
                        let _ = emulate_default_handler(signal);
                    }
                    self.deadline = Some(Instant::now() + limits::BACKGROUND_CANCEL);
                    self.send(&json!({ "cancel": 1 }));
                }
                Ok(Event::Answer(answer)) => self.send(&answer),
                Err(_) => return Err(ToolError::cancelled()),
            }
        }
    }

    /// Follows a line; returns the answer to the call when it is one.
    fn follow(&mut self, line: Value) -> Option<Result<Output, ToolError>> {
        match line["event"].as_str() {
            Some("question") => {
                self.ask(&line);
                None
            }
            Some("question_closed") => {
                let question = line["question"].as_str().unwrap_or_default();
                if let Some(cancel) = self.questions.remove(question) {
                    cancel.cancel();
                }
                None
            }
            // Other events are for whoever shows more than this command does.
            Some(_) => None,
            None if line["id"] == 1 => Some(answer(line)),
            // A complaint about a cancel or an answer that came too late.
            None => None,
        }
    }

    fn ask(&mut self, line: &Value) {
        let Some(question) = line["question"].as_str() else {
            return;
        };
        let answer = json!({ "answer": question, "unattended": true });
        let _ = self.sender.send(Event::Answer(answer));
        self.console
            .detail("a question came up, and nobody is there to ask");
    }

    fn send(&mut self, line: &Value) {
        use std::io::Write;
        // A session that is gone says so on the reading side.
        let _ = self.output.write_all(format!("{line}\n").as_bytes());
    }
}

fn interrupts(sender: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if sender.send(Event::Interrupt(signal)).is_err() {
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
    Ok(())
}

/// Reads the answer to a call.
fn answer(mut line: Value) -> Result<Output, ToolError> {
    if line["ok"] == true {
        let text = line["text"].as_str().unwrap_or_default().to_owned();
        return Ok(Output {
            text,
            images: request::images(line.get("images"))?,
            data: line["data"].take(),
        });
    }
    let error = &line["error"];
    let kind = serde_json::from_value(error["kind"].clone()).unwrap_or(ErrorKind::Failed);
    let message = error["message"].as_str().unwrap_or("the call failed");
    let failed = ToolError::new(kind, message);
    Err(match error["hint"].as_str() {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    })
}
