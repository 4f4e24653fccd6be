//! Zig: declarations, functions, switches.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "zig",
    aliases: &[],
    extensions: &["zig", "zon"],
    file_names: &[],
    interpreters: &["zig"],
    grammar: || tree_sitter_zig::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // In a block, `fn f() T { x }` with a terminator after it is an initializer of a function type.
        Rung::new(Context::Statement, "", "\n").only(&["function_declaration"]),
        Rung::new(Context::Statement, "fn zs() void {\n", "\n}"),
        Rung::new(Context::Expression, "const zs = zf(", "\n);"),
        Rung::new(Context::ClassMember, "const Zs = struct {\n", "\n};"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "const zs: ", "\n = 1;"),
        Rung::new(Context::Parameter, "fn zs(", "\n) void {}").only(&["parameter"]),
        Rung::new(
            Context::MatchArm,
            "const zs = switch (zs) {\n1 => 1,\n",
            "\n};",
        )
        .only(&["switch_case"]),
        Rung::new(Context::ObjectMember, "const zs = .{ .za = 1, ", "\n};")
            .only(&["assignment_expression"]),
    ],
    forms: &["{}", "{};", "{}: {}", "{} => {}", ".{} = {}", "\"{}\""],
    terminator: Some(";"),
    terminator_optional: false,
    comment_starts: &["//"],
    strings: &["string", "multiline_string", "character"],
    reserved: &["else", "fn", "if", "return", "struct", "switch", "while"],
    words: &["null", "undefined", "unreachable"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
