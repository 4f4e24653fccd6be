//! The walls of the crate, held by reading its sources.
//!
//! Each wall is a function from a path and its text to complaints, and has a test of its own with a good
//! and a bad source, so that a wall which sees nothing is found out. What the walls are for stands in the
//! crate docs: floors, one place that starts processes, a library that neither prints nor looks around.

mod reader;
mod walls;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use reader::{Source, code, imports};
use walls::{floors, head_comment, printing, processes, size, sleeping, surroundings, unwrapping};

/// Engines: they import lower floors, and neither each other nor the contract.
const ENGINES: [&str; 12] = [
    "lsp",
    "dap",
    "syntax",
    "kernel",
    "ask",
    "vibe",
    "shell",
    "web",
    "agents",
    "editing",
    "finding",
    "artifacts",
];

/// The contract, which knows no engine.
const CONTRACT: [&str; 4] = ["tool", "registry", "run", "toolset"];

/// Floor 0: what everything stands on.
const GROUND: [&str; 9] = [
    "cancel",
    "child",
    "diff",
    "files",
    "limits",
    "text",
    "walk",
    "wire",
    "workspace",
];

const MAX_LINES: usize = 600;

/// A wall: complaints about one source.
type Wall = fn(&Source<'_>) -> Vec<String>;

/// Every wall that looks at one file.
const WALLS: [(&str, Wall); 8] = [
    ("floors", floors),
    ("child processes", processes),
    ("printing", printing),
    ("looking around", surroundings),
    ("sleeping", sleeping),
    ("size", size),
    ("head comment", head_comment),
    ("unwrapping", unwrapping),
];

#[test]
fn every_source_keeps_within_the_walls() {
    let sources = sources();
    assert!(sources.contains_key("src/lib.rs") && sources.contains_key("tests/it/main.rs"));
    let complaints: Vec<String> = sources
        .iter()
        .flat_map(|(path, text)| {
            let source = Source::new(path, text);
            let complain = |(wall, look): &(&str, Wall)| {
                let found = look(&source).into_iter();
                found
                    .map(|complaint| format!("{path}: {wall}: {complaint}"))
                    .collect::<Vec<_>>()
            };
            WALLS.iter().flat_map(complain).collect::<Vec<_>>()
        })
        .chain(cycles(&sources))
        .chain(forgotten_tests(&sources))
        .chain(shared_folder(&sources))
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Reads every Rust source of the library, the command and the tests.
fn sources() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = BTreeMap::new();
    let mut folders = vec![root.join("src"), root.join("tests"), root.join("benches")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(root)
                    .expect("it is beneath")
                    .to_string_lossy()
                    .replace('\\', "/");
                sources.insert(name, fs::read_to_string(&path).expect("UTF-8"));
            }
        }
    }
    sources
}

/// Returns the module of a library source (`src/lsp/client.rs` is in `lsp`); none for the command, the
/// crate root and the tests.
fn module(path: &str) -> Option<&str> {
    let inner = path.strip_prefix("src/")?;
    let first = inner.split('/').next()?.trim_end_matches(".rs");
    (first != "bin" && first != "lib").then_some(first)
}

/// Returns the floor of a module.
fn floor(module: &str) -> Option<u8> {
    if GROUND.contains(&module) {
        Some(0)
    } else if ENGINES.contains(&module) {
        Some(1)
    } else if CONTRACT.contains(&module) {
        Some(2)
    } else {
        (module == "tools").then_some(3)
    }
}

/// No two top modules import each other, also not in a ring.
fn cycles(sources: &BTreeMap<String, String>) -> Vec<String> {
    let mut graph: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources {
        if let Some(own) = module(path) {
            graph.entry(own).or_default().extend(
                imports(&Source::new(path, text).shipped)
                    .into_iter()
                    .filter(|other| other != own),
            );
        }
    }
    let reaches = |from: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(next) = todo.pop() {
            for other in graph.get(next).into_iter().flatten() {
                if seen.insert(other) {
                    todo.push(other);
                }
            }
        }
        seen.contains(from)
    };
    graph
        .keys()
        .filter(|module| reaches(module))
        .map(|module| format!("{module}: it imports itself in a ring"))
        .collect()
}

/// Every file of the test binary is declared by the file above it, or its tests never run.
fn forgotten_tests(sources: &BTreeMap<String, String>) -> Vec<String> {
    let declares = |parent: &str, name: &str| {
        let declaration = format!("mod {name};");
        sources.get(parent).is_some_and(|text| {
            code(text).lines().any(|line| {
                let line = line.trim();
                let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
                line.strip_prefix("pub ").unwrap_or(line) == declaration
            })
        })
    };
    sources
        .keys()
        .filter(|path| path.starts_with("tests/it/") && *path != "tests/it/main.rs")
        .filter_map(|path| {
            let module = path.strip_suffix("/mod.rs").or(path.strip_suffix(".rs"))?;
            let (folder, name) = module.rsplit_once('/')?;
            let parents = match folder {
                "tests/it" => vec!["tests/it/main.rs".to_owned()],
                _ => vec![format!("{folder}.rs"), format!("{folder}/mod.rs")],
            };
            let declared = parents.iter().any(|parent| declares(parent, name));
            (!declared).then(|| format!("{path}: {} does not declare it", parents.join(" or ")))
        })
        .collect()
}

/// Tests bring their data along.
fn shared_folder(sources: &BTreeMap<String, String>) -> Vec<String> {
    // Put together here, because this file is looked at too.
    let folder = ["/sha", "red/"].concat();
    sources
        .iter()
        .filter(|(_, text)| text.contains(&folder))
        .map(|(path, _)| format!("{path}: it names a folder outside the checkout"))
        .collect()
}

#[test]
fn the_wall_against_rings_stands() {
    let sources = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect::<BTreeMap<_, _>>()
    };
    let line = sources(&[
        ("src/a.rs", "use crate::b;"),
        ("src/b/x.rs", "use crate::c;"),
        ("src/c.rs", ""),
    ]);
    assert_eq!(cycles(&line), [""; 0]);
    let ring = sources(&[
        ("src/a.rs", "use crate::b;"),
        ("src/b.rs", "use crate::c;"),
        ("src/c.rs", "use crate::a;"),
    ]);
    assert_eq!(cycles(&ring).len(), 3);
}

#[test]
fn the_wall_against_forgotten_tests_stands() {
    let sources = |main: &str, b: &str| {
        [
            ("main", main),
            ("a", ""),
            ("b", b),
            ("b/c", ""),
            ("d/mod", ""),
        ]
        .map(|(name, text)| (format!("tests/it/{name}.rs"), text.to_owned()))
        .into()
    };
    assert_eq!(
        forgotten_tests(&sources("mod a;\nmod b;\nmod d;", "mod c;")),
        [""; 0]
    );
    assert_eq!(
        forgotten_tests(&sources("mod a;\n// mod b;\nmod d;", "mod c;")).len(),
        1
    );
    assert_eq!(
        forgotten_tests(&sources("mod a;\nmod b;", "// mod c;")).len(),
        2
    );
}

#[test]
fn the_wall_around_test_data_stands() {
    let sources = |text: String| BTreeMap::from([("tests/it/a.rs".to_owned(), text)]);
    assert_eq!(
        shared_folder(&sources("a shared table".to_owned())),
        [""; 0]
    );
    assert_eq!(
        shared_folder(&sources(["../sha", "red/spec"].concat())).len(),
        1
    );
}
