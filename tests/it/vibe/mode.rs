//! When the five tools are there, and what ends with them.

use std::sync::Arc;

use serde_json::json;
use toolbox::registry::Registry;
use toolbox::tool::{ErrorKind, Tier};
use toolbox::tools::{Resources, VIBE_TOOLS, VibeResources, connect, leave_vibe_mode};
use toolbox::vibe::RosterOptions;

use super::{Bench, Fake, LONG, Process};

/// Tells its process number and that of a child, and lives on.
const TREE: &str = "sleep 300 & echo \"$$ $!\" > \"$1\"; wait";

fn resources() -> VibeResources {
    VibeResources::new(RosterOptions {
        fast: Some(Arc::new(Fake::default())),
        good: None,
        folder: std::env::temp_dir(),
    })
}

fn shown(registry: &Registry) -> Vec<String> {
    let specs = registry.specs();
    specs.iter().map(|spec| spec.name.clone()).collect()
}

// R129: toggling the mode adds and removes all five.
#[test]
fn the_tools_come_and_go_with_the_mode() {
    let mut registry = connect(&Resources::default());
    assert_eq!(shown(&registry), [""; 0]);
    let reasons = registry.unavailable();
    for name in VIBE_TOOLS {
        let row = reasons.iter().find(|row| row.name == name);
        assert!(row.is_some_and(|row| row.reason.contains("vibe mode is off")));
    }
    let all = [
        "vibe_kill",
        "vibe_list",
        "vibe_send",
        "vibe_spawn",
        "vibe_wait",
    ];
    for _ in 0..2 {
        resources().enter(&mut registry).expect("it enters");
        assert_eq!(shown(&registry), all);
        assert!(
            !registry
                .unavailable()
                .iter()
                .any(|row| row.name.starts_with("vibe"))
        );
        leave_vibe_mode(&mut registry);
        assert_eq!(shown(&registry), [""; 0]);
    }
    let vibe = Some(resources());
    let connected = connect(&Resources {
        vibe,
        ..Resources::default()
    });
    assert_eq!(shown(&connected), all);
}

// R130: the gate is on the worker's own tools, so a read-only surface has all five.
#[test]
fn all_five_are_tier_read_and_run_side_by_side() {
    let vibe = Some(resources());
    let registry = connect(&Resources {
        vibe,
        ..Resources::default()
    })
    .limit(Tier::Read);
    for name in VIBE_TOOLS {
        let spec = registry.get(name).expect("a read-only surface has it");
        assert_eq!(
            (spec.tier, spec.parallel_safe),
            (Tier::Read, true),
            "{name}"
        );
        assert_eq!(spec.schema["additionalProperties"], json!(false), "{name}");
        assert!(spec.description.len() > 60);
    }
}

// D28: leaving the mode kills every worker, and a wait that is under way ends.
#[test]
fn leaving_the_mode_kills_all_workers() {
    let bench = Bench::new(TREE);
    let ready = bench.fifo("ready");
    let id = bench.spawn("ready");
    let pids = ready.read();
    let tree: Vec<Process> = pids.split_whitespace().map(Process::of).collect();
    assert_eq!(tree.len(), 2);
    let handle = bench.run.handle();
    let waiting = std::thread::spawn(move || {
        let wait = json!({"worker_id": id, "timeout_seconds": LONG.as_secs()});
        handle.dispatch("vibe_wait", wait, toolbox::run::CallOptions::new())
    });
    bench.run.update_registry(leave_vibe_mode);
    for process in &tree {
        assert!(process.ends_within(LONG));
    }
    let waited = waiting.join().expect("no panic");
    match waited {
        Ok(output) => assert_eq!(output.data["workers"][0]["status"], "killed"),
        // The wait came too late to find its tool.
        Err(error) => assert_eq!(error.kind(), ErrorKind::UnknownTool),
    }
    let gone = bench.call("vibe_list", json!({})).expect_err("it is gone");
    assert_eq!(gone.kind(), ErrorKind::UnknownTool);
    assert!(gone.message().contains("vibe mode is off"), "{gone}");
    assert_eq!(bench.processes.live(), 0);
}

// R3: workers end with the run.
#[test]
fn the_end_of_the_run_kills_all_workers() {
    let bench = Bench::new(TREE);
    let ready = bench.fifo("ready");
    bench.spawn("ready");
    let pids = ready.read();
    let tree: Vec<Process> = pids.split_whitespace().map(Process::of).collect();
    let handle = bench.run.handle();
    drop(bench.run);
    for process in &tree {
        assert!(process.ends_within(LONG));
    }
    assert_eq!(bench.processes.live(), 0);
    assert_eq!(handle.specs().len(), 0);
    let left = std::fs::read_dir(bench.place.state().join("vibe")).expect("it was made");
    assert_eq!(left.count(), 0, "the files of the workers go with them");
}

#[test]
fn two_runs_have_rosters_of_their_own() {
    let resources = Resources {
        vibe: Some(resources()),
        ..Resources::default()
    };
    let run = || toolbox::run::Run::builder(connect(&resources)).build();
    let (one, other) = (run(), run());
    let options = toolbox::run::CallOptions::new;
    let spawn = json!({"brief": "done x", "label": "x"});
    one.dispatch("vibe_spawn", spawn, options())
        .expect("it spawns");
    let count = |run: &toolbox::run::Run| {
        let listed = run
            .dispatch("vibe_list", json!({}), options())
            .expect("it lists");
        listed.data["workers"].as_array().map(Vec::len)
    };
    assert_eq!((count(&one), count(&other)), (Some(1), Some(0)));
    let error = other.dispatch("vibe_kill", json!({"worker_id": "worker_1"}), options());
    let error = error.expect_err("it is the other run's");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("there are no workers"))
    );
}
