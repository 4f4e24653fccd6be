//! The frames between host and kernel: one JSON object a line.
//!
//! A line that is no frame is dropped, so that whatever else reaches the pipe costs its own line and no
//! more. Frames of the kernel are not trusted: they name a call or a cell, and both are checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the kernel says.
#[derive(Debug, Deserialize)]
#[serde(tag = "t", rename_all = "lowercase")]
pub(crate) enum FromKernel {
    /// It is ready.
    Hello {
        program: String,
        #[serde(default)]
        version: String,
    },
    /// A cell calls a tool; `args` is JSON in a string, so that a frame parses whatever they hold.
    Call {
        id: u64,
        cell: u64,
        name: String,
        args: String,
    },
    /// Nobody waits for a call any more.
    Cancel { id: u64 },
    /// A value is shown; the kernel waits for the acknowledgement.
    Display {
        id: u64,
        cell: u64,
        data: BTreeMap<String, String>,
    },
    /// The cell has ended; nothing of it comes after.
    Done(Done),
    /// Raw output, in base64: what a relay sends where there is no pipe of its own for it.
    Raw { data: String },
    /// The interpreter behind a relay has ended.
    Exit {
        #[serde(default)]
        code: Option<i32>,
        #[serde(default)]
        signal: Option<i32>,
    },
}

/// How a cell ended.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) status: DoneStatus,
    #[serde(default)]
    pub(crate) etype: String,
    #[serde(default)]
    pub(crate) msg: String,
    #[serde(default)]
    pub(crate) tb: String,
    #[serde(default)]
    pub(crate) code: Option<i64>,
    /// The value of the cell, where it is shown.
    #[serde(default)]
    pub(crate) data: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DoneStatus {
    Ok,
    Error,
    Interrupted,
    Exit,
}

/// What the host says.
#[derive(Debug, Serialize)]
#[serde(tag = "t", rename_all = "lowercase")]
pub(crate) enum ToKernel<'a> {
    /// Run a cell; `n` counts them for the names in tracebacks.
    Exec {
        id: u64,
        n: u64,
        code: &'a str,
        /// The cell as it was written, where `code` is not that.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<&'a str>,
        /// Whether the value is shown; Python decides that itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        echo: Option<bool>,
    },
    /// What became of a call.
    Ret(Return<'a>),
    /// A display stands in its place.
    Ack { id: u64 },
    /// Stop the cell, where a signal does not reach the kernel.
    Interrupt { id: u64 },
}

#[derive(Debug, Serialize)]
pub(crate) struct Return<'a> {
    pub(crate) id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) val: Option<ReturnValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) err: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReturnValue<'a> {
    pub(crate) text: &'a str,
    pub(crate) data: &'a Value,
    pub(crate) images: Vec<ReturnImage<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReturnImage<'a> {
    pub(crate) mime: &'a str,
    pub(crate) data: String,
}

impl ToKernel<'_> {
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("frames have string keys alone");
        line.push(b'\n');
        line
    }
}

/// Cuts a stream of bytes into lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
    /// The line became too long: the rest of it is dropped.
    overflow: bool,
}

impl Lines {
    /// Takes bytes in; gives the frames that they complete.
    pub(crate) fn push(&mut self, mut chunk: &[u8], limit: usize) -> Vec<FromKernel> {
        let mut frames = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            self.append(&chunk[..end], limit);
            chunk = &chunk[end + 1..];
            if !self.overflow
                && !self.pending.is_empty()
                && let Ok(frame) = serde_json::from_slice(&self.pending)
            {
                frames.push(frame);
            }
            self.pending.clear();
            self.overflow = false;
        }
        self.append(chunk, limit);
        frames
    }

    fn append(&mut self, bytes: &[u8], limit: usize) {
        if self.overflow || self.pending.len() + bytes.len() > limit {
            self.overflow = true;
            self.pending = Vec::new();
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_frame_costs_its_line() {
        let mut lines = Lines::default();
        let garbage = b"\x00\xff{\"t\":\"done\"\n{\"t\":\"cancel\",";
        assert!(lines.push(garbage, 1000).is_empty());
        let frames = lines.push(b"\"id\":7}\n\n[]\n{\"t\":\"nope\"}\n", 1000);
        assert!(matches!(frames[..], [FromKernel::Cancel { id: 7 }]));
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_next_is_not() {
        let frame = b"{\"t\":\"cancel\",\"id\":7}";
        for (limit, n_frames) in [(frame.len(), 2), (frame.len() - 1, 0)] {
            let mut lines = Lines::default();
            let both = [&frame[..], b"\n", frame, b"\n"].concat();
            assert_eq!(lines.push(&both, limit).len(), n_frames);
        }
    }
}
