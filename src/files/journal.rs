//! The journal: what an interrupted commit leaves for the next start.
//!
//! One file in the state folder, replaced atomically. Its first line carries the hash of the rest, so
//! that a torn or foreign file is told apart and never acted on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::content::{ContentHash, Entry, is_absence};
use super::steps::{Fail, Steps};

const FILE_NAME: &str = "commit.journal";
const MAGIC: &str = "toolbox-journal-1";

/// All that is needed to finish or undo a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Journal {
    /// Makes the names of the files next to the targets unique.
    pub(super) id: String,
    pub(super) phase: Phase,
    pub(super) slots: Vec<Slot>,
    /// The folders that the commit makes, outer ones first.
    pub(super) made_dirs: Vec<RawPath>,
}

/// How far the commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// No target was changed; files next to the targets may exist, whole or torn.
    Preparing,
    /// All new and old contents are on disk; any target may have either state.
    Ready,
    /// All targets have their new state; old contents may still lie next to them.
    Done,
}

/// One directory entry that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slot {
    pub(super) path: RawPath,
    pub(super) before: Entry,
    pub(super) after: Entry,
}

/// Why a journal cannot be read.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The system said no: try again later.
    Io(io::Error),
    /// The file is not a whole journal.
    Garbage(String),
}

impl Journal {
    /// The new content of a slot, next to its path; exists until it is renamed there.
    pub(super) fn new_path(&self, slot_idx: usize) -> PathBuf {
        self.beside(slot_idx, "new")
    }

    /// The old content of a slot, next to its path.
    pub(super) fn old_path(&self, slot_idx: usize) -> PathBuf {
        self.beside(slot_idx, "old")
    }

    /// The folders of all slots, each once.
    pub(super) fn folders(&self) -> Vec<&Path> {
        let mut folders: Vec<_> = self
            .slots
            .iter()
            .filter_map(|slot| slot.path.0.parent())
            .collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// The names are short and do not contain the target's, which may be as long as a name can be.
    fn beside(&self, slot_idx: usize, what: &str) -> PathBuf {
        let name = format!(".toolbox-{}-{slot_idx}.{what}", self.id);
        self.slots[slot_idx].path.0.with_file_name(name)
    }
}

/// Where the journal of a state folder is.
pub(super) fn path(state_dir: &Path) -> PathBuf {
    state_dir.join(FILE_NAME)
}

/// Reads the journal that an interrupted commit left, if any.
pub(super) fn read(state_dir: &Path) -> Result<Option<Journal>, ReadError> {
    let bytes = match fs::read(path(state_dir)) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            // A process that died while it wrote its first journal left only this.
            let _ = fs::remove_file(temp_path(&path(state_dir)));
            return Ok(None);
        }
        Err(err) if err.kind() == io::ErrorKind::IsADirectory => {
            return Err(ReadError::Garbage("it is a folder".to_owned()));
        }
        Err(err) => return Err(ReadError::Io(err)),
    };
    decode(&bytes).map(Some).map_err(ReadError::Garbage)
}

/// Replaces the journal on disk.
///
/// Only `Ready` must outlive a power loss before the next step. Without the other two the targets
/// are still wholly old, or wholly new under a journal that says `Ready`.
pub(super) fn write(state_dir: &Path, journal: &Journal, steps: &Steps<'_>) -> Result<(), Fail> {
    let path = path(state_dir);
    let (step, is_synced) = match journal.phase {
        Phase::Preparing => ("open the journal", false),
        Phase::Ready => ("complete the journal", true),
        Phase::Done => ("close the journal", false),
    };
    let temp = temp_path(&path);
    steps.run(step, &path, || {
        let mut file = create_private(&temp)?;
        file.write_all(&encode(journal).map_err(io::Error::other)?)?;
        if is_synced { file.sync_all() } else { Ok(()) }
    })?;
    steps.run(step, &path, || fs::rename(&temp, &path))?;
    if is_synced {
        steps.run(step, &path, || sync_folder(state_dir))?;
    }
    Ok(())
}

/// Removes the journal: the commit is over.
pub(super) fn remove(state_dir: &Path, steps: &Steps<'_>) -> Result<(), Fail> {
    let path = path(state_dir);
    steps.run("remove the journal", &path, || {
        remove_if_there(&temp_path(&path))?;
        remove_if_there(&path)?;
        sync_folder(state_dir)
    })
}

/// Replaces a file by one with the given content; a crash leaves the old or the new one.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temp = temp_path(path);
    let written = write_synced(&temp, bytes).and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        let _ = fs::remove_file(&temp);
    }
    written?;
    sync_folder(path.parent().unwrap_or(path))
}

/// Syncs the entries of a folder; file systems that cannot do that are taken as they are.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        Err(err)
            if matches!(
                err.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if is_absence(&err) => Ok(()),
        removed => removed,
    }
}

fn temp_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".new");
    PathBuf::from(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Journals and staged edits hold sources, so nobody else may read them.
fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}

fn encode(journal: &Journal) -> serde_json::Result<Vec<u8>> {
    let body = serde_json::to_vec(journal)?;
    let mut bytes = format!("{MAGIC} {}\n", ContentHash::of(&body)).into_bytes();
    bytes.extend(body);
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<Journal, String> {
    let rest = bytes
        .strip_prefix(MAGIC.as_bytes())
        .and_then(|rest| rest.strip_prefix(b" "))
        .ok_or("it does not start as a journal")?;
    let (hash, body) = rest
        .split_at_checked(64)
        .and_then(|(hash, body)| Some((hash, body.strip_prefix(b"\n")?)))
        .ok_or("its first line is torn")?;
    if ContentHash::of(body).to_string().as_bytes() != hash {
        return Err("its content does not match its hash".to_owned());
    }
    let journal: Journal = serde_json::from_slice(body).map_err(|err| err.to_string())?;
    let sound = journal.id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && journal
            .slots
            .iter()
            .all(|slot| slot.path.0.is_absolute() && slot.path.0.file_name().is_some());
    if sound {
        Ok(journal)
    } else {
        Err("it names a file that no commit would".to_owned())
    }
}

/// Bytes that are written as text where they are text, and as a list of numbers elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawBytes(pub(crate) Vec<u8>);

/// A path in the same form, since JSON has no other place for a name that is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPath(pub(crate) PathBuf);

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrBytes {
    Text(String),
    Bytes(Vec<u8>),
}

fn serialize_raw<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => serializer.collect_seq(bytes),
    }
}

fn deserialize_raw<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Ok(match TextOrBytes::deserialize(deserializer)? {
        TextOrBytes::Text(text) => text.into_bytes(),
        TextOrBytes::Bytes(bytes) => bytes,
    })
}

impl Serialize for RawBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for RawBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_raw(deserializer).map(Self)
    }
}

impl Serialize for RawPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_raw(self.0.as_os_str().as_bytes(), serializer)
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserialize_raw(deserializer)?;
        Ok(Self(PathBuf::from(std::ffi::OsString::from_vec(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Journal {
        let name = std::ffi::OsString::from_vec(b"/w/caf\xE9\n.c".to_vec());
        Journal {
            id: "00ff".to_owned(),
            phase: Phase::Ready,
            slots: vec![Slot {
                path: RawPath(PathBuf::from(name)),
                before: Entry::File(ContentHash::of(b"a")),
                after: Entry::Absent,
            }],
            made_dirs: vec![RawPath(PathBuf::from("/w/d"))],
        }
    }

    // D12, D36: names that are not UTF-8 are never lost.
    #[test]
    fn a_journal_round_trips_with_any_name() {
        let journal = sample();
        assert_eq!(decode(&encode(&journal).unwrap()), Ok(journal));
    }

    // D12: a torn journal is told apart, wherever it is torn.
    #[test]
    fn every_torn_prefix_and_every_flipped_byte_is_garbage() {
        let whole = encode(&sample()).unwrap();
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_err(), "prefix of {len}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(decode(&flipped).is_err(), "byte {at}");
        }
    }
}
