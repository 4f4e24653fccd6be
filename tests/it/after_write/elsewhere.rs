//! What a write breaks in a file that was only asked about, with every server that CI has.

use super::*;
use crate::support::peers;
use crate::support::servers::{self, Alone};

/// Two files: `caller` uses what `callee` defines, and has an error of its own.
struct Pair {
    server: Alone,
    files: &'static [(&'static str, &'static str)],
    callee: &'static str,
    right: &'static str,
    wrong: &'static str,
    caller: &'static str,
    /// Where the caller uses it.
    line: usize,
    symbol: &'static str,
    /// What is then said of the caller.
    says: &'static str,
    /// What was there before.
    old: &'static str,
}

impl Pair {
    // R30, R32, R33: what is new in the caller is told with the write, once, five at most; what it had is not.
    fn check(&self) {
        let Some(project) = self.server.project(self.files) else {
            return;
        };
        let project = &project;
        let args = json!({
            "action": "hover", "file": self.caller, "line": self.line, "symbol": self.symbol,
        });
        project.call(args).expect("an answer");
        let writing = Writing::new(project, patient());
        for _ in 0..2 {
            let said = writing.write(self.callee, self.wrong);
            let told = said.strip_prefix("new diagnostics in other files:\n");
            let told = told.unwrap_or_else(|| panic!("{}: {said}", self.server.id()));
            assert!(told.starts_with(self.says), "{}: {said}", self.server.id());
            assert!(!said.contains(self.old), "{}: {said}", self.server.id());
            // R35: it only moves, and is not told again.
            let moved = format!("{}\n\n", self.wrong);
            assert_eq!(
                writing.write(self.callee, &moved),
                "",
                "{}",
                self.server.id()
            );
            // D7: a fix is silent, and what comes back after it is new.
            assert_eq!(
                writing.write(self.callee, self.right),
                "",
                "{}",
                self.server.id()
            );
        }
    }
}

const SCRIPT: &str = "export function f(x: number): number {\n  return 1 + Number(x);\n}\n";

const SCRIPTS: Pair = Pair {
    server: servers::TYPESCRIPT,
    files: &[
        ("package.json", "{}"),
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
        ),
        ("a.ts", SCRIPT),
        (
            "b.ts",
            "import { f } from './a';\n\nexport const z: string = 1;\nf(1);\n",
        ),
    ],
    callee: "a.ts",
    right: SCRIPT,
    wrong: "export function f(x: string): number {\n  return 1 + Number(x);\n}\n",
    caller: "b.ts",
    line: 4,
    symbol: "f",
    says: "b.ts:4:3: error[2345]: ",
    old: "2322",
};

const PYTHON: Pair = Pair {
    server: servers::TY,
    files: &[
        ("pyproject.toml", ""),
        ("a.py", "def f(x: int) -> int:\n    return 1 if x else 2\n"),
        ("b.py", "from a import f\n\nz: str = 1\nprint(f(1))\n"),
    ],
    callee: "a.py",
    right: "def f(x: int) -> int:\n    return 1 if x else 2\n",
    wrong: "def f(x: str) -> int:\n    return 1 if x else 2\n",
    caller: "b.py",
    line: 4,
    symbol: "f",
    says: "b.py:4:9: error[",
    old: "b.py:3",
};

#[test]
fn typescript_tells_of_a_caller_that_was_only_asked_about() {
    SCRIPTS.check();
}

#[test]
fn typescript_7_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::TYPESCRIPT_7,
        ..SCRIPTS
    }
    .check();
}

#[test]
fn ty_tells_of_a_caller_that_was_only_asked_about() {
    PYTHON.check();
}

#[test]
fn pyright_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::PYRIGHT,
        ..PYTHON
    }
    .check();
}

#[test]
fn basedpyright_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::BASEDPYRIGHT,
        ..PYTHON
    }
    .check();
}

#[test]
fn gopls_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::GOPLS,
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "a.go",
                "package demo\n\nfunc F(x int) int {\n\treturn 1\n}\n",
            ),
            ("b.go", "package demo\n\nvar z string = 1\nvar w = F(1)\n"),
        ],
        callee: "a.go",
        right: "package demo\n\nfunc F(x int) int {\n\treturn 1\n}\n",
        wrong: "package demo\n\nfunc F(x string) int {\n\treturn 1\n}\n",
        caller: "b.go",
        line: 4,
        symbol: "F",
        says: "b.go:4:11: error",
        old: "b.go:3",
    }
    .check();
}

#[test]
fn clangd_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::CLANGD,
        files: &[
            ("compile_flags.txt", ""),
            ("a.h", "int f(int x);\n"),
            (
                "b.c",
                "#include \"a.h\"\nint *z = 1.5;\nint w(void) { return f(1); }\n",
            ),
        ],
        callee: "a.h",
        right: "int f(int x);\n",
        wrong: "int f(int x, int y);\n",
        caller: "b.c",
        line: 3,
        symbol: "f",
        says: "b.c:3:25: error[typecheck_call_too_few_args]: ",
        old: "b.c:2",
    }
    .check();
}

#[test]
fn rust_analyzer_tells_of_a_caller_that_was_only_asked_about() {
    Pair {
        server: servers::RUST_ANALYZER,
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "pub mod a;\npub mod b;\n"),
            ("src/a.rs", "pub fn f(x: u32) -> u32 {\n    x\n}\n"),
            (
                "src/b.rs",
                "pub fn z() -> u32 {\n    \"x\"\n}\npub fn w() -> u32 { crate::a::f(1) }\n",
            ),
        ],
        callee: "src/a.rs",
        right: "pub fn f(x: u32) -> u32 {\n    x\n}\n",
        wrong: "pub fn f(x: &str) -> u32 {\n    x.len() as u32\n}\n",
        caller: "src/b.rs",
        line: 4,
        symbol: "f",
        says: "src/b.rs:4:33: error[E0308]: ",
        old: "src/b.rs:2",
    }
    .check();
}

// R32, D2: a header that clangd cannot know is no new error of the write, and the result says why it is silent
// about the file, once.
#[test]
fn clangd_that_guesses_the_flags_blames_no_write() {
    if peers::find("clangd").is_none() {
        return;
    }
    let right = "int f(void) {\n  return 1;\n}\n";
    let project = Project::new(&[(".git/HEAD", "ref: refs/heads/main\n"), ("a.c", right)]);
    let writing = Writing::new(&project, patient());
    let lost = format!("#include \"lost.h\"\n{right}");
    let said = writing.write("a.c", &lost);
    assert!(
        said.starts_with(
            "diagnostics unavailable: clangd: 'lost.h' file not found; it has no compilation"
        ),
        "{said}"
    );
    assert_eq!(writing.write("a.c", &format!("{lost}\n")), "", "once");
    assert_eq!(writing.write("a.c", right), "");
    let said = writing.write("a.c", &right.replace('1', "nope"));
    assert!(said.contains("undeclared_var_use"), "{said}");
}
