//! Adapters that misbehave, each as a real one was seen to.

use std::time::{Duration, Instant};

use serde_json::json;
use toolbox::tool::ErrorKind;

use super::Bench;

/// Launches the fake program.
#[track_caller]
fn launched(scenario: &str) -> Option<Bench> {
    let bench = Bench::fake(scenario)?;
    let stop = bench.launch("a.fake");
    assert_eq!(stop["state"], "stopped", "{stop:#}");
    Some(bench)
}

// Both orders of the launch's answer, and a stop before it.
#[test]
fn every_order_of_the_start_works() {
    for scenario in ["late", "early", "stop_first", "garbage"] {
        let Some(bench) = launched(scenario) else {
            return;
        };
        let stop = bench.op("step_over");
        assert_eq!(
            (&stop["state"], &stop["reason"]),
            (&json!("stopped"), &json!("step"))
        );
        assert_eq!(stop["file"], "a.fake", "{scenario}");
        bench.op("terminate");
        bench.nothing_is_left();
    }
}

#[test]
fn an_end_without_exited_and_with_two_terminated_is_an_end() {
    let Some(bench) = launched("no_exited") else {
        return;
    };
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(null))
    );
    bench.nothing_is_left();
    // R74: after the end another launch is allowed.
    assert_eq!(bench.launch("a.fake")["state"], "stopped");
}

#[test]
fn an_error_with_an_empty_command_has_its_words() {
    let Some(bench) = launched("late") else {
        return;
    };
    let args = json!({"operation": "evaluate", "expression": "q"});
    bench.refuses(args, ErrorKind::Failed, "no symbol q");
    let end = bench.op("continue");
    assert_eq!(end["exit_code"], 3);
    bench.refuses(
        json!({"operation": "stack"}),
        ErrorKind::NotFound,
        "exited with code 3",
    );
}

// R75, R79: the adapter's own words are in the error, and nothing hangs.
#[test]
fn a_start_that_fails_says_why() {
    for (scenario, words) in [
        ("exit_early", "boom: no runtime"),
        ("exit_early", "exit status 7"),
        ("fail_launch", "line 3: syntax error"),
    ] {
        let Some(bench) = Bench::fake(scenario) else {
            return;
        };
        let launch = json!({"operation": "launch", "program": "a.fake"});
        bench.refuses(launch, ErrorKind::Failed, words);
        bench.nothing_is_left();
        assert_eq!(bench.op("status")["state"], "none");
    }
}

#[test]
fn an_adapter_that_never_takes_breakpoints_times_out() {
    let bench = Bench::fake_with("silent_launch", |options| {
        options.timings.start_wait = Duration::from_secs(2);
    });
    let Some(bench) = bench else { return };
    let launch = json!({"operation": "launch", "program": "a.fake"});
    bench.refuses(launch, ErrorKind::Timeout, "did not answer within 2 s");
    bench.nothing_is_left();
}

// lldb stops what it attaches to, takes the breakpoints, and lets it go on: that stop is none to tell of.
#[test]
fn a_stop_that_ends_with_the_configuration_is_none() {
    let Some(bench) = Bench::fake("goes_on") else {
        return;
    };
    bench.breakpoints("a.fake", json!([3]));
    let stop = bench.launch("a.fake");
    assert_eq!(
        (&stop["state"], &stop["reason"]),
        (&json!("stopped"), &json!("breakpoint")),
        "{stop:#}"
    );
    bench.op("terminate");
    bench.nothing_is_left();
}

// An adapter that says nothing at all is given up long before one that builds the program.
#[test]
fn an_adapter_that_never_says_hello_times_out() {
    let bench = Bench::fake_with("mute", |options| {
        options.timings.hello_wait = Duration::from_secs(2);
    });
    let Some(bench) = bench else { return };
    let launch = json!({"operation": "launch", "program": "a.fake"});
    bench.refuses(launch, ErrorKind::Timeout, "did not answer within 2 s");
    bench.nothing_is_left();
    assert_eq!(bench.op("status")["state"], "none");
}

#[test]
fn a_pause_without_a_thread_finds_one() {
    let Some(bench) = launched("no_thread") else {
        return;
    };
    let args = json!({"operation": "continue", "timeout_seconds": 1});
    assert_eq!(bench.does(args)["state"], "running");
    let stop = bench.op("pause");
    assert_eq!(
        (&stop["state"], &stop["thread_id"]),
        (&json!("stopped"), &json!(1))
    );
    assert_eq!(stop["reason"], "pause");
    bench.op("terminate");
    bench.nothing_is_left();
}

// D20: 300 KB through a ring of 128 KiB; what is dropped is counted, the end is there.
#[test]
fn a_flood_of_output_keeps_its_end() {
    let Some(bench) = launched("flood") else {
        return;
    };
    let end = bench.does(json!({"operation": "continue", "timeout_seconds": 60}));
    assert_eq!(end["exit_code"], 0, "{}", end["state"]);
    let output = bench.op("output");
    let text = output["text"].as_str().expect("a text");
    assert_eq!(text.len(), 128 << 10);
    assert_eq!(output["dropped_bytes"], 300_000 - (128 << 10));
    assert!(text.ends_with("2999\n"), "{}", &text[text.len() - 20..]);
    bench.nothing_is_left();
}

#[test]
fn an_adapter_that_dies_in_a_step_is_told() {
    let Some(bench) = launched("die_mid_step") else {
        return;
    };
    let end = bench.op("step_over");
    assert_eq!(
        (&end["state"], &end["reason"]),
        (&json!("exited"), &json!("adapter died"))
    );
    let notes = end["notes"].to_string();
    assert!(
        notes.contains("exit status 9") && notes.contains("assertion failed"),
        "{notes}"
    );
    bench.nothing_is_left();
    bench.refuses(
        json!({"operation": "continue"}),
        ErrorKind::NotFound,
        "adapter died",
    );
}

// R90: an adapter that ignores the disconnect, the end of its input and SIGTERM, with a debuggee in a group
// of its own.
#[test]
fn an_adapter_that_will_not_go_is_ended() {
    let Some(bench) = launched("ignore_disconnect") else {
        return;
    };
    assert!(bench.marked().len() >= 2, "adapter and debuggee");
    let began = Instant::now();
    let end = bench.op("terminate");
    assert_eq!(end["state"], "exited");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    bench.nothing_is_left();
}

#[test]
fn what_an_adapter_asks_is_declined() {
    let Some(bench) = launched("reverse") else {
        return;
    };
    let output = bench.output();
    for words in [
        "declined [False, False]",
        "[the adapter asked for runInTerminal, which was declined]\n",
        "[the adapter asked for startDebugging, which was declined]\n",
    ] {
        assert!(output.contains(words), "{output}");
    }
}

#[test]
fn a_pause_and_a_step_in_one_burst_are_the_step() {
    let Some(bench) = launched("burst") else {
        return;
    };
    let stop = bench.op("step_over");
    assert_eq!(stop["reason"], "step", "{stop:#}");
}

#[test]
fn a_refused_step_leaves_the_program_stopped() {
    let Some(bench) = launched("refuse_step") else {
        return;
    };
    let step = json!({"operation": "step_over"});
    bench.refuses(step, ErrorKind::Failed, "the adapter gave no reason");
    assert_eq!(bench.op("status")["state"], "stopped");
}

// R85: 30 frames of 31 and of 30. R87: 50 children of 51 and of 50, 400 characters of 401 and of 400.
#[test]
fn caps_cut_at_their_number_and_not_before() {
    let Some(bench) = launched("late") else {
        return;
    };
    for (thread, total) in [(1, 31), (2, 30)] {
        let stack = bench.does(json!({"operation": "stack", "thread_id": thread}));
        assert_eq!(
            (&stack["shown"], &stack["total"]),
            (&json!(30), &json!(total))
        );
        assert_eq!(stack["frames"].as_array().map(Vec::len), Some(30));
    }
    let scopes = bench.op("scopes");
    let reference = &scopes["scopes"][0]["reference"];
    let locals = bench.does(json!({"operation": "variables", "reference": reference}));
    let row = |idx: usize| &locals["variables"][idx];
    for (idx, total) in [(0, 50), (1, 51)] {
        let args = json!({"operation": "variables", "reference": row(idx)["reference"]});
        let children = bench.does(args);
        assert_eq!(
            (&children["shown"], &children["total"]),
            (&json!(50), &json!(total))
        );
    }
    let chars = |idx: usize| {
        row(idx)["value"]
            .as_str()
            .map(|value| value.chars().count())
    };
    assert_eq!((chars(2), &row(2)["truncated"]), (Some(401), &json!(true)));
    assert!(
        row(2)["value"]
            .as_str()
            .is_some_and(|value| value.ends_with('…'))
    );
    assert_eq!((chars(3), &row(3)["truncated"]), (Some(400), &json!(false)));
}

// D21: unverified, moved and never-hit breakpoints are said; what the adapter lacks is not half done.
#[test]
fn doubtful_breakpoints_are_said() {
    let Some(bench) = Bench::fake("late") else {
        return;
    };
    let lines = json!([1, 5, 12, {"line": 3, "condition": "x"}]);
    bench.breakpoints("a.fake", lines);
    let stop = bench.launch("a.fake");
    let notes = stop["notes"].to_string();
    assert!(notes.contains("a.fake:5 moved to line 6"), "{notes}");
    assert!(
        notes.contains("a.fake:12 is not verified: no code there"),
        "{notes}"
    );
    assert!(notes.contains("no conditional breakpoints"), "{notes}");
    let end = bench.op("continue");
    let never: Vec<_> = end["never_hit"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|place| place["line"].clone())
        .collect();
    assert_eq!(never, [3, 5, 12]);
}

// A number that is no debuggee's is not believed: this process names itself through the fake.
#[test]
fn a_stranger_is_never_taken_for_the_debuggee() {
    let Some(bench) = launched("stranger") else {
        return;
    };
    assert_eq!(bench.processes.live(), 1, "the adapter alone");
    bench.op("terminate");
    bench.nothing_is_left();
}

// The figure of the closing note: with an adapter that answers at once, what is left of a step's time is the
// client's and the fake's own.
#[test]
fn a_step_costs_little_beside_the_adapter() {
    let Some(bench) = launched("late") else {
        return;
    };
    let n_steps = 40;
    let began = Instant::now();
    for _ in 0..n_steps {
        assert_eq!(bench.op("step_over")["state"], "stopped");
    }
    let each = began.elapsed() / n_steps;
    println!("a step takes {each:?} with an adapter that answers at once");
    // Twenty times the goal: the machine may be busy, but no fixed wait may hide in a step.
    assert!(each < Duration::from_millis(100), "{each:?}");
}
