//! nix.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "nix",
    aliases: &[],
    extensions: &["nix"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_nix::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
