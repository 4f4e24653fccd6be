//! What is known of one written file: its servers, what each said last, and what is still awaited.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Diagnostic;
use super::super::place::without_repeats;
use crate::lsp::client::Server;
use crate::lsp::settle::Mark;

/// One server process.
pub(super) type Name = (String, u32);

/// A file that the run wrote.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// The server that answers for the file first, then its linters; none while it is starting.
    pub(super) servers: Vec<Arc<Server>>,
    /// What each server said last, with the number of that statement.
    pub(super) answers: BTreeMap<Name, Answer>,
    pub(super) waiting: Vec<Waiting>,
    /// Whether what was wrong before the first write is not known.
    pub(super) is_unsure: bool,
    /// Whether its server does not start.
    pub(super) is_given_up: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Answer {
    generation: u64,
    found: Vec<Diagnostic>,
    /// Whether it is about the text of now; what it said before is all that is known otherwise.
    is_about_now: bool,
}

/// A text that a server was given and has not spoken about yet.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) server: Arc<Server>,
    pub(super) mark: Mark,
    pub(super) version: i64,
}

pub(super) fn name_of(server: &Server) -> Name {
    (server.id().to_owned(), server.pid())
}

impl Watch {
    /// Whether its servers still run; a restarted one is another.
    pub(super) fn is_alive(&self) -> bool {
        !self.servers.is_empty() && self.servers.iter().all(|server| server.is_alive())
    }

    /// Whether all of these are among its servers.
    pub(super) fn has(&self, servers: &[Arc<Server>]) -> bool {
        let is_known = |one: &Arc<Server>| self.servers.iter().any(|known| Arc::ptr_eq(known, one));
        servers.iter().all(is_known)
    }

    pub(super) fn answer(&mut self, server: &Server, found: Vec<Diagnostic>) {
        self.put(server, found, true);
    }

    fn put(&mut self, server: &Server, found: Vec<Diagnostic>, is_about_now: bool) {
        let generation = server.look(|state| state.published().generation());
        let answer = Answer {
            generation,
            found,
            is_about_now,
        };
        self.answers.insert(name_of(server), answer);
    }

    /// Leaves what a server said as it was, until it says something else by itself.
    pub(super) fn hold(&mut self, server: &Server) {
        let answer = self.answers.get(&name_of(server));
        let found = answer.map_or_else(Vec::new, |answer| answer.found.clone());
        self.put(server, found, false);
    }

    /// Everything that its servers say, sorted, each once.
    pub(super) fn all(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self
            .answers
            .values()
            .flat_map(|answer| answer.found.iter().cloned())
            .collect();
        without_repeats(&mut all, |it| it);
        all.sort();
        all.dedup();
        all
    }

    /// The number of the last statement that was taken from a server; none where nothing was, or where an
    /// answer is awaited.
    pub(super) fn seen(&self, name: &Name) -> Option<u64> {
        let is_waiting = self
            .waiting
            .iter()
            .any(|waiting| name_of(&waiting.server) == *name);
        match is_waiting {
            true => None,
            false => self.answers.get(name).map(|answer| answer.generation),
        }
    }

    /// Whether every server has answered.
    pub(super) fn is_answered(&self) -> bool {
        let mut answers = self.answers.values();
        self.waiting.is_empty()
            && !self.answers.is_empty()
            && answers.all(|answer| answer.is_about_now)
    }

    /// Awaits a newer text than before.
    pub(super) fn wait_for(&mut self, waiting: Waiting) {
        let name = name_of(&waiting.server);
        self.waiting.retain(|old| name_of(&old.server) != name);
        self.waiting.push(waiting);
    }

    /// Takes the end of a wait, unless a newer text is awaited by now.
    pub(super) fn settled(&mut self, waiting: &Waiting, answer: Option<Vec<Diagnostic>>) {
        let name = name_of(&waiting.server);
        let n_waiting = self.waiting.len();
        self.waiting
            .retain(|other| name_of(&other.server) != name || other.version > waiting.version);
        if self.waiting.len() < n_waiting
            && let Some(found) = answer
        {
            self.answer(&waiting.server, found);
        }
    }
}
