//! Real servers through the tool: places across files, hovers, symbols, outside places, the disk.

use serde_json::{Value, json};

use crate::support::lsp::Project;
use crate::support::peers;

/// Two files of one language: `util` defines `add` with a comment, `main` uses it twice.
pub(super) struct Sample {
    pub(super) server: &'static str,
    pub(super) program: &'static str,
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) util: &'static str,
    /// The line of `add` in `util`.
    pub(super) line: usize,
    pub(super) main: &'static str,
    /// The lines of its uses in `main`.
    pub(super) uses: &'static [usize],
    /// What its signature has.
    pub(super) signature: &'static str,
}

const RUST: Sample = Sample {
    server: "rust-analyzer",
    program: "rust-analyzer",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "src/util.rs",
            "/// Adds numbers.\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n",
        ),
        (
            "src/main.rs",
            "mod util;\n\nfn main() {\n    let x = util::add(1, 2);\n    let y = util::add(x, 3);\n    println!(\"{y}\");\n}\n",
        ),
    ],
    util: "src/util.rs",
    line: 2,
    main: "src/main.rs",
    uses: &[4, 5],
    signature: "fn add(a: i32, b: i32) -> i32",
};

const C: Sample = Sample {
    server: "clangd",
    program: "clangd",
    files: &[
        (
            "compile_commands.json",
            r#"[{"directory":"WORK","file":"main.c","arguments":["cc","-c","main.c"]},
               {"directory":"WORK","file":"util.c","arguments":["cc","-c","util.c"]}]"#,
        ),
        ("util.h", "int other(void);\n"),
        (
            "util.c",
            "/// Adds numbers.\nint add(int a, int b) { return a + b; }\n",
        ),
        (
            "main.c",
            "/// Adds numbers.\nint add(int a, int b);\nint main(void) {\n  int x = add(1, 2);\n  return add(x, 3);\n}\n",
        ),
    ],
    util: "util.c",
    line: 2,
    main: "main.c",
    uses: &[2, 4, 5],
    signature: "int add(int a, int b)",
};

pub(super) const PYTHON: Sample = Sample {
    server: "basedpyright",
    program: "basedpyright-langserver",
    files: &[
        ("pyproject.toml", ""),
        (
            "util.py",
            "def add(a: int, b: int) -> int:\n    \"\"\"Adds numbers.\"\"\"\n    return a + b\n",
        ),
        (
            "main.py",
            "from util import add\n\nx = add(1, 2)\ny = add(x, 3)\n",
        ),
    ],
    util: "util.py",
    line: 1,
    main: "main.py",
    uses: &[1, 3, 4],
    signature: "def add(",
};

pub(super) const SCRIPT: Sample = Sample {
    server: "typescript-language-server",
    program: "typescript-language-server",
    files: &[
        ("package.json", "{\"name\":\"demo\"}"),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
        ),
        (
            "util.ts",
            "/** Adds numbers. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n",
        ),
        (
            "main.ts",
            "import { add } from './util';\n\nconst x = add(1, 2);\nexport const y = add(x, 3);\n",
        ),
    ],
    util: "util.ts",
    line: 2,
    main: "main.ts",
    uses: &[1, 3, 4],
    signature: "add(a: number, b: number): number",
};

const GO: Sample = Sample {
    server: "gopls",
    program: "gopls",
    files: &[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        (
            "util.go",
            "package main\n\n// add adds numbers.\nfunc add(a int, b int) int { return a + b }\n",
        ),
        (
            "main.go",
            "package main\n\nfunc main() {\n\tx := add(1, 2)\n\tprintln(add(x, 3))\n}\n",
        ),
    ],
    util: "util.go",
    line: 4,
    main: "main.go",
    uses: &[4, 5],
    signature: "func add(a int, b int) int",
};

fn lines(data: &Value, file: &str) -> Vec<u64> {
    let locations = data["locations"].as_array().expect("a list");
    let of_file = locations.iter().filter(|location| location["file"] == file);
    of_file
        .map(|location| location["line"].as_u64().expect("a line"))
        .collect()
}

// R19, R22, R23, R24, R25: every question of one server, over two files of which one was never opened.
#[track_caller]
fn ask(sample: &Sample, others_off: &[&str]) {
    if peers::find(sample.program).is_none() {
        return;
    }
    let project = Project::with(sample.files, |_, mut options| {
        options.disabled = others_off.iter().map(|&id| id.to_owned()).collect();
        options
    });
    ask_in(sample, project);
}

/// The same in a project that is there.
#[track_caller]
pub(super) fn ask_in(sample: &Sample, project: Project) {
    if let Some(text) = project.read("compile_commands.json") {
        let work = project.work().display().to_string();
        project.write("compile_commands.json", &text.replace("WORK", &work));
    }
    let (main, line) = (sample.main, *sample.uses.last().expect("a use"));
    let at = |action: &str| json!({"action": action, "file": main, "line": line, "symbol": "add"});

    let output = project.call(at("definition")).expect("an answer");
    assert_eq!(
        lines(&output.data, sample.util),
        [sample.line as u64],
        "{}",
        output.text
    );
    assert_eq!(output.data["total"], 1, "{}", output.text);
    if sample.server != "rust-analyzer" {
        // That one complains of the packages of the standard library, which only the network has.
        assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
    }
    let text = output.data["locations"][0]["text"]
        .as_str()
        .expect("the line");
    assert!(text.contains("add"), "{text}");

    let args =
        json!({"action": "references", "file": sample.util, "line": sample.line, "symbol": "add"});
    let output = project.call(args).expect("an answer");
    let uses: Vec<u64> = sample.uses.iter().map(|&line| line as u64).collect();
    assert_eq!(lines(&output.data, main), uses, "{}", output.text);
    assert_eq!(
        lines(&output.data, sample.util),
        [sample.line as u64],
        "{}",
        output.text
    );
    assert!(output.text.contains("[declaration]"), "{}", output.text);

    let output = project.call(at("hover")).expect("an answer");
    let signature = output.data["signature"].as_str().expect("a signature");
    assert!(signature.contains(sample.signature), "{signature}");
    let documentation = output.data["documentation"].as_str().unwrap_or_default();
    assert!(
        documentation.to_lowercase().contains("adds numbers."),
        "{output:?}"
    );

    let output = project
        .call(json!({"action": "symbols", "file": sample.util}))
        .expect("an answer");
    assert_eq!(output.data["symbols"][0]["name"], "add", "{}", output.text);
    assert_eq!(
        output.data["symbols"][0]["kind"], "function",
        "{}",
        output.text
    );

    let output = project
        .call(json!({"action": "symbols", "query": "add"}))
        .expect("an answer");
    let first = &output.data["symbols"][0];
    assert_eq!(
        (&first["name"], &first["line"]),
        (&json!("add"), &json!(sample.line)),
        "{}",
        output.text
    );

    let server = project.listed(sample.server);
    assert_eq!(server["state"], "running", "{server}");
    assert!(server["pid"].is_number(), "{server}");
    // gopls gives the whole record of its build for a version.
    let version = server["version"].as_str().unwrap_or_default();
    assert!(!version.contains('{'), "{version}");

    // The file changes behind the server's back, and moves by one line.
    let text = project.read(sample.util).expect("readable");
    project.write(sample.util, &format!("\n{text}"));
    let output = project.call(at("definition")).expect("an answer");
    assert_eq!(
        lines(&output.data, sample.util),
        [sample.line as u64 + 1],
        "{}",
        output.text
    );
    project.ends_without_a_trace();
}

#[test]
fn rust_analyzer_answers() {
    ask(&RUST, &[]);
}

#[test]
fn clangd_answers() {
    ask(&C, &[]);
}

#[test]
fn basedpyright_answers() {
    ask(&PYTHON, &[]);
}

#[test]
fn pyright_answers() {
    let sample = Sample {
        server: "pyright",
        program: "pyright-langserver",
        ..PYTHON
    };
    ask(&sample, &["basedpyright"]);
}

#[test]
fn ty_answers() {
    let sample = Sample {
        server: "ty",
        program: "ty",
        ..PYTHON
    };
    ask(&sample, &["basedpyright", "pyright"]);
}

#[test]
fn typescript_language_server_answers() {
    ask(&SCRIPT, &[]);
}

#[test]
fn gopls_answers() {
    ask(&GO, &[]);
}

// The real one, where an SDK is on the `PATH`; a scripted one stands for it elsewhere.
#[test]
fn the_dart_server_answers() {
    let sample = Sample {
        server: "dart",
        program: "dart",
        files: &[
            (
                "pubspec.yaml",
                "name: demo\nenvironment:\n  sdk: '>=2.12.0 <4.0.0'\n",
            ),
            (
                "lib/util.dart",
                "/// Adds numbers.\nint add(int a, int b) => a + b;\n",
            ),
            (
                "lib/main.dart",
                "import 'util.dart';\n\nvoid main() {\n  final x = add(1, 2);\n  print(add(x, 3));\n}\n",
            ),
        ],
        util: "lib/util.dart",
        line: 2,
        main: "lib/main.dart",
        uses: &[4, 5],
        signature: "int add(int a, int b)",
    };
    ask(&sample, &[]);
}
