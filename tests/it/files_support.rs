//! What the tests of the commit and of staging share: a folder with both kinds of state, snapshots,
//! and running one test of this binary as a child that may die.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolbox::files::{ContentHash, Expect, Operation, Probe, WriteObserver};

/// A temporary folder that holds a workspace and, beside it, a state folder.
pub struct Place {
    pub temp: tempfile::TempDir,
}

impl Place {
    /// In memory where the system has such a file system: a sync of a real disk takes milliseconds,
    /// and a test that commits at every step does thousands.
    pub fn new() -> Self {
        match tempfile::tempdir_in("/dev/shm") {
            Ok(temp) => Self::at(temp),
            Err(_) => Self::on_disk(),
        }
    }

    /// In the folder for temporary files.
    pub fn on_disk() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    fn at(temp: tempfile::TempDir) -> Self {
        fs::create_dir(temp.path().join("work")).unwrap();
        Self { temp }
    }

    pub fn work(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("work")
    }

    pub fn state(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("state")
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Every entry below a folder: its kind, mode and content.
pub type Tree = BTreeMap<PathBuf, (char, u32, Vec<u8>)>;

pub fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, folder: &Path, tree: &mut Tree) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let (kind, bytes) = if metadata.is_symlink() {
                let target = path.read_link().unwrap();
                ('l', target.into_os_string().into_encoded_bytes())
            } else if metadata.is_dir() {
                walk(root, &path, tree);
                ('d', Vec::new())
            } else {
                ('f', fs::read(&path).unwrap())
            };
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            tree.insert(name, (kind, metadata.mode() & 0o7777, bytes));
        }
    }
    let mut all = Tree::new();
    walk(root, root, &mut all);
    all
}

pub fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub fn expect_now(path: &Path) -> Expect {
    Expect::Hash(ContentHash::of_file(path).unwrap())
}

/// Replaces a file from what it holds now.
pub fn write(path: &Path, bytes: &[u8]) -> Operation {
    Operation::Write {
        path: path.to_path_buf(),
        expect: expect_now(path),
        bytes: bytes.to_vec(),
    }
}

/// Makes a new file.
pub fn create(path: &Path) -> Operation {
    Operation::Create {
        path: path.to_path_buf(),
        bytes: b"new".to_vec(),
        mode: None,
    }
}

/// Builds a workspace in which [`every_operation`] applies.
pub fn build_workspace(place: &Place) {
    let script = place.write("src/a.sh", "old a\n");
    chmod(&script, 0o750);
    place.write("lib/b.txt", "old b\r\n");
    symlink("../lib/b.txt", place.work().join("src/b.link")).unwrap();
    place.write("src/gone.txt", "to be deleted");
    place.write("src/name.txt", "to be moved");
    place.write("src/bystander.txt", "untouched");
}

/// One operation of each kind, in several folders, through a link, and into folders to be made.
pub fn every_operation(work: &Path) -> Vec<Operation> {
    let hash = |bytes: &[u8]| Expect::Hash(ContentHash::of(bytes));
    vec![
        Operation::Write {
            path: work.join("src/a.sh"),
            expect: hash(b"old a\n"),
            bytes: b"new a\n".to_vec(),
        },
        Operation::Write {
            path: work.join("src/b.link"),
            expect: hash(b"old b\r\n"),
            bytes: b"\xEF\xBB\xBFnew b\r\n".to_vec(),
        },
        Operation::Delete {
            path: work.join("src/gone.txt"),
            expect: hash(b"to be deleted"),
        },
        Operation::Rename {
            from: work.join("src/name.txt"),
            to: work.join("made/moved.txt"),
            expect: hash(b"to be moved"),
        },
        Operation::Create {
            path: work.join("made/deep/c.txt"),
            bytes: b"created".to_vec(),
            mode: Some(0o640),
        },
    ]
}

/// Fails the steps with these numbers and counts how many it failed.
pub fn failing(steps: Range<usize>, n_failures: Arc<AtomicUsize>) -> Probe {
    Arc::new(move |_, number| {
        if !steps.contains(&number) {
            return Ok(());
        }
        n_failures.fetch_add(1, Ordering::Relaxed);
        Err(io::Error::other("injected"))
    })
}

/// Kills the own process at step `at`, as nothing in it can prevent.
pub fn killing_at(at: usize) -> Probe {
    Arc::new(move |_, number| {
        if number == at {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
        Ok(())
    })
}

/// Notes what an observer sees.
#[derive(Default)]
pub struct Notes(pub Mutex<Vec<(&'static str, Vec<PathBuf>)>>);

impl WriteObserver for Notes {
    fn before(&self, paths: &[PathBuf]) {
        self.0.lock().unwrap().push(("before", paths.to_vec()));
    }

    fn after(&self, paths: &[PathBuf]) {
        self.0.lock().unwrap().push(("after", paths.to_vec()));
    }
}

/// The variable that tells a test function that it is the child, and what to do.
const CHILD: &str = "TOOLBOX_TEST_CHILD";

/// The words for a child, or `None` in the process that runs the tests.
pub fn child_words() -> Option<Vec<String>> {
    let words = std::env::var(CHILD).ok()?;
    Some(words.split('\n').map(str::to_owned).collect())
}

/// Prepares a run of one test of this binary as a child, under `wrapper` when that is not empty.
pub fn child(wrapper: &[&str], test: &str, words: &[&str]) -> Command {
    let exe = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(exe),
        [program, args @ ..] => {
            let mut command = Command::new(program);
            command.args(args).arg(exe);
            command
        }
    };
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, words.join("\n"))
        .stdin(Stdio::null());
    command
}

/// Runs a child and shows what it printed when it failed otherwise than by being killed.
pub fn run_child(wrapper: &[&str], test: &str, words: &[&str]) -> ExitStatus {
    let Output {
        status,
        stdout,
        stderr,
    } = child(wrapper, test, words).output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
    assert!(
        status.success() || killed,
        "{test} {words:?}: {status}\n{}\n{}",
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr)
    );
    // A name that matches no test would succeed without having run anything.
    assert!(
        killed || String::from_utf8_lossy(&stdout).contains("1 passed"),
        "{test} did not run"
    );
    status
}
