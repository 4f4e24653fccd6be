//! Templates: building the text that replaces a match (D11, D16).
//!
//! The output is written front to back with an explicit stack, because matches nest inside captures of
//! matches to any depth. Lines of a capture move from the indentation of their old place to that of
//! their new one, with the file's own characters and line ends; lines inside string literals stay as
//! they are. It must not know files, and does not parse.

mod run;

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use crate::limits;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::matcher::{Capture, Match};
use crate::syntax::metavar::{Meta, Piece, lex};
use crate::syntax::pattern::Pattern;
use crate::syntax::tree::Flat;
use crate::text::LineEnding;

/// A template, checked against the pattern whose captures it uses.
#[derive(Debug)]
pub(crate) struct Template {
    pub pieces: Vec<TemplatePiece>,
    separators: &'static [&'static str],
}

/// A piece of a template.
#[derive(Debug)]
pub(crate) enum TemplatePiece {
    /// Literal text with LF line ends.
    Text(String),
    /// The capture of a slot.
    Slot { slot: usize, run: bool },
}

/// A metavariable of a template that the pattern does not bind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unbound {
    pub name: String,
    pub bound: Vec<String>,
}

impl Template {
    /// Reads a template.
    pub fn new(text: &str, pattern: &Pattern, grammar: &Grammar) -> Result<Template, Unbound> {
        let mut pieces = Vec::new();
        for piece in lex(&text.replace("\r\n", "\n")) {
            pieces.push(match piece {
                Piece::Text(text) => TemplatePiece::Text(text),
                Piece::Meta(meta) => TemplatePiece::Slot {
                    slot: slot_of(&meta, pattern)?,
                    run: meta.run,
                },
            });
        }
        Ok(Template {
            pieces,
            separators: grammar.row.syntax.separators,
        })
    }

    /// Whether a slot is used.
    pub fn uses(&self, wanted: usize) -> bool {
        self.pieces
            .iter()
            .any(|p| matches!(p, TemplatePiece::Slot { slot, .. } if *slot == wanted))
    }
}

fn slot_of(meta: &Meta, pattern: &Pattern) -> Result<usize, Unbound> {
    pattern
        .slots
        .iter()
        .position(|s| meta.binds() && s.name == meta.name && s.run == meta.run)
        .ok_or_else(|| Unbound {
            name: meta.written(),
            bound: pattern
                .slots
                .iter()
                .map(|s| format!("{}{}", if s.run { "$$$" } else { "$" }, s.name))
                .collect(),
        })
}

/// How a file is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub line_end: &'static str,
    /// One step of indentation.
    pub unit: String,
}

impl Layout {
    /// Looks at a source. Files without indented lines are taken to indent by four spaces.
    pub fn of(source: &[u8]) -> Layout {
        let mut n_tabs = 0;
        let mut n_spaces = 0;
        let mut smallest = usize::MAX;
        for line in source.split(|b| *b == b'\n').take(limits::LAYOUT_LINES) {
            match line.first() {
                Some(b'\t') => n_tabs += 1,
                Some(b' ') => {
                    let width = line.iter().take_while(|b| **b == b' ').count();
                    // A single space is the middle of a block comment, not a step.
                    if width > 1 && width < line.len() {
                        n_spaces += 1;
                        smallest = smallest.min(width);
                    }
                }
                _ => {}
            }
        }
        let unit = if n_tabs > n_spaces {
            "\t".to_owned()
        } else {
            " ".repeat(if smallest > 8 { 4 } else { smallest })
        };
        Layout {
            line_end: LineEnding::dominant(source).map_or("\n", LineEnding::as_str),
            unit,
        }
    }

    /// The template's text with its indentation in the file's characters.
    fn adapt(&self, template: &Template) -> Vec<Adapted> {
        let step = template_step(template);
        template
            .pieces
            .iter()
            .map(|piece| match piece {
                TemplatePiece::Slot { slot, run } => Adapted::Slot {
                    slot: *slot,
                    run: *run,
                },
                TemplatePiece::Text(text) => {
                    let mut lines = text.split('\n');
                    let mut out = vec![lines.next().unwrap_or("").to_owned()];
                    out.extend(lines.map(|line| self.adapt_line(line, &step)));
                    Adapted::Text(out)
                }
            })
            .collect()
    }

    fn adapt_line(&self, line: &str, step: &str) -> String {
        let body = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - body.len()];
        let file_tabs = self.unit.starts_with('\t');
        let template_tabs = step.starts_with('\t');
        if step.is_empty() || file_tabs == template_tabs {
            return line.to_owned();
        }
        let n_steps = indent.matches(step).count();
        let rest = indent.len() - n_steps * step.len();
        format!("{}{}{body}", self.unit.repeat(n_steps), " ".repeat(rest))
    }
}

/// One step of the template's own indentation; empty where it has none.
fn template_step(template: &Template) -> String {
    let mut smallest = usize::MAX;
    for piece in &template.pieces {
        let TemplatePiece::Text(text) = piece else {
            continue;
        };
        for line in text.split('\n').skip(1) {
            if line.starts_with('\t') {
                return "\t".to_owned();
            }
            let width = line.len() - line.trim_start_matches(' ').len();
            if width > 0 {
                smallest = smallest.min(width);
            }
        }
    }
    if smallest == usize::MAX {
        String::new()
    } else {
        " ".repeat(smallest)
    }
}

enum Adapted {
    /// The lines of the text; all but the first begin a line.
    Text(Vec<String>),
    Slot {
        slot: usize,
        run: bool,
    },
}

/// A match that is replaced, with the matches inside its captures.
#[derive(Debug)]
pub(crate) struct Planned {
    pub found: Match,
    /// Indexes of planned matches directly inside, by position.
    pub inner: Vec<usize>,
}

/// What was put where in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// Index of the planned match.
    pub planned: usize,
    /// Index of the template's piece; `None` for the whole replacement.
    pub piece: Option<usize>,
    /// Byte range in the output, parentheses added here excluded.
    pub range: Range<usize>,
}

/// The place of a parenthesis to add: a planned match and a piece, or the whole of it.
pub(crate) type Place = (usize, Option<usize>);

/// The output of one file.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub bytes: Vec<u8>,
    pub inserted: Vec<Inserted>,
}

/// What the source gives a place to look up while writing.
struct Lines {
    /// Where each line begins.
    starts: Vec<u32>,
    /// The multi-line string literals, whose lines must not move; ascending and apart.
    fixed: Vec<Range<u32>>,
}

/// Everything that building an output needs.
pub(crate) struct Writer<'a> {
    pub source: &'a [u8],
    pub flat: &'a Flat,
    pub template: &'a Template,
    pub layout: &'a Layout,
    pub planned: &'a [Planned],
    /// The planned matches that lie in no other.
    pub top: &'a [usize],
    pub parenthesised: &'a HashSet<Place>,
    pub parentheses: (&'a str, &'a str),
}

enum Frame {
    /// Source text from `at`, with the planned matches in it replaced.
    Slice {
        at: u32,
        end: u32,
        inner: std::vec::IntoIter<usize>,
        old: Rc<str>,
        new: Rc<str>,
    },
    /// A template from its piece on. `base` is the indentation of the line that the match is on.
    Template {
        planned: usize,
        piece: usize,
        base: Rc<str>,
        line_indent: Rc<str>,
        start: usize,
        drop_prefix: bool,
    },
    /// The end of something inserted.
    Mark { place: Place, start: usize },
}

impl Writer<'_> {
    /// Builds the new content; `None` when it would be too large.
    pub fn write(&self) -> Option<Output> {
        let adapted = self.layout.adapt(self.template);
        let lines = self.lines();
        let mut out = Output::default();
        let nothing: Rc<str> = "".into();
        let mut stack = vec![Frame::Slice {
            at: 0,
            end: self.source.len() as u32,
            inner: Vec::from(self.top).into_iter(),
            old: Rc::clone(&nothing),
            new: nothing,
        }];
        while let Some(frame) = stack.pop() {
            if out.bytes.len() > limits::REWRITE_BYTES
                || out.inserted.len() > limits::REWRITE_PIECES
            {
                return None;
            }
            match frame {
                Frame::Mark { place, start } => {
                    out.inserted.push(Inserted {
                        planned: place.0,
                        piece: place.1,
                        range: start..out.bytes.len(),
                    });
                    if self.parenthesised.contains(&place) {
                        out.bytes.extend_from_slice(self.parentheses.1.as_bytes());
                    }
                }
                Frame::Slice {
                    at,
                    end,
                    mut inner,
                    old,
                    new,
                } => {
                    let Some(planned) = inner.next() else {
                        self.copy(&mut out.bytes, at..end, &old, &new, &lines);
                        continue;
                    };
                    let range = self.planned[planned].found.range.clone();
                    self.copy(&mut out.bytes, at..range.start, &old, &new, &lines);
                    let base: Rc<str> =
                        moved(&self.indent_at(range.start, &lines), &old, &new).into();
                    stack.push(Frame::Slice {
                        at: range.end,
                        end,
                        inner,
                        old,
                        new,
                    });
                    self.open(&mut out.bytes, (planned, None));
                    stack.push(Frame::Template {
                        planned,
                        piece: 0,
                        line_indent: Rc::clone(&base),
                        base,
                        start: out.bytes.len(),
                        drop_prefix: false,
                    });
                }
                Frame::Template {
                    planned,
                    piece,
                    base,
                    mut line_indent,
                    start,
                    drop_prefix,
                } => {
                    let Some(current) = adapted.get(piece) else {
                        stack.push(Frame::Mark {
                            place: (planned, None),
                            start,
                        });
                        continue;
                    };
                    let mut then = Vec::new();
                    let mut drop_next = false;
                    match current {
                        Adapted::Text(lines) => {
                            line_indent = self.put_text(
                                &mut out.bytes,
                                lines,
                                &base,
                                line_indent,
                                drop_prefix,
                            );
                        }
                        Adapted::Slot { slot, run } => {
                            let capture = self.planned[planned].found.captures[*slot];
                            if *run && capture.bytes.0 == capture.bytes.1 {
                                drop_next =
                                    self.close_up(&mut out.bytes, start, adapted.get(piece + 1));
                            } else {
                                let place = (planned, Some(piece));
                                let next = adapted.get(piece + 1);
                                let written = &out.bytes[start..];
                                let around = run
                                    .then(|| self.run_in_brackets(planned, capture, written, next))
                                    .flatten();
                                let mut slice =
                                    self.capture(planned, capture, &line_indent, &lines);
                                if let Frame::Slice { at, end, old, .. } = &mut slice {
                                    let of_match = |offset| self.indent_at(offset, &lines);
                                    if let Some(range) = around {
                                        out.bytes.truncate(start + run::trimmed(written).len());
                                        *old = of_match(range.start).into();
                                        (*at, *end) = (range.start, range.end);
                                        drop_next = true;
                                    } else if *run {
                                        let from = self.planned[planned].found.range.start;
                                        let indent = of_match(from);
                                        if let Some(indent) =
                                            self.run_indent(capture, &indent, old, &out.bytes)
                                        {
                                            *old = indent.into();
                                        }
                                    }
                                }
                                self.open(&mut out.bytes, place);
                                then.push(Frame::Mark {
                                    place,
                                    start: out.bytes.len(),
                                });
                                then.push(slice);
                            }
                        }
                    }
                    stack.push(Frame::Template {
                        planned,
                        piece: piece + 1,
                        base,
                        line_indent,
                        start,
                        drop_prefix: drop_next,
                    });
                    stack.extend(then);
                }
            }
        }
        Some(out)
    }

    fn open(&self, out: &mut Vec<u8>, place: Place) {
        if self.parenthesised.contains(&place) {
            out.extend_from_slice(self.parentheses.0.as_bytes());
        }
    }

    fn capture(
        &self,
        planned: usize,
        capture: Capture,
        line_indent: &Rc<str>,
        lines: &Lines,
    ) -> Frame {
        let (start, end) = capture.bytes;
        let inner: Vec<usize> = self.planned[planned]
            .inner
            .iter()
            .copied()
            .filter(|i| {
                let range = &self.planned[*i].found.range;
                range.start >= start && range.end <= end
            })
            .collect();
        Frame::Slice {
            at: start,
            end,
            inner: inner.into_iter(),
            old: self.indent_at(start, lines).into(),
            new: Rc::clone(line_indent),
        }
    }

    /// Writes literal text; returns the indentation of the line that the output is now on.
    fn put_text(
        &self,
        out: &mut Vec<u8>,
        lines: &[String],
        base: &Rc<str>,
        line_indent: Rc<str>,
        drop_prefix: bool,
    ) -> Rc<str> {
        let mut indent = line_indent;
        for (n, line) in lines.iter().enumerate() {
            if n == 0 {
                let text = if drop_prefix {
                    let rest = line.trim_start();
                    self.template
                        .separators
                        .iter()
                        .find_map(|s| rest.strip_prefix(*s))
                        .unwrap_or(rest)
                        .trim_start()
                } else {
                    line
                };
                out.extend_from_slice(text.as_bytes());
                continue;
            }
            out.extend_from_slice(self.layout.line_end.as_bytes());
            let body = line.trim_start_matches([' ', '\t']);
            let own = &line[..line.len() - body.len()];
            indent = format!("{base}{own}").into();
            // A line that stays blank gets no indentation, unless a capture follows on it.
            if !body.is_empty() || n + 1 == lines.len() {
                out.extend_from_slice(indent.as_bytes());
                out.extend_from_slice(body.as_bytes());
            }
        }
        indent
    }

    /// Takes the separator, or the line, of an empty run out of the output. True when the separator
    /// that goes stands in the text that follows.
    fn close_up(&self, out: &mut Vec<u8>, start: usize, next: Option<&Adapted>) -> bool {
        let following = match next {
            Some(Adapted::Text(lines)) => lines.first().map(String::as_str),
            Some(Adapted::Slot { .. }) => return false,
            None => None,
        };
        let separators = self.template.separators;
        if let Some(text) = following {
            let rest = text.trim_start();
            if separators.iter().any(|s| rest.starts_with(s)) {
                return true;
            }
        }
        let written = &out[start.min(out.len())..];
        let blank = |b: &u8| matches!(b, b' ' | b'\t');
        let kept = written.len() - written.iter().rev().take_while(|b| blank(b)).count();
        let ends_line = match next {
            None => true,
            Some(Adapted::Text(lines)) => lines.len() > 1 && lines[0].trim().is_empty(),
            Some(Adapted::Slot { .. }) => false,
        };
        if ends_line && written[..kept].ends_with(b"\n") {
            let line_end = self.layout.line_end.len().min(kept);
            out.truncate(start + kept - line_end);
            return false;
        }
        let separator = separators
            .iter()
            .find(|s| written[..kept].ends_with(s.as_bytes()));
        if let Some(separator) = separator {
            out.truncate(start + kept - separator.len());
        } else if following.is_some_and(|text| text.starts_with(' ')) {
            // One blank between what is around it, not the two.
            out.truncate(start + kept);
        }
        false
    }

    /// Copies source text, moving its lines from one indentation to another.
    fn copy(&self, out: &mut Vec<u8>, range: Range<u32>, old: &str, new: &str, lines: &Lines) {
        let bytes = &self.source[range.start as usize..range.end as usize];
        if old == new {
            out.extend_from_slice(bytes);
            return;
        }
        let mut at = 0;
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let line = newline + 1;
            out.extend_from_slice(&bytes[at..line]);
            at = line;
            let offset = range.start + line as u32;
            if lines.is_fixed(offset) {
                continue;
            }
            let width = bytes[line..]
                .iter()
                .take_while(|b| matches!(b, b' ' | b'\t'))
                .count();
            // The white space before a match that follows belongs to its line too.
            let blank_line = matches!(bytes.get(line + width), Some(b'\n' | b'\r'));
            if blank_line {
                continue;
            }
            if let Ok(indent) = std::str::from_utf8(&bytes[line..line + width]) {
                out.extend_from_slice(moved(indent, old, new).as_bytes());
                at = line + width;
            }
        }
        out.extend_from_slice(&bytes[at..]);
    }

    /// The white space at the start of the line that holds an offset.
    fn indent_at(&self, offset: u32, lines: &Lines) -> String {
        let line = lines.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).map_or(0, |idx| lines.starts[idx]);
        let indent = self.source[start as usize..]
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'));
        indent.map(|b| *b as char).collect()
    }

    fn lines(&self) -> Lines {
        let newlines = memchr::memchr_iter(b'\n', self.source);
        let starts = std::iter::once(0)
            .chain(newlines.map(|at| at as u32 + 1))
            .collect();
        let mut fixed: Vec<Range<u32>> = Vec::new();
        for node in &self.flat.nodes {
            let inside = fixed.last().is_some_and(|f| node.end <= f.end);
            if node.flags() & flag::STRING != 0 && !inside {
                let text = &self.source[node.start as usize..node.end as usize];
                if memchr::memchr(b'\n', text).is_some() {
                    fixed.push(node.start..node.end);
                }
            }
        }
        Lines { starts, fixed }
    }
}

impl Lines {
    /// Whether the line that begins at an offset begins inside a string literal.
    fn is_fixed(&self, offset: u32) -> bool {
        let idx = self.fixed.partition_point(|f| f.end <= offset);
        self.fixed.get(idx).is_some_and(|f| f.start < offset)
    }
}

/// An indentation in its new place.
fn moved(indent: &str, old: &str, new: &str) -> String {
    match indent.strip_prefix(old) {
        Some(rest) => format!("{new}{rest}"),
        None => indent.to_owned(),
    }
}
