//! Decides from the raw bytes whether a source can hold a match of a pattern at all.
//!
//! Parsing is nearly the whole cost of a structural search, so a file that lacks what the pattern
//! fixes must be dropped before the parser sees it. The filter knows tokens and trivia, no grammar
//! and no file. It may say "maybe" too often; it must never refuse a source that holds a match.

mod echo;

use std::ops::Range;

use memchr::memmem::{self, Finder};

pub use echo::{Echo, Ends};

/// One fixed token of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The bytes of the token as every match spells them.
    pub text: String,
    /// Whether the token is an identifier or a keyword, which no word character may touch.
    pub word: bool,
}

impl Token {
    /// Classifies a token by its text: all word characters make a word, all else is a symbol.
    pub fn new(text: impl Into<String>) -> Token {
        let text = text.into();
        let word = !text.is_empty() && text.bytes().all(is_word);
        Token { text, word }
    }

    /// Whether it cannot be a part of a string that stands for itself. The quotes of one are tokens beside its
    /// content.
    fn is_code(&self) -> bool {
        let quoted = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
        !self.text.as_bytes().iter().any(quoted) && (self.word || self.text.len() < 4)
    }

    /// Takes the text as it stands, for instance the content of a string literal.
    pub fn literal(text: impl Into<String>) -> Token {
        Token {
            text: text.into(),
            word: false,
        }
    }
}

/// A maximal sequence of fixed tokens that stand side by side in the pattern.
///
/// No metavariable stands between two tokens of a run, so in a match only trivia does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRun {
    /// The tokens in the order of the source.
    pub tokens: Vec<Token>,
    /// The metavariable that stands directly before and after them, if it is one.
    pub echo: Option<Echo>,
    /// Whether the first of them begins a statement of a language in which a statement begins a line, or
    /// stands behind `;` or `:`.
    pub leads: bool,
}

impl TokenRun {
    /// Classifies each text with [`Token::new`]; an inner blank (`is not`) separates two tokens.
    pub fn of(texts: &[&str]) -> TokenRun {
        TokenRun {
            tokens: texts
                .iter()
                .flat_map(|text| text.split_ascii_whitespace())
                .map(Token::new)
                .collect(),
            echo: None,
            leads: false,
        }
    }
}

/// What may stand between two tokens of a run besides white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriviaStyle {
    /// Every text that may begin a comment, of a line or of a block.
    pub line_comments: &'static [&'static str],
    /// Tokens such as `,` and `;` that may be present or absent between two others.
    pub optional: &'static [&'static str],
    /// Whether an `=` beside a byte of another operator is always a part of that: `==`, `:=`, `=>`.
    pub longest_operator: bool,
    /// Where an expression ends.
    pub ends: Ends,
}

impl TriviaStyle {
    /// Knows the comment styles of all grammars at once, so it fits a language of which little is known.
    pub const ANY: TriviaStyle = TriviaStyle {
        line_comments: &[
            "//", "/*", "#", "--", "{-", "<!--", "(*", "%", ";;", "<#", "=begin",
        ],
        optional: &[",", ";"],
        longest_operator: false,
        ends: Ends::Unknown,
    };

    /// Gives the style of a language id, [`TriviaStyle::ANY`] where the id is not known.
    pub fn of(language: &str) -> TriviaStyle {
        let line_comments: &'static [&'static str] = match language {
            "rust" | "dart" | "typescript" | "tsx" | "java" | "go" | "c" | "cpp" | "csharp"
            | "kotlin" | "scala" | "swift" | "solidity" | "zig" => &["//", "/*"],
            "javascript" | "jsx" => &["//", "/*", "<!--", "-->"],
            "python" => &["#"],
            _ => return TriviaStyle::ANY,
        };
        TriviaStyle {
            line_comments,
            optional: &[",", ";"],
            longest_operator: takes_longest_operator(language),
            ends: Ends::of(language),
        }
    }
}

/// Whether a language reads as long an operator as it can and has no names that end with one.
pub fn takes_longest_operator(language: &str) -> bool {
    matches!(
        language,
        "c" | "dart"
            | "go"
            | "java"
            | "javascript"
            | "jsx"
            | "python"
            | "rust"
            | "tsx"
            | "typescript"
    )
}

/// What every match of a pattern must contain.
///
/// The order of the runs is the order of the source. A token must not be handed in unless a match
/// spells it byte for byte: a keyword of a language without regard to case does not qualify.
#[derive(Debug, Clone)]
pub struct Needles {
    runs: Vec<Run>,
    /// Indexes into `runs`, the rarest anchor first.
    rarest_first: Vec<usize>,
    trivia: TriviaStyle,
}

#[derive(Debug, Clone)]
struct Run {
    tokens: Vec<Token>,
    /// Index of the token that is searched for; the others are checked around it.
    anchor: usize,
    finder: Finder<'static>,
    echo: Option<Echo>,
    leads: bool,
}

/// How far the tokens on one side of an anchor reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// They are not there.
    Missing,
    /// They may be there: something is in between that is not worth reading before the parse.
    Doubtful,
    /// They are there, up to this place.
    To(usize),
}

impl Reach {
    fn unless(doubt: bool) -> Reach {
        match doubt {
            true => Reach::Doubtful,
            false => Reach::Missing,
        }
    }
}

/// Where the runs of a pattern stand in one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// Offsets of the anchor token, ascending, for each run in pattern order.
    hits: Vec<Vec<usize>>,
}

impl Needles {
    /// Prepares the search for the runs, in the order in which the pattern has them.
    ///
    /// Optional tokens are taken out of the runs, since a match may lack them, and so are runs of
    /// nothing but brackets and separators, which every source has.
    pub fn new(runs: Vec<TokenRun>, trivia: TriviaStyle) -> Needles {
        let runs: Vec<Run> = runs
            .into_iter()
            .filter_map(|run| Run::new(run, trivia))
            .collect();
        let mut rarest_first: Vec<usize> = (0..runs.len()).collect();
        rarest_first.sort_by_key(|&idx| {
            let run = &runs[idx];
            std::cmp::Reverse((rarity(&run.tokens[run.anchor]), run.tokens.len()))
        });
        Needles {
            runs,
            rarest_first,
            trivia,
        }
    }

    /// Says whether there is anything to search for; without it every source may match.
    pub fn usable(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Says whether the bytes can hold a match.
    pub fn may_match(&self, hay: &[u8]) -> bool {
        self.rarest_first
            .iter()
            .all(|&idx| self.positions(idx, hay).next().is_some())
    }

    /// Says whether the rarest token occurs at all: a cheaper question than [`Needles::may_match`].
    pub fn rarest_occurs(&self, hay: &[u8]) -> bool {
        self.rarest_first
            .first()
            .is_none_or(|&idx| self.runs[idx].finder.find(hay).is_some())
    }

    /// Collects where all the runs stand; `None` when one of them is missing, so nothing can match.
    pub fn occurrences(&self, hay: &[u8]) -> Option<Occurrences> {
        let mut hits = vec![Vec::new(); self.runs.len()];
        for &idx in &self.rarest_first {
            hits[idx] = self.positions(idx, hay).collect();
            if hits[idx].is_empty() {
                return None;
            }
        }
        let all = Occurrences { hits };
        all.within(0..hay.len()).then_some(all)
    }

    fn positions<'a>(&'a self, idx: usize, hay: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let run = &self.runs[idx];
        // `find_iter` steps over overlaps; `;;` in `;;;` may begin at either byte, so a symbol
        // anchor has its own stepping.
        let mut from = 0;
        std::iter::from_fn(move || {
            while from < hay.len() {
                let at = from + run.finder.find(&hay[from..])?;
                let token = &run.tokens[run.anchor];
                from = at + if token.word { token.text.len() } else { 1 };
                if self.bounded(token, hay, at) && self.surrounded(run, hay, at) {
                    return Some(at);
                }
            }
            None
        })
    }

    /// Whether the bytes at a place are all of a token.
    fn bounded(&self, token: &Token, hay: &[u8], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|prev| hay.get(prev));
        let after = hay.get(at + token.text.len());
        if token.word {
            return !before.is_some_and(|&byte| is_word(byte))
                && !after.is_some_and(|&byte| is_word(byte));
        }
        // A `>` before it may close type arguments, a `?` is an operator of its own in Rust, `++` and `--`
        // take no more, and `*/` ends a comment.
        let joined = |byte: u8| match (at.checked_sub(2).and_then(|at| hay.get(at)), byte) {
            (Some(b'+'), b'+') | (Some(b'-'), b'-') | (Some(b'*'), b'/') => false,
            _ => b"=!:<+-*/%&|^".contains(&byte),
        };
        let alone =
            || !before.is_some_and(|byte| joined(*byte)) && !matches!(after, Some(b'=' | b'>'));
        !self.trivia.longest_operator || token.text != "=" || alone()
    }

    fn surrounded(&self, run: &Run, hay: &[u8], at: usize) -> bool {
        let end = at + run.tokens[run.anchor].text.len();
        let end = self.follows(&run.tokens[run.anchor + 1..], hay, end);
        let start = || self.precedes(&run.tokens[..run.anchor], hay, at);
        let (Reach::To(_) | Reach::Doubtful) = end else {
            return false;
        };
        match (start(), end) {
            (Reach::Missing, _) => false,
            (Reach::To(start), _) if run.leads && !begins_statement(&hay[..start]) => false,
            (Reach::To(start), Reach::To(end)) => run
                .echo
                .is_none_or(|echo| echo::can_repeat(hay, start, end, self.trivia.ends, echo)),
            _ => true,
        }
    }

    /// Takes out what stands in literals without code, where no token of a run may be part of one. The
    /// literals are ascending and apart.
    pub fn outside_literals(
        &self,
        occurrences: Occurrences,
        literals: &[Range<usize>],
    ) -> Occurrences {
        let hits = occurrences.hits.into_iter().zip(&self.runs);
        Occurrences {
            hits: hits
                .map(|(hits, run)| match run.tokens.iter().all(Token::is_code) {
                    true => outside(hits, literals),
                    false => hits,
                })
                .collect(),
        }
    }

    fn follows(&self, tokens: &[Token], hay: &[u8], mut at: usize) -> Reach {
        for token in tokens {
            loop {
                let rest = &hay[at..];
                // The comment goes first: `/` must not be found in the `/*` before the real one.
                if starts_with_any(rest, self.trivia.line_comments) {
                    return Reach::Doubtful;
                }
                if rest.starts_with(token.text.as_bytes()) && self.bounded(token, hay, at) {
                    at += token.text.len();
                    break;
                }
                let Some(&byte) = rest.first() else {
                    return Reach::Missing;
                };
                if byte <= b' ' {
                    at += 1;
                } else if let Some(skipped) = self.optional_at(|text| rest.starts_with(text)) {
                    at += skipped;
                } else {
                    return Reach::unless(hides_trivia(byte));
                }
                if at > hay.len() {
                    return Reach::Missing;
                }
            }
        }
        Reach::To(at)
    }

    fn precedes(&self, tokens: &[Token], hay: &[u8], mut end: usize) -> Reach {
        for token in tokens.iter().rev() {
            loop {
                let before = &hay[..end];
                if starts_with_any_reversed(before, BLOCK_COMMENT_ENDS) {
                    return Reach::Doubtful;
                }
                let start = end.wrapping_sub(token.text.len());
                if before.ends_with(token.text.as_bytes()) && self.bounded(token, hay, start) {
                    end = start;
                    break;
                }
                let Some(&byte) = before.last() else {
                    return Reach::Missing;
                };
                if byte <= b' ' {
                    end -= 1;
                } else if let Some(skipped) = self.optional_at(|text| before.ends_with(text)) {
                    end -= skipped;
                } else {
                    return Reach::unless(hides_trivia(byte) || self.line_has_comment(before));
                }
            }
        }
        Reach::To(end)
    }

    fn optional_at(&self, is_here: impl Fn(&[u8]) -> bool) -> Option<usize> {
        self.trivia
            .optional
            .iter()
            .find(|text| is_here(text.as_bytes()))
            .map(|text| text.len())
    }

    /// A reader that goes backwards cannot know that the text it meets belongs to a line comment
    /// unless it looks at the line from its beginning.
    fn line_has_comment(&self, before: &[u8]) -> bool {
        let before = &before[before.len().saturating_sub(LONGEST_LINE + 1)..];
        let line_start =
            memchr::memrchr2(b'\n', b'\r', before).map_or(0, |line_break| line_break + 1);
        let line = &before[line_start..];
        // Asked anew for every brace of a minified file, the length of its line would count squared.
        if line.len() > LONGEST_LINE {
            return true;
        }
        let mut comments = self.trivia.line_comments.iter();
        comments.any(|comment| memmem::find(line, comment.as_bytes()).is_some())
    }
}

impl Occurrences {
    /// Those outside of some ranges, which are ascending and apart.
    pub fn outside(mut self, ranges: &[Range<usize>]) -> Occurrences {
        for hits in &mut self.hits {
            *hits = outside(std::mem::take(hits), ranges);
        }
        self
    }

    /// Says whether the range can hold a match: every run occurs in it, in the pattern's order.
    pub fn within(&self, range: Range<usize>) -> bool {
        self.within_but_for(range, std::iter::empty())
    }

    /// As [`Occurrences::within`], where none of the match stands in the holes: ranges inside the range,
    /// ascending and apart.
    pub fn within_but_for(
        &self,
        range: Range<usize>,
        holes: impl Iterator<Item = Range<usize>>,
    ) -> bool {
        let mut holes = holes.peekable();
        let mut from = range.start;
        for hits in &self.hits {
            let mut next = hits.partition_point(|&hit| hit < from);
            loop {
                let Some(&hit) = hits.get(next).filter(|&&hit| hit < range.end) else {
                    return false;
                };
                while holes.next_if(|hole| hole.end <= hit).is_some() {}
                match holes.peek() {
                    Some(hole) if hole.start <= hit => {
                        next += hits[next..].partition_point(|&hit| hit < hole.end);
                    }
                    _ => {
                        from = hit + 1;
                        break;
                    }
                }
            }
        }
        true
    }
}

fn outside(mut hits: Vec<usize>, ranges: &[Range<usize>]) -> Vec<usize> {
    hits.retain(|hit| {
        let next = ranges.partition_point(|range| range.end <= *hit);
        ranges.get(next).is_none_or(|range| range.start > *hit)
    });
    hits
}

/// Whether a statement may begin behind these bytes.
fn begins_statement(before: &[u8]) -> bool {
    let n_blanks = before
        .iter()
        .rev()
        .take_while(|byte| b" \t\x0c".contains(byte))
        .count();
    let before = &before[..before.len() - n_blanks];
    match before.last() {
        None | Some(b'\n' | b'\r' | b';' | b':' | b'\\') => true,
        // A blank may have more bytes than one.
        Some(byte) => !byte.is_ascii(),
    }
}

impl Run {
    fn new(run: TokenRun, trivia: TriviaStyle) -> Option<Run> {
        let (echo, leads) = (run.echo, run.leads);
        let tokens: Vec<Token> = run
            .tokens
            .into_iter()
            .filter(|token| !token.text.is_empty())
            .filter(|token| !trivia.optional.contains(&token.text.as_str()))
            .collect();
        // A brace alone says nothing, but what stands before it tells the heads of bodies apart.
        let opens_body = |token: &Token| tokens.len() > 1 && token.text == "{";
        let worth = |token: &Token| rarity(token).max(usize::from(opens_body(token)));
        let anchor = (0..tokens.len()).max_by_key(|&idx| worth(&tokens[idx]))?;
        if worth(&tokens[anchor]) == 0 {
            return None;
        }
        let finder = Finder::new(tokens[anchor].text.as_bytes()).into_owned();
        Some(Run {
            echo: echo.filter(|_| echo::is_operator(&tokens[0].text)),
            tokens,
            anchor,
            finder,
            leads,
        })
    }
}

/// A longer line may hold a comment without being looked at.
const LONGEST_LINE: usize = 1000;

/// What ends a block comment in any of the grammars.
const BLOCK_COMMENT_ENDS: &[&str] = &["*/", "-}", "-->", "]]", "*)", "#>", "=end"];

/// Words that many grammars reserve: a poor anchor next to a name of the user's own.
const COMMON_WORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "bool", "break", "case", "catch", "class", "const",
    "continue", "def", "default", "do", "elif", "else", "enum", "except", "export", "extends",
    "final", "fn", "for", "from", "func", "function", "if", "impl", "import", "in", "int", "is",
    "let", "match", "mut", "new", "None", "not", "null", "or", "pub", "public", "return", "self",
    "Some", "static", "String", "struct", "switch", "this", "throw", "try", "type", "use", "var",
    "void", "while", "with",
];

/// Orders tokens by how seldom they are likely to occur; 0 is of no use as an anchor.
fn rarity(token: &Token) -> usize {
    let text = token.text.as_str();
    if token.word {
        if COMMON_WORDS.contains(&text) {
            return 3;
        }
        return match text.len() {
            1 => 2,
            n => 3 + n,
        };
    }
    match text {
        "(" | ")" | "[" | "]" | "{" | "}" | "," | ";" | "." | ":" | "\"" | "'" => 0,
        _ if text.len() == 1 => 1,
        _ => 2 + text.len(),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A byte of a longer UTF-8 sequence next to a word counts as a boundary: it may be a blank.
/// Line continuations, blanks beyond ASCII and quotes: not worth telling apart before the parse.
fn hides_trivia(byte: u8) -> bool {
    matches!(byte, b'\\' | b'"' | b'\'' | b'`') || !byte.is_ascii()
}

fn starts_with_any(rest: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| rest.starts_with(text.as_bytes()))
}

fn starts_with_any_reversed(before: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| before.ends_with(text.as_bytes()))
}

#[cfg(test)]
mod tests;
