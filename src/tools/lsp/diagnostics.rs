//! The action `diagnostics`: the errors and warnings of one file, or of the project (R17, R18, D2, D3).

use super::{Lsp, ask_error};
use crate::lsp::checkers::CheckError;
use crate::lsp::diagnostics::diagnostics_of;
use crate::lsp::question::AskError;
use crate::tool::{Call, ErrorKind, Output, ToolError};

/// Lists errors and warnings. Silence never reads as clean.
pub(super) fn diagnostics(
    lsp: &Lsp,
    call: &Call<'_>,
    file: Option<&str>,
) -> Result<Output, ToolError> {
    match file {
        Some("*") => project(lsp, call),
        Some(file) => {
            let path = lsp.file(file)?;
            let supervisor = &lsp.resources.supervisor;
            let timeouts = supervisor.options().timeouts;
            let time = timeouts.ready.max(timeouts.request);
            let report = diagnostics_of(supervisor, &path, time, call.cancel());
            call.check_cancelled()?;
            Output::report(&report.map_err(|err| ask_error(AskError::Unusable(err)))?)
        }
        None => Err(ToolError::invalid_args("`diagnostics` needs file")
            .with_hint("pass a file, or \"*\" to run the project's checkers")),
    }
}

fn project(lsp: &Lsp, call: &Call<'_>) -> Result<Output, ToolError> {
    let unavailable = |message: String| {
        ToolError::new(ErrorKind::Unavailable, message)
            .with_hint("name one file instead of \"*\", or run the project's own checks")
    };
    let Some(checkers) = &lsp.resources.checkers else {
        let message = "no project checkers are wired for this run";
        return Err(unavailable(message.to_owned()));
    };
    match checkers.check(lsp.resources.supervisor.workspace(), call.cancel()) {
        Ok(report) => Output::report(&report),
        Err(CheckError::Cancelled) => Err(ToolError::cancelled()),
        Err(error @ CheckError::Disabled(_)) => Err(unavailable(error.to_string())),
        Err(error @ CheckError::Walk(_)) => {
            Err(ToolError::from_cause(ErrorKind::Failed, error).with_hint("name one file instead"))
        }
    }
}
