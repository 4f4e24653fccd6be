//! A temporary folder of its own for a server that leaves large files there when it is killed.
//!
//! The folder goes with the server; what a host that was killed left behind goes when the next one starts.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::child::Env;

/// What the names begin with; the host's process id follows, and what makes the name its own.
const PREFIX: &str = "toolbox-lsp-";

/// Makes a folder where the environment has temporary files, and gives it to the server; none where that
/// cannot be, since the server can do without.
pub(super) fn own(env: &mut Env) -> Option<TempDir> {
    let base = env.get("TMPDIR").map(PathBuf::from);
    let base = base.unwrap_or_else(|| PathBuf::from("/tmp"));
    sweep(&base);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir_in(&base)
        .ok()?;
    env.set("TMPDIR", folder.path());
    Some(folder)
}

/// Removes the folders of hosts that are gone.
fn sweep(base: &Path) {
    let folders = fs::read_dir(base).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        let host = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let host = host.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if host.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // Another host may be at it, too; what belongs to another user stays.
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_hosts_that_are_gone_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let mut env = Env::default();
        env.set("TMPDIR", base.path());
        // No process has a number that large.
        let stale = base.path().join(format!("{PREFIX}4294967295-x"));
        let others = ["toolbox-lsp-", "toolbox-lsp-x-1", "else"].map(|name| base.path().join(name));
        for folder in others.iter().chain([&stale]) {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("preamble.pch"), "x").unwrap();
        }
        let first = own(&mut env.clone()).expect("a folder");
        let second = own(&mut env).expect("a folder");
        assert!(!stale.exists());
        assert!(others.iter().all(|folder| folder.exists()));
        assert!(first.path().exists(), "its host lives");
        assert_eq!(env.get("TMPDIR").map(Path::new), Some(second.path()));
    }
}
