//! `toolbox glob` and `toolbox grep`.

use super::*;
use crate::support::terminal::Terminal;

fn checkout() -> Checkout {
    Checkout::new(&[
        ("a.py", "one\ntwo\n"),
        ("sub/b.py", "two\n"),
        ("out/c.py", "two\n"),
        (".gitignore", "out/\n"),
    ])
}

// R146: names alone on standard output, so that a pipe can take them; 1 where nothing was found.
#[test]
fn glob_prints_names() {
    let checkout = checkout();
    let run = |args: &[&str]| checkout.toolbox(args).assert();
    run(&["glob", "*.py", "--sort", "path"])
        .code(0)
        .stdout("a.py\nsub/b.py\n")
        .stderr(is_empty());
    run(&["glob", "*.py", "--sort", "path", "--max-results", "1"])
        .code(0)
        .stdout("a.py\n")
        .stderr("note: 1 of 2 files\n");
    run(&["glob", "*.py", "sub"]).code(0).stdout("sub/b.py\n");
    run(&["glob", "**/c.py"])
        .code(1)
        .stdout(is_empty())
        .stderr(contains(
            "1 ignored file matches: add `--no-ignore` to list them",
        ));
    run(&["glob", "**/c.py", "--no-ignore"]).code(0);
    run(&["glob", "["]).code(3).stderr(contains("bad glob"));
    // A pattern of thousands of characters is named and not repeated; a limit is named by its flag.
    let huge = "{a,".repeat(5_000);
    let assert = run(&["glob", &huge])
        .code(3)
        .stderr(contains("bad glob '{a,{a,"));
    assert!(assert.get_output().stderr.len() < 1_000);
    let huge = "(".repeat(5_000);
    let assert = run(&["grep", &huge])
        .code(3)
        .stderr(contains("bad pattern '(((("));
    assert!(assert.get_output().stderr.len() < 2_000);
    for command in ["glob", "grep"] {
        run(&[command, "x", "--max-results", "0"])
            .code(3)
            .stderr(contains("error: --max-results is 0"));
    }
    run(&["glob"]).code(2);
    let data = checkout.json(&["glob", "sub/*"], 0);
    assert_eq!(data, json!({"files": ["sub/b.py"], "shown": 1, "total": 1}));
}

// R147: lines, names or counts; 1 where nothing was found, 3 for a mistake in the pattern.
#[test]
fn grep_prints_what_is_asked() {
    let checkout = checkout();
    let run = |args: &[&str]| checkout.toolbox(args).assert();
    run(&["grep", "TWO", "-i", "-B", "1", "a.py"])
        .code(0)
        .stdout("a.py\n1- one\n2: two\n\n1 match in 1 file\n");
    run(&["grep", "two", "-l", "--type", "py"])
        .code(0)
        .stdout("a.py\nsub/b.py\n");
    run(&["grep", "o", "--count", "-g", "!sub/**"])
        .code(0)
        .stdout("a.py:2\n");
    run(&["grep", "nosuch"])
        .code(1)
        .stdout(is_empty())
        .stderr(contains("no matches in 2 files").and(contains("add `--no-ignore`")));
    run(&["grep", "two("])
        .code(3)
        .stderr(contains("unclosed group").and(contains("add `-F`")));
    run(&["grep", "two", "-c", "-l"]).code(2);
    let data = checkout.json(&["grep", "two", "sub"], 0);
    assert_eq!(
        data["matches"],
        json!([{"file": "sub/b.py", "line": 1, "text": "two"}])
    );
}

// What stands in files steers no terminal, in names, lines and JSON; a pipe gets it as it is.
#[test]
fn files_do_not_steer_the_terminal() {
    let evil = "two \u{1b}]0;title\u{7}\u{9b}2J\u{202e}";
    let checkout = Checkout::new(&[("a\u{1b}[2J.txt", evil)]);
    let piped = checkout
        .toolbox(&["grep", "two"])
        .output()
        .expect("it runs");
    assert!(String::from_utf8_lossy(&piped.stdout).contains(evil));
    for args in [
        &["grep", "two"][..],
        &["grep", "two", "-l"],
        &["grep", "two", "--count"],
        &["grep", "two", "--json"],
        &["glob", "*.txt"],
        &["read", "a\u{1b}[2J.txt"],
    ] {
        let (code, screen) = at_terminal(&checkout, args);
        assert_eq!(code, Some(0), "{screen}");
        for steering in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}'] {
            assert!(!screen.contains(steering), "{args:?}: {screen:?}");
        }
    }
}

// Messages quote names and lines; they steer no terminal either.
#[test]
fn errors_do_not_steer_the_terminal() {
    let checkout = Checkout::new(&[]);
    for args in [["read", "a\u{1b}[2J"], ["grep", "two(\u{1b}[2J"]] {
        let (code, screen) = at_terminal(&checkout, &args);
        assert_eq!(code, Some(3), "{screen}");
        assert!(screen.contains("error: "), "{screen:?}");
        assert!(!screen.contains('\u{1b}'), "{screen:?}");
    }
}

/// Runs a command to its end at a terminal, without colour.
fn at_terminal(checkout: &Checkout, args: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.args(args).env("HOME", checkout.home());
    // A terminal that knows no control sequences gets no line of progress either.
    command.env("TERM", "dumb").current_dir(checkout.root());
    Terminal::start(&command).ends()
}
