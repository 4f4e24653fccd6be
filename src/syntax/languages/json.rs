//! JSON, with comments where a file has them.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "json",
    aliases: &["jsonc"],
    extensions: &[
        "json",
        "jsonc",
        "jsonl",
        "ndjson",
        "geojson",
        "webmanifest",
        "code-workspace",
    ],
    file_names: &[
        ".babelrc",
        ".eslintrc",
        ".jshintrc",
        ".prettierrc",
        ".swcrc",
        "composer.lock",
        "flake.lock",
        "Pipfile.lock",
    ],
    interpreters: &[],
    grammar: || tree_sitter_json::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Expression, "[0, ", "\n, 0]"),
        Rung::new(Context::ObjectMember, "{\"zs\": 0, ", "\n, \"ze\": 0}").only(&["pair"]),
    ],
    forms: &["{}", "\"{}\"", "\"{}\": 0"],
    strings: &["string"],
    ..PLAIN
};
