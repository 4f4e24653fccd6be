//! How the answer of a search leaves the command.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use super::Checkout;

// A reader that goes away is no failure.
#[test]
fn a_broken_pipe_is_success() {
    let checkout = Checkout::new(&[(
        "a.js",
        &"f('a long line to fill the pipe')\n".repeat(20_000),
    )]);
    for more in [&[] as &[&str], &["--json"]] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_toolbox"))
            .args(["ast-grep", "f($A)", "a.js", "--max-results", "20000"])
            .args(more)
            .current_dir(checkout.root())
            .env_clear()
            .env("HOME", checkout.home())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{more:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

// R64, D15: matches that are printed as they are found make the object that the tool gives, in its order.
#[test]
fn matches_that_are_printed_one_by_one_are_those_of_the_tool() {
    let files: Vec<(String, String)> = (0..30)
        .map(|n| (format!("{n:02}.js"), format!("f({n})\nf('\u{e9}\"\\n')\n")))
        .collect();
    let files: Vec<(&str, &str)> = (files.iter())
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let checkout = Checkout::new(&files);
    for (pattern, max, code) in [
        ("f($A)", 100, 0),
        ("f($A)", 60, 0),
        ("f($A)", 59, 0),
        ("f($A)", 1, 0),
        ("f(7)", 5, 0),
        ("f($A, $B)", 5, 1),
    ] {
        let args = json!({"pattern": pattern, "language": "js", "max_results": max}).to_string();
        let of_tool = checkout.json(&["call", "ast_grep", &args], code);
        let max = max.to_string();
        let printed = ["ast-grep", pattern, "-l", "js", "--max-results", &max];
        assert_eq!(checkout.json(&printed, code), of_tool, "{pattern} {max}");
    }
    let lines = checkout
        .toolbox(&["ast-grep", "f($A)", "-l", "js", "--json"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&lines.stdout).into_owned();
    // The default cap, a line each.
    let n_lines = text
        .lines()
        .filter(|line| line.starts_with("    {\"file\":"))
        .count();
    assert_eq!(n_lines, 50, "{text}");
    // A pattern that is no code is an object with the error alone.
    let error = checkout.json(&["ast-grep", "f(", "-l", "js"], 3);
    assert_eq!(error["error"]["kind"], "unparseable", "{error}");
}

// A full disk behind the output is a failure that is said.
#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n")]);
    for more in [&[] as &[&str], &["--json"]] {
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("it is always there");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_toolbox"))
            .args(["ast-grep", "f($A)", "a.js"])
            .args(more)
            .current_dir(checkout.root())
            .env_clear()
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the output"));
    }
}
