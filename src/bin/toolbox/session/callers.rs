//! Whose call is it?
//!
//! One run serves several connections, and what happens deep inside a call (a bridged tool begins, a
//! question comes up) must reach the client that made it. Tokens tell: that of a bridged call descends from
//! that of the call which the client made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use toolbox::artifacts::ArtifactsReport;
use toolbox::ask::{Card, QuestionPort, Reply};
use toolbox::cancel::Cancel;
use toolbox::tool::Chain;

use crate::session::outbox::Outbox;
use crate::session::questions::Questions;
use crate::session::request::CallId;

/// The calls that clients made and that run now; the question port of their run.
#[derive(Clone, Default)]
pub(crate) struct Callers(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    last: u64,
    callers: BTreeMap<u64, Caller>,
}

/// A client's call, and how to reach the client.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) id: CallId,
    pub(crate) cancel: Cancel,
    pub(crate) out: Outbox,
    pub(crate) questions: Questions,
}

/// Keeps a call in the table.
pub(crate) struct Entered {
    callers: Callers,
    number: u64,
}

impl Callers {
    /// Enters a call that begins.
    pub(crate) fn enter(&self, caller: Caller) -> Entered {
        let mut table = self.lock();
        table.last += 1;
        let number = table.last;
        table.callers.insert(number, caller);
        Entered {
            callers: self.clone(),
            number,
        }
    }

    /// Tells the client that a tool began to run within its call (R154).
    pub(crate) fn began(&self, chain: &Chain, cancel: &Cancel) {
        let names: Vec<&str> = chain.names().collect();
        let (Some(caller), Some((name, outer))) = (self.find(cancel), names.split_last()) else {
            return;
        };
        let mut event = json!({ "event": "tool", "name": name, "id": caller.id.value() });
        if !outer.is_empty() {
            event["outer"] = Value::from(outer.to_vec());
        }
        caller.out.tell(&event);
    }

    /// Tells the client that its call, or one within it, delivered files (R150).
    pub(crate) fn delivered(&self, report: &ArtifactsReport, cancel: &Cancel) {
        let Some(caller) = self.find(cancel) else {
            return;
        };
        caller.out.tell(&json!({
            "event": "artifacts", "id": caller.id.value(),
            "artifacts": report.artifacts, "folder": report.folder,
        }));
    }

    fn find(&self, cancel: &Cancel) -> Option<Caller> {
        let table = self.lock();
        let mut callers = table.callers.values();
        callers
            .find(|caller| cancel.is_within(&caller.cancel))
            .cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuestionPort for Callers {
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply {
        match self.find(cancel) {
            Some(caller) => caller.questions.ask(card, cancel),
            None => Reply::Unattended,
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.callers.lock().callers.remove(&self.number);
    }
}
