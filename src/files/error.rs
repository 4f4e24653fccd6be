//! Why a commit or a recovery did not happen.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::content::Entry;
use super::lock::LockError;

/// Says why nothing was changed, or why a change was taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Files are not what the caller expected (R67): all of them are named, none was changed.
    #[error("{}", stale_message(files))]
    Stale {
        /// Every file that differs.
        files: Vec<StaleFile>,
    },
    /// Files cannot be changed; that was found out before anything was touched (R68, D12).
    #[error("{}", refused_message(files))]
    Refused {
        /// Every file that cannot be changed.
        files: Vec<Refusal>,
    },
    /// Another writer kept the workspace for too long.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The system failed while the change was prepared or made.
    #[error(
        "could not {step} '{}'; {}",
        path.display(),
        if *rolled_back {
            "nothing was changed"
        } else {
            "nor take the change back: the next writer here finishes or undoes it"
        }
    )]
    Io {
        /// The file or folder that failed.
        path: PathBuf,
        /// What was being done to it.
        step: &'static str,
        /// Whether every file has its old content.
        rolled_back: bool,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// An earlier commit was interrupted and can be neither finished nor undone now.
    #[error("an interrupted change must be recovered first")]
    Recovery(#[source] RecoverError),
}

/// Says why an interrupted commit could not be recovered; its journal stays for the next attempt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// Another writer kept the workspace for too long.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The system failed.
    #[error("could not {step} '{}' while recovering an interrupted change", path.display())]
    Io {
        /// The file or folder that failed.
        path: PathBuf,
        /// What was being done to it.
        step: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A file that is not what the caller expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleFile {
    /// The path as the operation names it.
    pub path: PathBuf,
    /// What is there instead.
    pub found: Entry,
}

/// A file that cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The path as the operation names it.
    pub path: PathBuf,
    /// Why not.
    pub reason: RefusalReason,
}

/// Why a file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The path is not absolute, or has `..` where nothing exists.
    BadPath,
    /// The file does not exist, so there is nothing to write, delete or rename.
    Missing,
    /// A folder, a device or the like.
    NotRegular,
    /// Its mode forbids writing, although a rename could replace it.
    ModeForbidsWriting,
    /// The system would not let this process write it.
    NotWritable(io::ErrorKind),
    /// The folder around it does not take changes, or cannot be made.
    FolderNotWritable(io::ErrorKind),
    /// It could not be read.
    Unreadable(io::ErrorKind),
    /// Two operations of one commit touch the same file, or one needs as a folder what another
    /// needs as a file.
    Overlap,
    /// It lies outside the workspace (D36).
    Outside,
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadPath => f.write_str("not an absolute path without '..'"),
            Self::Missing => f.write_str("does not exist"),
            Self::NotRegular => f.write_str("not a regular file"),
            Self::ModeForbidsWriting => f.write_str("its mode forbids writing"),
            Self::NotWritable(kind) => write!(f, "not writable ({kind})"),
            Self::FolderNotWritable(kind) => write!(f, "its folder is not writable ({kind})"),
            Self::Unreadable(kind) => write!(f, "not readable ({kind})"),
            Self::Overlap => f.write_str("two operations touch it"),
            Self::Outside => f.write_str("outside the workspace"),
        }
    }
}

fn stale_message(files: &[StaleFile]) -> String {
    let list = listed(files.iter().map(|file| {
        let note = match file.found {
            Entry::Absent => " (missing)",
            Entry::Other => " (no longer a regular file)",
            Entry::File(_) | Entry::Link(_) => "",
        };
        format!("{}{note}", shown(&file.path))
    }));
    match files.len() {
        1 => format!("1 file is not what it was: {list}; nothing was changed"),
        n_files => format!("{n_files} files are not what they were: {list}; nothing was changed"),
    }
}

fn refused_message(files: &[Refusal]) -> String {
    let list = listed(
        files
            .iter()
            .map(|file| format!("{} ({})", shown(&file.path), file.reason)),
    );
    match files.len() {
        1 => format!("1 file cannot be changed: {list}; nothing was changed"),
        n_files => format!("{n_files} files cannot be changed: {list}; nothing was changed"),
    }
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn shown(path: &Path) -> String {
    format!("'{}'", path.display())
}
