//! Patches in the format of codex's `apply_patch`: parsed wholly, applied in memory, committed at once.
//!
//! The grammar and its tolerance are those of the original. It differs where that one loses something:
//!
//! - all files change or none does; the original writes file after file;
//! - context lines keep the bytes of the file, and added lines take the line endings of their place;
//! - the final newline stays as the file has it (D35); the original always ends a file with one;
//! - a file that exists is neither added nor moved onto, and no file is named twice except by updates, which
//!   apply in order;
//! - lines added under a `@@ context` without any other line go right below it, not to the end of the file;
//! - a move may come without a change, several `@@` lines narrow a place one after the other, and the
//!   numbers of a unified diff's `@@ -1,2 +1,3 @@` are ignored.

mod apply;
mod parse;
mod prepare;
pub mod seek;

pub use apply::{Applied, ApplyError, Fuzz, apply};
pub use parse::{ParseError, parse};
pub use prepare::{PrepareError, PrepareReason, Prepared, prepare};

/// A parsed patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// What it does to files, in its order; never empty.
    pub files: Vec<FilePatch>,
}

/// What a patch does to one file. Paths are as the patch spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatch {
    /// A new file with this text.
    Add {
        /// Its path.
        path: String,
        /// Its text; each line ends with LF.
        text: String,
    },
    /// The file goes.
    Delete {
        /// Its path.
        path: String,
    },
    /// Lines change, or the file moves, or both.
    Update {
        /// Its path.
        path: String,
        /// Its new path.
        moved_to: Option<String>,
        /// The changes, in the order of the file.
        chunks: Vec<Chunk>,
    },
}

/// One change of consecutive lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The line of the patch where it begins, from 1.
    pub patch_line: usize,
    /// Lines that come before it in the file, one after the other.
    pub contexts: Vec<String>,
    /// Its lines.
    pub lines: Vec<ChunkLine>,
    /// Whether it is at the end of the file.
    pub end_of_file: bool,
}

/// One line of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChunkLine {
    /// A line that stays.
    Context(String),
    /// A line that goes.
    Remove(String),
    /// A line that comes.
    Add(String),
}

impl FilePatch {
    /// The path that it names first.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}
