//! Where staged edits lie: in memory, or one file each in the state folder.
//!
//! On disk the state of an edit is the ending of its file's name. A change of state is thus a rename,
//! which is atomic and needs no space, so that it succeeds on a full disk too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{EditId, Proposal, Staged, StagedFile, StagingError};
use crate::files::{
    ContentHash, DirLock, LockError, RawBytes, RawPath, make_private_dir, sync_folder,
    write_atomically,
};
use crate::limits;

const FOLDER: &str = "staging";
const COUNTER: &str = "counter";
const EXPIRED: &str = "expired";
const LOCK_NAME: &str = "staging.lock";

/// What may be done with an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can be accepted.
    Pending,
    /// Somebody accepts it, or was interrupted while doing so.
    Accepting,
    /// It can only be discarded.
    Rejected,
}

/// An edit with its state.
#[derive(Clone, Debug)]
pub(super) struct Shelved {
    pub(super) staged: Staged,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum Shelf {
    Memory(Mutex<Memory>),
    Disk(PathBuf),
}

/// A shelf under its lock.
pub(super) enum OpenShelf<'a> {
    Memory(MutexGuard<'a, Memory>),
    Disk(Disk),
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    last: u64,
    edits: BTreeMap<EditId, Shelved>,
    expired: BTreeSet<EditId>,
}

pub(super) struct Disk {
    dir: PathBuf,
    _lock: DirLock,
}

impl Shelf {
    pub(super) fn in_memory() -> Self {
        Self::Memory(Mutex::default())
    }

    pub(super) fn on_disk(state_dir: &Path) -> Self {
        Self::Disk(state_dir.join(FOLDER))
    }

    /// Takes the lock, which the result holds.
    pub(super) fn open(&self) -> Result<OpenShelf<'_>, StagingError> {
        match self {
            Self::Memory(memory) => {
                let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(OpenShelf::Memory(memory))
            }
            Self::Disk(dir) => {
                make_private_dir(dir).map_err(|source| LockError::Io {
                    path: dir.clone(),
                    source,
                })?;
                let lock = DirLock::acquire(dir, LOCK_NAME, limits::COMMIT_LOCK_WAIT)?;
                Ok(OpenShelf::Disk(Disk {
                    dir: dir.clone(),
                    _lock: lock,
                }))
            }
        }
    }
}

impl OpenShelf<'_> {
    /// Counts up. On disk the count is safe before the number is used.
    pub(super) fn next_number(&mut self) -> Result<u64, StagingError> {
        match self {
            Self::Memory(memory) => {
                memory.last += 1;
                Ok(memory.last)
            }
            Self::Disk(disk) => disk.next_number(),
        }
    }

    pub(super) fn put(&mut self, staged: Staged) -> Result<(), StagingError> {
        match self {
            Self::Memory(memory) => {
                let state = State::Pending;
                let shelved = Shelved { staged, state };
                memory.edits.insert(shelved.staged.edit_id, shelved);
                Ok(())
            }
            Self::Disk(disk) => disk.put(staged),
        }
    }

    /// All ids, in order.
    pub(super) fn edit_ids(&self) -> Result<Vec<EditId>, StagingError> {
        match self {
            Self::Memory(memory) => Ok(memory.edits.keys().copied().collect()),
            Self::Disk(disk) => disk.edit_ids(),
        }
    }

    pub(super) fn load(&self, id: EditId) -> Result<Shelved, StagingError> {
        match self {
            Self::Memory(memory) => memory.edits.get(&id).cloned().ok_or_else(|| gone(id)),
            Self::Disk(disk) => disk.load(id),
        }
    }

    pub(super) fn mark(&mut self, id: EditId, state: State) -> Result<(), StagingError> {
        match self {
            Self::Memory(memory) => {
                let shelved = memory.edits.get_mut(&id).ok_or_else(|| gone(id))?;
                shelved.state = state;
                shelved.staged.rejected = state == State::Rejected;
                Ok(())
            }
            Self::Disk(disk) => disk.mark(id, state),
        }
    }

    /// Removes edits and remembers that they have expired.
    pub(super) fn expire(&mut self, ids: &[EditId]) -> Result<(), StagingError> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut expired = self.expired();
        expired.extend(ids);
        while expired.len() > limits::EXPIRED_EDITS {
            expired.pop_first();
        }
        match self {
            Self::Memory(memory) => memory.expired = expired,
            // On a full disk the edits still go; only their ids are then forgotten.
            Self::Disk(disk) => drop(disk.note_expired(&expired)),
        }
        ids.iter().try_for_each(|id| self.remove(*id))
    }

    pub(super) fn has_expired(&self, id: EditId) -> bool {
        self.expired().contains(&id)
    }

    fn expired(&self) -> BTreeSet<EditId> {
        match self {
            Self::Memory(memory) => memory.expired.clone(),
            Self::Disk(disk) => disk.expired(),
        }
    }

    pub(super) fn remove(&mut self, id: EditId) -> Result<(), StagingError> {
        match self {
            Self::Memory(memory) => {
                memory.edits.remove(&id);
                Ok(())
            }
            Self::Disk(disk) => disk.remove(id),
        }
    }
}

impl State {
    const ALL: [Self; 3] = [Self::Pending, Self::Accepting, Self::Rejected];

    fn ending(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepting => "accepting",
            Self::Rejected => "rejected",
        }
    }
}

/// The file of an edit, whose name gives its id and state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    created: SystemTime,
    pattern: String,
    rewrite: String,
    language: String,
    replacements: usize,
    files: Vec<FileRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRecord {
    path: RawPath,
    hash_before: ContentHash,
    bytes_after: RawBytes,
}

impl Disk {
    /// A counter that cannot be read is not guessed: an id that was used before could then name
    /// another edit.
    fn next_number(&self) -> Result<u64, StagingError> {
        let path = self.dir.join(COUNTER);
        let damaged = |reason: &str| StagingError::Damaged {
            path: path.clone(),
            reason: reason.to_owned(),
            hint: "write the highest number that was used into it",
        };
        let last = match fs::read_to_string(&path) {
            Ok(text) => text
                .trim()
                .parse::<u64>()
                .map_err(|_| damaged("it is not a number"))?,
            Err(err) if err.kind() == io::ErrorKind::NotFound => 0,
            Err(err) if err.kind() == io::ErrorKind::InvalidData => {
                return Err(damaged("it is not text"));
            }
            Err(source) => return Err(failed("read", &path, source)),
        };
        // Only a counter that was removed can be behind the edits.
        let highest = self.edit_ids()?.last().map_or(0, |edit_id| edit_id.0);
        let next = last
            .max(highest)
            .checked_add(1)
            .ok_or_else(|| damaged("it is at its end"))?;
        write_atomically(&path, format!("{next}\n").as_bytes())
            .map_err(|source| failed("write", &path, source))?;
        Ok(next)
    }

    /// The ids that are remembered as expired. What cannot be read only makes an answer less exact.
    fn expired(&self) -> BTreeSet<EditId> {
        let text = fs::read_to_string(self.dir.join(EXPIRED)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    fn note_expired(&self, expired: &BTreeSet<EditId>) -> io::Result<()> {
        let text: String = expired.iter().map(|id| format!("{id}\n")).collect();
        write_atomically(&self.dir.join(EXPIRED), text.as_bytes())
    }

    fn put(&self, staged: Staged) -> Result<(), StagingError> {
        let path = self.path(staged.edit_id, State::Pending);
        serde_json::to_vec(&Record::from(staged))
            .map_err(io::Error::other)
            .and_then(|bytes| write_atomically(&path, &bytes))
            .map_err(|source| failed("write", &path, source))
    }

    fn edit_ids(&self) -> Result<Vec<EditId>, StagingError> {
        let read = || -> io::Result<BTreeSet<EditId>> {
            let mut edit_ids = BTreeSet::new();
            for entry in fs::read_dir(&self.dir)? {
                let name = entry?.file_name();
                let Some((stem, ending)) = name.to_str().and_then(|name| name.split_once('.'))
                else {
                    continue;
                };
                if State::ALL.iter().any(|state| state.ending() == ending) {
                    edit_ids.extend(stem.parse::<EditId>());
                }
            }
            Ok(edit_ids)
        };
        let edit_ids = read().map_err(|source| failed("list", &self.dir, source))?;
        Ok(edit_ids.into_iter().collect())
    }

    fn load(&self, id: EditId) -> Result<Shelved, StagingError> {
        let (path, state) = self.locate(id)?;
        let bytes = fs::read(&path).map_err(|source| failed("read", &path, source))?;
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|err| StagingError::Damaged {
                path,
                reason: err.to_string(),
                hint: "discard that edit and run ast_edit again",
            })?;
        let staged = record.into_staged(id, state == State::Rejected);
        Ok(Shelved { staged, state })
    }

    fn mark(&self, id: EditId, state: State) -> Result<(), StagingError> {
        let (path, _) = self.locate(id)?;
        fs::rename(&path, self.path(id, state))
            .and_then(|()| sync_folder(&self.dir))
            .map_err(|source| failed("rename", &path, source))
    }

    fn remove(&self, id: EditId) -> Result<(), StagingError> {
        let (path, _) = self.locate(id)?;
        fs::remove_file(&path)
            .and_then(|()| sync_folder(&self.dir))
            .map_err(|source| failed("remove", &path, source))
    }

    fn locate(&self, id: EditId) -> Result<(PathBuf, State), StagingError> {
        State::ALL
            .into_iter()
            .map(|state| (self.path(id, state), state))
            .find(|(path, _)| path.symlink_metadata().is_ok())
            .ok_or_else(|| gone(id))
    }

    fn path(&self, id: EditId, state: State) -> PathBuf {
        self.dir.join(format!("{id}.{}", state.ending()))
    }
}

impl From<Staged> for Record {
    fn from(staged: Staged) -> Self {
        let proposal = staged.proposal;
        Self {
            created: staged.created,
            pattern: proposal.pattern,
            rewrite: proposal.rewrite,
            language: proposal.language,
            replacements: proposal.replacements,
            files: proposal
                .files
                .into_iter()
                .map(|file| FileRecord {
                    path: RawPath(file.path),
                    hash_before: file.hash_before,
                    bytes_after: RawBytes(file.bytes_after),
                })
                .collect(),
        }
    }
}

impl Record {
    fn into_staged(self, edit_id: EditId, rejected: bool) -> Staged {
        let files = self.files.into_iter().map(|file| StagedFile {
            path: file.path.0,
            hash_before: file.hash_before,
            bytes_after: file.bytes_after.0,
        });
        Staged {
            edit_id,
            created: self.created,
            rejected,
            proposal: Proposal {
                pattern: self.pattern,
                rewrite: self.rewrite,
                language: self.language,
                replacements: self.replacements,
                files: files.collect(),
            },
        }
    }
}

fn failed(step: &'static str, path: &Path, source: io::Error) -> StagingError {
    StagingError::Io {
        path: path.to_path_buf(),
        step,
        source,
    }
}

fn gone(id: EditId) -> StagingError {
    StagingError::Unknown {
        edit_id: id.to_string(),
        pending: Vec::new(),
    }
}
