//! Questions to the person in charge: what is asked, and what comes back.
//!
//! A card is a question of `ask_user` or an approval (R126); both go through one port, so that they look
//! and behave the same wherever a person sits: at a terminal, behind a session, in a host's own window.
//! The port blocks until somebody decides, the time is over, or the call is cancelled; that nobody is
//! there is an answer of its own, given at once (R128). This module knows no tool and no terminal: it says
//! what a card is, how it reads as plain text, and what a typed line answers.

mod answer;
mod queue;
mod render;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

pub use crate::ask::answer::AnswerError;
pub use crate::ask::queue::OneAtATime;

use crate::cancel::Cancel;
use crate::limits;
use crate::text::terminal::printable;

/// What to do without an answer: skipping is a success that says so, timing out an error that says the same
/// (R124, R125, D26).
pub const NO_ANSWER: &str = "Proceed on an assumption that you state, and do not ask this again.";

/// Where questions go.
pub trait QuestionPort: Send + Sync {
    /// Shows a card and waits for what becomes of it.
    ///
    /// An implementation shows one card at a time or several, as its medium allows, but answers each. It
    /// returns soon after `cancel`.
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply;
}

/// One question as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Card {
    /// What kind of decision is wanted.
    pub kind: CardKind,
    /// The conversation that asks, where the host tells them apart (R127, D43).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// What is asked.
    pub question: String,
    /// Why, and what hangs on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The choices; a person sees them numbered from 1.
    pub options: Vec<Choice>,
    /// Whether a typed answer is accepted.
    pub allow_free_text: bool,
    /// Whether several options may be chosen.
    pub multi_select: bool,
    /// The call that waits for an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CardCall>,
    /// How long the card waits; `None` is for ever.
    #[serde(rename = "timeout_s", serialize_with = "seconds")]
    pub timeout: Option<Duration>,
}

/// What kind of decision a card wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    /// A question of `ask_user`.
    Question,
    /// Whether a call may run.
    Approval,
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its name.
    pub label: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The call that an approval is about: what is shown is what runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardCall {
    /// The tool.
    pub tool: String,
    /// Its tier.
    pub tier: String,
    /// Its arguments.
    pub args: serde_json::Value,
    /// The calls that it is nested in, outermost first.
    pub outer: Vec<String>,
}

/// What became of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Options (from 1) and a typed text.
    Answered {
        /// The chosen options, counted from 1.
        choices: Vec<usize>,
        /// What was typed.
        text: Option<String>,
    },
    /// The person chose not to answer.
    Skipped,
    /// An approval was decided.
    Decided {
        /// Whether the call may run.
        approved: bool,
    },
    /// Nobody answered in time.
    TimedOut,
    /// Nobody is attached who could answer.
    Unattended,
    /// The call was cancelled, or the person interrupted it.
    Cancelled,
}

/// A port with nobody behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyThere;

/// A question cannot be asked like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// There is nothing to read.
    #[error("the question is empty")]
    EmptyQuestion,
    /// Nothing could be answered (D26).
    #[error("the question has neither options nor free text: nothing could be answered")]
    NoWayToAnswer,
    /// An option has no name.
    #[error("the label of option {0} is empty")]
    EmptyLabel(usize),
    /// Two options could not be told apart in an answer (D26).
    #[error("the label '{0}' is given twice")]
    DuplicateLabel(String),
    /// Nobody reads so many.
    #[error("{0} options are too many: the limit is {limit}", limit = limits::ASK_OPTIONS)]
    TooManyOptions(usize),
    /// Nobody reads so much.
    #[error("the {0} is over {limit} bytes long", limit = limits::ASK_TEXT_BYTES)]
    TooLong(&'static str),
}

impl Card {
    /// Makes a question that waits for ever and takes no answer yet: options or free text are to be added.
    pub fn question(question: impl Into<String>) -> Self {
        Self {
            kind: CardKind::Question,
            conversation: None,
            question: question.into(),
            context: None,
            options: Vec::new(),
            allow_free_text: false,
            multi_select: false,
            call: None,
            timeout: None,
        }
    }

    /// Makes the card that asks whether a call may run.
    pub fn approval(call: CardCall) -> Self {
        Self {
            kind: CardKind::Approval,
            question: format!("May {} run?", call.tool),
            call: Some(call),
            ..Self::question("")
        }
    }

    /// Checks that somebody can read the question and answer it.
    pub fn check(&self) -> Result<(), CardError> {
        if blank(&self.question) {
            return Err(CardError::EmptyQuestion);
        }
        let long = |text: &str| text.len() > limits::ASK_TEXT_BYTES;
        if long(&self.question) {
            return Err(CardError::TooLong("question"));
        }
        if self.context.as_deref().is_some_and(long) {
            return Err(CardError::TooLong("context"));
        }
        if self.kind == CardKind::Approval {
            return Ok(());
        }
        if self.options.is_empty() && !self.allow_free_text {
            return Err(CardError::NoWayToAnswer);
        }
        if self.options.len() > limits::ASK_OPTIONS {
            return Err(CardError::TooManyOptions(self.options.len()));
        }
        let mut labels = BTreeSet::new();
        for (idx, option) in self.options.iter().enumerate() {
            if blank(&option.label) {
                return Err(CardError::EmptyLabel(idx + 1));
            }
            if long(&option.label) || option.description.as_deref().is_some_and(long) {
                return Err(CardError::TooLong("option"));
            }
            // Compared as a person sees them.
            let label = printable(&option.label).trim().to_owned();
            if !labels.insert(label.clone()) {
                return Err(CardError::DuplicateLabel(label));
            }
        }
        Ok(())
    }
}

impl QuestionPort for NobodyThere {
    fn ask(&self, _card: &Card, _cancel: &Cancel) -> Reply {
        Reply::Unattended
    }
}

impl<P: QuestionPort + ?Sized> QuestionPort for std::sync::Arc<P> {
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply {
        (**self).ask(card, cancel)
    }
}

fn blank(text: &str) -> bool {
    printable(text).trim().is_empty()
}

fn seconds<S: serde::Serializer>(
    timeout: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    timeout
        .map(|timeout| timeout.as_secs_f64())
        .serialize(serializer)
}
