//! `ast_grep`, `ast_edit` and `resolve` as a host calls them: through the gate of a run.

mod bad_input;
mod edits;
mod search;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use toolbox::files::Committer;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::syntax::Grammars;
use toolbox::syntax::staging::StagingStore;
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{Resources, SyntaxResources, connect};
use toolbox::workspace::Workspace;

use crate::files_support::Place;

/// A workspace with a run over it that approves everything up to `write`.
struct Bench {
    place: Place,
    run: Run,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (name, text) in files {
            place.write(name, text);
        }
        let run = Run::builder(connect(&resources(&place)))
            .approver(AutoApprove::up_to(Tier::Write))
            .build();
        Self { place, run }
    }

    fn call(&self, name: &str, args: Value) -> Result<Output, ToolError> {
        self.run.dispatch(name, args, CallOptions::new())
    }

    fn grep(&self, args: Value) -> Value {
        self.call("ast_grep", args).expect("the search runs").data
    }

    /// Stages a rewrite and returns its id.
    fn stage(&self, args: Value) -> String {
        let output = self.call("ast_edit", args).expect("the rewrite is staged");
        output.data["edit_id"].as_str().expect("an id").to_owned()
    }

    fn resolve(&self, edit_id: &str, action: &str) -> Result<Output, ToolError> {
        self.call("resolve", json!({"edit_id": edit_id, "action": action}))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a readable file")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.work().join(name)
    }

    /// Calls a tool that must fail in this way, with words in the message and a next step.
    #[track_caller]
    fn refuses(&self, name: &str, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let error = match self.call(name, args) {
            Ok(output) => panic!("{name} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(
            error.hint().is_some_and(|hint| !hint.is_empty()),
            "{error} has no hint"
        );
        error
    }
}

fn resources(place: &Place) -> Resources {
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let syntax = SyntaxResources::new(Arc::new(Grammars::bundled()), workspace)
        .with_edits(StagingStore::in_memory(), Committer::new(place.state()));
    Resources {
        syntax: Some(syntax),
        ..Resources::default()
    }
}

fn names(registry: &toolbox::registry::Registry) -> Vec<&str> {
    registry
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect()
}

// R4: without the port exactly the tools that need it are gone, and the reason is kept.
#[test]
fn tools_exist_only_with_their_resource() {
    let place = Place::new();
    let mut resources = resources(&place);
    assert_eq!(
        names(&connect(&resources)),
        ["ast_edit", "ast_grep", "resolve"]
    );
    resources.syntax.as_mut().expect("wired above").edits = None;
    let registry = connect(&resources);
    assert_eq!(names(&registry), ["ast_grep"]);
    let run = Run::builder(registry).build();
    let error = run
        .dispatch("resolve", json!({}), CallOptions::new())
        .expect_err("it is not there");
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
    assert!(
        error.message().contains("no place for staged edits"),
        "{error}"
    );
    assert!(connect(&Resources::default()).is_empty());
    assert!(connect(&Resources::default()).unavailable().len() >= 3);
}

// R6 to R10: the tiers, and a read-only surface that shows exactly the reading tool.
#[test]
fn a_read_only_surface_shows_exactly_ast_grep() {
    let place = Place::new();
    let registry = connect(&resources(&place));
    let tiers: Vec<(&str, Tier, bool)> = registry
        .specs()
        .iter()
        .map(|spec| (spec.name.as_str(), spec.tier, spec.parallel_safe))
        .collect();
    assert_eq!(
        tiers,
        [
            ("ast_edit", Tier::Write, true),
            ("ast_grep", Tier::Read, true),
            ("resolve", Tier::Write, false),
        ]
    );
    assert_eq!(names(&registry.limit(Tier::Read)), ["ast_grep"]);
}

// D32, D33: an allowlist leaves exactly the named ones; the names are those of the sources.
#[test]
fn an_allowlist_leaves_the_named_tools() {
    let place = Place::new();
    let registry = connect(&resources(&place)).allow(&["ast_grep", "resolve"]);
    assert_eq!(names(&registry), ["ast_grep", "resolve"]);
    assert!(connect(&resources(&place)).allow::<&str>(&[]).is_empty());
}

// D37, D42: the tier decides who may call without asking; a caller that approves itself may.
#[test]
fn writing_tools_need_approval() {
    let place = Place::new();
    place.write("a.js", "f(1)\n");
    let run = Run::builder(connect(&resources(&place))).build();
    let args = json!({"pattern": "f($A)", "rewrite": "g($A)", "path": "a.js"});
    let error = run
        .dispatch("ast_edit", args.clone(), CallOptions::new())
        .expect_err("it is above the tier");
    assert_eq!(error.kind(), ErrorKind::Denied);
    let output = run
        .dispatch("ast_edit", args, CallOptions::new().approved_by_caller())
        .expect("the caller approved it");
    assert_eq!(
        output.data["edit_id"], "edit_1",
        "nothing was staged by the refused call"
    );
    run.dispatch(
        "ast_grep",
        json!({"pattern": "f($A)", "path": "a.js"}),
        CallOptions::new(),
    )
    .expect("reading needs no approval");
}

// R48 to R51, R61 to R66: the arguments that the schemas show.
#[test]
fn schemas_name_the_promised_arguments() {
    let place = Place::new();
    let registry = connect(&resources(&place));
    let check = |tool: &str, required: &[&str], optional: &[&str]| {
        let schema = &registry.get(tool).expect("it is registered").schema;
        let properties = schema["properties"].as_object().expect("an object");
        for name in required.iter().chain(optional) {
            assert!(
                properties[*name]["description"].is_string(),
                "{tool}.{name}"
            );
        }
        let listed: Vec<&str> = schema["required"]
            .as_array()
            .expect("some are required")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(listed, required, "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
    };
    check(
        "ast_grep",
        &["pattern"],
        &["path", "language", "context", "max_results"],
    );
    check(
        "ast_edit",
        &["pattern", "rewrite"],
        &["path", "language", "context", "allow_syntax_errors"],
    );
    check("resolve", &["edit_id", "action"], &[]);
    let schema = &registry.get("ast_grep").expect("it is registered").schema;
    assert_eq!(schema["properties"]["max_results"]["default"], 50);
    let one_or_many = json!([{"type": "string"}, {"type": "array", "items": {"type": "string"}}]);
    assert_eq!(schema["properties"]["path"]["anyOf"], one_or_many);
    let schema = &registry.get("resolve").expect("it is registered").schema;
    assert_eq!(
        schema["properties"]["action"]["enum"],
        json!(["accept", "discard"])
    );
}
