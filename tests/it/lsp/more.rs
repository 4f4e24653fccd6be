//! What only some real servers offer: hierarchies, fixes, trees, places in libraries, linters.

use serde_json::{Value, json};

use crate::support::lsp::Project;
use crate::support::peers;

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|item| item["name"].as_str().expect("a name"))
        .collect()
}

// R20, R21, R25, R26, D44: rust-analyzer over a trait with two implementations.
#[test]
fn rust_analyzer_knows_hierarchies_and_trees() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    // Nothing here needs the standard library, whose own packages only the network has.
    let code = "\
trait Shape { fn area(&self) -> f64; }
struct Square(f64);
impl Shape for Square { fn area(&self) -> f64 { side(self.0) } }
fn side(x: f64) -> f64 { x * x }
fn total(one: &Square) -> f64 { one.area() + side(1.0) }
fn main() { let it = Square(2.0); total(&it); }
";
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/main.rs", code)]);
    let ask = |action: &str, line: usize, symbol: &str| {
        let args = json!({"action": action, "file": "src/main.rs", "line": line, "symbol": symbol});
        match project.call(args) {
            Ok(output) => output,
            Err(error) => panic!("{action}: {error}"),
        }
    };
    let output = ask("implementation", 1, "Shape");
    assert_eq!(output.data["locations"][0]["line"], 3, "{}", output.text);
    let output = ask("type_definition", 6, "it#1");
    assert_eq!(output.data["locations"][0]["line"], 2, "{}", output.text);
    let output = ask("incoming_calls", 4, "side");
    let mut callers = names(&output.data["items"]);
    callers.sort_unstable();
    assert_eq!(callers, ["area", "total"], "{}", output.text);
    let output = ask("outgoing_calls", 5, "total");
    assert!(
        names(&output.data["items"]).contains(&"side"),
        "{}",
        output.text
    );
    let output = project
        .call(json!({"action": "symbols", "file": "src/main.rs"}))
        .expect("an answer");
    assert!(
        output.text.contains("\n  method area :3"),
        "{}",
        output.text
    );
    let output = ask("code_actions", 4, "side");
    assert!(
        output.data["total"]
            .as_u64()
            .is_some_and(|total| total >= 1),
        "{}",
        output.text
    );
    project.ends_without_a_trace();
}

// D36: a place in a library is absolute, and Read may open it in the same run.
#[test]
fn a_place_outside_is_absolute_and_may_be_read() {
    if peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let project = Project::new(&[
        ("pyproject.toml", ""),
        ("a.py", "import os\n\nos.getcwd()\n"),
    ]);
    let args = json!({"action": "definition", "file": "a.py", "line": 3, "symbol": "getcwd"});
    let output = project.call(args).expect("an answer");
    let file = output.data["locations"][0]["file"].as_str();
    let file = std::path::Path::new(file.unwrap_or_else(|| panic!("{}", output.text)));
    assert!(
        file.is_absolute() && !file.starts_with(project.work()),
        "{}",
        output.text
    );
    let real = file.canonicalize().expect("it exists");
    assert!(project.outside.contains(&real), "{}", output.text);
    assert!(!project.outside.contains(&project.path("a.py")));
    project.ends_without_a_trace();
}

// D44: types of C++ in both directions.
#[test]
fn clangd_knows_the_hierarchy_of_types() {
    if peers::find("clangd").is_none() {
        return;
    }
    let code = "struct Base {};\nstruct Derived : Base {};\nstruct Last : Derived {};\n";
    let project = Project::new(&[("compile_flags.txt", "-std=c++17\n"), ("a.cpp", code)]);
    let ask = |action: &str, line: usize| {
        let args = json!({"action": action, "file": "a.cpp", "line": line, "symbol": "Derived"});
        project.call(args).expect("an answer")
    };
    let output = ask("supertypes", 2);
    assert_eq!(names(&output.data["items"]), ["Base"], "{}", output.text);
    let output = ask("subtypes", 2);
    assert_eq!(names(&output.data["items"]), ["Last"], "{}", output.text);
    project.ends_without_a_trace();
}

// R26: the fixes that a server offers for a problem, with title and kind; R37: nothing is changed.
#[test]
fn fixes_are_listed_and_not_applied() {
    if peers::find("typescript-language-server").is_none() {
        return;
    }
    let code = "export function f(): string { return missing('x'); }\n";
    let project = Project::new(&[("tsconfig.json", "{}"), ("a.ts", code)]);
    let args = json!({"action": "code_actions", "file": "a.ts", "line": 1, "symbol": "missing"});
    let output = project.call(args).expect("an answer");
    let actions = output.data["actions"].as_array().expect("a list");
    let fix = actions
        .iter()
        .find(|action| action["kind"] == "quickfix")
        .expect("a fix");
    let title = fix["title"].as_str().expect("a title");
    assert!(title.contains("missing"), "{}", output.text);
    assert!(fix["preferred"].is_boolean());
    assert_eq!(project.read("a.ts").as_deref(), Some(code));
    project.ends_without_a_trace();
}

// Ruff is a linter: it answers no question, its fixes join those of the server beside it.
#[test]
fn ruff_is_beside_the_server_that_answers() {
    if peers::find("ruff").is_none() || peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let project = Project::new(&[("pyproject.toml", ""), ("a.py", "import os\n\nx = 1\n")]);
    let args = json!({"action": "code_actions", "file": "a.py", "line": 1, "symbol": "os"});
    let output = project.call(args).expect("an answer");
    let actions = output.data["actions"].as_array().expect("a list");
    assert!(
        actions.iter().any(|action| action["server"] == "ruff"),
        "{}",
        output.text
    );
    let of = |id: &str| project.listed(id);
    assert_eq!(
        (&of("ruff")["state"], &of("ruff")["linter"]),
        (&json!("running"), &json!(true))
    );
    assert_eq!(of("ruff")["diagnostics"], "pull");
    assert_eq!(of("basedpyright")["state"], "running");
    assert_eq!(of("basedpyright")["encoding"], "utf-16");
    // One type checker at a time: the others are there and not started.
    for other in ["pyright", "ty"] {
        if peers::find(other).is_some() {
            assert_eq!(of(other)["state"], "available", "{other}");
        }
    }
    let pids = project.supervisor.servers().len();
    assert_eq!(pids, 2);
    project.ends_without_a_trace();
}

// rust-analyzer without a project says so itself, and its empty answers are not passed off as whole.
#[test]
fn a_shim_of_the_real_kind_is_diagnosed() {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from);
    let Some(shims) = home.map(|home| home.join(".cargo/bin")) else {
        return;
    };
    if !shims.join("rustup").exists() || !shims.join("rust-analyzer").exists() {
        println!("skipped: rustup missing");
        return;
    }
    let files = [
        ("Cargo.toml", "[package]\nname = 'a'\n"),
        ("a.rs", "fn f() {}\n"),
    ];
    // A home of its own: no toolchain is chosen there, so the shim has nothing to stand for.
    let project = Project::with_path(&files, |_| shims);
    let args = json!({"action": "hover", "file": "a.rs", "line": 1, "symbol": "f"});
    let kind = toolbox::tool::ErrorKind::Unavailable;
    let error = project.refuses(args, kind, "is there but cannot run");
    assert!(
        error
            .message()
            .contains("rustup component add rust-analyzer"),
        "{error}"
    );
}
