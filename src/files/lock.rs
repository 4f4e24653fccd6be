//! An exclusive lock on a folder that dies with its process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Holds a lock file; dropping it, or the death of the process, frees it.
#[derive(Debug)]
pub(crate) struct DirLock {
    file: File,
}

/// Says why a lock was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else kept it.
    #[error(
        "another writer holds '{}' ({}); gave up after {waited:?}",
        path.display(),
        match holder {
            Some(pid) => format!("process {pid}"),
            None => "its process is unknown".to_owned(),
        }
    )]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The process that holds it, as it said itself.
        holder: Option<u32>,
        /// How long this process waited.
        waited: Duration,
    },
    /// The lock file could not be opened or locked.
    #[error("cannot lock '{}'", path.display())]
    Io {
        /// The lock file or its folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl DirLock {
    /// Takes the lock file `name` in `dir`, waiting at most `wait` for whoever holds it.
    ///
    /// Two holders in one process exclude each other as two processes do.
    pub(crate) fn acquire(dir: &Path, name: &str, wait: Duration) -> Result<Self, LockError> {
        let path = dir.join(name);
        let failed = |source| LockError::Io {
            path: path.clone(),
            source,
        };
        let file = open(&path).map_err(failed)?;
        let mut file = match file.try_lock() {
            Ok(()) => file,
            Err(TryLockError::WouldBlock) => {
                wait_for(file, wait)
                    .map_err(failed)?
                    .ok_or_else(|| LockError::Held {
                        holder: holder(&path),
                        path: path.clone(),
                        waited: wait,
                    })?
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        };
        // The name of the holder is only for messages: a full disk must not stop a writer here.
        let _ = write_holder(&mut file);
        Ok(Self { file })
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // Closing alone would not do when a child that is just being started still shares the
        // descriptor.
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Waits for the lock with a deadline, which the system call does not have.
///
/// A thread does the waiting. When the deadline passes it stays behind until the lock is free, finds
/// nobody at its channel, and drops the file and with it the lock.
fn wait_for(file: File, wait: Duration) -> io::Result<Option<File>> {
    let (sender, receiver) = mpsc::sync_channel(0);
    thread::Builder::new()
        .name("lock-wait".to_owned())
        .spawn(move || {
            let locked = loop {
                match file.lock() {
                    Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                    locked => break locked,
                }
            };
            let _ = sender.send(locked.map(|()| file));
        })?;
    match receiver.recv_timeout(wait) {
        Ok(locked) => locked.map(Some),
        Err(_) => Ok(None),
    }
}

fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(path: &Path) -> Option<u32> {
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(32)
        .read_to_string(&mut text)
        .ok()?;
    text.trim().parse().ok()
}
