//! swift.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "swift",
    aliases: &[],
    extensions: &["swift"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_swift::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
