//! Applies the changes of one file to its text, in memory.

use super::seek::{self, Found, Place, Tolerance};
use super::{Chunk, ChunkLine};

/// The text after a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new text.
    pub text: String,
    /// The places that were found only by overlooking something.
    pub fuzzy: Vec<Fuzz>,
}

/// A place that was not exactly what the patch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuzz {
    /// The line of the file, from 1, before the patch.
    pub line: usize,
    /// What was overlooked.
    pub tolerance: Tolerance,
}

/// Why a patch does not fit a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The line after `@@` is not there.
    #[error("failed to find context '{context}'{}", after(*from))]
    NoContext {
        /// The line.
        context: String,
        /// The line of the file from which on it was looked for, from 1.
        from: usize,
        /// The line of the patch, from 1.
        patch_line: usize,
    },
    /// The lines that stay or go are not there.
    #[error("failed to find expected lines{}:\n{}", place(*from, *end_of_file), lines.join("\n"))]
    NoLines {
        /// The lines.
        lines: Vec<String>,
        /// The line of the file from which on they were looked for, from 1.
        from: usize,
        /// Whether they were looked for at the end only.
        end_of_file: bool,
        /// Where the same lines are before that place, from 1.
        earlier: Option<usize>,
        /// The line of the patch, from 1.
        patch_line: usize,
    },
}

/// One line of a text: what it says, and how it ends.
#[derive(Clone, Copy)]
struct Line<'a> {
    body: &'a str,
    ending: &'a str,
}

/// A change at a place: the lines from there on that stay, go or come.
struct Hunk<'a> {
    at: usize,
    lines: Vec<ChunkLineRef<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkLineRef<'a> {
    Context(&'a str),
    Remove(&'a str),
    Add(&'a str),
}

/// Applies changes in order, each below the former.
pub fn apply(text: &str, chunks: &[Chunk]) -> Result<Applied, ApplyError> {
    let lines = split(text);
    let bodies: Vec<&str> = lines.iter().map(|line| line.body).collect();
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let mut fuzzy = Vec::new();
    let mut note = |found: &Found| {
        if found.tolerance != Tolerance::Exact {
            fuzzy.push(Fuzz {
                line: found.index + 1,
                tolerance: found.tolerance,
            });
        }
    };
    let mut cursor = 0;
    for chunk in chunks {
        for context in &chunk.contexts {
            let found =
                seek::seek(&bodies, &[context], cursor, Place::Anywhere).ok_or_else(|| {
                    ApplyError::NoContext {
                        context: context.clone(),
                        from: cursor + 1,
                        patch_line: chunk.patch_line,
                    }
                })?;
            note(&found);
            cursor = found.index + 1;
        }
        let (hunk, n_old) = locate(&bodies, chunk, cursor, &mut note)?;
        if n_old > 0 {
            cursor = hunk.at + n_old;
        }
        hunks.push(hunk);
    }
    // Lines for the end of the file may come before changes further up.
    hunks.sort_by_key(|hunk| hunk.at);
    Ok(Applied {
        text: rebuilt(&lines, &hunks),
        fuzzy,
    })
}

fn split(text: &str) -> Vec<Line<'_>> {
    text.split_inclusive('\n')
        .map(|line| {
            let body = line
                .strip_suffix("\r\n")
                .or_else(|| line.strip_suffix('\n'))
                .unwrap_or(line);
            Line {
                body,
                ending: &line[body.len()..],
            }
        })
        .collect()
}

/// Finds where a change belongs, and how many lines of the file it covers.
fn locate<'a>(
    bodies: &[&str],
    chunk: &'a Chunk,
    cursor: usize,
    note: &mut impl FnMut(&Found),
) -> Result<(Hunk<'a>, usize), ApplyError> {
    let lines: Vec<ChunkLineRef<'a>> = chunk
        .lines
        .iter()
        .map(|line| match line {
            ChunkLine::Context(text) => ChunkLineRef::Context(text),
            ChunkLine::Remove(text) => ChunkLineRef::Remove(text),
            ChunkLine::Add(text) => ChunkLineRef::Add(text),
        })
        .collect();
    let old = old_lines(&lines);
    if old.is_empty() {
        let at = match chunk.contexts.is_empty() || chunk.end_of_file {
            true => bodies.len(),
            false => cursor,
        };
        return Ok((Hunk { at, lines }, 0));
    }
    let place = match chunk.end_of_file {
        true => Place::End,
        false => Place::Anywhere,
    };
    if let Some(found) = seek::seek(bodies, &old, cursor, place) {
        note(&found);
        let at = found.index;
        return Ok((Hunk { at, lines }, old.len()));
    }
    // A last empty line often stands for the end of the file, which is no line.
    if let [shorter @ .., ""] = &old[..]
        && !shorter.is_empty()
        && let Some(found) = seek::seek(bodies, shorter, cursor, place)
    {
        note(&found);
        let at = found.index;
        let lines = without_last_empty(lines);
        return Ok((Hunk { at, lines }, shorter.len()));
    }
    Err(ApplyError::NoLines {
        lines: old.iter().map(|line| (*line).to_owned()).collect(),
        from: cursor + 1,
        end_of_file: chunk.end_of_file,
        earlier: seek::seek(bodies, &old, 0, Place::Anywhere)
            .map(|found| found.index + 1)
            .filter(|line| *line <= cursor),
        patch_line: chunk.patch_line,
    })
}

fn old_lines<'a>(lines: &[ChunkLineRef<'a>]) -> Vec<&'a str> {
    lines
        .iter()
        .filter_map(|line| match line {
            ChunkLineRef::Context(text) | ChunkLineRef::Remove(text) => Some(*text),
            ChunkLineRef::Add(_) => None,
        })
        .collect()
}

/// Takes the last old line away, which is empty, and the last new one, when that is empty too.
fn without_last_empty(mut lines: Vec<ChunkLineRef<'_>>) -> Vec<ChunkLineRef<'_>> {
    let is_old = |line: &ChunkLineRef<'_>| !matches!(line, ChunkLineRef::Add(_));
    if let Some(idx) = lines.iter().rposition(is_old) {
        match lines[idx] {
            ChunkLineRef::Context(text) => lines[idx] = ChunkLineRef::Add(text),
            ChunkLineRef::Remove(_) | ChunkLineRef::Add(_) => {
                lines.remove(idx);
            }
        }
    }
    if lines.last() == Some(&ChunkLineRef::Add("")) {
        lines.pop();
    }
    lines
}

fn rebuilt(lines: &[Line<'_>], hunks: &[Hunk<'_>]) -> String {
    let mut out: Vec<Line<'_>> = Vec::with_capacity(lines.len());
    let mut at = 0;
    for hunk in hunks {
        // Changes are in order and do not overlap: each begins where the former ended, or further down.
        out.extend_from_slice(lines.get(at..hunk.at).unwrap_or_default());
        at = at.max(hunk.at);
        for line in &hunk.lines {
            match line {
                ChunkLineRef::Context(_) => {
                    // The file's own line stays, whatever was overlooked to find it.
                    out.extend(lines.get(at));
                    at += 1;
                }
                ChunkLineRef::Remove(_) => at += 1,
                ChunkLineRef::Add(body) => out.push(Line {
                    body,
                    ending: ending_near(lines, at),
                }),
            }
        }
    }
    out.extend_from_slice(lines.get(at..).unwrap_or_default());
    let ended = lines.last().is_none_or(|line| !line.ending.is_empty());
    let near_end = ending_near(lines, lines.len());
    let mut text = String::new();
    for (idx, line) in out.iter().enumerate() {
        text.push_str(line.body);
        let is_last = idx + 1 == out.len();
        match (is_last && !ended, line.ending) {
            (true, _) => {}
            (false, "") => text.push_str(near_end),
            (false, ending) => text.push_str(ending),
        }
    }
    text
}

/// The line ending at a place: that of the line there, or of the nearest before it that has one.
fn ending_near<'a>(lines: &[Line<'a>], at: usize) -> &'a str {
    let upto = lines.len().min(at + 1);
    lines[..upto]
        .iter()
        .rev()
        .chain(&lines[upto..])
        .map(|line| line.ending)
        .find(|ending| !ending.is_empty())
        .unwrap_or("\n")
}

fn after(from: usize) -> String {
    match from {
        0 | 1 => String::new(),
        _ => format!(" from line {from} on"),
    }
}

fn place(from: usize, end_of_file: bool) -> String {
    match end_of_file {
        true => " at the end of the file".to_owned(),
        false => after(from),
    }
}

#[cfg(test)]
mod tests;
