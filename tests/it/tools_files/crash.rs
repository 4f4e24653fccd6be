//! SIGKILL in the middle of a Write and of a patch over five files: old or new, never a mixture.

use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;
use crate::files_support::{Tree, child_words, killing_at, run_child};

const CHILD: &str = "tools_files::crash::writing_child";

/// A patch over five files, with a section of each kind.
const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-old a\n+new a\n*** Delete File: b\n\
                     *** Update File: c\n*** Move to: made/c\n@@\n-old c\n+new c\n\
                     *** Update File: d\n*** Move to: made/d\n*** Add File: made/e\n+new e\n*** End Patch\n";

fn build(place: &Place) {
    for name in ["a", "b", "c", "d"] {
        place.write(name, format!("old {name}\n"));
    }
}

fn call_of(which: &str) -> (&'static str, Value) {
    match which {
        "Write" => ("Write", json!({"path": "a", "content": "new a\n"})),
        _ => ("apply_patch", json!({"patch": PATCH})),
    }
}

fn run_over(work: &Path, committer: Committer) -> Run {
    let workspace = Workspace::open(work).expect("the folder exists");
    let committer = committer.within(workspace.clone());
    let files = FileResources::new(workspace).with_committer(Arc::new(committer));
    let resources = Resources {
        files: Some(files),
        ..Resources::default()
    };
    Run::builder(connect(&resources))
        .approver(AutoApprove::up_to(Tier::Write))
        .build()
}

#[test]
fn writing_child() {
    let Some(words) = child_words() else { return };
    let committer = Committer::new(PathBuf::from(&words[1]));
    let committer = committer.with_probe(killing_at(words[3].parse().expect("a number")));
    let (name, args) = call_of(&words[0]);
    run_over(Path::new(&words[2]), committer)
        .dispatch(name, args, CallOptions::new())
        .expect("it applies");
}

/// The files after the whole call.
fn wanted(which: &str) -> Tree {
    let place = Place::new();
    build(&place);
    let (name, args) = call_of(which);
    run_over(&place.work(), Committer::new(place.state()))
        .dispatch(name, args, CallOptions::new())
        .expect("it applies");
    tree(&place.work())
}

// R68, D12: killed at any step of the commit, the next start finds all old or all new.
#[test]
fn a_killed_call_leaves_old_or_new() {
    for (which, least) in [("Write", 8), ("apply_patch", 30)] {
        let new = wanted(which);
        let (mut n_old, mut n_new) = (0, 0);
        for at in 0.. {
            let place = Place::new();
            build(&place);
            let old = tree(&place.work());
            let (state, work) = (place.state(), place.work());
            let words = [
                which,
                state.to_str().expect("UTF-8"),
                work.to_str().expect("UTF-8"),
                &at.to_string(),
            ];
            if run_child(&[], CHILD, &words).success() {
                break;
            }
            Committer::new(place.state())
                .recover()
                .expect("it recovers");
            let now = tree(&work);
            assert!(
                now == old || now == new,
                "{which}, step {at}: a mixture: {now:#?}"
            );
            match now == new {
                true => n_new += 1,
                false => n_old += 1,
            }
        }
        assert!(
            n_old + n_new >= least && n_old > 0 && n_new > 0,
            "{which}: {n_old} old, {n_new} new"
        );
    }
}

// R68, D12: the command itself, killed at many moments; the next command puts things right.
#[test]
fn a_killed_command_leaves_old_or_new() {
    for which in ["Write", "apply_patch"] {
        let new = wanted(which);
        let mut n_killed = 0;
        for step in 0..40_u32 {
            let place = Place::new();
            build(&place);
            fs::create_dir(place.work().join(".git")).expect("a folder");
            let old = tree(&place.work());
            let mut with_git = new.clone();
            with_git.extend(
                old.iter()
                    .filter(|(path, _)| path.starts_with(".git"))
                    .map(|(path, entry)| (path.clone(), entry.clone())),
            );
            let (name, args) = call_of(which);
            let command = |tool: &str, args: &Value| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
                command
                    .env_clear()
                    .env("HOME", place.temp.path())
                    .current_dir(place.work())
                    .args(["call", tool, &args.to_string()])
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null());
                command
            };
            let mut child = command(name, &args).spawn().expect("it starts");
            let stdout = child.stdout.take().expect("it is piped");
            // The pipe ends with the process; until then it says nothing.
            let wait = Duration::from_micros(u64::from(step) * 500);
            let wait = Timespec::try_from(wait).expect("a short time");
            let mut fds = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
            let ended = poll(&mut fds, Some(&wait)).is_ok_and(|n_ready| n_ready > 0);
            n_killed += u32::from(!ended);
            let _ = child.kill();
            child.wait().expect("it ended");
            let probe = json!({"path": "a", "old_string": "nowhere", "new_string": ""});
            command("Edit", &probe).output().expect("it runs");
            let now = tree(&place.work());
            assert!(
                now == old || now == with_git,
                "{which}, step {step}: a mixture: {now:#?}"
            );
        }
        assert!(n_killed > 0, "{which}: no command was killed");
    }
}
