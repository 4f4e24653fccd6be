//! `toolbox read`, `write`, `edit` and `apply-patch`.

use super::*;
use crate::support::terminal::Terminal;

// R143: numbered lines on standard output, what is said about them on standard error.
#[test]
fn read_shows_lines_and_says_what_is_missing() {
    let checkout = Checkout::new(&[("src/a.rs", "one\ntwo\nthree\n"), ("empty", "")]);
    checkout
        .toolbox(&["read", "src/a.rs"])
        .assert()
        .code(0)
        .stdout("     1\tone\n     2\ttwo\n     3\tthree\n")
        .stderr(is_empty());
    checkout
        .toolbox(&["read", "src/a.rs", "--offset", "2", "--limit", "1"])
        .assert()
        .code(0)
        .stdout("     2\ttwo\n")
        .stderr("note: lines 2 to 2 of 3; add --offset 3 to go on\n");
    checkout
        .toolbox(&["read", "empty"])
        .assert()
        .code(0)
        .stdout(is_empty())
        .stderr("note: the file is empty\n");
    let data = checkout.json(&["read", "src/a.rs"], 0);
    assert_eq!(
        (&data["file"], &data["content"], &data["total_lines"]),
        (&json!("src/a.rs"), &json!("one\ntwo\nthree\n"), &json!(3))
    );
    let error = &checkout.json(&["read", "src/b.rs"], 3)["error"];
    assert_eq!(error["kind"], "not_found");
    assert_eq!(error["hint"], "did you mean src/a.rs?");
}

// A path of the command line is relative to where the command runs.
#[test]
fn paths_are_relative_to_the_current_folder() {
    let checkout = Checkout::new(&[("sub/a", "1\n")]);
    let mut command = checkout.toolbox(&["write", "b", "--content", "x"]);
    command
        .current_dir(checkout.path("sub"))
        .assert()
        .code(0)
        .stdout("added sub/b\n");
    let mut command = checkout.toolbox(&["read", "a"]);
    command
        .current_dir(checkout.path("sub"))
        .assert()
        .code(0)
        .stdout("     1\t1\n");
}

// R144: content from a flag or from standard input, byte for byte.
#[test]
fn write_takes_content_from_a_flag_or_a_pipe() {
    let checkout = Checkout::new(&[]);
    checkout
        .toolbox(&["write", "a/b", "--content", "-x\n"])
        .assert()
        .code(0)
        .stdout("added a/b\n");
    assert_eq!(checkout.read("a/b"), "-x\n");
    checkout
        .toolbox(&["write", "a/b"])
        .write_stdin("piped\n")
        .assert()
        .code(0)
        .stdout(starts_with("modified a/b\n\n--- a/a/b\n").and(contains("-x\n+piped\n")));
    assert_eq!(checkout.read("a/b"), "piped\n");
    checkout
        .toolbox(&["write", "a/b"])
        .write_stdin(b"\xFF".to_vec())
        .assert()
        .code(2);
    let data = checkout.json(&["write", "a/b", "--content", "piped\n"], 0);
    assert_eq!(data["files"], json!([]));
}

// R145, D35: a command of its own reads the file as it starts.
#[test]
fn edit_needs_no_read_before() {
    let checkout = Checkout::new(&[("a", "f(1)\r\nf(2)\r\n")]);
    checkout
        .toolbox(&["edit", "a", "--old", "f(1)\nf", "--new", "-g\nh"])
        .assert()
        .code(0)
        .stdout(starts_with("modified a\n\n--- a/a\n"));
    assert_eq!(checkout.read("a"), "-g\r\nh(2)\r\n");
    let args = ["edit", "a", "--old", "\n", "--new", ""];
    let error = &checkout.json(&args, 3)["error"];
    assert_eq!(error["kind"], "invalid_args");
    checkout
        .toolbox(&args)
        .assert()
        .code(3)
        .stderr(contains("in 2 places: lines 1, 2").and(contains("or add `--replace-all`")));
    checkout
        .toolbox(&args)
        .arg("--replace-all")
        .assert()
        .code(0);
    assert_eq!(checkout.read("a"), "-gh(2)");
    // `call` is a command of its own too.
    let call = r#"{"path":"a","old_string":"-g","new_string":"k"}"#;
    checkout.toolbox(&["call", "edit", call]).assert().code(0);
    assert_eq!(checkout.read("a"), "kh(2)");
}

// A patch from standard input or a file; colour only where it is asked for.
#[test]
fn apply_patch_takes_a_pipe_or_a_file() {
    let patch =
        "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Add File: b\n+x\n*** End Patch\n";
    let checkout = Checkout::new(&[("a", "1\n"), ("p", patch)]);
    checkout
        .toolbox(&["apply-patch", "--color", "always"])
        .write_stdin(patch)
        .assert()
        .code(0)
        .stdout(starts_with("modified a\nadded b\n").and(contains("\x1b[32m+2\x1b[0m")));
    assert_eq!(
        (checkout.read("a"), checkout.read("b")),
        ("2\n".into(), "x\n".into())
    );
    let error = &checkout.json(&["apply-patch", "p"], 3)["error"];
    assert_eq!(error["kind"], "not_found");
    assert_eq!(checkout.read("a"), "2\n");
    checkout
        .toolbox(&["apply-patch", "nosuch"])
        .assert()
        .code(2);
}

// D35: a session is a run, and a file that it has not read is not edited.
#[test]
fn a_session_remembers_what_it_read() {
    let checkout = Checkout::new(&[("a", "1\n")]);
    let edit = r#"{"id":1,"tool":"Edit","args":{"path":"a","old_string":"1","new_string":"2"}}"#;
    checkout
        .toolbox(&["session", "--approve", "write"])
        .write_stdin(format!("{edit}\n"))
        .assert()
        .code(0)
        .stdout(contains(r#""kind":"stale""#).and(contains("was not read in this run")));
    assert_eq!(checkout.read("a"), "1\n");
}

// D12: without a state folder nothing is written, and what is said names the way out.
#[test]
fn a_missing_state_folder_is_named() {
    let checkout = Checkout::new(&[("a", "1\n")]);
    for args in [
        &["write", "a", "--content", "2"][..],
        &["edit", "a", "--old", "1", "--new", "2"],
    ] {
        let mut homeless = checkout.toolbox(args);
        let homeless = homeless.env_remove("HOME").env_remove("XDG_STATE_HOME");
        homeless.assert().code(2).stderr(contains("XDG_STATE_HOME"));
        let mut unusable = checkout.toolbox(args);
        let unusable = unusable.env("XDG_STATE_HOME", "/proc/nowhere");
        unusable
            .assert()
            .code(3)
            .stderr(contains("the state folder cannot be used"));
    }
    checkout
        .toolbox(&["read", "a"])
        .assert()
        .stdout("     1\t1\n");
}

// A file cannot steer the terminal on which it is read or changed; a pipe gets its bytes.
#[test]
fn control_characters_of_a_file_are_shown_at_a_terminal() {
    let checkout = Checkout::new(&[("evil", "a\x1b[2Jb\u{202e}c\n")]);
    for args in [
        &["read", "evil"][..],
        &["edit", "evil", "--old", "b", "--new", "\x1b]0;x\x07"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.args(args).current_dir(checkout.root());
        command.env("HOME", checkout.root()).env("NO_COLOR", "1");
        let (code, screen) = Terminal::start(&command).ends();
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("\\u{1b}[2J"), "{screen}");
        assert!(screen.contains("\\u{202e}c"), "{screen}");
        assert!(!screen.contains(['\x1b', '\x07', '\u{202e}']), "{screen}");
    }
    let read = checkout.toolbox(&["read", "evil"]).assert();
    read.stdout(contains("\x1b[2J"));
}
