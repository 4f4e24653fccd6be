//! Children end with their handle, their host and their deadline.
//!
//! Death is awaited on process descriptors, never by waiting a while. A host that is killed is this test
//! binary again, started with the name of one test and a variable that says what to play.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgid, getsid, kill_process, pidfd_open, pidfd_send_signal,
};
use toolbox::cancel::Cancel;
use toolbox::child::{
    Capture, Child, Env, Exit, Isolation, Processes, Program, Stderr, Stream, Waited, Watch,
    watcher,
};

const ROLE: &str = "TOOLBOX_TEST_HOST";
const STORM: &str = "TOOLBOX_TEST_STORM";
const PATIENCE: Duration = Duration::from_secs(20);
/// Short, because some children of the tests sit every grace out.
const GRACE: Duration = Duration::from_millis(100);

/// A process that is watched until its end; it is killed if the test fails before that.
struct Process {
    pid: u32,
    descriptor: OwnedFd,
}

impl Process {
    fn of(pid: u32) -> Self {
        let descriptor = pidfd_open(raw(pid), PidfdFlags::empty()).expect("the process lives");
        Self { pid, descriptor }
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(&self.descriptor, PollFlags::IN)];
        let timeout = Timespec::try_from(patience).expect("a short time");
        poll(&mut fds, Some(&timeout)).expect("poll") == 1
    }

    #[track_caller]
    fn assert_ends(&self) {
        assert!(
            self.ends_within(PATIENCE),
            "process {} still lives",
            self.pid
        );
    }

    #[track_caller]
    fn assert_lives(&self) {
        assert!(
            !self.ends_within(Duration::ZERO),
            "process {} has ended",
            self.pid
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.descriptor, Signal::KILL);
    }
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("a process number")).expect("positive")
}

fn processes() -> Processes {
    Processes::new(Watch::Shell)
}

fn shell(script: &str) -> Program {
    Program::new("sh", "/", Env::new().with("PATH", "/usr/bin:/bin")).args(["-c", script])
}

/// A script with job control: each of its jobs has a process group of its own.
fn jobs(script: &str) -> Program {
    let env = Env::new().with("PATH", "/usr/bin:/bin");
    let script = format!("set -m; {script}");
    Program::new("bash", "/", env).args(["-c", &script])
}

/// Starts a script and reads the process numbers, or other words, of its first line.
fn start(processes: &Processes, program: Program) -> (Child, Vec<String>) {
    let mut child = processes
        .spawn(&program.stdout(Stream::Piped))
        .expect("spawn");
    let mut line = String::new();
    let stdout = child.take_stdout().expect("piped");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("a first line");
    (child, line.split_whitespace().map(str::to_owned).collect())
}

fn pid(word: &str) -> u32 {
    word.parse().expect("a process number")
}

// R3
#[test]
fn a_dropped_child_takes_its_group_and_grandchildren_along() {
    let processes = processes();
    let (child, words) = start(&processes, shell("sleep 600 & echo $!; wait"));
    let (leader, grandchild) = (Process::of(child.pid()), Process::of(pid(&words[0])));
    leader.assert_lives();
    grandchild.assert_lives();
    drop(child);
    leader.assert_ends();
    grandchild.assert_ends();
    assert_eq!(processes.live(), 0);
}

// R3
#[test]
fn a_grandchild_is_ended_although_its_parent_has_ended_before() {
    let processes = processes();
    let (child, words) = start(&processes, shell("sleep 600 & echo $!"));
    let grandchild = Process::of(pid(&words[0]));
    assert_eq!(child.wait_timeout(PATIENCE), Some(Exit::Code(0)));
    grandchild.assert_lives();
    drop(child);
    grandchild.assert_ends();
}

// R90
#[test]
fn groups_and_sessions_inside_the_tree_are_ended_too() {
    let processes = processes();
    let job = jobs("sleep 600 & echo $!; wait").isolation(Isolation::Session);
    let (child, words) = start(&processes, job);
    let own_group = Process::of(pid(&words[0]));
    assert_eq!(getpgid(Some(raw(own_group.pid))), Ok(raw(own_group.pid)));
    drop(child);
    own_group.assert_ends();

    let (child, words) = start(
        &processes,
        shell("setsid sh -c 'echo $$; exec sleep 600' & wait"),
    );
    let own_session = Process::of(pid(&words[0]));
    assert_eq!(getsid(Some(raw(own_session.pid))), Ok(raw(own_session.pid)));
    drop(child);
    own_session.assert_ends();

    // The leader of the session has ended; only the session ties the orphan to it.
    let orphan = jobs("sleep 600 & echo $!").isolation(Isolation::Session);
    let (child, words) = start(&processes, orphan);
    let orphan = Process::of(pid(&words[0]));
    assert_eq!(getpgid(Some(raw(orphan.pid))), Ok(raw(orphan.pid)));
    assert_eq!(child.wait_timeout(PATIENCE), Some(Exit::Code(0)));
    drop(child);
    orphan.assert_ends();
}

#[test]
fn a_child_ends_politely_and_a_deaf_one_is_killed_after_the_grace() {
    let processes = processes();
    // No shell takes part: one that traps a signal may miss it between two commands.
    let child = processes.spawn(&shell("exec sleep 600")).expect("spawn");
    assert_eq!(child.kill_tree(PATIENCE), Some(Exit::Signal(15)));

    let (child, _) = start(
        &processes,
        shell("trap '' TERM; echo ready; exec sleep 600"),
    );
    assert_eq!(
        child.kill_tree(Duration::from_millis(50)),
        Some(Exit::Signal(9))
    );
    assert_eq!(
        child.exit().and_then(Exit::signal_name).as_deref(),
        Some("SIGKILL")
    );
}

#[test]
fn a_deadline_passes_over_a_child_that_runs_and_not_over_one_that_ends() {
    let processes = processes();
    let child = processes.spawn(&shell("exec sleep 600")).expect("spawn");
    assert_eq!(child.wait_timeout(Duration::from_millis(50)), None);
    Process::of(child.pid()).assert_lives();
    let child = processes.spawn(&shell("exit 3")).expect("spawn");
    assert_eq!(child.wait_timeout(PATIENCE), Some(Exit::Code(3)));
}

// D25
#[test]
fn the_end_by_a_signal_is_told_by_its_name() {
    let processes = processes();
    let child = processes.spawn(&shell("kill -SEGV $$")).expect("spawn");
    let exit = child.wait_timeout(PATIENCE).expect("it ends");
    assert_eq!(exit.to_string(), "killed by SIGSEGV");
    assert!(!exit.is_success());
    assert_eq!(exit.code(), None);
    assert_eq!(Exit::Code(3).to_string(), "exit status 3");
}

#[test]
fn an_interrupt_reaches_the_child() {
    let processes = processes();
    let child = processes.spawn(&shell("exec sleep 600")).expect("spawn");
    child.interrupt();
    assert_eq!(child.wait_timeout(PATIENCE), Some(Exit::Signal(2)));
}

#[test]
fn a_cancel_wakes_a_wait() {
    let processes = processes();
    let child = processes.spawn(&shell("exec sleep 600")).expect("spawn");
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let (child, waiting) = (&child, cancel.clone());
        scope.spawn(move || sender.send(child.wait(Duration::from_secs(600), &waiting)));
        cancel.cancel();
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok(Waited::Cancelled));
    });
}

#[test]
fn a_flood_on_standard_error_neither_blocks_nor_grows_the_tail() {
    let processes = processes();
    let flood = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo the end >&2";
    let child = processes
        .spawn(&shell(flood).stderr(Stderr::Tail(1000)))
        .expect("spawn");
    assert_eq!(child.wait_timeout(PATIENCE), Some(Exit::Code(0)));
    let tail = child.stderr_tail();
    assert_eq!(tail.len(), 1000);
    assert!(tail.ends_with("xxxthe end\n"), "{tail}");

    // A cut inside a character shows no half of it.
    let child = processes
        .spawn(&shell("printf 'aäb' >&2").stderr(Stderr::Tail(2)))
        .expect("spawn");
    child.wait_timeout(PATIENCE);
    assert_eq!(child.stderr_tail(), "b");
    let child = processes
        .spawn(&shell("printf 'aäb' >&2").stderr(Stderr::Tail(3)))
        .expect("spawn");
    child.wait_timeout(PATIENCE);
    assert_eq!(child.stderr_tail(), "äb");
}

#[test]
fn a_child_gets_the_environment_and_folder_that_were_said_and_no_other() {
    let processes = processes();
    let env = Env::new()
        .with("PATH", "/usr/bin:/bin")
        .with("ONLY", "this");
    let program = Program::new("env", "/usr", env.clone());
    let captured = captured(&processes, &program, "", 1000);
    assert_eq!(
        String::from_utf8_lossy(&captured.stdout),
        "ONLY=this\nPATH=/usr/bin:/bin\n"
    );
    let program = Program::new("pwd", "/usr", env);
    assert_eq!(
        self::captured(&processes, &program, "", 1000).stdout,
        b"/usr\n"
    );
}

fn captured(
    processes: &Processes,
    program: &Program,
    input: &str,
    limit: usize,
) -> toolbox::child::Captured {
    let capture = Capture {
        input: input.as_bytes().to_vec(),
        limit,
        timeout: PATIENCE,
    };
    processes
        .capture(program, capture, &Cancel::new())
        .expect("capture")
}

#[test]
fn captured_output_is_capped_and_counted() {
    let processes = processes();
    let program = shell("printf 0123456789; printf abc >&2; exit 2");
    let whole = captured(&processes, &program, "", 10);
    assert_eq!(
        (&whole.stdout[..], whole.stdout_total),
        (&b"0123456789"[..], 10)
    );
    assert_eq!((&whole.stderr[..], whole.stderr_total), (&b"abc"[..], 3));
    assert_eq!(whole.waited, Waited::Exited(Exit::Code(2)));
    let cut = captured(&processes, &program, "", 9);
    assert_eq!((&cut.stdout[..], cut.stdout_total), (&b"012345678"[..], 10));
}

#[test]
fn captured_input_is_written_and_need_not_be_read() {
    let processes = processes();
    let input = "line\n".repeat(100_000);
    let copied = captured(&processes, &shell("cat"), &input, usize::MAX);
    assert_eq!(copied.stdout.len(), input.len());
    let ignored = captured(&processes, &shell("exit 0"), &input, 10);
    assert_eq!(ignored.waited, Waited::Exited(Exit::Code(0)));
}

#[test]
fn a_capture_ends_at_its_deadline_and_at_a_cancel() {
    let processes = processes();
    let capture = |timeout| Capture {
        input: Vec::new(),
        limit: 100,
        timeout,
    };
    let program = shell("printf kept; sleep 600 & sleep 600");
    let short = capture(Duration::from_millis(500));
    let res = processes
        .capture(&program, short, &Cancel::new())
        .expect("capture");
    assert_eq!(
        (res.waited, &res.stdout[..]),
        (Waited::TimedOut, &b"kept"[..])
    );
    let cancel = Cancel::new();
    cancel.cancel();
    let res = processes
        .capture(&program, capture(PATIENCE), &cancel)
        .expect("capture");
    assert_eq!(res.waited, Waited::Cancelled);
    assert_eq!(processes.live(), 0);
}

#[test]
fn standard_error_can_join_standard_output_in_order() {
    let processes = processes();
    let program = shell("echo 1; echo 2 >&2; echo 3").stderr(Stderr::WithStdout);
    let mut child = processes
        .spawn(&program.stdout(Stream::Piped))
        .expect("spawn");
    let mut text = String::new();
    let mut stdout = child.take_stdout().expect("piped");
    stdout.read_to_string(&mut text).expect("utf-8");
    assert_eq!(text, "1\n2\n3\n");
}

#[test]
fn a_program_that_is_not_there_is_an_error_and_leaves_nothing() {
    let processes = processes();
    let program = Program::new("/nowhere/program", "/", Env::new());
    assert!(processes.spawn(&program).is_err());
    assert_eq!(processes.live(), 0);
    let watch = Watch::Program {
        program: "/nowhere/watcher".into(),
        args: Vec::new(),
    };
    let error = Processes::new(watch)
        .spawn(&shell("exit 0"))
        .expect_err("nobody watches");
    assert!(error.to_string().contains("watcher"), "{error}");
}

#[test]
fn ending_all_ends_every_child_and_starts_no_other() {
    let processes = processes();
    let (deaf, _) = start(
        &processes,
        shell("trap '' TERM; echo ready; exec sleep 600"),
    );
    let other = processes.spawn(&shell("exec sleep 600")).expect("spawn");
    processes.end_all(Duration::from_millis(50));
    assert_eq!(deaf.wait_timeout(PATIENCE), Some(Exit::Signal(9)));
    assert_eq!(other.wait_timeout(PATIENCE), Some(Exit::Signal(15)));
    assert!(processes.spawn(&shell("exit 0")).is_err());
}

// R90: a debuggee that its adapter put out of reach ends with the session.
#[test]
fn an_adopted_process_ends_with_its_handle() {
    let processes = processes();
    let mut foreign = Command::new("sleep").arg("600").spawn().expect("spawn");
    let adopted = processes.adopt(foreign.id()).expect("it lives");
    let process = Process::of(foreign.id());
    process.assert_lives();
    drop(adopted);
    process.assert_ends();
    foreign.wait().expect("reaped");
    assert!(processes.adopt(foreign.id()).is_err(), "it is gone");
    assert!(processes.adopt(0).is_err());
}

/// Plays a host: starts children, tells their numbers, and waits to be ended.
#[test]
fn host_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let processes = Processes::new(match role.as_str() {
        "program" => watch_by_this_binary(),
        _ => Watch::Shell,
    });
    let guard = (role == "signals").then(|| processes.end_on_signals(GRACE).expect("signals"));
    // Tied to its child by the group, by the session alone, by descent alone, and by the record alone.
    let (group, in_group) = start(&processes, shell("sleep 600 & echo $!; wait"));
    let orphan = jobs("sleep 600 & echo $!").isolation(Isolation::Session);
    let (ended, in_session) = start(&processes, orphan);
    assert_eq!(ended.wait_timeout(PATIENCE), Some(Exit::Code(0)));
    let away = shell("setsid sh -c 'echo $$; exec sleep 600' & wait");
    let (parent, descendant) = start(&processes, away);
    let mut foreign = Command::new("sleep").arg("600").spawn().expect("spawn");
    let adopted = processes.adopt(foreign.id()).expect("it lives");
    let deaf = shell("trap '' TERM HUP INT; sleep 600 & echo $!; wait");
    let (deaf, in_deaf) = start(&processes, deaf);
    // A child that has ended before the host is no business of the watcher.
    drop(processes.spawn(&shell("exit 0")).expect("spawn"));
    let told = [in_group, in_session, descendant, in_deaf].concat();
    let pids = [group.pid(), parent.pid(), foreign.id(), deaf.pid()].map(|pid| pid.to_string());
    println!("\nNUMBERS {} {}", told.join(" "), pids.join(" "));
    std::io::stdout().flush().expect("flush");
    // The end of input is the end of the test that started this host.
    std::io::stdin()
        .read_to_end(&mut Vec::new())
        .expect("input");
    drop((guard, adopted));
    foreign.wait().expect("it has been ended");
}

/// Plays a host that starts children as fast as it can, until it is killed in the middle of that.
#[test]
fn storming_host_process() {
    let Ok(mark) = std::env::var(STORM) else {
        return;
    };
    let processes = processes();
    let program = Program::new(
        "sleep",
        "/",
        Env::new().with("PATH", "/usr/bin:/bin").with(STORM, mark),
    );
    let program = program.args(["600"]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // An end by itself, should the test have gone away.
                for _ in 0..500 {
                    let child = processes.spawn(&program).expect("spawn");
                    println!("\nSTARTED {}", child.pid());
                    std::mem::forget(child);
                }
            });
        }
    });
}

/// Returns the living processes whose environment holds the mark.
fn marked(mark: &str) -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("the process table");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|line| line == mark.as_bytes())
        })
        .filter_map(|pid| {
            let descriptor = pidfd_open(Pid::from_raw(pid as i32)?, PidfdFlags::empty()).ok()?;
            Some(Process { pid, descriptor })
        })
        .collect()
}

// R3: there is no moment in which a child lives and nobody knows of it.
#[test]
fn a_host_killed_in_the_middle_of_starting_leaves_no_child() {
    for kill_after in [1, 7, 40] {
        let mark = format!("{}-{kill_after}", std::process::id());
        let mut host = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "child::storming_host_process", "--nocapture"])
            .env(STORM, &mark)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the host starts");
        let lines = BufReader::new(host.stdout.take().expect("piped")).lines();
        let n_started = lines
            .map_while(Result::ok)
            .filter(|line| line.starts_with("STARTED "))
            .take(kill_after)
            .count();
        assert_eq!(n_started, kill_after);
        host.kill().expect("it runs");
        host.wait().expect("it ends");
        let mark = format!("{STORM}={mark}");
        loop {
            let left = marked(&mark);
            if left.is_empty() {
                break;
            }
            left.iter().for_each(Process::assert_ends);
        }
    }
}

/// Plays the watcher that a host may bring along.
#[test]
fn watcher_process() {
    if std::env::args().any(|arg| arg == "__watch") {
        watcher::run(std::io::stdin());
    }
}

fn watch_by_this_binary() -> Watch {
    // The runner takes `--skip` for a filter; here it only carries the word.
    let args = [
        "--exact",
        "child::watcher_process",
        "--skip",
        "__watch",
        "--nocapture",
    ];
    let program = std::env::current_exe().expect("this binary");
    Watch::Program {
        program,
        args: args.map(Into::into).to_vec(),
    }
}

#[track_caller]
fn check_end_of_host(role: &str, signal: Signal) {
    let mut host = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "child::host_process", "--nocapture"])
        .env(ROLE, role)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the host starts");
    // Waiting would close it, and the host would end by itself.
    let _input = host.stdin.take();
    let lines = BufReader::new(host.stdout.take().expect("piped")).lines();
    let numbers = lines
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("NUMBERS ").map(str::to_owned))
        .expect("the host tells its children");
    let children: Vec<Process> = numbers
        .split(' ')
        .map(|word| Process::of(pid(word)))
        .collect();
    assert_eq!(children.len(), 8);
    children.iter().for_each(Process::assert_lives);
    kill_process(raw(host.id()), signal).expect("the host lives");
    let status = host.wait().expect("the host ends");
    let by = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(by, Some(signal.as_raw()), "{status}");
    children.iter().for_each(Process::assert_ends);
}

// R3
#[test]
fn after_sigkill_of_the_host_the_shell_ends_what_it_left() {
    check_end_of_host("shell", Signal::KILL);
}

// R3
#[test]
fn after_sigkill_of_the_host_a_watching_program_ends_what_it_left() {
    check_end_of_host("program", Signal::KILL);
}

// R3
#[test]
fn a_host_that_is_told_to_end_ends_its_children_first() {
    check_end_of_host("signals", Signal::TERM);
    check_end_of_host("signals", Signal::HUP);
    check_end_of_host("signals", Signal::INT);
}
