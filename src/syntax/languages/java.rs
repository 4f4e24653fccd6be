//! java.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "java",
    aliases: &[],
    extensions: &["java"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
