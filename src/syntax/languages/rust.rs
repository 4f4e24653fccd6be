//! Rust: items with attributes, macros whose arguments are code.

use super::{Context, Language, Leading, PLAIN, Rung, Syntax, TokenTree, Wrap};

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
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}").only(&["enum_variant"]),
        Rung::new(Context::Declaration, "", "\n").not(&["attribute_item", "inner_attribute_item"]),
        Rung::new(Context::Type, "type Zs = ", "\n;"),
        Rung::new(Context::Parameter, "fn zs(", "\n) {}").only(&[
            "parameter",
            "self_parameter",
            "variadic_parameter",
        ]),
        Rung::new(Context::Parameter, "fn zs<", "\n>() {}").only(&[
            "type_parameter",
            "const_parameter",
            "lifetime_parameter",
        ]),
        Rung::new(Context::MatchArm, "fn zs() { match zs {\n", "\n} }").only(&["match_arm"]),
        Rung::new(Context::ObjectMember, "fn zs() { Zs { ", "\n} }").only(&[
            "field_initializer",
            "shorthand_field_initializer",
            "base_field_initializer",
        ]),
        Rung::new(Context::ObjectMember, "struct Zs { ", "\n}").only(&["field_declaration"]),
        Rung::new(Context::Decorator, "#[za]\n", "\nfn zs() {}")
            .only(&["attribute_item", "inner_attribute_item"]),
        Rung::new(Context::Import, "use zs::{", "\n};").only(&[
            "use_as_clause",
            "scoped_identifier",
            "scoped_use_list",
            "use_wildcard",
        ]),
    ],
    forms: &[
        "{}",
        "{};",
        "{}: {}",
        "{} => {}",
        "{}: {},",
        "fn {}();",
        "{} => {},",
        "#[{}]",
        "{},",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    strings: &["string_literal", "raw_string_literal", "char_literal"],
    attached: &["attribute_item"],
    tuples: &["tuple_expression", "tuple_type", "tuple_pattern"],
    // The pattern of an arm and its guard: a pattern without a guard finds no arm with one.
    lists: &["match_pattern"],
    // Not `static`, which the lifetime `'static` holds as an identifier.
    reserved: &[
        "as", "async", "break", "const", "continue", "dyn", "else", "enum", "extern", "fn", "for",
        "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
        "struct", "trait", "type", "unsafe", "use", "where", "while",
    ],
    reserved_kinds: &["identifier", "type_identifier"],
    singles: &["parenthesized_expression"],
    outer_separators: &["match_arm"],
    words: &["_"],
    parentheses: Some(("(", ")")),
    wraps: WRAPS,
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

/// What the grammar takes without parentheses and the language does not, or reads otherwise.
const WRAPS: &[Wrap] = &[
    Wrap::new("field_expression", &["type_cast_expression"]),
    Wrap::new("try_expression", &["type_cast_expression"]),
    Wrap::new("await_expression", &["type_cast_expression"]),
    Wrap::new("index_expression", &["type_cast_expression"]),
    Wrap {
        before: "<",
        ..Wrap::new("binary_expression", &["type_cast_expression"])
    },
    Wrap {
        before: "<<",
        ..Wrap::new("binary_expression", &["type_cast_expression"])
    },
    // A statement that begins with a block ends with it.
    Wrap {
        leading: Leading::Below,
        ..Wrap::new(
            "expression_statement",
            &[
                "if_expression",
                "match_expression",
                "block",
                "unsafe_block",
                "loop_expression",
                "while_expression",
                "for_expression",
            ],
        )
    },
];
