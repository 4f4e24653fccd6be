//! A connection on which every error has the envelope of D30, also those that the HTTP crate answers itself.
//!
//! A head that cannot be parsed never reaches the service: the crate writes a bare status with an empty body
//! and closes. Every answer of the API has a body, so a head that announces none is the crate's own, and is
//! exchanged on its way to the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::StatusCode;
use hyper::rt::{Read, ReadBufCursor, Write};
use serde_json::json;

/// Passes bytes on, and exchanges bare refusals.
pub(super) struct Enveloped<T> {
    inner: T,
    /// What goes out before anything else does.
    pending: Vec<u8>,
}

impl<T> Enveloped<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner,
            pending: Vec::new(),
        }
    }
}

impl<T: Write + Unpin> Enveloped<T> {
    fn poll_pending(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            let n = ready!(Pin::new(&mut self.inner).poll_write(context, &self.pending))?;
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.pending.drain(..n);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Read + Unpin> Read for Enveloped<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for Enveloped<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_pending(context))?;
        let Some((before, status)) = bare_refusal(bytes) else {
            return Pin::new(&mut self.inner).poll_write(context, bytes);
        };
        // The bytes count as written: what stands for them goes out with the next write or the flush.
        self.pending.extend_from_slice(&bytes[..before]);
        self.pending.extend_from_slice(refusal(status).as_bytes());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_pending(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Finds a head without a body at the end of what is written: where it begins, and its status.
///
/// The JSON of an answer holds no line end, so what looks like a head is one.
fn bare_refusal(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    const START: &[u8] = b"HTTP/1.1 4";
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = bytes
        .windows(START.len())
        .rposition(|window| window == START)?;
    let head = std::str::from_utf8(&bytes[start..]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.get(9..12)?.parse().ok()?;
    let is_bare = lines.any(|line| line.eq_ignore_ascii_case("content-length: 0"));
    is_bare.then_some((start, status))
}

fn refusal(status: StatusCode) -> String {
    let message = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "the head of the request is too large",
        StatusCode::URI_TOO_LONG => "the path of the request is too long",
        _ => "the head of the request is no HTTP/1.1",
    };
    let body = json!({
        "type": "error",
        "error": { "type": "invalid_request_error", "message": message },
    })
    .to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // D30: exactly the answer that has no body is exchanged, also behind an answer that has one.
    #[test]
    fn only_a_bare_refusal_is_exchanged() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        assert_eq!(bare_refusal(bare.as_bytes()), Some((0, status)));
        let ours = refusal(status);
        assert_eq!(bare_refusal(ours.as_bytes()), None);
        let both = format!("{ours}{bare}");
        assert_eq!(bare_refusal(both.as_bytes()), Some((ours.len(), status)));
        for other in [
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: 7\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "{\"a\":\"HTTP/1.1 400\\r\\ncontent-length: 0\\r\\n\\r\\n\"}",
            "",
        ] {
            assert_eq!(bare_refusal(other.as_bytes()), None, "{other}");
        }
    }
}
