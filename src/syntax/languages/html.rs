//! HTML: elements and attributes; scripts and styles are code of other languages.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "html",
    aliases: &["htm", "xhtml"],
    extensions: &["html", "htm", "xhtml"],
    file_names: &[],
    interpreters: &[],
    grammar: || tree_sitter_html::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "<zs>\n", "</zs>").only(&[
            "element",
            "script_element",
            "style_element",
            "entity",
        ]),
        Rung::new(Context::Declaration, "", "\n<zs></zs>").only(&["doctype"]),
        Rung::new(Context::ObjectMember, "<zs za ", " ze></zs>").only(&["attribute"]),
        Rung::new(Context::Decorator, "<zs za ", " ze></zs>").only(&["attribute"]),
    ],
    forms: &["{}", "\"{}\""],
    terminator_optional: true,
    separators: &[],
    comment_starts: &["<!--"],
    // The grammar keeps the text of a doctype in no child.
    strings: &["quoted_attribute_value", "doctype"],
    text: &["text"],
    ..PLAIN
};
