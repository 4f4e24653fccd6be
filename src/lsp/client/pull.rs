//! Asking a server for the diagnostics of a file.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::client::Server;
use crate::lsp::error::{CONTENT_MODIFIED, LspError, SERVER_CANCELLED};
use crate::lsp::published::{Diagnostic, Origin};
use crate::lsp::uri;

/// How long after a retriggered pull the next one follows; longer each time, up to the last.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
];

impl Server {
    /// Tells whether diagnostics are asked for here: the server offers it, and it was told that we ask.
    pub fn pulls(&self) -> bool {
        self.row().pull && self.supports("diagnosticProvider", "textDocument/diagnostic")
    }

    /// Asks for the diagnostics of an open document; the answer joins what the server published.
    ///
    /// A server that is not done yet (`-32802`, unless it says not to retrigger) or whose texts changed
    /// (`-32801`) is asked again until `deadline`.
    pub fn pull(
        &self,
        path: &Path,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Vec<Diagnostic>, LspError> {
        let mut n_pulls = 0;
        loop {
            match self.pull_once(path, deadline, cancel) {
                Err(LspError::Refused { code, data, .. })
                    if (code == CONTENT_MODIFIED
                        || (code == SERVER_CANCELLED && retriggers(data.as_ref())))
                        && Instant::now() < deadline =>
                {
                    let pause = PAUSES[n_pulls.min(PAUSES.len() - 1)];
                    n_pulls += 1;
                    let until = (Instant::now() + pause).min(deadline);
                    let refreshes = self.look(|state| state.refreshes);
                    self.wait(until, cancel, |state| {
                        (state.refreshes > refreshes || state.gone().is_some()).then_some(())
                    });
                }
                res => return res,
            }
        }
    }

    fn pull_once(
        &self,
        path: &Path,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Vec<Diagnostic>, LspError> {
        let version = self.document(path).map(|document| document.version);
        let (previous, options) = self.look(|state| {
            let said = state.published.of(path);
            let previous = said.and_then(|said| said.result_id.clone());
            let options = state.provider("diagnosticProvider", "textDocument/diagnostic");
            (previous, options.unwrap_or_default())
        });
        let mut params = json!({"textDocument": {"uri": uri::from_path(path)}});
        if let Some(identifier) = options["identifier"].as_str() {
            params["identifier"] = json!(identifier);
        }
        if let Some(previous) = previous {
            params["previousResultId"] = json!(previous);
        }
        let report = self.request("textDocument/diagnostic", params, deadline, cancel)?;
        self.shared.update(|state| {
            let published = &mut state.published;
            if report["kind"] == "unchanged" {
                published.confirm(path, version);
            } else {
                let items = Diagnostic::read_all(&report["items"]);
                let result_id = report["resultId"].as_str().map(str::to_owned);
                published.say(
                    path.to_path_buf(),
                    Origin::Pulled,
                    version,
                    result_id,
                    items,
                );
            }
            for (other, report) in report["relatedDocuments"].as_object().into_iter().flatten() {
                if let Some(other) = uri::to_path(other)
                    && report["kind"] != "unchanged"
                {
                    let items = Diagnostic::read_all(&report["items"]);
                    let result_id = report["resultId"].as_str().map(str::to_owned);
                    published.say(other, Origin::Pulled, None, result_id, items);
                }
            }
            let said = published.of(path);
            Ok(said.map(|said| said.items.clone()).unwrap_or_default())
        })
    }
}

/// A server that cancelled a pull wants it again, unless it says otherwise.
fn retriggers(data: Option<&Value>) -> bool {
    data.is_none_or(|data| data["retriggerRequest"] != json!(false))
}
