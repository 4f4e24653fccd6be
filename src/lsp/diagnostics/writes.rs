//! What a write broke: the baseline before it, the sync after it, and what is new then (R30 to R35, D6).
//!
//! One value belongs to one run. It knows no tool: it is told which files are about to be written and which
//! were, and is asked afterwards what there is to tell. Every wait has a bound, no lock is held while it
//! waits, and whatever a server does, the worst that happens is that its diagnostics come later or not at
//! all. What was said too late for one result is told with the next.

mod ask;
mod elsewhere;
mod listen;
mod report;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ask::{outline, servers_within, settle_opened};
use elsewhere::Survey;
pub use report::{NewDiagnostic, WriteReport};
use watch::{Name, Waiting, Watch, name_of};

use super::Diagnostic;
use super::place::{doubt, told};
use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::{FileChange, Server};
use crate::lsp::documents::Stamp;
use crate::lsp::ledger::{Appeared, Counts, Ledger, Renamed};
use crate::lsp::published;
use crate::lsp::question::within;
use crate::lsp::servers::Ready;
use crate::lsp::settle::{Mark, Settled, settled_already, speaks_up};
use crate::lsp::supervisor::Supervisor;

/// How long each step may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The baseline, while other writers wait.
    pub baseline: Duration,
    /// The diagnostics after a write, for most servers.
    pub settle: Duration,
    /// The same for a server that runs a compiler.
    pub compiler: Duration,
    /// What is still pending at a later result.
    pub late: Duration,
}

/// The diagnostics of the writes of one run.
#[derive(Debug)]
pub struct Writes {
    supervisor: Supervisor,
    ledger: Ledger,
    bounds: Bounds,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The files that the run wrote.
    watches: BTreeMap<PathBuf, Watch>,
    /// What each of them had when it was looked at last: the baseline of the next look.
    known: BTreeMap<PathBuf, Counts>,
    /// The same for what each server says about other files.
    elsewhere: BTreeMap<(Name, PathBuf), Counts>,
    /// What a server that answers in its own way said when it was asked about files that the run did not write.
    asked: BTreeMap<(Name, PathBuf), Vec<published::Diagnostic>>,
    /// What was about to be written and did not exist.
    absent: BTreeSet<PathBuf>,
    /// The servers whose first words were heard.
    heard: BTreeSet<Name>,
    /// The servers that have looked at their whole project, and how often others have not come to an end.
    surveys: BTreeMap<Name, Survey>,
    /// The servers that had not looked at all that is open when the last result was made.
    late: BTreeSet<Name>,
    /// How the files looked when the run wrote them, or when they were found changed by somebody else.
    stamps: BTreeMap<PathBuf, Option<Stamp>>,
    /// Whether somebody else changed files since the last result of a write.
    is_stirred: bool,
    /// What the next write renames.
    coming: Option<(String, String)>,
    /// What was renamed since what the files have was known for certain.
    renamed: Renamed,
    /// Reasons that were told once.
    told_reasons: BTreeSet<String>,
    /// How many writes each server has let pass without a word.
    silences: BTreeMap<Name, usize>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            baseline: limits::WRITE_BASELINE,
            settle: limits::WRITE_SETTLE,
            compiler: limits::WRITE_SETTLE_COMPILER,
            late: limits::WRITE_SETTLE_LATE,
        }
    }
}

impl Writes {
    /// Makes the watch over the writes of one run.
    pub fn new(supervisor: Supervisor, bounds: Bounds) -> Self {
        Self {
            supervisor,
            ledger: Ledger::default(),
            bounds,
            state: Mutex::default(),
        }
    }

    /// Hears that the next write gives one thing another name.
    pub fn renaming(&self, from: &str, to: &str) {
        self.lock().coming = Some((from.to_owned(), to.to_owned()));
    }

    /// Takes the baseline of files that are about to be written; paths are real ones.
    pub fn before(&self, paths: &[PathBuf]) {
        self.take_names();
        let deadline = Instant::now() + self.bounds.baseline;
        let cancel = Cancel::new();
        let absent: BTreeSet<PathBuf> = paths
            .iter()
            .filter(|path| !path.exists())
            .cloned()
            .collect();
        self.lock().absent.extend(absent.iter().cloned());
        self.supervisor.stop_outdated();
        let has_others = self.notice_others();
        // clangd, which has nothing to load, speaks of what somebody else broke as soon as it hears of that: it is
        // told, as what it may be.
        let looked: Vec<Name> = self
            .supervisor
            .servers()
            .iter()
            .filter(|server| server.row().ready == Ready::BackgroundIndex)
            .map(|server| name_of(server))
            .collect();
        let is_looked = |server: &Server| looked.contains(&name_of(server));
        self.look_elsewhere(paths, &is_looked);
        // What somebody else changed is given to the servers now, so that the result is about what is on disk.
        if has_others {
            within(deadline, &cancel, |stop| self.supervisor.refresh(stop));
        }
        let served = paths.iter().filter(|path| self.supervisor.serves(path));
        for path in served.take(limits::WRITE_OPENED) {
            let watched = self.lock().watches.get(path).cloned();
            let is_whole =
                |watch: &Watch| watch.is_alive() && watch.has(&self.supervisor.running_for(path));
            match watched.filter(is_whole) {
                Some(watch) => self.catch_up(path, &watch, deadline, &cancel),
                None => {
                    let watch = match absent.contains(path) {
                        true => self.begin_empty(path),
                        false => self.begin(path, deadline, &cancel),
                    };
                    self.remember(path, watch);
                }
            }
        }
        for server in self.supervisor.servers() {
            self.ask_others(&server, paths, None, deadline, &cancel);
            self.absorb(&server, paths);
        }
        self.look_elsewhere(paths, &|server| !is_looked(server));
    }

    /// Gives the servers the new texts and tells them of the save (R31). It waits for nothing.
    pub fn after(&self, paths: &[PathBuf]) {
        let absent = std::mem::take(&mut self.lock().absent);
        let mut changes = Vec::new();
        let mut saved: Vec<(Arc<Server>, PathBuf)> = Vec::new();
        for path in paths {
            self.lock().stamps.insert(path.clone(), Stamp::of(path));
            let change = match (path.exists(), absent.contains(path)) {
                (true, true) => FileChange::Created,
                (true, false) => FileChange::Changed,
                (false, _) => FileChange::Deleted,
            };
            changes.push((path.clone(), change));
            if change == FileChange::Deleted {
                self.forget(path);
                continue;
            }
            let watch = self.lock().watches.get(path).cloned();
            let watched: Vec<Arc<Server>> = watch.map(|watch| watch.servers).unwrap_or_default();
            for server in &watched {
                let mark = self.mark(server, path);
                let Ok(synced) = server.sync(path) else {
                    continue;
                };
                let waiting = Waiting {
                    server: Arc::clone(server),
                    mark,
                    version: synced.version,
                };
                if let Some(watch) = self.lock().watches.get_mut(path) {
                    watch.wait_for(waiting);
                }
                saved.push((Arc::clone(server), path.clone()));
            }
            // More files than are watched may have been written; those that are open are kept right.
            let others = self.supervisor.servers().into_iter().filter(|server| {
                let is_watched = watched.iter().any(|known| Arc::ptr_eq(known, server));
                !is_watched && server.document(path).is_some()
            });
            for server in others {
                if server.sync(path).is_ok() {
                    saved.push((server, path.clone()));
                }
            }
        }
        self.supervisor.files_changed(&changes);
        for (server, path) in saved {
            // A server that is gone is found out when its diagnostics are asked for.
            let _ = server.save(&path);
        }
    }

    /// Says what is new after a call that wrote these files, or that wrote none and may tell what is late.
    /// `None` when there is nothing to say. What the call itself lists (`is_listed`) counts as told.
    pub fn report(
        &self,
        written: &[PathBuf],
        is_listed: &dyn Fn(&Diagnostic) -> bool,
        cancel: &Cancel,
    ) -> Option<WriteReport> {
        let began = Instant::now();
        let mut report = WriteReport::default();
        let (paths, surveys) = {
            let state = self.lock();
            let paths: Vec<PathBuf> = state.watches.keys().cloned().collect();
            (paths, state.surveys.clone())
        };
        let mut spoke: BTreeMap<Name, (Arc<Server>, Instant)> = BTreeMap::new();
        for path in &paths {
            let is_written = written.contains(path);
            if is_written {
                self.start_cold(path, began, cancel, &mut report);
            }
            for (server, deadline) in self.listen(path, is_written, began, cancel, &mut report) {
                spoke.insert(name_of(&server), (server, deadline));
            }
        }
        for (server, deadline) in spoke.values() {
            let saved = server.last_save().map(|save| save.at);
            let late = self.ask_others(server, written, saved, *deadline, cancel);
            // What it says of them later is still told as new.
            let late_servers = &mut self.lock().late;
            match late {
                Some(_) => late_servers.insert(name_of(server)),
                None => late_servers.remove(&name_of(server)),
            };
            report.pending.extend(late);
        }
        for path in paths.iter().filter(|path| !written.contains(path)) {
            let speaks = |server: &Server| server.pulls() || speaks_up(server);
            for (server, _) in spoke.values().filter(|(server, _)| speaks(server)) {
                self.take_late(path, server);
            }
        }
        for path in &paths {
            self.evaluate(path, written.contains(path), cancel, &mut report);
        }
        self.evaluate_elsewhere(&paths, &surveys, &mut report);
        let is_pending = self.is_pending();
        let is_stirred = &mut self.lock().is_stirred;
        report.is_stirred = *is_stirred;
        // What comes late may have the same cause.
        *is_stirred &= is_pending || written.is_empty();
        let is_unlisted = |new: &NewDiagnostic| !is_listed(&new.diagnostic);
        report.diagnostics.retain(is_unlisted);
        report.elsewhere.retain(is_unlisted);
        report.close(written);
        report.is_worth_telling().then_some(report)
    }

    /// Takes note of files that somebody else changed. What servers say of other files after a write may come
    /// from that, and when they take it up is theirs. Tells whether there are any.
    fn notice_others(&self) -> bool {
        let touched = self.supervisor.inner().touched();
        let mut state = self.lock();
        let mut has_others = false;
        for path in touched {
            let now = Stamp::of(&path);
            if state.stamps.get(&path) != Some(&now) {
                state.stamps.insert(path, now);
                state.is_stirred = true;
                has_others = true;
            }
        }
        has_others
    }

    /// Tells whether anything that was asked for has not been answered yet.
    pub fn is_pending(&self) -> bool {
        let state = self.lock();
        state
            .watches
            .values()
            .any(|watch| !watch.waiting.is_empty())
    }

    /// What is late may still speak under old names; otherwise the names of now are those of the baseline.
    fn take_names(&self) {
        let is_pending = self.is_pending();
        let mut state = self.lock();
        if !is_pending {
            state.renamed = Renamed::default();
        }
        if let Some((from, to)) = state.coming.take() {
            state.renamed.add(&from, &to);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, server: &Server, path: &Path, settled: Settled) -> Option<Vec<Diagnostic>> {
        match without_doubt(server, path, settled) {
            Settled::Told(items) => Some(told(self.supervisor.workspace(), server, path, &items)),
            Settled::Pending(_) | Settled::Unavailable(_) => None,
        }
    }

    /// The watch over a file that does not exist yet: all that will be wrong with it is new.
    fn begin_empty(&self, path: &Path) -> Watch {
        self.supervisor.warm_up(path);
        Watch {
            servers: self.supervisor.running_for(path),
            ..Watch::default()
        }
    }

    fn begin(&self, path: &Path, deadline: Instant, cancel: &Cancel) -> Watch {
        let mut watch = Watch::default();
        // The server may be starting; its first words then come with the result.
        if !matches!(
            servers_within(&self.supervisor, path, deadline, cancel),
            Some(Ok(()))
        ) {
            self.supervisor.warm_up(path);
            watch.is_unsure = true;
            return watch;
        }
        watch.servers = self.supervisor.running_for(path);
        for server in watch.servers.clone() {
            let mark = Mark::of(&server, path);
            let deadline = self.patience(&server, Instant::now(), deadline);
            let settled = match server.sync(path) {
                Ok(synced) if synced.changed => {
                    settle_opened(&server, path, &mark, synced.version, deadline, cancel)
                }
                Ok(synced) => settled_already(&server, path, synced.version, deadline, cancel),
                Err(err) => Settled::Unavailable(err.to_string()),
            };
            match self.told(&server, path, settled) {
                Some(found) => {
                    watch.answer(&server, found);
                    self.lock().heard.insert(name_of(&server));
                }
                None => watch.is_unsure = true,
            }
        }
        watch
    }

    /// Somebody else may have changed a file that the run wrote before; that is no news of this write.
    fn catch_up(&self, path: &Path, watch: &Watch, deadline: Instant, cancel: &Cancel) {
        for server in &watch.servers {
            let mark = Mark::of(server, path);
            let Ok(synced) = server.sync(path) else {
                continue;
            };
            if !synced.changed {
                continue;
            }
            let deadline = self.patience(server, Instant::now(), deadline);
            let settled = settle_opened(server, path, &mark, synced.version, deadline, cancel);
            let Some(found) = self.told(server, path, settled) else {
                continue;
            };
            let mut state = self.lock();
            if let Some(watch) = state.watches.get_mut(path) {
                watch.answer(server, found);
                let counts = Counts::of(&watch.all());
                self.ledger.observe(path, &counts);
                state.known.insert(path.to_owned(), counts);
            }
        }
    }

    fn remember(&self, path: &Path, watch: Watch) {
        let counts = Counts::of(&watch.all());
        let mut state = self.lock();
        if !watch.is_unsure {
            self.ledger.observe(path, &counts);
        }
        state.known.insert(path.to_owned(), counts);
        state.watches.insert(path.to_owned(), watch);
    }

    fn forget(&self, path: &Path) {
        for server in self.supervisor.servers() {
            server.close(path);
        }
        let mut state = self.lock();
        state.watches.remove(path);
        state.known.remove(path);
        state.elsewhere.retain(|(_, other), _| other != path);
        state.asked.retain(|(_, other), _| other != path);
        self.ledger.observe(path, &Counts::default());
    }

    fn evaluate(&self, path: &Path, is_written: bool, cancel: &Cancel, report: &mut WriteReport) {
        let appeared;
        let is_unsure;
        let primary;
        {
            let mut state = self.lock();
            let state = &mut *state;
            let Some(watch) = state.watches.get_mut(path) else {
                return;
            };
            let now = watch.all();
            let known = state.known.entry(path.to_owned()).or_default();
            appeared = self.ledger.newly(path, known, &now, &state.renamed);
            *known = Counts::of(&now);
            is_unsure = watch.is_unsure;
            if watch.waiting.is_empty() && !watch.servers.is_empty() {
                watch.is_unsure = false;
            }
            if is_written {
                report.note(&now, watch);
            }
            primary = watch.servers.first().cloned();
        }
        if appeared.is_empty() {
            return;
        }
        report.is_unsure |= is_unsure;
        let outline = primary.map(|server| outline(&server, path, cancel));
        let symbol = |appeared: &Appeared| {
            let outline = outline.as_ref()?;
            outline.around(appeared.diagnostic.line).map(str::to_owned)
        };
        report
            .diagnostics
            .extend(appeared.into_iter().map(|appeared| NewDiagnostic {
                symbol: symbol(&appeared),
                count: appeared.count,
                diagnostic: appeared.diagnostic,
            }));
    }
}

/// Takes what need not be so for what is not known: a write is not blamed for it.
fn without_doubt(server: &Server, path: &Path, settled: Settled) -> Settled {
    match settled {
        Settled::Told(items) => match doubt(server, path, &items) {
            Some(why) => Settled::Unavailable(why),
            None => Settled::Told(items),
        },
        Settled::Pending(_) | Settled::Unavailable(_) => settled,
    }
}
