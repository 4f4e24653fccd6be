//! ruby.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "ruby",
    aliases: &["rb"],
    extensions: &["rb"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
