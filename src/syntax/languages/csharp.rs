//! csharp.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "csharp",
    aliases: &["c#", "cs"],
    extensions: &["cs", "csx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
