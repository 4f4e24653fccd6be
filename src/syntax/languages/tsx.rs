//! TSX: TypeScript with JSX.

use super::{Language, typescript};

pub(crate) const ROW: Language = Language {
    id: "tsx",
    aliases: &["typescriptreact", "react"],
    extensions: &["tsx"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    syntax: typescript::SYNTAX,
};
