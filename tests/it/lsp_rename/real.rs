//! What real servers rename.

use super::*;
use crate::support::peers;

/// A symbol in several files, of which only one is ever opened by us.
struct Case {
    binary: &'static str,
    files: Vec<(&'static str, String)>,
    /// Where the symbol is addressed: file and line.
    at: (&'static str, usize),
    from: &'static str,
    to: &'static str,
    n_files: usize,
}

impl Case {
    /// Renames there and back; every file is then byte for byte what it was (R38 to R42).
    fn check(&self) {
        self.check_without(&[]);
    }

    /// The same where these servers do not answer.
    fn check_without(&self, others: &[&str]) {
        if peers::find(self.binary).is_none() {
            return;
        }
        let files: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let project = Project::with(&files, |_, mut options| {
            options.disabled = others.iter().map(|&id| id.to_owned()).collect();
            options
        });
        self.check_in(&project);
    }

    /// The same in a project that is there.
    fn check_in(&self, project: &Project) {
        let work = project.work().to_string_lossy().into_owned();
        let files: Vec<(&str, String)> = self
            .files
            .iter()
            .map(|(name, text)| (*name, text.replace("WORK", &work)))
            .collect();
        for (name, text) in &files {
            project.write(name, text);
        }
        let run = renaming(project);
        let args = |symbol: &str, new_name: &str| {
            let (file, line) = self.at;
            json!({"file": file, "line": line, "symbol": symbol, "new_name": new_name})
        };
        let mut dry = args(self.from, self.to);
        dry["dry_run"] = json!(true);
        let shown = call(&run, dry).expect("it can be renamed");
        assert!(
            shown.text.starts_with("(dry run) would rename"),
            "{}",
            shown.text
        );
        assert!(
            shown.text.contains(&format!("+++ b/{}", self.at.0)),
            "{}",
            shown.text
        );
        for (name, text) in &files {
            assert_eq!(
                project.read(name).as_ref(),
                Some(text),
                "a dry run writes nothing"
            );
        }
        let there = call(&run, args(self.from, self.to)).expect("it is renamed");
        let renamed = there.data["files"].as_array().expect("a list");
        assert_eq!(renamed.len(), self.n_files, "{}", there.text);
        for (name, text) in &files {
            let expected = text.replace(self.from, self.to);
            assert_eq!(project.read(name), Some(expected), "{name}");
        }
        let back = call(&run, args(self.to, self.from)).expect("it is renamed back");
        assert_eq!(back.data["edits"], there.data["edits"]);
        for (name, text) in &files {
            assert_eq!(project.read(name).as_ref(), Some(text), "{name}");
        }
    }
}

fn owned(files: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    files
        .iter()
        .map(|(name, text)| (*name, (*text).to_owned()))
        .collect()
}

#[test]
fn rust_analyzer_renames_in_closed_files_too() {
    Case {
        binary: "rust-analyzer",
        files: owned(&[
            (
                "Cargo.toml",
                "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
            ),
            (
                "src/lib.rs",
                "pub mod user;\n\npub fn greeting() -> u32 {\n    1\n}\n",
            ),
            (
                "src/user.rs",
                "pub fn user() -> u32 {\n    crate::greeting()\n}\n",
            ),
        ]),
        at: ("src/lib.rs", 3),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    }
    .check();
}

// R38 with UTF-16 columns behind an emoji, CRLF, and a byte order mark that nobody loses.
#[test]
fn basedpyright_renames_right_of_emoji_and_keeps_line_ends() {
    Case {
        binary: "basedpyright-langserver",
        files: owned(&[
            ("pyproject.toml", ""),
            ("lib.py", "def greeting() -> int:\r\n    return 1\r\n"),
            (
                "sub dir/ü#1.py",
                "from lib import greeting\r\n\r\nprint(\"😀é\", greeting())\r\n",
            ),
        ]),
        at: ("lib.py", 1),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    }
    .check();
}

#[test]
fn ty_renames_in_closed_files_too() {
    Case {
        binary: "ty",
        files: owned(&[
            ("pyproject.toml", ""),
            ("lib.py", "def greeting() -> int:\n    return 1\n"),
            (
                "user.py",
                "from lib import greeting\n\nprint(\"😀é\", greeting())\n",
            ),
        ]),
        at: ("lib.py", 1),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    }
    .check_without(&["basedpyright", "pyright", "ruff"]);
}

// A module is a file: the file moves, and whoever names the module is changed in the same commit. The
// folders that a rename moved away are gone too.
#[test]
fn rust_analyzer_renames_a_module_with_its_files() {
    if peers::find("rust-analyzer").is_none() {
        return;
    }
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "src/lib.rs",
            "pub mod deep;\n\npub fn user() -> u32 {\n    deep::inner::one()\n}\n",
        ),
        ("src/deep/mod.rs", "pub mod inner;\n"),
        ("src/deep/inner/mod.rs", "pub fn one() -> u32 {\n    1\n}\n"),
    ]);
    let args = json!({"file": "src/lib.rs", "line": 1, "symbol": "deep", "new_name": "shallow"});
    let output = call(&renaming(&project), args).expect("it is renamed");
    assert_eq!(
        project.read("src/lib.rs").as_deref(),
        Some("pub mod shallow;\n\npub fn user() -> u32 {\n    shallow::inner::one()\n}\n"),
        "{}",
        output.text
    );
    assert_eq!(output.data["edits"], 2, "{}", output.text);
    assert!(project.read("src/shallow/inner/mod.rs").is_some());
    assert!(!project.path("src/deep").exists(), "{}", output.text);
}

#[test]
fn typescript_renames_the_import_and_not_an_alias() {
    Case {
        binary: "typescript-language-server",
        files: owned(&[
            ("package.json", "{}"),
            ("tsconfig.json", "{\"compilerOptions\":{\"strict\":true}}"),
            (
                "lib.ts",
                "export function greeting(): number {\n  return 1;\n}\n",
            ),
            (
                "user.ts",
                "import { greeting } from './lib';\n\nconsole.log('😀', greeting());\n",
            ),
        ]),
        at: ("user.ts", 3),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    }
    .check();
}

// The compiler of TypeScript 7 is told the same in its settings.
#[test]
fn typescript_7_renames_the_import_and_not_an_alias() {
    let Some(modules) = peers::typescript_7() else {
        return;
    };
    let case = Case {
        binary: "node",
        files: owned(&[
            ("package.json", "{}"),
            (
                "tsconfig.json",
                "{\"compilerOptions\":{\"strict\":true,\"types\":[]}}",
            ),
            (
                "lib.ts",
                "export function greeting(): number {\n  return 1;\n}\n",
            ),
            (
                "user.ts",
                "import { greeting } from './lib';\n\nexport const x = ['😀', greeting()];\n",
            ),
        ]),
        at: ("user.ts", 3),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    };
    let project = Project::with(&[], |_, mut options| {
        options.disabled = vec!["typescript-language-server".to_owned()];
        options
    });
    for (name, text) in &case.files {
        project.write(name, text);
    }
    std::os::unix::fs::symlink(modules, project.path("node_modules")).expect("writable");
    case.check_in(&project);
}

#[test]
fn pyright_renames_in_closed_files_too() {
    Case {
        binary: "pyright-langserver",
        files: owned(&[
            ("pyproject.toml", ""),
            ("lib.py", "def greeting() -> int:\n    return 1\n"),
            (
                "user.py",
                "from lib import greeting\n\nprint(\"😀é\", greeting())\n",
            ),
        ]),
        at: ("lib.py", 1),
        from: "greeting",
        to: "welcome",
        n_files: 2,
    }
    .check_without(&["basedpyright", "ty", "pylsp", "ruff"]);
}

// clangd asked too early renames in the open file only.
#[test]
fn clangd_waits_for_its_index() {
    let command = |file: &str| {
        format!(
            "{{\"directory\": \"WORK\", \"file\": \"{file}\", \"arguments\": [\"cc\", \"-c\", \"{file}\"]}}"
        )
    };
    let database = format!("[{}, {}]", command("a.c"), command("b.c"));
    Case {
        binary: "clangd",
        files: owned(&[
            ("compile_commands.json", &database),
            ("lib.h", "int greeting(void);\n"),
            (
                "a.c",
                "#include \"lib.h\"\n\nint greeting(void) { return 1; }\n",
            ),
            (
                "b.c",
                "#include \"lib.h\"\n\nint user(void) { return greeting(); }\n",
            ),
        ]),
        at: ("a.c", 3),
        from: "greeting",
        // As long as the old one: clangd sees no other file in the same second.
        to: "farewell",
        n_files: 3,
    }
    .check();
}

#[test]
fn gopls_renames_in_closed_files_too() {
    Case {
        binary: "gopls",
        files: owned(&[
            ("go.mod", "module demo\n\ngo 1.19\n"),
            (
                "lib.go",
                "package demo\n\nfunc Greeting() int {\n\treturn 1\n}\n",
            ),
            (
                "user.go",
                "package demo\n\nfunc User() int {\n\treturn Greeting()\n}\n",
            ),
        ]),
        at: ("lib.go", 3),
        from: "Greeting",
        to: "Welcome",
        n_files: 2,
    }
    .check();
}

// R41, R42: what is no symbol, and what is no name, is refused in words; nothing changes.
#[test]
fn a_word_that_is_no_symbol_is_not_renamed() {
    if peers::find("clangd").is_none() {
        return;
    }
    let text = "int f(void) {\n  return 1;\n}\n";
    let project = Project::new(&[("compile_flags.txt", ""), ("a.c", text)]);
    let run = renaming(&project);
    let refused = |line: usize, symbol: &str, new_name: &str| {
        let args = json!({"file": "a.c", "line": line, "symbol": symbol, "new_name": new_name});
        let error = call(&run, args).expect_err("it is refused");
        assert_eq!(project.read("a.c").as_deref(), Some(text));
        assert!(error.hint().is_some());
        error
    };
    assert_eq!(refused(2, "return", "x").kind(), ErrorKind::Failed);
    assert_eq!(refused(1, "f", "not a name").kind(), ErrorKind::InvalidArgs);
    assert_eq!(refused(1, "g", "h").kind(), ErrorKind::NotFound);
    assert_eq!(refused(1, "f", " ").kind(), ErrorKind::InvalidArgs);
}
