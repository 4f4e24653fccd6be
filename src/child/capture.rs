//! Runs a program to its end and keeps what it wrote.

use std::io;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::child::drain::{Feed, Head};
use crate::child::{Processes, Program, Stderr, Stream, Waited};

/// How long output may still come after the program has ended: something it started may hold the pipe.
const LINGER: Duration = Duration::from_millis(500);

/// What a captured program gets and may use.
#[derive(Clone, Debug)]
pub struct Capture {
    /// What it reads on standard input.
    pub input: Vec<u8>,
    /// How many bytes of each output stream are kept.
    pub limit: usize,
    /// When it is killed.
    pub timeout: Duration,
}

/// What a captured program left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// How it ended, or why it was killed.
    pub waited: Waited,
    /// The first bytes of standard output.
    pub stdout: Vec<u8>,
    /// How many bytes standard output had.
    pub stdout_total: u64,
    /// The first bytes of standard error.
    pub stderr: Vec<u8>,
    /// How many bytes standard error had.
    pub stderr_total: u64,
}

impl Processes {
    /// Runs a program to its end, its timeout or the cancel; nothing that it started is left afterwards.
    ///
    /// The streams of `program` are set here.
    pub fn capture(
        &self,
        program: &Program,
        capture: Capture,
        cancel: &Cancel,
    ) -> io::Result<Captured> {
        let stdin = if capture.input.is_empty() {
            Stream::Null
        } else {
            Stream::Piped
        };
        let program = program
            .clone()
            .stdin(stdin)
            .stdout(Stream::Piped)
            .stderr(Stderr::Piped);
        let mut child = self.spawn(&program)?;
        let pid = child.pid();
        let feed = match child.take_stdin() {
            Some(stdin) => Some(Feed::start(&format!("stdin-{pid}"), stdin, capture.input)?),
            None => None,
        };
        let streams = child.take_stdout().zip(child.take_stderr());
        let (stdout, stderr) = streams.expect("both streams were asked for above");
        let stdout = Head::start(&format!("stdout-{pid}"), stdout, capture.limit)?;
        let stderr = Head::start(&format!("stderr-{pid}"), stderr, capture.limit)?;
        let waited = child.wait(capture.timeout, cancel);
        if matches!(waited, Waited::Exited(_)) {
            stdout.wait_for_end(LINGER);
            stderr.wait_for_end(LINGER);
        }
        drop(child);
        drop(feed);
        // What is in the pipes now was written before the end.
        stdout.wait_for_end(LINGER);
        stderr.wait_for_end(LINGER);
        let (stdout, stdout_total) = stdout.finish();
        let (stderr, stderr_total) = stderr.finish();
        Ok(Captured {
            waited,
            stdout,
            stdout_total,
            stderr,
            stderr_total,
        })
    }
}
