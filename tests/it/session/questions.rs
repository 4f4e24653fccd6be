//! Questions and approvals over the wire.

use serde_json::{Value, json};

use super::background::Background;
use super::driver::{Checkout, Driven};
use crate::support::terminal::Terminal;

fn question() -> Value {
    json!({"question": "Which?", "context": "It matters.", "options": [{"label": "a"}, {"label": "b"}]})
}

fn edit() -> Value {
    json!({"pattern": "f($A)", "rewrite": "g($A)", "language": "javascript"})
}

/// Answers a question with something that does not fit it, and returns the refusal.
fn refused(session: &mut Driven, answer: Value) -> String {
    let mut line = answer;
    line["answer"] = json!("q_1");
    session.send(line);
    let refusal = session.find("refusal", |line| line["answer"] == "q_1");
    assert_eq!(refusal["error"]["kind"], "invalid_args");
    let message = refusal["error"]["message"].as_str();
    message.expect("text").to_owned()
}

// R116, R117: the card is an event, the call waits for its answer; one that does not fit is refused and the
// card waits on.
#[test]
fn a_question_is_answered() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--questions", "--conversation", "desk 4"]);
    session.call(1, "ask_user", question());
    let event = session.event("question");
    assert_eq!(event["question"], "q_1");
    let card = &event["card"];
    assert_eq!(card["kind"], "question");
    assert_eq!(card["question"], "Which?");
    assert_eq!(card["context"], "It matters.");
    assert_eq!(card["options"], json!([{"label": "a"}, {"label": "b"}]));
    // R127, D43: the destination of a question is its conversation.
    assert_eq!(card["conversation"], "desk 4");
    assert_eq!(card["timeout_s"], Value::Null);
    let mut refused = |answer: Value| refused(&mut session, answer);
    assert!(refused(json!({"choices": [3]})).contains("no option 3"));
    assert!(refused(json!({"choices": [0]})).contains("no option 0"));
    assert!(refused(json!({"choices": [1, 2]})).contains("one option"));
    assert!(refused(json!({"text": "c"})).contains("no typed text"));
    assert!(refused(json!({"approve": true})).contains("no approval"));
    assert!(refused(json!({"choices": []})).contains("empty"));
    session.send(json!({"answer": "q_1", "choices": [2], "text": null}));
    let answer = session.answer(1);
    assert_eq!(answer["data"]["outcome"], "answered");
    assert_eq!(answer["data"]["choices"], json!([2]));
    assert_eq!(answer["data"]["labels"], json!(["b"]));
    // R124: skipping is a success.
    session.call(2, "ask_user", question());
    assert_eq!(session.event("question")["question"], "q_2");
    session.send(json!({"answer": "q_2", "skip": true}));
    let answer = session.answer(2);
    assert_eq!(
        (&answer["ok"], &answer["data"]["outcome"]),
        (&json!(true), &json!("skipped"))
    );
    // A cancelled call withdraws its question.
    session.call(3, "ask_user", question());
    session.event("question");
    session.send(json!({"cancel": 3}));
    assert_eq!(session.answer(3)["error"]["kind"], "cancelled");
    let closed = session.event("question_closed");
    assert_eq!(
        (&closed["question"], &closed["reason"]),
        (&json!("q_3"), &json!("cancelled"))
    );
    session.send(json!({"answer": "q_3", "skip": true}));
    let late = session.find("refusal", |line| line["answer"] == "q_3");
    assert_eq!(late["error"]["kind"], "not_found");
}

// R125: timing out is an error; R128: with nobody attached the call fails at once.
#[test]
fn nobody_answers() {
    let checkout = Checkout::new(&[]);
    let mut session = checkout.session(&["--questions", "--question-timeout", "0.05"]);
    session.call(1, "ask_user", question());
    assert_eq!(session.event("question")["card"]["timeout_s"], 0.05);
    assert_eq!(session.answer(1)["error"]["kind"], "timeout");
    assert_eq!(session.event("question_closed")["reason"], "timed_out");
    session.call(2, "ask_user", question());
    session.event("question");
    session.send(json!({"answer": "q_2", "unattended": true}));
    let answer = session.answer(2);
    assert_eq!(answer["ok"], false);
    let mut alone = checkout.session(&[]);
    alone.call(1, "ask_user", question());
    let failed = alone.answer(1);
    assert_eq!(failed["error"]["kind"], answer["error"]["kind"]);
    assert!(!alone.has_seen(|line| line["event"] == "question"));
}

// R126, D37: an approval is a card of the same kind; what is no clear yes is a refusal.
#[test]
fn an_approval_is_decided() {
    let checkout = Checkout::new(&[("a.js", "f(1);\n")]);
    let mut session = checkout.session(&["--questions"]);
    for (id, answer) in [
        (1, json!({"approve": false})),
        (2, json!({"skip": true})),
        (3, json!({"unattended": true})),
    ] {
        session.call(id, "ast_edit", edit());
        let event = session.event("question");
        assert_eq!(event["card"]["kind"], "approval");
        assert_eq!(event["card"]["call"]["tool"], "ast_edit");
        assert_eq!(event["card"]["call"]["tier"], "write");
        assert_eq!(event["card"]["call"]["args"], edit());
        let mut line = answer;
        line["answer"] = event["question"].clone();
        session.send(line);
        assert_eq!(session.answer(id)["error"]["kind"], "denied");
    }
    assert!(
        !session.has_seen(|line| line["event"] == "tool"),
        "nothing ran"
    );
    session.call(4, "ast_edit", edit());
    let event = session.event("question");
    session.send(json!({"answer": event["question"], "choices": [1]}));
    let refusal = session.find("refusal", |line| line["answer"] == event["question"]);
    assert_eq!(refusal["error"]["kind"], "invalid_args");
    session.send(json!({"answer": event["question"], "approve": true}));
    assert_eq!(session.answer(4)["data"]["edit_id"], "edit_1");
}

// A question of a call in the background session comes to the client that made the call, and its terminal
// shows the card.
#[test]
fn a_question_in_the_background_reaches_its_command() {
    let background = Background::new();
    background.search();
    let args = question().to_string();
    let command = background
        .0
        .toolbox(&["call", "ask_user", &args, "--background"]);
    let mut terminal = Terminal::start(&command);
    terminal.sees("> ");
    assert!(terminal.screen.contains("Which?"), "{}", terminal.screen);
    let mut other = background.connect();
    other.0.send(json!({"status": true}));
    let status = other.0.find("status", |line| line["status"].is_object());
    assert_eq!(
        status["status"]["calls"],
        json!([{"tool": "ask_user", "state": "running"}])
    );
    terminal.types("2\r");
    assert_eq!(terminal.ends().0, Some(0));
    assert!(!other.0.has_seen(|line| line["event"] == "question"));
    // A client without approval of its own is asked.
    other.0.call(1, "ast_edit", edit());
    let event = other.0.event("question");
    other
        .0
        .send(json!({"answer": event["question"], "approve": true}));
    assert_eq!(other.0.answer(1)["ok"], true);
    // One that brings a tier is not; and a client that goes takes its calls along.
    other
        .0
        .send(json!({"id": 2, "tool": "ast_edit", "args": edit(), "approve": "write"}));
    assert_eq!(other.0.answer(2)["ok"], true);
    other.0.call(3, "ask_user", question());
    other.0.event("question");
    drop(other);
    let mut last = background.connect();
    // The call ends soon; each look is answered, so this does not wait for the clock.
    loop {
        last.0.send(json!({"status": true}));
        let status = last.0.find("status", |line| line["status"].is_object());
        if status["status"]["calls"] == json!([]) {
            break;
        }
    }
}
