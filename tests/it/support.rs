//! What several test modules share.

#[allow(dead_code, reason = "each module uses what it needs")]
pub(crate) mod lsp;
#[allow(dead_code, reason = "each module uses what it needs")]
pub(crate) mod peers;
#[allow(dead_code, reason = "each module uses what it needs")]
pub(crate) mod servers;
#[allow(dead_code, reason = "each module uses what it needs")]
pub(crate) mod terminal;
