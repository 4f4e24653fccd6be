//! YAML: mappings and sequences.

use super::{Context, Language, PLAIN, Rung, Syntax};

pub(crate) const ROW: Language = Language {
    id: "yaml",
    aliases: &["yml"],
    extensions: &["yaml", "yml"],
    file_names: &[
        ".clang-format",
        ".clang-tidy",
        ".clangd",
        ".gemrc",
        "CITATION.cff",
    ],
    interpreters: &[],
    grammar: || tree_sitter_yaml::LANGUAGE.into(),
    syntax: SYNTAX,
};

const SYNTAX: Syntax = Syntax {
    rungs: &[
        Rung::new(Context::Statement, "zs: 1\n", "\nze: 1\n").only(&["block_mapping_pair"]),
        Rung::new(Context::Statement, "- zs\n", "\n- ze\n").only(&["block_sequence_item"]),
        Rung::new(Context::Expression, "zs: ", "\nze: 1\n").only(&["flow_node", "block_node"]),
        Rung::new(Context::Declaration, "", "\n---\nze: 1\n").only(&["document"]),
        Rung::new(Context::ObjectMember, "zs: { za: 1, ", "\n , ze: 1 }\n").only(&["flow_pair"]),
        Rung::new(Context::ObjectMember, "zs: 1\n", "\nze: 1\n").only(&["block_mapping_pair"]),
    ],
    forms: &["{}", "{}: {}", "- {}", "\"{}\""],
    terminator_optional: true,
    comment_starts: &["#"],
    // A run over a whole mapping or sequence captures its pairs or items.
    lists: &["block_mapping", "block_sequence"],
    // The grammar keeps the text of these in no child.
    strings: &[
        "double_quote_scalar",
        "single_quote_scalar",
        "block_scalar",
        "yaml_directive",
    ],
    ..PLAIN
};
