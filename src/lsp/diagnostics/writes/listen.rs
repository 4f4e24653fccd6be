//! Hearing what the servers say after a write: who is waited for, how long, and what is told where nobody speaks.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::place::{doubt, told};
use super::elsewhere::is_unreached;
use super::watch::{Waiting, name_of};
use super::{WriteReport, Writes, servers_within, without_doubt};
use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::settle::{Mark, Settled, is_slow, settle, speaks_up};

impl Writes {
    /// Takes note of what a server had said before it is given a newer text, and whether it owes a word on the
    /// one before.
    pub(super) fn mark(&self, server: &Server, path: &Path) -> Mark {
        let mark = Mark::of(server, path);
        let name = name_of(server);
        let state = self.lock();
        let watch = state.watches.get(path);
        let mut waiting = watch.into_iter().flat_map(|watch| &watch.waiting);
        match waiting.find(|waiting| name_of(&waiting.server) == name) {
            Some(waiting) => {
                let said = server.look(|state| Some(state.published().of(path)?.generation));
                mark.after(&waiting.mark, said)
            }
            None => mark,
        }
    }

    /// Until when a server is waited for: one that stayed silent again and again is not given the time of those
    /// that answer. What it says after all is told with a later result.
    pub(super) fn patience(&self, server: &Server, began: Instant, deadline: Instant) -> Instant {
        let n_silent = self.lock().silences.get(&name_of(server)).copied();
        match n_silent.unwrap_or_default() >= limits::WRITE_SILENCES {
            true => deadline.min(began + limits::WRITE_SETTLE_SILENT),
            false => deadline,
        }
    }

    /// A server that works says so, and is not silent.
    fn count_silence(&self, waiting: &Waiting, settled: &Settled) {
        let server = &waiting.server;
        let has_spoken = server.look(|state| {
            state.published().generation() > waiting.mark.generation()
                || !state.progress().is_empty()
        });
        let silences = &mut self.lock().silences;
        match settled {
            Settled::Pending(_) if !has_spoken => {
                *silences.entry(name_of(server)).or_default() += 1
            }
            _ => {
                silences.remove(&name_of(server));
            }
        }
    }

    /// Starts the server of a written file that had none before the write.
    pub(super) fn start_cold(
        &self,
        path: &Path,
        began: Instant,
        cancel: &Cancel,
        report: &mut WriteReport,
    ) {
        let is_cold = self
            .lock()
            .watches
            .get(path)
            .is_some_and(|watch| watch.servers.is_empty() && !watch.is_given_up);
        if !is_cold {
            return;
        }
        match servers_within(&self.supervisor, path, began + self.bounds.settle, cancel) {
            Some(Ok(())) => {}
            Some(Err(unusable)) => {
                let mut state = self.lock();
                if let Some(watch) = state.watches.get_mut(path) {
                    watch.is_given_up = true;
                }
                let servers = unusable.reasons.iter().map(|reason| reason.server.as_str());
                let servers: Vec<&str> = servers.collect();
                let reason = unusable.to_string();
                report.lacks(&servers.join(", "), reason, &mut state.told_reasons);
                return;
            }
            None => {
                report
                    .pending
                    .insert("the language server is starting".to_owned());
                return;
            }
        }
        let servers = self.supervisor.running_for(path);
        for server in &servers {
            let mark = Mark::of(server, path);
            let Ok(synced) = server.sync(path) else {
                continue;
            };
            let _ = server.save(path);
            if let Some(watch) = self.lock().watches.get_mut(path) {
                watch.wait_for(Waiting {
                    server: Arc::clone(server),
                    mark,
                    version: synced.version,
                });
            }
        }
        if let Some(watch) = self.lock().watches.get_mut(path) {
            watch.servers = servers;
        }
    }

    /// Waits for what was asked about a file, and takes what was published since. Returns which servers
    /// spoke, and until when they may be asked more.
    pub(super) fn listen(
        &self,
        path: &Path,
        is_written: bool,
        began: Instant,
        cancel: &Cancel,
        report: &mut WriteReport,
    ) -> Vec<(Arc<Server>, Instant)> {
        let Some(watch) = self.lock().watches.get(path).cloned() else {
            return Vec::new();
        };
        let mut spoke = Vec::new();
        for waiting in &watch.waiting {
            let server = &waiting.server;
            let bound = match (is_written, is_slow(server)) {
                (false, _) => self.bounds.late,
                (true, true) => self.bounds.compiler,
                (true, false) => self.bounds.settle,
            };
            let deadline = self.patience(server, began, began + bound);
            let settled = settle(
                server,
                path,
                &waiting.mark,
                waiting.version,
                deadline,
                cancel,
            );
            let settled = without_doubt(server, path, settled);
            if is_written {
                self.count_silence(waiting, &settled);
            }
            match &settled {
                Settled::Told(_) => spoke.push((Arc::clone(server), deadline)),
                Settled::Pending(why) => {
                    report.pending.insert(format!("{}: {why}", server.id()));
                    continue;
                }
                Settled::Unavailable(why) => {
                    let told = &mut self.lock().told_reasons;
                    report.lacks(server.id(), why.clone(), told);
                }
            }
            let is_kept = matches!(settled, Settled::Unavailable(_)) && is_unreached(server, path);
            let answer = self.told(server, path, settled);
            if let Some(watch) = self.lock().watches.get_mut(path) {
                watch.settled(waiting, answer);
                if is_kept {
                    // What it says when it comes to the file is taken then.
                    watch.hold(server);
                }
            }
        }
        for server in watch.servers.iter().filter(|server| speaks_up(server)) {
            self.take_late(path, server);
        }
        spoke
    }

    /// A publication may be followed by a better one after the wait for it has ended.
    pub(super) fn take_late(&self, path: &Path, server: &Server) {
        let name = name_of(server);
        let seen = {
            let state = self.lock();
            match state.watches.get(path).and_then(|watch| watch.seen(&name)) {
                Some(seen) => seen,
                None => return,
            }
        };
        let late = server.look(|state| {
            let said = state.published().of(path)?;
            (said.generation > seen).then(|| said.items.clone())
        });
        if let Some(items) = late
            && doubt(server, path, &items).is_none()
        {
            let found = told(self.supervisor.workspace(), server, path, &items);
            if let Some(watch) = self.lock().watches.get_mut(path) {
                watch.answer(server, found);
            }
        }
    }
}
