//! `toolbox glob` and `toolbox grep`.

use super::*;

fn checkout() -> Checkout {
    Checkout::new(&[
        ("a.py", "one\ntwo\n"),
        ("sub/b.py", "two\n"),
        ("out/c.py", "two\n"),
        (".gitignore", "out/\n"),
    ])
}

// R146: names alone on standard output, so that a pipe can take them; 1 where nothing was found.
#[test]
fn glob_prints_names() {
    let checkout = checkout();
    let run = |args: &[&str]| checkout.toolbox(args).assert();
    run(&["glob", "*.py", "--sort", "path"])
        .code(0)
        .stdout("a.py\nsub/b.py\n")
        .stderr(is_empty());
    run(&["glob", "*.py", "--sort", "path", "--max-results", "1"])
        .code(0)
        .stdout("a.py\n")
        .stderr("note: 1 of 2 files\n");
    run(&["glob", "*.py", "sub"]).code(0).stdout("sub/b.py\n");
    run(&["glob", "**/c.py"])
        .code(1)
        .stdout(is_empty())
        .stderr(contains(
            "1 ignored file matches: add `--no-ignore` to list them",
        ));
    run(&["glob", "**/c.py", "--no-ignore"]).code(0);
    run(&["glob", "["]).code(3).stderr(contains("bad glob"));
    // A pattern of thousands of characters is named and not repeated; a limit is named by its flag.
    let huge = "{a,".repeat(5_000);
    let assert = run(&["glob", &huge])
        .code(3)
        .stderr(contains("bad glob '{a,{a,"));
    assert!(assert.get_output().stderr.len() < 1_000);
    let huge = "(".repeat(5_000);
    let assert = run(&["grep", &huge])
        .code(3)
        .stderr(contains("bad pattern '(((("));
    assert!(assert.get_output().stderr.len() < 2_000);
    for command in ["glob", "grep"] {
        run(&[command, "x", "--max-results", "0"])
            .code(3)
            .stderr(contains("error: --max-results is 0"));
    }
    run(&["glob"]).code(2);
    let data = checkout.json(&["glob", "sub/*"], 0);
    assert_eq!(data, json!({"files": ["sub/b.py"], "shown": 1, "total": 1}));
}

// R147: lines, names or counts; 1 where nothing was found, 3 for a mistake in the pattern.
#[test]
fn grep_prints_what_is_asked() {
    let checkout = checkout();
    let run = |args: &[&str]| checkout.toolbox(args).assert();
    run(&["grep", "TWO", "-i", "-B", "1", "a.py"])
        .code(0)
        .stdout("a.py\n1- one\n2: two\n\n1 match in 1 file\n");
    run(&["grep", "two", "-l", "--type", "py"])
        .code(0)
        .stdout("a.py\nsub/b.py\n");
    run(&["grep", "o", "--count", "-g", "!sub/**"])
        .code(0)
        .stdout("a.py:2\n");
    run(&["grep", "nosuch"])
        .code(1)
        .stdout(is_empty())
        .stderr(contains("no matches in 2 files").and(contains("add `--no-ignore`")));
    run(&["grep", "two("])
        .code(3)
        .stderr(contains("unclosed group").and(contains("add `-F`")));
    run(&["grep", "two", "-c", "-l"]).code(2);
    let data = checkout.json(&["grep", "two", "sub"], 0);
    assert_eq!(
        data["matches"],
        json!([{"file": "sub/b.py", "line": 1, "text": "two"}])
    );
}
