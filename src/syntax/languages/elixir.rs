//! Elixir.
//!
//! `;` and a line end mean the same between expressions, so `;` is trivia here.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "elixir",
    aliases: &["ex", "exs"],
    extensions: &["ex", "exs"],
    file_names: &["mix.lock", ".iex.exs", ".formatter.exs"],
    interpreters: &["elixir", "iex"],
    grammar: || tree_sitter_elixir::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs do\n", "\nend"),
        Rung::new(Context::Expression, "zs(", "\n)"),
        Rung::new(Context::ClassMember, "defmodule Zs do\n", "\nend"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "@type zs :: ", "\n"),
        Rung::new(Context::Parameter, "def zs(za, ", "\n), do: 1"),
        Rung::new(Context::MatchArm, "case zs do\n", "\n_ -> ze\nend").only(&["stab_clause"]),
        Rung::new(Context::ObjectMember, "%{za: 1, ", "\n}").only(&["pair"]),
        Rung::new(Context::ObjectMember, "%{1 => 1, ", "\n}").only(&["binary_operator"]),
        Rung::new(Context::Decorator, "@za 1\n", "\ndef zs, do: 1").only(&["unary_operator"]),
    ],
    forms: &["{}", "{}: {}", "{} -> {}", "\"{}\"", "Z{}"],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["#"],
    trivia: &[";"],
    expression_statements: &[],
    clauses: &["after_block", "catch_block", "else_block", "rescue_block"],
    lists: &["arguments", "body", "map_content"],
    strings: &[
        "string",
        "charlist",
        "sigil",
        "quoted_atom",
        "quoted_keyword",
    ],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
