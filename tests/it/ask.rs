//! Questions: what a card takes, how it reads, who waits for whom, and what `ask_user` makes of it.

mod answers;
mod queue;
mod terminal;
mod tool;

use toolbox::ask::{Card, Choice, Reply};

/// A question with these options.
fn card(labels: &[&str]) -> Card {
    Card {
        options: labels
            .iter()
            .map(|label| Choice {
                label: (*label).to_owned(),
                description: None,
            })
            .collect(),
        ..Card::question("Which?")
    }
}

fn chosen(choices: &[usize]) -> Reply {
    Reply::Answered {
        choices: choices.to_vec(),
        text: None,
    }
}

fn typed(text: &str) -> Reply {
    Reply::Answered {
        choices: Vec::new(),
        text: Some(text.to_owned()),
    }
}
