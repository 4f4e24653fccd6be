//! SIGKILL at every step of a commit and of its recovery: wholly old or wholly new, never a mixture.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolbox::files::{Committer, Expect, NoObserver, Operation, Probe, Recovered};

use crate::files_support::{
    Place, Tree, build_workspace, child_words, every_operation, failing, killing_at, run_child,
    tree,
};

const COMMIT: &str = "files_crash::commit_child";
const RECOVER: &str = "files_crash::recover_child";

/// Fewer operations than [`every_operation`], but one of each effect on a directory entry.
fn few_operations(work: &Path) -> Vec<Operation> {
    vec![
        Operation::Write {
            path: work.join("src/a.sh"),
            expect: Expect::Any,
            bytes: b"new a\n".to_vec(),
        },
        Operation::Rename {
            from: work.join("src/name.txt"),
            to: work.join("made/moved.txt"),
            expect: Expect::Any,
        },
    ]
}

fn operations(which: &str, work: &Path) -> Vec<Operation> {
    match which {
        "every" => every_operation(work),
        _ => few_operations(work),
    }
}

#[test]
fn commit_child() {
    let Some(words) = child_words() else { return };
    let committer =
        Committer::new(PathBuf::from(&words[1])).with_probe(killing_at(words[3].parse().unwrap()));
    committer
        .commit(&operations(&words[0], Path::new(&words[2])), &NoObserver)
        .unwrap();
}

#[test]
fn recover_child() {
    let Some(words) = child_words() else { return };
    Committer::new(PathBuf::from(&words[0]))
        .with_probe(killing_at(words[1].parse().unwrap()))
        .recover()
        .unwrap();
}

struct Crashed {
    place: Place,
    old: Tree,
    new: Tree,
}

/// Commits in a child that dies at a step; `None` when it came to its end before that step.
fn crash(which: &str, at: usize) -> Option<Crashed> {
    let twin = Place::new();
    build_workspace(&twin);
    Committer::new(twin.state())
        .commit(&operations(which, &twin.work()), &NoObserver)
        .unwrap();
    let place = Place::new();
    build_workspace(&place);
    let old = tree(&place.work());
    let (state, work) = (place.state(), place.work());
    let words = [
        which,
        state.to_str().unwrap(),
        work.to_str().unwrap(),
        &at.to_string(),
    ];
    let status = run_child(&[], COMMIT, &words);
    let new = tree(&twin.work());
    if status.success() {
        assert_eq!(tree(&work), new);
        return None;
    }
    Some(Crashed { place, old, new })
}

impl Crashed {
    fn is_new(&self) -> bool {
        let now = tree(&self.place.work());
        assert!(now == self.old || now == self.new, "a mixture: {now:#?}");
        now == self.new
    }

    fn assert_nothing_left(&self) {
        assert!(!self.place.state().join("commit.journal").exists());
        assert!(!self.place.state().join("commit.journal.new").exists());
        assert!(!self.place.state().join("aside").exists());
    }
}

// R68, D12: the journal finishes or undoes an accept that was killed at any step.
#[test]
fn a_commit_killed_at_any_step_is_finished_or_undone() {
    let (mut n_old, mut n_new) = (0, 0);
    for at in 0.. {
        let Some(crashed) = crash("every", at) else {
            break;
        };
        let committer = Committer::new(crashed.place.state());
        let recovered = committer.recover().unwrap();
        let is_new = crashed.is_new();
        match recovered.as_slice() {
            // Only before the first journal is there nothing to recover, and only after its removal.
            [] => {}
            [Recovered::Undone { .. }] => assert!(!is_new, "step {at}"),
            [Recovered::Finished { .. }] => assert!(is_new, "step {at}"),
            other => panic!("step {at}: {other:?}"),
        }
        if is_new {
            n_new += 1;
        } else {
            n_old += 1;
        }
        assert_eq!(committer.recover().unwrap(), [], "step {at}");
        crashed.assert_nothing_left();
    }
    assert!(n_old > 20 && n_new > 5, "{n_old} old, {n_new} new");
}

// D12: a recovery that is killed itself, at each of its steps in turn, comes to the same end.
#[test]
fn a_recovery_killed_at_any_step_comes_to_the_same_end() {
    let mut n_kills = 0;
    for at in 0.. {
        let Some(crashed) = crash("few", at) else {
            break;
        };
        let state = crashed.place.state();
        for recover_at in 0.. {
            let words = [state.to_str().unwrap(), &recover_at.to_string()];
            if run_child(&[], RECOVER, &words).success() {
                break;
            }
            n_kills += 1;
        }
        crashed.is_new();
        crashed.assert_nothing_left();
    }
    assert!(n_kills > 100, "{n_kills}");
}

// D12: files that somebody changed after the crash are left alone, with the old content kept.
#[test]
fn a_file_changed_after_the_crash_is_not_overwritten() {
    let mut n_conflicts = 0;
    for at in 0.. {
        let Some(crashed) = crash("few", at) else {
            break;
        };
        let work = crashed.place.work();
        let edited = work.join("src/a.sh");
        fs::write(&edited, "edited by hand").unwrap();
        for recovered in Committer::new(crashed.place.state()).recover().unwrap() {
            if let Recovered::Conflicted { files, conflicts } = recovered {
                n_conflicts += 1;
                assert_eq!(files.len(), 2);
                assert_eq!(conflicts[0].path, edited);
                let kept = fs::read(conflicts[0].kept.as_ref().unwrap()).unwrap();
                assert_eq!(kept, b"old a\n");
            }
        }
        assert_eq!(fs::read(&edited).unwrap(), b"edited by hand", "step {at}");
        let mut now = tree(&work);
        let (mut old, mut new) = (crashed.old, crashed.new);
        for tree in [&mut now, &mut old, &mut new] {
            tree.remove(Path::new("src/a.sh"));
        }
        assert!(now == old || now == new, "step {at}: {now:#?}");
    }
    assert!(n_conflicts > 2, "{n_conflicts}");
}

// R68, D12: a crash while a failed commit is taken back leaves no mixture either. Unwinding out of
// the step stands for the kill, since thousands of child processes would take too long; it runs no
// code of the commit but the release of its lock.
#[test]
fn a_crash_while_taking_back_leaves_no_mixture() {
    let mut n_crashes = 0;
    for fail_at in 0.. {
        let mut is_reached = false;
        for crash_at in fail_at + 1.. {
            let place = Place::new();
            build_workspace(&place);
            let work = place.work();
            let old = tree(&work);
            let n_failures = Arc::new(AtomicUsize::new(0));
            let failing = failing(fail_at..fail_at + 1, Arc::clone(&n_failures));
            let probe: Probe = Arc::new(move |step, number| {
                if number == crash_at {
                    panic::resume_unwind(Box::new("crash"));
                }
                failing(step, number)
            });
            let committer = Committer::new(place.state()).with_probe(probe);
            let operations = few_operations(&work);
            let committed = panic::catch_unwind(AssertUnwindSafe(|| {
                committer.commit(&operations, &NoObserver)
            }));
            is_reached |= n_failures.load(Ordering::Relaxed) > 0;
            Committer::new(place.state()).recover().unwrap();
            let now = tree(&work);
            let is_new = now.contains_key(Path::new("made/moved.txt"));
            assert_eq!(now == old, !is_new, "{fail_at} {crash_at}: {now:#?}");
            assert_eq!(
                now[Path::new("src/a.sh")].2 == b"new a\n",
                is_new,
                "{fail_at} {crash_at}: {now:#?}"
            );
            assert!(!place.state().join("commit.journal").exists());
            match committed {
                Ok(_) => break,
                Err(_) => n_crashes += 1,
            }
        }
        if !is_reached {
            break;
        }
    }
    assert!(n_crashes > 150, "{n_crashes}");
}

// D12: a workspace that is gone, or a folder that became a file, does not block the next commit.
#[test]
fn a_vanished_workspace_blocks_nothing() {
    for at in 0.. {
        let Some(crashed) = crash("few", at) else {
            break;
        };
        let work = crashed.place.work();
        fs::remove_dir_all(&work).unwrap();
        if at % 2 == 0 {
            fs::write(&work, "a file now").unwrap();
        }
        let committer = Committer::new(crashed.place.state());
        for recovered in committer.recover().unwrap() {
            assert!(!matches!(recovered, Recovered::MovedAside { .. }), "{at}");
        }
        assert_eq!(committer.recover().unwrap(), [], "{at}");
    }
}
