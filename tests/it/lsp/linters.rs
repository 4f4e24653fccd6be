//! The fixes of linters, with and without a server that answers for the file (R26).

use serde_json::{Value, json};
use toolbox::lsp::servers::{ServerRow, Slot};
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake_row, fake_with};
use crate::support::servers::RUFF;

fn offers() -> Value {
    json!({
        "capabilities": {"codeActionProvider": true},
        "answers": {"textDocument/codeAction": [{"title": "Mend it", "kind": "quickfix"}]}
    })
}

fn ask(project: &Project) -> Value {
    let args = json!({"action": "code_actions", "file": "a.fk", "line": 1, "symbol": "two"});
    let output = project.call(args).expect("an answer");
    output.data["actions"].clone()
}

#[test]
fn where_only_ruff_is_usable_it_lists_its_fixes() {
    let files = [("ruff.toml", ""), ("a.py", "import os\n\nx = 1\n")];
    let Some(project) = RUFF.project(&files) else {
        return;
    };
    let args = json!({"action": "code_actions", "file": "a.py", "line": 1, "symbol": "os"});
    let output = project.call(args).expect("an answer");
    let actions = output.data["actions"].as_array().expect("a list");
    let is_fix = |action: &Value| action["server"] == "ruff" && action["kind"] == "quickfix";
    assert!(actions.iter().any(is_fix), "{}", output.text);
    let args = json!({"action": "hover", "file": "a.py", "line": 1, "symbol": "os"});
    project.refuses(args, ErrorKind::Unavailable, "no language server is known");
    project.ends_without_a_trace();
}

#[test]
fn a_linter_offers_its_fixes_where_the_server_offers_none() {
    let linter = || ServerRow {
        id: "linter".to_owned(),
        slot: Slot::Linter,
        ..fake_row(&offers())
    };
    let Some(project) = fake_with(json!({}), |_, mut options| {
        options.rows.push(linter());
        options
    }) else {
        return;
    };
    let actions = ask(&project);
    assert_eq!(actions[0]["server"], "linter", "{actions}");
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
}

// A linter that fails is the answer where nothing else is, and never reads as no fixes.
#[test]
fn without_anything_that_offers_fixes_that_is_said() {
    let args = json!({"action": "code_actions", "file": "a.fk", "line": 1, "symbol": "two"});
    let Some(project) = fake_with(json!({}), |_, options| options) else {
        return;
    };
    let words = "fake does not offer code actions";
    project.refuses(args.clone(), ErrorKind::Unavailable, words);
    let failing = json!({
        "capabilities": {"codeActionProvider": true},
        "errors": {"textDocument/codeAction": [[-32603, null]]}
    });
    let Some(project) = fake_with(failing, |row, options| {
        row.slot = Slot::Linter;
        options
    }) else {
        return;
    };
    project.refuses(args, ErrorKind::Failed, "not now");
}
