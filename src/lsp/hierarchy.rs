//! Who calls a function and whom it calls; what a type derives from and what derives from it (D44).

use std::fmt;
use std::path::PathBuf;

use lsp_types::Range;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::navigate::tell_incomplete;
use crate::lsp::places::{Location, Place, Reader};
use crate::lsp::question::{AskError, Gap, Spot};
use crate::lsp::reach::Extent;
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbols::{kind, text};
use crate::lsp::uri;

/// Which way a hierarchy is followed, one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The callers of a function.
    IncomingCalls,
    /// The functions that a function calls.
    OutgoingCalls,
    /// The types that a type derives from.
    Supertypes,
    /// The types that derive from a type.
    Subtypes,
}

/// The neighbours of a symbol in a hierarchy.
#[derive(Clone, Debug, Serialize)]
pub struct HierarchyReport {
    #[serde(skip)]
    direction: Direction,
    #[serde(skip)]
    symbol: String,
    /// The neighbours, sorted by file and position.
    pub items: Vec<Neighbour>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// Why there is nothing to list, where the server does not take what stands there for part of such a
    /// hierarchy at all.
    pub note: Option<String>,
    /// Why the answer may miss something, if it may.
    pub incomplete: Option<Gap>,
    /// The files outside the workspace that are named.
    #[serde(skip)]
    pub outside: Vec<PathBuf>,
}

/// One neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    /// Its name.
    pub name: String,
    /// What it is, such as `function`.
    pub kind: &'static str,
    /// The file that declares it.
    pub file: String,
    /// The line of its name, from 1.
    pub line: usize,
    /// The column of its name, from 1.
    pub column: usize,
    /// The calls themselves, where the hierarchy is one of calls.
    pub calls: Vec<Location>,
}

impl Direction {
    /// Returns the action as messages name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IncomingCalls => "incoming_calls",
            Self::OutgoingCalls => "outgoing_calls",
            Self::Supertypes => "supertypes",
            Self::Subtypes => "subtypes",
        }
    }

    /// The capability, the request that finds the symbol, the request that takes the step, and the field
    /// of the neighbour in its answer.
    fn protocol(
        self,
    ) -> (
        &'static str,
        &'static str,
        &'static str,
        Option<&'static str>,
    ) {
        match self {
            Self::IncomingCalls => (
                "callHierarchyProvider",
                "textDocument/prepareCallHierarchy",
                "callHierarchy/incomingCalls",
                Some("from"),
            ),
            Self::OutgoingCalls => (
                "callHierarchyProvider",
                "textDocument/prepareCallHierarchy",
                "callHierarchy/outgoingCalls",
                Some("to"),
            ),
            Self::Supertypes => (
                "typeHierarchyProvider",
                "textDocument/prepareTypeHierarchy",
                "typeHierarchy/supertypes",
                None,
            ),
            Self::Subtypes => (
                "typeHierarchyProvider",
                "textDocument/prepareTypeHierarchy",
                "typeHierarchy/subtypes",
                None,
            ),
        }
    }

    /// Says that a server gave nothing to start from.
    fn nothing_there(self, server: &str) -> String {
        let (what, of_what) = match self {
            Self::IncomingCalls | Self::OutgoingCalls => ("nothing callable", "calls"),
            Self::Supertypes | Self::Subtypes => ("no type", "types"),
        };
        format!(
            "{server} knows {what} at that place and gives no hierarchy of {of_what} for it; ask at the \
             declaration of what it stands for, or ask for references"
        )
    }

    fn noun(self, n: usize) -> &'static str {
        match (self, n) {
            (Self::IncomingCalls, 1) => "caller",
            (Self::IncomingCalls, _) => "callers",
            (Self::OutgoingCalls, 1) => "callee",
            (Self::OutgoingCalls, _) => "callees",
            (Self::Supertypes, 1) => "supertype",
            (Self::Supertypes, _) => "supertypes",
            (Self::Subtypes, 1) => "subtype",
            (Self::Subtypes, _) => "subtypes",
        }
    }
}

/// Takes one step from a symbol.
pub fn neighbours(
    supervisor: &Supervisor,
    direction: Direction,
    spot: Spot<'_>,
    cancel: &Cancel,
) -> Result<HierarchyReport, AskError> {
    supervisor.check_spot(spot)?;
    let mut opened = supervisor.open(spot.path, cancel)?;
    let (provider, prepare, step, field) = direction.protocol();
    opened.needs(provider, prepare, direction.as_str())?;
    let target = supervisor.locate(&opened, spot)?;
    supervisor.widen_for(&mut opened, target, cancel)?;
    supervisor.load_projects_for(&mut opened, target, Extent::Project, cancel)?;
    let deadline = supervisor.project_deadline(&opened);
    let server = &opened.server;
    let items = server.query(prepare, opened.at(target), deadline, cancel)?;
    let is_any = items.as_array().is_some_and(|items| !items.is_empty());
    let note = (!is_any).then(|| direction.nothing_there(server.id()));
    let mut reader = Reader::new(supervisor.workspace(), server);
    let mut found = Vec::new();
    for item in items.as_array().into_iter().flatten() {
        let answer = server.query(step, json!({ "item": item }), deadline, cancel)?;
        for entry in answer.as_array().into_iter().flatten() {
            let neighbour = field.map_or(entry, |field| &entry[field]);
            // The calls stand in the file of whoever calls.
            let caller = match direction {
                Direction::OutgoingCalls => item,
                Direction::IncomingCalls | Direction::Supertypes | Direction::Subtypes => neighbour,
            };
            found.extend(read(neighbour, caller, &entry["fromRanges"], &mut reader));
        }
    }
    found.sort_by(|one, two| {
        let key = |it: &Neighbour| (it.file.clone(), it.line, it.column);
        key(one).cmp(&key(two))
    });
    found.dedup();
    let total = found.len();
    found.truncate(limits::LSP_REFERENCES);
    Ok(HierarchyReport {
        direction,
        symbol: opened.name(target),
        shown: found.len(),
        total,
        items: found,
        note,
        incomplete: opened.incomplete(),
        outside: reader.outside,
    })
}

fn read(
    neighbour: &Value,
    caller: &Value,
    ranges: &Value,
    reader: &mut Reader<'_>,
) -> Option<Neighbour> {
    let uri = neighbour["uri"]
        .as_str()
        .filter(|uri| !reader.is_gone(uri))?;
    let path = uri::to_path(uri)?;
    let selection: Range = serde_json::from_value(neighbour["selectionRange"].clone()).ok()?;
    let (line, column, _) = reader.at(&path, selection.start);
    let mut calls: Vec<Location> = Vec::new();
    for range in ranges.as_array().into_iter().flatten() {
        let place = Place::read(&json!({"uri": caller["uri"], "range": range}))?;
        calls.push(reader.location(&place));
    }
    calls.sort();
    calls.dedup();
    Some(Neighbour {
        name: text(neighbour, "name").unwrap_or_default(),
        kind: kind(neighbour),
        file: reader.show(&path),
        line,
        column,
        calls,
    })
}

impl fmt::Display for HierarchyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.direction.noun(self.total);
        match self.total {
            0 if let Some(note) = &self.note => writeln!(f, "not known: {note}")?,
            0 => writeln!(f, "no {noun} of '{}' found", self.symbol)?,
            total if total > self.shown => writeln!(
                f,
                "{total} {noun} of '{}', {} shown, {} cut",
                self.symbol,
                self.shown,
                total - self.shown
            )?,
            total => writeln!(f, "{total} {noun} of '{}'", self.symbol)?,
        }
        for item in &self.items {
            writeln!(f, "{} {} {}:{}", item.kind, item.name, item.file, item.line)?;
            for call in &item.calls {
                writeln!(f, "  {call}")?;
            }
        }
        tell_incomplete(f, self.incomplete.as_ref())
    }
}
