//! How a session ends.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use toolbox::limits;

use super::background::ends_within;
use super::driver::{Checkout, Driven};

fn with_a_call_under_way(checkout: &Checkout) -> Driven {
    let mut session = checkout.session(&[]);
    session.send(json!({"register": {
        "name": "wait", "tier": "read", "description": "Never returns.", "schema": {"type": "object"},
    }}));
    session.call(1, "wait", json!({}));
    session.event("call");
    session
}

// End of input ends the run: what waits for it is cancelled and says so.
#[test]
fn the_end_of_input_ends_the_run() {
    let checkout = Checkout::new(&[]);
    let (rest, status) = with_a_call_under_way(&checkout).end();
    assert!(status.success());
    let answer = rest
        .iter()
        .find(|line| line["id"] == 1 && line["ok"] == false);
    assert_eq!(answer.expect("an answer")["error"]["kind"], "cancelled");
}

// What needs nobody any more is finished and answered, as `printf ... | toolbox session` wants it.
#[test]
fn calls_at_the_end_of_input_are_finished() {
    let checkout = Checkout::new(&[("a.txt", "one\n")]);
    let mut session = checkout.session(&["--approve", "exec", "--questions"]);
    session.call(1, "Bash", json!({"command": "sleep 0.3; cat a.txt"}));
    for id in 2..50 {
        session.call(id, "Read", json!({"path": "a.txt"}));
    }
    let question = json!({"question": "Which?", "allow_free_text": true});
    session.call("asks", "ask_user", question);
    let (rest, status) = session.end();
    assert!(status.success());
    let answer = |id: serde_json::Value| {
        let mut lines = rest.iter();
        lines.find(|line| line["id"] == id && line["event"].is_null())
    };
    assert_eq!(answer(json!(1)).expect("one")["data"]["output"], "one\n");
    for id in 2..50 {
        assert_eq!(answer(json!(id)).expect("one")["ok"], true, "{id}");
    }
    // R128: nobody is left who could answer this one.
    assert_eq!(answer(json!("asks")).expect("one")["ok"], false);
}

// Whoever begins to read late, as `... | toolbox session | less` does, gets everything.
#[test]
fn a_slow_reader_loses_nothing() {
    let text = "y".repeat(1_900) + "\n";
    let checkout = Checkout::new(&[("wide.txt", &text.repeat(200))]);
    let mut session = Driven::start_unread(&mut checkout.toolbox(&["session"]));
    for id in 0..4 {
        session.call(id, "Read", json!({"path": "wide.txt"}));
    }
    session.close_input();
    let late = limits::SESSION_FLUSH + Duration::from_millis(500);
    assert!(!ends_within(session.pid(), late), "much is unread");
    session.read();
    for id in 0..4 {
        assert_eq!(session.answer(id)["ok"], true);
    }
    assert!(session.wait().success());
}

#[test]
fn a_signal_ends_the_run() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let checkout = Checkout::new(&[]);
        let mut session = with_a_call_under_way(&checkout);
        session.signal(signal);
        let status = session.wait();
        assert_eq!(status.signal(), Some(signal.as_raw()));
        assert_eq!(session.answer(1)["error"]["kind"], "cancelled");
    }
}

// A reader that went away ends the run, although the input stays open.
#[test]
fn nobody_at_the_output_ends_the_run() {
    let checkout = Checkout::new(&[]);
    let mut session = Driven::start_unread(&mut checkout.toolbox(&["session"]));
    session.close_output();
    session.send(json!({"list": "tools"}));
    assert!(session.wait().success());
}

// A flag whose part is not there yet is an error that says so.
#[test]
fn unknown_parts_are_named() {
    let checkout = Checkout::new(&[]);
    for args in [
        &["--surface", "half"][..],
        &["--approve", "root"],
        &["--question-timeout", "0"],
        &["--question-timeout", "soon"],
    ] {
        let output = checkout
            .toolbox(&[&["session"], args].concat())
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}
