//! The README shows what the command really prints: every `console` block of it is run, in order, in a
//! copy of `testdata/demo`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// One command of the README and what it is shown to print.
#[derive(Debug, PartialEq, Eq)]
struct Example {
    command: String,
    shown: String,
}

/// Takes the `console` blocks out of a Markdown text.
fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push(Example {
                    command: command.to_owned(),
                    shown: String::new(),
                }),
                (None, Some(example)) => {
                    example.shown.push_str(line);
                    example.shown.push('\n');
                }
                (None, None) => panic!("output without a command: {line}"),
            },
        }
    }
    examples
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("a readable entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a readable file");
        }
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temp = tempfile::tempdir().expect("a folder");
    let checkout = temp.path().join("demo");
    copy(&root.join("testdata/demo"), &checkout);
    let bin = Path::new(env!("CARGO_BIN_EXE_toolbox"));
    let bin = bin.parent().expect("it lies in a folder");
    let examples = examples(&fs::read_to_string(root.join("README.md")).expect("the README"));
    assert!(examples.len() >= 6, "{} examples", examples.len());
    let mut wrong = String::new();
    for example in &examples {
        let output = Command::new("/bin/sh")
            .args(["-c", &example.command])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", temp.path())
            .current_dir(&checkout)
            .output()
            .expect("a shell");
        let printed = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        if printed != example.shown {
            wrong.push_str(&format!("$ {}\n{printed}", example.command));
        }
    }
    assert!(
        wrong.is_empty(),
        "the README differs from what is printed:\n{wrong}"
    );
}

// D9: the table names every language of the build, and no other.
#[test]
fn the_readme_lists_the_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("README.md")).expect("the README");
    let (_, rest) = text.split_once("\n## Languages\n").expect("the heading");
    let (table, _) = rest.split_once("\n## ").expect("another heading");
    let listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let built: Vec<&str> = toolbox::syntax::languages::ALL
        .iter()
        .map(|row| row.id)
        .collect();
    if cfg!(feature = "all-languages") {
        assert_eq!(listed, built);
    } else {
        assert!(built.iter().all(|id| listed.contains(id)), "{built:?}");
    }
}

// The reader of the README must not be blind.
#[test]
fn examples_are_read() {
    let text = "```sh\n$ no\n```\n```console\n$ a b\nc\n\n$ d\n```\nend\n";
    let example = |command: &str, shown: &str| Example {
        command: command.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(examples(text), [example("a b", "c\n\n"), example("d", "")]);
}
