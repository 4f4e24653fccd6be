//! json.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "json",
    aliases: &[],
    extensions: &["json"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
