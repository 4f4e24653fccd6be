//! `Bash`: what a command gives, what is kept between commands, and that nothing is left of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use toolbox::cancel::Cancel;

use super::*;

const PATIENCE: Duration = Duration::from_secs(30);

#[track_caller]
fn run(bench: &Bench, command: &str) -> Output {
    bench.answer("Bash", json!({"command": command}))
}

#[track_caller]
fn output(bench: &Bench, command: &str) -> String {
    let data = run(bench, command).data;
    data["output"].as_str().expect("a text").to_owned()
}

/// A process that is awaited by its number.
struct Process(Option<std::os::fd::OwnedFd>);

impl Process {
    fn of(number: &str) -> Self {
        let number = number.trim().parse().expect("a process number");
        let pid = Pid::from_raw(number).expect("positive");
        Self(rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok())
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let Some(descriptor) = &self.0 else {
            return true;
        };
        let timeout = rustix::event::Timespec::try_from(patience).expect("a short time");
        let mut fds = [rustix::event::PollFd::new(
            descriptor,
            rustix::event::PollFlags::IN,
        )];
        rustix::event::poll(&mut fds, Some(&timeout)).expect("poll") == 1
    }
}

fn read_to_number(path: &Path) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text,
            _ => assert!(Instant::now() < deadline, "{} stays empty", path.display()),
        }
        std::thread::yield_now();
    }
}

// R142: both streams in the order written, the exit code, no input.
#[test]
fn a_command_gives_its_output_and_its_exit_code() {
    let bench = Bench::new(&[("a.txt", "")]);
    let plain = run(&bench, "echo out; echo err >&2; echo more; cat");
    assert_eq!(plain.text, "out\nerr\nmore\n");
    assert_eq!(plain.data["output"], "out\nerr\nmore\n");
    for (key, value) in [
        ("exit_code", json!(0)),
        ("signal", Value::Null),
        ("output_file", Value::Null),
        ("timed_out", json!(false)),
        ("background_id", Value::Null),
        ("cwd", json!(".")),
    ] {
        assert_eq!(plain.data.get(key), Some(&value), "{key}");
    }
    let failed = run(&bench, "printf hm; exit 3");
    assert_eq!(
        (&failed.data["exit_code"], failed.text.as_str()),
        (&json!(3), "hm\n[exit code 3]")
    );
    assert_eq!(run(&bench, "true").text, "[no output]");
    assert_eq!(run(&bench, "# nothing").data["exit_code"], 0);
}

// R142: the command is typed as into a shell, whatever it holds, and sees nothing of what is around it.
#[test]
fn a_command_is_what_it_says() {
    let bench = Bench::new(&[]);
    assert_eq!(output(&bench, "cat <<'END'\n$x \"'`\nEND\n"), "$x \"'`\n");
    assert_eq!(
        output(&bench, "x=1\nfor i in 1 2; do\n  echo $x$i\ndone # end"),
        "11\n12\n"
    );
    assert_eq!(output(&bench, "echo $#\"$*\""), "0\n");
    // The pipe of reports is the keeper's alone.
    let inherited =
        "pipe=$(readlink /proc/$PPID/fd/2); echo $pipe; ls -l /proc/$$/fd | grep -cF \"$pipe\"";
    let inherited = output(&bench, inherited);
    assert!(
        inherited.starts_with("pipe:[") && inherited.ends_with("]\n0\n"),
        "{inherited}"
    );
    assert!(output(&bench, "set -x; true").ends_with("+ true\n"));
    let broken = run(&bench, "echo )");
    assert_eq!(
        broken.data["exit_code"],
        json!(2).max_of(&broken.data["exit_code"])
    );
    assert!(broken.text.contains("line 1"), "{}", broken.text);
    assert!(broken.text.contains("syntax error"), "{}", broken.text);
    assert!(!broken.text.contains("trap"), "{}", broken.text);
    assert!(
        run(&bench, "nosuchcommand")
            .text
            .contains("line 1: nosuchcommand: ")
    );
}

/// Shells disagree on the status of a syntax error: 1 or 2.
trait OneOrTwo {
    fn max_of(self, other: &Value) -> Value;
}

impl OneOrTwo for Value {
    fn max_of(self, other: &Value) -> Value {
        match other.as_i64() {
            Some(1 | 2) => other.clone(),
            _ => self,
        }
    }
}

// R142: the folder is kept inside the workspace, and nothing else is.
#[test]
fn the_working_folder_is_kept_and_the_environment_is_not() {
    let bench = Bench::new(&[("sub/deep/a.txt", "")]);
    let moved = run(&bench, "cd sub/deep; export X=1; y=2; exit 4");
    assert_eq!(
        (&moved.data["cwd"], &moved.data["exit_code"]),
        (&json!("sub/deep"), &json!(4))
    );
    assert!(
        moved.text.contains("[working folder: sub/deep]"),
        "{}",
        moved.text
    );
    assert_eq!(output(&bench, "ls; echo $X$y"), "a.txt\n\n");
    assert_eq!(output(&bench, "(cd /; true); basename \"$PWD\""), "deep\n");
    let out = run(&bench, "cd /");
    assert_eq!(out.data["cwd"], ".");
    assert!(
        out.text.contains("/ is outside the workspace"),
        "{}",
        out.text
    );
    assert_eq!(run(&bench, "cd sub; kill -9 $$").data["cwd"], ".");
    run(&bench, "cd sub/deep");
    fs::remove_dir_all(bench.place.work().join("sub")).expect("it was there");
    let gone = run(&bench, "pwd");
    assert!(
        gone.text.contains("[the working folder sub/deep is gone"),
        "{}",
        gone.text
    );
    assert_eq!(gone.data["cwd"], ".");
    let odd = "cd . && mkdir 'a\nb' && cd 'a\nb'";
    assert_eq!(run(&bench, odd).data["cwd"], "a\\nb");
    assert_eq!(output(&bench, "basename \"$PWD\""), "a\nb\n");
}

// R142: a signal that ends the shell is named.
#[test]
fn a_killed_shell_names_its_signal() {
    let bench = Bench::new(&[]);
    let killed = run(&bench, "echo before; kill -9 $$");
    assert_eq!(
        (&killed.data["signal"], &killed.data["output"]),
        (&json!("SIGKILL"), &json!("before\n"))
    );
    assert!(
        killed.text.ends_with("[the shell was ended by SIGKILL]"),
        "{}",
        killed.text
    );
    let child = run(&bench, "sh -c 'kill -9 $$' 2>/dev/null; exit $?");
    assert_eq!(
        (&child.data["signal"], &child.data["exit_code"]),
        (&Value::Null, &json!(137))
    );
    assert!(
        child.text.contains("[exit code 137, as after SIGKILL]"),
        "{}",
        child.text
    );
    let group = run(&bench, "kill -9 0");
    assert_eq!(
        (&group.data["signal"], &group.data["exit_code"]),
        (&json!("SIGKILL"), &Value::Null)
    );
}

// R142, complaint 17: the shell's end is the command's; what it left running is named and ended later.
#[test]
fn what_is_left_running_does_not_hold_the_answer() {
    for left in [
        "sleep 600 & echo $!",
        "setsid sh -c 'echo $$; exec sleep 600' & while ! pgrep -s $! >/dev/null; do :; done; sleep 0.2",
        "(setsid sh -c 'sleep 600 & echo $!' &); sleep 0.2",
        "nohup sh -c 'trap \"\" TERM; sleep 600; sleep 600' 2>/dev/null & echo $!",
    ] {
        let bench = Bench::new(&[]);
        let started = Instant::now();
        let answer = run(&bench, left);
        assert!(started.elapsed() < PATIENCE);
        let data = &answer.data;
        assert_eq!(data["background_id"], "bash_1", "{left}: {}", answer.text);
        assert_eq!(
            (&data["exit_code"], &data["running"]),
            (&json!(0), &json!(true))
        );
        let process = Process::of(data["output"].as_str().expect("a text"));
        assert!(!process.ends_within(Duration::ZERO), "{left}");
        drop(bench);
        assert!(process.ends_within(PATIENCE), "{left}");
    }
}

// R142, R3: a timeout ends everything, whatever it does against it, and tells what was written.
#[test]
fn a_timeout_ends_the_whole_tree() {
    let bench = Bench::new(&[]);
    let command = "echo start; trap '' TERM; \
        sh -c 'trap \"\" TERM; echo $$ >plain; sleep 600; sleep 600' & \
        setsid sh -c 'trap \"\" TERM; echo $$ >daemon; sleep 600; sleep 600' & \
        while :; do sleep 600; done";
    let answer = bench.answer("Bash", json!({"command": command, "timeout": 1}));
    let data = &answer.data;
    assert_eq!(
        (&data["timed_out"], &data["exit_code"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        (&data["output"], &data["running"]),
        (&json!("start\n"), &json!(false))
    );
    assert!(answer.text.contains("timed out"), "{}", answer.text);
    for name in ["plain", "daemon"] {
        let path = bench.place.work().join(name);
        assert!(
            Process::of(&read_to_number(&path)).ends_within(Duration::ZERO),
            "{name}"
        );
    }
    let within = bench.answer("Bash", json!({"command": "echo done", "timeout": 60}));
    assert_eq!(within.data["timed_out"], false);
}

// R142, R3: a cancel ends everything too, also of a command that waits for its turn.
#[test]
fn a_cancel_ends_the_whole_tree() {
    let bench = Bench::new(&[]);
    let pid = bench.place.work().join("pid");
    let (first, second) = (Cancel::new(), Cancel::new());
    std::thread::scope(|scope| {
        let call = |command: &'static str, cancel: &Cancel| {
            let options = CallOptions::new().with_cancel(cancel.clone());
            let run = &bench.run;
            scope.spawn(move || run.dispatch("Bash", json!({"command": command}), options))
        };
        let running = call(
            "setsid sh -c 'echo $$ >pid; exec sleep 600' & sleep 600",
            &first,
        );
        let process = Process::of(&read_to_number(&pid));
        let waiting = call("echo >never", &second);
        second.cancel();
        let error = waiting
            .join()
            .expect("no panic")
            .expect_err("it was cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        first.cancel();
        let error = running
            .join()
            .expect("no panic")
            .expect_err("it was cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert!(process.ends_within(Duration::ZERO));
    });
    assert!(!bench.place.work().join("never").exists());
    assert_eq!(output(&bench, "echo next"), "next\n");
}

// R142: a long output keeps its start and its end; the whole is in the file; memory is bounded.
#[test]
fn a_long_output_is_shortened_and_kept_in_a_file() {
    let bench = Bench::new(&[]);
    let exact = run(&bench, "head -c 30000 /dev/zero | tr '\\0' x");
    assert_eq!(exact.data["output"].as_str().map(str::len), Some(30_000));
    assert!(exact.data["output_file"].is_null());
    let long = run(&bench, "echo first; seq 10000; echo last");
    let text = long.data["output"].as_str().expect("a text");
    assert!(text.starts_with("first\n1\n2\n") && text.ends_with("10000\nlast\n"));
    let file = PathBuf::from(long.data["output_file"].as_str().expect("a file"));
    assert!(
        text.contains(&format!("; the whole is in {}]", file.display())),
        "{file:?}"
    );
    assert_eq!(
        fs::read_to_string(&file).expect("the file").lines().count(),
        10_002
    );
    assert!(file.starts_with(bench.place.state()));
}

// R142: a gigabyte passes without being held.
#[test]
fn a_flood_of_output_takes_bounded_memory() {
    let peak = || {
        let status = fs::read_to_string("/proc/self/status").expect("the process has one");
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .expect("a peak");
        let kilobytes = line.split_whitespace().nth(1).expect("a number");
        kilobytes.parse::<u64>().expect("a number")
    };
    let bench = Bench::new(&[]);
    let before = peak();
    let command = "yes | head -c 1000000000";
    let flood = bench.answer("Bash", json!({"command": command, "timeout": 600}));
    assert_eq!(flood.data["exit_code"], 0);
    // Other tests run beside this one: the bound is far below the flood and far above them.
    assert!(peak() < before + 150_000, "{} kB", peak() - before);
    let file = flood.data["output_file"].as_str().expect("a file");
    assert_eq!(fs::metadata(file).expect("the file").len(), 1_000_000_000);
}

// R142: a command in the background is asked, and ended.
#[test]
fn a_background_command_is_read_and_killed() {
    let bench = Bench::new(&[("sub/a", "")]);
    run(&bench, "cd sub");
    let command = "pwd; cd /; while read line; do echo \"got $line\"; done <\"$OLDPWD/../pipe\"; echo end; exit 5";
    run(&bench, "mkfifo ../pipe");
    let started = bench.answer(
        "Bash",
        json!({"command": command, "run_in_background": true}),
    );
    assert_eq!(
        (&started.data["background_id"], &started.data["running"]),
        (&json!("bash_1"), &json!(true))
    );
    assert!(started.data["output_file"].is_string() && started.data["exit_code"].is_null());
    let ask = |action: Option<&str>| {
        let mut args = json!({"background_id": "bash_1"});
        if let Some(action) = action {
            args["action"] = json!(action);
        }
        bench.answer("Bash", args).data
    };
    let collect = |wanted: &str, gathered: &mut String| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let data = ask(Some("output"));
            gathered.push_str(data["output"].as_str().expect("a text"));
            if gathered.contains(wanted) {
                return data;
            }
            assert!(Instant::now() < deadline, "{gathered} lacks {wanted}");
        }
    };
    let mut gathered = String::new();
    // Opening a pipe waits for its other end, which the command opens.
    let mut pipe = fs::File::options()
        .write(true)
        .open(bench.place.work().join("pipe"))
        .expect("the pipe");
    std::io::Write::write_all(&mut pipe, b"one\n").expect("it is read");
    let data = collect("got one\n", &mut gathered);
    assert_eq!(
        (&data["running"], &data["exit_code"]),
        (&json!(true), &Value::Null)
    );
    drop(pipe);
    collect("end\n", &mut gathered);
    assert!(gathered.ends_with("/sub\ngot one\nend\n"), "{gathered}");
    let deadline = Instant::now() + PATIENCE;
    while ask(None)["running"] == true {
        assert!(Instant::now() < deadline);
    }
    let over = ask(None);
    assert_eq!(
        (&over["exit_code"], &over["output"]),
        (&json!(5), &json!(""))
    );
    let file = started.data["output_file"].as_str().expect("a file");
    assert_eq!(fs::read_to_string(file).expect("the file"), gathered);
    assert_eq!(ask(Some("kill"))["notes"], json!(["it had ended already"]));
    assert_eq!(
        run(&bench, "basename \"$PWD\"").data["output"],
        "sub\n",
        "it never moved"
    );

    let command = "setsid sh -c 'echo $$; exec sleep 600' & sleep 600";
    bench.answer(
        "Bash",
        json!({"command": command, "run_in_background": true}),
    );
    let deadline = Instant::now() + PATIENCE;
    let mut number = String::new();
    while !number.ends_with('\n') {
        let data = bench
            .answer("Bash", json!({"background_id": "bash_2"}))
            .data;
        number.push_str(data["output"].as_str().expect("a text"));
        assert!(Instant::now() < deadline);
    }
    let process = Process::of(&number);
    let killed = bench.answer("Bash", json!({"background_id": "bash_2", "action": "kill"}));
    assert_eq!(killed.data["running"], false);
    assert!(process.ends_within(Duration::ZERO), "it still runs");
    bench.refuses(
        "Bash",
        json!({"background_id": "bash_3"}),
        ErrorKind::NotFound,
        "bash_3",
    );
}

// R142: asking for a background command does not wait for one in the foreground.
#[test]
fn background_commands_do_not_wait_for_the_foreground() {
    let bench = Bench::new(&[]);
    let ready = bench.place.work().join("ready");
    std::thread::scope(|scope| {
        let foreground = scope.spawn(|| {
            run(
                &bench,
                "echo $$ >ready; while [ ! -e go ]; do sleep 0.05; done",
            )
        });
        read_to_number(&ready);
        let started = bench.answer(
            "Bash",
            json!({"command": "echo hi", "run_in_background": true}),
        );
        assert_eq!(started.data["background_id"], "bash_1");
        bench.answer("Bash", json!({"background_id": "bash_1"}));
        assert!(!foreground.is_finished());
        bench.place.write("go", "");
        assert_eq!(foreground.join().expect("no panic").data["exit_code"], 0);
    });
}

// R142: arguments that do not fit each other, and limits at n and one more.
#[test]
fn bad_calls_are_refused() {
    let bench = Bench::new(&[]);
    let refuses = |args: Value, words: &str| {
        bench.refuses("Bash", args, ErrorKind::InvalidArgs, words);
    };
    refuses(json!({}), "no command");
    refuses(json!({"command": " \n"}), "empty");
    refuses(json!({"command": "a\0b"}), "NUL");
    refuses(
        json!({"command": "true", "timeout": 0}),
        "timeout is 0 s; it must be 1 to 600 s",
    );
    refuses(
        json!({"command": "true", "timeout": 601}),
        "timeout is 601 s",
    );
    bench.answer(
        "Bash",
        json!({"command": "true", "timeout": 600, "description": "does nothing"}),
    );
    refuses(
        json!({"command": "true", "background_id": "bash_1"}),
        "both",
    );
    refuses(json!({"command": "true", "action": "kill"}), "action");
    refuses(
        json!({"command": "true", "timeout": 5, "run_in_background": true}),
        "no timeout",
    );
    refuses(
        json!({"background_id": "bash_1", "timeout": 5}),
        "belong to a command",
    );
    refuses(
        json!({"command": format!("#{}", "x".repeat(100_000))}),
        "the limit is 100000",
    );
    bench.answer(
        "Bash",
        json!({"command": format!("#{}", "x".repeat(99_999))}),
    );
    let error = bench.refuses(
        "Bash",
        json!({"background_id": "x"}),
        ErrorKind::NotFound,
        "'x'",
    );
    assert_eq!(
        error.hint(),
        Some("no command was left running in this run")
    );
}

// R142: without bash the shell that every system has does the same.
#[test]
fn a_plain_shell_does_too() {
    let bench = Bench::with_shell(Place::new(), "/bin/sh");
    fs::create_dir(bench.place.work().join("sub")).expect("a folder");
    let answer = run(&bench, "echo one; cd sub; sleep 600 & echo $!; exit 7");
    let data = &answer.data;
    assert_eq!(
        (&data["exit_code"], &data["cwd"]),
        (&json!(7), &json!("sub"))
    );
    let (one, number) = data["output"]
        .as_str()
        .and_then(|text| text.split_once('\n'))
        .expect("two lines");
    assert_eq!(one, "one");
    let process = Process::of(number);
    assert!(!process.ends_within(Duration::ZERO));
    assert_eq!(run(&bench, "kill -9 $$").data["signal"], "SIGKILL");
    let killed = bench.answer("Bash", json!({"background_id": "bash_1", "action": "kill"}));
    assert_eq!(killed.data["running"], false);
    assert!(process.ends_within(Duration::ZERO));
    let bench = Bench::with_shell(Place::new(), "/nonexistent/shell");
    bench.refuses(
        "Bash",
        json!({"command": "true"}),
        ErrorKind::Unavailable,
        "/nonexistent/shell",
    );
}
