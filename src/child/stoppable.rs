//! A thread that waits on pipes, and that can be told to stop.
//!
//! A pipe may stay open long after the child, held by something that left its group. The thread therefore
//! waits on a pipe of its own as well, whose closing tells it to stop; it is always joined.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// The owner's side; dropping it stops the thread and waits for its end.
#[derive(Debug)]
pub(crate) struct Stoppable {
    /// Closing it stops the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's side.
#[derive(Debug)]
pub(crate) struct Stop(PipeReader);

/// What a wait came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready<const N: usize> {
    /// Which of the streams have something, in the order in which they were given.
    pub(crate) streams: [bool; N],
    /// Whether the thread shall end.
    pub(crate) stopped: bool,
}

impl Stoppable {
    /// Starts the thread `name`.
    pub(crate) fn start(name: &str, work: impl FnOnce(&Stop) + Send + 'static) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(&Stop(stopped)))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Stop {
    /// Waits until one of the streams may be read, or written, or the thread shall end; a stream that is
    /// left out has ended. `None` when that cannot be waited for.
    pub(crate) fn wait<T: AsFd, const N: usize>(
        &self,
        streams: [Option<&T>; N],
        what: PollFlags,
    ) -> Option<Ready<N>> {
        let mut fds: Vec<PollFd<'_>> = streams
            .iter()
            .flatten()
            .map(|stream| PollFd::new(*stream, what))
            .collect();
        fds.push(PollFd::new(&self.0, PollFlags::IN));
        loop {
            match poll(&mut fds, None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
        let streams = streams.map(|stream| stream.is_some() && happened.next().unwrap_or(false));
        Some(Ready {
            streams,
            stopped: happened.next().unwrap_or(false),
        })
    }

    /// Waits until one stream may be read, or written; `false` when the thread shall end.
    pub(crate) fn wait_for(&self, stream: &impl AsFd, what: PollFlags) -> bool {
        loop {
            match self.wait([Some(stream)], what) {
                // A flood must not keep the thread from seeing that it shall stop.
                None | Some(Ready { stopped: true, .. }) => return false,
                Some(Ready {
                    streams: [ready], ..
                }) => {
                    if ready {
                        return true;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::sync::mpsc;

    use super::*;

    // R3: a thread ends although its pipe stays open, and although it is flooded.
    #[test]
    fn a_thread_stops_whatever_its_pipe_does() {
        for flooded in [false, true] {
            let (mut pipe, mut open) = io::pipe().unwrap();
            let (sender, began) = mpsc::channel();
            if flooded {
                open.write_all(&[0; 4096]).unwrap();
            }
            let thread = Stoppable::start("reader", move |stop| {
                sender.send(()).unwrap();
                while stop.wait_for(&pipe, PollFlags::IN) {
                    let n = pipe.read(&mut [0; 1]).unwrap();
                    assert_eq!(n, 1);
                }
            });
            began.recv().unwrap();
            drop(thread.unwrap());
            drop(open);
        }
    }

    // R3: a stream that has ended is left out, and the others are told apart by their places.
    #[test]
    fn streams_are_told_apart() {
        let (one, mut to_one) = io::pipe().unwrap();
        let (other, to_other) = io::pipe().unwrap();
        let (stopped, stop) = io::pipe().unwrap();
        let stop_side = Stop(stopped);
        let wait = |streams| stop_side.wait(streams, PollFlags::IN).unwrap();
        to_one.write_all(b"x").unwrap();
        let ready = wait([Some(&one), Some(&other)]);
        assert_eq!((ready.streams, ready.stopped), ([true, false], false));
        drop(to_other);
        let ready = wait([None, Some(&other)]);
        assert_eq!((ready.streams, ready.stopped), ([false, true], false));
        drop(stop);
        let ready = wait([None, None]);
        assert_eq!((ready.streams, ready.stopped), ([false, false], true));
        assert!(!stop_side.wait_for(&one, PollFlags::IN));
    }
}
