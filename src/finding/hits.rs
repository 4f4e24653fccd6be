//! What one file gives: the sink that a searcher fills, and the reader that it reads through.

use std::fs::File;
use std::io::{self, Read};

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use serde::Serialize;

use crate::cancel::Cancel;
use crate::limits;
use crate::text::clip;

/// One match: its lines, and what was asked for around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The file.
    pub file: String,
    /// The line, from 1; the first of several.
    pub line: u64,
    /// The line without its end, or the lines of a match over several; long ones are clipped.
    pub text: String,
    /// The lines before it that no earlier match has shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Whether it matches at all.
    Any,
    /// How many matches it has.
    Count,
    /// So many matches, and the count of all.
    Hits(usize),
}

/// Takes what the searcher finds in one file.
pub(super) struct FileSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) want: Want,
    pub(super) count: u64,
    pub(super) hits: Vec<Hit>,
    /// Where binary content began, if the search stopped there.
    pub(super) stopped_at: Option<u64>,
    before: Vec<String>,
}

impl<'a> FileSink<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, want: Want) -> Self {
        Self {
            matcher,
            want,
            count: 0,
            hits: Vec::new(),
            stopped_at: None,
            before: Vec::new(),
        }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        match self.want {
            Want::Any => return Ok(false),
            Want::Count => {}
            Want::Hits(limit) if self.hits.len() < limit => {
                let start = self.matcher.find(found.bytes()).ok().flatten();
                let text = shown(found.bytes(), start.map_or(0, |place| place.start()));
                self.hits.push(Hit {
                    file: String::new(),
                    line: found.line_number().unwrap_or_default(),
                    text,
                    before: std::mem::take(&mut self.before),
                    after: Vec::new(),
                });
            }
            Want::Hits(_) => self.before.clear(),
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let Want::Hits(limit) = self.want else {
            return Ok(true);
        };
        let line = shown(context.bytes(), 0);
        match context.kind() {
            SinkContextKind::After => {
                // Lines after a match that is not shown belong to nobody.
                if self.count <= limit as u64
                    && let Some(last) = self.hits.last_mut()
                {
                    last.after.push(line);
                }
            }
            SinkContextKind::Before | SinkContextKind::Other => self.before.push(line),
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.before.clear();
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.stopped_at = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.stopped_at = self.stopped_at.or(finish.binary_byte_offset());
        Ok(())
    }
}

/// A line, or several, without the last line end, clipped around the byte at `at`.
fn shown(bytes: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.len() <= limits::GREP_LINE_CHARS {
        return text.to_owned();
    }
    if text.contains('\n') {
        let lines = text.split('\n').map(|line| {
            clip(
                line.strip_suffix('\r').unwrap_or(line),
                limits::GREP_LINE_CHARS,
            )
        });
        return lines.collect::<Vec<_>>().join("\n");
    }
    // Some text before the match says where it is; the match itself must be seen.
    let lead = limits::GREP_LINE_CHARS / 4;
    let n_before = String::from_utf8_lossy(&bytes[..at.min(bytes.len())])
        .chars()
        .count();
    if n_before + lead <= limits::GREP_LINE_CHARS {
        return clip(text, limits::GREP_LINE_CHARS).into_owned();
    }
    let rest: String = text.chars().skip(n_before - lead).collect();
    format!("…{}", clip(&rest, limits::GREP_LINE_CHARS))
}

/// Reads a file for a searcher: it sees a cancel, and binary content before any of it is searched.
pub(super) struct Source<'a> {
    file: File,
    cancel: &'a Cancel,
    n_read: usize,
    /// Whether content that begins like a program or an image is searched all the same.
    text: bool,
    utf16: bool,
    pub(super) binary: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(file: File, text: bool, cancel: &'a Cancel) -> Self {
        Self {
            file,
            cancel,
            n_read: 0,
            text,
            utf16: false,
            binary: false,
        }
    }
}

impl Read for &mut Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.binary {
            return Ok(0);
        }
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let n = self.file.read(buffer)?;
        if self.n_read < limits::BINARY_PROBE_BYTES && !self.text {
            if self.n_read == 0 {
                self.utf16 =
                    buffer[..n].starts_with(b"\xFF\xFE") || buffer[..n].starts_with(b"\xFE\xFF");
            }
            let probe = n.min(limits::BINARY_PROBE_BYTES - self.n_read);
            if !self.utf16 && memchr::memchr(0, &buffer[..probe]).is_some() {
                self.binary = true;
                return Ok(0);
            }
        }
        self.n_read += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // R147: a long line is clipped, and what matched in it is seen.
    #[test]
    fn a_long_line_is_clipped_around_what_matched() {
        let limit = limits::GREP_LINE_CHARS;
        let line = |n: usize| "é".repeat(n);
        assert_eq!(shown(b"a\r\n", 0), "a");
        assert_eq!(shown(line(limit).as_bytes(), 0), line(limit));
        assert_eq!(
            shown(line(limit + 1).as_bytes(), 0),
            format!("{}…", line(limit))
        );
        let late = format!("{}needle{}", line(5_000), line(5_000));
        let text = shown(late.as_bytes(), 10_000);
        assert!(text.starts_with('…') && text.ends_with('…') && text.contains("éneedleé"));
        assert_eq!(text.chars().count(), limit + 2);
    }
}
