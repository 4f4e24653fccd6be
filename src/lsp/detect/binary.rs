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

/// Finds the program of `row` for a project in `root`, whose own binaries lie in it or above it up to `top`.
pub(super) fn find(
    row: &ServerRow,
    root: &Path,
    top: &Path,
    env: &Env,
    project_binaries: bool,
) -> Option<Program> {
    let folders: &[&str] = match row.local {
        Local::None => &[],
        Local::Node => &["node_modules/.bin"],
        Local::Python => &[".venv/bin", "venv/bin"],
    };
    let folders = if project_binaries { folders } else { &[] };
    let commands = || row.commands.iter().filter_map(|words| words.split_first());
    let program = |path: PathBuf, args: &[String], origin: String| Program {
        path,
        args: args.to_vec(),
        origin,
    };
    for (name, args) in commands().filter(|(name, _)| name.contains('/')) {
        let path = root.join(name);
        if is_program(&path) {
            return Some(program(path, args, "the path in its row".to_owned()));
        }
    }
    for above in upwards(root, top) {
        for folder in folders {
            for (name, args) in commands() {
                let path = above.join(folder).join(name);
                if is_program(&path) {
                    return Some(program(path, args, format!("the project's {folder}")));
                }
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
    commands()
        .filter(|(name, _)| !name.contains('/'))
        .find_map(|(name, args)| {
            let found = on_path.iter().map(|folder| folder.join(name));
            let found = found.into_iter().find(|path| is_program(path))?;
            Some(program(found, args, "PATH".to_owned()))
        })
}

/// Returns what tells whether a program is still the same one.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok()?))
}
