//! `ast_grep`: what it finds, how it is told where to look, and how it counts.

use super::*;

const GUARDS: &str = "void f() {
  if (controller != null) controller.dispose();
  if (timer != null) controller.dispose();
  print(\"if (a != null) a.dispose()\"); // if (a != null) a.dispose()
}
";

// R43, R47, R53: shape, not text; a repeated metavariable captures the same text twice.
#[test]
fn the_guard_that_disposes_what_it_tests_is_found() {
    let bench = Bench::new(&[("lib/a.dart", GUARDS)]);
    let output = bench
        .call(
            "ast_grep",
            json!({"pattern": "if ($X != null) $X.dispose()", "language": "dart"}),
        )
        .expect("the search runs");
    let data = &output.data;
    assert_eq!(data["shown"], 1);
    let found = &data["matches"][0];
    assert_eq!(
        (&found["file"], &found["line"], &found["column"]),
        (&json!("lib/a.dart"), &json!(2), &json!(3))
    );
    assert_eq!(found["captures"], json!({"X": "controller"}));
    let start = found["start_byte"].as_u64().expect("a number") as usize;
    let end = found["end_byte"].as_u64().expect("a number") as usize;
    assert_eq!(found["text"], GUARDS[start..end]);
    assert_eq!(
        (&data["truncated"], &data["context"]),
        (&json!(false), &json!("statement"))
    );
    assert!(
        output.text.starts_with("lib/a.dart\n2:  if (controller"),
        "{}",
        output.text
    );
    assert!(
        output.text.contains("1 match as statement"),
        "{}",
        output.text
    );
}

// R44 to R46: one node, a run, a wildcard that binds nothing.
#[test]
fn metavariables_bind_as_they_should() {
    let bench = Bench::new(&[("a.js", "f(a, b); f(); f(c, /* n */ d);\n")]);
    let args = |pattern: &str| json!({"pattern": pattern, "path": "a.js"});
    let wild = bench.grep(args("f($_, $_)"));
    assert_eq!(
        (&wild["shown"], &wild["matches"][0]["captures"]),
        (&json!(2), &json!({}))
    );
    let run = bench.grep(args("f($$$ARGS)"));
    assert_eq!(run["matches"][0]["runs"], json!({"ARGS": "a, b"}));
    assert_eq!(run["matches"][1]["runs"], json!({"ARGS": ""}));
    assert_eq!(run["shown"], 3);
}

// R52: spacing, wrapping and comments do not matter.
#[test]
fn layout_and_comments_do_not_matter() {
    let source = "void f() {\n  dispose( x );\n  dispose(\n    x\n  );\n  dispose(/*c*/ x);\n  dispose(y);\n}\n";
    let bench = Bench::new(&[("a.dart", source)]);
    assert_eq!(
        bench.grep(json!({"pattern": "dispose(x)", "path": "a.dart"}))["shown"],
        3
    );
}

// R49: a file, a folder, a list of both, or the whole workspace.
#[test]
fn the_path_narrows_the_search() {
    let bench = Bench::new(&[
        ("a.py", "go(1)\n"),
        ("sub/b.py", "go(2)\n"),
        ("sub/deep/c.py", "go(3)\n"),
    ]);
    let shown = |path: Value| {
        let mut args = json!({"pattern": "go($A)", "language": "python"});
        if !path.is_null() {
            args["path"] = path;
        }
        bench.grep(args)["shown"].clone()
    };
    assert_eq!(shown(Value::Null), 3);
    assert_eq!(shown(json!("sub")), 2);
    assert_eq!(shown(json!("./sub/../sub/deep")), 1);
    assert_eq!(shown(json!(["a.py", "sub/deep"])), 2);
    assert_eq!(shown(json!(bench.path("a.py"))), 1);
    bench.refuses(
        "ast_grep",
        json!({"pattern": "go($A)", "path": 7}),
        ErrorKind::InvalidArgs,
        "path",
    );
}

// R50, D9: inferred from a file; required for a folder, where the error says what is there.
#[test]
fn the_language_is_inferred_from_a_file_only() {
    let bench = Bench::new(&[
        ("a.py", "go(1)\n"),
        ("b.py", "go(1)\n"),
        ("c.rs", "fn f() { go(1) }\n"),
        ("run", "#!/usr/bin/env python3\ngo(1)\n"),
        ("notes.txt", "go(1)\n"),
    ]);
    let infer = |path: Value| json!({"pattern": "go($A)", "path": path});
    assert_eq!(bench.grep(infer(json!("a.py")))["language"], "python");
    assert_eq!(bench.grep(infer(json!("run")))["language"], "python");
    assert_eq!(bench.grep(infer(json!(["a.py", "b.py"])))["shown"], 2);
    for path in [json!("."), json!(["a.py", "c.rs"]), json!("notes.txt")] {
        bench.refuses(
            "ast_grep",
            infer(path),
            ErrorKind::InvalidArgs,
            "no language",
        );
    }
    let error = bench.refuses(
        "ast_grep",
        json!({"pattern": "go($A)"}),
        ErrorKind::InvalidArgs,
        "python (2), rust (1)",
    );
    assert!(
        error.hint().expect("checked").contains("language"),
        "{error}"
    );
    let alias = json!({"pattern": "go($A)", "language": "py", "path": "b.py"});
    assert_eq!(bench.grep(alias)["language"], "python");
}

// R51, D15: fifty by default; the cap is told only when there is more.
#[test]
fn the_cap_is_exact_at_n_and_one_more() {
    let lines = |n: usize| "go(1)\n".repeat(n);
    let bench = Bench::new(&[("fifty.py", &lines(50)), ("more.py", &lines(51))]);
    let grep = |path: &str| bench.grep(json!({"pattern": "go($A)", "path": path}));
    let counts = |data: &Value| (data["shown"].clone(), data["truncated"].clone());
    assert_eq!(counts(&grep("fifty.py")), (json!(50), json!(false)));
    assert_eq!(counts(&grep("more.py")), (json!(50), json!(true)));
    let raised = bench.grep(json!({"pattern": "go($A)", "path": "more.py", "max_results": 51}));
    assert_eq!(counts(&raised), (json!(51), json!(false)));
    let output = bench
        .call(
            "ast_grep",
            json!({"pattern": "go($A)", "language": "python", "max_results": 50}),
        )
        .expect("the search runs");
    assert_eq!(
        counts(&output.data),
        (json!(50), json!(true)),
        "a later file has more"
    );
    assert!(output.text.contains("more exist"), "{}", output.text);
    bench.refuses(
        "ast_grep",
        json!({"pattern": "go($A)", "path": "more.py", "max_results": 0}),
        ErrorKind::InvalidArgs,
        "max_results",
    );
}

// D15: by path, then position.
#[test]
fn matches_come_in_order() {
    let files: Vec<(String, String)> = (0..40)
        .map(|n| {
            (
                format!("{:02}/{n}.py", 40 - n),
                "go(1)\ngo(go(2))\n".to_owned(),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let bench = Bench::new(&files);
    let data = bench.grep(json!({"pattern": "go($A)", "language": "python", "max_results": 1000}));
    let places: Vec<(String, u64)> = data["matches"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|m| {
            let file = m["file"].as_str().expect("a name").to_owned();
            (file, m["start_byte"].as_u64().expect("a number"))
        })
        .collect();
    let mut sorted = places.clone();
    sorted.sort();
    assert_eq!(places, sorted);
    assert_eq!(places.len(), 120);
}

// R55, D14: the rung is chosen by the ladder, named on request and printed; no match says what was tried.
#[test]
fn the_context_picks_a_rung() {
    let bench = Bench::new(&[("a.dart", "class A {\n  int f() => 1;\n}\n")]);
    let args =
        |context: &str| json!({"pattern": "int $F() => 1;", "path": "a.dart", "context": context});
    for name in ["class member", "member", "class_member"] {
        let data = bench.grep(args(name));
        assert_eq!(
            (&data["shown"], &data["context"]),
            (&json!(1), &json!("class member"))
        );
    }
    bench.refuses(
        "ast_grep",
        args("method"),
        ErrorKind::InvalidArgs,
        "class member",
    );
    let none = bench
        .call(
            "ast_grep",
            json!({"pattern": "nosuch($A)", "path": "a.dart"}),
        )
        .expect("no match is no error");
    assert_eq!(none.data["matches"], json!([]));
    assert!(
        none.text.starts_with("0 matches as statement"),
        "{}",
        none.text
    );
}

// D15 and the ignore rules: hidden and ignored files are left out unless asked for or named; globs narrow.
#[test]
fn ignored_and_hidden_files_are_left_out() {
    let bench = Bench::new(&[
        (".gitignore", "out/\n"),
        (".git/HEAD", ""),
        ("a.py", "go(1)\n"),
        ("a_test.py", "go(1)\n"),
        (".hidden/b.py", "go(1)\n"),
        ("out/c.py", "go(1)\n"),
    ]);
    let shown = |more: Value| {
        let mut args = json!({"pattern": "go($A)", "language": "python"});
        for (name, value) in more.as_object().expect("an object") {
            args[name] = value.clone();
        }
        bench.grep(args)["shown"].clone()
    };
    assert_eq!(shown(json!({})), 2);
    assert_eq!(shown(json!({"hidden": true})), 3);
    assert_eq!(shown(json!({"no_ignore": true})), 3);
    assert_eq!(shown(json!({"path": "out/c.py"})), 1);
    assert_eq!(shown(json!({"globs": ["!*_test.py"]})), 1);
    assert_eq!(shown(json!({"globs": ["*_test.py"]})), 1);
    bench.refuses(
        "ast_grep",
        json!({"pattern": "go($A)", "language": "python", "globs": ["a{b"]}),
        ErrorKind::InvalidArgs,
        "a{b",
    );
}

#[test]
fn context_lines_are_shown_and_bounded() {
    let bench = Bench::new(&[("a.py", "one\ntwo\ngo(1)\nfour\nfive\n")]);
    let args = |n: usize| json!({"pattern": "go($A)", "path": "a.py", "context_lines": n});
    let output = bench.call("ast_grep", args(1)).expect("the search runs");
    assert!(
        output.text.starts_with("a.py\n2-two\n3:go(1)\n4-four\n\n"),
        "{}",
        output.text
    );
    bench
        .call("ast_grep", args(50))
        .expect("the limit itself is allowed");
    bench.refuses(
        "ast_grep",
        args(51),
        ErrorKind::InvalidArgs,
        "context_lines",
    );
}

#[test]
fn a_cancelled_search_says_so() {
    let bench = Bench::new(&[("a.py", "go(1)\n")]);
    let cancel = toolbox::cancel::Cancel::new();
    cancel.cancel();
    let error = bench
        .run
        .dispatch(
            "ast_grep",
            json!({"pattern": "go($A)", "path": "a.py"}),
            CallOptions::new().with_cancel(cancel),
        )
        .expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

// D8, D15: a candidate that would take for ever is given up, counted and named.
#[test]
fn candidates_that_are_given_up_are_said() {
    let list: Vec<String> = (0..400).map(|i| format!("a{i}")).collect();
    let source = format!("f({});\nf(p, q, p, q);\n", list.join(", "));
    let bench = Bench::new(&[("a.js", &source)]);
    let hard = "f($$$A, $X, $$$B, $Y, $$$C, $X, $$$D, $Y, $$$E)";
    let args = |pattern: &str| json!({"pattern": pattern, "path": "a.js"});
    let answer = bench.call("ast_grep", args(hard)).expect("the search runs");
    let counted = (&answer.data["shown"], &answer.data["given_up"]);
    assert_eq!(counted, (&json!(1), &json!(1)));
    let words = "1 candidate was given up after 4000000 steps";
    assert!(answer.text.contains(words), "{}", answer.text);
    let mut edit = args(hard);
    edit["rewrite"] = json!("g($X, $Y)");
    let answer = bench.call("ast_edit", edit).expect("it is staged");
    assert!(answer.text.contains(words), "{}", answer.text);
    let answer = bench.call("ast_grep", args("f($$$A, $X, $$$B)"));
    let answer = answer.expect("the search runs");
    assert_eq!(
        (&answer.data["shown"], answer.data.get("given_up")),
        (&json!(2), None)
    );
}

// D14: a hint that looked at a part of the files says so.
#[test]
fn a_hint_from_some_of_the_files_says_so() {
    let source = format!("near(a, [{}]);\n", "1, ".repeat(25_000));
    let bench = Bench::new(&[("a.js", &source), ("b.js", &source)]);
    let hint = |path: &str| {
        let data = bench.grep(json!({"pattern": "near($A)", "language": "js", "path": path}));
        assert_eq!(data["shown"], 0);
        data["hint"].as_str().unwrap_or_default().to_owned()
    };
    let words = "looked at the first 1 of the 2 files that hold the pattern's words";
    assert!(hint(".").contains(words), "{}", hint("."));
    assert!(!hint("a.js").contains("looked at"), "{}", hint("a.js"));
}
