//! What becomes of a server's answers, with a scripted one: caps, encodings, readiness, odd shapes.

use std::time::Duration;

use serde_json::{Value, json};
use toolbox::lsp::servers::Ready;
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake, fake_row, fake_with};

fn good() -> Value {
    json!({
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true
    })
}

fn range(line: u64, from: u64, to: u64) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

fn ask(action: &str) -> Value {
    json!({"action": action, "file": "a.fk", "line": 1, "symbol": "two"})
}

// R22: 50 uses are all listed, of 51 one is cut, and both numbers are told.
#[test]
fn references_are_capped_at_50() {
    for (n, shown) in [(50, 50), (51, 50)] {
        let uses: Vec<Value> = (0..n)
            .map(|line| json!({"uri": "file:///outside/x.fk", "range": range(line, 0, 1)}))
            .collect();
        let scenario =
            json!({"capabilities": good(), "answers": {"textDocument/references": uses}});
        let Some(project) = fake(scenario) else {
            return;
        };
        let output = project.call(ask("references")).expect("an answer");
        assert_eq!(
            (&output.data["shown"], &output.data["total"]),
            (&json!(shown), &json!(n))
        );
        assert_eq!(
            output.data["locations"].as_array().map(Vec::len),
            Some(shown)
        );
        assert_eq!(output.text.contains("1 cut"), n > 50, "{}", output.text);
        assert_eq!(output.data["locations"][0]["file"], "/outside/x.fk");
        let asked = &project.received_of("textDocument/references")[0]["params"];
        assert_eq!(asked["context"]["includeDeclaration"], true);
    }
}

// R17, R22: what an index remembers of a file that is gone is no answer.
#[test]
fn places_in_files_that_are_gone_are_left_out() {
    let there = json!({"uri": "${root}/a.fk", "range": range(0, 0, 1)});
    let gone = json!({"uri": "${root}/gone.fk", "range": range(0, 0, 1)});
    let symbol =
        |name: &str, location: &Value| json!({"name": name, "kind": 12, "location": location});
    let scenario = json!({"capabilities": good(), "answers": {
        "textDocument/references": [there, gone],
        "workspace/symbol": [symbol("two", &there), symbol("twofold", &gone)],
    }});
    let Some(project) = fake(scenario) else {
        return;
    };
    let output = project.call(ask("references")).expect("an answer");
    assert_eq!(output.data["total"], 1, "{}", output.text);
    let query = json!({"action": "symbols", "query": "two"});
    let output = project.call(query).expect("an answer");
    assert_eq!(output.data["total"], 1, "{}", output.text);
}

// R24: the same at 100 for the workspace.
#[test]
fn workspace_symbols_are_capped_at_100() {
    for n in [100, 101] {
        let symbols: Vec<Value> = (0..n)
            .map(|line| {
                json!({"name": format!("two{line:03}"), "kind": 12, "location":
                    {"uri": "file:///outside/x.fk", "range": range(line, 0, 1)}})
            })
            .collect();
        let scenario = json!({"capabilities": good(), "answers": {"workspace/symbol": symbols}});
        let Some(project) = fake(scenario) else {
            return;
        };
        let output = project
            .call(json!({"action": "symbols", "query": "two"}))
            .expect("an answer");
        assert_eq!(
            (&output.data["shown"], &output.data["total"]),
            (&json!(100), &json!(n))
        );
        assert_eq!(output.text.contains("1 cut"), n > 100, "{}", output.text);
        assert_eq!(output.data["symbols"][0]["name"], "two000");
    }
}

// R25, D4: the same at 200 for a document; a query narrows it before the cap.
#[test]
fn document_symbols_are_capped_at_200_and_narrowed() {
    for n in [200, 201] {
        let symbols: Vec<Value> = (0..n)
            .map(|at| {
                json!({"name": format!("s{at:03}"), "kind": 13, "range": range(0, 0, 3),
                    "selectionRange": range(0, 0, 3)})
            })
            .collect();
        let answers = json!({"textDocument/documentSymbol": symbols});
        let Some(project) = fake(json!({"capabilities": good(), "answers": answers})) else {
            return;
        };
        let args = json!({"action": "symbols", "file": "a.fk"});
        let output = project.call(args).expect("an answer");
        assert_eq!(
            (&output.data["shown"], &output.data["total"]),
            (&json!(200), &json!(n))
        );
        assert_eq!(output.text.contains("1 cut"), n > 200, "{}", output.text);
        let args = json!({"action": "symbols", "file": "a.fk", "query": "S19"});
        let output = project.call(args).expect("an answer");
        assert_eq!(output.data["total"], 10, "s190 to s199, whatever the case");
    }
}

// R25: a tree stays one; what contains a symbol is named, also where the server answers flat.
#[test]
fn document_symbols_keep_their_tree() {
    let inner = json!({"name": "inner", "kind": 6, "range": range(0, 4, 7),
        "selectionRange": range(0, 4, 7)});
    let outer = json!({"name": "Outer", "kind": 5, "detail": "class", "children": [inner],
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 2}},
        "selectionRange": range(0, 0, 3)});
    let flat = json!({"name": "flat", "kind": 12, "containerName": "Box",
        "location": {"uri": "file:///x", "range": range(1, 0, 5)}});
    let answers = json!({"textDocument/documentSymbol": [flat, outer]});
    let Some(project) = fake(json!({"capabilities": good(), "answers": answers})) else {
        return;
    };
    let output = project
        .call(json!({"action": "symbols", "file": "a.fk"}))
        .expect("an answer");
    assert_eq!(
        output.text,
        "3 symbols: a.fk\nclass Outer :1-2\n  method inner :1\nfunction flat :2\n"
    );
    let symbols = &output.data["symbols"];
    assert_eq!(
        (&symbols[1]["container"], &symbols[1]["depth"]),
        (&json!("Outer"), &json!(1))
    );
    assert_eq!(symbols[2]["container"], "Box");
}

// Issue 4: every encoding, both ways, right of an emoji and of an accent.
#[test]
fn places_are_counted_in_the_encoding_of_the_server() {
    for (encoding, character) in [
        (json!("utf-8"), 7),
        (json!("utf-16"), 4),
        (json!("utf-32"), 3),
        (Value::Null, 4),
    ] {
        let mut capabilities = good();
        if !encoding.is_null() {
            capabilities["positionEncoding"] = encoding.clone();
        }
        // The answer is the place of `two` itself; its file is filled in below by its path.
        let Some(project) = fake_with(json!({"capabilities": capabilities}), |_, options| options)
        else {
            return;
        };
        project.write("a.fk", "\u{FEFF}é😀 two\r\nnext\r\n");
        let uri = toolbox::lsp::uri::from_path(&project.path("a.fk"));
        let place = json!({"uri": uri, "range": range(0, character, character + 3)});
        let scenario = json!({
            "capabilities": capabilities,
            "answers": {"textDocument/definition": place}
        });
        let Some(project) = answering(&project, scenario) else {
            return;
        };
        let output = project.call(ask("definition")).expect("an answer");
        let asked = &project.received_of("textDocument/definition")[0]["params"]["position"];
        assert_eq!(
            asked,
            &json!({"line": 0, "character": character}),
            "{encoding}"
        );
        let found = &output.data["locations"][0];
        assert_eq!(
            (&found["line"], &found["column"]),
            (&json!(1), &json!(4)),
            "{encoding}"
        );
        assert_eq!(found["text"], "é😀 two", "{encoding}");
        let opened = &project.received_of("textDocument/didOpen")[0]["params"]["textDocument"];
        assert_eq!(
            opened["text"], "é😀 two\r\nnext\r\n",
            "the mark is stripped"
        );
    }
}

/// A second supervisor over the same folder: an answer that names a file needs to know where it is.
fn answering(first: &Project, scenario: Value) -> Option<Project> {
    let text = first.read("a.fk")?;
    let from = first.work().display().to_string();
    let project = fake_with(json!({}), |_, options| options)?;
    let to = project.work().display().to_string();
    let scenario = scenario.to_string().replace(&from, &to);
    let scenario: Value = serde_json::from_str(&scenario).expect("JSON");
    let project = project.with_scenario(scenario);
    project.write("a.fk", &text);
    Some(project)
}

// Issue 4, point 4: an answer waits for the work that the server announced.
#[test]
fn answers_wait_until_the_server_has_loaded() {
    let hover = |text: &str| json!({"textDocument/hover": {"contents": text}});
    let scenario = json!({
        "capabilities": good(),
        "progress": ["textDocument/didOpen", 0.3],
        "busy_answers": hover("half"),
        "answers": hover("whole")
    });
    let Some(project) = fake_with(scenario, |row, options| {
        row.ready = Ready::ProgressAfterOpen;
        options
    }) else {
        return;
    };
    let output = project.call(ask("hover")).expect("an answer");
    assert_eq!(output.data["signature"], "whole");
    assert_eq!(output.data["incomplete"], Value::Null);
}

// The bound of that wait: the answer is given and says that it may be half.
#[test]
fn an_answer_before_the_index_says_so() {
    let scenario = json!({
        "capabilities": good(),
        "progress": ["textDocument/didOpen", null],
        "busy_answers": {"textDocument/hover": {"contents": "half"}}
    });
    let Some(project) = fake_with(scenario, |row, mut options| {
        row.ready = Ready::ProgressAfterOpen;
        options.timeouts.ready = Duration::from_millis(300);
        options
    }) else {
        return;
    };
    let output = project.call(ask("hover")).expect("an answer");
    assert_eq!(output.data["signature"], "half");
    assert_eq!(output.data["incomplete"], "Analyzing…");
    assert!(
        output.text.contains("index incomplete: Analyzing…"),
        "{}",
        output.text
    );
}

// A capability that is not there is not asked for; one that was registered later is.
#[test]
fn what_a_server_does_not_offer_is_said() {
    let register = json!({"registrations": [{"id": "h", "method": "textDocument/hover",
        "registerOptions": {}}]});
    let scenario = json!({
        "capabilities": {"documentSymbolProvider": true},
        "ask": [{"method": "client/registerCapability", "params": register}],
        "answers": {"textDocument/hover": {"contents": "two"}}
    });
    let Some(project) = fake(scenario) else {
        return;
    };
    project.refuses(
        ask("definition"),
        ErrorKind::Unavailable,
        "fake does not offer definition",
    );
    assert_eq!(
        project.received_of("textDocument/definition"),
        [] as [Value; 0]
    );
    project
        .call(json!({"action": "symbols", "file": "a.fk"}))
        .expect("an answer");
    assert_eq!(
        project.call(ask("hover")).expect("an answer").data["signature"],
        "two"
    );
}

// The Dart server: `pubspec.yaml`, analysis as progress, and half answers until it has ended.
#[test]
fn a_dart_server_is_waited_for() {
    let Some(project) = fake_with(json!({}), |_, mut options| {
        let place = json!({"uri": "file:///sdk/core.dart", "range": range(4, 6, 9)});
        let mut dart = fake_row(&json!({
            "capabilities": good(),
            "progress": ["textDocument/didOpen", 0.3],
            "busy_answers": {"textDocument/definition": []},
            "answers": {"textDocument/definition": [place]}
        }));
        let built_in = toolbox::lsp::servers::built_in();
        let row = built_in
            .into_iter()
            .find(|row| row.id == "dart")
            .expect("it is built in");
        dart = toolbox::lsp::servers::ServerRow {
            commands: dart.commands,
            ..row
        };
        options.rows.push(dart);
        options
    }) else {
        return;
    };
    project.write("pubspec.yaml", "name: demo\n");
    project.write("main.dart", "void main() => print(1);\n");
    let args = json!({"action": "definition", "file": "main.dart", "line": 1, "symbol": "print"});
    let output = project.call(args).expect("an answer");
    assert_eq!(
        output.data["locations"][0]["file"], "/sdk/core.dart",
        "{}",
        output.text
    );
    let status = project
        .call(json!({"action": "status"}))
        .expect("an answer");
    assert!(status.text.contains("dart (.): running"), "{}", status.text);
}
