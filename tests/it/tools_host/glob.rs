//! `Glob`: what it takes, in which order, and what it says it left out.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};

use super::*;

#[track_caller]
fn check(bench: &Bench, args: Value, files: &[&str]) {
    let data = bench.answer("Glob", args.clone()).data;
    let mut found = strings(&data["files"]);
    found.sort_unstable();
    assert_eq!(found, files, "{args}");
    assert_eq!(data["total"], files.len(), "{args}");
}

fn tree() -> Bench {
    let bench = Bench::new(&[
        ("main.rs", ""),
        ("src/lib.rs", ""),
        ("src/deep/er.rs", ""),
        ("src/app.ts", ""),
        ("src/[id]/page.tsx", ""),
        ("target/doc/index.html", ""),
        (".github/workflows/ci.yml", ""),
        (".env", ""),
        ("debug.log", ""),
        (".gitignore", "target/\n*.log\n"),
    ]);
    fs::create_dir(bench.place.work().join(".git")).expect("a folder");
    bench
}

// R146: wildcards, folders, alternatives.
#[test]
fn patterns_mean_what_they_say() {
    let bench = tree();
    let rust = ["main.rs", "src/deep/er.rs", "src/lib.rs"];
    check(&bench, json!({"pattern": "*.rs"}), &rust);
    check(&bench, json!({"pattern": "**/*.rs"}), &rust);
    check(&bench, json!({"pattern": "./*.rs"}), &["main.rs"]);
    check(&bench, json!({"pattern": "src/*.rs"}), &["src/lib.rs"]);
    check(&bench, json!({"pattern": "src/**/*.rs"}), &rust[1..]);
    check(
        &bench,
        json!({"pattern": "src/*.{rs,ts}"}),
        &["src/app.ts", "src/lib.rs"],
    );
    check(
        &bench,
        json!({"pattern": "src/{deep/er,lib}.rs"}),
        &rust[1..],
    );
    check(
        &bench,
        json!({"pattern": "*.rs", "path": "src/deep"}),
        &["src/deep/er.rs"],
    );
    check(
        &bench,
        json!({"pattern": "s?c/l[a-i]b.rs"}),
        &["src/lib.rs"],
    );
    check(&bench, json!({"pattern": "src/deep/"}), &["src/deep/er.rs"]);
    check(&bench, json!({"pattern": "*.zig"}), &[]);
    let absolute = bench.place.work().join("src/*.ts");
    check(&bench, json!({"pattern": absolute}), &["src/app.ts"]);
}

// R146: the rules are on, with a switch each; what is named exactly is found all the same.
#[test]
fn an_ignored_file_that_is_named_exactly_is_found() {
    let bench = tree();
    check(&bench, json!({"pattern": "**/*.html"}), &[]);
    check(&bench, json!({"pattern": "*.log"}), &[]);
    check(&bench, json!({"pattern": "debug.log"}), &["debug.log"]);
    check(&bench, json!({"pattern": ".env"}), &[".env"]);
    let page = "target/doc/index.html";
    check(&bench, json!({"pattern": page}), &[page]);
    check(&bench, json!({"pattern": "target/doc/*.html"}), &[page]);
    check(
        &bench,
        json!({"pattern": "**/*.html", "no_ignore": true}),
        &[page],
    );
    let workflow = ".github/workflows/ci.yml";
    check(&bench, json!({"pattern": "**/*.yml"}), &[]);
    check(
        &bench,
        json!({"pattern": "**/*.yml", "hidden": true}),
        &[workflow],
    );
    check(&bench, json!({"pattern": ".github/**"}), &[workflow]);
    let odd = "src/[id]/page.tsx";
    check(&bench, json!({"pattern": odd}), &[odd]);
    check(&bench, json!({"pattern": r"src/\[id\]/*.tsx"}), &[odd]);
}

// R146: an empty list says what the rules left out, or what the pattern lacks.
#[test]
fn an_empty_list_says_why() {
    let bench = tree();
    let hint = |pattern: &str| {
        let output = bench.answer("Glob", json!({"pattern": pattern}));
        let hint = output.data["hint"].as_str().expect("a hint").to_owned();
        assert!(output.text.ends_with(&hint), "{}", output.text);
        hint
    };
    assert_eq!(
        hint("**/*.html"),
        "1 ignored file matches: pass no_ignore to list them"
    );
    assert_eq!(
        hint("**/*.yml"),
        "1 hidden file matches: pass hidden to list them"
    );
    assert_eq!(hint("src"), "'src' is a folder; `src/**` lists its files");
    assert_eq!(hint("nosuch/*.rs"), "there is no folder 'nosuch'");
    assert!(hint("*.zig").contains("`**/` crosses"));
}

// R146: the newest first, or by path; the cap is stated, at n and one more.
#[test]
fn the_newest_come_first_and_the_cap_is_stated() {
    let place = Place::new();
    for n in 0..101_u64 {
        let path = place.write(&format!("{n:03}.txt"), "");
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 * (n * 37 % 101));
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(changed).expect("it can be set");
    }
    let bench = Bench::over(place);
    let all = bench.answer("Glob", json!({"pattern": "*.txt"}));
    assert_eq!(
        (&all.data["shown"], &all.data["total"]),
        (&json!(100), &json!(101))
    );
    assert_eq!(strings(&all.data["files"]).len(), 100);
    assert!(
        all.text.ends_with("100 of 101 files, the newest first"),
        "{}",
        all.text
    );
    // 30 * 37 = 1110 = 100 (mod 101)
    assert_eq!(all.data["files"][0], "030.txt");
    assert!(
        !strings(&all.data["files"]).contains(&"000.txt"),
        "the oldest goes"
    );
    let by_path = bench.answer(
        "Glob",
        json!({"pattern": "*.txt", "sort": "path", "limit": 101}),
    );
    assert_eq!(by_path.data["shown"], 101);
    assert!(strings(&by_path.data["files"]).is_sorted());
    assert!(by_path.text.ends_with("\n101 files"), "{}", by_path.text);
    let two = bench.answer(
        "Glob",
        json!({"pattern": "*.txt", "sort": "path", "limit": 2}),
    );
    assert_eq!(two.data["files"], json!(["000.txt", "001.txt"]));
}

// D36: outside is refused, however it is written.
#[test]
fn outside_is_refused() {
    let bench = tree();
    symlink("/etc", bench.place.work().join("out")).expect("a link");
    for args in [
        json!({"pattern": "/etc/*"}),
        json!({"pattern": "../*"}),
        json!({"pattern": "src/../../**"}),
        json!({"pattern": "out/*"}),
        json!({"pattern": "*", "path": ".."}),
        json!({"pattern": "*", "path": "/etc"}),
        json!({"pattern": "*", "path": "out"}),
    ] {
        bench.refuses(
            "Glob",
            args,
            ErrorKind::InvalidArgs,
            "outside the workspace",
        );
    }
    check(&bench, json!({"pattern": "hostname"}), &[]);
}

// D36: links that lead nowhere or out are counted; names that are not UTF-8 too.
#[test]
fn odd_entries_are_counted() {
    let bench = Bench::new(&[("real.txt", "")]);
    let work = bench.place.work();
    symlink("real.txt", work.join("link.txt")).expect("a link");
    symlink("nowhere", work.join("dead.txt")).expect("a link");
    symlink("/etc/passwd", work.join("out.txt")).expect("a link");
    fs::write(work.join(OsStr::from_bytes(b"b\xFFd.txt")), "").expect("a file");
    let output = bench.answer("Glob", json!({"pattern": "*.txt", "sort": "path"}));
    assert_eq!(
        strings(&output.data["files"]),
        ["b\u{FFFD}d.txt", "link.txt", "real.txt"]
    );
    assert_eq!(
        strings(&output.data["notes"]),
        [
            "1 name is not UTF-8 and shown with U+FFFD",
            "1 link to nothing left out",
            "1 link out of the workspace left out"
        ]
    );
    let clean = bench.answer("Glob", json!({"pattern": "real.txt"}));
    assert!(clean.data["notes"].is_null());
}

// R146: what cannot be meant is refused with the place of the mistake.
#[test]
fn bad_patterns_are_refused() {
    let bench = tree();
    let refuses = |args: Value, words: &str| {
        bench.refuses("Glob", args, ErrorKind::InvalidArgs, words);
    };
    refuses(json!({"pattern": ""}), "empty");
    refuses(json!({"pattern": "src/[a"}), "bad glob 'src/[a'");
    refuses(
        json!({"pattern": "src/*/../x"}),
        "before the first wildcard",
    );
    refuses(json!({"pattern": "*", "limit": 0}), "limit is 0");
    refuses(json!({"pattern": "*", "path": "main.rs"}), "is no folder");
    refuses(json!({"pattern": "x".repeat(20_000)}), "the limit is 16384");
    refuses(json!({"pattern": "*", "sort": "size"}), "sort");
    bench.refuses(
        "Glob",
        json!({"pattern": "*", "path": "nosuch"}),
        ErrorKind::NotFound,
        "nosuch",
    );
}

// R3: a cancelled call answers so.
#[test]
fn a_cancelled_call_is_cancelled() {
    let bench = tree();
    let cancel = toolbox::cancel::Cancel::new();
    cancel.cancel();
    for name in ["Glob", "Grep"] {
        let options = CallOptions::new().with_cancel(cancel.clone());
        let error = bench.run.dispatch(name, json!({"pattern": "x"}), options);
        assert_eq!(
            error.expect_err("it was cancelled").kind(),
            ErrorKind::Cancelled
        );
    }
}
