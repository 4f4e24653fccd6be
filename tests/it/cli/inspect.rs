//! `toolbox tools`, `toolbox call`, and what describes the command.

use super::*;

// R6 to R8: what is registered, its tier, and why the rest is not.
#[test]
fn tools_lists_the_surfaces() {
    let checkout = Checkout::new(&[]);
    let names = |data: &Value, key: &str| -> Vec<String> {
        let rows = data[key].as_array().expect("a list");
        rows.iter()
            .map(|row| row["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    let all = checkout.json(&["tools"], 0);
    let row = |data: &Value, name: &str| -> Value {
        let rows = data["tools"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["name"] == name);
        row.expect("it is listed").clone()
    };
    for name in ["ast_edit", "ast_grep", "resolve"] {
        assert!(row(&all, name)["schema"].is_null(), "only on request");
    }
    assert_eq!(row(&all, "ast_edit")["tier"], "write");
    let plan = checkout.json(&["tools", "--surface", "plan"], 0);
    for row in plan["tools"].as_array().expect("a list") {
        assert_eq!(row["tier"], "read");
    }
    assert_eq!(row(&plan, "ast_grep")["name"], "ast_grep");
    for name in ["ast_edit", "resolve"] {
        assert!(names(&plan, "unavailable").iter().any(|gone| gone == name));
    }
    let schema = checkout.json(&["tools", "--schema"], 0);
    assert_eq!(
        row(&schema, "ast_grep")["schema"]["required"],
        json!(["pattern"])
    );
    checkout
        .toolbox(&["tools", "--surface", "plan"])
        .assert()
        .code(0)
        .stdout(
            contains("\nast_edit         -      not registered: its tier write").and(contains(
                "ast_grep         read   Finds code by its shape, not by its text\n",
            )),
        );
    checkout
        .toolbox(&["tools"])
        .env_remove("HOME")
        .assert()
        .code(0)
        .stdout(contains(
            "resolve          -      not registered: no place for staged edits",
        ));
}

// D42: `call` is its own approval; arguments are raw, paths relative to the workspace.
#[test]
fn any_tool_is_called_by_its_name() {
    let checkout = Checkout::new(&[("sub/a.js", "f(1)\n")]);
    let edit = r#"{"pattern":"f($A)","rewrite":"g($A)","path":"sub/a.js"}"#;
    let mut command = checkout.toolbox(&["call", "ast_edit", edit, "--json"]);
    let assert = command.current_dir(checkout.path("sub")).assert().code(0);
    let data: Value = serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
    assert_eq!(data["edit_id"], "edit_1");
    checkout
        .toolbox(&["call", "resolve", "-"])
        .write_stdin(r#"{"edit_id":"edit_1","action":"accept"}"#)
        .assert()
        .code(0);
    assert_eq!(checkout.read("sub/a.js"), "g(1)\n");
    let none = r#"{"pattern":"f($A)","language":"js"}"#;
    checkout
        .toolbox(&["call", "ast_grep", none])
        .assert()
        .code(1);
    for (args, kind, words) in [
        (&["nosuch"][..], "unknown_tool", "ast_grep"),
        (&["ast_grep", "{"], "invalid_args", "no JSON"),
        (&["ast_grep", "[]"], "invalid_args", "object"),
        (&["ast_grep", "{}"], "invalid_args", "pattern"),
        (
            &["ast_grep", r#"{"patern":"f"}"#],
            "invalid_args",
            "`pattern`",
        ),
    ] {
        let args = [&["call"], args].concat();
        let error = &checkout.json(&args, 3)["error"];
        assert_eq!(error["kind"], kind, "{args:?}");
        let text = format!("{} {}", error["message"], error["hint"]);
        assert!(text.contains(words), "{text} lacks {words}");
    }
}

// Every bundled language is listed with what is read as it.
#[test]
fn languages_are_listed() {
    let checkout = Checkout::new(&[]);
    let text = checkout
        .toolbox(&["ast-grep", "--list-languages"])
        .assert()
        .code(0);
    text.stdout(contains("\npython      py, python3").and(contains(".dart")));
    let data = checkout.json(&["ast-grep", "--list-languages"], 0);
    let rows = data["languages"].as_array().expect("a list");
    assert_eq!(rows.len(), toolbox::syntax::languages::ALL.len());
    for id in ["dart", "python", "rust", "c", "javascript"] {
        assert!(rows.iter().any(|row| row["id"] == id), "{id}");
    }
}

// The help texts teach the pattern language.
#[test]
fn help_teaches_by_example() {
    let checkout = Checkout::new(&[]);
    let help = |args: &[&str]| {
        let assert = checkout.toolbox(args).assert().code(0);
        String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
    };
    for (args, words) in [
        (
            &["ast-grep", "--help"][..],
            &[
                "$$$NAME",
                "$_",
                "if ($X != null) $X.dispose()",
                "--explain",
                "class member",
            ][..],
        ),
        (
            &["ast-edit", "--help"],
            &["$X.dispose()", "resolve", "--allow-syntax-errors"],
        ),
        (
            &["resolve", "--help"],
            &["--list", "--discard-all", "accept"],
        ),
        (&["--help"], &["Exit codes", "ast-grep", "--workspace"]),
        (&["--version"], &["toolbox 0."]),
    ] {
        let text = help(args);
        for word in words {
            assert!(text.contains(word), "{args:?} lacks {word}:\n{text}");
        }
    }
}

#[test]
fn completions_and_the_man_page_are_printed() {
    let checkout = Checkout::new(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let assert = checkout.toolbox(&["completions", shell]).assert().code(0);
        assert.stdout(contains("ast-grep").and(contains("max-results")));
    }
    let assert = checkout.toolbox(&["man"]).assert().code(0);
    assert.stdout(contains(".TH").and(contains("allow\\-syntax\\-errors")));
    checkout.toolbox(&["completions", "tcsh"]).assert().code(2);
}

// -q keeps notes away, -v adds them; neither touches the answer.
#[test]
fn notes_go_to_standard_error() {
    let checkout = Checkout::new(&[("a.js", "f(1)\n"), ("bad.js", "f(1)\0\n")]);
    let edit = ["ast-edit", "f($A)", "g($A)", "-l", "js"];
    checkout
        .toolbox(&edit)
        .arg("-q")
        .assert()
        .code(0)
        .stderr(is_empty());
    checkout
        .toolbox(&["ast-grep", "f($A)", "-l", "js", "-v"])
        .assert()
        .code(0)
        .stdout(starts_with("a.js\n"))
        .stderr(contains("workspace /").and(contains("skipped bad.js: binary")));
}

/// Calls `look` with every argument of a schema, and with those of the objects within it.
fn each_argument(schema: &Value, path: &str, look: &mut impl FnMut(&str, &Value, bool)) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, argument) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path} {name}");
        look(&path, argument, required.contains(&json!(name)));
        each_argument(argument, &path, look);
        each_argument(&argument["items"], &path, look);
    }
}

// The schemas say of every argument what it is, and of a choice what holds without it.
#[test]
fn every_argument_is_described() {
    let checkout = Checkout::new(&[]);
    let data = checkout.json(&["tools", "--schema"], 0);
    let mut n_arguments = 0;
    for tool in data["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let description = tool["description"].as_str().expect("a text");
        assert!(description.len() > 80, "{name}: {description}");
        let draft = "https://json-schema.org/draft/2020-12/schema";
        assert_eq!(tool["schema"]["$schema"], draft, "{name}");
        each_argument(&tool["schema"], name, &mut |path, argument, required| {
            n_arguments += 1;
            let said = argument["description"].as_str().unwrap_or_default();
            assert!(!said.is_empty(), "{path}: {argument}");
            let is_choice = argument["enum"].is_array();
            let names_default = said.contains("Default") || !argument["default"].is_null();
            assert!(required || !is_choice || names_default, "{path}: {said}");
        });
    }
    assert!(n_arguments > 80, "{n_arguments}");
}
