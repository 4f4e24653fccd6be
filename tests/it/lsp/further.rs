//! Further real servers: those that serve a language beside the common ones, each with a small question or
//! two. What they are asked is what they are good for; all of them end without a trace.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::servers::{PYTHON, SCRIPT, Sample, ask_in};
use crate::support::lsp::Project;
use crate::support::peers;

/// A project in which only servers outside this list answer.
fn project(files: &[(&str, &str)], others_off: &[&str]) -> Project {
    Project::with(files, |_, mut options| {
        options.disabled = others_off.iter().map(|&id| id.to_owned()).collect();
        options
    })
}

/// The diagnostics of a file, one a line, as they are told.
#[track_caller]
fn diagnosed(project: &Project, file: &str) -> String {
    let output = project
        .call(json!({"action": "diagnostics", "file": file}))
        .expect("an answer");
    output.text
}

#[track_caller]
fn asked(project: &Project, args: Value) -> Value {
    let output = project.call(args).expect("an answer");
    output.data
}

// R19, R22 to R25 with the compiler of TypeScript 7, which the project brings along.
#[test]
fn typescript_7_answers() {
    let Some(modules) = peers::typescript_7() else {
        return;
    };
    let project = project(SCRIPT.files, &["typescript-language-server"]);
    symlink(modules, project.path("node_modules")).expect("writable");
    let sample = Sample {
        server: "tsc",
        ..SCRIPT
    };
    ask_in(&sample, project);
}

// The default of npm is TypeScript 7, for which the server of the older ones refuses to start: the next row
// answers, and `status` has the words of the one that refused.
#[test]
fn typescript_7_answers_where_the_older_server_refuses() {
    let (Some(modules), Some(server)) = (
        peers::typescript_7(),
        peers::find("typescript-language-server"),
    ) else {
        return;
    };
    let package = server.canonicalize().expect("it exists");
    let package = package.ancestors().nth(2).expect("a package");
    let project = project(SCRIPT.files, &[]);
    // The two of them alone, so that no older TypeScript is beside the server.
    let own = project.path("node_modules");
    std::fs::create_dir_all(own.join(".bin")).expect("writable");
    copy(package, &own.join("typescript-language-server"));
    for entry in std::fs::read_dir(&modules).expect("readable") {
        let entry = entry.expect("readable");
        if entry.file_name() != ".bin" && !entry.file_name().to_string_lossy().starts_with(".") {
            symlink(entry.path(), own.join(entry.file_name())).expect("writable");
        }
    }
    symlink("../typescript/bin/tsc", own.join(".bin/tsc")).expect("writable");
    let program = "../typescript-language-server/lib/cli.mjs";
    symlink(program, own.join(".bin/typescript-language-server")).expect("writable");
    let args = json!({"action": "definition", "file": "main.ts", "line": 4, "symbol": "add"});
    let data = asked(&project, args);
    assert_eq!(data["server"], "tsc", "{data}");
    let status = asked(&project, json!({"action": "status"}));
    let servers = status["servers"].as_array().expect("a list");
    let refused = servers
        .iter()
        .find(|server| server["id"] == "typescript-language-server")
        .expect("it is listed");
    assert_eq!(refused["state"], "refused", "{refused}");
    let why = refused["reason"].as_str().expect("a reason");
    assert!(why.contains("valid TypeScript installation"), "{why}");
    project.ends_without_a_trace();
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).expect("writable");
            }
        }
    }
}

#[test]
fn pylsp_answers() {
    if peers::find("pylsp").is_none() {
        return;
    }
    let project = project(PYTHON.files, &["basedpyright", "pyright", "ty", "ruff"]);
    let args = json!({"action": "definition", "file": "main.py", "line": 4, "symbol": "add"});
    let data = asked(&project, args);
    assert_eq!(data["locations"][0]["file"], "util.py", "{data}");
    assert_eq!(data["server"], "pylsp");
    let args = json!({"action": "hover", "file": "main.py", "line": 3, "symbol": "add"});
    let data = asked(&project, args);
    assert!(
        data["documentation"]
            .as_str()
            .is_some_and(|text| text.contains("Adds numbers.")),
        "{data}"
    );
    project.write("main.py", "from util import add\n\nprint(nope)\n");
    let text = diagnosed(&project, "main.py");
    assert!(
        text.contains("main.py:3:7: error: undefined name 'nope'"),
        "{text}"
    );
    project.ends_without_a_trace();
}

#[test]
fn the_servers_of_shell_and_yaml_answer() {
    if peers::find("bash-language-server").is_none()
        || peers::find("yaml-language-server").is_none()
    {
        return;
    }
    let project = project(
        &[
            ("a.sh", "#!/bin/bash\ngreet() {\n  echo hi\n}\ngreet\n"),
            ("a.yaml", "a: 1\nb:\n  c: [1, 2\nd: 3\n"),
        ],
        &[],
    );
    std::fs::create_dir(project.path(".git")).expect("writable");
    let args = json!({"action": "definition", "file": "a.sh", "line": 5, "symbol": "greet"});
    let data = asked(&project, args);
    assert_eq!(data["locations"][0]["line"], 2, "{data}");
    assert_eq!(data["server"], "bash-language-server");
    let text = diagnosed(&project, "a.yaml");
    assert!(text.contains("a.yaml:4:1: error"), "{text}");
    let data = asked(&project, json!({"action": "symbols", "file": "a.yaml"}));
    assert_eq!(data["symbols"][0]["name"], "a", "{data}");
    project.ends_without_a_trace();
}

#[test]
fn the_servers_of_json_html_and_css_answer() {
    if peers::find("vscode-json-language-server").is_none() {
        return;
    }
    let html = "<html>\n<body>\n<p>y</p>\n<style>a { color: ; }</style>\n<script>let x = ;</script>\n</body>\n</html>\n";
    let files = [
        ("package.json", "{}\n"),
        ("a.json", "{\"a\": 1,\n \"b\": [1 2]}\n"),
        ("a.html", html),
        ("a.css", "a { colour: red; }\n.b { color: ; }\n"),
    ];
    let project = project(&files, &[]);
    let text = diagnosed(&project, "a.json");
    assert!(
        text.contains("a.json:2:10: error[514]: Expected comma"),
        "{text}"
    );
    let text = diagnosed(&project, "a.html");
    // What is written in other languages inside is checked, too.
    assert!(
        text.contains("a.html:4:19: error[css-propertyvalueexpected]"),
        "{text}"
    );
    assert!(
        text.contains("a.html:5:17: error: Expression expected."),
        "{text}"
    );
    let text = diagnosed(&project, "a.css");
    assert!(
        text.contains("a.css:1:5: warning[unknownProperties]: Unknown property: 'colour'"),
        "{text}"
    );
    let hover = json!({"action": "hover", "file": "a.css", "line": 2, "symbol": "color"});
    let data = asked(&project, hover);
    let signature = data["signature"].as_str().expect("a text");
    assert!(signature.starts_with("Sets the color"), "{data}");
    assert!(!data.to_string().contains("base64"), "{data}");
    project.ends_without_a_trace();
}

// The linters of scripts are beside the server that answers, and speak where none does.
#[test]
fn the_linters_of_scripts_lint() {
    let Some(modules) = peers::server_modules() else {
        return;
    };
    let rules =
        "export default [{ rules: { 'no-unused-vars': 'error', 'no-debugger': 'warn' } }];\n";
    let files = [
        ("package.json", "{}\n"),
        ("eslint.config.mjs", rules),
        ("a.js", "const a = 1;\ndebugger;\n"),
        ("sub/biome.json", "{}\n"),
        ("sub/b.js", "let a = 1;\nif (a == 2) { a = 3; }\n"),
    ];
    let project = project(&files, &["typescript-language-server", "tsc"]);
    symlink(modules, project.path("node_modules")).expect("writable");
    let text = diagnosed(&project, "a.js");
    assert!(text.contains("a.js:1:7: error[no-unused-vars]"), "{text}");
    assert!(text.contains("a.js:2:1: warning[no-debugger]"), "{text}");
    let text = diagnosed(&project, "sub/b.js");
    assert!(
        text.contains("sub/b.js:2:7: error[lint/suspicious/noDoubleEquals]"),
        "{text}"
    );
    let fixes = json!({"action": "code_actions", "file": "a.js", "line": 2, "symbol": "debugger"});
    if let Ok(output) = project.call(fixes) {
        assert!(output.text.contains("no-debugger"), "{}", output.text);
    }
    project.ends_without_a_trace();
}
