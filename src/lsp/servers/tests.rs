//! Every row of the table is looked at.

use std::collections::BTreeSet;

use super::*;

// Issue 4, point 2: every row that is promised is there, sound, and no id comes twice.
#[test]
fn every_row_is_sound() {
    let mut ids = BTreeSet::new();
    for row in BUILT_IN {
        let id = row.id;
        assert!(ids.insert(id), "{id} comes twice");
        assert!(!row.commands.is_empty(), "{id} has no command");
        assert!(row.commands.iter().all(|words| !words.is_empty()), "{id}");
        assert!(!row.files.is_empty(), "{id} serves no file");
        assert!(!row.install.is_empty(), "{id} does not say how to get it");
        for text in [row.init_options, row.settings] {
            if !text.is_empty() {
                let value: Value = serde_json::from_str(text).expect(id);
                assert!(value.is_object(), "{id}: {text}");
            }
        }
        let row = row.to_row();
        assert!(!row.markers().is_empty(), "{id} has no root marker");
        for (pattern, language) in &row.files {
            assert!(!language.is_empty(), "{id}: {pattern}");
            let name = if pattern.starts_with('.') {
                format!("a{pattern}")
            } else {
                pattern.clone()
            };
            assert_eq!(row.language_of(&name), Some(language.as_str()), "{id}");
        }
        assert_eq!(row.language_of("a.unknown"), None, "{id}");
    }
    for id in [
        "dart",
        "rust-analyzer",
        "clangd",
        "gopls",
        "pyright",
        "basedpyright",
        "ty",
        "pylsp",
        "ruff",
        "typescript-language-server",
        "tsc",
        "lua-language-server",
        "bash-language-server",
        "yaml-language-server",
        "vscode-json",
        "vscode-html",
        "vscode-css",
        "zls",
        "jdtls",
        "kotlin-lsp",
        "sourcekit-lsp",
        "omnisharp",
        "roslyn",
        "ruby-lsp",
        "intelephense",
        "elixir",
        "hls",
        "ocamllsp",
        "nixd",
        "terraform-ls",
        "deno",
        "biome",
        "eslint",
    ] {
        assert!(ids.contains(id), "{id} is missing");
    }
}

// A row that no test runs says so.
#[test]
fn the_rows_that_tests_run_are_the_verified_ones() {
    let verified: Vec<&str> = BUILT_IN
        .iter()
        .filter(|row| !row.unverified)
        .map(|row| row.id)
        .collect();
    assert_eq!(
        verified,
        [
            "rust-analyzer",
            "clangd",
            "gopls",
            "basedpyright",
            "pyright",
            "ty",
            "pylsp",
            "ruff",
            "typescript-language-server",
            "tsc",
            "eslint",
            "biome",
            "bash-language-server",
            "yaml-language-server",
            "vscode-json",
            "vscode-html",
            "vscode-css",
        ]
    );
}

// The linters are beside the primary ones; nothing else is.
#[test]
fn linters_are_marked() {
    let linters: Vec<&str> = BUILT_IN
        .iter()
        .filter(|row| row.slot == Slot::Linter)
        .map(|row| row.id)
        .collect();
    assert_eq!(linters, ["ruff", "eslint", "biome"]);
}

#[test]
fn a_file_that_is_only_an_ending_is_served_by_nobody() {
    let row = BUILT_IN[1].to_row();
    assert_eq!(row.language_of(".rs"), None);
    assert_eq!(row.language_of("a.rs"), Some("rust"));
    assert_eq!(row.language_of("a.rst"), None);
}

// rust-analyzer runs `rustup component add` where the sources of the standard library are missing, and a
// toolchain file makes rustup fetch a toolchain: a question must not install anything.
#[test]
fn rust_analyzer_fetches_nothing_by_itself() {
    let row = BUILT_IN
        .iter()
        .find(|row| row.id == "rust-analyzer")
        .expect("it is built in")
        .to_row();
    let of = |name: &str| row.env.iter().find(|(known, _)| known == name);
    let server = of("RUSTUP_DIST_SERVER").map(|(_, value)| value.as_str());
    assert_eq!(server, Some("http://127.0.0.1:9"), "a closed port");
    let install = of("RUSTUP_AUTO_INSTALL").map(|(_, value)| value.as_str());
    assert_eq!(install, Some("0"));
}
