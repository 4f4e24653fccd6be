//! Bash and the shells that its grammar reads.
//!
//! `;` and a line end mean the same between commands, so `;` is trivia here; `;;` ends a case item and
//! may be absent after the last one, which makes it a separator.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "bash",
    aliases: &["sh", "shell", "zsh", "ksh"],
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"],
    file_names: &[
        "PKGBUILD",
        "APKBUILD",
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".kshrc",
        ".envrc",
    ],
    interpreters: &["bash", "sh", "zsh", "ksh", "mksh", "dash", "ash"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // A substitution or a string on its own is more often wanted as an argument than as the name
        // of a command.
        Rung::new(Context::Statement, "zs ", "\n").only(&[
            "ansi_c_string",
            "arithmetic_expansion",
            "command_substitution",
            "expansion",
            "process_substitution",
            "raw_string",
            "simple_expansion",
            "string",
            "translated_string",
        ]),
        Rung::new(Context::Statement, "zs\n", "\nze\n"),
        Rung::new(Context::Expression, "zs ", "\n"),
        Rung::new(Context::Expression, "[[ ", " ]]\n"),
        Rung::new(Context::Expression, "zs $(( ", " ))\n"),
        Rung::new(Context::Declaration, "zs\n", "\nze\n").only(&[
            "function_definition",
            "declaration_command",
            "variable_assignment",
            "variable_assignments",
        ]),
        Rung::new(Context::MatchArm, "case zs in\n", "\nze) ;;\nesac\n").only(&["case_item"]),
    ],
    forms: &["{}", "{};", "{}) ;;", "\"{}\""],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[";;"],
    comment_starts: &["#"],
    trivia: &[";"],
    expression_statements: &["command"],
    // `return` alone is a command, not the word in `return 1`.
    whole: &["command"],
    clauses: &["elif_clause", "else_clause"],
    strings: &[
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "heredoc_body",
    ],
    ..PLAIN
};
