//! `toolbox read`, `write`, `edit` and `apply-patch`.

use std::io::{self, IsTerminal, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use toolbox::tool::Output;

use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};
use crate::paint;
use crate::speak;

#[derive(Clone, Debug, Args)]
pub(crate) struct Read {
    /// The file: text, a notebook or a picture
    pub(crate) file: PathBuf,
    /// The first line to show, counted from 1 [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) offset: Option<usize>,
    /// Show this many lines at most [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show this many characters of a line at most [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) line_chars: Option<usize>,
    /// Show a notebook as the JSON that it is
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Write {
    /// The file; missing folders are made
    pub(crate) file: PathBuf,
    /// The whole new content [default: standard input]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) content: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Edit {
    /// The file
    pub(crate) file: PathBuf,
    /// The text to replace, exactly as the file has it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) old: String,
    /// The text to put there; empty deletes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) new: String,
    /// Replace every occurrence instead of exactly one
    #[arg(long)]
    pub(crate) replace_all: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ApplyPatch {
    /// The file with the patch; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) patch: PathBuf,
}

/// Shows a file.
pub(crate) fn read(console: &Console, global: &Global, args: Read) -> Step {
    let host = Host::open(console, global)?;
    let mut call = Map::new();
    call.insert("path".to_owned(), path(console, &host, &args.file)?);
    for (name, value) in [
        ("offset", args.offset),
        ("limit", args.limit),
        ("line_chars", args.line_chars),
    ] {
        if let Some(value) = value {
            call.insert(name.to_owned(), json!(value));
        }
    }
    call.insert("raw".to_owned(), json!(args.raw));
    let output = host.dispatch(console, "Read", Value::Object(call))?;
    if console.json {
        return console.print_json(&output.data);
    }
    let (lines, note) = parted(&output);
    let lines = console.safe(lines);
    if !lines.is_empty() {
        console.print(&match console.color {
            true => numbers_painted(&lines).into(),
            false => lines,
        })?;
    }
    if let Some(note) = note {
        console.note(&speak::flags(note));
    }
    match output.images.len() {
        0 => {}
        1 => console.note("a model gets the picture itself"),
        _ => console.note("a model gets the pictures themselves"),
    }
    Ok(())
}

/// Makes a file or replaces its content.
pub(crate) fn write(console: &Console, global: &Global, args: Write) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    let content = match args.content {
        Some(content) => content,
        None => standard_input(console, "the content")?,
    };
    let call = json!({"path": path(console, &host, &args.file)?, "content": content});
    changed(console, &host.dispatch(console, "Write", call)?)
}

/// Replaces text in a file.
pub(crate) fn edit(console: &Console, global: &Global, args: Edit) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    let call = json!({
        "path": path(console, &host, &args.file)?,
        "old_string": args.old,
        "new_string": args.new,
        "replace_all": args.replace_all,
    });
    changed(console, &host.dispatch(console, "Edit", call)?)
}

/// Applies a patch.
pub(crate) fn apply_patch(console: &Console, global: &Global, args: ApplyPatch) -> Step {
    let patch = if args.patch == Path::new("-") {
        standard_input(console, "the patch")?
    } else {
        std::fs::read_to_string(&args.patch).map_err(|err| {
            console.misuse(&format!("cannot read '{}': {err}", args.patch.display()))
        })?
    };
    let host = Host::open(console, global)?;
    host.edits(console)?;
    changed(
        console,
        &host.dispatch(console, "apply_patch", json!({"patch": patch}))?,
    )
}

fn path(console: &Console, host: &Host, file: &PathBuf) -> Step<Value> {
    let paths = host.paths(console, std::slice::from_ref(file))?;
    Ok(json!(paths.first()))
}

fn standard_input(console: &Console, what: &str) -> Step<String> {
    if io::stdin().is_terminal() {
        console.note(&format!(
            "{what} is read from standard input; Ctrl-D ends it"
        ));
    }
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .map_err(|err| console.misuse(&format!("cannot read {what} from standard input: {err}")))?;
    Ok(text)
}

/// Prints what changed.
fn changed(console: &Console, output: &Output) -> Step {
    if console.json {
        return console.print_json(&output.data);
    }
    let text = console.safe(&output.text);
    console.print(&match console.color {
        true => paint::diff(&text).into(),
        false => text,
    })
}

/// Parts the lines of a file from what the tool says about them.
fn parted(output: &Output) -> (&str, Option<&str>) {
    let text = output.text.as_str();
    let (Some(note), Some(file)) = (output.data["note"].as_str(), output.data["file"].as_str())
    else {
        return (text, None);
    };
    match text.strip_suffix(&format!("({file}: {note})")) {
        Some(lines) => (lines, Some(note)),
        None => (text, None),
    }
}

fn numbers_painted(lines: &str) -> String {
    let mut painted = String::with_capacity(lines.len() * 2);
    for line in lines.split_inclusive('\n') {
        match line.split_once('\t') {
            Some((number, rest)) => painted.push_str(&format!("\x1b[32m{number}\x1b[0m\t{rest}")),
            None => painted.push_str(line),
        }
    }
    painted
}

#[cfg(test)]
mod tests {
    use super::*;

    // What a tool says is parted from the file's own lines, also where a line looks like it.
    #[test]
    fn lines_and_notes_are_shown_apart_and_safely() {
        let output = |text: &str, note: Value| Output {
            text: text.to_owned(),
            data: json!({"file": "a", "note": note}),
            images: Vec::new(),
        };
        let noted = output("     1\tx\n(a: more)", json!("more"));
        assert_eq!(parted(&noted), ("     1\tx\n", Some("more")));
        let plain = output("     1\t(a: more)\n", Value::Null);
        assert_eq!(parted(&plain), ("     1\t(a: more)\n", None));
        assert_eq!(numbers_painted("  1\ta\tb\n"), "\x1b[32m  1\x1b[0m\ta\tb\n");
    }
}
