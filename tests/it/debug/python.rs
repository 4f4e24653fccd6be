//! Sessions with debugpy.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;
use toolbox::tool::ErrorKind;

use super::Bench;
use super::bench::{ends_within, free_port, usable};
use crate::support::peers;

/// A line of the loop of calls.py.
const LOOP: usize = 36;

const CHILDREN: &str = "\
import multiprocessing, os, subprocess, sys
def work(n):
    return n * n
if __name__ == '__main__':
    command = [sys.executable, '-c', 'print(\"child\", 1 + 1)']
    print(subprocess.run(command, capture_output=True, text=True).stdout)
    for way in ('spawn', 'fork'):
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(way, pool.map(work, [1, 2]))
    pid = os.fork()
    if pid == 0:
        if len(sys.argv) > 5:
            print('never')
        os._exit(3)
    print('wait', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

fn bench() -> Option<Bench> {
    peers::python_with("debugpy")?;
    let bench = Bench::new(&["requirements.txt", "calls.py"]);
    usable(&bench, "debugpy").then_some(bench)
}

// R76 to R79, R83 to R90, D19: a breakpoint before the launch, a hit that tells everything, inspection,
// steps, the end with its code, and no process left.
#[test]
fn a_session_from_the_breakpoint_to_the_end() {
    let Some(bench) = bench() else { return };
    let set = bench.breakpoints("calls.py", json!([15, 2000]));
    assert_eq!(set["breakpoints"][0]["line"], 15);
    let stop = bench.launch("calls.py");
    assert_eq!(stop["state"], "stopped", "{stop:#}");
    assert_eq!(stop["reason"], "breakpoint");
    assert_eq!(
        (&stop["file"], &stop["line"]),
        (&json!("calls.py"), &json!(15))
    );
    assert_eq!(stop["function"], "total");
    assert_eq!(stop["breakpoint"], json!({"file": "calls.py", "line": 15}));
    let current = stop["source"].as_array().expect("lines");
    let current = current
        .iter()
        .find(|line| line["current"] == true)
        .expect("marked");
    assert_eq!(current["text"], "        sum_ += item");
    let names: Vec<&str> = stop["locals"]
        .as_array()
        .expect("locals")
        .iter()
        .filter_map(|local| local["name"].as_str())
        .collect();
    assert_eq!(names, ["item", "items", "sum_"]);
    // A line far behind the end is moved by debugpy, and that is said (D21).
    let listed = bench.op("breakpoints");
    assert!(listed["breakpoints"][1]["moved_from"] == 2000, "{listed:#}");

    assert_eq!(bench.value("item + 100"), "100");
    let over = bench.op("step_over");
    assert_eq!(
        (&over["line"], &over["reason"]),
        (&json!(14), &json!("step"))
    );
    let out = bench.does(json!({"operation": "breakpoints", "file": "calls.py", "lines": [9]}));
    assert_eq!(out["breakpoints"].as_array().map(Vec::len), Some(1));
    let stop = bench.op("continue");
    assert_eq!(
        (&stop["line"], &stop["function"]),
        (&json!(9), &json!("fact"))
    );
    // R88: each frame of a recursion has its own value.
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
    let scopes = bench.does(json!({"operation": "scopes", "frame_id": frames[1]["id"]}));
    let reference = &scopes["scopes"][0]["reference"];
    let locals = bench.does(json!({"operation": "variables", "reference": reference}));
    let rest = locals["variables"].as_array().expect("a list");
    assert!(
        rest.iter().all(|row| row["truncated"] == false),
        "{locals:#}"
    );
    // D19: what was before a resume names nothing after it.
    let out = bench.op("step_out");
    assert_eq!(out["state"], "stopped", "{out:#}");
    for args in [
        json!({"operation": "variables", "reference": reference}),
        json!({"operation": "evaluate", "expression": "n", "frame_id": frames[0]["id"]}),
    ] {
        bench.refuses(args, ErrorKind::Stale, "before the program went on");
    }
    bench.breakpoints("calls.py", json!([]));
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(6)),
        "{end:#}"
    );
    // R89: the output is whole after the end, in order for each stream.
    let output = bench.output();
    assert!(
        output.contains("begin\n") && output.contains("result 34\n"),
        "{output}"
    );
    assert!(output.contains("warn"), "{output}");
    assert_eq!(bench.op("status")["state"], "exited");
    bench.nothing_is_left();
}

// D21: conditions, hit conditions, log points; set_variable and run_to beyond the source.
#[test]
fn conditions_and_log_points_and_changes() {
    let Some(bench) = bench() else { return };
    bench.breakpoints(
        "calls.py",
        json!([{"line": 15, "condition": "item == 3"}, {"line": 8, "log_message": "n is {n}"}]),
    );
    let stop = bench.launch("calls.py");
    assert_eq!(bench.value("item"), "3", "{stop:#}");
    let set = bench.does(json!({"operation": "set_variable", "name": "sum_", "value": "1000"}));
    assert_eq!(set["value"], "1000");
    let stop = bench.does(json!({"operation": "run_to", "file": "calls.py", "line": 16}));
    assert_eq!(
        (&stop["line"], &stop["state"]),
        (&json!(16), &json!("stopped"))
    );
    assert_eq!(bench.value("sum_"), "1007");
    let end = bench.op("continue");
    assert_eq!(end["state"], "exited", "{end:#}");
    let output = bench.output();
    for n in [4, 3, 2] {
        assert!(output.contains(&format!("n is {n}")), "{output}");
    }
    // R78: breakpoints survive the relaunch.
    let again = bench.op("restart");
    assert_eq!(again["line"], 15, "{again:#}");
    bench.op("terminate");
    bench.nothing_is_left();
}

// D21: hit conditions, a module in the place of a program. The program's standard input is empty.
#[test]
fn hit_conditions_modules_and_an_empty_standard_input() {
    let Some(bench) = bench() else { return };
    bench.write(
        "reads.py",
        "import sys\n\nfor i in range(6):\n    print(\"at\", i)\nprint(\"read\", repr(sys.stdin.read()), __name__)\n",
    );
    bench.breakpoints("reads.py", json!([{"line": 4, "hit_condition": "3"}]));
    let args = json!({"operation": "launch", "module": "reads", "timeout_seconds": 90});
    let stop = bench.does(args);
    assert_eq!(stop["line"], 4, "{stop:#}");
    assert_eq!(bench.value("i"), "2", "the third hit");
    let end = bench.op("continue");
    assert_eq!(
        (&end["state"], &end["exit_code"]),
        (&json!("exited"), &json!(0)),
        "{end:#}"
    );
    let output = bench.output();
    assert!(output.ends_with("at 5\nread '' __main__\n"), "{output}");
    bench.nothing_is_left();
}

// R74: a second launch is refused, and the first still answers. R90.
#[test]
fn an_uncaught_exception_stops_and_a_second_launch_is_refused() {
    let Some(bench) = bench() else { return };
    bench.does(json!({"operation": "breakpoints", "exceptions": ["uncaught"]}));
    let args = json!({"operation": "launch", "program": "calls.py", "args": ["--raise"],
        "timeout_seconds": 90});
    let stop = bench.does(args.clone());
    assert_eq!(stop["reason"], "exception", "{stop:#}");
    assert!(
        stop["exception"]["name"]
            .as_str()
            .is_some_and(|name| name.contains("ValueError"))
    );
    assert!(
        stop["exception"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("bad input"))
    );
    bench.refuses(args, ErrorKind::Failed, "calls.py is stopped");
    assert_eq!(bench.value("sys.argv[1]"), "'--raise'");
    let end = bench.op("terminate");
    assert_eq!(end["state"], "exited");
    bench.nothing_is_left();
    assert_eq!(bench.launch("calls.py")["exit_code"], 6);
}

// R82: a busy loop is paused where it is; what needs a stop is answered locally while it runs.
#[test]
fn a_busy_loop_is_paused() {
    let Some(bench) = bench() else { return };
    let args = json!({"operation": "launch", "program": "calls.py", "args": ["--loop"],
        "timeout_seconds": 2});
    assert_eq!(bench.does(args)["state"], "running");
    for operation in ["stack", "step_over", "scopes"] {
        bench.refuses(
            json!({ "operation": operation }),
            ErrorKind::Failed,
            "running",
        );
    }
    let stop = bench.op("pause");
    assert_eq!(
        (&stop["state"], &stop["reason"]),
        (&json!("stopped"), &json!("pause")),
        "{stop:#}"
    );
    assert_eq!(
        bench.op("pause")["state"],
        "stopped",
        "pausing twice is harmless"
    );
    let threads = bench.op("threads");
    assert!(
        threads["threads"]
            .as_array()
            .is_some_and(|all| all.len() >= 2),
        "{threads:#}"
    );
    // D19: whoever was told `still running` continues to wait for the next stop.
    let onward = |seconds: u64| json!({"operation": "continue", "timeout_seconds": seconds});
    assert_eq!(bench.does(onward(1))["state"], "running");
    assert_eq!(bench.does(onward(1))["state"], "running");
    bench.breakpoints("calls.py", json!([LOOP]));
    let stop = bench.does(onward(60));
    assert_eq!(
        (&stop["reason"], &stop["line"]),
        (&json!("breakpoint"), &json!(LOOP)),
        "{stop:#}"
    );
    bench.op("terminate");
    // R90: there is nothing to end twice, and that is no error.
    let again = bench.op("terminate");
    assert_eq!(
        (&again["state"], &again["reason"]),
        (&json!("exited"), &json!("terminated"))
    );
    assert!(
        again["notes"].to_string().contains("nothing to end"),
        "{again:#}"
    );
    bench.nothing_is_left();
}

// Child processes are not debugged and run as always; one that was forked takes the breakpoints along, and that
// is said while the program waits for it.
#[test]
fn children_run_and_a_fork_at_a_breakpoint_is_told() {
    let Some(bench) = bench() else { return };
    bench.write("children.py", CHILDREN);
    bench.breakpoints("children.py", json!([6]));
    let stop = bench.launch("children.py");
    assert_eq!(stop["line"], 6, "{stop:#}");
    let end = bench.does(json!({"operation": "continue", "timeout_seconds": 60}));
    assert_eq!(end["exit_code"], 0, "{end:#}");
    let output = bench.output();
    for words in ["child 2", "spawn [1, 4]", "fork [1, 4]", "wait 3"] {
        assert!(output.contains(words), "{output}");
    }
    bench.breakpoints("children.py", json!([14]));
    let launch = json!({"operation": "launch", "program": "children.py", "timeout_seconds": 2});
    let mut told = bench.does(launch);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !told["notes"].to_string().contains("forked") {
        assert!(std::time::Instant::now() < deadline, "{told:#}");
        assert_eq!(told["state"], "running", "{told:#}");
        told = bench.does(json!({"operation": "continue", "timeout_seconds": 1}));
    }
    bench.op("terminate");
    bench.nothing_is_left();
}

// R80: attaching to a listening debuggee; it goes on when the session ends, unless asked.
#[test]
fn attaching_never_kills() {
    let Some(bench) = bench() else { return };
    let python = peers::python_with("debugpy").expect("found above");
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let mut debuggee = Command::new(python)
        .args([
            "-u", "-m", "debugpy", "--listen", &listen, "calls.py", "--loop",
        ])
        .current_dir(bench.work())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // debugpy listens before it runs the program, and says nothing: the attach tries until it does.
    let attach = json!({"operation": "attach", "port": port, "timeout_seconds": 1});
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let attached = loop {
        match bench.call(attach.clone()) {
            Ok(output) => break output.data,
            Err(error) => assert!(std::time::Instant::now() < deadline, "{error}"),
        }
    };
    assert_eq!(attached["state"], "running", "{attached:#}");
    assert_eq!(bench.op("pause")["state"], "stopped");
    assert_eq!(bench.value("1 + 1"), "2");
    let end = bench.op("terminate");
    assert_eq!(end["reason"], "detached");
    let pid = i32::try_from(debuggee.id()).expect("a process number");
    assert!(
        !ends_within(pid, std::time::Duration::from_millis(300)),
        "it was killed"
    );
    // Asked for, the end of the session is the end of the program.
    let again = json!({"operation": "attach", "port": port, "timeout_seconds": 1});
    assert_eq!(bench.does(again)["state"], "running");
    bench.does(json!({"operation": "terminate", "kill": true}));
    assert!(
        ends_within(pid, std::time::Duration::from_secs(20)),
        "it goes on"
    );
    debuggee.wait().expect("it ended");
    let stderr = debuggee.stderr.take().expect("piped");
    let _ = BufReader::new(stderr).lines().next();
}

// R95: the project's own Python is the one that is started; R70: without debugpy it says so.
#[test]
fn the_projects_own_python_comes_first() {
    use std::os::unix::fs::PermissionsExt;
    let Some(real) = peers::python_with("debugpy") else {
        return;
    };
    let bench = Bench::new(&["requirements.txt", "calls.py"]);
    for (folder, works) in [(".venv", true), ("venv", false)] {
        let script = match works {
            true => format!(
                "#!/bin/sh\necho \"$@\" >> spawned\nexec {} \"$@\"\n",
                real.display()
            ),
            false => "#!/bin/sh\necho \"No module named 'debugpy'\" >&2\nexit 1\n".to_owned(),
        };
        bench.write(&format!("{folder}/bin/python3"), &script);
        let path = bench.work().join(format!("{folder}/bin/python3"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).expect("executable");
    }
    let end = bench.launch("calls.py");
    assert_eq!(end["exit_code"], 6, "{end:#}");
    let spawned = std::fs::read_to_string(bench.work().join("spawned")).expect("it was started");
    assert!(spawned.contains("-m debugpy.adapter"), "{spawned}");
    std::fs::remove_dir_all(bench.work().join(".venv")).expect("removed");
    let launch = json!({"operation": "launch", "program": "calls.py"});
    let error = bench.refuses(launch, ErrorKind::Unavailable, "cannot import debugpy");
    assert!(error.message().contains("venv/bin/python3"), "{error}");
}

// R95: a project's own Python that works but has no debugpy runs the program all the same; another's debugpy
// debugs it, and that is said.
#[test]
fn a_python_without_debugpy_borrows_it() {
    use std::os::unix::fs::PermissionsExt;
    let Some(real) = peers::python_with("debugpy") else {
        return;
    };
    let bench = Bench::new(&["requirements.txt", "calls.py"]);
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'import debugpy'*) exit 1;; esac\necho \"$@\" >> spawned\nexec {} \"$@\"\n",
        real.display()
    );
    bench.write(".venv/bin/python3", &script);
    let path = bench.work().join(".venv/bin/python3");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let adapters = bench.op("adapters");
    let row = adapters["adapters"].as_array().expect("a list").iter();
    let row = row
        .clone()
        .find(|row| row["id"] == "debugpy")
        .expect("a row");
    assert_eq!(row["usable"], true, "{row:#}");
    assert!(
        row["reason"].to_string().contains("has no debugpy"),
        "{row:#}"
    );
    bench.breakpoints("calls.py", json!([15]));
    let stop = bench.launch("calls.py");
    assert_eq!(stop["line"], 15, "{stop:#}");
    assert!(
        stop["notes"]
            .to_string()
            .contains(".venv/bin/python3 has no debugpy"),
        "{stop:#}"
    );
    bench.op("terminate");
    let spawned =
        std::fs::read_to_string(bench.work().join("spawned")).expect("it ran the program");
    assert!(spawned.contains("calls.py"), "{spawned}");
    assert!(!spawned.contains("debugpy.adapter"), "{spawned}");
    bench.nothing_is_left();
}

// The figure of the closing note: what a step costs over the adapter's own time, measured roughly.
#[test]
fn steps_cost_little_over_the_adapter() {
    let Some(bench) = bench() else { return };
    bench.breakpoints("calls.py", json!([14]));
    bench.launch("calls.py");
    let began = std::time::Instant::now();
    let n_steps = 6;
    for _ in 0..n_steps {
        assert_eq!(bench.op("step_over")["state"], "stopped");
    }
    println!(
        "{} ms a step, all requests included",
        began.elapsed().as_millis() / n_steps
    );
    bench.op("terminate");
}
