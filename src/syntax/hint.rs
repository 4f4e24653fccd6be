//! Why nothing matched: what the other rungs would have found, and what is nearly the pattern (D14).

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cancel::Cancel;
use crate::limits;
use crate::syntax::cache::Covered;
use crate::syntax::grammar::Grammar;
use crate::syntax::matcher;
use crate::syntax::partial;
use crate::syntax::pattern::{self, Pattern};
use crate::syntax::place::clipped;
use crate::syntax::search::{Query, Searcher};
use crate::syntax::source;
use crate::syntax::split::{Plan, Shape, plan_of_units, split};
use crate::text::{LineIndex, counted, counted_plural};

/// Looks again at the files that hold the pattern's tokens, a bounded amount of source, and puts what it
/// finds into sentences.
pub(crate) fn explain(
    searcher: &Searcher<'_>,
    grammar: &Grammar,
    query: &Query,
    pattern: &Pattern,
    files: &[PathBuf],
    cancel: &Cancel,
) -> Option<String> {
    // Reading the pattern on every rung takes longer than scanning many files, so not for no file.
    let others = if query.context.is_none() && !files.is_empty() {
        pattern::compile_others(grammar, &query.pattern, pattern.context)
    } else {
        Vec::new()
    };
    let mut counts = vec![0; others.len()];
    let mut misses: BTreeMap<String, Miss> = BTreeMap::new();
    let mut parsed_bytes = 0;
    let mut complete = true;
    let mut n_looked_at = 0;
    let mut buffer = Vec::new();
    for file in files {
        if cancel.is_cancelled() {
            break;
        }
        n_looked_at += 1;
        if source::read_into(file, &mut buffer).is_err() || source::check_text(&buffer).is_err() {
            continue;
        }
        let wanted = |p: &Pattern| !p.needles.usable() || p.needles.may_match(&buffer);
        let near = pattern.loose_needles.may_match(&buffer);
        if !near && !others.iter().any(wanted) {
            continue;
        }
        // What holds all the tokens is enough: a near miss has them too, and so has another reading.
        let id = grammar.row.id;
        let units = OnceCell::new();
        let units = || {
            units
                .get_or_init(|| split(id, &buffer).map(Arc::new))
                .clone()
        };
        let needles = &pattern.loose_needles;
        let needed = match plan_of_units(id, needles, Shape::Block, &buffer, &units) {
            Plan::Ranges(ranges) => Covered::Ranges(ranges),
            Plan::Whole | Plan::Skip => Covered::Whole,
        };
        let n_bytes = match &needed {
            Covered::Ranges(ranges) => ranges.iter().map(|range| range.len()).sum(),
            Covered::Whole => buffer.len(),
        };
        let room = match parsed_bytes {
            0 => limits::HINT_FILE_BYTES,
            _ => limits::HINT_BYTES.saturating_sub(parsed_bytes),
        };
        if n_bytes > room {
            complete = false;
            n_looked_at -= 1;
            break;
        }
        parsed_bytes += n_bytes;
        let Ok((flat, _)) = partial::parse(grammar, &buffer, needed, &units) else {
            continue;
        };
        for (count, other) in counts.iter_mut().zip(&others) {
            *count += matcher::find(other, &flat, &buffer, usize::MAX).len();
        }
        if near {
            for miss in matcher::near_misses(pattern, &flat, &buffer, 1000) {
                let node = flat.node(miss.extra);
                let text = clipped(&buffer[node.start as usize..node.end as usize]);
                let miss = misses.entry(first_line(&text)).or_insert_with(|| {
                    let line = LineIndex::new(&buffer).line_of(node.start as usize);
                    let first = format!("{}:{line}", searcher.shown(file));
                    Miss { n: 0, first }
                });
                miss.n += 1;
            }
        }
    }
    let mut sentences = Vec::new();
    let at_least = if complete { "" } else { "at least " };
    let found: Vec<String> = counts
        .iter()
        .zip(&others)
        .filter(|(count, _)| **count > 0)
        .map(|(count, other)| {
            let context = other.context;
            format!(
                "{at_least}{count} as {context} ({}): pass context \"{context}\"",
                other.kind
            )
        })
        .collect();
    if !found.is_empty() {
        let zero = pattern.context;
        sentences.push(format!("0 matches as {zero}; {}", found.join("; ")));
    }
    // The most frequent one; of equal ones the first in order.
    let nearest = misses
        .iter()
        .max_by(|a, b| a.1.n.cmp(&b.1.n).then(b.0.cmp(a.0)));
    if let Some((text, miss)) = nearest {
        sentences.push(format!(
            "nearest miss: {at_least}{} {} only by `{text}`, which the pattern does not mention ({}{})",
            counted_plural(
                miss.n,
                &pattern.kind,
                &format!("{} nodes", pattern.kind)
            ),
            if miss.n == 1 { "differs" } else { "differ" },
            if miss.n == 1 { "" } else { "the first: " },
            miss.first,
        ));
    }
    if sentences.is_empty() {
        sentences.extend(
            smell(&query.pattern, grammar.row.id)
                .or_else(|| literal_smell(&query.pattern))
                .or_else(|| quotes(&query.pattern, grammar.row.id)),
        );
    }
    if !complete {
        sentences.push(format!(
            "this hint looked at the first {n_looked_at} of the {} that hold the pattern's words",
            counted(files.len(), "file")
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// What keeps nodes from matching, and where the first of them stands.
struct Miss {
    n: usize,
    first: String,
}

/// What in the pattern's text looks like another pattern language.
pub(crate) fn smell(pattern: &str, language: &str) -> Option<String> {
    let regex = [".*", ".+", "\\w", "\\d", "\\s", "\\(", "[^", "(?"];
    if let Some(found) = regex.iter().find(|r| pattern.contains(**r)) {
        return Some(format!(
            "the pattern holds `{found}`, which looks like a regular expression; it is code with $NAME for a node and $$$NAME for a run"
        ));
    }
    if DOLLAR_NAMES.contains(&language) {
        return None;
    }
    lower_case_name(pattern).map(|name| {
        let upper = name.to_ascii_uppercase();
        format!("`${name}` in lower case is literal text; a metavariable is written ${upper}")
    })
}

/// The first `$name` that begins with a small letter.
fn lower_case_name(pattern: &str) -> Option<&str> {
    pattern.split('$').skip(1).find_map(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        rest.starts_with(|c: char| c.is_ascii_lowercase())
            .then(|| &rest[..end])
    })
}

/// Says which bracket of a text has no partner. Brackets in quotes do not count.
pub(crate) fn unbalanced(text: &str) -> Option<String> {
    // An apostrophe may begin a string, a character or a lifetime: what is wrong either way is wrong.
    unbalanced_but_for(text, &['"', '`', '\'']).and(unbalanced_but_for(text, &['"', '`']))
}

fn unbalanced_but_for(text: &str, quotes: &[char]) -> Option<String> {
    let mut open = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(begun), c) if c == begun => quote = None,
            (Some(_), _) => {}
            (None, c) if quotes.contains(&c) => quote = Some(c),
            (None, '(' | '[' | '{') => open.push(c),
            (None, ')' | ']' | '}') => {
                let wanted = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(wanted) {
                    return Some(format!("the `{c}` closes nothing"));
                }
            }
            (None, _) => {}
        }
    }
    open.last().map(|c| format!("the `{c}` is not closed"))
}

/// What in a well-formed pattern may be meant otherwise.
pub(crate) fn literal_smell(pattern: &str) -> Option<String> {
    let bare = pattern.replace([' ', '\t', '\n'], "");
    let between = |word: &str| {
        ["(", ","].iter().any(|before| {
            [")", ","]
                .iter()
                .any(|after| bare.contains(&format!("{before}{word}{after}")))
        })
    };
    if between("...") || bare == "..." || bare.contains("{...}") {
        return Some("`...` is no wildcard; a run of siblings is written $$$".to_owned());
    }
    if between("_") {
        return Some("`_` is no wildcard; any one node is written $_".to_owned());
    }
    None
}

/// Says that the quotes of a string count, where the language has two kinds of them.
fn quotes(pattern: &str, language: &str) -> Option<String> {
    if TWO_QUOTES.contains(&language) {
        for (quote, other) in [('"', '\''), ('\'', '"')] {
            let mut parts = pattern.split(quote);
            let string = parts.nth(1);
            if let (Some(string), Some(_)) = (string, parts.next()) {
                return Some(format!(
                    "the quotes of a string count: {quote}{string}{quote} does not match {other}{string}{other}"
                ));
            }
        }
    }
    None
}

/// Languages in which `$name` is everyday code.
pub(crate) const DOLLAR_NAMES: [&str; 4] = ["bash", "php", "ruby", "swift"];

/// Languages in which `'..'` and `".."` are both usual strings.
const TWO_QUOTES: [&str; 12] = [
    "bash",
    "css",
    "dart",
    "html",
    "javascript",
    "jsx",
    "lua",
    "php",
    "python",
    "ruby",
    "tsx",
    "typescript",
];

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.trim().len() {
        format!("{short}…")
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D14: a pattern that cannot match says what it looks like.
    #[test]
    fn smells_are_named_and_code_is_left_alone() {
        for (pattern, words) in [("foo(.*", "regular expression"), ("f($x)", "written $X")] {
            let said = smell(pattern, "python").unwrap_or_default();
            assert!(said.contains(words), "{pattern}: {said}");
        }
        assert_eq!(smell("f($x)", "php"), None);
        assert_eq!(smell("f($X, price$)", "python"), None);
    }

    // R56: a bracket without its partner is named, one in a string is none.
    #[test]
    fn unbalanced_brackets_are_named() {
        for (text, words) in [
            ("f(a, (", "the `(` is not closed"),
            ("f(a]]", "the `]` closes nothing"),
            ("fn f(x: &'a str", "the `(` is not closed"),
        ] {
            assert_eq!(unbalanced(text).as_deref(), Some(words), "{text}");
        }
        for text in [
            "f($A, \"(\")",
            "f(\"\\\"(\")",
            "f('(')",
            "fn f<'a>(x: &'a str) {}",
            "a[0]",
        ] {
            assert_eq!(unbalanced(text), None, "{text}");
        }
    }

    #[test]
    fn wildcards_of_others_and_quotes_are_named() {
        let said = |pattern: &str, language| {
            let said = literal_smell(pattern).or_else(|| quotes(pattern, language));
            said.unwrap_or_default()
        };
        assert!(said("f(...)", "python").contains("$$$"));
        assert!(said("f(a, _)", "rust").contains("$_"));
        assert!(said("f('a')", "python").ends_with("'a' does not match \"a\""));
        for (pattern, language) in [
            ("f(...args)", "javascript"),
            ("f(a_)", "rust"),
            ("f(\"a\")", "rust"),
            ("it's", "python"),
        ] {
            assert_eq!(said(pattern, language), "", "{pattern}");
        }
    }
}
