//! Diagnostics of a file whose surroundings somebody else changes: an editor, `sed`, a checkout.

use std::fs;

use serde_json::json;

use crate::support::lsp::Project;
use crate::support::peers;
use crate::support::servers::{self, Alone};

/// Two files: `caller` uses what `callee` defines.
struct Hand {
    server: Alone,
    files: &'static [(&'static str, &'static str)],
    callee: &'static str,
    right: &'static str,
    wrong: &'static str,
    caller: &'static str,
    /// What the caller then has.
    says: &'static str,
    /// Which file then says what, where the callee is gone.
    gone: (&'static str, &'static str),
}

impl Hand {
    /// Asks twice: the second answer is the same as the first.
    #[track_caller]
    fn ask(&self, project: &Project, file: &str, says: Option<&str>) {
        for turn in ["first", "second"] {
            let args = json!({"action": "diagnostics", "file": file});
            let output = project.call(args).expect("an answer");
            let told = format!("{}, {turn}: {}", self.server.id(), output.text);
            match says {
                Some(says) => assert!(output.text.contains(says), "{told}"),
                None => assert_eq!(output.data["state"], "clean", "{told}"),
            }
        }
    }

    // R17, D2: an answer is about the files as they are now, whoever changed them, at the first question.
    fn check(&self) {
        let Some(project) = self.server.project(self.files) else {
            return;
        };
        let project = &project;
        let (witness, gone) = self.gone;
        self.ask(project, self.caller, None);
        // First it is a file that nobody ever opened, then one that is open.
        for _ in 0..2 {
            project.write(self.callee, self.wrong);
            self.ask(project, self.caller, Some(self.says));
            project.write(self.callee, self.right);
            self.ask(project, self.caller, None);
            fs::remove_file(project.path(self.callee)).expect("it is there");
            self.ask(project, witness, Some(gone));
            project.write(self.callee, self.right);
            self.ask(project, witness, None);
            self.ask(project, self.callee, None);
        }
        project.ends_without_a_trace();
    }
}

const SCRIPTS: Hand = Hand {
    server: servers::TYPESCRIPT,
    files: &[
        ("package.json", "{}"),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
        ),
        (
            "a.ts",
            "export function f(x: number): number {\n  return x;\n}\n",
        ),
        ("b.ts", "import { f } from './a';\n\nf(1);\n"),
    ],
    callee: "a.ts",
    right: "export function f(x: number): number {\n  return x;\n}\n",
    wrong: "export function f(x: string): string {\n  return x;\n}\n",
    caller: "b.ts",
    says: "b.ts:3:3: error[2345]",
    gone: ("b.ts", "b.ts:1:19: error[2307]"),
};

const PYTHON: Hand = Hand {
    server: servers::TY,
    files: &[
        ("pyproject.toml", ""),
        ("a.py", "def f(x: int) -> int:\n    return x\n"),
        ("b.py", "from a import f\n\nprint(f(1))\n"),
    ],
    callee: "a.py",
    right: "def f(x: int) -> int:\n    return x\n",
    wrong: "def f(x: str) -> str:\n    return x\n",
    caller: "b.py",
    says: "b.py:3:9: error[",
    gone: ("b.py", "b.py:1:6: error["),
};

#[test]
fn typescript_sees_what_others_change() {
    SCRIPTS.check();
}

#[test]
fn typescript_7_sees_what_others_change() {
    Hand {
        server: servers::TYPESCRIPT_7,
        ..SCRIPTS
    }
    .check();
}

#[test]
fn ty_sees_what_others_change() {
    PYTHON.check();
}

#[test]
fn pyright_sees_what_others_change() {
    Hand {
        server: servers::PYRIGHT,
        ..PYTHON
    }
    .check();
}

#[test]
fn basedpyright_sees_what_others_change() {
    Hand {
        server: servers::BASEDPYRIGHT,
        ..PYTHON
    }
    .check();
}

#[test]
fn gopls_sees_what_others_change() {
    Hand {
        server: servers::GOPLS,
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "a.go",
                "package demo\n\nfunc F(x int) int {\n\treturn x\n}\n",
            ),
            ("b.go", "package demo\n\nvar W = F(1)\n"),
        ],
        callee: "a.go",
        right: "package demo\n\nfunc F(x int) int {\n\treturn x\n}\n",
        wrong: "package demo\n\nfunc F(x string) string {\n\treturn x\n}\n",
        caller: "b.go",
        says: "b.go:3:11: error",
        gone: ("b.go", "b.go:3:9: error"),
    }
    .check();
}

#[test]
fn clangd_sees_what_others_change() {
    Hand {
        server: servers::CLANGD,
        files: &[
            ("compile_flags.txt", ""),
            ("a.h", "int f(int x);\n"),
            ("b.c", "#include \"a.h\"\nint w(void) { return f(1); }\n"),
        ],
        callee: "a.h",
        right: "int f(int x);\n",
        wrong: "int f(int x, int y);\n",
        caller: "b.c",
        says: "b.c:2:25: error[typecheck_call_too_few_args]",
        gone: ("b.c", "'a.h' file not found"),
    }
    .check();
}

#[test]
fn rust_analyzer_sees_what_others_change() {
    Hand {
        server: servers::RUST_ANALYZER,
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "pub mod a;\npub mod b;\n"),
            ("src/a.rs", "pub fn f(x: u32) -> u32 {\n    x\n}\n"),
            ("src/b.rs", "pub fn w() -> u32 {\n    crate::a::f(1)\n}\n"),
        ],
        callee: "src/a.rs",
        right: "pub fn f(x: u32) -> u32 {\n    x\n}\n",
        wrong: "pub fn f(x: &str) -> u32 {\n    x.len() as u32\n}\n",
        caller: "src/b.rs",
        says: "src/b.rs:2:17: error[E0308]",
        gone: ("src/lib.rs", "src/lib.rs:1:1: error[E0583]"),
    }
    .check();
}

// R17: a warning of the compiler is there and gone as the file on disk has it or not.
#[test]
fn rust_analyzer_sees_a_warning_come_and_go() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let right = "pub fn f() -> u32 {\n    1\n}\n";
    let project = Project::new(&[("Cargo.toml", manifest), ("src/lib.rs", right)]);
    let ask = || {
        let args = json!({"action": "diagnostics", "file": "src/lib.rs"});
        project.call(args).expect("an answer")
    };
    assert_eq!(ask().data["state"], "clean");
    for _ in 0..2 {
        project.write(
            "src/lib.rs",
            &right.replace("    1", "    let unused = 2;\n    1"),
        );
        let output = ask();
        assert!(
            output.text.contains("warning[unused_variables]"),
            "{}",
            output.text
        );
        project.write("src/lib.rs", right);
        let output = ask();
        assert_eq!(output.data["state"], "clean", "{}", output.text);
    }
}

// R17: the linter beside the type checker is asked about the file as it is.
#[test]
fn ruff_sees_what_others_change() {
    let files = [("pyproject.toml", ""), ("a.py", "x = 1\n")];
    let Some(project) = servers::RUFF.project(&files) else {
        return;
    };
    let ask = || {
        let args = json!({"action": "diagnostics", "file": "a.py"});
        project.call(args).expect("an answer").text
    };
    assert!(!ask().contains("F401"));
    for _ in 0..2 {
        project.write("a.py", "import os\n\nx = 1\n");
        assert!(
            ask().contains("warning[F401]") || ask().contains("error[F401]"),
            "{}",
            ask()
        );
        project.write("a.py", "x = 1\n");
        assert!(!ask().contains("F401"), "{}", ask());
    }
}

// R22: a file that nobody opened and that was changed a moment ago is known to the next question.
#[test]
fn rust_analyzer_finds_the_use_that_was_written_a_moment_ago() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let manifest = "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::new(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", "pub mod a;\npub mod b;\n"),
        ("src/a.rs", "pub fn f() {}\n"),
        ("src/b.rs", "// nothing\n"),
    ]);
    let ask = || {
        let args = json!({"action": "references", "file": "src/a.rs", "line": 1, "symbol": "f"});
        project.call(args).expect("an answer")
    };
    let n_before = ask().data["total"].as_u64().expect("a number");
    for n in 1..=6 {
        let uses = "pub fn g() { crate::a::f() }\n".replace("g()", &format!("g{n}()"));
        project.write("src/b.rs", &uses);
        let output = ask();
        assert_eq!(output.data["total"], n_before + 1, "{n}: {}", output.text);
        project.write("src/b.rs", "// nothing\n");
        let output = ask();
        assert_eq!(output.data["total"], n_before, "{n}: {}", output.text);
    }
}
