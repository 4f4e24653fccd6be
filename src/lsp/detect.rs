//! Which server answers for a file, decided at the moment of the call: a root marker must exist and the
//! program must be found (R13). One of the two is not enough, and says which half is missing (R14).

mod binary;
mod database;
mod project;
mod roots;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::child::Env;
use crate::lsp::servers::ServerRow;
use crate::workspace::Workspace;

pub(crate) use crate::lsp::detect::binary::{identity, lacks_tool};
pub(crate) use crate::lsp::detect::database::{fallback_flags, guesses_flags};

/// What detection looks at.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    pub(crate) workspace: Workspace,
    pub(crate) rows: Vec<Arc<ServerRow>>,
    pub(crate) env: Env,
    /// Whether a project's own binaries may be run.
    pub(crate) project_binaries: bool,
}

/// What was found of one row for one place.
#[derive(Clone, Debug)]
pub(crate) struct Detected {
    pub(crate) row: Arc<ServerRow>,
    pub(crate) root: Option<Root>,
    pub(crate) program: Option<Program>,
    /// What is tried where that one does not run, in this order.
    pub(crate) others: Vec<Program>,
}

/// Where a project begins, and which marker says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) folder: PathBuf,
    pub(crate) marker: String,
}

/// A program that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) origin: String,
}

impl Detected {
    /// Returns root and program where both halves are there.
    pub(crate) fn both(&self) -> Option<(&Root, &Program)> {
        self.root.as_ref().zip(self.program.as_ref())
    }

    /// Says which half is missing, if one is.
    pub(crate) fn lack(&self) -> Option<String> {
        if self.row.markers().is_empty() {
            return Some(format!(
                "no file marks the roots of its projects: set `root_markers` of `lsp.server.{}`",
                self.row.id
            ));
        }
        let markers = || alternatives(&self.row.markers());
        let programs = || alternatives(&self.row.programs());
        let install = &self.row.install;
        let install = match install.is_empty() {
            true => String::new(),
            false => format!("; {install}"),
        };
        match (&self.root, &self.program) {
            (Some(_), Some(_)) => None,
            (None, Some(program)) => Some(format!(
                "no root marker ({}); the binary is there: {}",
                markers(),
                program.path.display()
            )),
            (Some(root), None) => Some(format!(
                "no binary {} in the project or on PATH; the root marker {} is there{install}",
                programs(),
                root.marker
            )),
            (None, None) => Some(format!(
                "neither a root marker ({}) nor a binary {}{install}",
                markers(),
                programs()
            )),
        }
    }
}

impl Detector {
    /// Returns what is there for a file, of each row that serves it, in the order of the table.
    pub(crate) fn for_file(&self, path: &Path) -> Vec<Detected> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.rows
            .iter()
            .filter(|row| row.language_of(&name).is_some())
            .map(|row| self.detect(row, path))
            .collect()
    }

    /// Returns what is there of one row for a file; the file need not exist.
    pub(crate) fn detect(&self, row: &Arc<ServerRow>, path: &Path) -> Detected {
        let top = self.top(path);
        let root = roots::find(&row.root, path, top);
        let from = root.as_ref().map_or(top, |root| root.folder.as_path());
        let mut programs =
            binary::find(row, from, top, &self.env, self.project_binaries).into_iter();
        Detected {
            program: programs.next(),
            others: programs.collect(),
            row: Arc::clone(row),
            root,
        }
    }

    /// Returns the environment, the init options and the settings of a server of `row` in `root`.
    pub(crate) fn adapt(&self, row: &ServerRow, root: &Path) -> (Env, Value, Value) {
        project::adapt(row, root, self.top(root), &self.env)
    }

    /// Tells whether a change of a file could matter to any server: it is served, or names a root.
    pub(crate) fn is_relevant(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.rows.iter().any(|row| {
            row.language_of(&name).is_some() || row.markers().iter().any(|marker| name == *marker)
        })
    }

    /// Returns the folder above which nobody looks.
    pub(crate) fn top(&self, path: &Path) -> &Path {
        let roots = self.workspace.extra_roots().iter().map(PathBuf::as_path);
        std::iter::once(self.workspace.root())
            .chain(roots)
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.components().count())
            .unwrap_or(self.workspace.root())
    }
}

/// Returns the folders from `path` (or the folder it is in) up to `top`, nearest first.
pub(crate) fn upwards<'a>(path: &'a Path, top: &'a Path) -> impl Iterator<Item = &'a Path> {
    path.ancestors()
        .take_while(move |folder| folder.starts_with(top))
}

fn alternatives(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let mut text = names
        .iter()
        .take(SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    match names.len() {
        0 | 1 => text,
        _ => format!("one of {text}"),
    }
}

#[cfg(test)]
mod tests;
