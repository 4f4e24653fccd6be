//! Reads a patch. Every error names the line of the patch.

use super::{Chunk, ChunkLine, FilePatch, Patch};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It does not begin as a patch does.
    #[error("the first line of the patch must be '{BEGIN}'")]
    NoBegin,
    /// It does not end as a patch does.
    #[error("the last line of the patch must be '{END}'")]
    NoEnd,
    /// There is nothing between.
    #[error("no files were modified: the patch is empty")]
    Empty,
    /// A line is where the next file should be named.
    #[error(
        "line {line}: '{text}' is not a valid hunk header. Valid hunk headers: '{ADD}{{path}}', \
         '{DELETE}{{path}}', '{UPDATE}{{path}}'"
    )]
    NoHeader {
        /// The line of the patch, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A header names no path.
    #[error("line {line}: the path is missing")]
    NoPath {
        /// The line of the patch, from 1.
        line: usize,
    },
    /// An update neither changes nor moves its file.
    #[error("line {line}: update file hunk for path '{path}' is empty")]
    EmptyUpdate {
        /// The line of the patch, from 1.
        line: usize,
        /// The file.
        path: String,
    },
    /// A later change does not say where it is.
    #[error("line {line}: expected update hunk to start with a @@ context marker, got: '{text}'")]
    NoMarker {
        /// The line of the patch, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// A change has no lines.
    #[error("line {line}: update hunk does not contain any lines")]
    EmptyChunk {
        /// The line of the patch, from 1.
        line: usize,
    },
    /// A line of a change has no mark.
    #[error(
        "line {line}: unexpected line found in update hunk: '{text}'. Every line should start with ' ' \
         (context line), '+' (added line), or '-' (removed line)"
    )]
    Unmarked {
        /// The line of the patch, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
}

/// Reads a patch.
pub fn parse(text: &str) -> Result<Patch, ParseError> {
    // A patch that was written with CRLF throughout means its lines, not their carriage returns.
    let crlf = text
        .trim_start()
        .split_once('\n')
        .is_some_and(|(first, _)| first.ends_with('\r'));
    let n_blank = text.len() - text.trim_start().len();
    let first_line = text[..n_blank].matches('\n').count() + 1;
    let lines: Vec<&str> = text
        .trim()
        .split('\n')
        .map(|line| match crlf {
            true => line.strip_suffix('\r').unwrap_or(line),
            false => line,
        })
        .collect();
    let (lines, first_line) = match bounded(&lines) {
        Ok(()) => (&lines[..], first_line),
        Err(error) => match without_heredoc(&lines) {
            Some(inner) => {
                bounded(inner)?;
                (inner, first_line + 1)
            }
            None => return Err(error),
        },
    };
    let mut parser = Parser {
        lines: &lines[1..lines.len() - 1],
        at: 0,
        first_line: first_line + 1,
    };
    let mut files = Vec::new();
    while let Some(line) = parser.peek() {
        if line.trim().is_empty() {
            parser.at += 1;
            continue;
        }
        files.push(parser.file(line)?);
    }
    match files.is_empty() {
        true => Err(ParseError::Empty),
        false => Ok(Patch { files }),
    }
}

fn bounded(lines: &[&str]) -> Result<(), ParseError> {
    match lines {
        [first, ..] if first.trim() != BEGIN => Err(ParseError::NoBegin),
        [_, .., last] if last.trim() == END => Ok(()),
        _ => Err(ParseError::NoEnd),
    }
}

/// Takes away the lines of a shell's here document around a patch.
fn without_heredoc<'a, 'b>(lines: &'b [&'a str]) -> Option<&'b [&'a str]> {
    match lines {
        [first, inner @ .., last]
            if lines.len() >= 4
                && matches!(first.trim_end(), "<<EOF" | "<<'EOF'" | "<<\"EOF\"")
                && last.ends_with("EOF") =>
        {
            Some(inner)
        }
        _ => None,
    }
}

struct Parser<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// The line of the patch that `lines[0]` is.
    first_line: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn line(&self) -> usize {
        self.first_line + self.at
    }

    fn file(&mut self, header: &str) -> Result<FilePatch, ParseError> {
        let line = self.line();
        self.at += 1;
        let header = header.trim();
        if let Some(path) = header.strip_prefix(ADD) {
            let path = named(path, line)?;
            let mut text = String::new();
            while let Some(added) = self.peek().and_then(|line| line.strip_prefix('+')) {
                text.push_str(added);
                text.push('\n');
                self.at += 1;
            }
            return Ok(FilePatch::Add { path, text });
        }
        if let Some(path) = header.strip_prefix(DELETE) {
            let path = named(path, line)?;
            return Ok(FilePatch::Delete { path });
        }
        if let Some(path) = header.strip_prefix(UPDATE) {
            return self.update(named(path, line)?, line);
        }
        // The trimmed header of a missing path has lost the space at its end.
        if [ADD, DELETE, UPDATE]
            .iter()
            .any(|known| header == known.trim())
        {
            return Err(ParseError::NoPath { line });
        }
        Err(ParseError::NoHeader {
            line,
            text: header.to_owned(),
        })
    }

    fn update(&mut self, path: String, header_line: usize) -> Result<FilePatch, ParseError> {
        let line = self.line();
        let moved_to = match self.peek().and_then(|line| line.trim().strip_prefix(MOVE)) {
            Some(to) => {
                self.at += 1;
                Some(named(to, line)?)
            }
            None => None,
        };
        let mut chunks: Vec<Chunk> = Vec::new();
        while let Some(line) = self.peek() {
            if line.trim().is_empty() {
                self.at += 1;
            } else if line.starts_with("***") {
                break;
            } else {
                chunks.push(self.chunk(chunks.is_empty())?);
            }
        }
        if chunks.is_empty() && moved_to.is_none() {
            return Err(ParseError::EmptyUpdate {
                line: header_line,
                path,
            });
        }
        Ok(FilePatch::Update {
            path,
            moved_to,
            chunks,
        })
    }

    fn chunk(&mut self, is_first: bool) -> Result<Chunk, ParseError> {
        let mut chunk = Chunk {
            patch_line: self.line(),
            ..Chunk::default()
        };
        let mut marked = false;
        while let Some(context) = self.peek().and_then(marker) {
            marked = true;
            if !context.is_empty() {
                chunk.contexts.push(context.to_owned());
            }
            self.at += 1;
        }
        if !marked && !is_first {
            return Err(ParseError::NoMarker {
                line: self.line(),
                text: self.peek().unwrap_or_default().to_owned(),
            });
        }
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                if chunk.lines.is_empty() {
                    break;
                }
                chunk.end_of_file = true;
                self.at += 1;
                return Ok(chunk);
            }
            let mut chars = line.chars();
            let parsed = match chars.next() {
                None => ChunkLine::Context(String::new()),
                Some(' ') => ChunkLine::Context(chars.as_str().to_owned()),
                Some('+') => ChunkLine::Add(chars.as_str().to_owned()),
                Some('-') => ChunkLine::Remove(chars.as_str().to_owned()),
                Some(_) if chunk.lines.is_empty() && !line.starts_with("***") => {
                    return Err(ParseError::Unmarked {
                        line: self.line(),
                        text: line.to_owned(),
                    });
                }
                // The next change or the next file begins here.
                Some(_) => break,
            };
            chunk.lines.push(parsed);
            self.at += 1;
        }
        match chunk.lines.is_empty() {
            true => Err(ParseError::EmptyChunk {
                line: chunk.patch_line,
            }),
            false => Ok(chunk),
        }
    }
}

/// The context that a `@@` line names, empty for none.
fn marker(line: &str) -> Option<&str> {
    if line == "@@" {
        return Some("");
    }
    let rest = line.strip_prefix("@@ ")?;
    Some(match rest.split_once(" @@") {
        // Models write the numbers of a unified diff, which mean nothing here and are often wrong.
        Some((numbers, rest)) if is_ranges(numbers) => rest.strip_prefix(' ').unwrap_or(rest),
        _ => rest,
    })
}

/// Tells whether a text reads `-1,2 +1,3`.
fn is_ranges(text: &str) -> bool {
    let range = |text: &str, sign: char| {
        text.strip_prefix(sign).is_some_and(|range| {
            let plain = |c: char| c.is_ascii_digit() || c == ',';
            !range.is_empty() && range.chars().all(plain)
        })
    };
    text.split_once(' ')
        .is_some_and(|(old, new)| range(old, '-') && range(new, '+'))
}

fn named(path: &str, line: usize) -> Result<String, ParseError> {
    match path.trim() {
        "" => Err(ParseError::NoPath { line }),
        path => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests;
