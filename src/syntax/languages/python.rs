//! Python.

use super::{Context, Language, PLAIN, Rung, Syntax};

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
        Rung::new(Context::Statement, "", "\n"),
        Rung::new(Context::Expression, "zf(", "\n)"),
        Rung::new(Context::Type, "zs: ", "\n").only(&["type"]),
        Rung::new(Context::Parameter, "def zs(", "\n): pass\n"),
        Rung::new(Context::MatchArm, "match zs:\n", "\n").only(&["case_clause"]),
        Rung::new(Context::ObjectMember, "zs = {", "\n}").only(&["pair", "dictionary_splat"]),
        Rung::new(Context::Decorator, "@za\n", "\ndef zs(): pass\n").only(&["decorator"]),
    ],
    forms: &["{}", "{}: {}", "case {}: pass", "\"{}\"", "except {}: pass"],
    terminator: None,
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["#"],
    trivia: &["line_continuation"],
    lists: &["block"],
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
    ..PLAIN
};
