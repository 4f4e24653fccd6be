//! Lua: statements without terminators, tables.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "lua",
    aliases: &["luajit"],
    extensions: &["lua", "rockspec"],
    file_names: &[".luacheckrc"],
    interpreters: &["lua", "luajit", "texlua"],
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "function zs(...)\n", "\nend"),
        Rung::new(Context::Expression, "zs(", "\n)"),
        Rung::new(Context::Declaration, "", "\n")
            .only(&["function_declaration", "variable_declaration"]),
        Rung::new(Context::Parameter, "function zs(za, ", "\n) end")
            .only(&["identifier", "vararg_expression"]),
        Rung::new(Context::ObjectMember, "zs = { ", "\n}").only(&["field"]),
    ],
    forms: &["{}", "{}()", "{} = {}", "\"{}\""],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["--"],
    // A lone `;` is a statement of its own.
    trivia: &["empty_statement"],
    expression_statements: &["function_call"],
    lists: &["block", "expression_list", "variable_list"],
    strings: &["string"],
    // `local x = 1` holds the assignment `x = 1` as a node of its own.
    attached: &["local"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
