//! The tool `lsp` without a server: its schema, its errors, what it says where nothing is usable.

use serde_json::{Value, json};
use toolbox::tool::{ErrorKind, Tier};
use toolbox::tools::{Resources, connect};

use crate::support::lsp::Project;

fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                found.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| names(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

// R4, R12: without a supervisor there is no tool; R6, R9: it only reads.
#[test]
fn the_tool_exists_with_its_supervisor_and_reads() {
    assert!(connect(&Resources::default()).get("lsp").is_none());
    let project = Project::new(&[]);
    let registry = connect(&project.resources());
    let spec = registry.get("lsp").expect("it is wired");
    assert_eq!(spec.tier, Tier::Read);
}

// R15: the schema has no column, in no spelling. R29, D44: exactly these actions.
#[test]
fn the_schema_has_no_column_and_every_action() {
    let project = Project::new(&[]);
    let registry = connect(&project.resources());
    let schema = &registry.get("lsp").expect("it is wired").schema;
    let mut found = Vec::new();
    names(schema, &mut found);
    found.sort();
    assert_eq!(found, ["action", "file", "line", "query", "symbol"]);
    let actions = schema["properties"]["action"]["enum"]
        .as_array()
        .expect("a list");
    assert_eq!(actions.len(), 14, "{actions:?}");
    assert_eq!(schema["required"], json!(["action"]));
}

// R37: rename is another tool.
#[test]
fn rename_is_an_unknown_action_that_names_the_other_tool() {
    let project = Project::new(&[]);
    let error = project.refuses(
        json!({"action": "rename"}),
        ErrorKind::InvalidArgs,
        "rename",
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("lsp_rename")));
    let error = project.refuses(
        json!({"action": "dance"}),
        ErrorKind::InvalidArgs,
        "'dance'",
    );
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("type_definition"))
    );
}

// R16, D1: a missing symbol is an error on each action that takes one.
#[test]
fn a_symbol_is_never_guessed() {
    let project = Project::new(&[("a.rs", "fn f() {}\n")]);
    for action in [
        "definition",
        "type_definition",
        "implementation",
        "references",
        "hover",
        "code_actions",
        "incoming_calls",
        "outgoing_calls",
        "supertypes",
        "subtypes",
    ] {
        let call = |args: Value, words: &str| {
            let mut all = json!({"action": action});
            all.as_object_mut()
                .expect("an object")
                .extend(args.as_object().expect("one").clone());
            project.refuses(all, ErrorKind::InvalidArgs, words);
        };
        call(json!({"file": "a.rs", "line": 1}), "needs symbol");
        call(json!({"file": "a.rs", "symbol": "f"}), "needs line");
        call(json!({"line": 1, "symbol": "f"}), "needs file");
    }
}

// D1: the line is quoted, before any server is started.
#[test]
fn a_wrong_line_is_quoted() {
    let project = Project::new(&[("a.rs", "fn f() {}\nlet x = 1;\n")]);
    let args = json!({"action": "hover", "file": "a.rs", "line": 2, "symbol": "f"});
    project.refuses(
        args,
        ErrorKind::NotFound,
        "symbol 'f' is not on line 2 of 'a.rs': `let x = 1;`",
    );
    let args = json!({"action": "hover", "file": "a.rs", "line": 3, "symbol": "f"});
    project.refuses(args, ErrorKind::NotFound, "which has 2 lines");
    let args = json!({"action": "hover", "file": "a.rs", "line": 0, "symbol": "f"});
    project.refuses(args, ErrorKind::NotFound, "line 0");
    assert_eq!(project.processes.live(), 0);
}

// D4, D36: what `symbols` needs; paths stay inside.
#[test]
fn arguments_that_name_nothing_are_refused() {
    let project = Project::new(&[("a.rs", "")]);
    project.refuses(
        json!({"action": "symbols"}),
        ErrorKind::InvalidArgs,
        "query or a file",
    );
    project.refuses(
        json!({"action": "symbols", "query": " "}),
        ErrorKind::InvalidArgs,
        "query",
    );
    let error = project.refuses(
        json!({"action": "diagnostics"}),
        ErrorKind::InvalidArgs,
        "file",
    );
    assert!(
        error.hint().is_some_and(|hint| hint.contains("\"*\"")),
        "D2"
    );
    let outside = json!({"action": "symbols", "file": "../x.rs"});
    project.refuses(outside, ErrorKind::InvalidArgs, "outside the workspace");
    let none = json!({"action": "symbols", "file": "none.rs"});
    project.refuses(none, ErrorKind::NotFound, "'none.rs' does not exist");
    let folder = json!({"action": "symbols", "file": "."});
    project.refuses(folder, ErrorKind::InvalidArgs, "is a folder");
}

// R5, R13, R14: an empty folder explains itself; a marker made between two calls is found.
#[test]
fn nothing_usable_is_explained() {
    let project = Project::with_path(&[("a.rs", "fn f() {}\n")], |work| work.join("bin"));
    let status = project
        .call(json!({"action": "status"}))
        .expect("it always answers");
    assert!(
        status.text.contains("no language server"),
        "{}",
        status.text
    );
    assert_eq!(status.data["servers"], json!([]));
    let args = json!({"action": "hover", "file": "a.rs", "line": 1, "symbol": "f"});
    let error = project.refuses(
        args.clone(),
        ErrorKind::Unavailable,
        "neither a root marker",
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("status")));
    project.write("Cargo.toml", "[package]\nname = 'a'\n");
    project.refuses(args, ErrorKind::Unavailable, "no binary rust-analyzer");
    let status = project
        .call(json!({"action": "status"}))
        .expect("it always answers");
    let server = &status.data["servers"][0];
    assert_eq!(server["id"], "rust-analyzer");
    assert_eq!(server["state"], "unusable");
    let reason = server["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("no binary") && reason.contains("rustup component add"),
        "{reason}"
    );
    let text = json!({"action": "symbols", "file": "Cargo.toml"});
    project.refuses(text, ErrorKind::Unavailable, "no language server is known");
}
