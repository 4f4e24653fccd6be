//! A workspace with a run over it that has a debugger.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};
use toolbox::child::{Env, Processes, Watch};
use toolbox::dap::{AdapterRow, Options, Supervisor, builtin};
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{DebugResources, Resources, connect};
use toolbox::workspace::Workspace;

use crate::support::peers;

/// How long a process may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The variable that marks what a test started.
pub(super) const MARK: &str = "TOOLBOX_DEBUG_TEST";

pub(super) struct Bench {
    temp: tempfile::TempDir,
    pub(super) processes: Processes,
    run: Option<Run>,
    mark: String,
}

/// The row of the fake adapter in this scenario.
pub(super) fn fake(scenario: &str) -> Option<AdapterRow> {
    let python = peers::find("python3")?;
    let script = data("fake.py");
    Some(AdapterRow {
        extensions: vec!["fake".to_owned()],
        markers: vec!["fake.toml".to_owned()],
        ..AdapterRow::plain(
            "fake",
            python.to_str().expect("UTF-8"),
            vec![
                script.to_str().expect("UTF-8").to_owned(),
                scenario.to_owned(),
            ],
        )
    })
}

/// A file of the test data.
pub(super) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/dap")
        .join(name)
}

impl Bench {
    /// A workspace with these files of the test data, and empty ones of the other names.
    pub(super) fn new(files: &[&str]) -> Self {
        Self::with(files, |_| {})
    }

    /// The same with a fake adapter and a program for it.
    pub(super) fn fake(scenario: &str) -> Option<Self> {
        Self::fake_with(scenario, |_| {})
    }

    pub(super) fn fake_with(scenario: &str, change: impl FnOnce(&mut Options)) -> Option<Self> {
        let row = fake(scenario)?;
        Some(Self::with(&["fake.toml", "a.fake"], |options| {
            options.adapters.push(row);
            options.timings.part_wait = Duration::from_millis(500);
            change(options);
        }))
    }

    pub(super) fn with(files: &[&str], change: impl FnOnce(&mut Options)) -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        let work = temp.path().join("work");
        fs::create_dir(&work).expect("a folder");
        for file in files {
            let path = work.join(file);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            let source = data(file);
            match source.is_file() {
                true => drop(fs::copy(source, path).expect("copied")),
                false => fs::write(path, "\n".repeat(40)).expect("written"),
            }
        }
        let mark = temp.path().display().to_string();
        let mut options = Options::new(environment(&mark, temp.path()));
        change(&mut options);
        let processes = Processes::new(Watch::Shell);
        let supervisor = Supervisor::new(processes.clone(), options);
        let mut bench = Self {
            temp,
            processes,
            run: None,
            mark,
        };
        bench.run = Some(bench.another_run(&supervisor, "c1"));
        bench
    }

    /// A run over the same workspace.
    pub(super) fn another_run(&self, supervisor: &Supervisor, conversation: &str) -> Run {
        let debug = DebugResources {
            supervisor: supervisor.clone(),
            workspace: Workspace::open(&self.work()).expect("the folder exists"),
        };
        let registry = connect(&Resources {
            debug: Some(debug),
            conversation: Some(conversation.to_owned()),
            ..Resources::default()
        });
        Run::builder(registry)
            .approver(AutoApprove::up_to(Tier::Exec))
            .build()
    }

    pub(super) fn work(&self) -> PathBuf {
        self.temp
            .path()
            .canonicalize()
            .expect("it exists")
            .join("work")
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    pub(super) fn run(&self) -> &Run {
        self.run.as_ref().expect("it has not ended")
    }

    pub(super) fn end_run(&mut self) {
        self.run = None;
    }

    pub(super) fn call(&self, args: Value) -> Result<Output, ToolError> {
        self.run().dispatch("debug", args, CallOptions::new())
    }

    /// Does an operation that succeeds.
    #[track_caller]
    pub(super) fn does(&self, args: Value) -> Value {
        match self.call(args.clone()) {
            Ok(output) => {
                assert!(!output.text.is_empty(), "{args} has no text");
                output.data
            }
            Err(error) => panic!("{args}: {error} ({:?})", error.hint()),
        }
    }

    /// Does an operation without arguments.
    #[track_caller]
    pub(super) fn op(&self, operation: &str) -> Value {
        self.does(json!({ "operation": operation }))
    }

    #[track_caller]
    pub(super) fn breakpoints(&self, file: &str, lines: Value) -> Value {
        self.does(json!({"operation": "breakpoints", "file": file, "lines": lines}))
    }

    #[track_caller]
    pub(super) fn launch(&self, program: &str) -> Value {
        self.does(json!({"operation": "launch", "program": program, "timeout_seconds": 90}))
    }

    #[track_caller]
    pub(super) fn value(&self, expression: &str) -> String {
        let data = self.does(json!({"operation": "evaluate", "expression": expression}));
        data["value"].as_str().expect("a text").to_owned()
    }

    #[track_caller]
    pub(super) fn output(&self) -> String {
        self.op("output")["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    }

    /// Does an operation that must fail in this way, with words in the message and a next step.
    #[track_caller]
    pub(super) fn refuses(&self, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let error = match self.call(args.clone()) {
            Ok(output) => panic!("{args} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{error}");
        error
    }

    /// Asserts that no process that this bench started is left.
    #[track_caller]
    pub(super) fn nothing_is_left(&self) {
        assert_eq!(self.processes.live(), 0, "in charge");
        let deadline = Instant::now() + PATIENCE;
        for pid in self.marked() {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                ends_within(pid, left),
                "process {pid} is left: {}",
                command(pid)
            );
        }
    }

    /// The processes that carry the mark of this bench.
    pub(super) fn marked(&self) -> Vec<i32> {
        marked(&self.mark)
    }
}

/// The processes that carry a mark; the watcher of children is none, because it has no environment.
pub(super) fn marked(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").expect("a process table");
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes())
            })
        })
        .collect()
}

/// Waits for the end of a process.
pub(super) fn ends_within(pid: i32, patience: Duration) -> bool {
    let Some(pid) = Pid::from_raw(pid) else {
        return true;
    };
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let mut fds = [PollFd::new(&descriptor, PollFlags::IN)];
    let timeout = Timespec::try_from(patience).expect("a short time");
    poll(&mut fds, Some(&timeout)).expect("poll") == 1
}

fn command(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// The environment of adapters: the real one, with the peers and the cargo of this test on the `PATH`.
fn environment(mark: &str, temp: &Path) -> Env {
    let mut env: Env = std::env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            !name.starts_with("CARGO") && !name.starts_with("RUST")
        })
        .collect();
    let mut folders = peers::folders();
    let cargo = std::env::var_os("CARGO").map(PathBuf::from);
    folders.extend(cargo.and_then(|cargo| Some(cargo.parent()?.to_owned())));
    env.set("PATH", std::env::join_paths(folders).expect("no colons"));
    env.set(MARK, mark);
    env.set("CARGO_TARGET_DIR", temp.join("built"));
    env
}

/// Whether a known adapter is usable in a bench with its marker; says so when not.
pub(super) fn usable(bench: &Bench, id: &str) -> bool {
    assert!(builtin().iter().any(|row| row.id == id));
    let data = bench.op("adapters");
    let rows = data["adapters"].as_array().expect("a list");
    let row = rows
        .iter()
        .find(|row| row["id"] == id)
        .expect("it is listed");
    if row["usable"] != true {
        println!("skipped: {id} missing ({})", row["reason"]);
    }
    row["usable"] == true
}

/// A port that nobody listens on just now.
pub(super) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}
