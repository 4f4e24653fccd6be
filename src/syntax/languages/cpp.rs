//! C++: what C has, and classes, templates and lambdas.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "cpp",
    aliases: &["c++", "cc", "cxx", "hpp"],
    extensions: &[
        "cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl", "tpp", "cu", "cuh",
        "ino",
    ],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // The grammar would take a lambda that stands alone for a function without a name.
        Rung::new(Context::Statement, "void zs() { zf(", "\n); }").only(&["lambda_expression"]),
        Rung::new(Context::Statement, "void zs() {\n", "\n}")
            .not(NO_STATEMENT)
            .without_words(&["virtual", "explicit", "mutable", "friend", "override"]),
        Rung::new(Context::Expression, "void zs() { zf(", "\n); }").not(NO_EXPRESSION),
        Rung::new(Context::ClassMember, "struct Zs {\n", "\n};").only(&["function_definition"]),
        Rung::new(Context::ClassMember, "struct Zs {\n", "\n};").not(NO_MEMBER),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n};").only(&["enumerator"]),
        Rung::new(Context::Declaration, "", "\n").not(&["preproc_include", "using_declaration"]),
        Rung::new(Context::Type, "void zs() { zx = sizeof(", "\n); }").only(&["type_descriptor"]),
        Rung::new(Context::Type, "Zt<", "\n> zs;").only(&["type_descriptor"]),
        Rung::new(Context::Parameter, "void zs(", "\n);").only(&[
            "parameter_declaration",
            "optional_parameter_declaration",
            "variadic_parameter_declaration",
        ]),
        Rung::new(Context::Parameter, "template <", "\n> struct Zs;").only(&[
            "parameter_declaration",
            "optional_parameter_declaration",
            "type_parameter_declaration",
            "optional_type_parameter_declaration",
            "variadic_type_parameter_declaration",
            "variadic_parameter_declaration",
            "template_template_parameter_declaration",
        ]),
        Rung::new(Context::MatchArm, "void zs() { switch (zs) {\n", "\n} }")
            .only(&["case_statement"]),
        Rung::new(Context::ObjectMember, "int zs[] = { ", "\n};").only(&["initializer_pair"]),
        Rung::new(Context::ObjectMember, "Zs::Zs() : ", "\n {}").only(&["field_initializer"]),
        Rung::new(Context::Decorator, "", "\nvoid zs();").only(&["attribute_declaration"]),
        Rung::new(Context::Import, "", "\n").only(&["preproc_include", "using_declaration"]),
    ],
    forms: &["{}", "{};", "T {}", "T {};", "case {}:;", "{}()"],
    terminator: Some(";"),
    terminator_optional: false,
    declarators: &[
        "init_declarator",
        "pointer_declarator",
        "reference_declarator",
        "array_declarator",
        "function_declarator",
        "parenthesized_declarator",
        "attributed_declarator",
    ],
    strings: &[
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "system_lib_string",
    ],
    clauses: &[
        "catch_clause",
        "else_clause",
        "preproc_elif",
        "preproc_elifdef",
        "preproc_else",
    ],
    reserved: &[
        "case",
        "catch",
        "class",
        "default",
        "do",
        "else",
        "enum",
        "for",
        "if",
        "namespace",
        "operator",
        "private",
        "protected",
        "public",
        "return",
        "struct",
        "switch",
        "template",
        "throw",
        "try",
        "typedef",
        "typename",
        "union",
        "using",
        "virtual",
        "while",
    ],
    reserved_kinds: &[
        "identifier",
        "type_identifier",
        "field_identifier",
        "namespace_identifier",
        "statement_identifier",
    ],
    never: &[("field_declaration", "parenthesized_declarator", "")],
    parentheses: Some(("(", ")")),
    bracketed: super::c::SIZEOF,
    type_parentheses: false,
    ..PLAIN
};

/// What the grammar takes among statements although it stands elsewhere.
const NO_STATEMENT: &[&str] = &[
    "access_specifier",
    "case_statement",
    "field_declaration",
    "linkage_specification",
    "namespace_definition",
    "preproc_include",
];

/// What the grammar takes among arguments although it is no expression.
const NO_EXPRESSION: &[&str] = &["type_descriptor", "preproc_include"];

/// What the grammar takes among members although it stands elsewhere.
const NO_MEMBER: &[&str] = &["preproc_call", "preproc_directive", "preproc_include"];
