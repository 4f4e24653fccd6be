//! Reads Rust just well enough for the walls: code without comments and literals, and its imports.

use super::*;

/// One source, read once for all walls.
pub(super) struct Source<'a> {
    /// The path under the crate root.
    pub(super) path: &'a str,
    /// The whole text.
    pub(super) text: &'a str,
    /// Without comments and what literals hold.
    pub(super) code: String,
    /// The code before the unit tests, which stand last in a file.
    pub(super) shipped: String,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let code = code(text);
        let tests = path.ends_with("/tests.rs") || path.contains("/tests/");
        let end = if tests {
            Some(0)
        } else {
            code.find("#[cfg(test)]")
        };
        let shipped = code[..end.unwrap_or(code.len())].to_owned();
        Self {
            path,
            text,
            code,
            shipped,
        }
    }
}

/// Code without comments and without what string literals hold; line numbers stay.
///
/// Words such as `println!` are allowed in a comment or a message. The unit tests of a file stay in.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = literal_or_comment(rest);
        if length > 0 {
            let (skipped, after) = rest.split_at(length);
            code.push_str(if skipped.starts_with('/') {
                " "
            } else {
                "\"\""
            });
            code.extend(skipped.chars().filter(|c| *c == '\n'));
            rest = after;
        } else {
            // An identifier goes in one piece, so that the `r` of `for"` opens no raw string.
            let word = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let (taken, after) = rest.split_at(word.max(first.len_utf8()));
            code.push_str(taken);
            rest = after;
        }
    }
    code
}

/// Returns the length of the comment or literal that `rest` begins with, 0 if there is none.
fn literal_or_comment(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    let raw = rest.trim_start_matches(['b', 'c']);
    if let Some(hashes) = raw
        .strip_prefix('r')
        .map(|raw| raw.len() - raw.trim_start_matches('#').len())
    {
        let start = rest.len() - raw.len() + 1 + hashes;
        if rest[start..].starts_with('"') && start <= 12 {
            let close = format!("\"{}", "#".repeat(hashes));
            return rest[start + 1..]
                .find(&close)
                .map_or(rest.len(), |end| start + 1 + end + close.len());
        }
    }
    let prefix =
        usize::from(rest.starts_with("b\"") || rest.starts_with("c\"") || rest.starts_with("b'"));
    let quoted = &rest[prefix..];
    if quoted.starts_with('"') {
        return prefix + quoted_length(quoted, '"').unwrap_or(quoted.len());
    }
    if let Some(inside) = quoted.strip_prefix('\'') {
        // A lifetime has no closing quote after one character.
        let mut chars = inside.chars();
        let is_char = chars.next() == Some('\\') || chars.next() == Some('\'');
        return if is_char {
            prefix + quoted_length(quoted, '\'').unwrap_or(1)
        } else {
            0
        };
    }
    0
}

fn quoted_length(quoted: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in quoted.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Complains about every line that holds one of the words.
pub(super) fn complain(code: &str, words: &[&str]) -> Vec<String> {
    code.lines()
        .enumerate()
        .flat_map(|(line, text)| {
            words
                .iter()
                .filter(|word| holds(text, word))
                .map(move |word| format!("line {}: {word}", line + 1))
        })
        .collect()
}

/// Tells whether the line holds the word, not as the end of a longer name.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with(char::is_alphabetic)
            || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Returns the top modules that a source imports through `crate::`, also in nested `use` trees.
pub(super) fn imports(code: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (at, found) in code.match_indices("crate::") {
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            continue;
        }
        let rest = &code[at + found.len()..];
        match rest.strip_prefix('{') {
            None => modules.extend(first_name(rest)),
            Some(tree) => {
                let mut depth = 0;
                let mut starts = true;
                for (at, c) in tree.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => starts = true,
                        c if starts && !c.is_whitespace() => {
                            modules.extend(first_name(&tree[at..]));
                            starts = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    modules
}

fn first_name(text: &str) -> Option<String> {
    let name: String = text
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

#[test]
fn code_is_what_is_neither_comment_nor_literal() {
    let cases = [
        ("a // b\nc", "a  \nc"),
        ("a /* b\n */ c", "a  \n c"),
        (r#"a("b \" c") d"#, r#"a("") d"#),
        ("r#\"a \" b\"# c", "\"\" c"),
        ("br\"a\" c", "\"\" c"),
        ("'\"' a \"b\"", "\"\" a \"\""),
        (r"'\'' a", "\"\" a"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("b'\"' x", "\"\" x"),
        ("for\"x\"", "for\"\""),
        ("r#type + x", "r#type + x"),
    ];
    for (text, expected) in cases {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::text;\nuse crate::{files::{A, lsp}, walk,\n run::B};\nlet x = crate::diff::y();\n$crate::dap";
    let expected = ["diff", "files", "run", "text", "walk"].map(str::to_owned);
    assert_eq!(imports(text), BTreeSet::from(expected));
}
