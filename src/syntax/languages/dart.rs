//! Dart: classes, functions, collections, named arguments.

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
        Rung::new(Context::Statement, "zs() async* {\n", "\n}"),
        Rung::new(Context::Expression, "zs() async { zf(", "\n); }").not(&["named_argument"]),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}"),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}").only(&["enum_entry"]),
        Rung::new(Context::Declaration, "", "\n").not(IMPORTS),
        Rung::new(Context::Type, "zs() { zf<", "\n>(); }").only(&["type"]),
        Rung::new(Context::Type, "class Zs<", "\n> {}").only(&["type_parameter"]),
        Rung::new(Context::Parameter, "zs(", "\n) {}").only(&["formal_parameter"]),
        Rung::new(Context::Parameter, "zs({", "\n}) {}").only(&["formal_parameter"]),
        Rung::new(Context::MatchArm, "zs() { switch (zs) {\n", "\n} }"),
        Rung::new(Context::MatchArm, "zs() { zv = switch (zs) {\n", "\n}; }"),
        // A name before the colon is an argument's far more often than a key of a map.
        Rung::new(Context::ObjectMember, "var zs = zf(", "\n);").only(&["named_argument"]),
        Rung::new(Context::ObjectMember, "var zs = { ", "\n};").only(&["map_element"]),
        Rung::new(Context::ObjectMember, "var zs = [", "\n];").only(&[
            "if_element",
            "for_element",
            "spread_element",
        ]),
        Rung::new(Context::Decorator, "@za ", "\nclass Zs {}").only(&["annotation"]),
        Rung::new(Context::Import, "", "\n").only(IMPORTS),
    ],
    forms: &[
        "{}", "{};", "T {};", "{}: {}", "case {}:", "{} => {}", "'{}'",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    lists: &[
        "initialized_identifier_list",
        "static_final_declaration_list",
    ],
    declarators: &["initialized_identifier", "static_final_declaration"],
    // The literals that stand side by side in one `string_literal`.
    strings: &[
        "string_literal_double_quotes",
        "string_literal_double_quotes_multiple",
        "string_literal_single_quotes",
        "string_literal_single_quotes_multiple",
        "raw_string_literal_double_quotes",
        "raw_string_literal_double_quotes_multiple",
        "raw_string_literal_single_quotes",
        "raw_string_literal_single_quotes_multiple",
    ],
    attached: &["annotation", "required"],
    words: &["super", "this"],
    same: &[
        ("assignable_expression", ".", "member_expression"),
        (
            "assignable_expression",
            "?.",
            "null_aware_member_expression",
        ),
        ("assignable_expression", "[", "index_expression"),
    ],
    clauses: &["catch_clause", "finally_clause"],
    reserved: &[
        "case", "catch", "class", "const", "default", "do", "else", "enum", "export", "extends",
        "final", "finally", "for", "if", "import", "in", "is", "new", "part", "return", "switch",
        "throw", "try", "typedef", "var", "void", "while", "with",
    ],
    reserved_kinds: &["identifier", "type_identifier"],
    // Built-in identifiers that stand for a type here are the words of another construct.
    never: &[
        ("local_function_declaration", "annotation", ""),
        // A label before an expression is the name of an argument.
        ("labeled_statement", "expression_statement", ""),
        ("labeled_statement", "local_variable_declaration", ""),
        ("type_identifier", "import", ""),
        ("type_identifier", "export", ""),
        ("type_identifier", "required", ""),
        ("type_identifier", "typedef", ""),
        ("type_identifier", "static", ""),
        ("type_identifier", "factory", ""),
        ("type_identifier", "abstract", ""),
        ("type_identifier", "mixin", ""),
        ("type_identifier", "extension", ""),
        ("type_identifier", "library", ""),
        ("type_identifier", "part", ""),
        ("type_identifier", "external", ""),
    ],
    parentheses: Some(("(", ")")),
    type_parentheses: false,
    ..PLAIN
};

/// The directives at the top of a library.
const IMPORTS: &[&str] = &[
    "import_or_export",
    "library_name",
    "part_directive",
    "part_of_directive",
];
