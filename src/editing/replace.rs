//! Exact edits of a text: each old text is found once, or everywhere where that is asked for.
//!
//! A line feed in an old text also matches a CRLF, because nobody sees the difference; everything else
//! matches byte for byte. What is put in takes the line endings of its place, and no byte outside the
//! matches changes (D35). Edits of one call apply in order, all or none.

use memchr::memmem;

use super::content::{Endings, with_endings};
use super::patch::seek::{self, Tolerance};
use crate::limits;
use crate::text::LineEnding;

/// One edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The text to find.
    pub old: &'a str,
    /// The text to put there.
    pub new: &'a str,
    /// How many places may have the text.
    pub scope: Scope,
}

/// How many places an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Exactly one; more are an error.
    Unique,
    /// All of them, at least one.
    All,
}

/// The text after all edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The new text.
    pub text: String,
    /// How many places each edit changed.
    pub counts: Vec<usize>,
}

/// Why no edit was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", edit_name(*edit, *n_edits))]
pub struct ReplaceError {
    /// Which edit failed, from 1.
    pub edit: usize,
    /// How many there are.
    pub n_edits: usize,
    /// Why.
    pub reason: ReplaceReason,
}

/// Why an edit could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceReason {
    /// The old text is empty.
    #[error("the old text is empty")]
    EmptyOld,
    /// Old and new text are the same.
    #[error("the old and the new text are the same")]
    Same,
    /// The old text is nowhere.
    #[error("the old text is not in the file{}", near.as_ref().map(|near| format!(": {near}")).unwrap_or_default())]
    NotFound {
        /// What comes near it.
        near: Option<Near>,
    },
    /// The old text is in several places.
    #[error("the old text is in {} places: {}", counted(*n_places), lines_named(lines, *n_places))]
    Ambiguous {
        /// How many places there are; counting ends at some number.
        n_places: usize,
        /// The lines of the first of them.
        lines: Vec<usize>,
    },
}

/// A place that is nearly the old text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Near {
    /// It is there with other line endings.
    #[error("it is there with the line endings of the file, which are {}", .0.name())]
    Endings(Endings),
    /// It is there with other spaces or typographic characters.
    #[error("line {line} differs only in {}: the file has {}", what(*tolerance), quoted(actual))]
    Spacing {
        /// The first line that differs.
        line: usize,
        /// In what it differs.
        tolerance: Tolerance,
        /// The line as the file has it.
        actual: String,
    },
    /// It is there without the line breaks around it.
    #[error("line {0} has it without the line breaks at its beginning or end")]
    Breaks(usize),
    /// Its first lines are there, and one line is not.
    #[error("it begins at line {start}, but line {line} is {}", quoted(actual))]
    Begins {
        /// Where its first line is.
        start: usize,
        /// The first line that differs.
        line: usize,
        /// The line as the file has it.
        actual: String,
    },
    /// Its lines carry the numbers of a view.
    #[error("it is there without the line numbers in front")]
    LineNumbers,
}

/// Makes all edits in order, each in the result of the former.
pub fn replace(text: &str, edits: &[Edit<'_>]) -> Result<Replaced, ReplaceError> {
    let mut current = text.to_owned();
    let mut counts = Vec::with_capacity(edits.len());
    for (edit_idx, edit) in edits.iter().enumerate() {
        let (next, count) = replace_one(&current, edit).map_err(|reason| ReplaceError {
            edit: edit_idx + 1,
            n_edits: edits.len(),
            reason,
        })?;
        current = next;
        counts.push(count);
    }
    Ok(Replaced {
        text: current,
        counts,
    })
}

fn replace_one(text: &str, edit: &Edit<'_>) -> Result<(String, usize), ReplaceReason> {
    if edit.old.is_empty() {
        return Err(ReplaceReason::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(ReplaceReason::Same);
    }
    let finder = Finder::new(edit.old);
    let places = match edit.scope {
        Scope::Unique => {
            let places = finder.places(text, Overlap::Counted, limits::EDIT_PLACES_COUNTED);
            if places.len() > 1 {
                let starts = places.iter().take(limits::EDIT_PLACES);
                return Err(ReplaceReason::Ambiguous {
                    n_places: places.len(),
                    lines: starts.map(|&(start, _)| line_of(text, start)).collect(),
                });
            }
            places
        }
        Scope::All => finder.places(text, Overlap::Skipped, usize::MAX),
    };
    if places.is_empty() {
        return Err(ReplaceReason::NotFound {
            near: near(text, edit.old),
        });
    }
    let endings = Endings::of(text);
    let mut out = String::with_capacity(text.len() + edit.new.len());
    let mut at = 0;
    for &(start, end) in &places {
        out.push_str(&text[at..start]);
        match endings.uniform().or_else(|| ending_at(text, start)) {
            Some(ending) if edit.new.contains('\n') => {
                out.push_str(&with_endings(edit.new, ending));
            }
            _ => out.push_str(edit.new),
        }
        at = end;
    }
    out.push_str(&text[at..]);
    if out == text {
        return Err(ReplaceReason::Same);
    }
    Ok((out, places.len()))
}

/// The ending of the line around an offset of a text with both kinds; the line before where it has none.
fn ending_at(text: &str, at: usize) -> Option<LineEnding> {
    let bytes = text.as_bytes();
    let newline = memchr::memchr(b'\n', &bytes[at..])
        .map(|found| at + found)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..at]))?;
    let crlf = newline > 0 && bytes[newline - 1] == b'\r';
    Some(if crlf {
        LineEnding::CrLf
    } else {
        LineEnding::Lf
    })
}

/// Whether places may share bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    Counted,
    Skipped,
}

/// Finds one old text: pieces with a line ending of either kind between them.
struct Finder<'a> {
    pieces: Vec<&'a str>,
}

impl<'a> Finder<'a> {
    fn new(old: &'a str) -> Self {
        let mut pieces = Vec::new();
        let mut start = 0;
        for (at, _) in old.match_indices('\n') {
            // A CRLF that is written out means just that.
            if !old[..at].ends_with('\r') {
                pieces.push(&old[start..at]);
                start = at + 1;
            }
        }
        pieces.push(&old[start..]);
        Self { pieces }
    }

    /// Whether the text is there at all.
    fn is_in(&self, text: &str) -> bool {
        !self.places(text, Overlap::Skipped, 1).is_empty()
    }

    fn places(&self, text: &str, overlap: Overlap, most: usize) -> Vec<(usize, usize)> {
        let bytes = text.as_bytes();
        let first = memmem::Finder::new(self.pieces[0]);
        let mut places = Vec::new();
        let mut from = 0;
        while from <= bytes.len() && places.len() < most {
            // An old text that begins with a line ending begins at its carriage return, if there is one.
            let (start, next) = if self.pieces[0].is_empty() {
                let Some(found) = memchr::memchr(b'\n', &bytes[from..]) else {
                    break;
                };
                let newline = from + found;
                let crlf = newline > from && bytes[newline - 1] == b'\r';
                (newline - usize::from(crlf), newline + 1)
            } else {
                let Some(found) = first.find(&bytes[from..]) else {
                    break;
                };
                let start = from + found;
                (start, start + first_char_len(self.pieces[0]))
            };
            match self.end_at(bytes, start) {
                Some(end) => {
                    places.push((start, end));
                    from = match overlap {
                        Overlap::Counted => next,
                        Overlap::Skipped => end,
                    };
                }
                None => from = next,
            }
        }
        places
    }

    /// The end of the old text that starts here, if it does.
    fn end_at(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let mut at = start;
        for (piece_idx, piece) in self.pieces.iter().enumerate() {
            if piece_idx > 0 {
                let rest = &bytes[at..];
                at += match rest {
                    [b'\n', ..] => 1,
                    [b'\r', b'\n', ..] => 2,
                    _ => return None,
                };
            }
            if !bytes[at..].starts_with(piece.as_bytes()) {
                return None;
            }
            at += piece.len();
        }
        Some(at)
    }
}

fn first_char_len(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// Looks for what the old text may have meant.
fn near(text: &str, old: &str) -> Option<Near> {
    if old.contains("\r\n") {
        let plain = old.replace("\r\n", "\n");
        if Finder::new(&plain).is_in(text) {
            return Some(Near::Endings(Endings::of(text)));
        }
    }
    if let Some(bare) = without_numbers(old)
        && Finder::new(&bare).is_in(text)
    {
        return Some(Near::LineNumbers);
    }
    // Looking for what is alike takes longer than looking for what is the same.
    if text.len() > limits::NEAR_TEXT_BYTES {
        return None;
    }
    let file: Vec<&str> = text.lines().collect();
    // Only whole lines can be compared; a blank one at either end is where the text was cut out.
    let wanted: Vec<&str> = old.trim_matches('\n').lines().collect();
    if wanted.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    if let Some(found) = seek::seek(&file, &wanted, 0, seek::Place::Anywhere) {
        let differs = (0..wanted.len()).find(|&idx| file[found.index + idx] != wanted[idx]);
        let Some(idx) = differs else {
            return Some(Near::Breaks(found.index + 1));
        };
        return Some(Near::Spacing {
            line: found.index + idx + 1,
            tolerance: found.tolerance,
            actual: file[found.index + idx].to_owned(),
        });
    }
    if let [line] = &wanted[..] {
        return within(&file, line);
    }
    begins(&file, &wanted)
}

/// Finds a line that holds another but for spaces and typographic characters.
fn within(file: &[&str], wanted: &str) -> Option<Near> {
    let wanted = seek::squeezed(wanted);
    let holds = |line: &&str| seek::squeezed(line).contains(&wanted);
    let index = file.iter().position(holds)?;
    Some(Near::Spacing {
        line: index + 1,
        tolerance: Tolerance::Typography,
        actual: file[index].to_owned(),
    })
}

/// Finds the place where most of the first wanted lines are.
fn begins(file: &[&str], wanted: &[&str]) -> Option<Near> {
    let first = wanted.first().filter(|line| line.trim().len() > 2)?.trim();
    let mut best: Option<(usize, usize)> = None;
    for (start, line) in file.iter().enumerate() {
        if line.trim() != first {
            continue;
        }
        let n_same = wanted
            .iter()
            .zip(&file[start..])
            .take_while(|(wanted, line)| wanted.trim() == line.trim())
            .count();
        if best.is_none_or(|(_, most)| n_same > most) {
            best = Some((start, n_same));
        }
    }
    let (start, n_same) = best?;
    let actual = file.get(start + n_same)?;
    Some(Near::Begins {
        start: start + 1,
        line: start + n_same + 1,
        actual: (*actual).to_owned(),
    })
}

/// Takes the numbers that a view puts before its lines away, where every line has one.
fn without_numbers(old: &str) -> Option<String> {
    let bare: Option<Vec<&str>> = old
        .split('\n')
        .map(|line| {
            let (number, rest) = line.split_once('\t')?;
            let number = number.trim_start_matches(' ');
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            digits.then_some(rest)
        })
        .collect();
    Some(bare?.join("\n"))
}

fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn edit_name(edit: usize, n_edits: usize) -> String {
    match n_edits {
        1 => String::new(),
        _ => format!("edit {edit} of {n_edits}: "),
    }
}

fn counted(n_places: usize) -> String {
    match n_places {
        limits::EDIT_PLACES_COUNTED.. => format!("at least {n_places}"),
        _ => n_places.to_string(),
    }
}

fn lines_named(lines: &[usize], n_places: usize) -> String {
    let named: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let more = match n_places - lines.len() {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    format!("lines {}{more}", named.join(", "))
}

fn what(tolerance: Tolerance) -> &'static str {
    match tolerance {
        Tolerance::Exact => "nothing",
        Tolerance::TrailingSpace => "the spaces at its end",
        Tolerance::SurroundingSpace => "the spaces at its ends",
        Tolerance::Typography => "spaces, quotes or dashes",
    }
}

/// A line that shows its tabs and odd characters.
fn quoted(line: &str) -> String {
    let clipped = crate::text::clip(line, limits::LINE_CHARS);
    format!("{clipped:?}")
}

#[cfg(test)]
mod tests;
