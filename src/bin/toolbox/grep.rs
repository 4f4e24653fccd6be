//! `toolbox grep`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::glob::strings;
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::speak;

/// The flags of `toolbox grep`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  toolbox grep 'TODO|FIXME' src -A 2
  toolbox grep -F 'a[0]' --type py --type rust
  toolbox grep --multiline 'fn main\\(.*?\\n\\}' -g '!tests/**'
  toolbox grep -l unsafe | xargs wc -l")]
pub(crate) struct GrepFlags {
    /// The regular expression, in Rust's syntax
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Files and folders to search [default: the whole workspace]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take upper and lower case as the same
    #[arg(short, long)]
    ignore_case: bool,
    /// Take the pattern as a plain text
    #[arg(short = 'F', long = "fixed-strings")]
    fixed: bool,
    /// Match whole words only
    #[arg(short, long = "word-regexp")]
    word: bool,
    /// Let a match span lines; `.` matches line ends too
    #[arg(long)]
    multiline: bool,
    /// Show this many lines after each match
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Show this many lines before each match
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Show this many lines before and after each match
    #[arg(short = 'U', long, value_name = "N")]
    context_lines: Option<usize>,
    /// Narrow by a glob as in .gitignore; `!GLOB` leaves files out (repeatable)
    #[arg(short, long = "glob", value_name = "GLOB")]
    globs: Vec<String>,
    /// Narrow by a type of file, such as rust or py (repeatable)
    #[arg(short, long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Print how many matching lines each file has, as FILE:N
    #[arg(short, long, conflicts_with_all = ["after_context", "before_context", "context_lines"])]
    count: bool,
    /// Print the names of the files with matches and nothing else
    #[arg(
        short = 'l',
        long,
        conflicts_with_all = ["count", "after_context", "before_context", "context_lines"]
    )]
    files_with_matches: bool,
    /// List at most this many matches [default: 100; all for --count and --files-with-matches]
    #[arg(long, value_name = "N")]
    max_results: Option<usize>,
    /// Search hidden files too
    #[arg(long)]
    hidden: bool,
    /// Search ignored files too
    #[arg(long)]
    no_ignore: bool,
}

/// Searches.
pub(crate) fn grep(console: &Console, global: &Global, flags: GrepFlags) -> Step {
    let host = Host::open(console, global)?;
    let mode = match (flags.files_with_matches, flags.count) {
        (true, _) => "files_with_matches",
        (_, true) => "count",
        _ => "content",
    };
    let mut call = json!({
        "pattern": flags.pattern,
        "output_mode": mode,
        "glob": flags.globs,
        "type": flags.types,
        "ignore_case": flags.ignore_case,
        "fixed": flags.fixed,
        "word": flags.word,
        "multiline": flags.multiline,
        "hidden": flags.hidden,
        "no_ignore": flags.no_ignore,
    });
    if !flags.paths.is_empty() {
        call["path"] = json!(host.paths(console, &flags.paths)?);
    }
    for (name, lines) in [
        ("before", flags.before_context),
        ("after", flags.after_context),
        ("context", flags.context_lines),
    ] {
        if let Some(lines) = lines {
            call[name] = json!(lines);
        }
    }
    let everything = (mode != "content").then_some(usize::MAX);
    if let Some(limit) = flags.max_results.or(everything) {
        call["head_limit"] = json!(limit);
    }
    let output = host.dispatch(console, "Grep", call)?;
    let data = &output.data;
    let anything = data["total"] != 0;
    if console.json {
        console.print_json(data)?;
    } else if mode == "content" && anything {
        console.show(&output.text)?;
    } else {
        // Names and counts are read by other commands, so nothing else goes where they go.
        for note in strings(&data["notes"]) {
            console.note(note);
        }
        if mode == "files_with_matches" {
            console.show(&strings(&data["files"]).join("\n"))?;
        }
        for row in data["counts"].as_array().into_iter().flatten() {
            let file = row["file"].as_str().unwrap_or_default();
            console.show(&format!("{file}:{}", row["count"]))?;
        }
        if data["shown"] != data["total"] {
            console.note(&format!("{} of {} files", data["shown"], data["total"]));
        }
        if !anything {
            let hint = data["hint"].as_str().map(speak::flags);
            let hint = hint.map(|hint| format!(": {hint}")).unwrap_or_default();
            let files = &data["files_searched"];
            console.note(&format!("no matches in {files} files{hint}"));
        }
    }
    found(anything)
}
