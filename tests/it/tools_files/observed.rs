//! What writes through these tools tell: observers, hooks on the result, approvals.

use toolbox::cancel::Cancel;
use toolbox::files::WriteObserver;
use toolbox::run::AfterWrite;
use toolbox::syntax::Grammars;
use toolbox::syntax::staging::StagingStore;
use toolbox::tools::SyntaxResources;

use super::*;
use crate::files_support::Notes;

/// A hook as diagnostics on write are one.
#[derive(Default)]
struct Hook(Notes);

impl WriteObserver for Hook {
    fn before(&self, paths: &[PathBuf]) {
        self.0.before(paths);
    }

    fn after(&self, paths: &[PathBuf]) {
        self.0.after(paths);
    }
}

impl AfterWrite for Hook {
    fn append(&self, written: &[PathBuf], _cancel: &Cancel, output: &mut Output) {
        if !written.is_empty() {
            output.append("diagnostics", "1 new problem", json!({"state": "found"}));
        }
    }
}

fn three_calls() -> [(&'static str, Value); 3] {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-3\n+4\n*** End Patch";
    [
        ("Write", json!({"path": "a", "content": "2\n"})),
        (
            "Edit",
            json!({"path": "a", "old_string": "2", "new_string": "3"}),
        ),
        ("apply_patch", json!({"patch": patch})),
    ]
}

// R30: write, edit and apply_patch are wrapped, all three alike; a call that changes nothing is not.
#[test]
fn all_writers_are_observed_alike() {
    let place = Place::new();
    place.write("a", "1\n");
    let hook = Arc::new(Hook::default());
    let run = Run::builder(connect(&Resources {
        files: Some(wired(&place)),
        ..Resources::default()
    }))
    .approver(AutoApprove::up_to(Tier::Write))
    .after_write(hook.clone())
    .build();
    let call = |name: &str, args: Value| {
        run.dispatch(name, args, CallOptions::new())
            .expect("it runs")
    };
    for (name, args) in three_calls() {
        let output = call(name, args);
        assert_eq!(output.data["diagnostics"]["state"], "found", "{name}");
        assert!(
            output.text.ends_with("1 new problem"),
            "{name}: {}",
            output.text
        );
        let path = vec![place.work().join("a")];
        let notes = std::mem::take(&mut *hook.0.0.lock().expect("no panic"));
        assert_eq!(notes, [("before", path.clone()), ("after", path)], "{name}");
    }
    for (name, args) in [
        ("Read", json!({"path": "a"})),
        ("Write", json!({"path": "a", "content": "4\n"})),
    ] {
        let output = call(name, args);
        assert!(output.data["diagnostics"].is_null(), "{name}");
        assert!(hook.0.0.lock().expect("no panic").is_empty(), "{name}");
    }
}

// D34, D37: reading needs no approval, writing does; what was refused did not happen.
#[test]
fn writers_need_approval() {
    let place = Place::new();
    place.write("a", "1\n");
    let run = Run::builder(connect(&Resources {
        files: Some(wired(&place)),
        ..Resources::default()
    }))
    .build();
    let call = |name: &str, args: Value| run.dispatch(name, args, CallOptions::new());
    call("Read", json!({"path": "a"})).expect("it needs no approval");
    for (name, args) in three_calls() {
        let error = call(name, args).expect_err("it is above the tier");
        assert_eq!(error.kind(), ErrorKind::Denied, "{name}");
    }
    assert_eq!(
        fs::read(place.work().join("a")).expect("it is there"),
        b"1\n"
    );
}

// D35: what another tool of the run wrote to a file that the run knew, the run knows.
#[test]
fn writes_of_other_tools_are_followed() {
    let place = Place::new();
    place.write("known.js", "f(1)\n");
    place.write("unread.js", "f(2)\n");
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let syntax = SyntaxResources::new(Arc::new(Grammars::bundled()), workspace)
        .with_edits(StagingStore::in_memory(), Committer::new(place.state()));
    let files = wired(&place);
    let ledger = Arc::clone(&files.ledger);
    let resources = Resources {
        files: Some(files),
        syntax: Some(syntax),
        ..Resources::default()
    };
    let run = Run::builder(connect(&resources))
        .approver(AutoApprove::up_to(Tier::Write))
        .observer(ledger)
        .build();
    let call = |name: &str, args: Value| run.dispatch(name, args, CallOptions::new());
    call("Read", json!({"path": "known.js"})).expect("it is read");
    let edit = json!({"pattern": "f($A)", "rewrite": "g($A)", "language": "js"});
    let staged = call("ast_edit", edit).expect("it is staged");
    let resolve = json!({"edit_id": staged.data["edit_id"], "action": "accept"});
    call("resolve", resolve).expect("it is applied");
    let edit = |path: &str| {
        let args = json!({"path": path, "old_string": "g(", "new_string": "h("});
        call("Edit", args)
    };
    edit("known.js").expect("the run knows it");
    let error = edit("unread.js").expect_err("nobody read it");
    assert_eq!(error.kind(), ErrorKind::Stale);
}

// A rule about paths sees every path: there is one name for the argument, and no other is taken.
#[test]
fn arguments_have_one_name() {
    let bench = Bench::new(&[("a", "1\n")]);
    for (name, args) in [
        ("Read", json!({"file_path": "a"})),
        ("Write", json!({"file_path": "a", "content": ""})),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "1", "new_string": "2"}),
        ),
        ("apply_patch", json!({"input": ""})),
    ] {
        let words = if name == "apply_patch" {
            "input"
        } else {
            "file_path"
        };
        bench.refuses(name, args, ErrorKind::InvalidArgs, words);
    }
}
