//! `toolbox resolve`: shows, lists, applies and drops what is staged.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolbox::diff;
use toolbox::files::ContentHash;
use toolbox::limits;
use toolbox::syntax::staging::{Listing, Staged, StagingError};
use toolbox::text::counted;
use toolbox::tool::{ErrorKind, ToolError};

use crate::args::{Global, Resolve};
use crate::background;
use crate::host::Host;
use crate::output::{Console, Step};
use crate::paint;

/// What to do with an edit; the data names it so too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Show,
    Accept,
    Discard,
}

/// Shows, applies or drops what was staged, or lists it.
pub(crate) fn resolve(console: &Console, global: &Global, args: Resolve) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    host.recover(console);
    if args.list {
        return list(console, &host);
    }
    if args.discard_all {
        return discard_all(console, &host);
    }
    let (action, edit_id) = understood(console, &args.words)?;
    let edit_id = match edit_id {
        Some(edit_id) => edit_id,
        None => the_only_one(console, &host, action)?,
    };
    let action = match action {
        Action::Show => return show(console, &host, &edit_id),
        Action::Accept => "accept",
        Action::Discard => "discard",
    };
    let call = json!({ "edit_id": edit_id, "action": action });
    if args.diagnostics {
        let output = host.dispatch_and_diagnose(console, "resolve", call)?;
        return console.answer(&output);
    }
    // Where a background session runs, its language servers say what the edit broke (D12).
    let there = match action {
        "accept" => background::call_if_running(console, &host, "resolve", &call)?,
        _ => None,
    };
    let output = match there {
        Some(output) => output,
        None => host.dispatch(console, "resolve", call)?,
    };
    console.answer(&output)
}

/// Reads the id and the action in either order.
fn understood(console: &Console, words: &[String]) -> Step<(Action, Option<String>)> {
    let action = |word: &str| match word {
        "accept" => Some(Action::Accept),
        "discard" => Some(Action::Discard),
        _ => None,
    };
    let id = |word: &str| Some(word.to_owned());
    match words {
        [word] => Ok(match action(word) {
            Some(action) => (action, None),
            None => (Action::Show, id(word)),
        }),
        [one, two] => match (action(one), action(two)) {
            (None, Some(action)) => Ok((action, id(one))),
            (Some(action), None) => Ok((action, id(two))),
            _ => Err(console.misuse_with_hint(
                &format!("cannot resolve '{one} {two}'"),
                "name one edit and one action: toolbox resolve edit_1 accept, or discard",
            )),
        },
        _ => Err(console.misuse("resolve needs an edit id and accept or discard")),
    }
}

/// The id of the edit that an action without an id means: there must be exactly one.
fn the_only_one(console: &Console, host: &Host, action: Action) -> Step<String> {
    let listing = listing(console, host)?;
    let ids: Vec<String> = listing
        .edits
        .iter()
        .filter(|staged| action == Action::Discard || !staged.rejected)
        .map(|staged| staged.edit_id.to_string())
        .collect();
    match ids.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(console.fail(
            &ToolError::new(ErrorKind::NotFound, "no edit is staged in this workspace")
                .with_hint("run ast_edit first"),
        )),
        _ => Err(console.misuse_with_hint(
            &format!("{} edits are staged: {}", ids.len(), ids.join(", ")),
            "name one of them; `toolbox resolve --list` says what they are",
        )),
    }
}

fn listing(console: &Console, host: &Host) -> Step<Listing> {
    let listing = host.edits(console)?.staging.list(SystemTime::now());
    listing.map_err(|err| console.fail(&ToolError::from_cause(ErrorKind::Failed, err)))
}

/// Prints an edit with its whole diff, against the files as they are.
fn show(console: &Console, host: &Host, edit_id: &str) -> Step {
    let found = host
        .edits(console)?
        .staging
        .find(edit_id, SystemTime::now());
    let staged = found.map_err(|err| {
        let (kind, hint) = match &err {
            StagingError::Unknown { .. } => (
                ErrorKind::NotFound,
                "`toolbox resolve --list` shows what is staged",
            ),
            StagingError::Expired { .. } => (ErrorKind::Expired, "run ast_edit again"),
            _ => (ErrorKind::Failed, "discard it, and run ast_edit again"),
        };
        console.fail(&ToolError::from_cause(kind, err).with_hint(hint))
    })?;
    let proposal = &staged.proposal;
    let mut whole = String::new();
    let mut changed = Vec::new();
    for file in &proposal.files {
        let shown = host.workspace.display(&file.path);
        // Only the content that the edit was worked out for can be compared with its new one.
        match std::fs::read(&file.path) {
            Ok(bytes) if ContentHash::of(&bytes) == file.hash_before => {
                let (old, new) = (
                    String::from_utf8_lossy(&bytes),
                    String::from_utf8_lossy(&file.bytes_after),
                );
                let lines = limits::DIFF_CONTEXT_LINES;
                whole.push_str(&diff::unified(&old, &new, &shown, lines));
            }
            _ => changed.push(shown),
        }
    }
    if console.json {
        let mut row = row(host, &staged, SystemTime::now());
        row["diff"] = json!(whole);
        row["changed"] = json!(changed);
        return console.print_json(&row);
    }
    let mut text = described(&staged, SystemTime::now());
    for file in &changed {
        text.push_str(&format!("    changed since it was staged: {file}\n"));
    }
    let acceptable = changed.is_empty() && !staged.rejected;
    if !whole.is_empty() {
        text.push_str(&format!("\n{whole}"));
    }
    let text = console.safe(&text);
    console.print(&match console.color {
        true => paint::diff(&text).into(),
        false => text,
    })?;
    console.note(&match acceptable {
        true => format!("apply it with `toolbox resolve {edit_id} accept`"),
        false => format!("it can only be discarded: `toolbox resolve {edit_id} discard`"),
    });
    Ok(())
}

/// An edit as data.
fn row(host: &Host, staged: &Staged, now: SystemTime) -> Value {
    json!({
        "edit_id": staged.edit_id,
        "language": staged.proposal.language,
        "pattern": staged.proposal.pattern,
        "rewrite": staged.proposal.rewrite,
        "replacements": staged.proposal.replacements,
        "files": files(host, staged),
        "age_s": age(staged, now).as_secs(),
        "rejected": staged.rejected,
    })
}

fn files(host: &Host, staged: &Staged) -> Vec<String> {
    let files = staged.proposal.files.iter();
    files
        .map(|file| host.workspace.display(&file.path))
        .collect()
}

fn age(staged: &Staged, now: SystemTime) -> Duration {
    now.duration_since(staged.created).unwrap_or_default()
}

/// An edit in two lines.
fn described(staged: &Staged, now: SystemTime) -> String {
    let proposal = &staged.proposal;
    format!(
        "{}  {}: {} -> {}\n    {} in {}, {} ago{}\n",
        staged.edit_id,
        proposal.language,
        one_line(&proposal.pattern),
        one_line(&proposal.rewrite),
        counted(proposal.replacements, "replacement"),
        counted(proposal.files.len(), "file"),
        rough(age(staged, now)),
        if staged.rejected {
            "; rejected, because its files had changed: it can only be discarded"
        } else {
            ""
        }
    )
}

/// Files of an edit that the list names; the data names all of them.
const FILES_LISTED: usize = 10;

fn list(console: &Console, host: &Host) -> Step {
    let now = SystemTime::now();
    let Listing { edits, damaged } = listing(console, host)?;
    if console.json {
        let rows: Vec<Value> = edits.iter().map(|staged| row(host, staged, now)).collect();
        return console.print_json(&json!({ "edits": rows, "damaged": damaged }));
    }
    if edits.is_empty() && damaged.is_empty() {
        return console.print("nothing is staged in this workspace");
    }
    let mut text = String::new();
    for staged in &edits {
        text.push_str(&described(staged, now));
        let files = files(host, staged);
        for file in files.iter().take(FILES_LISTED) {
            text.push_str(&format!("    {file}\n"));
        }
        if files.len() > FILES_LISTED {
            let more = counted(files.len() - FILES_LISTED, "more file");
            text.push_str(&format!("    … {more}\n"));
        }
    }
    for edit_id in &damaged {
        text.push_str(&format!("{edit_id}  damaged: it can only be discarded\n"));
    }
    console.show(&text)
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
