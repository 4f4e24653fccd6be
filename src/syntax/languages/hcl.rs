//! HCL, the language of Terraform.
//!
//! Between the elements of an object a line end means what a comma means, so `,` is trivia here.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "hcl",
    aliases: &["terraform", "tf"],
    extensions: &["hcl", "tf", "tfvars", "nomad"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_hcl::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs = 1\n", "\nze = 1\n").only(&["attribute", "block"]),
        Rung::new(Context::Expression, "zs = ", "\n").only(&["expression"]),
        Rung::new(Context::Declaration, "zs = 1\n", "\nze = 1\n").only(&["block"]),
        Rung::new(Context::ObjectMember, "zs = {\nza = 1\n", "\nze = 1\n}\n")
            .only(&["object_elem"]),
    ],
    forms: &["{}", "{} = {}", "\"{}\""],
    terminator_optional: true,
    separators: &[],
    comment_starts: &["#", "//", "/*"],
    trivia: &[","],
    lists: &["body", "function_arguments"],
    strings: &["string_lit", "quoted_template", "heredoc_template"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
