//! A workspace with a supervisor over it, and small projects of every language.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolbox::cancel::Cancel;
use toolbox::child::{Env, Processes, Watch};
use toolbox::lsp::client::Timeouts;
use toolbox::lsp::{Options, Server, Supervisor};
use toolbox::workspace::Workspace;

use super::peers;

/// A folder of files with the language servers over it.
pub(crate) struct Project {
    temp: tempfile::TempDir,
    pub(crate) processes: Processes,
    pub(crate) supervisor: Supervisor,
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
    Env::new()
        .with("PATH", peers::path())
        .with("HOME", home)
        .with("GOFLAGS", "-mod=mod")
        .with("GOPROXY", "off")
        .with("GOTOOLCHAIN", "local")
        .with("CARGO_NET_OFFLINE", "true")
        .with("RUST_SRC_PATH", "/usr/lib/rustlib/src/rust/library")
}

impl Project {
    /// Writes the files and makes the supervisor; no server is started yet.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |_, options| options)
    }

    /// The same with options of its own; the closure is given the workspace.
    pub(crate) fn with(
        files: &[(&str, &str)],
        change: impl FnOnce(&Path, Options) -> Options,
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
        let supervisor = Supervisor::new(workspace, processes.clone(), environment(&home), options);
        Self {
            temp,
            processes,
            supervisor,
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
