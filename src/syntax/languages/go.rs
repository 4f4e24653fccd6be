//! Go: statement lists, expression lists, short declarations.

use super::{Context, Language, PLAIN, Rung, Syntax, Wrap};

pub(crate) const ROW: Language = Language {
    id: "go",
    aliases: &["golang"],
    extensions: &["go"],
    file_names: &[],
    interpreters: &["gorun"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "package zp\nfunc zs() {\n", "\n}\n")
            .not(&["import_declaration", "package_clause"]),
        Rung::new(Context::Expression, "package zp\nvar zs = zf(", "\n)\n").not(&[
            "array_type",
            "channel_type",
            "function_type",
            "generic_type",
            "interface_type",
            "map_type",
            "negated_type",
            "parenthesized_type",
            "pointer_type",
            "qualified_type",
            "slice_type",
            "struct_type",
            "type_identifier",
            "variadic_argument",
        ]),
        Rung::new(
            Context::ClassMember,
            "package zp\ntype Zs struct {\n",
            "\n}\n",
        )
        .only(&["field_declaration"]),
        Rung::new(
            Context::ClassMember,
            "package zp\ntype Zs interface {\n",
            "\n}\n",
        )
        .only(&["method_elem", "type_elem"]),
        Rung::new(Context::Declaration, "package zp\n", "\n").only(&[
            "function_declaration",
            "method_declaration",
            "type_declaration",
            "var_declaration",
            "const_declaration",
        ]),
        Rung::new(Context::Declaration, "", "\n").only(&["package_clause"]),
        Rung::new(Context::Declaration, "package zp\nconst (\n", "\n)\n").only(&["const_spec"]),
        Rung::new(Context::Declaration, "package zp\nvar (\n", "\n)\n").only(&["var_spec"]),
        Rung::new(Context::Declaration, "package zp\ntype (\n", "\n)\n")
            .only(&["type_spec", "type_alias"]),
        Rung::new(Context::Type, "package zp\nvar zs ", "\n"),
        Rung::new(Context::Parameter, "package zp\nfunc zs(", "\n) {}\n")
            .only(&["parameter_declaration", "variadic_parameter_declaration"]),
        Rung::new(Context::Parameter, "package zp\nfunc zs[", "\n]() {}\n")
            .only(&["type_parameter_declaration"]),
        Rung::new(
            Context::MatchArm,
            "package zp\nfunc zs() { switch zv {\n",
            "\n} }\n",
        )
        .only(&["expression_case", "default_case"]),
        Rung::new(
            Context::MatchArm,
            "package zp\nfunc zs() { switch zv.(type) {\n",
            "\n} }\n",
        )
        .only(&["type_case", "default_case"]),
        Rung::new(
            Context::MatchArm,
            "package zp\nfunc zs() { select {\n",
            "\n} }\n",
        )
        .only(&["communication_case", "default_case"]),
        Rung::new(Context::ObjectMember, "package zp\nvar zs = Zt{", "\n}\n")
            .only(&["keyed_element", "literal_element"]),
        Rung::new(Context::Import, "package zp\n", "\n").only(&["import_declaration"]),
        Rung::new(Context::Import, "package zp\nimport (\n", "\n)\n").only(&["import_spec"]),
    ],
    forms: &[
        "{}",
        "{};",
        "{} T",
        "{} T;",
        "case {}:",
        "case {} := <-zc:",
        "\"{}\"",
    ],
    terminator: Some(";"),
    terminator_optional: true,
    lists: &["expression_list", "statement_list"],
    declarators: &[
        "const_spec",
        "var_spec",
        "for_clause",
        "range_clause",
        "import_spec",
        "import_spec_list",
    ],
    loose: &[
        "statement_list",
        "field_declaration_list",
        "interface_type",
        "import_spec_list",
        "const_declaration",
        "var_spec_list",
        "type_declaration",
        "source_file",
    ],
    strings: &[
        "interpreted_string_literal",
        "raw_string_literal",
        "rune_literal",
    ],
    parentheses: Some(("(", ")")),
    // Two of these signs side by side are another token.
    wraps: &[
        Wrap {
            after: "-",
            ..Wrap::new("unary_expression", &["unary_expression -"])
        },
        Wrap {
            after: "+",
            ..Wrap::new("unary_expression", &["unary_expression +"])
        },
        Wrap {
            after: "&",
            ..Wrap::new("unary_expression", &["unary_expression &"])
        },
    ],
    ..PLAIN
};
