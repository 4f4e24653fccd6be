//! Finds the statements in a block that a parse may leave out one by one.
//!
//! A statement ends with a semicolon (in Go with a line) or with its body, so between two of them nothing is
//! cut that belongs together, except for a clause that goes on with the statement before it. It knows only
//! the tokens that stand directly in the block.

use std::ops::Range;

use super::lexer::{Dialect, Kind, Lexer, Token};

/// Statements are left out together up to this many bytes: each gap costs the parse something too.
const SMALLEST_CUT: usize = 12;

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
    /// How far the statement is, where it has a body.
    head: Head,
    /// How many `do` wait for their `while`, also in the statement before.
    in_do: usize,
    n_directives: usize,
}

/// What was read of a statement whose body ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    /// It is another one, which a semicolon ends.
    Other,
    /// The word before a header in parentheses or a body.
    Word,
    Parentheses,
    /// All that stands before a body, which may be a statement.
    Header,
    Body,
    /// A body that is closed, behind which a clause may follow.
    Closed,
}

impl Statements {
    pub fn new(lexer: &Lexer<'_>) -> Statements {
        Statements {
            cuts: Vec::new(),
            start: None,
            stuck: false,
            follows_cut: false,
            in_label: false,
            head: Head::Other,
            in_do: 0,
            n_directives: lexer.n_directives,
        }
    }

    /// Takes note of a token that stands directly in the block, brackets included but for the brace that
    /// closes a block.
    pub fn see(&mut self, lexer: &Lexer<'_>, before: Token, token: Token) {
        if lexer.dialect == Dialect::Go && self.start.is_some() && ends_line(lexer, before, token) {
            self.end(lexer, before.end);
        }
        if self.head == Head::Closed && !self.goes_on(lexer, token) {
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
            let goes_on = match text {
                b"else" | b"catch" | b"finally" => true,
                b"while" => self.in_do > 0,
                _ => false,
            };
            if begins && goes_on {
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
        self.head = match lexer.dialect {
            Dialect::Go | Dialect::Rust => Head::Other,
            _ => self.next_head(lexer, token, begins),
        };
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

    /// Whether a clause follows the closed body.
    fn goes_on(&self, lexer: &Lexer<'_>, token: Token) -> bool {
        // Dart's `on` begins a clause, or a statement that then is not left out.
        lexer.is_one_of(token, &["else", "catch", "finally", "on"])
            || self.in_do > 0 && lexer.is_word(token, "while")
    }

    fn next_head(&mut self, lexer: &Lexer<'_>, token: Token, begins: bool) -> Head {
        let may_begin = begins || matches!(self.head, Head::Header | Head::Closed);
        if token.kind == Kind::Word {
            let text = lexer.text(token);
            if text == b"while" && self.in_do > 0 && self.head != Head::Header {
                self.in_do -= 1;
                return Head::Other;
            }
            if !may_begin {
                // In a script a line may have ended the statement before it.
                if text == b"do" {
                    self.in_do += 1;
                    self.stuck = true;
                }
                return Head::Other;
            }
            return match text {
                b"if" | b"for" | b"while" | b"switch" | b"try" | b"catch" => Head::Word,
                b"else" | b"finally" => Head::Header,
                b"do" => {
                    self.in_do += 1;
                    Head::Header
                }
                _ => Head::Other,
            };
        }
        match (self.head, lexer.mark(token)) {
            (Head::Word, b'(') => Head::Parentheses,
            (Head::Parentheses, b')') => Head::Header,
            (Head::Word | Head::Header, b'{') => Head::Body,
            _ => Head::Other,
        }
    }

    /// Takes note that a block inside of this one is closed.
    pub fn see_block_closed(&mut self) {
        if self.head == Head::Body {
            self.head = Head::Closed;
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
        self.head = Head::Other;
        self.n_directives = lexer.n_directives;
    }

    /// The statements that may be left out, in order, once the block is closed; `last` is the token before.
    pub fn cuts(mut self, lexer: &Lexer<'_>, last: Token) -> Vec<Range<usize>> {
        if self.head == Head::Closed {
            self.end(lexer, last.end);
        }
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
