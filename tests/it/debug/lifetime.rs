//! How long a session lives, and what is left when it ends.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolbox::dap::{ManualClock, Options, Supervisor};
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use super::bench::ends_within;
use super::{Bench, fake};

// R73, D18: the 30 minutes are hard; the next call says so; a launch is allowed again.
#[test]
fn a_session_ends_after_30_minutes() {
    let clock = ManualClock::default();
    let theirs = Arc::new(clock.clone());
    let Some(bench) = Bench::fake_with("child", |options| options.clock = theirs) else {
        return;
    };
    bench.launch("a.fake");
    let marked = bench.marked();
    assert!(marked.len() >= 2, "adapter and debuggee: {marked:?}");
    clock.advance(Duration::from_secs(30 * 60 - 1));
    assert_eq!(bench.op("status")["state"], "stopped");
    clock.advance(Duration::from_secs(1));
    for pid in marked {
        assert!(
            ends_within(pid, Duration::from_secs(20)),
            "process {pid} is left"
        );
    }
    let status = json!({"operation": "stack"});
    // The last steps of the end take a moment after the processes are gone.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while bench.op("status")["state"] != "exited" {
        assert!(std::time::Instant::now() < deadline, "it does not end");
        std::thread::yield_now();
    }
    bench.refuses(status, ErrorKind::Expired, "expired");
    assert_eq!(bench.op("status")["reason"], "expired");
    assert_eq!(bench.launch("a.fake")["state"], "stopped");
}

// R3: ending the run ends the adapter and its debuggee.
#[test]
fn the_end_of_a_run_leaves_nothing() {
    let Some(mut bench) = Bench::fake("child") else {
        return;
    };
    bench.launch("a.fake");
    assert!(bench.marked().len() >= 2);
    bench.end_run();
    bench.nothing_is_left();
}

// R90 for a host that is told to end: everything that is in charge ends, the debuggee too.
#[test]
fn ending_all_children_leaves_nothing() {
    let Some(bench) = Bench::fake("ignore_disconnect") else {
        return;
    };
    bench.launch("a.fake");
    let marked = bench.marked();
    bench.processes.end_all(Duration::from_millis(50));
    for pid in marked {
        assert!(
            ends_within(pid, Duration::from_secs(20)),
            "process {pid} is left"
        );
    }
}

// R72, R74: two runs of one conversation have one session; another conversation has its own.
#[test]
fn a_conversation_has_one_session() {
    let Some(row) = fake("late") else { return };
    let bench = Bench::new(&["fake.toml", "a.fake"]);
    let env = std::env::vars_os().collect();
    let mut options = Options::new(env);
    options.adapters.push(row);
    let supervisor = Supervisor::new(bench.processes.clone(), options);
    let runs = ["one", "one", "two"].map(|id| bench.another_run(&supervisor, id));
    let launch = json!({"operation": "launch", "program": "a.fake"});
    let call = |idx: usize| runs[idx].dispatch("debug", launch.clone(), CallOptions::new());
    assert_eq!(call(0).expect("the first").data["state"], "stopped");
    let error = call(1).expect_err("one conversation");
    assert!(
        error.message().contains("one conversation has one session"),
        "{error}"
    );
    assert_eq!(call(2).expect("another").data["state"], "stopped");
    drop(runs);
    assert_eq!(bench.processes.live(), 0);
}

// R71: the tool queues its calls.
#[test]
fn calls_of_the_debugger_queue() {
    let bench = Bench::new(&[]);
    let specs = bench.run().specs();
    let spec = specs
        .iter()
        .find(|spec| spec.name == "debug")
        .expect("it is there");
    assert!(!spec.parallel_safe);
    assert_eq!(spec.tier.as_str(), "exec");
}

// A cancelled wait gives the call back at once; the program goes on.
#[test]
fn a_wait_can_be_cancelled() {
    let Some(bench) = Bench::fake("stuck") else {
        return;
    };
    bench.launch("a.fake");
    let cancel = toolbox::cancel::Cancel::new();
    let options = CallOptions::new().with_cancel(cancel.clone());
    let run = bench.run();
    let error = std::thread::scope(|scope| {
        let call = scope.spawn(|| run.dispatch("debug", json!({"operation": "continue"}), options));
        while run.calls().is_empty() {
            std::thread::yield_now();
        }
        cancel.cancel();
        call.join().expect("no panic").expect_err("cancelled")
    });
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    bench.op("terminate");
    bench.nothing_is_left();
}
