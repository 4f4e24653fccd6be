//! Whether a rename knows every use, where its server complains of something that it lacks.
//!
//! rust-analyzer without the standard library, or without a macro that a build makes, answers for what it can
//! resolve and silently leaves out the rest: what is passed to `println!`, what stands behind a type of the
//! library. So the text is asked as well: every place of the project's code that has the name must be in the
//! edit, or be known to the server as something else.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::text::uses_in;
use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::convert::Lines;
use crate::lsp::documents::Content;
use crate::lsp::places::Place;
use crate::lsp::question::{AskError, Opened};
use crate::lsp::reach::{Needle, naming};
use crate::lsp::supervisor::Supervisor;
use crate::lsp::uri;
use crate::text::counted;

/// Places that a refusal names.
const NAMED: usize = 5;

/// The places that an edit changes, by file.
pub(super) type Edited = BTreeMap<PathBuf, Vec<lsp_types::Range>>;

/// Says which places have the name and are neither in the edit nor known as something else.
pub(super) fn unknown(
    supervisor: &Supervisor,
    opened: &Opened,
    name: &str,
    edit: &Value,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Option<String>, AskError> {
    let server = &opened.server;
    let edited = edited(edit);
    let naming = naming(server, Needle::Word(name), cancel);
    let mut unknown = Vec::new();
    let mut n_asked = 0;
    for path in &naming.files {
        let text = match server.document(path) {
            Some(document) => document.text,
            None => Content::read(path)?.text,
        };
        let lines = Lines::new(&text);
        let covered: Vec<Range<usize>> = edited
            .get(path)
            .into_iter()
            .flatten()
            .map(|range| lines.range(*range, server.encoding()))
            .collect();
        for at in uses_in(&text, name) {
            if covered
                .iter()
                .any(|range| range.start <= at && at <= range.end)
            {
                continue;
            }
            let place = lines.position(at, server.encoding());
            n_asked += 1;
            let is_other = n_asked <= limits::RENAME_ASKED
                && is_another(opened, path, place, &edited, deadline, cancel)?;
            if !is_other {
                let file = supervisor.workspace().display(path);
                unknown.push(format!("{file}:{}", place.line + 1));
            }
        }
    }
    unknown.dedup();
    if unknown.is_empty() && naming.n_left == 0 {
        return Ok(None);
    }
    let mut told = match naming.n_left {
        0 => Vec::new(),
        n_left => vec![format!(
            "{} that were not searched",
            counted(n_left, "file")
        )],
    };
    let n_more = unknown.len().saturating_sub(NAMED);
    unknown.truncate(NAMED);
    told.extend(unknown);
    let more = match n_more {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    Ok(Some(format!(
        "it cannot tell whether '{name}' is the same at {}{more}",
        told.join(", ")
    )))
}

/// Asks whether what stands at a place is declared elsewhere than what is renamed.
fn is_another(
    opened: &Opened,
    path: &Path,
    place: lsp_types::Position,
    edited: &Edited,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<bool, AskError> {
    let params = json!({"textDocument": {"uri": uri::from_path(path)}, "position": place});
    let server = &opened.server;
    let answer = match server.query("textDocument/definition", params, deadline, cancel) {
        Ok(answer) => answer,
        // A file that belongs to no crate is one that the server does not know.
        Err(crate::lsp::error::LspError::Refused { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let declared = Place::read_all(&answer);
    let is_renamed = |it: &Place| {
        let path = uri::to_path(&it.uri);
        let ranges = path.and_then(|path| edited.get(&path));
        ranges.is_some_and(|ranges| ranges.iter().any(|range| range.start == it.range.start))
    };
    Ok(!declared.is_empty() && !declared.iter().any(is_renamed))
}

/// Reads which places a `WorkspaceEdit` changes; the plan has read it before, so nothing of it is malformed.
pub(super) fn edited(edit: &Value) -> Edited {
    let mut edited = Edited::new();
    let mut add = |uri: &str, edits: &Value| {
        let Some(path) = uri::to_path(uri) else {
            return;
        };
        let ranges = edits.as_array().into_iter().flatten();
        let read =
            |edit: &Value| serde_json::from_value::<lsp_types::Range>(edit["range"].clone()).ok();
        edited
            .entry(path)
            .or_default()
            .extend(ranges.filter_map(read));
    };
    for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
        add(uri, edits);
    }
    for change in edit["documentChanges"].as_array().into_iter().flatten() {
        if let Some(uri) = change["textDocument"]["uri"].as_str() {
            add(uri, &change["edits"]);
        }
    }
    edited
}
