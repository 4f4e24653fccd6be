//! One call of a command in the background session: its answer, its questions, its interrupt.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use toolbox::ask::{Card, CardCall, Choice, QuestionPort, Reply};
use toolbox::cancel::Cancel;
use toolbox::limits;
use toolbox::tool::{ErrorKind, Output, ToolError};

use crate::background::client::{Link, next_value};
use crate::cards;
use crate::progress::Progress;
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
    Answer(String, Reply),
}

/// Makes the call and waits for its answer.
pub(crate) fn call(
    progress: Progress,
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
        name,
        output: link.output,
        sender,
        port: cards::terminal(),
        questions: BTreeMap::new(),
        deadline: None,
        progress,
    }
    .run(&events)
}

struct Conversation<'a> {
    name: &'a str,
    output: std::os::unix::net::UnixStream,
    sender: Sender<Event>,
    /// Where questions are shown: the terminal of this command.
    port: Arc<dyn QuestionPort>,
    /// Questions that are shown, and the tokens that withdraw them.
    questions: BTreeMap<String, Cancel>,
    /// Set by an interrupt: how long the answer may still take.
    deadline: Option<Instant>,
    progress: Progress,
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
                Ok(Event::Answer(question, reply)) => self.decided(&question, reply),
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
        let Some(question) = line["question"].as_str().map(str::to_owned) else {
            return;
        };
        // The card has the screen until it is answered.
        self.progress.pause();
        let cancel = Cancel::new();
        self.questions.insert(question.clone(), cancel.clone());
        let (port, card, sender) = (
            Arc::clone(&self.port),
            card(&line["card"]),
            self.sender.clone(),
        );
        let asked = question.clone();
        let shown = std::thread::Builder::new()
            .name("card".to_owned())
            .spawn(move || {
                let reply = port.ask(&card, &cancel);
                let _ = sender.send(Event::Answer(asked, reply));
            });
        if shown.is_err() {
            let _ = self.sender.send(Event::Answer(question, Reply::Unattended));
        }
    }

    fn decided(&mut self, question: &str, reply: Reply) {
        // One that was withdrawn needs no answer.
        if self.questions.remove(question).is_some() {
            let mut answer = match reply {
                Reply::Answered { choices, text } => json!({ "choices": choices, "text": text }),
                Reply::Skipped => json!({ "skip": true }),
                Reply::Decided { approved } => json!({ "approve": approved }),
                // The session keeps the time; a card here has none.
                Reply::TimedOut | Reply::Unattended => json!({ "unattended": true }),
                Reply::Cancelled => json!({ "cancelled": true }),
            };
            answer["answer"] = Value::from(question);
            self.send(&answer);
        }
        if self.questions.is_empty() {
            self.progress.resume();
        }
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

/// Reads a card as an event carries it.
fn card(value: &Value) -> Card {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let choice = |value: &Value| Choice {
        label: text(&value["label"]).unwrap_or_default(),
        description: text(&value["description"]),
    };
    let call = &value["call"];
    let card = match call.is_object() {
        true => Card::approval(CardCall {
            tool: text(&call["tool"]).unwrap_or_default(),
            tier: text(&call["tier"]).unwrap_or_default(),
            args: call["args"].clone(),
            outer: call["outer"]
                .as_array()
                .map(|outer| outer.iter().filter_map(text).collect())
                .unwrap_or_default(),
        }),
        false => Card::question(""),
    };
    Card {
        question: text(&value["question"]).unwrap_or_default(),
        context: text(&value["context"]),
        options: value["options"]
            .as_array()
            .map(|options| options.iter().map(choice).collect())
            .unwrap_or_default(),
        allow_free_text: value["allow_free_text"] == true,
        multi_select: value["multi_select"] == true,
        ..card
    }
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
