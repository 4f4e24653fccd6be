//! `toolbox ast-grep`.

use std::os::unix::fs::PermissionsExt;

use super::*;

const GUARDS: &str =
    "void f() {\n  if (a != null) a.dispose();\n  if (b != null) a.dispose();\n}\n";

// Exit code 0 and the text answer: grouped by file, numbered lines, one sentence at the end.
#[test]
fn the_main_job() {
    let checkout = Checkout::new(&[("lib/a.dart", GUARDS)]);
    checkout
        .toolbox(&["ast-grep", "if ($X != null) $X.dispose()", "-l", "dart"])
        .assert()
        .code(0)
        .stdout(
            "lib/a.dart\n2:  if (a != null) a.dispose();\n\n\
             1 match as statement (if_statement) in 1 file of 1 searched\n",
        )
        .stderr(is_empty());
}

// Exit code 1: nothing found is an answer, on standard output.
#[test]
fn no_match_is_exit_code_one() {
    let checkout = Checkout::new(&[("lib/a.dart", GUARDS)]);
    checkout
        .toolbox(&["ast-grep", "nosuch($X)", "-l", "dart"])
        .assert()
        .code(1)
        .stdout(starts_with("0 matches as statement"))
        .stderr(is_empty());
    let data = checkout.json(&["ast-grep", "nosuch($X)", "-l", "dart"], 1);
    assert_eq!(data["matches"], json!([]));
}

// Exit code 2: the command line itself is wrong, and nothing is on standard output.
#[test]
fn a_wrong_command_line_is_exit_code_two() {
    let checkout = Checkout::new(&[]);
    for args in [
        &["ast-grep"][..],
        &["ast-grep", "f($A)", "--max-results", "many"],
        &["ast-grep", "f($A)", "--nosuch"],
        &["ast-grep", "--explain", "f($A)"],
        &["nosuch"],
        &[],
        &["-C", "nosuch", "tools"],
        &["tools", "-q", "-v"],
        &["resolve"],
        &["resolve", "edit_1", "apply"],
        &["resolve", "accept", "discard"],
        &["resolve", "edit_1", "accept", "edit_2"],
        &["-C", "3", "ast-grep", "f($A)"],
        &["ast-grep", "f($A)", "-l", "js", "--context", "3"],
        &[
            "ast-grep",
            "f($A)",
            "-l",
            "js",
            "-c",
            "--files-with-matches",
        ],
        &["ast-grep", "f($A)", "-l", "js", "--max-lines", "few"],
        &["ast-edit", "f($A)"],
    ] {
        checkout
            .toolbox(args)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(is_empty().not());
    }
}

// Exit code 3: every error of the tool, with its next step; with --json as one object.
#[test]
fn an_error_of_the_tool_is_exit_code_three() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n")]);
    for (args, kind, words) in [
        (&["", "-l", "js"][..], "invalid_args", "empty"),
        (&["$X", "-l", "js"], "invalid_args", "bare metavariable"),
        (&["$$$", "-l", "js"], "invalid_args", "bare metavariable"),
        (&["if ((", "-l", "js"], "unparseable", "if (("),
        (&["f($A)", "-l", "klingon"], "invalid_args", "klingon"),
        (
            &["f($A)", "-l", "js", "--context", "method"],
            "invalid_args",
            "method",
        ),
        (&["f($A)"], "invalid_args", "javascript (1)"),
        (&["f($A)", "nosuch.js"], "not_found", "nosuch.js"),
        (
            &["f($A)", "/etc", "-l", "js"],
            "invalid_args",
            "outside the workspace",
        ),
        (&["f($A)", "-l", "js", "-g", "a{b"], "invalid_args", "a{b"),
        (
            &["f($A)", "-l", "js", "--max-results", "0"],
            "invalid_args",
            "results is 0",
        ),
        (&["while ($A", "-l", "js"], "unparseable", "while ($A"),
    ] {
        let args = [&["ast-grep"], args].concat();
        checkout
            .toolbox(&args)
            .assert()
            .code(3)
            .stdout(is_empty())
            .stderr(
                starts_with("error: ")
                    .and(contains(words))
                    .and(contains("\nhint: ")),
            );
        let error = &checkout.json(&args, 3)["error"];
        assert_eq!(error["kind"], kind, "{args:?}");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|text| text.contains(words))
        );
        assert!(error["hint"].is_string(), "{args:?}");
    }
}

// The JSON keys are a promise.
#[test]
fn the_json_has_the_promised_keys() {
    let checkout = Checkout::new(&[("a.js", "f(1, 2)\n")]);
    let data = checkout.json(&["ast-grep", "f($X, $$$REST)", "a.js"], 0);
    assert_eq!(
        data,
        json!({
            "language": "javascript", "context": "statement", "kind": "call_expression",
            "files_searched": 1, "files_skipped": [], "shown": 1, "truncated": false, "hint": null,
            "matches": [{
                "file": "a.js", "line": 1, "column": 1, "end_line": 1, "end_column": 8,
                "start_byte": 0, "end_byte": 7, "text": "f(1, 2)",
                "captures": {"X": "1"}, "runs": {"REST": "2"},
            }],
        })
    );
}

// Paths on the command line are relative to the current folder and shown relative to the workspace.
#[test]
fn paths_are_relative_to_the_current_folder() {
    let checkout = Checkout::new(&[("sub/a.js", "f(1)\n"), ("b.js", "f(1)\n")]);
    let in_sub = |args: &[&str]| {
        let mut command = checkout.toolbox(args);
        command.current_dir(checkout.path("sub"));
        command.assert().code(0)
    };
    in_sub(&["ast-grep", "f($A)", "a.js"]).stdout(starts_with("sub/a.js\n1:f(1)\n"));
    in_sub(&["ast-grep", "f($A)", "../b.js"]).stdout(starts_with("b.js\n"));
    // Without a path the whole enclosing checkout is searched.
    in_sub(&["ast-grep", "f($A)", "-l", "js"]).stdout(contains("in 2 files of 2"));
    in_sub(&["-C", ".", "ast-grep", "f($A)", "-l", "js"]).stdout(starts_with("a.js\n"));
}

// A pattern may begin with a dash or a dollar.
#[test]
fn patterns_may_look_like_flags() {
    let checkout = Checkout::new(&[("a.js", "x = -a; y = b == c;\n")]);
    let run = |args: &[&str]| checkout.toolbox(args).assert().code(0);
    run(&["ast-grep", "-l", "js", "--", "-$X"]).stdout(contains("1 match "));
    run(&["ast-grep", "$X == $Y", "-l", "js"]).stdout(contains("1 match "));
    run(&["ast-edit", "-l", "js", "--", "-$X", "--$X"]).stdout(starts_with("(proposed)"));
}

#[test]
fn flags_reach_the_tool() {
    let checkout = Checkout::new(&[
        ("a.js", "1\nf(1)\nf(2)\n4\n"),
        ("b_test.js", "f(3)\n"),
        (".hidden/c.js", "f(4)\n"),
        (".gitignore", "out\n"),
        ("out/d.js", "f(5)\n"),
    ]);
    let shown = |more: &[&str]| {
        let args = [&["ast-grep", "f($A)", "-l", "javascript"], more].concat();
        checkout.json(&args, 0)["shown"].clone()
    };
    assert_eq!(shown(&[]), 3);
    assert_eq!(shown(&["--hidden"]), 4);
    assert_eq!(shown(&["--no-ignore"]), 4);
    assert_eq!(shown(&["-g", "!*_test.js"]), 2);
    assert_eq!(shown(&["--max-results", "1"]), 1);
    assert_eq!(shown(&["--context", "expression"]), 3);
    assert_eq!(shown(&["a.js", "b_test.js"]), 3);
    checkout
        .toolbox(&["ast-grep", "f(1)", "a.js", "-U", "1"])
        .assert()
        .stdout(starts_with("a.js\n1-1\n2:f(1)\n3-f(2)\n"));
}

// Colour only where it is asked for when the output is no terminal.
#[test]
fn colour_is_for_terminals() {
    let checkout = Checkout::new(&[("a.js", "x = f(1)\n")]);
    let args = ["ast-grep", "f($A)", "a.js"];
    let escape = || contains("\x1b[");
    checkout.toolbox(&args).assert().stdout(escape().not());
    let painted = checkout.toolbox(&args).args(["--color", "always"]).assert();
    painted.stdout(starts_with(
        "\x1b[35ma.js\x1b[0m\n\x1b[32m1\x1b[0m:x = \x1b[1;31mf(1)\x1b[0m\n",
    ));
    checkout
        .toolbox(&args)
        .args(["--color", "never"])
        .assert()
        .stdout(escape().not());
    let json = checkout
        .toolbox(&args)
        .args(["--color", "always", "--json"])
        .assert();
    json.stdout(escape().not());
}

// D15: the number of threads changes nothing, also where the search stops early.
#[test]
fn results_do_not_depend_on_threads() {
    let checkout = Checkout::new(&[]);
    for n in 0..60 {
        let text = format!("f({n});\n").repeat(n % 5);
        checkout.write(&format!("{}/{n}.js", n % 7), &text);
    }
    let outputs: Vec<Vec<u8>> = ["1", "2", "8"]
        .iter()
        .flat_map(|threads| {
            [("17", threads), ("1000", threads)].map(|(max, threads)| {
                let args = [
                    "ast-grep",
                    "f($A)",
                    "-l",
                    "js",
                    "--json",
                    "--max-results",
                    max,
                ];
                let mut command = checkout.toolbox(&args);
                let assert = command.env("RAYON_NUM_THREADS", threads).assert().code(0);
                assert.get_output().stdout.clone()
            })
        })
        .collect();
    assert!(!outputs[0].is_empty() && outputs[0] != outputs[1]);
    for pair in outputs.chunks(2) {
        assert_eq!(pair, &outputs[..2]);
    }
}

// D15: a folder that cannot be read is named. Mode bits bind no root, so another user runs it there.
#[test]
fn an_unreadable_folder_is_named() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n"), ("closed/b.js", "f(1)\n")]);
    let mode = |path: PathBuf, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    mode(checkout.path("closed"), 0o000);
    let mut command = if rustix::process::geteuid().is_root() {
        // The build folder may be closed to others.
        let copy = checkout.0.path().join("toolbox");
        fs::copy(env!("CARGO_BIN_EXE_toolbox"), &copy).expect("room for a copy");
        mode(checkout.0.path().to_path_buf(), 0o755);
        mode(copy.clone(), 0o755);
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(copy);
        command.env_clear().current_dir(checkout.root());
        command
    } else {
        checkout.toolbox(&[])
    };
    if rustix::process::geteuid().is_root()
        && Command::new("setpriv").arg("--version").ok().is_err()
    {
        eprintln!("skipped: setpriv missing");
        return;
    }
    let assert = command
        .args(["ast-grep", "f($A)", "-l", "js", "--json"])
        .assert()
        .code(0);
    let data: Value = serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    mode(checkout.path("closed"), 0o755);
    assert_eq!(data["shown"], 1);
    assert_eq!(data["files_skipped"][0]["file"], "closed");
    let reason = data["files_skipped"][0]["reason"].as_str().expect("a text");
    assert!(reason.contains("ermission"), "{reason}");
}

// `--explain` prints the verdict of each of the ten rungs and the tree with its captures.
#[test]
fn a_pattern_is_explained() {
    let checkout = Checkout::new(&[]);
    let args = [
        "ast-grep",
        "--explain",
        "if ($X != null) $X.dispose()",
        "-l",
        "dart",
    ];
    let assert = checkout.toolbox(&args).assert().code(0);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(text.contains("statement: if_statement"), "{text}");
    assert!(text.contains("$X (one node"), "{text}");
    let data = checkout.json(&args, 0);
    assert_eq!(data["rungs"].as_array().map(Vec::len), Some(10));
    assert_eq!(data["context"], "statement");
    let refused = checkout.json(&["ast-grep", "--explain", "if ((", "-l", "dart"], 0);
    assert_eq!(refused["context"], Value::Null);
    checkout
        .toolbox(&["ast-grep", "--explain", "", "-l", "dart"])
        .assert()
        .code(3);
}

// A person types flags: no message names an argument of the tool, and the JSON does.
#[test]
fn messages_speak_of_flags() {
    let checkout = Checkout::new(&[("a.py", "f(1)\nf(2)\n")]);
    let error = |args: &[&str], words: &str| {
        let assert = checkout.toolbox(args).assert().code(3);
        assert.stderr(contains(words));
    };
    error(
        &["ast-grep", "f($A)"],
        "hint: only python here: add `-l python`",
    );
    error(
        &["ast-grep", "f($A)", "a.py", "--max-results", "0"],
        "error: --max-results is 0",
    );
    let raw = checkout.json(&["ast-grep", "f($A)"], 3);
    assert_eq!(
        raw["error"]["hint"],
        "only python here: pass language \"python\""
    );
    checkout
        .toolbox(&["ast-grep", "f($A)", "a.py", "--max-results", "1"])
        .assert()
        .stdout(contains("raise --max-results"));
    checkout
        .toolbox(&[
            "call",
            "ast_grep",
            r#"{"pattern":"f($A)","language":"py","max_results":1}"#,
        ])
        .assert()
        .stdout(contains("raise max_results"));
    let number = |args: &[&str]| checkout.toolbox(args).assert().code(2);
    number(&["-C", "3", "ast-grep", "f($A)"]).stderr(contains("lines of context: -U 3"));
    number(&["ast-grep", "f($A)", "a.py", "--context", "3"])
        .stderr(contains("lines of context: -U 3"));
}

// R56: the terminal gets the rung that got furthest and what is wrong; the tool a short list.
#[test]
fn unparseable_patterns_are_told_in_short() {
    let checkout = Checkout::new(&[("a.py", "if a:\n    f()\n")]);
    let told = |pattern: &str, words: &str| {
        let args = ["ast-grep", pattern, "-l", "py"];
        let assert = checkout.toolbox(&args).assert().code(3).stdout(is_empty());
        let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(text.contains(words), "{pattern}: {text}");
        assert_eq!(text.lines().count(), 2, "{text}");
        let error = checkout.json(&args, 3)["error"].clone();
        assert_eq!(error["kind"], "unparseable");
        let message = error["message"].as_str().expect("a text");
        assert!(message.chars().count() <= 300, "{message}");
    };
    told("f($A, (", "the `(` is not closed");
    told("f(.*", "looks like a regular expression");
    told("f(..., ", "`...` is no wildcard");
    told("f($x, )(", "a metavariable is written $X");
    told(
        "else: $$$B",
        "as match arm: it would be read as else_clause",
    );
    // A header without its body is an error before any file is read.
    for pattern in ["if $C:", "try:", "def f($$$A):"] {
        told(pattern, &format!("write the body too: `{pattern} $$$BODY`"));
    }
    let complete = ["ast-grep", "if $C: $$$BODY", "-l", "py"];
    checkout.toolbox(&complete).assert().code(0);
    // Where a colon ends a whole fragment it is one.
    checkout.write("a.js", "switch (a) { case 1: }\n");
    checkout
        .toolbox(&["ast-grep", "case $A:", "-l", "js"])
        .assert()
        .code(0);
}

// D14: an answer without a match says what is there and what the pattern looks like.
#[test]
fn no_match_is_explained() {
    let checkout = Checkout::new(&[("a.ts", "f('a', b)\n"), ("b.ts", "")]);
    let said = |pattern: &str, language: &str, words: &str| {
        let args = ["ast-grep", pattern, "-l", language];
        checkout
            .toolbox(&args)
            .assert()
            .code(1)
            .stdout(contains(words));
    };
    said(
        "f($A)",
        "python",
        "\n0 files of python here; found: typescript (2)\n",
    );
    said("f(\"a\", b)", "ts", "does not match 'a'");
    checkout.write("a.py", "f(1)\n");
    said("f(...)", "py", "a run of siblings is written $$$");
    said("f(_, b)", "ts", "any one node is written $_");
    checkout.write(
        "c.dart",
        "class C {\n  @x\n  f() {}\n}\nclass D {\n  @x\n  f() {}\n}\n",
    );
    let args = ["ast-grep", "f() {}", "-l", "dart", "--context", "member"];
    checkout.toolbox(&args).assert().code(1).stdout(contains(
        "which the pattern does not mention (the first: c.dart:2)",
    ));
    fs::remove_file(checkout.path("c.dart")).expect("it was written");
    // What the first line says is not said again.
    checkout.write("d.dart", "class C { void g() {} }\n");
    checkout
        .toolbox(&["ast-grep", "void g() { $$$B }", "-l", "dart"])
        .assert()
        .code(1)
        .stdout(
            contains("\n1 as class member (method_declaration): add `--context \"class member\"`")
                .and(contains("as statement;").not()),
        );
}

// D38: a sequence is told as one, with all its kinds.
#[test]
fn a_sequence_is_told() {
    let checkout = Checkout::new(&[("a.js", "lock(); f(); unlock();\n")]);
    let args = ["ast-grep", "lock(); $$$B; unlock();", "-l", "js"];
    checkout.toolbox(&args).assert().code(0).stdout(contains(
        "1 match as a sequence of 3 statements (expression_statement, $$$B, expression_statement) in 1 file",
    ));
    let data = checkout.json(&args, 0);
    assert_eq!(
        (&data["kind"], data["kinds"].as_array().map(Vec::len)),
        (&json!("expression_statement"), Some(3))
    );
}

#[test]
fn counts_file_names_and_short_matches() {
    let checkout = Checkout::new(&[
        ("a.js", "f(\n1,\n2)\nf(3)\n"),
        ("b.js", &"f(1)\n".repeat(60)),
    ]);
    let with = |more: &[&str]| {
        let args = [&["ast-grep", "f($$$A)", "-l", "js"], more].concat();
        checkout.toolbox(&args).assert().code(0)
    };
    // All are counted, not only those that would be listed.
    with(&["-c"]).stdout(starts_with("a.js:2\nb.js:60\n62 matches as statement"));
    with(&["--count", "--max-results", "5"])
        .stdout(starts_with("a.js:2\nb.js:3\nfirst 5 matches").and(contains("more exist")));
    with(&["--files-with-matches"]).stdout("a.js\nb.js\n");
    with(&["--files-with-matches", "--max-results", "1"])
        .stdout("a.js\n")
        .stderr(contains("files may be missing"));
    with(&["a.js", "--max-lines", "1"]).stdout(starts_with(
        "a.js\n1:f(\n  … 2 lines more\n4:f(3)\n\n2 matches",
    ));
    let args = ["ast-grep", "f($$$A)", "-l", "js"];
    let counted = checkout.json(&[&args[..], &["-c"]].concat(), 0);
    assert_eq!(counted["count"], 62);
    assert_eq!(counted["files"], json!({"a.js": 2, "b.js": 60}));
    let named = checkout.json(&[&args[..], &["--files-with-matches"]].concat(), 0);
    assert_eq!(
        named,
        json!({"files": ["a.js", "b.js"], "truncated": false})
    );
    let none = ["ast-grep", "nosuch($A)", "-l", "js", "--files-with-matches"];
    checkout
        .toolbox(&none)
        .assert()
        .code(1)
        .stdout(is_empty())
        .stderr(contains("0 matches"));
}

// The tool's own name is understood too.
#[test]
fn the_names_of_the_tools_are_commands() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n")]);
    checkout
        .toolbox(&["ast_grep", "f($A)", "a.js"])
        .assert()
        .code(0);
    checkout
        .toolbox(&["ast_edit", "f($A)", "g($A)", "a.js"])
        .assert()
        .code(0);
}

// D14: where a fragment means something else on a later rung too, few matches are told with that.
#[test]
fn other_readings_of_few_matches_are_named() {
    let checkout = Checkout::new(&[("a.ts", "interface P { a: any }\nfunction f(b: any) {}\n")]);
    checkout
        .toolbox(&["ast-grep", "$A: any", "-l", "ts"])
        .assert()
        .code(0)
        .stdout(
            contains("1 match as class member (property_signature)").and(contains(
                "\nit also reads as type, parameter, object member; `--context` searches one of these\n",
            )),
        );
    let silent = |args: &[&str]| checkout.json(args, 0)["hint"].clone();
    let member = ["ast-grep", "$A: any", "-l", "ts", "--context", "member"];
    assert_eq!(silent(&member), Value::Null);
    assert_eq!(
        silent(&["ast-grep", "any", "-l", "ts", "--context", "type"]),
        Value::Null
    );
}
