//! Steps over string, character, template and pattern literals and over elements in the source.
//!
//! A literal that holds code again (interpolation, an expression inside an element) hands it back
//! to the lexer. A literal that does not end where its language wants it to makes the source unclear.

use super::lexer::{CLASS, Class, Dialect, Head, Kind, Lexer};

/// Literals inside code inside literals beyond this depth make the source unclear.
const MOST_NESTED: usize = 40;

/// Whether an expression can begin at a place, and so a pattern literal or an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Yes,
    No,
    Unsure,
}

impl Lexer<'_> {
    /// Steps over the literal that the word just read begins; tells whether there was one.
    pub fn prefixed_literal(&mut self, start: usize) -> Option<bool> {
        let next = self.byte(self.at);
        if !matches!(next, b'"' | b'\'' | b'#') {
            return Some(false);
        }
        match (self.dialect, &self.source[start..self.at], next) {
            (Dialect::Rust, b"r" | b"br" | b"cr", b'"' | b'#') => self.raw_rust(),
            (Dialect::Rust, b"b" | b"c", b'"') => {
                self.across_lines(b'"')?;
                Some(true)
            }
            (Dialect::Rust, b"b", b'\'') => {
                self.on_one_line(b'\'')?;
                Some(true)
            }
            (Dialect::Dart, b"r", b'"' | b'\'') => {
                let triple = [next; 3];
                if self.source[self.at..].starts_with(&triple) {
                    self.at += 3;
                    self.until(&triple)?;
                } else {
                    let line = &self.source[self.at + 1..];
                    let len = memchr::memchr2(next, b'\n', line)?;
                    self.at += len + 2;
                    if self.byte(self.at - 1) != next {
                        return None;
                    }
                }
                Some(true)
            }
            _ => Some(false),
        }
    }

    /// Steps over what a quote begins.
    pub fn quoted(&mut self) -> Option<Kind> {
        let quote = self.byte(self.at);
        match (self.dialect, quote) {
            (Dialect::Rust, b'"') => self.across_lines(quote)?,
            (Dialect::Rust, b'\'') => return self.char_or_lifetime(),
            (Dialect::Go, b'`') => {
                self.at += 1;
                self.until(b"`")?;
            }
            (Dialect::TypeScript | Dialect::Jsx, b'`') => {
                self.at += 1;
                self.interpolated(b"`", Newlines::Allowed)?;
            }
            (_, b'`') => return None,
            (Dialect::Dart, _) => {
                let triple = [quote; 3];
                if self.source[self.at..].starts_with(&triple) {
                    self.at += 3;
                    self.interpolated(&triple, Newlines::Allowed)?;
                } else {
                    self.at += 1;
                    self.interpolated(&[quote], Newlines::Refused)?;
                }
            }
            (Dialect::Java, b'"') if self.source[self.at..].starts_with(b"\"\"\"") => {
                self.at += 3;
                loop {
                    self.at += memchr::memchr2(b'"', b'\\', &self.source[self.at..])?;
                    if self.source[self.at..].starts_with(b"\"\"\"") {
                        self.at += 3;
                        break;
                    }
                    self.at += if self.byte(self.at) == b'\\' { 2 } else { 1 };
                    if self.at > self.source.len() {
                        return None;
                    }
                }
            }
            _ => self.on_one_line(quote)?,
        }
        Some(Kind::Literal)
    }

    /// Steps over one byte of punctuation, or over what it begins.
    pub fn punctuation(&mut self) -> Option<Kind> {
        let byte = self.byte(self.at);
        let ecma = matches!(self.dialect, Dialect::TypeScript | Dialect::Jsx);
        if ecma && byte == b'/' {
            match self.expression_may_start() {
                Start::Yes => return self.regex(),
                Start::No => {}
                // Without a second slash on the line it must be a division.
                Start::Unsure => {
                    let line = &self.source[self.at + 1..];
                    let found = memchr::memchr2(b'/', b'\n', line);
                    if found.is_some_and(|len| line[len] == b'/') {
                        return None;
                    }
                }
            }
        }
        if self.dialect == Dialect::Jsx && byte == b'<' {
            let next = self.byte(self.at + 1);
            let tag = next == b'>' || (CLASS[next as usize] == Class::Word);
            match self.expression_may_start() {
                Start::Yes if tag => return self.element(),
                Start::Unsure if tag => return None,
                _ => {}
            }
        }
        self.at += 1;
        Some(Kind::Punct)
    }

    fn until(&mut self, end: &[u8]) -> Option<()> {
        self.at += memchr::memmem::find(&self.source[self.at..], end)? + end.len();
        Some(())
    }

    /// Steps over a literal with escapes that may run over several lines.
    fn across_lines(&mut self, quote: u8) -> Option<()> {
        self.at += 1;
        loop {
            self.at += memchr::memchr2(quote, b'\\', self.source.get(self.at..)?)?;
            if self.byte(self.at) == quote {
                self.at += 1;
                return Some(());
            }
            self.at += 2;
        }
    }

    /// Steps over a literal with escapes that must end on its line.
    fn on_one_line(&mut self, quote: u8) -> Option<()> {
        self.at += 1;
        loop {
            self.at += memchr::memchr3(quote, b'\\', b'\n', self.source.get(self.at..)?)?;
            match self.byte(self.at) {
                b'\\' if self.source[self.at..].starts_with(b"\\\r\n") => self.at += 3,
                b'\\' => self.at += 2,
                b'\n' => return None,
                _ => {
                    self.at += 1;
                    return Some(());
                }
            }
        }
    }

    fn raw_rust(&mut self) -> Option<bool> {
        let hashes = self.source[self.at..]
            .iter()
            .take_while(|&&byte| byte == b'#')
            .count();
        let open = self.at + hashes;
        if self.byte(open) != b'"' {
            // A raw identifier such as `r#type`.
            if hashes == 1 && CLASS[self.byte(open) as usize] == Class::Word {
                self.at = self.word_end(open);
                return Some(false);
            }
            return None;
        }
        self.at = open + 1;
        loop {
            self.at += memchr::memchr(b'"', &self.source[self.at..])? + 1;
            let close = self.source.get(self.at..self.at + hashes)?;
            if close.iter().all(|&byte| byte == b'#') {
                self.at += hashes;
                return Some(true);
            }
        }
    }

    fn char_or_lifetime(&mut self) -> Option<Kind> {
        let rest = &self.source[self.at + 1..];
        let &first = rest.first()?;
        if first == b'\\' {
            self.on_one_line(b'\'')?;
            return Some(Kind::Literal);
        }
        let len = match first {
            0..0x80 => 1,
            0x80..0xe0 => 2,
            0xe0..0xf0 => 3,
            _ => 4,
        };
        if rest.get(len) == Some(&b'\'') {
            self.at += len + 2;
            return Some(Kind::Literal);
        }
        if CLASS[first as usize] != Class::Word {
            return None;
        }
        self.at = self.word_end(self.at + 1);
        Some(Kind::Punct)
    }

    /// Steps over text in which `${` begins code, after its opening quote.
    fn interpolated(&mut self, end: &[u8], newlines: Newlines) -> Option<()> {
        loop {
            let rest = self.source.get(self.at..)?;
            let len = match newlines {
                Newlines::Allowed => memchr::memchr3(end[0], b'\\', b'$', rest)?,
                Newlines::Refused => rest
                    .iter()
                    .position(|&byte| matches!(byte, b'\\' | b'$' | b'\n') || byte == end[0])?,
            };
            self.at += len;
            let rest = &rest[len..];
            if rest.starts_with(end) {
                self.at += end.len();
                return Some(());
            }
            match rest[0] {
                b'\\' => self.at += 2,
                b'\n' => return None,
                b'$' if rest.get(1) == Some(&b'{') => {
                    self.at += 1;
                    self.code()?;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Steps over code in braces, inside a literal.
    fn code(&mut self) -> Option<()> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return None;
        }
        self.next()?;
        self.plain_group()?;
        self.nested -= 1;
        Some(())
    }

    fn expression_may_start(&self) -> Start {
        let last = self.last;
        let text = self.text(last);
        match last.kind {
            Kind::End | Kind::Open | Kind::Directive => Start::Yes,
            Kind::Literal => Start::No,
            Kind::Word => {
                let is_property = last.start > 0 && self.byte(last.start - 1) == b'.';
                match !is_property && BEFORE_EXPRESSION.contains(&text) {
                    true => Start::Yes,
                    false => Start::No,
                }
            }
            Kind::Close => match self.mark(last) {
                b')' if self.closed == Head::Control => Start::Yes,
                b'}' => Start::Unsure,
                _ => Start::No,
            },
            Kind::Punct => {
                let before = self.byte(last.start.wrapping_sub(1));
                match self.mark(last) {
                    b'+' | b'-' if before == self.mark(last) => Start::Unsure,
                    // TypeScript's assertion that a value is there, or a negation.
                    b'!' if CLASS[before as usize] == Class::Word
                        || CLASS[before as usize] == Class::Close =>
                    {
                        Start::Unsure
                    }
                    b'>' if before != b'=' => Start::Unsure,
                    _ => Start::Yes,
                }
            }
        }
    }

    fn regex(&mut self) -> Option<Kind> {
        let mut in_class = false;
        self.at += 1;
        loop {
            match self.byte(self.at) {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => break,
                b'\n' | b'\r' | 0 => return None,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.word_end(self.at + 1);
        Some(Kind::Literal)
    }

    /// Steps over an element with all its children, or over the `<` of type parameters.
    fn element(&mut self) -> Option<Kind> {
        let start = self.at;
        let mut depth = 0;
        loop {
            // Here stands the `<` of a tag.
            self.at += 1;
            if self.byte(self.at) == b'/' {
                let len = memchr::memchr(b'>', &self.source[self.at..])?;
                self.at += len + 1;
                depth -= 1;
            } else {
                let name = self.at;
                self.at = self.tag_name_end();
                if depth == 0 && self.begins_type_parameters(name) {
                    self.at = start + 1;
                    return Some(Kind::Punct);
                }
                if self.attributes()? {
                    depth += 1;
                }
            }
            if depth <= 0 {
                return Some(Kind::Literal);
            }
            loop {
                self.at += memchr::memchr2(b'<', b'{', &self.source[self.at..])?;
                if self.byte(self.at) == b'<' {
                    break;
                }
                self.code()?;
            }
        }
    }

    fn tag_name_end(&self) -> usize {
        let rest = &self.source[self.at..];
        let is_name =
            |byte: u8| CLASS[byte as usize] == Class::Word || matches!(byte, b'.' | b':' | b'-');
        let len = rest.iter().position(|&byte| !is_name(byte));
        self.at + len.unwrap_or(rest.len())
    }

    /// Tells type parameters from a tag, after the name that starts at the offset.
    fn begins_type_parameters(&self, name: usize) -> bool {
        let rest = self.source[self.at..].trim_ascii_start();
        if let Some(rest) = rest.strip_prefix(b"extends") {
            return rest.first().is_some_and(u8::is_ascii_whitespace);
        }
        match rest.first() {
            Some(b',' | b'=') => true,
            // `<T>(x: T) => T` as a type: an element would have to be closed.
            Some(b'>') if self.at > name => {
                let close = [b"</", &self.source[name..self.at]].concat();
                memchr::memmem::find(rest, &close).is_none()
            }
            _ => false,
        }
    }

    /// Steps over the rest of an opening tag; tells whether the element has children to come.
    fn attributes(&mut self) -> Option<bool> {
        self.type_arguments()?;
        loop {
            match self.byte(self.at) {
                b'/' if matches!(self.byte(self.at + 1), b'/' | b'*') => {
                    self.comment()?;
                }
                b'>' => {
                    self.at += 1;
                    return Some(true);
                }
                b'/' if self.byte(self.at + 1) == b'>' => {
                    self.at += 2;
                    return Some(false);
                }
                quote @ (b'"' | b'\'') => {
                    self.at += 1;
                    self.until(&[quote])?;
                }
                b'{' => self.code()?,
                b'=' | b'-' | b':' | b'.' | b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte if CLASS[byte as usize] == Class::Word => self.at = self.word_end(self.at),
                _ => return None,
            }
        }
    }

    /// Steps over plain type arguments right after the name of a tag.
    fn type_arguments(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.byte(self.at) {
                b'<' => depth += 1,
                b'>' if depth > 0 => depth -= 1,
                _ if depth == 0 => return Some(()),
                quote @ (b'"' | b'\'') => {
                    self.on_one_line(quote)?;
                    continue;
                }
                b'|' | b'&' | b'.' | b'[' | b']' | b',' | b' ' | b'\n' => {}
                byte if CLASS[byte as usize] == Class::Word => {}
                _ => return None,
            }
            self.at += 1;
        }
    }
}

#[derive(Clone, Copy)]
enum Newlines {
    Allowed,
    Refused,
}

const BEFORE_EXPRESSION: &[&[u8]] = &[
    b"return",
    b"typeof",
    b"case",
    b"in",
    b"of",
    b"delete",
    b"void",
    b"throw",
    b"new",
    b"else",
    b"do",
    b"await",
    b"yield",
    b"instanceof",
    b"default",
    b"extends",
];
