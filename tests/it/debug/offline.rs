//! What is answered without an adapter: registration, detection, arguments.

use serde_json::{Value, json};
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{ErrorKind, Tier};
use toolbox::tools::{Resources, connect};

use super::Bench;

// R4, R69: without a supervisor, or without a conversation, there is no such tool.
#[test]
fn the_tool_needs_its_port() {
    let run = Run::builder(connect(&Resources::default()))
        .approver(AutoApprove::up_to(Tier::Exec))
        .build();
    let error = run
        .dispatch("debug", json!({"operation": "status"}), CallOptions::new())
        .expect_err("it is not there");
    assert!(error.message().contains("no debug supervisor"), "{error}");
}

// R5, R75: in an empty folder the tool is there and tells what is missing; R70: marker and binary.
#[test]
fn adapters_tells_what_is_missing() {
    let bench = Bench::with(&[], |options| options.env.set("PATH", "/nowhere"));
    let row = |data: &Value, id: &str| -> Value {
        let rows = data["adapters"].as_array().expect("a list").clone();
        rows.into_iter()
            .find(|row| row["id"] == id)
            .expect("it is listed")
    };
    let reason = |row: &Value| row["reason"].as_str().expect("a text").to_owned();
    let data = bench.op("adapters");
    for (id, marker, program) in [
        ("dart", "pubspec.yaml", "dart"),
        ("debugpy", "requirements.txt", "python3"),
        ("lldb", "CMakeLists.txt", "lldb-dap"),
        ("delve", "go.mod", "dlv"),
    ] {
        let row = row(&data, id);
        assert_eq!(row["usable"], false);
        assert!(reason(&row).contains(marker), "{row}");
        assert!(
            reason(&row).contains(&format!("{program} is not on PATH")),
            "{row}"
        );
    }
    bench.write("sub/go.mod", "module x\n");
    let delve = row(&bench.op("adapters"), "delve");
    assert_eq!(delve["root"], "sub");
    assert!(!reason(&delve).contains("go.mod"), "{delve}");
    bench.write("a.py", "");
    let launch = json!({"operation": "launch", "program": "a.py"});
    bench.refuses(launch, ErrorKind::Unavailable, "no pyproject.toml");
    let launch = json!({"operation": "launch", "program": "a.py", "adapter": "nope"});
    bench.refuses(launch, ErrorKind::NotFound, "no debug adapter 'nope'");
}

#[test]
fn without_a_session_the_next_step_is_said() {
    let bench = Bench::new(&["a.py"]);
    assert_eq!(bench.op("status")["state"], "none");
    for operation in [
        "continue",
        "step_over",
        "pause",
        "threads",
        "stack",
        "output",
    ] {
        bench.refuses(
            json!({ "operation": operation }),
            ErrorKind::NotFound,
            "no debug session",
        );
    }
    let end = bench.op("terminate");
    assert_eq!(end["state"], "none");
    assert!(
        end["notes"].to_string().contains("nothing to end"),
        "{end:#}"
    );
    // D17: `action` stands for `operation`.
    assert_eq!(bench.does(json!({"action": "status"}))["state"], "none");
}

#[test]
fn breakpoints_wait_for_a_session() {
    let bench = Bench::new(&["calls.py"]);
    let set = bench.breakpoints("calls.py", json!([9, 3, 9]));
    let lines: Vec<&Value> = set["breakpoints"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| &row["line"])
        .collect();
    assert_eq!(lines, [&json!(3), &json!(9)]);
    assert_eq!(set["breakpoints"][0]["verified"], false);
    bench.breakpoints("calls.py", json!([]));
    assert_eq!(bench.op("breakpoints")["breakpoints"], json!([]));
    let set = |file: &str, lines: Value| json!({"operation": "breakpoints", "file": file, "lines": lines});
    bench.refuses(
        set("calls.py", json!([0])),
        ErrorKind::InvalidArgs,
        "line 0",
    );
    bench.refuses(set("gone.py", json!([1])), ErrorKind::NotFound, "gone.py");
    // D36
    bench.refuses(
        set("../../etc/passwd", json!([1])),
        ErrorKind::InvalidArgs,
        "outside",
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let bench = Bench::new(&["calls.py"]);
    for (args, words) in [
        (json!({}), "operation"),
        (json!({"operation": "jump"}), "jump"),
        (
            json!({"operation": "status", "lines": [1]}),
            "status takes no argument `lines`",
        ),
        (json!({"operation": "launch"}), "needs a program"),
        (
            json!({"operation": "launch", "program": "a", "module": "b"}),
            "both",
        ),
        (
            json!({"operation": "evaluate"}),
            "missing argument `expression`",
        ),
        (
            json!({"operation": "variables"}),
            "missing argument `reference`",
        ),
        (
            json!({"operation": "breakpoints", "file": "calls.py"}),
            "missing argument `lines`",
        ),
        (
            json!({"operation": "continue", "timeout_seconds": 601}),
            "the limit is 600",
        ),
    ] {
        bench.refuses(args, ErrorKind::InvalidArgs, words);
    }
}
