//! What must not break a search: bad patterns, bad files, bad trees.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

fn grep_args(pattern: &str) -> Value {
    json!({"pattern": pattern, "language": "javascript"})
}

fn skipped(data: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    data["files_skipped"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skipped| (text(&skipped["file"]), text(&skipped["reason"])))
        .collect()
}

// R56, D38: a pattern that cannot be searched is an error that says what to do.
#[test]
fn patterns_that_say_nothing_are_refused() {
    let bench = Bench::new(&[("a.js", "f(1)\n")]);
    for tool in ["ast_grep", "ast_edit"] {
        let refuses = |pattern: &str, kind: ErrorKind, words: &str| {
            let mut args = grep_args(pattern);
            if tool == "ast_edit" {
                args["rewrite"] = json!("x");
            }
            bench.refuses(tool, args, kind, words);
        };
        for empty in ["", "  ", "\n\t"] {
            refuses(empty, ErrorKind::InvalidArgs, "empty");
        }
        for bare in ["$X", "$$$", "$$$ARGS", "$_", " $X ", "$X;"] {
            refuses(bare, ErrorKind::InvalidArgs, "bare metavariable");
        }
        refuses("f($A, $$$A)", ErrorKind::InvalidArgs, "$A");
        refuses("if ((", ErrorKind::Unparseable, "if ((");
    }
    let error = bench.refuses(
        "ast_grep",
        grep_args("if (("),
        ErrorKind::Unparseable,
        "statement",
    );
    assert!(
        error.message().contains("class member"),
        "every rung is named: {error}"
    );
}

// D9, D36: unknown names, missing paths, paths that lead out.
#[test]
fn scopes_that_are_not_there_are_refused() {
    let bench = Bench::new(&[("a.js", "f(1)\n")]);
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("b.js"), "f(1)\n").expect("a file");
    symlink(outside.path(), bench.path("out")).expect("a link");
    let refuses = |key: &str, value: &str, kind: ErrorKind, words: &str| {
        let mut args = grep_args("f($A)");
        args[key] = json!(value);
        bench.refuses("ast_grep", args, kind, words)
    };
    let error = refuses("language", "klingon", ErrorKind::InvalidArgs, "klingon");
    assert!(
        error.message().contains("dart, "),
        "the ids are listed: {error}"
    );
    refuses("path", "nosuch", ErrorKind::NotFound, "nosuch");
    refuses("path", "a.js/b", ErrorKind::InvalidArgs, "a.js");
    for path in ["..", "/etc", "out", "out/b.js"] {
        refuses(
            "path",
            path,
            ErrorKind::InvalidArgs,
            "outside the workspace",
        );
    }
}

// D15: what is no text is named with its reason, and the rest is searched.
#[test]
fn files_that_are_no_text_are_named() {
    let bench = Bench::new(&[("good.js", "f(1)\n")]);
    bench.place.write("binary.js", b"f(1)\0\x01\x02\n");
    bench.place.write("latin1.js", b"f('caf\xe9')\n");
    bench.place.write("utf16.js", b"\xff\xfef\0(\x001\0)\0");
    let huge = fs::File::create(bench.path("huge.js")).expect("a file");
    huge.set_len(129 << 20).expect("a file with a hole");
    let data = bench.grep(grep_args("f($A)"));
    assert_eq!(data["shown"], 1);
    let reasons = skipped(&data);
    let reason = |file: &str| {
        let found = reasons.iter().find(|(name, _)| name == file);
        found.map(|(_, reason)| reason.as_str()).unwrap_or_default()
    };
    assert_eq!(reason("binary.js"), "binary");
    assert_eq!(reason("latin1.js"), "not UTF-8");
    assert_eq!(reason("utf16.js"), "UTF-16");
    assert!(reason("huge.js").starts_with("too large"), "{reasons:?}");
    assert_eq!(reasons.len(), 4);
}

// R52: a byte order mark, CRLF, mixed endings and syntax errors elsewhere hide no match.
#[test]
fn odd_text_is_searched() {
    let bench = Bench::new(&[
        ("bom.js", "\u{feff}f(1)\n"),
        ("crlf.js", "x\r\nf(\r\n1\r\n)\r\n"),
        ("mixed.js", "x\r\ny\nf(1)\r\nz"),
        ("broken.js", "x = = 1;\n\nf(1);\n"),
        ("empty.js", ""),
    ]);
    let data = bench.grep(grep_args("f(1)"));
    let places: Vec<(&str, u64, u64)> = data["matches"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|m| {
            let number = |key: &str| m[key].as_u64().expect("a number");
            (
                m["file"].as_str().expect("a name"),
                number("line"),
                number("column"),
            )
        })
        .collect();
    assert_eq!(places[0].0, "bom.js");
    assert_eq!(places[1], ("broken.js", 3, 1));
    assert_eq!(places[2], ("crlf.js", 2, 1));
    assert_eq!(places[3].0, "mixed.js");
    assert_eq!((places.len(), skipped(&data).len()), (4, 0));
}

// Only regular files are opened: a FIFO would block a reader for ever.
#[test]
fn pipes_sockets_and_loops_in_the_tree_do_no_harm() {
    let bench = Bench::new(&[("sub/a.js", "f(1)\n")]);
    let at = |name: &str| bench.path(name);
    mknodat(
        CWD,
        at("pipe.js"),
        FileType::Fifo,
        Mode::from_raw_mode(0o644),
        0,
    )
    .expect("a FIFO");
    let _socket = UnixListener::bind(at("socket.js")).expect("a socket");
    symlink(at("."), at("sub/up")).expect("a link");
    symlink("b.js", at("c.js")).expect("a link");
    symlink("c.js", at("b.js")).expect("a link");
    symlink("gone.js", at("dangling.js")).expect("a link");
    symlink("sub/a.js", at("link.js")).expect("a link");
    let data = bench.grep(grep_args("f($A)"));
    assert_eq!(data["shown"], 1, "links in a walk are not followed: {data}");
    assert_eq!(data["matches"][0]["file"], "sub/a.js");
    let named = |path: &str| {
        let mut args = grep_args("f($A)");
        args["path"] = json!(path);
        args
    };
    assert_eq!(
        bench.grep(named("link.js"))["shown"],
        1,
        "a named link is followed"
    );
    for path in ["pipe.js", "socket.js"] {
        bench.refuses(
            "ast_grep",
            named(path),
            ErrorKind::InvalidArgs,
            "regular file",
        );
    }
    bench.refuses(
        "ast_grep",
        named("b.js"),
        ErrorKind::InvalidArgs,
        "symbolic links",
    );
    bench.refuses(
        "ast_grep",
        named("dangling.js"),
        ErrorKind::NotFound,
        "gone.js",
    );
}

// A file that changes or vanishes while it is read gives some state of it, or a named skip.
#[test]
fn a_file_that_changes_or_vanishes_is_no_failure() {
    let bench = Bench::new(&[("steady.js", "f(0)\n")]);
    let done = AtomicBool::new(false);
    let change = |path: &Path| {
        for n in 0..400 {
            // Whether the search meets the file there, half written or gone is left to chance: every
            // outcome must do.
            fs::write(path, "f(1)\n".repeat(n % 50 * 40)).expect("a file");
            if n % 3 == 0 {
                fs::remove_file(path).expect("it was there");
            }
        }
        done.store(true, Ordering::Release);
    };
    std::thread::scope(|scope| {
        let path = bench.path("moving.js");
        let writer = scope.spawn(move || change(&path));
        loop {
            let last = done.load(Ordering::Acquire);
            let mut args = grep_args("f($A)");
            args["max_results"] = json!(10_000);
            let data = bench.grep(args);
            let found = data["matches"].as_array().expect("a list");
            assert_eq!(found.last().expect("the steady one")["file"], "steady.js");
            for (file, reason) in skipped(&data) {
                assert_eq!((file.as_str(), reason.as_str()), ("moving.js", "vanished"));
            }
            if last {
                break;
            }
        }
        writer.join().expect("the writer holds");
    });
}

// No recursion over the source or the pattern: depth costs no stack.
#[test]
fn deep_nesting_is_survived() {
    const DEPTH: usize = 200_000;
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
    let bench = Bench::new(&[
        ("deep.js", &format!("f({});\nf(2);\n", deep("(", ")"))),
        ("deep.py", &format!("f({})\nf(2)\n", deep("[", "]"))),
        (
            "deep.rs",
            &format!("fn m() {{ f(2); let x = {}; }}\n", deep("(", ")")),
        ),
        (
            "deep.dart",
            &format!("m() {{ f(2); var x = {}; }}\n", deep("[", "]")),
        ),
        (
            "deep.c",
            &format!("int m() {{ f(2); return {}; }}\n", deep("(", ")")),
        ),
    ]);
    for path in ["deep.js", "deep.py", "deep.rs", "deep.dart", "deep.c"] {
        let data = bench.grep(json!({"pattern": "f(2)", "path": path}));
        let n_skipped = skipped(&data).len();
        assert!(data["shown"] == 1 || n_skipped == 1, "{path}: {data}");
        let pattern = deep("(", ")");
        let args = json!({"pattern": pattern, "path": path});
        bench.refuses("ast_grep", args, ErrorKind::InvalidArgs, "limit");
        // Within the limit; the answer is free, the stack is not.
        let pattern = format!("f({}1{})", "(".repeat(30_000), ")".repeat(30_000));
        let _ = bench.call("ast_grep", json!({"pattern": pattern, "path": path}));
    }
}

// A file of 50 MB is searched or named, never silently left out.
#[test]
fn a_file_of_fifty_megabytes_is_searched_or_named() {
    let line = "fn g(a: u32) -> u32 { a + 1 } // some words to make it longer\n";
    let mut text = line.repeat((50 << 20) / line.len());
    text.push_str("fn last() { needle(1); }\n");
    let bench = Bench::new(&[("big.rs", &text), ("small.rs", "fn f() { needle(2); }\n")]);
    let data = bench.grep(json!({"pattern": "needle($A)", "language": "rust"}));
    let found = data["matches"].as_array().expect("a list").len();
    let reasons = skipped(&data);
    match found {
        2 => assert_eq!(reasons, []),
        1 => assert!(reasons[0].1.starts_with("too large"), "{reasons:?}"),
        n => panic!("{n} matches"),
    }
}
