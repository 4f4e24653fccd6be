//! A scripted server whose edits cannot be made: all files stay as they are.

use std::path::Path;
use std::time::Duration;

use super::*;
use crate::support::lsp::fake_row;
use crate::support::peers;

const A: &str = "one two\nthree\n";
const B: &str = "four\n";

/// A project whose server answers a rename with what `edit` makes of the URIs of `a.fk`, `b.fk`.
fn answering(edit: impl FnOnce(&str, &str) -> Value) -> Option<Project> {
    scripted(|a, b| json!({"answers": {"textDocument/rename": edit(a, b)}}))
}

fn scripted(scenario: impl FnOnce(&str, &str) -> Value) -> Option<Project> {
    peers::find("python3")?;
    let files = [("fake.toml", ""), ("a.fk", A), ("b.fk", B)];
    Some(Project::with(&files, |work, mut options| {
        let uri = |name: &str| toolbox::lsp::uri::from_path(&work.join(name));
        let mut scenario = scenario(&uri("a.fk"), &uri("b.fk"));
        scenario["capabilities"] = json!({"renameProvider": true});
        let log = work.with_file_name("log");
        scenario["log"] = json!(log.to_string_lossy());
        options.rows.push(fake_row(&scenario));
        options.timeouts.ready = Duration::from_millis(300);
        options
    }))
}

fn change(line: u32, start: u32, end: u32, new_text: &str) -> Value {
    json!({
        "range": {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end}
        },
        "newText": new_text
    })
}

fn args() -> Value {
    json!({"file": "a.fk", "line": 1, "symbol": "two", "new_name": "zwei"})
}

#[track_caller]
fn refused(project: &Project, kind: ErrorKind, words: &str) {
    let error = call(&renaming(project), args()).expect_err("it is refused");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(words), "{error} lacks {words}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("nothing was changed"))
    );
    assert_eq!(project.read("a.fk").as_deref(), Some(A));
    assert_eq!(project.read("b.fk").as_deref(), Some(B));
}

// R38: an empty edit is an error, not "renamed in 0 files".
#[test]
fn an_edit_of_nothing_is_an_error() {
    for edit in [
        json!(null),
        json!({"changes": {}}),
        json!({"documentChanges": []}),
    ] {
        let Some(project) = answering(|_, _| edit) else {
            return;
        };
        refused(
            &project,
            ErrorKind::NotFound,
            "fake found nothing to rename for 'two'",
        );
    }
}

// Issue 4: overlapping edits, edits outside the root, edits against a wrong version refuse all files.
#[test]
fn an_edit_that_cannot_be_made_changes_no_file() {
    let good = change(0, 4, 7, "zwei");
    let Some(project) = answering(
        |a, b| json!({"changes": {a: [good], b: [change(0, 0, 3, "x"), change(0, 2, 4, "y")]}}),
    ) else {
        return;
    };
    refused(&project, ErrorKind::Failed, "b.fk' overlap at line 1");

    let good = change(0, 4, 7, "zwei");
    let outside = toolbox::lsp::uri::from_path(Path::new("/nowhere/x.fk"));
    let edit = |a: &str, _: &str| json!({"changes": {a: [good], outside: [change(0, 0, 1, "x")]}});
    let project = answering(edit).expect("it is there");
    refused(&project, ErrorKind::Failed, "leads out of the workspace");

    let good = change(0, 4, 7, "zwei");
    let edit = |a: &str, _: &str| json!({"documentChanges": [{"textDocument": {"uri": a, "version": 7}, "edits": [good]}]});
    let project = answering(edit).expect("it is there");
    refused(
        &project,
        ErrorKind::Stale,
        "version 7, the current one is 1",
    );
}

// Notes: a server that is still indexing would rename in one file only.
#[test]
fn a_rename_is_refused_while_the_server_indexes() {
    let Some(project) = scripted(|a, _| {
        json!({
            "progress": ["initialized", 600],
            "answers": {"textDocument/rename": {"changes": {a: [change(0, 4, 7, "zwei")]}}},
        })
    }) else {
        return;
    };
    project.server("a.fk").wait(
        crate::support::lsp::soon(),
        &toolbox::cancel::Cancel::new(),
        |state| (!state.progress().is_empty()).then_some(()),
    );
    refused(&project, ErrorKind::Timeout, "index incomplete: Analyzing…");
}

// Equal edits collapse, a file moves with its edit, and the server hears of all of it.
#[test]
fn the_server_hears_of_texts_and_renamed_files() {
    let Some(project) = answering(|a, b| {
        let to = b.replace("b.fk", "c.fk");
        json!({"documentChanges": [
            {"textDocument": {"uri": a, "version": 1}, "edits": [
                change(0, 4, 7, "zwei"), change(0, 4, 7, "zwei")
            ]},
            {"kind": "rename", "oldUri": b, "newUri": to},
            {"textDocument": {"uri": to, "version": null}, "edits": [change(0, 0, 4, "vier")]},
        ]})
    }) else {
        return;
    };
    let output = call(&renaming(&project), args()).expect("it is renamed");
    assert_eq!(
        output.text,
        "renamed 'two' to 'zwei': 2 edits in 2 files\na.fk: 1 edit\nb.fk -> c.fk: 1 edit"
    );
    assert_eq!(
        output.data,
        json!({
            "files": [
                {"file": "a.fk", "edits": 1, "change": "modified"},
                {"file": "c.fk", "edits": 1, "change": "moved", "from": "b.fk"},
            ],
            "edits": 2, "dry_run": false, "diff": null, "notes": [], "taken": [],
        })
    );
    assert_eq!(project.read("a.fk").as_deref(), Some("one zwei\nthree\n"));
    assert_eq!(
        (project.read("b.fk"), project.read("c.fk").as_deref()),
        (None, Some("vier\n"))
    );
    let log = project.work().with_file_name("log");
    project.until("it hears of the save", |_| {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("textDocument/didSave"))
    });
    let log = std::fs::read_to_string(&log).expect("it is there");
    assert!(
        log.contains("didChange") && log.contains("one zwei"),
        "{log}"
    );
}

// A folder that is renamed leaves no folder behind, unless somebody put a file there that is not the edit's.
#[test]
fn a_renamed_folder_leaves_none_behind() {
    let Some(project) = answering(|a, _| {
        let base = a.strip_suffix("a.fk").expect("its name");
        json!({"documentChanges": [
            {"textDocument": {"uri": a, "version": 1}, "edits": [change(0, 4, 7, "zwei")]},
            {"kind": "rename", "oldUri": format!("{base}old"), "newUri": format!("{base}new")},
        ]})
    }) else {
        return;
    };
    for folder in ["old/inner", "old/empty", "beside"] {
        std::fs::create_dir_all(project.path(folder)).expect("writable");
    }
    project.write("old/one.fk", "1\n");
    project.write("old/inner/two.fk", "2\n");
    let output = call(&renaming(&project), args()).expect("it is renamed");
    assert_eq!(project.read("new/one.fk").as_deref(), Some("1\n"));
    assert_eq!(project.read("new/inner/two.fk").as_deref(), Some("2\n"));
    assert!(!project.path("old").exists(), "{}", output.text);
    assert!(project.path("beside").is_dir());
}
