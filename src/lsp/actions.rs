//! The fixes and refactorings that servers offer for a symbol (R26). They are listed and not applied: the
//! tool only reads.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_types::Range;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::convert::Lines;
use crate::lsp::navigate::tell_incomplete;
use crate::lsp::question::{AskError, Gap, Opened, Spot, within};
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::Target;
use crate::lsp::uri;

/// The actions, with how many there are.
#[derive(Clone, Debug, Serialize)]
pub struct ActionsReport {
    #[serde(skip)]
    symbol: String,
    /// The actions: preferred ones first, then in the order of the servers.
    pub actions: Vec<Action>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// Why the answer may miss something, if it may.
    pub incomplete: Option<Gap>,
}

/// One action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// What it does.
    pub title: String,
    /// Its kind, such as `quickfix` or `refactor.extract`.
    pub kind: Option<String>,
    /// Whether it is the usual answer to the problem.
    pub preferred: bool,
    /// The server that offers it.
    pub server: String,
}

/// How long the problems of a freshly opened file are waited for: fixes are offered for problems.
const PROBLEMS: Duration = Duration::from_secs(5);

/// Lists what the server and the linters of a file offer.
pub fn actions(
    supervisor: &Supervisor,
    spot: Spot<'_>,
    cancel: &Cancel,
) -> Result<ActionsReport, AskError> {
    supervisor.check_spot(spot)?;
    let begun = Instant::now();
    let opened = match supervisor.open_since(spot.path, begun, cancel) {
        // Where no server answers for the file its linters do: fixes are what they are for.
        Err(AskError::Unusable(unusable)) if !unusable.cancelled => {
            let offering = (PROVIDER, METHOD);
            supervisor.open_linted(spot.path, begun, offering, unusable, cancel)?
        }
        opened => opened?,
    };
    let target = supervisor.locate(&opened, spot)?;
    let needed = opened.needs(PROVIDER, METHOD, "code actions");
    let mut found = match needed {
        Ok(()) => offered(supervisor, &opened.server, &opened, target, cancel)?,
        Err(_) => Vec::new(),
    };
    let deadline = supervisor.request_deadline(&opened);
    let mut linters = within(deadline, cancel, |stop| {
        supervisor.linters_for(spot.path, stop)
    });
    linters
        .retain(|linter| !Arc::ptr_eq(linter, &opened.server) && linter.supports(PROVIDER, METHOD));
    if linters.is_empty() {
        needed?;
    }
    for linter in linters {
        if linter.sync(spot.path).is_ok()
            // A linter that fails takes nothing from the answer.
            && let Ok(more) = offered(supervisor, &linter, &opened, target, cancel)
        {
            found.extend(more);
        }
    }
    found.sort_by_key(|action| !action.preferred);
    let total = found.len();
    found.truncate(limits::LSP_CODE_ACTIONS);
    Ok(ActionsReport {
        symbol: opened.name(target),
        shown: found.len(),
        total,
        actions: found,
        incomplete: opened.incomplete(),
    })
}

const PROVIDER: &str = "codeActionProvider";
const METHOD: &str = "textDocument/codeAction";

fn offered(
    supervisor: &Supervisor,
    server: &Server,
    opened: &Opened,
    target: Target,
    cancel: &Cancel,
) -> Result<Vec<Action>, AskError> {
    let lines = Lines::new(&opened.text);
    let range = Range {
        start: lines.position(target.start, server.encoding()),
        end: lines.position(target.end, server.encoding()),
    };
    let problems = problems(server, opened, range, cancel);
    let params = json!({
        "textDocument": {"uri": uri::from_path(&opened.path)},
        "range": range,
        "context": {"diagnostics": problems, "triggerKind": 1}
    });
    let deadline = supervisor.request_deadline(opened);
    let answer = server.query(METHOD, params, deadline, cancel)?;
    let values = answer.as_array().into_iter().flatten();
    let usable = values.filter(|value| value["disabled"].is_null());
    Ok(usable
        .filter_map(|value| {
            Some(Action {
                title: value["title"].as_str()?.to_owned(),
                kind: value["kind"].as_str().map(str::to_owned),
                preferred: value["isPreferred"] == json!(true),
                server: server.id().to_owned(),
            })
        })
        .collect())
}

/// The problems that touch the symbol, as the server sent them.
fn problems(server: &Server, opened: &Opened, range: Range, cancel: &Cancel) -> Vec<Value> {
    let deadline = Instant::now() + PROBLEMS;
    let version = server
        .document(&opened.path)
        .map(|document| document.version);
    let items = if server.pulls() {
        server
            .pull(&opened.path, deadline, cancel)
            .unwrap_or_default()
    } else {
        let said = server.wait(deadline, cancel, |state| {
            let said = state.published().of(&opened.path)?;
            (said.version.is_none() || said.version == version).then(|| said.items.clone())
        });
        said.unwrap_or_default()
    };
    let touches = |other: &Range| other.start <= range.end && range.start <= other.end;
    items
        .into_iter()
        .filter(|item| touches(&item.range))
        .map(|item| item.raw)
        .collect()
}

impl fmt::Display for ActionsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.total == 1 { "action" } else { "actions" };
        match self.total {
            0 => writeln!(f, "no code actions for '{}'", self.symbol)?,
            total if total > self.shown => writeln!(
                f,
                "{total} code {noun} for '{}', {} shown, {} cut",
                self.symbol,
                self.shown,
                total - self.shown
            )?,
            total => writeln!(f, "{total} code {noun} for '{}'", self.symbol)?,
        }
        for action in &self.actions {
            write!(f, "{}", action.title)?;
            if let Some(kind) = &action.kind {
                write!(f, "  [{kind}]")?;
            }
            if action.preferred {
                f.write_str("  preferred")?;
            }
            writeln!(f)?;
        }
        tell_incomplete(f, self.incomplete.as_ref())
    }
}
