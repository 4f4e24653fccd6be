//! Where a symbol is declared, what it is made of, who uses it (R19 to R22), and the hierarchies of calls
//! and types (D44).

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::places::{Location, Place, Reader};
use crate::lsp::question::{AskError, Gap, Opened, Spot};
use crate::lsp::reach::Extent;
use crate::lsp::servers::Ready;
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::Target;

/// What is asked about a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Where it is declared.
    Definition,
    /// Where its type is declared.
    TypeDefinition,
    /// The concrete implementations.
    Implementation,
    /// Every use.
    References,
}

/// Places, with how many there are.
#[derive(Clone, Debug, Serialize)]
pub struct LocationsReport {
    #[serde(skip)]
    relation: Relation,
    #[serde(skip)]
    symbol: String,
    /// The places, sorted by file and position.
    pub locations: Vec<Location>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// Why the answer may miss something, if it may.
    pub incomplete: Option<Gap>,
    /// The server that answered.
    pub server: String,
    /// The files outside the workspace that are named.
    #[serde(skip)]
    pub outside: Vec<PathBuf>,
}

impl Relation {
    fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::TypeDefinition => "textDocument/typeDefinition",
            Self::Implementation => "textDocument/implementation",
            Self::References => "textDocument/references",
        }
    }

    fn provider(self) -> &'static str {
        match self {
            Self::Definition => "definitionProvider",
            Self::TypeDefinition => "typeDefinitionProvider",
            Self::Implementation => "implementationProvider",
            Self::References => "referencesProvider",
        }
    }

    /// Returns the action as messages name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::TypeDefinition => "type_definition",
            Self::Implementation => "implementation",
            Self::References => "references",
        }
    }

    fn noun(self, n: usize) -> &'static str {
        match (self, n) {
            (Self::Definition, 1) => "definition",
            (Self::Definition, _) => "definitions",
            (Self::TypeDefinition, 1) => "type definition",
            (Self::TypeDefinition, _) => "type definitions",
            (Self::Implementation, 1) => "implementation",
            (Self::Implementation, _) => "implementations",
            (Self::References, 1) => "reference",
            (Self::References, _) => "references",
        }
    }
}

/// Asks where a symbol is declared, implemented or used.
pub fn locations(
    supervisor: &Supervisor,
    relation: Relation,
    spot: Spot<'_>,
    cancel: &Cancel,
) -> Result<LocationsReport, AskError> {
    supervisor.check_spot(spot)?;
    let mut opened = supervisor.open(spot.path, cancel)?;
    opened.needs(relation.provider(), relation.method(), relation.as_str())?;
    let target = supervisor.locate(&opened, spot)?;
    supervisor.widen_for(&mut opened, target, cancel)?;
    match relation {
        Relation::Definition | Relation::TypeDefinition => {}
        Relation::Implementation => {
            supervisor.load_projects_for(&mut opened, target, Extent::Project, cancel)?;
        }
        Relation::References => {
            supervisor.load_projects_for(&mut opened, target, Extent::Projects, cancel)?;
        }
    }
    let mut params = opened.at(target);
    if relation == Relation::References {
        params["context"] = json!({"includeDeclaration": true});
    }
    let deadline = match relation {
        Relation::Definition | Relation::TypeDefinition => supervisor.request_deadline(&opened),
        Relation::Implementation | Relation::References => supervisor.project_deadline(&opened),
    };
    let answer = opened
        .server
        .query(relation.method(), params, deadline, cancel)?;
    let mut reader = Reader::new(supervisor.workspace(), &opened.server);
    let read = |reader: &mut Reader<'_>, answer: &Value| {
        let mut places = Place::read_all(answer);
        places.retain(|place| !reader.is_gone(&place.uri));
        let mut found: Vec<Location> = places.iter().map(|place| reader.location(place)).collect();
        found.sort();
        found.dedup();
        found
    };
    let mut found = read(&mut reader, &answer);
    if relation == Relation::References && !found.is_empty() {
        mark_declarations(supervisor, &opened, target, cancel, &mut found);
    }
    let total = found.len();
    found.truncate(limits::LSP_REFERENCES);
    Ok(LocationsReport {
        relation,
        symbol: opened.name(target),
        shown: found.len(),
        total,
        locations: found,
        incomplete: opened.incomplete(),
        server: opened.server.id().to_owned(),
        outside: reader.outside,
    })
}

/// Marks which of the uses are the declaration; the protocol mixes them.
fn mark_declarations(
    supervisor: &Supervisor,
    opened: &Opened,
    target: Target,
    cancel: &Cancel,
    found: &mut [Location],
) {
    let deadline = supervisor.request_deadline(opened);
    let server = &opened.server;
    let read = |answer: &Value| -> Vec<Location> {
        let mut reader = Reader::new(supervisor.workspace(), server);
        let places = Place::read_all(answer);
        places.iter().map(|place| reader.location(place)).collect()
    };
    let place = |it: &Location| (it.file.clone(), it.line, it.column);
    // clangd goes from a declaration to the definition and back, so what is one is asked the other way round.
    let is_toggling = server.row().ready == Ready::BackgroundIndex;
    let (relation, mut params) = match is_toggling {
        true => (Relation::References, opened.at(target)),
        false => (Relation::Definition, opened.at(target)),
    };
    if is_toggling {
        params["context"] = json!({"includeDeclaration": false});
    }
    // Without an answer the list is as good as before.
    let Ok(answer) = server.query(relation.method(), params, deadline, cancel) else {
        return;
    };
    let places: HashSet<_> = read(&answer).iter().map(place).collect();
    for location in found.iter_mut() {
        location.declaration = places.contains(&place(location)) != is_toggling;
    }
}

impl fmt::Display for LocationsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.relation.noun(self.total);
        match self.total {
            0 => {
                // It is no news about the project that the server knows none of it.
                let so_far = self.incomplete.as_ref().map_or("", |_| " so far");
                let noun = self.relation.noun(1);
                writeln!(f, "no {noun} of '{}' found{so_far}", self.symbol)?;
            }
            total if total > self.shown => {
                let cut = total - self.shown;
                let shown = self.shown;
                writeln!(
                    f,
                    "{total} {noun} of '{}', {shown} shown, {cut} cut",
                    self.symbol
                )?;
            }
            total => writeln!(f, "{total} {noun} of '{}'", self.symbol)?,
        }
        for location in &self.locations {
            writeln!(f, "{location}")?;
        }
        tell_incomplete(f, self.incomplete.as_ref())
    }
}

/// Says that an answer may miss something.
pub(crate) fn tell_incomplete(f: &mut fmt::Formatter<'_>, gap: Option<&Gap>) -> fmt::Result {
    match gap {
        None => Ok(()),
        Some(gap) => writeln!(f, "{gap}"),
    }
}
