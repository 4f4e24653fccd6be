//! Diagnostics that a server must be made to give: by a save, by the text once more. A scripted one shows what
//! it was told for that, and what is said while it has not answered.

use std::time::Duration;

use serde_json::{Value, json};
use toolbox::lsp::Options;
use toolbox::lsp::servers::{Ready, ServerRow};
use toolbox::tool::Output;

use crate::support::lsp::{Project, fake, fake_with};

/// A server that runs a compiler after each save.
fn compiler(begins_s: f64, lasts_s: f64, change: impl FnOnce(&mut Options)) -> Option<Project> {
    let scenario = json!({
        "compiler": {"begins_s": begins_s, "lasts_s": lasts_s},
        "capabilities": {"referencesProvider": true},
        "answers": {"textDocument/references": []},
        "ask": [{"method": "client/registerCapability", "params": {"registrations": [{
            "id": "w",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": [{"globPattern": "**/*.fk"}]},
        }]}}],
    });
    fake_with(scenario, |row: &mut ServerRow, mut options| {
        // What is known of rust-analyzer is known by its name.
        row.id = "rust-analyzer".to_owned();
        row.ready = Ready::Quiescent;
        change(&mut options);
        options
    })
}

fn ask(project: &Project, file: &str) -> Output {
    let args = json!({"action": "diagnostics", "file": file});
    project.call(args).expect("an answer")
}

// R17, D2: the compiler is run anew where any file of the project changed on disk, and not where none did.
#[test]
fn a_change_by_hand_runs_the_compiler_before_the_answer() {
    let Some(project) = compiler(0.05, 0.05, |_| {}) else {
        return;
    };
    let n_saves = || project.received_of("textDocument/didSave").len();
    assert_eq!(ask(&project, "a.fk").data["state"], "clean");
    let first = n_saves();
    assert_eq!(ask(&project, "a.fk").data["state"], "clean");
    assert_eq!(n_saves(), first, "nothing changed");
    // The file itself, and then one beside it that nobody opened.
    project.write("a.fk", "BAD\n");
    assert_eq!(ask(&project, "a.fk").data["total"], 1);
    project.write("a.fk", "good\n");
    assert_eq!(ask(&project, "a.fk").data["state"], "clean");
    project.write("b.fk", "BAD\n");
    assert_eq!(ask(&project, "a.fk").data["state"], "clean");
    assert_eq!(n_saves(), first + 3, "each change was checked");
    assert_eq!(ask(&project, "b.fk").data["total"], 1);
}

// D2: a check that takes longer than the bound is what the answer speaks of; nothing is clean or as it was.
#[test]
fn a_check_that_takes_longer_than_the_bound_is_pending() {
    let brief = |options: &mut Options| {
        options.timeouts.ready = Duration::from_millis(400);
        options.timeouts.request = Duration::from_millis(400);
    };
    let Some(project) = compiler(0.0, 3_600.0, brief) else {
        return;
    };
    project.server("a.fk");
    let output = ask(&project, "a.fk");
    assert_eq!(output.data["state"], "pending", "{}", output.text);
    assert!(
        output
            .text
            .contains("not known yet: rust-analyzer: cargo check"),
        "{}",
        output.text
    );
}

// R22: a closed file that changed is given to the server whole before the question, for it reads in its own
// time what it only hears of.
#[test]
fn a_file_that_changed_is_given_to_the_server_before_the_question() {
    let Some(project) = compiler(0.0, 0.0, |_| {}) else {
        return;
    };
    let references = || {
        let args = json!({"action": "references", "file": "a.fk", "line": 1, "symbol": "one"});
        // That there is none is no matter here.
        let _ = project.call(args);
    };
    references();
    project.write("b.fk", "new words\n");
    references();
    let is_about = |message: &Value| {
        let uri = &message["params"]["textDocument"]["uri"];
        let is_b = uri.as_str().is_some_and(|uri| uri.ends_with("/b.fk"));
        is_b || message["method"] == "textDocument/references"
    };
    let received = project.received();
    let seen: Vec<&str> = received
        .iter()
        .filter(|message| is_about(message))
        .filter_map(|message| message["method"].as_str())
        .collect();
    let expected = [
        "textDocument/references",
        "textDocument/didOpen",
        "textDocument/didClose",
        "textDocument/references",
    ];
    assert_eq!(seen, expected);
    let opened = received
        .iter()
        .rfind(|message| message["method"] == "textDocument/didOpen");
    assert_eq!(
        opened.expect("it was")["params"]["textDocument"]["text"],
        "new words\n"
    );
}

// D2: who publishes is given the text once more where files changed around it, and its old words do not
// count for the new state of the disk.
#[test]
fn what_was_published_before_others_changed_files_is_asked_for_anew() {
    let item = json!({
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}},
        "severity": 1,
        "message": "broken by the other",
    });
    let Some(project) = fake(json!({"publish": [
        {"on": "textDocument/didOpen", "version": "same", "items": []},
        {"on": "textDocument/didChange", "version": "same", "items": [item], "file": "a.fk"},
    ]})) else {
        return;
    };
    assert_eq!(ask(&project, "a.fk").data["state"], "clean");
    assert_eq!(
        ask(&project, "a.fk").data["state"],
        "clean",
        "nothing changed"
    );
    project.write("b.fk", "other\n");
    let output = ask(&project, "a.fk");
    assert_eq!(output.data["total"], 1, "{}", output.text);
    let told = project.received_of("textDocument/didChange");
    assert_eq!(told.len(), 1);
    assert_eq!(
        told[0]["params"]["contentChanges"][0]["text"],
        "one two\nthree\n"
    );
    assert_eq!(told[0]["params"]["textDocument"]["version"], 2);
}

// D2: one that then says nothing has not said that anything is clean.
#[test]
fn silence_after_a_change_by_others_is_pending() {
    let scenario = json!({"publish": [
        {"on": "textDocument/didOpen", "version": "same", "items": []},
    ]});
    let brief = |_: &mut ServerRow, mut options: Options| {
        options.timeouts.ready = Duration::from_millis(400);
        options.timeouts.request = Duration::from_millis(400);
        options
    };
    let Some(project) = fake_with(scenario, brief) else {
        return;
    };
    project.server("a.fk");
    project
        .supervisor
        .open_now(&project.path("a.fk"), &toolbox::cancel::Cancel::new())
        .expect("it opens");
    project.until("it is clean", |project| {
        ask(project, "a.fk").data["state"] == "clean"
    });
    fs_remove(&project, "b.fk");
    let output = ask(&project, "a.fk");
    assert_eq!(output.data["state"], "pending", "{}", output.text);
}

fn fs_remove(project: &Project, file: &str) {
    std::fs::remove_file(project.path(file)).expect("it is there");
}
