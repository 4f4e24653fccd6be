//! Cuts a source into units that the parser may leave out one by one.
//!
//! A unit is a range of bytes whose absence from what is parsed leaves the nodes of
//! all other units as they are in the parse of the whole. The splitters are small lexers that know
//! the literals and brackets of their language and little else; whenever one is not sure, it gives
//! up and the file is parsed whole. They know nothing of tree-sitter, files and patterns.

mod braces;
mod c;
mod content;
mod ecma;
mod excerpt;
mod go;
mod lexer;
mod literals;
mod plan;
mod python;
mod rust;
mod statements;

use std::ops::Range;

pub use content::{Content, content};
pub use excerpt::Excerpt;
pub use plan::{Plan, Shape, plan, plan_around, plan_of_units};

/// What leaving a unit out means for the rest of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// An item, a member or a top-level statement with all that is glued to it. Whole or absent.
    Item,
    /// An item whose body holds further units, so that its header can be kept without them.
    Container,
    /// What stands between the braces of a block inside an item, or some statements of it. Without
    /// them the nodes that surround the block change inside; their ranges and all nodes outside stay.
    Block,
    /// What stands before the body of a function. Another header must take its place.
    Header,
}

/// One range of bytes that a parse may leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The bytes to leave out.
    pub range: Range<usize>,
    /// What leaving them out means.
    pub kind: UnitKind,
    /// Where the header of a container ends and its members begin; the end of the range for others.
    pub body: usize,
    /// How many of the units that follow in the list lie inside this one.
    pub descendants: usize,
    /// Whether this is the first statement of a body that ends with its indentation; a unit may have
    /// several bodies.
    pub begins_body: bool,
    /// Whether it says what the units inside of it are (`match` of Python), or is named so by the one around
    /// it (`case`), so that they are no statements without each other's headers.
    pub names_members: bool,
}

/// The units of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// All units, each before those inside it, in the order of the source.
    pub list: Vec<Unit>,
    /// Whether a body that loses all its statements is a syntax error, as in Python.
    pub needs_member: bool,
    /// The comments between tokens, in order, where the splitter notes them.
    pub comments: Vec<Range<usize>>,
    /// Long strings without code in them, in order, where the splitter notes them.
    pub literals: Vec<Range<usize>>,
    /// Statements of blocks, and headers, that are to be put into the list, in no order.
    cuts: Vec<(Range<usize>, UnitKind)>,
}

/// Cuts a source into units; `None` when the language has no splitter or the source is unclear.
pub fn split(language: &str, source: &[u8]) -> Option<Units> {
    let mut units = units(language, source)?;
    units.insert_cuts();
    Some(units)
}

fn units(language: &str, source: &[u8]) -> Option<Units> {
    match language {
        "rust" => rust::split(source),
        "python" => python::split(source),
        "dart" => braces::split_dart(source),
        "java" => braces::split_java(source),
        "typescript" => ecma::split_typescript(source),
        "tsx" => ecma::split_tsx(source),
        "javascript" | "jsx" => ecma::split_javascript(source),
        "go" => go::split(source),
        "c" => c::split(source),
        _ => None,
    }
}

impl Units {
    /// Bytes that the units hold in memory.
    pub fn memory(&self) -> usize {
        self.list.capacity() * size_of::<Unit>()
            + (self.comments.capacity() + self.literals.capacity()) * size_of::<Range<usize>>()
    }

    /// The units that are whole sources by themselves, in order and apart.
    pub fn stand_alone(&self, language: &str) -> Vec<Range<usize>> {
        // Without the conditional around it, a declaration of C stays one; a member without its class
        // does not.
        let through_containers = language == "c";
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(unit) = self.list.get(at) {
            if unit.kind == UnitKind::Container && through_containers {
                at += 1;
            } else {
                found.push(unit.range.clone());
                at += 1 + unit.descendants;
            }
        }
        found
    }

    /// Gives the units that lie directly in the source, not in another unit.
    pub fn roots(&self) -> impl Iterator<Item = (usize, &Unit)> {
        self.siblings(0..self.list.len())
    }

    /// Gives the units directly inside the unit at the index.
    pub fn children(&self, idx: usize) -> impl Iterator<Item = (usize, &Unit)> {
        self.siblings(idx + 1..idx + 1 + self.list[idx].descendants)
    }

    /// The parent of each unit that has one.
    pub fn parents(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.list.len()];
        for idx in 0..self.list.len() {
            for (child, _) in self.children(idx) {
                parents[child] = Some(idx);
            }
        }
        parents
    }

    fn siblings(&self, within: Range<usize>) -> impl Iterator<Item = (usize, &Unit)> {
        let mut at = within.start;
        std::iter::from_fn(move || {
            let unit = (at < within.end).then(|| &self.list[at])?;
            let idx = at;
            at += 1 + unit.descendants;
            Some((idx, unit))
        })
    }

    fn open(&mut self, start: usize, kind: UnitKind) -> usize {
        self.list.push(Unit {
            range: start..start,
            kind,
            body: start,
            descendants: 0,
            begins_body: false,
            names_members: false,
        });
        self.list.len() - 1
    }

    fn close(&mut self, idx: usize, end: usize) {
        let descendants = self.list.len() - idx - 1;
        let unit = &mut self.list[idx];
        unit.range.end = end;
        unit.descendants = descendants;
        if unit.kind != UnitKind::Container {
            unit.body = end;
        }
    }

    fn make_container(&mut self, idx: usize, body: usize) {
        self.list[idx].kind = UnitKind::Container;
        self.list[idx].body = body;
    }

    /// Turns a container into an item again, when what follows turned out to belong to it.
    fn make_leaf(&mut self, idx: usize) {
        self.list.truncate(idx + 1);
        let start = self.list[idx].range.start;
        self.cuts.retain(|(cut, _)| cut.start < start);
        self.list[idx].kind = UnitKind::Item;
    }

    /// Puts the cuts at their places among the other units.
    fn insert_cuts(&mut self) {
        if self.cuts.is_empty() {
            return;
        }
        let cuts = std::mem::take(&mut self.cuts);
        self.list.extend(cuts.into_iter().map(|(range, kind)| Unit {
            body: range.end,
            range,
            kind,
            descendants: 0,
            begins_body: false,
            names_members: false,
        }));
        self.list
            .sort_by_key(|unit| (unit.range.start, std::cmp::Reverse(unit.range.end)));
        let mut open: Vec<usize> = Vec::new();
        for idx in 0..=self.list.len() {
            let start = self
                .list
                .get(idx)
                .map_or(usize::MAX, |unit| unit.range.start);
            while let Some(last) = open.pop_if(|last| self.list[*last].range.end <= start) {
                self.list[last].descendants = idx - last - 1;
            }
            if idx < self.list.len() {
                open.push(idx);
            }
        }
    }
}
