//! C: preprocessor lines among the code, declarators in declarations.

use super::{Bracketed, Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "c",
    aliases: &["h", "c99", "c11"],
    extensions: &["c", "h"],
    file_names: &[],
    interpreters: &["tcc"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    stumbles: true,
    rungs: &[
        Rung::new(Context::Statement, "void zs() {\n", "\n}").not(&[
            "case_statement",
            "linkage_specification",
            "preproc_include",
        ]),
        Rung::new(Context::Expression, "void zs() { zf(", "\n); }").not(&["type_descriptor"]),
        Rung::new(Context::Expression, "zt zs = ", "\n;").only(&["initializer_list"]),
        Rung::new(Context::ClassMember, "struct zs {\n", "\n};").not(&[
            "declaration",
            "preproc_call",
            "preproc_directive",
            "preproc_include",
        ]),
        Rung::new(Context::ClassMember, "enum zs {\n", "\n};").only(&["enumerator"]),
        Rung::new(Context::Declaration, "", "\n").not(&["preproc_include"]),
        Rung::new(Context::Type, "void zs() { zx = sizeof(", "\n); }").only(&["type_descriptor"]),
        Rung::new(Context::Parameter, "void zs(", "\n);")
            .only(&["parameter_declaration", "variadic_parameter"]),
        Rung::new(Context::MatchArm, "void zs() { switch (zs) {\n", "\n} }")
            .only(&["case_statement"]),
        Rung::new(Context::ObjectMember, "int zs[] = { ", "\n};").only(&["initializer_pair"]),
        Rung::new(Context::Decorator, "", "\nvoid zs();").only(&[
            "attribute_declaration",
            "attribute_specifier",
            "storage_class_specifier",
        ]),
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
    clauses: &[
        "else_clause",
        "preproc_elif",
        "preproc_elifdef",
        "preproc_else",
    ],
    reserved: &[
        "case", "default", "do", "else", "enum", "for", "if", "return", "struct", "switch",
        "typedef", "union", "while",
    ],
    reserved_kinds: &[
        "identifier",
        "type_identifier",
        "field_identifier",
        "statement_identifier",
    ],
    parentheses: Some(("(", ")")),
    bracketed: SIZEOF,
    type_parentheses: false,
    ..PLAIN
};

/// What `sizeof` measures may be a type or an expression.
pub(super) const SIZEOF: &[Bracketed] = &[Bracketed {
    list: "parenthesized_expression",
    instead: "type_descriptor",
    under: "sizeof_expression",
}];
