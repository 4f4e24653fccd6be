//! One change of one file, as answers show it.

use std::path::PathBuf;

use crate::diff;
use crate::files::ContentHash;
use crate::limits;
use crate::workspace::Workspace;

/// What happens to one file.
#[derive(Clone, Debug)]
pub struct Change {
    /// The file; for a move its new path.
    pub path: PathBuf,
    /// What happens to it.
    pub kind: ChangeKind,
    /// The text before, where there was one.
    pub before: Option<String>,
    /// The text after, where there is one.
    pub after: Option<String>,
    /// The hash of the bytes after; none for a file that is gone.
    pub hash_after: Option<ContentHash>,
}

/// The kinds of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A new file.
    Added,
    /// New content.
    Modified,
    /// The file goes.
    Deleted,
    /// The file goes elsewhere, with or without new content.
    Moved {
        /// The path that it had.
        from: PathBuf,
    },
}

impl ChangeKind {
    /// The name that data uses.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Moved { .. } => "moved",
        }
    }
}

impl Change {
    /// The unified diff of the texts; empty where they are equal or no text.
    pub fn diff(&self, workspace: &Workspace) -> String {
        let old = self.before.as_deref().unwrap_or_default();
        let new = self.after.as_deref().unwrap_or_default();
        let shown = workspace.display(&self.path);
        diff::unified(old, new, &shown, limits::DIFF_CONTEXT_LINES)
    }
}
