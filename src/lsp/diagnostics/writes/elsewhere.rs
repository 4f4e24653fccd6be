//! What a write did to files that were not written: the callers of what it changed.
//!
//! Servers that publish speak of them by themselves. One that speaks only when asked is asked about its
//! whole project where it offers that, and about a few open files otherwise; what nobody speaks of is not
//! told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::place::{doubt, told, trusted};
use super::report::{NewDiagnostic, WriteReport};
use super::watch::{Name, name_of};
use super::{State, Writes};
use crate::cancel::Cancel;
use crate::lsp::client::{Server, ServerState};
use crate::lsp::ledger::Counts;
use crate::lsp::published;
use crate::lsp::servers::Ready;
use crate::lsp::settle::{Settled, is_slow, parsed, settled_already, speaks_up, unreached};

/// How it went when a server was asked about its whole project.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Survey {
    /// Whether it has answered once: what it says later can be compared.
    is_done: bool,
    /// How often in a row it has not.
    n_missed: usize,
}

/// A project that was too large for a survey so often is not surveyed any more.
const SURVEYS_MISSED: usize = 4;

/// Other open files of a server that is asked instead of listened to.
const OTHERS_ASKED: usize = 5;

impl Writes {
    /// A server that speaks only when asked is asked about other files, before a write for what they have
    /// and after it for what they have then: about all of the project where it offers that, about a few
    /// that are open otherwise. One that speaks by itself is waited for until it has looked at those that are
    /// open again since a save. Tells what it did not come to.
    pub(super) fn ask_others(
        &self,
        server: &Server,
        paths: &[PathBuf],
        since: Option<Instant>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Option<String> {
        let mut others = server.recent_documents();
        others.retain(|other| !paths.contains(other));
        if speaks_up(server) {
            return self.take_up(server, &others, since, deadline, cancel);
        }
        others.truncate(OTHERS_ASKED);
        others.retain(|other| server.sync(other).is_ok());
        if !server.pulls() {
            self.ask_again(server, &others, deadline, cancel);
            return None;
        }
        if server.surveys()
            && let Some(is_whole) = self.survey(server, deadline, cancel)
        {
            let missing = || format!("{}: it has not come to the whole project", server.id());
            return (!is_whole).then(missing);
        }
        for other in &others {
            // What it does not answer in time is not told.
            let _ = server.pull(other, deadline, cancel);
        }
        None
    }

    /// Waits until a server that handles each document on a thread of its own has taken a save up in all of
    /// them.
    fn take_up(
        &self,
        server: &Server,
        others: &[PathBuf],
        since: Option<Instant>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Option<String> {
        if server.row().ready != Ready::BackgroundIndex {
            return None;
        }
        others.iter().find_map(|other| {
            // One that is gone is found out by whoever waits for it.
            match parsed(server, other, since, deadline, cancel) {
                Err(Settled::Pending(why)) => {
                    let other = self.supervisor.workspace().display(other);
                    Some(format!("{}: {why} in {other}", server.id()))
                }
                Ok(()) | Err(Settled::Told(_) | Settled::Unavailable(_)) => None,
            }
        })
    }

    /// Asks about the whole project, and tells whether the server came to all of it; nothing where that is not
    /// tried any more.
    fn survey(&self, server: &Server, deadline: Instant, cancel: &Cancel) -> Option<bool> {
        let name = name_of(server);
        let n_missed = |state: &State| state.surveys.get(&name).map_or(0, |survey| survey.n_missed);
        if n_missed(&self.lock()) >= SURVEYS_MISSED {
            return None;
        }
        let is_whole = matches!(server.survey(deadline, cancel), Ok(true));
        let mut state = self.lock();
        let survey = state.surveys.entry(name.clone()).or_default();
        survey.is_done |= is_whole;
        survey.n_missed = match is_whole {
            true => 0,
            false => survey.n_missed + 1,
        };
        if is_whole {
            // A clean project is a first word, too.
            state.heard.insert(name);
        }
        Some(is_whole)
    }

    /// Asks a server that answers in its own way about files that are open. What it publishes of them comes
    /// some time after its answer about the written one.
    fn ask_again(&self, server: &Server, others: &[PathBuf], deadline: Instant, cancel: &Cancel) {
        let name = name_of(server);
        let is_kept = |of: &Name, path: &PathBuf| *of != name || others.contains(path);
        self.lock().asked.retain(|(of, path), _| is_kept(of, path));
        for other in others {
            let is_awaited = |state: &State| {
                let watch = state.watches.get(other);
                watch.is_some_and(|watch| watch.seen(&name).is_none())
            };
            let Some(document) = server.document(other).filter(|_| !is_awaited(&self.lock()))
            else {
                continue;
            };
            let settled = settled_already(server, other, document.version, deadline, cancel);
            let mut state = self.lock();
            let key = (name.clone(), other.clone());
            match (state.watches.contains_key(other), settled) {
                (true, settled) => {
                    drop(state);
                    if let Some(found) = self.told(server, other, settled)
                        && let Some(watch) = self.lock().watches.get_mut(other)
                    {
                        watch.answer(server, found);
                    }
                }
                (false, Settled::Told(items)) => {
                    state.asked.insert(key, items);
                }
                // What it does not answer in time is not told, and nothing is compared with older answers.
                (false, Settled::Pending(_) | Settled::Unavailable(_)) => {
                    state.asked.remove(&key);
                    state.elsewhere.remove(&key);
                }
            }
        }
    }

    /// What a server has said of files so far.
    fn said_by(&self, server: &Server) -> Vec<(PathBuf, Vec<published::Diagnostic>)> {
        if speaks_up(server) || server.pulls() {
            return server.look(|state| {
                let said = state.published().iter();
                said.map(|(path, said)| (path.to_owned(), said.items.clone()))
                    .collect()
            });
        }
        let name = name_of(server);
        let state = self.lock();
        let asked = state.asked.iter().filter(|((of, _), _)| *of == name);
        asked
            .map(|((_, path), items)| (path.clone(), items.clone()))
            .collect()
    }

    /// Takes what a server that is asked has just said of files that the run wrote before as what they had
    /// before the next write: somebody else changed it.
    pub(super) fn absorb(&self, server: &Server, paths: &[PathBuf]) {
        if speaks_up(server) {
            return;
        }
        let watched: Vec<PathBuf> = self.lock().watches.keys().cloned().collect();
        for path in watched.iter().filter(|path| !paths.contains(path)) {
            if server.pulls() {
                self.take_late(path, server);
            }
            let mut state = self.lock();
            let counts = match state.watches.get(path) {
                Some(watch) if watch.waiting.is_empty() => Counts::of(&watch.all()),
                _ => continue,
            };
            self.ledger.observe(path, &counts);
            state.known.insert(path.clone(), counts);
        }
    }

    /// Notes what other files have by the word of some servers, unless something about them is still on its way.
    pub(super) fn look_elsewhere(&self, paths: &[PathBuf], is_asked: &dyn Fn(&Server) -> bool) {
        if self.is_pending() {
            return;
        }
        let servers = self.supervisor.servers();
        for server in servers.iter().filter(|server| is_asked(server)) {
            // Nor does what it is about to say belong to the next write.
            let is_late = self.lock().late.contains(&name_of(server));
            if is_late || server.look(ServerState::is_diagnosing) {
                continue;
            }
            let said = self.said_by(server);
            let mut state = self.lock();
            // What it has said by now was there before the write.
            if !said.is_empty() {
                state.heard.insert(name_of(server));
            }
            for (path, items) in said {
                if !paths.contains(&path) && !state.watches.contains_key(&path) {
                    let counts = Counts::of_published(trusted(server, &items));
                    let key = (name_of(server), path);
                    let known = state.elsewhere.get(&key);
                    let counts = kept(server, &key.1, known, counts);
                    if known == Some(&counts) {
                        continue;
                    }
                    let path = key.1.clone();
                    state.elsewhere.insert(key, counts);
                    // What is gone is new when it comes back, whoever mended it.
                    let said = state
                        .elsewhere
                        .iter()
                        .filter(|((_, other), _)| *other == path);
                    let all = said.fold(Counts::default(), |all, (_, counts)| all.or(counts));
                    self.ledger.observe(&path, &all);
                }
            }
        }
    }

    /// What the servers have published about files that the run did not write.
    pub(super) fn evaluate_elsewhere(
        &self,
        watched: &[PathBuf],
        surveys: &BTreeMap<Name, Survey>,
        report: &mut WriteReport,
    ) {
        if watched.is_empty() {
            return;
        }
        for server in self.supervisor.servers() {
            let mut said = self.said_by(&server);
            said.retain(|(path, items)| {
                !watched.contains(path) && doubt(&server, path, items).is_none()
            });
            self.forget_clean(&server, &said, watched);
            // What a first survey finds in files that it had not come to before may be old.
            let has_baseline = |survey: &Survey| survey.is_done;
            let is_unsurveyed =
                server.surveys() && !surveys.get(&name_of(&server)).is_some_and(has_baseline);
            // The first words of a server are about everything that was ever wrong.
            let is_first = self.lock().heard.insert(name_of(&server));
            for (path, items) in said {
                let counts = Counts::of_published(trusted(&server, &items));
                let key = (name_of(&server), path.clone());
                let before = {
                    let mut state = self.lock();
                    let before = state.elsewhere.get(&key).cloned();
                    let kept = kept(&server, &path, before.as_ref(), counts.clone());
                    state.elsewhere.insert(key, kept);
                    before
                };
                // The first words about a file that a query opened are about what it always had. A compiler
                // looks at files that nobody opened, too: what it is silent about had nothing.
                let is_opened = !is_slow(&server) && server.document(&path).is_some();
                let before = match before {
                    Some(before) => before,
                    None if is_opened || is_unsurveyed => continue,
                    None => Counts::default(),
                };
                if is_first || before == counts {
                    continue;
                }
                let now = told(self.supervisor.workspace(), &server, &path, &items);
                let renamed = self.lock().renamed.clone();
                let appeared = self.ledger.newly(&path, &before, &now, &renamed);
                report
                    .elsewhere
                    .extend(appeared.into_iter().map(|appeared| NewDiagnostic {
                        symbol: None,
                        count: appeared.count,
                        diagnostic: appeared.diagnostic,
                    }));
            }
        }
    }

    /// Drops what a server does not say any more of files that it had spoken of: they are clean, and what
    /// was told of them is new when it comes back.
    fn forget_clean(
        &self,
        server: &Server,
        said: &[(PathBuf, Vec<published::Diagnostic>)],
        watched: &[PathBuf],
    ) {
        let name = name_of(server);
        let said: BTreeSet<&PathBuf> = said.iter().map(|(path, _)| path).collect();
        let mut state = self.lock();
        let is_gone = |(of, path): &(Name, PathBuf)| {
            *of == name && !said.contains(path) && !watched.contains(path)
        };
        let gone: Vec<(Name, PathBuf)> = state
            .elsewhere
            .keys()
            // What the compiler does not come to is not clean for that.
            .filter(|key| is_gone(key) && !is_unreached(server, &key.1))
            .cloned()
            .collect();
        for key in gone {
            state.elsewhere.remove(&key);
            let (_, path) = &key;
            if !state.elsewhere.keys().any(|(_, other)| other == path) {
                self.ledger.observe(path, &Counts::default());
            }
        }
    }
}

/// What a file is taken to have: where the compiler need not have come to it, what it had is still there.
fn kept(server: &Server, path: &Path, before: Option<&Counts>, now: Counts) -> Counts {
    match before {
        Some(before) if is_unreached(server, path) => now.or(before),
        _ => now,
    }
}

/// Whether the compiler need not have come to a file.
pub(super) fn is_unreached(server: &Server, path: &Path) -> bool {
    is_slow(server) && unreached(server, path).is_some()
}
