//! Reading frames from a peer that may write anything.

use std::io::{self, BufRead, BufReader, Read};
use std::thread::JoinHandle;

use serde_json::Value;

/// Bytes of garbage that one report quotes.
const QUOTED: usize = 400;

/// Longest line that may be a header; a longer one is garbage.
const HEADER_BYTES: usize = 4096;

/// What came from the other end.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// One message.
    Message(Value),
    /// Bytes that are no message: the beginning of them, or why a frame was dropped. The stream goes on.
    Garbage(String),
}

/// The messages of a stream, in order; the iteration ends with the stream.
#[derive(Debug)]
pub struct Frames<R> {
    input: R,
    limit: usize,
}

impl<R: Read> Frames<BufReader<R>> {
    /// Reads frames of at most `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, input),
            limit,
        }
    }
}

impl<R: BufRead> Frames<R> {
    /// Returns what comes next; `None` at the end of the stream, also in the middle of a frame.
    pub fn next_incoming(&mut self) -> io::Result<Option<Incoming>> {
        let mut garbage = Vec::new();
        let mut length = None;
        loop {
            let Some(line) = self.line()? else {
                return Ok(quote(&garbage));
            };
            let text = line.trim_ascii_end();
            match length {
                None => match content_length(text) {
                    Some(Length { value, before }) => {
                        garbage.extend_from_slice(before);
                        length = Some(value);
                    }
                    // Other headers may stand before the length; a blank line ends nothing yet.
                    None if text.is_empty() || (garbage.is_empty() && is_header(text)) => {}
                    None => garbage.extend_from_slice(&line[..line.len().min(QUOTED)]),
                },
                // The blank line ends the headers.
                Some(_) if text.is_empty() => break,
                Some(_) => {
                    if let Some(Length { value, .. }) = content_length(text) {
                        length = Some(value);
                    } else if !is_header(text) {
                        // What began like a header was text that a program printed.
                        garbage.extend_from_slice(&line[..line.len().min(QUOTED)]);
                        length = None;
                    }
                }
            }
            if garbage.len() > QUOTED {
                garbage.truncate(QUOTED);
            }
        }
        if !garbage.is_empty() {
            // The message behind it must not wait for the next call: it is put in front of the input.
            let rest = length.unwrap_or_default();
            return self.after_garbage(&garbage, rest);
        }
        self.body(length.unwrap_or_default())
    }

    fn after_garbage(&mut self, garbage: &[u8], length: usize) -> io::Result<Option<Incoming>> {
        // One call returns one thing, and dropping a message would lose a reply; the garbage is what may be
        // dropped, so it is reported only where no sound message follows.
        match self.body(length)? {
            Some(Incoming::Garbage(why)) => Ok(Some(Incoming::Garbage(format!(
                "{} [{why}]",
                String::from_utf8_lossy(garbage)
            )))),
            Some(message) => Ok(Some(message)),
            None => Ok(quote(garbage)),
        }
    }

    fn body(&mut self, length: usize) -> io::Result<Option<Incoming>> {
        if length > self.limit {
            let skipped = io::copy(&mut (&mut self.input).take(length as u64), &mut io::sink())?;
            let why = format!("a message of {length} bytes was dropped ({skipped} bytes skipped)");
            return Ok(Some(Incoming::Garbage(why)));
        }
        let mut body = Vec::new();
        (&mut self.input)
            .take(length as u64)
            .read_to_end(&mut body)?;
        if body.len() < length {
            return Ok(quote(&body));
        }
        Ok(Some(match serde_json::from_slice(&body) {
            Ok(message) => Incoming::Message(message),
            Err(err) => {
                let beginning = String::from_utf8_lossy(&body[..body.len().min(QUOTED)]);
                Incoming::Garbage(format!("{err}: {beginning}"))
            }
        }))
    }

    /// Reads a line of bounded length, its end included; a longer one comes in pieces.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input)
            .take(HEADER_BYTES as u64)
            .read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then_some(line))
    }
}

/// Starts a thread that hands every message of `input` to `sink`, then `None` at the end.
///
/// The thread must never be held up: `sink` only hands over.
pub fn read_frames(
    name: &str,
    input: impl Read + Send + 'static,
    limit: usize,
    mut sink: impl FnMut(Option<Incoming>) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let mut frames = Frames::new(input, limit);
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            // An error of the pipe is its end.
            while let Ok(Some(incoming)) = frames.next_incoming() {
                sink(Some(incoming));
            }
            sink(None);
        })
}

struct Length<'a> {
    value: usize,
    /// What stands on the line before the header: a program printed it without a line end.
    before: &'a [u8],
}

fn content_length(line: &[u8]) -> Option<Length<'_>> {
    const NAME: &[u8] = b"content-length:";
    let at = line
        .windows(NAME.len())
        .rposition(|window| window.eq_ignore_ascii_case(NAME))?;
    let value = std::str::from_utf8(&line[at + NAME.len()..]).ok()?;
    Some(Length {
        value: value.trim().parse().ok()?,
        before: &line[..at],
    })
}

fn is_header(line: &[u8]) -> bool {
    line.iter()
        .position(|&byte| byte == b':')
        .is_some_and(|at| {
            at > 0
                && line[..at]
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        })
}

fn quote(bytes: &[u8]) -> Option<Incoming> {
    let bytes = bytes.trim_ascii();
    let beginning = &bytes[..bytes.len().min(QUOTED)];
    (!bytes.is_empty()).then(|| Incoming::Garbage(String::from_utf8_lossy(beginning).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives one byte at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            buf[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn all(input: &[u8]) -> Vec<Incoming> {
        let mut whole = Frames::new(input, 100);
        let whole: Vec<Incoming> =
            std::iter::from_fn(|| whole.next_incoming().expect("no fault")).collect();
        let mut split = Frames::new(Trickle(input), 100);
        let split: Vec<Incoming> =
            std::iter::from_fn(|| split.next_incoming().expect("no fault")).collect();
        assert_eq!(whole, split, "reading byte by byte is the same");
        whole
    }

    fn message(number: u32) -> Incoming {
        Incoming::Message(Value::from(number))
    }

    #[test]
    fn reads_frames_whatever_the_headers() {
        let input = b"Content-Length: 1\r\n\r\n1content-length:2\r\nContent-Type: x; charset=utf8\r\n\r\n22\
            Content-Type: y\r\nCONTENT-LENGTH: 1\n\n3";
        assert_eq!(all(input), [message(1), message(22), message(3)]);
    }

    #[test]
    fn skips_garbage_between_frames_and_loses_no_message() {
        let input =
            b"hello\nwarning: x\r\n\r\nContent-Length: 1\r\n\r\n1\nboom Content-Length: 1\r\n\r\n2";
        assert_eq!(all(input), [message(1), message(2)]);
        let text = b"Content-Length: 5\nplain words\nContent-Length: 1\r\n\r\n4";
        assert_eq!(all(text), [message(4)]);
    }

    #[test]
    fn bad_json_costs_one_message() {
        let input = b"Content-Length: 2\r\n\r\n{]Content-Length: 1\r\n\r\n2";
        let got = all(input);
        assert!(
            matches!(&got[0], Incoming::Garbage(why) if why.contains("{]")),
            "{got:?}"
        );
        assert_eq!(got[1], message(2));
    }

    #[test]
    fn a_frame_over_the_limit_is_dropped_and_one_at_it_is_not() {
        let frame = |n: usize| format!("Content-Length: {n}\r\n\r\n\"{}\"", "x".repeat(n - 2));
        let got = all(format!("{}{}", frame(101), frame(100)).as_bytes());
        assert!(matches!(&got[0], Incoming::Garbage(_)));
        assert_eq!(got[1], Incoming::Message(Value::from("x".repeat(98))));
    }

    #[test]
    fn ends_inside_a_frame_without_a_message() {
        let got = all(b"Content-Length: 10\r\n\r\n12");
        assert_eq!(got, [Incoming::Garbage("12".to_owned())]);
        assert_eq!(all(b""), []);
    }
}
