//! Questions to the client of a session.
//!
//! A card goes out as an event and waits for the line that answers it; several may wait at once. An answer
//! that does not fit its card is refused and the card waits on. Without anybody attached a question fails
//! at once (R128).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde_json::json;
use toolbox::ask::{Card, CardKind, QuestionPort, Reply};
use toolbox::cancel::Cancel;
use toolbox::tool::{ErrorKind, ToolError};

use crate::session::outbox::Outbox;
use crate::session::request::Answer;

/// The questions of one connection; clones share them.
#[derive(Clone)]
pub(crate) struct Questions(Arc<Shared>);

struct Shared {
    out: Outbox,
    /// Whether somebody is there who answers.
    attended: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    last: u64,
    waiting: BTreeMap<String, Waiting>,
}

struct Waiting {
    card: Card,
    reply: Sender<Reply>,
}

impl Questions {
    /// Makes the questions of a connection whose client answers.
    pub(crate) fn attended(out: Outbox) -> Self {
        Self::new(out, true)
    }

    /// Makes the questions of a connection whose client answers none.
    pub(crate) fn unattended(out: Outbox) -> Self {
        Self::new(out, false)
    }

    fn new(out: Outbox, attended: bool) -> Self {
        Self(Arc::new(Shared {
            out,
            attended,
            state: Mutex::default(),
        }))
    }

    /// Gives the client's answer to whoever waits for it.
    pub(crate) fn answer(&self, question: &str, answer: Answer) -> Result<(), ToolError> {
        let mut state = self.lock();
        let Some(waiting) = state.waiting.get(question) else {
            let message = format!("no question {question} is open");
            return Err(ToolError::new(ErrorKind::NotFound, message)
                .with_hint("it was answered, timed out or withdrawn, or never asked"));
        };
        let reply = fitting(&waiting.card, answer)?;
        // Whoever removes the entry decides what became of the question.
        if let Some(waiting) = state.waiting.remove(question) {
            let _ = waiting.reply.try_send(reply);
        }
        Ok(())
    }

    /// Ends every open question as nobody's.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for waiting in std::mem::take(&mut state.waiting).into_values() {
            let _ = waiting.reply.try_send(Reply::Unattended);
        }
    }

    fn open(&self, card: &Card, reply: Sender<Reply>) -> Option<String> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        state.last += 1;
        let question = format!("q_{}", state.last);
        let waiting = Waiting {
            card: card.clone(),
            reply,
        };
        state.waiting.insert(question.clone(), waiting);
        Some(question)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuestionPort for Questions {
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply {
        if !self.0.attended {
            return Reply::Unattended;
        }
        let (reply, replies) = bounded(1);
        let Some(question) = self.open(card, reply.clone()) else {
            return Reply::Unattended;
        };
        self.0.out.tell(&json!({
            "event": "question", "question": question, "card": card,
        }));
        let waker = cancel.on_cancel(move || {
            let _ = reply.try_send(Reply::Cancelled);
        });
        let received = match card.timeout {
            Some(timeout) => replies.recv_timeout(timeout),
            // Without a timeout the wait is for a person, by contract (R117); a cancel and the end of the
            // connection end it.
            None => replies.recv().map_err(RecvTimeoutError::from),
        };
        let open = self.lock().waiting.remove(&question).is_some();
        drop(waker);
        let outcome = match received {
            Ok(reply) => reply,
            Err(RecvTimeoutError::Disconnected) => Reply::Unattended,
            // An answer may have come in the last moment; then it counts.
            Err(RecvTimeoutError::Timeout) => replies.try_recv().unwrap_or(Reply::TimedOut),
        };
        let reason = match outcome {
            Reply::TimedOut => "timed_out",
            Reply::Cancelled => "cancelled",
            Reply::Answered { .. } | Reply::Skipped | Reply::Decided { .. } | Reply::Unattended => {
                return outcome;
            }
        };
        if open {
            self.0.out.tell(&json!({
                "event": "question_closed", "question": question, "reason": reason,
            }));
        }
        outcome
    }
}

/// Checks that an answer fits its card.
fn fitting(card: &Card, answer: Answer) -> Result<Reply, ToolError> {
    let bad = |message: String| Err(ToolError::invalid_args(message).with_hint("answer again"));
    match (card.kind, answer) {
        (_, Answer::Unattended) => Ok(Reply::Unattended),
        (_, Answer::Cancel) => Ok(Reply::Cancelled),
        (CardKind::Approval, Answer::Approve(approved)) => Ok(Reply::Decided { approved }),
        // Whoever skips an approval has not approved.
        (CardKind::Approval, Answer::Skip) => Ok(Reply::Skipped),
        (CardKind::Approval, Answer::Given { .. }) => {
            bad("an approval is answered with `approve`".to_owned())
        }
        (CardKind::Question, Answer::Skip) => Ok(Reply::Skipped),
        (CardKind::Question, Answer::Approve(_)) => {
            bad("this is no approval: answer with `choices`, `text` or `skip`".to_owned())
        }
        (CardKind::Question, Answer::Given { mut choices, text }) => {
            let n_options = card.options.len();
            if let Some(choice) = choices
                .iter()
                .find(|choice| !(1..=n_options).contains(choice))
            {
                return bad(format!(
                    "no option {choice}: there are {n_options}, counted from 1"
                ));
            }
            choices.sort_unstable();
            choices.dedup();
            let text = text.filter(|text| !text.trim().is_empty());
            if text.is_some() && !card.allow_free_text {
                return bad("this question takes no typed text".to_owned());
            }
            if choices.len() > 1 && !card.multi_select {
                return bad("this question takes one option".to_owned());
            }
            if choices.is_empty() && text.is_none() {
                return bad("the answer is empty".to_owned());
            }
            Ok(Reply::Answered { choices, text })
        }
    }
}
