//! What toolbox.toml says reaches the tools, and the background session has the configuration of its commands.

use std::fs;

use serde_json::{Value, json};

use super::background::{Background, SEARCH};
use super::driver::{Checkout, Driven};

fn configure(checkout: &Checkout, text: &str) {
    let folder = checkout.home().join(".config/toolbox");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("toolbox.toml"), text).expect("a file");
}

fn program(checkout: &Checkout, name: &str, script: &str) {
    let path = checkout.home().join(name);
    // By another process: what this one has open for writing, a fork of another test may hold as it starts.
    let mut shell = checkout.command("sh");
    shell.args([
        "-c",
        "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"",
    ]);
    let made = shell.arg(&path).arg(script).status();
    assert!(made.expect("it runs").success());
}

/// Runs a cell in a session and returns its answer.
fn cell(checkout: &Checkout, flags: &[&str], code: &str) -> Value {
    let mut session = checkout.toolbox(flags);
    session.args(["session", "--approve", "exec"]);
    let mut session = Driven::start(&mut session);
    let args = json!({"code": code, "description": "a cell of a test"});
    session.call(1, "eval", args);
    session.answer(1)
}

// D41: cells start through the enclosure's command, and one that does not run is an error that says so.
#[test]
fn cells_start_in_the_enclosure_with_the_named_interpreter() {
    let checkout = Checkout::new(&[]);
    program(
        &checkout,
        "box",
        "echo in >> \"$HOME/box.log\"; exec \"$@\"",
    );
    program(
        &checkout,
        "python",
        "echo python >> \"$HOME/box.log\"; exec python3 \"$@\"",
    );
    let home = checkout.home();
    let enclosure = home.join("box").display().to_string();
    let python = home.join("python").display().to_string();
    configure(
        &checkout,
        &format!("[eval]\npython = {}\nbudget_s = 0.5\n", json!(python)),
    );
    let answer = cell(&checkout, &["--enclosure", &enclosure], "6 * 7");
    assert_eq!(answer["data"]["result"], "42", "{answer}");
    let log = fs::read_to_string(home.join("box.log")).expect("both ran");
    assert_eq!(log, "in\npython\n");
    // The budget of the file interrupts a silent cell.
    let answer = cell(&checkout, &[], "import time\ntime.sleep(600)");
    assert_eq!(answer["data"]["status"], "interrupted", "{answer}");
    assert_eq!(answer["data"]["reason"], "inactivity");
    let answer = cell(&checkout, &["--enclosure", "no-such-box"], "1");
    assert_eq!(answer["error"]["kind"], "unavailable", "{answer}");
}

#[test]
fn the_artifacts_folder_is_the_configured_one() {
    let checkout = Checkout::new(&[("report.txt", "done\n")]);
    configure(&checkout, "[artifacts]\ndir = \"out\"\n");
    let mut deliver = checkout.toolbox(&["deliver-artifacts", "report.txt"]);
    let output = deliver.output().expect("it runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let copy = checkout.root().join("out/files/report.txt");
    assert_eq!(fs::read_to_string(copy).expect("it is there"), "done\n");
}

#[test]
fn a_configured_adapter_is_listed() {
    let checkout = Checkout::new(&[]);
    configure(
        &checkout,
        "[debug.adapter.mine]\ncommand = \"/bin/true\"\nextensions = [\"mine\"]\n",
    );
    let mut session = checkout.session(&["--approve", "exec"]);
    session.call(1, "debug", json!({"operation": "adapters"}));
    let answer = session.answer(1);
    let rows = answer["data"]["adapters"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["id"] == "mine"), "{answer}");
}

// A checker that is disabled is left out, and the answer does not read as clean.
#[test]
fn a_disabled_checker_is_said_to_be_left_out() {
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let checkout = Checkout::new(&[("Cargo.toml", manifest)]);
    configure(&checkout, "[lsp.checkers]\ndisabled = [\"cargo check\"]\n");
    let mut session = checkout.session(&[]);
    session.call(1, "lsp", json!({"action": "diagnostics", "file": "*"}));
    let answer = session.answer(1);
    assert_eq!(answer["data"]["state"], "unavailable", "{answer}");
    let text = answer["text"].as_str().unwrap_or_default();
    assert!(text.contains("the configuration disables it"), "{text}");
}

// The session has the flags of the command that starts it, and a command with others is told.
#[test]
fn the_background_session_has_the_configuration_of_its_commands() {
    let background = Background::new();
    let checkout = &background.0;
    let other = checkout.home().join("other.toml");
    fs::write(&other, "[session]\nidle_s = 77\n").expect("a file");
    let other = other.display().to_string();
    let search = |flags: &[&str]| {
        let mut command = checkout.toolbox(flags);
        command.args(["call", "ast_grep", SEARCH, "--background"]);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    assert_eq!(search(&["--config", &other]).0, Some(0));
    let mut status = checkout.toolbox(&["session", "status", "--json"]);
    let output = status.output().expect("it runs");
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status["idle_s"], 77, "the flag and the key are there");
    assert_eq!(search(&["--config", &other]), (Some(0), String::new()));
    for flags in [&[][..], &["--config", &other, "--enclosure", "box"]] {
        let (code, said) = search(flags);
        assert_eq!(code, Some(3));
        assert!(said.contains("another configuration"), "{said}");
        assert!(said.contains("toolbox session stop"), "{said}");
    }
    let mut stop = checkout.toolbox(&["session", "stop"]);
    assert!(stop.output().expect("it runs").status.success());
    let (code, said) = search(&[]);
    assert_eq!(code, Some(0), "{said}");
}

// What the file says of Read, Glob, Grep and Bash holds where a call says nothing, and the tools say so.
#[test]
fn defaults_of_the_file_hold_for_the_tools() {
    let checkout = Checkout::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "one\n")]);
    program(
        &checkout,
        "shell",
        "echo mine >> \"$HOME/log\"; exec sh \"$@\"",
    );
    let shell = checkout.home().join("shell").display().to_string();
    configure(
        &checkout,
        &format!(
            "read = {{ lines = 2, line_length = 4 }}\nglob.files = 1\ngrep.results = 1\n[bash]\nshell = {}\n\
             timeout_s = 1\nmax_timeout_s = 60\nenv = {{ WORD = \"here\" }}\n",
            json!(shell)
        ),
    );
    let mut session = checkout.session(&["--approve", "exec"]);
    session.call(1, "Read", json!({"path": "a.txt"}));
    let read = session.answer(1);
    assert_eq!(read["data"]["content"], "one\ntwo\n", "{read}");
    let more = json!({"path": "a.txt", "limit": 3, "line_chars": 9});
    session.call(2, "Read", more);
    assert_eq!(session.answer(2)["data"]["content"], "one\ntwo\nthree\n");
    for (id, tool, args) in [
        (3, "Glob", json!({"pattern": "*.txt"})),
        (4, "Grep", json!({"pattern": "one"})),
    ] {
        session.call(id, tool, args);
        let answer = session.answer(id);
        let numbers = (&answer["data"]["shown"], &answer["data"]["total"]);
        assert_eq!(numbers, (&json!(1), &json!(2)), "{answer}");
    }
    session.call(5, "Bash", json!({"command": "echo $WORD", "timeout": 60}));
    assert_eq!(session.answer(5)["data"]["output"], "here\n");
    let log = fs::read_to_string(checkout.home().join("log")).expect("it ran");
    assert!(log.starts_with("mine\n"), "{log}");
    session.call(6, "Bash", json!({"command": "sleep 600"}));
    assert_eq!(session.answer(6)["data"]["timed_out"], true);
    session.call(7, "Bash", json!({"command": "true", "timeout": 61}));
    let error = &session.answer(7)["error"];
    assert_eq!(error["kind"], "invalid_args", "{error}");
    session.send(json!({"list": "tools"}));
    let list = session.find("list", |line| line["tools"].is_array());
    let described = |name: &str| {
        let tools = list["tools"].as_array().expect("a list");
        let tool = tools.iter().find(|tool| tool["name"] == name);
        let text = tool.expect("it is there")["description"].as_str();
        text.expect("text").to_owned()
    };
    assert!(described("Read").contains("up to 2 lines of up to 4 characters"));
    assert!(described("Bash").contains("after 1 seconds, or after timeout (at most 60)"));
}

// D3: a veto of the file holds, and the answer says who vetoed.
#[test]
fn checkers_can_be_turned_off() {
    let checkout = Checkout::new(&[("Cargo.toml", "[package]\n")]);
    configure(&checkout, "lsp.checkers.enabled = false\n");
    let mut session = checkout.session(&[]);
    session.call(1, "lsp", json!({"action": "diagnostics", "file": "*"}));
    let answer = session.answer(1).to_string();
    assert!(
        answer.contains("`lsp.checkers.enabled` is false"),
        "{answer}"
    );
}

// R6, R9 to R11, D34: the tier of every tool, as the sources and the decisions have them.
#[test]
fn every_tool_has_its_tier() {
    let checkout = Checkout::new(&[]);
    let text = "[vibe.fast]\ncommand = [\"true\"]\n[web]\nsearch.searxng = \"http://localhost\"\n";
    configure(&checkout, text);
    let mut session = checkout.session(&["--vibe"]);
    session.send(json!({"list": "tools"}));
    let list = session.find("list", |line| line["tools"].is_array());
    let of = |tier: &str| {
        let tools = list["tools"].as_array().expect("a list").iter();
        let names = tools.filter(|tool| tool["tier"] == tier);
        let names: Vec<&str> = names.filter_map(|tool| tool["name"].as_str()).collect();
        names.join(" ")
    };
    assert_eq!(
        of("read"),
        "Glob Grep Read WebFetch WebSearch ask_user ast_grep lsp vibe_kill vibe_list vibe_send vibe_spawn \
         vibe_wait"
    );
    assert_eq!(
        of("write"),
        "DeliverArtifacts Edit Write apply_patch ast_edit lsp_rename resolve"
    );
    assert_eq!(of("exec"), "Bash debug eval");
}
