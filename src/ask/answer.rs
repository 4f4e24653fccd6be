//! What a typed line, or an answer from a program, says to a card.
//!
//! A wrong answer is an error that names what is wrong with it, so that whoever asks can ask again. Numbers
//! go before labels, because a card shows numbers; a text in double quotes is always a text.

use crate::ask::{Card, CardKind, Reply};
use crate::text::terminal::printable;

/// The answer does not fit the card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// No option has this number.
    #[error("{number} is out of range: the options are 1 to {options}")]
    OutOfRange {
        /// The number as it was given.
        number: String,
        /// How many options there are.
        options: usize,
    },
    /// The range runs backwards.
    #[error("the range {0} runs backwards")]
    Backwards(String),
    /// The card takes one option.
    #[error("only one option may be chosen, not {0}")]
    OneOnly(usize),
    /// The card has no options.
    #[error("the question has no options to choose from")]
    NoOptions,
    /// The card takes no text.
    #[error("'{0}' is none of the options, and no free text is accepted")]
    NoText(String),
    /// Nothing is answered.
    #[error("the answer is empty")]
    Empty,
    /// An approval is granted or denied.
    #[error("type y to allow the call or n to deny it")]
    YesOrNo,
    /// The answer is of the other kind.
    #[error("the card is {0}")]
    OtherKind(&'static str),
}

impl Card {
    /// Reads a typed line. An empty one skips a question and denies an approval.
    pub fn parse(&self, line: &str) -> Result<Reply, AnswerError> {
        let line = printable(line);
        let line = line.trim();
        match self.kind {
            CardKind::Approval => match line.to_lowercase().as_str() {
                "y" | "yes" => Ok(Reply::Decided { approved: true }),
                "" | "n" | "no" => Ok(Reply::Decided { approved: false }),
                _ => Err(AnswerError::YesOrNo),
            },
            CardKind::Question if line.is_empty() => Ok(Reply::Skipped),
            CardKind::Question => self.parse_answer(line),
        }
    }

    /// Checks an answer to a question and puts it in order: choices sorted and once each, no blank text.
    pub fn answer(&self, choices: &[usize], text: Option<&str>) -> Result<Reply, AnswerError> {
        if self.kind == CardKind::Approval {
            return Err(AnswerError::OtherKind(
                "an approval: it is granted or denied",
            ));
        }
        let options = self.options.len();
        let mut choices = choices.to_vec();
        choices.sort_unstable();
        choices.dedup();
        if let Some(wrong) = choices
            .iter()
            .find(|choice| !(1..=options).contains(choice))
        {
            if options == 0 {
                return Err(AnswerError::NoOptions);
            }
            let number = wrong.to_string();
            return Err(AnswerError::OutOfRange { number, options });
        }
        if choices.len() > 1 && !self.multi_select {
            return Err(AnswerError::OneOnly(choices.len()));
        }
        let text = text.filter(|text| !text.trim().is_empty());
        if let Some(text) = text
            && !self.allow_free_text
        {
            return Err(AnswerError::NoText(text.to_owned()));
        }
        if choices.is_empty() && text.is_none() {
            return Err(AnswerError::Empty);
        }
        Ok(Reply::Answered {
            choices,
            text: text.map(str::to_owned),
        })
    }

    /// Decides about an approval.
    pub fn decide(&self, approved: bool) -> Result<Reply, AnswerError> {
        match self.kind {
            CardKind::Approval => Ok(Reply::Decided { approved }),
            CardKind::Question => Err(AnswerError::OtherKind(
                "a question: it is answered or skipped",
            )),
        }
    }

    /// Returns the labels of chosen options.
    pub fn labels(&self, choices: &[usize]) -> Vec<String> {
        choices
            .iter()
            .filter_map(|choice| self.options.get(choice.checked_sub(1)?))
            .map(|option| option.label.clone())
            .collect()
    }

    fn parse_answer(&self, line: &str) -> Result<Reply, AnswerError> {
        let quoted = line
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|text| !text.trim().is_empty());
        if let Some(text) = quoted
            && self.allow_free_text
        {
            return self.answer(&[], Some(text));
        }
        if self.options.is_empty() {
            return self.answer(&[], Some(line));
        }
        if let Some(choices) = numbers(line, self.options.len()) {
            // A label that is itself a number is meant where no option has that number.
            return match (choices, self.labelled(line)) {
                (Err(AnswerError::OutOfRange { .. }), Some(choice)) => self.answer(&[choice], None),
                (choices, _) => self.answer(&choices?, None),
            };
        }
        if let Some(choice) = self.labelled(line) {
            return self.answer(&[choice], None);
        }
        let listed: Option<Vec<usize>> = line.split(',').map(|part| self.labelled(part)).collect();
        match listed {
            Some(choices) if self.multi_select => self.answer(&choices, None),
            _ => self.answer(&[], Some(line)),
        }
    }

    /// Finds the option of a label: as it is written, or the only one that differs in case alone.
    fn labelled(&self, word: &str) -> Option<usize> {
        let word = word.trim();
        let shown: Vec<String> = self
            .options
            .iter()
            .map(|option| printable(&option.label).trim().to_owned())
            .collect();
        if let Some(idx) = shown.iter().position(|label| label == word) {
            return Some(idx + 1);
        }
        let word = word.to_lowercase();
        let mut alike = shown
            .iter()
            .enumerate()
            .filter(|(_, label)| label.to_lowercase() == word);
        match (alike.next(), alike.next()) {
            (Some((idx, _)), None) => Some(idx + 1),
            _ => None,
        }
    }
}

/// Reads `1,3`, `2-4` and `1 3`; `None` when the line is something else.
fn numbers(line: &str, options: usize) -> Option<Result<Vec<usize>, AnswerError>> {
    // `2 - 4` is the range that it looks like.
    let joined = line.split('-').map(str::trim).collect::<Vec<_>>().join("-");
    let words: Vec<&str> = joined
        .split([',', ' ', '\t'])
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let fits = |word: &&str| match word.split_once('-') {
        Some((first, last)) => is_number(first) && is_number(last),
        None => is_number(word),
    };
    if words.is_empty() || !words.iter().all(fits) {
        return None;
    }
    let number = |word: &str| {
        word.parse::<usize>()
            .ok()
            .filter(|number| (1..=options).contains(number))
            .ok_or_else(|| AnswerError::OutOfRange {
                number: word.to_owned(),
                options,
            })
    };
    let mut choices = Vec::new();
    for word in words {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let range = number(first).and_then(|first| Ok((first, number(last)?)));
        match range {
            Err(error) => return Some(Err(error)),
            Ok((first, last)) if first > last => {
                return Some(Err(AnswerError::Backwards(word.to_owned())));
            }
            Ok((first, last)) => choices.extend(first..=last),
        }
    }
    Some(Ok(choices))
}
