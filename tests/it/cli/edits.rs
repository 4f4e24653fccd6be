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
