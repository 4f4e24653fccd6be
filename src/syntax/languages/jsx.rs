//! jsx.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "jsx",
    aliases: &[],
    extensions: &["jsx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
