//! Dollars in a rewrite that look like metavariables and are literal text (D8).

use crate::syntax::hint::DOLLAR_NAMES;
use crate::syntax::metavar::{Piece, lex};

/// Languages whose strings hold `$name`, be it as interpolation or as a usual key.
const DOLLAR_STRINGS: [&str; 7] = ["dart", "kotlin", "scala", "json", "yaml", "toml", "html"];

/// A warning for each `$name` and `$$NAME` of a template that its pattern does not hold too.
pub(super) fn literal(template: &str, pattern: &str, language: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if DOLLAR_NAMES.contains(&language) {
        return warnings;
    }
    let mut quote = None;
    let mut known: Vec<String> = names(pattern, &mut None)
        .into_iter()
        .map(|n| n.text)
        .collect();
    for name in names(template, &mut quote) {
        if known.contains(&name.text) || name.quoted && DOLLAR_STRINGS.contains(&language) {
            continue;
        }
        let bare = name.text.trim_start_matches('$').to_ascii_uppercase();
        let meant = match name.text.starts_with("$$") {
            true => format!("a run is written $$${bare}, one node ${bare}"),
            false => format!("a metavariable is written ${bare}"),
        };
        warnings.push(format!(
            "`{}` in the rewrite is literal text; {meant}",
            name.text
        ));
        known.push(name.text);
    }
    warnings
}

struct Name {
    text: String,
    quoted: bool,
}

/// The `$name`, `$Name` and `$$NAME` in the literal text of a pattern or template.
fn names(text: &str, quote: &mut Option<char>) -> Vec<Name> {
    let mut names = Vec::new();
    for piece in lex(text) {
        let Piece::Text(text) = piece else { continue };
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            match c {
                '"' | '\'' | '`' if *quote == Some(c) => *quote = None,
                '"' | '\'' | '`' if quote.is_none() => *quote = Some(c),
                '$' => {
                    let n_dollars = rest.bytes().take_while(|b| *b == b'$').count();
                    let name = &rest[n_dollars..];
                    let n_name = name
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(name.len());
                    let name = &name[..n_name];
                    let looks = name.starts_with(|c: char| c.is_ascii_alphabetic())
                        && match n_dollars {
                            // A whole name in upper case is here only where it was escaped.
                            1 => name.contains(|c: char| c.is_ascii_lowercase()),
                            2 => true,
                            _ => false,
                        };
                    if looks {
                        names.push(Name {
                            text: rest[..n_dollars + n_name].to_owned(),
                            quoted: quote.is_some(),
                        });
                    }
                    rest = &rest[n_dollars + n_name..];
                    continue;
                }
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    // D8: what looks like a metavariable and is none is said, once.
    #[test]
    fn lower_case_and_doubled_dollars_are_said() {
        assert_eq!(
            literal("g($x, $x, $A)", "f($A)", "python"),
            ["`$x` in the rewrite is literal text; a metavariable is written $X"]
        );
        assert_eq!(
            literal("g($$ARGS, $Ab)", "f($$$ARGS)", "rust"),
            [
                "`$$ARGS` in the rewrite is literal text; a run is written $$$ARGS, one node $ARGS",
                "`$Ab` in the rewrite is literal text; a metavariable is written $AB",
            ]
        );
        assert_eq!(literal("g(\"$x\", $A)", "f($A)", "javascript").len(), 1);
    }

    #[test]
    fn dollars_that_are_meant_are_not() {
        for (template, pattern, language) in [
            ("g($A, $1, ${b}, \\$NAME, $)", "f($A)", "javascript"),
            ("echo $x $A", "echo $A", "bash"),
            ("$el.show($A)", "$el.hide($A)", "javascript"),
            ("log('$x is $A')", "print($A)", "dart"),
            ("{\"$ref\": $A}", "{\"ref\": $A}", "json"),
        ] {
            let none: [&str; 0] = [];
            assert_eq!(literal(template, pattern, language), none, "{template}");
        }
    }
}
