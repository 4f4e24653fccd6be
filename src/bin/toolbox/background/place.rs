//! Where the background session of a checkout is met: a folder of the user's own.
//!
//! The folder holds the socket and the lock of whoever serves it. It is reached through its descriptor
//! (`/proc/self/fd/N/socket`), because the path of a socket has room for 107 bytes and that of a checkout's
//! state may be longer; and because what was checked is then what is used.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

/// The socket that clients connect to.
const SOCKET: &str = "socket";

/// Held by the process that serves the socket, for as long as it lives.
const SERVING: &str = "serving";

/// Held by the command that starts a background session, until the session is ready.
const STARTING: &str = "starting";

/// The folder of a background session.
#[derive(Debug)]
pub(crate) struct Place {
    folder: File,
    path: PathBuf,
}

/// A lock that frees itself with the process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Place {
    /// Opens the folder, and makes it where it is missing. It belongs to this user, and to nobody else.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let metadata = folder.metadata()?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("'{}' belongs to another user", path.display()),
            ));
        }
        if metadata.mode() & 0o7777 != 0o700 {
            folder.set_permissions(std::fs::Permissions::from_mode(0o700))?;
        }
        Ok(Self {
            folder,
            path: path.to_owned(),
        })
    }

    /// Returns the path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Connects to whoever serves the socket; `None` when nobody does.
    pub(crate) fn connect(&self) -> io::Result<Option<UnixStream>> {
        match UnixStream::connect(self.inside(SOCKET)) {
            Ok(stream) => Ok(Some(stream)),
            Err(err) => match err.kind() {
                // The socket of a process that is dead refuses.
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ => Err(err),
            },
        }
    }

    /// Becomes the one who serves; waits for one who ends. `None` when somebody goes on serving.
    pub(crate) fn serve(&self, wait: Duration) -> io::Result<Option<(Lock, UnixListener)>> {
        let Some(lock) = self.lock(SERVING, wait)? else {
            return Ok(None);
        };
        // The socket appears under its name when it takes connections, and replaces one left by the dead.
        let new = self.inside("socket.new");
        remove(&new)?;
        let listener = UnixListener::bind(&new)?;
        std::fs::rename(&new, self.inside(SOCKET))?;
        Ok(Some((lock, listener)))
    }

    /// Takes the socket away: nobody finds it any more.
    pub(crate) fn unserve(&self, _lock: &Lock) -> io::Result<()> {
        remove(&self.inside(SOCKET))
    }

    /// Waits for the turn to start a session.
    pub(crate) fn starting(&self, wait: Duration) -> io::Result<Option<Lock>> {
        self.lock(STARTING, wait)
    }

    /// Listens under a name of one's own.
    pub(crate) fn listen(&self, name: &str) -> io::Result<UnixListener> {
        let path = self.inside(name);
        remove(&path)?;
        UnixListener::bind(path)
    }

    /// Connects to somebody who listens under a name of their own.
    pub(crate) fn connect_to(&self, name: &str) -> io::Result<UnixStream> {
        UnixStream::connect(self.inside(name))
    }

    /// Takes a name away.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        remove(&self.inside(name))
    }

    fn inside(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()))
    }

    fn lock(&self, name: &str, wait: Duration) -> io::Result<Option<Lock>> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.inside(name))?;
        let file = match file.try_lock() {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => wait_for(file, wait)?,
            Err(TryLockError::Error(err)) => return Err(err),
        };
        Ok(file.map(|file| Lock { _file: file }))
    }
}

/// Waits for a lock with a deadline, which the system call does not have: a thread waits, and lets the
/// lock go at once when it comes too late.
fn wait_for(file: File, wait: Duration) -> io::Result<Option<File>> {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    std::thread::Builder::new()
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

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(50);

    // The path of a socket has room for 107 bytes; the folder of this one alone is longer.
    #[test]
    fn a_long_path_is_met_as_well() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("long".repeat(40));
        let place = Place::open(&path).expect("it is made");
        assert!(place.connect().expect("it can be asked").is_none());
        let (lock, listener) = place.serve(SHORT).expect("it works").expect("nobody else");
        let client = place.connect().expect("it works");
        assert!(client.is_some());
        assert!(
            place.serve(SHORT).expect("it works").is_none(),
            "one serves"
        );
        drop((listener, client));
        assert!(
            place.connect().expect("it works").is_none(),
            "a stale socket"
        );
        drop(lock);
        let served = place.serve(SHORT).expect("it works");
        assert!(served.is_some(), "it is replaced");
        assert!(place.connect().expect("it works").is_some());
    }

    // Nobody else looks into the folder, also where it was there before.
    #[test]
    fn the_folder_is_its_owners_alone() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("session");
        std::fs::create_dir(&path).expect("a folder");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).expect("ours");
        Place::open(&path).expect("it is ours");
        let mode = std::fs::metadata(&path).expect("it exists").mode();
        assert_eq!(mode & 0o777, 0o700);
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert!(Place::open(&link).is_err(), "a link may lead anywhere");
    }
}
