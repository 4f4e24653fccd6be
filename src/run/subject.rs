//! What an approval rule looks at in the arguments of a call.
//!
//! A target says where in the arguments it stands and how it is read, so that no tool is known here by its
//! name. What cannot be read for certain is told apart from what does not match: no rule allows it.

use std::path::PathBuf;

use serde_json::Value;

use crate::workspace::{Workspace, lexical};

/// Where a rule looks, and what it finds there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// JSON pointers (RFC 6901) into the arguments, such as `/command`: the names that the tool knows the
    /// argument by. Whatever is found at any of them counts.
    pub pointers: Vec<String>,
    /// What stands there.
    pub kind: SubjectKind,
}

/// How a subject is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SubjectKind {
    /// A path, or a list of paths, relative to the workspace or absolute.
    Path,
    /// A patch in the form `*** Begin Patch`, which names paths.
    Patch,
    /// A command line for a shell.
    Command,
}

/// One thing that a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Path(Places),
    Command(String),
    /// It is there, but cannot be read for certain.
    Opaque,
}

/// A path in both of its forms; absolute, without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// As it is written.
    pub(crate) written: PathBuf,
    /// Where it leads, links followed.
    pub(crate) real: PathBuf,
}

impl Target {
    /// Makes a target of an argument with one name.
    pub fn new(pointer: impl Into<String>, kind: SubjectKind) -> Self {
        Self {
            pointers: vec![pointer.into()],
            kind,
        }
    }

    /// Reads the subjects of one call; never none.
    pub(crate) fn subjects(&self, args: &Value, workspace: Option<&Workspace>) -> Vec<Subject> {
        let found = self
            .pointers
            .iter()
            .filter_map(|pointer| args.pointer(pointer));
        let subjects: Vec<Subject> = found
            .flat_map(|value| self.read(value, workspace))
            .collect();
        if subjects.is_empty() {
            return vec![Subject::Opaque];
        }
        subjects
    }

    /// Reads one argument; none when it names nothing.
    fn read(&self, value: &Value, workspace: Option<&Workspace>) -> Vec<Subject> {
        match (self.kind, value) {
            (SubjectKind::Path, Value::String(path)) => vec![place(path, workspace)],
            (SubjectKind::Path, Value::Array(paths)) => paths
                .iter()
                .map(|path| {
                    path.as_str()
                        .map_or(Subject::Opaque, |path| place(path, workspace))
                })
                .collect(),
            (SubjectKind::Patch, Value::String(patch)) => patched(patch)
                .into_iter()
                .map(|path| path.map_or(Subject::Opaque, |path| place(path, workspace)))
                .collect(),
            (SubjectKind::Command, Value::String(line)) => vec![Subject::Command(line.clone())],
            _ => vec![Subject::Opaque],
        }
    }
}

/// Finds the paths of a patch, and `None` for a marker that is not understood.
///
/// It takes more lines for headers than a strict reader does; that only makes rules stricter.
fn patched(patch: &str) -> Vec<Option<&str>> {
    let header = |line: &str| -> bool {
        ["Begin Patch", "End Patch", "End of File"]
            .iter()
            .any(|marker| line.eq_ignore_ascii_case(marker))
    };
    patch
        .lines()
        .filter_map(|line| line.trim().strip_prefix("***"))
        .map(str::trim)
        .filter(|line| !header(line))
        .map(|line| {
            ["Add File:", "Delete File:", "Update File:", "Move to:"]
                .iter()
                .find_map(|marker| line.strip_prefix(marker))
                .map(str::trim)
                .filter(|path| !path.is_empty())
        })
        .collect()
}

fn place(path: &str, workspace: Option<&Workspace>) -> Subject {
    let Some(workspace) = workspace else {
        return Subject::Opaque;
    };
    match workspace.resolve(path) {
        Ok(real) => Subject::Path(Places {
            written: lexical(&workspace.root().join(path)),
            real,
        }),
        // The tool refuses it too; a rule must not say anything about it.
        Err(_) => Subject::Opaque,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_its_paths_and_odd_markers_are_told() {
        let patch = "*** Begin Patch\n*** Add File: a/b.rs\n+*** Add File: no\n  *** Update File: c d\n\
                     *** Move to: e\n@@\n-x\n*** End of File\n*** Delete File: f\n*** End Patch\n";
        assert_eq!(
            patched(patch),
            [Some("a/b.rs"), Some("c d"), Some("e"), Some("f")]
        );
        assert_eq!(patched("*** Rename File: a"), [None]);
        assert_eq!(patched("*** Add File:"), [None]);
        assert_eq!(patched("no patch"), []);
    }
}
