//! Sessions with delve, which calls us back and builds the program itself.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use toolbox::tool::ErrorKind;

use super::Bench;
use super::bench::{data, free_port, usable};
use crate::support::peers;

fn bench() -> Option<Bench> {
    peers::find("dlv")?;
    peers::find("go")?;
    let bench = Bench::new(&[]);
    bench.write("go.mod", "module calls\n\ngo 1.19\n");
    let source = std::fs::read_to_string(data("calls.go")).expect("test data");
    bench.write("main.go", &source);
    usable(&bench, "delve").then_some(bench)
}

// R79, R83, R88, R89 with delve: its program's output and exit code come in ways of their own.
#[test]
fn a_go_program_is_debugged() {
    let Some(bench) = bench() else { return };
    bench.breakpoints("main.go", json!([19, 13]));
    let stop = bench.launch("main.go");
    assert_eq!(stop["state"], "stopped", "{stop:#}");
    assert_eq!(
        (&stop["file"], &stop["line"]),
        (&json!("main.go"), &json!(19))
    );
    assert_eq!(bench.value("total + i"), "0");
    let over = bench.op("step_over");
    assert_eq!(over["state"], "stopped", "{over:#}");
    bench.breakpoints("main.go", json!([13]));
    let stop = bench.op("continue");
    assert_eq!(stop["line"], 13, "{stop:#}");
    let stack = bench.op("stack");
    let frames = stack["frames"].as_array().expect("frames");
    let values: Vec<String> = frames
        .iter()
        .take(3)
        .map(|frame| {
            let args = json!({"operation": "evaluate", "expression": "n", "frame_id": frame["id"]});
            bench.does(args)["value"]
                .as_str()
                .expect("a text")
                .to_owned()
        })
        .collect();
    assert_eq!(values, ["2", "3", "4"]);
    let out = bench.op("step_out");
    assert_eq!(out["state"], "stopped", "{out:#}");
    bench.breakpoints("main.go", json!([]));
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(6)),
        "{end:#}"
    );
    assert!(bench.output().contains("total 34"), "{}", bench.output());
    bench.nothing_is_left();
    let names: Vec<_> = std::fs::read_dir(bench.work())
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert!(
        names.iter().all(|name| !name.starts_with("__debug")),
        "{names:?}"
    );
}

// The build error itself is in the answer, not a pointer to a console.
#[test]
fn a_build_error_is_shown() {
    let Some(bench) = bench() else { return };
    bench.write(
        "main.go",
        "package main\n\nfunc main() { undefined_thing() }\n",
    );
    let launch = json!({"operation": "launch", "program": "main.go"});
    bench.refuses(launch, ErrorKind::Failed, "undefined_thing");
    bench.nothing_is_left();
}

/// A delve that the test started; it ends with the test, also when that fails.
struct Headless(Child);

impl Drop for Headless {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// R80: a program that was attached to goes on when the session ends, also from a breakpoint.
#[test]
fn an_attached_program_goes_on() {
    let Some(bench) = bench() else { return };
    bench.write(
        "main.go",
        "package main\n\nimport (\n\t\"os\"\n\t\"time\"\n)\n\nfunc main() {\n\tn := 0\n\tfor n < 10000 {\n\t\tn++\n\t\tif n == 2 {\n\t\t\tos.WriteFile(\"started\", nil, 0o644)\n\t\t}\n\t\ttime.Sleep(20 * time.Millisecond)\n\t\tif _, err := os.Stat(\"stop\"); err == nil {\n\t\t\tbreak\n\t\t}\n\t}\n\tos.WriteFile(\"done\", nil, 0o644)\n}\n",
    );
    let port = free_port();
    let dlv = Command::new(peers::find("dlv").expect("found above"))
        .args([
            "debug",
            ".",
            "--headless",
            "--accept-multiclient",
            "--continue",
        ])
        .arg(format!("--listen=127.0.0.1:{port}"))
        .current_dir(bench.work())
        .env("PATH", peers::path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let _dlv = Headless(dlv);
    // It listens before its own `--continue` has reached the program: two who start it at once lock delve up.
    let started = bench.work().join("started");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !started.exists() {
        assert!(Instant::now() < deadline, "delve did not start the program");
        std::thread::yield_now();
    }
    bench.does(json!({"operation": "attach", "adapter": "delve", "port": port}));
    bench.op("pause");
    bench.breakpoints("main.go", json!([11]));
    let stop = bench.op("continue");
    assert_eq!(stop["line"], 11, "{stop:#}");
    let end = bench.op("terminate");
    assert_eq!(end["reason"], "detached", "{end:#}");
    bench.write("stop", "");
    let done = bench.work().join("done");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done.exists() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    assert!(done.exists(), "it was left halted");
}
