//! `toolbox lsp`: language servers at a terminal.

use std::env;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, json};
use toolbox::child::{Env, Processes};
use toolbox::lsp::checkers::Checkers;
use toolbox::lsp::{Options, Supervisor};
use toolbox::tools::{Lsp, LspResources};
use toolbox::workspace::Workspace;

use crate::args::Global;
use crate::background;
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::search::is_empty;

pub(crate) const HELP: &str = "\
Asks the language servers of this checkout.

  toolbox lsp status
  toolbox lsp definition --file src/main.rs --line 3 --symbol run
  toolbox lsp references --file src/main.rs --line 3 --symbol run
  toolbox lsp symbols --query Config
  toolbox lsp symbols --file src/main.rs

ACTION is one of diagnostics, definition, type_definition, implementation, references, hover, symbols, \
code_actions, incoming_calls, outgoing_calls, supertypes, subtypes, status, reload. A symbol is named by its \
line and its text there; `name#2` is the second occurrence, `s.name` the name behind `s`. Exit code 1 when nothing was found.";

#[derive(Clone, Debug, Args)]
pub(crate) struct LspCommand {
    /// What to ask, such as definition, references, hover, symbols, diagnostics or status
    #[arg(value_parser = action)]
    action: String,
    /// The file; for diagnostics `*` runs the project's checkers
    #[arg(long, value_name = "F")]
    file: Option<PathBuf>,
    /// The line of the symbol, from 1
    #[arg(long, value_name = "N")]
    line: Option<usize>,
    /// The symbol as it is written on that line; `name#2` is its second occurrence
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    symbol: Option<String>,
    /// Search the symbols of the workspace, or of the file
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    query: Option<String>,
}

/// Reads an action; one of two words may be written as a flag of two words is.
fn action(text: &str) -> Result<String, String> {
    let name = text.replace('-', "_");
    match name.as_str() {
        "rename" => Err("lsp only reads; `toolbox lsp-rename` renames".to_owned()),
        name if Lsp::ACTIONS.contains(&name) => Ok(name.to_owned()),
        _ => Err(format!("one of {}", Lsp::ACTIONS.join(", "))),
    }
}

/// Asks, and ends with 1 where a search found nothing.
pub(crate) fn lsp(console: &Console, global: &Global, command: LspCommand) -> Step {
    let mut call = Map::new();
    call.insert("action".to_owned(), json!(command.action));
    if let Some(file) = &command.file {
        let file = match file.to_str() {
            Some("*") => "*".to_owned(),
            _ => {
                let host = Host::open(console, global)?;
                let paths = host.paths(console, std::slice::from_ref(file))?;
                paths.into_iter().next().unwrap_or_default()
            }
        };
        call.insert("file".to_owned(), json!(file));
    }
    if let Some(line) = command.line {
        call.insert("line".to_owned(), json!(line));
    }
    for (name, value) in [("symbol", command.symbol), ("query", command.query)] {
        if let Some(value) = value {
            call.insert(name.to_owned(), json!(value));
        }
    }
    let output = background::call(console, global, "lsp", call.into())?;
    console.answer(&output)?;
    let lists = ["locations", "symbols", "items", "actions"];
    let list = lists.iter().find(|list| output.data[**list].is_array());
    found(list.is_none_or(|list| !is_empty(&output.data, list)))
}

/// Wires the language servers of a workspace. None is started.
pub(crate) fn resources(
    workspace: &Workspace,
    processes: Processes,
    options: Options,
) -> LspResources {
    let env: Env = env::vars_os().collect();
    let checkers = Checkers::new(processes.clone(), env.clone());
    let supervisor = Supervisor::new(workspace.clone(), processes, env, options);
    LspResources::new(supervisor).with_checkers(checkers)
}
