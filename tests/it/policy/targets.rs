//! What rules look at, held against the tools that are there.

use toolbox::files::Committer;
use toolbox::tools::{FileResources, RULE_TARGETS, Resources, TOOL_ALIASES, connect};

use super::*;

fn built_in() -> Registry {
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path().canonicalize().expect("it exists");
    let workspace = Workspace::open(&root).expect("a folder");
    let committer = Arc::new(Committer::new(root.join("state")));
    connect(&Resources {
        files: Some(FileResources::new(workspace).with_committer(committer)),
        ..Resources::default()
    })
}

// D37: a rule about an argument that no tool has would silently be about nothing.
#[test]
fn every_target_is_an_argument_of_its_tool() {
    let registry = built_in();
    let mut n_checked = 0;
    for row in RULE_TARGETS {
        let Some(spec) = registry.get(row.tool) else {
            continue;
        };
        let name = row.pointers[0].trim_start_matches('/');
        assert!(
            spec.schema["properties"][name].is_object(),
            "{} {name}",
            row.tool
        );
        n_checked += 1;
    }
    assert!(n_checked >= 3, "{:?}", registry.unavailable());
}

// D33: a configuration that says `read` means the tool that dispatch means.
#[test]
fn the_aliases_are_those_of_dispatch() {
    let registry = built_in();
    for (alias, name) in TOOL_ALIASES {
        if let Some(spec) = registry.get(alias) {
            assert_eq!(spec.name, name);
        }
    }
    assert_eq!(
        registry.get("read").map(|spec| spec.name.as_str()),
        Some("Read")
    );
}

// D37: the names by which the real tools take a path are all seen by a rule.
#[test]
fn a_rule_sees_the_path_of_a_real_tool_under_every_name() {
    let row = RULE_TARGETS
        .iter()
        .find(|row| row.tool == "Read" || row.tool == "Write");
    let row = row.expect("a file tool");
    let temp = tempfile::tempdir().expect("a folder");
    let workspace = Workspace::open(&temp.path().canonicalize().expect("it exists")).expect("one");
    let rule = Rule::path("Write", row.target(), "secret/**", Decision::Deny).expect("a glob");
    let run = Run::builder(registry(&Ran::default()))
        .approver(Policy::new(Tier::Exec).workspace(workspace).rule(rule))
        .build();
    for name in row.pointers {
        let args = json!({name.trim_start_matches('/'): "a/../secret/b"});
        let res = run.dispatch("Write", args, CallOptions::new());
        assert_eq!(kind(&res), Some(ErrorKind::Denied), "{name}");
    }
}
