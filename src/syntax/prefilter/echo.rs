//! Whether one metavariable can stand on both sides of some fixed tokens, as in `$X = $X`.
//!
//! Its two captures have the same tokens, so that what stands before the fixed tokens must end with what stands
//! after them begins with, blanks aside. That is asked of the bytes around each place, up to where an
//! expression ends at the latest. What is hard to read without a grammar, such as a string with brackets in it,
//! leaves the question open, and an open question is a yes.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::is_word;

/// One metavariable on both sides of some tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Whether the first capture begins its expression: `$X = $X`, and not `a.$X = $X`.
    pub begins: bool,
    /// Whether the second one ends it: not `$X != null) $X.dispose()`.
    pub ends: bool,
}

/// How a language shows in its bytes where an expression ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Not known well enough.
    Unknown,
    /// A semicolon ends it, or the bracket around it.
    Bracket,
    /// A line ends it as well, where no operator stands beside the line end.
    Operand,
    /// The same, and comments begin with a hash.
    OperandOrHash,
    /// The same as before, and a slash may begin a regular expression.
    OperandOrRegex,
    /// The same, and elements may stand in the code, too.
    OperandOrMarkup,
}

impl Ends {
    /// Gives what is known of a language id.
    pub fn of(language: &str) -> Ends {
        match language {
            "python" => Ends::OperandOrHash,
            // Strings and the names of strings stand side by side in one expression.
            "c" => Ends::Bracket,
            "dart" | "go" | "java" | "rust" => Ends::Operand,
            "typescript" => Ends::OperandOrRegex,
            "javascript" | "jsx" | "tsx" => Ends::OperandOrMarkup,
            _ => Ends::Unknown,
        }
    }

    fn line_comment(self) -> &'static [u8] {
        match self {
            Ends::OperandOrHash => b"#",
            _ => b"//",
        }
    }
}

/// Tells whether a token can only follow an expression: then no statement stands before it.
pub(super) fn is_operator(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| b"=!<>+-*%&|^~?".contains(&byte))
}

/// So many bytes on each side are looked at.
const LONGEST: usize = 256;

/// The end of a comment is looked for in so many bytes.
const LONGEST_COMMENT: usize = 4096;

/// Whether what stands before `before` can end with what stands after `after` begins with.
pub(super) fn can_repeat(hay: &[u8], before: usize, after: usize, ends: Ends, echo: Echo) -> bool {
    if ends == Ends::Unknown {
        return true;
    }
    if ends != Ends::OperandOrMarkup && is_commented(&hay[..before], ends) {
        return false;
    }
    let left = left_of(hay, before, ends);
    let right = right_of(hay, after, ends);
    let longest = match (left.is_whole, right.is_whole) {
        (true, true) => left.n.min(right.n),
        (true, false) => left.n,
        (false, true) => right.n,
        (false, false) => return true,
    };
    let is_border = |length: usize| {
        let is_cut = left.is_cut(length) && right.is_cut(length);
        let goes_on = (echo.ends && right.goes_on(length)) || (echo.begins && left.is_tail(length));
        let is_same = |at: usize| {
            let from_end = length - 1 - at;
            let is_open = from_end >= left.n || at >= right.n;
            is_open || left.bytes[from_end] == right.bytes[at]
        };
        is_cut && !goes_on && (0..length).all(is_same)
    };
    (1..=longest).any(is_border)
}

/// The bytes of one side without blanks, from the fixed tokens outwards.
struct Side {
    bytes: [u8; LONGEST],
    /// What stands between each byte and the one before.
    gaps: [Gap; LONGEST],
    n: usize,
    gap: Gap,
    /// Whether what may be captured ends with them; it may go on otherwise.
    is_whole: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Blank,
    Line,
}

impl Side {
    fn new() -> Side {
        Side {
            bytes: [0; LONGEST],
            gaps: [Gap::Nothing; LONGEST],
            n: 0,
            gap: Gap::Nothing,
            is_whole: false,
        }
    }

    fn whole(mut self) -> Side {
        self.is_whole = true;
        self
    }

    /// Takes a byte; false where there is no room.
    fn push(&mut self, byte: u8) -> bool {
        if self.n == LONGEST {
            return false;
        }
        match byte {
            b'\n' => self.gap = Gap::Line,
            ..=b' ' => self.gap = self.gap.max(Gap::Blank),
            byte => {
                self.bytes[self.n] = byte;
                self.gaps[self.n] = std::mem::replace(&mut self.gap, Gap::Nothing);
                self.n += 1;
            }
        }
        true
    }

    /// Whether no word goes on from the byte before a place to the one at it; of what was not read it may be so.
    fn is_cut(&self, at: usize) -> bool {
        let is_joined = |at: usize| is_word(self.bytes[at - 1]) && is_word(self.bytes[at]);
        at >= self.n || self.gaps[at] != Gap::Nothing || !is_joined(at)
    }

    /// Whether what stands at a place belongs to what stands before it, sooner than any operator does.
    fn goes_on(&self, at: usize) -> bool {
        // After a line end it may begin another statement.
        if at >= self.n || self.gaps[at] == Gap::Line {
            return false;
        }
        match self.bytes[at] {
            b'[' | b'(' => true,
            b'.' => self.is_field(at),
            _ => false,
        }
    }

    /// Whether what stands before a place is what the expression begins with.
    fn is_tail(&self, at: usize) -> bool {
        at < self.n && self.bytes[at] == b'.' && self.is_field(at)
    }

    /// Two dots are a range.
    fn is_field(&self, at: usize) -> bool {
        at + 1 < self.n && self.bytes[at + 1] != b'.'
    }
}

/// Bytes that begin what cannot be read without a grammar.
fn is_hard(byte: u8, ends: Ends) -> bool {
    match byte {
        b'\\' | b'`' | b'@' | b'#' => true,
        b'/' => matches!(ends, Ends::OperandOrRegex | Ends::OperandOrMarkup),
        b'<' => ends == Ends::OperandOrMarkup,
        byte => !byte.is_ascii(),
    }
}

fn right_of(hay: &[u8], from: usize, ends: Ends) -> Side {
    let mut side = Side::new();
    let mut depth = 0_usize;
    let mut at = from;
    // Behind the last byte of code.
    let mut code = from;
    while let Some(&byte) = hay.get(at) {
        match comment_length(&hay[at..], ends) {
            Some(0) => {}
            Some(length) => {
                side.push(b' ');
                at += length;
                continue;
            }
            None => return side,
        }
        match byte {
            b'\n' if depth == 0 && side.n > 0 && is_end(ends, &hay[..code], &hay[at..]) => {
                return side.whole();
            }
            b';' if depth == 0 => return side.whole(),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return side.whole(),
            b')' | b']' | b'}' => depth -= 1,
            b'"' | b'\'' => {
                let rest = &hay[at + 1..hay.len().min(at + LONGEST)];
                let length = rest.iter().position(|it| *it == byte || *it == b'\n');
                let last = at + 1 + length.unwrap_or_default();
                if length.is_none() || !is_plain(hay, at..last + 1) {
                    // However the literal goes on, it begins so.
                    let begin = rest.iter().take_while(|it| !is_read(it));
                    let _ = side.push(byte) && begin.copied().all(|it| side.push(it));
                    return side;
                }
                if !hay[at..last].iter().all(|it| side.push(*it)) {
                    return side;
                }
                at = last;
            }
            byte if is_hard(byte, ends) => return side,
            _ => {}
        }
        if !side.push(byte) {
            return side;
        }
        at += 1;
        if byte > b' ' {
            code = at;
        }
    }
    side.whole()
}

fn left_of(hay: &[u8], until: usize, ends: Ends) -> Side {
    let mut side = Side::new();
    let mut depth = 0_usize;
    let mut end = until;
    while let Some(at) = end.checked_sub(1) {
        let byte = hay[at];
        match byte {
            b'\n' => {
                let Some(code) = code_before(&hay[..at], ends) else {
                    return side;
                };
                if depth == 0 && side.n > 0 && is_end(ends, code, &hay[at..]) {
                    return side.whole();
                }
                side.push(b'\n');
                end = code.len();
                continue;
            }
            b';' if depth == 0 => return side.whole(),
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth == 0 => return side.whole(),
            b'(' | b'[' | b'{' => depth -= 1,
            b'/' if matches!(hay[..at].last(), Some(b'*' | b'/'))
                && ends != Ends::OperandOrHash =>
            {
                return side;
            }
            b'"' | b'\'' => {
                let first = at.saturating_sub(LONGEST);
                let mut before = hay[first..at].iter();
                let Some(start) = before.rposition(|it| *it == byte || *it == b'\n') else {
                    return side;
                };
                let start = first + start;
                let inner = &hay[start + 1..=at];
                if !is_plain(hay, start..at + 1) || !inner.iter().rev().all(|it| side.push(*it)) {
                    return side;
                }
                end = start + 1;
            }
            byte if is_hard(byte, ends) => return side,
            _ => {}
        }
        if !side.push(hay[end - 1]) {
            return side;
        }
        end -= 1;
    }
    side.whole()
}

/// Whether a literal is surely what it looks like: no prefix, no longer quote, nothing in it that would have to
/// be read.
fn is_plain(hay: &[u8], literal: Range<usize>) -> bool {
    let text = &hay[literal.clone()];
    let [quote, inner @ .., last] = text else {
        return false;
    };
    let before = hay[..literal.start].last();
    let touches = |byte: Option<&u8>| byte.is_some_and(|it| is_word(*it) || b"\"'#`$".contains(it));
    last == quote
        && !touches(before)
        && !touches(hay.get(literal.end))
        && !text[..1].contains(&b'\n')
        && !inner.iter().any(is_read)
}

/// Whether a byte in a literal would have to be read.
fn is_read(byte: &u8) -> bool {
    b"()[]{}\"'`\\\n".contains(byte) || !byte.is_ascii()
}

/// How long the comment is with which code goes on, 0 without one; the line end of a line's comment is no part
/// of it. `None` where its end is far.
fn comment_length(rest: &[u8], ends: Ends) -> Option<usize> {
    let near = &rest[..rest.len().min(LONGEST_COMMENT)];
    let to_the_end = (near.len() == rest.len()).then_some(rest.len());
    if near.starts_with(ends.line_comment()) {
        return memchr(b'\n', near).or(to_the_end);
    }
    if ends != Ends::OperandOrHash && near.starts_with(b"/*") {
        return memmem::find(&near[2..], b"*/")
            .map(|length| length + 4)
            .or(to_the_end);
    }
    Some(0)
}

/// What stands before a line end without comments and blanks; `None` where that cannot be told.
fn code_before(mut before: &[u8], ends: Ends) -> Option<&[u8]> {
    loop {
        before = before.trim_ascii_end();
        let window = &before[before.len().saturating_sub(LONGEST)..];
        let start = memrchr(b'\n', window);
        if before.ends_with(b"*/") || (start.is_none() && window.len() == LONGEST) {
            return None;
        }
        let line = &window[start.unwrap_or(0)..];
        let Some(comment) = memmem::find(line, ends.line_comment()) else {
            return Some(before);
        };
        // It may stand in a string.
        let is_quoted = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'/');
        if line[..comment].iter().any(is_quoted) {
            return None;
        }
        before = &before[..before.len() - line.len() + comment];
    }
}

/// Whether the line that goes on after `before` is one of comment; a long line is not looked at.
fn is_commented(before: &[u8], ends: Ends) -> bool {
    let window = &before[before.len().saturating_sub(LONGEST)..];
    let line = match memrchr(b'\n', window) {
        Some(line_end) => &window[line_end + 1..],
        None if window.len() == before.len() => window,
        None => return false,
    };
    line.trim_ascii_start().starts_with(ends.line_comment())
}

/// Whether a line end outside of brackets ends an expression, by the code on both sides of it.
fn is_end(ends: Ends, before: &[u8], mut after: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    if matches!(ends, Ends::Bracket | Ends::Unknown) {
        return false;
    }
    loop {
        after = after.trim_ascii_start();
        match comment_length(after, ends) {
            Some(0) => break,
            Some(length) => after = &after[length..],
            None => return false,
        }
    }
    let n_first = after.iter().take_while(|byte| is_word(**byte)).count();
    let n_last = before.iter().rev().take_while(|it| is_word(**it)).count();
    let (first, last) = (&after[..n_first], &before[before.len() - n_last..]);
    let is_in = |words: &str, word: &[u8]| words.split(' ').any(|it| it.as_bytes() == word);
    let is_closed = matches!(before.last(), Some(b')' | b']' | b'}'));
    let is_over = is_closed || (n_last > 0 && !is_in(BEFORE_OPERAND, last));
    is_over && n_first > 0 && !is_in(AFTER_OPERAND, first)
}

/// Words after which an operand may follow in the same expression.
const BEFORE_OPERAND: &str = "\
    abstract and as assert async await break case catch chan class const continue default defer \
    delete do dyn else enum extends extern final finally fn for func function get go goto if impl \
    implements in infer instanceof interface is keyof lambda late let loop map match move mut new \
    not of on or raw range readonly ref required rethrow return satisfies set sizeof static struct \
    super switch throw throws try type typeof union unique unsafe unsigned signed long short var \
    void volatile when where while with yield";

/// Words that may follow an operand in the same expression.
const AFTER_OPERAND: &str = "\
    and as async catch double else extends finally for if implements in int instanceof is long not \
    of on or satisfies short sync char throws when where while with";

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks about the `=` of a source, which `|` marks where there are more.
    fn ask_as(echo: Echo, language: &str, source: &str) -> bool {
        let (source, at) = match source.find('|') {
            Some(at) => (source.replace('|', ""), at),
            None => (source.to_owned(), source.find('=').expect("an operator")),
        };
        can_repeat(source.as_bytes(), at, at + 1, Ends::of(language), echo)
    }

    const WHOLE: Echo = Echo {
        begins: true,
        ends: true,
    };

    const PART: Echo = Echo {
        begins: false,
        ends: false,
    };

    fn ask(language: &str, source: &str) -> bool {
        ask_as(WHOLE, language, source)
    }

    // D8: both captures have the same tokens, however they are spaced.
    #[test]
    fn what_can_be_the_same_is_never_refused() {
        for source in [
            "x = x",
            "x=x;",
            "f(a, b).c = f(a,b) . c;",
            "let y = 1; a[i] |= a[i];",
            "{ x = x }",
            "(a\n.b = a.b)",
            "..x = x",
            "x = x .. y",
            "x = x as T;",
            "x = \"a\"; \"b\" |= \"b\"",
            "a\n  .b |= a\n  .b\nc()",
            // Comments are no part of it.
            "x = x // y\n",
            "x = x /* y */ ;",
            "a // b;\n  // d;\n\n  .c |= a.c",
            "x = a // b\n.c\n",
            // What cannot be read is not refused.
            "a /* b; */ .c |= a.c",
            "a \"// b;\n\" .c |= a \"// b;\n\" .c",
            "m(\")\") = m(\")\")",
            "m(r\"x\") = m(r\"x\")",
            "x.y = \\\n x.y",
            "é = é",
        ] {
            let is_right = source != "x = a // b\n.c\n";
            assert_eq!(ask("rust", source), is_right, "{source}");
        }
        let long = "a + ".repeat(100);
        let long = format!("{long}b = {long}b");
        assert!(ask("rust", &long), "it is too long to tell");
        assert!(
            ask("ruby", "x = y"),
            "of most languages too little is known"
        );
        for source in [
            "x = x",
            "a, b = a, b\n",
            "(a\n.b) = (a.b)",
            "f = f  # no\n",
            "f(a\n.b |= a\n.b)",
        ] {
            assert!(ask("python", source), "{source}");
        }
        assert!(ask("go", "a.b = a.\n b\n"));
        assert!(ask("go", "x = x\n(y)()\n"));
        assert!(ask("c", "\"s\" A\nB = \"s\" A\nB;"), "strings side by side");
        assert!(ask("c", "\"s\" a = \"s\" // f()\n a;"));
        assert!(ask("typescript", "x = /[)]/, y = /[)]/"));
        assert!(ask("tsx", "<a>it's)</a> = <a>it's)</a>"));
        assert!(ask("tsx", "<a>\n// {x |= x}"), "text between elements");
    }

    #[test]
    fn what_differs_is_refused() {
        for source in [
            "x = y",
            "x = y.x",
            "x.y = x",
            "schema = make;",
            "v.op = op1;",
            "let mut x = 1; y |= x; x = y;",
            "f(a) = g(a);",
            "f(\"a b\") = f(\"a c\");",
            "{ x = }",
            "= x",
            "x =",
            // A line ends the expression, whatever is remarked beside it.
            "x\ny |= x\ny",
            "f()\ny |= f()\n",
            "f(x) // x;\n\n// z\nconst y |= x // z\n/* y */\nconst y = 1",
            // In a comment nothing is found.
            "f();\n  // x |= x\n",
        ] {
            assert!(!ask("typescript", source), "{source}");
        }
        // One side is enough where the other cannot be read.
        assert!(!ask("rust", "; x = y \\"));
        assert!(!ask("rust", "/* y */ x |= y;"));
        let long = "a + ".repeat(100);
        assert!(!ask("rust", &format!("; x = {long}")));
        assert!(!ask("python", "x = y\n"));
        assert!(!ask("python", "y\nx |= y\nx"));
    }

    // What a call, a field or an index adds belongs to the capture, unless the pattern has it.
    #[test]
    fn what_binds_tighter_is_a_part_of_the_capture() {
        for source in ["x = x.y", "x = x(y)", "x = x[0]", "x = x [0]", "y.x = x"] {
            assert!(!ask("rust", source), "{source}");
            assert!(ask_as(PART, "rust", source), "{source}");
        }
        assert!(ask("rust", "x = x + y"));
    }

    // A line end between an operand and a word that goes on with it ends nothing.
    #[test]
    fn an_expression_goes_on_over_a_line_end() {
        for source in [
            "x\nas T |= x\nas T;",
            "x as\nT |= x as\nT;",
            "x +\ny |= x +\ny;",
            "x\n+ y |= x\n+ y;",
        ] {
            assert!(ask("rust", source), "{source}");
        }
    }
}
