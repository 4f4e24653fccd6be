//! Servers that misbehave on purpose: none of them blocks or loses a write, and none makes it lie.

use std::time::Instant;

use serde_json::Value;

use super::*;
use crate::support::lsp::{fake, fake_with};
use toolbox::lsp::servers::Ready;

fn item(message: &str) -> Value {
    json!({
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}},
        "severity": 1,
        "message": message,
    })
}

/// A publication after a document was opened or changed.
pub(super) fn publish(on: &str, after_s: f64, version: Value, messages: &[&str]) -> Value {
    let items: Vec<Value> = messages.iter().map(|message| item(message)).collect();
    json!({"on": format!("textDocument/{on}"), "after_s": after_s, "version": version, "items": items})
}

pub(super) fn brief(settle: u64) -> Bounds {
    Bounds {
        baseline: Duration::from_secs(60),
        settle: Duration::from_millis(settle),
        ..patient()
    }
}

// D6: the old diagnostics come first and the new ones 400 ms later, with and without a version.
#[test]
fn old_diagnostics_first_and_new_ones_later_are_told_as_new() {
    for version in [json!("same"), json!(null)] {
        let stale = match version.is_null() {
            true => json!(null),
            false => json!(1),
        };
        let Some(project) = fake(json!({"publish": [
            publish("didOpen", 0.0, version.clone(), &["old one"]),
            publish("didChange", 0.0, stale, &["old one"]),
            publish("didChange", 0.4, version, &["old one", "new one"]),
        ]})) else {
            return;
        };
        let writing = Writing::new(&project, patient());
        let said = writing.write("a.fk", "one\n");
        assert_eq!(said, "new diagnostics:\na.fk:1:1: error: new one");
    }
}

// D2, D6: silence is pending, never clean, and the result does not wait longer than its bound.
#[test]
fn a_server_that_never_publishes_is_pending_within_the_bound() {
    let Some(project) = fake(json!({})) else {
        return;
    };
    let bounds = Bounds {
        baseline: Duration::from_millis(200),
        ..brief(300)
    };
    let writing = Writing::new(&project, bounds);
    // The start is not what is measured.
    project.server("a.fk");
    let began = Instant::now();
    let output = writing.put(&[("a.fk", "one\n")]);
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(
        output.text,
        "written\ndiagnostics pending: fake: no answer yet"
    );
    assert_eq!(output.data["diagnostics"]["state"], "pending");
}

// D6: what comes too late for one result comes with the next one of the run, whatever that did.
#[test]
fn late_diagnostics_come_with_the_next_result() {
    let Some(project) = fake(json!({"publish": [
        publish("didOpen", 0.0, json!("same"), &[]),
        publish("didChange", 1.5, json!("same"), &["late one"]),
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, brief(200));
    let said = writing.write("a.fk", "one\n");
    assert_eq!(said, "diagnostics pending: fake: no answer yet");
    assert_eq!(
        writing.look(),
        "new diagnostics:\na.fk:1:1: error: late one"
    );
    assert_eq!(writing.look(), "", "once");
}

/// What a server like clangd does with a file when a method comes for `file`.
fn parse(on: &str, file: &str, about: &str, (begins_s, ends_s): (f64, f64)) -> [Value; 2] {
    [
        (begins_s, "parsing includes, running Update"),
        (ends_s, "idle"),
    ]
    .map(|(after_s, doing)| {
        json!({
            "on": format!("textDocument/{on}"), "file": file, "about": about,
            "after_s": after_s, "doing": doing,
        })
    })
}

/// A server that looks at a text with what was included before, and parses what is included beside that.
fn parsing(scenario: Vec<Value>) -> Option<Project> {
    let opened = [("a.fk", 0.0), ("b.fk", 0.0)].map(|(file, after_s)| {
        let mut publication = publish("didOpen", after_s, json!("same"), &[]);
        publication["file"] = json!(file);
        publication
    });
    let parsed = [
        parse("didOpen", "a.fk", "a.fk", (0.0, 0.0)),
        parse("didOpen", "b.fk", "b.fk", (0.0, 0.0)),
    ];
    let list: Vec<Value> = scenario
        .into_iter()
        .chain(opened)
        .chain(parsed.into_iter().flatten())
        .collect();
    fake_with(json!({"publish": list}), |row, options| {
        row.id = "clangd".to_owned();
        row.ready = Ready::BackgroundIndex;
        options
    })
}

// D6: what it says of the new text before it has parsed what is included is not its word on it.
#[test]
fn a_text_is_settled_when_what_it_includes_was_parsed() {
    let mut scenario = vec![publish("didChange", 0.0, json!("same"), &["old one"])];
    scenario.extend(parse("didChange", "a.fk", "a.fk", (0.3, 0.7)));
    scenario.push(publish("didChange", 0.6, json!("same"), &["new one"]));
    let Some(project) = parsing(scenario) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\n");
    assert_eq!(said, "new diagnostics:\na.fk:1:1: error: new one");
}

// D6, R33: a file that includes what was written is waited for, too; what comes too late is said to be pending and
// told with the next result, also where that is of another write.
#[test]
fn what_includes_a_written_file_is_waited_for_or_told_later() {
    for (ends_s, is_late) in [(0.4, false), (2.0, true)] {
        let mut broken = publish_for("didSave", "a.fk", "b.fk", &["new one"]);
        broken["after_s"] = json!(ends_s);
        let mut clean = publish("didChange", 0.0, json!("same"), &[]);
        clean["file"] = json!("a.fk");
        let mut scenario = vec![clean, broken];
        scenario.extend(parse("didChange", "a.fk", "a.fk", (0.0, 0.0)));
        scenario.extend(parse("didSave", "a.fk", "b.fk", (0.1, ends_s)));
        let Some(project) = parsing(scenario) else {
            return;
        };
        let server = project.server("b.fk");
        server.sync(&project.path("b.fk")).expect("it is opened");
        let path = project.path("b.fk");
        project.until("it has spoken of the opened file", |_| {
            server.look(|state| state.published().of(&path).is_some())
        });
        let writing = Writing::new(&project, brief(1_200));
        let said = writing.write("a.fk", "one\n");
        let told = "new diagnostics in other files:\nb.fk:1:1: error: new one";
        if !is_late {
            assert_eq!(said, told);
            continue;
        }
        assert_eq!(
            said,
            "diagnostics pending: clangd: it parses what is included in b.fk"
        );
        project.until("it speaks of the other file", |_| {
            server.look(|state| {
                state
                    .published()
                    .of(&path)
                    .is_some_and(|it| !it.items.is_empty())
            })
        });
        let said = writing.write("a.fk", "two\n");
        assert!(said.starts_with(told), "{said}");
    }
}

// D7: the same publication twice is told once; two equal diagnostics are one line with a count.
#[test]
fn a_publication_that_comes_twice_is_told_once() {
    let twice = publish("didChange", 0.0, json!("same"), &["bad one"]);
    let mut equal = publish(
        "didChange",
        0.02,
        json!("same"),
        &["bad one", "bad two", "bad two"],
    );
    equal["items"][2]["range"]["start"]["line"] = json!(1);
    let Some(project) = fake(json!({"publish": [
        publish("didOpen", 0.0, json!("same"), &[]),
        twice.clone(), twice, equal,
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\ntwo\n");
    assert_eq!(
        said,
        "new diagnostics:\na.fk:1:1: error: bad one\na.fk:1:1: error: bad two (2 times)"
    );
    assert_eq!(writing.look(), "");
}

// R31: the server sees the new text, then the save.
#[test]
fn the_server_gets_the_new_text_and_then_the_save() {
    let Some(project) = fake(json!({"publish": [
        publish("didOpen", 0.0, json!("same"), &[]),
        publish("didChange", 0.0, json!("same"), &[]),
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let output = writing.put(&[("a.fk", "new text\n")]);
    assert_eq!(output.text, "written");
    assert_eq!(output.data["diagnostics"]["state"], "clean");
    project.until("it was saved", |project| {
        !project.received_of("textDocument/didSave").is_empty()
    });
    let methods = [
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didSave",
    ];
    let mut received = project.received();
    received.retain(|message| methods.iter().any(|method| message["method"] == *method));
    let seen: Vec<&str> = received
        .iter()
        .filter_map(|it| it["method"].as_str())
        .collect();
    assert_eq!(seen, methods);
    assert_eq!(
        received[0]["params"]["textDocument"]["text"],
        "one two\nthree\n"
    );
    assert_eq!(
        received[1]["params"]["contentChanges"][0]["text"],
        "new text\n"
    );
}

// D6: a wedged server never blocks a write longer than the bound, the second time neither.
#[test]
fn a_server_that_stops_reading_does_not_hold_up_writes() {
    let Some(project) = fake(json!({
        "deaf_on": "textDocument/didChange",
        "publish": [publish("didOpen", 0.0, json!("same"), &[])],
    })) else {
        return;
    };
    let bounds = Bounds {
        baseline: Duration::from_millis(500),
        late: Duration::from_millis(100),
        ..brief(300)
    };
    let writing = Writing::new(&project, bounds);
    project.server("a.fk");
    for n in 0..3 {
        let text = format!("{n}\n{}", "x".repeat(2 << 20));
        let began = Instant::now();
        let said = writing.write("a.fk", &text);
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{:?}",
            began.elapsed()
        );
        assert!(said.starts_with("diagnostics pending: fake"), "{said}");
    }
}

// D6: a server that dies of the new text costs its diagnostics and nothing else.
#[test]
fn a_server_that_crashes_on_the_change_does_not_fail_the_write() {
    let Some(project) = fake(json!({
        "crash_on": "textDocument/didChange",
        "publish": [publish("didOpen", 0.0, json!("same"), &[])],
    })) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\n");
    assert!(said.starts_with("diagnostics unavailable: "), "{said}");
    assert!(said.contains("the fake falls over"), "{said}");
}

// D6: a server that never starts is waited for within the bounds, and said to be starting.
#[test]
fn a_server_that_never_answers_initialize_does_not_hold_up_writes() {
    let Some(project) = fake(json!({"initialize": "never"})) else {
        return;
    };
    let bounds = Bounds {
        baseline: Duration::from_millis(200),
        ..brief(300)
    };
    let writing = Writing::new(&project, bounds);
    let began = Instant::now();
    let said = writing.write("a.fk", "one\n");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(said, "diagnostics pending: the language server is starting");
}

// R32: a new file has no older diagnostics; a file of no known language has nothing to say.
#[test]
fn all_of_a_new_file_is_new_and_other_files_are_silent() {
    let Some(project) = fake(json!({"publish": [
        publish("didOpen", 0.0, json!("same"), &["in the new file"]),
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("new.fk", "x\n");
    assert_eq!(said, "new diagnostics:\nnew.fk:1:1: error: in the new file");
    let output = writing.put(&[("notes.txt", "x\n")]);
    assert_eq!(output.text, "written");
}

// D2: information and hints are not told.
#[test]
fn remarks_and_suggestions_are_not_told() {
    let mut change = publish(
        "didChange",
        0.0,
        json!("same"),
        &["a remark", "a hint", "a warning"],
    );
    for (n, severity) in [3, 4, 2].into_iter().enumerate() {
        change["items"][n]["severity"] = json!(severity);
    }
    let Some(project) = fake(json!({"publish": [
        publish("didOpen", 0.0, json!("same"), &[]), change,
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "one\n");
    assert_eq!(said, "new diagnostics:\na.fk:1:1: warning: a warning");
}

/// The same for one file only, and about that one or another.
fn publish_for(on: &str, file: &str, about: &str, messages: &[&str]) -> Value {
    let mut publication = publish(on, 0.0, json!("same"), messages);
    publication["file"] = json!(file);
    publication["about"] = json!(about);
    publication
}

// Issue 4: other files are compared with what they had before, also one that a query opened meanwhile.
#[test]
fn a_file_that_a_query_opened_is_no_news() {
    let Some(project) = fake(json!({"publish": [
        publish_for("didOpen", "c.fk", "c.fk", &[]),
        publish_for("didOpen", "a.fk", "a.fk", &[]),
        publish_for("didOpen", "b.fk", "b.fk", &["old one"]),
        publish_for("didChange", "a.fk", "a.fk", &[]),
        publish_for("didChange", "a.fk", "b.fk", &["old one", "new one"]),
    ]})) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    // The run has written something that has no part in this.
    assert_eq!(writing.write("c.fk", "one\n"), "");
    let server = project.server("b.fk");
    server.sync(&project.path("b.fk")).expect("it is opened");
    let path = project.path("b.fk");
    project.until("it speaks of the opened file", |_| {
        server.look(|state| state.published().of(&path).is_some())
    });
    assert_eq!(writing.look(), "", "what was there is no news");
    let said = writing.write("a.fk", "one\ntwo\n");
    project.until("it speaks of the other file", |_| {
        server.look(|state| {
            let said = state.published().of(&path);
            said.is_some_and(|said| said.items.len() == 2)
        })
    });
    let said = format!("{said}{}", writing.look());
    assert_eq!(
        said,
        "new diagnostics in other files:\nb.fk:1:1: error: new one"
    );
}

// R34: what the call itself lists is not told a second time beneath it, and its own data stays.
#[test]
fn what_an_answer_lists_is_not_told_beneath_it() {
    let Some(project) = fake(json!({"publish": [
        publish_for("didOpen", "a.fk", "a.fk", &[]),
        publish_for("didChange", "a.fk", "a.fk", &[]),
        publish_for("didOpen", "b.fk", "b.fk", &["old one"]),
        publish_for("didChange", "b.fk", "b.fk", &["old one", "new one"]),
        publish_for("didChange", "b.fk", "c.fk", &["far one"]),
    ]})) else {
        return;
    };
    let put = Put {
        root: project.work(),
        committer: Committer::new(project.work().with_file_name("state")),
    };
    let hook = DiagnosticsOnWrite::with_bounds(project.supervisor.clone(), patient());
    let run = Run::builder(toolbox::tools::connect(&project.resources()))
        .typed_tool(put)
        .expect("another tool")
        .approver(AutoApprove::up_to(Tier::Write))
        .after_write(Arc::new(hook))
        .build();
    let call = |tool: &str, args: Value| {
        let res = run.dispatch(tool, args, CallOptions::new());
        res.expect("an answer")
    };
    let ask = || call("lsp", json!({"action": "diagnostics", "file": "b.fk"}));
    call("put", json!({"files": [["a.fk", "one\n"]]}));
    assert_eq!(ask().text, "1 error\nb.fk:1:1: error: old one");
    project.write("b.fk", "changed by somebody\n");
    let path = project.path("c.fk");
    let server = project.server("b.fk");
    let answer = ask();
    let messages: Vec<&str> = answer.data["diagnostics"]
        .as_array()
        .expect("the list of the answer")
        .iter()
        .filter_map(|diagnostic| diagnostic["message"].as_str())
        .collect();
    assert_eq!(messages, ["new one", "old one"], "{}", answer.text);
    assert_eq!(answer.text.matches("new one").count(), 1, "{}", answer.text);
    // What the answer does not list is still told, in it or after it.
    project.until("it speaks of the far file", |_| {
        server.look(|state| state.published().of(&path).is_some())
    });
    let later = call("lsp", json!({"action": "status"}));
    let told = [&answer, &later].map(|it| it.text.matches("error: far one").count());
    assert_eq!(
        told.iter().sum::<usize>(),
        1,
        "{}\n---\n{}",
        answer.text,
        later.text
    );
    assert!(!later.text.contains("error: new one"), "{}", later.text);
}

// D6: a server that is asked says "not now" twice, or that texts changed, and is asked again; one that says
// "do not ask" is not.
#[test]
fn a_cancelled_pull_is_repeated() {
    for (code, data, n_asked) in [
        (-32802, json!({"retriggerRequest": true}), 3),
        (-32802, json!(null), 3),
        (-32801, json!(null), 3),
    ] {
        let Some(project) = pulling(code, &data) else {
            return;
        };
        let output = project
            .call(json!({"action": "diagnostics", "file": "a.fk"}))
            .expect("an answer");
        assert_eq!(output.text, "1 error\na.fk:1:1: error: bad");
        let asked = project.received_of("textDocument/diagnostic");
        assert_eq!(asked.len(), n_asked);
    }
    let Some(project) = pulling(-32802, &json!({"retriggerRequest": false})) else {
        return;
    };
    let output = project
        .call(json!({"action": "diagnostics", "file": "a.fk"}))
        .expect("an answer");
    assert_eq!(output.data["state"], "pending", "{}", output.text);
    assert_eq!(project.received_of("textDocument/diagnostic").len(), 1);
}

/// A server that is asked for diagnostics and refuses twice first.
fn pulling(code: i64, data: &Value) -> Option<Project> {
    let scenario = json!({
        "capabilities": {"diagnosticProvider": {"interFileDependencies": false, "workspaceDiagnostics": false}},
        "errors": {"textDocument/diagnostic": [[code, data], [code, data]]},
        "answers": {"textDocument/diagnostic": {"kind": "full", "items": [item("bad")]}},
    });
    fake_with(scenario, |row, options| {
        row.pull = true;
        options
    })
}

/// A server that is asked about its whole project, and finds this in turn.
fn surveying(surveys: Value, is_endless: bool) -> Option<Project> {
    let scenario = json!({
        "capabilities": {"diagnosticProvider": {"interFileDependencies": true, "workspaceDiagnostics": true}},
        "answers": {"textDocument/diagnostic": {"kind": "full", "items": []}},
        "surveys": surveys,
        "endless_surveys": is_endless,
    });
    fake_with(scenario, |row, options| {
        row.pull = true;
        options
    })
}

// Issue 4: the answer about a whole project is held back until something changes; the end of the announced
// work settles it, and what was there before the write is no news.
#[test]
fn a_survey_ends_with_the_work_that_was_announced_for_it() {
    let old = json!({"b.fk": [item("old")]});
    let new = json!({"b.fk": [item("old"), item("new one")], "c.fk": [item("new two")]});
    let Some(project) = surveying(json!([old, new]), false) else {
        return;
    };
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.fk", "changed\n");
    assert_eq!(
        said,
        "new diagnostics in other files:\nb.fk:1:1: error: new one\nc.fk:1:1: error: new two"
    );
    let asked = project.received_of("workspace/diagnostic");
    assert_eq!(asked[0]["params"]["previousResultIds"], json!([]));
    let known = asked[1]["params"]["previousResultIds"]
        .as_array()
        .expect("a list");
    assert_eq!(known[0]["value"], "0", "the server is told what is known");
    // Nobody waits for the answers any more.
    project.until("both are withdrawn", |project| {
        project.received_of("$/cancelRequest").len() == 2
    });
    assert_eq!(writing.write("a.fk", "changed again\n"), "");
}

// A project that is too large to be looked at within the bounds tells nothing old as new, and is not asked
// about for ever.
#[test]
fn a_survey_without_end_holds_no_write_up_and_is_given_up() {
    let found = json!({"b.fk": [item("old")]});
    let Some(project) = surveying(json!([{}, found]), true) else {
        return;
    };
    // The server is there before the short bounds count.
    project.server("a.fk");
    let bounds = Bounds {
        baseline: Duration::from_millis(50),
        settle: Duration::from_millis(300),
        compiler: Duration::from_millis(300),
        late: Duration::from_millis(50),
    };
    let writing = Writing::new(&project, bounds);
    for n in 0..6 {
        let said = writing.write("a.fk", &format!("{n}\n"));
        // What it has found until then is not passed off as all.
        let pending = "diagnostics pending: fake: it has not come to the whole project";
        assert_eq!(said, if n < 2 { pending } else { "" }, "{n}");
    }
    let n_asked = project.received_of("workspace/diagnostic").len();
    assert!((1..=4).contains(&n_asked), "{n_asked}");
}
