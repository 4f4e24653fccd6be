//! `toolbox bash`.

use std::process::Command as Process;

use super::*;
use crate::support::terminal::Terminal;

// R142: the output goes where a pipe takes it, what is said about it beside it, the code is the command's.
#[test]
fn bash_ends_as_its_command_does() {
    let checkout = Checkout::new(&[("sub/a", "")]);
    let run = |args: &[&str]| {
        let mut command = checkout.toolbox(args);
        command.env("PATH", "/usr/bin:/bin").assert()
    };
    run(&["bash", "printf hi; exit 7"])
        .code(7)
        .stdout("hi")
        .stderr(is_empty());
    run(&["bash", "cd sub; echo $HOME; false || true"])
        .code(0)
        .stdout(format!("{}\n", checkout.home().display()))
        .stderr("note: working folder: sub\n");
    run(&["bash", "kill -9 $$"]).code(137);
    // The whole group goes, and nobody is left to report a code.
    run(&["bash", "kill -9 0"]).code(137);
    // What it leaves running is ended with the command, and said to be.
    run(&["bash", "sleep 600 & echo ok"])
        .code(0)
        .stdout("ok\n")
        .stderr(contains("ends now").and(contains("bash_1").not()));
    run(&["bash", "sleep 600", "--timeout", "1"])
        .code(124)
        .stderr(contains("timed out"));
    run(&["bash", "true", "--timeout", "601"])
        .code(3)
        .stderr(contains("1 to 600 s"));
    run(&["bash", "--background-id", "bash_9"])
        .code(3)
        .stderr(contains("no background command 'bash_9'"));
    // The question started a background session, which would outlive the test.
    run(&["session", "stop"]).code(0);
    run(&["bash"]).code(2);
    let assert = run(&["bash", "echo x; exit 2", "--json"]).code(2);
    let data: Value = serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    assert_eq!(
        (&data["output"], &data["exit_code"]),
        (&json!("x\n"), &json!(2))
    );
}

// R142: at a terminal the output appears while the command runs, all of it and once; the code is the
// command's, and what is said about it comes after it.
#[test]
fn at_a_terminal_output_appears_while_the_command_runs() {
    let checkout = Checkout::new(&[]);
    let command = |args: &[&str]| {
        let mut command = Process::new(env!("CARGO_BIN_EXE_toolbox"));
        command
            .env("HOME", checkout.home())
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .current_dir(checkout.root())
            .args(args);
        command
    };
    // It goes on only once its first line was seen.
    let script = "echo one; until [ -e go ]; do sleep 0.05; done; echo two >&2; seq 9000; exit 3";
    let mut terminal = Terminal::start(&command(&["bash", script]));
    terminal.sees("one\n");
    std::fs::write(checkout.root().join("go"), "").expect("a file");
    terminal.sees("two\n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, Some(3));
    assert_eq!(screen.matches("one\n").count(), 1);
    // The middle that an answer would leave out is there too.
    let numbers: Vec<&str> = screen
        .lines()
        .filter(|line| line.parse::<u32>().is_ok())
        .collect();
    assert_eq!(numbers.len(), 9000, "{}", &screen[..200]);
    assert!(!screen.contains("left out"));
    // Asked for JSON, nothing but JSON appears.
    let (code, screen) = Terminal::start(&command(&["--json", "bash", "echo hi"])).ends();
    assert_eq!(code, Some(0));
    let data: Value = serde_json::from_str(screen.trim()).expect("JSON");
    assert_eq!(data["output"], "hi\n");
}
