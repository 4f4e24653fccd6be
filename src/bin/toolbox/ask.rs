//! `toolbox ask-user`: a question at the terminal.

use std::time::Duration;

use clap::Args;
use serde_json::json;
use toolbox::text::terminal::printable;

use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};

/// What `ask-user` takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct AskUser {
    /// What is asked
    #[arg(long = "question", value_name = "TEXT")]
    pub(crate) question: String,
    /// Why it is asked, and what hangs on the answer
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,
    /// A choice, with what it means after the first `=` (repeatable)
    #[arg(long = "option", value_name = "LABEL[=DESCRIPTION]")]
    pub(crate) options: Vec<String>,
    /// Accept a typed answer
    #[arg(long)]
    pub(crate) allow_free_text: bool,
    /// Let several options be chosen
    #[arg(long)]
    pub(crate) multi_select: bool,
    /// Wait so many seconds and no longer [default: `ask.timeout_s` of the configuration, else for ever]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

pub(crate) const HELP: &str = "\
Asks whoever sits at the terminal, as the tool ask_user does in a run: a numbered card, answered with a \
number, several (1,3 or 2-4), a label, or a text where one is accepted. Enter skips the question, which is a \
success; Ctrl-C interrupts it.

Exit codes: 0 answered or skipped; 3 the time is over, interrupted, or nobody is there.";

/// Asks a question.
pub(crate) fn ask_user(console: &Console, global: &Global, args: AskUser) -> Step {
    let mut host = Host::open(console, global)?;
    if let Some(timeout) = args.timeout {
        host.question_timeout = Some(timeout);
    }
    let options: Vec<_> = args
        .options
        .iter()
        .map(|option| match option.split_once('=') {
            Some((label, description)) => json!({ "label": label, "description": description }),
            None => json!({ "label": option }),
        })
        .collect();
    let call = json!({
        "question": args.question,
        "context": args.context,
        "options": options,
        "allow_free_text": args.allow_free_text,
        "multi_select": args.multi_select,
    });
    let output = host.dispatch(console, "ask_user", call)?;
    // What a person typed is shown as it was typed, save what steers a terminal.
    match console.json {
        true => console.print_json(&output.data),
        false => console.print(&printable(&output.text)),
    }
}

/// Reads a number of seconds above zero.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "it takes a number of seconds above zero".to_owned())
}
