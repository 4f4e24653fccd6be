//! Projects whose files go while they are open, whose configuration changes, and that lie side by side.

use serde_json::{Value, json};
use toolbox::tool::Output;

use super::first::{PYTHON, SCRIPT};
use crate::support::lsp::Project;
use crate::support::servers::{self, Alone};

/// Asks for the uses of the function of [`PYTHON`], which are known whole.
#[track_caller]
fn uses(project: &Project, n: usize) -> String {
    let args = json!({"action": "references", "file": "app/core/shape.py", "line": 6, "symbol": "measure"});
    whole(project, args, n).text
}

/// Asks something whose answer is whole and has so many entries.
#[track_caller]
fn whole(project: &Project, args: Value, n: usize) -> Output {
    let output = project.call(args.clone()).expect("an answer");
    assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
    assert_eq!(output.data["total"], n, "{args}: {}", output.text);
    output
}

/// Asks what is wrong with a file.
#[track_caller]
fn state(project: &Project, file: &str) -> Value {
    let args = json!({"action": "diagnostics", "file": file});
    project.call(args).expect("an answer").data["state"].take()
}

// R22, R41: a file that is open and is removed, moved or brought back by hand is gone, elsewhere or there for
// the next question, whose answer is whole; a name that is none is refused.
fn open_files_may_go(server: Alone) {
    let Some(project) = server.project(PYTHON) else {
        return;
    };
    let path = |name: &str| project.path(name);
    uses(&project, 8);
    assert_eq!(state(&project, "app/util/tools.py"), "clean");
    std::fs::remove_file(path("app/util/tools.py")).expect("it is there");
    uses(&project, 7);
    assert_eq!(state(&project, "app/api/views.py"), "clean");
    std::fs::rename(path("app/api/views.py"), path("app/api/seen.py")).expect("it is there");
    let text = uses(&project, 7);
    assert!(text.contains("app/api/seen.py:6:12"), "{text}");
    assert!(!text.contains("views.py"), "{text}");
    let (name, text) = PYTHON[7];
    project.write(name, text);
    uses(&project, 8);
    let error = crate::lsp_rename::refused_in(&project, "app/core/shape.py", 6, "measure", "2 x");
    assert!(
        error.message().contains("'2 x' is no name in python"),
        "{error}"
    );
    project.ends_without_a_trace();
}

#[test]
fn pyright_bears_open_files_that_go() {
    open_files_may_go(servers::PYRIGHT);
}

#[test]
fn basedpyright_bears_open_files_that_go() {
    open_files_may_go(servers::BASEDPYRIGHT);
}

// R17, R22: what the configuration says now holds for the next question, whether it was changed, made before
// another one, or taken away.
fn configurations_may_change(server: Alone) {
    let mut files = PYTHON.to_vec();
    files.push(("app/bad.py", "x: int = 's'\n"));
    let Some(project) = server.project(&files) else {
        return;
    };
    let other = r#"{"include": ["app"], "reportAssignmentType": "none"}"#;
    uses(&project, 8);
    assert_eq!(state(&project, "app/bad.py"), "found");
    project.write("pyrightconfig.json", other);
    uses(&project, 6);
    assert_eq!(state(&project, "app/bad.py"), "clean");
    project.write("pyrightconfig.json", "{}");
    assert_eq!(state(&project, "app/bad.py"), "found");
    uses(&project, 8);
    project.write("pyrightconfig.json", other);
    assert_eq!(state(&project, "app/bad.py"), "clean");
    std::fs::remove_file(project.path("pyrightconfig.json")).expect("it is there");
    assert_eq!(state(&project, "app/bad.py"), "found");
    uses(&project, 8);
    let section = format!("[tool.{}]\ninclude = [\"app/core\"]\n", server.id());
    project.write("pyproject.toml", &section);
    uses(&project, 3);
    project.ends_without_a_trace();
}

#[test]
fn pyright_follows_its_configuration() {
    configurations_may_change(servers::PYRIGHT);
}

#[test]
fn basedpyright_follows_its_configuration() {
    configurations_may_change(servers::BASEDPYRIGHT);
}

const SHAPE: &str = "export interface Shape {\n  area(): number;\n}\n\nexport function measure(shape: Shape): number {\n  return shape.area();\n}\n";
const SQUARE: &str = "import { measure, Shape } from '../../a/src/shape';\n\nexport class Square implements Shape {\n  area(): number {\n    return 4;\n  }\n}\n\nexport function twice(s: Square): number {\n  return 2 * measure(s);\n}\n";
const VIEW: &str = "import { measure } from '../../a/src/shape';\nimport { Square } from '../../b/src/square';\n\nexport function view(): number {\n  return measure(new Square());\n}\n";
const LONE: &str = "export function lonely(): number {\n  return 1;\n}\n";

/// Packages with a configuration each, of which some refer to others.
const PACKAGES: [(&str, &str); 9] = [
    (
        "package.json",
        r#"{"private": true, "workspaces": ["packages/*"]}"#,
    ),
    (
        "packages/a/tsconfig.json",
        r#"{"compilerOptions": {"strict": true, "composite": true, "types": []}, "include": ["src"]}"#,
    ),
    ("packages/a/src/shape.ts", SHAPE),
    (
        "packages/b/tsconfig.json",
        r#"{"compilerOptions": {"strict": true, "composite": true, "types": []}, "include": ["src"],
            "references": [{"path": "../a"}]}"#,
    ),
    ("packages/b/src/square.ts", SQUARE),
    (
        "packages/c/tsconfig.json",
        r#"{"compilerOptions": {"strict": true, "composite": true, "types": []}, "include": ["src"],
            "references": [{"path": "../a"}, {"path": "../b"}]}"#,
    ),
    ("packages/c/src/view.ts", VIEW),
    (
        "packages/d/tsconfig.json",
        r#"{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}"#,
    ),
    ("packages/d/src/lone.ts", LONE),
];

const SOLUTION: (&str, &str) = (
    "tsconfig.json",
    r#"{"files": [], "references": [{"path": "packages/a"}, {"path": "packages/b"}, {"path": "packages/c"}]}"#,
);

fn about(action: &str, line: usize, symbol: &str) -> Value {
    json!({"action": action, "file": "packages/a/src/shape.ts", "line": line, "symbol": symbol})
}

// R22, R24, R38: asked first, each in a session of its own, over projects of which none is loaded.
fn packages_know_of_each_other(server: Alone, files: &[(&str, &str)]) {
    let Some(project) = server.project(files) else {
        return;
    };
    whole(&project, about("references", 5, "measure"), 5);
    let make = || server.project(files).expect("it is here");
    for name in ["twice", "lonely"] {
        let query = json!({"action": "symbols", "query": name});
        whole(&make(), query, 1);
    }
    let project = make();
    let args = json!({"file": "packages/a/src/shape.ts", "line": 5, "symbol": "measure", "new_name": "gauge"});
    crate::lsp_rename::renamed_in(&project, args);
    project.has_replaced(files, "measure", "gauge");
    project.ends_without_a_trace();
}

#[test]
fn typescript_knows_packages_with_a_solution() {
    let mut files = PACKAGES.to_vec();
    files.push(SOLUTION);
    packages_know_of_each_other(servers::TYPESCRIPT, &files);
}

#[test]
fn typescript_knows_packages_without_a_solution() {
    packages_know_of_each_other(servers::TYPESCRIPT, &PACKAGES);
}

#[test]
fn typescript_7_knows_packages_without_a_solution() {
    packages_know_of_each_other(servers::TYPESCRIPT_7, &PACKAGES);
}

#[test]
fn typescript_7_knows_packages_with_a_solution() {
    let mut files = PACKAGES.to_vec();
    files.push(SOLUTION);
    packages_know_of_each_other(servers::TYPESCRIPT_7, &files);
}

// R21, D44: what the server looks for in one project alone is said to be that.
#[test]
fn typescript_says_what_it_looks_for_in_one_project() {
    let Some(project) = servers::TYPESCRIPT.project(&PACKAGES) else {
        return;
    };
    for args in [
        about("implementation", 1, "Shape"),
        about("incoming_calls", 5, "measure"),
    ] {
        let output = project.call(args).expect("an answer");
        let why = output.data["incomplete"].as_str().unwrap_or_default();
        assert!(
            why.contains("in one project alone (packages/a/tsconfig.json)"),
            "{}",
            output.text
        );
    }
    project.ends_without_a_trace();
}

// R24: the file that wakes the server may lie outside of the project.
#[test]
fn typescript_finds_a_symbol_beside_a_file_of_no_project() {
    let config = r#"{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}"#;
    let mut files = SCRIPT.to_vec();
    files.retain(|(name, _)| *name != "tsconfig.json");
    files.extend([("tsconfig.json", config), ("docs/a.ts", LONE)]);
    for name in ["twice", "lonely"] {
        let Some(project) = servers::TYPESCRIPT.project(&files) else {
            return;
        };
        whole(&project, json!({"action": "symbols", "query": name}), 1);
    }
}

// R22, R38: packages side by side that nothing above them joins have a server each, which knows one of them.
fn packages_that_nothing_joins_are_said(server: Alone) {
    let files = [
        ("package.json", "{}\n"),
        ("a/tsconfig.json", "{\"include\": [\"src\"]}\n"),
        (
            "a/src/s.ts",
            "export interface Shape {}\nexport function areaOf(s: Shape): number { return 1 }\nexport const lonely = 1\n",
        ),
        ("b/tsconfig.json", "{\"include\": [\"src\"]}\n"),
        (
            "b/src/c.ts",
            "import { areaOf } from \"../../a/src/s\"\nexport const z = areaOf({})\nexport const lonely = 2\n",
        ),
        ("b/src/d.ts", "export const areaOf = 1\n"),
    ];
    let Some(project) = server.project(&files) else {
        return;
    };
    let args = json!({"action": "references", "file": "a/src/s.ts", "line": 2, "symbol": "areaOf"});
    let output = project.call(args).expect("an answer");
    let why = output.data["incomplete"].as_str().unwrap_or_default();
    assert!(
        why.contains("1 file outside of it imports from there"),
        "{}",
        output.text
    );
    assert!(why.contains("(b/src/c.ts)"), "{why}");
    let error = crate::lsp_rename::refused_in(&project, "a/src/s.ts", 2, "areaOf", "sizeOf");
    assert!(error.to_string().contains("b/src/c.ts"), "{error}");
    // What no other package uses is known whole, and so is what does not import.
    std::fs::remove_file(project.path("b/src/c.ts")).expect("it is there");
    let args = json!({"action": "references", "file": "a/src/s.ts", "line": 2, "symbol": "areaOf"});
    whole(&project, args, 1);
    project.ends_without_a_trace();
}

#[test]
fn typescript_says_what_packages_that_nothing_joins_may_use() {
    packages_that_nothing_joins_are_said(servers::TYPESCRIPT);
}

#[test]
fn typescript_7_says_what_packages_that_nothing_joins_may_use() {
    packages_that_nothing_joins_are_said(servers::TYPESCRIPT_7);
}
