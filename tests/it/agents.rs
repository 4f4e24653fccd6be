//! Agents and their versions: the store, the command, and the API over HTTP.

mod http;

use std::fs;
use std::sync::Barrier;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};
use toolbox::agents::{AgentError, AgentFields, AgentStore};

fn store(folder: &tempfile::TempDir) -> AgentStore {
    AgentStore::open(folder.path().join("agents"), |tools| {
        match tools.is_some_and(|tools| !tools.is_array()) {
            true => Err("tools must be a list".to_owned()),
            false => Ok(()),
        }
    })
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn fields(body: Value) -> AgentFields {
    AgentFields::from_body(&body).expect("the body is sound")
}

// R159, R162 to R165, R168, T9: versions count up, and a replacement removes what it leaves out.
#[test]
fn a_replacement_makes_the_next_version_and_keeps_nothing() {
    let folder = folder();
    let store = store(&folder);
    let tools = json!([{ "type": "agent_toolset_20260401", "enabled_tools": ["Read", "Bash"] }]);
    let agent = store
        .create(fields(
            json!({ "name": "a", "model": "m", "instructions": "i", "tools": tools }),
        ))
        .expect("a new agent");
    assert_eq!(agent.version, 1);
    assert_eq!(
        store.get(&agent.id).expect("it is there").tools,
        Some(tools)
    );
    let next = store
        .replace(&agent.id, 1, AgentFields::default())
        .expect("version 1 is current");
    assert_eq!(next.version, 2);
    let now = store.get(&agent.id).expect("it is there");
    assert_eq!(
        (now.name, now.model, now.instructions, now.tools),
        (None, None, None, None)
    );
    assert_eq!(now.created_at, agent.created_at);
    // Every version is kept.
    assert_eq!(store.versions(&agent.id).expect("two"), [1, 2]);
    assert_eq!(store.version(&agent.id, 1).expect("it is kept"), agent);
}

// R166, D31, T10: a version that is not current changes nothing; the message names both.
#[test]
fn a_stale_replacement_is_a_conflict() {
    let folder = folder();
    let store = store(&folder);
    let id = store
        .create(AgentFields::default())
        .expect("a new agent")
        .id;
    store
        .replace(&id, 1, fields(json!({ "name": "second" })))
        .expect("current");
    for sent in [1, 3, 0] {
        let err = store
            .replace(&id, sent, AgentFields::default())
            .expect_err("not current");
        let expected = format!("Version conflict. Expected version 2, got {sent}.");
        assert_eq!(err.to_string(), expected);
    }
    let now = store.get(&id).expect("it is there");
    assert_eq!((now.version, now.name.as_deref()), (2, Some("second")));
}

// D31, T12: a replacement says which version it replaces.
#[test]
fn a_body_is_checked_field_by_field() {
    let refused = |body: Value| {
        AgentFields::from_replacement(&body)
            .expect_err("it is refused")
            .to_string()
    };
    assert!(refused(json!({})).contains("version is missing"));
    assert!(refused(json!({ "version": null })).contains("version is missing"));
    assert!(refused(json!({ "version": "1" })).contains("whole number"));
    assert!(refused(json!({ "version": -1 })).contains("whole number"));
    assert!(refused(json!({ "version": 1.5 })).contains("whole number"));
    assert!(refused(json!({ "version": 1, "name": 7 })).contains("name must be a string"));
    assert!(refused(json!({ "version": 1, "tool": [] })).contains("unknown field 'tool'"));
    assert!(refused(json!([])).contains("must be a JSON object"));
    // What a GET gave can be sent back.
    let folder = folder();
    let agent = store(&folder)
        .create(AgentFields::default())
        .expect("a new agent");
    let (version, _) = AgentFields::from_replacement(&json!(agent)).expect("it was given so");
    assert_eq!(version, 1);
}

// R167: a session keeps the version that it began with.
#[test]
fn a_session_is_pinned() {
    let folder = folder();
    let store = store(&folder);
    let id = store
        .create(AgentFields::default())
        .expect("a new agent")
        .id;
    let before = store.open_session(&id).expect("a session");
    store
        .replace(&id, 1, AgentFields::default())
        .expect("current");
    let after = store.open_session(&id).expect("a session");
    assert_eq!(
        store.session(&id, &before.id).expect("kept").agent_version,
        1
    );
    assert_eq!(
        store.session(&id, &after.id).expect("kept").agent_version,
        2
    );
    let other = store
        .create(AgentFields::default())
        .expect("a new agent")
        .id;
    assert!(matches!(
        store.session(&other, &before.id),
        Err(AgentError::UnknownSession(_))
    ));
}

#[test]
fn an_unknown_id_never_becomes_a_path() {
    let folder = folder();
    let store = store(&folder);
    store.create(AgentFields::default()).expect("a new agent");
    let long = "a".repeat(300);
    for id in [
        "",
        "agent_none",
        "..",
        "../agents",
        "a/b",
        "a\0b",
        long.as_str(),
    ] {
        assert!(
            matches!(store.get(id), Err(AgentError::UnknownAgent(_))),
            "{id}"
        );
        let res = store.replace(id, 1, AgentFields::default());
        assert!(matches!(res, Err(AgentError::UnknownAgent(_))), "{id}");
        assert!(store.session("agent_none", id).is_err(), "{id}");
    }
}

#[test]
fn tools_are_checked_before_anything_is_written() {
    let folder = folder();
    let store = store(&folder);
    let err = store
        .create(fields(json!({ "tools": "Bash" })))
        .expect_err("no list");
    assert_eq!(err.to_string(), "tools must be a list");
    assert_eq!(store.list().expect("nothing there"), []);
}

#[test]
fn a_damaged_file_is_named() {
    let folder = folder();
    let store = store(&folder);
    let id = store
        .create(AgentFields::default())
        .expect("a new agent")
        .id;
    let path = folder
        .path()
        .join("agents/agents")
        .join(&id)
        .join("00000001.json");
    fs::write(&path, "{").expect("a file");
    let err = store.get(&id).expect_err("it is damaged");
    assert!(err.to_string().contains("00000001.json"), "{err}");
    // What an interrupted writer left behind is no version.
    fs::remove_file(&path).expect("it is there");
    fs::write(path.with_extension("json.new"), "{").expect("a file");
    assert!(matches!(store.get(&id), Err(AgentError::UnknownAgent(_))));
}

// R164, T18: of writers that replace the same version one wins, in every round.
#[test]
fn of_racing_writers_one_wins() {
    let folder = folder();
    let id = store(&folder)
        .create(AgentFields::default())
        .expect("a new agent")
        .id;
    let start = Barrier::new(4);
    for round in 1..=25u64 {
        let wins: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4)
                .map(|_| {
                    // Each opens the store itself, as processes do.
                    let (store, id, start) = (store(&folder), &id, &start);
                    scope.spawn(move || {
                        start.wait();
                        match store.replace(id, round, AgentFields::default()) {
                            Ok(agent) => usize::from(agent.version == round + 1),
                            Err(AgentError::Conflict { current, sent }) => {
                                assert_eq!((current, sent), (round + 1, round));
                                0
                            }
                            Err(err) => panic!("{err}"),
                        }
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().expect("no panic"))
                .sum()
        });
        assert_eq!(wins, 1, "round {round}");
    }
}

fn toolbox(folder: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .args(args);
    command
}

// R137, R139, R157, D29, D32: the command makes agents, and `tools --agent` shows what one sees.
#[test]
fn the_command_makes_agents_and_shows_what_they_see() {
    let folder = folder();
    let tools =
        r#"[{"type":"agent_toolset_20260401","enabled_tools":["DeliverArtifacts","Bash"]}]"#;
    let made = toolbox(
        &folder,
        &["agent", "create", "--name", "a", "--tools", tools],
    )
    .assert()
    .success()
    .stderr(contains("not recommended"));
    let agent: Value = serde_json::from_slice(&made.get_output().stdout).expect("JSON");
    let id = agent["id"].as_str().expect("an id");
    toolbox(&folder, &["agent", "list"])
        .assert()
        .success()
        .stdout(contains(id).and(contains("DeliverArtifacts, Bash")));
    toolbox(&folder, &["tools", "--agent", id])
        .assert()
        .success()
        .stdout(contains("not on the allowlist").and(contains("ast_grep")));
    toolbox(&folder, &["agent", "replace", id, "--agent-version", "1"])
        .assert()
        .success();
    toolbox(&folder, &["agent", "replace", id, "--agent-version", "1"])
        .assert()
        .code(3)
        .stderr(contains("Version conflict. Expected version 2, got 1."));
    toolbox(&folder, &["agent", "get", id, "--agent-version", "1"])
        .assert()
        .success()
        .stdout(contains(r#""version": 1"#));
    let wrong = r#"[{"type":"agent_toolset_20260401","enabled_tools":["Foo"]}]"#;
    toolbox(&folder, &["agent", "create", "--tools", wrong])
        .assert()
        .code(3)
        .stderr(contains("unknown tool name 'Foo'"));
    toolbox(&folder, &["agent", "get", "agent_none"])
        .assert()
        .code(3)
        .stderr(contains("no agent 'agent_none'"));
    toolbox(&folder, &["tools", "--agent", "agent_none"])
        .assert()
        .code(2)
        .stderr(contains("neither a file nor an agent"));
}

// R141, R160: a file with a configuration does as well as an id.
#[test]
fn a_file_says_what_an_agent_sees() {
    let folder = folder();
    fs::write(folder.path().join("none.json"), "{}").expect("a file");
    let output = toolbox(&folder, &["tools", "--json", "--agent", "none.json"]).output();
    let stdout = output.expect("it ran").stdout;
    let tools: Value = serde_json::from_slice(&stdout).expect("JSON");
    assert_eq!(tools["tools"], json!([]));
    let all = r#"{"tools":[{"type":"agent_toolset_20260401"}]}"#;
    fs::write(folder.path().join("all.json"), all).expect("a file");
    toolbox(&folder, &["tools", "--agent", "all.json"])
        .assert()
        .success()
        .stdout(contains("ast_grep         read"));
}
