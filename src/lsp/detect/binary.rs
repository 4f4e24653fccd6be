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
    let on_path = on_path(env);
    for (name, args) in commands().filter(|(name, _)| !name.contains('/')) {
        for folder in &on_path {
            add(folder.join(name), args, "PATH".to_owned());
        }
    }
    found
}

fn on_path(env: &Env) -> Vec<PathBuf> {
    let path = env.get("PATH").unwrap_or_default().as_bytes();
    path.split(|byte| *byte == b':')
        .map(|folder| PathBuf::from(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// Says that a server of `row` cannot load a project because the build tool that it asks is not there.
pub(crate) fn lacks_tool(row: &ServerRow, env: &Env) -> Option<String> {
    let tool = row.needs.as_deref()?;
    let mut places = on_path(env);
    let mut named = None;
    // rust-analyzer looks in more places for it.
    if tool == "cargo" {
        let home = env.get("HOME").map(|home| Path::new(home).join(".cargo"));
        let home = env.get("CARGO_HOME").map(PathBuf::from).or(home);
        places.extend(home.map(|home| home.join("bin")));
        named = env.get("CARGO").map(PathBuf::from);
    }
    let mut programs = places.iter().map(|folder| folder.join(tool)).chain(named);
    let is_there = programs.any(|path| is_program(&path));
    (!is_there).then(|| {
        format!(
            "{tool} is not on the PATH, so {} cannot load the project; install it, or start with the folder of \
             {tool} on the PATH",
            row.id
        )
    })
}

/// Returns what tells whether a program is still the same one.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok()?))
}
