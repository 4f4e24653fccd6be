//! `toolbox glob`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::args::Global;
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::speak;

/// The flags of `toolbox glob`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  toolbox glob '*.rs'                   at any depth
  toolbox glob 'src/**/*.{ts,tsx}'
  toolbox glob Makefile deps/zlib       below one folder
  toolbox glob 'target/doc/*.html'      an ignored folder that the pattern begins with is looked into")]
pub(crate) struct GlobFlags {
    /// The pattern: `*` stays inside one folder, `**/` crosses folders, {a,b} are alternatives
    pattern: String,
    /// The folder that the pattern is relative to [default: the workspace]
    path: Option<PathBuf>,
    /// The order of the list
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    sort: SortFlag,
    /// List at most this many files [default: all]
    #[arg(long, value_name = "N")]
    max_results: Option<usize>,
    /// List hidden files too
    #[arg(long)]
    hidden: bool,
    /// List ignored files too
    #[arg(long)]
    no_ignore: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SortFlag {
    /// The file that changed last first
    #[default]
    Newest,
    /// By path
    Path,
}

/// Lists files, one a line, so that other commands can read them.
pub(crate) fn glob(console: &Console, global: &Global, flags: GlobFlags) -> Step {
    let host = Host::open(console, global)?;
    let sort = match flags.sort {
        SortFlag::Newest => "newest",
        SortFlag::Path => "path",
    };
    let mut call = json!({
        "pattern": flags.pattern,
        "sort": sort,
        "limit": flags.max_results.unwrap_or(usize::MAX),
        "hidden": flags.hidden,
        "no_ignore": flags.no_ignore,
    });
    if let Some(path) = flags.path {
        call["path"] = json!(host.paths(console, &[path])?[0]);
    }
    let output = host.dispatch(console, "Glob", call)?;
    let data = &output.data;
    if console.json {
        console.print_json(data)?;
    } else {
        for note in data["notes"].as_array().into_iter().flatten() {
            console.note(note.as_str().unwrap_or_default());
        }
        let names: Vec<&str> = strings(&data["files"]);
        console.show(&names.join("\n"))?;
        if data["shown"] != data["total"] {
            console.note(&format!("{} of {} files", data["shown"], data["total"]));
        }
        if let Some(hint) = data["hint"].as_str() {
            console.note(&format!("no files found: {}", speak::flags(hint)));
        }
    }
    found(data["total"] != 0)
}

/// The words of a list.
pub(crate) fn strings(list: &Value) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}
