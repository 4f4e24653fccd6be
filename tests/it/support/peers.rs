//! The real programs that tests talk to: language servers, debug adapters, interpreters.
//!
//! `tests/install-peers` puts them where this module looks: `target/peers` of the checkout, the folders of
//! Debian's versioned packages, and the `PATH`. A test whose peer is missing says so and ends; the closing
//! lines of `.ci/run` count those.

use std::env;
use std::path::{Path, PathBuf};

/// The folders that are searched, in order.
pub(crate) fn folders() -> Vec<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers");
    let mut folders = vec![
        // Programs of other versions than the machine has; whoever has some puts them there.
        peers.join("bin"),
        peers.join("venv/bin"),
        peers.join("node/node_modules/.bin"),
        peers.join("servers/node_modules/.bin"),
        PathBuf::from("/usr/lib/llvm-22/bin"),
    ];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    // A shim that stands for a component that is not installed answers to the name and then fails.
    folders.retain(|folder| !folder.ends_with(".cargo/bin"));
    folders
}

/// A `PATH` of those folders.
pub(crate) fn path() -> std::ffi::OsString {
    env::join_paths(folders()).expect("no folder has a colon in its name")
}

/// Finds a peer; without it says that the test is skipped.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let found = folders()
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: {name} missing");
    }
    found
}

/// Finds the folder of the compiler of TypeScript 7, which is a server too; it is on no `PATH`, because
/// an older one of the same name is. Without it says that the test is skipped.
pub(crate) fn typescript_7() -> Option<PathBuf> {
    let modules =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers/typescript7/node_modules");
    let found = modules.join(".bin/tsc").is_file();
    if !found {
        println!("skipped: typescript 7 missing");
    }
    found.then_some(modules)
}

/// Finds the folder of the packages that the further servers of Node came with.
pub(crate) fn server_modules() -> Option<PathBuf> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers/servers/node_modules");
    let found = modules.join("eslint").is_dir();
    if !found {
        println!("skipped: eslint missing");
    }
    found.then_some(modules)
}

/// Finds the interpreters of other versions than those that the tests use anyway, and says which are not here.
pub(crate) fn other_interpreters(language: &str) -> Vec<PathBuf> {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers/nodes/node_modules");
    let of = |version: &str| match language {
        "python" => {
            let name = format!("python3.{version}");
            // A shim may stand for a version that is not there.
            let works = |path: &PathBuf| {
                let output = std::process::Command::new(path).arg("--version").output();
                output.is_ok_and(|output| output.status.success())
            };
            let found = folders().into_iter().map(|folder| folder.join(&name));
            let found = found.filter(|path| path.is_file()).find(works);
            // No registry has them all: which ones were tried is said, and none is a test of its own.
            if found.is_none() {
                println!("not tried: {name} is not here");
            }
            found
        }
        _ => {
            let node = nodes.join(format!("node{version}/bin/node"));
            let found = node.is_file().then_some(node);
            if found.is_none() {
                println!("skipped: node{version} missing");
            }
            found
        }
    };
    let versions: &[&str] = match language {
        "python" => &["8", "9", "10", "11", "12", "13", "14"],
        _ => &["18", "22", "24"],
    };
    versions.iter().copied().filter_map(of).collect()
}

/// Tells whether the Python of the peers imports a module; without it says that the test is skipped.
pub(crate) fn python_with(module: &str) -> Option<PathBuf> {
    let python = folders()
        .into_iter()
        .map(|folder| folder.join("python3"))
        .find(|path| path.is_file());
    let found = python.filter(|python| {
        std::process::Command::new(python)
            .args(["-c", &format!("import {module}")])
            .output()
            .is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        println!("skipped: {module} missing");
    }
    found
}
