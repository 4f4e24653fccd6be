//! Files that a server reads at its start and takes note of late or never, such as `.clangd`: where one of them
//! changed, only a server that is started again tells the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::lsp::client::Server;
use crate::lsp::detect::{identity, upwards};
use crate::lsp::servers::ServerRow;

type Identity = (u64, u64, SystemTime);

/// How the files looked that one start of a server read.
#[derive(Debug)]
pub(super) struct Settings {
    seen: BTreeMap<PathBuf, Option<Identity>>,
    since: SystemTime,
}

impl Settings {
    /// Looks at them before the server does. They are read in its root and in the folders above it, up to `top`.
    pub(super) fn read(row: &ServerRow, root: &Path, top: &Path) -> Settings {
        let since = SystemTime::now();
        let folders = upwards(root, top);
        let seen = paths(row, folders).map(|path| {
            let now = identity(&path);
            (path, now)
        });
        Settings {
            seen: seen.collect(),
            since,
        }
    }

    /// Whether one is not what it was when the server started, also beside a document that is open.
    pub(super) fn have_changed(&mut self, server: &Server) -> bool {
        let row = server.row();
        if row.restart_on.is_empty() {
            return false;
        }
        let documents = server.open_documents();
        let folders: BTreeSet<&Path> = documents
            .iter()
            .flat_map(|path| upwards(path.parent().unwrap_or(path), server.root()))
            .collect();
        for path in paths(row, folders.into_iter()) {
            // One that is first looked at now is the one that the server read, unless it is younger.
            let since = self.since;
            self.seen.entry(path).or_insert_with_key(|path| {
                identity(path).filter(|(_, _, modified)| *modified < since)
            });
        }
        self.seen.iter().any(|(path, seen)| identity(path) != *seen)
    }
}

fn paths<'a>(
    row: &'a ServerRow,
    folders: impl Iterator<Item = &'a Path> + 'a,
) -> impl Iterator<Item = PathBuf> + 'a {
    folders.flat_map(|folder| row.restart_on.iter().map(|name| folder.join(name)))
}
