//! Reading a source file for matching: what is no UTF-8 text of bearable size is named, never guessed.

use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use crate::limits;
use crate::text::TextKind;

/// Why a file was not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsearchable {
    #[error("vanished")]
    Vanished,
    #[error("unreadable")]
    Unreadable,
    #[error("not a regular file")]
    Irregular,
    #[error("too large ({0} bytes)")]
    TooLarge(u64),
    #[error("binary")]
    Binary,
    #[error("UTF-16")]
    Utf16,
    #[error("not UTF-8")]
    NotUtf8,
    #[error("too large to parse ({0} bytes)")]
    TooLargeToParse(usize),
    #[error("the parser gave up")]
    Unparsed,
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub bytes: u64,
    pub modified: Option<SystemTime>,
    /// A file that is replaced by another has a new one, even within one tick of the clock.
    pub inode: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            inode: metadata.ino(),
        }
    }
}

/// Reads a file into a reused buffer. A file that is written at the same time gives some state of it:
/// the content is what one pass of reads returned.
pub(crate) fn read_into(path: &Path, buffer: &mut Vec<u8>) -> Result<Stamp, Unsearchable> {
    // Opening a FIFO for reading would block until a writer comes; nothing irregular is ever read.
    let mut file = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Unsearchable::Vanished,
            _ => Unsearchable::Unreadable,
        })?;
    let metadata = file.metadata().map_err(|_| Unsearchable::Unreadable)?;
    if !metadata.is_file() {
        return Err(Unsearchable::Irregular);
    }
    if metadata.len() > limits::SEARCH_FILE_BYTES {
        return Err(Unsearchable::TooLarge(metadata.len()));
    }
    buffer.clear();
    let n_read = (&mut file)
        .take(limits::SEARCH_FILE_BYTES + 1)
        .read_to_end(buffer)
        .map_err(|_| Unsearchable::Unreadable)?;
    if n_read as u64 > limits::SEARCH_FILE_BYTES {
        return Err(Unsearchable::TooLarge(n_read as u64));
    }
    Ok(Stamp::of(&metadata))
}

/// The state that a file is in now; `None` where it is gone or no regular file.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.is_file().then(|| Stamp::of(&metadata))
}

/// Says whether bytes are text that can be searched.
pub(crate) fn check_text(bytes: &[u8]) -> Result<(), Unsearchable> {
    match TextKind::of(bytes) {
        TextKind::Utf8 | TextKind::Utf8Bom => Ok(()),
        TextKind::Utf16Le | TextKind::Utf16Be => Err(Unsearchable::Utf16),
        TextKind::Binary => Err(Unsearchable::Binary),
        TextKind::NotUtf8 => Err(Unsearchable::NotUtf8),
    }
}
