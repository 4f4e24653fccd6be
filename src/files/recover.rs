//! Finishes or undoes what an interrupted commit left, by looking at what is there.
//!
//! A slot in its new state goes back when any slot is not in its new state; a slot in its old state
//! needs nothing; a slot in neither was changed by somebody else and is left alone, with the old
//! content kept aside. Every step can be repeated, so a crash in here changes nothing.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::commit::make_private_dir;
use super::content::{Entry, is_absence};
use super::error::RecoverError;
use super::journal::{self, Journal, Phase, RawPath, ReadError, Slot};
use super::steps::{Fail, Steps};

/// What was done about an interrupted commit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovered {
    /// All files have their new content.
    Finished {
        /// The files of the commit.
        files: Vec<PathBuf>,
    },
    /// All files have their old content.
    Undone {
        /// The files of the commit.
        files: Vec<PathBuf>,
    },
    /// Some files were changed by somebody else in between and were left alone; all others have
    /// their old content.
    Conflicted {
        /// The files with their old content.
        files: Vec<PathBuf>,
        /// The files that were left alone.
        conflicts: Vec<Conflict>,
    },
    /// The journal could not be used; it was moved aside and no file was touched for it.
    MovedAside {
        /// Where the journal is now.
        journal: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// A file of an interrupted commit that has neither its old nor its new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// Where its old content is kept, if it had any.
    pub kept: Option<PathBuf>,
}

/// Recovers the interrupted commit of a state folder. The caller holds the lock.
pub(super) fn recover(state_dir: &Path, steps: &Steps<'_>) -> Result<Vec<Recovered>, RecoverError> {
    let mut journal = match journal::read(state_dir) {
        Ok(None) => return Ok(Vec::new()),
        Ok(Some(journal)) => journal,
        Err(ReadError::Garbage(reason)) => return move_aside(state_dir, reason),
        Err(ReadError::Io(source)) => {
            return Err(RecoverError::Io {
                path: journal::path(state_dir),
                step: "read",
                source,
            });
        }
    };
    let files: Vec<_> = journal
        .slots
        .iter()
        .map(|slot| slot.path.0.clone())
        .collect();
    let recovered = match journal.phase {
        Phase::Preparing => Recovered::Undone { files },
        Phase::Done => Recovered::Finished { files },
        Phase::Ready if journal.slots.iter().all(is_new) => {
            sync_folders(&journal, steps)?;
            journal.phase = Phase::Done;
            journal::write(state_dir, &journal, steps)?;
            Recovered::Finished { files }
        }
        Phase::Ready => {
            let conflicts = undo(state_dir, &journal, journal.slots.len(), steps)?;
            journal.phase = Phase::Preparing;
            journal::write(state_dir, &journal, steps)?;
            if conflicts.is_empty() {
                Recovered::Undone { files }
            } else {
                let foreign = |path: &PathBuf| conflicts.iter().any(|other| other.path == *path);
                let files = files.into_iter().filter(|path| !foreign(path)).collect();
                Recovered::Conflicted { files, conflicts }
            }
        }
    };
    match clean(state_dir, &journal, steps) {
        Ok(()) => Ok(vec![recovered]),
        // All contents are right. Files that cannot be removed must not stop every later commit.
        Err(fail) => {
            let reason = format!("its left-over files stay: {}", RecoverError::from(fail));
            let mut all = vec![recovered];
            all.extend(move_aside(state_dir, reason)?);
            Ok(all)
        }
    }
}

/// Gives the first `n_slots` slots their old state again.
pub(super) fn undo(
    state_dir: &Path,
    journal: &Journal,
    n_slots: usize,
    steps: &Steps<'_>,
) -> Result<Vec<Conflict>, Fail> {
    let mut conflicts = Vec::new();
    for (slot_idx, slot) in journal.slots.iter().enumerate().take(n_slots).rev() {
        let old = journal.old_path(slot_idx);
        let restored = steps.run("restore", &slot.path.0, || restore(slot, &old))?;
        if !restored {
            let kept = steps.run("keep the old content of", &slot.path.0, || {
                keep(state_dir, &old, &format!("{}-{slot_idx}", journal.id))
            })?;
            conflicts.push(Conflict {
                path: slot.path.0.clone(),
                kept,
            });
        }
    }
    if n_slots > 0 {
        sync_folders(journal, steps)?;
    }
    conflicts.reverse();
    Ok(conflicts)
}

/// Removes what a commit put next to its targets, and then its journal.
///
/// Nothing is synced but the end of the journal: after a power loss a hidden file may be left over.
pub(super) fn clean(state_dir: &Path, journal: &Journal, steps: &Steps<'_>) -> Result<(), Fail> {
    for slot_idx in 0..journal.slots.len() {
        for path in [journal.new_path(slot_idx), journal.old_path(slot_idx)] {
            steps.run("remove", &path, || journal::remove_if_there(&path))?;
        }
    }
    match journal.phase {
        Phase::Preparing | Phase::Ready => {
            for RawPath(folder) in journal.made_dirs.iter().rev() {
                // A folder into which somebody put something meanwhile stays.
                steps.run("remove", folder, || {
                    let _ = fs::remove_dir(folder);
                    Ok(())
                })?;
            }
        }
        Phase::Done => {}
    }
    journal::remove(state_dir, steps)
}

impl From<Fail> for RecoverError {
    fn from(fail: Fail) -> Self {
        match fail {
            Fail::Io { step, path, source } => Self::Io { path, step, source },
            Fail::Stale { .. } => Self::Io {
                path: PathBuf::new(),
                step: "check",
                source: io::Error::other("it changed in the same moment"),
            },
        }
    }
}

fn is_new(slot: &Slot) -> bool {
    matches!(Entry::at(&slot.path.0), Ok(entry) if entry == slot.after)
}

/// False when the slot holds something that this commit did not put there.
fn restore(slot: &Slot, old: &Path) -> io::Result<bool> {
    let path = &slot.path.0;
    let now = Entry::at(path)?;
    if now == slot.before {
        return Ok(true);
    }
    if now != slot.after {
        // Where the old content is only a second name of what is there, the file was never replaced,
        // and whoever changed it since changed the old one.
        return same_file(path, old);
    }
    if slot.before == Entry::Absent {
        return fs::remove_file(path).map(|()| true);
    }
    if Entry::at(old)? != slot.before {
        return Ok(false);
    }
    fs::rename(old, path).map(|()| true)
}

fn same_file(path: &Path, other: &Path) -> io::Result<bool> {
    match (path.symlink_metadata(), other.symlink_metadata()) {
        (Ok(one), Ok(two)) => Ok(one.dev() == two.dev() && one.ino() == two.ino()),
        (Err(err), _) | (_, Err(err)) if !is_absence(&err) => Err(err),
        _ => Ok(false),
    }
}

/// Copies an old content into the state folder, since what lies next to the target is removed.
fn keep(state_dir: &Path, old: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let Entry::File(_) = Entry::at(old)? else {
        return Ok(None);
    };
    let aside = aside_dir(state_dir)?;
    let kept = aside.join(format!("kept-{name}"));
    journal::write_atomically(&kept, &fs::read(old)?)?;
    Ok(Some(kept))
}

fn move_aside(state_dir: &Path, reason: String) -> Result<Vec<Recovered>, RecoverError> {
    let path = journal::path(state_dir);
    let moved = aside_dir(state_dir).and_then(|aside| {
        let free = (1_u32..)
            .map(|number| aside.join(format!("journal-{number}")))
            .find(|path| path.symlink_metadata().is_err())
            .ok_or_else(|| io::Error::other("too many journals"))?;
        fs::rename(&path, &free)?;
        journal::sync_folder(state_dir)?;
        Ok(free)
    });
    match moved {
        Ok(journal) => Ok(vec![Recovered::MovedAside { journal, reason }]),
        Err(source) => Err(RecoverError::Io {
            path,
            step: "move aside",
            source,
        }),
    }
}

fn aside_dir(state_dir: &Path) -> io::Result<PathBuf> {
    let aside = state_dir.join("aside");
    make_private_dir(&aside)?;
    Ok(aside)
}

/// A folder that is gone, with all that was in it, needs no sync.
fn sync_folders(journal: &Journal, steps: &Steps<'_>) -> Result<(), Fail> {
    for folder in journal.folders() {
        steps.run("sync the folder", folder, || {
            match journal::sync_folder(folder) {
                Err(err) if is_absence(&err) => Ok(()),
                synced => synced,
            }
        })?;
    }
    Ok(())
}
