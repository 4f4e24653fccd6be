//! Background workers as a run has them: through its gate, with real commands that start processes.

mod command;
mod mode;
mod roster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::child::{Env, Processes, Watch};
use toolbox::run::{CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, ToolError};
use toolbox::tools::{Resources, VibeResources, connect};
use toolbox::vibe::{CommandOptions, CommandWorker, Outcome, RosterOptions, Turn, Worker};

use crate::files_support::Place;

/// Longer than anything takes on a loaded machine.
const LONG: Duration = Duration::from_secs(60);

/// A run in vibe mode whose workers run a script; the brief is its `$1`.
struct Bench {
    place: Place,
    processes: Processes,
    run: Run,
}

impl Bench {
    fn new(script: &str) -> Self {
        Self::with(script, |_| {})
    }

    fn with(script: &str, change: impl FnOnce(&mut CommandOptions)) -> Self {
        let place = Place::new();
        let mut options = script_options(&place, script);
        change(&mut options);
        let processes = Processes::new(Watch::Shell);
        let worker = CommandWorker::new(processes.clone(), options);
        Self::over(place, processes, Arc::new(worker))
    }

    fn of(worker: impl Worker + 'static) -> Self {
        Self::over(Place::new(), Processes::new(Watch::Shell), Arc::new(worker))
    }

    fn over(place: Place, processes: Processes, fast: Arc<dyn Worker>) -> Self {
        let vibe = VibeResources::new(RosterOptions {
            fast: Some(fast),
            good: None,
            folder: place.state().join("vibe"),
        });
        let registry = connect(&Resources {
            vibe: Some(vibe),
            ..Resources::default()
        });
        let run = Run::builder(registry).build();
        Self {
            place,
            processes,
            run,
        }
    }

    fn call(&self, name: &str, args: Value) -> Result<Output, ToolError> {
        self.run.dispatch(name, args, CallOptions::new())
    }

    #[track_caller]
    fn answer(&self, name: &str, args: Value) -> Output {
        self.call(name, args).expect("the call succeeds")
    }

    /// Spawns a worker and returns its id.
    #[track_caller]
    fn spawn(&self, brief: &str) -> String {
        let output = self.answer("vibe_spawn", json!({"brief": brief, "label": "a test"}));
        let worker = &output.data["workers"][0];
        assert_eq!(worker["status"], "running", "{}", output.text);
        worker["id"].as_str().expect("an id").to_owned()
    }

    /// Waits for a worker to settle and returns what the wait says about it.
    #[track_caller]
    fn settled(&self, id: &str) -> Value {
        let wait = json!({"worker_id": id, "timeout_seconds": LONG.as_secs()});
        let worker = self.answer("vibe_wait", wait).data["workers"][0].clone();
        assert_ne!(worker["status"], "running", "{worker}");
        worker
    }

    /// Waits for a worker, which must be done, and returns its result.
    #[track_caller]
    fn result(&self, id: &str) -> String {
        let worker = self.settled(id);
        assert_eq!(worker["status"], "done", "{worker}");
        worker["result"].as_str().expect("a result").to_owned()
    }

    #[track_caller]
    fn listed(&self, id: &str) -> Value {
        let data = self.answer("vibe_list", json!({})).data;
        let workers = data["workers"].as_array().expect("a list");
        let found = workers.iter().find(|worker| worker["id"] == id);
        found.expect("it is listed").clone()
    }

    #[track_caller]
    fn refuses(&self, name: &str, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let error = match self.call(name, args) {
            Ok(output) => panic!("{name} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        let hint = error.hint().unwrap_or_default();
        let said = format!("{} / {hint}", error.message());
        assert!(said.contains(words), "{said} lacks {words}");
        assert!(!hint.is_empty(), "{error} has no hint");
        error
    }

    fn fifo(&self, name: &str) -> Fifo {
        let path = self.place.work().join(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("it runs").success());
        Fifo(path)
    }
}

fn script_options(place: &Place, script: &str) -> CommandOptions {
    let argv = ["sh", "-c", script, "worker"].map(str::to_owned).into();
    let env = Env::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    CommandOptions::new(argv, place.work(), env)
}

/// A pipe with a name: whoever opens it waits for the other side.
struct Fifo(PathBuf);

impl Fifo {
    /// Reads what somebody writes.
    #[track_caller]
    fn read(&self) -> String {
        within(self.0.clone(), |path| fs::read_to_string(path))
    }

    /// Lets somebody read.
    #[track_caller]
    fn write(&self, text: &'static str) {
        within(self.0.clone(), move |path| fs::write(path, text));
    }
}

#[track_caller]
fn within<T: Send + 'static>(
    path: PathBuf,
    act: impl FnOnce(&Path) -> std::io::Result<T> + Send + 'static,
) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(act(&path)));
    let res = receiver
        .recv_timeout(LONG)
        .expect("the other side opens it");
    res.expect("it is a pipe")
}

/// A living process.
struct Process(std::os::fd::OwnedFd);

impl Process {
    #[track_caller]
    fn of(pid: &str) -> Self {
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        let pid = pid.expect("a process number");
        Self(pidfd_open(pid, PidfdFlags::empty()).expect("it lives"))
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        let timeout = Timespec::try_from(patience).expect("a short time");
        poll(&mut fds, Some(&timeout)).expect("it can be polled") == 1
    }
}

/// A worker in the process, which does what its brief says: `done X`, `idle X`, `fail X`, `panic`, or
/// `block`, which ends with the cancel alone.
#[derive(Debug, Default)]
struct Fake {
    blocked: Arc<(Mutex<usize>, Condvar)>,
}

impl Worker for Fake {
    fn turn(&self, turn: &Turn<'_>) -> Outcome {
        let order = turn.messages.last().map_or(turn.brief, String::as_str);
        turn.output.push(b"begun");
        let (word, rest) = order.split_once(' ').unwrap_or((order, ""));
        match word {
            "done" => Outcome::Done(rest.to_owned()),
            "idle" => Outcome::Idle(rest.to_owned()),
            "fail" => Outcome::Failed(rest.to_owned()),
            "block" => {
                block(&self.blocked, turn.cancel);
                Outcome::Done("unblocked".to_owned())
            }
            _ => panic!("as it was told"),
        }
    }
}

fn block(blocked: &Arc<(Mutex<usize>, Condvar)>, cancel: &Cancel) {
    let waker = Arc::clone(blocked);
    let _guard = cancel.on_cancel(move || {
        drop(waker.0.lock());
        waker.1.notify_all();
    });
    let mut number = blocked.0.lock().expect("no panic");
    *number += 1;
    blocked.1.notify_all();
    while !cancel.is_cancelled() {
        let (guard, timeout) = blocked.1.wait_timeout(number, LONG).expect("no panic");
        assert!(!timeout.timed_out(), "nobody cancelled");
        number = guard;
    }
}
