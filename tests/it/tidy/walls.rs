//! The walls that look at one file.

use super::reader::{complain, imports};
use super::*;

/// A module imports its own and lower floors; engines stay apart from each other.
pub(super) fn floors(source: &Source<'_>) -> Vec<String> {
    let Some(own) = module(source.path) else {
        return Vec::new();
    };
    let Some(own_floor) = floor(own) else {
        return vec![format!(
            "the module {own} stands on no floor: name it in this test and in the crate docs"
        )];
    };
    let in_contract = own_floor == 2;
    imports(&source.code)
        .iter()
        .filter(|other| other.as_str() != own)
        .filter_map(|other| {
            let other_floor = floor(other)?;
            // Engines stay apart; and only a tool may know both an engine and the contract.
            let apart = (own_floor == 1 || in_contract) && other_floor == 1;
            (apart || other_floor > own_floor).then(|| format!("{own} imports {other}"))
        })
        .collect()
}

/// Only `src/child*` starts processes.
pub(super) fn processes(source: &Source<'_>) -> Vec<String> {
    if !source.path.starts_with("src/") || source.path.starts_with("src/child") {
        return Vec::new();
    }
    // The command may use the other `Command`, that of its argument parser.
    let words: &[&str] = match source.path.starts_with("src/bin/") {
        true => &["process::Command"],
        false => &["Command::new", "process::Command"],
    };
    complain(&source.shipped, words)
}

/// The library never prints.
pub(super) fn printing(source: &Source<'_>) -> Vec<String> {
    if module(source.path).is_none() && source.path != "src/lib.rs" {
        return Vec::new();
    }
    complain(
        &source.code,
        &[
            "println!",
            "eprintln!",
            "print!",
            "eprint!",
            "dbg!",
            "io::stdout()",
            "io::stderr()",
        ],
    )
}

/// The library reads neither the environment nor the home folder nor the current one.
pub(super) fn surroundings(source: &Source<'_>) -> Vec<String> {
    if module(source.path).is_none() && source.path != "src/lib.rs" {
        return Vec::new();
    }
    complain(
        &source.shipped,
        &[
            "std::env::",
            "env::var",
            "use std::env",
            "home_dir",
            "current_dir()",
            "current_exe()",
            "temp_dir()",
        ],
    )
}

/// Nothing waits a fixed time: there is an event to wait for, or there is none.
pub(super) fn sleeping(source: &Source<'_>) -> Vec<String> {
    complain(
        &source.code,
        &["thread::sleep", "sleep_ms", "use std::thread::sleep"],
    )
}

/// A file is one concern.
pub(super) fn size(source: &Source<'_>) -> Vec<String> {
    let n_lines = source.text.lines().count();
    let reason = format!("over {MAX_LINES} lines because");
    let head = source
        .text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .any(|line| line.contains(&reason));
    if n_lines <= MAX_LINES || head {
        return Vec::new();
    }
    vec![format!(
        "{n_lines} lines; split it, or say in its head comment that it is {reason} ..."
    )]
}

/// A file says first what it is for.
pub(super) fn head_comment(source: &Source<'_>) -> Vec<String> {
    let good = source
        .text
        .lines()
        .next()
        .is_some_and(|line| line.starts_with("//! ") && line.len() > 10);
    if good {
        Vec::new()
    } else {
        vec!["it opens with no `//!` comment".to_owned()]
    }
}

/// No input makes the library panic, so nothing in it is unwrapped; `expect` says why it holds.
pub(super) fn unwrapping(source: &Source<'_>) -> Vec<String> {
    if !source.path.starts_with("src/") {
        return Vec::new();
    }
    complain(&source.shipped, &[".unwrap()", ".unwrap_err()"])
}

fn look(wall: Wall, path: &str, text: &str) -> Vec<String> {
    wall(&Source::new(path, text))
}

#[track_caller]
fn check(wall: Wall, path: &str, good: &str, bad: &str) {
    assert_eq!(look(wall, path, good), [""; 0], "good");
    assert!(
        !look(wall, path, bad).is_empty(),
        "the wall does not see {bad}"
    );
}

#[test]
fn the_wall_of_floors_stands() {
    check(
        floors,
        "src/lsp/client.rs",
        "use crate::files::A;\nuse crate::lsp::B;",
        "use crate::tool::A;",
    );
    check(
        floors,
        "src/lsp/client.rs",
        "// crate::dap is another engine",
        "use crate::{dap, text};",
    );
    check(
        floors,
        "src/files.rs",
        "use crate::workspace::A;",
        "use crate::syntax::A;",
    );
    check(
        floors,
        "src/tool.rs",
        "use crate::cancel::A;",
        "use crate::syntax::A;",
    );
    check(
        floors,
        "src/run/lock.rs",
        "use crate::tool::A;",
        "use crate::tools::A;",
    );
    check(
        floors,
        "src/run/lock.rs",
        "",
        "fn f() { crate::kernel::x() }",
    );
    let both = "use crate::{syntax, tool};";
    assert_eq!(look(floors, "src/tools/grep.rs", both), [""; 0]);
    check(floors, "src/text.rs", "", "fn f() { crate::run::x() }");
    assert!(
        !look(floors, "src/novel.rs", "").is_empty(),
        "a module must be given a floor"
    );
    assert!(look(floors, "src/bin/toolbox/main.rs", "use crate::tool::A;").is_empty());
}

#[test]
fn the_wall_around_processes_stands() {
    let starts = "fn f() { std::process::Command::new(x); }";
    check(
        processes,
        "src/lsp/client.rs",
        "// Command::new is in child.rs",
        starts,
    );
    assert!(!look(processes, "src/bin/toolbox/main.rs", starts).is_empty());
    assert!(
        look(
            processes,
            "src/bin/toolbox/args.rs",
            "clap::Command::new(x)"
        )
        .is_empty()
    );
    assert!(look(processes, "src/child/watcher.rs", starts).is_empty());
    assert!(look(processes, "tests/it/child.rs", starts).is_empty());
}

#[test]
fn the_wall_against_printing_stands() {
    for bad in [
        "println!(\"x\");",
        "eprintln!();",
        "print!(\"\")",
        "dbg!(x)",
    ] {
        check(
            printing,
            "src/run.rs",
            "let x = \"println!\"; // dbg!(x)\nmy_println!();",
            bad,
        );
        assert!(look(printing, "src/bin/toolbox/main.rs", bad).is_empty());
    }
}

#[test]
fn the_wall_around_the_library_stands() {
    for bad in [
        "std::env::var(x)",
        "dirs::home_dir()",
        "std::env::current_dir()",
    ] {
        check(
            surroundings,
            "src/walk.rs",
            "command.current_dir(folder); env!(\"X\")",
            bad,
        );
        assert!(look(surroundings, "src/bin/toolbox/main.rs", bad).is_empty());
    }
}

#[test]
fn the_wall_against_sleeping_stands() {
    let bad = ["std::thread::", "sleep(x);"].concat();
    check(
        sleeping,
        "tests/it/run.rs",
        "run(\"sleep 600\"); thread::yield_now();",
        &bad,
    );
}

#[test]
fn the_wall_of_size_stands() {
    let lines = |n_lines: usize| format!("//! Head.\n{}", "x\n".repeat(n_lines - 1));
    check(size, "src/a.rs", &lines(600), &lines(601));
    let excused = lines(601).replace(
        "Head.",
        "It is over 600 lines because a table belongs together.",
    );
    assert!(look(size, "src/a.rs", &excused).is_empty());
    let late = lines(601) + "//! over 600 lines because it says so too late";
    assert!(!look(size, "src/a.rs", &late).is_empty());
}

#[test]
fn the_wall_of_head_comments_stands() {
    check(
        head_comment,
        "src/a.rs",
        "//! What it does.\n",
        "use x;\n//! Late.",
    );
    assert!(!look(head_comment, "src/a.rs", "").is_empty());
}

#[test]
fn the_wall_against_unwrapping_stands() {
    let tested = "x.unwrap_or(y);\n#[cfg(test)]\nmod tests { fn f() { x.unwrap(); } }";
    check(unwrapping, "src/a.rs", tested, "x.unwrap();");
    assert!(look(unwrapping, "src/a/tests.rs", "x.unwrap();").is_empty());
}
