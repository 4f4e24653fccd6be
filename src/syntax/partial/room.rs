//! How much source the threads of a process parse at once.
//!
//! A parse takes some hundred times the memory of its source, so two large files side by side would set the
//! peak of a whole search. It must not know what is parsed.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::limits;

/// Shared by all searches, since the memory is the process's.
static ROOM: Room = Room::new(limits::PARSED_AT_ONCE_BYTES);

struct Room {
    max_bytes: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A part of the room, given back when it is dropped.
pub(super) struct Taken(&'static Room, usize);

/// Waits until so many bytes may be parsed beside what is being parsed. More than all the room may be
/// parsed alone.
pub(super) fn take(bytes: usize) -> Option<Taken> {
    ROOM.take(bytes)
}

impl Room {
    const fn new(max_bytes: usize) -> Room {
        Room {
            max_bytes,
            taken: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    fn take(&'static self, bytes: usize) -> Option<Taken> {
        // Most files are small, and need not ask.
        if bytes * 16 < self.max_bytes {
            return None;
        }
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |taken: &mut usize| *taken > 0 && *taken + bytes > self.max_bytes;
        let mut taken =
            (self.freed.wait_while(taken, fits)).unwrap_or_else(PoisonError::into_inner);
        *taken += bytes;
        Some(Taken(self, bytes))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= self.1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_parses_wait_for_each_other_and_small_ones_for_none() {
        static SMALL: Room = Room::new(160);
        let first = SMALL.take(100);
        assert!(first.is_some());
        assert!(SMALL.take(9).is_none());
        let second = SMALL.take(60);
        assert!(second.is_some());
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn(move || {
            let taken = SMALL.take(500);
            sender.send(()).expect("somebody waits");
            drop(taken);
        });
        drop(first);
        assert!(receiver.try_recv().is_err());
        drop(second);
        receiver.recv().expect("it goes on");
        waiting.join().expect("it ended");
        assert_eq!(*SMALL.taken.lock().expect("nobody panicked"), 0);
    }
}
