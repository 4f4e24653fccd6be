//! CSS: rules, declarations, selectors, at-rules.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "css",
    aliases: &[],
    extensions: &["css"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_css::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs {\n", "\n}"),
        Rung::new(Context::Statement, "@keyframes zs {\n", "\n}").only(&["keyframe_block"]),
        Rung::new(Context::Expression, "zs { zp: ", "\n}").not(&["important"]),
        Rung::new(Context::Declaration, "", "\n"),
        // What a rule applies to: the nearest that CSS has to a type.
        Rung::new(Context::Type, "", " { zp: zv }"),
        Rung::new(Context::ObjectMember, "zs {\n", "\n}").only(&["declaration"]),
        Rung::new(Context::Import, "", "\n").only(&["import_statement"]),
    ],
    forms: &["{}", "{}: {};", "{}: {}", "{} {z:z}", "\"{}\"", "to {z:{}}"],
    terminator: Some(";"),
    terminator_optional: true,
    separators: &[",", ";"],
    comment_starts: &["/*"],
    expression_statements: &["declaration"],
    // The grammar keeps the digits of a number with a unit, and those of a colour, in no child.
    strings: &[
        "string_value",
        "integer_value",
        "float_value",
        "color_value",
    ],
    ..PLAIN
};
