//! Breakpoints: what was asked for, and what became of it in a session.
//!
//! What is asked for belongs to the conversation, so that it can be set before a launch and survives the
//! session (R78); the adapter is told per file, always all of them. What became of each, such as another
//! line than asked, is kept beside it, because a breakpoint that silently does not exist is worse than none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::dap::protocol::{Capabilities, flag, int, text};
use crate::dap::report::BreakpointEntry;

/// A breakpoint as it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineBreakpoint {
    /// The line, from 1.
    pub line: usize,
    /// Stops only where this expression is true.
    pub condition: Option<String>,
    /// Stops only at certain hits, in the adapter's own notation, such as `5` or `>= 3`.
    pub hit_condition: Option<String>,
    /// Does not stop, but writes this text; expressions stand in braces.
    pub log_message: Option<String>,
}

/// All that was asked for, by file.
pub(crate) type Wanted = BTreeMap<PathBuf, Vec<LineBreakpoint>>;

impl LineBreakpoint {
    /// Makes a breakpoint that stops always.
    pub fn at(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// What there is to say of it: where it is, and what became of it in a session.
    pub(crate) fn entry(&self, file: String, placed: Option<&Placed>) -> BreakpointEntry {
        BreakpointEntry {
            file,
            line: placed.map_or(self.line, |placed| placed.line),
            verified: placed.is_some_and(|placed| placed.verified),
            moved_from: placed.and_then(Placed::moved_from),
            message: placed.and_then(|placed| placed.message.clone()),
            hits: placed.map_or(0, |placed| placed.hits),
            condition: self.condition.clone(),
            hit_condition: self.hit_condition.clone(),
            log_message: self.log_message.clone(),
        }
    }

    /// What the breakpoint needs and the adapter does not have.
    pub(crate) fn lacks(&self, capabilities: &Capabilities) -> Option<&'static str> {
        let needs = [
            (
                self.condition.is_some(),
                "supportsConditionalBreakpoints",
                "conditional breakpoints",
            ),
            (
                self.hit_condition.is_some(),
                "supportsHitConditionalBreakpoints",
                "hit conditions",
            ),
            (
                self.log_message.is_some(),
                "supportsLogPoints",
                "log points",
            ),
        ];
        needs
            .into_iter()
            .find(|(needed, capability, _)| *needed && !capabilities.has(capability))
            .map(|(_, _, feature)| feature)
    }

    fn to_wire(&self) -> Value {
        let mut wire = Map::new();
        wire.insert("line".to_owned(), json!(self.line));
        let fields = [
            ("condition", &self.condition),
            ("hitCondition", &self.hit_condition),
            ("logMessage", &self.log_message),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                wire.insert(name.to_owned(), json!(value));
            }
        }
        Value::Object(wire)
    }
}

/// The arguments of `setBreakpoints` for one file.
pub(crate) fn request(path: &Path, breakpoints: &[LineBreakpoint]) -> Value {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let lines: Vec<usize> = breakpoints
        .iter()
        .map(|breakpoint| breakpoint.line)
        .collect();
    let wire: Vec<Value> = breakpoints.iter().map(LineBreakpoint::to_wire).collect();
    json!({
        "source": {"name": name, "path": path.to_string_lossy()},
        "breakpoints": wire,
        // Older adapters read this one.
        "lines": lines,
        "sourceModified": false,
    })
}

/// A breakpoint in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) wanted: LineBreakpoint,
    id: Option<i64>,
    pub(crate) verified: bool,
    /// Where the adapter put it.
    pub(crate) line: usize,
    pub(crate) message: Option<String>,
    pub(crate) hits: u64,
}

impl Placed {
    fn new(wanted: LineBreakpoint) -> Self {
        Self {
            line: wanted.line,
            id: None,
            verified: false,
            message: None,
            hits: 0,
            wanted,
        }
    }

    /// The line that was asked for, when it became another one.
    pub(crate) fn moved_from(&self) -> Option<usize> {
        (self.line != self.wanted.line).then_some(self.wanted.line)
    }

    fn update(&mut self, breakpoint: &Value) {
        self.id = int(breakpoint, "id").or(self.id);
        if let Some(verified) = flag(breakpoint, "verified") {
            self.verified = verified;
        }
        let line = int(breakpoint, "line").and_then(|line| usize::try_from(line).ok());
        if let Some(line) = line.filter(|line| *line > 0) {
            self.line = line;
        }
        self.message = text(breakpoint, "message").filter(|_| !self.verified);
    }
}

/// The breakpoints of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placements {
    files: BTreeMap<PathBuf, Vec<Placed>>,
    /// What an event said of a breakpoint whose response has not come yet.
    early: BTreeMap<i64, Value>,
}

impl Placements {
    /// Takes in the response to a request for `sent`; `unsent` were held back, with the reason.
    pub(crate) fn placed(
        &mut self,
        path: &Path,
        sent: &[LineBreakpoint],
        unsent: Vec<(LineBreakpoint, String)>,
        response: &Value,
    ) {
        let before = self.files.remove(path).unwrap_or_default();
        let hits = |wanted: &LineBreakpoint| {
            let same = before.iter().find(|placed| placed.wanted == *wanted);
            same.map_or(0, |placed| placed.hits)
        };
        let rows = response.get("breakpoints").and_then(Value::as_array);
        // The answers stand in the order of the request; a short list leaves the rest unverified.
        let mut placed: Vec<Placed> = sent
            .iter()
            .enumerate()
            .map(|(idx, wanted)| {
                let mut placed = Placed::new(wanted.clone());
                placed.hits = hits(wanted);
                if let Some(row) = rows.and_then(|rows| rows.get(idx)) {
                    placed.update(row);
                }
                if let Some(event) = placed.id.and_then(|id| self.early.remove(&id)) {
                    placed.update(&event);
                }
                placed
            })
            .collect();
        placed.extend(unsent.into_iter().map(|(wanted, reason)| Placed {
            message: Some(reason),
            ..Placed::new(wanted)
        }));
        placed.sort_by_key(|placed| placed.wanted.line);
        if !placed.is_empty() {
            self.files.insert(path.to_owned(), placed);
        }
    }

    /// Takes in an event about one breakpoint.
    pub(crate) fn changed(&mut self, breakpoint: &Value) {
        let Some(id) = int(breakpoint, "id") else {
            return;
        };
        let mut all = self.files.values_mut().flatten();
        match all.find(|placed| placed.id == Some(id)) {
            Some(placed) => placed.update(breakpoint),
            // Bounded, because an adapter may number anything.
            None if self.early.len() < 10_000 => {
                self.early.insert(id, breakpoint.clone());
            }
            None => {}
        }
    }

    /// Counts the hits of those that a stop names.
    pub(crate) fn hit(&mut self, ids: &[i64]) {
        for placed in self.files.values_mut().flatten() {
            if placed.id.is_some_and(|id| ids.contains(&id)) {
                placed.hits += 1;
            }
        }
    }

    /// Finds the breakpoint of a stop: by the numbers that the stop names, else by its place. A hit that is
    /// found by its place is counted here.
    pub(crate) fn at_stop(
        &mut self,
        ids: &[i64],
        path: &Path,
        line: usize,
    ) -> Option<LineBreakpoint> {
        if !ids.is_empty() {
            let mut all = self.files.values().flatten();
            let named = all.find(|placed| placed.id.is_some_and(|id| ids.contains(&id)));
            if let Some(placed) = named {
                return Some(placed.wanted.clone());
            }
        }
        let placed = self
            .files
            .get_mut(path)?
            .iter_mut()
            .find(|placed| placed.line == line || placed.wanted.line == line)?;
        placed.hits += 1;
        Some(placed.wanted.clone())
    }

    pub(crate) fn of(&self, path: &Path) -> &[Placed] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Path, &Placed)> {
        self.files
            .iter()
            .flat_map(|(path, all)| all.iter().map(move |placed| (path.as_path(), placed)))
    }

    /// Those that no stop was at. Nobody is told of the hits of a log point.
    pub(crate) fn never_hit(&self) -> impl Iterator<Item = (&Path, &Placed)> {
        self.iter().filter(|(_, placed)| {
            placed.hits == 0 && (placed.wanted.log_message.is_none() || !placed.verified)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(placements: &Placements) -> Vec<(usize, usize, bool)> {
        let row =
            |(_, placed): (&Path, &Placed)| (placed.wanted.line, placed.line, placed.verified);
        placements.iter().map(row).collect()
    }

    // D21: unverified and moved breakpoints are told apart, also when an event brings the news early.
    #[test]
    fn what_became_of_a_breakpoint_is_kept() {
        let mut placements = Placements::default();
        placements.changed(&json!({"id": 2, "verified": true, "line": 8}));
        let sent = [3, 5, 9].map(LineBreakpoint::at);
        let response = json!({"breakpoints": [{"id": 1, "verified": true, "line": 4}, {"id": 2}]});
        let path = Path::new("/w/a.py");
        placements.placed(path, &sent, Vec::new(), &response);
        assert_eq!(
            lines(&placements),
            [(3, 4, true), (5, 8, true), (9, 9, false)]
        );
        placements.hit(&[2]);
        assert_eq!(
            placements.at_stop(&[], path, 4),
            Some(LineBreakpoint::at(3))
        );
        let never: Vec<usize> = placements
            .never_hit()
            .map(|(_, placed)| placed.line)
            .collect();
        assert_eq!(never, [9]);
        placements.placed(path, &[], Vec::new(), &json!(null));
        assert_eq!(lines(&placements), []);
    }

    #[test]
    fn a_breakpoint_says_what_it_needs() {
        let mut capabilities = Capabilities::default();
        let mut breakpoint = LineBreakpoint::at(1);
        assert_eq!(breakpoint.lacks(&capabilities), None);
        breakpoint.log_message = Some("x".to_owned());
        assert_eq!(breakpoint.lacks(&capabilities), Some("log points"));
        capabilities.merge(&json!({"supportsLogPoints": true}));
        assert_eq!(breakpoint.lacks(&capabilities), None);
    }
}
