//! Cards at a terminal: prints one, reads a line, asks again where the answer does not fit.
//!
//! The terminal stays in its ordinary mode, so that nothing has to be put back however the command ends;
//! line editing is the terminal's own. What was typed before the card was there does not answer it. Ctrl-C
//! is no answer but an interrupt. Where nobody can answer (no terminal, or a command in the background of
//! one), the port says so at once.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use signal_hook::consts::SIGINT;
use toolbox::ask::{Card, OneAtATime, QuestionPort, Reply};
use toolbox::cancel::Cancel;

/// Where the terminal of a process is.
const CONTROLLING_TERMINAL: &str = "/dev/tty";

/// The longest answer that is read, in bytes; the ordinary mode of Linux ends a line at 4,096.
const ANSWER_BYTES: usize = 64 * 1024;

/// Makes the port of this process's terminal. Nothing is opened before a card is asked.
pub(crate) fn terminal() -> Arc<dyn QuestionPort> {
    Arc::new(OneAtATime::new(Terminal::default()))
}

/// Shows cards at the terminal of this process, one at a time.
#[derive(Default)]
struct Terminal {
    interrupts: Mutex<Option<Interrupts>>,
}

/// Catches Ctrl-C while a card is shown; at all other times it ends the process as ever.
struct Interrupts {
    idle: Arc<AtomicBool>,
    caught: UnixStream,
}

/// The two ends of a terminal.
struct Device {
    input: File,
    output: File,
}

/// What a wait for a line ended with.
enum Line {
    Typed(String),
    TimedOut,
    Cancelled,
    /// The terminal is gone.
    Gone,
}

impl QuestionPort for Terminal {
    fn ask(&self, card: &Card, cancel: &Cancel) -> Reply {
        if cancel.is_cancelled() {
            return Reply::Cancelled;
        }
        let Some(device) = Device::open() else {
            return Reply::Unattended;
        };
        let mut interrupts = self
            .interrupts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if interrupts.is_none() {
            *interrupts = Interrupts::install().ok();
        }
        // Without a way to tell an interrupt from an answer nothing is asked.
        let Some(interrupts) = &*interrupts else {
            return Reply::Unattended;
        };
        interrupts.catch(|caught| show(device, card, cancel, caught))
    }
}

fn show(mut device: Device, card: &Card, cancel: &Cancel, interrupt: &UnixStream) -> Reply {
    let deadline = card
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let Ok((withdrawn, waker)) = UnixStream::pair() else {
        return Reply::Unattended;
    };
    let _guard = cancel.on_cancel(move || {
        // The pair has room for one byte, and a reader that went away needs none.
        let _ = (&waker).write_all(b"c");
    });
    let mut said = card.render();
    loop {
        // An answer is given to what is on the screen: what was typed before is dropped.
        let _ = tcflush(&device.input, QueueSelector::IFlush);
        if device.say(&format!("{said}> ")).is_err() {
            return Reply::Unattended;
        }
        let line = match device.line(deadline, &withdrawn, interrupt) {
            Line::Typed(line) => line,
            ended => {
                // Half a line must not become a command of the shell.
                let _ = tcflush(&device.input, QueueSelector::IFlush);
                let (reply, words) = match ended {
                    Line::TimedOut => (Reply::TimedOut, "nobody answered in time"),
                    Line::Gone => (Reply::Unattended, "the terminal is gone"),
                    Line::Cancelled | Line::Typed(_) => (Reply::Cancelled, "cancelled"),
                };
                let _ = device.say(&format!("\n({words})\n"));
                return reply;
            }
        };
        match card.parse(&line) {
            Ok(reply) => {
                let _ = device.say(confirmed(&reply));
                return reply;
            }
            Err(error) => said = format!("{error}. {}\n", card.how_to_answer()),
        }
    }
}

/// Says what an empty line meant; who typed something knows it.
fn confirmed(reply: &Reply) -> &'static str {
    match reply {
        Reply::Skipped => "(skipped)\n",
        Reply::Decided { approved: false } => "(denied)\n",
        _ => "",
    }
}

impl Device {
    /// Opens the terminal; `None` when there is none, or it belongs to another command just now.
    fn open() -> Option<Self> {
        // Opened anew, so that waiting without blocking is a matter of this process alone.
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits();
        let tty = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(i32::try_from(nonblocking).ok()?)
            .open(CONTROLLING_TERMINAL);
        let device = match tty {
            Ok(tty) => Self {
                output: tty.try_clone().ok()?,
                input: tty,
            },
            Err(_) if io::stdin().is_terminal() && io::stderr().is_terminal() => Self {
                input: duplicate(io::stdin())?,
                output: duplicate(io::stderr())?,
            },
            Err(_) => return None,
        };
        // A command in the background would be stopped by reading, and nobody sees that it waits. Where
        // there is no telling, the terminal is not a controlling one and stops nobody.
        match tcgetpgrp(&device.input) {
            Ok(foreground) if foreground != rustix::process::getpgrp() => None,
            _ => Some(device),
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match self.output.write(rest) {
                Ok(n_bytes) => rest = &rest[n_bytes..],
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => {
                    let mut fds = [PollFd::new(&self.output, PollFlags::OUT)];
                    poll(&mut fds, None)?;
                }
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }

    fn line(
        &mut self,
        deadline: Option<Instant>,
        withdrawn: &UnixStream,
        interrupt: &UnixStream,
    ) -> Line {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Line::TimedOut;
            }
            let mut fds = [
                PollFd::new(&self.input, PollFlags::IN),
                PollFd::new(withdrawn, PollFlags::IN),
                PollFd::new(interrupt, PollFlags::IN),
            ];
            match poll(&mut fds, left.map(timespec).as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return Line::Gone,
            }
            let ready = [0, 1, 2].map(|idx: usize| fds[idx].revents());
            if !ready[1].is_empty() || !ready[2].is_empty() {
                return Line::Cancelled;
            }
            if ready[0].is_empty() {
                continue;
            }
            match self.input.read(&mut buffer) {
                Ok(0) if ready[0].intersects(PollFlags::HUP | PollFlags::ERR) => return Line::Gone,
                // Ctrl-D ends the line.
                Ok(0) => return Line::Typed(String::from_utf8_lossy(&bytes).into_owned()),
                Ok(n_bytes) => bytes.extend_from_slice(&buffer[..n_bytes]),
                Err(err)
                    if matches!(
                        err.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                    ) => {}
                Err(_) => return Line::Gone,
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            if end.is_some() || bytes.len() >= ANSWER_BYTES {
                bytes.truncate(end.unwrap_or(ANSWER_BYTES));
                return Line::Typed(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
}

impl Interrupts {
    fn install() -> io::Result<Self> {
        let (caught, sender) = UnixStream::pair()?;
        caught.set_nonblocking(true)?;
        let idle = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&idle))?;
        signal_hook::low_level::pipe::register(SIGINT, sender)?;
        Ok(Self { idle, caught })
    }

    /// Runs `shown` while interrupts go to the stream it is given.
    fn catch<R>(&self, shown: impl FnOnce(&UnixStream) -> R) -> R {
        /// Gives interrupts back also when the card breaks.
        struct Idle<'a>(&'a AtomicBool);
        impl Drop for Idle<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let mut stale = [0; 64];
        while matches!((&self.caught).read(&mut stale), Ok(1..)) {}
        self.idle.store(false, Ordering::SeqCst);
        let _idle = Idle(&self.idle);
        shown(&self.caught)
    }
}

fn duplicate(stream: impl AsFd) -> Option<File> {
    let copy: OwnedFd = stream.as_fd().try_clone_to_owned().ok()?;
    Some(File::from(copy))
}

fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_says_what_it_meant() {
        let question = Card {
            allow_free_text: true,
            ..Card::question("?")
        };
        assert_eq!(
            confirmed(&question.parse("").expect("a skip")),
            "(skipped)\n"
        );
        assert_eq!(confirmed(&Reply::Decided { approved: true }), "");
    }
}
