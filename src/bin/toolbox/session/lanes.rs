//! Calls that take turns, in the order in which their lines were read.
//!
//! Threads reach the gate in any order. For a tool that is not parallel-safe the order of the lines is the
//! meaning: a `continue` that overtakes a `stack` answers with shifted frames (R71). So the calls of one
//! such tool share a lane: one of them is on a thread, and the next one follows it there.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::pool::{Full, Pool};

type Job = Box<dyn FnOnce() + Send>;

/// The lanes over a pool; clones share them.
#[derive(Clone)]
pub(crate) struct Lanes(Arc<Shared>);

struct Shared {
    pool: Pool,
    /// How many calls may wait in all lanes together.
    max_waiting: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What waits behind the call that runs; a lane without a running call is not here.
    lanes: BTreeMap<String, VecDeque<Job>>,
    waiting: usize,
}

impl Lanes {
    pub(crate) fn new(pool: Pool, max_waiting: usize) -> Self {
        Self(Arc::new(Shared {
            pool,
            max_waiting,
            state: Mutex::default(),
        }))
    }

    /// Runs `job` once all earlier ones of its lane have ended.
    pub(crate) fn submit(
        &self,
        lane: String,
        job: impl FnOnce() + Send + 'static,
    ) -> Result<(), Full> {
        let mut state = self.lock();
        let State { lanes, waiting } = &mut *state;
        if let Some(jobs) = lanes.get_mut(&lane) {
            if *waiting >= self.0.max_waiting {
                return Err(Full);
            }
            jobs.push_back(Box::new(job));
            *waiting += 1;
            return Ok(());
        }
        let own = self.clone();
        let name = lane.clone();
        // The lock is held, so nobody stands behind a call that the pool refuses.
        self.0.pool.submit(move || own.work(&name, Box::new(job)))?;
        lanes.insert(lane, VecDeque::new());
        Ok(())
    }

    fn work(&self, lane: &str, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            // The calls behind one that panics are not lost with it.
            let _ = catch_unwind(AssertUnwindSafe(job));
            let mut state = self.lock();
            let State { lanes, waiting } = &mut *state;
            next = lanes.get_mut(lane).and_then(VecDeque::pop_front);
            match next {
                Some(_) => *waiting -= 1,
                None => {
                    lanes.remove(lane);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    // R71: in the order of the lines, on one thread; other calls and other lanes are not held up; a call
    // that panics loses nothing; the limit holds.
    #[test]
    fn the_calls_of_a_lane_follow_one_another() {
        let lanes = Lanes::new(Pool::new(3, 0), 101);
        let (ended, ends) = channel();
        let (gate, closed) = channel::<()>();
        let lane = || "debug".to_owned();
        let wait = move || {
            let _ = closed.recv();
        };
        lanes.submit(lane(), wait).expect("there is room");
        lanes
            .submit(lane(), || panic!("one of them fails"))
            .expect("there is room");
        for number in 0..100 {
            let ended = ended.clone();
            let job = move || ended.send(number).expect("the test listens");
            lanes.submit(lane(), job).expect("there is room");
        }
        assert_eq!(lanes.submit(lane(), || ()), Err(Full));
        let other = ended.clone();
        let job = move || other.send(1_000).expect("the test listens");
        lanes.submit("eval".to_owned(), job).expect("a free thread");
        assert_eq!(ends.recv_timeout(LONG), Ok(1_000), "another lane goes on");
        drop(gate);
        let order: Vec<u32> = (0..100)
            .map(|_| ends.recv_timeout(LONG).expect("it runs"))
            .collect();
        assert_eq!(order, Vec::from_iter(0..100));
        let (last, lasts) = channel();
        let job = move || last.send(()).expect("the test listens");
        lanes.submit(lane(), job).expect("the lane is free again");
        assert_eq!(lasts.recv_timeout(LONG), Ok(()));
    }

    // What the pool refuses leaves no lane behind in which later calls would wait for ever.
    #[test]
    fn a_refused_call_blocks_nobody() {
        let pool = Pool::new(1, 0);
        let lanes = Lanes::new(pool.clone(), 10);
        pool.close(LONG);
        assert_eq!(lanes.submit("eval".to_owned(), || ()), Err(Full));
        assert_eq!(lanes.submit("eval".to_owned(), || ()), Err(Full));
        assert!(lanes.lock().lanes.is_empty());
    }
}
