//! `toolbox lsp` as a command: flags, text, JSON, exit codes.

use std::process::{Command, Output};

use serde_json::Value;

use crate::support::lsp::Project;
use crate::support::peers;

/// Runs a command; what it left running in the background ends here.
fn toolbox(project: &Project, args: &[&str]) -> Output {
    let output = toolbox_goes_on(project, args);
    toolbox_goes_on(project, &["session", "stop"]);
    output
}

fn toolbox_goes_on(project: &Project, args: &[&str]) -> Output {
    let home = project.work().parent().expect("a parent").join("home");
    Command::new(env!("CARGO_BIN_EXE_toolbox"))
        .args(args)
        .current_dir(project.work())
        .env_clear()
        .env("PATH", peers::path())
        .env("HOME", &home)
        .env("XDG_STATE_HOME", home.join("state"))
        .output()
        .expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_command_answers_and_its_exit_codes_tell() {
    if peers::find("clangd").is_none() {
        return;
    }
    let code = "int add(int a, int b) { return a + b; }\nint main(void) { return add(1, 2); }\n";
    let project = Project::new(&[("compile_flags.txt", ""), ("a.c", code)]);
    let output = toolbox(
        &project,
        &[
            "lsp",
            "definition",
            "--file",
            "a.c",
            "--line",
            "2",
            "--symbol",
            "add",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("a.c:1:5: int add("),
        "{}",
        text(&output.stdout)
    );

    let output = toolbox(
        &project,
        &[
            "lsp",
            "type-definition",
            "--file",
            "a.c",
            "--line",
            "2",
            "--symbol",
            "none",
            "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let error: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(error["error"]["kind"], "not_found", "{error}");

    let output = toolbox(
        &project,
        &["lsp", "symbols", "--file", "a.c", "--query", "zzz"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));

    let output = toolbox(&project, &["lsp", "status", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let status: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let servers = status["servers"].as_array().expect("a list");
    assert!(
        servers.iter().any(|server| server["id"] == "clangd"),
        "{status}"
    );
}

// D12: a command that accepts an edit asks the servers where a background session runs, and only there.
#[test]
fn an_accepted_edit_is_diagnosed_where_a_session_runs() {
    if peers::find("clangd").is_none() {
        return;
    }
    let code = "int f(int a) { return a; }\nint g(void) { return f(1) + f(2); }\n";
    let project = Project::new(&[("compile_flags.txt", ""), ("a.c", code)]);
    let ends = |project: &Project| drop(toolbox_goes_on(project, &["session", "stop"]));
    let edited = |from: &str, to: &str| {
        let staged = toolbox_goes_on(&project, &["ast-edit", from, to, "a.c"]);
        assert_eq!(staged.status.code(), Some(0), "{}", text(&staged.stderr));
        let accepted = toolbox_goes_on(&project, &["resolve", "accept"]);
        let said = text(&accepted.stderr);
        if accepted.status.code() != Some(0) {
            ends(&project);
        }
        assert_eq!(accepted.status.code(), Some(0), "{said}");
        text(&accepted.stdout)
    };
    assert_eq!(
        edited("f(1)", "f(nope)"),
        "(accepted) edit_1: 1 replacement in 1 file\na.c\n"
    );
    let look = ["lsp", "diagnostics", "--file", "a.c"];
    let found = text(&toolbox_goes_on(&project, &look).stdout);
    let told = edited("f(2)", "f(other)");
    ends(&project);
    assert!(found.contains("'nope'"), "{found}");
    assert!(
        told.starts_with("(accepted) edit_2: 1 replacement in 1 file\na.c\nnew diagnostics:\n"),
        "{told}"
    );
    assert!(
        told.contains("'other'") && !told.contains("'nope'"),
        "{told}"
    );
    assert_eq!(
        project.read("a.c"),
        Some(code.replace("f(1)", "f(nope)").replace("f(2)", "f(other)"))
    );
}

// A wrong command line ends with 2, before anything is started.
#[test]
fn an_action_that_is_none_is_a_wrong_command_line() {
    let project = Project::new(&[]);
    for (action, words) in [("frob", "type_definition"), ("rename", "lsp-rename")] {
        let output = toolbox_goes_on(&project, &["lsp", action]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = text(&output.stderr);
        assert!(error.contains(words), "{error}");
        assert!(!error.contains("background"), "{error}");
    }
}
