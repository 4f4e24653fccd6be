//! What is there only by half: a first program that does not run, a server that lacks what it needs to know.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolbox::lsp::servers::{RootRule, ServerRow};
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake_row, fake_with};
use crate::support::peers;

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("writable");
}

/// A project of Rust with these programs called `rust-analyzer` in the folders of its `PATH`.
fn shims(programs: &[&str]) -> Project {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\nversion = \"0.1.0\"\n",
        ),
        ("a.rs", "fn f() {}\n"),
    ];
    let programs: Vec<String> = programs.iter().map(|&text| text.to_owned()).collect();
    Project::with_path(&files, move |work| {
        let base = work.parent().expect("a parent");
        let mut folders: Vec<PathBuf> = Vec::new();
        for (n, text) in programs.iter().enumerate() {
            let folder = base.join(format!("bin{n}"));
            script(&folder.join("rust-analyzer"), text);
            folders.push(folder);
        }
        PathBuf::from(std::env::join_paths(folders).expect("no colon"))
    })
}

/// What a shim without its component does.
const SHIM: &str = "echo \"error: Unknown binary 'rust-analyzer'\" >&2; exit 1";

/// A program that says its version, and otherwise is the scripted server.
fn whole(python: &Path) -> String {
    let row = fake_row(&json!({"capabilities": {"hoverProvider": true}}));
    let words = &row.commands[0];
    format!(
        "if [ \"$1\" = --version ]; then echo whole 7; exit 0; fi\nexec {} {} '{}'",
        python.display(),
        words[1],
        words[2]
    )
}

// R13, R14: a program that cannot run hides none behind it, and `status` says which was passed over and why.
#[test]
fn a_broken_first_program_does_not_hide_a_whole_second_one() {
    let Some(python) = peers::find("python3") else {
        return;
    };
    let project = shims(&[SHIM, &whole(&python)]);
    let status = || project.call(json!({"action": "status"})).expect("a status");
    let says_why = |text: &str| {
        assert!(text.contains("passed over: the binary "), "{text}");
        assert!(
            text.contains("bin0/rust-analyzer is there but cannot run: error: Unknown binary"),
            "{text}"
        );
    };
    let before = status();
    assert_eq!(
        before.data["servers"][0]["state"], "available",
        "{}",
        before.text
    );
    assert_eq!(
        before.data["servers"][0]["version"], "whole 7",
        "{}",
        before.text
    );
    let command = before.data["servers"][0]["command"]
        .as_str()
        .expect("a command");
    assert!(command.ends_with("bin1/rust-analyzer"), "{command}");
    says_why(&before.text);
    let server = project.server("a.rs");
    assert!(server.is_alive());
    let running = status();
    assert_eq!(
        running.data["servers"][0]["state"], "running",
        "{}",
        running.text
    );
    says_why(&running.text);
}

// R14: where none runs, each is named with its reason, and what to install.
#[test]
fn programs_that_all_fail_are_all_named() {
    let project = shims(&[SHIM, "echo 'error: other' >&2; exit 2"]);
    let args = json!({"action": "hover", "file": "a.rs", "line": 1, "symbol": "f"});
    let error = project.refuses(args, ErrorKind::Unavailable, "bin0/rust-analyzer");
    assert!(error.message().contains("bin1/rust-analyzer"), "{error}");
    assert!(
        error
            .message()
            .contains("rustup component add rust-analyzer"),
        "{error}"
    );
}

// R13: the same where a program is not asked for its version and falls over at its start; the one that the
// project brings along comes first.
#[test]
fn a_program_that_falls_over_at_its_start_is_passed_over() {
    let Some(python) = peers::find("python3") else {
        return;
    };
    let files = [("pyproject.toml", ""), ("a.py", "x = 1\n")];
    let project = Project::with_path(&files, |work| {
        let base = work.parent().expect("a parent");
        script(
            &work.join(".venv/bin/basedpyright-langserver"),
            "echo 'error: no module' >&2; exit 1",
        );
        script(&base.join("bin/basedpyright-langserver"), &whole(&python));
        base.join("bin")
    });
    let server = project.server("a.py");
    assert_eq!(server.id(), "basedpyright");
    let status = project.call(json!({"action": "status"})).expect("a status");
    assert!(status.text.contains("passed over: "), "{}", status.text);
    assert!(
        status
            .text
            .contains(".venv/bin/basedpyright-langserver: it ended before it answered: "),
        "{}",
        status.text
    );
}

const LOST: &str = "#include \"lost.h\"\nint f(void) {\n  return g();\n}\n";

// R14, D2: clangd without a compilation database is named as such, and a header that it does not find is not
// passed off as an error of the file; with a database it is one.
#[test]
fn clangd_that_guesses_the_flags_says_so() {
    if peers::find("clangd").is_none() {
        return;
    }
    let project = Project::new(&[(".git/HEAD", "ref: refs/heads/main\n"), ("a.c", LOST)]);
    let ask = || {
        let args = json!({"action": "diagnostics", "file": "a.c"});
        project.call(args).expect("an answer")
    };
    let guessed = "no compilation database and guesses the flags";
    let output = ask();
    assert!(
        output.text.contains("'lost.h' file not found"),
        "{}",
        output.text
    );
    assert!(
        output
            .text
            .contains("not known yet: whether these errors are real: clangd"),
        "{}",
        output.text
    );
    assert!(output.text.contains("compile_flags.txt"), "{}", output.text);
    let status = || {
        project
            .call(json!({"action": "status"}))
            .expect("a status")
            .text
    };
    assert!(status().contains(guessed), "{}", status());
    project.write("compile_flags.txt", "-I.\n");
    assert!(!ask().text.contains("not known yet"), "{}", ask().text);
    assert!(!status().contains(guessed), "{}", status());
    // What needs no header is sure without a database, too.
    fs::remove_file(project.path("compile_flags.txt")).expect("it is there");
    project.write("a.c", "int f(void) {\n  return nope;\n}\n");
    let output = ask();
    assert!(
        output.text.contains("undeclared_var_use"),
        "{}",
        output.text
    );
    assert!(!output.text.contains("not known yet"), "{}", output.text);
}

// R14, R22: a standard library that is missing is said with the next step, and again in brief as long as it is;
// what the project has is answered.
#[test]
fn a_missing_standard_library_is_told_and_the_rest_is_answered() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let code = "pub fn f() -> u32 {\n    1\n}\npub fn g() -> u32 { f() }\n";
    let files = [("Cargo.toml", manifest), ("src/lib.rs", code)];
    let project = Project::with(&files, |work, mut options| {
        let rows = toolbox::lsp::servers::built_in().into_iter();
        let mut row = rows
            .clone()
            .find(|row| row.id == "rust-analyzer")
            .expect("a row");
        row.init_options["cargo"]["sysrootSrc"] = json!(work.join("none"));
        row.settings = json!(null);
        options.rows.push(row);
        options
    });
    let ask = || {
        let args = json!({"action": "references", "file": "src/lib.rs", "line": 1, "symbol": "f"});
        project.call(args).expect("an answer")
    };
    let first = ask();
    assert_eq!(first.data["total"], 2, "{}", first.text);
    assert!(
        first.text.contains("`rustup component add rust-src`"),
        "{}",
        first.text
    );
    let second = ask();
    assert_eq!(second.data["total"], 2, "{}", second.text);
    assert!(
        second
            .text
            .contains("still does not have the sources of the standard library"),
        "{}",
        second.text
    );
    for _ in 0..2 {
        let status = project.call(json!({"action": "status"})).expect("a status");
        let health = status.data["servers"][0]["health"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(
            health.contains("rustup component add rust-src"),
            "{}",
            status.text
        );
    }
}

// D2: a compiler that cannot run has not said that anything is clean, and the answer says where to look.
#[test]
fn a_compiler_that_cannot_run_says_nothing_of_a_file() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::new(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("build.rs", "fn main() { panic!(\"no\"); }\n"),
    ]);
    let ask = || {
        let args = json!({"action": "diagnostics", "file": "src/lib.rs"});
        project.call(args).expect("an answer")
    };
    let output = ask();
    assert_eq!(output.data["state"], "unavailable", "{}", output.text);
    assert!(
        output
            .text
            .contains("the compiler did not come to look at it"),
        "{}",
        output.text
    );
    project.write("build.rs", "fn main() {}\n");
    let output = ask();
    assert_eq!(output.data["state"], "clean", "{}", output.text);
    // So it is where there is no project to check, until there is one again.
    project.write("Cargo.toml", "[package]\nname = \"demo\n");
    let output = ask();
    assert_eq!(output.data["state"], "unavailable", "{}", output.text);
    assert!(
        output
            .text
            .contains("Failed to load workspaces; `diagnostics` of"),
        "{}",
        output.text
    );
    project.write("Cargo.toml", manifest);
    let output = ask();
    assert_eq!(output.data["state"], "clean", "{}", output.text);
}

// R27: what the configuration leaves out is told where it would serve something, and nowhere else.
#[test]
fn disabled_rows_are_listed_where_they_would_serve_something() {
    let Some(project) = fake_with(json!({}), |_, mut options| {
        options.disabled = vec!["fake".to_owned(), "gopls".to_owned()];
        options
    }) else {
        return;
    };
    assert_eq!(project.listed("fake")["state"], "disabled");
    let status = project
        .call(json!({"action": "status"}))
        .expect("an answer");
    let line = "fake: disabled: the configuration leaves it out\n";
    assert!(status.text.contains(line), "{}", status.text);
    assert!(!status.text.contains("gopls"), "{}", status.text);
}

// R14: a row of the host that lacks a key is told which.
#[test]
fn a_row_without_markers_or_files_says_what_to_set() {
    let Some(project) = fake_with(json!({}), |row, mut options| {
        let unmarked = ServerRow {
            id: "unmarked".to_owned(),
            root: RootRule::Markers(Vec::new()),
            commands: vec![vec!["no-such-program".to_owned()]],
            ..row.clone()
        };
        let without_files = ServerRow {
            id: "without-files".to_owned(),
            files: Vec::new(),
            ..row.clone()
        };
        options.rows.extend([unmarked, without_files]);
        options
    }) else {
        return;
    };
    for (id, key) in [
        ("unmarked", "set `root_markers` of `lsp.server.unmarked`"),
        (
            "without-files",
            "set `languages` of `lsp.server.without-files`",
        ),
    ] {
        let row = project.listed(id);
        assert_eq!(row["state"], "unusable", "{row}");
        let reason = row["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(key), "{reason}");
    }
}
