//! scala.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "scala",
    aliases: &[],
    extensions: &["scala", "sc", "sbt"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_scala::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
