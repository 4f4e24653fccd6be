//! Command lines as an approval rule sees them.
//!
//! This is no shell, and need not be one: a line is either so plain that every shell runs exactly one
//! program with exactly these words, or it is opaque. What is opaque is never allowed by a rule. Whether it
//! is refused is decided on a loose reading, which takes whatever may start a command for one.

/// Characters that make a shell do more than run one program with these words: separators, expansions,
/// substitutions, redirections, comments, globs and escapes.
const SPECIAL: &[char] = &[
    ';', '&', '|', '<', '>', '(', ')', '{', '}', '[', ']', '$', '`', '\\', '*', '?', '~', '!', '#',
    '^', '\n', '\r', '\0',
];

/// What still has a meaning between double quotes.
const SPECIAL_IN_QUOTES: &[char] = &['$', '`', '\\', '!', '\n', '\r', '\0'];

/// Reads a line as the words of one program call; `None` when a shell may make more of it.
pub fn plain_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        match ch {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == ch => break,
                        '\0' => return None,
                        inner if ch == '"' && SPECIAL_IN_QUOTES.contains(&inner) => return None,
                        inner => quoted.push(inner),
                    }
                }
            }
            special if SPECIAL.contains(&special) => return None,
            // A shell's idea of white space may differ from ours.
            odd if odd.is_control() || odd.is_whitespace() => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    // `A=b program` sets a variable, and `program` may obey it.
    let assigns = words.first().is_some_and(|first| first.contains('='));
    (!words.is_empty() && !assigns).then_some(words)
}

/// Reads every part of a line that may be a command of its own, quotes and escapes dropped.
pub(crate) fn loose_commands(line: &str) -> Vec<Vec<String>> {
    line.split([
        ';', '&', '|', '(', ')', '{', '}', '`', '\n', '\r', '"', '\'',
    ])
    .map(|part| {
        part.split_whitespace()
            .map(|word| word.replace('\\', ""))
            .skip_while(|word| word.contains('=') || word == "!" || is_keyword(word))
            .collect::<Vec<_>>()
    })
    .chain(std::iter::once(
        line.replace(['"', '\'', '\\'], "")
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    ))
    .filter(|words| !words.is_empty())
    .collect()
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "time" | "$"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<String> {
        Some(plain_words(line)?.join("|"))
    }

    // D37: a rule allows only what every shell reads as one call.
    #[test]
    fn plain_lines_are_split_into_words() {
        for (line, expected) in [
            ("cargo test", "cargo|test"),
            ("  cargo\ttest  --lib ", "cargo|test|--lib"),
            ("git commit -m 'a; b && c'", "git|commit|-m|a; b && c"),
            ("echo \"a b\"c", "echo|a bc"),
            ("echo ''", "echo|"),
            ("make CC=gcc", "make|CC=gcc"),
        ] {
            assert_eq!(words(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_a_shell_may_split_or_expand_is_opaque() {
        for line in [
            "cargo test; rm x",
            "cargo test && rm x",
            "cargo test || rm x",
            "cargo test & rm x",
            "cargo test | sh",
            "cargo test `rm x`",
            "cargo test $(rm x)",
            "cargo test \"$(rm x)\"",
            "cargo test \"`rm x`\"",
            "cargo test $X",
            "cargo test > out",
            "cargo test < in",
            "cargo test\nrm x",
            "cargo test\rrm x",
            "cargo test \\\nrm",
            "cargo te\\st",
            "cargo test *",
            "cargo test ~/x",
            "cargo test {a,b}",
            "cargo test # x",
            "cargo test !x",
            "(cargo test)",
            "'cargo test",
            "\"cargo test",
            "X=1 cargo test",
            "cargo\u{b}test",
            "cargo\u{a0}test",
            "cargo \0",
            "",
            "  ",
        ] {
            assert_eq!(words(line), None, "{line:?}");
        }
    }

    #[test]
    fn the_loose_reading_finds_commands_in_the_middle() {
        let starts = |line: &str| {
            loose_commands(line)
                .iter()
                .any(|words| words.starts_with(&["rm".to_owned(), "-rf".to_owned()]))
        };
        for line in [
            "true; rm -rf x",
            "true && rm -rf x",
            "X=1 rm -rf x",
            "echo $(rm -rf x)",
            "r\\m -rf x",
            "'rm' -rf x",
            "if rm -rf x; then :; fi",
            "echo `rm -rf x`",
            "true\nrm -rf x",
        ] {
            assert!(starts(line), "{line:?}");
        }
        assert!(!starts("echo rm -rf x"));
    }
}
