//! Renaming a symbol of TypeScript where it is declared.
//!
//! Asked at a use, its servers make an alias in the import of that file and rename nothing else. Asked at the
//! declaration they rename every use, and where a use is the key of an object as well (`{ total }`), the key
//! keeps its name (`{ total: sum }`).

use std::time::Instant;

use lsp_types::Position;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::lsp::convert::Lines;
use crate::lsp::places::Place;
use crate::lsp::question::Opened;
use crate::lsp::reach::{is_script, word_at};
use crate::lsp::rename::uses::edited;
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::Target;
use crate::lsp::uri;

/// Asks for the rename at the one declaration of a symbol, where that is in another place and has the same name.
/// `None` where the symbol is to be renamed where it stands: that rename then says what is wrong, if anything is.
pub(super) fn from_origin(
    supervisor: &Supervisor,
    opened: &Opened,
    target: Target,
    new_name: &str,
    deadline: Instant,
    cancel: &Cancel,
) -> Option<Value> {
    let server = &opened.server;
    if !is_script(server) {
        return None;
    }
    let asked = opened.at(target);
    let query = |method: &str, params: Value| server.query(method, params, deadline, cancel).ok();
    let answer = query("textDocument/definition", asked.clone())?;
    let places = Place::read_all(&answer);
    let [place] = places.as_slice() else {
        return None;
    };
    let path = uri::to_path(&place.uri)?;
    let is_ours = supervisor.workspace().contains(&path)
        && !path.iter().any(|folder| folder == "node_modules");
    let is_here = path == opened.path && json!(place.range.start) == asked["position"];
    if !is_ours || is_here {
        return None;
    }
    let text = server.sync(&path).ok()?.text;
    let lines = Lines::new(&text);
    let start = lines.offset(place.range.start, server.encoding());
    let end = lines.offset(place.range.end, server.encoding());
    // An import may give it another name, which is then renamed in that file alone.
    let name = word_at(&opened.text, target)?;
    if word_at(&text, Target { start, end }) != Some(name) {
        return None;
    }
    let edit = query(
        "textDocument/rename",
        json!({
            "textDocument": {"uri": place.uri},
            "position": place.range.start,
            "newName": new_name,
        }),
    )?;
    // An export list may keep the old name for the files that import it: then the one that was asked about keeps
    // it, too, and an alias there is what was meant.
    let position: Position = serde_json::from_value(asked["position"].clone()).ok()?;
    let is_among = edited(&edit).get(&opened.path).is_some_and(|ranges| {
        let mut ranges = ranges.iter();
        ranges.any(|range| range.start <= position && position <= range.end)
    });
    is_among.then_some(edit)
}
