//! yaml.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "yaml",
    aliases: &["yml"],
    extensions: &["yaml", "yml"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_yaml::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
