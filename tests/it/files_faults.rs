//! Real faults: a full disk, a read-only mount, another user. They need `unshare` or `setpriv` and
//! the rights for them; where these are missing the tests say so and pass.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use toolbox::files::{
    CommitError, Committer, ContentHash, Expect, NoObserver, Operation, Probe, Recovered,
    RefusalReason,
};
use toolbox::syntax::staging::{Proposal, StagedFile, StagingError, StagingStore};

use crate::files_support::{Place, child_words, chmod, run_child, tree};

fn succeeds(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a child test in mount namespace of its own, if that is possible here.
fn in_own_mounts(test: &str) {
    for flags in ["-m", "-rm"] {
        if succeeds("unshare", &[flags, "mount", "-t", "tmpfs", "none", "/mnt"]) {
            let place = Place::new();
            let root = place.temp.path().canonicalize().unwrap();
            let words = [root.to_str().unwrap()];
            let status = run_child(&["unshare", flags], test, &words);
            assert!(status.success());
            return;
        }
    }
    eprintln!("skipped: unshare missing");
}

fn mount(args: &[&str]) -> io::Result<()> {
    if succeeds("mount", args) {
        Ok(())
    } else {
        Err(io::Error::other(format!("mount {args:?} failed")))
    }
}

fn mount_small(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    mount(&["-t", "tmpfs", "-o", "size=256k", "none", path_str(folder)]).unwrap();
}

fn mount_itself(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    mount(&["--bind", path_str(folder), path_str(folder)]).unwrap();
}

fn remount(folder: &Path, how: &str) -> io::Result<()> {
    mount(&["-o", &format!("remount,bind,{how}"), path_str(folder)])
}

/// Fills a disk to its last byte.
fn fill(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let mut size = 4096;
    while size > 0 {
        match file.write(&vec![b'x'; size]) {
            Ok(_) => {}
            Err(err) if err.kind() == io::ErrorKind::StorageFull => size /= 2,
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

fn path_str(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn file(path: PathBuf) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "old").unwrap();
    path
}

fn write(path: &Path, bytes: &[u8]) -> Operation {
    Operation::Write {
        path: path.to_path_buf(),
        expect: Expect::Hash(ContentHash::of(b"old")),
        bytes: bytes.to_vec(),
    }
}

/// Does something once, before the step of that name that comes as number `nth`.
fn at_step(
    name: &'static str,
    nth: usize,
    act: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> Probe {
    let n_seen = AtomicUsize::new(0);
    Arc::new(move |step, _| {
        if step == name && n_seen.fetch_add(1, Ordering::Relaxed) == nth {
            act()?;
        }
        Ok(())
    })
}

#[test]
fn full_disk_child() {
    let Some(words) = child_words() else { return };
    let root = PathBuf::from(&words[0]);
    let small = root.join("work/small");
    mount_small(&small);
    let paths = [file(root.join("work/a")), file(small.join("b"))];
    let store = StagingStore::on_disk(&root.join("state"));
    let proposal = Proposal {
        pattern: String::new(),
        rewrite: String::new(),
        language: String::new(),
        replacements: 2,
        files: paths
            .iter()
            .map(|path| StagedFile {
                path: path.clone(),
                hash_before: ContentHash::of(b"old"),
                bytes_after: vec![b'y'; 20_000],
            })
            .collect(),
    };
    let now = SystemTime::UNIX_EPOCH;
    store.stage(proposal, now).unwrap();
    let filler = small.join("filler");
    fill(&filler).unwrap();
    let before = tree(&root.join("work"));
    let committer = Committer::new(root.join("state"));
    let err = store
        .accept("edit_1", &committer, &NoObserver, now)
        .unwrap_err();
    let StagingError::NotAccepted {
        source:
            CommitError::Io {
                path,
                rolled_back: true,
                source,
                ..
            },
        ..
    } = err
    else {
        panic!("{err:?}");
    };
    assert_eq!(path, paths[1]);
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    assert_eq!(tree(&root.join("work")), before);
    fs::remove_file(&filler).unwrap();
    store
        .accept("edit_1", &committer, &NoObserver, now)
        .unwrap();
    for path in &paths {
        assert_eq!(fs::read(path).unwrap(), vec![b'y'; 20_000]);
    }
}

// R68, D12: a full disk in the middle of an accept changes nothing, and the edit stays pending.
#[test]
fn a_full_disk_changes_nothing() {
    in_own_mounts("files_faults::full_disk_child");
}

#[test]
fn full_state_folder_child() {
    let Some(words) = child_words() else { return };
    let root = PathBuf::from(&words[0]);
    for (step, nth) in [
        ("open the journal", 0),
        ("complete the journal", 0),
        ("replace", 0),
        ("replace", 1),
        ("close the journal", 0),
    ] {
        let work = root.join(format!("work-{step}-{nth}"));
        let state = root.join(format!("state-{step}-{nth}"));
        mount_small(&state);
        let paths = [file(work.join("a")), file(work.join("b"))];
        let before = tree(&work);
        let filler = state.join("filler");
        let fill_there = filler.clone();
        let probe = at_step(step, nth, move || fill(&fill_there));
        let operations = paths.each_ref().map(|path| write(path, b"new"));
        let err = Committer::new(state.clone())
            .with_probe(probe)
            .commit(&operations, &NoObserver)
            .unwrap_err();
        let CommitError::Io {
            rolled_back: true,
            source,
            ..
        } = err
        else {
            panic!("{step} {nth}: {err:?}");
        };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        assert_eq!(tree(&work), before, "{step} {nth}");
        // The next commit needs space, and then works.
        let committer = Committer::new(state);
        assert!(committer.commit(&operations, &NoObserver).is_err());
        assert_eq!(tree(&work), before, "{step} {nth}");
        fs::remove_file(&filler).unwrap();
        let report = committer.commit(&operations, &NoObserver).unwrap();
        assert_eq!(report.recovered, [], "{step} {nth}");
        assert_eq!(fs::read(&paths[1]).unwrap(), b"new");
    }
}

// R68, D12: the disk of the journal may be full at any moment.
#[test]
fn a_full_state_folder_changes_nothing() {
    in_own_mounts("files_faults::full_state_folder_child");
}

#[test]
fn read_only_mount_child() {
    let Some(words) = child_words() else { return };
    let root = PathBuf::from(&words[0]);
    let mounted = root.join("work/mounted");
    mount_itself(&mounted);
    let paths = [
        file(root.join("work/a")),
        file(mounted.join("b")),
        file(mounted.join("c")),
    ];
    let work = root.join("work");
    let before = tree(&work);
    let operations = paths.each_ref().map(|path| write(path, b"new"));
    let state = root.join("state");
    let committer = Committer::new(state.clone());

    // Read-only from the start: refused before anything is touched.
    remount(&mounted, "ro").unwrap();
    let err = committer.commit(&operations, &NoObserver).unwrap_err();
    let CommitError::Refused { files } = err else {
        panic!("{err:?}");
    };
    let kind = io::ErrorKind::ReadOnlyFilesystem;
    assert_eq!(files.len(), 2);
    assert_eq!(files[0].reason, RefusalReason::NotWritable(kind));
    assert_eq!(tree(&work), before);
    remount(&mounted, "rw").unwrap();

    // Read-only between the first file's rename and the second's: the first goes back.
    let at = mounted.clone();
    let err = Committer::new(state.clone())
        .with_probe(at_step("replace", 1, move || remount(&at, "ro")))
        .commit(&operations, &NoObserver)
        .unwrap_err();
    let CommitError::Io {
        rolled_back: true,
        source,
        ..
    } = err
    else {
        panic!("{err:?}");
    };
    assert_eq!(source.kind(), kind);
    for path in &paths {
        assert_eq!(fs::read(path).unwrap(), b"old");
    }
    remount(&mounted, "rw").unwrap();
    let recovered = committer.recover().unwrap();
    assert!(matches!(recovered[..], [Recovered::Undone { .. }]));
    assert_eq!(tree(&work), before);

    // Read-only when a file there is new already: that cannot be taken back now, so nothing else
    // may be written until it can.
    let at = mounted.clone();
    let err = Committer::new(state)
        .with_probe(at_step("replace", 2, move || remount(&at, "ro")))
        .commit(&operations, &NoObserver)
        .unwrap_err();
    assert!(matches!(
        err,
        CommitError::Io {
            rolled_back: false,
            ..
        }
    ));
    assert!(matches!(
        committer.commit(&[write(&paths[0], b"other")], &NoObserver),
        Err(CommitError::Recovery(_))
    ));
    remount(&mounted, "rw").unwrap();
    let recovered = committer.recover().unwrap();
    assert!(matches!(recovered[..], [Recovered::Undone { .. }]));
    assert_eq!(tree(&work), before);
    committer.commit(&operations, &NoObserver).unwrap();
    assert_eq!(fs::read(&paths[2]).unwrap(), b"new");
}

// R68, D12: a mount that turns read-only in the middle of a commit.
#[test]
fn a_read_only_mount_is_survived() {
    in_own_mounts("files_faults::read_only_mount_child");
}

#[test]
fn mounted_file_child() {
    let Some(words) = child_words() else { return };
    let root = PathBuf::from(&words[0]);
    let work = root.join("work");
    let paths = [file(work.join("a")), file(work.join("b"))];
    let b = path_str(&paths[1]);
    mount(&["--bind", b, b]).unwrap();
    let operations = paths.each_ref().map(|path| write(path, b"new"));
    let before = tree(&work);
    let committer = Committer::new(root.join("state"));
    // A file that is a mount point itself can be written, but not replaced.
    let err = committer.commit(&operations, &NoObserver).unwrap_err();
    assert!(
        matches!(
            err,
            CommitError::Io {
                rolled_back: true,
                ..
            }
        ),
        "{err:?}"
    );
    assert_eq!(tree(&work), before);
    mount(&["-o", "remount,bind,ro", b]).unwrap();
    let err = committer.commit(&operations, &NoObserver).unwrap_err();
    assert!(matches!(err, CommitError::Refused { .. }), "{err:?}");
    assert_eq!(tree(&work), before);
}

// R68, D12: a single file that is mounted, read-only or not.
#[test]
fn a_mounted_file_changes_nothing() {
    in_own_mounts("files_faults::mounted_file_child");
}

#[test]
fn other_user_child() {
    let Some(words) = child_words() else { return };
    let root = PathBuf::from(&words[0]);
    let work = root.join("work");
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&work)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let before = names();
    let committer = Committer::new(root.join("state"));
    let reasons = |operations: &[Operation]| match committer.commit(operations, &NoObserver) {
        Err(CommitError::Refused { files }) => files
            .into_iter()
            .map(|refusal| refusal.reason)
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let kind = io::ErrorKind::PermissionDenied;
    let own = work.join("own");
    let all = [
        write(&own, b"new"),
        write(&work.join("theirs"), b"new"),
        write(&work.join("secret"), b"new"),
        write(&work.join("read-only"), b"new"),
        write(&work.join("closed/file"), b"new"),
    ];
    assert_eq!(
        reasons(&all),
        [
            RefusalReason::NotWritable(kind),
            RefusalReason::Unreadable(kind),
            RefusalReason::ModeForbidsWriting,
            RefusalReason::FolderNotWritable(kind),
        ]
    );
    let create = Operation::Create {
        path: work.join("closed/new/file"),
        bytes: Vec::new(),
        mode: None,
    };
    assert_eq!(
        reasons(&[write(&own, b"new"), create]),
        [RefusalReason::FolderNotWritable(kind)]
    );
    assert_eq!(fs::read(&own).unwrap(), b"old");
    // The kernel refuses a second name for a file with the set-user-id bit of another user, so its
    // old content is kept as a copy.
    let privileged = work.join("privileged");
    let operations = [&own, &work.join("shared"), &privileged].map(|path| write(path, b"new"));
    committer.commit(&operations, &NoObserver).unwrap();
    assert_eq!(fs::read(&privileged).unwrap(), b"new");
    assert_eq!(privileged.metadata().unwrap().mode() & 0o7777, 0o666);
    let shared = work.join("shared").metadata().unwrap();
    assert_eq!(shared.mode() & 0o7777, 0o666);
    assert_eq!(names(), before);
}

// R68, D12: what mode bits forbid a common user is refused, although a rename could replace it.
#[test]
fn another_users_files_are_refused() {
    let exe = std::env::current_exe().unwrap();
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut probe = nobody.to_vec();
    probe.extend(["test", "-x", path_str(&exe)]);
    if !succeeds("setpriv", &probe) {
        eprintln!("skipped: setpriv missing");
        return;
    }
    let place = Place::new();
    let root = place.temp.path().canonicalize().unwrap();
    chmod(&root, 0o755);
    let work = place.work();
    for folder in [&work, &place.state()] {
        fs::create_dir_all(folder).unwrap();
        chown(folder, Some(65534), Some(65534)).unwrap();
    }
    for (name, mode, owner) in [
        ("own", 0o644, 65534),
        ("read-only", 0o444, 65534),
        ("theirs", 0o644, 0),
        ("secret", 0o600, 0),
        ("shared", 0o666, 0),
        ("privileged", 0o4666, 0),
    ] {
        let path = file(work.join(name));
        chown(&path, Some(owner), Some(owner)).unwrap();
        chmod(&path, mode);
    }
    let closed = file(work.join("closed/file"));
    chmod(&closed, 0o666);
    chmod(&work.join("closed"), 0o755);
    let mut wrapper = vec!["setpriv"];
    wrapper.extend(nobody);
    let words = [path_str(&root)];
    let status = run_child(&wrapper, "files_faults::other_user_child", &words);
    assert!(status.success());
    assert_eq!(fs::read(work.join("theirs")).unwrap(), b"old");
}
