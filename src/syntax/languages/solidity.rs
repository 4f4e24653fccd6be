//! Solidity.

use super::{Context, Language, PLAIN, Rung, Syntax, Wrap};

pub(crate) const ROW: Language = Language {
    id: "solidity",
    aliases: &["sol"],
    extensions: &["sol"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_solidity::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(
            Context::Statement,
            "contract Zs { function zs() public {\n",
            "\n} }",
        ),
        Rung::new(
            Context::Expression,
            "contract Zs { function zs() public { zf(",
            "\n); } }",
        ),
        Rung::new(Context::ClassMember, "contract Zs {\n", "\n}"),
        Rung::new(Context::ClassMember, "struct Zs {\n", "\n}").only(&["struct_member"]),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "contract Zs { ", "\n zs; }").only(&["type_name"]),
        Rung::new(Context::Parameter, "function zs(uint za, ", "\n) {}").only(&["parameter"]),
        Rung::new(Context::Parameter, "error Zs(uint za, ", "\n);").only(&["error_parameter"]),
        Rung::new(Context::Parameter, "event Zs(uint za, ", "\n);").only(&["event_parameter"]),
        Rung::new(
            Context::ObjectMember,
            "contract Zs { function zs() public { zf({za: 1, ",
            "\n}); } }",
        )
        .only(&["call_struct_argument"]),
        Rung::new(Context::Import, "", "\n").only(&["import_directive"]),
    ],
    forms: &["{}", "{};", "T {};", "{}: {}", "T {}", "\"{}\""],
    terminator: Some(";"),
    terminator_optional: false,
    // The grammar keeps the text of strings and numbers with a unit in no child.
    strings: &[
        "string",
        "hex_string_literal",
        "unicode_string_literal",
        "yul_string_literal",
        "number_literal",
    ],
    reserved: &[
        "constructor",
        "contract",
        "else",
        "event",
        "external",
        "function",
        "immutable",
        "import",
        "internal",
        "modifier",
        "override",
        "payable",
        "pragma",
        "private",
        "public",
        "pure",
        "struct",
        "view",
        "virtual",
    ],
    parentheses: Some(("(", ")")),
    wraps: &[
        Wrap::new("member_expression", LOOSER),
        Wrap::new("array_access", LOOSER),
    ],
    ..PLAIN
};

/// What the grammar takes before a `.` or `[` without parentheses and the language does not.
const LOOSER: &[&str] = &[
    "assignment_expression",
    "binary_expression",
    "ternary_expression",
    "unary_expression",
];
