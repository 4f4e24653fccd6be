//! `toolbox ast-edit` and `toolbox resolve`.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolbox::syntax::staging::{Listing, Staged};
use toolbox::tool::{ErrorKind, ToolError};

use crate::args::{AstEdit, Global, Resolve};
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::paint;
use crate::search;

/// Stages a rewrite.
pub(crate) fn ast_edit(console: &Console, global: &Global, args: AstEdit) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    let mut call = search::scope(console, &host, args.scope, &args.paths)?;
    call.insert("pattern".to_owned(), json!(args.pattern));
    call.insert("rewrite".to_owned(), json!(args.rewrite));
    call.insert(
        "allow_syntax_errors".to_owned(),
        json!(args.allow_syntax_errors),
    );
    let output = host.dispatch(console, "ast_edit", Value::Object(call))?;
    search::tell_skipped(console, &output.data);
    let edit_id = output.data["edit_id"].as_str();
    if console.color && !console.json {
        console.print(&paint::diff(&output.text))?;
    } else {
        console.answer(&output)?;
    }
    if let Some(edit_id) = edit_id {
        console.note(&format!(
            "no file was changed; apply it with `toolbox resolve {edit_id} accept`"
        ));
    }
    found(edit_id.is_some())
}

/// Applies or drops what was staged, or lists it.
pub(crate) fn resolve(console: &Console, global: &Global, args: Resolve) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    if args.list {
        host.recover(console);
        return list(console, &host);
    }
    if args.discard_all {
        host.recover(console);
        return discard_all(console, &host);
    }
    let (Some(edit_id), Some(action)) = (args.edit_id, args.action) else {
        return Err(console.misuse("resolve needs an edit id and accept or discard"));
    };
    let call = json!({ "edit_id": edit_id, "action": action.as_str() });
    let output = host.dispatch(console, "resolve", call)?;
    console.answer(&output)
}

fn list(console: &Console, host: &Host) -> Step {
    let now = SystemTime::now();
    let listing = host.edits(console)?.staging.list(now);
    let Listing { edits, damaged } =
        listing.map_err(|err| console.fail(&ToolError::from_cause(ErrorKind::Failed, err)))?;
    let files = |staged: &Staged| -> Vec<String> {
        let files = staged.proposal.files.iter();
        files
            .map(|file| host.workspace.display(&file.path))
            .collect()
    };
    let age = |staged: &Staged| now.duration_since(staged.created).unwrap_or_default();
    if console.json {
        let row = |staged: &Staged| {
            json!({
                "edit_id": staged.edit_id,
                "language": staged.proposal.language,
                "pattern": staged.proposal.pattern,
                "rewrite": staged.proposal.rewrite,
                "replacements": staged.proposal.replacements,
                "files": files(staged),
                "age_s": age(staged).as_secs(),
                "rejected": staged.rejected,
            })
        };
        let rows: Vec<Value> = edits.iter().map(row).collect();
        return console.print_json(&json!({ "edits": rows, "damaged": damaged }));
    }
    if edits.is_empty() && damaged.is_empty() {
        return console.print("nothing is staged in this workspace");
    }
    let mut text = String::new();
    for staged in &edits {
        let proposal = &staged.proposal;
        text.push_str(&format!(
            "{}  {}: {} -> {}\n    {} in {}, {} ago{}\n",
            staged.edit_id,
            proposal.language,
            one_line(&proposal.pattern),
            one_line(&proposal.rewrite),
            counted(proposal.replacements, "replacement"),
            counted(proposal.files.len(), "file"),
            rough(age(staged)),
            if staged.rejected {
                "; rejected, because its files had changed: it can only be discarded"
            } else {
                ""
            }
        ));
    }
    for edit_id in &damaged {
        text.push_str(&format!("{edit_id}  damaged: it can only be discarded\n"));
    }
    console.print(&text)
}

fn discard_all(console: &Console, host: &Host) -> Step {
    let discarded = host.edits(console)?.staging.discard_all(SystemTime::now());
    let discarded =
        discarded.map_err(|err| console.fail(&ToolError::from_cause(ErrorKind::Failed, err)))?;
    if console.json {
        return console.print_json(&json!({ "discarded": discarded }));
    }
    if discarded.is_empty() {
        return console.print("nothing was staged in this workspace");
    }
    let names: Vec<String> = discarded.iter().map(ToString::to_string).collect();
    console.print(&format!("discarded {}", names.join(", ")))
}

/// The first line of a text, with a mark when there are more.
fn one_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let more = if lines.next().is_some() { " …" } else { "" };
    format!("`{first}`{more}")
}

fn counted(n: usize, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{ending}")
}

/// A duration in its largest unit.
fn rough(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => counted(seconds as usize, "second"),
        60..3_600 => counted((seconds / 60) as usize, "minute"),
        3_600..86_400 => counted((seconds / 3_600) as usize, "hour"),
        _ => counted((seconds / 86_400) as usize, "day"),
    }
}
