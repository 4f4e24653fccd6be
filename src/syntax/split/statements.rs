//! Finds the statements in a block that a parse may leave out one by one.
//!
//! A statement ends with a semicolon (in Go with a line), so between two of them nothing is cut that
//! belongs together, except for a clause that goes on with the statement before it. It knows only the
//! tokens that stand directly in the block.

use std::ops::Range;

use super::lexer::{Dialect, Kind, Lexer, Token};

/// Statements are left out together up to this many bytes: each gap costs the parse something too.
const SMALLEST_CUT: usize = 48;

/// The statements of one block that is being read.
#[derive(Debug)]
pub(super) struct Statements {
    cuts: Vec<Range<usize>>,
    /// Where the statement that is being read begins; `None` before its first token.
    start: Option<usize>,
    /// Whether it may not be left out.
    stuck: bool,
    /// The cut that ends where this statement begins, if any.
    follows_cut: bool,
    /// Whether the label of a case is being read, which stays, or its statements would belong to another.
    in_label: bool,
    n_directives: usize,
}

impl Statements {
    pub fn new(lexer: &Lexer<'_>) -> Statements {
        Statements {
            cuts: Vec::new(),
            start: None,
            stuck: false,
            follows_cut: false,
            in_label: false,
            n_directives: lexer.n_directives,
        }
    }

    /// Takes note of a token that stands directly in the block, brackets included.
    pub fn see(&mut self, lexer: &Lexer<'_>, before: Token, token: Token) {
        if lexer.dialect == Dialect::Go && self.start.is_some() && ends_line(lexer, before, token) {
            self.end(lexer, before.end);
        }
        let begins = self.start.is_none();
        let start = *self.start.get_or_insert(token.lead);
        // The conditionals of C may hold a part of a statement, or stand between two.
        if begins && lexer.n_directives != self.n_directives {
            self.n_directives = lexer.n_directives;
            self.follows_cut = false;
            self.stuck |= start < token.start;
        }
        if token.kind == Kind::Word {
            let text = lexer.text(token);
            if matches!(text, b"case" | b"default") {
                self.stuck = true;
                self.in_label = begins;
            }
            // These go on with the statement before.
            if begins && matches!(text, b"else" | b"while" | b"catch" | b"finally") {
                match self.cuts.pop() {
                    Some(cut) if self.follows_cut => {
                        self.start = Some(cut.start);
                        self.follows_cut = false;
                    }
                    Some(cut) => {
                        self.cuts.push(cut);
                        self.stuck = true;
                    }
                    None => self.stuck = true,
                }
            }
        }
        match lexer.mark(token) {
            // A colon of a condition does not end the label.
            b'?' => self.in_label = false,
            b':' if self.in_label && lexer.byte(token.end) != b'=' => {
                self.in_label = false;
                self.end(lexer, token.end);
            }
            _ => {}
        }
        // In Go it may also part the header of a loop or condition.
        let ends = lexer.mark(token) == b';' && lexer.dialect != Dialect::Go;
        if ends {
            self.end(lexer, token.end);
        }
    }

    fn end(&mut self, lexer: &Lexer<'_>, end: usize) {
        let Some(start) = self.start.take() else {
            return;
        };
        let clean = !self.stuck && lexer.n_directives == self.n_directives;
        match self.cuts.last_mut() {
            Some(last) if clean && self.follows_cut && last.len() < SMALLEST_CUT => last.end = end,
            _ if clean => self.cuts.push(start..end),
            _ => {}
        }
        self.follows_cut = clean;
        self.stuck = false;
        self.n_directives = lexer.n_directives;
    }

    /// The statements that may be left out, in order, once the block is closed.
    pub fn cuts(self) -> Vec<Range<usize>> {
        self.cuts
    }
}

/// Whether Go puts a semicolon between two tokens.
fn ends_line(lexer: &Lexer<'_>, before: Token, token: Token) -> bool {
    let unfinished = [
        "chan",
        "map",
        "struct",
        "interface",
        "func",
        "var",
        "const",
        "type",
        "go",
        "defer",
    ];
    token.line_break
        && match before.kind {
            Kind::Word => !lexer.is_one_of(before, &unfinished),
            Kind::Literal | Kind::Close => true,
            _ => false,
        }
}
