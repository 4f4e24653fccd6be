//! Waiting for clangd, which parses what a document includes on a thread of its own.
//!
//! Until that thread is done, clangd looks at the document with what was included before, and publishes what it
//! finds under the new version all the same. It says when such a parse begins and when it has ended: every change
//! and every save begins one in each open document, also where nothing that it includes has changed.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Settled, under_way};
use crate::cancel::Cancel;
use crate::lsp::client::Server;
use crate::lsp::error::LspError;

/// A parse begins at once when the change was taken up. One whose beginning was not told, because another was
/// just ending, is not waited for longer.
const BEGINS: Duration = Duration::from_secs(3);

/// Waits until what a document includes has been parsed since a moment, and the document after that.
pub(crate) fn parsed(
    server: &Server,
    path: &Path,
    since: Option<Instant>,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), Settled> {
    handled(server, path, deadline, cancel)?;
    // An older one, or one that was told not to, never says what it does.
    if server.look(|state| state.parsing.is_empty()) {
        return Ok(());
    }
    let begins = deadline.min(Instant::now() + BEGINS);
    server.wait(begins, cancel, |state| {
        let begun = state.parsing.get(path).and_then(|parsing| parsing.begun);
        (begun >= since || state.gone().is_some()).then_some(())
    });
    let ended = server.wait(deadline, cancel, |state| {
        let is_running = state.parsing.get(path).is_some_and(|it| it.is_running);
        (!is_running || state.gone().is_some()).then_some(())
    });
    match ended {
        Some(()) => handled(server, path, deadline, cancel),
        None => Err(Settled::Pending("it parses what is included".to_owned())),
    }
}

/// Tells whether what a document includes is being parsed.
pub(crate) fn is_running(server: &Server, path: &Path) -> bool {
    server.look(|state| state.parsing.get(path).is_some_and(|it| it.is_running))
}

fn handled(
    server: &Server,
    path: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), Settled> {
    match server.handle(path, deadline, cancel) {
        Ok(()) if Instant::now() < deadline => Ok(()),
        Ok(()) | Err(LspError::Cancelled) => Err(Settled::Pending(under_way(server))),
        Err(err) => Err(Settled::Unavailable(err.to_string())),
    }
}
