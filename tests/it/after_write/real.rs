//! What real servers say after a write.

use super::*;
use crate::support::peers;

/// One language: a file that is right, what breaks it, and a part of what its server then says.
struct Case {
    binary: &'static str,
    files: &'static [(&'static str, &'static str)],
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
    says: &'static str,
    within: &'static str,
}

impl Case {
    /// Breaks, moves, breaks once more, fixes and breaks again (R32 to R35, D7).
    fn check(&self) {
        self.check_without(&[]);
    }

    /// The same where these servers do not answer.
    fn check_without(&self, others: &[&str]) {
        if peers::find(self.binary).is_none() {
            return;
        }
        let project = Project::with(self.files, |_, mut options| {
            options.disabled = others.iter().map(|&id| id.to_owned()).collect();
            options
        });
        self.check_in(&project);
    }

    /// The same in a project that is there.
    fn check_in(&self, project: &Project) {
        let writing = Writing::new(project, patient());
        let broken = writing.write(self.file, self.wrong);
        assert!(broken.starts_with("new diagnostics:\n"), "{broken}");
        assert!(broken.contains(self.says), "{broken}");
        assert!(broken.contains(self.within), "{broken}");
        // R35: four blank lines above move it, and it is not told again.
        let moved = format!("{}{}", "\n".repeat(4), self.wrong);
        assert_eq!(writing.write(self.file, &moved), "", "it only moved");
        // R32: a fix is silent, and the data says that the file is clean.
        let fixed = writing.put(&[(self.file, self.right)]);
        assert_eq!(fixed.text, "written");
        assert_eq!(
            fixed.data["diagnostics"]["state"], "clean",
            "{}",
            fixed.data
        );
        // D7: broken again is told again.
        let again = writing.write(self.file, self.wrong);
        assert!(again.contains(self.says), "{again}");
        assert_eq!(writing.look(), "", "nothing was late");
        // A clean edit adds nothing.
        assert_eq!(writing.write(self.file, self.right), "");
    }
}

const PY_RIGHT: &str = "def f(a: int) -> int:\n    return a\n\n\nclass C:\n    def m(self) -> int:\n        return f(1)\n";
const PY_WRONG: &str = "def f(a: int) -> int:\n    return a\n\n\nclass C:\n    def m(self) -> int:\n        return f(\"x\")\n";

// R30 to R35 with a server that is asked for diagnostics and registers that late.
#[test]
fn basedpyright_tells_a_break_once() {
    Case {
        binary: "basedpyright-langserver",
        files: &[("pyproject.toml", ""), ("a.py", PY_RIGHT)],
        file: "a.py",
        right: PY_RIGHT,
        wrong: PY_WRONG,
        says: "a.py:7:18: error[reportArgumentType]: ",
        within: "(in C.m)",
    }
    .check();
}

// R30 to R35 with the quickest of the type checkers.
#[test]
fn ty_tells_a_break_once() {
    Case {
        binary: "ty",
        files: &[("pyproject.toml", ""), ("a.py", PY_RIGHT)],
        file: "a.py",
        right: PY_RIGHT,
        wrong: PY_WRONG,
        says: "a.py:7:18: error[invalid-argument-type]: ",
        within: "(in C.m)",
    }
    .check_without(&["basedpyright", "pyright", "ruff"]);
}

// R30 to R35 with a server that publishes without versions, and about whole packages.
#[test]
fn gopls_tells_a_break_once() {
    Case {
        binary: "gopls",
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            ("a.go", "package demo\n\nfunc F() int {\n\treturn 1\n}\n"),
        ],
        file: "a.go",
        right: "package demo\n\nfunc F() int {\n\treturn 1\n}\n",
        wrong: "package demo\n\nfunc F() int {\n\treturn nope\n}\n",
        says: "a.go:4:9: error",
        within: "(in F)",
    }
    .check();
}

// Issue 4: a caller that was only looked at has its old errors to itself, and its new ones are told.
#[test]
fn a_caller_that_was_looked_at_is_told_by_servers_that_are_asked() {
    if peers::find("ty").is_none() {
        return;
    }
    let right = "def f(x: int) -> int:\n    return x\n";
    let caller = "from a import f\n\ny: str = f(1)\n";
    let files = [("pyproject.toml", ""), ("a.py", right), ("b.py", caller)];
    let project = Project::with(&files, |_, mut options| {
        options.disabled = ["basedpyright", "pyright", "ruff"]
            .map(str::to_owned)
            .into();
        options
    });
    let writing = Writing::new(&project, patient());
    assert_eq!(writing.write("a.py", &format!("{right}\n")), "");
    let hover = json!({"action": "hover", "file": "b.py", "line": 3, "symbol": "f"});
    project.call(hover).expect("an answer");
    assert_eq!(writing.write("a.py", &format!("{right}\n\n")), "");
    let said = writing.write("a.py", &right.replace("x: int", "x: str"));
    let elsewhere = "new diagnostics in other files:\nb.py:3:12: error[invalid-argument-type]: ";
    assert!(said.contains(elsewhere), "{said}");
    assert!(!said.contains("invalid-assignment"), "{said}");
}

// R30 to R35 with a server that publishes versions.
#[test]
fn clangd_tells_a_break_once() {
    Case {
        binary: "clangd",
        files: &[
            ("compile_flags.txt", ""),
            ("a.c", "int f(void) {\n  return 1;\n}\n"),
        ],
        file: "a.c",
        right: "int f(void) {\n  return 1;\n}\n",
        wrong: "int f(void) {\n  return nope;\n}\n",
        says: "a.c:2:10: error[undeclared_var_use]: ",
        within: "(in f)",
    }
    .check();
}

// R30 to R35 with the answers of the TypeScript server itself.
#[test]
fn typescript_tells_a_break_once() {
    Case {
        binary: "typescript-language-server",
        files: &[
            ("package.json", "{}"),
            ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true}}"),
            ("a.ts", "export function f(): number {\n  return 1;\n}\n"),
        ],
        file: "a.ts",
        right: "export function f(): number {\n  return 1;\n}\n",
        wrong: "export function f(): number {\n  return 'x';\n}\n",
        says: "a.ts:2:3: error[2322]: Type 'string' is not assignable to type 'number'.",
        within: "(in f)",
    }
    .check();
}

// R30 to R35 with the compiler of TypeScript 7, which is asked.
#[test]
fn typescript_7_tells_a_break_once() {
    let Some(modules) = peers::typescript_7() else {
        return;
    };
    let right = "export function f(): number {\n  return 1;\n}\n";
    let case = Case {
        binary: "node",
        files: &[
            ("package.json", "{}"),
            (
                "tsconfig.json",
                "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
            ),
            ("a.ts", "export function f(): number {\n  return 1;\n}\n"),
        ],
        file: "a.ts",
        right,
        wrong: "export function f(): number {\n  return 'x';\n}\n",
        says: "a.ts:2:3: error[2322]: Type 'string' is not assignable to type 'number'.",
        within: "(in f)",
    };
    let project = Project::with(case.files, |_, mut options| {
        options.disabled = vec!["typescript-language-server".to_owned()];
        options
    });
    std::os::unix::fs::symlink(modules, project.path("node_modules")).expect("writable");
    case.check_in(&project);
}

// R30 to R35 with the other checker of its kind.
#[test]
fn pyright_tells_a_break_once() {
    Case {
        binary: "pyright-langserver",
        files: &[("pyproject.toml", ""), ("a.py", PY_RIGHT)],
        file: "a.py",
        right: PY_RIGHT,
        wrong: PY_WRONG,
        says: "a.py:7:18: error[reportArgumentType]: ",
        within: "(in C.m)",
    }
    .check_without(&["basedpyright", "ty", "ruff"]);
}

// R30 to R35 where there is a linter and no other server.
#[test]
fn ruff_alone_tells_a_break_once() {
    Case {
        binary: "ruff",
        files: &[("pyproject.toml", ""), ("a.py", PY_RIGHT)],
        file: "a.py",
        right: PY_RIGHT,
        wrong: "import os\n\nx = 1\n",
        says: "[F401]: `os` imported but unused",
        within: "",
    }
    .check_without(&["basedpyright", "pyright", "ty", "pylsp"]);
}

// Issue 4: what a change breaks in files that nobody opened is told by a server that looks at the whole
// project when asked: what is new, five at most, and again when it comes back.
#[test]
fn a_server_that_is_asked_tells_of_closed_files() {
    if peers::find("ty").is_none() {
        return;
    }
    let right = "def f(x: int) -> int:\n    return x\n";
    let wrong = right
        .replace("x: int", "x: str")
        .replace("return x", "return 1");
    let callers: String = (0..6).map(|n| format!("y{n}: int = f({n})\n")).collect();
    let callers = format!("from a import f\n\n{callers}");
    let old = "from a import f\n\nz: str = f(1)\n";
    let files = [
        ("pyproject.toml", ""),
        ("a.py", right),
        ("b.py", &callers),
        ("c.py", old),
    ];
    let project = Project::with(&files, |_, mut options| {
        options.disabled = ["basedpyright", "pyright", "pylsp", "ruff"]
            .map(str::to_owned)
            .into();
        options
    });
    let writing = Writing::new(&project, patient());
    for _ in 0..2 {
        let said = writing.write("a.py", &wrong);
        let list = said
            .strip_prefix("new diagnostics in other files:\n")
            .expect(&said);
        assert_eq!(list.matches("b.py:").count(), 5, "{said}");
        assert!(said.ends_with("… 5 shown of 7"), "{said}");
        assert!(!said.contains("invalid-assignment"), "old: {said}");
        assert_eq!(writing.write("a.py", right), "");
    }
}

// A file that the run wrote before is broken by the next write: its diagnostics are new, also where the
// server speaks only when asked.
#[test]
fn a_file_that_was_written_before_is_told_when_the_next_write_breaks_it() {
    let python = |name: &'static str, off: &'static [&'static str]| {
        let right = "def f(x: int) -> int:\n    return 1\n";
        let caller = "from a import f\n\nprint(f(1))\n";
        let text = "b.py:3:9: error[";
        (
            name,
            off,
            "a.py",
            right,
            right.replace("int)", "str)"),
            "b.py",
            caller,
            text,
        )
    };
    let script = "export function f(x: number): number {\n  return 1 + Number(x);\n}\n";
    let cases = [
        python(
            "basedpyright-langserver",
            &["pyright", "ty", "pylsp", "ruff"],
        ),
        python("ty", &["basedpyright", "pyright", "pylsp", "ruff"]),
        (
            "typescript-language-server",
            &[],
            "a.ts",
            script,
            script.replace("x: number", "x: string"),
            "b.ts",
            "import { f } from './a';\n\nf(1);\n",
            "b.ts:3:3: error[2345]",
        ),
    ];
    for (binary, off, file, right, wrong, other, caller, text) in cases {
        if peers::find(binary).is_none() {
            continue;
        }
        let files = [
            ("pyproject.toml", ""),
            (
                "tsconfig.json",
                "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
            ),
            (file, right),
        ];
        let project = Project::with(&files, |_, mut options| {
            options.disabled = off.iter().map(|&id| id.to_owned()).collect();
            options
        });
        let writing = Writing::new(&project, patient());
        assert_eq!(writing.write(other, caller), "", "{binary}");
        let said = writing.write(file, &wrong);
        assert!(said.starts_with("new diagnostics:\n"), "{binary}: {said}");
        assert!(said.contains(text), "{binary}: {said}");
        assert_eq!(writing.write(file, right), "", "{binary}");
    }
}

// R30 to R35 with a compiler that runs after each save.
#[test]
fn rust_analyzer_tells_a_break_once() {
    Case {
        binary: "rust-analyzer",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            ("src/lib.rs", "pub fn f() -> u32 {\n    1\n}\n"),
        ],
        file: "src/lib.rs",
        right: "pub fn f() -> u32 {\n    1\n}\n",
        wrong: "pub fn f() -> u32 {\n    \"x\"\n}\n",
        says: "src/lib.rs:2:5: error[E0308]: mismatched types",
        within: "(in f)",
    }
    .check();
}

// R30, R33: a change that breaks its callers says so, in files that nobody opened.
#[test]
fn new_errors_in_other_files_are_told_and_capped() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let callers: String = (0..7)
        .map(|n| format!("pub fn g{n}() -> u32 {{ crate::a::f{n}() }}\n"))
        .collect();
    let called: String = (0..7)
        .map(|n| format!("pub fn f{n}() -> u32 {{ {n} }}\n"))
        .collect();
    let renamed = called.replace("pub fn f", "pub fn h");
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub mod a;\npub mod b;\n"),
        ("src/a.rs", &called),
        ("src/b.rs", &callers),
    ]);
    // Before it has loaded, it drops what the compiler says about files that it does not know yet.
    let loaded = project
        .supervisor
        .open(&project.path("src/a.rs"), &toolbox::cancel::Cancel::new())
        .expect("it loads");
    assert!(loaded.readiness.is_ready());
    let writing = Writing::new(&project, patient());
    let said = writing.write("src/a.rs", &renamed);
    let list = said
        .strip_prefix("new diagnostics in other files:\n")
        .expect(&said);
    assert_eq!(list.matches("src/b.rs:").count(), 5, "{said}");
    assert!(said.ends_with("… 5 shown of 7"), "{said}");
    assert_eq!(writing.write("src/a.rs", &called), "");
}

// D2, D7: what depends on a crate with errors is not looked at. Its silence is no answer, and what it had before
// is no news when the compiler comes to it again.
#[test]
fn what_the_compiler_does_not_come_to_is_not_clean() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    let (right, wrong) = (
        "pub fn f() -> u32 {\n    1\n}\n",
        "pub fn f() -> u32 {\n    \"x\"\n}\n",
    );
    let user = "pub fn g() -> u32 {\n    a::f()\n}\n";
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n",
        ),
        ("a/Cargo.toml", &manifest("a", "")),
        ("a/src/lib.rs", right),
        ("a/tests/t.rs", "fn unused() {}\n"),
        (
            "b/Cargo.toml",
            &manifest("b", "[dependencies]\na = { path = \"../a\" }\n"),
        ),
        ("b/src/lib.rs", user),
    ]);
    let state = |file: &str| {
        let output = project.call(json!({"action": "diagnostics", "file": file}));
        let output = output.expect("an answer");
        (output.data["state"].clone(), output.text)
    };
    let (found, text) = state("a/tests/t.rs");
    assert_eq!(found, "found", "{text}");
    let writing = Writing::new(&project, patient());
    let said = writing.write("a/src/lib.rs", wrong);
    assert!(said.contains("a/src/lib.rs:2:5: error[E0308]"), "{said}");
    let why = "rust-analyzer: the compiler stops at the errors in a/src/lib.rs";
    for file in ["a/tests/t.rs", "b/src/lib.rs"] {
        let (found, text) = state(file);
        assert_eq!(found, "unavailable", "{file}: {text}");
        assert!(text.contains(why), "{text}");
    }
    // The server itself does not see what was moved away.
    let moved = user.replace(
        "a::f()",
        "let s = String::new();\n    drop(s);\n    drop(s);\n    1",
    );
    let said = writing.write("b/src/lib.rs", &moved);
    assert!(said.contains(why), "{said}");
    // The error of the other write is told when it is seen, and the old warning is no news.
    let said = writing.write("a/src/lib.rs", right);
    assert!(said.contains("b/src/lib.rs:4:10: error[E0382]"), "{said}");
    assert!(!said.contains("t.rs"), "{said}");
}
