//! JSX: JavaScript under the extension that React sources use.

use super::{Language, javascript};

pub(crate) const ROW: Language = Language {
    id: "jsx",
    aliases: &["javascriptreact"],
    extensions: &["jsx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    syntax: javascript::SYNTAX,
};
