//! toml.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "toml",
    aliases: &[],
    extensions: &["toml"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_toml_ng::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
