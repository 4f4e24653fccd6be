//! A session with an agent's configuration: what its model sees, and what it is refused.

use std::fs;

use serde_json::{Value, json};

use super::driver::{Checkout, Driven};

/// A checkout with a file that configures an agent.
fn checkout(tools: Value) -> Checkout {
    let mut agent = json!({"name": "a"});
    if !tools.is_null() {
        agent["tools"] = tools;
    }
    Checkout::new(&[("agent.json", &agent.to_string()), ("f.txt", "secret\n")])
}

fn session(checkout: &Checkout) -> Driven {
    checkout.session(&["--approve", "exec", "--agent", "agent.json"])
}

fn toolset(names: Value) -> Value {
    json!([{"type": "agent_toolset_20260401", "enabled_tools": names}])
}

fn listed(session: &mut Driven) -> Vec<String> {
    session.send(json!({"list": "tools"}));
    let line = session.find("tools", |line| line["tools"].is_array());
    let tools = line["tools"].as_array().expect("a list");
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    tools.iter().map(name).collect()
}

#[track_caller]
fn refused(session: &mut Driven, id: u64, name: &str, args: Value) {
    session.call(id, name, args);
    let answer = session.answer(id);
    assert_eq!(answer["error"]["kind"], "unknown_tool", "{answer:#}");
    let text = answer.to_string();
    assert!(!text.contains("secret"), "{text}");
}

// T1, R139, R160: exactly the named tool is seen, and a call of another is refused, alias or not.
#[test]
fn an_allowlist_is_all_that_a_session_has() {
    let checkout = checkout(toolset(json!(["Bash"])));
    let mut session = session(&checkout);
    assert_eq!(listed(&mut session), ["Bash"]);
    refused(&mut session, 1, "Read", json!({"path": "f.txt"}));
    refused(&mut session, 2, "read", json!({"path": "f.txt"}));
    refused(
        &mut session,
        3,
        "eval",
        json!({"code": "1", "description": "d"}),
    );
    assert!(!session.has_seen(|line| line["event"] == "tool"));
}

// T2, R140, R155, D32: without names, or with none, all nine are there, and the tools of the runtime.
#[test]
fn without_names_a_session_has_all_nine() {
    for tools in [
        json!([{"type": "agent_toolset_20260401"}]),
        toolset(json!([])),
    ] {
        let checkout = checkout(tools);
        let config = checkout.home().join(".config/toolbox");
        fs::create_dir_all(&config).expect("a folder");
        fs::write(
            config.join("toolbox.toml"),
            "web.search.searxng = \"http://127.0.0.1:9/\"\n",
        )
        .expect("a file");
        let names = listed(&mut session(&checkout));
        for name in toolbox::toolset::TOOL_NAMES
            .iter()
            .chain(&["ast_grep", "lsp"])
        {
            assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
        }
    }
}

// T3, R141, R156, R169: without the field, or with an empty one, there is no schema and nothing to call.
#[test]
fn without_tools_a_session_has_nothing() {
    for tools in [Value::Null, json!([])] {
        let checkout = checkout(tools);
        let mut session = session(&checkout);
        assert_eq!(listed(&mut session), Vec::<String>::new());
        refused(&mut session, 1, "Read", json!({"path": "f.txt"}));
    }
}

// T7, T15, R151, R172: the reserved tool may be named, and the order of the names means nothing.
#[test]
fn the_order_of_the_names_means_nothing() {
    let names = |names: Value| listed(&mut session(&checkout(toolset(names))));
    let one = names(json!(["DeliverArtifacts", "Bash", "Read"]));
    assert_eq!(one, ["Bash", "DeliverArtifacts", "Read"]);
    assert_eq!(one, names(json!(["Read", "DeliverArtifacts", "Bash"])));
}

// T8, R154: events carry the name as the table writes it, whatever the call said.
#[test]
fn events_carry_the_capitalised_name() {
    let checkout = checkout(toolset(json!(["Bash"])));
    let mut session = session(&checkout);
    session.call(1, "bash", json!({"command": "echo hi"}));
    assert_eq!(session.event("tool")["name"], "Bash");
    assert_eq!(session.answer(1)["data"]["output"], "hi\n");
}

// T4, T5, T6, T17, R157, R158, R173: what is refused over HTTP is refused here, in the same words.
#[test]
fn a_session_does_not_start_with_a_bad_toolset() {
    for (tools, words) in [
        (toolset(json!(["Foo"])), "unknown tool name 'Foo'"),
        (toolset(json!(["bash"])), "unknown tool name 'bash'"),
        (json!([{"type": "bash_20250124"}]), "bash_20250124"),
        (
            json!([{"type": "agent_toolset_20270401"}]),
            "agent_toolset_20270401",
        ),
    ] {
        let checkout = checkout(tools);
        let output = checkout
            .toolbox(&["session", "--agent", "agent.json"])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(output.stdout.is_empty());
    }
}

// T13, R167: a session of a stored agent keeps the version that it began with; the next one has the new.
#[test]
fn a_running_session_keeps_its_version() {
    let checkout = Checkout::new(&[]);
    let tools = |names: Value| toolset(names).to_string();
    let stored = |args: &[&str]| -> Value {
        let output = checkout.toolbox(args).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let agent = stored(&[
        "agent",
        "create",
        "--tools",
        &tools(json!(["Bash", "Read"])),
    ]);
    let id = agent["id"].as_str().expect("an id");
    let start = || checkout.session(&["--approve", "exec", "--agent", id]);
    let mut before = start();
    assert_eq!(listed(&mut before), ["Bash", "Read"]);
    let fewer = tools(json!(["Glob"]));
    let next = stored(&[
        "agent",
        "replace",
        id,
        "--agent-version",
        "1",
        "--tools",
        &fewer,
    ]);
    assert_eq!(next["version"], 2);
    assert_eq!(listed(&mut before), ["Bash", "Read"]);
    before.call(1, "Bash", json!({"command": "echo still"}));
    assert_eq!(before.answer(1)["data"]["output"], "still\n");
    let mut after = start();
    assert_eq!(listed(&mut after), ["Glob"]);
    refused(&mut after, 1, "Bash", json!({"command": "echo no"}));
}

// R139: a file in which a key stands twice could hide a right: no session starts with it, and the key is named.
#[test]
fn a_key_that_stands_twice_starts_no_session() {
    let text = r#"{"tools":[{"type":"agent_toolset_20260401","enabled_tools":["Read"],"enabled_tools":[]}]}"#;
    let checkout = Checkout::new(&[("agent.json", text)]);
    for args in [
        &["session", "--agent", "agent.json"][..],
        &["tools", "--agent", "agent.json"],
        &["agent", "create", "--file", "agent.json"],
    ] {
        let output = checkout.toolbox(args).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("the key 'enabled_tools' is given twice"),
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
}
