//! Spawn, send, wait, kill, list.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::limits;
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use super::{Bench, Fake, LONG, Process};

// R131, R135: spawn returns while the worker keeps running; the data is as the interface has it.
#[test]
fn spawn_returns_before_the_worker_ends() {
    let bench = Bench::new("cat \"$1\"");
    let gate = bench.fifo("gate");
    let output = bench.answer(
        "vibe_spawn",
        json!({"brief": "gate", "label": " read \n the gate ", "tier": "fast"}),
    );
    let keys = |worker: &Value| {
        let mut keys: Vec<String> = worker.as_object().expect("one").keys().cloned().collect();
        keys.sort();
        keys
    };
    let worker = &output.data["workers"][0];
    assert_eq!(
        keys(worker),
        [
            "delivered",
            "elapsed_s",
            "id",
            "label",
            "result",
            "status",
            "tier",
            "turns"
        ]
    );
    assert_eq!(
        (&worker["id"], &worker["tier"]),
        (&json!("worker_1"), &json!("fast"))
    );
    assert_eq!(
        (&worker["status"], &worker["result"]),
        (&json!("running"), &Value::Null)
    );
    assert_eq!(worker["label"], "read the gate");
    assert!(worker["elapsed_s"].is_number());
    assert!(
        output
            .text
            .starts_with("worker_1 (fast) read the gate: running"),
        "{}",
        output.text
    );
    assert_eq!(bench.listed("worker_1")["status"], "running");
    gate.write("the result");
    assert_eq!(bench.result("worker_1"), "the result");
    let listed = bench.answer("vibe_list", json!({}));
    let worker = &listed.data["workers"][0];
    assert_eq!(
        (&worker["result"], &worker["turns"]),
        (&json!("the result"), &json!(1))
    );
    assert!(
        listed.text.ends_with("1 turn\nthe result"),
        "{}",
        listed.text
    );
}

// D28: past its timeout a wait is a success that says so, and the worker is untouched.
#[test]
fn a_wait_past_its_timeout_says_still_running() {
    let bench = Bench::new("echo begun; cat \"$1\"");
    let gate = bench.fifo("gate");
    let id = bench.spawn("gate");
    for timeout in [0.0, 0.05] {
        let wait = json!({"worker_id": id, "timeout_seconds": timeout});
        let output = bench.answer("vibe_wait", wait);
        assert_eq!(output.data["note"], "still_running");
        assert_eq!(output.data["workers"][0]["status"], "running");
        assert!(output.text.contains("still running"), "{}", output.text);
    }
    gate.write("end");
    assert_eq!(bench.result(&id), "begun\nend");
    let most = limits::VIBE_MAX_WAIT.as_secs();
    let wait = |seconds: Value| json!({"worker_id": id, "timeout_seconds": seconds});
    bench.answer("vibe_wait", wait(json!(most)));
    for seconds in [json!(most + 1), json!(-1)] {
        let words = "it must be 0 to 3600";
        bench.refuses("vibe_wait", wait(seconds), ErrorKind::InvalidArgs, words);
    }
}

// R133: each result is delivered once; of several workers the first that settles ends the wait.
#[test]
fn a_wait_for_several_returns_at_the_first_and_results_come_once() {
    let bench = Bench::of(Fake::default());
    let slow = bench.spawn("block");
    let quick = bench.spawn("done at once");
    let both = json!({"worker_id": [slow, quick], "timeout_seconds": LONG.as_secs()});
    let first = bench.answer("vibe_wait", both.clone()).data;
    assert_eq!(first["workers"][0]["status"], "running");
    assert_eq!(first["workers"][1]["result"], "at once");
    // The one that was delivered does not end the next wait.
    let short = json!({"worker_id": [slow, quick], "timeout_seconds": 0.05});
    let next = bench.answer("vibe_wait", short).data;
    assert_eq!(next["note"], "still_running");
    assert_eq!(next["workers"][1]["result"], Value::Null);
    assert_eq!(next["workers"][1]["delivered"], true);
    // Alone it does, and says that nothing is new.
    let again = bench.answer("vibe_wait", json!({"worker_id": quick}));
    assert_eq!(again.data["workers"][0]["result"], Value::Null);
    assert!(again.text.contains("delivered before"), "{}", again.text);
    bench.answer("vibe_kill", json!({"worker_id": slow}));
    let all = bench.answer("vibe_wait", both).data;
    assert_eq!(all["note"], "settled");
    bench.refuses(
        "vibe_wait",
        json!({"worker_id": []}),
        ErrorKind::InvalidArgs,
        "empty list",
    );
}

// R132, D27: a running worker gets the message after its turn, an idle or finished one at once.
#[test]
fn a_message_is_added_and_the_worker_runs_again() {
    let bench = Bench::new("cat \"gate$TOOLBOX_WORKER_TURN\"; echo \"$1\"");
    let [first, second, third] = ["gate1", "gate2", "gate3"].map(|name| bench.fifo(name));
    let id = bench.spawn("the brief");
    let send = |message: &str| json!({"worker_id": id, "message": message});
    let sent = bench.answer("vibe_send", send("one"));
    assert_eq!(sent.data["note"], "after_the_current_turn");
    assert!(
        sent.text.contains("after the current turn"),
        "{}",
        sent.text
    );
    bench.answer("vibe_send", send("two"));
    first.write("");
    second.write("");
    let worker = bench.settled(&id);
    assert_eq!(worker["result"], "the brief\n\none\n\ntwo\n");
    assert_eq!(worker["turns"], 2, "both messages in one turn");
    let sent = bench.answer("vibe_send", send("three"));
    assert_eq!(sent.data["note"], "runs_again");
    assert_eq!(sent.data["workers"][0]["status"], "running");
    third.write("");
    assert_eq!(bench.result(&id), "the brief\n\none\n\ntwo\n\nthree\n");
}

// D27: an idle worker and a failed one run again; what a turn came to is its status.
#[test]
fn idle_and_failed_workers_run_again() {
    let bench = Bench::of(Fake::default());
    for (brief, status, result) in [
        ("idle which one?", "idle", "which one?"),
        ("fail no way", "failed", "no way"),
        ("panic", "failed", "the worker failed from a defect"),
    ] {
        let id = bench.spawn(brief);
        let worker = bench.settled(&id);
        assert_eq!(
            (&worker["status"], &worker["result"]),
            (&json!(status), &json!(result))
        );
        let message = json!({"worker_id": id, "message": "done now"});
        assert_eq!(
            bench.answer("vibe_send", message).data["note"],
            "runs_again"
        );
        assert_eq!(bench.result(&id), "now");
    }
}

// D28: a kill takes the whole tree, whatever sessions its processes started; twice is no error.
#[test]
fn a_kill_takes_the_whole_tree() {
    let bench = Bench::new(
        "trap '' TERM; sleep 301 & one=$!; setsid sleep 302 & two=$!
         (setsid sh -c 'echo $$ > daemon; exec sleep 303' &)
         until [ -s daemon ]; do :; done
         echo \"$$ $one $two $(cat daemon)\" > ready; wait",
    );
    let ready = bench.fifo("ready");
    let id = bench.spawn("go");
    let pids = ready.read();
    let tree: Vec<Process> = pids.split_whitespace().map(Process::of).collect();
    assert_eq!(tree.len(), 4, "{pids}");
    let killed = bench.answer("vibe_kill", json!({"worker_id": id}));
    assert_eq!(killed.data["note"], "killed");
    assert_eq!(killed.data["workers"][0]["status"], "killed");
    for process in &tree {
        assert!(
            process.ends_within(Duration::ZERO),
            "the kill waited for it"
        );
    }
    for pid in pids.split_whitespace() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        assert!(
            stat.map_or(true, |stat| stat.contains(") Z ")),
            "{pid} is there"
        );
    }
    let again = bench.answer("vibe_kill", json!({"worker_id": id}));
    assert_eq!(again.data["note"], "killed_before");
    assert_eq!(bench.listed(&id)["status"], "killed");
    let wait = bench.answer("vibe_wait", json!({"worker_id": id}));
    assert_eq!(wait.data["workers"][0]["status"], "killed");
    let message = json!({"worker_id": id, "message": "rise"});
    bench.refuses("vibe_send", message, ErrorKind::NotFound, "was killed");
    let other = bench.spawn("go");
    let message = json!({"worker_id": id, "message": "rise"});
    bench.refuses("vibe_send", message, ErrorKind::NotFound, &other);
}

// R134: what ignores SIGTERM in a session of its own ends too, although its parent goes before it.
#[test]
fn a_kill_takes_what_lost_its_parent_to_it() {
    let bench = Bench::new(
        "setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > stubborn; exec sleep 304' &
         until [ -s stubborn ]; do :; done
         cat stubborn > ready; sleep 305",
    );
    let ready = bench.fifo("ready");
    let id = bench.spawn("go");
    let stubborn = Process::of(ready.read().trim());
    let killed = bench.answer("vibe_kill", json!({"worker_id": id}));
    assert_eq!(killed.data["note"], "killed");
    assert!(
        stubborn.ends_within(Duration::ZERO),
        "the kill waited for it"
    );
}

// D27: an unknown id names those there are.
#[test]
fn an_unknown_worker_names_the_known_ones() {
    let bench = Bench::of(Fake::default());
    let id = bench.spawn("block");
    for (tool, args) in [
        (
            "vibe_send",
            json!({"worker_id": "worker_9", "message": "x"}),
        ),
        ("vibe_wait", json!({"worker_id": [id, "nobody"]})),
        ("vibe_kill", json!({"worker_id": "1"})),
    ] {
        bench.refuses(tool, args, ErrorKind::NotFound, "the workers are: worker_1");
    }
    assert_eq!(bench.listed(&id)["status"], "running");
}

// D43: the tier is `fast` where none is named; a tier without a worker says which key is missing.
#[test]
fn bad_spawns_say_what_to_do() {
    let bench = Bench::of(Fake::default());
    let spawn = |brief: &str, label: &str| json!({"brief": brief, "label": label});
    bench.refuses(
        "vibe_spawn",
        spawn(" \n", "x"),
        ErrorKind::InvalidArgs,
        "brief is blank",
    );
    bench.refuses(
        "vibe_spawn",
        spawn("x", ""),
        ErrorKind::InvalidArgs,
        "label is blank",
    );
    bench.refuses(
        "vibe_spawn",
        spawn("x\0", "x"),
        ErrorKind::InvalidArgs,
        "NUL",
    );
    let most = "x".repeat(limits::VIBE_TEXT_BYTES);
    let more = format!("{most}x");
    bench.refuses(
        "vibe_spawn",
        spawn(&more, "x"),
        ErrorKind::InvalidArgs,
        "the limit is",
    );
    bench.answer("vibe_spawn", spawn(&most, "x"));
    let good = json!({"brief": "x", "label": "x", "tier": "good"});
    bench.refuses(
        "vibe_spawn",
        good,
        ErrorKind::Unavailable,
        "[vibe.good] command",
    );
    let odd = json!({"brief": "x", "label": "x", "tier": "best"});
    bench.refuses("vibe_spawn", odd, ErrorKind::InvalidArgs, "tier");
    let label = "ü".repeat(limits::VIBE_LABEL_CHARS + 1);
    let output = bench.answer("vibe_spawn", spawn("done", &label));
    let shown = output.data["workers"][0]["label"]
        .as_str()
        .expect("a label");
    assert_eq!(shown.chars().count(), limits::VIBE_LABEL_CHARS);
}

#[test]
fn so_many_workers_run_and_one_more_does_not() {
    let bench = Bench::of(Fake::default());
    let ids: Vec<String> = (0..limits::VIBE_WORKERS)
        .map(|_| bench.spawn("block"))
        .collect();
    let more = json!({"brief": "done", "label": "x"});
    bench.refuses(
        "vibe_spawn",
        more,
        ErrorKind::Failed,
        "16 workers run already",
    );
    bench.answer("vibe_kill", json!({"worker_id": ids[3]}));
    bench.spawn("done");
}

// A wait that is cancelled leaves the worker alone.
#[test]
fn a_cancelled_wait_ends_and_the_worker_goes_on() {
    let fake = Fake::default();
    let blocked = Arc::clone(&fake.blocked);
    let bench = Bench::of(fake);
    let id = bench.spawn("block");
    let cancel = Cancel::new();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let (handle, token, id) = (bench.run.handle(), cancel.clone(), id.clone());
        let waiting = scope.spawn(move || {
            let wait = json!({"worker_id": id, "timeout_seconds": LONG.as_secs()});
            handle.dispatch("vibe_wait", wait, CallOptions::new().with_cancel(token))
        });
        let number = blocked.0.lock().expect("no panic");
        let begun = blocked
            .1
            .wait_timeout_while(number, LONG, |number| *number == 0);
        drop(begun);
        cancel.cancel();
        let error = waiting
            .join()
            .expect("no panic")
            .expect_err("it was cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    });
    assert!(began.elapsed() < LONG);
    assert_eq!(bench.listed(&id)["status"], "running");
    assert_eq!(bench.listed(&id)["output"], "begun");
}

// R135: those that were told about are kept up to a limit, for another message; the oldest go first, and none
// whose result nobody has seen.
#[test]
fn settled_workers_are_forgotten_beyond_a_limit() {
    let bench = Bench::of(Fake::default());
    bench.spawn("done first");
    for number in 2..=limits::VIBE_KEPT + 1 {
        let id = bench.spawn("done x");
        assert_eq!(id, format!("worker_{number}"));
        assert_eq!(bench.result(&id), "x");
    }
    let ids = || -> Vec<String> {
        let data = bench.answer("vibe_list", json!({})).data;
        let workers = data["workers"].as_array().expect("a list").clone();
        let id = |worker: &Value| worker["id"].as_str().expect("an id").to_owned();
        workers.iter().map(id).collect()
    };
    assert_eq!(ids().len(), limits::VIBE_KEPT + 1, "all of them so far");
    let last = bench.spawn("done last");
    let kept = ids();
    assert_eq!(kept.len(), limits::VIBE_KEPT + 1);
    assert_eq!((&*kept[0], &*kept[1]), ("worker_1", "worker_3"));
    assert_eq!(bench.result(&last), "last");
    assert_eq!(bench.result("worker_1"), "first", "it was kept for this");
    let gone = json!({"worker_id": "worker_2", "message": "x"});
    bench.refuses("vibe_send", gone, ErrorKind::NotFound, "worker_2");
}
