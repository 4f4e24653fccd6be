//! Nix: attribute sets, functions, lists.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "nix",
    aliases: &["nixos"],
    extensions: &["nix"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_nix::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        // The nearest that Nix has to a statement.
        Rung::new(Context::Statement, "{ za = 1; ", "\nze = 1; }").only(&[
            "binding",
            "inherit",
            "inherit_from",
        ]),
        Rung::new(Context::Expression, "[(", "\n)]"),
        Rung::new(Context::Parameter, "{ za, ", "\n, ze }: zs").only(&["formal", "ellipses"]),
        Rung::new(Context::ObjectMember, "{ za = 1; ", "\nze = 1; }").only(&[
            "binding",
            "inherit",
            "inherit_from",
        ]),
    ],
    forms: &["{}", "{} = {};", "\"{}\""],
    terminator: Some(";"),
    terminator_optional: false,
    comment_starts: &["#", "/*"],
    expression_statements: &["binding"],
    lists: &["binding_set", "inherited_attrs"],
    strings: &["string_expression", "indented_string_expression"],
    reserved: &["or"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
