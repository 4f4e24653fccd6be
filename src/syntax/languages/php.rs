//! PHP: code inside of tags, variables with a dollar.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "php",
    aliases: &["php8", "phtml"],
    extensions: &["php", "phtml", "php3", "php4", "php5", "phps", "inc"],
    file_names: &[],
    interpreters: &["php"],
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(
            Context::Statement,
            "<?php function zs() { while (1) {\n",
            "\n} }",
        )
        .not(NO_STATEMENT),
        // A `switch`, in which `default:` is no label.
        Rung::new(Context::Statement, "<?php switch (zs) { case zs:\n", "\n}")
            .only(&["named_label_statement"]),
        Rung::new(Context::Expression, "<?php zf(", "\n);").not(NO_EXPRESSION),
        // An entry of an array stands here because `key => value` would pass for an arm.
        Rung::new(Context::Expression, "<?php zf([", "\n]);").only(&["array_element_initializer"]),
        Rung::new(Context::ClassMember, "<?php class Zs {\n", "\n}"),
        Rung::new(Context::ClassMember, "<?php enum Zs {\n", "\n}"),
        Rung::new(Context::Declaration, "<?php\n", "\n"),
        Rung::new(Context::Type, "<?php function zs(): ", "\n{}").not(&["name"]),
        Rung::new(Context::Parameter, "<?php function zs(", "\n) {}"),
        Rung::new(
            Context::Parameter,
            "<?php class Zs { function __construct(",
            "\n) {} }",
        ),
        Rung::new(Context::MatchArm, "<?php switch (zs) {\n", "\n}")
            .only(&["case_statement", "default_statement"]),
        Rung::new(Context::MatchArm, "<?php $zs = match (zs) {\n", "\n};")
            .only(&["match_conditional_expression", "match_default_expression"]),
        Rung::new(Context::MatchArm, "<?php try {} ", "\n")
            .only(&["catch_clause", "finally_clause"]),
        Rung::new(Context::ObjectMember, "<?php zf([", "\n]);")
            .only(&["array_element_initializer"]),
        Rung::new(Context::Decorator, "<?php ", "\nfunction zs() {}")
            .only(&["attribute_list", "attribute_group"]),
        Rung::new(Context::Import, "<?php use zs\\{", "\n};").only(&["namespace_use_clause"]),
    ],
    // A variable first, so that `"v={$X}"` is an interpolation and `$X->y()` has an object.
    forms: &[
        "${}",
        "${};",
        "{}",
        "{};",
        "'{}'",
        "'{}' => {}",
        "case {}:",
        "case {};",
        "const {} = 1;",
        "{} => {}",
        "{}()",
    ],
    terminator: Some(";"),
    terminator_optional: false,
    comment_starts: &["//", "/*", "#"],
    lists: &["sequence_expression", "match_condition_list"],
    declarators: &[
        "property_element",
        "static_variable_declaration",
        "const_element",
        "pair",
    ],
    strings: &[
        "string",
        "encapsed_string",
        "heredoc",
        "nowdoc",
        "shell_command_expression",
    ],
    reserved: &["default", "case"],
    reserved_kinds: &["name"],
    keywords_ignore_case: true,
    parentheses: Some(("(", ")")),
    ..PLAIN
};

/// Kinds that stand in a body only by a misreading.
const NO_STATEMENT: &[&str] = &[
    "text",
    "text_interpolation",
    "php_tag",
    "named_label_statement",
];

/// Arguments that are no expressions.
const NO_EXPRESSION: &[&str] = &["variadic_placeholder"];
