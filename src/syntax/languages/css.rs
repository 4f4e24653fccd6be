//! css.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "css",
    aliases: &[],
    extensions: &["css"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_css::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
