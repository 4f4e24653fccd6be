//! `lsp`: asks language servers. Arguments in, the engine's reports out.
//!
//! It stays registered where no server is usable, so that `status` can say why (R5). It only reads: rename
//! is the tool `lsp_rename` (R37).

mod diagnostics;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::files::Committer;
use crate::lsp::actions;
use crate::lsp::checkers::Checkers;
use crate::lsp::error::LspError;
use crate::lsp::hierarchy::{self, Direction};
use crate::lsp::hover;
use crate::lsp::navigate::{self, Relation};
use crate::lsp::question::{AskError, Spot};
use crate::lsp::status;
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::SymbolError;
use crate::lsp::symbols;
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError};
use crate::workspace::{AllowedPlaces, WorkspaceError};

/// What the tools of language servers need: a supervisor, which has a workspace.
#[derive(Clone)]
pub struct LspResources {
    /// The servers of the run.
    pub supervisor: Supervisor,
    /// Gets every file outside the workspace that an answer names, so that Read may open it (D36).
    pub outside: AllowedPlaces,
    /// What checks the whole project (D3).
    pub checkers: Option<Checkers>,
    /// Writes what `lsp_rename` changes; without it there is no such tool.
    pub committer: Option<Arc<Committer>>,
}

/// The tool `lsp`.
#[derive(Clone, Debug)]
pub struct Lsp {
    resources: LspResources,
}

/// The arguments of `lsp`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LspArgs {
    /// What to do. With file, line and symbol: `definition`, `type_definition`, `implementation`,
    /// `references`, `hover`, `code_actions`, `incoming_calls`, `outgoing_calls`, `supertypes`, `subtypes`.
    /// With file: `diagnostics`. With file or query: `symbols`. Alone: `status`, `reload`.
    #[schemars(extend("enum" = Lsp::ACTIONS))]
    action: String,
    /// The file, relative to the workspace. For `diagnostics`, `*` runs the project's checkers instead.
    file: Option<String>,
    /// The line of the symbol, from 1.
    #[schemars(range(min = 1))]
    line: Option<usize>,
    /// The symbol as it is written on that line; `name#2` is its second occurrence there, `s.name` the
    /// name behind `s`.
    symbol: Option<String>,
    /// For `symbols`: a part of the name. With a file it narrows that file's symbols.
    query: Option<String>,
}

/// What one action asks.
enum Action {
    Diagnostics,
    Locations(Relation),
    Hover,
    Symbols,
    CodeActions,
    Status,
    Reload,
    Hierarchy(Direction),
}

impl LspResources {
    /// Wires the servers of a run.
    pub fn new(supervisor: Supervisor) -> Self {
        Self {
            supervisor,
            outside: AllowedPlaces::new(),
            checkers: None,
            committer: None,
        }
    }

    /// Lets `lsp_rename` write through this commit.
    #[must_use]
    pub fn with_rename(mut self, committer: Arc<Committer>) -> Self {
        self.committer = Some(committer);
        self
    }

    /// Lets `diagnostics` of `*` run the project's checkers, or say why it may not.
    #[must_use]
    pub fn with_checkers(mut self, checkers: Checkers) -> Self {
        self.checkers = Some(checkers);
        self
    }

    /// Shares the places that may be read with the tools that read.
    #[must_use]
    pub fn with_outside(mut self, outside: AllowedPlaces) -> Self {
        self.outside = outside;
        self
    }
}

impl fmt::Debug for LspResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LspResources")
            .field("supervisor", &self.supervisor)
            .finish_non_exhaustive()
    }
}

impl Lsp {
    /// Every action, as the requirements write it (R29, D44).
    pub const ACTIONS: [&'static str; 14] = [
        "diagnostics",
        "definition",
        "type_definition",
        "implementation",
        "references",
        "hover",
        "symbols",
        "code_actions",
        "status",
        "reload",
        "incoming_calls",
        "outgoing_calls",
        "supertypes",
        "subtypes",
    ];

    /// Makes the tool over the servers of a run.
    pub fn new(resources: LspResources) -> Self {
        Self { resources }
    }

    fn allow(&self, outside: &[PathBuf]) {
        let places = &self.resources.outside;
        outside.iter().for_each(|path| places.allow(path));
    }

    fn file(&self, file: &str) -> Result<PathBuf, ToolError> {
        file_of(&self.resources.supervisor, file)
    }
}

/// Finds a file that an argument names.
pub(super) fn file_of(supervisor: &Supervisor, file: &str) -> Result<PathBuf, ToolError> {
    let path = supervisor.workspace().resolve(file).map_err(path_error)?;
    if path.is_dir() {
        return Err(ToolError::invalid_args(format!("'{file}' is a folder"))
            .with_hint("name one file; `symbols` with a query searches the workspace"));
    }
    if !path.exists() {
        return Err(
            ToolError::new(ErrorKind::NotFound, format!("'{file}' does not exist"))
                .with_hint("check the path; it is relative to the workspace"),
        );
    }
    Ok(path)
}

impl Tool for Lsp {
    const NAME: &'static str = "lsp";
    const TIER: Tier = Tier::Read;
    type Args = LspArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn held(&self) -> Vec<Held> {
        let servers = status::started(&self.resources.supervisor).into_iter();
        servers
            .filter(|server| server.state != "available")
            .map(|server| Held {
                what: "language server".to_owned(),
                state: server.state.to_owned(),
                detail: format!("{} for {}", server.id, server.root.unwrap_or_default()),
            })
            .collect()
    }

    fn run(&self, call: &Call<'_>, args: LspArgs) -> Result<Output, ToolError> {
        let supervisor = &self.resources.supervisor;
        let cancel = call.cancel();
        match action(&args.action)? {
            Action::Status => Output::report(&status::status(supervisor, cancel)),
            Action::Reload => Output::report(&status::reload(supervisor, cancel)),
            Action::Diagnostics => diagnostics::diagnostics(self, call, args.file.as_deref()),
            Action::Symbols => {
                let query = args
                    .query
                    .as_deref()
                    .filter(|query| !query.trim().is_empty());
                let report = match (&args.file, query) {
                    (Some(file), query) => {
                        let path = self.file(file)?;
                        symbols::of_document(supervisor, &path, query, cancel)
                    }
                    (None, Some(query)) => symbols::of_workspace(supervisor, query, cancel),
                    (None, None) => {
                        return Err(ToolError::invalid_args("`symbols` needs a query or a file")
                            .with_hint(
                                "pass query to search the workspace, file to list a document",
                            ));
                    }
                };
                let report = report.map_err(ask_error)?;
                self.allow(&report.outside);
                Output::report(&report)
            }
            Action::Locations(relation) => {
                let (path, line, symbol) = self.spot(&args)?;
                let spot = Spot {
                    path: &path,
                    line,
                    symbol,
                };
                let report = navigate::locations(supervisor, relation, spot, cancel);
                let report = report.map_err(ask_error)?;
                self.allow(&report.outside);
                Output::report(&report)
            }
            Action::Hover => {
                let (path, line, symbol) = self.spot(&args)?;
                let spot = Spot {
                    path: &path,
                    line,
                    symbol,
                };
                Output::report(&hover::hover(supervisor, spot, cancel).map_err(ask_error)?)
            }
            Action::CodeActions => {
                let (path, line, symbol) = self.spot(&args)?;
                let spot = Spot {
                    path: &path,
                    line,
                    symbol,
                };
                Output::report(&actions::actions(supervisor, spot, cancel).map_err(ask_error)?)
            }
            Action::Hierarchy(direction) => {
                let (path, line, symbol) = self.spot(&args)?;
                let spot = Spot {
                    path: &path,
                    line,
                    symbol,
                };
                let report = hierarchy::neighbours(supervisor, direction, spot, cancel);
                let report = report.map_err(ask_error)?;
                self.allow(&report.outside);
                Output::report(&report)
            }
        }
    }
}

impl Lsp {
    /// Reads the place of a symbol. A missing symbol is never guessed (R16).
    fn spot<'a>(&self, args: &'a LspArgs) -> Result<(PathBuf, usize, &'a str), ToolError> {
        let action = &args.action;
        let missing = |what: &str| {
            ToolError::invalid_args(format!("`{action}` needs {what}")).with_hint(
                "pass file, line (from 1) and symbol (the name as it stands on that line)",
            )
        };
        let file = args.file.as_deref().ok_or_else(|| missing("file"))?;
        let line = args.line.ok_or_else(|| missing("line"))?;
        let symbol = args.symbol.as_deref().ok_or_else(|| missing("symbol"))?;
        Ok((self.file(file)?, line, symbol))
    }
}

fn action(name: &str) -> Result<Action, ToolError> {
    Ok(match name {
        "diagnostics" => Action::Diagnostics,
        "definition" => Action::Locations(Relation::Definition),
        "type_definition" => Action::Locations(Relation::TypeDefinition),
        "implementation" => Action::Locations(Relation::Implementation),
        "references" => Action::Locations(Relation::References),
        "hover" => Action::Hover,
        "symbols" => Action::Symbols,
        "code_actions" => Action::CodeActions,
        "status" => Action::Status,
        "reload" => Action::Reload,
        "incoming_calls" => Action::Hierarchy(Direction::IncomingCalls),
        "outgoing_calls" => Action::Hierarchy(Direction::OutgoingCalls),
        "supertypes" => Action::Hierarchy(Direction::Supertypes),
        "subtypes" => Action::Hierarchy(Direction::Subtypes),
        "rename" => {
            return Err(
                ToolError::invalid_args("unknown action 'rename': lsp only reads")
                    .with_hint("use the tool lsp_rename"),
            );
        }
        other => {
            return Err(ToolError::invalid_args(format!("unknown action '{other}'"))
                .with_hint(format!("one of {}", Lsp::ACTIONS.join(", "))));
        }
    })
}

/// Gives an error of the workspace its kind and its next step.
fn path_error(error: WorkspaceError) -> ToolError {
    let (kind, hint) = match &error {
        WorkspaceError::Outside { .. } => (
            ErrorKind::InvalidArgs,
            "name a file inside the workspace; a definition outside can be opened with Read",
        ),
        WorkspaceError::LinkLoop { .. }
        | WorkspaceError::NotAbsolute { .. }
        | WorkspaceError::NotAFolder { .. } => {
            (ErrorKind::InvalidArgs, "name a file of the workspace")
        }
        WorkspaceError::Io { .. } => (
            ErrorKind::Failed,
            "check the permissions of the folders above",
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

/// Gives an error of a question its kind and its next step.
pub(super) fn ask_error(error: AskError) -> ToolError {
    use ErrorKind::{Failed, InvalidArgs, NotFound, Timeout, Unavailable};
    let (kind, hint) = match &error {
        AskError::Unusable(unusable) if unusable.cancelled => return ToolError::cancelled(),
        AskError::Server(LspError::Cancelled) => return ToolError::cancelled(),
        AskError::Unusable(_) => (
            Unavailable,
            "lsp with action \"status\" shows what is there; a text search and ast_grep need no server",
        ),
        AskError::Symbol(SymbolError::NoLine { .. } | SymbolError::NotOnLine { .. }) => (
            NotFound,
            "read the file again: lines may have moved; only that line is searched",
        ),
        AskError::Symbol(SymbolError::NoSymbol { .. }) => {
            (InvalidArgs, "pass the name as it stands on the line")
        }
        AskError::Symbol(SymbolError::NoName {
            name: Some(name), ..
        }) => {
            let hint =
                format!("pass the name alone, such as '{name}', or a path that ends with it");
            return ToolError::from_cause(InvalidArgs, error).with_hint(hint);
        }
        AskError::Symbol(SymbolError::NoName { name: None, .. }) => {
            (InvalidArgs, "pass the name as it stands on the line")
        }
        AskError::Symbol(SymbolError::Ambiguous { .. }) => (
            InvalidArgs,
            "pass name#2 for the second occurrence, or more of the line that stands there once: a path \
             that ends with the name (`s.name`), or a part that begins with it (`name(1)`)",
        ),
        AskError::Symbol(SymbolError::TooFew { .. }) => {
            (NotFound, "count the occurrences on that line from 1")
        }
        AskError::NotOffered { .. } => (
            Unavailable,
            "this server cannot answer it; references or a text search may do",
        ),
        AskError::Server(LspError::TimedOut { .. }) => (
            Timeout,
            "ask again: it goes on reading and answers sooner then; lsp with action \"status\" shows what it \
             does, and a text search needs no server",
        ),
        AskError::Server(LspError::Gone { .. }) => (
            Failed,
            "ask again: the server is started again; lsp with action \"status\" shows its last words",
        ),
        AskError::Server(LspError::Refused { .. }) => (
            Failed,
            "check the symbol; lsp with action \"reload\" starts the server anew",
        ),
        AskError::Server(LspError::Unreadable { .. }) => {
            (Failed, "language servers take UTF-8 files of bounded size")
        }
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Asks the language servers of this checkout: where a symbol is declared, who uses it, what its type and \
documentation are, which errors a file has. It reads and changes nothing; use lsp_rename to rename.

A symbol is addressed by file, line (from 1) and symbol: the name as it stands on that line, never a column. \
Where it stands there several times, name#2 is the second. Use it instead of a text search for one particular \
symbol: it tells same names apart and finds uses that a search cannot.

Actions:
  definition, type_definition, implementation, references (50 at most), hover   file, line, symbol
  incoming_calls, outgoing_calls, supertypes, subtypes                          file, line, symbol
  code_actions   file, line, symbol: the fixes that the server offers; listed, not applied
  symbols        query: search the workspace (100 at most); file: the document's outline (200 at most)
  diagnostics    file: its errors and warnings; file \"*\": runs the project's own checkers (such as cargo \
check), which may run project code
  status         which servers run or could, and what is missing for the others
  reload         starts the servers of this workspace anew

An answer that says `index incomplete` may miss something, and says why: the server is still loading, or knows \
less than the project.";
