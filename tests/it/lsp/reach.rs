//! Servers that know less than their project: the answer is made whole, or says what it lacks.

use serde_json::{Value, json};
use toolbox::lsp::servers::ReachRule;
use toolbox::tool::ErrorKind;

use super::first::{PYTHON, SCRIPT, TYPESCRIPT};
use crate::lsp_rename::refused_in;
use crate::support::lsp::{Project, fake_with};
use crate::support::peers;

const SHAPES: &[(&str, &str)] = &[
    (
        "core/shape.h",
        "#pragma once\nstruct Shape {\n  virtual int area() const = 0;\n};\nint measure(const Shape &shape);\n",
    ),
    (
        "core/shape.cpp",
        "#include \"shape.h\"\n\nint measure(const Shape &shape) { return shape.area(); }\n",
    ),
    (
        "core/square.h",
        "#pragma once\n#include \"shape.h\"\nstruct Square : Shape {\n  int area() const override { return 4; }\n};\n",
    ),
    (
        "core/square.cpp",
        "#include \"square.h\"\n\nint twice(const Square &s) { return 2 * measure(s); }\n",
    ),
    (
        "api/views.cpp",
        "#include \"../core/square.h\"\n\nint view() { return measure(Square()); }\n",
    ),
    (
        "util/tools.cpp",
        "#include \"../core/square.h\"\n\nint tool() { return measure(Square()); }\n",
    ),
    ("util/far.cpp", "int unrelated() { return 1; }\n"),
];

fn rename(project: &Project, args: Value) -> toolbox::tool::Output {
    crate::lsp_rename::renamed_in(project, args)
}

// R22, R24, D44, R38 without a compilation database: clangd has no index then.
#[test]
fn clangd_without_a_database_knows_every_file_that_names_it() {
    if peers::find("clangd").is_none() {
        return;
    }
    for marker in [Some(("compile_flags.txt", "-std=c++17\n")), None] {
        let mut files = SHAPES.to_vec();
        files.extend(marker);
        let project = || {
            let project = Project::new(&files);
            std::fs::create_dir(project.path(".git")).expect("writable");
            project
        };
        let at = |action: &str| json!({"action": action, "file": "core/shape.cpp", "line": 3, "symbol": "measure"});
        let first = |args: Value, n: usize| {
            let project = project();
            let output = project.call(args).expect("an answer");
            assert_eq!(output.data["total"], n, "{marker:?}: {}", output.text);
            assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
            project
        };
        let asked = first(at("references"), 5);
        assert!(
            !asked
                .server("core/shape.cpp")
                .open_documents()
                .contains(&asked.path("util/far.cpp"))
        );
        first(at("incoming_calls"), 3);
        first(json!({"action": "symbols", "query": "twice"}), 1);
        let project = project();
        let args =
            json!({"file": "core/shape.cpp", "line": 3, "symbol": "measure", "new_name": "gauge"});
        let output = rename(&project, args);
        assert_eq!(
            output.data["files"].as_array().map(Vec::len),
            Some(5),
            "{}",
            output.text
        );
        project.has_replaced(SHAPES, "measure", "gauge");
        project.ends_without_a_trace();
    }
}

// The same for a project of C alone, whose header clangd would take for one of C++.
#[test]
fn clangd_without_a_database_takes_a_header_of_c_for_what_it_is() {
    if peers::find("clangd").is_none() {
        return;
    }
    let files = [
        ("src/u.h", "int add(int a, int b);\n"),
        (
            "src/u.c",
            "#include \"u.h\"\nint add(int a, int b) { return a + b; }\n",
        ),
        (
            "src/m.c",
            "#include \"u.h\"\nint main(void) { return add(1, 2); }\n",
        ),
    ];
    let project = Project::new(&files);
    std::fs::create_dir(project.path(".git")).expect("writable");
    let at = json!({"action": "references", "file": "src/u.h", "line": 1, "symbol": "add"});
    let output = project.call(at).expect("an answer");
    assert_eq!(output.data["total"], 3, "{}", output.text);
    assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
    let args = json!({"file": "src/u.c", "line": 2, "symbol": "add", "new_name": "plus"});
    rename(&project, args);
    project.has_replaced(&files, "add", "plus");
    project.ends_without_a_trace();
}

// R22, R38: its own settings are no database; where a file that names the symbol includes what is not found, what
// that uses is not known, and nothing is renamed.
#[test]
fn clangd_that_does_not_find_a_header_knows_that_it_knows_less() {
    if peers::find("clangd").is_none() {
        return;
    }
    let files = [
        ("src/u.h", "int add(int a, int b);\n"),
        (
            "src/u.c",
            "#include \"u.h\"\nint add(int a, int b) { return a + b; }\n",
        ),
        (
            "src/m.c",
            "#include <deps/alias.h>\nint main(void) { return add(1, 2); }\n",
        ),
        (
            "deps/include/deps/alias.h",
            "#define add other\nint other(int a, int b);\n",
        ),
    ];
    for settings in [None, Some("CompileFlags: {Add: [-Wall]}\n")] {
        let project = Project::new(&files);
        std::fs::create_dir(project.path(".git")).expect("writable");
        if let Some(settings) = settings {
            project.write(".clangd", settings);
        }
        let at = json!({"action": "references", "file": "src/u.h", "line": 1, "symbol": "add"});
        let output = project.call(at).expect("an answer");
        let why = "'deps/alias.h' file not found in src/m.c";
        assert!(output.text.contains(why), "{}", output.text);
        let error = crate::lsp_rename::refused_in(&project, "src/u.h", 1, "add", "plus");
        assert!(error.message().contains(why), "{error}");
        // With the flags it is known that this is another function.
        let project = Project::new(&files);
        project.write("compile_flags.txt", "-Ideps/include\n");
        crate::lsp_rename::renamed_in(
            &project,
            json!({"file": "src/u.h", "line": 1, "symbol": "add", "new_name": "plus"}),
        );
        assert_eq!(project.read("src/m.c").as_deref(), Some(files[2].1));
        assert_eq!(
            project.read("src/u.h").as_deref(),
            Some("int plus(int a, int b);\n")
        );
    }
}

// The same for scripts without a configuration: only what is open, and what that imports, is known.
#[test]
fn scripts_without_a_configuration_are_all_known() {
    if peers::find("typescript-language-server").is_none() {
        return;
    }
    let mut files: Vec<(&str, &str)> = SCRIPT.to_vec();
    files.retain(|(name, _)| *name != "tsconfig.json");
    let ask = |action: &str| {
        let (file, line, symbol) = TYPESCRIPT.at;
        json!({"action": action, "file": file, "line": line, "symbol": symbol})
    };
    let project = Project::new(&files);
    let output = project.call(ask("references")).expect("an answer");
    assert_eq!(output.data["total"], 6, "{}", output.text);
    assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
    let args =
        json!({"file": TYPESCRIPT.at.0, "line": 5, "symbol": "measure", "new_name": "gauge"});
    rename(&project, args);
    project.has_replaced(&files, "measure", "gauge");
    let project = Project::new(&files);
    let output = project
        .call(json!({"action": "symbols", "query": "twice"}))
        .expect("an answer");
    assert_eq!(output.data["total"], 1, "{}", output.text);
}

// The library under pylsp looks into 30 files that have the name: at 30 the answer is whole, at 31 it says
// that it is not, and nothing is renamed.
#[test]
fn pylsp_says_when_more_files_name_it_than_it_looks_into() {
    if peers::find("pylsp").is_none() {
        return;
    }
    for (n_more, is_whole) in [(25, true), (26, false)] {
        let names: Vec<String> = (0..n_more).map(|n| format!("app/util/m{n}.py")).collect();
        let mut files: Vec<(&str, &str)> = PYTHON.to_vec();
        let text = "from app.core.shape import measure\n\nmeasure(None)\n";
        files.extend(names.iter().map(|name| (name.as_str(), text)));
        let project = Project::with(&files, |_, mut options| {
            let off = ["basedpyright", "pyright", "ty", "ruff"];
            options.disabled = off.map(str::to_owned).to_vec();
            options
        });
        let args = json!({"action": "references", "file": "app/core/shape.py", "line": 6, "symbol": "measure"});
        let output = project.call(args).expect("an answer");
        let why = output.data["incomplete"].as_str().unwrap_or_default();
        if is_whole {
            assert_eq!(why, "");
            assert_eq!(output.data["total"], 8 + 2 * n_more, "{}", output.text);
            continue;
        }
        assert!(
            why.contains("pylsp looks into 30 files that name it and 31 do"),
            "{}",
            output.text
        );
        let error = refused_in(&project, "app/core/shape.py", 6, "measure", "gauge");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("index incomplete"), "{error}");
        project.ends_without_a_trace();
    }
}

/// A scripted server that knows open files only, and so many files that have the word `two`.
fn nearsighted(n_files: usize) -> Option<Project> {
    let place = json!({"uri": "file:///outside/x.fk", "range":
        {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}});
    let scenario = json!({
        "capabilities": {"referencesProvider": true, "renameProvider": true, "workspaceSymbolProvider": true},
        "answers": {"textDocument/references": [place]},
    });
    let project = fake_with(scenario, |row, options| {
        row.reach = ReachRule::Described(vec!["fake.lock".to_owned()]);
        options
    })?;
    // One more has it: the file that is asked about.
    for n in 1..n_files {
        project.write(&format!("n{n}.fk"), "x two x\n");
    }
    project.write("other.fk", "twofold\n");
    Some(project)
}

// 40 files that have the name are opened; of 41 one is not, which the answer and the refusal say.
#[test]
fn so_many_files_are_opened_and_no_more() {
    for (n_files, is_whole) in [(40, true), (41, false)] {
        let Some(project) = nearsighted(n_files) else {
            return;
        };
        let args = json!({"action": "references", "file": "a.fk", "line": 1, "symbol": "two"});
        let output = project.call(args.clone()).expect("an answer");
        let opened = project.received_of("textDocument/didOpen").len();
        assert_eq!(opened, 40);
        assert_eq!(
            output.data["incomplete"].is_null(),
            is_whole,
            "{}",
            output.text
        );
        if !is_whole {
            let why = output.data["incomplete"].as_str().expect("a reason");
            assert!(
                why.contains("without fake.lock fake knows only open files"),
                "{why}"
            );
            assert!(
                why.contains("41 files name it, of which 40 were opened"),
                "{why}"
            );
            assert!(!output.text.contains("ask again later"), "{}", output.text);
            let error = refused_in(&project, "a.fk", 1, "two", "zwei");
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.message().contains("41 files name it"), "{error}");
            // What describes the project ends it.
            project.write("fake.lock", "");
            let output = project.call(args).expect("an answer");
            assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
        }
    }
}

// A file that cannot be given to the server may use the name as well.
#[test]
fn a_file_that_cannot_be_opened_makes_the_answer_incomplete() {
    let Some(project) = nearsighted(3) else {
        return;
    };
    std::fs::write(project.path("latin.fk"), b"two \xe9\n").expect("writable");
    let args = json!({"action": "references", "file": "a.fk", "line": 1, "symbol": "two"});
    let output = project.call(args).expect("an answer");
    let why = output.data["incomplete"].as_str().expect("a reason");
    assert!(
        why.contains("latin.fk") && why.contains("not UTF-8"),
        "{why}"
    );
}

// pylsp counts code points and does not say so: both ways, right of an emoji.
#[test]
fn pylsp_counts_code_points() {
    if peers::find("pylsp").is_none() {
        return;
    }
    let files = [
        ("pyproject.toml", ""),
        ("util.py", "def add(a, b):\n    return a\n"),
        (
            "main.py",
            "from util import add\n\nx = [\"😀😀😀\", add(1, 2), add(3, 4)]\n",
        ),
    ];
    let project = Project::with(&files, |_, mut options| {
        let off = ["basedpyright", "pyright", "ty", "ruff"];
        options.disabled = off.map(str::to_owned).to_vec();
        options
    });
    // Counted in UTF-16 this place would be the bracket behind it.
    let args = json!({"action": "definition", "file": "main.py", "line": 3, "symbol": "add#1"});
    let output = project.call(args).expect("an answer");
    assert_eq!(
        output.data["locations"][0]["file"], "util.py",
        "{}",
        output.text
    );
    let args = json!({"action": "references", "file": "util.py", "line": 1, "symbol": "add"});
    let output = project.call(args).expect("an answer");
    let columns: Vec<&Value> = output.data["locations"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|location| location["line"] == 3)
        .map(|location| &location["column"])
        .collect();
    assert_eq!(columns, [&json!(13), &json!(24)], "{}", output.text);
    project.ends_without_a_trace();
}
