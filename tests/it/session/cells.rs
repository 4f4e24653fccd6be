//! The keys of `[eval]` and the enclosure, as a session with them runs cells.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::driver::{Checkout, Driven};
use crate::support::peers;

/// A checkout whose user has this configuration.
fn checkout(config: &str) -> Checkout {
    let checkout = Checkout::new(&[]);
    let folder = checkout.home().join(".config/toolbox");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("toolbox.toml"), config).expect("a file");
    checkout
}

fn session(checkout: &Checkout, flags: &[&str]) -> Driven {
    let mut command = checkout.toolbox(flags);
    command
        .args(["session", "--approve", "exec"])
        .env("PATH", peers::path());
    Driven::start(&mut command)
}

#[track_caller]
fn cell(session: &mut Driven, code: &str, language: &str) -> Value {
    let args = json!({"code": code, "description": "a cell", "language": language});
    session.call(1, "eval", args);
    session.answer(1)
}

/// Writes a program that sets a variable and becomes another.
fn wrapper(checkout: &Checkout, program: &Path) -> String {
    let path = checkout.home().join("wrapper");
    let text = format!("#!/bin/sh\nMARK=set exec {} \"$@\"\n", program.display());
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path.display().to_string()
}

// D23: `eval.budget_s` is the budget of a cell that names none.
#[test]
fn the_budget_of_the_configuration_holds() {
    if peers::find("python3").is_none() {
        return;
    }
    let checkout = checkout("eval.budget_s = 0.5\n");
    let mut session = session(&checkout, &[]);
    let data = cell(&mut session, "import time; time.sleep(600)", "python")["data"].clone();
    assert_eq!(
        (&data["status"], &data["reason"]),
        (&json!("interrupted"), &json!("inactivity"))
    );
}

// R98: `eval.python` and `eval.node` name the interpreters; one that is not there is an error that names it.
#[test]
fn the_interpreters_of_the_configuration_run_the_cells() {
    let (Some(python), Some(node)) = (peers::find("python3"), peers::find("node")) else {
        return;
    };
    for (key, language, program, code) in [
        ("python", "python", python, "import os; os.environ['MARK']"),
        ("node", "javascript", node, "process.env.MARK"),
    ] {
        let checkout = checkout("");
        let config = format!("eval.{key} = {:?}\n", wrapper(&checkout, &program));
        let file = checkout.home().join(".config/toolbox/toolbox.toml");
        fs::write(&file, config).expect("a file");
        let answer = cell(&mut session(&checkout, &[]), code, language);
        assert_eq!(answer["data"]["result"], "'set'", "{answer:#}");
        fs::write(&file, format!("eval.{key} = \"/nowhere/prog\"\n")).expect("a file");
        let answer = cell(&mut session(&checkout, &[]), "1", language);
        assert_eq!(answer["error"]["kind"], "unavailable", "{answer:#}");
        let message = answer["error"]["message"].as_str().expect("a text");
        assert!(message.contains("/nowhere/prog"), "{message}");
    }
}

// R113, D41: `enclosure` is the command in front of the interpreter; the flag wins over the file.
#[test]
fn cells_run_behind_the_enclosure_of_the_configuration() {
    if peers::find("python3").is_none() {
        return;
    }
    let checkout = checkout("enclosure = [\"env\", \"MARK=file\"]\n");
    let code = "import os; os.environ['MARK']";
    let answer = cell(&mut session(&checkout, &[]), code, "python");
    assert_eq!(answer["data"]["result"], "'file'", "{answer:#}");
    let flags = ["--enclosure", "env MARK=flag"];
    let answer = cell(&mut session(&checkout, &flags), code, "python");
    assert_eq!(answer["data"]["result"], "'flag'", "{answer:#}");
    let answer = cell(
        &mut session(&checkout, &["--enclosure", "false"]),
        "1",
        "python",
    );
    assert_eq!(answer["error"]["kind"], "unavailable", "{answer:#}");
}
