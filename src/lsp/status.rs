//! What runs, what could, and why the rest does not (R27, R14); and starting over (R28, D5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::{Readiness, Server};
use crate::lsp::detect::{Detected, lacks_tool};
use crate::lsp::error::Seconds;
use crate::lsp::servers::{ServerRow, Slot as RowSlot};
use crate::lsp::supervisor::{Inner, Key, Standing, Supervisor};
use crate::text::counted;
use crate::walk::{WalkOptions, walk};

/// Every server that matters here.
#[derive(Clone, Debug, Serialize)]
pub struct StatusReport {
    /// The servers: those that run or could first, then those that lack something, then those that are
    /// disabled and would serve something here.
    pub servers: Vec<ServerStatus>,
    /// How many rows of the table have neither a marker nor a binary here.
    pub without_either: usize,
    /// How many files are too many to be looked at for changes before a question; changes of open ones
    /// are seen all the same.
    pub unseen_files: usize,
}

/// One server for one root.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServerStatus {
    /// The row.
    pub id: String,
    /// The folder, relative to the workspace; nothing where no marker was found.
    pub root: Option<String>,
    /// `running`, `starting`, `available`, `crashed`, `broken`, `refused`, `unusable` or `disabled`.
    pub state: &'static str,
    /// Why it does not run, or why this program and this root were chosen.
    pub reason: Option<String>,
    /// The command line.
    pub command: Option<String>,
    /// The process number.
    pub pid: Option<u32>,
    /// What the server or its program calls its version.
    pub version: Option<String>,
    /// The units in which it counts columns.
    pub encoding: Option<&'static str>,
    /// `push` or `pull`.
    pub diagnostics: Option<&'static str>,
    /// How many documents it has open.
    pub open_documents: Option<usize>,
    /// What it is doing, or that its answers are whole.
    pub progress: Option<String>,
    /// How often it was started again after a crash.
    pub restarts: Option<usize>,
    /// For how many seconds it has run.
    pub uptime_s: Option<u64>,
    /// What it complains about.
    pub health: Option<String>,
    /// The last line of its standard error.
    pub stderr: Option<String>,
    /// Whether it adds diagnostics beside another server.
    pub linter: bool,
    /// Whether no test has run this row.
    pub unverified: bool,
}

/// What `reload` did.
#[derive(Clone, Debug, Serialize)]
pub struct ReloadReport {
    /// Each server that was started again, and what became of it.
    pub servers: Vec<Reloaded>,
}

/// One server that was started again.
#[derive(Clone, Debug, Serialize)]
pub struct Reloaded {
    /// The row.
    pub id: String,
    /// The folder, relative to the workspace.
    pub root: String,
    /// `running`, or `stopped` where it starts with the next question, or `failed`.
    pub state: &'static str,
    /// Why it failed.
    pub reason: Option<String>,
    /// How many documents were opened again.
    pub documents: usize,
}

/// Says how the servers stand that were started here, without a look at the checkout.
pub fn started(supervisor: &Supervisor) -> Vec<ServerStatus> {
    kept(supervisor).into_values().collect()
}

/// Says how every server stands. Nothing is started, except programs that may be shims, which are asked for
/// their version.
pub fn status(supervisor: &Supervisor, cancel: &Cancel) -> StatusReport {
    let inner = supervisor.inner();
    let mut rows = kept(supervisor);
    let mut lacking = Vec::new();
    let mut found = BTreeSet::new();
    for detected in samples(supervisor, cancel) {
        let Some((root, _)) = detected.both() else {
            lacking.push(detected);
            continue;
        };
        let key = Key {
            id: detected.row.id.clone(),
            root: root.folder.clone(),
        };
        found.insert(key.id.clone());
        let known = rows.remove(&key);
        let mut status = known.unwrap_or_default();
        complete(supervisor, inner, &detected, &mut status, cancel);
        rows.insert(key, status);
    }
    let mut servers: Vec<ServerStatus> = rows.into_values().collect();
    let mut without_either = 0;
    let mut told = BTreeSet::new();
    for detected in lacking {
        let row = &detected.row;
        // A row that serves one root needs no word about the files outside of it.
        if found.contains(&row.id) || !told.insert(row.id.clone()) {
            continue;
        }
        // A row that names no marker can have none here, and has to say so.
        let is_whole = !row.markers().is_empty();
        if is_whole && detected.root.is_none() && detected.program.is_none() {
            without_either += 1;
            continue;
        }
        let root = detected.root.as_ref();
        servers.push(ServerStatus {
            id: row.id.clone(),
            root: root.map(|root| supervisor.workspace().display(&root.folder)),
            state: "unusable",
            reason: detected.lack(),
            command: detected
                .program
                .map(|program| program.path.display().to_string()),
            linter: row.slot == RowSlot::Linter,
            unverified: row.unverified,
            ..ServerStatus::default()
        });
    }
    servers.extend(disabled(supervisor, cancel));
    StatusReport {
        servers,
        without_either,
        unseen_files: inner.n_unseen(),
    }
}

/// The disabled rows that have a marker or a file of their language here.
fn disabled(supervisor: &Supervisor, cancel: &Cancel) -> Vec<ServerStatus> {
    let inner = supervisor.inner();
    let mut rows = inner.disabled();
    if rows.is_empty() {
        return Vec::new();
    }
    let files = files(supervisor, &rows, cancel);
    rows.retain(|row| {
        let here = supervisor.workspace().root();
        let is_served = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            row.language_of(&name).is_some()
        };
        inner.detector().detect(row, here).root.is_some() || files.iter().any(is_served)
    });
    let status = |row: &Arc<ServerRow>| ServerStatus {
        id: row.id.clone(),
        state: "disabled",
        reason: Some("the configuration leaves it out".to_owned()),
        linter: row.slot == RowSlot::Linter,
        unverified: row.unverified,
        ..ServerStatus::default()
    };
    rows.iter().map(status).collect()
}

/// Stops every server of this run, forgets refusals and crashes, and starts those again that ran or had
/// refused, with their documents (D5).
pub fn reload(supervisor: &Supervisor, cancel: &Cancel) -> ReloadReport {
    let inner = supervisor.inner();
    inner.forget_probes();
    let slots: Vec<_> = inner
        .lock()
        .iter()
        .map(|(key, slot)| (key.clone(), Arc::clone(slot)))
        .collect();
    let mut servers = Vec::new();
    for (key, slot) in slots {
        let (standing, _) = slot.standing();
        if matches!(standing, Standing::Stopped) {
            continue;
        }
        let documents = match &standing {
            Standing::Up(server) => server.open_documents(),
            Standing::Stopped
            | Standing::Starting(_)
            | Standing::Refused(_)
            | Standing::Broken(_)
            | Standing::Crashed(_) => Vec::new(),
        };
        if let Some(server) = slot.take() {
            server.shut_down();
        }
        slot.forgive();
        let started = inner.restart(&key, documents.first().map(PathBuf::as_path), cancel);
        servers.push(Reloaded {
            root: supervisor.workspace().display(&key.root),
            id: key.id,
            documents: started
                .as_ref()
                .map_or(0, |server| server.open_documents().len()),
            state: if started.is_ok() { "running" } else { "failed" },
            reason: started.err(),
        });
    }
    ReloadReport { servers }
}

/// Returns what was found of every row: for each folder with a file that it serves, and for the root of
/// the workspace where there is none.
fn samples(supervisor: &Supervisor, cancel: &Cancel) -> Vec<Detected> {
    let detector = supervisor.inner().detector();
    let files = files(supervisor, &detector.rows, cancel);
    let mut found: BTreeMap<(String, Option<PathBuf>), Detected> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for row in &detector.rows {
            if row.language_of(&name).is_none()
                || !seen.insert((row.id.clone(), file.parent().map(Path::to_path_buf)))
            {
                continue;
            }
            let detected = detector.detect(row, file);
            let root = detected.root.as_ref().map(|root| root.folder.clone());
            found.entry((row.id.clone(), root)).or_insert(detected);
        }
    }
    let here = supervisor.workspace().root();
    for row in &detector.rows {
        if !found.keys().any(|(id, _)| *id == row.id) {
            let detected = detector.detect(row, here);
            found.insert((row.id.clone(), None), detected);
        }
    }
    found.into_values().collect()
}

/// The files of the workspace that any of these servers serves, sorted and bounded.
fn files(supervisor: &Supervisor, rows: &[Arc<ServerRow>], cancel: &Cancel) -> Vec<PathBuf> {
    let workspace = supervisor.workspace();
    let mut roots = vec![workspace.root().to_path_buf()];
    roots.extend(workspace.extra_roots().iter().cloned());
    let served = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        rows.iter().any(|row| row.language_of(&name).is_some())
    };
    let mut files = walk(&roots, &WalkOptions::default(), &served, cancel)
        .map(|walked| walked.files)
        .unwrap_or_default();
    files.truncate(limits::LSP_SCANNED_FILES);
    files
}

impl Supervisor {
    /// Returns one file of every project that a server could answer for, sorted: those whose servers run
    /// first.
    pub fn projects(&self, cancel: &Cancel) -> Vec<PathBuf> {
        let detector = self.inner().detector();
        let mut projects: BTreeMap<Key, PathBuf> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for file in files(self, &detector.rows, cancel) {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_owned());
            if !seen.insert((ending, file.parent().map(Path::to_path_buf))) {
                continue;
            }
            let found = detector.for_file(&file);
            let first = found.iter().find(|detected| {
                detected.row.slot == RowSlot::Primary && detected.both().is_some()
            });
            if let Some((detected, root)) = first.and_then(|it| Some((it, it.root.as_ref()?))) {
                let key = Key {
                    id: detected.row.id.clone(),
                    root: root.folder.clone(),
                };
                projects.entry(key).or_insert(file);
            }
        }
        let max = self.options().max_servers.max(1);
        projects.into_values().take(max).collect()
    }
}

fn kept(supervisor: &Supervisor) -> BTreeMap<Key, ServerStatus> {
    let slots: Vec<_> = supervisor
        .inner()
        .lock()
        .iter()
        .map(|(key, slot)| (key.clone(), Arc::clone(slot)))
        .collect();
    let rows = slots.into_iter().map(|(key, slot)| {
        let (standing, n_restarts) = slot.standing();
        let mut status = standing_of(supervisor, &key, &standing);
        status.restarts = Some(n_restarts);
        (key, status)
    });
    rows.collect()
}

fn standing_of(supervisor: &Supervisor, key: &Key, standing: &Standing) -> ServerStatus {
    let mut status = ServerStatus {
        id: key.id.clone(),
        root: Some(supervisor.workspace().display(&key.root)),
        ..ServerStatus::default()
    };
    match standing {
        Standing::Stopped => status.state = "available",
        Standing::Starting(since) => {
            status.state = "starting";
            status.reason = Some(format!("for {}", Seconds(since.elapsed())));
        }
        Standing::Up(server) => running(server, &mut status),
        Standing::Refused(why) => {
            status.state = "refused";
            status.reason = Some(format!("{why}; `reload` tries again"));
        }
        Standing::Broken(why) => {
            status.state = "broken";
            status.reason = Some(why.clone());
        }
        Standing::Crashed(why) => {
            status.state = "crashed";
            status.reason = Some(format!("{why}; the next question starts it again"));
        }
    }
    status
}

fn running(server: &Server, status: &mut ServerStatus) {
    let launch = server.launch();
    status.state = "running";
    status.reason = Some(launch.why());
    status.command = Some(launch.command());
    status.pid = Some(server.pid());
    status.encoding = Some(server.encoding().as_str());
    status.diagnostics = Some(if server.pulls() { "pull" } else { "push" });
    status.open_documents = Some(server.n_open());
    status.progress = Some(match server.readiness() {
        Readiness::Ready => "ready".to_owned(),
        Readiness::Incomplete(why) | Readiness::Limited(why) => why,
    });
    status.uptime_s = Some(server.started().elapsed().as_secs());
    status.version = server.version();
    status.health = server.complaint().or_else(|| {
        let messages = server.messages();
        let error = messages.iter().rev().find(|message| message.level == 1);
        error.map(|message| message.text.lines().next().unwrap_or_default().to_owned())
    });
    status.stderr = server
        .stderr_tail()
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .map(|line| crate::text::clip(line.trim(), limits::LINE_CHARS).into_owned());
    status.linter = server.row().slot == RowSlot::Linter;
    status.unverified = server.row().unverified;
}

/// Adds what is known of a server without a process.
fn complete(
    supervisor: &Supervisor,
    inner: &Inner,
    detected: &Detected,
    status: &mut ServerStatus,
    cancel: &Cancel,
) {
    let Some((root, program)) = detected.both() else {
        return;
    };
    let row = &detected.row;
    status.id.clone_from(&row.id);
    status.root = Some(supervisor.workspace().display(&root.folder));
    status.linter = row.slot == RowSlot::Linter;
    status.unverified = row.unverified;
    if status.state == "running" {
        return;
    }
    let mut command = vec![program.path.display().to_string()];
    command.extend(program.args.iter().cloned());
    status.command = Some(command.join(" "));
    if row.files.is_empty() {
        status.state = "unusable";
        let why = format!(
            "it serves no files: set `languages` of `lsp.server.{}`",
            row.id
        );
        status.reason = Some(why);
    } else if matches!(status.state, "" | "available") {
        match inner.preview(detected, cancel) {
            Err(why) => {
                status.state = "unusable";
                status.reason = Some(why);
            }
            Ok((launch, version)) => {
                status.state = "available";
                status.reason = Some(format!("not started; {}", launch.why()));
                status.command = Some(launch.command());
                status.version = version;
                // What describes the project by itself needs no build tool.
                let is_built = root.marker != "rust-project.json";
                let lack = is_built.then(|| lacks_tool(row, &launch.environment()));
                status.health = lack.flatten();
            }
        }
    }
}

/// What is longer than this is not said again for the next root of the same server.
const REPEATED_CHARS: usize = 60;

/// Shows what a server says: further lines stand below the first.
fn shown(text: &str, above: Option<&String>) -> String {
    match above {
        Some(above) if above == text && text.chars().count() > REPEATED_CHARS => {
            "the same as above".to_owned()
        }
        _ => text.trim_end().replace('\n', "\n    "),
    }
}

impl fmt::Display for StatusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.servers.is_empty() {
            writeln!(
                f,
                "no language server: neither a root marker nor a binary of any of the {} known servers",
                self.without_either
            )?;
            return Ok(());
        }
        for (server_idx, server) in self.servers.iter().enumerate() {
            let above = server_idx.checked_sub(1).map(|above| &self.servers[above]);
            let above = above.filter(|above| above.id == server.id);
            write!(f, "{}", server.id)?;
            if let Some(root) = &server.root {
                write!(f, " ({root})")?;
            }
            write!(f, ": {}", server.state)?;
            if server.linter {
                f.write_str(", linter")?;
            }
            if let Some(reason) = &server.reason {
                let above = above.and_then(|above| above.reason.as_ref());
                write!(f, ": {}", shown(reason, above))?;
            }
            writeln!(f)?;
            if let Some(pid) = server.pid {
                let of =
                    |field: &Option<String>| field.clone().unwrap_or_else(|| "unknown".to_owned());
                writeln!(
                    f,
                    "  {}, pid {pid}, version {}",
                    of(&server.command),
                    of(&server.version)
                )?;
                writeln!(
                    f,
                    "  {}, {}, {} open, restarted {}, up {} s; {}",
                    server.encoding.unwrap_or_default(),
                    server.diagnostics.unwrap_or_default(),
                    server.open_documents.unwrap_or_default(),
                    counted(server.restarts.unwrap_or_default(), "time"),
                    server.uptime_s.unwrap_or_default(),
                    of(&server.progress),
                )?;
            } else if let Some(command) = &server.command
                && server.state != "unusable"
            {
                writeln!(f, "  {command}")?;
            }
            if let Some(health) = &server.health {
                let above = above.and_then(|above| above.health.as_ref());
                writeln!(f, "  health: {}", shown(health, above))?;
            }
            if let Some(line) = &server.stderr {
                writeln!(f, "  stderr: {line}")?;
            }
        }
        if self.unseen_files > 0 {
            writeln!(
                f,
                "changes are looked for in {} files; {} more are not looked at unless they are open",
                limits::LSP_SCANNED_FILES,
                self.unseen_files
            )?;
        }
        if self.without_either > 0 {
            writeln!(
                f,
                "{} more have neither a root marker nor a binary here",
                self.without_either
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for ReloadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.servers.is_empty() {
            return writeln!(
                f,
                "no server was running; the next question starts what it needs"
            );
        }
        for server in &self.servers {
            write!(f, "{} ({}): {}", server.id, server.root, server.state)?;
            match &server.reason {
                Some(reason) => writeln!(f, ": {reason}")?,
                None => {
                    let documents = counted(server.documents, "document");
                    writeln!(f, ", {documents} opened again")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
