//! Roots and programs in small trees.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::lsp::servers;

struct Tree {
    temp: tempfile::TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self {
            temp: tempfile::tempdir().expect("a folder"),
        };
        for (name, text) in files {
            tree.write(name, text);
        }
        tree
    }

    fn work(&self) -> PathBuf {
        self.temp.path().canonicalize().expect("it exists")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
        fs::write(&path, text).expect("writable");
        path
    }

    fn program(&self, name: &str) -> PathBuf {
        let path = self.write(name, "#!/bin/sh\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("writable");
        path
    }

    fn detector(&self) -> Detector {
        Detector {
            workspace: Workspace::open(&self.work()).expect("it exists"),
            rows: servers::built_in().into_iter().map(Arc::new).collect(),
            env: Env::new().with("PATH", self.work().join("bin")),
            project_binaries: true,
        }
    }

    fn detect(&self, id: &str, file: &str) -> Detected {
        let found = self.detector().for_file(&self.work().join(file));
        let mut found = found.into_iter().filter(|detected| detected.row.id == id);
        found.next().expect("the row serves the file")
    }

    #[track_caller]
    fn root(&self, id: &str, file: &str, folder: Option<&str>) {
        let root = self.detect(id, file).root.map(|root| root.folder);
        assert_eq!(
            root,
            folder.map(|folder| self.work().join(folder)),
            "{id} {file}"
        );
    }
}

// R13, R14: each half alone is not enough and is named; both together are.
#[test]
fn marker_and_binary_are_both_needed() {
    let tree = Tree::new(&[("a.rs", "")]);
    let lack = |words: &[&str]| {
        let lack = tree
            .detect("rust-analyzer", "a.rs")
            .lack()
            .expect("it lacks");
        for word in words {
            assert!(lack.contains(word), "{lack} lacks {word}");
        }
    };
    lack(&["neither", "Cargo.toml", "rust-analyzer"]);
    let program = tree.program("bin/rust-analyzer");
    lack(&["no root marker", "Cargo.toml", "bin/rust-analyzer"]);
    fs::remove_file(&program).expect("it is there");
    tree.write("Cargo.toml", "[package]\nname = 'a'\n");
    lack(&[
        "no binary rust-analyzer",
        "root marker Cargo.toml is there",
        "rustup component add",
    ]);
    tree.program("bin/rust-analyzer");
    let detected = tree.detect("rust-analyzer", "a.rs");
    assert_eq!(detected.lack(), None);
    assert_eq!(
        detected.both().map(|(_, program)| program.path.clone()),
        Some(program)
    );
}

#[test]
fn a_file_that_is_not_executable_is_no_program() {
    let tree = Tree::new(&[("a.go", ""), ("go.mod", ""), ("bin/gopls", "")]);
    assert!(tree.detect("gopls", "a.go").program.is_none());
}

// The root rule of each kind of server.
#[test]
fn a_cargo_package_belongs_to_the_workspace_that_takes_it_in() {
    let tree = Tree::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['crates/*']\nexclude = ['crates/out']\n",
        ),
        ("crates/in/Cargo.toml", "[package]\nname = 'in'\n"),
        ("crates/out/Cargo.toml", "[package]\nname = 'out'\n"),
        ("other/Cargo.toml", "[package]\nname = 'other'\n"),
        (
            "named/Cargo.toml",
            "[package]\nname = 'named'\nworkspace = '..'\n",
        ),
        ("own/Cargo.toml", "[workspace]\n[package]\nname = 'own'\n"),
        ("broken/Cargo.toml", "[[["),
    ]);
    tree.root("rust-analyzer", "crates/in/src/a.rs", Some(""));
    tree.root("rust-analyzer", "crates/out/src/a.rs", Some("crates/out"));
    tree.root("rust-analyzer", "other/src/a.rs", Some("other"));
    tree.root("rust-analyzer", "named/a.rs", Some(""));
    tree.root("rust-analyzer", "own/a.rs", Some("own"));
    tree.root("rust-analyzer", "broken/a.rs", Some("broken"));
}

#[test]
fn go_work_comes_before_a_nearer_go_mod() {
    let tree = Tree::new(&[("go.work", ""), ("m/go.mod", "")]);
    tree.root("gopls", "m/a.go", Some(""));
    let tree = Tree::new(&[("go.mod", ""), ("m/go.mod", "")]);
    tree.root("gopls", "m/a.go", Some("m"));
    tree.root("gopls", "a.go", Some(""));
}

#[test]
fn pubspec_is_the_topmost_workspace_or_the_nearest() {
    let tree = Tree::new(&[
        ("pubspec.yaml", "name: a\n"),
        ("p/pubspec.yaml", "name: p\n"),
    ]);
    tree.root("dart", "p/lib/a.dart", Some("p"));
    tree.write("pubspec.yaml", "name: a\nworkspace:\n  - p\n");
    tree.root("dart", "p/lib/a.dart", Some(""));
}

// Packages of one workspace know of each other: one server has all of them, where the workspace is declared.
#[test]
fn node_packages_share_the_root_that_declares_them() {
    let of = |declaration: &[(&str, &str)]| {
        let mut files = vec![
            ("packages/a/tsconfig.json", "{}"),
            ("packages/a/package.json", "{}"),
            ("packages/a/src/x.ts", ""),
        ];
        files.extend(declaration);
        Tree::new(&files)
    };
    let server = "typescript-language-server";
    for declaration in [
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("pnpm-workspace.yaml", ""),
        ("lerna.json", "{}"),
        (
            "tsconfig.json",
            r#"{"files": [], "references": [{"path": "packages/a"}]}"#,
        ),
    ] {
        let tree = of(&[declaration]);
        tree.root(server, "packages/a/src/x.ts", Some(""));
    }
    for other in [
        ("package.json", "{}"),
        ("tsconfig.json", "{}"),
        ("other.json", r#"{"workspaces": ["packages/*"]}"#),
    ] {
        let tree = of(&[other]);
        tree.root(server, "packages/a/src/x.ts", Some("packages/a"));
    }
    // A lock file says more.
    let tree = of(&[
        ("package.json", r#"{"workspaces": []}"#),
        ("packages/a/yarn.lock", ""),
    ]);
    tree.root(server, "packages/a/src/x.ts", Some("packages/a"));
}

#[test]
fn node_is_the_lock_file_and_deno_takes_what_is_nearer_to_it() {
    let tree = Tree::new(&[
        ("package-lock.json", ""),
        ("frontend/tsconfig.json", ""),
        ("frontend/d/deno.json", ""),
    ]);
    let id = "typescript-language-server";
    tree.root(id, "frontend/a.ts", Some(""));
    tree.root(id, "frontend/d/a.ts", None);
    tree.root("deno", "frontend/d/a.ts", Some("frontend/d"));
    let tree = Tree::new(&[("frontend/tsconfig.json", "")]);
    tree.root(id, "frontend/src/a.tsx", Some("frontend"));
    tree.root(id, "a.ts", None);
}

#[test]
fn patterns_and_build_folders_are_markers_too() {
    let tree = Tree::new(&[
        ("s/App.sln", ""),
        ("s/p/App.csproj", ""),
        ("c/build/compile_commands.json", ""),
    ]);
    tree.root("omnisharp", "s/p/a.cs", Some("s"));
    tree.root("clangd", "c/src/a.c", Some("c"));
}

// Nobody looks above the workspace.
#[test]
fn a_marker_above_the_workspace_does_not_count() {
    let tree = Tree::new(&[("Cargo.toml", ""), ("work/a.rs", "")]);
    let mut detector = tree.detector();
    detector.workspace = Workspace::open(&tree.work().join("work")).expect("it exists");
    let found = detector.for_file(&tree.work().join("work/a.rs"));
    assert_eq!(found[0].root, None);
}

// The project's own binaries come first, unless the host does not trust them.
#[test]
fn project_binaries_come_before_the_path() {
    let tree = Tree::new(&[("pyproject.toml", ""), ("pkg/setup.py", "")]);
    let on_path = tree.program("bin/pyright-langserver");
    let of = |detector: &Detector| {
        let found = detector.for_file(&tree.work().join("pkg/a.py"));
        let found = found.into_iter().find(|found| found.row.id == "pyright");
        found.and_then(|found| found.program).expect("found")
    };
    assert_eq!(of(&tree.detector()).path, on_path);
    let own = tree.program(".venv/bin/pyright-langserver");
    assert_eq!(of(&tree.detector()).path, own);
    assert_eq!(of(&tree.detector()).args, ["--stdio"]);
    let mut distrustful = tree.detector();
    distrustful.project_binaries = false;
    assert_eq!(of(&distrustful).path, on_path);
}

// A nested package uses the environment of the root.
#[test]
fn the_environment_of_a_folder_above_is_told_to_the_server() {
    let tree = Tree::new(&[("pkg/setup.py", "")]);
    let python = tree.program(".venv/bin/python");
    let detector = tree.detector();
    let row = detector
        .rows
        .iter()
        .find(|row| row.id == "pyright")
        .expect("built in");
    let (env, _, settings) = detector.adapt(row, &tree.work().join("pkg"));
    assert_eq!(
        settings["python"]["pythonPath"],
        python.to_str().expect("UTF-8")
    );
    assert_eq!(
        env.get("VIRTUAL_ENV"),
        Some(tree.work().join(".venv").as_os_str())
    );
}
