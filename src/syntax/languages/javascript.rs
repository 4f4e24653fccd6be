//! JavaScript (with JSX).

use super::{Context, Language, PLAIN, Rung, Syntax};

/// The row; `typescript.rs` builds on its parts.
pub(crate) const ROW: Language = Language {
    id: "javascript",
    aliases: &["js", "mjs", "cjs", "node"],
    extensions: &["js", "mjs", "cjs"],
    file_names: &["Jakefile"],
    interpreters: &["node", "nodejs", "bun"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "async function* zs() {\n", "\n}"),
        Rung::new(Context::Statement, "zl: for (;;) {\n", "\n}"),
        Rung::new(Context::Expression, "async function* zs() { zf(", "\n) }"),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Parameter, "function zs(", "\n) {}"),
        Rung::new(Context::MatchArm, "switch (zs) {\n", "\n}"),
        Rung::new(Context::ObjectMember, "zs = {", "\n}"),
        Rung::new(Context::Decorator, "class Zs { @za ", "\nzm() {} }").only(&["decorator"]),
        Rung::new(Context::Import, "import { ", "\n} from 'zs'").only(&["import_specifier"]),
    ],
    forms: &[
        "{}", "{};", "{}: {}", "case {}:", "{}() {}", "'{}'", "{}={{}}",
    ],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[",", ";"],
    declarators: &["variable_declarator"],
    strings: &["string", "template_string", "regex"],
    attached: &["decorator"],
    text: &["jsx_text"],
    words: &[],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
