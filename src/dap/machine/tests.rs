//! The state machine, driven by the sequences of events that real adapters send.

use serde_json::json;

use super::*;

fn running() -> Machine {
    let mut machine = Machine::new(1);
    machine.started();
    machine
}

fn stop(thread: i64) -> Value {
    json!({"reason": "breakpoint", "threadId": thread, "allThreadsStopped": true})
}

// D19: identifiers of an earlier epoch are refused, and an identifier keeps its kind.
#[test]
fn identifiers_live_for_one_epoch() {
    let mut machine = running();
    machine.apply("stopped", &stop(1));
    let frame = machine.give(Handle::Frame(7));
    let reference = machine.give(Handle::Reference(7));
    assert_ne!(frame, reference);
    assert_eq!(machine.give(Handle::Frame(7)), frame);
    assert_eq!(machine.give(Handle::Reference(0)), 0);
    assert_eq!(
        machine.take("frame", frame).expect("alive"),
        Handle::Frame(7)
    );
    machine.resume();
    machine.apply("stopped", &stop(1));
    let error = machine.take("frame", frame).expect_err("stale");
    assert!(matches!(error, DapError::Stale { .. }), "{error}");
    assert_eq!(machine.give(Handle::Frame(7)) - frame, IDS_PER_EPOCH);
    for unknown in [0, -5, 12, i64::MAX, i64::MIN] {
        let error = machine.take("frame", unknown).expect_err("unknown");
        assert!(matches!(error, DapError::NotFound { .. }), "{error}");
    }
}

// The stop may come before the answer to the launch, and a stop may follow a pause in one burst (debugpy).
#[test]
fn stops_count_in_the_order_in_which_they_come() {
    let mut machine = Machine::new(1);
    machine.apply("stopped", &stop(3));
    machine.started();
    assert_eq!(machine.state_name(), "stopped");
    machine.apply("continued", &json!({"threadId": 3}));
    assert_eq!(machine.state_name(), "running");
    machine.apply("stopped", &json!({"reason": "step", "threadId": 4}));
    let State::Stopped(stop) = &machine.state else {
        panic!("{:?}", machine.state)
    };
    assert_eq!(
        (stop.reason.as_str(), stop.thread, stop.serial),
        ("step", Some(4), 2)
    );
}

#[test]
fn another_thread_that_goes_on_does_not_end_the_stop() {
    let mut machine = running();
    machine.apply("stopped", &stop(1));
    machine.apply(
        "continued",
        &json!({"threadId": 2, "allThreadsContinued": false}),
    );
    assert_eq!(machine.state_name(), "stopped");
    machine.apply(
        "stopped",
        &json!({"reason": "x", "threadId": 2, "preserveFocusHint": true}),
    );
    assert_eq!(machine.last_thread, Some(1));
    machine.apply("continued", &json!({}));
    assert_eq!(machine.state_name(), "running");
}

#[test]
fn a_refused_resume_is_taken_back_unless_something_happened() {
    let mut machine = running();
    machine.apply("stopped", &stop(1));
    let State::Stopped(before) = machine.state.clone() else {
        panic!("{:?}", machine.state)
    };
    machine.resume();
    machine.unresume(before.clone());
    assert_eq!(machine.state, State::Stopped(before.clone()));
    machine.resume();
    machine.apply("stopped", &stop(2));
    machine.unresume(before);
    assert_eq!(machine.last_thread, Some(2));
    assert!(matches!(&machine.state, State::Stopped(stop) if stop.thread == Some(2)));
}

#[test]
fn output_goes_where_it_belongs() {
    let mut machine = Machine::new(1);
    let write = |machine: &mut Machine, category: Value, output: &str| {
        machine.apply("output", &json!({"category": category, "output": output}));
    };
    write(&mut machine, json!("console"), "banner\n");
    write(&mut machine, json!("telemetry"), "secret\n");
    machine.configured = true;
    write(&mut machine, json!("stdout"), "out\r\n");
    write(&mut machine, json!("stderr"), "err\n");
    write(&mut machine, json!(null), "log point\n");
    machine.terminated = true;
    write(
        &mut machine,
        json!("console"),
        "Process 42 has exited with status 3\n",
    );
    machine.apply("output", &json!({"category": "stdout", "output": "a"}));
    machine.apply("output", &json!({"category": "stderr", "output": "b\n"}));
    machine.apply("output", &json!({"category": "stdout", "output": "c"}));
    machine.flush();
    assert_eq!(machine.output.text(), "out\nerr\nlog point\nb\nac");
    assert!(
        machine
            .words
            .text()
            .starts_with("banner\nlog point\nProcess")
    );
    assert_eq!(machine.exit_code, Some(3));
}

#[test]
fn the_exit_status_is_read_from_words_and_not_from_others() {
    assert_eq!(
        exit_status("Process 1 exited with status = 7 (0x7)"),
        Some(7)
    );
    assert_eq!(exit_status("Process 1 has exited with status -1"), Some(-1));
    assert_eq!(exit_status("it exited with status 3"), None);
    assert_eq!(exit_status("Process 1 exited with status"), None);
}

#[test]
fn events_without_their_fields_do_no_harm() {
    let mut machine = running();
    for name in [
        "stopped",
        "continued",
        "exited",
        "thread",
        "output",
        "breakpoint",
        "capabilities",
        "process",
        "initialized",
        "odd",
        "stopped",
    ] {
        for body in [
            json!(null),
            json!({}),
            json!([1]),
            json!({"threadId": "x", "breakpoint": 1}),
        ] {
            machine.apply(name, &body);
        }
    }
    assert_eq!(machine.state_name(), "stopped");
}
