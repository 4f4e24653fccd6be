//! What goes wrong in cells, and that each ends in a truthful answer and leaves no process.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use super::{Lab, cancel_after, peers};

/// Waits until something holds that no event tells of, such as a line of the process table.
#[track_caller]
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let (_sender, tick) = channel::<()>();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        let _ = tick.recv_timeout(Duration::from_millis(10));
    }
}

/// Tells whether a process with this word in its command line lives.
fn lives(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("a process table");
    processes.flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    })
}

fn python() -> bool {
    peers::find("python3").is_some()
}

// R111, D23: silence over the budget is interrupted, and the variables stay.
#[test]
fn a_silent_cell_is_interrupted() {
    if !python() {
        return;
    }
    let lab = Lab::with_budget(Duration::from_millis(700));
    lab.python("x = 41");
    let output = lab.python("import time\ntime.sleep(60)");
    assert_eq!(output.data["status"], "interrupted");
    assert_eq!(output.data["reason"], "inactivity");
    assert_eq!(output.data["state_kept"], true);
    assert!(output.text.contains("the variables are kept"));
    assert_eq!(lab.python("x").data["result"], "41");
}

// R112: the clock stands still while a bridged call is out.
#[test]
fn a_bridged_call_is_no_silence() {
    if !python() {
        return;
    }
    let lab = Lab::with_budget(Duration::from_millis(700));
    let output = lab.python("tool('sleep', {'s': 2.0})");
    assert_eq!(output.data["status"], "ok", "{:#}", output.data);
    let output = lab.python("tool('sleep', {'s': 0.1})\nimport time\ntime.sleep(60)");
    assert_eq!(output.data["reason"], "inactivity");
}

// D23: what does not heed the interrupt is killed after the grace, and the answer says so.
#[test]
fn a_loop_in_native_code_is_killed() {
    if !python() {
        return;
    }
    let lab = Lab::with(|options| {
        options.budget = Some(Duration::from_millis(500));
        options.grace = Duration::from_millis(500);
    });
    lab.python("x = 41");
    let output =
        lab.python("import collections, itertools\ncollections.deque(itertools.repeat(0), 0)");
    assert_eq!(output.data["status"], "died");
    assert_eq!(output.data["signal"], "SIGKILL");
    assert_eq!(output.data["reason"], "inactivity");
    assert_eq!(output.data["state_kept"], false);
    assert!(output.text.contains("did not heed the interrupt"));
    assert_eq!(lab.python("'x' in globals()").data["result"], "False");
}

// D25: the death of an interpreter between two cells is told, and the cell runs in a new one.
#[test]
fn a_death_between_cells_is_told() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python("x = 41\nimport os\nos.getpid()");
    let pid = output.data["result"]
        .as_str()
        .and_then(|pid| rustix::process::Pid::from_raw(pid.parse().ok()?))
        .expect("a number");
    let flags = rustix::process::PidfdFlags::empty();
    let process = rustix::process::pidfd_open(pid, flags).expect("it runs");
    lab.python("import threading\nthreading.Timer(0.1, lambda: os._exit(9)).start()");
    // Its first thread may be a zombie while another still ends; the descriptor tells of all.
    let mut fds = [rustix::event::PollFd::new(
        &process,
        rustix::event::PollFlags::IN,
    )];
    let long = rustix::event::Timespec {
        tv_sec: 60,
        tv_nsec: 0,
    };
    let ended = rustix::event::poll(&mut fds, Some(&long)).expect("it can be polled");
    assert_eq!(ended, 1, "it lives on");
    let output = lab.python("'x' in globals()");
    assert_eq!(output.data["result"], "False");
    let note = output.data["note"].as_str().expect("a note");
    assert!(
        note.contains("exit status 9") && note.contains("variables are gone"),
        "{note}"
    );
}

#[test]
fn a_killed_interpreter_names_its_signal() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
    assert_eq!(output.data["signal"], "SIGKILL");
    assert_eq!(output.data["reason"], json!(null));
    assert!(output.text.contains("killed by SIGKILL"));
}

#[test]
fn memory_that_runs_out_is_an_error_of_the_cell() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python(
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, -1))\n\
         x = 1\nblocks = [bytearray(1 << 27) for _ in range(64)]",
    );
    assert_eq!(output.data["error"]["name"], "MemoryError");
    assert_eq!(lab.python("x").data["result"], "1");
}

// D25: the head and the tail are shown, the whole is in the file.
#[test]
fn a_hundred_megabytes_end_in_a_file() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python(
        "import sys\nfor n in range(1000):\n    sys.stdout.write('%05d' % n + 'x' * 99_994 + '\\n')",
    );
    assert_eq!(output.data["output_bytes"], 100_000_000);
    let text = output.data["output"].as_str().expect("a text");
    assert!(text.len() < 51_000 && text.starts_with("00000x"));
    let file = output.data["output_file"].as_str().expect("a file");
    assert!(output.text.contains(file));
    assert_eq!(
        std::fs::metadata(file).expect("it is there").len(),
        100_000_000
    );
}

#[test]
fn a_long_result_and_a_long_display_end_in_files() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python("display('y' * 60_000)\n'z' * 60_000");
    for (shown, file, length) in [
        (&output.data["result"], &output.data["result_file"], 60_002),
        (
            &output.data["displays"][0]["data"],
            &output.data["displays"][0]["file"],
            60_000,
        ),
    ] {
        assert!(shown.as_str().is_some_and(|shown| shown.len() < 51_000));
        let file = file.as_str().expect("a file");
        assert_eq!(std::fs::metadata(file).expect("there").len(), length);
    }
}

// A fork that falls off its cell is no second kernel.
#[test]
fn a_fork_ends_with_its_cell() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python(
        "import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\nprint('parent' if pid else 'child')",
    );
    assert_eq!(output.data["output"], "child\nparent\n");
    let output = lab.python(
        "pid = os.fork()\nif not pid:\n    tool('echo')\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
    );
    assert_eq!(output.data["result"], "1");
    assert!(output.text.contains("a fork of it"));
}

#[test]
fn streams_that_the_cell_broke_are_mended() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    for code in [
        "import sys, os, io\nsys.stdout.close(); sys.stderr.close()",
        "os.close(1); os.close(2)",
        "sys.stderr = None",
        "sys.stdin.close()",
        "exit()",
    ] {
        lab.python(code);
        let output =
            lab.python("print('out'); print('err', file=sys.stderr); os.system('echo sub')\n1");
        assert_eq!(output.data["output"], "out\nerr\nsub\n", "{code}");
        assert_eq!(output.data["result"], "1");
    }
    let output = lab.python("print('\\ud800', 'é', '\\udcff')");
    assert_eq!(output.data["output"], "\\ud800 é \\udcff\n");
}

#[test]
fn builtins_that_the_cell_deleted_are_back() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    lab.python("import builtins\nfor name in list(vars(builtins)):\n    if name not in ('__build_class__',): delattr(builtins, name)");
    let output = lab.python("len([1, 2]), callable(tool), callable(display)");
    assert_eq!(output.data["result"], "(2, True, True)");
}

// What a cell leaves running ends with its interpreter.
#[test]
fn a_reset_and_the_end_of_the_run_leave_no_process() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let mark = format!("600.{}", std::process::id());
    let start = |extra: &str| {
        format!(
            "import subprocess\n!sleep {mark}1 &\nsubprocess.Popen(['sleep', '{mark}2'], start_new_session=True)\n{extra}None"
        )
    };
    lab.python(&start(""));
    for n in [1, 2] {
        eventually("it does not start", || lives(&format!("{mark}{n}")));
    }
    lab.cell(json!({"code": "1", "description": "d", "reset": true}));
    eventually("it lives on", || !lives(&mark));
    lab.python(&start("import os\n"));
    lab.python("os._exit(1)");
    eventually("it lives on", || !lives(&mark));
    lab.python(&start(""));
    let processes = lab.processes.clone();
    drop(lab);
    eventually("it lives on", || !lives(&mark));
    assert_eq!(processes.live(), 0);
}

#[test]
fn a_cancelled_cell_ends_its_commands() {
    if !python() {
        return;
    }
    let lab = Lab::new();
    let mark = format!("601.{}", std::process::id());
    for code in [
        format!("import os\nos.system('sleep {mark}')"),
        format!("!sleep {mark}"),
        format!("%%bash\nsleep {mark}"),
        format!("import subprocess\nsubprocess.run(['sleep', '{mark}'])"),
        "await __import__('asyncio').sleep(600)".to_owned(),
        "import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')".to_owned(),
    ] {
        let cancel = Cancel::new();
        let _timer = cancel_after(&cancel, Duration::from_millis(700));
        let args = json!({"code": code, "description": "d"});
        let output = lab
            .run
            .dispatch("eval", args, CallOptions::new().with_cancel(cancel))
            .expect("a report");
        assert_eq!(
            output.data["status"], "interrupted",
            "{code}: {:#}",
            output.data
        );
        assert_eq!(output.data["reason"], "cancel", "{code}");
        eventually("the command lives on", || !lives(&mark));
    }
    assert_eq!(lab.python("1").data["execution_count"], 7);
}

#[test]
fn without_an_interpreter_the_tool_says_where_it_looked() {
    let lab =
        Lab::with(|options| options.env = toolbox::child::Env::new().with("PATH", "/nonexistent"));
    for (language, program) in [("python", "python3"), ("javascript", "node")] {
        let args = json!({"code": "1", "description": "d", "language": language});
        let error = lab
            .run
            .dispatch("eval", args, CallOptions::new())
            .expect_err("nothing to run it");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains(program) && error.message().contains("PATH"));
        assert!(error.hint().is_some());
    }
}

#[test]
fn an_interpreter_that_does_not_start_is_unavailable_with_its_words() {
    let lab = Lab::with(|options| options.python = Some("/bin/cat".into()));
    let args = json!({"code": "1", "description": "d"});
    let error = lab
        .run
        .dispatch("eval", args, CallOptions::new())
        .expect_err("cat is no Python");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("did not become ready"), "{error}");
    assert_eq!(lab.processes.live(), 0);
}

#[test]
fn a_start_that_takes_too_long_ends() {
    let lab = Lab::with(|options| {
        let script = options.folder.join("slow");
        std::fs::write(&script, "#!/bin/sh\nexec sleep 600\n").expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).expect("executable");
        options.python = Some(script);
        options.start = Duration::from_millis(50);
    });
    let args = json!({"code": "1", "description": "d"});
    let error = lab
        .run
        .dispatch("eval", args, CallOptions::new())
        .expect_err("it never answers");
    assert!(error.message().contains("no answer"), "{error}");
    assert_eq!(lab.processes.live(), 0);
}

// D41: an enclosure that does not run is an error, and nothing runs outside it instead.
#[test]
fn an_enclosure_that_does_not_run_is_an_error() {
    if !python() {
        return;
    }
    let lab = enclosed("echo 'No such container: box' >&2; exit 1");
    for language in ["python", "javascript"] {
        let args = json!({"code": "1", "description": "d", "language": language});
        let error = lab
            .run
            .dispatch("eval", args, CallOptions::new())
            .expect_err("no enclosure");
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(
            error.message().contains("No such container: box"),
            "{error}"
        );
    }
}

fn enclosed(script: &str) -> Lab {
    let script = script.to_owned();
    Lab::with(|options| {
        let words = ["sh", "-c", &script, "enter"];
        options.enclosure = words.iter().map(|word| (*word).to_owned()).collect();
        options.grace = Duration::from_secs(1);
    })
}

// R113: through a command that carries standard input and output and nothing else.
#[test]
fn cells_run_through_the_command_of_an_enclosure() {
    if !python() {
        return;
    }
    let lab = enclosed("INSIDE=yes exec \"$@\" 2>/dev/null");
    let output = lab.python(
        "import os\nprint('a'); display('b'); os.system('echo c >&2')\nos.environ['INSIDE']",
    );
    assert_eq!(output.data["result"], "'yes'");
    assert_eq!(output.text, "a\nb\nc\nOut[1]: 'yes'");
    assert_eq!(
        lab.python("tool('echo', {'k': 1})").data["result"],
        "{'k': 1}"
    );
    let interrupted = |code: &str, language: &str| -> Value {
        let cancel = Cancel::new();
        let _timer = cancel_after(&cancel, Duration::from_millis(500));
        let args = json!({"code": code, "description": "d", "language": language});
        let options = CallOptions::new().with_cancel(cancel);
        lab.run
            .dispatch("eval", args, options)
            .expect("a report")
            .data
    };
    lab.python("x = 41");
    assert_eq!(
        interrupted("while True: pass", "python")["status"],
        "interrupted"
    );
    assert_eq!(lab.python("x").data["result"], "41");
    let output = lab.python("os._exit(7)");
    assert_eq!(
        (output.data["status"].as_str(), &output.data["exit_code"]),
        (Some("died"), &json!(7))
    );
    let swallow =
        "import time\nwhile True:\n    try: time.sleep(1)\n    except BaseException: pass";
    assert_eq!(interrupted(swallow, "python")["status"], "died");
    assert_eq!(lab.python("'x' in globals()").data["result"], "False");
    if peers::find("node").is_none() {
        return;
    }
    let output =
        lab.javascript("console.log('a'); display('b'); console.error('c'); process.env.INSIDE");
    assert_eq!(output.text, "a\nb\nc\nOut[1]: 'yes'");
    assert_eq!(
        interrupted("for (;;) {}", "javascript")["status"],
        "interrupted"
    );
    assert_eq!(lab.javascript("process.exit(3)").data["exit_code"], 3);
}
