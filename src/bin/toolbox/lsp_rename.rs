//! `toolbox lsp-rename`: renames a symbol everywhere, at a terminal.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::background;
use crate::host::Host;
use crate::output::{Console, Step};

pub(crate) const HELP: &str = "\
Renames one symbol in every file that uses it, as its language server sees it; all files change or none.

  toolbox lsp-rename --file src/main.rs --line 3 --symbol run --new-name start --dry-run
  toolbox lsp-rename --file src/main.rs --line 3 --symbol run --new-name start

The symbol is named by its line and its text there; `name#2` is the second occurrence. Nothing is changed while \
the server is still indexing, because it would miss files.";

#[derive(Clone, Debug, Args)]
pub(crate) struct LspRename {
    /// The file
    #[arg(long, value_name = "F")]
    file: PathBuf,
    /// The line of the symbol, from 1
    #[arg(long, value_name = "N")]
    line: usize,
    /// The symbol as it is written on that line; `name#2` is its second occurrence
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    symbol: String,
    /// The name that it shall have
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    new_name: String,
    /// Show the diff and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Renames, or shows what a rename would do.
pub(crate) fn lsp_rename(console: &Console, global: &Global, command: LspRename) -> Step {
    let host = Host::open(console, global)?;
    let paths = host.paths(console, std::slice::from_ref(&command.file))?;
    let call = json!({
        "file": paths.into_iter().next().unwrap_or_default(),
        "line": command.line,
        "symbol": command.symbol,
        "new_name": command.new_name,
        "dry_run": command.dry_run,
    });
    let output = background::call(console, global, "lsp_rename", call)?;
    console.answer(&output)
}
