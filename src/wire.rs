//! Messages over a pipe or a socket: frames of `Content-Length`, and replies that find their request.
//!
//! The language server protocol and the debug adapter protocol share this framing and nothing else, so
//! this module knows neither: a message is a JSON value, and what its fields mean is the client's affair.
//! The other end is trusted with nothing. Garbage between frames is skipped and reported, a frame over the
//! limit is dropped, bad JSON costs one message, and a peer that stops reading blocks the writing thread
//! and nobody else.

mod frames;
mod outbox;
mod pending;

pub use crate::wire::frames::{Frames, Incoming, read_frames};
pub use crate::wire::outbox::{Outbox, OutboxClosed};
pub use crate::wire::pending::{Pending, Waiting};
