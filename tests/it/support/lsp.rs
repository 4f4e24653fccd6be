//! A workspace with a supervisor over it, and small projects of every language.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::child::{Env, Processes, Watch};
use toolbox::lsp::client::Timeouts;
use toolbox::lsp::servers::{RootRule, ServerRow};
use toolbox::lsp::{Options, Server, Supervisor};
use toolbox::run::{CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, ToolError};
use toolbox::tools::{LspResources, Resources, connect};
use toolbox::workspace::{AllowedPlaces, Workspace};

use super::peers;

/// A folder of files with the language servers over it.
pub(crate) struct Project {
    temp: tempfile::TempDir,
    pub(crate) processes: Processes,
    pub(crate) supervisor: Supervisor,
    /// The files outside that answers named.
    pub(crate) outside: AllowedPlaces,
    run: Run,
}

fn resources(supervisor: &Supervisor, outside: &AllowedPlaces) -> Resources {
    let lsp = LspResources::new(supervisor.clone()).with_outside(outside.clone());
    Resources {
        lsp: Some(lsp),
        ..Resources::default()
    }
}

/// Machines under load are slow; the tests wait for events and these only bound a failure.
pub(crate) fn patient() -> Timeouts {
    Timeouts {
        start: Duration::from_secs(120),
        request: Duration::from_secs(120),
        ready: Duration::from_secs(180),
        ..Timeouts::default()
    }
}

/// A deadline that only a failure meets.
pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

/// The environment of a server: where programs are, a home of its own, and no way to fetch anything.
pub(crate) fn environment(home: &Path) -> Env {
    // The real cargo, not the shim that needs a home: rust-analyzer asks it for the packages.
    let cargo = Path::new(env!("CARGO")).parent().expect("a folder");
    let mut path = peers::path();
    path.push(":");
    path.push(cargo);
    Env::new()
        .with("PATH", path)
        .with("HOME", home)
        .with("GOFLAGS", "-mod=mod")
        .with("GOPROXY", "off")
        .with("GOTOOLCHAIN", "local")
        .with("CARGO_NET_OFFLINE", "true")
        .with("RUST_SRC_PATH", "/usr/lib/rustlib/src/rust/library")
}

impl Project {
    /// What `status` says of a server.
    #[track_caller]
    pub(crate) fn listed(&self, id: &str) -> Value {
        let status = self.call(json!({"action": "status"})).expect("an answer");
        let servers = status.data["servers"].as_array().expect("a list");
        let found = servers.iter().find(|server| server["id"] == id);
        found.expect("it is listed").clone()
    }

    /// Holds that the files are as they were written but for one word.
    #[track_caller]
    pub(crate) fn has_replaced(&self, files: &[(&str, &str)], from: &str, to: &str) {
        for (name, text) in files {
            assert_eq!(self.read(name), Some(text.replace(from, to)), "{name}");
        }
    }

    /// Writes the files and makes the supervisor; no server is started yet.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |_, options| options)
    }

    /// The same with options of its own; the closure is given the workspace.
    pub(crate) fn with(
        files: &[(&str, &str)],
        change: impl FnOnce(&Path, Options) -> Options,
    ) -> Self {
        Self::make(files, change, |_, env| env)
    }

    /// The same with a `PATH` of one folder.
    pub(crate) fn with_path(files: &[(&str, &str)], folder: impl FnOnce(&Path) -> PathBuf) -> Self {
        let path = |work: &Path, env: Env| env.with("PATH", folder(work));
        Self::make(files, |_, options| options, path)
    }

    fn make(
        files: &[(&str, &str)],
        change: impl FnOnce(&Path, Options) -> Options,
        surround: impl FnOnce(&Path, Env) -> Env,
    ) -> Self {
        let temp = tempfile::tempdir().expect("a folder");
        let base = temp.path().canonicalize().expect("it exists");
        let (work, home) = (base.join("work"), base.join("home"));
        fs::create_dir(&work).expect("writable");
        fs::create_dir(&home).expect("writable");
        for (name, text) in files {
            let path = work.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        let options = Options {
            timeouts: patient(),
            ..Options::default()
        };
        let options = change(&work, options);
        let processes = Processes::new(Watch::Shell);
        let workspace = Workspace::open(&work).expect("it exists");
        let env = surround(&work, environment(&home));
        let supervisor = Supervisor::new(workspace, processes.clone(), env, options);
        let outside = AllowedPlaces::new();
        let run = Run::builder(connect(&resources(&supervisor, &outside))).build();
        Self {
            temp,
            processes,
            supervisor,
            outside,
            run,
        }
    }

    /// The workspace.
    pub(crate) fn work(&self) -> PathBuf {
        self.temp
            .path()
            .canonicalize()
            .expect("it exists")
            .join("work")
    }

    /// The ports of a run with these servers.
    pub(crate) fn resources(&self) -> Resources {
        resources(&self.supervisor, &self.outside)
    }

    /// Calls the tool.
    pub(crate) fn call(&self, args: Value) -> Result<Output, ToolError> {
        self.call_with(args, CallOptions::new())
    }

    pub(crate) fn call_with(&self, args: Value, options: CallOptions) -> Result<Output, ToolError> {
        self.run.dispatch("lsp", args, options)
    }

    /// Calls the tool, which must fail in this way and name the next step.
    #[track_caller]
    pub(crate) fn refuses(&self, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let error = match self.call(args.clone()) {
            Ok(output) => panic!("{args} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{error}");
        error
    }

    /// Ends the servers and sees that no process of them is left.
    #[track_caller]
    pub(crate) fn ends_without_a_trace(&self) {
        let pids: Vec<u32> = self
            .supervisor
            .servers()
            .iter()
            .map(|it| it.pid())
            .collect();
        self.supervisor.stop_all();
        for pid in pids {
            assert_eq!(
                session_of(pid),
                [0_u32; 0],
                "session {pid} has processes left"
            );
        }
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("writable");
    }

    /// The server of a file, which must be there.
    pub(crate) fn server(&self, name: &str) -> Arc<Server> {
        match self.supervisor.server_for(&self.path(name), &Cancel::new()) {
            Ok(server) => server,
            Err(unusable) => panic!("{unusable}"),
        }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.supervisor.stop_all();
    }
}

/// The processes of a session that have not ended.
pub(crate) fn session_of(session: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("a process table");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = match stat.rsplit_once(')') {
            Some((_, fields)) => fields.split_ascii_whitespace().collect(),
            None => return false,
        };
        fields[0] != "Z" && fields[3] == session.to_string()
    })
    .collect()
}

/// The row of the scripted server for files that end in `.fk`, below a `fake.toml`.
pub(crate) fn fake_row(scenario: &Value) -> ServerRow {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fakes/lsp_server.py");
    let command = vec![
        "python3".to_owned(),
        script.to_string_lossy().into_owned(),
        scenario.to_string(),
    ];
    ServerRow {
        files: vec![(".fk".to_owned(), "fake".to_owned())],
        root: RootRule::Markers(vec![vec!["fake.toml".to_owned()]]),
        ..ServerRow::new("fake", command)
    }
}

/// A project of the scripted server, with two files; none where there is no Python.
pub(crate) fn fake(scenario: Value) -> Option<Project> {
    fake_with(scenario, |_, options| options)
}

/// The same with options of its own. The scenario gets a log and a list of starts beside the workspace.
pub(crate) fn fake_with(
    mut scenario: Value,
    change: impl FnOnce(&mut ServerRow, Options) -> Options,
) -> Option<Project> {
    peers::find("python3")?;
    let files = [
        ("fake.toml", ""),
        ("a.fk", "one two\nthree\n"),
        ("b.fk", "four\n"),
    ];
    Some(Project::with(&files, |work, options| {
        let base = work.parent().expect("a parent");
        scenario["log"] = base.join("log").to_string_lossy().into();
        scenario["starts"] = base.join("starts").to_string_lossy().into();
        let mut row = fake_row(&scenario);
        let mut options = change(&mut row, options);
        options.rows.push(row);
        options
    }))
}

impl Project {
    /// The same folder under a scripted server with another scenario.
    pub(crate) fn with_scenario(mut self, mut scenario: Value) -> Self {
        self.supervisor.stop_all();
        let base = self.temp.path().canonicalize().expect("it exists");
        scenario["log"] = base.join("log").to_string_lossy().into();
        scenario["starts"] = base.join("starts").to_string_lossy().into();
        let mut options = self.supervisor.options().clone();
        options.rows = vec![fake_row(&scenario)];
        let workspace = Workspace::open(&self.work()).expect("it exists");
        let env = environment(&base.join("home"));
        self.supervisor = Supervisor::new(workspace, self.processes.clone(), env, options);
        self.run = Run::builder(connect(&self.resources())).build();
        self
    }

    /// What the scripted server received, in order.
    pub(crate) fn received(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.temp.path().join("log")).unwrap_or_default();
        log.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// What it received of one method.
    pub(crate) fn received_of(&self, method: &str) -> Vec<Value> {
        let mut messages = self.received();
        messages.retain(|message| message["method"] == method);
        messages
    }

    /// The processes of every start so far.
    pub(crate) fn starts(&self) -> Vec<u32> {
        let starts = fs::read_to_string(self.temp.path().join("starts")).unwrap_or_default();
        starts
            .lines()
            .map(|line| line.parse().expect("a number"))
            .collect()
    }

    /// Waits until something holds; the scripted server writes its log in its own time.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = soon();
        while !holds(self) {
            assert!(Instant::now() < deadline, "never: {what}");
            std::thread::yield_now();
        }
    }

    /// Sees that every process that was ever started here has ended, with what it started.
    #[track_caller]
    pub(crate) fn nothing_is_left(&self) {
        for pid in self.starts() {
            self.until("the session ends", |_| session_of(pid).is_empty());
        }
    }
}
