//! Requests that wait for their reply.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender};

/// Requests by their number; `T` is what comes back. Clones share one table.
pub struct Pending<T>(Arc<Mutex<Table<T>>>);

/// The wait for one reply; dropping it forgets the request, and a late reply is then ignored.
pub struct Waiting<T> {
    id: i64,
    table: Pending<T>,
    reply: Receiver<T>,
}

struct Table<T> {
    last_id: i64,
    waiting: BTreeMap<i64, Sender<T>>,
    /// Answers every later request at once: the peer is gone.
    closed: Option<T>,
}

impl<T: Clone> Pending<T> {
    /// Makes an empty table; the first request has the number 1.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Table {
            last_id: 0,
            waiting: BTreeMap::new(),
            closed: None,
        })))
    }

    /// Gives a request its number. After [`Self::close`] the reply is there at once.
    pub fn begin(&self) -> Waiting<T> {
        let (sender, reply) = crossbeam_channel::bounded(1);
        let mut table = self.lock();
        table.last_id += 1;
        let id = table.last_id;
        match table.closed.clone() {
            Some(answer) => {
                // The channel has room for the one answer.
                let _ = sender.try_send(answer);
            }
            None => {
                table.waiting.insert(id, sender);
            }
        }
        drop(table);
        Waiting {
            id,
            table: self.clone(),
            reply,
        }
    }

    /// Hands a reply to its request; tells whether anybody waits for it.
    pub fn settle(&self, id: i64, reply: T) -> bool {
        let waiting = self.lock().waiting.remove(&id);
        waiting.is_some_and(|sender| sender.try_send(reply).is_ok())
    }

    /// Answers every request, those to come too: the peer is gone. The first reason stays.
    pub fn close(&self, answer: T) {
        let mut table = self.lock();
        let answer = table.closed.get_or_insert(answer).clone();
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        for sender in waiting.into_values() {
            let _ = sender.try_send(answer.clone());
        }
    }

    /// Returns how many requests wait.
    pub fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Tells whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Waiting<T> {
    /// Returns the number of the request.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns the channel of the reply, to wait on it together with others.
    pub fn reply(&self) -> &Receiver<T> {
        &self.reply
    }

    /// Waits for the reply until `deadline`.
    pub fn wait_until(&self, deadline: Instant) -> Option<T> {
        self.reply.recv_deadline(deadline).ok()
    }
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        self.table
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .waiting
            .remove(&self.id);
    }
}

impl<T> Clone for Pending<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Clone> Default for Pending<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Waiting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_finds_its_request_in_any_order() {
        let pending = Pending::new();
        let (one, two) = (pending.begin(), pending.begin());
        assert!(pending.settle(two.id(), "two"));
        assert!(pending.settle(one.id(), "one"));
        let now = Instant::now();
        assert_eq!(
            (one.wait_until(now), two.wait_until(now)),
            (Some("one"), Some("two"))
        );
        assert!(!pending.settle(one.id(), "again"));
        assert!(!pending.settle(99, "unknown"));
    }

    #[test]
    fn a_request_that_was_given_up_is_forgotten() {
        let pending = Pending::<&str>::new();
        let waiting = pending.begin();
        assert_eq!(waiting.wait_until(Instant::now()), None);
        let id = waiting.id();
        drop(waiting);
        assert!(pending.is_empty());
        assert!(!pending.settle(id, "late"));
    }

    #[test]
    fn the_end_of_the_peer_answers_all_and_those_to_come() {
        let pending = Pending::new();
        let before = pending.begin();
        pending.close("gone");
        pending.close("another reason");
        let after = pending.begin();
        let now = Instant::now();
        assert_eq!(
            (before.wait_until(now), after.wait_until(now)),
            (Some("gone"), Some("gone"))
        );
    }
}
