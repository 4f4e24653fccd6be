//! The time that a session may live is measured by a clock that a test can move.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns how long the clock has run.
    fn now(&self) -> Duration;

    /// Waits until the clock has run for `until`, or `stop` is cancelled; tells whether the time came.
    fn wait_until(&self, until: Duration, stop: &Cancel) -> bool;
}

/// The clock on the wall.
#[derive(Debug)]
pub struct SystemClock(Instant);

/// A clock that only moves when it is told to; clones are the same clock.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<(Mutex<Duration>, Condvar)>);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait_until(&self, until: Duration, stop: &Cancel) -> bool {
        let (sender, stopped) = crossbeam_channel::bounded(1);
        let _guard = stop.on_cancel(move || {
            let _ = sender.try_send(());
        });
        loop {
            let left = until.saturating_sub(self.now());
            if left.is_zero() {
                return true;
            }
            if stopped.recv_timeout(left).is_ok() {
                return false;
            }
        }
    }
}

impl ManualClock {
    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let (now, moved) = &*self.0;
        *now.lock().unwrap_or_else(PoisonError::into_inner) += by;
        moved.notify_all();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, until: Duration, stop: &Cancel) -> bool {
        let shared = Arc::clone(&self.0);
        let _guard = stop.on_cancel(move || {
            // Under the lock, so that the waiting thread is either before its look at the token or waits.
            let _now = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            shared.1.notify_all();
        });
        let (now, moved) = &*self.0;
        let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
        while *now < until {
            if stop.is_cancelled() {
                return false;
            }
            now = moved.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_comes_to_its_time_or_is_stopped() {
        let clock = ManualClock::default();
        clock.advance(Duration::from_secs(5));
        assert!(clock.wait_until(Duration::from_secs(5), &Cancel::new()));
        let stop = Cancel::new();
        stop.cancel();
        assert!(!clock.wait_until(Duration::from_secs(6), &stop));
        let clock = SystemClock::default();
        assert!(clock.wait_until(Duration::from_millis(50), &Cancel::new()));
        assert!(!clock.wait_until(Duration::from_secs(600), &stop));
    }
}
