//! Swift: statements without terminators, closures, attributes.

use super::{Context, Language, PLAIN, Rung, Syntax, Wrap};

pub(crate) const ROW: Language = Language {
    id: "swift",
    aliases: &["swiftlang"],
    extensions: &["swift", "swiftinterface"],
    file_names: &[],
    interpreters: &["swift"],
    grammar: || tree_sitter_swift::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "func zs() async throws {\n", "\n}\n"),
        Rung::new(Context::Expression, "let zs = zf(", "\n)\n").not(&["value_argument"]),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}\n"),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}\n").only(&["enum_entry"]),
        Rung::new(Context::ClassMember, "protocol Zs {\n", "\n}\n").only(&[
            "protocol_function_declaration",
            "protocol_property_declaration",
        ]),
        Rung::new(Context::Declaration, "", "\n").only(&[
            "class_declaration",
            "function_declaration",
            "operator_declaration",
            "precedence_group_declaration",
            "property_declaration",
            "protocol_declaration",
            "typealias_declaration",
        ]),
        Rung::new(Context::Type, "let zs: ", "\n"),
        Rung::new(Context::Type, "class Zs<", "\n> {}\n").only(&["type_parameter"]),
        Rung::new(Context::Parameter, "func zs(", "\n) {}\n").only(&["parameter"]),
        Rung::new(Context::MatchArm, "func zs() { switch zv {\n", "\n} }\n")
            .only(&["switch_entry"]),
        Rung::new(Context::ObjectMember, "let zs = zf(", "\n)\n").only(&["value_argument"]),
        Rung::new(Context::Decorator, "", "\nclass Zs {}\n").only(&["attribute"]),
        Rung::new(Context::Import, "", "\n").only(&["import_declaration"]),
    ],
    forms: &[
        "{}",
        "{};",
        "{}: T",
        "var {}: T",
        "case {}",
        "case {}: T",
        "func {}()",
    ],
    terminator: Some(";"),
    terminator_optional: true,
    expression_statements: &[],
    lists: &[
        "lambda_function_type",
        "lambda_function_type_parameters",
        "modifiers",
        "statements",
    ],
    strings: &[
        "line_string_literal",
        "multi_line_string_literal",
        "raw_string_literal",
    ],
    clauses: &["catch_block", "else"],
    loose: &[
        "class_body",
        "enum_class_body",
        "protocol_body",
        "source_file",
        "statements",
    ],
    reserved: &[
        "associatedtype",
        "case",
        "catch",
        "class",
        "default",
        "deinit",
        "else",
        "enum",
        "extension",
        "for",
        "func",
        "guard",
        "if",
        "import",
        "in",
        "init",
        "let",
        "protocol",
        "return",
        "struct",
        "subscript",
        "switch",
        "throw",
        "typealias",
        "var",
        "where",
        "while",
    ],
    reserved_kinds: &["simple_identifier", "type_identifier"],
    // Only members and declarations at the top level carry attributes in `modifiers`.
    never: &[
        ("property_declaration", "attribute", ""),
        ("value_argument", "type_modifiers", ""),
    ],
    parentheses: Some(("(", ")")),
    // The precedence groups of the standard library.
    strengths: &[
        ("multiplicative_expression", 11),
        ("additive_expression", 10),
        ("bitwise_operation", 10),
        ("range_expression", 9),
        ("nil_coalescing_expression", 8),
        ("check_expression", 7),
        ("comparison_expression", 6),
        ("equality_expression", 6),
        ("conjunction_expression", 4),
        ("disjunction_expression", 3),
        ("ternary_expression", 2),
    ],
    wraps: &[
        Wrap::new("navigation_expression", LOOSER),
        Wrap::new("postfix_expression", LOOSER),
    ],
    ..PLAIN
};

/// What the grammar takes before a `.` without parentheses and the language does not.
const LOOSER: &[&str] = &["as_expression", "try_expression", "await_expression"];
