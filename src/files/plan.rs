//! Turns operations into slots, with every check that needs no change on disk.
//!
//! All problems of all operations are collected, since a caller who is told of one at a time would
//! have to try as often as there are files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::Access;

use super::content::{ContentHash, Entry, is_absence};
use super::error::{CommitError, Refusal, RefusalReason, StaleFile};
use super::journal::{Journal, Phase, RawPath, Slot};
use super::{Expect, Operation};
use crate::workspace::Workspace;

/// What a commit will do.
pub(super) struct Plan<'a> {
    pub(super) journal: Journal,
    /// For each slot, what the journal need not know.
    pub(super) details: Vec<Detail<'a>>,
    /// The paths of the operations that change something, in their order.
    pub(super) changed: Vec<PathBuf>,
    /// The paths of the operations whose content is there already.
    pub(super) unchanged: Vec<PathBuf>,
}

pub(super) struct Detail<'a> {
    /// The path as the operation names it.
    pub(super) named: &'a Path,
    pub(super) source: Source<'a>,
    seen: Option<Seen>,
}

/// Where the new content of a slot comes from.
pub(super) enum Source<'a> {
    /// The slot becomes empty.
    Nothing,
    /// New bytes with the mode and owner of the file that they replace.
    Replacement { bytes: &'a [u8], like: Metadata },
    /// New bytes for a new file.
    Fresh { bytes: &'a [u8], mode: Option<u32> },
    /// What is at another path now.
    Moved(PathBuf),
    /// New bytes with all else of what is at another path now.
    Changed {
        bytes: &'a [u8],
        path: PathBuf,
        like: Metadata,
    },
}

/// What tells cheaply whether a file was changed since its content was checked.
#[derive(PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

/// Checks all operations against the disk.
pub(super) fn plan<'a>(
    operations: &'a [Operation],
    workspace: Option<&Workspace>,
) -> Result<Plan<'a>, CommitError> {
    let mut planner = Planner {
        workspace,
        slots: Vec::new(),
        details: Vec::new(),
        made_dirs: Vec::new(),
        claims: BTreeMap::new(),
        changed: Vec::new(),
        unchanged: Vec::new(),
        stale: Vec::new(),
        refused: Vec::new(),
    };
    for operation in operations {
        let named = match operation {
            Operation::Write { path, .. }
            | Operation::Create { path, .. }
            | Operation::Delete { path, .. } => path,
            Operation::Move { from, .. } | Operation::Rename { from, .. } => from,
        };
        if let Err(problem) = planner.add(operation) {
            planner.note(named, problem);
        }
    }
    planner.refuse_nested();
    planner.finish()
}

impl Plan<'_> {
    /// The real paths of all slots, sorted.
    pub(super) fn touched(&self) -> Vec<PathBuf> {
        let slots = self.journal.slots.iter();
        let paths: BTreeSet<_> = slots.map(|slot| slot.path.0.clone()).collect();
        paths.into_iter().collect()
    }

    /// Tells whether a slot still is what it was when its content was checked.
    pub(super) fn is_fresh(&self, slot_idx: usize) -> bool {
        let path = &self.journal.slots[slot_idx].path.0;
        match (&self.details[slot_idx].seen, path.symlink_metadata()) {
            (Some(seen), Ok(metadata)) => *seen == Seen::of(&metadata),
            (None, Err(err)) => err.kind() == io::ErrorKind::NotFound,
            (Some(_), Err(_)) | (None, Ok(_)) => false,
        }
    }
}

impl Seen {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

struct Planner<'a, 'w> {
    workspace: Option<&'w Workspace>,
    slots: Vec<Slot>,
    details: Vec<Detail<'a>>,
    made_dirs: Vec<PathBuf>,
    /// Real paths, with the path of the operation that claims them.
    claims: BTreeMap<PathBuf, &'a Path>,
    changed: Vec<PathBuf>,
    unchanged: Vec<PathBuf>,
    stale: Vec<StaleFile>,
    refused: Vec<Refusal>,
}

enum Problem {
    Stale(Entry),
    Refused(RefusalReason),
}

impl From<RefusalReason> for Problem {
    fn from(reason: RefusalReason) -> Self {
        Self::Refused(reason)
    }
}

/// An existing directory entry that an operation takes away.
struct Existing {
    real: PathBuf,
    entry: Entry,
    seen: Seen,
}

impl<'a> Planner<'a, '_> {
    fn add(&mut self, operation: &'a Operation) -> Result<(), Problem> {
        match operation {
            Operation::Write {
                path,
                expect,
                bytes,
            } => self.add_write(path, *expect, bytes),
            Operation::Create { path, bytes, mode } => {
                let real = self.vacant(path)?;
                let source = Source::Fresh { bytes, mode: *mode };
                let after = Entry::File(ContentHash::of(bytes));
                self.push(path, real, None, (Entry::Absent, after), source);
                self.changed.push(path.clone());
                Ok(())
            }
            Operation::Delete { path, expect } => {
                let old = self.existing(path, *expect)?;
                let states = (old.entry, Entry::Absent);
                self.push(path, old.real, Some(old.seen), states, Source::Nothing);
                self.changed.push(path.clone());
                Ok(())
            }
            Operation::Rename { from, to, expect } => self.add_move(from, to, *expect, None),
            Operation::Move {
                from,
                to,
                expect,
                bytes,
            } => self.add_move(from, to, *expect, Some(bytes)),
        }
    }

    /// Plans a move, with a new content or the one that is there.
    fn add_move(
        &mut self,
        from: &'a Path,
        to: &'a Path,
        expect: Expect,
        bytes: Option<&'a [u8]>,
    ) -> Result<(), Problem> {
        let old = self.existing(from, expect)?;
        let real_to = match self.vacant(to) {
            Ok(real_to) => real_to,
            Err(problem) => {
                self.note(to, problem);
                return Ok(());
            }
        };
        let (entry, source) = match bytes {
            None => (old.entry.clone(), Source::Moved(old.real.clone())),
            Some(bytes) => {
                if !matches!(old.entry, Entry::File(_)) {
                    return Err(RefusalReason::NotRegular.into());
                }
                let like = old
                    .real
                    .symlink_metadata()
                    .map_err(|err| unreadable(&err))?;
                let path = old.real.clone();
                let entry = Entry::File(ContentHash::of(bytes));
                (entry, Source::Changed { bytes, path, like })
            }
        };
        // The new place is filled before the old one is emptied, so that at every moment the
        // content has a name.
        self.push(to, real_to, None, (Entry::Absent, entry), source);
        let states = (old.entry, Entry::Absent);
        self.push(from, old.real, Some(old.seen), states, Source::Nothing);
        self.changed.extend([from.to_path_buf(), to.to_path_buf()]);
        Ok(())
    }

    fn add_write(
        &mut self,
        path: &'a Path,
        expect: Expect,
        bytes: &'a [u8],
    ) -> Result<(), Problem> {
        if !path.is_absolute() {
            return Err(RefusalReason::BadPath.into());
        }
        let real = path
            .canonicalize()
            .map_err(|err| not_found_or(&err, expect))?;
        self.claim(path, &real)?;
        let metadata = real
            .symlink_metadata()
            .map_err(|err| not_found_or(&err, expect))?;
        let hash = checked_hash(&real, &metadata, expect)?;
        check_writable(&real, &metadata)?;
        let after = ContentHash::of(bytes);
        if after == hash {
            self.unchanged.push(path.to_path_buf());
            return Ok(());
        }
        let seen = Some(Seen::of(&metadata));
        let source = Source::Replacement {
            bytes,
            like: metadata,
        };
        let states = (Entry::File(hash), Entry::File(after));
        self.push(path, real, seen, states, source);
        self.changed.push(path.to_path_buf());
        Ok(())
    }

    /// Checks a file or link that shall be taken away.
    fn existing(&mut self, path: &'a Path, expect: Expect) -> Result<Existing, Problem> {
        let (Some(parent), Some(name), true) =
            (path.parent(), path.file_name(), path.is_absolute())
        else {
            return Err(RefusalReason::BadPath.into());
        };
        let real = parent
            .canonicalize()
            .map_err(|err| not_found_or(&err, expect))?
            .join(name);
        self.claim(path, &real)?;
        let metadata = real
            .symlink_metadata()
            .map_err(|err| not_found_or(&err, expect))?;
        let seen = Seen::of(&metadata);
        let entry = if metadata.is_symlink() {
            if let Ok(target) = real.canonicalize() {
                self.claim(path, &target)?;
                let target_metadata = target.metadata().map_err(|err| unreadable(&err))?;
                if matches!(expect, Expect::Hash(_)) {
                    checked_hash(&target, &target_metadata, expect)?;
                }
            } else if matches!(expect, Expect::Hash(_)) {
                return Err(Problem::Stale(Entry::Absent));
            }
            check_folder(real.parent().unwrap_or(&real))?;
            Entry::at(&real).map_err(|err| unreadable(&err))?
        } else {
            let hash = checked_hash(&real, &metadata, expect)?;
            check_writable(&real, &metadata)?;
            Entry::File(hash)
        };
        Ok(Existing { real, entry, seen })
    }

    /// Checks a path where nothing may be yet, and plans the folders that it needs.
    fn vacant(&mut self, path: &'a Path) -> Result<PathBuf, Problem> {
        let (Some(parent), Some(name), true) =
            (path.parent(), path.file_name(), path.is_absolute())
        else {
            return Err(RefusalReason::BadPath.into());
        };
        let base = parent
            .ancestors()
            .find(|folder| folder.symlink_metadata().is_ok())
            .ok_or(RefusalReason::BadPath)?;
        let real_base = base
            .canonicalize()
            .map_err(|err| RefusalReason::FolderNotWritable(err.kind()))?;
        let missing: Vec<_> = parent
            .strip_prefix(base)
            .map_err(|_| RefusalReason::BadPath)?
            .components()
            .collect();
        if missing
            .iter()
            .any(|component| !matches!(component, Component::Normal(_)))
        {
            return Err(RefusalReason::BadPath.into());
        }
        let mut folder = real_base.clone();
        let mut made_dirs = Vec::new();
        for component in missing {
            folder.push(component);
            made_dirs.push(folder.clone());
        }
        let real = folder.join(name);
        self.claim(path, &real)?;
        if !real_base.is_dir() {
            let kind = io::ErrorKind::NotADirectory;
            return Err(RefusalReason::FolderNotWritable(kind).into());
        }
        match Entry::at(&real).map_err(|err| unreadable(&err))? {
            Entry::Absent => {}
            found => return Err(Problem::Stale(found)),
        }
        check_folder(&real_base)?;
        for folder in made_dirs {
            if !self.made_dirs.contains(&folder) {
                self.made_dirs.push(folder);
            }
        }
        Ok(real)
    }

    fn claim(&mut self, named: &'a Path, real: &Path) -> Result<(), Problem> {
        if self
            .workspace
            .is_some_and(|workspace| !workspace.contains(real))
        {
            return Err(RefusalReason::Outside.into());
        }
        match self.claims.insert(real.to_path_buf(), named) {
            None => Ok(()),
            Some(_) => Err(RefusalReason::Overlap.into()),
        }
    }

    /// Refuses what would need one path as a file and as a folder.
    ///
    /// Paths sort by components, so whatever lies below a path follows it at once.
    fn refuse_nested(&mut self) {
        let claims: Vec<_> = self.claims.iter().collect();
        for pair in claims.windows(2) {
            let [(outer, _), (inner, named)] = pair else {
                continue;
            };
            if inner.starts_with(outer) {
                self.refused.push(Refusal {
                    path: named.to_path_buf(),
                    reason: RefusalReason::Overlap,
                });
            }
        }
    }

    fn note(&mut self, named: &Path, problem: Problem) {
        let path = named.to_path_buf();
        match problem {
            Problem::Stale(found) => self.stale.push(StaleFile { path, found }),
            Problem::Refused(reason) => self.refused.push(Refusal { path, reason }),
        }
    }

    fn push(
        &mut self,
        named: &'a Path,
        real: PathBuf,
        seen: Option<Seen>,
        (before, after): (Entry, Entry),
        source: Source<'a>,
    ) {
        self.slots.push(Slot {
            path: RawPath(real),
            before,
            after,
        });
        self.details.push(Detail {
            named,
            source,
            seen,
        });
    }

    fn finish(self) -> Result<Plan<'a>, CommitError> {
        if !self.stale.is_empty() {
            return Err(CommitError::Stale { files: self.stale });
        }
        if !self.refused.is_empty() {
            return Err(CommitError::Refused {
                files: self.refused,
            });
        }
        let journal = Journal {
            // The standard library's hasher keys are the random numbers that are at hand.
            id: format!("{:016x}", RandomState::new().hash_one("commit")),
            phase: Phase::Preparing,
            slots: self.slots,
            made_dirs: self.made_dirs.into_iter().map(RawPath).collect(),
        };
        Ok(Plan {
            journal,
            details: self.details,
            changed: self.changed,
            unchanged: self.unchanged,
        })
    }
}

fn checked_hash(real: &Path, metadata: &Metadata, expect: Expect) -> Result<ContentHash, Problem> {
    if !metadata.is_file() {
        return Err(match expect {
            Expect::Hash(_) => Problem::Stale(Entry::Other),
            Expect::Any => RefusalReason::NotRegular.into(),
        });
    }
    let hash = ContentHash::of_file(real).map_err(|err| unreadable(&err))?;
    match expect {
        Expect::Hash(expected) if expected != hash => Err(Problem::Stale(Entry::File(hash))),
        Expect::Hash(_) | Expect::Any => Ok(hash),
    }
}

/// Mode bits bind the superuser too here: who took the write bits away meant it (D12).
fn check_writable(real: &Path, metadata: &Metadata) -> Result<(), Problem> {
    if metadata.mode() & 0o222 == 0 {
        return Err(RefusalReason::ModeForbidsWriting.into());
    }
    if let Err(err) = rustix::fs::access(real, Access::WRITE_OK) {
        return Err(RefusalReason::NotWritable(io::Error::from(err).kind()).into());
    }
    check_folder(real.parent().unwrap_or(real))
}

fn check_folder(folder: &Path) -> Result<(), Problem> {
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|err| {
        let kind = io::Error::from(err).kind();
        RefusalReason::FolderNotWritable(kind).into()
    })
}

/// A file that is gone is a mismatch where a content was expected, and otherwise simply missing.
fn not_found_or(err: &io::Error, expect: Expect) -> Problem {
    match expect {
        _ if !is_absence(err) => unreadable(err),
        Expect::Hash(_) => Problem::Stale(Entry::Absent),
        Expect::Any => RefusalReason::Missing.into(),
    }
}

fn unreadable(err: &io::Error) -> Problem {
    RefusalReason::Unreadable(err.kind()).into()
}
