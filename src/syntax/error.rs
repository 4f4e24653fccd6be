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
    /// One name is used for a node and for a run.
    #[error("the metavariable {name} is used both as ${name} and as $$${name}")]
    MixedMetavariable {
        /// The name.
        name: String,
    },
    /// No rung took the pattern.
    #[error("the pattern '{pattern}' is no {language} code on any rung: {}", refusal_list(.refusals))]
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

/// The reasons, each once with all the rungs that gave it.
fn refusal_list(refusals: &[Refusal]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for refusal in refusals.iter().filter(|r| !r.no_such_place) {
        match reasons.iter_mut().find(|r| r.0 == refusal.reason) {
            Some(known) => known.1.push(refusal.context.name()),
            None => reasons.push((&refusal.reason, vec![refusal.context.name()])),
        }
    }
    reasons
        .iter()
        .map(|(reason, contexts)| format!("as {}: {reason}", contexts.join(", ")))
        .collect::<Vec<_>>()
        .join("; ")
}
