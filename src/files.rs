//! The one commit through which everything that changes files goes.
//!
//! A caller hands over operations, each with the content that it expects to find, and gets all of
//! them or none: not after a failure, not after SIGKILL, not after power loss. The module writes the
//! bytes it is given and never looks inside them: encoding, byte order mark and line endings are the
//! caller's. It knows no tool and no language server; those watch through a [`WriteObserver`].
//!
//! How it works. Every operation is reduced to slots, each a directory entry with the state it had
//! and the state it gets. Under the lock of the workspace the states are checked, new contents are
//! written next to their targets, old ones are kept there as hard links, all is synced and a journal
//! says so; only then come the renames. Whoever finds a journal looks at the slots: when all have
//! their new state the commit is finished, otherwise every slot goes back to its old state. Both are
//! idempotent, so a crash while recovering changes nothing about the outcome.

mod commit;
mod content;
mod error;
mod expire;
mod journal;
mod lock;
mod plan;
mod recover;
mod steps;

use std::path::PathBuf;

pub(crate) use commit::make_private_dir;
pub use commit::{Committer, Report};
pub use content::{ContentHash, Entry, LinkTarget, ParseHashError};
pub use error::{CommitError, RecoverError, Refusal, RefusalReason, StaleFile};
pub use expire::remove_old;
pub(crate) use journal::{RawBytes, RawPath, sync_folder, write_atomically};
pub(crate) use lock::DirLock;
pub use lock::LockError;
pub use recover::{Conflict, Recovered};
pub use steps::Probe;

/// What a caller expects of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The file has exactly this content.
    Hash(ContentHash),
    /// The file exists, with whatever content.
    Any,
}

/// One change of one file. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Replaces the content of a file that exists; mode and owner stay.
    ///
    /// A symbolic link is written through and survives.
    Write {
        /// The file, or a link to it.
        path: PathBuf,
        /// What must be there.
        expect: Expect,
        /// The whole new content.
        bytes: Vec<u8>,
    },
    /// Makes a file where nothing is, with the folders that it needs.
    Create {
        /// The new file.
        path: PathBuf,
        /// Its whole content.
        bytes: Vec<u8>,
        /// The mode bits; `None` gives what the process's mask leaves of 0666.
        mode: Option<u32>,
    },
    /// Removes a file. A symbolic link is removed itself, not what it points to.
    Delete {
        /// The file or link.
        path: PathBuf,
        /// What must be there (for a link: the content behind it).
        expect: Expect,
    },
    /// Moves a file to a path where nothing is, and gives it a new content; mode, owner and extended
    /// attributes go with it. A symbolic link is no file here.
    Move {
        /// The file.
        from: PathBuf,
        /// Its new path; missing folders are made.
        to: PathBuf,
        /// What must be at `from`.
        expect: Expect,
        /// The whole new content.
        bytes: Vec<u8>,
    },
    /// Moves a file to a path where nothing is. A symbolic link is moved itself.
    Rename {
        /// The file or link.
        from: PathBuf,
        /// Its new path; missing folders are made.
        to: PathBuf,
        /// What must be at `from`.
        expect: Expect,
    },
}

/// Watches what a commit changes.
pub trait WriteObserver: Send + Sync {
    /// Is called under the lock of the workspace, after all checks and before the first change.
    ///
    /// The paths are real ones (no links in them), sorted, both ends of a rename included. An
    /// implementation must bound its time: other writers wait.
    fn before(&self, paths: &[PathBuf]);

    /// Is called once after success with the same paths, when the lock is free again.
    fn after(&self, paths: &[PathBuf]);

    /// Is called right before [`Self::before`] of a commit that gives one thing another name: what was said of
    /// it names it anew afterwards, and is no news for that.
    fn renaming(&self, _from: &str, _to: &str) {}
}

/// The observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl WriteObserver for NoObserver {
    fn before(&self, _paths: &[PathBuf]) {}

    fn after(&self, _paths: &[PathBuf]) {}
}
