//! `ask_user`: the one way a run asks the person in charge anything (R115).
//!
//! Answered, skipped, timed out and nobody there are four different results: the first two are successes,
//! the others errors. Whether and for how long somebody is asked is the host's setting, never the model's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ask::{Card, CardError, Choice, NO_ANSWER, QuestionPort, Reply};
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};

/// Where the questions of a run go.
#[derive(Clone)]
pub struct Questions {
    /// Shows the cards.
    pub port: Arc<dyn QuestionPort>,
    /// How long a card waits; `None` is for ever (D26: the host's setting).
    pub timeout: Option<Duration>,
}

/// The tool `ask_user`.
#[derive(Clone, Debug)]
pub struct AskUser {
    questions: Questions,
    conversation: String,
}

/// The arguments of `ask_user`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUserArgs {
    /// What is asked: one question, complete in itself.
    question: String,
    /// Why you ask, and what hangs on the answer.
    context: Option<String>,
    /// The choices, at most 50. They are shown numbered from 1.
    #[serde(default)]
    #[schemars(length(max = 50))]
    options: Vec<OptionArgs>,
    /// Whether a typed answer is accepted. Required to be true when there are no options.
    #[serde(default)]
    allow_free_text: bool,
    /// Whether several options may be chosen.
    #[serde(default)]
    multi_select: bool,
}

/// One choice.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptionArgs {
    /// Its name, short, and different from the others.
    label: String,
    /// What choosing it means.
    description: Option<String>,
}

/// What came of a question.
#[derive(Clone, Debug, Serialize)]
struct AskReport {
    outcome: Outcome,
    choices: Vec<usize>,
    labels: Vec<String>,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Answered,
    Skipped,
}

impl Questions {
    /// Asks through a port, and waits for ever.
    pub fn new(port: Arc<dyn QuestionPort>) -> Self {
        Self {
            port,
            timeout: None,
        }
    }

    /// Lets cards wait so long; `None` is for ever.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }
}

impl AskUser {
    /// Makes the tool for one conversation, the space in which its cards appear (R127, D43).
    pub fn new(questions: Questions, conversation: impl Into<String>) -> Self {
        Self {
            questions,
            conversation: conversation.into(),
        }
    }
}

impl Tool for AskUser {
    const NAME: &'static str = "ask_user";
    const TIER: Tier = Tier::Read;
    type Args = AskUserArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: AskUserArgs) -> Result<Output, ToolError> {
        let card = Card {
            conversation: Some(self.conversation.clone()),
            context: args.context.filter(|context| !context.trim().is_empty()),
            options: args
                .options
                .into_iter()
                .map(|option| Choice {
                    label: option.label,
                    description: option.description,
                })
                .collect(),
            allow_free_text: args.allow_free_text,
            multi_select: args.multi_select,
            timeout: self.questions.timeout,
            ..Card::question(args.question)
        };
        card.check().map_err(refusal)?;
        call.check_cancelled()?;
        let reply = self.questions.port.ask(&card, call.cancel());
        Output::report(&report(&card, reply)?)
    }
}

fn report(card: &Card, reply: Reply) -> Result<AskReport, ToolError> {
    match reply {
        Reply::Answered { choices, text } => {
            // The port is the host's: what it gives is checked like any other answer.
            let checked = card.answer(&choices, text.as_deref()).map_err(|error| {
                let message = "the answer that came back does not fit the question";
                ToolError::new(ErrorKind::Internal, message).caused_by(error)
            })?;
            let Reply::Answered { choices, text } = checked else {
                return Err(other_kind());
            };
            Ok(AskReport {
                outcome: Outcome::Answered,
                labels: card.labels(&choices),
                choices,
                text,
            })
        }
        Reply::Skipped => Ok(AskReport {
            outcome: Outcome::Skipped,
            choices: Vec::new(),
            labels: Vec::new(),
            text: None,
        }),
        Reply::TimedOut => {
            let waited = card
                .timeout
                .map(|timeout| format!(" within {} s", timeout.as_secs_f64()))
                .unwrap_or_default();
            let message = format!("nobody answered the question{waited}");
            Err(ToolError::new(ErrorKind::Timeout, message).with_hint(NO_ANSWER))
        }
        Reply::Unattended => {
            let message = "nobody is there who could answer the question";
            Err(ToolError::new(ErrorKind::Unavailable, message).with_hint(NO_ANSWER))
        }
        Reply::Cancelled => Err(ToolError::cancelled()),
        Reply::Decided { .. } => Err(other_kind()),
    }
}

fn other_kind() -> ToolError {
    ToolError::new(
        ErrorKind::Internal,
        "a question came back decided like an approval",
    )
}

fn refusal(error: CardError) -> ToolError {
    let hint = match &error {
        CardError::EmptyQuestion => "say in `question` what you want to know",
        CardError::NoWayToAnswer => "give `options`, or set `allow_free_text` to true",
        CardError::EmptyLabel(_) => "give every option a `label`",
        CardError::DuplicateLabel(_) => "give every option a label of its own",
        CardError::TooManyOptions(_) => {
            "offer the few that matter, and set `allow_free_text` for the rest"
        }
        CardError::TooLong(_) => "say it in fewer words",
    };
    ToolError::invalid_args(error.to_string()).with_hint(hint)
}

impl fmt::Display for AskReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Outcome::Skipped = self.outcome {
            return write!(f, "The person skipped the question. {NO_ANSWER}");
        }
        f.write_str("Answered:")?;
        for (choice, label) in self.choices.iter().zip(&self.labels) {
            write!(f, "\n{choice}. {label}")?;
        }
        match &self.text {
            Some(text) => write!(f, "\n{text}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

const DESCRIPTION: &str = "\
Asks the person in charge one question and waits for the answer. This is the only way to ask: never write a \
question as a chat message, because a message ends your turn and nobody is obliged to answer it.

Use it when the answer changes what you do next and you cannot find it out yourself: a choice between \
designs, a missing requirement, a step that cannot be undone. Do not use it for what the code, the tests or \
the documentation tell, and do not use it to ask whether a tool may run: that is asked for you.

Offer `options` where you can, each with what it means; they are shown numbered. Set `multi_select` when \
several may be chosen, `allow_free_text` when an answer in words is welcome too. Without options \
`allow_free_text` must be true.

The result has `outcome` (`answered` or `skipped`), the chosen numbers and labels, and the text. When the \
question is skipped or nobody answers in time, proceed on an assumption that you state, and do not ask this \
again.";
