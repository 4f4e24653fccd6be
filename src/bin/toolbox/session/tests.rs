//! A session in the process: its lines in, its lines out.

use std::io::{BufRead, BufReader, PipeReader};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolbox::registry::Registry;
use toolbox::run::{Policy, Run};
use toolbox::tool::{Output, Tier, ToolSpec};

use super::callers::Callers;
use super::connection::{Connection, Role, Session};
use super::lines::Line;
use super::outbox::{Outbox, Writer};
use super::questions::Questions;
use super::request;

struct Peer {
    session: std::sync::Arc<Session>,
    connection: Connection,
    writer: Writer,
    output: BufReader<PipeReader>,
}

impl Peer {
    /// A session whose one tool gives its arguments back.
    fn new() -> Self {
        let spec = ToolSpec {
            name: "echo".to_owned(),
            tier: Tier::Read,
            parallel_safe: true,
            description: "Gives its arguments back.".to_owned(),
            schema: json!({"type": "object"}),
        };
        let registry = Registry::builder()
            .add_dynamic(spec, |_, args| {
                Ok(Output {
                    text: "echo".to_owned(),
                    data: args,
                    images: Vec::new(),
                })
            })
            .build()
            .expect("one tool");
        let session = Session::start(
            Run::builder(registry),
            Policy::new(Tier::Read),
            Callers::default(),
        );
        let (reader, output) = std::io::pipe().expect("a pipe");
        let (out, writer) = Outbox::start("test", output, || ()).expect("a thread");
        let questions = Questions::unattended(out.clone());
        let connection = Connection::new(session.clone(), Role::Harness, out, questions);
        Self {
            session,
            connection,
            writer,
            output: BufReader::new(reader),
        }
    }

    fn send(&self, line: &[u8]) {
        self.connection.follow(Line::Whole(line.to_vec()));
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).expect("a line of JSON")
    }

    /// Ends the session and returns the lines that nobody has read.
    fn end(self) -> Vec<Value> {
        self.connection.close();
        self.session.end();
        self.writer.finish(Duration::from_secs(60));
        drop(self.connection);
        let lines = self.output.lines();
        lines
            .map(|line| serde_json::from_str(&line.expect("UTF-8")).expect("JSON"))
            .collect()
    }
}

/// What `line` is answered with, without the hint.
#[track_caller]
fn check(line: &str, expected: Value) {
    let mut peer = Peer::new();
    peer.send(line.as_bytes());
    let mut answer = peer.next();
    if let Some(error) = answer["error"].as_object_mut() {
        assert!(error.remove("hint").is_some(), "{line}");
        let message = error.remove("message");
        let kind = error["kind"].clone();
        answer["error"] = json!([kind, message]);
    }
    assert_eq!(answer, expected, "{line}");
    assert_eq!(peer.end(), [] as [Value; 0], "one answer to {line}");
}

fn refused(about: (&str, Value), kind: &str, message: &str) -> Value {
    json!({about.0: about.1, "ok": false, "error": [kind, message]})
}

// Each bad line is answered with an error that quotes the id where it can be read.
#[test]
fn bad_lines_are_answered() {
    let null = ("id", Value::Null);
    let bad = |about: (&str, Value), message: &str| refused(about, "invalid_args", message);
    check("[1]", bad(null.clone(), "the line is JSON, but no object"));
    check("{}", bad(null.clone(), "the line asks for nothing"));
    check(
        r#"{"id":7}"#,
        bad(
            ("id", json!(7)),
            "the request lacks `tool`, the name of the tool to call",
        ),
    );
    check(
        r#"{"id":"x","tool":"echo","cancel":1}"#,
        bad(
            ("id", json!("x")),
            "the line asks for several things: tool, cancel",
        ),
    );
    check(r#"{"tool":"echo"}"#, bad(null.clone(), "`id` is missing"));
    check(
        r#"{"id":1.5,"tool":"echo"}"#,
        bad(
            ("id", json!(1.5)),
            "an id is a whole number or a text of at most 256 bytes",
        ),
    );
    check(
        r#"{"id":1,"tool":5}"#,
        bad(("id", json!(1)), "`tool` takes a text"),
    );
    check(
        r#"{"id":1,"tool":"echo","approved":true}"#,
        bad(
            ("id", json!(1)),
            "`approved` and `approve` are for the commands of a background session",
        ),
    );
    check(
        r#"{"id":1,"tool":"ecko"}"#,
        refused(("id", json!(1)), "unknown_tool", "unknown tool 'ecko'"),
    );
    check(
        r#"{"cancel":9}"#,
        refused(("cancel", json!(9)), "not_found", "no call 9 is under way"),
    );
    check(
        r#"{"answer":"q_1","skip":true}"#,
        refused(
            ("answer", json!("q_1")),
            "not_found",
            "no question q_1 is open",
        ),
    );
    check(
        r#"{"answer":"q_1"}"#,
        bad(
            ("answer", json!("q_1")),
            "an answer has `choices` and `text`, or \"skip\":true, or `approve`",
        ),
    );
    check(
        r#"{"return":"c_1"}"#,
        refused(
            ("return", json!("c_1")),
            "not_found",
            "no call c_1 waits for a return",
        ),
    );
    check(
        r#"{"return":"c_1","error":{"kind":"odd","message":"m"}}"#,
        bad(("return", json!("c_1")), "unknown kind of error \"odd\""),
    );
    check(r#"{"list":1}"#, bad(null.clone(), "`list` takes \"tools\""));
    check(
        r#"{"status":true}"#,
        refused(
            ("status", json!(true)),
            "invalid_args",
            "this is no background session: it ends with its input",
        ),
    );
}

// The id is found in a line that breaks later on, in a line that is no UTF-8, and in the beginning of a
// line over the limit; not in what is nested.
#[test]
fn the_id_of_a_broken_line_is_quoted() {
    for (line, id) in [
        (&b"{\"id\":3,\"tool\":\"echo\",\"args\":{"[..], json!(3)),
        (
            b"{\"tool\":\"echo\",\"args\":{\"id\":1},\"id\":\"a\",",
            json!("a"),
        ),
        (b"{\"id\":4,\"tool\":\"\xff\"}", json!(4)),
        (b"{\"args\":{\"id\":1}", Value::Null),
        (b"{\"id\":[1],", Value::Null),
        (b"\xff\xfe", Value::Null),
        (b"{\"id\":1", json!(1)),
    ] {
        let mut peer = Peer::new();
        peer.send(line);
        let answer = peer.next();
        assert_eq!(answer["id"], id, "{}", String::from_utf8_lossy(line));
        assert_eq!(answer["error"]["kind"], "invalid_args");
        peer.end();
    }
    let bad = request::too_long(b"{\"id\":12,\"tool\":\"echo\",\"args\":{\"x\":\"aaaa");
    assert_eq!(bad.about, Some(("id", json!(12))));
    assert!(bad.error.message().contains("16777216 bytes"));
}

// An id is free again as soon as its answer can be read; while it is not, it is refused.
#[test]
fn ids_are_numbers_or_texts_and_used_once_at_a_time() {
    let mut peer = Peer::new();
    for id in [json!(1), json!("1"), json!(-5), json!(1)] {
        let call = json!({"id": id, "tool": "echo", "args": {"a": [1, null]}});
        peer.send(call.to_string().as_bytes());
        assert_eq!(
            peer.next(),
            json!({"event": "tool", "name": "echo", "id": id})
        );
        assert_eq!(
            peer.next(),
            json!({"id": id, "ok": true, "text": "echo", "data": {"a": [1, null]}, "images": []})
        );
    }
    peer.end();
}

/// Bytes that are nothing, pieces of requests, and requests with a hole.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let valid = prop::sample::select(vec![
        r#"{"id":1,"tool":"echo","args":{"a":"\u00e9"}}"#,
        r#"{"id":"x","tool":"nosuch","args":[]}"#,
        r#"{"list":"tools"}"#,
        r#"{"cancel":1}"#,
        r#"{"answer":"q_1","choices":[2],"text":null}"#,
        r#"{"register":{"name":"","tier":"read","description":"d","schema":{}}}"#,
        r#"{"return":"c_1","error":{"kind":"failed","message":"m"}}"#,
        r#"{"stop":true}"#,
    ]);
    let damaged = (valid, any::<prop::sample::Index>(), any::<u8>(), 0..3usize).prop_map(
        |(line, at, byte, how)| {
            let mut line = line.as_bytes().to_vec();
            let at = at.index(line.len());
            match how {
                0 => line.truncate(at),
                1 => line[at] = byte,
                _ => line.insert(at, byte),
            }
            line
        },
    );
    prop_oneof![prop::collection::vec(any::<u8>(), 0..40), damaged].prop_map(|mut line| {
        line.retain(|byte| *byte != b'\n');
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_line_has_one_answer_and_the_session_goes_on(lines in prop::collection::vec(lines(), 1..20)) {
        let mut peer = Peer::new();
        let mut expected = 0;
        for line in &lines {
            peer.send(line);
            expected += usize::from(!line.iter().all(u8::is_ascii_whitespace));
        }
        for _ in 0..expected {
            while !peer.next()["event"].is_null() {}
        }
        peer.send(br#"{"list":"tools"}"#);
        prop_assert_eq!(&peer.next()["tools"][0]["name"], "echo");
        let rest = peer.end();
        prop_assert_eq!(rest, Vec::<Value>::new());
    }
}
