//! Sessions with gdb's own protocol, which version 14 brought; an older gdb is not usable and says why.

use std::process::Command;

use serde_json::json;

use super::Bench;
use super::attached::{self, Spinning, stops_and_goes_on};
use super::bench::usable;
use crate::support::peers;

fn bench() -> Option<Bench> {
    peers::find("gdb")?;
    peers::find("cc")?;
    let bench = Bench::new(&["CMakeLists.txt", "calls.c"]);
    if !usable(&bench, "gdb") {
        return None;
    }
    let built = Command::new("cc")
        .args(["-g", "-O0", "calls.c", "-o", "calls"])
        .current_dir(bench.work())
        .status();
    assert!(built.expect("cc starts").success());
    Some(bench)
}

// R79, R83, R87, R88 with gdb.
#[test]
fn gdb_debugs_a_c_program() {
    let Some(bench) = bench() else { return };
    bench.breakpoints("calls.c", json!([{"line": 18, "condition": "i == 3"}, 11]));
    let launch =
        json!({"operation": "launch", "program": "calls", "adapter": "gdb", "timeout_seconds": 90});
    let stop = bench.does(launch);
    assert_eq!(
        (&stop["state"], &stop["file"], &stop["line"]),
        (&json!("stopped"), &json!("calls.c"), &json!(18)),
        "{stop:#}"
    );
    assert_eq!(stop["breakpoint"]["line"], 18);
    // gdb keeps the arguments in a scope of their own.
    let local = |name: &str| {
        let locals = stop["locals"].as_array().expect("locals");
        let local = locals.iter().find(|row| row["name"] == name);
        local.expect("it is there").clone()
    };
    assert_eq!(local("i")["value"], "3");
    assert_eq!(local("argc")["value"], "1");
    let inner = bench.does(json!({"operation": "variables", "reference": local("p")["reference"]}));
    assert_eq!(inner["variables"][1]["value"], "2", "{inner:#}");
    assert_eq!(bench.value("p.y + 40"), "42");
    let over = bench.op("step_over");
    assert_eq!(
        (&over["reason"], &over["line"]),
        (&json!("step"), &json!(17))
    );
    bench.breakpoints("calls.c", json!([11]));
    let stop = bench.op("continue");
    assert_eq!(
        (&stop["function"], &stop["line"]),
        (&json!("fact"), &json!(11)),
        "{stop:#}"
    );
    assert_eq!(bench.value("n"), "2");
    let stack = bench.op("stack");
    let frames = stack["frames"].as_array().expect("frames");
    let caller = json!({"operation": "evaluate", "expression": "n", "frame_id": frames[1]["id"]});
    assert_eq!(bench.does(caller)["value"], "3");
    let out = bench.op("step_out");
    assert_eq!(
        (&out["state"], &out["function"]),
        (&json!("stopped"), &json!("fact"))
    );
    bench.breakpoints("calls.c", json!([]));
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(5)),
        "{end:#}"
    );
    // What gdb says of pending breakpoints is none of the program's output.
    let output = bench.output();
    assert!(
        output.contains("total 36\n") && !output.contains("pending"),
        "{output}"
    );
    bench.nothing_is_left();
}

// R80, R90: by number; the program goes on after the end of the session.
#[test]
fn gdb_attaches_to_a_process() {
    if peers::find("gdb").is_none() {
        return;
    }
    let Some(bench) = attached::bench("gdb") else {
        return;
    };
    let spinning = Spinning::alone(&bench);
    let attach = json!({"operation": "attach", "adapter": "gdb", "pid": spinning.pid(), "timeout_seconds": 60});
    stops_and_goes_on(&bench, attach);
    spinning.goes_on(spinning.pid());
    bench.nothing_is_left();
}

// D17: where lldb is usable too, gdb waits until it is named.
#[test]
fn gdb_gives_way_to_lldb() {
    let Some(bench) = bench() else { return };
    if !usable(&bench, "lldb") {
        return;
    }
    bench.breakpoints("calls.c", json!([20]));
    assert_eq!(bench.launch("calls")["adapter"], "lldb");
    assert_eq!(bench.op("terminate")["reason"], "terminated");
    bench.nothing_is_left();
}
