//! Calls, their answers, and lines that are no calls.

use serde_json::{Value, json};

use super::driver::{Checkout, Driven};

fn search(pattern: &str) -> Value {
    json!({"pattern": pattern, "language": "javascript"})
}

// The wire of the interface: a call, its event (R154) and its answer; the text and the data of one report.
#[test]
fn a_call_is_answered() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&[]);
    session.call(1, "ast_grep", search("f($A)"));
    let event = session.event("tool");
    assert_eq!(event, json!({"event": "tool", "name": "ast_grep", "id": 1}));
    let answer = session.answer(1);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["data"]["matches"][0]["captures"]["A"], "1");
    assert!(
        answer["text"]
            .as_str()
            .is_some_and(|text| text.contains("a.js"))
    );
    assert_eq!(answer["images"], json!([]));
    session.call("two", "ast_grep", search("f($A"));
    let answer = session.answer("two");
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["error"]["kind"], "unparseable");
    assert!(answer["error"]["message"].is_string());
    let (rest, status) = session.end();
    assert!(status.success());
    // The second call began as well.
    assert_eq!(rest.len(), 1, "{rest:?}");
}

// R6, R8: `list` gives the schemas of the surface; a read-only one holds no other tool.
#[test]
fn tools_are_listed() {
    let checkout = Checkout::new(&[]);
    let list = |args: &[&str]| {
        let mut session = checkout.session(args);
        session.send(json!({"list": "tools"}));
        session.find("list", |line| line["tools"].is_array())
    };
    let all = list(&[]);
    let names = |list: &Value, tier: &str| -> Vec<String> {
        let tools = list["tools"].as_array().expect("a list").iter();
        let of_tier = tools.filter(|tool| tool["tier"] == tier);
        of_tier
            .map(|tool| tool["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert!(names(&all, "read").contains(&"ast_grep".to_owned()));
    assert!(names(&all, "write").contains(&"resolve".to_owned()));
    for tool in all["tools"].as_array().expect("a list") {
        assert_eq!(tool["schema"]["type"], "object", "{tool}");
        assert!(tool["description"].is_string() && tool["tier"].is_string());
    }
    let plan = list(&["--surface", "plan"]);
    assert_eq!(names(&plan, "read"), names(&all, "read"));
    assert!(names(&plan, "write").is_empty() && names(&plan, "exec").is_empty());
    let hidden = plan["unavailable"].as_array().expect("a list");
    assert!(hidden.iter().any(|tool| tool["name"] == "resolve"));
}

// D37: above the approved tier nothing runs when nobody is there to ask; `--approve` raises it. D43: edits
// of a session count from edit_1 and are its own.
#[test]
fn calls_above_the_tier_are_refused_and_nothing_runs() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let edit = json!({"pattern": "f($A)", "rewrite": "g($A)", "language": "javascript"});
    let mut session = checkout.session(&[]);
    session.call(1, "ast_edit", edit.clone());
    assert_eq!(session.answer(1)["error"]["kind"], "denied");
    let (rest, _) = session.end();
    assert!(rest.is_empty(), "nothing began: {rest:?}");
    for _ in 0..2 {
        let mut session = checkout.session(&["--approve", "write"]);
        session.call(1, "ast_edit", edit.clone());
        assert_eq!(session.answer(1)["data"]["edit_id"], "edit_1");
    }
}

// A line that is no JSON, of several kinds, is answered and the session goes on.
#[test]
fn broken_lines_cost_nothing_but_themselves() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&[]);
    session.send_bytes(b"\n  \nnonsense\n\xff\xfe{\n{\"id\":5,\"tool\":\"ast_grep\",\n");
    for id in [Value::Null, Value::Null, json!(5)] {
        let answer = session.answer(id);
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["error"]["kind"], "invalid_args");
        assert!(answer["error"]["hint"].is_string());
    }
    session.call(6, "ast_grep", search("f($A)"));
    assert_eq!(session.answer(6)["ok"], true);
}

// The request over the limit is refused, with its id; one at the limit is read.
#[test]
fn a_line_over_the_limit_is_refused() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&[]);
    let limit = toolbox::limits::SESSION_LINE_BYTES;
    let mut line = |id: u32, length: usize| {
        let (head, tail) = (format!("{{\"id\":{id},\"tool\":\"nosuch\",\"x\":\""), "\"}");
        let fill = "x".repeat(length - head.len() - tail.len());
        session.send_bytes(format!("{head}{fill}{tail}\n").as_bytes());
        session.answer(id)["error"]["kind"].clone()
    };
    assert_eq!(line(1, limit), "unknown_tool");
    assert_eq!(line(2, limit + 1), "invalid_args");
    session.call(3, "ast_grep", search("f($A)"));
    assert_eq!(session.answer(3)["ok"], true);
}

// A client that writes much before it reads anything still gets every answer.
#[test]
fn requests_are_read_while_answers_are_not() {
    let checkout = Checkout::new(&[]);
    let mut command = checkout.toolbox(&["session"]);
    let mut session = Driven::start_unread(&mut command);
    const CALLS: u32 = 4_000;
    for id in 0..CALLS {
        session.call(id, "nosuch", json!({}));
    }
    // More than the pipe holds is waiting by now.
    session.read();
    for id in 0..CALLS {
        assert_eq!(session.answer(id)["error"]["kind"], "unknown_tool");
    }
}

// D36, R142: the files with the whole of a long output are read in the same run, by Bash's name for them, and
// nothing beside them is.
#[test]
fn the_whole_of_a_long_output_can_be_read() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--approve", "exec"]);
    session.call(1, "Bash", json!({"command": "seq 20000"}));
    let answer = session.answer(1);
    let file = answer["data"]["output_file"]
        .as_str()
        .expect("a file")
        .to_owned();
    session.call(
        2,
        "Read",
        json!({"path": file, "offset": 9_999, "limit": 2}),
    );
    let read = session.answer(2);
    assert_eq!(read["data"]["content"], "9999\n10000\n", "{read}");
    let file = std::path::PathBuf::from(file);
    let state = file
        .parent()
        .and_then(|output| output.parent())
        .expect("a folder");
    std::fs::write(state.join("beside"), "secret").expect("a file");
    std::fs::create_dir(state.join("output/deeper")).expect("a folder");
    std::fs::write(state.join("output/deeper/file"), "secret").expect("a file");
    std::os::unix::fs::symlink(state.join("beside"), state.join("output/bash-link.log"))
        .expect("a link");
    let closed = [
        state.join("beside"),
        state.join("output/deeper/file"),
        state.join("output/../beside"),
        state.join("output/bash-link.log"),
    ];
    for (id, path) in (3..).zip(closed) {
        session.call(id, "Read", json!({"path": path}));
        let error = session.answer(id)["error"].clone();
        assert_eq!(error["kind"], "invalid_args", "{}: {error}", path.display());
    }
    // Reading is all that is allowed.
    session.call(9, "Write", json!({"path": file, "content": "x"}));
    assert_eq!(session.answer(9)["error"]["kind"], "invalid_args");
}
