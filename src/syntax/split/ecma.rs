//! Cuts TypeScript and JavaScript into top-level statements, and class bodies into members.
//!
//! A line break ends a statement only where the next token could not go on with it, so a boundary
//! stands only before a token that begins a statement whatever stands before. Everything less
//! certain joins two statements into one unit, which costs speed and nothing else.

use super::lexer::{Dialect, Kind, Lexer, Token};
use super::{UnitKind, Units};

pub(super) fn split_typescript(source: &[u8]) -> Option<Units> {
    split(source, Dialect::TypeScript)
}

pub(super) fn split_tsx(source: &[u8]) -> Option<Units> {
    split(source, Dialect::Jsx)
}

pub(super) fn split_javascript(source: &[u8]) -> Option<Units> {
    split(source, Dialect::Jsx)
}

/// Deeper classes and namespaces are single units.
const DEEPEST_CLASS: usize = 40;

/// Words after which an item ends with its body.
const BODIED: &[&str] = &[
    "class",
    "enum",
    "for",
    "function",
    "if",
    "interface",
    "module",
    "namespace",
    "switch",
    "try",
    "while",
];

const MODIFIERS: &[&str] = &["abstract", "async", "declare", "default", "export"];

/// Words that go on with what stands before them.
const CONTINUING: &[&str] = &[
    "as",
    "catch",
    "else",
    "extends",
    "finally",
    "from",
    "implements",
    "in",
    "instanceof",
    "is",
    "of",
    "satisfies",
    "while",
];

/// Words after which more must come.
const UNFINISHED: &[&str] = &[
    "abstract",
    "accessor",
    "as",
    "asserts",
    "async",
    "await",
    "class",
    "const",
    "declare",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "from",
    "function",
    "get",
    "implements",
    "import",
    "in",
    "infer",
    "instanceof",
    "interface",
    "is",
    "keyof",
    "let",
    "module",
    "namespace",
    "new",
    "of",
    "out",
    "override",
    "private",
    "protected",
    "public",
    "readonly",
    "return",
    "satisfies",
    "set",
    "static",
    "throw",
    "type",
    "typeof",
    "unique",
    "using",
    "var",
    "void",
    "yield",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Source,
    Namespace,
    Class,
}

fn split(source: &[u8], dialect: Dialect) -> Option<Units> {
    let mut lexer = Lexer::new(source, dialect);
    let mut units = Units::default();
    statements(&mut lexer, &mut units, Place::Source, 0)?;
    units.comments = lexer.comments;
    units.literals = lexer.literals;
    Some(units)
}

/// Reads statements or members up to the end of the source or the brace that closes their body.
fn statements(lexer: &mut Lexer<'_>, units: &mut Units, place: Place, level: usize) -> Option<()> {
    loop {
        let first = lexer.next()?;
        match first.kind {
            Kind::End if place == Place::Source => return Some(()),
            Kind::Close if place != Place::Source => return Some(()),
            Kind::End | Kind::Close => return None,
            _ => {}
        }
        let idx = units.open(first.lead, UnitKind::Item);
        let end = statement(lexer, units, place, idx, first, level)?;
        units.close(idx, end);
    }
}

fn statement(
    lexer: &mut Lexer<'_>,
    units: &mut Units,
    place: Place,
    idx: usize,
    first: Token,
    level: usize,
) -> Option<usize> {
    let mut token = decorators(lexer, first)?;
    if place != Place::Class {
        while lexer.is_one_of(token, MODIFIERS) && lexer.peek()?.kind == Kind::Word {
            token = lexer.next()?;
        }
        // A decorator may stand after `export` as well.
        token = decorators(lexer, token)?;
        while lexer.is_one_of(token, MODIFIERS) && lexer.peek()?.kind == Kind::Word {
            token = lexer.next()?;
        }
    }
    let bodied = place != Place::Class && lexer.is_one_of(token, BODIED);
    let body = match level < DEEPEST_CLASS && bodied {
        true if lexer.is_word(token, "class") => Some(Place::Class),
        true if lexer.is_one_of(token, &["namespace", "module"]) => Some(Place::Namespace),
        _ => None,
    };
    let mut unit = Statement {
        place,
        bodied,
        control: false,
        body,
        angles: 0,
    };
    let mut before = token;
    loop {
        unit.see(lexer, token);
        match (token.kind, lexer.mark(token)) {
            (Kind::End | Kind::Close, _) => return None,
            (Kind::Open, b'{') if unit.angles == 0 && unit.body.is_some() => {
                let place = unit.body.take()?;
                units.make_container(idx, token.end);
                statements(lexer, units, place, level + 1)?;
            }
            (Kind::Open, _) => {
                lexer.group(before, units)?;
            }
            _ => {}
        }
        before = lexer.last;
        let next = lexer.peek()?;
        if unit.ends_between(lexer, before, next) {
            return Some(before.end);
        }
        if units.list[idx].kind == UnitKind::Container && unit.body.is_none() {
            // What follows may go on with this statement, so it cannot be cut open.
            units.make_leaf(idx);
        }
        token = lexer.next()?;
    }
}

/// Steps over decorators, which no line break parts from what they decorate.
fn decorators(lexer: &mut Lexer<'_>, first: Token) -> Option<Token> {
    let mut token = first;
    while lexer.mark(token) == b'@' {
        token = lexer.next()?;
        if lexer.mark(token) == b'(' {
            lexer.plain_group()?;
            token = lexer.next()?;
            continue;
        }
        if token.kind != Kind::Word {
            return None;
        }
        loop {
            token = lexer.next()?;
            match lexer.mark(token) {
                b'.' => {
                    lexer.next()?;
                }
                b'(' => {
                    lexer.plain_group()?;
                }
                b'<' | b'[' => return None,
                _ => break,
            }
        }
    }
    Some(token)
}

struct Statement {
    place: Place,
    /// A closing brace ends the statement even if no line ends there.
    bodied: bool,
    /// The head of a loop or condition may be all that stands before a line break.
    control: bool,
    /// What the body that is still to come holds, if that shall be cut too.
    body: Option<Place>,
    /// Type arguments that are open in the header of a class.
    angles: usize,
}

impl Statement {
    fn see(&mut self, lexer: &Lexer<'_>, token: Token) {
        if self.place != Place::Class {
            self.control |= lexer.is_one_of(token, &["if", "for", "while", "with", "else", "do"]);
        }
        if self.body.is_some() {
            match lexer.mark(token) {
                b'<' => self.angles += 1,
                b'>' if lexer.byte(token.start.wrapping_sub(1)) != b'=' => {
                    self.angles = self.angles.saturating_sub(1);
                }
                _ => {}
            }
        }
    }

    fn ends_between(&self, lexer: &Lexer<'_>, before: Token, next: Token) -> bool {
        if matches!(next.kind, Kind::End | Kind::Close) {
            return true;
        }
        if !self.may_begin(lexer, next) {
            return false;
        }
        // The grammar ends a statement without a semicolon behind the comment on its line or
        // before it, depending on the comments of the lines after that.
        let between = &lexer.source[before.end..next.lead];
        let comment_on_line = next.lead < next.start && memchr::memchr(b'\n', between).is_none();
        if comment_on_line && lexer.mark(before) != b';' {
            return false;
        }
        match before.kind {
            Kind::Close if lexer.mark(before) == b'}' => self.bodied || next.line_break,
            Kind::Close | Kind::Literal => next.line_break && !self.control,
            Kind::Word => next.line_break && !self.control && !lexer.is_one_of(before, UNFINISHED),
            Kind::Punct => lexer.mark(before) == b';',
            _ => false,
        }
    }

    fn may_begin(&self, lexer: &Lexer<'_>, next: Token) -> bool {
        match next.kind {
            Kind::Word => !lexer.is_one_of(next, CONTINUING),
            Kind::Literal => matches!(lexer.byte(next.start), b'"' | b'\''),
            Kind::Punct => match lexer.mark(next) {
                b'@' => true,
                b'#' => self.place == Place::Class,
                _ => false,
            },
            _ => false,
        }
    }
}
