//! The worker that is a command: how it is told, where its result is, how it fails.

use serde_json::json;
use toolbox::limits;
use toolbox::tool::ErrorKind;
use toolbox::vibe::{CommandOptions, ResultFrom, Way};

use super::{Bench, Process};

fn words(argv: &[&str]) -> Vec<String> {
    argv.iter().map(|word| (*word).to_owned()).collect()
}

/// What two turns of a worker come to.
#[track_caller]
fn check(script: &str, change: impl FnOnce(&mut CommandOptions), expected: [&str; 2]) {
    let bench = Bench::with(script, change);
    let id = bench.spawn("brief {approve}");
    assert_eq!(bench.result(&id), expected[0]);
    bench.answer("vibe_send", json!({"worker_id": id, "message": "more"}));
    assert_eq!(bench.result(&id), expected[1]);
}

// Issue 6: the brief and later messages are given as argument, on standard input or in a file.
#[test]
fn a_worker_is_told_in_three_ways() {
    let both = ["brief {approve}", "brief {approve}\n\nmore"];
    check("printf %s \"$1\"; cat", |_| {}, both);
    check(
        "printf %s \"$*\"; cat",
        |options| options.brief = Way::Stdin,
        both,
    );
    check("cat \"$1\"", |options| options.brief = Way::File, both);
    check(
        "printf '%s|' \"$@\"; cat",
        |options| options.message = Some(Way::Stdin),
        ["brief {approve}|", "brief {approve}|more"],
    );
    check(
        "printf '%s|' \"$#\"; cat \"$@\" -",
        |options| {
            options.brief = Way::Stdin;
            options.message = Some(Way::File);
        },
        ["0|brief {approve}", "1|morebrief {approve}"],
    );
}

#[test]
fn placeholders_are_filled_and_nothing_is_appended_then() {
    check(
        "",
        |options| {
            options.argv = words(&[
                "printf",
                "%s|",
                "--do={brief}",
                "{id}",
                "{tier}",
                "{label}",
                "{turn}",
                "{approve}",
                "{x}",
            ]);
            options.placeholders = vec![("approve".to_owned(), "write".to_owned())];
        },
        [
            "--do=brief {approve}|worker_1|fast|a test|1|write|{x}|",
            "--do=brief {approve}\n\nmore|worker_1|fast|a test|2|write|{x}|",
        ],
    );
}

// A worker that remembers its conversation gets the new messages alone, in the same conversation.
#[test]
fn a_worker_that_resumes_gets_the_message_alone() {
    let bench = Bench::with("", |options| {
        options.argv = words(&["printf", "%s|", "{conversation}", "{brief}"]);
        options.resume = Some(words(&["printf", "%s|", "{conversation}"]));
    });
    let id = bench.spawn("brief");
    let first = bench.result(&id);
    let (conversation, rest) = first.split_once('|').expect("two words");
    assert_eq!((conversation.len(), rest), (36, "brief|"));
    bench.answer("vibe_send", json!({"worker_id": id, "message": "more"}));
    assert_eq!(bench.result(&id), format!("{conversation}|more|"));
    let other = bench.result(&bench.spawn("brief"));
    assert_ne!(other, first, "a conversation of its own");
}

// The result is read where the options say, and a file of an earlier turn is none.
#[test]
fn a_result_is_read_where_it_is_said() {
    let own = |options: &mut CommandOptions| options.result = ResultFrom::from_word("file");
    let script = "echo chatter; printf own > \"$TOOLBOX_WORKER_RESULT\"";
    check(script, own, ["own", "own"]);
    let path = |options: &mut CommandOptions| {
        options.result = ResultFrom::from_word("out/{id}.md");
    };
    let script = "printf 'turn %s' \"$TOOLBOX_WORKER_TURN\"; mkdir -p out
                  [ \"$TOOLBOX_WORKER_TURN\" = 2 ] || printf file > out/worker_1.md";
    check(script, path, ["file", "turn 2"]);
    assert_eq!(ResultFrom::from_word("stdout"), ResultFrom::Stdout);
}

#[test]
fn a_worker_that_fails_says_how() {
    let bench = Bench::new("echo out; echo 'no such file' >&2; exit 7");
    let worker = bench.settled(&bench.spawn("x"));
    assert_eq!(worker["status"], "failed");
    let result = worker["result"].as_str().expect("a result");
    assert!(
        result.starts_with("sh: exit status 7; it printed last:\n"),
        "{result}"
    );
    assert!(
        result.contains("no such file") && result.contains("out"),
        "{result}"
    );
    let bench = Bench::new("kill -9 $$");
    let worker = bench.settled(&bench.spawn("x"));
    let result = worker["result"].as_str().expect("a result");
    assert!(result.contains("exit status 137 (SIGKILL)"), "{result}");
}

// Whoever ends the keeper as well is found out, and nothing is left.
#[test]
fn a_worker_that_takes_its_keeper_along_fails() {
    let bench = Bench::new("kill -9 $PPID; kill -9 $PPID; sleep 300");
    let worker = bench.settled(&bench.spawn("x"));
    assert_eq!(worker["status"], "failed");
    let result = worker["result"].as_str().expect("a result");
    assert!(result.contains("SIGKILL"), "{result}");
    assert_eq!(bench.processes.live(), 0);
}

#[test]
fn a_program_that_is_missing_is_said_at_the_spawn() {
    let bench = Bench::with("", |options| options.argv = words(&["no-such-agent"]));
    let spawn = json!({"brief": "x", "label": "x"});
    let words = "there is no program 'no-such-agent'";
    bench.refuses("vibe_spawn", spawn, ErrorKind::Unavailable, words);
    assert_eq!(bench.answer("vibe_list", json!({})).text, "no workers yet");
}

// A turn ends with its command: what the command left running goes with it.
#[test]
fn what_a_turn_left_running_is_ended() {
    let bench = Bench::new("(setsid sleep 300 & echo $! > pid); cat gate; cat pid");
    let gate = bench.fifo("gate");
    let id = bench.spawn("x");
    gate.write("");
    let result = bench.result(&id);
    let pid = result.trim();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    assert!(
        stat.map_or(true, |stat| stat.contains(") Z ")),
        "{pid} is there"
    );
}

// A list shows the beginning of a result, a delivery more of it; the output is a ring.
#[test]
fn a_long_result_loses_its_middle() {
    let bench = Bench::new("i=0; while [ $i -lt \"$1\" ]; do printf x; i=$((i+1)); done");
    let preview = |id: &str| bench.listed(id)["result"].as_str().map(str::to_owned);
    let most = limits::VIBE_PREVIEW_CHARS;
    let id = bench.spawn(&most.to_string());
    assert_eq!(bench.result(&id), "x".repeat(most));
    assert_eq!(preview(&id), Some("x".repeat(most)));
    let id = bench.spawn(&(most + 1).to_string());
    assert_eq!(bench.result(&id), "x".repeat(most + 1));
    let half = "x".repeat(most / 2);
    assert_eq!(
        preview(&id),
        Some(format!("{half}\n[1 characters left out]\n{half}"))
    );
    let flood = Bench::new("head -c 1000000 /dev/zero | tr '\\0' y; printf end");
    let result = flood.result(&flood.spawn("x"));
    assert!(result.ends_with("yend") && result.contains("characters left out"));
}

// Words on standard error are kept while the worker runs, and are no result.
#[test]
fn what_it_prints_is_seen_while_it_runs() {
    let bench = Bench::new("echo working >&2; echo $$ > ready; cat gate; echo result");
    let (ready, gate) = (bench.fifo("ready"), bench.fifo("gate"));
    let id = bench.spawn("x");
    let process = Process::of(&ready.read());
    gate.write("");
    assert!(process.ends_within(super::LONG));
    assert_eq!(bench.result(&id), "result\n");
}
