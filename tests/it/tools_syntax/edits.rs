//! `ast_edit` and `resolve`: staged, compared, applied to all files or to none.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use toolbox::files::{ContentHash, WriteObserver};
use toolbox::limits;
use toolbox::syntax::staging::{Proposal, StagedFile};

use super::*;
use crate::files_support::{Notes, chmod, tree};

fn disposing(n_files: usize) -> Bench {
    let bench = Bench::new(&[]);
    for n in 0..n_files {
        let text = "void f() {\n  dispose(a);\n  dispose(b);\n  dispose(c);\n}\n";
        bench.place.write(&format!("lib/{n}.dart"), text);
    }
    bench
}

fn to_method() -> Value {
    json!({"pattern": "dispose($X)", "rewrite": "$X.dispose()", "language": "dart"})
}

// R57 to R60: the form of the answer; nothing is written.
#[test]
fn a_rewrite_is_proposed_and_nothing_is_written() {
    let bench = disposing(4);
    let before = tree(&bench.place.work());
    let modified = |bench: &Bench| {
        let metadata = fs::metadata(bench.path("lib/0.dart")).expect("it exists");
        metadata.modified().expect("it has a time")
    };
    let time = modified(&bench);
    let output = bench
        .call("ast_edit", to_method())
        .expect("the rewrite is staged");
    assert!(
        output
            .text
            .starts_with("(proposed) 12 replacements in 4 files"),
        "{}",
        output.text
    );
    for words in [
        "call resolve with edit_id \"edit_1\"",
        "--- a/lib/0.dart\n+++ b/lib/0.dart\n",
        "-  dispose(a);\n",
        "+  a.dispose();\n",
    ] {
        assert!(output.text.contains(words), "{words} in {}", output.text);
    }
    let data = &output.data;
    assert_eq!(data["edit_id"], "edit_1");
    assert_eq!(
        (&data["replacements"], &data["files"]),
        (&json!(12), &json!(4))
    );
    assert_eq!(
        data["changes"][0],
        json!({"file": "lib/0.dart", "line": 2, "before": "dispose(a)", "after": "a.dispose()"})
    );
    for key in ["language", "context", "diff", "files_skipped", "warnings"] {
        assert!(!data[key].is_null(), "{key}");
    }
    assert_eq!(tree(&bench.place.work()), before);
    assert_eq!(modified(&bench), time);
}

// D10: singular forms, ids that count, no id without a replacement.
#[test]
fn counts_ids_and_empty_rewrites() {
    let bench = Bench::new(&[("a.js", "f(1);\n")]);
    let edit = |pattern: &str, rewrite: &str| {
        let args = json!({"pattern": pattern, "rewrite": rewrite, "path": "a.js"});
        bench
            .call("ast_edit", args)
            .expect("the rewrite is worked out")
    };
    let first = edit("f($A)", "g($A)");
    assert!(
        first
            .text
            .starts_with("(proposed) 1 replacement in 1 file "),
        "{}",
        first.text
    );
    for nothing in [edit("nosuch($A)", "g($A)"), edit("f($A)", "f($A)")] {
        assert_eq!(nothing.data["edit_id"], Value::Null);
        assert_eq!(nothing.data["replacements"], 0);
        assert!(!nothing.text.contains("(proposed)"), "{}", nothing.text);
    }
    assert_eq!(
        edit("f($A)", "h($A)").data["edit_id"],
        "edit_2",
        "edits coexist"
    );
    assert!(bench.resolve("edit_2", "accept").is_ok());
    assert_eq!(bench.read("a.js"), "h(1);\n");
}

// R65, R66, D12: accept applies and uses the id up; discard too; the error names what is pending.
#[test]
fn an_edit_is_accepted_or_discarded_once() {
    let bench = disposing(2);
    let first = bench.stage(to_method());
    let second = bench.stage(to_method());
    let third = bench.stage(to_method());
    let discarded = bench.resolve(&first, "discard").expect("it is pending");
    assert_eq!(
        discarded.data,
        json!({
            "edit_id": "edit_1", "action": "discard", "replacements": 6,
            "files": ["lib/0.dart", "lib/1.dart"], "notes": [],
        })
    );
    assert!(
        bench.read("lib/0.dart").contains("dispose(a)"),
        "nothing was written"
    );
    let accepted = bench
        .resolve(&second, "accept")
        .expect("nothing changed since");
    assert_eq!(
        accepted.text,
        "(accepted) edit_2: 6 replacements in 2 files\nlib/0.dart\nlib/1.dart"
    );
    assert_eq!(accepted.data["files"], json!(["lib/0.dart", "lib/1.dart"]));
    assert!(bench.read("lib/1.dart").contains("  c.dispose();\n"));
    for consumed in [&first, &second] {
        for action in ["accept", "discard"] {
            let args = json!({"edit_id": consumed, "action": action});
            bench.refuses("resolve", args, ErrorKind::NotFound, &third);
        }
    }
    bench.refuses(
        "resolve",
        json!({"edit_id": "edit_99", "action": "accept"}),
        ErrorKind::NotFound,
        "edit_99",
    );
    bench.refuses(
        "resolve",
        json!({"edit_id": third, "action": "apply"}),
        ErrorKind::InvalidArgs,
        "action",
    );
}

// R67, D12: one touched file refuses the whole change; the edit stays discardable, never acceptable.
#[test]
fn one_changed_file_refuses_the_whole_edit() {
    let bench = disposing(3);
    let edit_id = bench.stage(to_method());
    let theirs = bench.read("lib/1.dart") + "// mine\n";
    bench.place.write("lib/1.dart", &theirs);
    let before = tree(&bench.place.work());
    let args = json!({"edit_id": edit_id, "action": "accept"});
    let error = bench.refuses("resolve", args.clone(), ErrorKind::Stale, "lib/1.dart");
    assert!(!error.message().contains("lib/0.dart"), "{error}");
    assert!(
        error
            .hint()
            .expect("checked")
            .contains("run ast_edit again"),
        "{error}"
    );
    assert_eq!(tree(&bench.place.work()), before);
    // Also when the file is as it was again.
    bench
        .place
        .write("lib/1.dart", theirs.replace("// mine\n", ""));
    bench.refuses("resolve", args, ErrorKind::Stale, "rejected");
    bench
        .resolve(&edit_id, "discard")
        .expect("it can be dropped");
}

// R68, D12: a target that forbids writing leaves all files alone, and the edit pending.
#[test]
fn one_unwritable_file_leaves_all_alone() {
    let bench = disposing(3);
    let edit_id = bench.stage(to_method());
    chmod(&bench.path("lib/2.dart"), 0o444);
    let before = tree(&bench.place.work());
    let args = json!({"edit_id": edit_id, "action": "accept"});
    bench.refuses("resolve", args, ErrorKind::Failed, "lib/2.dart");
    assert_eq!(tree(&bench.place.work()), before);
    chmod(&bench.path("lib/2.dart"), 0o644);
    bench
        .resolve(&edit_id, "accept")
        .expect("it stayed pending");
    assert!(bench.read("lib/2.dart").contains("a.dispose()"));
}

// D6, D12: an accept goes past the write observer of the run, before and after.
#[test]
fn an_accept_is_observed() {
    struct Shared(Arc<Notes>);

    impl WriteObserver for Shared {
        fn before(&self, paths: &[PathBuf]) {
            self.0.before(paths);
        }

        fn after(&self, paths: &[PathBuf]) {
            self.0.after(paths);
        }
    }

    let place = Place::new();
    let file = place.write("a.js", "f(1)\n");
    let notes = Arc::new(Notes(Mutex::default()));
    let run = Run::builder(connect(&resources(&place)))
        .approver(AutoApprove::up_to(Tier::Write))
        .observer(Arc::new(Shared(Arc::clone(&notes))))
        .build();
    let call = |name: &str, args: Value| {
        run.dispatch(name, args, CallOptions::new())
            .expect("it works")
    };
    call(
        "ast_edit",
        json!({"pattern": "f($A)", "rewrite": "g($A)", "path": "a.js"}),
    );
    assert!(
        notes.0.lock().expect("no panic").is_empty(),
        "staging writes nothing"
    );
    call("resolve", json!({"edit_id": "edit_1", "action": "accept"}));
    let seen = notes.0.lock().expect("no panic").clone();
    assert_eq!(
        seen,
        [("before", vec![file.clone()]), ("after", vec![file])]
    );
}

// D11: a name that the pattern does not bind is an error at once.
#[test]
fn an_unbound_metavariable_is_refused() {
    let bench = Bench::new(&[("a.js", "f(1)\n")]);
    for (pattern, rewrite) in [
        ("f($A)", "g($B)"),
        ("f($_)", "g($_)"),
        ("f($A)", "g($ARGS)"),
    ] {
        let args = json!({"pattern": pattern, "rewrite": rewrite, "path": "a.js"});
        bench.refuses("ast_edit", args, ErrorKind::InvalidArgs, "does not bind");
    }
    assert_eq!(
        bench.stage(json!({"pattern": "f($A)", "rewrite": "g(\"$x\", $A)", "path": "a.js"})),
        "edit_1"
    );
}

// D16: a rewrite that breaks the file is refused and nothing is staged, unless the call allows it.
#[test]
fn a_rewrite_that_breaks_the_file_is_refused() {
    let bench = Bench::new(&[("a.js", "f(1)\n")]);
    let mut args = json!({"pattern": "f($A)", "rewrite": "g($A", "path": "a.js"});
    bench.refuses("ast_edit", args.clone(), ErrorKind::Failed, "a.js");
    args["allow_syntax_errors"] = json!(true);
    let allowed = bench.call("ast_edit", args).expect("it is staged");
    let words = "warning: the rewrite would break a.js: line 1 would be a syntax error";
    assert_eq!(
        allowed.data["edit_id"], "edit_1",
        "the refused one took no id"
    );
    assert!(allowed.text.contains(words), "{}", allowed.text);
}

// D11: an `else` outside of the match, or in the template, must not go to an `if` of a capture.
#[test]
fn a_rewrite_that_moves_an_else_to_another_if_is_refused() {
    let bench = Bench::new(&[("a.c", "void f() {\n  if (a) g(); else h();\n}\n")]);
    let mut args = json!({"pattern": "g()", "rewrite": "if (b) g()", "path": "a.c"});
    let words = "line 2 would bind its `else` to another `if`";
    bench.refuses("ast_edit", args.clone(), ErrorKind::Failed, words);
    args["allow_syntax_errors"] = json!(true);
    let allowed = bench.call("ast_edit", args).expect("it is staged");
    assert!(allowed.text.contains(words), "{}", allowed.text);
    let braced = json!({"pattern": "g();", "rewrite": "{ if (b) g(); }", "path": "a.c"});
    let fine = bench.call("ast_edit", braced).expect("it is staged");
    assert_eq!(fine.data["warnings"], json!([]));
}

// R60: one huge line does not make the answer huge, and the answer says what it cut.
#[test]
fn the_diff_of_a_huge_line_is_cut_and_says_so() {
    let filler = "x=f(2);".repeat(75_000);
    let source = format!("{filler}y=f(1);{filler}\n");
    let bench = Bench::new(&[("min.js", &source), ("small.js", "y=f(1);\n")]);
    let args = |path: &str| json!({"pattern": "f(1)", "rewrite": "g(1)", "path": path});
    let huge = bench
        .call("ast_edit", args("min.js"))
        .expect("it is staged");
    assert!(huge.text.len() < 5_000, "{} bytes", huge.text.len());
    assert!(huge.text.contains("x=f(2);y=g(1);x=f(2);"), "{}", huge.text);
    assert!(
        huge.text
            .ends_with("... 2 lines of the diff are too long and cut")
    );
    assert_eq!(huge.data["diff_truncated"], true);
    let small = bench
        .call("ast_edit", args("small.js"))
        .expect("it is staged");
    assert_eq!(small.data["diff_truncated"], false);
    assert!(!small.text.contains("too long"), "{}", small.text);
}

// D12: an edit that waited for too long is told from one that never was.
#[test]
fn an_expired_edit_is_said_to_be_expired() {
    let place = Place::new();
    let path = place.write("a.js", "f(1)\n");
    let proposal = Proposal {
        pattern: "f($A)".to_owned(),
        rewrite: "g($A)".to_owned(),
        language: "javascript".to_owned(),
        replacements: 1,
        files: vec![StagedFile {
            hash_before: ContentHash::of_file(&path).expect("a readable file"),
            path,
            bytes_after: b"g(1)\n".to_vec(),
        }],
    };
    let long_ago = SystemTime::now() - limits::STAGED_EDIT_LIFETIME - Duration::from_secs(1);
    let store = || StagingStore::on_disk(&place.state());
    store().stage(proposal, long_ago).expect("it is staged");
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let syntax = SyntaxResources::new(Arc::new(Grammars::bundled()), workspace)
        .with_edits(store(), Committer::new(place.state()));
    let resources = Resources {
        syntax: Some(syntax),
        ..Resources::default()
    };
    let run = Run::builder(connect(&resources))
        .approver(AutoApprove::up_to(Tier::Write))
        .build();
    let bench = Bench { place, run };
    for action in ["accept", "discard"] {
        let resolve = |edit_id: &str| json!({"edit_id": edit_id, "action": action});
        let words = "edit_1 has expired";
        bench.refuses("resolve", resolve("edit_1"), ErrorKind::Expired, words);
        bench.refuses("resolve", resolve("edit_2"), ErrorKind::NotFound, "edit_2");
    }
    assert_eq!(bench.read("a.js"), "f(1)\n");
}

// D12, D16: line endings, byte order mark and mode survive; what is not UTF-8 is named and left alone.
#[test]
fn bytes_around_the_matches_survive() {
    let bench = Bench::new(&[("crlf.py", "\u{feff}go(1)\r\nx = 1\r\ngo(2)")]);
    chmod(&bench.path("crlf.py"), 0o755);
    bench.place.write("latin.py", b"go(1) # caf\xe9\n");
    let output = bench
        .call(
            "ast_edit",
            json!({"pattern": "go($A)", "rewrite": "run($A)", "language": "python"}),
        )
        .expect("the rewrite is staged");
    assert_eq!(
        output.data["files_skipped"],
        json!([{"file": "latin.py", "reason": "not UTF-8"}])
    );
    bench
        .resolve("edit_1", "accept")
        .expect("nothing changed since");
    assert_eq!(bench.read("crlf.py"), "\u{feff}run(1)\r\nx = 1\r\nrun(2)");
    let entry = tree(&bench.place.work())
        .into_iter()
        .find(|(path, _)| path.ends_with("crlf.py"))
        .expect("it is there");
    assert_eq!(entry.1.1 & 0o777, 0o755);
}

// D15, the list: searches and an accept at once; a search sees old or new, never a mixture.
#[test]
fn two_searches_and_an_accept_at_once() {
    let bench = disposing(30);
    let edit_id = bench.stage(to_method());
    let barrier = std::sync::Barrier::new(3);
    let search = || {
        barrier.wait();
        for _ in 0..20 {
            let data = bench.grep(json!({
                "pattern": "void $F() { $A; $B; $C; }", "language": "dart",
                "context": "declaration", "max_results": 1000,
            }));
            assert_eq!(data["shown"], 30, "{data}");
            for found in data["matches"].as_array().expect("a list") {
                let text = found["text"].as_str().expect("a text");
                let n_new = text.matches(".dispose()").count();
                assert!(n_new == 0 || n_new == 3, "{text}");
            }
        }
    };
    std::thread::scope(|scope| {
        let searches = [scope.spawn(search), scope.spawn(search)];
        barrier.wait();
        bench
            .resolve(&edit_id, "accept")
            .expect("nothing changed since");
        for search in searches {
            search.join().expect("the search holds");
        }
    });
    assert!((0..30).all(|n| !bench.read(&format!("lib/{n}.dart")).contains("dispose(a)")));
}

// D8: a dollar that is no metavariable is kept, and said.
#[test]
fn literal_dollars_in_a_rewrite_are_said() {
    let bench = Bench::new(&[("a.js", "f(1)\n"), ("b.sh", "f 1\n")]);
    let warnings = |pattern: &str, rewrite: &str, path: &str| {
        let args = json!({"pattern": pattern, "rewrite": rewrite, "path": path});
        let output = bench.call("ast_edit", args).expect("it is staged");
        assert!(output.data["edit_id"].is_string());
        output.data["warnings"].clone()
    };
    assert_eq!(
        warnings("f($A)", "g($x, $A)", "a.js"),
        json!(["`$x` in the rewrite is literal text; a metavariable is written $X"])
    );
    assert_eq!(warnings("f($A)", "g($1, $A)", "a.js"), json!([]));
    assert_eq!(
        warnings("f(1)", "g($x)", "a.js"),
        json!([]),
        "nothing is bound"
    );
    assert_eq!(warnings("f $A", "g $x $A", "b.sh"), json!([]));
}

// D10: matches that the rewrite leaves as they are look different from no match.
#[test]
fn a_rewrite_that_changes_nothing_counts_its_matches() {
    let bench = Bench::new(&[("a.js", "f(1);f(2)\n")]);
    let said = |pattern: &str, rewrite: &str| {
        let args = json!({"pattern": pattern, "rewrite": rewrite, "path": "a.js"});
        bench.call("ast_edit", args).expect("it is worked out")
    };
    for rewrite in ["f($A)", " f($A) "] {
        let same = said("f($A)", rewrite);
        assert!(
            same.text.starts_with("2 matches as statement"),
            "{}",
            same.text
        );
        assert_eq!(
            (&same.data["matched"], &same.data["edit_id"]),
            (&json!(2), &Value::Null)
        );
    }
    let none = said("nosuch($A)", "f($A)");
    assert!(
        none.text.starts_with("0 replacements in 0 files"),
        "{}",
        none.text
    );
}

// D16: a rewrite that is itself not whole is named; so is the number of bodies that would be empty.
#[test]
fn refusals_say_where_and_how_often() {
    let bench = Bench::new(&[(
        "a.py",
        "if a:\n    f(1)\nif b:\n    f(2)\nif c:\n    f(3)\n",
    )]);
    let refused = |rewrite: &str| {
        let args = json!({"pattern": "f($A)", "rewrite": rewrite, "path": "a.py"});
        bench.refuses("ast_edit", args, ErrorKind::Failed, "a.py")
    };
    let hint = refused("g(($A)").hint().map(str::to_owned);
    assert!(hint.is_some_and(|hint| hint.starts_with("in the rewrite the `(` is not closed; ")),);
    assert!(refused("").message().contains("2 more places"));
}
