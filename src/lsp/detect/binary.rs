//! Finding a server's program: what the project brings along first, then the `PATH`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Program, upwards};
use crate::child::{Env, is_program};
use crate::lsp::servers::{Local, ServerRow};

/// Finds the programs of `row` for a project in `root`, whose own binaries lie in it or above it up to `top`, in
/// the order in which they are tried.
pub(super) fn find(
    row: &ServerRow,
    root: &Path,
    top: &Path,
    env: &Env,
    project_binaries: bool,
) -> Vec<Program> {
    let folders: &[&str] = match row.local {
        Local::None => &[],
        Local::Node => &["node_modules/.bin"],
        Local::Python => &[".venv/bin", "venv/bin"],
    };
    let folders = if project_binaries { folders } else { &[] };
    let commands = || row.commands.iter().filter_map(|words| words.split_first());
    let mut found: Vec<Program> = Vec::new();
    let mut add = |path: PathBuf, args: &[String], origin: String| {
        // `/bin` is `/usr/bin` on many systems: the same program is tried once.
        let is_same = |known: &Program| identity(&known.path) == identity(&path);
        if is_program(&path) && !found.iter().any(is_same) {
            found.push(Program {
                path,
                args: args.to_vec(),
                origin,
            });
        }
    };
    for (name, args) in commands().filter(|(name, _)| name.contains('/')) {
        add(root.join(name), args, "the path in its row".to_owned());
    }
    for above in upwards(root, top) {
        for folder in folders {
            for (name, args) in commands() {
                let path = above.join(folder).join(name);
                add(path, args, format!("the project's {folder}"));
            }
        }
    }
    let path = env.get("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|folder| PathBuf::from(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .collect();
    for (name, args) in commands().filter(|(name, _)| !name.contains('/')) {
        for folder in &on_path {
            add(folder.join(name), args, "PATH".to_owned());
        }
    }
    found
}

/// Returns what tells whether a program is still the same one.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok()?))
}
