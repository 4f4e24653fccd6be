//! Cuts Python into top-level statements, and the bodies of all that have one into theirs, by indentation.
//!
//! Clauses (`else`, `except`) stay with their statement, decorators with what they decorate, and
//! comments where the grammar puts them: deeper ones with the statement above, others with the
//! statement below.

use super::{UnitKind, Units};

pub(super) fn split(source: &[u8]) -> Option<Units> {
    let mut reader = Reader::new(source, 0);
    if source.starts_with(b"\xef\xbb\xbf") {
        reader.at = 3;
    }
    let mut layout = Layout {
        units: Units {
            list: Vec::new(),
            needs_member: true,
            comments: Vec::new(),
            literals: Vec::new(),
            cuts: Vec::new(),
        },
        levels: vec![Level {
            indent: 0,
            owner: None,
            kind: UnitKind::Item,
            unit: None,
            end: 0,
            begun: true,
        }],
        comments: Vec::new(),
        opening: None,
        decorated: false,
    };
    while let Some(line) = reader.line()? {
        match line.kind {
            LineKind::Blank => {}
            LineKind::Comment => layout.comment(&line),
            LineKind::Code => layout.code(&line, source)?,
        }
    }
    layout.units.comments = reader.comments;
    layout.units.literals = reader.literals;
    layout.finish()
}

/// Deeper bodies are parts of one unit.
const DEEPEST_BODY: usize = 40;

/// Strings inside code inside strings beyond this depth make the source unclear.
const MOST_NESTED: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Comment,
    Code,
}

/// A logical line: brackets, strings and backslashes join physical lines.
struct Line {
    kind: LineKind,
    start: usize,
    /// Width of the indentation, a tab counting as eight columns as in the grammar.
    indent: usize,
    first: usize,
    /// After the line break.
    end: usize,
    opens_block: bool,
}

struct Level {
    indent: usize,
    /// The unit of the statement whose body stands at this level.
    owner: Option<usize>,
    /// What its statements are to a search.
    kind: UnitKind,
    /// The statement that is open at this level.
    unit: Option<usize>,
    /// Where that statement ends so far.
    end: usize,
    /// Whether a statement of it was seen.
    begun: bool,
}

struct Layout {
    units: Units,
    /// The levels that are open, never empty.
    levels: Vec<Level>,
    /// Start, end and indentation of the comment lines that no statement has taken yet.
    comments: Vec<(usize, usize, usize)>,
    /// The statement whose body the next line must begin, and what the body's statements are.
    opening: Option<(usize, UnitKind)>,
    /// Whether the last line was a decorator.
    decorated: bool,
}

impl Layout {
    fn comment(&mut self, line: &Line) {
        if let Some(level) = self.levels.last_mut()
            && self.comments.is_empty()
            && self.opening.is_none()
            && level.unit.is_some()
            && line.indent > level.indent
        {
            level.end = line.end;
            return;
        }
        self.comments.push((line.start, line.end, line.indent));
    }

    fn code(&mut self, line: &Line, source: &[u8]) -> Option<()> {
        if let Some((owner, kind)) = self.opening.take() {
            let outer = self.levels.last()?.indent;
            if line.indent <= outer {
                return None;
            }
            self.levels.push(Level {
                indent: line.indent,
                owner: Some(owner),
                kind,
                unit: None,
                end: 0,
                begun: false,
            });
            if kind == UnitKind::Item {
                let body = self.comments.first().map_or(line.start, |first| first.0);
                self.units.make_container(owner, body);
            }
        }
        while self.levels.last()?.indent > line.indent {
            self.dedent()?;
            if self.levels.last()?.indent < line.indent {
                return None;
            }
        }
        let n_levels = self.levels.len();
        let level = self.levels.last_mut()?;
        let word = word_at(source, line.first);
        if line.indent > level.indent {
            // Inside the statement that is open; one that is closed cannot go on.
            level.unit?;
            self.comments.clear();
            level.end = line.end;
            return Some(());
        }
        let glued = matches!(word, b"else" | b"elif" | b"except" | b"finally");
        if glued || self.decorated {
            level.unit?;
        } else {
            let start = self.comments.first().map_or(line.start, |first| first.0);
            if let Some(unit) = level.unit {
                self.units.close(unit, level.end);
            }
            let unit = self.units.open(start, level.kind);
            self.units.list[unit].begins_body = !std::mem::replace(&mut level.begun, true);
            self.units.list[unit].names_members = matches!(word, b"match" | b"case");
            level.unit = Some(unit);
        }
        self.comments.clear();
        level.end = line.end;
        self.decorated = source[line.first] == b'@';
        if line.opens_block && n_levels < DEEPEST_BODY {
            // The statements of a class in a function are no members to a search.
            let inside = match word {
                b"class" => level.kind,
                _ => UnitKind::Block,
            };
            self.opening = level.unit.map(|unit| (unit, inside));
        }
        Some(())
    }

    /// Closes the innermost level and gives the comments at its end to the class.
    fn dedent(&mut self) -> Option<()> {
        let level = self.levels.pop()?;
        if self.decorated {
            return None;
        }
        let mut end = level.end;
        self.units.close(level.unit?, end);
        let n_inside = self
            .comments
            .iter()
            .take_while(|comment| comment.2 >= level.indent)
            .count();
        for comment in self.comments.drain(..n_inside) {
            end = comment.1;
        }
        let outer = self.levels.last_mut()?;
        outer.end = end;
        // Nothing at an outer indentation may go on with the body.
        level.owner?;
        Some(())
    }

    fn finish(mut self) -> Option<Units> {
        if self.opening.is_some() || self.decorated {
            return None;
        }
        while self.levels.len() > 1 {
            self.dedent()?;
        }
        let level = self.levels.pop()?;
        if let Some(unit) = level.unit {
            self.units.close(unit, level.end);
        }
        Some(self.units)
    }
}

fn word_at(source: &[u8], at: usize) -> &[u8] {
    let rest = &source[at..];
    let len = rest.iter().position(|&byte| !IS_WORD[byte as usize]);
    &rest[..len.unwrap_or(rest.len())]
}

fn is_word(byte: u8) -> bool {
    IS_WORD[byte as usize]
}

/// Asked for every byte of a source.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 128 || (byte as u8).is_ascii_alphanumeric() || byte == b'_' as usize;
        byte += 1;
    }
    table
};

/// From the first to the last token of some lines; the outer `None` where they are not clear.
pub(super) fn tokens(
    source: &[u8],
    lines: std::ops::Range<usize>,
) -> Option<Option<std::ops::Range<usize>>> {
    let mut reader = Reader::new(&source[..lines.end], lines.start);
    let mut first = None;
    while let Some(line) = reader.line()? {
        if line.kind == LineKind::Code {
            first.get_or_insert(line.first);
        }
    }
    Some(first.map(|first| first..reader.code_end))
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    /// Where the last token ends that was read.
    code_end: usize,
    /// The comments between tokens, without the line ends after them.
    comments: Vec<std::ops::Range<usize>>,
    /// The strings in three quotes that hold no code.
    literals: Vec<std::ops::Range<usize>>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a [u8], at: usize) -> Reader<'a> {
        Reader {
            source,
            at,
            code_end: at,
            comments: Vec::new(),
            literals: Vec::new(),
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(0)
    }

    /// Reads a logical line; the inner `None` is the end of the source.
    fn line(&mut self) -> Option<Option<Line>> {
        if self.at >= self.source.len() {
            return Some(None);
        }
        let start = self.at;
        let mut indent = 0;
        loop {
            match self.byte(self.at) {
                b' ' => indent += 1,
                b'\t' => indent += 8,
                b'\x0c' => indent = 0,
                _ => break,
            }
            self.at += 1;
        }
        let first = self.at;
        let mut opens_block = false;
        let kind = match self.byte(first) {
            b'\n' | b'\r' => LineKind::Blank,
            0 if first >= self.source.len() => LineKind::Blank,
            b'#' => {
                self.comment();
                LineKind::Comment
            }
            b'\\' => return None,
            _ => {
                opens_block = self.code()?;
                LineKind::Code
            }
        };
        let rest = &self.source[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |len| len + 1);
        Some(Some(Line {
            kind,
            start,
            indent,
            first,
            end: self.at,
            opens_block,
        }))
    }

    /// Steps over a comment.
    fn comment(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.comments.push(start..self.at);
    }

    /// Steps over the code of a logical line, up to its comment or line break.
    ///
    /// Tells whether a colon ends it.
    fn code(&mut self) -> Option<bool> {
        let mut open: Vec<u8> = Vec::new();
        let mut last = 0;
        loop {
            let byte = self.byte(self.at);
            match byte {
                b' ' | b'\t' | b'\x0c' => {
                    self.at += 1;
                    continue;
                }
                b'\n' if open.is_empty() => return Some(last == b':'),
                b'\n' => {
                    self.at += 1;
                    continue;
                }
                b'\r' if self.byte(self.at + 1) == b'\n' => {
                    self.at += 1;
                    continue;
                }
                b'\\' => {
                    let rest = &self.source[self.at + 1..];
                    let len = match rest {
                        [b'\n', ..] => 2,
                        [b'\r', b'\n', ..] => 3,
                        _ => return None,
                    };
                    self.at += len;
                    continue;
                }
                b'#' => {
                    self.comment();
                    continue;
                }
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b')' | b']' | b'}' => {
                    (open.pop()? == byte).then_some(())?;
                }
                b'"' | b'\'' => {
                    self.string(b"", 0)?;
                    self.code_end = self.at;
                    last = byte;
                    continue;
                }
                _ if is_word(byte) => {
                    self.word(0)?;
                    self.code_end = self.at;
                    last = byte;
                    continue;
                }
                0 if self.at >= self.source.len() => {
                    return open.is_empty().then_some(last == b':');
                }
                0..b' ' => return None,
                _ => {}
            }
            last = byte;
            self.at += 1;
            self.code_end = self.at;
        }
    }

    /// Steps over a word and the string of which it is the prefix.
    fn word(&mut self, nested: usize) -> Option<()> {
        let source = self.source;
        let word = word_at(source, self.at);
        self.at += word.len();
        let is_prefix = word.len() <= 2
            && (word.iter()).all(|byte| b"rbuft".contains(&byte.to_ascii_lowercase()));
        if is_prefix && matches!(self.byte(self.at), b'"' | b'\'') {
            self.string(word, nested)?;
        }
        Some(())
    }

    fn string(&mut self, prefix: &[u8], nested: usize) -> Option<()> {
        if nested > MOST_NESTED {
            return None;
        }
        let quote = self.byte(self.at);
        let triple = [quote; 3];
        let end: &[u8] = match self.source[self.at..].starts_with(&triple) {
            true => &triple,
            false => &triple[..1],
        };
        let start = self.at;
        self.at += end.len();
        let has_code = prefix.iter().any(|byte| b"fFtT".contains(byte));
        loop {
            let rest = self.source.get(self.at..)?;
            let len = match (has_code, end.len()) {
                (false, 3) => memchr::memchr2(quote, b'\\', rest)?,
                (false, _) => memchr::memchr3(quote, b'\\', b'\n', rest)?,
                (true, 3) => memchr::memchr3(quote, b'\\', b'{', rest)?,
                (true, _) => rest
                    .iter()
                    .position(|&byte| matches!(byte, b'\\' | b'\n' | b'{') || byte == quote)?,
            };
            self.at += len;
            let rest = &rest[len..];
            if rest.starts_with(end) {
                self.at += end.len();
                if end.len() == triple.len() && !has_code && nested == 0 {
                    self.literals.push(start..self.at);
                }
                return Some(());
            }
            match rest[0] {
                b'\\' if has_code && rest.get(1) == Some(&b'{') => self.at += 1,
                b'\\' if rest.starts_with(b"\\\r\n") => self.at += 3,
                b'\\' => self.at += 2,
                b'\n' => return None,
                b'{' if rest.starts_with(b"{{") => self.at += 2,
                b'{' => {
                    self.at += 1;
                    self.interpolation(nested + 1)?;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Steps over the code of a replacement field and over its format, after the opening brace.
    fn interpolation(&mut self, nested: usize) -> Option<()> {
        if nested > MOST_NESTED {
            return None;
        }
        let mut open: Vec<u8> = Vec::new();
        loop {
            let byte = self.byte(self.at);
            match byte {
                b'}' if open.is_empty() => {
                    self.at += 1;
                    return Some(());
                }
                b':' if open.is_empty() => {
                    self.at += 1;
                    break;
                }
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b')' | b']' | b'}' => {
                    (open.pop()? == byte).then_some(())?;
                }
                b'"' | b'\'' => {
                    self.string(b"", nested)?;
                    continue;
                }
                _ if is_word(byte) => {
                    self.word(nested)?;
                    continue;
                }
                // A comment or a backslash in here is too new to rely on.
                b'#' | b'\\' | 0 => return None,
                _ => {}
            }
            self.at += 1;
        }
        loop {
            match self.byte(self.at) {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b'{' => {
                    self.at += 1;
                    self.interpolation(nested + 1)?;
                    continue;
                }
                b'\n' | 0 => return None,
                _ => {}
            }
            self.at += 1;
        }
    }
}
