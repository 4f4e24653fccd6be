//! `toolbox eval` at a terminal: one interpreter for several commands, pictures as files, exit codes.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::support::peers;

/// A checkout whose background session ends with it.
struct Cells(Checkout);

impl Cells {
    fn new() -> Option<Self> {
        peers::find("python3")?;
        Some(Self(Checkout::new(&[
            ("analysis.py", "n = 40\nn + 2\n"),
            ("s.mjs", "[1].map(n => n + 1)"),
        ])))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.toolbox(args);
        command.env("PATH", peers::path());
        command
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        let _ = self.0.toolbox(&["session", "stop"]).output();
    }
}

// D40: at a terminal a cell needs no description.
#[test]
fn commands_share_one_interpreter() {
    let Some(cells) = Cells::new() else { return };
    cells
        .command(&["eval", "1 + 1"])
        .assert()
        .success()
        .stdout("Out[1]: 2\n");
    cells
        .command(&["eval", "--file", "analysis.py"])
        .assert()
        .success()
        .stdout("Out[2]: 42\n");
    cells
        .command(&["eval", "-"])
        .write_stdin("print(n)")
        .assert()
        .success()
        .stdout("40\n");
    cells
        .command(&["eval", "--reset", "'n' in globals()", "--json"])
        .assert()
        .success()
        .stdout(contains("\"result\": \"False\""));
}

// Exit code 3 is every status but ok.
#[test]
fn a_cell_that_does_not_end_well_exits_with_3() {
    let Some(cells) = Cells::new() else { return };
    cells
        .command(&["eval", "1/0"])
        .assert()
        .code(3)
        .stdout(contains("ZeroDivisionError"));
    cells
        .command(&["eval", "import sys; sys.exit(0)"])
        .assert()
        .code(3);
    cells
        .command(&["eval", "import os; os._exit(0)"])
        .assert()
        .code(3)
        .stdout(contains("died"));
    cells
        .command(&["call", "eval", r#"{"code": "1/0", "description": "fails"}"#])
        .assert()
        .code(3);
    cells
        .command(&["eval", "--budget", "0.5", "import time; time.sleep(60)"])
        .assert()
        .code(3)
        .stdout(contains("interrupted because it neither printed"));
    cells
        .command(&["eval", "--budget", "-1", "1"])
        .assert()
        .code(3);
    cells.command(&["eval"]).assert().code(2);
}

// D42: what a cell bridges to is approved up to the tier of --approve, by default read.
#[test]
fn a_cell_may_call_what_approve_says() {
    let Some(cells) = Cells::new() else { return };
    let code = "tool('Write', {'path': 'new.txt', 'content': 'x'})";
    cells
        .command(&["eval", code])
        .assert()
        .code(3)
        .stdout(contains("was not approved"));
    assert!(!cells.0.path("new.txt").exists());
    cells
        .command(&["eval", code, "--approve", "write"])
        .assert()
        .success();
    assert_eq!(cells.0.read("new.txt"), "x");
    // The tier of the call counts: what may write may not run a command.
    let command = "tool('bash', {'command': 'touch ran.txt'})";
    cells
        .command(&["eval", command, "--approve", "write"])
        .assert()
        .code(3)
        .stdout(contains("Bash was not approved"));
    assert!(!cells.0.path("ran.txt").exists());
    let code = "tool('ast_grep', {'pattern': 'n + 2', 'language': 'python'}).data['shown']";
    cells
        .command(&["eval", code])
        .assert()
        .success()
        .stdout(contains(": 1\n"));
}

// R108: a cell at a terminal reads through the bridge, which reaches the tools of the background session.
#[test]
fn a_cell_reads_through_the_bridge() {
    let Some(cells) = Cells::new() else { return };
    let code = "r = tool('read', {'path': 'analysis.py'})\nr.data['content'], r.data['total_lines'], 'n = 40' in r";
    cells
        .command(&["eval", code])
        .assert()
        .success()
        .stdout("Out[1]: ('n = 40\\nn + 2\\n', 2, True)\n");
    cells
        .command(&["eval", "tool('Read', {'path': '/etc/passwd'})"])
        .assert()
        .code(3)
        .stdout(contains("outside the workspace"));
}

// What is written beside an answer is kept for a while; files of others stay.
#[test]
fn old_figures_and_outputs_are_removed() {
    let Some(cells) = Cells::new() else { return };
    let display = "class P:\n    def _repr_png_(self): return b'\\x89PNG'\nP()";
    let assert = cells.command(&["eval", display]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let figure = std::path::PathBuf::from(text.lines().last().expect("a file"));
    let assert = cells
        .command(&["eval", "print('x' * 60000)", "--json"])
        .assert()
        .success();
    let data: serde_json::Value =
        serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    let output = std::path::PathBuf::from(data["output_file"].as_str().expect("a file"));
    // What cells print is for their user's eyes.
    for path in [&figure, &output] {
        let folder = path.parent().expect("a folder");
        let mode = folder.metadata().expect("it is there").permissions();
        assert_eq!(mode.mode() & 0o077, 0, "{}", folder.display());
    }
    let old = std::time::SystemTime::now() - 2 * toolbox::limits::OUTPUT_LIFETIME;
    let aged = |path: &std::path::Path, name: &str| {
        let path = path.with_file_name(name);
        let file = std::fs::File::create(&path).expect("a file");
        file.set_modified(old).expect("it is ours");
        path
    };
    let gone = [
        aged(&figure, "figure-old.png"),
        aged(&output, "output-old.txt"),
    ];
    let kept = [aged(&figure, "mine.png"), aged(&output, "mine.txt")];
    cells.command(&["eval", display]).assert().success();
    cells
        .command(&["eval", "print('y' * 60000)"])
        .assert()
        .success();
    for path in &gone {
        assert!(!path.exists(), "{}", path.display());
    }
    for path in kept.iter().chain([&figure, &output]) {
        assert!(path.exists(), "{}", path.display());
    }
}

#[test]
fn figures_are_written_and_named() {
    let Some(cells) = Cells::new() else { return };
    if peers::python_with("matplotlib").is_none() {
        return;
    }
    let code = "import matplotlib.pyplot as plt; plt.plot([1, 4, 9]);";
    let assert = cells.command(&["eval", code]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let file = text.lines().last().expect("a file");
    assert!(
        std::fs::read(file)
            .expect("it is there")
            .starts_with(b"\x89PNG"),
        "{text}"
    );
}

#[test]
fn the_language_follows_the_file() {
    let Some(cells) = Cells::new() else { return };
    if peers::find("node").is_none() {
        return;
    }
    cells
        .command(&["eval", "--file", "s.mjs"])
        .assert()
        .success()
        .stdout("Out[1]: [ 2 ]\n");
}
