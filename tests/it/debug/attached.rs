//! Attaching to native programs that run: by number, and to a server that holds one. They go on afterwards.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolbox::tool::ErrorKind;

use super::Bench;
use super::bench::{ends_within, usable};
use crate::support::peers;

const LONG: Duration = Duration::from_secs(60);

/// A program that turns, and says so when it is asked by a signal.
pub(super) struct Spinning {
    child: Child,
    lines: Receiver<String>,
}

impl Spinning {
    /// Starts the program, and waits until it turns.
    pub(super) fn alone(bench: &Bench) -> Self {
        let mut child = Command::new("./spin")
            .current_dir(bench.work())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("asked for"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let spinning = Self { child, lines };
        spinning.says("ready");
        spinning
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn says(&self, words: &str) {
        loop {
            let line = self.lines.recv_timeout(LONG).expect("it goes on");
            if line.contains(words) {
                return;
            }
        }
    }

    /// Asserts that the program of this number still turns.
    pub(super) fn goes_on(&self, pid: u32) {
        let pid = Pid::from_raw(pid.cast_signed()).expect("a number");
        kill_process(pid, Signal::USR1).expect("it is there");
        self.says("alive");
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A bench with the program, where a stranger may be attached to.
pub(super) fn bench(adapter: &str) -> Option<Bench> {
    peers::find("cc")?;
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let strict = scope.is_ok_and(|scope| scope.trim() != "0");
    if strict && !rustix::process::geteuid().is_root() {
        println!("skipped: the right to attach missing");
        return None;
    }
    let bench = Bench::new(&["CMakeLists.txt", "spin.c"]);
    if !usable(&bench, adapter) {
        return None;
    }
    let built = Command::new("cc")
        .args(["-g", "-O0", "spin.c", "-o", "spin"])
        .current_dir(bench.work())
        .status();
    assert!(built.expect("cc starts").success());
    Some(bench)
}

/// Stops a program that runs at a breakpoint, looks, and lets it go.
pub(super) fn stops_and_goes_on(bench: &Bench, attach: Value) {
    bench.breakpoints("spin.c", json!([14]));
    let mut stop = bench.does(attach);
    if stop["reason"] != "breakpoint" {
        // gdb stops where it attaches.
        let onward = json!({"operation": "continue", "timeout_seconds": 60});
        stop = bench.does(onward);
    }
    assert_eq!(
        (&stop["reason"], &stop["line"], &stop["function"]),
        (&json!("breakpoint"), &json!(14), &json!("turn")),
        "{stop:#}"
    );
    assert_eq!(stop["locals"][0]["name"], "n");
    assert_eq!(bench.value("n + 1"), "2");
    assert_eq!(bench.op("terminate")["reason"], "detached");
}

// R80, D21: by number; what was attached to goes on, unless its end is asked for.
#[test]
fn lldb_attaches_to_a_process() {
    let Some(bench) = bench("lldb") else { return };
    let mut spinning = Spinning::alone(&bench);
    let attach = json!({"operation": "attach", "adapter": "lldb", "pid": spinning.pid(), "timeout_seconds": 60});
    stops_and_goes_on(&bench, attach.clone());
    spinning.goes_on(spinning.pid());
    bench.breakpoints("spin.c", json!([]));
    bench.does(attach);
    let end = bench.does(json!({"operation": "terminate", "kill": true}));
    assert_eq!(end["reason"], "terminated");
    assert!(spinning.child.wait().is_ok(), "it was told to end it");
    bench.nothing_is_left();
}

// R80, D21: by the port of a server for gdb's protocol.
#[test]
fn lldb_attaches_to_a_server() {
    if peers::find("lldb-server").is_none() {
        return;
    }
    let Some(bench) = bench("lldb") else { return };
    let server = peers::find("lldb-server").expect("found above");
    // The server writes its port there once it listens.
    let pipe = bench.work().join("port");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("it runs").success());
    let mut server = Command::new(server)
        .args(["gdbserver", "--named-pipe", "port", "127.0.0.1:0", "./spin"])
        .current_dir(bench.work())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let (sender, ports) = channel();
    std::thread::spawn(move || sender.send(std::fs::read_to_string(pipe)));
    let port = ports.recv_timeout(LONG).expect("it listens").expect("text");
    let port: u16 = port.trim_matches('\0').trim().parse().expect("a port");
    let attach = json!({"operation": "attach", "adapter": "lldb", "port": port, "program": "spin",
        "timeout_seconds": 60});
    stops_and_goes_on(&bench, attach);
    server.wait().expect("it ends with its only session");
    let processes = std::fs::read_dir("/proc").expect("a process table");
    let program = bench.work().join("spin");
    let pid = processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .find(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
        .expect("the program lives");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it is there");
    let running = status.contains("State:\tS") || status.contains("State:\tR");
    assert!(running && status.contains("TracerPid:\t0"), "{status}");
    kill_process(Pid::from_raw(pid).expect("a number"), Signal::KILL).expect("it is there");
    assert!(ends_within(pid, LONG));
    bench.nothing_is_left();
}

// R80: a process that is not there is said before anything starts; gdb would say that it has attached.
#[test]
fn a_process_that_is_not_there_is_said() {
    let Some(bench) = bench("lldb") else { return };
    let attach = json!({"operation": "attach", "adapter": "lldb", "pid": 99_999_999});
    bench.refuses(attach, ErrorKind::NotFound, "no process 99999999");
    bench.nothing_is_left();
}
