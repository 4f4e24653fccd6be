//! tsx.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "tsx",
    aliases: &[],
    extensions: &["tsx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
