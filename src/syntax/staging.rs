//! The rewrites that were proposed and wait to be accepted or discarded.
//!
//! An edit keeps for each file the hash of the content it was made for and the whole new content;
//! accepting it is one commit, so it happens to all files or to none. A session or a library run
//! stages in memory; one-shot commands stage in the state folder of the checkout, where ids are
//! never used twice (D43). This module knows nothing of patterns and grammars beyond their names.
//! Time comes from the caller.

mod shelf;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use crate::files::{
    CommitError, Committer, ContentHash, Expect, LockError, Operation, RecoverError, Recovered,
    WriteObserver,
};
use crate::limits;

use shelf::{OpenShelf, Shelf, Shelved, State};

/// The name of a staged edit: `edit_1`, `edit_2`, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditId(u64);

/// A rewrite as it is proposed, before it has an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What was matched.
    pub pattern: String,
    /// What replaces it.
    pub rewrite: String,
    /// The language id.
    pub language: String,
    /// How many matches are replaced.
    pub replacements: usize,
    /// The files with their new contents.
    pub files: Vec<StagedFile>,
}

/// One file of a staged edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The content for which the edit was made.
    pub hash_before: ContentHash,
    /// The whole content that the file gets.
    pub bytes_after: Vec<u8>,
}

/// A rewrite that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// Its name.
    pub edit_id: EditId,
    /// When it was staged, by the caller's clock.
    pub created: SystemTime,
    /// A file differed when it was to be accepted: it can only be discarded (D12).
    pub rejected: bool,
    /// What it does.
    pub proposal: Proposal,
}

/// All edits that wait, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The edits by their ids, rejected ones included.
    pub edits: Vec<Staged>,
    /// Edits whose file in the state folder is damaged. Discarding removes them.
    pub damaged: Vec<EditId>,
}

/// What an accepted edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its files, in the order in which they were staged.
    pub files: Vec<PathBuf>,
    /// How many matches were replaced.
    pub replacements: usize,
    /// The change was on disk already: an earlier accept was interrupted after its commit.
    pub already_applied: bool,
    /// Interrupted commits that were recovered first.
    pub recovered: Vec<Recovered>,
}

/// Says why an edit was not staged, accepted or discarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StagingError {
    /// No such edit waits.
    #[error("no edit '{edit_id}' is staged; {}", pending_message(pending))]
    Unknown {
        /// The id as the caller wrote it.
        edit_id: String,
        /// The ids that can be accepted.
        pending: Vec<EditId>,
    },
    /// The edit waited for too long and was dropped.
    #[error(
        "{edit_id} has expired: a staged edit waits for {} days",
        limits::STAGED_EDIT_LIFETIME.as_secs() / (24 * 60 * 60)
    )]
    Expired {
        /// The edit.
        edit_id: EditId,
    },
    /// Files changed since the edit was staged. It is rejected now, and no file was changed (R67).
    #[error(
        "{edit_id} was not applied and no file was changed: {} changed since it was staged; \
         run ast_edit again (this edit can only be discarded)",
        paths_message(files)
    )]
    Changed {
        /// The edit.
        edit_id: EditId,
        /// The files that differ.
        files: Vec<PathBuf>,
    },
    /// The edit was rejected before.
    #[error(
        "{edit_id} was rejected because its files had changed; run ast_edit again (this edit can \
         only be discarded)"
    )]
    Rejected {
        /// The edit.
        edit_id: EditId,
    },
    /// The commit failed; the edit is still pending.
    #[error("{edit_id} was not accepted and is still pending")]
    NotAccepted {
        /// The edit.
        edit_id: EditId,
        /// Why.
        #[source]
        source: CommitError,
    },
    /// The files have the new content, but the edit could not be taken off the list.
    #[error("{edit_id} was applied, but could not be removed from the staged edits")]
    NotConsumed {
        /// The edit.
        edit_id: EditId,
        /// Why.
        #[source]
        source: Box<StagingError>,
    },
    /// Nothing can be accepted before an interrupted commit is recovered.
    #[error("an interrupted change must be recovered first")]
    Recovery(#[source] RecoverError),
    /// The file of an edit, or of the counter, is not what was written.
    #[error("'{}' in the state folder is damaged ({reason}); {hint}", path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// Another process kept the staged edits for too long.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// The state folder failed.
    #[error("could not {step} '{}'", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done to it.
        step: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Keeps staged edits, in memory or on disk.
#[derive(Debug)]
pub struct StagingStore {
    shelf: Shelf,
}

impl StagingStore {
    /// Stages in memory, from `edit_1` on; everything is gone with the store.
    pub fn in_memory() -> Self {
        Self {
            shelf: Shelf::in_memory(),
        }
    }

    /// Stages in the state folder of a checkout, which is made when needed.
    pub fn on_disk(state_dir: &Path) -> Self {
        Self {
            shelf: Shelf::on_disk(state_dir),
        }
    }

    /// Stages a rewrite and gives it its id. No file of the workspace is touched (R58).
    pub fn stage(&self, proposal: Proposal, now: SystemTime) -> Result<EditId, StagingError> {
        let mut shelf = self.shelf.open()?;
        settle(&mut shelf, now)?;
        let edit_id = EditId(shelf.next_number()?);
        shelf.put(Staged {
            edit_id,
            created: now,
            rejected: false,
            proposal,
        })?;
        Ok(edit_id)
    }

    /// Lists all edits that wait.
    pub fn list(&self, now: SystemTime) -> Result<Listing, StagingError> {
        let mut shelf = self.shelf.open()?;
        let settled = settle(&mut shelf, now)?;
        Ok(Listing {
            edits: settled.waiting.into_values().collect(),
            damaged: settled.damaged,
        })
    }

    /// Shows one edit.
    pub fn find(&self, edit_id: &str, now: SystemTime) -> Result<Staged, StagingError> {
        let mut shelf = self.shelf.open()?;
        let mut settled = settle(&mut shelf, now)?;
        let id = settled.pick(&shelf, edit_id)?;
        settled.take(&shelf, id)
    }

    /// Drops one edit, rejected and damaged ones too.
    pub fn discard(&self, edit_id: &str, now: SystemTime) -> Result<(), StagingError> {
        let mut shelf = self.shelf.open()?;
        let id = settle(&mut shelf, now)?.pick(&shelf, edit_id)?;
        shelf.remove(id)
    }

    /// Drops all edits and tells which they were.
    pub fn discard_all(&self, now: SystemTime) -> Result<Vec<EditId>, StagingError> {
        let mut shelf = self.shelf.open()?;
        let edit_ids = settle(&mut shelf, now)?.edit_ids();
        for edit_id in &edit_ids {
            shelf.remove(*edit_id)?;
        }
        Ok(edit_ids)
    }

    /// Applies an edit to all its files or to none, and consumes it.
    ///
    /// A mismatch rejects it for good; any other failure leaves it pending. The observer's `before`
    /// comes under the lock of this store and must not use it; its `after` comes when the edit is
    /// consumed and no lock is held. Give a committer that is bound to the workspace, since links
    /// may have changed since staging (D36).
    pub fn accept(
        &self,
        edit_id: &str,
        committer: &Committer,
        observer: &dyn WriteObserver,
        now: SystemTime,
    ) -> Result<Accepted, StagingError> {
        let mut shelf = self.shelf.open()?;
        // What an interrupted accept did to its files must be settled before this looks at them.
        let mut recovered = committer.recover().map_err(|err| match err {
            RecoverError::Locked(err) => StagingError::Locked(err),
            err => StagingError::Recovery(err),
        })?;
        let mut settled = settle(&mut shelf, now)?;
        if let Some(staged) = settled.take_applied(edit_id) {
            return Ok(Accepted {
                replacements: staged.proposal.replacements,
                files: paths(staged.proposal.files),
                already_applied: true,
                recovered,
            });
        }
        let id = settled.pick(&shelf, edit_id)?;
        let staged = settled.take(&shelf, id)?;
        if staged.rejected {
            return Err(StagingError::Rejected { edit_id: id });
        }
        let Proposal {
            replacements,
            files,
            ..
        } = staged.proposal;
        let operations: Vec<_> = files.into_iter().map(StagedFile::into_operation).collect();
        shelf.mark(id, State::Accepting)?;
        let report = match committer.commit_silently(&operations, observer) {
            Ok(report) => report,
            Err(CommitError::Stale { files }) => {
                shelf.mark(id, State::Rejected)?;
                return Err(StagingError::Changed {
                    edit_id: id,
                    files: files.into_iter().map(|file| file.path).collect(),
                });
            }
            Err(source) => {
                // Files that could not be taken back decide at the next start what became of the
                // edit. Should the mark fail, it counts as pending all the same: its files are old.
                let unsettled = matches!(
                    source,
                    CommitError::Io {
                        rolled_back: false,
                        ..
                    }
                );
                if !unsettled {
                    let _ = shelf.mark(id, State::Pending);
                }
                return Err(StagingError::NotAccepted {
                    edit_id: id,
                    source,
                });
            }
        };
        let consumed = shelf.remove(id);
        drop(shelf);
        if !report.touched.is_empty() {
            observer.after(&report.touched);
        }
        consumed.map_err(|source| StagingError::NotConsumed {
            edit_id: id,
            source: Box::new(source),
        })?;
        recovered.extend(report.recovered);
        let mut files = report.files;
        files.extend(report.unchanged);
        Ok(Accepted {
            files,
            replacements,
            already_applied: false,
            recovered,
        })
    }
}

impl StagedFile {
    fn into_operation(self) -> Operation {
        Operation::Write {
            path: self.path,
            expect: Expect::Hash(self.hash_before),
            bytes: self.bytes_after,
        }
    }

    fn is_applied(&self) -> bool {
        ContentHash::of_file(&self.path).is_ok_and(|now| now == ContentHash::of(&self.bytes_after))
    }
}

impl fmt::Display for EditId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edit_{}", self.0)
    }
}

/// Says that a text is not the name of a staged edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an edit id is 'edit_' and a number")]
pub struct ParseEditIdError;

impl FromStr for EditId {
    type Err = ParseEditIdError;

    fn from_str(text: &str) -> Result<Self, ParseEditIdError> {
        let digits = text.strip_prefix("edit_").ok_or(ParseEditIdError)?;
        // One edit has one name: no sign and no leading zero.
        if digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseEditIdError);
        }
        digits.parse().map(Self).map_err(|_| ParseEditIdError)
    }
}

impl Serialize for EditId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What waits after expired edits were dropped and interrupted accepts were judged.
struct Settled {
    waiting: BTreeMap<EditId, Staged>,
    damaged: Vec<EditId>,
    applied: Vec<Staged>,
}

/// Brings the shelf up to date.
///
/// An accept that was interrupted is judged by its files: when all of them have the new content, the
/// commit happened and the edit is consumed; otherwise recovery made or makes them old, and the edit
/// is pending.
fn settle(shelf: &mut OpenShelf<'_>, now: SystemTime) -> Result<Settled, StagingError> {
    let mut settled = Settled {
        waiting: BTreeMap::new(),
        damaged: Vec::new(),
        applied: Vec::new(),
    };
    let mut expired = Vec::new();
    for edit_id in shelf.edit_ids()? {
        let Shelved { staged, state } = match shelf.load(edit_id) {
            Ok(shelved) => shelved,
            Err(StagingError::Damaged { .. }) => {
                settled.damaged.push(edit_id);
                continue;
            }
            Err(err) => return Err(err),
        };
        let applied =
            state == State::Accepting && staged.proposal.files.iter().all(StagedFile::is_applied);
        // A clock that was set back makes an edit younger, never older.
        let age = now.duration_since(staged.created).unwrap_or_default();
        if applied {
            shelf.remove(edit_id)?;
            settled.applied.push(staged);
        } else if age >= limits::STAGED_EDIT_LIFETIME {
            expired.push(edit_id);
        } else {
            settled.waiting.insert(edit_id, staged);
        }
    }
    shelf.expire(&expired)?;
    Ok(settled)
}

impl Settled {
    fn pick(&self, shelf: &OpenShelf<'_>, edit_id: &str) -> Result<EditId, StagingError> {
        let parsed = edit_id.parse().ok();
        if let Some(edit_id) = parsed.filter(|id| shelf.has_expired(*id)) {
            return Err(StagingError::Expired { edit_id });
        }
        parsed
            .filter(|id| self.waiting.contains_key(id) || self.damaged.contains(id))
            .ok_or_else(|| StagingError::Unknown {
                edit_id: edit_id.to_owned(),
                pending: self
                    .waiting
                    .values()
                    .filter(|staged| !staged.rejected)
                    .map(|staged| staged.edit_id)
                    .collect(),
            })
    }

    /// Takes a picked edit out; a damaged one gives the error that says what is wrong.
    fn take(&mut self, shelf: &OpenShelf<'_>, id: EditId) -> Result<Staged, StagingError> {
        match self.waiting.remove(&id) {
            Some(staged) => Ok(staged),
            None => shelf.load(id).map(|shelved| shelved.staged),
        }
    }

    fn take_applied(&mut self, edit_id: &str) -> Option<Staged> {
        let id: EditId = edit_id.parse().ok()?;
        let at = self
            .applied
            .iter()
            .position(|staged| staged.edit_id == id)?;
        Some(self.applied.swap_remove(at))
    }

    fn edit_ids(&self) -> Vec<EditId> {
        let mut edit_ids: Vec<_> = self.waiting.keys().copied().collect();
        edit_ids.extend(&self.damaged);
        edit_ids.sort_unstable();
        edit_ids
    }
}

fn paths(files: Vec<StagedFile>) -> Vec<PathBuf> {
    files.into_iter().map(|file| file.path).collect()
}

fn pending_message(pending: &[EditId]) -> String {
    if pending.is_empty() {
        return "nothing is pending: run ast_edit first".to_owned();
    }
    let ids: Vec<_> = pending.iter().map(EditId::to_string).collect();
    format!("pending: {}", ids.join(", "))
}

fn paths_message(files: &[PathBuf]) -> String {
    let names: Vec<_> = files
        .iter()
        .map(|path| format!("'{}'", path.display()))
        .collect();
    names.join(", ")
}
