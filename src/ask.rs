//! Questions to the person in charge: what is asked, and what comes back.
//!
//! A card is a question of `ask_user` or an approval (R126); both go through one port, so that they look
//! and behave the same wherever a person sits: at a terminal, behind a session, in a host's own window.
//! The port blocks until somebody decides, the time is over, or the call is cancelled; that nobody is
//! there is an answer of its own, given at once (R128). This module renders nothing and knows no tool.

use std::time::Duration;

use serde::Serialize;

use crate::cancel::Cancel;

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

fn seconds<S: serde::Serializer>(
    timeout: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    timeout
        .map(|timeout| timeout.as_secs_f64())
        .serialize(serializer)
}
