//! The action `diagnostics`: the errors and warnings of one file (R17, D2).

use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::{Lsp, ask_error};
use crate::lsp::convert::Lines;
use crate::lsp::published::{Diagnostic, Severity};
use crate::lsp::question::AskError;
use crate::text::LineIndex;
use crate::tool::{Call, ErrorKind, Output, ToolError};

/// What is wrong with a file.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip)]
    file: String,
    /// `clean`, `found` or `pending`.
    state: &'static str,
    diagnostics: Vec<Row>,
    server: String,
}

#[derive(Debug, Serialize)]
struct Row {
    file: String,
    line: usize,
    column: usize,
    severity: &'static str,
    code: Option<String>,
    message: String,
    source: Option<String>,
}

/// Lists the errors and warnings of a file. Silence never reads as clean.
pub(super) fn diagnostics(
    lsp: &Lsp,
    call: &Call<'_>,
    file: Option<&str>,
) -> Result<Output, ToolError> {
    let file = match file {
        Some("*") => {
            return Err(ToolError::new(
                ErrorKind::Unavailable,
                "no project checkers are wired for this run",
            )
            .with_hint("name one file"));
        }
        Some(file) => file,
        None => {
            return Err(ToolError::invalid_args("`diagnostics` needs file")
                .with_hint("pass a file, or \"*\" to run the project's checkers"));
        }
    };
    let path = lsp.file(file)?;
    let supervisor = &lsp.resources.supervisor;
    let opened = supervisor.open(&path, call.cancel()).map_err(ask_error)?;
    let server = &opened.server;
    let deadline = Instant::now() + supervisor.options().timeouts.request;
    let items = if server.pulls() {
        let res = server.pull(&path, deadline, call.cancel());
        Some(res.map_err(|err| ask_error(AskError::Server(err)))?)
    } else {
        let version = server.document(&path).map(|document| document.version);
        server.wait(deadline, call.cancel(), |state| {
            let said = state.published().of(&path)?;
            (said.version.is_none() || said.version == version).then(|| said.items.clone())
        })
    };
    call.check_cancelled()?;
    let shown = supervisor.workspace().display(&path);
    let lines = Lines::new(&opened.text);
    let index = LineIndex::new(opened.text.as_bytes());
    let row = |item: &Diagnostic| {
        let offset = lines.offset(item.range.start, server.encoding());
        let position = index.position(offset);
        Row {
            file: shown.clone(),
            line: position.line,
            column: position.column,
            severity: item.severity.as_str(),
            code: item.code.clone(),
            message: item.message.clone(),
            source: item.source.clone(),
        }
    };
    let state = match &items {
        None => "pending",
        Some(items) if items.iter().any(counts) => "found",
        Some(_) => "clean",
    };
    let items = items.unwrap_or_default();
    let mut diagnostics: Vec<Row> = items.iter().filter(|item| counts(item)).map(row).collect();
    diagnostics.sort_by_key(|row| (row.line, row.column));
    Output::report(&Report {
        file: shown.clone(),
        state,
        diagnostics,
        server: server.id().to_owned(),
    })
}

/// Errors and warnings count; remarks and suggestions do not (D2).
fn counts(item: &Diagnostic) -> bool {
    item.severity <= Severity::Warning
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.state {
            "clean" => writeln!(f, "{}: clean, says {}", self.file, self.server)?,
            "pending" => writeln!(
                f,
                "{}: diagnostics pending; {} has not spoken yet",
                self.file, self.server
            )?,
            _ => {}
        }
        for row in &self.diagnostics {
            write!(
                f,
                "{}:{}:{}: {}",
                row.file, row.line, row.column, row.severity
            )?;
            if let Some(code) = &row.code {
                write!(f, "[{code}]")?;
            }
            writeln!(f, ": {}", row.message)?;
        }
        Ok(())
    }
}
