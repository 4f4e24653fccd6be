//! Staged edits: ids, acceptance, rejection, expiry, and what a crash leaves.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, SystemTime};

use toolbox::files::{CommitError, Committer, ContentHash, NoObserver};
use toolbox::limits;
use toolbox::syntax::staging::{EditId, Proposal, StagedFile, StagingError, StagingStore};

use crate::files_support::{
    Notes, Place, child_words, chmod, failing, killing_at, run_child, tree,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + 20_000 * DAY
}

fn proposal(paths: &[PathBuf], after: &[u8]) -> Proposal {
    Proposal {
        pattern: "dispose($X)".to_owned(),
        rewrite: "$X.dispose()".to_owned(),
        language: "dart".to_owned(),
        replacements: 12,
        files: paths
            .iter()
            .map(|path| StagedFile {
                path: path.clone(),
                hash_before: ContentHash::of_file(path).unwrap(),
                bytes_after: after.to_vec(),
            })
            .collect(),
    }
}

fn three_files(place: &Place) -> Vec<PathBuf> {
    ["a.dart", "b.dart", "sub/c.dart"]
        .map(|name| place.write(name, "old\r\n"))
        .to_vec()
}

/// Runs a test for both kinds of store.
fn for_both(check: impl Fn(&Place, StagingStore, Committer)) {
    let place = Place::new();
    let committer = Committer::new(place.state());
    check(&place, StagingStore::in_memory(), committer);
    let place = Place::new();
    let committer = Committer::new(place.state());
    check(&place, StagingStore::on_disk(&place.state()), committer);
}

fn ids(store: &StagingStore) -> Vec<String> {
    let listing = store.list(now()).unwrap();
    assert_eq!(listing.damaged, []);
    listing
        .edits
        .iter()
        .map(|staged| staged.edit_id.to_string())
        .collect()
}

// R58, R59, R65, R66: staging writes nothing; accepting applies, consumes and tells the observer.
#[test]
fn a_staged_edit_is_accepted_once() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        let before = tree(&place.work());
        let modified = paths[0].metadata().unwrap().modified().unwrap();
        let proposal = proposal(&paths, b"new\r\n");
        let edit_id = store.stage(proposal.clone(), now()).unwrap();
        assert_eq!(edit_id.to_string(), "edit_1");
        assert_eq!(tree(&place.work()), before);
        assert_eq!(paths[0].metadata().unwrap().modified().unwrap(), modified);
        assert_eq!(store.find("edit_1", now()).unwrap().proposal, proposal);
        let notes = Notes::default();
        let accepted = store.accept("edit_1", &committer, &notes, now()).unwrap();
        assert_eq!(accepted.files, paths);
        assert_eq!(accepted.replacements, 12);
        assert!(!accepted.already_applied);
        for path in &paths {
            assert_eq!(fs::read(path).unwrap(), b"new\r\n");
        }
        assert_eq!(
            *notes.0.lock().unwrap(),
            [("before", paths.clone()), ("after", paths.clone())]
        );
        let err = store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap_err();
        assert_eq!(
            err.to_string(),
            "no edit 'edit_1' is staged; nothing is pending: run ast_edit first"
        );
    });
}

// D10, D12: several edits coexist; an unknown or consumed id is answered with the pending ones.
#[test]
fn unknown_and_consumed_ids_name_the_pending_ones() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        for _ in 0..11 {
            store.stage(proposal(&paths, b"new"), now()).unwrap();
        }
        store.discard("edit_3", now()).unwrap();
        for number in 4..=9 {
            store.discard(&format!("edit_{number}"), now()).unwrap();
        }
        for id in [
            "edit_3",
            "edit_12",
            "edit_0",
            "edit_01",
            "edit_+1",
            "edit_",
            "1",
            "",
            "../counter",
        ] {
            let errors = [
                store
                    .accept(id, &committer, &NoObserver, now())
                    .unwrap_err(),
                store.discard(id, now()).unwrap_err(),
                store.find(id, now()).unwrap_err(),
            ];
            for err in errors {
                assert_eq!(
                    err.to_string(),
                    format!("no edit '{id}' is staged; pending: edit_1, edit_2, edit_10, edit_11")
                );
            }
        }
        let dropped = store.discard_all(now()).unwrap();
        let dropped: Vec<_> = dropped.iter().map(EditId::to_string).collect();
        assert_eq!(dropped, ["edit_1", "edit_2", "edit_10", "edit_11"]);
        assert!(ids(&store).is_empty());
        let next = store.stage(proposal(&paths, b"new"), now()).unwrap();
        assert_eq!(next.to_string(), "edit_12");
    });
}

// R67, D12: one touched file refuses the whole edit, which can then only be discarded.
#[test]
fn a_mismatch_rejects_the_whole_edit_for_good() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        fs::write(&paths[1], "touched").unwrap();
        let before = tree(&place.work());
        let err = store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap_err();
        let message = err.to_string();
        assert!(
            message.contains(&paths[1].display().to_string()),
            "{message}"
        );
        assert!(
            !message.contains(&paths[0].display().to_string()),
            "{message}"
        );
        assert!(message.contains("run ast_edit again"), "{message}");
        assert_eq!(tree(&place.work()), before);
        // Not even when the old content is back.
        fs::write(&paths[1], "old\r\n").unwrap();
        let err = store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap_err();
        assert!(matches!(err, StagingError::Rejected { .. }), "{err:?}");
        assert_eq!(fs::read(&paths[0]).unwrap(), b"old\r\n");
        assert!(store.find("edit_1", now()).unwrap().rejected);
        let err = store.discard("edit_2", now()).unwrap_err();
        assert!(err.to_string().contains("nothing is pending"), "{err}");
        store.discard("edit_1", now()).unwrap();
        assert!(ids(&store).is_empty());
    });
}

// R68, D12: a target that cannot be written changes nothing, and the edit stays pending.
#[test]
fn an_unwritable_target_leaves_the_edit_pending() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        chmod(&paths[2], 0o444);
        let before = tree(&place.work());
        let err = store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap_err();
        let StagingError::NotAccepted { source, .. } = err else {
            panic!("{err:?}");
        };
        assert!(matches!(source, CommitError::Refused { .. }), "{source:?}");
        assert_eq!(tree(&place.work()), before);
        chmod(&paths[2], 0o644);
        store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap();
        assert_eq!(fs::read(&paths[2]).unwrap(), b"new");
    });
}

// D12: an input/output fault that was rolled back leaves the edit pending.
#[test]
fn a_fault_that_was_rolled_back_leaves_the_edit_pending() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        let before = tree(&place.work());
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        let broken = Committer::new(place.state()).with_probe(failing(17..18, Arc::default()));
        let err = store
            .accept("edit_1", &broken, &NoObserver, now())
            .unwrap_err();
        assert!(err.to_string().contains("still pending"), "{err}");
        assert_eq!(tree(&place.work()), before);
        assert_eq!(ids(&store), ["edit_1"]);
        store
            .accept("edit_1", &committer, &NoObserver, now())
            .unwrap();
    });
}

// D12, D43: an edit can be accepted for seven days, not a second more.
#[test]
fn edits_expire_after_seven_days() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        let last_second = now() + 7 * DAY - Duration::from_secs(1);
        assert!(store.find("edit_1", last_second).is_ok());
        // A clock that runs behind expires nothing.
        assert!(store.find("edit_1", now() - 30 * DAY).is_ok());
        let err = store
            .accept("edit_1", &committer, &NoObserver, now() + 7 * DAY)
            .unwrap_err();
        assert_eq!(
            err.to_string(),
            "edit_1 has expired: a staged edit waits for 7 days"
        );
        for err in [
            store.find("edit_1", now()).unwrap_err(),
            store.discard("edit_1", now()).unwrap_err(),
        ] {
            assert!(matches!(err, StagingError::Expired { .. }), "{err:?}");
        }
        // What never was is told from what has expired.
        let err = store.find("edit_7", now()).unwrap_err();
        assert!(matches!(err, StagingError::Unknown { .. }), "{err:?}");
        let next = store.stage(proposal(&paths, b"new"), now()).unwrap();
        assert_eq!(next.to_string(), "edit_2");
    });
}

// D12: the ids of expired edits are remembered up to a number, the latest longest.
#[test]
fn the_latest_expired_edits_are_remembered() {
    let place = Place::new();
    let paths = three_files(&place);
    let store = StagingStore::in_memory();
    for _ in 0..=limits::EXPIRED_EDITS {
        store.stage(proposal(&paths[..1], b"new"), now()).unwrap();
    }
    assert_eq!(store.list(now() + 7 * DAY).unwrap().edits, []);
    let found = |edit_id: &str| store.find(edit_id, now()).unwrap_err();
    assert!(matches!(found("edit_1"), StagingError::Unknown { .. }));
    for edit_id in ["edit_2", &format!("edit_{}", limits::EXPIRED_EDITS + 1)] {
        assert!(matches!(found(edit_id), StagingError::Expired { .. }));
    }
}

// D43: memory starts at edit_1 for each run; the count of a checkout never goes back.
#[test]
fn the_counter_on_disk_never_goes_back() {
    let place = Place::new();
    let paths = three_files(&place);
    let stage = |store: &StagingStore| {
        store
            .stage(proposal(&paths, b"new"), now())
            .unwrap()
            .to_string()
    };
    assert_eq!(stage(&StagingStore::on_disk(&place.state())), "edit_1");
    assert_eq!(stage(&StagingStore::on_disk(&place.state())), "edit_2");
    let store = StagingStore::on_disk(&place.state());
    store.discard_all(now()).unwrap();
    assert_eq!(stage(&store), "edit_3");
    assert_eq!(stage(&StagingStore::in_memory()), "edit_1");
    assert_eq!(stage(&StagingStore::in_memory()), "edit_1");
    fs::write(place.state().join("staging/counter"), "x").unwrap();
    let err = store.stage(proposal(&paths, b"new"), now()).unwrap_err();
    assert!(matches!(err, StagingError::Damaged { .. }), "{err:?}");
    fs::remove_file(place.state().join("staging/counter")).unwrap();
    assert_eq!(stage(&store), "edit_4");
}

#[test]
fn stage_child() {
    let Some(words) = child_words() else { return };
    let store = StagingStore::on_disk(Path::new(&words[0]));
    for _ in 0..5 {
        store
            .stage(proposal(&[PathBuf::from(&words[1])], b"new"), now())
            .unwrap();
    }
}

// D43: processes and threads that stage at once never get the same id.
#[test]
fn ids_are_unique_across_processes() {
    let place = Place::new();
    let path = place.write("a", "old");
    let state = place.state();
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                let words = [state.to_str().unwrap(), path.to_str().unwrap()];
                assert!(run_child(&[], "staging::stage_child", &words).success());
            });
        }
    });
    let expected: Vec<_> = (1..=20).map(|number| format!("edit_{number}")).collect();
    assert_eq!(ids(&StagingStore::on_disk(&state)), expected);
}

// D12: a damaged edit is named, blocks no other, and can be discarded.
#[test]
fn a_damaged_edit_is_named() {
    let place = Place::new();
    let paths = three_files(&place);
    let store = StagingStore::on_disk(&place.state());
    let committer = Committer::new(place.state());
    for _ in 0..2 {
        store.stage(proposal(&paths, b"new"), now()).unwrap();
    }
    let file = place.state().join("staging/edit_1.pending");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    fs::write(place.state().join("staging/edit_9.pending.new"), "torn").unwrap();
    let listing = store.list(now()).unwrap();
    assert_eq!(listing.edits.len(), 1);
    assert_eq!(listing.damaged.len(), 1);
    let err = store
        .accept("edit_1", &committer, &NoObserver, now())
        .unwrap_err();
    assert!(matches!(err, StagingError::Damaged { .. }), "{err:?}");
    store.discard("edit_1", now()).unwrap();
    assert_eq!(ids(&store), ["edit_2"]);
}

// D12, D36: what a file holds and is called survives the state folder, whatever its bytes are.
#[test]
fn names_and_contents_on_disk_are_kept_byte_for_byte() {
    let place = Place::new();
    let mut paths = three_files(&place);
    let latin1 = place.work().join(OsStr::from_bytes(b"caf\xE9\n.dart"));
    fs::write(&latin1, "old").unwrap();
    paths.push(latin1);
    let contents: [&[u8]; 4] = [
        b"\xEF\xBB\xBFa\r\nb\n",
        b"caf\xE9\0\xFF",
        b"",
        "\u{2028}\u{FFFF}\"\\\u{1}".as_bytes(),
    ];
    for (idx, bytes) in contents.into_iter().enumerate() {
        let store = StagingStore::on_disk(&place.state());
        let staged = proposal(&paths, bytes);
        let edit_id = store.stage(staged.clone(), now()).unwrap().to_string();
        let store = StagingStore::on_disk(&place.state());
        assert_eq!(
            store.find(&edit_id, now()).unwrap().proposal,
            staged,
            "{idx}"
        );
        store
            .accept(&edit_id, &Committer::new(place.state()), &NoObserver, now())
            .unwrap();
        for path in &paths {
            assert_eq!(fs::read(path).unwrap(), bytes);
        }
    }
}

#[test]
fn accept_child() {
    let Some(words) = child_words() else { return };
    let state = PathBuf::from(&words[0]);
    let store = StagingStore::on_disk(&state);
    let committer = Committer::new(state).with_probe(killing_at(words[1].parse().unwrap()));
    store
        .accept("edit_1", &committer, &NoObserver, now())
        .unwrap();
}

// D12: an accept that is killed at any step can be repeated; it applies once and consumes the edit.
#[test]
fn a_killed_accept_can_be_repeated() {
    let (mut n_applied, mut n_pending) = (0, 0);
    for at in 0.. {
        let place = Place::new();
        let paths = three_files(&place);
        let store = StagingStore::on_disk(&place.state());
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        let words = [place.state().to_str().unwrap(), &at.to_string()].map(str::to_owned);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        if run_child(&[], "staging::accept_child", &words).success() {
            assert!(ids(&store).is_empty());
            break;
        }
        let accepted = store
            .accept("edit_1", &Committer::new(place.state()), &NoObserver, now())
            .unwrap();
        if accepted.already_applied {
            n_applied += 1;
        } else {
            n_pending += 1;
        }
        assert_eq!(accepted.files, paths);
        for path in &paths {
            assert_eq!(fs::read(path).unwrap(), b"new", "step {at}");
        }
        assert!(ids(&store).is_empty());
    }
    assert!(
        n_applied > 5 && n_pending > 10,
        "{n_applied} applied, {n_pending} pending"
    );
}

// D12: after a kill between the commit and the consumption the list tells the truth.
#[test]
fn an_edit_that_was_applied_is_no_longer_pending() {
    let place = Place::new();
    let paths = three_files(&place);
    let store = StagingStore::on_disk(&place.state());
    for _ in 0..2 {
        store.stage(proposal(&paths, b"new"), now()).unwrap();
    }
    let staging = place.state().join("staging");
    for path in &paths {
        fs::write(path, "new").unwrap();
    }
    fs::rename(
        staging.join("edit_1.pending"),
        staging.join("edit_1.accepting"),
    )
    .unwrap();
    assert_eq!(ids(&store), ["edit_2"]);
    // The twin that nobody was accepting is not taken for applied: its files changed.
    let err = store
        .accept("edit_2", &Committer::new(place.state()), &NoObserver, now())
        .unwrap_err();
    assert!(matches!(err, StagingError::Changed { .. }), "{err:?}");
}

// D12, D43: of two accepts at once exactly one applies and consumes the edit.
#[test]
fn two_accepts_at_once_apply_once() {
    for_both(|place, store, committer| {
        let paths = three_files(place);
        store.stage(proposal(&paths, b"new"), now()).unwrap();
        let start = Barrier::new(2);
        let accept = || {
            start.wait();
            store.accept("edit_1", &committer, &NoObserver, now())
        };
        let accepted = thread::scope(|scope| {
            let both = [scope.spawn(accept), scope.spawn(accept)];
            both.map(|thread| thread.join().unwrap())
        });
        let n_accepted = accepted.iter().filter(|accepted| accepted.is_ok()).count();
        assert_eq!(n_accepted, 1, "{accepted:?}");
        for accepted in accepted {
            if let Err(err) = accepted {
                assert!(matches!(err, StagingError::Unknown { .. }), "{err:?}");
            }
        }
        assert_eq!(fs::read(&paths[2]).unwrap(), b"new");
    });
}
