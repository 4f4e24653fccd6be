//! C.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "c",
    aliases: &["h"],
    extensions: &["c", "h"],
    file_names: &[],
    interpreters: &["tcc"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "void zs() {\n", "\n}"),
        Rung::new(Context::Expression, "void zs() { zf(", "\n); }"),
        Rung::new(Context::ClassMember, "struct zs {\n", "\n};"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "void zs() { zx = sizeof(", "\n); }").only(&["type_descriptor"]),
        Rung::new(Context::Parameter, "void zs(", "\n);"),
        Rung::new(Context::MatchArm, "void zs() { switch (zs) {\n", "\n} }")
            .only(&["case_statement"]),
        Rung::new(Context::ObjectMember, "int zs[] = { ", "\n};"),
        Rung::new(Context::Import, "", "\n").only(&["preproc_include"]),
    ],
    forms: &["{}", "{};", "T {}", "T {};", "case {}:;"],
    terminator: Some(";"),
    terminator_optional: false,
    declarators: &[
        "init_declarator",
        "pointer_declarator",
        "array_declarator",
        "function_declarator",
        "parenthesized_declarator",
        "attributed_declarator",
    ],
    strings: &["string_literal", "char_literal", "system_lib_string"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
