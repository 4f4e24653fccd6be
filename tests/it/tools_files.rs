//! `Read`, `Write`, `Edit` and `apply_patch` as a host calls them: through the gate of a run.

mod crash;
mod edit;
mod observed;
mod patch;
mod read;
mod write;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toolbox::files::Committer;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{FileResources, Resources, connect};
use toolbox::workspace::Workspace;

use crate::files_support::{Place, tree};

/// A workspace with a run over its files that approves everything up to `write`.
struct Bench {
    place: Place,
    run: Run,
    files: FileResources,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |files| files)
    }

    /// Lets a test change what is wired.
    fn with(contents: &[(&str, &str)], wire: impl FnOnce(FileResources) -> FileResources) -> Self {
        Self::in_place(Place::new(), contents, wire)
    }

    /// In a place of the test's choice.
    fn at(place: Place, files: &[(&str, &str)]) -> Self {
        Self::in_place(place, files, |files| files)
    }

    fn in_place(
        place: Place,
        contents: &[(&str, &str)],
        wire: impl FnOnce(FileResources) -> FileResources,
    ) -> Self {
        for (name, text) in contents {
            place.write(name, text);
        }
        let files = wire(wired(&place));
        let resources = Resources {
            files: Some(files.clone()),
            ..Resources::default()
        };
        let run = Run::builder(connect(&resources))
            .approver(AutoApprove::up_to(Tier::Write))
            .observer(files.ledger.clone())
            .build();
        Self { place, run, files }
    }

    #[track_caller]
    fn call(&self, name: &str, args: Value) -> Output {
        match self.run.dispatch(name, args, CallOptions::new()) {
            Ok(output) => output,
            Err(error) => panic!("{name}: {error} ({:?})", error.hint()),
        }
    }

    #[track_caller]
    fn read(&self, name: &str) -> Output {
        self.call("Read", json!({"path": name}))
    }

    /// Calls a tool that must fail in this way, with words in the message, a next step, and no change.
    #[track_caller]
    fn refuses(&self, name: &str, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let before = tree(&self.place.work());
        let error = match self.run.dispatch(name, args, CallOptions::new()) {
            Ok(output) => panic!("{name} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(
            error.hint().is_some_and(|hint| !hint.is_empty()),
            "{error} has no hint"
        );
        assert!(
            before == tree(&self.place.work()),
            "{name} changed something"
        );
        error
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a readable file")
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("UTF-8")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.work().join(name)
    }
}

fn wired(place: &Place) -> FileResources {
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let committer = Committer::new(place.state()).within(workspace.clone());
    FileResources::new(workspace).with_committer(Arc::new(committer))
}

// R4: without files no tool, without a commit only Read; the reasons are kept.
#[test]
fn tools_exist_only_with_their_resource() {
    let names = |resources: &Resources| -> Vec<String> {
        let registry = connect(resources);
        registry
            .specs()
            .iter()
            .map(|spec| spec.name.clone())
            .collect()
    };
    let place = Place::new();
    let mut files = wired(&place);
    let with = |files: &FileResources| Resources {
        files: Some(files.clone()),
        ..Resources::default()
    };
    assert_eq!(
        names(&with(&files)),
        ["Edit", "Read", "Write", "apply_patch"]
    );
    files.committer = None;
    assert_eq!(names(&with(&files)), ["Read"]);
    let missing = connect(&with(&files)).unavailable();
    assert!(
        missing
            .iter()
            .any(|tool| tool.name == "Edit" && tool.reason.contains("no commit"))
    );
    assert!(names(&Resources::default()).is_empty());
}

// D34, R7: the tiers; a read-only surface shows exactly Read. All may run at once with others.
#[test]
fn a_read_only_surface_shows_read() {
    let place = Place::new();
    let registry = connect(&Resources {
        files: Some(wired(&place)),
        ..Resources::default()
    });
    for spec in registry.specs() {
        let tier = if spec.name == "Read" {
            Tier::Read
        } else {
            Tier::Write
        };
        assert_eq!(spec.tier, tier, "{}", spec.name);
        assert!(spec.parallel_safe, "{}", spec.name);
        assert_eq!(spec.schema["additionalProperties"], false, "{}", spec.name);
    }
    let limited = registry.limit(Tier::Read);
    assert_eq!(limited.specs().len(), 1);
    assert_eq!(limited.specs()[0].name, "Read");
}

// D33: the lower-case names stand for the canonical ones, which alone are shown. R108: `path` names the file.
#[test]
fn lower_case_names_are_aliases() {
    let bench = Bench::new(&[("lib/auth.dart", "x\n")]);
    let read = bench.call("read", json!({"path": "lib/auth.dart"}));
    assert_eq!(read.data["content"], "x\n");
    bench.call(
        "edit",
        json!({"path": "lib/auth.dart", "old_string": "x", "new_string": "y"}),
    );
    bench.call("write", json!({"path": "b", "content": "z"}));
    assert_eq!(
        (bench.text("lib/auth.dart"), bench.text("b")),
        ("y\n".into(), "z".into())
    );
    let shown: Vec<String> = bench
        .run
        .specs()
        .into_iter()
        .map(|spec| spec.name)
        .collect();
    assert_eq!(shown, ["Edit", "Read", "Write", "apply_patch"]);
}
