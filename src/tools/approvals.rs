//! Approvals as cards: the same card as a question, in the same conversation (R126, D37).
//!
//! Whatever is no clear yes is a refusal: a skip, the end of the time, nobody there, a port that answers
//! something else. What the card shows are the arguments that run; only the screen may cut them short.

use std::fmt;
use std::sync::Arc;

use crate::ask::{Card, CardCall, QuestionPort, Reply};
use crate::run::{Approval, ApprovalRequest, Approver, SubjectKind, Target};
use crate::tools::Questions;

/// Asks a person about calls.
#[derive(Clone)]
pub struct Cards {
    questions: Questions,
    conversation: Option<String>,
}

/// What a rule of a policy may look at in the arguments of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleTarget {
    /// The tool, by its canonical name.
    pub tool: &'static str,
    /// JSON pointers into its arguments: all the names of the argument.
    pub pointers: &'static [&'static str],
    /// How what stands there is read.
    pub kind: SubjectKind,
}

/// The arguments that rules can be about.
pub const RULE_TARGETS: [RuleTarget; 4] = [
    RuleTarget {
        tool: "Bash",
        pointers: &["/command"],
        kind: SubjectKind::Command,
    },
    RuleTarget {
        tool: "Write",
        pointers: &["/path", "/file_path"],
        kind: SubjectKind::Path,
    },
    RuleTarget {
        tool: "Edit",
        pointers: &["/path", "/file_path"],
        kind: SubjectKind::Path,
    },
    RuleTarget {
        tool: "apply_patch",
        pointers: &["/patch", "/input"],
        kind: SubjectKind::Patch,
    },
];

/// The lower-case names that dispatch takes for canonical ones (D33), for whoever names a tool in writing.
pub const TOOL_ALIASES: [(&str, &str); 8] = [
    ("bash", "Bash"),
    ("edit", "Edit"),
    ("glob", "Glob"),
    ("grep", "Grep"),
    ("read", "Read"),
    ("web_fetch", "WebFetch"),
    ("web_search", "WebSearch"),
    ("write", "Write"),
];

impl RuleTarget {
    /// Returns the target of a rule.
    pub fn target(&self) -> Target {
        Target {
            pointers: self
                .pointers
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            kind: self.kind,
        }
    }
}

impl Cards {
    /// Asks through a port, and waits as long as its questions do.
    pub fn new(questions: Questions) -> Self {
        Self {
            questions,
            conversation: None,
        }
    }

    /// Asks through a port, and waits for ever.
    pub fn over(port: Arc<dyn QuestionPort>) -> Self {
        Self::new(Questions::new(port))
    }

    /// Names the conversation in which the cards appear.
    #[must_use]
    pub fn in_conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }
}

impl Approver for Cards {
    fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        let call = CardCall {
            tool: request.spec.name.clone(),
            tier: request.spec.tier.to_string(),
            args: request.args.clone(),
            outer: request.outer.names().map(str::to_owned).collect(),
        };
        let card = Card {
            conversation: self.conversation.clone(),
            timeout: self.questions.timeout,
            ..Card::approval(call)
        };
        let denied = |reason: &str| Approval::Denied(reason.to_owned());
        match self.questions.port.ask(&card, request.cancel) {
            Reply::Decided { approved: true } => Approval::Granted,
            Reply::Decided { approved: false } => denied("the person in charge said no"),
            Reply::Skipped => denied("the person in charge did not decide"),
            Reply::TimedOut => denied("nobody decided in time"),
            Reply::Unattended => Approval::Denied(format!(
                "its tier is {}, and nobody is there to ask",
                request.spec.tier
            )),
            Reply::Cancelled => {
                // Who interrupts a card means the call, which ends as cancelled, not as refused.
                request.cancel.cancel();
                denied("the call was cancelled")
            }
            Reply::Answered { .. } => denied("the answer was no decision"),
        }
    }
}

impl fmt::Debug for Cards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cards")
            .field("questions", &self.questions)
            .field("conversation", &self.conversation)
            .finish()
    }
}
