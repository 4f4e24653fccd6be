//! The documents that one server has open, with exactly the text that it was given.
//!
//! The file on disk is the truth: a document is opened from it and brought up to it again, whoever changed
//! it. Places are converted with the text kept here, because that is the text the server counts in. The
//! number of open documents is bounded; the least recently used are closed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::files::ContentHash;
use crate::limits;
use crate::lsp::error::LspError;
use crate::text::{TextKind, UTF8_BOM};

/// The open documents of one server, by path.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: BTreeMap<PathBuf, Document>,
    clock: u64,
    /// How often files of the project are known to have changed on disk.
    n_stirs: u64,
    /// The last save that the server was told of.
    save: Option<Save>,
    /// When the files of the project were looked at last, and how those looked that had changed by then.
    looked: Option<SystemTime>,
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// A save that a server was told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Save {
    /// When.
    pub(crate) at: Instant,
    /// Whether files of the project have changed on disk since.
    pub(crate) is_outdated: bool,
}

/// One open document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The version that the server was told last; it counts from 1.
    pub version: i64,
    /// The hash of the file on disk that the text was read from.
    pub hash: ContentHash,
    /// The text that the server has, without a byte order mark.
    pub text: Arc<str>,
    /// When the server was given it.
    pub(crate) sent: Instant,
    stamp: Stamp,
    used: u64,
    /// How often files of the project had changed when the server was given the text.
    n_stirs: u64,
}

/// What a file looked like when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

/// The content of a file as a server gets it.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) hash: ContentHash,
    pub(crate) text: Arc<str>,
    pub(crate) stamp: Stamp,
}

/// A file that was written so shortly before it was read may be written again without its time changing:
/// the clock of file systems ticks in milliseconds.
const RACY: Duration = Duration::from_secs(2);

impl Stamp {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            modified: metadata.modified().ok(),
            size: metadata.len(),
            inode: metadata.ino(),
        })
    }

    /// Whether a program that counts in bytes and whole seconds takes both for the same.
    pub(crate) fn is_like(self, other: Self) -> bool {
        let moment = other.modified.unwrap_or(UNIX_EPOCH);
        self.size == other.size && self.is_in_second_of(moment)
    }

    /// Whether the file was changed in the second of a moment, or before.
    pub(crate) fn is_in_second_of(self, moment: SystemTime) -> bool {
        let second = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok().map(|it| it.as_secs());
        self.modified.and_then(second) <= second(moment)
    }

    /// Whether the file was changed so shortly before a moment, or after it.
    pub(crate) fn is_within(&self, time: Duration, before: SystemTime) -> bool {
        self.modified
            .is_some_and(|modified| modified + time >= before)
    }

    /// Whether an equal stamp later means an equal content.
    fn is_settled(&self) -> bool {
        self.modified
            .and_then(|modified| modified.elapsed().ok())
            .is_some_and(|age| age > RACY)
    }
}

impl Content {
    /// Reads a file; one that is no UTF-8 text or too large is an error that says so.
    pub(crate) fn read(path: &Path) -> Result<Self, LspError> {
        let unreadable = |why: String| LspError::unreadable(path, why);
        let stamp = Stamp::of(path).ok_or_else(|| unreadable("it does not exist".to_owned()))?;
        if stamp.size > limits::LSP_DOCUMENT_BYTES {
            let limit = limits::LSP_DOCUMENT_BYTES >> 20;
            return Err(unreadable(format!("it is larger than {limit} MiB")));
        }
        let bytes = fs::read(path).map_err(|err| unreadable(err.to_string()))?;
        let hash = ContentHash::of(&bytes);
        if !TextKind::of(&bytes).is_utf8() {
            return Err(unreadable("it is not UTF-8 text".to_owned()));
        }
        let bytes = bytes.strip_prefix(UTF8_BOM).unwrap_or(&bytes);
        Ok(Self {
            hash,
            text: String::from_utf8_lossy(bytes).into(),
            stamp,
        })
    }
}

impl Documents {
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.open.keys().cloned().collect()
    }

    /// Notes the content that the server is about to be given; returns the version that it gets.
    pub(crate) fn put(&mut self, path: &Path, content: Content) -> i64 {
        self.clock += 1;
        let known = self.open.get(path);
        let version = known.map_or(1, |document| document.version + 1);
        let used = known.map_or(self.clock, |document| document.used);
        let document = Document {
            version,
            hash: content.hash,
            text: content.text,
            sent: Instant::now(),
            stamp: content.stamp,
            used,
            n_stirs: self.n_stirs,
        };
        self.open.insert(path.to_path_buf(), document);
        version
    }

    /// Notes how the file of a document looks now.
    pub(crate) fn restamp(&mut self, path: &Path, stamp: Stamp) {
        if let Some(document) = self.open.get_mut(path) {
            document.stamp = stamp;
        }
    }

    /// Notes that somebody asked about a document; keeping it up to date is no use of it.
    pub(crate) fn touch(&mut self, path: &Path) {
        self.clock += 1;
        if let Some(document) = self.open.get_mut(path) {
            document.used = self.clock;
        }
    }

    /// Notes that files of the project changed on disk: what the server said before may not hold any more.
    pub(crate) fn stir(&mut self) {
        self.n_stirs += 1;
        if let Some(save) = &mut self.save {
            save.is_outdated = true;
        }
    }

    /// Takes a document for one that was given to the server after the last change.
    pub(crate) fn settle_stir(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.n_stirs = self.n_stirs;
        }
    }

    /// Tells whether files of the project changed since the server was given the text of a document.
    pub(crate) fn is_stirred(&self, path: &Path) -> bool {
        let document = self.open.get(path);
        document.is_some_and(|document| document.n_stirs < self.n_stirs)
    }

    /// Notes that the text of a document is about to be given once more; returns its new version.
    pub(crate) fn retell(&mut self, path: &Path) -> Option<i64> {
        let document = self.open.get_mut(path)?;
        document.version += 1;
        document.sent = Instant::now();
        document.n_stirs = self.n_stirs;
        Some(document.version)
    }

    /// Returns when this was asked last.
    pub(crate) fn looked_at(&mut self) -> Option<SystemTime> {
        self.looked.replace(SystemTime::now())
    }

    /// Notes how a file that changed looks; returns how it looked when it changed before.
    pub(crate) fn note_stamp(&mut self, path: &Path, stamp: Stamp) -> Option<Stamp> {
        if self.stamps.len() > limits::LSP_SCANNED_FILES {
            self.stamps.clear();
        }
        self.stamps.insert(path.to_owned(), stamp)
    }

    /// Notes that the server is about to be told of a save.
    pub(crate) fn saved(&mut self) {
        self.save = Some(Save {
            at: Instant::now(),
            is_outdated: false,
        });
    }

    /// Returns the last save that the server was told of.
    pub(crate) fn last_save(&self) -> Option<Save> {
        self.save
    }

    pub(crate) fn remove(&mut self, path: &Path) -> Option<Document> {
        self.open.remove(path)
    }

    /// Returns the documents over the limit, least recently used first.
    pub(crate) fn excess(&self, limit: usize) -> Vec<PathBuf> {
        let n_over = self.open.len().saturating_sub(limit);
        let mut by_use: Vec<(u64, &PathBuf)> = self
            .open
            .iter()
            .map(|(path, document)| (document.used, path))
            .collect();
        by_use.sort_unstable();
        by_use
            .into_iter()
            .take(n_over)
            .map(|(_, path)| path.clone())
            .collect()
    }

    /// Returns the documents whose file may have changed since it was read.
    pub(crate) fn suspects(&self) -> Vec<PathBuf> {
        self.open
            .iter()
            .filter(|(path, document)| {
                !document.stamp.is_settled() || Stamp::of(path) != Some(document.stamp)
            })
            .map(|(path, _)| path.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Content {
        Content {
            hash: ContentHash::of(text.as_bytes()),
            text: text.into(),
            stamp: Stamp {
                modified: None,
                size: 0,
                inode: 0,
            },
        }
    }

    #[test]
    fn versions_count_up_and_the_least_recently_used_are_the_excess() {
        let mut documents = Documents::default();
        let path = |name: &str| PathBuf::from(format!("/{name}"));
        for name in ["a", "b", "c"] {
            assert_eq!(documents.put(&path(name), content(name)), 1);
        }
        assert_eq!(documents.put(&path("a"), content("new")), 2);
        assert_eq!(documents.excess(3), [] as [PathBuf; 0]);
        assert_eq!(documents.excess(2), [path("a")]);
        // A new text is no use; a question is.
        assert_eq!(documents.excess(1), [path("a"), path("b")]);
        documents.touch(&path("a"));
        assert_eq!(documents.excess(1), [path("b"), path("c")]);
    }

    #[test]
    fn the_mark_is_stripped_and_what_is_no_text_is_refused() {
        let temp = tempfile::tempdir().expect("a folder");
        let file = |bytes: &[u8]| {
            let path = temp.path().join("f");
            fs::write(&path, bytes).expect("writable");
            Content::read(&path)
        };
        assert_eq!(&*file(b"\xEF\xBB\xBFx\r\n").expect("text").text, "x\r\n");
        assert!(file(b"\xFF\xFEx\0").is_err());
        assert!(file(b"caf\xE9").is_err());
        assert!(Content::read(&temp.path().join("none")).is_err());
    }
}
