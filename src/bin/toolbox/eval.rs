//! `toolbox eval`: a cell at a terminal.
//!
//! Pictures are written to files and named, because a terminal shows none.

use std::env;
use std::fs::DirBuilder;
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use toolbox::child::{Env, Processes};
use toolbox::files::{ContentHash, remove_old};
use toolbox::kernel::KernelOptions;
use toolbox::limits;
use toolbox::tool::{Output, Tier};
use toolbox::tools::EvalResources;
use toolbox::workspace::Workspace;

use crate::args::Global;
use crate::background::{self, Via};
use crate::config::Config;
use crate::host::{Host, output_dir};
use crate::output::{Console, Ending, Step};

pub(crate) const HELP: &str = "\
Runs a cell of Python or JavaScript in an interpreter that lives on, shows the value of its last \
expression, and writes figures to files.

  toolbox eval '1 + 1'
  toolbox eval --file analysis.py
  echo 'print(2 ** 10)' | toolbox eval -

Python is the project's own: .venv or venv, VIRTUAL_ENV, then the PATH. In a cell tool(name, args) calls any \
tool of `toolbox tools`; what it may do without asking is set by --approve. The exit code is 3 for a cell \
that raises, is interrupted, asks to end or takes its interpreter along.";

#[derive(Clone, Debug, Args)]
pub(crate) struct EvalCommand {
    /// The cell; `-` reads standard input
    #[arg(required_unless_present_any = ["file", "reset"], conflicts_with = "file", allow_hyphen_values = true)]
    code: Option<String>,
    /// Read the cell from a file
    #[arg(long, value_name = "F")]
    file: Option<PathBuf>,
    /// What the cell does, for the transcript [default: its first line]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The tools that the cell may call without asking
    #[arg(long, value_name = "TIER", default_value = "read")]
    approve: Tier,
    /// Interrupt the cell after so many seconds of silence; 0 is never [default: 300]
    #[arg(long, value_name = "SECONDS")]
    budget: Option<f64>,
    /// The language [default: by the file's extension, else python]
    #[arg(short, long, value_enum, value_name = "LANG")]
    language: Option<CellLanguage>,
    /// Start a clean interpreter first
    #[arg(long)]
    reset: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CellLanguage {
    /// Python 3
    #[value(alias = "py")]
    Python,
    /// Node.js
    #[value(alias = "js")]
    Javascript,
}

/// Runs a cell.
pub(crate) fn eval(console: &Console, global: &Global, args: EvalCommand) -> Step {
    let code = code(console, &args)?;
    let language = args.language.unwrap_or_else(|| language_of(&args));
    let description = args
        .description
        .clone()
        .unwrap_or_else(|| first_line(&code));
    let mut call = Map::new();
    call.insert("code".to_owned(), json!(code));
    call.insert("description".to_owned(), json!(description));
    let language = match language {
        CellLanguage::Python => "python",
        CellLanguage::Javascript => "javascript",
    };
    call.insert("language".to_owned(), json!(language));
    call.insert("reset".to_owned(), json!(args.reset));
    if let Some(seconds) = args.budget {
        call.insert("budget_s".to_owned(), json!(seconds));
    }
    let via = Via {
        approve: Some(args.approve),
    };
    let mut output = background::call_with(console, global, "eval", Value::Object(call), via)?;
    let files = write_pictures(console, global, &output)?;
    if !files.is_empty() && !console.json {
        for file in &files {
            output.text.push_str(&format!("\n{}", file.display()));
        }
    }
    if let Value::Object(data) = &mut output.data {
        data.insert("image_files".to_owned(), json!(files));
    }
    match console.json {
        true => console.print_json(&output.data)?,
        // What a cell prints is its own, colours included, as in a shell.
        false => console.print(&output.text)?,
    }
    ended_well(&output)
}

/// Turns the status of a cell into its exit code.
pub(crate) fn ended_well(output: &Output) -> Step {
    if output.data["status"] == "ok" {
        Ok(())
    } else {
        Err(Ending::Failed)
    }
}

/// Returns what a run of this workspace needs for `eval`.
pub(crate) fn resources(
    workspace: &Workspace,
    processes: Processes,
    config: &Config,
    budget: Option<Duration>,
    state_dir: Option<&Path>,
) -> EvalResources {
    let section = &config.sections.eval;
    let variables: Env = env::vars_os().collect();
    let mut options = KernelOptions::new(workspace.root(), variables);
    options.virtual_env = env::var_os("VIRTUAL_ENV")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    options.python = section.python.as_ref().map(PathBuf::from);
    options.node = section.node.as_ref().map(PathBuf::from);
    options.enclosure = config.sections.enclosure.clone().unwrap_or_default();
    options.budget = budget.or(section.budget).or(options.budget);
    options.spill = state_dir.map(output_dir);
    EvalResources::new(processes, options)
}

fn code(console: &Console, args: &EvalCommand) -> Step<String> {
    if let Some(file) = &args.file {
        return std::fs::read_to_string(file)
            .map_err(|err| console.misuse(&format!("cannot read '{}': {err}", file.display())));
    }
    match args.code.as_deref() {
        Some("-") => {
            let mut code = String::new();
            std::io::stdin()
                .read_to_string(&mut code)
                .map_err(|err| console.misuse(&format!("cannot read standard input: {err}")))?;
            Ok(code)
        }
        Some(code) => Ok(code.to_owned()),
        // `--reset` alone starts the new interpreter with an empty cell.
        None => Ok(String::new()),
    }
}

fn language_of(args: &EvalCommand) -> CellLanguage {
    let extension = args.file.as_deref().and_then(Path::extension);
    match extension.and_then(|extension| extension.to_str()) {
        Some("js" | "mjs" | "cjs") => CellLanguage::Javascript,
        _ => CellLanguage::Python,
    }
}

/// The label of a cell whose writer gave none (D40).
fn first_line(code: &str) -> String {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or("an empty cell").chars().take(80).collect()
}

/// Writes the pictures of a cell to files, named by what they show so that the same one is written once.
fn write_pictures(console: &Console, global: &Global, output: &Output) -> Step<Vec<PathBuf>> {
    let displays = output.data["displays"].as_array();
    let is_picture = |display: &Value| {
        let mime = display["mime"].as_str();
        mime.is_some_and(|mime| mime.starts_with("image/"))
    };
    if !displays.into_iter().flatten().any(is_picture) {
        return Ok(Vec::new());
    }
    let folder = Host::open(console, global)?.figures();
    remove_old(&folder, "figure-", limits::OUTPUT_LIFETIME);
    let mut files = Vec::new();
    for display in displays.into_iter().flatten() {
        let (Some(mime), Some(data)) = (display["mime"].as_str(), display["data"].as_str()) else {
            continue;
        };
        let Some(extension) = mime.strip_prefix("image/") else {
            continue;
        };
        let (extension, bytes) = match extension {
            "svg+xml" => ("svg", Some(data.as_bytes().to_vec())),
            "jpeg" => ("jpg", decode(data)),
            other => (other, decode(data)),
        };
        let Some(bytes) = bytes else { continue };
        let mut name = ContentHash::of(&bytes).to_string();
        name.truncate(12);
        let path = folder.join(format!("figure-{name}.{extension}"));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(|err| console.misuse(&format!("cannot write '{}': {err}", path.display())))?;
        files.push(path);
    }
    Ok(files)
}

fn decode(data: &str) -> Option<Vec<u8>> {
    base64::engine::general_purpose::STANDARD
        .decode(data.trim())
        .ok()
}
