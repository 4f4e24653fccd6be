//! Scala.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "scala",
    aliases: &["sc", "sbt", "scala3"],
    extensions: &["scala", "sc", "sbt"],
    file_names: &[],
    interpreters: &["scala", "scala-cli", "amm"],
    grammar: || tree_sitter_scala::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "def zs = {\n", "\n}").not(&["case_clause"]),
        Rung::new(Context::Expression, "val zs = zf(", "\n)"),
        Rung::new(Context::ClassMember, "class Zs {\n", "\n}"),
        Rung::new(Context::Declaration, "", "\n"),
        Rung::new(Context::Type, "type Zs = ", "\n"),
        Rung::new(Context::Parameter, "def zs(", "\n) = zs").only(&["parameter"]),
        Rung::new(Context::Parameter, "class Zs(", "\n)").only(&["class_parameter"]),
        Rung::new(Context::MatchArm, "def zs = zs match {\n", "\n}").only(&["case_clause"]),
        Rung::new(Context::Decorator, "@za ", "\nclass Zs").only(&["annotation"]),
        Rung::new(Context::Import, "import zs.{", "\n}").only(&[
            "arrow_renamed_identifier",
            "as_renamed_identifier",
        ]),
    ],
    forms: &[
        "{}",
        "{}: {}",
        "case {} => {}",
        "\"{}\"",
        "val {} = {}",
        "def {} = {}",
        "{} <- {}",
        "Z{}",
    ],
    terminator: None,
    terminator_optional: true,
    separators: &[",", ";"],
    expression_statements: &[],
    lists: &["indented_block", "indented_cases", "enumerators"],
    loose: &[
        "block",
        "template_body",
        "compilation_unit",
        "enumerators",
        "case_clause",
        "indented_block",
    ],
    strings: &["string", "interpolated_string", "character_literal"],
    reserved: &[
        "case", "catch", "class", "def", "do", "else", "extends", "finally", "for", "if", "import",
        "match", "new", "object", "override", "package", "private", "protected", "return", "throw",
        "trait", "try", "val", "var", "while", "yield",
    ],
    reserved_kinds: &["identifier", "type_identifier"],
    parentheses: Some(("(", ")")),
    ..PLAIN
};
