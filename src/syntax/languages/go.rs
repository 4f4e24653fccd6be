//! go.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "go",
    aliases: &["golang"],
    extensions: &["go"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
