//! Tools that a harness registers, and calls of all kinds at once.

use serde_json::{Value, json};

use super::driver::{Checkout, Driven};

fn tool(name: &str) -> Value {
    json!({
        "name": name, "tier": "read", "description": "Looks something up.",
        "schema": {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
    })
}

fn register(session: &mut Driven, tool: Value) -> Value {
    session.send(json!({"register": tool}));
    session.find("registration", |line| {
        !line["registered"].is_null() || line["ok"] == false
    })
}

// R109: a registered tool is listed under its tier, called through the gate, and answered by `return`.
#[test]
fn a_harness_brings_tools_of_its_own() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&[]);
    assert_eq!(
        register(&mut session, tool("lookup")),
        json!({"registered": "lookup", "shown": true})
    );
    session.send(json!({"list": "tools"}));
    let list = session.find("list", |line| line["tools"].is_array());
    let listed = list["tools"].as_array().expect("a list").iter();
    let listed: Vec<&Value> = listed.filter(|tool| tool["name"] == "lookup").collect();
    assert_eq!(listed[0]["schema"]["required"], json!(["key"]));
    session.call(1, "lookup", json!({"key": "a"}));
    let call = session.event("call");
    assert_eq!(
        call,
        json!({"event": "call", "call": "c_1", "tool": "lookup", "args": {"key": "a"}})
    );
    session.send(json!({
        "return": "c_1", "text": "found", "data": {"a": 1},
        "images": [{"mime": "image/png", "data": "AAEC"}],
    }));
    assert_eq!(
        session.answer(1),
        json!({"id": 1, "ok": true, "text": "found", "data": {"a": 1},
               "images": [{"mime": "image/png", "data": "AAEC"}]})
    );
    // Text and data are optional.
    session.call(2, "lookup", json!({"key": "b"}));
    assert_eq!(session.event("call")["call"], "c_2");
    session.send(json!({"return": "c_2"}));
    let answer = session.answer(2);
    assert_eq!(
        (&answer["text"], &answer["data"]),
        (&json!(""), &Value::Null)
    );
    // An error comes back as it is.
    session.call(3, "lookup", json!({"key": "c"}));
    session.event("call");
    let error = json!({"kind": "not_found", "message": "no c", "hint": "try d"});
    session.send(json!({"return": "c_3", "error": error}));
    assert_eq!(
        session.answer(3),
        json!({"id": 3, "ok": false, "error": error})
    );
    // Arguments that do not fit never reach the harness.
    session.call(4, "lookup", json!({}));
    assert_eq!(session.answer(4)["error"]["kind"], "invalid_args");
    assert!(!session.has_seen(|line| line["event"] == "call"));
}

#[test]
fn bad_registrations_are_refused() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&[]);
    let mut bad = |key: &str, value: Value| {
        let mut tool = tool("lookup");
        tool[key] = value;
        let answer = register(&mut session, tool);
        assert_eq!(answer["error"]["kind"], "invalid_args", "{key}: {answer}");
        answer["error"]["message"]
            .as_str()
            .expect("text")
            .to_owned()
    };
    assert!(bad("name", json!("no spaces")).contains("no spaces"));
    assert!(bad("name", json!("ast_grep")).contains("registered twice"));
    // D33: cells call Read by this name.
    assert!(bad("name", json!("read")).contains("another name of the tool 'Read'"));
    assert!(bad("name", Value::Null).contains("`name`"));
    assert!(bad("tier", json!("root")).contains("no tier"));
    assert!(bad("schema", json!({"type": "string"})).contains("\"object\""));
    assert!(bad("schema", Value::Null).contains("schema of 'lookup'"));
    assert!(bad("description", Value::Null).contains("`description`"));
    assert_eq!(register(&mut session, tool("lookup"))["shown"], true);
    let again = register(&mut session, tool("lookup"));
    assert_eq!(again["register"], "lookup");
    assert_eq!(again["error"]["kind"], "invalid_args");
}

// R7, R8: a tool above the surface's tier is not there; above the approved tier it is refused.
#[test]
fn a_registered_tool_passes_the_same_gate() {
    let checkout = Checkout::new(&[]);
    let mut exec = tool("launch");
    exec["tier"] = json!("exec");
    let mut session = checkout.session(&["--surface", "plan"]);
    assert_eq!(register(&mut session, exec.clone())["shown"], false);
    session.call(1, "launch", json!({"key": "a"}));
    assert_eq!(session.answer(1)["error"]["kind"], "unknown_tool");
    let mut session = checkout.session(&["--approve", "write"]);
    assert_eq!(register(&mut session, exec)["shown"], true);
    session.call(1, "launch", json!({"key": "a"}));
    assert_eq!(session.answer(1)["error"]["kind"], "denied");
    assert!(!session.has_seen(|line| line["event"] == "call"));
}

// Calls overlap, and answers come as they finish; a cancelled call answers `cancelled`.
#[test]
fn calls_overlap_and_are_cancelled() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&[]);
    register(&mut session, tool("lookup"));
    for id in [1, 2, 3] {
        session.call(id, "lookup", json!({"key": id.to_string()}));
    }
    let mut calls: Vec<Value> = (0..3).map(|_| session.event("call")).collect();
    calls.sort_by_key(|call| call["args"]["key"].to_string());
    session.send(json!({"return": calls[2]["call"], "text": "third"}));
    assert_eq!(session.answer(3)["text"], "third");
    session.send(json!({"cancel": 1}));
    let answer = session.answer(1);
    assert_eq!(answer["error"]["kind"], "cancelled");
    let closed = session.event("call_cancelled");
    assert_eq!(closed["call"], calls[0]["call"]);
    // Too late.
    session.send(json!({"return": calls[0]["call"], "text": "first"}));
    let late = session.find("complaint", |line| !line["return"].is_null());
    assert_eq!(late["error"]["kind"], "not_found");
    session.send(json!({"cancel": 1}));
    let late = session.find("complaint", |line| !line["cancel"].is_null());
    assert_eq!(late["error"]["kind"], "not_found");
    // A second call of an id that is under way is refused, and the first goes on.
    session.call(2, "lookup", json!({"key": "x"}));
    assert_eq!(session.answer(2)["error"]["kind"], "invalid_args");
    session.send(json!({"return": calls[1]["call"], "text": "second"}));
    assert_eq!(session.answer(2)["text"], "second");
}

// D43: calls of a tool that is not parallel-safe queue; `busy` is for a call nested in itself.
#[test]
fn calls_of_a_tool_that_is_not_parallel_safe_queue() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&[]);
    let mut single = tool("single");
    single["parallel_safe"] = json!(false);
    register(&mut session, single);
    register(&mut session, tool("other"));
    session.call(1, "single", json!({"key": "a"}));
    let first = session.event("call");
    session.call(2, "single", json!({"key": "b"}));
    session.call(3, "other", json!({"key": "c"}));
    let other = session.event("call");
    assert_eq!(other["tool"], "other", "the second call of the first waits");
    session.send(json!({"return": first["call"]}));
    assert_eq!(session.answer(1)["ok"], true);
    let second = session.event("call");
    assert_eq!(second["args"]["key"], "b");
    session.send(json!({"return": second["call"]}));
    assert_eq!(session.answer(2)["ok"], true);
}

// A harness in another language, as its author would write it: it lists, registers, calls, approves, answers.
#[test]
fn a_python_script_drives_a_session() {
    let Some(python) = crate::support::peers::find("python3") else {
        return;
    };
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/session/harness.py");
    let output = checkout
        .command(&python.display().to_string())
        .args([script, env!("CARGO_BIN_EXE_toolbox")])
        .output()
        .expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "tools: True\nregistered: shout\nshout: HELLO\nask_user: ['b']\nast_grep: {'A': '1'}\nended: 0\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

// 1,000 calls at once, of three kinds, every third of the host's cancelled: each is answered once.
#[test]
fn a_thousand_mixed_calls_lose_nothing() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&[]);
    register(&mut session, tool("lookup"));
    let mut returns = Vec::new();
    for id in 0..1_000u32 {
        match id % 3 {
            0 => session.call(
                id,
                "ast_grep",
                json!({"pattern": "f($A)", "language": "javascript"}),
            ),
            1 => session.call(id, "lookup", json!({"key": id.to_string()})),
            _ => {
                session.call(id, "lookup", json!({"key": "never"}));
                session.send(json!({"cancel": id}));
            }
        }
        if id % 3 == 1 {
            returns.push(id);
        }
    }
    // Those that are to return come through whatever else waits.
    for _ in 0..returns.len() {
        let call = session.find("call", |line| {
            line["event"] == "call" && line["args"]["key"] != "never"
        });
        session.send(json!({"return": call["call"], "text": call["args"]["key"]}));
    }
    for id in 0..1_000u32 {
        let answer = session.answer(id);
        match id % 3 {
            0 => assert_eq!(answer["data"]["shown"], 1, "{answer}"),
            1 => assert_eq!(answer["text"], id.to_string(), "{answer}"),
            _ => assert_eq!(answer["error"]["kind"], "cancelled", "{answer}"),
        }
    }
    let (rest, status) = session.end();
    assert!(status.success());
    let extra = rest.iter().filter(|line| line["event"].is_null()).count();
    assert_eq!(extra, 0, "no second answers");
}
