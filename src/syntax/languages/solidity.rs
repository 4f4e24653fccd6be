//! solidity.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "solidity",
    aliases: &["sol"],
    extensions: &["sol"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_solidity::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
