//! Dart.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "dart",
    aliases: &["flutter"],
    extensions: &["dart"],
    file_names: &[],
    interpreters: &["dart"],
    grammar: || tree_sitter_dart::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs() async {\n", "\n}"),
        Rung::new(Context::Expression, "zs() async { zf(", "\n); }"),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "zs() { zf<", "\n>(); }"),
        Rung::new(Context::Parameter, "zs(", "\n) {}"),
        Rung::new(Context::MatchArm, "zs() { switch (zs) {\n", "\n} }"),
        Rung::new(Context::MatchArm, "zs() { zv = switch (zs) {\n", "\n}; }"),
        Rung::new(Context::ObjectMember, "var zs = { ", "\n};"),
        Rung::new(Context::Decorator, "@za ", "\nclass Zs {}"),
        Rung::new(Context::Import, "", "\n"),
    ],
    forms: &[
        "{}", "{};", "T {};", "{}: {}", "case {}:", "{} => {}", "'{}'",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    parentheses: Some(("(", ")")),
    ..PLAIN
};
