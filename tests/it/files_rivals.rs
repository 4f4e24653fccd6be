//! Several writers at once: locks between them, and changes that no lock announces.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use toolbox::files::{
    CommitError, Committer, ContentHash, Expect, LockError, NoObserver, Operation, Probe,
};

use crate::files_support::{Place, child_words, create, run_child, tree, write};

// R67: a file that changes after it was checked, up to the moment of its rename, is not overwritten.
#[test]
fn a_change_in_the_last_moment_is_seen() {
    for step_name in [
        "write the new content of",
        "complete the journal",
        "replace",
    ] {
        let place = Place::new();
        let first = place.write("a", "old");
        let second = place.write("b", "old");
        let victim = second.clone();
        let probe: Probe = Arc::new(move |step, _| {
            if step == step_name && fs::read(&victim)? == b"old" {
                fs::write(&victim, "saved by an editor")?;
            }
            Ok(())
        });
        let operations = [
            write(&first, b"new"),
            write(&second, b"new"),
            create(&place.work().join("c")),
        ];
        let err = Committer::new(place.state())
            .with_probe(probe)
            .commit(&operations, &NoObserver)
            .unwrap_err();
        match err {
            CommitError::Stale { files } => assert_eq!(files[0].path, second),
            CommitError::Io { rolled_back, .. } => assert!(rolled_back),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&first).unwrap(), b"old", "{step_name}");
        assert_eq!(fs::read(&second).unwrap(), b"saved by an editor");
        assert_eq!(tree(&place.work()).len(), 2, "{step_name}");
    }
}

// R67: a file that appears where one is to be created is not overwritten either.
#[test]
fn a_file_that_appears_in_the_last_moment_is_kept() {
    let place = Place::new();
    let first = place.write("a", "old");
    let second = place.work().join("b");
    let victim = second.clone();
    let probe: Probe = Arc::new(move |step, _| match step {
        "replace" => fs::write(&victim, "somebody's"),
        _ => Ok(()),
    });
    let operations = [write(&first, b"new"), create(&second)];
    let err = Committer::new(place.state())
        .with_probe(probe)
        .commit(&operations, &NoObserver)
        .unwrap_err();
    assert!(matches!(err, CommitError::Stale { .. }), "{err:?}");
    assert_eq!(fs::read(&first).unwrap(), b"old");
    assert_eq!(fs::read(&second).unwrap(), b"somebody's");
}

// R68: a writer waits for the other for a bounded time and then says who it is.
#[test]
fn a_held_lock_is_named() {
    let place = Place::new();
    let path = place.write("a", "old");
    let (at_step, wait_step) = mpsc::channel();
    let (go_on, wait_go_on) = mpsc::channel::<()>();
    let wait_go_on = std::sync::Mutex::new(wait_go_on);
    let probe: Probe = Arc::new(move |_, number| {
        if number == 0 {
            at_step.send(()).unwrap();
            // Ends with an error when the other side is dropped.
            let _ = wait_go_on.lock().unwrap().recv();
        }
        Ok(())
    });
    let holder = Committer::new(place.state()).with_probe(probe);
    let operation = write(&path, b"new");
    thread::scope(|scope| {
        let held = scope.spawn(|| holder.commit(std::slice::from_ref(&operation), &NoObserver));
        wait_step.recv().unwrap();
        let second = Committer::new(place.state()).with_lock_wait(Duration::from_millis(50));
        let err = second.recover().unwrap_err();
        assert!(
            err.to_string().contains(&std::process::id().to_string()),
            "{err}"
        );
        let err = second
            .commit(std::slice::from_ref(&operation), &NoObserver)
            .unwrap_err();
        assert!(
            matches!(
                err,
                CommitError::Locked(LockError::Held {
                    holder: Some(_),
                    ..
                })
            ),
            "{err:?}"
        );
        drop(go_on);
        held.join().unwrap().unwrap();
    });
    // Whoever waited in vain holds nothing now.
    let third = Committer::new(place.state());
    third
        .commit(&[write(&path, b"newer")], &NoObserver)
        .unwrap();
}

const N_INCREMENTS: usize = 8;

/// Adds to the number in a file, each time from what it has just read.
fn increment(state: &Path, counter: &Path) {
    let committer = Committer::new(state.to_path_buf());
    let mut n_done = 0;
    while n_done < N_INCREMENTS {
        let bytes = fs::read(counter).unwrap();
        let number: usize = String::from_utf8(bytes.clone()).unwrap().parse().unwrap();
        let operation = Operation::Write {
            path: counter.to_path_buf(),
            expect: Expect::Hash(ContentHash::of(&bytes)),
            bytes: (number + 1).to_string().into_bytes(),
        };
        match committer.commit(&[operation], &NoObserver) {
            Ok(_) => n_done += 1,
            Err(CommitError::Stale { .. }) => {}
            Err(err) => panic!("{err:?}"),
        }
    }
}

#[test]
fn increment_child() {
    if let Some(words) = child_words() {
        increment(Path::new(&words[0]), Path::new(&words[1]));
    }
}

// R68: commits of several processes and threads at once follow each other; none is lost.
#[test]
fn commits_at_once_are_serialised() {
    let place = Place::on_disk();
    let counter = place.write("counter", "0");
    let state = place.state();
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                increment(&state, &counter);
            });
            scope.spawn(|| {
                start.wait();
                let words = [state.to_str().unwrap(), counter.to_str().unwrap()];
                assert!(run_child(&[], "files_rivals::increment_child", &words).success());
            });
        }
    });
    let total = (4 * N_INCREMENTS).to_string();
    assert_eq!(fs::read_to_string(&counter).unwrap(), total);
}
