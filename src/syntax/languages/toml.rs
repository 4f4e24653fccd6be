//! TOML: tables and pairs.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "toml",
    aliases: &[],
    extensions: &["toml"],
    file_names: &[
        "Cargo.lock",
        "Gopkg.lock",
        "Pipfile",
        "pdm.lock",
        "poetry.lock",
        "uv.lock",
    ],
    interpreters: &[],
    grammar: || tree_sitter_toml_ng::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs = 0\n", "\n[ze]\n").only(&[
            "pair",
            "table",
            "table_array_element",
        ]),
        Rung::new(Context::Expression, "zs = ", "\n").not(&["pair"]),
        Rung::new(Context::Declaration, "zs = 0\n", "\n[ze]\n")
            .only(&["table", "table_array_element"]),
        Rung::new(Context::ObjectMember, "zs = { za = 0, ", ", ze = 0 }\n").only(&["pair"]),
    ],
    forms: &["{}", "\"{}\"", "{} = 0"],
    terminator_optional: true,
    comment_starts: &["#"],
    // The grammar keeps the text of strings in no child.
    strings: &["string", "quoted_key"],
    ..PLAIN
};
