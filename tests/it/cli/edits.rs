//! `toolbox ast-edit` and `toolbox resolve`: one command stages, another accepts.

use toolbox::files::{Committer, ContentHash, Expect, NoObserver, Operation};

use super::*;
use crate::files_support::{child_words, killing_at, run_child};

const EDIT: [&str; 5] = ["ast-edit", "f($A)", "g($A)", "-l", "js"];

// R57 to R66: staged by one process, accepted by the next.
#[test]
fn an_edit_is_staged_and_accepted_across_commands() {
    let checkout = Checkout::new(&[("a.js", "f(1)\nf(2)\n"), ("b.js", "f(3)\n")]);
    checkout
        .toolbox(&EDIT)
        .assert()
        .code(0)
        .stdout(
            starts_with("(proposed) 3 replacements in 2 files")
                .and(contains("call resolve with edit_id \"edit_1\""))
                .and(contains("-f(3)\n+g(3)\n")),
        )
        .stderr(contains("toolbox resolve edit_1 accept"));
    assert_eq!(checkout.read("a.js"), "f(1)\nf(2)\n");
    checkout
        .toolbox(&["resolve", "edit_1", "accept"])
        .assert()
        .code(0)
        .stdout("(accepted) edit_1: 3 replacements in 2 files\na.js\nb.js\n");
    assert_eq!(checkout.read("a.js"), "g(1)\ng(2)\n");
    // D12, D43: the id is used up, and never used again.
    checkout
        .toolbox(&["resolve", "edit_1", "accept"])
        .assert()
        .code(3)
        .stderr(contains("no edit 'edit_1' is staged"));
    let again = checkout.json(&["ast-edit", "g($A)", "f($A)", "-l", "js"], 0);
    assert_eq!(again["edit_id"], "edit_2");
}

// Exit code 1 without a match, 3 for a refused rewrite; nothing is staged by either.
#[test]
fn rewrites_that_stage_nothing() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n")]);
    let none = checkout.json(&["ast-edit", "nosuch($A)", "g($A)", "-l", "js"], 1);
    assert_eq!(none["edit_id"], Value::Null);
    let same = checkout.json(&["ast-edit", "f($A)", "f($A)", "-l", "js"], 1);
    assert_eq!(same["replacements"], 0);
    let unbound = checkout.json(&["ast-edit", "f($A)", "g($B)", "-l", "js"], 3);
    assert_eq!(unbound["error"]["kind"], "invalid_args");
    let broken = checkout.json(&["ast-edit", "f($A)", "g($A", "-l", "js"], 3);
    assert_eq!(broken["error"]["kind"], "failed");
    checkout
        .toolbox(&["resolve", "--list"])
        .assert()
        .code(0)
        .stdout("nothing is staged in this workspace\n");
    let allowed = [
        "ast-edit",
        "f($A)",
        "g($A",
        "-l",
        "js",
        "--allow-syntax-errors",
    ];
    assert_eq!(checkout.json(&allowed, 0)["edit_id"], "edit_1");
}

// R67: a changed file refuses the whole edit.
#[test]
fn a_changed_file_refuses_the_edit() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n"), ("b.js", "f(2)\n")]);
    checkout.toolbox(&EDIT).assert().code(0);
    checkout.write("b.js", "f(22)\n");
    let error = &checkout.json(&["resolve", "edit_1", "accept"], 3)["error"];
    assert_eq!(error["kind"], "stale");
    assert_eq!(
        (checkout.read("a.js"), checkout.read("b.js")),
        ("f(1)\n".into(), "f(22)\n".into())
    );
    let listed = checkout.json(&["resolve", "--list"], 0);
    assert_eq!(listed["edits"][0]["rejected"], true);
    checkout
        .toolbox(&["resolve", "edit_1", "discard"])
        .assert()
        .code(0);
}

#[test]
fn staged_edits_are_listed_and_discarded() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n")]);
    checkout.toolbox(&EDIT).assert().code(0);
    checkout.toolbox(&EDIT).assert().code(0);
    checkout
        .toolbox(&["resolve", "--list"])
        .assert()
        .code(0)
        .stdout(
            contains("edit_1  javascript: `f($A)` -> `g($A)`\n    1 replacement in 1 file, ")
                .and(contains(" ago\n    a.js\n"))
                .and(contains("edit_2 ")),
        );
    let listed = checkout.json(&["resolve", "--list"], 0);
    assert_eq!(listed["edits"][1]["edit_id"], "edit_2");
    assert_eq!(listed["edits"][1]["files"], json!(["a.js"]));
    checkout
        .toolbox(&["resolve", "--discard-all"])
        .assert()
        .code(0)
        .stdout("discarded edit_1, edit_2\n");
    let listed = checkout.json(&["resolve", "--list"], 0);
    assert_eq!(listed["edits"], json!([]));
    assert_eq!(checkout.read("a.js"), "f(1)\n");
}

// The state lies in the state folder of the user, apart for each workspace, and never in the checkout.
#[test]
fn state_is_kept_per_workspace_outside_of_it() {
    let one = Checkout::new(&[("a.js", "f(1)\n")]);
    let two = Checkout::new(&[("a.js", "f(1)\n")]);
    let state = one.0.path().join("state");
    let run = |checkout: &Checkout, args: &[&str]| {
        let mut command = checkout.toolbox(args);
        command.env("XDG_STATE_HOME", &state);
        command.assert()
    };
    run(&one, &EDIT).code(0);
    run(&two, &["resolve", "edit_1", "accept", "--json"])
        .code(3)
        .stdout(contains("not_found"));
    run(&two, &EDIT).code(0).stdout(contains("\"edit_1\""));
    assert_eq!(
        fs::read_dir(state.join("toolbox"))
            .expect("it was made")
            .count(),
        2
    );
    run(&one, &["resolve", "edit_1", "accept"]).code(0);
    assert_eq!(
        (one.read("a.js"), two.read("a.js")),
        ("g(1)\n".into(), "f(1)\n".into())
    );
    let names: Vec<_> = fs::read_dir(one.root())
        .expect("it exists")
        .map(|entry| entry.expect("readable").file_name())
        .collect();
    assert_eq!(names.len(), 2, "only .git and a.js: {names:?}");
    // Without a home there is no place to stage, and searching still works.
    let mut homeless = one.toolbox(&EDIT);
    homeless
        .env_remove("HOME")
        .assert()
        .code(2)
        .stderr(contains("XDG_STATE_HOME"));
    let mut homeless = one.toolbox(&["ast-grep", "g($A)", "a.js"]);
    homeless.env_remove("HOME").assert().code(0);
    assert!(
        !one.home().join(".local").exists(),
        "a search writes nothing"
    );
}

// R60: a long diff is cut in the answer, and the whole is one command away.
#[test]
fn a_staged_edit_is_shown_whole() {
    let checkout = Checkout::new(&[("a.js", &"f(1)\n".repeat(300)), ("b.js", "f(2)\n")]);
    let assert = checkout.toolbox(&EDIT).assert().code(0);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(!text.contains("+g(2)"), "{text}");
    assert!(
        text.ends_with(
            " more lines of the diff are not shown; see all of it: toolbox resolve edit_1\n"
        ),
        "{text}"
    );
    let data = checkout.json(&EDIT, 0);
    assert_eq!(data["diff_truncated"], true);
    let diff = data["diff"].as_str().expect("a text");
    assert_eq!(diff.lines().count(), 200, "the notice is no part of it");
    checkout
        .toolbox(&["resolve", "edit_1"])
        .assert()
        .code(0)
        .stdout(
            starts_with("edit_1  javascript: `f($A)` -> `g($A)`\n    301 replacements in 2 files")
                .and(contains("-f(2)\n+g(2)\n"))
                .and(contains("not shown").not()),
        )
        .stderr(contains("toolbox resolve edit_1 accept"));
    let shown = checkout.json(&["resolve", "edit_1"], 0);
    assert_eq!(shown["files"], json!(["a.js", "b.js"]));
    assert_eq!(shown["changed"], json!([]));
    let diff = shown["diff"].as_str().expect("a text");
    assert_eq!(diff.matches("\n+g(").count(), 301);
    // R67: what changed since has no diff that could be true.
    checkout.write("b.js", "f(3)\n");
    checkout
        .toolbox(&["resolve", "edit_1"])
        .assert()
        .code(0)
        .stdout(contains("changed since it was staged: b.js"))
        .stderr(contains("can only be discarded"));
    assert_eq!(
        checkout.json(&["resolve", "edit_1"], 0)["changed"],
        json!(["b.js"])
    );
    let unknown = checkout.json(&["resolve", "edit_9"], 3);
    assert_eq!(unknown["error"]["kind"], "not_found");
    let small = checkout.json(&["ast-edit", "f($A)", "g($A)", "b.js"], 0);
    assert_eq!(small["diff_truncated"], false);
}

// The action and the id come in either order; one edit needs no id.
#[test]
fn the_words_of_resolve_are_understood() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n"), ("b.js", "h(1)\n")]);
    let none = checkout.json(&["resolve", "accept"], 3);
    assert_eq!(none["error"]["kind"], "not_found");
    checkout.toolbox(&EDIT).assert().code(0);
    checkout
        .toolbox(&["ast-edit", "h($A)", "i($A)", "-l", "js"])
        .assert()
        .code(0);
    checkout
        .toolbox(&["resolve", "accept"])
        .assert()
        .code(2)
        .stderr(contains("2 edits are staged: edit_1, edit_2"));
    checkout
        .toolbox(&["resolve", "accept", "edit_1"])
        .assert()
        .code(0);
    assert_eq!(
        (checkout.read("a.js"), checkout.read("b.js")),
        ("g(1)\n".into(), "h(1)\n".into())
    );
    checkout.toolbox(&["resolve", "accept"]).assert().code(0);
    assert_eq!(checkout.read("b.js"), "i(1)\n");
}

// A path in the place of the rewrite is no code; with a path behind it, it is.
#[test]
fn a_forgotten_rewrite_is_noticed() {
    let checkout = Checkout::new(&[("sub/a.js", "f(1)\n")]);
    for (word, noun) in [("sub", "folder"), ("sub/a.js", "file")] {
        checkout
            .toolbox(&["ast-edit", "f($A)", word, "-l", "js"])
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(format!(
                "REWRITE is missing? `{word}` is a {noun}"
            )));
    }
    let listed = checkout.json(&["resolve", "--list"], 0);
    assert_eq!(listed["edits"], json!([]));
    checkout
        .toolbox(&["ast-edit", "f($A)", "sub", ".", "-l", "js"])
        .assert()
        .code(0)
        .stdout(contains("+sub\n"));
    checkout
        .toolbox(&["ast-edit", "f($A)", "", "-l", "js"])
        .assert()
        .code(0);
}

const KILLED: &str = "cli::edits::killed_commit_child";

/// Commits two files into the state folder of a checkout and dies at a step.
#[test]
fn killed_commit_child() {
    let Some(words) = child_words() else { return };
    let [state, root, at] = words.as_slice() else {
        panic!("three words")
    };
    let operation = |name: &str| Operation::Write {
        path: PathBuf::from(root).join(name),
        expect: Expect::Hash(ContentHash::of(b"f(1)\n")),
        bytes: b"g(1)\n".to_vec(),
    };
    let committer =
        Committer::new(PathBuf::from(state)).with_probe(killing_at(at.parse().expect("a number")));
    let _ = committer.commit(&[operation("a.js"), operation("b.js")], &NoObserver);
}

// D12: what an interrupted accept left is undone or finished at the start of the next command that may
// write, and said.
#[test]
fn an_interrupted_accept_is_recovered_by_the_next_command() {
    let mut n_noted = 0;
    for at in 0.. {
        let checkout = Checkout::new(&[("a.js", "f(1)\n"), ("b.js", "f(1)\n")]);
        // The command makes its state folder, whose name is its own business.
        checkout.toolbox(&EDIT).assert().code(0);
        let folder = checkout.home().join(".local/state/toolbox");
        let mut entries = fs::read_dir(folder).expect("it was made");
        let state = entries
            .next()
            .expect("one workspace")
            .expect("readable")
            .path();
        let root = checkout.root();
        let at = at.to_string();
        let words = [
            state.to_str().expect("UTF-8"),
            root.to_str().expect("UTF-8"),
            &at,
        ];
        if run_child(&[], KILLED, &words).success() {
            break;
        }
        let assert = checkout.toolbox(&["resolve", "--list"]).assert().code(0);
        let noted = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        n_noted += usize::from(noted.contains("an interrupted change was"));
        let texts = (checkout.read("a.js"), checkout.read("b.js"));
        assert!(
            texts == ("f(1)\n".into(), "f(1)\n".into())
                || texts == ("g(1)\n".into(), "g(1)\n".into()),
            "step {at}: {texts:?}"
        );
        assert_eq!(
            fs::read_dir(&root).expect("it exists").count(),
            3,
            "step {at}: left-over files"
        );
    }
    assert!(n_noted > 5, "{n_noted} recoveries were told");
}
