//! kotlin.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "kotlin",
    aliases: &["kt"],
    extensions: &["kt", "kts"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
