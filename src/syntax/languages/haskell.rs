//! haskell.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "haskell",
    aliases: &["hs"],
    extensions: &["hs"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_haskell::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
