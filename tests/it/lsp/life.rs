//! The life of servers, with a scripted one: idle ends, caps, re-opened documents, cancelled starts.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake, fake_row, fake_with, session_of};

fn scenario() -> Value {
    json!({"capabilities": {"documentSymbolProvider": true}})
}

#[track_caller]
fn symbols(project: &Project, file: &str) {
    let args = json!({"action": "symbols", "file": file});
    if let Err(error) = project.call(args) {
        panic!("{file}: {error}");
    }
}

// Issue 4, point 8: fifty documents stay open, the fifty-first closes the least recently used.
#[test]
fn documents_over_the_cap_are_closed() {
    let Some(project) = fake(scenario()) else {
        return;
    };
    for n in 0..51 {
        project.write(&format!("n{n}.fk"), "x\n");
    }
    for n in 0..50 {
        symbols(&project, &format!("n{n}.fk"));
    }
    let server = project.server("n0.fk");
    assert_eq!(server.open_documents().len(), 50);
    assert_eq!(project.received_of("textDocument/didClose").len(), 0);
    symbols(&project, "n0.fk");
    symbols(&project, "n50.fk");
    assert_eq!(server.open_documents().len(), 50);
    project.until("it hears of the close", |project| {
        !project.received_of("textDocument/didClose").is_empty()
    });
    let closed = project.received_of("textDocument/didClose");
    let uri = closed[0]["params"]["textDocument"]["uri"]
        .as_str()
        .expect("a URI");
    assert!(uri.ends_with("/n1.fk"), "n0 was used again: {uri}");
}

// Issue 4, point 8: an idle server ends, and the next question starts it again with its documents.
#[test]
fn an_idle_server_ends_and_comes_back() {
    let Some(project) = fake_with(scenario(), |_, mut options| {
        options.idle = Duration::from_millis(200);
        options
    }) else {
        return;
    };
    symbols(&project, "a.fk");
    symbols(&project, "b.fk");
    project.nothing_is_left();
    let first = project.starts().len();
    let opened = project.received_of("textDocument/didOpen").len();
    symbols(&project, "a.fk");
    assert_eq!(project.starts().len(), first + 1);
    project.until("both documents are opened again", |project| {
        project.received_of("textDocument/didOpen").len() >= opened + 2
    });
    project.nothing_is_left();
}

// Issue 4, point 8: a cap on live servers, the least recently used goes first.
#[test]
fn servers_over_the_cap_are_stopped() {
    let Some(project) = fake_with(scenario(), |_, mut options| {
        options.max_servers = 2;
        options
    }) else {
        return;
    };
    for root in ["x", "y", "z"] {
        std::fs::create_dir(project.path(root)).expect("writable");
        project.write(&format!("{root}/fake.toml"), "");
        project.write(&format!("{root}/f.fk"), "x\n");
    }
    let live = || {
        let roots = project.supervisor.servers();
        let names = roots
            .iter()
            .map(|server| server.root().file_name().map(|name| name.to_owned()));
        names
            .map(|name| name.expect("a name").into_string().expect("UTF-8"))
            .collect::<Vec<_>>()
    };
    symbols(&project, "x/f.fk");
    symbols(&project, "y/f.fk");
    assert_eq!(live(), ["x", "y"]);
    symbols(&project, "x/f.fk");
    symbols(&project, "z/f.fk");
    assert_eq!(live(), ["x", "z"], "y was used before x");
    project.ends_without_a_trace();
}

// D5: `reload` restarts the processes and opens the documents again.
#[test]
fn reload_opens_the_documents_again() {
    let Some(project) = fake(scenario()) else {
        return;
    };
    let nothing = project
        .call(json!({"action": "reload"}))
        .expect("it always answers");
    assert_eq!(nothing.data["servers"], json!([]));
    symbols(&project, "a.fk");
    symbols(&project, "b.fk");
    let first = project.server("a.fk").pid();
    let output = project
        .call(json!({"action": "reload"}))
        .expect("it always answers");
    let server = &output.data["servers"][0];
    assert_eq!(
        (&server["id"], &server["state"]),
        (&json!("fake"), &json!("running"))
    );
    assert_eq!(server["documents"], 2, "{}", output.text);
    assert_eq!(session_of(first), [0_u32; 0]);
    assert_ne!(project.server("a.fk").pid(), first);
    project.ends_without_a_trace();
}

// R12: what anybody wrote to disk is what the server has, before every question.
#[test]
fn open_documents_follow_the_disk() {
    let Some(project) = fake(scenario()) else {
        return;
    };
    symbols(&project, "a.fk");
    symbols(&project, "b.fk");
    project.write("a.fk", "new\n");
    symbols(&project, "b.fk");
    let changes = project.received_of("textDocument/didChange");
    assert_eq!(changes.len(), 1);
    let params = &changes[0]["params"];
    assert_eq!(params["contentChanges"], json!([{"text": "new\n"}]));
    assert_eq!(params["textDocument"]["version"], 2);
    symbols(&project, "b.fk");
    assert_eq!(
        project.received_of("textDocument/didChange").len(),
        1,
        "nothing changed"
    );
    std::fs::remove_file(project.path("a.fk")).expect("it is there");
    symbols(&project, "b.fk");
    assert_eq!(
        project.received_of("textDocument/didClose").len(),
        1,
        "it is gone"
    );
    // The server watches nothing itself, so a new file is opened for it.
    project.write("c.fk", "fresh\n");
    symbols(&project, "b.fk");
    let opened = project.received_of("textDocument/didOpen");
    let uri = opened.last().expect("one")["params"]["textDocument"]["uri"].clone();
    assert!(
        uri.as_str().is_some_and(|uri| uri.ends_with("/c.fk")),
        "{uri}"
    );
    project.ends_without_a_trace();
}

// One server that hangs in its start keeps nobody from another; a cancelled call returns at once.
#[test]
fn a_hanging_start_blocks_no_other_server_and_can_be_cancelled() {
    let Some(project) = fake_with(json!({"initialize": "never"}), |_, mut options| {
        let mut quick = fake_row(&scenario());
        quick.id = "quick".to_owned();
        quick.files = vec![(".qk".to_owned(), "quick".to_owned())];
        options.rows.push(quick);
        options
    }) else {
        return;
    };
    project.write("a.qk", "x\n");
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let hanging = scope.spawn(|| {
            let options = CallOptions::new().with_cancel(cancel.clone());
            project.call_with(json!({"action": "symbols", "file": "a.fk"}), options)
        });
        project.until("the start hangs", |project| !project.starts().is_empty());
        symbols(&project, "a.qk");
        assert!(!hanging.is_finished());
        let began = Instant::now();
        cancel.cancel();
        let error = hanging
            .join()
            .expect("no panic")
            .expect_err("it was cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(began.elapsed() < Duration::from_secs(20));
    });
    // The start goes on for others, and ends with the run.
    project.supervisor.stop_all();
    project.nothing_is_left();
}

// R3: the end of a run ends its servers, also one whose start hangs.
#[test]
fn a_dropped_run_leaves_no_process() {
    let Some(project) = fake_with(json!({"initialize": "never"}), |_, options| options) else {
        return;
    };
    project.supervisor.warm_up(&project.path("a.fk"));
    project.until("the start hangs", |project| !project.starts().is_empty());
    let pids = project.starts();
    drop(project);
    for pid in pids {
        assert_eq!(session_of(pid), [0_u32; 0]);
    }
}

// Issue 4, point 4: in a large tree, too, the very next question finds what anybody did to a closed file.
#[test]
fn a_change_in_a_large_tree_is_seen_at_once() {
    let Some(project) = fake(scenario()) else {
        return;
    };
    std::fs::create_dir(project.path("many")).expect("writable");
    for n in 0..5_000 {
        project.write(&format!("many/n{n}.fk"), "x\n");
    }
    symbols(&project, "b.fk");
    for n in [4_999, 0, 2_500] {
        let name = format!("many/n{n}.fk");
        project.write(&name, "y\n");
        symbols(&project, "b.fk");
        let opened = project.received_of("textDocument/didOpen");
        let document = &opened.last().expect("one")["params"]["textDocument"];
        let uri = document["uri"].as_str().expect("a URI");
        assert!(uri.ends_with(&format!("/{name}")), "{uri}");
        assert_eq!(document["text"], "y\n");
    }
    project.ends_without_a_trace();
}
