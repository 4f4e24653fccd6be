//! zig.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "zig",
    aliases: &[],
    extensions: &["zig"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_zig::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
