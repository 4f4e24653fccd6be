//! The tool `ask_user`: its arguments, and the results that are told apart.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolbox::ask::{NO_ANSWER, NobodyThere, QuestionPort};
use toolbox::cancel::Cancel;
use toolbox::run::{CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{Questions, Resources, connect};

use super::*;

/// Answers every card the same way, and keeps them.
struct Desk {
    reply: Reply,
    cards: Mutex<Vec<Card>>,
}

impl QuestionPort for Desk {
    fn ask(&self, card: &Card, _cancel: &Cancel) -> Reply {
        self.cards.lock().expect("free").push(card.clone());
        self.reply.clone()
    }
}

fn desk(reply: Reply) -> Arc<Desk> {
    Arc::new(Desk {
        reply,
        cards: Mutex::default(),
    })
}

fn resources(port: Arc<dyn QuestionPort>) -> Resources {
    let timeout = Some(Duration::from_millis(1500));
    Resources {
        questions: Some(Questions::new(port).with_timeout(timeout)),
        conversation: Some("c-1".to_owned()),
        ..Resources::default()
    }
}

fn ask(port: Arc<dyn QuestionPort>, args: Value) -> Result<Output, ToolError> {
    // R115: tier read, so the default policy lets it run.
    let run = Run::builder(connect(&resources(port))).build();
    run.dispatch("ask_user", args, CallOptions::new())
}

fn two() -> Value {
    json!({"question": "Which?", "options": [{"label": "a"}, {"label": "b", "description": "B"}]})
}

// R127, R4, D43: both the port and the conversation, or no tool.
#[test]
fn it_exists_with_a_port_and_a_conversation_only() {
    let both = resources(desk(Reply::Skipped));
    assert!(connect(&both).get("ask_user").is_some());
    let reason = |resources: &Resources| {
        let registry = connect(resources);
        assert!(registry.get("ask_user").is_none());
        let gone = registry
            .unavailable()
            .into_iter()
            .find(|row| row.name == "ask_user");
        gone.expect("a reason").reason
    };
    let no_port = Resources {
        questions: None,
        ..both.clone()
    };
    assert_eq!(
        reason(&no_port),
        "no port for questions is wired for this run"
    );
    let no_space = Resources {
        conversation: None,
        ..both
    };
    assert!(reason(&no_space).contains("conversation"));
}

// R8, R115, R118
#[test]
fn it_is_a_reading_tool_that_teaches_how_to_ask() {
    let registry = connect(&resources(desk(Reply::Skipped))).limit(Tier::Read);
    let spec = registry.get("ask_user").expect("it is read");
    assert_eq!(spec.tier, Tier::Read);
    assert!(spec.parallel_safe);
    assert!(
        spec.description
            .contains("never write a question as a chat message")
    );
    assert!(spec.description.contains(&NO_ANSWER.to_lowercase()[..20]));
    assert_eq!(spec.schema["required"], json!(["question"]));
}

// R119 to R123, D26: what is asked arrives as it was asked, and the host sets the time.
#[test]
fn the_card_carries_the_arguments() {
    let desk = desk(Reply::Skipped);
    let mut args = two();
    args["context"] = json!("Because.");
    ask(desk.clone(), args).expect("skipped");
    let cards = desk.cards.lock().expect("free");
    let json = serde_json::to_value(&cards[0]).expect("json");
    assert_eq!(
        json,
        json!({
            "kind": "question", "conversation": "c-1", "question": "Which?", "context": "Because.",
            "options": [{"label": "a"}, {"label": "b", "description": "B"}],
            "allow_free_text": false, "multi_select": false, "timeout_s": 1.5
        })
    );
}

// R117, R124, R125, R128, D26: answered, skipped, timed out and nobody there are four different results.
#[test]
fn the_four_results_are_told_apart() {
    let answered = ask(desk(chosen(&[2])), two()).expect("an answer");
    assert_eq!(answered.text, "Answered:\n2. b");
    assert_eq!(
        answered.data,
        json!({"outcome": "answered", "choices": [2], "labels": ["b"], "text": null})
    );
    let skipped = ask(desk(Reply::Skipped), two()).expect("skipping is a success");
    assert_eq!(
        skipped.text,
        format!("The person skipped the question. {NO_ANSWER}")
    );
    assert_eq!(
        skipped.data,
        json!({"outcome": "skipped", "choices": [], "labels": [], "text": null})
    );
    let late = ask(desk(Reply::TimedOut), two()).expect_err("an error");
    assert_eq!(late.kind(), ErrorKind::Timeout);
    assert_eq!(late.message(), "nobody answered the question within 1.5 s");
    assert_eq!(late.hint(), Some(NO_ANSWER));
    let alone = ask(Arc::new(NobodyThere), two()).expect_err("an error");
    assert_eq!(alone.kind(), ErrorKind::Unavailable);
    let stopped = ask(desk(Reply::Cancelled), two()).expect_err("an error");
    assert_eq!(stopped.kind(), ErrorKind::Cancelled);
}

// R122
#[test]
fn a_text_comes_back_as_it_was_typed() {
    let args = json!({"question": "Name?", "allow_free_text": true});
    let output = ask(desk(typed("  Ada\nL. ")), args).expect("an answer");
    assert_eq!(output.data["text"], "  Ada\nL. ");
    assert_eq!(output.data["choices"], json!([]));
    assert_eq!(output.text, "Answered:\n  Ada\nL. ");
}

#[track_caller]
fn refuse(args: Value, expected: Expect) {
    let desk = desk(Reply::Skipped);
    let error = ask(desk.clone(), args).expect_err("bad arguments");
    assert_eq!(error.kind(), ErrorKind::InvalidArgs);
    assert!(
        desk.cards.lock().expect("free").is_empty(),
        "nobody is asked"
    );
    expected.assert_eq(&format!(
        "{}\nhint: {}",
        error.message(),
        error.hint().unwrap_or_default()
    ));
}

// D26
#[test]
fn a_question_that_cannot_be_answered_is_an_error() {
    refuse(
        json!({"question": "Why?"}),
        expect![[r#"
            the question has neither options nor free text: nothing could be answered
            hint: give `options`, or set `allow_free_text` to true"#]],
    );
    refuse(
        json!({"question": " \u{200b}", "allow_free_text": true}),
        expect![[r#"
            the question is empty
            hint: say in `question` what you want to know"#]],
    );
    refuse(
        json!({"question": "?", "options": [{"label": "a"}, {"label": " a"}]}),
        expect![[r#"
            the label 'a' is given twice
            hint: give every option a label of its own"#]],
    );
    refuse(
        json!({"question": "?", "options": [{"label": "a"}, {"label": ""}]}),
        expect![[r#"
            the label of option 2 is empty
            hint: give every option a `label`"#]],
    );
    refuse(
        json!({"question": "?", "options": ["a"]}),
        expect![[r#"
            ask_user: argument `options[0]`: invalid type: string "a", expected struct OptionArgs
            hint: ask_user takes `question` (required), `allow_free_text`, `context`, `multi_select`, `options`"#]],
    );
}

#[test]
fn the_limits_of_a_card_hold() {
    let options = |n_options: usize| {
        let options: Vec<Value> = (0..n_options)
            .map(|idx| json!({"label": format!("{idx}.")}))
            .collect();
        ask(
            desk(Reply::Skipped),
            json!({"question": "?", "options": options}),
        )
    };
    assert!(options(50).is_ok());
    assert!(
        options(51)
            .expect_err("too many")
            .message()
            .starts_with("51 options")
    );
    let length = |n_bytes: usize| {
        let args = json!({"question": "q".repeat(n_bytes), "allow_free_text": true});
        ask(desk(Reply::Skipped), args)
    };
    assert!(length(8192).is_ok());
    assert!(length(8193).is_err());
}

// An answer that the port makes up is a defect of the host, not an answer.
#[test]
fn an_answer_that_does_not_fit_is_told() {
    for reply in [
        chosen(&[3]),
        chosen(&[1, 2]),
        typed("x"),
        Reply::Decided { approved: true },
    ] {
        let error = ask(desk(reply), two()).expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}

// R117: a cancelled call comes back, and nobody is asked any more.
#[test]
fn a_cancelled_call_asks_nobody() {
    let desk = desk(Reply::Skipped);
    let run = Run::builder(connect(&resources(desk.clone()))).build();
    let cancel = Cancel::new();
    cancel.cancel();
    let options = CallOptions::new().with_cancel(cancel);
    let error = run
        .dispatch("ask_user", two(), options)
        .expect_err("cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(desk.cards.lock().expect("free").is_empty());
}
