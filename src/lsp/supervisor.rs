//! The language servers of one run: started when a file needs one, restarted when they crash, stopped when
//! nobody asks them any more.
//!
//! A server is named by its row and its root. It is started on a thread of its own, so that a caller who
//! gives up does not take the start with it, and nobody who wants another server waits. A server that
//! refuses to start stays refused until `reload` or until its program changes; one that crashes is started
//! again after a pause, three times in five minutes.

mod changes;
mod settings;
mod slot;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender};

use crate::cancel::Cancel;
use crate::child::{Env, Processes};
use crate::limits;
use crate::lsp::client::{FileChange, Launch, Server, Timeouts};
use crate::lsp::detect::{Detected, Detector};
use crate::lsp::error::{Reason, Unusable};
use crate::lsp::servers::{self, Ready, ServerRow, Slot as RowSlot};
use crate::lsp::supervisor::changes::{Look, Snapshot};
use crate::lsp::supervisor::slot::Slot;
pub(crate) use crate::lsp::supervisor::slot::Standing;
use crate::workspace::Workspace;

/// How a run holds its language servers.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rows of the host: one with the id of a built-in row replaces it, another comes before all.
    pub rows: Vec<ServerRow>,
    /// Ids of rows that are not used.
    pub disabled: Vec<String>,
    /// Whether binaries that a project brings along may be run.
    pub project_binaries: bool,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// How long a server without questions is kept.
    pub idle: Duration,
    /// How many servers are kept.
    pub max_servers: usize,
    /// The pauses before a crashed server is started again; as many crashes in [`Self::crash_window`] make
    /// it broken.
    pub restarts: Vec<Duration>,
    /// See [`Self::restarts`].
    pub crash_window: Duration,
}

/// The language servers of one run; clones share them.
#[derive(Clone)]
pub struct Supervisor(Arc<Inner>);

pub(crate) struct Inner {
    processes: Processes,
    options: Options,
    detector: Detector,
    slots: Mutex<BTreeMap<Key, Arc<Slot>>>,
    snapshot: Mutex<Snapshot>,
    probes: Mutex<slot::Probes>,
    janitor: Mutex<Option<Janitor>>,
    own: Weak<Inner>,
}

/// The thread that stops idle servers; it starts with the first server.
struct Janitor {
    /// Closing it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// A server of a row for a root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) root: PathBuf,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: limits::LSP_START,
            request: limits::LSP_REQUEST,
            ready: limits::LSP_READY,
            shutdown: limits::LSP_SHUTDOWN,
            stall: limits::LSP_STALL,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            disabled: Vec::new(),
            project_binaries: true,
            timeouts: Timeouts::default(),
            idle: limits::LSP_IDLE,
            max_servers: limits::LSP_SERVERS,
            restarts: limits::LSP_RESTARTS.to_vec(),
            crash_window: limits::LSP_CRASH_WINDOW,
        }
    }
}

impl Supervisor {
    /// Makes the supervisor of a run. Servers get exactly the environment `env`; its `PATH` is where they
    /// are looked for.
    pub fn new(workspace: Workspace, processes: Processes, env: Env, options: Options) -> Self {
        let detector = Detector {
            workspace,
            rows: table(&options),
            env,
            project_binaries: options.project_binaries,
        };
        Self(Arc::new_cyclic(|own: &Weak<Inner>| Inner {
            processes,
            options,
            detector,
            slots: Mutex::default(),
            snapshot: Mutex::default(),
            probes: Mutex::default(),
            janitor: Mutex::default(),
            own: own.clone(),
        }))
    }

    /// Returns the workspace of the run.
    pub fn workspace(&self) -> &Workspace {
        &self.0.detector.workspace
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Returns the server that answers for a file, started where it was not; it has answered `initialize`.
    pub fn server_for(&self, path: &Path, cancel: &Cancel) -> Result<Arc<Server>, Unusable> {
        let mut reasons = Vec::new();
        for detected in self.0.candidates(path, RowSlot::Primary) {
            match self.0.server(&detected, cancel) {
                Ok(server) => return Ok(server),
                Err(why) => reasons.push(Reason {
                    server: detected.row.id.clone(),
                    why,
                }),
            }
            if cancel.is_cancelled() {
                break;
            }
        }
        Err(Unusable {
            path: path.to_path_buf(),
            reasons,
            cancelled: cancel.is_cancelled(),
        })
    }

    /// Returns the linters of a file that start, besides the server that answers for it.
    pub fn linters_for(&self, path: &Path, cancel: &Cancel) -> Vec<Arc<Server>> {
        self.0
            .candidates(path, RowSlot::Linter)
            .iter()
            .filter_map(|detected| self.0.server(detected, cancel).ok())
            .collect()
    }

    /// Returns the servers and linters of a file that run already, the one that answers first. Nothing is
    /// started and nothing is waited for.
    pub fn running_for(&self, path: &Path) -> Vec<Arc<Server>> {
        let of = |slot| {
            let detected = self.0.candidates(path, slot);
            let running = detected.iter().filter_map(|detected| {
                let (root, _) = detected.both()?;
                let slot = self.0.slot_if_there(&detected.row.id, &root.folder)?;
                slot.running()
            });
            running.collect::<Vec<_>>()
        };
        let mut servers = of(RowSlot::Primary);
        // One server answers for a language.
        servers.truncate(1);
        servers.extend(of(RowSlot::Linter));
        servers
    }

    /// Tells whether any server or linter could speak of a file: marker and binary are there. Nothing is
    /// started.
    pub fn serves(&self, path: &Path) -> bool {
        let found = self.0.detector.for_file(path);
        found.iter().any(|detected| detected.both().is_some())
    }

    /// Starts the servers of a file in the background, if they do not run; returns at once.
    pub fn warm_up(&self, path: &Path) {
        let primary = self.0.candidates(path, RowSlot::Primary);
        let linters = self.0.candidates(path, RowSlot::Linter);
        let first = primary.iter().find(|detected| detected.both().is_some());
        for detected in first.into_iter().chain(&linters) {
            self.0.begin(detected);
        }
    }

    /// Returns every server that runs, sorted by id and root.
    pub fn servers(&self) -> Vec<Arc<Server>> {
        let slots: Vec<Arc<Slot>> = self.0.lock().values().cloned().collect();
        slots.iter().filter_map(|slot| slot.running()).collect()
    }

    /// Finds the files that changed on disk since the last look, by anyone, and tells the servers: open
    /// documents are synced, the others hear which watched files changed. Returns why closed files were
    /// not looked at, if they were not.
    pub fn refresh(&self, cancel: &Cancel) -> Option<String> {
        let servers = self.servers();
        let Look { changes, stale } = self.0.changes();
        for server in &servers {
            let mut changed = server.sync_open();
            let is_closed = |(path, _): &&(PathBuf, FileChange)| {
                path.starts_with(server.root()) && server.document(path).is_none()
            };
            // What is open is known; the run's own writes are among that.
            let is_stirred = !changed.is_empty() || changes.iter().any(|it| is_closed(&it));
            if server.is_watching() {
                // A server that is gone hears of nothing.
                let _ = server.watched_files(&changes);
                forgive(server, &changes);
                if server.row().ready == Ready::Quiescent {
                    present_changed(server, &changes);
                }
                if changes.iter().any(|(path, _)| is_description(server, path)) {
                    server.reload_project(cancel);
                }
            } else {
                changed.extend(open_changed(server, &changes));
            }
            if is_stirred {
                server.stir();
            }
            server.renew(&changes);
            server.absorb(&changed, cancel);
        }
        stale
    }

    /// Ends the servers that were started with other settings than there are now. The next question starts
    /// them again, with what they had open.
    pub fn stop_outdated(&self) {
        let slots: Vec<Arc<Slot>> = self.0.lock().values().cloned().collect();
        let outdated = slots.iter().filter(|slot| slot.is_outdated());
        end(outdated.filter_map(|slot| slot.take()).collect());
    }

    /// Tells all servers that run that files changed on disk.
    pub fn files_changed(&self, changes: &[(PathBuf, FileChange)]) {
        for server in self.servers() {
            // A server that is gone hears of nothing.
            let _ = server.watched_files(changes);
            forgive(&server, changes);
            server.stir();
            server.renew(changes);
            if let [(path, _)] = changes {
                // What is said of the one file that changed, and was given to the server, is no older.
                server.settle_stir(path);
            }
        }
    }

    /// Ends every server. The next question starts them again.
    pub fn stop_all(&self) {
        let slots: Vec<Arc<Slot>> = std::mem::take(&mut *self.0.lock()).into_values().collect();
        end(slots.iter().filter_map(|slot| slot.take()).collect());
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervisor")
            .field("root", &self.workspace().root())
            .field("servers", &self.servers().len())
            .finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn detector(&self) -> &Detector {
        &self.detector
    }

    /// Returns the rows that are not used.
    pub(crate) fn disabled(&self) -> Vec<Arc<ServerRow>> {
        let mut rows = rows(&self.options);
        rows.retain(|row| self.options.disabled.contains(&row.id));
        rows.into_iter().map(Arc::new).collect()
    }

    fn candidates(&self, path: &Path, slot: RowSlot) -> Vec<Detected> {
        let mut found = self.detector.for_file(path);
        found.retain(|detected| detected.row.slot == slot);
        found
    }

    pub(crate) fn slot_if_there(&self, id: &str, root: &Path) -> Option<Arc<Slot>> {
        let key = Key {
            id: id.to_owned(),
            root: root.to_path_buf(),
        };
        self.lock().get(&key).cloned()
    }

    /// Returns the slot of a detected server with what starting it needs; says what is missing otherwise.
    fn slot(&self, detected: &Detected) -> Result<(Arc<Slot>, Launch), String> {
        let (key, launch) = self.slot_of(detected)?;
        let slot = Arc::clone(self.lock().entry(key).or_default());
        Ok((slot, launch))
    }

    fn slot_of(&self, detected: &Detected) -> Result<(Key, Launch), String> {
        let Some((root, program)) = detected.both() else {
            return Err(detected.lack().unwrap_or_default());
        };
        let key = Key {
            id: detected.row.id.clone(),
            root: root.folder.clone(),
        };
        let (env, init_options, settings) = self.detector.adapt(&detected.row, &root.folder);
        let launch = Launch {
            row: Arc::clone(&detected.row),
            root: root.folder.clone(),
            program: program.path.clone(),
            args: program.args.clone(),
            origin: program.origin.clone(),
            others: detected.others.clone(),
            passed_over: Vec::new(),
            marker: root.marker.clone(),
            env,
            init_options,
            settings,
            timeouts: self.options.timeouts,
        };
        Ok((key, launch))
    }

    fn server(&self, detected: &Detected, cancel: &Cancel) -> Result<Arc<Server>, String> {
        let (slot, launch) = self.slot(detected)?;
        if slot.is_outdated() {
            end(slot.take().into_iter().collect());
        }
        if let Some(server) = slot.running() {
            if !self.is_wedged(&server, cancel) {
                server.touch();
                return Ok(server);
            }
            slot.give_up(&server, "it answers nothing any more");
        }
        let launch = self.runnable(launch, cancel)?;
        self.first_look();
        self.hire_janitor();
        let server = slot.start(self, launch, cancel)?;
        self.keep_to_the_cap(&server);
        Ok(server)
    }

    /// Starts the server of a slot again, for `reload`; `file` is one that it had open.
    pub(crate) fn restart(
        &self,
        key: &Key,
        file: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Arc<Server>, String> {
        let row = self.detector.rows.iter().find(|row| row.id == key.id);
        let row = row.ok_or("its row is gone")?;
        let detected = self.detector.detect(row, file.unwrap_or(&key.root));
        self.server(&detected, cancel)
    }

    /// Returns how a detected server would be started, with the version that its program gives where that
    /// is asked; says why it cannot be otherwise.
    pub(crate) fn preview(
        &self,
        detected: &Detected,
        cancel: &Cancel,
    ) -> Result<(Launch, Option<String>), String> {
        let (_, launch) = self.slot_of(detected)?;
        let launch = self.runnable(launch, cancel)?;
        let version = self.probed(&launch, cancel).and_then(Result::ok);
        Ok((launch, version))
    }

    fn begin(&self, detected: &Detected) {
        if let Ok((slot, launch)) = self.slot(detected)
            && slot.running().is_none()
        {
            slot.begin(self, launch);
        }
    }

    /// Whether a server that let requests time out does not answer the simplest one either.
    fn is_wedged(&self, server: &Server, cancel: &Cancel) -> bool {
        server.is_suspect()
            && !server.answers(Instant::now() + self.options.timeouts.shutdown, cancel)
            && !cancel.is_cancelled()
    }

    /// Stops the least recently used servers over the cap, never `keep`.
    fn keep_to_the_cap(&self, keep: &Arc<Server>) {
        let mut running: Vec<(Instant, Arc<Slot>)> = {
            let slots = self.lock();
            let running = slots.values().filter_map(|slot| {
                let server = slot.running()?;
                (!Arc::ptr_eq(&server, keep)).then(|| (server.used(), Arc::clone(slot)))
            });
            running.collect()
        };
        running.sort_by_key(|(used, _)| *used);
        let n_over = (running.len() + 1).saturating_sub(self.options.max_servers.max(1));
        let over = running.into_iter().take(n_over);
        end(over.filter_map(|(_, slot)| slot.take()).collect());
    }

    /// Starts the thread that stops idle servers, where there is none yet. Without it, which a system out
    /// of threads forces, they live as long as the run.
    fn hire_janitor(&self) {
        let mut janitor = self.janitor.lock().unwrap_or_else(PoisonError::into_inner);
        if janitor.is_some() {
            return;
        }
        let (stop, stopped) = crossbeam_channel::bounded::<()>(0);
        let period = self.options.idle / 4;
        let period = period.clamp(Duration::from_millis(20), Duration::from_secs(30));
        let own = self.own.clone();
        let thread = std::thread::Builder::new()
            .name("lsp-idle".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                    let Some(inner) = own.upgrade() else { return };
                    inner.stop_idle();
                }
            });
        *janitor = thread.ok().map(|thread| Janitor { stop, thread });
    }

    fn stop_idle(&self) {
        let idle: Vec<Arc<Slot>> = {
            let slots = self.lock();
            let is_idle = |slot: &&Arc<Slot>| {
                slot.running()
                    .is_some_and(|server| server.used().elapsed() >= self.options.idle)
            };
            slots.values().filter(is_idle).cloned().collect()
        };
        end(idle.iter().filter_map(|slot| slot.take()).collect());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let slots: Vec<Arc<Slot>> = std::mem::take(&mut *self.lock()).into_values().collect();
        end(slots.iter().filter_map(|slot| slot.take()).collect());
        let janitor = self
            .janitor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Janitor { stop, thread }) = janitor {
            drop(stop);
            // The janitor itself may have held the last reference.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// Opens the files that changed and that a server serves, because it watches none itself: what is open it
/// knows. Returns which.
fn open_changed(server: &Server, changes: &[(PathBuf, FileChange)]) -> Vec<PathBuf> {
    let is_new = |path: &&Path| server.sync(path).is_ok_and(|synced| synced.changed);
    served(server, changes)
        .filter(is_new)
        .map(Path::to_path_buf)
        .collect()
}

/// Gives a server the files that changed, which it would otherwise read some time after it heard of them.
fn present_changed(server: &Server, changes: &[(PathBuf, FileChange)]) {
    for path in served(server, changes) {
        // One that is gone again, or no text, the server may look at itself.
        let _ = server.present(path);
    }
}

/// What a server wrote about the file that describes its project ends with that file's change.
fn forgive(server: &Server, changes: &[(PathBuf, FileChange)]) {
    if changes.iter().any(|(path, _)| is_marker(server, path)) {
        server.forgive();
    }
}

/// Tells whether a file is one that says what a server's project is.
fn is_marker(server: &Server, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let markers = server.row().markers();
    path.starts_with(server.root()) && markers.iter().any(|marker| name == *marker)
}

/// Tells whether a server must be made to read its project anew where a file changed.
fn is_description(server: &Server, path: &Path) -> bool {
    const PYRIGHT: [&str; 2] = ["pyrightconfig.json", "pyproject.toml"];
    let name = path.file_name().unwrap_or_default();
    match server.row().ready {
        Ready::Quiescent => is_marker(server, path),
        // The other markers of a Python project tell it nothing, nor do those of a folder in it.
        Ready::Listing => {
            path.parent() == Some(server.root()) && PYRIGHT.iter().any(|known| name == *known)
        }
        Ready::Progress
        | Ready::ProgressAfterOpen
        | Ready::BackgroundIndex
        | Ready::Publication => false,
    }
}

/// The files that changed and that a server serves: those that are there, and not too many.
fn served<'a>(
    server: &'a Server,
    changes: &'a [(PathBuf, FileChange)],
) -> impl Iterator<Item = &'a Path> {
    let served = changes.iter().filter(|(path, change)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        *change != FileChange::Deleted
            && path.starts_with(server.root())
            && server.row().language_of(&name).is_some()
    });
    // After a checkout of another branch thousands may have changed.
    let served = served.take(limits::LSP_DOCUMENTS / 2);
    served.map(|(path, _)| path.as_path())
}

/// Ends servers side by side: each may take its time to say goodbye.
fn end(servers: Vec<Arc<Server>>) {
    std::thread::scope(|scope| {
        for server in &servers {
            scope.spawn(|| server.shut_down());
        }
    });
}

/// The rows in the order in which they are tried.
fn table(options: &Options) -> Vec<Arc<ServerRow>> {
    let mut rows = rows(options);
    rows.retain(|row| !options.disabled.contains(&row.id));
    rows.into_iter().map(Arc::new).collect()
}

/// All rows, those of the host first.
fn rows(options: &Options) -> Vec<ServerRow> {
    let mut built_in = servers::built_in();
    let mut rows = Vec::new();
    for row in &options.rows {
        match built_in.iter_mut().find(|known| known.id == row.id) {
            Some(known) => *known = row.clone(),
            None => rows.push(row.clone()),
        }
    }
    rows.extend(built_in);
    rows
}
