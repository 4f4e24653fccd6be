//! html.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "html",
    aliases: &["htm"],
    extensions: &["html", "htm", "xhtml"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_html::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
