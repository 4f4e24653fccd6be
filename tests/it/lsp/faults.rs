//! What servers do wrong, with a scripted one: each fault ends in an answer that tells the truth, within
//! its bound, and leaves no process.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake, fake_with};

fn symbols() -> Value {
    json!({"action": "symbols", "file": "a.fk"})
}

fn hover() -> Value {
    json!({"action": "hover", "file": "a.fk", "line": 1, "symbol": "two"})
}

fn good() -> Value {
    json!({
        "documentSymbolProvider": true,
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true
    })
}

#[track_caller]
fn state(project: &Project) -> (String, String) {
    let status = project
        .call(json!({"action": "status"}))
        .expect("it always answers");
    let servers = status.data["servers"].as_array().expect("a list");
    let server = servers
        .iter()
        .find(|server| server["id"] == "fake")
        .expect("it is listed");
    let text = |key: &str| server[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("reason"))
}

// Issue 4: never answers initialize; the failure is remembered, there is no restart loop (D5 forgets it).
#[test]
fn a_server_that_never_answers_initialize_is_given_up_once() {
    let scenario = json!({"initialize": "never"});
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.timeouts.start = Duration::from_millis(700);
        options
    }) else {
        return;
    };
    project.refuses(
        symbols(),
        ErrorKind::Unavailable,
        "did not answer `initialize` within 0.7 s",
    );
    let began = Instant::now();
    project.refuses(
        symbols(),
        ErrorKind::Unavailable,
        "did not answer `initialize`",
    );
    assert!(
        began.elapsed() < Duration::from_millis(500),
        "it is remembered"
    );
    assert_eq!(project.starts().len(), 1);
    project.nothing_is_left();
    let (state, reason) = state(&project);
    assert_eq!(state, "refused");
    assert!(reason.contains("`reload` tries again"), "{reason}");
    let reload = project
        .call(json!({"action": "reload"}))
        .expect("it always answers");
    assert_eq!(
        reload.data["servers"][0]["state"], "failed",
        "{}",
        reload.text
    );
    assert_eq!(project.starts().len(), 2);
    project.nothing_is_left();
}

// The error of `initialize` has the only useful words.
#[test]
fn a_refused_start_is_shown_in_the_servers_own_words() {
    let Some(project) = fake(json!({"initialize": "error"})) else {
        return;
    };
    let words = "Could not find a valid installation";
    project.refuses(symbols(), ErrorKind::Unavailable, words);
    assert!(state(&project).1.contains(words));
    project.nothing_is_left();
}

// A shim without its component: the end before the answer, with the line that matters.
#[test]
fn an_end_before_the_answer_names_status_and_error_line() {
    let Some(project) = fake(json!({"initialize": "exit"})) else {
        return;
    };
    let error = project.refuses(symbols(), ErrorKind::Unavailable, "exit status 1");
    assert!(
        error.message().contains("error: no component here"),
        "{error}"
    );
    project.nothing_is_left();
}

// R14, servers.md 1: a binary that is there and cannot run is told from its `--version`, and how to get it.
#[test]
fn a_shim_without_its_component_is_diagnosed() {
    use std::os::unix::fs::PermissionsExt;
    let files = [
        ("Cargo.toml", "[package]\nname = 'a'\n"),
        ("a.rs", "fn f() {}\n"),
    ];
    let project = Project::with_path(&files, |work| work.join("bin"));
    std::fs::create_dir(project.path("bin")).expect("writable");
    project.write(
        "bin/rust-analyzer",
        "#!/bin/sh\necho \"error: Unknown binary 'rust-analyzer' in official toolchain 'stable'.\" >&2\n\
         echo 'stack backtrace:' >&2\nexit 1\n",
    );
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/rust-analyzer"), mode).expect("writable");
    let args = json!({"action": "hover", "file": "a.rs", "line": 1, "symbol": "f"});
    let error = project.refuses(args, ErrorKind::Unavailable, "is there but cannot run");
    for words in [
        "Unknown binary 'rust-analyzer'",
        "rustup component add rust-analyzer",
    ] {
        assert!(error.message().contains(words), "{error}");
    }
    let status = project
        .call(json!({"action": "status"}))
        .expect("it always answers");
    let server = &status.data["servers"][0];
    assert_eq!(
        (&server["id"], &server["state"]),
        (&json!("rust-analyzer"), &json!("unusable"))
    );
    assert!(status.text.contains("Unknown binary"), "{}", status.text);
}

// Issue 4: stops reading, and the pipe is full: nobody waits for the pipe.
#[test]
fn a_full_pipe_blocks_nobody() {
    let scenario = json!({"capabilities": good(), "deaf_on": "initialized"});
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.timeouts.stall = Duration::from_millis(400);
        options
    }) else {
        return;
    };
    project.write("a.fk", &"one two\n".repeat(200_000));
    let began = Instant::now();
    project.refuses(hover(), ErrorKind::Failed, "it has read nothing for");
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "the stall ends it, not the timeout"
    );
    project.nothing_is_left();
}

// Issue 4: 10 MB on standard error block nobody, and the last line is shown.
#[test]
fn a_flood_on_standard_error_blocks_nobody() {
    let scenario = json!({"capabilities": good(), "stderr_bytes": 10_000_000});
    let Some(project) = fake(scenario) else {
        return;
    };
    project.call(symbols()).expect("an answer");
    let status = project
        .call(json!({"action": "status"}))
        .expect("it always answers");
    assert!(
        status.text.contains("stderr: the last line"),
        "{}",
        status.text
    );
    project.ends_without_a_trace();
}

// Issue 4: garbage on standard output, frames byte by byte.
#[test]
fn garbage_and_split_frames_cost_nothing() {
    let answer = json!({"contents": {"kind": "markdown", "value": "```fk\ntwo: é\n```"}});
    let scenario = json!({
        "capabilities": good(),
        "garbage": "starting up...\nno: header\r\n\r\n",
        "split": true,
        "answers": {"textDocument/hover": answer}
    });
    let Some(project) = fake(scenario) else {
        return;
    };
    let output = project.call(hover()).expect("an answer");
    assert_eq!(output.data["signature"], "two: é");
    project.ends_without_a_trace();
}

// Issue 4: ids equal to ours; the request is answered and the answer is not taken for it.
#[test]
fn request_ids_may_collide() {
    let scenario = json!({"capabilities": good(), "same_ids": true});
    let Some(project) = fake(scenario) else {
        return;
    };
    let output = project.call(symbols()).expect("an answer");
    assert_eq!(output.data["total"], 0);
    project.until("it hears the configuration", |project| {
        project
            .received()
            .iter()
            .any(|message| message["result"] == json!([null, null]))
    });
    project.ends_without_a_trace();
}

// Issue 4: asks for its configuration, registers, and blocks until it is answered.
#[test]
fn a_server_that_blocks_on_its_questions_is_answered() {
    let watcher = json!({"registrations": [{"id": "w", "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": [{"globPattern": "**/*.fk"}]}}]});
    let scenario = json!({
        "capabilities": good(),
        "ask": [
            {"method": "workspace/configuration", "params": {"items": [
                {"section": "fake.inner"}, {"section": "none"}, {}
            ]}},
            {"method": "client/registerCapability", "params": watcher},
            {"method": "window/workDoneProgress/create", "params": {"token": 1}},
            {"method": "workspace/workspaceFolders"},
            {"method": "window/showMessageRequest", "params": {"type": 1, "message": "Really?"}},
            {"method": "workspace/applyEdit", "params": {"edit": {}}},
            {"method": "no/suchThing"}
        ]
    });
    let Some(project) = fake_with(scenario, |row, options| {
        row.settings = json!({"fake": {"inner": {"a": 1}}});
        options
    }) else {
        return;
    };
    project.call(symbols()).expect("an answer");
    let mut replies: Vec<Value> = project.received();
    replies.retain(|message| message["method"].is_null());
    let result = |id: i64| {
        let reply = replies
            .iter()
            .find(|reply| reply["id"] == id)
            .expect("it is answered");
        reply.clone()
    };
    let settings = json!({"fake": {"inner": {"a": 1}}});
    assert_eq!(result(0)["result"], json!([{"a": 1}, null, settings]));
    assert_eq!(result(1)["result"], Value::Null);
    assert!(result(1)["error"].is_null());
    assert_eq!(result(3)["result"].as_array().map(Vec::len), Some(1));
    assert_eq!(result(5)["result"]["applied"], false);
    assert_eq!(result(6)["error"]["code"], -32601);
    // What it registered for is told: a file that nobody opened changes.
    project.write("b.fk", "new\n");
    project.call(symbols()).expect("an answer");
    let told = project.received_of("workspace/didChangeWatchedFiles");
    let change = &told.last().expect("it hears of it")["params"]["changes"][0];
    assert!(
        change["uri"]
            .as_str()
            .is_some_and(|uri| uri.ends_with("/b.fk")),
        "{told:?}"
    );
    assert_eq!(change["type"], 2);
    project.ends_without_a_trace();
}

// Issue 4: crashes mid-request: the answer has its last words, a restart opens the documents again, and
// after the third restart it is broken until `reload`.
#[test]
fn a_crash_is_told_restarted_and_limited() {
    let scenario = json!({"capabilities": good(), "crash_on": "textDocument/hover"});
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.restarts = vec![Duration::from_millis(1), Duration::from_millis(30)];
        options
    }) else {
        return;
    };
    for n_starts in 1..=3 {
        let error = project.refuses(hover(), ErrorKind::Failed, "exit status 3");
        assert!(
            error.message().contains("panic: the fake falls over"),
            "{error}"
        );
        assert_eq!(project.starts().len(), n_starts);
    }
    let opened = project.received_of("textDocument/didOpen");
    assert_eq!(opened.len(), 3, "each start opens the document");
    project.refuses(hover(), ErrorKind::Unavailable, "crashed 3 times");
    assert_eq!(project.starts().len(), 3);
    assert_eq!(state(&project).0, "broken");
    let reload = project
        .call(json!({"action": "reload"}))
        .expect("it always answers");
    assert_eq!(
        reload.data["servers"][0]["state"], "running",
        "{}",
        reload.text
    );
    assert_eq!(project.starts().len(), 4);
    project.call(symbols()).expect("an answer");
    project.ends_without_a_trace();
    project.nothing_is_left();
}

// Issue 4: ignores `shutdown`, the end of input and SIGTERM, and has a child in a group of its own.
#[test]
fn a_stubborn_server_is_killed_with_all_it_started() {
    let scenario = json!({"capabilities": good(), "stubborn": true});
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.timeouts.shutdown = Duration::from_millis(200);
        options
    }) else {
        return;
    };
    project.call(symbols()).expect("an answer");
    let began = Instant::now();
    project.ends_without_a_trace();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(project.received_of("shutdown").len(), 1);
    assert!(
        project.received_of("shutdown")[0].get("params").is_none(),
        "null params are left out"
    );
}

// A question that takes too long is withdrawn; a server that lets two go and answers nothing is replaced.
#[test]
fn a_timeout_withdraws_the_question_and_a_wedged_server_is_replaced() {
    let scenario = json!({
        "capabilities": good(),
        "mute_on": ["textDocument/hover", "$/toolbox/probe"]
    });
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.timeouts.request = Duration::from_millis(100);
        options.timeouts.shutdown = Duration::from_millis(300);
        options
    }) else {
        return;
    };
    for _ in 0..2 {
        project.refuses(
            hover(),
            ErrorKind::Timeout,
            "did not answer textDocument/hover",
        );
    }
    project.until("the questions are withdrawn", |project| {
        project.received_of("$/cancelRequest").len() == 2
    });
    assert_eq!(project.starts().len(), 1);
    project.refuses(
        hover(),
        ErrorKind::Timeout,
        "did not answer textDocument/hover",
    );
    assert_eq!(
        project.starts().len(),
        2,
        "two questions and the probe went unanswered"
    );
    project.ends_without_a_trace();
    project.nothing_is_left();
}

// A slow server that still answers the probe is kept.
#[test]
fn a_slow_server_is_no_wedged_one() {
    let scenario = json!({"capabilities": good(), "mute_on": ["textDocument/hover"]});
    let Some(project) = fake_with(scenario, |_, mut options| {
        options.timeouts.request = Duration::from_millis(100);
        options.timeouts.shutdown = Duration::from_secs(20);
        options
    }) else {
        return;
    };
    for _ in 0..4 {
        project.refuses(hover(), ErrorKind::Timeout, "did not answer");
    }
    assert_eq!(project.starts().len(), 1);
    project.ends_without_a_trace();
}

// -32801 is asked again, an error that stays is told.
#[test]
fn a_question_is_repeated_where_texts_changed() {
    let scenario = json!({
        "capabilities": good(),
        "errors": {"textDocument/hover": [[-32801, null], [-32801, null]]},
        "answers": {"textDocument/hover": {"contents": "two"}}
    });
    let Some(project) = fake(scenario) else {
        return;
    };
    assert_eq!(
        project.call(hover()).expect("an answer").data["signature"],
        "two"
    );
    assert_eq!(project.received_of("textDocument/hover").len(), 3);
    project.ends_without_a_trace();

    let scenario = json!({
        "capabilities": good(),
        "errors": {"textDocument/hover": [[-32603, null]]}
    });
    let Some(project) = fake(scenario) else {
        return;
    };
    project.refuses(hover(), ErrorKind::Failed, "error -32603: not now");
    assert_eq!(project.received_of("textDocument/hover").len(), 1);
    project.ends_without_a_trace();
}
