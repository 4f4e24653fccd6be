//! lua.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "lua",
    aliases: &[],
    extensions: &["lua"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
