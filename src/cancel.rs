//! The cancel token that every long operation looks at.
//!
//! One token belongs to one call. It carries no reason and no channel of its own: engines poll it at
//! natural boundaries (a file, a batch of nodes), and what waits on a child registers a waker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a running operation to stop; clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Makes a token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the operation to stop. Cancelling twice is harmless.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
