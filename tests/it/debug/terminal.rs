//! `toolbox debug` as a person types it: separate commands against the background session.

use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::bench::{MARK, data, ends_within, marked};
use crate::support::peers;

/// A checkout with a Python program, and a home of its own.
struct Terminal(tempfile::TempDir);

impl Terminal {
    fn new() -> Option<Self> {
        peers::python_with("debugpy")?;
        let temp = tempfile::tempdir().expect("a folder");
        for folder in ["work/.git", "home"] {
            std::fs::create_dir_all(temp.path().join(folder)).expect("a folder");
        }
        let work = temp.path().join("work");
        std::fs::write(work.join("requirements.txt"), "").expect("written");
        std::fs::copy(data("calls.py"), work.join("calls.py")).expect("copied");
        Some(Self(temp))
    }

    fn mark(&self) -> String {
        self.0.path().display().to_string()
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn toolbox(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .env_clear()
            .env("HOME", self.0.path().join("home"))
            .env("PATH", peers::path())
            .env(MARK, self.mark())
            .current_dir(self.work())
            .timeout(Duration::from_secs(120))
            .args(args);
        command
    }

    #[track_caller]
    fn says(&self, args: &[&str], words: &str) {
        self.toolbox(args).assert().code(0).stdout(contains(words));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.toolbox(&["session", "stop"]).output();
    }
}

#[test]
fn separate_commands_share_one_session() {
    let Some(terminal) = Terminal::new() else {
        return;
    };
    terminal.says(&["debug", "adapters"], "debugpy: usable");
    let set = [
        "debug",
        "breakpoints",
        "--file",
        "calls.py",
        "--lines",
        "9,15",
    ];
    terminal.says(
        &set,
        "2 breakpoints, set at the next launch\n  calls.py:9\n",
    );
    let launch = ["debug", "launch", "calls.py", "--timeout", "90", "--", "-x"];
    terminal.says(&launch, "stopped (breakpoint) at calls.py:15 in total");
    terminal.says(&["debug", "stack"], "#1 main at calls.py:23");
    terminal.says(&["debug", "evaluate", "sys.argv[1]"], "'-x'");
    terminal.says(&["debug", "run-to", "calls.py:16"], "calls.py:15");
    terminal.says(
        &["debug", "breakpoints", "calls.py", "--clear"],
        "no breakpoints",
    );
    terminal.says(&["debug", "run-to", "calls.py:16"], "calls.py:16");
    let json = terminal
        .toolbox(&["debug", "scopes", "--json"])
        .output()
        .expect("it ran");
    let scopes: Value = serde_json::from_slice(&json.stdout).expect("one JSON object");
    let reference = scopes["scopes"][0]["reference"].to_string();
    terminal.says(&["debug", "variables", &reference], "sum_: int = 10");
    terminal
        .toolbox(&["debug", "launch", "calls.py"])
        .assert()
        .code(3)
        .stderr(contains("one conversation has one session").and(contains("terminate")));
    terminal.says(&["debug", "continue"], "exited with code 6: calls.py");
    terminal.says(&["debug", "output"], "result 34\n");
    terminal.toolbox(&["debug", "jump"]).assert().code(2);
}

// R90: neither SIGKILL of the host nor a signal that it can hear leaves adapter or debuggee.
#[test]
fn a_killed_host_leaves_nothing() {
    a_host_ended_by(rustix::process::Signal::KILL);
}

#[test]
fn a_terminated_host_leaves_nothing() {
    a_host_ended_by(rustix::process::Signal::TERM);
}

#[test]
fn a_host_that_lost_its_terminal_leaves_nothing() {
    a_host_ended_by(rustix::process::Signal::HUP);
}

fn a_host_ended_by(signal: rustix::process::Signal) {
    let Some(terminal) = Terminal::new() else {
        return;
    };
    let launch = [
        "debug",
        "launch",
        "calls.py",
        "--timeout",
        "2",
        "--",
        "--loop",
    ];
    terminal.says(&launch, "still running: calls.py");
    let status = terminal
        .toolbox(&["session", "status", "--json"])
        .output()
        .expect("it ran");
    let status: Value = serde_json::from_slice(&status.stdout).expect("one JSON object");
    let host = status["pid"]
        .as_i64()
        .and_then(|pid| i32::try_from(pid).ok())
        .expect("a pid");
    let marked = marked(&terminal.mark());
    assert!(marked.len() >= 3, "host, adapter and debuggee: {marked:?}");
    let pid = rustix::process::Pid::from_raw(host).expect("positive");
    rustix::process::kill_process(pid, signal).expect("it lives");
    for pid in marked {
        assert!(
            ends_within(pid, Duration::from_secs(30)),
            "process {pid} is left"
        );
    }
}
