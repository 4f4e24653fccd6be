//! `toolbox lsp` as a command: flags, text, JSON, exit codes.

use std::process::{Command, Output};

use serde_json::Value;

use crate::support::lsp::Project;
use crate::support::peers;

fn toolbox(project: &Project, args: &[&str]) -> Output {
    let home = project.work().parent().expect("a parent").join("home");
    let output = Command::new(env!("CARGO_BIN_EXE_toolbox"))
        .args(args)
        .current_dir(project.work())
        .env_clear()
        .env("PATH", peers::path())
        .env("HOME", &home)
        .env("XDG_STATE_HOME", home.join("state"))
        .output()
        .expect("it starts");
    // What a command left running in the background ends here.
    let _ = Command::new(env!("CARGO_BIN_EXE_toolbox"))
        .args(["session", "stop"])
        .current_dir(project.work())
        .env_clear()
        .env("PATH", peers::path())
        .env("HOME", &home)
        .env("XDG_STATE_HOME", home.join("state"))
        .output();
    output
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
