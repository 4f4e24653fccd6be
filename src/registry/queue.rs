//! The line in front of a tool that is not parallel-safe.
//!
//! Calls get their turn in the order in which they came; one that is cancelled leaves the line. Nobody
//! waits here with a deadline: a turn ends when the call before it does, and every call has its own.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::cancel::Cancel;

/// A first-come, first-served line.
#[derive(Clone, Default)]
pub(crate) struct Queue(Arc<Line>);

/// The right to run; dropping it lets the next one in.
#[must_use = "dropping the turn lets the next call in"]
pub(crate) struct Turn {
    line: Arc<Line>,
    ticket: u64,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    /// The front ticket is the one whose turn it is.
    tickets: VecDeque<u64>,
}

impl Queue {
    /// Waits for a turn; `None` when the call was cancelled in the line.
    pub(crate) fn enter(&self, cancel: &Cancel) -> Option<Turn> {
        let turn = self.take_ticket();
        let line = Arc::clone(&self.0);
        let _guard = cancel.on_cancel(move || {
            // Taking the lock orders this after the waiter's look at the token, so no wake-up is lost.
            drop(line.lock());
            line.moved.notify_all();
        });
        let mut state = self.0.lock();
        loop {
            if cancel.is_cancelled() {
                drop(state);
                return None;
            }
            if state.tickets.front() == Some(&turn.ticket) {
                return Some(turn);
            }
            state = self
                .0
                .moved
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn take_ticket(&self) -> Turn {
        let mut state = self.0.lock();
        let ticket = state.next;
        state.next += 1;
        state.tickets.push_back(ticket);
        Turn {
            line: Arc::clone(&self.0),
            ticket,
        }
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.line
            .lock()
            .tickets
            .retain(|ticket| *ticket != self.ticket);
        self.line.moved.notify_all();
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("length", &self.0.lock().tickets.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(queue: &Queue) -> usize {
        queue.0.lock().tickets.len()
    }

    #[test]
    fn a_cancelled_waiter_leaves_the_line_and_the_next_one_gets_its_turn() {
        let queue = Queue::default();
        let cancel = Cancel::new();
        let held = queue.enter(&cancel).expect("the line is empty");
        let impatient = Cancel::new();
        impatient.cancel();
        assert!(queue.enter(&impatient).is_none());
        assert_eq!(length(&queue), 1, "the cancelled ticket is gone");
        drop(held);
        assert!(queue.enter(&cancel).is_some());
        assert_eq!(length(&queue), 0);
    }
}
