//! Rust.

use super::{Context, Language, PLAIN, Rung, Syntax, TokenTree};

pub(crate) const ROW: Language = Language {
    id: "rust",
    aliases: &["rs"],
    extensions: &["rs"],
    file_names: &[],
    interpreters: &["rust-script"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "fn zs() {\n", "\n}")
            .not(&["attribute_item", "inner_attribute_item"]),
        Rung::new(Context::Expression, "fn zs() { zf(", "\n) }"),
        Rung::new(Context::ClassMember, "impl Zs {\n", "\n}")
            .not(&["attribute_item", "inner_attribute_item"]),
        Rung::new(Context::Declaration, "", "\n").not(&["attribute_item", "inner_attribute_item"]),
        Rung::new(Context::Type, "type Zs = ", "\n;"),
        Rung::new(Context::Parameter, "fn zs(", "\n) {}"),
        Rung::new(Context::MatchArm, "fn zs() { match zs {\n", "\n} }").only(&["match_arm"]),
        Rung::new(Context::ObjectMember, "fn zs() { Zs { ", "\n} }"),
        Rung::new(Context::ObjectMember, "struct Zs { ", "\n}"),
        Rung::new(Context::Decorator, "#[za]\n", "\nfn zs() {}"),
        Rung::new(Context::Import, "use zs::{", "\n};"),
    ],
    forms: &[
        "{}", "{};", "{}: {}", "{} => {}", "{}: {},", "fn {}();", "#[{}]",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    strings: &["string_literal", "raw_string_literal", "char_literal"],
    attached: &["attribute_item"],
    tuples: &["tuple_expression", "tuple_type", "tuple_pattern"],
    words: &["_"],
    parentheses: Some(("(", ")")),
    token_tree: Some(TokenTree {
        kind: "token_tree",
        parents: &["macro_invocation"],
        scaffolds: &[
            ("fn zs() { zf(", "\n) }", "arguments"),
            ("fn zs() { [", "\n] }", "array_expression"),
            ("fn zs() {", "\n}", "block"),
        ],
    }),
    ..PLAIN
};
