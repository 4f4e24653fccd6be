//! The commit: what survives, what is refused, what is taken back.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolbox::files::{
    CommitError, Committer, ContentHash, Entry, Expect, NoObserver, Operation, Recovered,
    RefusalReason,
};
use toolbox::workspace::Workspace;

use crate::files_support::{
    Notes, Place, build_workspace, chmod, create, every_operation, expect_now, failing, tree, write,
};

fn refusals(err: CommitError) -> Vec<RefusalReason> {
    match err {
        CommitError::Refused { files } => files.into_iter().map(|file| file.reason).collect(),
        other => panic!("{other:?}"),
    }
}

// D12, D35: mode, links, byte order mark and line endings survive, and nothing is left behind.
#[test]
fn every_kind_of_operation_is_committed() {
    let place = Place::on_disk();
    build_workspace(&place);
    let work = place.work();
    let before = tree(&work);
    let moved_inode = work.join("src/name.txt").metadata().unwrap().ino();
    let notes = Notes::default();
    let report = Committer::new(place.state())
        .commit(&every_operation(&work), &notes)
        .unwrap();
    let mut expected = before.clone();
    let file = |mode, bytes: &[u8]| ('f', mode, bytes.to_vec());
    let mode_of = |name: &str| before[Path::new(name)].1;
    expected.insert("src/a.sh".into(), file(0o750, b"new a\n"));
    expected.insert(
        "lib/b.txt".into(),
        file(mode_of("lib/b.txt"), b"\xEF\xBB\xBFnew b\r\n"),
    );
    expected.remove(Path::new("src/gone.txt"));
    expected.remove(Path::new("src/name.txt"));
    let mode_of_folder = mode_of("src");
    expected.insert("made".into(), ('d', mode_of_folder, Vec::new()));
    expected.insert("made/deep".into(), ('d', mode_of_folder, Vec::new()));
    expected.insert(
        "made/moved.txt".into(),
        file(mode_of("src/name.txt"), b"to be moved"),
    );
    expected.insert("made/deep/c.txt".into(), file(0o640, b"created"));
    assert_eq!(tree(&work), expected);
    assert_eq!(
        work.join("made/moved.txt").metadata().unwrap().ino(),
        moved_inode
    );
    assert_eq!(report.files.len(), 6);
    assert_eq!(report.recovered, []);
    let real: Vec<_> = [
        "lib/b.txt",
        "made/deep/c.txt",
        "made/moved.txt",
        "src/a.sh",
        "src/gone.txt",
        "src/name.txt",
    ]
    .map(|name| work.join(name))
    .to_vec();
    assert_eq!(
        *notes.0.lock().unwrap(),
        [("before", real.clone()), ("after", real)]
    );
    assert!(!place.state().join("commit.journal").exists());
}

// D12: the owner survives where the process may give files away.
#[test]
fn the_owner_survives() {
    let place = Place::new();
    let path = place.write("a", "old");
    if std::os::unix::fs::chown(&path, Some(65534), Some(65534)).is_err() {
        eprintln!("skipped: the right to give files away missing");
        return;
    }
    chmod(&path, 0o6755);
    Committer::new(place.state())
        .commit(&[write(&path, b"new")], &NoObserver)
        .unwrap();
    let metadata = path.metadata().unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534));
    assert_eq!(metadata.mode() & 0o7777, 0o6755);
}

// D12: attributes that people attach to a file survive where the file system has them.
#[test]
fn extended_attributes_survive() {
    let place = Place::on_disk();
    let path = place.write("a", "old");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "user.origin", b"here", flags).is_err() {
        eprintln!("skipped: extended attributes missing");
        return;
    }
    Committer::new(place.state())
        .commit(&[write(&path, b"new")], &NoObserver)
        .unwrap();
    let mut value = [0; 16];
    let len = rustix::fs::getxattr(&path, "user.origin", &mut value).unwrap();
    assert_eq!(&value[..len], b"here");
}

// D12: renaming works across file systems, where a file can have no second name.
#[test]
fn a_rename_crosses_file_systems() {
    let (here, there) = (Place::new(), Place::on_disk());
    let device = |path: &Path| path.metadata().unwrap().dev();
    if device(&here.work()) == device(&there.work()) {
        eprintln!("skipped: a second file system missing");
        return;
    }
    let from = here.write("a.sh", "content");
    chmod(&from, 0o751);
    let modified = from.metadata().unwrap().modified().unwrap();
    let to = there.work().join("b.sh");
    let operation = Operation::Rename {
        from: from.clone(),
        to: to.clone(),
        expect: expect_now(&from),
    };
    Committer::new(here.state())
        .commit(&[operation], &NoObserver)
        .unwrap();
    assert!(!from.exists());
    assert_eq!(fs::read(&to).unwrap(), b"content");
    assert_eq!(to.metadata().unwrap().mode() & 0o7777, 0o751);
    assert_eq!(to.metadata().unwrap().modified().unwrap(), modified);
}

// R67: any mismatch refuses the whole change, and every file that differs is named.
#[test]
fn all_mismatches_are_collected_and_nothing_changes() {
    let place = Place::new();
    let paths = ["a", "b", "c", "d"].map(|name| place.write(name, "old"));
    let mut operations: Vec<_> = paths.iter().map(|path| write(path, b"new")).collect();
    operations.push(create(&place.work().join("e")));
    fs::write(&paths[1], "touched").unwrap();
    fs::remove_file(&paths[2]).unwrap();
    fs::remove_file(&paths[3]).unwrap();
    fs::create_dir(&paths[3]).unwrap();
    place.write("e", "came in between");
    let before = tree(&place.work());
    let notes = Notes::default();
    let err = Committer::new(place.state())
        .commit(&operations, &notes)
        .unwrap_err();
    let message = err.to_string();
    let CommitError::Stale { files } = err else {
        panic!("{err:?}");
    };
    let found: Vec<_> = files.iter().map(|file| &file.found).collect();
    assert_eq!(
        found,
        [
            &Entry::File(ContentHash::of(b"touched")),
            &Entry::Absent,
            &Entry::Other,
            &Entry::File(ContentHash::of(b"came in between")),
        ]
    );
    for path in &paths[1..] {
        assert!(message.contains(&path.display().to_string()), "{message}");
    }
    assert!(!message.contains(&paths[0].display().to_string()));
    assert_eq!(tree(&place.work()), before);
    assert!(notes.0.lock().unwrap().is_empty());
}

// R68, D12: a target whose mode forbids writing is refused for the superuser too.
#[test]
fn an_unwritable_target_stops_all() {
    let place = Place::new();
    let open = place.write("a", "old");
    let locked = place.write("b", "old");
    chmod(&locked, 0o444);
    let before = tree(&place.work());
    let committer = Committer::new(place.state());
    for second in [
        write(&locked, b"new"),
        Operation::Delete {
            path: locked.clone(),
            expect: Expect::Any,
        },
    ] {
        let err = committer
            .commit(&[write(&open, b"new"), second], &NoObserver)
            .unwrap_err();
        assert_eq!(refusals(err), [RefusalReason::ModeForbidsWriting]);
        assert_eq!(tree(&place.work()), before);
    }
    // The twin: the owner's write bit is enough.
    chmod(&locked, 0o600);
    committer
        .commit(&[write(&open, b"new"), write(&locked, b"new")], &NoObserver)
        .unwrap();
}

// D12: what is no regular file, has no file or makes no sense is refused before anything changes.
#[test]
fn impossible_targets_are_refused() {
    let place = Place::new();
    let work = place.work();
    let file = place.write("file", "old");
    let other = place.write("other", "old");
    fs::create_dir(work.join("folder")).unwrap();
    symlink("missing", work.join("dangling")).unwrap();
    let before = tree(&work);
    let committer = Committer::new(place.state());
    let any = |name: &str| Operation::Write {
        path: work.join(name),
        expect: Expect::Any,
        bytes: Vec::new(),
    };
    let cases = [
        (any("folder"), RefusalReason::NotRegular),
        (any("missing"), RefusalReason::Missing),
        (any("dangling"), RefusalReason::Missing),
        (
            create(&file.join("below")),
            RefusalReason::FolderNotWritable(io::ErrorKind::NotADirectory),
        ),
        (create(&work.join("new/../../x")), RefusalReason::BadPath),
        (create(Path::new("relative")), RefusalReason::BadPath),
        (create(Path::new("/")), RefusalReason::BadPath),
    ];
    for (operation, reason) in cases {
        let err = committer
            .commit(&[write(&other, b"new"), operation.clone()], &NoObserver)
            .unwrap_err();
        assert_eq!(refusals(err), [reason], "{operation:?}");
        assert_eq!(tree(&work), before);
    }
}

// R68: two operations on one file, also through links, have no common result.
#[test]
fn overlapping_operations_are_refused() {
    let place = Place::new();
    let work = place.work();
    let file = place.write("d/file", "old");
    symlink("d/file", work.join("link")).unwrap();
    symlink("d", work.join("folder-link")).unwrap();
    let before = tree(&work);
    let committer = Committer::new(place.state());
    let delete = |name: &str| Operation::Delete {
        path: work.join(name),
        expect: Expect::Any,
    };
    let cases = [
        [write(&file, b"1"), write(&file, b"2")],
        [write(&file, b"1"), write(&work.join("link"), b"2")],
        [
            write(&file, b"1"),
            write(&work.join("folder-link/file"), b"2"),
        ],
        [write(&file, b"1"), delete("d/file")],
        [write(&file, b"1"), delete("link")],
        [create(&work.join("x")), create(&work.join("x/y"))],
        [create(&work.join("x")), create(&work.join("x"))],
    ];
    for operations in cases {
        let err = committer.commit(&operations, &NoObserver).unwrap_err();
        assert_eq!(refusals(err), [RefusalReason::Overlap], "{operations:?}");
        assert_eq!(tree(&work), before);
    }
}

// D36: a link that was turned outside after the caller resolved the path is not followed.
#[test]
fn a_committer_of_a_workspace_stays_in_it() {
    let place = Place::new();
    let work = place.work();
    let outside = place.temp.path().canonicalize().unwrap().join("outside");
    fs::write(&outside, "old").unwrap();
    symlink(&outside, work.join("link")).unwrap();
    let committer = Committer::new(place.state()).within(Workspace::open(&work).unwrap());
    for operation in [
        write(&work.join("link"), b"new"),
        create(&outside.with_file_name("other")),
    ] {
        let err = committer.commit(&[operation], &NoObserver).unwrap_err();
        assert_eq!(refusals(err), [RefusalReason::Outside]);
    }
    assert_eq!(fs::read(&outside).unwrap(), b"old");
    committer
        .commit(&[create(&work.join("inside"))], &NoObserver)
        .unwrap();
}

// D12: deleting and renaming act on a link itself, as rm and mv do.
#[test]
fn links_are_deleted_and_renamed_themselves() {
    let place = Place::new();
    let work = place.work();
    place.write("file", "content");
    symlink("file", work.join("one")).unwrap();
    symlink("file", work.join("two")).unwrap();
    symlink("missing", work.join("dangling")).unwrap();
    let operations = [
        Operation::Delete {
            path: work.join("dangling"),
            expect: Expect::Any,
        },
        Operation::Rename {
            from: work.join("two"),
            to: work.join("three"),
            expect: Expect::Hash(ContentHash::of(b"content")),
        },
    ];
    Committer::new(place.state())
        .commit(&operations, &NoObserver)
        .unwrap();
    let names: Vec<_> = tree(&work).into_keys().collect();
    assert_eq!(
        names,
        ["file", "one", "three"].map(std::path::PathBuf::from)
    );
    assert_eq!(fs::read(work.join("three")).unwrap(), b"content");
}

// R58: content that is there already is not written again.
#[test]
fn an_equal_content_touches_nothing() {
    let place = Place::new();
    let path = place.write("a", "same");
    let inode = path.metadata().unwrap().ino();
    let notes = Notes::default();
    let report = Committer::new(place.state())
        .commit(&[write(&path, b"same")], &notes)
        .unwrap();
    assert_eq!(report.unchanged, std::slice::from_ref(&path));
    assert!(report.files.is_empty());
    assert_eq!(path.metadata().unwrap().ino(), inode);
    assert!(notes.0.lock().unwrap().is_empty());
}

// R68, D12: whatever step fails, the result is wholly old (an error) or wholly new (no error).
#[test]
fn a_failure_at_any_step_is_rolled_back() {
    let new = committed_tree();
    let (mut n_rolled_back, mut n_left_over) = (0, 0);
    for at in 0.. {
        let place = Place::new();
        build_workspace(&place);
        let work = place.work();
        let old = tree(&work);
        let n_failures = Arc::new(AtomicUsize::new(0));
        let committer =
            Committer::new(place.state()).with_probe(failing(at..at + 1, Arc::clone(&n_failures)));
        let committed = committer.commit(&every_operation(&work), &NoObserver);
        let recovered = Committer::new(place.state()).recover().unwrap();
        match committed {
            Err(CommitError::Io { rolled_back, .. }) => {
                assert!(rolled_back, "step {at}");
                assert_eq!(tree(&work), old, "step {at}");
                assert_eq!(recovered, [], "step {at}");
                n_rolled_back += 1;
            }
            Err(other) => panic!("step {at}: {other:?}"),
            Ok(_) => {
                assert_eq!(tree(&work), new, "step {at}");
                n_left_over += recovered.len();
            }
        }
        if n_failures.load(Ordering::Relaxed) == 0 {
            break;
        }
    }
    assert!(n_rolled_back > 20, "{n_rolled_back}");
    assert!(n_left_over > 5, "{n_left_over}");
}

// D12: when taking back fails too, the next start finishes or undoes all of it.
#[test]
fn a_failure_of_every_later_step_is_recovered() {
    let new = committed_tree();
    for at in 0.. {
        let place = Place::new();
        build_workspace(&place);
        let work = place.work();
        let old = tree(&work);
        let n_failures = Arc::new(AtomicUsize::new(0));
        let committer = Committer::new(place.state())
            .with_probe(failing(at..usize::MAX, Arc::clone(&n_failures)));
        let committed = committer.commit(&every_operation(&work), &NoObserver);
        Committer::new(place.state()).recover().unwrap();
        let now = tree(&work);
        match committed {
            Ok(_) => assert_eq!(now, new, "step {at}"),
            Err(CommitError::Io {
                rolled_back: true, ..
            }) => assert_eq!(now, old, "step {at}"),
            Err(CommitError::Io { .. }) => assert!(now == old || now == new, "step {at}"),
            Err(other) => panic!("step {at}: {other:?}"),
        }
        if n_failures.load(Ordering::Relaxed) == 0 {
            break;
        }
    }
}

// D12: a journal that is not whole is reported and moved aside, and nothing is done for it.
#[test]
fn a_garbage_journal_is_moved_aside() {
    let place = Place::new();
    build_workspace(&place);
    let work = place.work();
    let before = tree(&work);
    fs::create_dir(place.state()).unwrap();
    let journal = place.state().join("commit.journal");
    let committer = Committer::new(place.state());
    for garbage in ["", "garbage", "toolbox-journal-1 00\n{}"] {
        fs::write(&journal, garbage).unwrap();
        let recovered = committer.recover().unwrap();
        let [Recovered::MovedAside { journal: aside, .. }] = &recovered[..] else {
            panic!("{recovered:?}");
        };
        assert_eq!(fs::read_to_string(aside).unwrap(), garbage);
        assert!(!journal.exists());
    }
    fs::write(&journal, "garbage").unwrap();
    assert_eq!(tree(&work), before);
    let report = committer
        .commit(&every_operation(&work), &NoObserver)
        .unwrap();
    assert_eq!(report.recovered.len(), 1);
    assert_eq!(tree(&work), committed_tree());
}

/// What the workspace is after all operations, wherever it lies.
fn committed_tree() -> crate::files_support::Tree {
    let place = Place::new();
    build_workspace(&place);
    Committer::new(place.state())
        .commit(&every_operation(&place.work()), &NoObserver)
        .unwrap();
    tree(&place.work())
}
