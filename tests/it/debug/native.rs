//! Sessions with lldb: a C program that is there, and a Cargo package that is built first.

use std::process::Command;

use serde_json::{Value, json};
use toolbox::tool::ErrorKind;

use super::Bench;
use super::bench::{data, usable};
use crate::support::peers;

fn c_program() -> Option<Bench> {
    peers::find("lldb-dap")?;
    peers::find("cc")?;
    let bench = Bench::new(&["CMakeLists.txt", "calls.c"]);
    if !usable(&bench, "lldb") {
        return None;
    }
    let built = Command::new("cc")
        .args(["-g", "-O0", "calls.c", "-o", "calls"])
        .current_dir(bench.work())
        .status();
    assert!(built.expect("cc starts").success());
    Some(bench)
}

// R79, R83, R87, R88 with lldb.
#[test]
fn a_c_program_is_debugged() {
    let Some(bench) = c_program() else { return };
    bench.breakpoints("calls.c", json!([18, 11]));
    let stop = bench.launch("calls");
    assert_eq!(stop["state"], "stopped", "{stop:#}");
    assert_eq!(
        (&stop["file"], &stop["line"]),
        (&json!("calls.c"), &json!(18))
    );
    assert_eq!(stop["breakpoint"]["line"], 18);
    let local = |stop: &Value, name: &str| -> Value {
        let locals = stop["locals"].as_array().expect("locals").clone();
        locals
            .into_iter()
            .find(|row| row["name"] == name)
            .expect("it is there")
    };
    assert_eq!(local(&stop, "i")["value"], "0");
    let point = local(&stop, "p");
    let inner = bench.does(json!({"operation": "variables", "reference": point["reference"]}));
    assert_eq!(inner["variables"][1]["value"], "2", "{inner:#}");
    // A word that is a command of lldb is a variable here.
    assert_eq!(bench.value("p.y + 40"), "42");
    let over = bench.op("step_over");
    assert_eq!(over["state"], "stopped", "{over:#}");
    bench.breakpoints("calls.c", json!([11]));
    let stop = bench.op("continue");
    assert_eq!(
        (&stop["function"], &stop["line"]),
        (&json!("fact"), &json!(11)),
        "{stop:#}"
    );
    assert_eq!(bench.value("n"), "2");
    let out = bench.op("step_out");
    assert_eq!(out["state"], "stopped", "{out:#}");
    bench.breakpoints("calls.c", json!([]));
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(5)),
        "{end:#}"
    );
    assert_eq!(bench.output(), "total 36\n");
    bench.nothing_is_left();
}

#[test]
fn a_step_into_a_call_and_a_condition() {
    let Some(bench) = c_program() else { return };
    bench.breakpoints("calls.c", json!([{"line": 18, "condition": "i == 3"}, 20]));
    bench.launch("calls");
    assert_eq!(bench.value("i"), "3");
    let stop = bench.op("continue");
    assert_eq!(stop["line"], 20, "{stop:#}");
    let inside = bench.op("step_in");
    assert_eq!(inside["function"], "fact", "{inside:#}");
    bench.op("terminate");
    bench.nothing_is_left();
}

// A package is built first, its executable found, and Rust's values shown as what they are.
#[test]
fn a_cargo_package_is_built_and_debugged() {
    if peers::find("lldb-dap").is_none() {
        return;
    }
    let bench = Bench::new(&[]);
    bench.write(
        "Cargo.toml",
        "[package]\nname = \"calls\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    let source = std::fs::read_to_string(data("calls.rs")).expect("test data");
    bench.write("src/main.rs", &source.replace("fact(4)", "fact(4"));
    if !usable(&bench, "lldb") {
        return;
    }
    let launch = json!({"operation": "launch", "program": ".", "timeout_seconds": 90});
    let error = bench.refuses(launch, ErrorKind::Failed, "the build failed");
    assert!(error.message().contains("src/main.rs:12"), "{error}");
    bench.write("src/main.rs", &source);
    bench.breakpoints("src/main.rs", json!([13, 6]));
    let stop = bench.launch("src/main.rs");
    assert_eq!(
        (&stop["file"], &stop["line"]),
        (&json!("src/main.rs"), &json!(6)),
        "{stop:#}"
    );
    assert_eq!(stop["function"], "calls::fact");
    assert_eq!(bench.value("n"), "2");
    bench.breakpoints("src/main.rs", json!([13]));
    let stop = bench.op("continue");
    assert_eq!(stop["line"], 13, "{stop:#}");
    let name = stop["locals"].as_array().expect("locals").clone();
    let name = name
        .iter()
        .find(|row| row["name"] == "name")
        .expect("it is there");
    assert!(
        name["value"]
            .as_str()
            .is_some_and(|value| value.contains("héllo")),
        "{name:#}"
    );
    bench.breakpoints("src/main.rs", json!([]));
    let end = bench.op("continue");
    assert_eq!(end["exit_code"], 4, "{end:#}");
    assert!(bench.output().contains("héllo 24 2"), "{}", bench.output());
    bench.nothing_is_left();
}

#[test]
fn source_without_a_build_and_a_missing_program_are_said() {
    let Some(bench) = c_program() else { return };
    let launch = |program: &str| json!({"operation": "launch", "program": program});
    bench.refuses(launch("calls.c"), ErrorKind::InvalidArgs, "is source");
    bench.refuses(launch("nothing"), ErrorKind::NotFound, "does not exist");
    bench.refuses(launch("."), ErrorKind::InvalidArgs, "is a folder");
    bench.nothing_is_left();
}
