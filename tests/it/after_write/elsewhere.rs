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
    /// The same with an error of its own, and what is said of that.
    worse: (&'static str, &'static str),
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
        // The same where what is written is wrong itself.
        let (worse, own) = self.worse;
        for _ in 0..2 {
            let said = writing.write(self.callee, worse);
            assert!(said.contains(own), "{}: {said}", self.server.id());
            let other = said.split_once("new diagnostics in other files:\n");
            let is_told = other.is_some_and(|(_, told)| told.starts_with(self.says));
            assert!(is_told, "{}: {said}", self.server.id());
            let said = writing.write(self.callee, self.right);
            assert_eq!(said, "", "{}", self.server.id());
        }
        // What somebody else breaks just before is not laid to the write.
        project.write(self.callee, self.wrong);
        let said = writing.write(self.callee, &format!("{}\n", self.wrong));
        assert!(
            !said.contains("in other files:"),
            "{}: {said}",
            self.server.id()
        );
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
    worse: (
        "export function f(x: string): number {\n  return x;\n}\n",
        "a.ts:2:3: error[2322]",
    ),
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
    worse: ("def f(x: str) -> int:\n    return x\n", "a.py:2:12: error["),
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
        // The caller is in another package, of which the server speaks later than of the written one.
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "core/a.go",
                "package core\n\nfunc F(x int) int {\n\treturn 1\n}\n",
            ),
            (
                "api/b.go",
                "package api\n\nimport \"demo/core\"\n\nvar z string = 1\nvar w = core.F(1)\n",
            ),
        ],
        callee: "core/a.go",
        right: "package core\n\nfunc F(x int) int {\n\treturn 1\n}\n",
        wrong: "package core\n\nfunc F(x string) int {\n\treturn 1\n}\n",
        caller: "api/b.go",
        line: 6,
        symbol: "F",
        says: "api/b.go:6:16: error",
        worse: (
            "package core\n\nfunc F(x string) int {\n\treturn x\n}\n",
            "core/a.go:4:9: error",
        ),
        old: "api/b.go:5",
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
        worse: (
            "int f(int x, int y);\nint g(void) { return q; }\n",
            "a.h:2:22: error",
        ),
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
        worse: (
            "pub fn f(x: &str) -> u32 {\n    x\n}\n",
            "src/a.rs:2:5: error[E0308]",
        ),
        old: "src/b.rs:2",
    }
    .check();
}

// R32: what somebody else broke is told with the next write that brings it up, as what it may be, and what that
// write breaks later is told without the remark.
#[test]
fn what_others_broke_is_not_laid_to_a_write() {
    let files = [
        ("compile_flags.txt", ""),
        ("a.h", "int f(int x);\n"),
        ("b.c", "#include \"a.h\"\nint w(void) { return f(1); }\n"),
        ("c.c", "int c = 1;\n"),
    ];
    let Some(project) = servers::CLANGD.project(&files) else {
        return;
    };
    let args = json!({"action": "hover", "file": "b.c", "line": 2, "symbol": "f"});
    project.call(args).expect("an answer");
    let writing = Writing::new(&project, patient());
    assert_eq!(writing.write("c.c", "int c = 2;\n"), "");
    project.write("a.h", "int f(int x, int y);\n");
    let said = writing.write("c.c", "int c = 3;\n");
    assert!(
        said.starts_with(
            "new diagnostics in other files (something else changed files before this, which may be the \
             cause):\nb.c:2:25: error["
        ),
        "{said}"
    );
    // What a question brought up before the write is not told at all.
    project.write("a.h", "int f(int x);\n");
    let args = json!({"action": "hover", "file": "c.c", "line": 1, "symbol": "c"});
    project.call(args).expect("an answer");
    assert_eq!(writing.write("c.c", "int c = 4;\n"), "");
    // The change is accounted for, and so are the writes of the run.
    let said = writing.write("a.h", "int f(int x, int y);\n");
    assert!(
        said.starts_with("new diagnostics in other files:\nb.c:2:25: error["),
        "{said}"
    );
}

// R32, R33: clangd knows what is included by its size and the second in which it was written; a header that is
// written twice in one second with as many bytes is news all the same.
#[test]
fn a_header_of_the_same_size_in_the_same_second_is_another_one() {
    let texts = [
        "struct s { int n; };\n",
        "struct s { int m; };\n",
        "struct s { int n; };\n",
        "struct s { int k; };\n",
    ];
    let files = [
        ("compile_flags.txt", ""),
        ("a.h", texts[0]),
        (
            "b.c",
            "#include \"a.h\"\nint f(struct s *x) { return x->n; }\n",
        ),
    ];
    let Some(project) = servers::CLANGD.project(&files) else {
        return;
    };
    let args = json!({"action": "hover", "file": "b.c", "line": 2, "symbol": "f"});
    project.call(args).expect("an answer");
    let writing = Writing::new(&project, patient());
    for pair in texts.windows(2) {
        let said = writing.write("a.h", pair[1]);
        let is_told = said.contains("in other files:\nb.c:2:32: error");
        assert_eq!(is_told, pair[0] == texts[0], "{}: {said}", pair[1]);
    }
}

// R33: all open callers are waited for, also those that the run wrote and those that include the header behind a
// declaration; five of them are named.
#[test]
fn clangd_tells_of_every_open_caller() {
    let (right, wrong) = ("int f(int x);\n", "int f(int x, int y);\n");
    let early = "#include \"a.h\"\nint w(void) { return f(1); }\n";
    let late = "int v;\n#include \"a.h\"\nint w(void) { return f(1); }\n";
    let names: Vec<String> = (0..8).map(|n| format!("b{n}.c")).collect();
    let mut files = vec![("compile_flags.txt", ""), ("a.h", right)];
    files.extend(names.iter().map(|name| (name.as_str(), early)));
    files.push(("c.c", late));
    let Some(project) = servers::CLANGD.project(&files) else {
        return;
    };
    for (name, line) in names
        .iter()
        .map(|name| (name.as_str(), 2))
        .chain([("c.c", 3)])
    {
        let args = json!({"action": "hover", "file": name, "line": line, "symbol": "w"});
        project.call(args).expect("an answer");
    }
    let writing = Writing::new(&project, patient());
    let said = writing.write("a.h", wrong);
    assert!(said.ends_with("… 5 shown of 9"), "{said}");
    assert_eq!(writing.write("a.h", right), "");
    // One that the run wrote is told first.
    let spaced = format!("{early}\n");
    assert_eq!(writing.write("b0.c", &spaced), "");
    let said = writing.write("a.h", wrong);
    assert!(
        said.starts_with("new diagnostics:\nb0.c:2:25: error"),
        "{said}"
    );
    assert!(said.ends_with("… 5 shown of 8"), "{said}");
    assert_eq!(writing.write("a.h", right), "");
}

// R31, R32: what somebody else changed is given to the servers before a write, so that its result is about what is
// on disk.
#[test]
fn a_write_is_looked_at_with_what_others_changed() {
    for server in [
        servers::TY,
        servers::PYRIGHT,
        servers::BASEDPYRIGHT,
        servers::GOPLS,
    ] {
        let is_go = server.id() == "gopls";
        let (callee, caller) = match is_go {
            true => ("a.go", "b.go"),
            false => ("a.py", "b.py"),
        };
        let text = |is_one: bool| match (is_go, is_one) {
            (true, true) => "package demo\n\nfunc Add(a int) int {\n\treturn a\n}\n",
            (true, false) => "package demo\n\nfunc Add(a int, b int) int {\n\treturn a + b\n}\n",
            (false, true) => "def add(a: int) -> int:\n    return a\n",
            (false, false) => "def add(a: int, b: int) -> int:\n    return a + b\n",
        };
        let call = |is_one: bool| match (is_go, is_one) {
            (true, true) => "package demo\n\nvar X = Add(1)\n",
            (true, false) => "package demo\n\nvar X = Add(1, 2)\n",
            (false, true) => "from a import add\n\nx = add(1)\n",
            (false, false) => "from a import add\n\nx = add(1, 2)\n",
        };
        let files = [
            ("pyproject.toml", ""),
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (callee, text(false)),
            (caller, call(false)),
        ];
        let Some(project) = server.project(&files) else {
            continue;
        };
        let output = project.call(json!({"action": "diagnostics", "file": caller}));
        assert_eq!(output.expect("an answer").data["state"], "clean");
        let writing = Writing::new(&project, patient());
        // The write follows what somebody else did, and is right.
        project.write(callee, text(true));
        assert_eq!(writing.write(caller, call(true)), "", "{}", server.id());
        // It does not, and is wrong.
        project.write(callee, text(false));
        let spaced = format!("{}\n", call(true));
        let said = writing.write(caller, &spaced);
        let output = project.call(json!({"action": "diagnostics", "file": caller}));
        assert_eq!(
            output.expect("an answer").data["state"],
            "found",
            "{}",
            server.id()
        );
        assert!(
            said.contains(&format!("{caller}:3:")),
            "{}: {said}",
            server.id()
        );
    }
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
    let again = writing.write("a.c", &format!("{lost}\n"));
    assert_eq!(again, "diagnostics unavailable: clangd, as said before");
    assert_eq!(writing.write("a.c", right), "");
    let said = writing.write("a.c", &right.replace('1', "nope"));
    assert!(said.contains("undeclared_var_use"), "{said}");
}
