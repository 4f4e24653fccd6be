//! Java: members with modifiers, statements in methods, lambdas.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "java",
    aliases: &["jdk"],
    extensions: &["java", "jav"],
    file_names: &[],
    interpreters: &["java"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "class Zs { void zs() {\n", "\n} }\n")
            .not(&[
                "import_declaration",
                "package_declaration",
                "module_declaration",
            ])
            .without_words(&[
                "private",
                "protected",
                "public",
                "static",
                "native",
                "volatile",
                "transient",
                "default",
            ]),
        // `super(..)` and `this(..)` stand in constructors only.
        Rung::new(Context::Statement, "class Zs { Zs() {\n", "\n} }\n")
            .not(&[
                "import_declaration",
                "package_declaration",
                "module_declaration",
            ])
            .without_words(&[
                "private",
                "protected",
                "public",
                "static",
                "native",
                "volatile",
                "transient",
                "default",
            ]),
        Rung::new(
            Context::Expression,
            "class Zs { void zs() { zf(",
            "\n); } }\n",
        ),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}\n"),
        Rung::new(Context::ClassMember, "enum Zs {\n", "\n}\n").only(&["enum_constant"]),
        Rung::new(Context::ClassMember, "@interface Zs {\n", "\n}\n")
            .only(&["annotation_type_element_declaration"]),
        Rung::new(Context::ClassMember, "record Zs(int zv) {\n", "\n}\n")
            .only(&["compact_constructor_declaration"]),
        Rung::new(Context::Declaration, "", "\n").only(&[
            "annotation_type_declaration",
            "class_declaration",
            "enum_declaration",
            "interface_declaration",
            "module_declaration",
            "package_declaration",
            "record_declaration",
        ]),
        Rung::new(Context::Type, "class Zs { ", "\nzf; }\n"),
        Rung::new(Context::Type, "class Zs<", "\n> {}\n").only(&["type_parameter"]),
        Rung::new(Context::Type, "class Zs { Zl<", "\n> zf; }\n").only(&["wildcard"]),
        Rung::new(Context::Parameter, "class Zs { void zs(", "\n) {} }\n").only(&[
            "formal_parameter",
            "spread_parameter",
            "receiver_parameter",
        ]),
        Rung::new(
            Context::MatchArm,
            "class Zs { void zs() { switch (zv) {\n",
            "\n} } }\n",
        )
        .only(&["switch_block_statement_group", "switch_rule"]),
        Rung::new(Context::ObjectMember, "@Za(", "\n) class Zs {}\n").only(&["element_value_pair"]),
        Rung::new(Context::Decorator, "", "\nclass Zs {}\n")
            .only(&["annotation", "marker_annotation"]),
        Rung::new(Context::Import, "", "\n").only(&["import_declaration"]),
    ],
    forms: &[
        "{}",
        "{};",
        "T {}",
        "T {};",
        "case {}:",
        "case {} -> T;",
        "{} = T",
        "exports {};",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    lists: &["type_list", "modifiers"],
    declarators: &["variable_declarator"],
    strings: &["string_literal", "character_literal"],
    clauses: &[
        "switch_label",
        "catch_clause",
        "finally_clause",
        "enum_body_declarations",
    ],
    reserved: &[
        "case",
        "catch",
        "class",
        "default",
        "else",
        "enum",
        "extends",
        "final",
        "finally",
        "for",
        "if",
        "implements",
        "import",
        "interface",
        "new",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "switch",
        "throw",
        "throws",
        "try",
        "void",
        "while",
    ],
    same: &[("inferred_parameters", "", "formal_parameters")],
    reserved_kinds: &["identifier", "type_identifier"],
    parentheses: Some(("(", ")")),
    type_parentheses: false,
    ..PLAIN
};
