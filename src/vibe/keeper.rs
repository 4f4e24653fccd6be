//! Runs one command to its end under a keeper, and reads what it prints.
//!
//! The keeper is a small script at the head of the tree: what the command's processes orphan becomes its
//! child, so that nothing gets away by starting a session of its own. It starts the command, reports its
//! status on standard error, which the command has too, between two NUL bytes and a word that nobody
//! guesses, and stays until it is ended. A turn ends with the command, and takes with it what the command
//! left running.

use std::fmt;
use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::cancel::Cancel;
use crate::child::{Child, Env, Exit, Isolation, Processes, Program, Stderr, Stream};
use crate::limits;
use crate::vibe::Ring;

/// `$1` is the word of the report, `$2` the file that the command reads, the rest the command.
///
/// A caught signal, unlike an ignored one, is back to its default in the command. The keeper's own input
/// ends with the host alone: then it stays until the watcher has found the tree by it.
const KEEPER: &str = r#"
trap : HUP INT TERM
word=$1
input=$2
shift 2
(exec "$@" <"$input")
code=$?
exec >/dev/null
printf '\000%s%s\000' "$word" "$code" >&2
exec 2>/dev/null
while :; do
    read -r _
    [ $? -gt 128 ] || break
done
trap '' HUP INT TERM
exec sleep 60
"#;

/// Letters of the longest status.
const STATUS_BYTES: usize = 4;

/// Reads after the end of the command: what it wrote is in the pipe by then, and what others write
/// meanwhile could go on for ever.
const LAST_READS: usize = 32;

/// How long the end of a keeper that was killed may take to be known.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// What to run.
pub(super) struct Command<'a> {
    pub(super) argv: &'a [String],
    pub(super) cwd: &'a Path,
    pub(super) env: Env,
    /// What it reads.
    pub(super) input: &'a Path,
    /// What no output of it holds.
    pub(super) word: &'a str,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With this status, as shells count it.
    Status(i32),
    /// With its keeper.
    Lost(Option<Exit>),
    /// It was cancelled, and is gone with all its processes.
    Cancelled,
}

/// Runs a command until it ends or is cancelled; everything it prints goes into `output`, standard output
/// into `stdout` as well.
pub(super) fn run(
    processes: &Processes,
    command: Command<'_>,
    (output, stdout): (&Ring, &Ring),
    cancel: &Cancel,
) -> io::Result<End> {
    let program = Program::new("/bin/sh", command.cwd, command.env)
        .args(["-c", KEEPER, "toolbox-worker", command.word])
        .args([command.input])
        .args(command.argv)
        .isolation(Isolation::Keeper)
        .stdin(Stream::Piped)
        .stdout(Stream::Piped)
        .stderr(Stderr::Piped);
    if cancel.is_cancelled() {
        return Ok(End::Cancelled);
    }
    let (woken, wake) = io::pipe()?;
    let _guard = cancel.on_cancel(move || {
        // The pipe is empty before, so this never blocks.
        let _ = (&wake).write_all(&[1]);
    });
    let mut child = processes.spawn(&program)?;
    let end = attend(&mut child, &woken, command.word, (output, stdout));
    match end {
        Ok(End::Cancelled) => {
            child.kill_tree(limits::VIBE_GRACE);
        }
        Ok(End::Status(_) | End::Lost(_)) | Err(_) => {}
    }
    end
}

fn attend(
    child: &mut Child,
    woken: &PipeReader,
    word: &str,
    (output, captured): (&Ring, &Ring),
) -> io::Result<End> {
    let streams = child.take_stdout().zip(child.take_stderr());
    let (stdout, stderr) = streams.expect("both streams were asked for");
    rustix::io::ioctl_fionbio(&stdout, true)?;
    rustix::io::ioctl_fionbio(&stderr, true)?;
    let (mut stdout, mut stderr) = (Some(stdout), Some(stderr));
    let pid = i32::try_from(child.pid()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
    let keeper = pidfd_open(pid, PidfdFlags::empty())?;
    let mut reports = Reports::new(word);
    let mut buffer = vec![0; 32 << 10];
    loop {
        // A pipe that has ended is left out by waiting for the first one twice.
        let mut fds = [
            PollFd::new(woken, PollFlags::IN),
            PollFd::new(&keeper, PollFlags::IN),
            PollFd::new(stdout.as_ref().unwrap_or(woken), PollFlags::IN),
            PollFd::new(stderr.as_ref().unwrap_or(woken), PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(err) => return Err(err.into()),
        }
        let [cancelled, lost, _, _] = fds.map(|fd| !fd.revents().is_empty());
        if cancelled {
            return Ok(End::Cancelled);
        }
        let n_reads = if lost { LAST_READS } else { 1 };
        for _ in 0..n_reads {
            pull(&mut stderr, &mut buffer, |bytes| {
                reports.take(bytes, |words| output.push(words));
            });
            pull(&mut stdout, &mut buffer, |bytes| {
                output.push(bytes);
                captured.push(bytes);
            });
        }
        if let Some(status) = reports.status {
            for _ in 0..LAST_READS {
                pull(&mut stdout, &mut buffer, |bytes| {
                    output.push(bytes);
                    captured.push(bytes);
                });
            }
            return Ok(End::Status(status));
        }
        if lost {
            return Ok(End::Lost(child.wait_timeout(EXIT_WAIT)));
        }
    }
}

/// Reads what is there, at most a buffer of it.
fn pull(pipe: &mut Option<PipeReader>, buffer: &mut [u8], mut take: impl FnMut(&[u8])) {
    let Some(reader) = pipe else { return };
    match reader.read(buffer) {
        Ok(0) => *pipe = None,
        Ok(n) => take(&buffer[..n]),
        Err(err) => match err.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
            _ => *pipe = None,
        },
    }
}

/// Finds the report of the keeper in what comes over standard error.
struct Reports {
    marker: Vec<u8>,
    pending: Vec<u8>,
    status: Option<i32>,
}

impl Reports {
    fn new(word: &str) -> Self {
        Self {
            marker: [b"\0", word.as_bytes()].concat(),
            pending: Vec::new(),
            status: None,
        }
    }

    /// Takes what was read; what is no report is handed on.
    fn take(&mut self, bytes: &[u8], mut hand_on: impl FnMut(&[u8])) {
        self.pending.extend_from_slice(bytes);
        let marker = &self.marker;
        let found = self
            .pending
            .windows(marker.len())
            .position(|window| window == marker);
        let n_done = match found {
            Some(start) => {
                let from = start + marker.len();
                let rest = &self.pending[from..];
                match rest.iter().position(|byte| *byte == 0) {
                    Some(end) => {
                        let status = std::str::from_utf8(&rest[..end]).ok();
                        self.status = status.and_then(|status| status.parse().ok());
                        hand_on(&self.pending[..start]);
                        hand_on(&self.pending[from + end + 1..]);
                        self.pending.clear();
                        return;
                    }
                    None if rest.len() > STATUS_BYTES => self.pending.len(),
                    None => start,
                }
            }
            None => {
                let n_begun = (1..marker.len())
                    .rev()
                    .find(|n| self.pending.ends_with(&marker[..*n]));
                self.pending.len() - n_begun.unwrap_or(0)
            }
        };
        hand_on(&self.pending[..n_done]);
        self.pending.drain(..n_done);
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => {
                write!(f, "exit status {status}")?;
                match Exit::Signal(status - 128).signal_name() {
                    Some(name) if *status > 128 => write!(f, " ({name})"),
                    _ => Ok(()),
                }
            }
            Self::Lost(Some(exit)) => write!(f, "{exit}"),
            Self::Lost(None) => f.write_str("it ended in an unknown way"),
            Self::Cancelled => f.write_str("it was killed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&[u8]], words: &[u8], status: Option<i32>) {
        let mut reports = Reports::new("abc");
        let mut handed_on = Vec::new();
        for piece in pieces {
            reports.take(piece, |bytes| handed_on.extend_from_slice(bytes));
        }
        assert_eq!((handed_on.as_slice(), reports.status), (words, status));
    }

    #[test]
    fn a_report_is_told_from_words_wherever_the_pieces_end() {
        check(&[b"err\0abc0\0"], b"err", Some(0));
        check(
            &[b"e", b"rr\0", b"a", b"bc13", b"7", b"\0x"],
            b"errx",
            Some(137),
        );
        check(&[b"a\0ab", b"d\0"], b"a\0abd", None);
        check(&[b"\0xbc0\0"], b"\0xbc0", None);
        check(&[b"\0abc123456"], b"\0abc123456", None);
    }
}
