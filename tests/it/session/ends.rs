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

// R3, R142: after SIGKILL of the host nothing of its commands is left: neither of one that had ended, nor a
// daemon of it in a session of its own that ignores SIGTERM, nor a command in the background.
#[test]
fn a_killed_host_leaves_no_command() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--approve", "exec"]);
    let daemon = "sleep 611 & echo $!; setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 612; done' & sleep 0.5";
    session.call(1, "Bash", json!({"command": daemon}));
    let answer = session.answer(1);
    let args = json!({"command": "echo $$ > pid; sleep 613", "run_in_background": true});
    session.call(2, "Bash", args);
    session.answer(2);
    let file = checkout.root().join("pid");
    let wait = json!({"command": "until [ -s pid ]; do sleep 0.05; done; cat pid"});
    session.call(3, "Bash", wait);
    session.answer(3);
    let mut numbers = answer["data"]["output"]
        .as_str()
        .expect("a text")
        .to_owned();
    numbers.push_str(&std::fs::read_to_string(&file).expect("it was waited for"));
    let handles: Vec<_> = numbers
        .split_whitespace()
        .map(|number| {
            let number = number.parse().expect("a process number");
            let pid = rustix::process::Pid::from_raw(number).expect("positive");
            let flags = rustix::process::PidfdFlags::empty();
            rustix::process::pidfd_open(pid, flags).expect("it runs")
        })
        .collect();
    assert_eq!(handles.len(), 3, "{numbers}");
    session.signal(Signal::KILL);
    assert_eq!(session.wait().signal(), Some(Signal::KILL.as_raw()));
    for handle in &handles {
        let mut fds = [rustix::event::PollFd::new(
            handle,
            rustix::event::PollFlags::IN,
        )];
        let timeout = rustix::event::Timespec::try_from(super::driver::LONG).expect("a time");
        let ended = rustix::event::poll(&mut fds, Some(&timeout)).expect("it can be polled");
        assert_eq!(ended, 1, "a process outlived its host: {numbers}");
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
