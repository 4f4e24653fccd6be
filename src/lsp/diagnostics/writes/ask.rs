//! Questions to servers that a write may ask, each with its bound.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::place::{Outline, document};
use crate::cancel::Cancel;
use crate::lsp::client::Server;
use crate::lsp::error::Unusable;
use crate::lsp::question::within;
use crate::lsp::settle::{Mark, Settled, is_slow, settle, settled_already};
use crate::lsp::supervisor::Supervisor;

/// How long the names of symbols may take, which are a nicety.
const OUTLINE: Duration = Duration::from_millis(500);

/// Starts the servers and linters of a file, if they are there by then; a start that takes longer goes on.
/// A file with a linter and nothing else is served, too.
pub(super) fn servers_within(
    supervisor: &Supervisor,
    path: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Option<Result<(), Unusable>> {
    let (primary, linters) = within(deadline, cancel, |stop| {
        let primary = supervisor.server_for(path, stop);
        (primary, supervisor.linters_for(path, stop))
    });
    match primary {
        Err(unusable) if unusable.cancelled => None,
        Err(unusable) if linters.is_empty() => Some(Err(unusable)),
        Ok(_) | Err(_) => Some(Ok(())),
    }
}

/// The first words about a text that was just opened; a compiler does not run for an opened file.
pub(super) fn settle_opened(
    server: &Server,
    path: &Path,
    mark: &Mark,
    version: i64,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    match is_slow(server) {
        true => settled_already(server, path, version, deadline, cancel),
        false => settle(server, path, mark, version, deadline, cancel),
    }
}

/// The symbols of a file, as far as they come soon.
pub(super) fn outline(server: &Server, path: &Path, cancel: &Cancel) -> Outline {
    if !server.supports("documentSymbolProvider", "textDocument/documentSymbol") {
        return Outline::default();
    }
    let deadline = Instant::now() + OUTLINE;
    let symbols = server.request(
        "textDocument/documentSymbol",
        document(path),
        deadline,
        cancel,
    );
    symbols.map_or_else(|_| Outline::default(), |symbols| Outline::read(&symbols))
}
