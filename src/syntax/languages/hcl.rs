//! hcl.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "hcl",
    aliases: &["terraform", "tf"],
    extensions: &["hcl", "tf", "tfvars"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_hcl::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
