//! Servers that lack a part of what they need: a standard library, a build tool, a valid description of the
//! project, time.

use serde_json::{Value, json};
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;
use toolbox::tool::Output;

use crate::after_write::{Writing, patient};
use crate::lsp_rename::{refused_in, renamed_in};
use crate::support::lsp::{Project, fake, fake_with};
use crate::support::peers;

const MANIFEST: &str = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
                        [[bin]]\nname = \"one\"\npath = \"src/bin/sp ace #1/run.rs\"\n";
const LIBRARY: &str = "pub fn total(values: &[i32]) -> i32 {\n    values[0]\n}\n\n\
                       /// Twice as much: no total.\npub fn twice(value: i32) -> i32 {\n    value * 2\n}\n\n\
                       pub fn caller() -> i32 {\n    total(&[1]) + twice(2)\n}\n";
const PROGRAM: &str =
    "fn main() {\n    println!(\"{} {}\", demo::total(&[1, 2]), demo::twice(3));\n}\n";
const RUN: &str = "src/bin/sp ace #1/run.rs";

/// A package whose server has no standard library.
fn without_std() -> Project {
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        (RUN, PROGRAM),
    ];
    Project::with(&files, |work, mut options| {
        let mut rows = toolbox::lsp::servers::built_in().into_iter();
        let mut row = rows.find(|row| row.id == "rust-analyzer").expect("a row");
        row.init_options["cargo"]["sysrootSrc"] = json!(work.join("none"));
        row.settings = json!(null);
        options.rows.push(row);
        options
    })
}

fn diagnosed(project: &Project, file: &str) -> Output {
    let args = json!({"action": "diagnostics", "file": file});
    project.call(args).expect("an answer")
}

fn asked(project: &Project, action: &str, file: &str, line: usize, symbol: &str) -> Output {
    let args = json!({"action": action, "file": file, "line": line, "symbol": symbol});
    project.call(args).expect("an answer")
}

// R32, D2: what rust-analyzer makes of types that it does not know is not told, and what the compiler says is,
// once.
#[test]
fn without_the_standard_library_only_the_compiler_speaks_of_types() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let project = without_std();
    let output = diagnosed(&project, "src/lib.rs");
    assert_eq!(output.data["state"], "clean", "{}", output.text);
    let writing = Writing::new(&project, patient());
    let said = writing.write("src/lib.rs", &LIBRARY.replace("twice(2)", "twice(2, 3)"));
    assert!(said.contains("error[E0061]"), "{said}");
    assert_eq!(said.matches("error").count(), 1, "{said}");
    // A mistake in the syntax is one whatever the types are.
    let said = writing.write("src/lib.rs", &LIBRARY.replace("twice(2)", "twice(2"));
    assert!(said.starts_with("new diagnostics:\n"), "{said}");
    assert_eq!(writing.write("src/lib.rs", LIBRARY), "");
}

// R38: without the standard library a use in the arguments of `println!` is not known to the server, so the
// rename is refused, and names the place; what the text shows to be whole is renamed.
#[test]
fn without_the_standard_library_a_rename_agrees_with_the_text_or_is_refused() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let project = without_std();
    let error = refused_in(&project, "src/lib.rs", 1, "total", "grand");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let place = format!("'total' is the same at {RUN}:2: ");
    for words in [place.as_str(), "`rustup component add rust-src`"] {
        assert!(error.message().contains(words), "{error} lacks {words}");
    }
    for (line, symbol, to) in [(6, "value", "number"), (10, "caller", "asker")] {
        let args = json!({"file": "src/lib.rs", "line": line, "symbol": symbol, "new_name": to});
        renamed_in(&project, args);
        let text = project.read("src/lib.rs").expect("it is there");
        assert!(
            text.contains(to) && !text.contains(&format!("{symbol} *")),
            "{text}"
        );
    }
    // Another thing of the same name is known to be another.
    project.write(
        RUN,
        "fn main() {\n    let total = 1;\n    let _ = total;\n}\n",
    );
    let args = json!({"file": "src/lib.rs", "line": 1, "symbol": "total", "new_name": "grand"});
    let output = renamed_in(&project, args);
    assert_eq!(
        output.data["files"].as_array().map(Vec::len),
        Some(1),
        "{}",
        output.text
    );
}

// R38: with its sources the same rename is whole, or refused where the packages under it cannot be resolved.
#[test]
fn with_the_standard_library_a_rename_reaches_the_arguments_of_macros() {
    let has_std = std::path::Path::new("/usr/lib/rustlib/src/rust/library").is_dir();
    if peers::find("rust-analyzer").is_none() || !has_std {
        return;
    }
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        (RUN, PROGRAM),
    ];
    let project = Project::new(&files);
    let status = || {
        project
            .call(json!({"action": "status"}))
            .expect("an answer")
    };
    asked(&project, "references", "src/lib.rs", 1, "total");
    if status().data["servers"][0]["health"].is_string() {
        let error = refused_in(&project, "src/lib.rs", 1, "total", "grand");
        assert!(error.message().contains(&format!("{RUN}:2: ")), "{error}");
        return;
    }
    let args = json!({"file": "src/lib.rs", "line": 1, "symbol": "total", "new_name": "grand"});
    renamed_in(&project, args);
    let text = project.read(RUN).expect("it is there");
    assert!(text.contains("demo::grand(&[1, 2])"), "{text}");
}

// R14: without cargo the cause is named, and waiting is not what helps.
#[test]
fn a_missing_cargo_is_the_cause_that_is_told() {
    let Some(program) = peers::find("rust-analyzer") else {
        return;
    };
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIBRARY),
        (RUN, PROGRAM),
    ];
    let project = Project::with_path(&files, |work| {
        let folder = work.with_file_name("bin");
        std::fs::create_dir(&folder).expect("writable");
        std::os::unix::fs::symlink(&program, folder.join("rust-analyzer")).expect("writable");
        folder
    });
    let said = "cargo is not on the PATH";
    let server = project.listed("rust-analyzer");
    assert_eq!(server["state"], "available", "{server}");
    let health = server["health"].as_str().unwrap_or_default();
    assert!(health.starts_with(said), "{server}");
    let output = asked(&project, "references", "src/lib.rs", 1, "total");
    assert!(output.text.contains(said), "{}", output.text);
    assert!(!output.text.contains("ask again later"), "{}", output.text);
    // That the server knows of none is no word about the project.
    assert!(output.text.contains("found so far\n"), "{}", output.text);
    let error = refused_in(&project, "src/lib.rs", 1, "total", "grand");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.message().contains(said), "{error}");
    let output = diagnosed(&project, "src/lib.rs");
    assert_eq!(output.data["state"], "unavailable", "{}", output.text);
    assert!(output.text.contains(said), "{}", output.text);
}

/// The servers of Python that are not to answer.
fn without(ids: &'static [&'static str]) -> impl Fn(&str) -> Project {
    move |text| {
        let files = [
            ("pyproject.toml", "[project]\nname = \"x\"\n"),
            ("a.py", text),
        ];
        Project::with(&files, |_, mut options| {
            options.disabled = ids.iter().map(|&id| id.to_owned()).collect();
            options
        })
    }
}

// R14, R22: a description of the project that ty does not understand makes its answers incomplete, with the
// cause, as long as it is so.
#[test]
fn ty_without_a_valid_description_says_so_with_every_answer() {
    if peers::find("ty").is_none() {
        return;
    }
    let project =
        without(&["basedpyright", "pyright", "ruff"])("def total() -> int:\n    return 1\n");
    let (good, bad) = (
        "[project]\nname = \"x\"\n",
        "[project]\nname = \"x\"\nrequires-python = 7\n",
    );
    project.write("pyproject.toml", bad);
    let gap = || {
        let output = asked(&project, "references", "a.py", 1, "total");
        output.data["incomplete"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let is_told = || gap().contains("pyproject.toml is not a valid");
    // It writes the cause to standard error, which is read beside its answers.
    project.until("the cause is told", |_| is_told());
    assert!(is_told(), "it is told again");
    let output = diagnosed(&project, "a.py");
    assert!(
        output.text.contains("Failed to load project"),
        "{}",
        output.text
    );
    project.write("pyproject.toml", good);
    assert_eq!(gap(), "", "the cause is gone");
    project.write("pyproject.toml", bad);
    project.until("the cause is told anew", |_| is_told());
}

const UNDEFINED: &str = "s = \"ééé😀\"; print(undefined_two)\n";

// D2: a name that is not defined is told once, by the type checker, and by the linter where there is none.
#[test]
fn an_undefined_name_is_told_once() {
    if peers::find("ruff").is_none() || peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let place = |output: &Output| -> Vec<(Value, Value)> {
        let all = output.data["diagnostics"]
            .as_array()
            .expect("a list")
            .iter();
        let named = all.filter(|it| {
            it["message"]
                .as_str()
                .is_some_and(|it| it.contains("undefined_two"))
        });
        named
            .map(|it| (it["code"].clone(), it["column"].clone()))
            .collect()
    };
    let both = without(&["pyright", "ty", "pylsp"])(UNDEFINED);
    let output = diagnosed(&both, "a.py");
    assert_eq!(
        place(&output),
        [(json!("reportUndefinedVariable"), json!(19))],
        "{}",
        output.text
    );
    let writing = Writing::new(&both, patient());
    let said = writing.write("a.py", "x = nope\n");
    assert_eq!(said.matches("`nope`").count(), 0, "{said}");
    assert!(said.contains("error[reportUndefinedVariable]"), "{said}");
    let alone = without(&["basedpyright", "pyright", "ty", "pylsp"])(UNDEFINED);
    let output = diagnosed(&alone, "a.py");
    assert_eq!(
        place(&output),
        [(json!("F821"), json!(19))],
        "{}",
        output.text
    );
    // What pyflakes says is placed in characters, not in the bytes that it counts.
    if peers::find("pylsp").is_some() {
        let flakes = without(&["basedpyright", "pyright", "ty"])(UNDEFINED);
        let output = diagnosed(&flakes, "a.py");
        assert_eq!(
            place(&output),
            [(Value::Null, json!(19))],
            "{}",
            output.text
        );
    }
}

// R27: the version of TypeScript decides which of its two servers there is.
#[test]
fn the_version_of_typescript_is_told_and_an_old_compiler_is_no_server() {
    let is_old = |path: std::path::PathBuf| {
        let output = std::process::Command::new(path).arg("--version").output();
        output.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).starts_with("Version 5"))
    };
    let compiler = peers::find("tsc");
    if peers::find("typescript-language-server").is_none() || !compiler.is_some_and(is_old) {
        return;
    }
    let files = [
        ("package.json", "{}"),
        ("tsconfig.json", "{\"compilerOptions\":{\"types\":[]}}"),
        (
            "a.ts",
            "export function total(a: number) {\n  return a;\n}\nexport const alias = total;\n",
        ),
    ];
    let project = Project::new(&files);
    let output = asked(&project, "incoming_calls", "a.ts", 4, "alias");
    assert!(
        output
            .text
            .starts_with("not known: typescript-language-server knows nothing callable"),
        "{}",
        output.text
    );
    let server = project.listed("typescript-language-server");
    let version = server["version"].as_str().unwrap_or_default();
    assert!(version.starts_with("TypeScript 5."), "{server}");
    let tsc = project.listed("tsc");
    assert_eq!(tsc["state"], "unusable", "{tsc}");
    let reason = tsc["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("and 7 is needed"), "{tsc}");
}

// D44: nothing that can be called is not a function that nobody calls.
#[test]
fn a_place_without_a_hierarchy_is_told_from_one_without_callers() {
    let capabilities = json!({"callHierarchyProvider": true, "typeHierarchyProvider": true});
    let scenario = |items: Value| {
        json!({
            "capabilities": capabilities,
            "answers": {
                "textDocument/prepareCallHierarchy": items,
                "textDocument/prepareTypeHierarchy": items,
            }
        })
    };
    let place = json!({"line": 0, "character": 0});
    let range = json!({"start": place, "end": place});
    let item = json!([{"name": "two", "kind": 12, "uri": "${root}/a.fk", "range": range, "selectionRange": range}]);
    for (items, calls, types) in [
        (
            json!(null),
            "not known: fake knows nothing callable",
            "not known: fake knows no type",
        ),
        (
            json!([]),
            "not known: fake knows nothing callable",
            "not known: fake knows no type",
        ),
        (
            item,
            "no callers of 'two' found",
            "no subtypes of 'two' found",
        ),
    ] {
        let Some(project) = fake(scenario(items)) else {
            return;
        };
        let of = |action: &str| asked(&project, action, "a.fk", 1, "two").text;
        let said = of("incoming_calls");
        assert!(said.starts_with(calls), "{said}");
        let said = of("subtypes");
        assert!(said.starts_with(types), "{said}");
    }
}

/// The seconds of `within 2.9 s` in a message.
fn seconds(message: &str) -> f64 {
    let (_, after) = message.split_once("within ").expect("it names its time");
    let number = after.split(' ').next().expect("a number");
    number.parse().expect("a number")
}

// R13: the start, the loading and the answer share one time: what one takes the others do not have.
#[test]
fn a_question_has_one_time_for_all_its_waits() {
    let brief = |scenario: Value| {
        fake_with(scenario, |row, mut options| {
            row.ready = toolbox::lsp::servers::Ready::ProgressAfterOpen;
            options.timeouts.ready = std::time::Duration::from_secs(8);
            options.timeouts.request = std::time::Duration::from_secs(8);
            options
        })
    };
    let good = json!({"referencesProvider": true, "hoverProvider": true});
    let args = json!({"action": "references", "file": "a.fk", "line": 1, "symbol": "two"});
    // It loads for ever, and then answers nothing.
    let Some(project) = brief(json!({
        "capabilities": good,
        "progress": ["textDocument/didOpen", null],
        "mute_on": ["textDocument/references"],
    })) else {
        return;
    };
    let error = project.refuses(
        args.clone(),
        ErrorKind::Timeout,
        "did not answer textDocument/references",
    );
    assert!(
        seconds(error.message()) < 4.0,
        "it has what the loading left: {error}"
    );
    // It does not start, for much longer than the question has.
    let project = brief(json!({"initialize": "never"})).expect("it is there");
    let error = project.refuses(args, ErrorKind::Timeout, "fake did not answer initialize");
    assert!(
        seconds(error.message()) < 60.0,
        "a start has longer: {error}"
    );
    let output = project.call_with(json!({"action": "status"}), CallOptions::new());
    let output = output.expect("an answer");
    assert!(
        output.text.contains("fake (.): starting"),
        "{}",
        output.text
    );
    let output = diagnosed(&project, "a.fk");
    assert_eq!(output.data["state"], "pending", "{}", output.text);
}

// R22: which place declares a symbol does not depend on where one asks, and columns count characters, also in
// a header of an older encoding.
#[test]
fn clangd_marks_the_same_declarations_from_everywhere() {
    if peers::find("clangd").is_none() {
        return;
    }
    let source = "#include \"a.h\"\nint total(int a) { return a; }\n";
    let user =
        "#include \"a.h\"\n#include \"old.h\"\nint user(void) { return total(1) + old(2); }\n";
    let files = [
        ("a.h", "/* é */ int total(int a);\n"),
        ("a.c", source),
        ("b.c", user),
    ];
    let project = Project::with(&files, |work, options| {
        let entry = |file: &str| json!({"directory": work, "file": file, "command": format!("cc -c {file}")});
        let database = json!([entry("a.c"), entry("b.c")]).to_string();
        std::fs::write(work.join("compile_commands.json"), database).expect("writable");
        std::fs::write(work.join("old.h"), b"/* \xe9\xe9 */ int old(int a);\n").expect("writable");
        options
    });
    for (file, line) in [("a.h", 1), ("a.c", 2), ("b.c", 3)] {
        let output = asked(&project, "references", file, line, "total");
        let list = output.data["locations"].as_array().expect("a list").iter();
        let shown = |it: &Value| {
            let is_declared = it["declaration"] == true;
            format!(
                "{}:{} {is_declared}",
                it["file"].as_str().unwrap_or_default(),
                it["column"]
            )
        };
        let places: Vec<String> = list.map(shown).collect();
        assert_eq!(
            places,
            ["a.c:5 true", "a.h:13 true", "b.c:25 false"],
            "{}",
            output.text
        );
    }
    let output = asked(&project, "definition", "b.c", 3, "old");
    assert_eq!(output.data["locations"][0]["column"], 14, "{}", output.text);
}
