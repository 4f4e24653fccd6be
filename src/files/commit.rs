//! The commit itself: lock, recover, check, prepare, journal, rename, clean up; or take all back.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{
    DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown, symlink,
};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::XattrFlags;

use super::content::Entry;
use super::error::{CommitError, RecoverError, StaleFile};
use super::journal::{self, Journal, Phase, RawPath, Slot};
use super::lock::{DirLock, LockError};
use super::plan::{self, Plan, Source};
use super::recover::{self, Recovered};
use super::steps::{Fail, Probe, Steps};
use super::{Operation, WriteObserver};
use crate::limits;
use crate::workspace::Workspace;

const LOCK_NAME: &str = "commit.lock";

/// Commits operations under the lock and the journal of one state folder.
///
/// All writers of one workspace must use the same state folder, in whatever process they are.
pub struct Committer {
    state_dir: PathBuf,
    workspace: Option<Workspace>,
    lock_wait: Duration,
    probe: Option<Probe>,
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The paths that changed, as the operations name them and in their order.
    pub files: Vec<PathBuf>,
    /// The paths whose content was there already; nothing was written to them.
    pub unchanged: Vec<PathBuf>,
    /// Interrupted commits that were recovered first.
    pub recovered: Vec<Recovered>,
    /// The real paths for the observer, sorted.
    pub(crate) touched: Vec<PathBuf>,
}

impl Committer {
    /// Makes a committer with its lock and its journal in `state_dir`, which is made when needed.
    ///
    /// The folder may lie on another file system than the workspace. It must be absolute.
    pub fn new(state_dir: PathBuf) -> Self {
        Self {
            state_dir,
            workspace: None,
            lock_wait: limits::COMMIT_LOCK_WAIT,
            probe: None,
        }
    }

    /// Refuses every path whose real place is outside `workspace`, also when a link changed since
    /// the caller resolved it (D36).
    pub fn within(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Waits that long for another writer instead of the default of `limits`.
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// Calls `probe` before every visible step, for tests that kill or fail there.
    pub fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// The folder of the lock and the journal.
    pub fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// Makes all changes or none.
    ///
    /// A write of the content that is there already touches nothing. A file with several hard links
    /// gets its new content under the named path only.
    pub fn commit(
        &self,
        operations: &[Operation],
        observer: &dyn WriteObserver,
    ) -> Result<Report, CommitError> {
        let report = self.commit_silently(operations, observer)?;
        if !report.touched.is_empty() {
            observer.after(&report.touched);
        }
        Ok(report)
    }

    /// Finishes or undoes the commit that was interrupted, if any.
    ///
    /// Call it when a process starts; every commit begins with it too. What a commit recovered is in
    /// its report.
    pub fn recover(&self) -> Result<Vec<Recovered>, RecoverError> {
        let _lock = self.lock()?;
        recover::recover(&self.state_dir, &Steps::new(self.probe.as_ref()))
    }

    /// Commits without the observer's `after`, which the caller owes when its own state is written.
    pub(crate) fn commit_silently(
        &self,
        operations: &[Operation],
        observer: &dyn WriteObserver,
    ) -> Result<Report, CommitError> {
        let _lock = self.lock()?;
        let steps = Steps::new(self.probe.as_ref());
        let recovered = recover::recover(&self.state_dir, &steps).map_err(CommitError::Recovery)?;
        let mut plan = plan::plan(operations, self.workspace.as_ref())?;
        let touched = plan.touched();
        if !touched.is_empty() {
            observer.before(&touched);
            self.execute(&mut plan, &steps)?;
        }
        Ok(Report {
            files: plan.changed,
            unchanged: plan.unchanged,
            recovered,
            touched,
        })
    }

    fn lock(&self) -> Result<DirLock, LockError> {
        make_private_dir(&self.state_dir).map_err(|source| LockError::Io {
            path: self.state_dir.clone(),
            source,
        })?;
        DirLock::acquire(&self.state_dir, LOCK_NAME, self.lock_wait)
    }

    fn execute(&self, plan: &mut Plan<'_>, steps: &Steps<'_>) -> Result<(), CommitError> {
        let mut n_applied = 0;
        let applied =
            prepare(&self.state_dir, plan, steps).and_then(|()| apply(plan, steps, &mut n_applied));
        if let Err(fail) = applied {
            return Err(self.take_back(plan, n_applied, fail, steps));
        }
        plan.journal.phase = Phase::Done;
        if let Err(fail) = journal::write(&self.state_dir, &plan.journal, steps) {
            return Err(self.take_back(plan, n_applied, fail, steps));
        }
        // From here on the change stands. What cannot be removed now, the next start removes.
        let _ = recover::clean(&self.state_dir, &plan.journal, steps);
        Ok(())
    }

    /// Restores all slots that may have changed and says what became of the commit.
    fn take_back(
        &self,
        plan: &mut Plan<'_>,
        n_applied: usize,
        fail: Fail,
        steps: &Steps<'_>,
    ) -> CommitError {
        let undone = recover::undo(&self.state_dir, &plan.journal, n_applied, steps);
        let rolled_back = matches!(&undone, Ok(conflicts) if conflicts.is_empty());
        if undone.is_ok() {
            // Whether the journal still says `Ready` makes no difference: all slots are old.
            plan.journal.phase = Phase::Preparing;
            let _ = recover::clean(&self.state_dir, &plan.journal, steps);
        }
        match fail {
            Fail::Stale { slot_idx } if rolled_back => {
                let slot = &plan.journal.slots[slot_idx];
                CommitError::Stale {
                    files: vec![StaleFile {
                        path: plan.details[slot_idx].named.to_path_buf(),
                        found: Entry::at(&slot.path.0).unwrap_or(Entry::Other),
                    }],
                }
            }
            Fail::Stale { slot_idx } => CommitError::Io {
                path: plan.details[slot_idx].named.to_path_buf(),
                step: "replace",
                rolled_back,
                source: io::Error::other("it changed in the same moment"),
            },
            Fail::Io { step, path, source } => CommitError::Io {
                path,
                step,
                rolled_back,
                source,
            },
        }
    }
}

/// Makes a folder that only its owner may enter; an existing one is left as it is.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

/// Puts everything on disk that finishing or undoing needs, and changes no target.
fn prepare(state_dir: &Path, plan: &mut Plan<'_>, steps: &Steps<'_>) -> Result<(), Fail> {
    // The first journal exists before the first file next to a target, so that even a crash here
    // leaves nothing behind in the workspace.
    journal::write(state_dir, &plan.journal, steps)?;
    for RawPath(folder) in &plan.journal.made_dirs {
        steps.run("make the folder", folder, || make_dir(folder))?;
    }
    for (slot_idx, slot) in plan.journal.slots.iter().enumerate() {
        if slot.after != Entry::Absent {
            let new = plan.journal.new_path(slot_idx);
            let source = &plan.details[slot_idx].source;
            steps.run("write the new content of", &slot.path.0, || {
                write_new(&new, source, slot)
            })?;
        }
    }
    for (slot_idx, slot) in plan.journal.slots.iter().enumerate() {
        if slot.before != Entry::Absent {
            let old = plan.journal.old_path(slot_idx);
            steps.run("keep the old content of", &slot.path.0, || {
                link_or_copy(&slot.path.0, &old, &slot.before)
            })?;
        }
    }
    sync_contents(&plan.journal, steps)?;
    for folder in plan.journal.folders() {
        steps.run("sync the folder", folder, || journal::sync_folder(folder))?;
    }
    if let Some(slot_idx) = (0..plan.journal.slots.len()).find(|&idx| !plan.is_fresh(idx)) {
        return Err(Fail::Stale { slot_idx });
    }
    plan.journal.phase = Phase::Ready;
    journal::write(state_dir, &plan.journal, steps)
}

/// Syncs all new and old contents.
///
/// Each sync waits for the disk, and those that wait together share one write of the file system's
/// own journal: with threads a change of many files takes a fraction of the time.
fn sync_contents(journal: &Journal, steps: &Steps<'_>) -> Result<(), Fail> {
    let mut files = Vec::new();
    for (slot_idx, slot) in journal.slots.iter().enumerate() {
        let sides = [
            (&slot.after, journal.new_path(slot_idx)),
            (&slot.before, journal.old_path(slot_idx)),
        ];
        let is_file = |entry: &Entry| matches!(entry, Entry::File(_));
        files.extend(
            sides
                .into_iter()
                .filter(|(entry, _)| is_file(entry))
                .map(|(_, file)| (file, &slot.path.0)),
        );
    }
    let sync = |(file, path): &(PathBuf, &PathBuf)| {
        File::open(file)
            .and_then(|file| file.sync_all())
            .map_err(|source| Fail::Io {
                step: "sync the content of",
                path: path.to_path_buf(),
                source,
            })
    };
    if let Some((_, path)) = files.first() {
        steps.run("sync the content of", path, || Ok(()))?;
    }
    let n_per_thread = files.len().div_ceil(limits::SYNC_THREADS).max(1);
    thread::scope(|scope| {
        let syncing: Vec<_> = files
            .chunks(n_per_thread)
            .map(|files| scope.spawn(move || files.iter().try_for_each(sync)))
            .collect();
        syncing.into_iter().try_for_each(|thread| {
            // A panic in there would be a bug; the commit takes it as a failed sync.
            thread.join().unwrap_or_else(|_| {
                Err(Fail::Io {
                    step: "sync the content of",
                    path: PathBuf::new(),
                    source: io::Error::other("the thread panicked"),
                })
            })
        })
    })
}

/// Gives every slot its new state; `n_applied` counts those that may have it.
fn apply(plan: &Plan<'_>, steps: &Steps<'_>, n_applied: &mut usize) -> Result<(), Fail> {
    for (slot_idx, slot) in plan.journal.slots.iter().enumerate() {
        let path = &slot.path.0;
        let new = plan.journal.new_path(slot_idx);
        let applied = steps.run("replace", path, || {
            // Only a moment lies between this look and the rename; an editor that saves in that
            // moment loses, as it would against any other program.
            if !plan.is_fresh(slot_idx) {
                return Ok(false);
            }
            *n_applied = slot_idx + 1;
            match (&slot.before, &slot.after) {
                (_, Entry::Absent) => fs::remove_file(path).map(|()| true),
                (Entry::Absent, _) => place(&new, path),
                _ => fs::rename(&new, path).map(|()| true),
            }
        })?;
        if !applied {
            return Err(Fail::Stale { slot_idx });
        }
        // A file that was placed by a second name has its first one still.
        if slot.before == Entry::Absent {
            steps.run("remove", &new, || journal::remove_if_there(&new))?;
        }
    }
    for folder in plan.journal.folders() {
        steps.run("sync the folder", folder, || journal::sync_folder(folder))?;
    }
    Ok(())
}

/// Puts a file at a path where nothing may be; false when something is.
fn place(new: &Path, path: &Path) -> io::Result<bool> {
    match fs::hard_link(new, path) {
        Ok(()) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // A file system without hard links; the look a moment ago has to do.
        Err(_) => fs::rename(new, path).map(|()| true),
    }
}

fn make_dir(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(err) => Err(err),
        Ok(()) => journal::sync_folder(folder.parent().unwrap_or(folder)),
    }
}

fn write_new(new: &Path, source: &Source<'_>, slot: &Slot) -> io::Result<()> {
    match source {
        Source::Nothing => Ok(()),
        Source::Moved(from) => link_or_copy(from, new, &slot.after),
        Source::Replacement { bytes, like } => {
            let mut file = create_new(new, 0o600)?;
            file.write_all(bytes)?;
            copy_attributes(&slot.path.0, like, &file)
        }
        Source::Changed { bytes, path, like } => {
            let mut file = create_new(new, 0o600)?;
            file.write_all(bytes)?;
            copy_attributes(path, like, &file)
        }
        Source::Fresh { bytes, mode } => {
            let mut file = create_new(new, 0o666)?;
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
            }
            Ok(())
        }
    }
}

fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

/// Gives a file a second name, or a copy where the file system or its owner forbids that.
fn link_or_copy(from: &Path, to: &Path, entry: &Entry) -> io::Result<()> {
    if fs::hard_link(from, to).is_err() {
        copy(from, to)?;
    }
    if Entry::at(to)? == *entry {
        Ok(())
    } else {
        Err(io::Error::other("it changed while it was read"))
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.is_symlink() {
        return symlink(from.read_link()?, to);
    }
    let mut file = create_new(to, 0o600)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    copy_attributes(from, &metadata, &file)?;
    file.set_modified(metadata.modified()?)
}

/// Copies owner, extended attributes and mode. Who may not give files away keeps them, without the
/// bits that would then mean something else.
fn copy_attributes(from: &Path, metadata: &Metadata, to: &File) -> io::Result<()> {
    let own = to.metadata()?;
    let mut mode = metadata.mode() & 0o7777;
    if own.uid() != metadata.uid() || own.gid() != metadata.gid() {
        let given = fchown(to, Some(metadata.uid()), Some(metadata.gid()));
        if given.is_err() {
            let _ = fchown(to, None, Some(metadata.gid()));
            mode &= 0o1777;
        }
    }
    copy_extended_attributes(from, to);
    to.set_permissions(fs::Permissions::from_mode(mode))
}

/// Copies the access control list and what users attached, as far as the file system has them.
///
/// Other attributes belong to the system, which gives the new file its own; capabilities must not
/// pass to a content that was not there when they were granted.
fn copy_extended_attributes(from: &Path, to: &File) {
    let mut names = vec![0_u8; 64 * 1024];
    let Ok(n_bytes) = rustix::fs::listxattr(from, &mut names[..]) else {
        return;
    };
    let mut value = vec![0_u8; 64 * 1024];
    for name in names[..n_bytes].split(|&byte| byte == 0) {
        if !name.starts_with(b"user.") && name != b"system.posix_acl_access" {
            continue;
        }
        if let Ok(len) = rustix::fs::getxattr(from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..len], XattrFlags::empty());
        }
    }
}
