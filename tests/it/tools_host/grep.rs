//! `Grep`: what it finds, how it is told where to look, and what it says it left out.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn matches(data: &Value) -> Vec<(String, u64, String)> {
    let rows = data["matches"].as_array().expect("a list");
    let row = |row: &Value| {
        let file = row["file"].as_str().expect("a name").to_owned();
        let text = row["text"].as_str().expect("a text").to_owned();
        (file, row["line"].as_u64().expect("a line"), text)
    };
    rows.iter().map(row).collect()
}

#[track_caller]
fn check(bench: &Bench, mut args: Value, lines: &[(&str, u64, &str)]) {
    args["output_mode"] = json!("content");
    let found = matches(&bench.answer("Grep", args.clone()).data);
    let found: Vec<_> = found
        .iter()
        .map(|(file, line, text)| (file.as_str(), *line, text.as_str()))
        .collect();
    assert_eq!(found, lines, "{args}");
}

fn tree() -> Bench {
    let bench = Bench::new(&[
        ("a.py", "one = 1\ntwo = 2\nONE = 11\n"),
        ("b.rs", "let one = 1;\n"),
        ("sub/c.py", "someone\n"),
        (".hidden/d.py", "one\n"),
        ("build/e.py", "one\n"),
        (".gitignore", "build/\n"),
    ]);
    fs::create_dir(bench.place.work().join(".git")).expect("a folder");
    bench
}

// R147: files by default, lines, counts; sorted by path.
#[test]
fn three_modes_answer_by_path() {
    let bench = tree();
    let files = bench.answer("Grep", json!({"pattern": "one"}));
    assert_eq!(strings(&files.data["files"]), ["a.py", "b.rs", "sub/c.py"]);
    assert_eq!(files.data["matches"], json!([]));
    assert_eq!(files.text, "a.py\nb.rs\nsub/c.py\n\n3 files with matches");
    let count = bench.answer("Grep", json!({"pattern": "[oO]", "output_mode": "count"}));
    assert_eq!(
        count.data["counts"],
        json!([
            {"file": "a.py", "count": 3}, {"file": "b.rs", "count": 1}, {"file": "sub/c.py", "count": 1}
        ])
    );
    assert!(count.text.starts_with("a.py:3\nb.rs:1\n"), "{}", count.text);
    let content = bench.answer("Grep", json!({"pattern": "one", "output_mode": "content"}));
    assert_eq!(
        content.text,
        "a.py\n1: one = 1\n\nb.rs\n1: let one = 1;\n\nsub/c.py\n1: someone\n\n3 matches in 3 files"
    );
    let shown = (&content.data["shown"], &content.data["total"]);
    assert_eq!(shown, (&json!(3), &json!(3)));
    assert_eq!(
        strings(&content.data["files"]),
        ["a.py", "b.rs", "sub/c.py"]
    );
}

// R147: case, words, plain text, types, globs, paths.
#[test]
fn the_search_is_narrowed() {
    let bench = tree();
    let a = [("a.py", 1, "one = 1"), ("a.py", 3, "ONE = 11")];
    check(&bench, json!({"pattern": "ONE", "path": "a.py"}), &a[1..]);
    for flag in ["ignore_case", "-i"] {
        check(
            &bench,
            json!({"pattern": "ONE", "path": "a.py", flag: true}),
            &a,
        );
    }
    check(
        &bench,
        json!({"pattern": "one", "word": true, "type": "py"}),
        &a[..1],
    );
    check(&bench, json!({"pattern": "1$", "glob": "*.py"}), &a);
    check(
        &bench,
        json!({"pattern": "one", "glob": ["*.py", "!a.py"]}),
        &[("sub/c.py", 1, "someone")],
    );
    check(
        &bench,
        json!({"pattern": "one", "path": ["sub", "sub/c.py"]}),
        &[("sub/c.py", 1, "someone")],
    );
    check(
        &bench,
        json!({"pattern": "= 1;", "fixed": true, "type": ["rust", "py"]}),
        &[("b.rs", 1, "let one = 1;")],
    );
    check(&bench, json!({"pattern": "o.e", "fixed": true}), &[]);
}

// R147: hidden and ignored files are left out, unless they are asked for or named.
#[test]
fn hidden_and_ignored_files_are_searched_on_request() {
    let bench = tree();
    let files = |args: Value| strings(&bench.answer("Grep", args).data["files"]).join(" ");
    assert_eq!(files(json!({"pattern": "^one$"})), "");
    assert_eq!(
        files(json!({"pattern": "^one$", "hidden": true})),
        ".hidden/d.py"
    );
    assert_eq!(
        files(json!({"pattern": "^one$", "no_ignore": true})),
        "build/e.py"
    );
    assert_eq!(
        files(json!({"pattern": "^one$", "path": "build/e.py"})),
        "build/e.py"
    );
    assert_eq!(
        files(json!({"pattern": "^one$", "path": ".hidden"})),
        ".hidden/d.py"
    );
}

// R147: an empty answer says what was not searched.
#[test]
fn an_empty_answer_says_what_was_skipped() {
    let bench = tree();
    bench.place.write("tool.bin", b"^one\0$");
    let output = bench.answer("Grep", json!({"pattern": "^one$"}));
    assert_eq!(
        output.text,
        "no matches in 4 files\n1 ignored file was not searched: pass no_ignore; 2 hidden files were not \
         searched: pass hidden; 1 binary file was skipped: name one as path to search it"
    );
    let all = json!({"pattern": "nosuch", "hidden": true, "no_ignore": true, "type": "py"});
    assert!(bench.answer("Grep", all).data["hint"].is_null());
    let nothing = json!({"pattern": "x", "glob": "*.zig", "hidden": true, "no_ignore": true});
    let hint = bench.answer("Grep", nothing).data["hint"].clone();
    assert_eq!(
        hint,
        "no file is there to search: check path, glob and type"
    );
}

// R147: a mistake in the pattern is an error that shows the place, never "nothing found".
#[test]
fn a_bad_pattern_is_an_error_with_its_place() {
    let bench = tree();
    let refuses =
        |args: Value, words: &str| bench.refuses("Grep", args, ErrorKind::InvalidArgs, words);
    let error = refuses(json!({"pattern": "one("}), "unclosed group");
    assert!(
        error.message().contains("one(") && error.message().contains('^'),
        "{error}"
    );
    refuses(json!({"pattern": r"a(?=b)"}), "look-around");
    refuses(json!({"pattern": r"a\nb"}), "line end");
    refuses(json!({"pattern": ""}), "empty");
    refuses(json!({"pattern": "x".repeat(20_000)}), "the limit is 16384");
    refuses(json!({"pattern": "x", "head_limit": 0}), "head_limit is 0");
    refuses(
        json!({"pattern": "x", "before": 51}),
        "before is 51 lines; the limit is 50",
    );
    bench.answer("Grep", json!({"pattern": "x", "before": 50}));
    let error = refuses(
        json!({"pattern": "x", "type": "rs"}),
        "unknown file type 'rs'",
    );
    assert!(
        error.hint().is_some_and(|hint| hint.contains("rust")),
        "{error:?}"
    );
    refuses(json!({"pattern": "x", "glob": "[a"}), "bad glob '[a'");
    refuses(
        json!({"pattern": "x", "output_mode": "lines"}),
        "output_mode",
    );
    refuses(
        json!({"pattern": "x", "path": "/etc"}),
        "outside the workspace",
    );
    bench.refuses(
        "Grep",
        json!({"pattern": "x", "path": "nosuch"}),
        ErrorKind::NotFound,
        "nosuch",
    );
}

// R147: lines around a match, each once, with gaps marked.
#[test]
fn context_lines_are_shown_once() {
    let bench = Bench::new(&[("n.txt", "1\nx2\n3\nx4\n5\n6\n7\n8\nx9\n10\n")]);
    let output = bench.answer(
        "Grep",
        json!({"pattern": "x", "output_mode": "content", "-C": 1}),
    );
    assert_eq!(
        output.text,
        "n.txt\n1- 1\n2: x2\n3- 3\n4: x4\n5- 5\n--\n8- 8\n9: x9\n10- 10\n\n3 matches in 1 file"
    );
    assert_eq!(output.data["matches"][0]["before"], json!(["1"]));
    assert_eq!(output.data["matches"][0]["after"], json!(["3"]));
    assert!(output.data["matches"][1]["before"].is_null());
    let after = bench.answer(
        "Grep",
        json!({"pattern": "x9", "output_mode": "content", "-A": 5}),
    );
    assert_eq!(after.text, "n.txt\n9: x9\n10- 10\n\n1 match in 1 file");
    let before = bench.answer(
        "Grep",
        json!({"pattern": "x", "output_mode": "content", "-B": 1, "head_limit": 2}),
    );
    assert_eq!(
        before.text,
        "n.txt\n1- 1\n2: x2\n3- 3\n4: x4\n\n2 of 3 matches in 1 file"
    );
}

// R147: across lines only on request.
#[test]
fn a_match_spans_lines_on_request() {
    let bench = Bench::new(&[("a.txt", "begin\r\n mid\r\nend\r\nrest\r\n")]);
    check(&bench, json!({"pattern": "begin.*end"}), &[]);
    check(
        &bench,
        json!({"pattern": "begin.*end", "multiline": true}),
        &[("a.txt", 1, "begin\r\n mid\r\nend")],
    );
    check(
        &bench,
        json!({"pattern": r"mid\r?\nend", "multiline": true}),
        &[("a.txt", 2, " mid\r\nend")],
    );
    check(
        &bench,
        json!({"pattern": "^rest$"}),
        &[("a.txt", 4, "rest")],
    );
}

// R147: the cap is stated at n and one more, in every mode, and takes the first by path.
#[test]
fn the_cap_is_exact() {
    let place = Place::new();
    for n in 0..101 {
        place.write(&format!("{n:03}.txt"), "x\n");
    }
    place.write("more.log", "y\n".repeat(101));
    let bench = Bench::over(place);
    let shown = |args: Value| {
        let data = bench.answer("Grep", args).data;
        (data["shown"].clone(), data["total"].clone())
    };
    for mode in ["files_with_matches", "content", "count"] {
        let args = json!({"pattern": "x", "output_mode": mode});
        assert_eq!(shown(args), (json!(100), json!(101)), "{mode}");
        let args = json!({"pattern": "x", "output_mode": mode, "head_limit": 101});
        assert_eq!(shown(args), (json!(101), json!(101)), "{mode}");
        let args = json!({"pattern": "x", "output_mode": mode, "head_limit": 2});
        let data = bench.answer("Grep", args).data;
        assert_eq!(strings(&data["files"]), ["000.txt", "001.txt"], "{mode}");
    }
    let many = json!({"pattern": "y", "output_mode": "content"});
    assert_eq!(shown(many), (json!(100), json!(101)));
    let text = bench.answer("Grep", json!({"pattern": "x"})).text;
    assert!(text.ends_with("\n100 of 101 files with matches"), "{text}");
}

// R147: UTF-16 with its mark is text, other bytes too, and NUL makes a file binary unless it is named.
#[test]
fn encodings_and_binary_files() {
    let place = Place::new();
    let utf16: Vec<u8> = "naïve needle\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    place.write("le.txt", [b"\xFF\xFE".as_slice(), &utf16].concat());
    let utf16: Vec<u8> = "needle\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    place.write("be.txt", [b"\xFE\xFF".as_slice(), &utf16].concat());
    place.write("latin.txt", b"caf\xE9 needle\n");
    place.write("bom.txt", "\u{FEFF}needle\n");
    place.write("image.png", b"needle\n\x89PNG\0needle\n");
    place.write(
        "late.txt",
        ["needle\n".repeat(20_000).as_bytes(), b"\0needle\n"].concat(),
    );
    let bench = Bench::over(place);
    let output = bench.answer("Grep", json!({"pattern": "needle", "output_mode": "count"}));
    assert_eq!(
        strings(&output.data["files"]),
        ["be.txt", "bom.txt", "late.txt", "latin.txt", "le.txt"]
    );
    assert_eq!(output.data["binary"], 1);
    assert!(
        output
            .text
            .contains("late.txt: not text from byte 140000 on"),
        "{}",
        output.text
    );
    check(
        &bench,
        json!({"pattern": "naïve", "path": "le.txt"}),
        &[("le.txt", 1, "naïve needle")],
    );
    check(
        &bench,
        json!({"pattern": "^needle", "path": "bom.txt"}),
        &[("bom.txt", 1, "needle")],
    );
    check(
        &bench,
        json!({"pattern": "needle", "path": "latin.txt"}),
        &[("latin.txt", 1, "caf\u{FFFD} needle")],
    );
    let named = bench.answer("Grep", json!({"pattern": "needle", "path": "image.png"}));
    assert_eq!(named.data["total"], 1);
}

// R147: what cannot be read is said.
#[test]
fn an_unreadable_file_is_named() {
    let bench = Bench::new(&[("a.txt", "x\n"), ("b.txt", "x\n")]);
    let secret = bench.place.work().join("b.txt");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("the mode is set");
    if fs::File::open(&secret).is_ok() {
        println!("skipped: permissions do not bind this user");
        return;
    }
    let output = bench.answer("Grep", json!({"pattern": "x"}));
    assert_eq!(output.data["total"], 1);
    assert!(
        output.text.contains("\nb.txt: Permission denied"),
        "{}",
        output.text
    );
}
