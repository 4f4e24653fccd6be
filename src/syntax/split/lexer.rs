//! Reads tokens of the languages that bracket their code: words, literals, brackets, punctuation.
//!
//! It balances the brackets, steps over comments and literals, and notes the blocks it passes. It
//! must not know what an item is. Every reader returns `None` when the source is not clear.

use std::cmp::Ordering;

use super::statements::Statements;
use super::{UnitKind, Units};

/// The language whose literals and comments the lexer knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Rust,
    Dart,
    Java,
    Go,
    C,
    TypeScript,
    /// With elements in the source: `javascript` and `tsx`.
    Jsx,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Word,
    Literal,
    Open,
    Close,
    Punct,
    /// A line of the C preprocessor, outside all brackets.
    Directive,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Where the comments before the token begin; its start if there are none.
    pub lead: usize,
    /// Whether a line ends between the token before and this one.
    pub line_break: bool,
}

/// What stands before a parenthesis, where that decides what stands after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Control,
    Switch,
    Other,
}

/// A source that nests deeper than this is parsed whole.
pub(super) const DEEPEST: usize = 500;

/// Blanking a block of fewer bytes than this costs more than it saves.
const SMALLEST_BLOCK: usize = 16;

pub(super) struct Lexer<'a> {
    pub source: &'a [u8],
    pub at: usize,
    pub dialect: Dialect,
    /// The token read last; of kind `End` at the beginning.
    pub last: Token,
    /// The head of the parenthesis that was closed last.
    pub closed: Head,
    /// The brackets that are open, with what closes them.
    open: Vec<(u8, Head)>,
    /// The brackets that were open at each C conditional that is open.
    conditionals: Vec<Vec<(u8, Head)>>,
    /// How many branches of conditionals closed more or fewer brackets than they opened.
    n_uneven: usize,
    /// How deep literals and elements hold code.
    pub nested: usize,
    /// How many lines of the preprocessor were passed.
    pub n_directives: usize,
    /// The comments that were passed between tokens, without the line ends after them.
    pub comments: Vec<std::ops::Range<usize>>,
    /// The long strings that were passed between tokens and hold no code.
    pub literals: Vec<std::ops::Range<usize>>,
}

/// Shorter strings are not worth a note.
const LONG_LITERAL: usize = 40;

impl<'a> Lexer<'a> {
    pub fn new(source: &'a [u8], dialect: Dialect) -> Lexer<'a> {
        let mut at = 0;
        if source.starts_with(b"\xef\xbb\xbf") {
            at = 3;
        }
        // Rust's inner attribute begins with `#!` too.
        if source[at..].starts_with(b"#!") && !source[at..].starts_with(b"#![") {
            at = memchr::memchr(b'\n', source).unwrap_or(source.len());
        }
        Lexer {
            source,
            at,
            dialect,
            last: Token {
                kind: Kind::End,
                start: at,
                end: at,
                lead: at,
                line_break: true,
            },
            closed: Head::Other,
            open: Vec::new(),
            conditionals: Vec::new(),
            nested: 0,
            n_directives: 0,
            n_uneven: 0,
            comments: Vec::new(),
            literals: Vec::new(),
        }
    }

    /// Reads only a part of the source, as if a bracket had been opened before it.
    pub fn within(source: &'a [u8], part: std::ops::Range<usize>, dialect: Dialect) -> Lexer<'a> {
        let mut lexer = Lexer::new(&source[..part.end], dialect);
        lexer.at = part.start;
        lexer.last.start = part.start;
        lexer.last.end = part.start;
        lexer
    }

    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.source.get(at).copied().unwrap_or(0)
    }

    pub fn text(&self, token: Token) -> &'a [u8] {
        &self.source[token.start..token.end]
    }

    /// The byte of a bracket or of punctuation; 0 for all other tokens.
    pub fn mark(&self, token: Token) -> u8 {
        match token.kind {
            Kind::Open | Kind::Close | Kind::Punct => self.byte(token.start),
            _ => 0,
        }
    }

    pub fn is_word(&self, token: Token, word: &str) -> bool {
        token.kind == Kind::Word && self.text(token) == word.as_bytes()
    }

    pub fn is_one_of(&self, token: Token, words: &[&str]) -> bool {
        token.kind == Kind::Word && words.iter().any(|word| self.text(token) == word.as_bytes())
    }

    /// Reads a token without moving on.
    pub fn peek(&mut self) -> Option<Token> {
        let (at, last, closed) = (self.at, self.last, self.closed);
        let (n_conditionals, n_uneven) = (self.conditionals.len(), self.n_uneven);
        let token = self.next()?;
        if self.n_uneven != n_uneven {
            return None;
        }
        match token.kind {
            Kind::Open => {
                self.open.pop();
            }
            Kind::Close => {
                // Only the bracket byte is needed to put the bracket back; the head is not asked
                // for again before the token is read for good.
                let head = self.closed;
                self.open.push((self.byte(token.start), head));
            }
            _ => {}
        }
        // Every conditional that passes has the depth of now, so its place can be put back.
        match self.conditionals.len().cmp(&n_conditionals) {
            Ordering::Equal => {}
            _ if token.kind != Kind::Directive => return None,
            Ordering::Less => self.conditionals.push(self.open.clone()),
            Ordering::Greater => {
                self.conditionals.pop();
            }
        }
        (self.at, self.last, self.closed) = (at, last, closed);
        Some(token)
    }

    /// The mark of the next token, without moving on.
    pub fn peek_mark(&mut self) -> Option<u8> {
        let token = self.peek()?;
        Some(self.mark(token))
    }

    /// Reads the next token.
    pub fn next(&mut self) -> Option<Token> {
        let mut line_break = false;
        let mut lead = None;
        loop {
            let byte = self.byte(self.at);
            if byte <= b' ' {
                if self.at >= self.source.len() {
                    return Some(self.token(Kind::End, self.at, lead, line_break));
                }
                line_break |= byte == b'\n' || byte == b'\r';
                self.at += 1;
            } else if byte == b'/' && matches!(self.byte(self.at + 1), b'/' | b'*') {
                let start = self.at;
                lead.get_or_insert(start);
                line_break |= self.comment()?;
                // What was peeked at is read again.
                if self.comments.last().is_none_or(|last| last.end <= start) {
                    self.comments.push(start..self.at);
                }
            } else if byte == b'#' && self.dialect == Dialect::C && self.begins_line() {
                let start = self.at;
                self.directive()?;
                if self.open.is_empty() {
                    return Some(self.token(Kind::Directive, start, lead, line_break));
                }
            } else if byte == b'\\' && self.dialect == Dialect::C {
                self.at += 1;
            } else {
                break;
            }
        }
        let start = self.at;
        let kind = match CLASS[self.source[start] as usize] {
            Class::Word => {
                self.at = self.word_end(start);
                match self.prefixed_literal(start)? {
                    true => Kind::Literal,
                    false => Kind::Word,
                }
            }
            Class::Open => {
                self.push(start)?;
                Kind::Open
            }
            Class::Close => {
                let (close, head) = self.open.pop()?;
                if close != self.source[start] {
                    return None;
                }
                self.closed = head;
                self.at += 1;
                Kind::Close
            }
            Class::Quote => self.quoted()?,
            Class::Punct => self.punctuation()?,
        };
        if kind == Kind::Literal && self.at - start >= LONG_LITERAL {
            self.note_literal(start);
        }
        Some(self.token(kind, start, lead, line_break))
    }

    fn note_literal(&mut self, start: usize) {
        let holds_no_code = match self.dialect {
            Dialect::C | Dialect::Go | Dialect::Java | Dialect::Rust => true,
            Dialect::Dart => memchr::memchr(b'$', &self.source[start..self.at]).is_none(),
            // Regular expressions, templates and elements are literals to the lexer, too.
            _ => matches!(self.source[start], b'"' | b'\''),
        };
        // What was peeked at is read again.
        let is_new = self.literals.last().is_none_or(|last| last.end <= start);
        if holds_no_code && is_new && self.nested == 0 {
            self.literals.push(start..self.at);
        }
    }

    fn token(&mut self, kind: Kind, start: usize, lead: Option<usize>, line_break: bool) -> Token {
        let token = Token {
            kind,
            start,
            end: self.at,
            lead: lead.unwrap_or(start),
            line_break,
        };
        self.last = token;
        token
    }

    fn push(&mut self, start: usize) -> Option<()> {
        if self.open.len() + self.nested >= DEEPEST {
            return None;
        }
        let (close, head) = match self.source[start] {
            b'(' => (b')', self.head()),
            b'[' => (b']', Head::Other),
            _ => (b'}', Head::Other),
        };
        self.open.push((close, head));
        self.at += 1;
        Some(())
    }

    fn head(&self) -> Head {
        if self.is_word(self.last, "switch") {
            Head::Switch
        } else if self.is_one_of(self.last, &["if", "for", "while", "with", "await"]) {
            Head::Control
        } else {
            Head::Other
        }
    }

    pub fn word_end(&self, start: usize) -> usize {
        let rest = &self.source[start..];
        let len = rest
            .iter()
            .position(|&byte| CLASS[byte as usize] != Class::Word);
        start + len.unwrap_or(rest.len())
    }

    /// Steps over a comment and tells whether a line ends in it.
    pub fn comment(&mut self) -> Option<bool> {
        let rest = &self.source[self.at..];
        if rest[1] == b'/' {
            let mut end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            // C joins lines before it looks for comments.
            while self.dialect == Dialect::C && rest[..end].trim_ascii_end().ends_with(b"\\") {
                let more = memchr::memchr(b'\n', rest.get(end + 1..)?)?;
                end += 1 + more;
            }
            // Grammars differ in whether these end a line.
            let line = &rest[..end];
            let carriage_return = memchr::memchr(b'\r', line).is_some_and(|at| at + 1 < end);
            let separator = memchr::memchr_iter(0xe2, line).any(|at| {
                line[at..].starts_with(b"\xe2\x80\xa8") || line[at..].starts_with(b"\xe2\x80\xa9")
            });
            if carriage_return || separator {
                return None;
            }
            self.at += end;
            return Some(true);
        }
        let start = self.at;
        let mut depth = 1;
        self.at += 2;
        loop {
            let found = memchr::memchr2(b'*', b'/', &self.source[self.at..])?;
            self.at += found;
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                (b'/', b'*') => match self.dialect {
                    Dialect::Rust => {
                        depth += 1;
                        self.at += 2;
                    }
                    // The language nests comments but its grammar may not.
                    Dialect::Dart => return None,
                    _ => self.at += 1,
                },
                _ => self.at += 1,
            }
        }
        Some(memchr::memchr(b'\n', &self.source[start..self.at]).is_some())
    }

    fn begins_line(&self) -> bool {
        let before = &self.source[..self.at];
        let line = memchr::memrchr(b'\n', before).map_or(before, |at| &before[at + 1..]);
        line.iter().all(|byte| byte.is_ascii_whitespace())
    }

    /// Steps over a line of the preprocessor.
    fn directive(&mut self) -> Option<()> {
        let start = self.at;
        self.n_directives += 1;
        self.at += 1;
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => break,
                b'\\' => {
                    self.at += 1;
                    if self.byte(self.at) == b'\r' {
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'/' if matches!(self.byte(self.at + 1), b'/' | b'*') => {
                    self.comment()?;
                }
                b'"' => {
                    // A lone quote is legal in the text of `#error`.
                    let line = &self.source[self.at + 1..];
                    let line_end = memchr::memchr(b'\n', line).unwrap_or(line.len());
                    let close = memchr::memchr(b'"', &line[..line_end]);
                    self.at += close.map_or(1, |len| len + 2);
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.source.len());
        let name = self.source[start + 1..self.at].trim_ascii_start();
        if name.starts_with(b"if") {
            self.conditionals.push(self.open.clone());
        } else if name.starts_with(b"el") || name.starts_with(b"endif") {
            let before = self.conditionals.pop()?;
            if before.len() != self.open.len() {
                self.n_uneven += 1;
            }
            // Each branch goes on from the same place; what follows goes on from the last.
            if name.starts_with(b"el") {
                self.open.clone_from(&before);
                self.conditionals.push(before);
            }
        }
        Some(())
    }

    /// Steps over the rest of a bracketed group whose opening bracket was the last token.
    ///
    /// Blocks inside it become units, and so do their statements, and the group itself if it is a block.
    pub fn group(&mut self, before: Token, units: &mut Units) -> Option<Token> {
        let (base, n_uneven) = (self.depth(), self.n_uneven);
        let (n_units, group_start) = (units.list.len(), self.last.start);
        let mut blocks: Vec<(usize, usize, Statements)> = Vec::new();
        // The block that was closed just now.
        let mut closed: Option<usize> = None;
        let mut before = before;
        let mut token = self.last;
        loop {
            // A bracket stands in the block around it.
            let depth = match token.kind {
                Kind::Open => self.depth() - 1,
                _ => self.depth(),
            };
            if let Some((opened, _, statements)) = blocks.last_mut()
                && *opened == depth
            {
                statements.see(self, before, token);
            }
            // Empty braces before one of these are a literal to the grammar of Dart.
            if let Some(idx) = closed.take()
                && self.dialect == Dialect::Dart
                && matches!(self.mark(token), b'(' | b'[' | b'.' | b'<')
            {
                let start = units.list[idx].range.start;
                units.list.truncate(idx);
                units.cuts.retain(|(cut, _)| cut.start < start);
            }
            match token.kind {
                Kind::End => return None,
                Kind::Open if self.opens_block(before, token) => {
                    let idx = units.open(token.end, UnitKind::Block);
                    blocks.push((self.depth(), idx, Statements::new(self)));
                }
                Kind::Close => {
                    let depth = self.depth() + 1;
                    if let Some((_, idx, statements)) =
                        blocks.pop_if(|(opened, _, _)| *opened == depth)
                    {
                        units.close(idx, token.start);
                        let is_last = idx + 1 == units.list.len();
                        if is_last && units.list[idx].range.len() < SMALLEST_BLOCK {
                            units.list.pop();
                        } else {
                            let cuts = statements.cuts(self, before).into_iter();
                            units.cuts.extend(cuts.map(|cut| (cut, UnitKind::Block)));
                            closed = Some(idx);
                        }
                        if let Some((opened, _, statements)) = blocks.last_mut()
                            && *opened == depth - 1
                        {
                            statements.see_block_closed();
                        }
                    }
                    if depth == base {
                        // The blocks around branches that open and close differently are not told apart.
                        if self.n_uneven != n_uneven {
                            units.list.truncate(n_units);
                            units.cuts.retain(|(cut, _)| cut.start < group_start);
                        }
                        return Some(token);
                    }
                }
                _ => {}
            }
            before = token;
            token = self.next()?;
        }
    }

    /// Steps over a group of which no block is worth a unit.
    pub fn plain_group(&mut self) -> Option<Token> {
        let base = self.depth();
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::End => return None,
                Kind::Close if self.depth() + 1 == base => return Some(token),
                _ => {}
            }
        }
    }

    fn opens_block(&self, before: Token, token: Token) -> bool {
        if self.byte(token.start) != b'{' {
            return false;
        }
        // Elsewhere the grammar takes an empty pair for the same node, whatever stood in it. In Dart
        // the braces of parameters, enums and switches may not be empty.
        if self.dialect != Dialect::Dart {
            return true;
        }
        let sync = self.is_one_of(before, &["async", "sync"]);
        let star = self.mark(before) == b'*' && self.source[..before.start].ends_with(b"sync");
        sync || star
            || (self.mark(before) == b')' && self.closed != Head::Switch)
            || self.is_one_of(before, &["else", "try", "finally", "do"])
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Word,
    Open,
    Close,
    Quote,
    Punct,
}

/// Bytes of longer UTF-8 sequences count as parts of words.
pub(super) const CLASS: [Class; 256] = {
    let mut table = [Class::Punct; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80.. => Class::Word,
            b'(' | b'[' | b'{' => Class::Open,
            b')' | b']' | b'}' => Class::Close,
            b'"' | b'\'' | b'`' => Class::Quote,
            _ => Class::Punct,
        };
        byte += 1;
    }
    table
};
