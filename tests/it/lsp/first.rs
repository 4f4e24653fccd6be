//! The first question to a server that was just started: its answer is whole, or says that it is not.
//!
//! A server that has not yet looked for the files of its project answers from the one that is open. Each
//! action is asked first in a session of its own, so that no other question gives the server the time.

use std::time::Duration;

use serde_json::{Value, json};
use toolbox::lsp::servers::Ready;
use toolbox::tool::ErrorKind;

use crate::support::lsp::{Project, fake_with};
use crate::support::servers::{self, Alone};

/// A symbol that several packages use, of which only the file that defines it is ever opened by us.
pub(super) struct Packages {
    pub(super) server: Alone,
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Where the function is defined.
    pub(super) at: (&'static str, usize, &'static str),
    pub(super) n_references: usize,
    pub(super) n_callers: usize,
    /// A function in a file that is not open.
    pub(super) far: &'static str,
    /// Where the interface is, and how many implement it; nothing where the server cannot tell.
    pub(super) interface: Option<(usize, &'static str, usize)>,
    /// A file that is made later, with how many references it adds and a function in it.
    pub(super) late: (&'static str, &'static str, usize, &'static str),
}

pub(super) const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", ""),
    ("app/__init__.py", ""),
    ("app/core/__init__.py", ""),
    (
        "app/core/shape.py",
        "class Shape:\n    def area(self) -> float:\n        return 0.0\n\n\ndef measure(shape: Shape) -> float:\n    return shape.area()\n",
    ),
    (
        "app/core/square.py",
        "from app.core.shape import Shape, measure\n\n\nclass Square(Shape):\n    def area(self) -> float:\n        return 4.0\n\n\ndef twice(s: Square) -> float:\n    return 2 * measure(s)\n",
    ),
    ("app/api/__init__.py", ""),
    (
        "app/api/views.py",
        "from app.core.shape import measure\nfrom app.core.square import Square\n\n\ndef view() -> float:\n    return measure(Square())\n",
    ),
    (
        "app/util/tools.py",
        "from app.core import shape\n\n\ndef tool() -> float:\n    return shape.measure(shape.Shape())\n",
    ),
    (
        "tests/test_it.py",
        "from app.core.shape import measure, Shape\n\n\ndef test_it():\n    assert measure(Shape()) == 0.0\n",
    ),
];

const LATE_PYTHON: (&str, &str, usize, &str) = (
    "app/util/late.py",
    "from app.core import shape\n\n\ndef later() -> float:\n    return shape.measure(shape.Shape())\n",
    1,
    "later",
);

pub(super) const BASEDPYRIGHT: Packages = Packages {
    server: servers::BASEDPYRIGHT,
    files: PYTHON,
    at: ("app/core/shape.py", 6, "measure"),
    n_references: 8,
    n_callers: 4,
    far: "twice",
    interface: Some((1, "Shape", 2)),
    late: LATE_PYTHON,
};

pub(super) const SCRIPT: &[(&str, &str)] = &[
    ("package.json", "{\"name\":\"demo\"}"),
    (
        "tsconfig.json",
        "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
    ),
    (
        "src/core/shape.ts",
        "export interface Shape {\n  area(): number;\n}\n\nexport function measure(shape: Shape): number {\n  return shape.area();\n}\n",
    ),
    (
        "src/core/square.ts",
        "import { Shape, measure } from './shape';\n\nexport class Square implements Shape {\n  area(): number {\n    return 4;\n  }\n}\n\nexport function twice(s: Square): number {\n  return 2 * measure(s);\n}\n",
    ),
    (
        "src/api/views.ts",
        "import { measure } from '../core/shape';\nimport { Square } from '../core/square';\n\nexport function view(): number {\n  return measure(new Square());\n}\n",
    ),
    (
        "src/util/tools.ts",
        "import * as shape from '../core/shape';\n\nexport function tool(s: shape.Shape): number {\n  return shape.measure(s);\n}\n",
    ),
];

pub(super) const TYPESCRIPT: Packages = Packages {
    server: servers::TYPESCRIPT,
    files: SCRIPT,
    at: ("src/core/shape.ts", 5, "measure"),
    n_references: 6,
    n_callers: 3,
    far: "twice",
    interface: Some((1, "Shape", 1)),
    late: (
        "src/util/late.ts",
        "import * as shape from '../core/shape';\n\nexport function later(s: shape.Shape): number {\n  return shape.measure(s);\n}\n",
        1,
        "later",
    ),
};

impl Packages {
    fn ask(&self, action: &str) -> Value {
        let (file, line, symbol) = self.at;
        json!({"action": action, "file": file, "line": line, "symbol": symbol})
    }

    fn project(&self) -> Option<Project> {
        self.server.project(self.files)
    }

    /// Asks each action first, each in a session of its own.
    pub(super) fn check(&self) {
        if self.project().is_none() {
            return;
        }
        let make = || self.project().expect("it is here");
        let first = |args: Value, n: usize| {
            let project = make();
            let output = project.call(args.clone()).expect("an answer");
            assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
            assert_eq!(output.data["total"], n, "{args}: {}", output.text);
            project
        };
        let (name, text, n_more, later) = self.late;

        let project = first(self.ask("references"), self.n_references);
        project.write(name, text);
        let output = project.call(self.ask("references")).expect("an answer");
        let n_now = self.n_references + n_more;
        assert_eq!(output.data["total"], n_now, "{}", output.text);
        std::fs::remove_file(project.path(name)).expect("it is there");
        let output = project.call(self.ask("references")).expect("an answer");
        assert_eq!(output.data["total"], self.n_references, "{}", output.text);
        project.ends_without_a_trace();

        let symbols = |query: &str| json!({"action": "symbols", "query": query});
        let project = first(symbols(self.far), 1);
        // A question just before puts off what the server does of itself.
        project.call(self.ask("hover")).expect("an answer");
        project.write(name, text);
        let output = project.call(symbols(later)).expect("an answer");
        assert_eq!(output.data["total"], 1, "{}", output.text);
        project.ends_without_a_trace();

        first(self.ask("incoming_calls"), self.n_callers);
        if let Some((line, symbol, n)) = self.interface {
            let args = json!({"action": "implementation", "file": self.at.0, "line": line, "symbol": symbol});
            first(args, n);
        }
        let project = make();
        project.call(self.ask("hover")).expect("an answer");
        let output = project.call(self.ask("references")).expect("an answer");
        assert_eq!(output.data["total"], self.n_references, "{}", output.text);
    }
}

// R21, R22, R24, D44: whole from the first question on, over packages of which one file is open.
#[test]
fn basedpyright_is_asked_anything_first() {
    BASEDPYRIGHT.check();
}

#[test]
fn pyright_is_asked_anything_first() {
    Packages {
        server: servers::PYRIGHT,
        interface: None,
        ..BASEDPYRIGHT
    }
    .check();
}

#[test]
fn ty_is_asked_anything_first() {
    Packages {
        server: servers::TY,
        ..BASEDPYRIGHT
    }
    .check();
}

#[test]
fn typescript_language_server_is_asked_anything_first() {
    TYPESCRIPT.check();
}

#[test]
fn typescript_7_is_asked_anything_first() {
    Packages {
        server: servers::TYPESCRIPT_7,
        ..TYPESCRIPT
    }
    .check();
}

#[test]
fn gopls_is_asked_anything_first() {
    Packages {
        server: servers::GOPLS,
        files: &[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "core/shape.go",
                "package core\n\ntype Shape interface {\n\tArea() int\n}\n\nfunc Measure(shape Shape) int {\n\treturn shape.Area()\n}\n",
            ),
            (
                "core/square.go",
                "package core\n\ntype Square struct{}\n\nfunc (s Square) Area() int { return 4 }\n\nfunc Twice(s Square) int {\n\treturn 2 * Measure(s)\n}\n",
            ),
            (
                "api/views.go",
                "package api\n\nimport \"demo/core\"\n\nfunc View() int {\n\treturn core.Measure(core.Square{})\n}\n",
            ),
        ],
        at: ("core/shape.go", 7, "Measure"),
        n_references: 3,
        n_callers: 2,
        far: "Twice",
        interface: Some((3, "Shape", 1)),
        late: (
            "api/late.go",
            "package api\n\nimport \"demo/core\"\n\nfunc Later() int {\n\treturn core.Measure(core.Square{})\n}\n",
            1,
            "Later",
        ),
    }
    .check();
}

/// A scripted server that lists its files; the closure is given its scenario.
fn listing(first_s: Value, again_s: Value, ready: Duration) -> Option<Project> {
    let place = |line: u64| {
        json!({"uri": "file:///outside/x.fk", "range":
            {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}})
    };
    let watch = json!({"id": "w", "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": [{"globPattern": "**/*.fk"}]}});
    let scenario = json!({
        "capabilities": {"referencesProvider": true, "renameProvider": true},
        "listing": [first_s, again_s, "late"],
        "unchecked": true,
        "ask": [{"method": "client/registerCapability", "params": {"registrations": [watch]}}],
        "answers": {"textDocument/references": [place(0), place(1)]},
        "busy_answers": {"textDocument/references": [place(0)]},
    });
    fake_with(scenario, |row, mut options| {
        row.ready = Ready::Listing;
        options.timeouts.ready = ready;
        options
    })
}

fn two() -> Value {
    json!({"action": "references", "file": "a.fk", "line": 1, "symbol": "two"})
}

// The list of files is waited for, at first and again when files came or went, and for no other news.
#[test]
fn the_list_of_files_is_waited_for() {
    let patient = Duration::from_secs(120);
    let Some(project) = listing(json!(0.3), json!(0.3), patient) else {
        return;
    };
    let ask = |project: &Project| {
        let output = project.call(two()).expect("an answer");
        assert_eq!(output.data["incomplete"], Value::Null, "{}", output.text);
        assert_eq!(output.data["total"], 2, "{}", output.text);
    };
    ask(&project);
    project.write("late.fk", "one\n");
    ask(&project);
    assert_eq!(project.received_of("$/toolbox/mark").len(), 1);
    // One that the server leaves out, and a change of text.
    project.write("other.fk", "one\n");
    project.write("late.fk", "two\n");
    ask(&project);
    std::fs::remove_file(project.path("late.fk")).expect("it is there");
    ask(&project);
    // An open file that goes leaves it with a file to check for ever; its list is whole all the same.
    project
        .call(json!({"action": "references", "file": "other.fk", "line": 1, "symbol": "one"}))
        .expect("an answer");
    std::fs::remove_file(project.path("other.fk")).expect("it is there");
    ask(&project);
    project.until("it has work", |project| {
        let progress = |server: &toolbox::lsp::Server| server.look(|it| it.progress().len());
        project
            .supervisor
            .servers()
            .iter()
            .any(|it| progress(it) == 1)
    });
    ask(&project);
    project.ends_without_a_trace();
}

// A server that never lists is not believed: the answer says so, and nothing is renamed.
#[test]
fn without_the_list_an_answer_is_incomplete_and_a_rename_refused() {
    let Some(project) = listing(Value::Null, Value::Null, Duration::from_millis(200)) else {
        return;
    };
    let output = project.call(two()).expect("an answer");
    assert_eq!(
        output.data["incomplete"], "the server has not listed the files of the project yet",
        "{}",
        output.text
    );
    assert!(output.text.contains("ask again later"), "{}", output.text);
    let error = crate::lsp_rename::refused_in(&project, "a.fk", 1, "two", "zwei");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(
        error.message().contains("has not listed the files"),
        "{error}"
    );
    assert_eq!(project.read("a.fk").as_deref(), Some("one two\nthree\n"));
    project.ends_without_a_trace();
}
