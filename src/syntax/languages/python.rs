//! Python.

use super::{Bracketed, Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "python",
    aliases: &["py", "python3"],
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript", "wscript"],
    interpreters: &["python", "pypy"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "", "\n").not(NO_EXPRESSION),
        Rung::new(
            Context::Statement,
            "async def zs():\n  while zc:\n    ",
            "\n",
        )
        .indented("    ")
        .not(NO_EXPRESSION),
        Rung::new(Context::Expression, "zf(", "\n)").not(NO_EXPRESSION),
        // A pair stands here because the grammar takes `"key": value` for a type.
        Rung::new(Context::Expression, "zs = {", "\n}").only(&["pair"]),
        Rung::new(Context::ClassMember, "class Zs:\n    ", "\n")
            .indented("    ")
            .not(NO_EXPRESSION),
        Rung::new(Context::Type, "zs: ", "\n").only(TYPES),
        Rung::new(Context::Parameter, "def zs(", "\n): pass\n").only(PARAMETERS),
        Rung::new(Context::Parameter, "lambda ", ": zs\n").only(PARAMETERS),
        Rung::new(Context::MatchArm, "match zs:\n    ", "\n")
            .indented("    ")
            .only(&["case_clause"]),
        Rung::new(Context::MatchArm, "try:\n    zs\n", "\n")
            .only(&["except_clause", "finally_clause"]),
        Rung::new(Context::ObjectMember, "zs = {", "\n}").only(&["pair", "dictionary_splat"]),
        Rung::new(Context::ObjectMember, "zf(", "\n)").only(&[
            "keyword_argument",
            "dictionary_splat",
            "list_splat",
        ]),
        Rung::new(Context::Decorator, "@za\n", "\ndef zs(): pass\n").only(&["decorator"]),
        Rung::new(Context::Import, "from zs import (", "\n)").only(&["aliased_import"]),
    ],
    forms: &[
        "{}",
        "{}: {}",
        "case {}: pass",
        "\"{}\"",
        "except {}: pass",
        "@{}",
        "{},",
        "elif {}: pass",
    ],
    terminator: None,
    suite: Some("block"),
    leads: &[
        "assert_statement",
        "class_definition",
        "delete_statement",
        "for_statement",
        "function_definition",
        "global_statement",
        "if_statement",
        "import_from_statement",
        "import_statement",
        "nonlocal_statement",
        "raise_statement",
        "return_statement",
        "try_statement",
        "while_statement",
        "with_statement",
    ],
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["#"],
    trivia: &["line_continuation"],
    lists: &["block", "with_clause", "lambda_parameters"],
    declarators: &["as_pattern", "with_item", "wildcard_import"],
    never: &[("type", "as_pattern", "")],
    singles: &["parenthesized_expression"],
    loose: &["module", "block"],
    reserved: &[
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else",
        "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ],
    strings: &["string"],
    attached: &["decorator"],
    tuples: &[
        "tuple",
        "tuple_pattern",
        "expression_list",
        "pattern_list",
        "subscript",
    ],
    parentheses: Some(("(", ")")),
    nonempty: &["block"],
    bracketed: &[Bracketed {
        list: "argument_list",
        instead: "generator_expression",
        under: "call",
    }],
    ..PLAIN
};

/// `x as y` is no expression of its own, whatever the grammar says.
const NO_EXPRESSION: &[&str] = &["as_pattern"];

const TYPES: &[&str] = &["type"];

const PARAMETERS: &[&str] = &[
    "typed_parameter",
    "default_parameter",
    "typed_default_parameter",
    "list_splat_pattern",
    "dictionary_splat_pattern",
    "keyword_separator",
    "positional_separator",
];
