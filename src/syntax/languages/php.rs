//! php.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "php",
    aliases: &[],
    extensions: &["php"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
