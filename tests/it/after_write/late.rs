//! What is said of a text while nobody, or not everybody, has spoken of it.

use std::time::Instant;

use serde_json::Value;

use super::faults::{brief, publish};
use super::*;
use crate::support::lsp::{fake, fake_with};

// D2, D6: the whole reason is told once in a run, and later writes say that there still is nobody who looks.
#[test]
fn a_server_that_does_not_start_never_reads_as_clean() {
    let scenario = json!({"initialize": "error"});
    let Some(project) = fake_with(scenario, |_, options| options) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\n");
    assert!(
        said.contains("Could not find a valid installation"),
        "{said}"
    );
    for text in ["two\n", "three\n"] {
        let output = writing.put(&[("a.fk", text)]);
        assert_eq!(
            output.text,
            "written\ndiagnostics unavailable: fake, as said before"
        );
        assert_eq!(output.data["diagnostics"]["state"], "unavailable");
    }
    assert_eq!(writing.look(), "", "nothing was written");
}

// D2, D6: the same for one that falls over with every text; its name stands before its words.
#[test]
fn a_server_that_crashes_each_time_never_reads_as_clean() {
    let scenario = json!({
        "crash_on": "textDocument/didChange",
        "publish": [publish("didOpen", 0.0, json!("same"), &[])],
    });
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.restarts = Vec::new();
        options
    }) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\n");
    assert!(
        said.starts_with("diagnostics unavailable: fake is gone: "),
        "{said}"
    );
    let said = writing.write("a.fk", "two\n");
    assert!(said.contains("it crashed 1 time within"), "{said}");
    for text in ["three\n", "four\n"] {
        let said = writing.write("a.fk", text);
        assert_eq!(said, "diagnostics unavailable: fake, as said before");
    }
}

/// A publication of nothing about one version of a document.
fn answer_of(version: u32) -> Value {
    let mut answer = publish("didChange", 0.0, json!("same"), &[]);
    answer["of"] = json!(version);
    answer
}

// D6: who stays silent again and again is waited for briefly, until it has spoken.
#[test]
fn a_silent_server_is_not_waited_for_again_and_again() {
    let opened = publish("didOpen", 0.0, json!("same"), &[]);
    let Some(project) = fake(json!({"publish": [opened, answer_of(5)]})) else {
        return;
    };
    let settle = Duration::from_secs(3);
    let bounds = Bounds {
        late: Duration::from_millis(1),
        settle,
        ..patient()
    };
    let writing = Writing::new(&project, bounds);
    project.server("a.fk");
    let timed = |text: &str| {
        let began = Instant::now();
        let said = writing.write("a.fk", text);
        (said, began.elapsed())
    };
    let pending = "diagnostics pending: fake: no answer yet";
    for text in ["one\n", "two\n"] {
        let (said, took) = timed(text);
        assert_eq!(said, pending);
        assert!(took >= settle, "{took:?}");
    }
    let (said, took) = timed("three\n");
    assert_eq!(said, pending);
    assert!(took < settle, "{took:?}");
    // The fourth is answered, so the next silence has the whole time again.
    let said = writing.put(&[("a.fk", "four\n")]);
    assert_eq!(said.data["diagnostics"]["state"], "clean", "{}", said.text);
    let (said, took) = timed("five\n");
    assert_eq!(said, pending);
    assert!(took >= settle, "{took:?}");
}

// D6: a word without a version that is owed on the text before is not one on the text of now.
#[test]
fn a_late_word_on_the_text_before_settles_nothing() {
    let mut late = publish("didChange", 1.5, json!(null), &["on the first text"]);
    late["of"] = json!(2);
    let opened = publish("didOpen", 0.0, json!(null), &[]);
    let Some(project) = fake(json!({"publish": [opened, late]})) else {
        return;
    };
    let writing = Writing::new(&project, brief(1_200));
    let pending = "diagnostics pending: fake: no answer yet";
    assert_eq!(writing.write("a.fk", "one\n"), pending);
    // It comes within the time of the second text.
    assert_eq!(writing.write("a.fk", "two\n"), pending);
    // A server may leave a text out; where nothing better follows, that was it.
    assert_eq!(
        writing.look(),
        "new diagnostics:\na.fk:1:1: error: on the first text"
    );
}

// D6: nor is the second of two that are owed, where the first has come meanwhile.
#[test]
fn each_word_that_is_owed_is_waited_for() {
    let late = |version: u32, message: &str| {
        let mut late = publish("didChange", 1.5, json!(null), &[message]);
        late["of"] = json!(version);
        late
    };
    let opened = publish("didOpen", 0.0, json!(null), &[]);
    let publications = [
        opened,
        late(2, "on the first text"),
        late(3, "on the second text"),
    ];
    let Some(project) = fake(json!({"publish": publications})) else {
        return;
    };
    let writing = Writing::new(&project, brief(1_200));
    let pending = "diagnostics pending: fake: no answer yet";
    for text in ["one\n", "two\n", "three\n"] {
        assert_eq!(writing.write("a.fk", text), pending, "{text}");
    }
}
