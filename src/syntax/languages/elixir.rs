//! elixir.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "elixir",
    aliases: &["ex", "exs"],
    extensions: &["ex", "exs"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_elixir::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
