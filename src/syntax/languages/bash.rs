//! bash.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "bash",
    aliases: &["sh", "shell", "zsh"],
    extensions: &["sh", "bash", "zsh", "ksh"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[Rung::new(Context::Statement, "", "\n")],
    ..PLAIN
};
