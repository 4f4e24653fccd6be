//! A line in front of a medium that shows one card at a time.
//!
//! Cards are shown in the order in which they came. The time of a card runs while it waits here too, and a
//! card whose time is over or whose call was cancelled before its turn is never shown.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::ask::{Card, QuestionPort, Reply};
use crate::cancel::Cancel;

/// Shows the cards of many calls one after the other.
pub struct OneAtATime<P> {
    port: P,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    /// The front ticket is the card that is shown.
    tickets: VecDeque<u64>,
}

/// A place in the line; dropping it, also in a panic, gives it up.
struct Place<'a> {
    line: &'a Line,
    ticket: u64,
}

impl<P> OneAtATime<P> {
    /// Puts a line in front of a port.
    pub fn new(port: P) -> Self {
        Self {
            port,
            line: Arc::default(),
        }
    }

    /// Returns how many cards are shown or wait.
    pub fn len(&self) -> usize {
        self.line.lock().tickets.len()
    }

    /// Tells whether no card is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the turn of a card; the reply says why there is none.
    fn wait(&self, ticket: u64, cancel: &Cancel, deadline: Option<Instant>) -> Result<(), Reply> {
        let line = Arc::clone(&self.line);
        let _guard = cancel.on_cancel(move || {
            // Taking the lock orders this after the waiter's look at the token, so no wake-up is lost.
            drop(line.lock());
            line.moved.notify_all();
        });
        let mut state = self.line.lock();
        loop {
            if cancel.is_cancelled() {
                return Err(Reply::Cancelled);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Reply::TimedOut);
            }
            if state.tickets.front() == Some(&ticket) {
                return Ok(());
            }
            state = match left {
                Some(left) => {
                    let res = self.line.moved.wait_timeout(state, left);
                    res.unwrap_or_else(PoisonError::into_inner).0
                }
                // The cards before this one end, and its call may be cancelled: the card itself waits for
                // ever by its own wish.
                None => {
                    let res = self.line.moved.wait(state);
                    res.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl<P: QuestionPort> QuestionPort for OneAtATime<P> {
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply {
        let deadline = card
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        let place = self.line.enter();
        if let Err(reply) = self.wait(place.ticket, cancel, deadline) {
            return reply;
        }
        let card = Card {
            timeout: deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
            ..card.clone()
        };
        self.port.ask(&card, cancel)
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> Place<'_> {
        let mut state = self.lock();
        let ticket = state.next;
        state.next += 1;
        state.tickets.push_back(ticket);
        Place { line: self, ticket }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.line.lock();
        state.tickets.retain(|ticket| *ticket != self.ticket);
        drop(state);
        self.line.moved.notify_all();
    }
}

impl<P> fmt::Debug for OneAtATime<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneAtATime")
            .field("cards", &self.len())
            .finish_non_exhaustive()
    }
}
