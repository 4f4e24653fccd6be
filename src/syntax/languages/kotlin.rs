//! Kotlin.

use super::{Context, Language, PLAIN, Rung, Syntax, Wrap};

pub(crate) const ROW: Language = Language {
    id: "kotlin",
    aliases: &["kt", "kts"],
    extensions: &["kt", "kts", "ktm"],
    file_names: &[],
    interpreters: &["kotlin", "kscript"],
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "fun zs() {\n", "\n}\n").not(&["annotated_expression"]),
        Rung::new(Context::Expression, "val zs = zf(", "\n)\n").not(&["value_argument"]),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}\n"),
        Rung::new(Context::ClassMember, "enum class Zs {\n", "\n}\n").only(&["enum_entry"]),
        Rung::new(Context::Declaration, "", "\n").only(&[
            "class_declaration",
            "file_annotation",
            "function_declaration",
            "object_declaration",
            "package_header",
            "property_declaration",
            "type_alias",
        ]),
        Rung::new(Context::Type, "val zs: ", "\n"),
        Rung::new(Context::Type, "class Zs<", "\n>\n").only(&["type_parameter"]),
        Rung::new(Context::Parameter, "fun zs(", "\n) {}\n"),
        Rung::new(Context::Parameter, "class Zs(", "\n)\n").only(&["class_parameter"]),
        Rung::new(Context::MatchArm, "fun zs() { when (zv) {\n", "\n} }\n").only(&["when_entry"]),
        Rung::new(Context::ObjectMember, "val zs = zf(", "\n)\n").only(&["value_argument"]),
        Rung::new(Context::Decorator, "", "\nclass Zs\n").only(&["annotation"]),
        Rung::new(Context::Import, "", "\n").only(&["import"]),
    ],
    forms: &["{}", "{};", "{}: T", "val {}: T;", "{} -> T"],
    terminator: Some(";"),
    terminator_optional: true,
    expression_statements: &[],
    lists: &[
        "delegation_specifiers",
        "lambda_parameters",
        "modifiers",
        "parameter_modifiers",
    ],
    declarators: &["variable_declaration"],
    strings: &[
        "string_literal",
        "multiline_string_literal",
        "character_literal",
    ],
    attached: &["parameter_modifiers"],
    clauses: &[
        "catch_block",
        "finally_block",
        "getter",
        "setter",
        "lambda_parameters",
        "->",
    ],
    loose: &[
        "block",
        "class_body",
        "enum_class_body",
        "lambda_literal",
        "source_file",
        "when_expression",
    ],
    reserved: &[
        "class",
        "companion",
        "constructor",
        "else",
        "for",
        "fun",
        "if",
        "import",
        "init",
        "interface",
        "object",
        "package",
        "return",
        "throw",
        "try",
        "typealias",
        "val",
        "var",
        "when",
        "while",
    ],
    never: &[
        ("class_declaration", "enum_class_body", "enum"),
        ("value_argument", "annotated_expression", ""),
    ],
    parentheses: Some(("(", ")")),
    wraps: &[
        Wrap::new("navigation_expression", LOOSER),
        Wrap {
            before: "!!",
            ..Wrap::new("unary_expression", LOOSER)
        },
    ],
    line_end_before_brace: true,
    ..PLAIN
};

/// What the grammar takes before a `.` or `!!` without parentheses and the language does not.
const LOOSER: &[&str] = &[
    "as_expression",
    "binary_expression",
    "unary_expression !",
    "unary_expression +",
    "unary_expression -",
];
