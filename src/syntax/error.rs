//! What can go wrong in structural search, as one enum: every message names its input and the next step.

use crate::syntax::ladder::Refusal;

/// Why a search or a rewrite did not happen.
#[derive(Debug, thiserror::Error)]
pub enum SyntaxError {
    /// The pattern holds nothing.
    #[error("the pattern is empty")]
    EmptyPattern,
    /// The pattern is only a metavariable.
    #[error("the pattern '{pattern}' is a bare metavariable and would match everything")]
    BareMetavariable {
        /// The pattern.
        pattern: String,
    },
    /// The pattern is too long.
    #[error(
        "the pattern has {bytes} bytes; the limit is {}",
        crate::limits::PATTERN_BYTES
    )]
    PatternTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The pattern ends in a colon, in a language whose blocks follow one.
    #[error("the pattern '{}' ends in `:` and has no body", quoted(.pattern))]
    NoBody {
        /// The pattern.
        pattern: String,
        /// The pattern with a body.
        complete: String,
    },
    /// One name is used for a node and for a run.
    #[error("the metavariable {name} is used both as ${name} and as $$${name}")]
    MixedMetavariable {
        /// The name.
        name: String,
    },
    /// No rung took the pattern.
    #[error("the pattern '{}' is no {language} code on any rung: {}", quoted(.pattern), refusal_list(.pattern, .refusals))]
    Unparseable {
        /// The pattern.
        pattern: String,
        /// The language's id.
        language: &'static str,
        /// Why each rung refused it.
        refusals: Vec<Refusal>,
    },
    /// No such language.
    #[error("unknown language '{name}'; known: {known}")]
    UnknownLanguage {
        /// What was asked for.
        name: String,
        /// The ids, separated by commas.
        known: String,
    },
    /// No language was named, and the paths do not tell.
    #[error("no language was named; found here: {found}")]
    LanguageNeeded {
        /// Languages and file counts.
        found: String,
    },
    /// No such rung.
    #[error("unknown context '{name}'; the rungs are: {known}")]
    UnknownContext {
        /// What was asked for.
        name: String,
        /// The names, separated by commas.
        known: String,
    },
    /// A path is not there.
    #[error("no such file or folder: {path}")]
    MissingPath {
        /// The path as given.
        path: String,
    },
    /// A path cannot be used.
    #[error("cannot search {path}: {reason}")]
    BadPath {
        /// The path as given.
        path: String,
        /// Why.
        reason: String,
    },
    /// A glob is not well formed.
    #[error("bad glob '{glob}': {reason}")]
    BadGlob {
        /// The glob.
        glob: String,
        /// Why.
        reason: String,
    },
    /// The template names a metavariable that the pattern does not bind.
    #[error("the rewrite uses {name}, which the pattern does not bind; bound: {bound}")]
    Unbound {
        /// The metavariable as written.
        name: String,
        /// The ones that are bound.
        bound: String,
    },
    /// The rewrite would break files.
    #[error("the rewrite would break {file}: {reason}")]
    Breaks {
        /// The file, as shown.
        file: String,
        /// Where and how.
        reason: String,
    },
    /// The caller cancelled.
    #[error("the search was cancelled")]
    Cancelled,
}

/// The longest list of reasons; a reader wants the first, and `explain` shows all of them.
const REASONS_CHARS: usize = 200;

/// The longest part of a pattern that is quoted.
const QUOTED_CHARS: usize = 60;

/// The pattern's beginning, on one line.
fn quoted(pattern: &str) -> String {
    let one_line = pattern.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

/// The reasons, each once with all the rungs that gave it, from the rung that got furthest; as many as
/// there is room for.
fn refusal_list(pattern: &str, refusals: &[Refusal]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for refusal in refusals.iter().filter(|r| !r.no_such_place) {
        match reasons.iter_mut().find(|r| r.0 == refusal.reason) {
            Some(known) => known.1.push(refusal.context.name()),
            None => reasons.push((&refusal.reason, vec![refusal.context.name()])),
        }
    }
    reasons.sort_by_key(|(reason, _)| std::cmp::Reverse(progress(pattern, reason)));
    let mut list = String::new();
    let mut n_left: usize = reasons.iter().map(|(_, contexts)| contexts.len()).sum();
    for (reason, contexts) in &reasons {
        let text = format!("as {}: {reason}", contexts.join(", "));
        if !list.is_empty() {
            if list.chars().count() + text.chars().count() > REASONS_CHARS {
                list.push_str(&format!("; nor on {n_left} other rungs"));
                break;
            }
            list.push_str("; ");
        }
        list.push_str(&text);
        n_left -= contexts.len();
    }
    list
}

/// How much of the pattern was read before the parser gave up: all of it where the reason is no place.
fn progress(pattern: &str, reason: &str) -> usize {
    let place = reason.split_once(" at `").map(|(_, rest)| rest);
    match place.and_then(|rest| rest.strip_suffix('`')) {
        // A long place is quoted by its beginning.
        Some(place) => pattern.find(place.trim_end_matches('…')).unwrap_or(0),
        None => pattern.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::languages::Context;

    fn message(pattern: &str, reasons: &[(Context, &str)]) -> String {
        let refusals = reasons.iter().map(|(context, reason)| Refusal {
            context: *context,
            reason: (*reason).to_owned(),
            no_such_place: false,
        });
        SyntaxError::Unparseable {
            pattern: pattern.to_owned(),
            language: "python",
            refusals: refusals.collect(),
        }
        .to_string()
    }

    // R56, D14: the rung that read most of the pattern comes first.
    #[test]
    fn the_rung_that_got_furthest_is_named_first() {
        let reasons = [
            (Context::Statement, "syntax error at `f(a, (`"),
            (Context::Expression, "syntax error at `(`"),
            (Context::Type, "syntax error at `f(a, (`"),
        ];
        assert_eq!(
            message("f(a, (", &reasons),
            "the pattern 'f(a, (' is no python code on any rung: as expression: syntax error at `(`; \
             as statement, type: syntax error at `f(a, (`"
        );
        let whole = [
            (Context::Statement, "syntax error at `else`"),
            (Context::MatchArm, "it would be read as else_clause"),
        ];
        assert!(message("else: x", &whole).contains("rung: as match arm: it would"));
    }

    #[test]
    fn a_long_list_is_cut() {
        let long = format!("'x' is missing at `{}`", "y".repeat(90));
        let other = format!("'z' is missing at `{}`", "y".repeat(90));
        let reasons = [
            (Context::Statement, long.as_str()),
            (Context::Expression, other.as_str()),
            (Context::Type, "syntax error at `q`"),
        ];
        let text = message(&"p ".repeat(300), &reasons);
        assert!(text.ends_with("; nor on 2 other rungs"), "{text}");
        assert!(text.chars().count() <= 300, "{text}");
    }
}
