//! The threads of a session's calls.
//!
//! A call may wait for a person or for its host, so threads are many and cheap: they are started when one
//! is needed, up to a limit, and kept for the next call. What comes beyond that waits in order, up to a
//! second limit.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads; clones share it.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

/// As many jobs wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

struct Shared {
    max_threads: usize,
    max_queue: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Jobs that a thread has taken.
    running: usize,
    closed: bool,
}

impl Pool {
    pub(crate) fn new(max_threads: usize, max_queue: usize) -> Self {
        Self(Arc::new(Shared {
            max_threads,
            max_queue,
            state: Mutex::default(),
            changed: Condvar::new(),
        }))
    }

    /// Runs `job` on a thread as soon as one is free.
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) -> Result<(), Full> {
        let mut state = self.lock();
        let capacity = self.0.max_threads + self.0.max_queue;
        if state.closed || state.jobs.len() + state.running >= capacity {
            return Err(Full);
        }
        state.jobs.push_back(Box::new(job));
        if state.idle < state.jobs.len() && state.threads < self.0.max_threads {
            let pool = self.clone();
            let spawned = std::thread::Builder::new()
                .name("call".to_owned())
                .spawn(move || pool.work());
            match spawned {
                Ok(_) => state.threads += 1,
                // The threads that there are get to it; without any, nobody ever would.
                Err(_) if state.threads == 0 => {
                    state.jobs.pop_back();
                    return Err(Full);
                }
                Err(_) => {}
            }
        }
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }

    /// Drops what waits, lets the threads end, and waits for them within `wait`.
    pub(crate) fn close(&self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        state.closed = true;
        let dropped = std::mem::take(&mut state.jobs);
        self.0.changed.notify_all();
        while state.threads > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (state, _) = self
                .0
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        drop(dropped);
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.running += 1;
                drop(state);
                // The gate turns the panic of a tool into an error; one of our own must not take the
                // thread out of the count.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                state = self.lock();
                state.running -= 1;
                continue;
            }
            if state.closed {
                break;
            }
            state.idle += 1;
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
        state.threads -= 1;
        drop(state);
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn jobs_run_at_once_up_to_the_limit_and_the_next_ones_wait() {
        let pool = Pool::new(2, 1);
        let (started, starts) = mpsc::channel();
        let gates: Vec<mpsc::Sender<()>> = (0..3)
            .map(|number| {
                let (gate, closed) = mpsc::channel::<()>();
                let started = started.clone();
                let job = move || {
                    started.send(number).expect("the test listens");
                    let _ = closed.recv();
                };
                // The third finds both threads taken.
                if number == 2 {
                    starts.recv_timeout(LONG).expect("the first runs");
                    starts.recv_timeout(LONG).expect("the second runs");
                }
                pool.submit(job).expect("there is room");
                gate
            })
            .collect();
        assert_eq!(pool.submit(|| ()), Err(Full), "one waits already");
        assert!(starts.try_recv().is_err(), "no third thread");
        drop(gates);
        assert_eq!(starts.recv_timeout(LONG), Ok(2));
        pool.close(LONG);
        assert_eq!(pool.lock().threads, 0);
        assert_eq!(pool.submit(|| ()), Err(Full), "it is closed");
    }
}
