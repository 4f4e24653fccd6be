//! Finding a symbol on a line: positions are addressed by line and substring, never by column (R15).
//!
//! Other lines are never searched, and of several hits none is guessed (D1): an occurrence that is a whole
//! identifier wins, and where more remain the caller picks one with `name#2`. A text that is longer than a
//! name says which occurrence is meant; the name of it that is asked about is the last one of the path that
//! it begins with: `total` of `s.total` and of `total(1)`.

use std::ops::Range;

use crate::text::{LineIndex, clip, counted};

/// Characters of a line that an error quotes.
const QUOTED: usize = 200;

/// Why a symbol is not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// The file has no such line.
    #[error("line {line} is not in '{file}', which has {}", counted(*total, "line"))]
    NoLine {
        /// The file, as answers show it.
        file: String,
        /// The line that was asked for.
        line: usize,
        /// How many lines there are.
        total: usize,
    },
    /// The symbol is empty or names no occurrence.
    #[error("'{symbol}' names no symbol")]
    NoSymbol {
        /// What was given.
        symbol: String,
    },
    /// The symbol begins with something else than a name.
    #[error("'{symbol}' does not begin with a name")]
    NoName {
        /// What was given.
        symbol: String,
        /// The first name in it.
        name: Option<String>,
    },
    /// The symbol does not stand on the line.
    #[error("symbol '{symbol}' is not on line {line} of '{file}': `{text}`")]
    NotOnLine {
        /// The file, as answers show it.
        file: String,
        /// The line.
        line: usize,
        /// What was looked for.
        symbol: String,
        /// What stands there.
        text: String,
    },
    /// The symbol stands on the line several times.
    #[error(
        "symbol '{symbol}' stands {} times on line {line} of '{file}': `{text}`; {}",
        columns.len(),
        occurrences(symbol, columns)
    )]
    Ambiguous {
        /// The file, as answers show it.
        file: String,
        /// The line.
        line: usize,
        /// What was looked for.
        symbol: String,
        /// What stands there.
        text: String,
        /// The columns of the occurrences, from 1.
        columns: Vec<usize>,
    },
    /// There are fewer occurrences than the number asked for.
    #[error("symbol '{symbol}' stands {} on line {line} of '{file}', not {wanted}: `{text}`", times(*found))]
    TooFew {
        /// The file, as answers show it.
        file: String,
        /// The line.
        line: usize,
        /// What was looked for.
        symbol: String,
        /// The occurrence that was asked for.
        wanted: usize,
        /// How many there are.
        found: usize,
        /// What stands there.
        text: String,
    },
}

/// Where a symbol stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The byte offset of the symbol.
    pub start: usize,
    /// The byte offset behind it.
    pub end: usize,
}

/// Finds `symbol` on `line`, from 1, of a text without a byte order mark. `file` is for messages.
pub fn locate(text: &str, line: usize, symbol: &str, file: &str) -> Result<Target, SymbolError> {
    let index = LineIndex::new(text.as_bytes());
    let Some(range) = index.line_range(line) else {
        return Err(SymbolError::NoLine {
            file: file.to_owned(),
            line,
            total: index.line_count(),
        });
    };
    let content = &text[range.clone()];
    let quoted = || clip(content.trim(), QUOTED).into_owned();
    let (name, wanted) = match numbered(content, symbol) {
        Some((name, number)) => (name, Some(number)),
        None => (symbol, None),
    };
    if name.trim().is_empty() || wanted == Some(0) {
        return Err(SymbolError::NoSymbol {
            symbol: symbol.to_owned(),
        });
    }
    let Some(meant) = meant(name) else {
        return Err(SymbolError::NoName {
            symbol: symbol.to_owned(),
            name: first_name(name).map(str::to_owned),
        });
    };
    let hits = hits(content, name);
    let at = match (hits.as_slice(), wanted) {
        ([], _) => {
            return Err(SymbolError::NotOnLine {
                file: file.to_owned(),
                line,
                symbol: name.to_owned(),
                text: quoted(),
            });
        }
        (hits, Some(wanted)) => match hits.get(wanted - 1) {
            Some(at) => *at,
            None => {
                return Err(SymbolError::TooFew {
                    file: file.to_owned(),
                    line,
                    symbol: name.to_owned(),
                    wanted,
                    found: hits.len(),
                    text: quoted(),
                });
            }
        },
        ([at], None) => *at,
        (hits, None) => {
            let column = |at: &usize| content[..*at].chars().count() + 1;
            return Err(SymbolError::Ambiguous {
                file: file.to_owned(),
                line,
                symbol: name.to_owned(),
                text: quoted(),
                columns: hits.iter().map(column).collect(),
            });
        }
    };
    Ok(Target {
        start: range.start + at + meant.start,
        end: range.start + at + meant.end,
    })
}

/// What joins the names of a path, in any language; a longer one goes before those that it begins with.
const JOINERS: [&str; 8] = ["?->", "!!.", "?.", "!.", "&.", "::", "->", "."];

/// What stands in front of a name and is none of it: `@name`, `*name`, `'name`.
const SIGILS: &[char] = &['@', '#', '&', '*', '!', '~', '\'', '.', ':'];

/// The same inside a path: `this.#name`, `Type::~Type`. Two dots join no path.
const MEMBER_SIGILS: &[char] = &['#', '~', '@'];

/// Finds the name that a text means: the last one of the path that it begins with. An operator alone is a
/// name as well.
fn meant(text: &str) -> Option<Range<usize>> {
    let is_operator = |ch: char| "!%&*+/<=>?^|~-".contains(ch);
    if text.chars().all(is_operator) && !JOINERS.contains(&text) {
        return Some(0..text.len());
    }
    // `.name` means the name: a server that is asked about a dot has no answer.
    let lead = JOINERS.iter().find(|joiner| text.starts_with(**joiner));
    let lead = lead.map_or(text.len() - text.trim_start().len(), |joiner| joiner.len());
    let mut name = name_at(text, lead, SIGILS)?;
    loop {
        let rest = &text[name.end..];
        let joiner = JOINERS.iter().find(|joiner| rest.starts_with(**joiner));
        let next = joiner.and_then(|it| name_at(text, name.end + it.len(), MEMBER_SIGILS));
        match next {
            Some(next) => name = next,
            None => return Some(name),
        }
    }
}

/// Reads the name that begins at a place, behind the signs that may stand in front of it.
fn name_at(text: &str, at: usize, sigils: &[char]) -> Option<Range<usize>> {
    let rest = text[at..].trim_start_matches(sigils);
    let start = text.len() - rest.len();
    // `r#type` is one name.
    let raw = rest.strip_prefix("r#").filter(|rest| starts_name(rest));
    let skipped = rest.len() - raw.unwrap_or(rest).len();
    let rest = &rest[skipped..];
    let n_bytes = rest.find(|ch| !is_identifier(ch)).unwrap_or(rest.len());
    starts_name(rest).then(|| start..start + skipped + n_bytes)
}

fn starts_name(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|ch| is_identifier(ch) && !ch.is_ascii_digit())
}

fn first_name(text: &str) -> Option<&str> {
    let mut words = text.split(|ch| !is_identifier(ch));
    words.find(|word| starts_name(word))
}

/// Reads `name#2`, unless that very text stands on the line.
fn numbered<'a>(content: &str, symbol: &'a str) -> Option<(&'a str, usize)> {
    if content.contains(symbol) {
        return None;
    }
    let (name, number) = symbol.rsplit_once('#')?;
    Some((name, number.parse().ok()?))
}

/// The occurrences that count: those that are whole identifiers, or else all.
fn hits(content: &str, name: &str) -> Vec<usize> {
    let all: Vec<usize> = content.match_indices(name).map(|(at, _)| at).collect();
    let whole: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&at| is_whole(content, at, name))
        .collect();
    if whole.is_empty() { all } else { whole }
}

fn is_whole(content: &str, at: usize, name: &str) -> bool {
    let before = content[..at].chars().next_back();
    let after = content[at + name.len()..].chars().next();
    let joins = |edge: Option<char>, beside: Option<char>| {
        edge.is_some_and(is_identifier) && beside.is_some_and(is_identifier)
    };
    !joins(name.chars().next(), before) && !joins(name.chars().next_back(), after)
}

pub(crate) fn is_identifier(ch: char) -> bool {
    ch == '_' || ch == '$' || ch.is_alphanumeric()
}

fn occurrences(symbol: &str, columns: &[usize]) -> String {
    let list: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(n, column)| format!("{symbol}#{} at column {column}", n + 1))
        .collect();
    list.join(", ")
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, line: usize, symbol: &str) -> Result<usize, SymbolError> {
        locate(text, line, symbol, "a.rs").map(|target| target.start)
    }

    // D1: a symbol that is not on the line is an error which quotes that line.
    #[test]
    fn other_lines_are_never_searched_and_the_line_is_quoted() {
        let text = "let foo = 1;\n    let x = 1;\nfoo();\n";
        let error = at(text, 2, "foo").expect_err("it is not there");
        assert_eq!(
            error.to_string(),
            "symbol 'foo' is not on line 2 of 'a.rs': `let x = 1;`"
        );
        assert_eq!(at(text, 1, "foo"), Ok(4));
        let error = at(text, 4, "foo").expect_err("no such line");
        assert_eq!(
            error.to_string(),
            "line 4 is not in 'a.rs', which has 3 lines"
        );
        assert!(at(text, 0, "foo").is_err());
    }

    // D1: whole identifiers win; what remains is listed, and `name#2` picks.
    #[test]
    fn whole_identifiers_win_and_the_rest_is_picked_by_number() {
        assert_eq!(at("foobar(foo)", 1, "foo"), Ok(7));
        assert_eq!(
            at("foobar(x)", 1, "foo"),
            Ok(0),
            "a part is taken where no whole is"
        );
        let error = at("é(foo, foo)", 1, "foo").expect_err("two");
        assert_eq!(
            error.to_string(),
            "symbol 'foo' stands 2 times on line 1 of 'a.rs': `é(foo, foo)`; foo#1 at column 3, \
             foo#2 at column 8"
        );
        assert_eq!(at("é(foo, foo)", 1, "foo#2"), Ok(8));
        assert_eq!(at("é(foo, foo)", 1, "foo#1"), Ok(3));
        let error = at("é(foo, foo)", 1, "foo#3").expect_err("only two");
        assert!(error.to_string().contains("stands 2 times"), "{error}");
        assert!(matches!(
            at("foo", 1, "foo#0"),
            Err(SymbolError::NoSymbol { .. })
        ));
        assert!(matches!(
            at("foo", 1, " "),
            Err(SymbolError::NoSymbol { .. })
        ));
        assert!(matches!(
            at("foo", 1, ""),
            Err(SymbolError::NoSymbol { .. })
        ));
    }

    #[test]
    fn a_literal_number_sign_is_itself_and_punctuation_in_front_is_skipped() {
        assert_eq!(at("this.x#2 = 1", 1, "x#2"), Ok(5));
        assert_eq!(at("a.b", 1, ".b"), Ok(2));
        assert_eq!(at("@dec", 1, "@dec"), Ok(1));
        assert_eq!(at("a\r\nb\r\n", 2, "b"), Ok(3));
    }

    fn name<'a>(text: &'a str, symbol: &str) -> &'a str {
        let target = locate(text, 1, symbol, "a.rs").expect("it is there");
        &text[target.start..target.end]
    }

    // D1: of a path the last name is meant, of a longer text the path that it begins with.
    #[test]
    fn a_path_means_its_last_name_and_a_longer_text_what_it_begins_with() {
        for (text, symbol, meant) in [
            ("s.total + k.total", "s.total", "total"),
            ("a::b::c(x)", "a::b", "b"),
            ("p->next->prev", "p->next->prev", "prev"),
            ("o?.list", "o?.list", "list"),
            ("this.#x = 1", "this.#x", "x"),
            ("Foo::~Foo()", "Foo::~Foo", "Foo"),
            ("x = total(1) + total(2)", "total(2)", "total"),
            ("s.total(1)", "s.total(1)", "total"),
            ("v.iter::<u8>()", "iter::<u8>", "iter"),
            ("a.r#type", "a.r#type", "r#type"),
            ("s.total", "s.", "s"),
            ("f(**kw)", "**kw", "kw"),
            ("f(...rest)", "...rest", "rest"),
            ("int x;", "int x", "int"),
            ("  b;", " b", "b"),
            ("lo..hi", "lo..hi", "lo"),
            ("a <> b", "<>", "<>"),
        ] {
            assert_eq!(name(text, symbol), meant, "{symbol}");
        }
        assert_eq!(at("s.total + k.total", 1, "k.total"), Ok(12));
        assert_eq!(at("s.n + s.n", 1, "s.n#2"), Ok(8));
    }

    #[test]
    fn a_text_that_begins_with_no_name_is_refused() {
        for (symbol, first) in [("(total)", Some("total")), ("1.5", None), (".", None)] {
            let error = at("x.f(total), 1.5", 1, symbol).expect_err("no name");
            let name = first.map(str::to_owned);
            let symbol = symbol.to_owned();
            assert_eq!(error, SymbolError::NoName { symbol, name });
        }
    }
}
