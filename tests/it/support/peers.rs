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
