//! cpp.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "cpp",
    aliases: &["c++", "cxx", "cc"],
    extensions: &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp", "tpp", "inl"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
