//! The machine: one candidate, one program, one stack of alternatives.

use std::collections::HashSet;

use crate::limits;
use crate::syntax::cache::Covered;
use crate::syntax::grammar::flag;
use crate::syntax::matcher::tokens::Tokens;
use crate::syntax::matcher::{Capture, Match};
use crate::syntax::pattern::{Op, Pattern};
use crate::syntax::tree::{Flat, MISSING};

/// A point to return to.
struct Alternative {
    pc: usize,
    idx: u32,
    parent: u32,
    trail: usize,
    kind: Choice,
    skipped: Option<u32>,
}

enum Choice {
    /// Go on at the saved state.
    Resume,
    /// Let the run at `pc`, which began at `idx`, end at this node at the earliest.
    Extend { end: u32 },
}

pub(super) struct Machine<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) flat: &'a Flat,
    pub(super) source: &'a [u8],
    pub(super) bound: Vec<Option<Capture>>,
    trail: Vec<usize>,
    stack: Vec<Alternative>,
    failed: HashSet<(u32, u32, u64)>,
    steps: usize,
    /// Whether one source node may be passed over.
    pub lenient: bool,
    pub skipped: Option<u32>,
    /// What of the source the tree covers, if not all.
    pub covered: Option<&'a Covered>,
}

impl<'a> Machine<'a> {
    pub fn new(pattern: &'a Pattern, flat: &'a Flat, source: &'a [u8]) -> Self {
        Machine {
            pattern,
            flat,
            source,
            bound: vec![None; pattern.slots.len()],
            trail: Vec::new(),
            stack: Vec::new(),
            failed: HashSet::new(),
            steps: 0,
            lenient: false,
            skipped: None,
            covered: None,
        }
    }

    /// Whether the last candidate was given up before all its ways were tried.
    pub fn gave_up(&self) -> bool {
        self.steps > limits::MATCH_STEPS
    }

    /// Tries one candidate.
    pub fn run(&mut self, root: u32) -> Option<Match> {
        self.bound.fill(None);
        self.trail.clear();
        self.stack.clear();
        self.failed.clear();
        let flat = self.flat;
        let mut pc = 0;
        let mut idx = root;
        let mut parent = flat.node(root).parent;
        self.steps = 0;
        loop {
            if self.is_spent() {
                return None;
            }
            if let Op::End = self.pattern.ops[pc] {
                return Some(self.finish(root, idx));
            }
            if self.lenient
                && self.skipped.is_none()
                && parent != flat.node(root).parent
                && idx < flat.node(parent).next
            {
                self.stack.push(Alternative {
                    pc,
                    idx: flat.node(idx).next,
                    parent,
                    trail: self.trail.len(),
                    kind: Choice::Resume,
                    skipped: Some(idx),
                });
            }
            let next = self.step(pc, idx, parent);
            match next {
                Some(state) => (pc, idx, parent) = state,
                None => match self.backtrack() {
                    Some(state) => (pc, idx, parent) = state,
                    None => return None,
                },
            }
        }
    }

    /// Performs the operation at `pc` on the next sibling; `None` when it does not fit.
    fn step(&mut self, pc: usize, idx: u32, parent: u32) -> Option<(usize, u32, u32)> {
        let flat = self.flat;
        let at_end = parent != idx && idx >= flat.node(parent).next;
        let pattern = self.pattern;
        match &pattern.ops[pc] {
            Op::Leave => {
                if !at_end {
                    return None;
                }
                let up = flat.node(parent).parent;
                return Some((pc + 1, idx, up));
            }
            Op::Gap { text } => {
                let from = if idx == parent + 1 {
                    flat.node(parent).start
                } else {
                    flat.node(self.sibling_before(idx, parent)).end
                };
                let to = if at_end {
                    flat.node(parent).end
                } else {
                    flat.node(idx).start
                };
                let gap = &self.source[from as usize..to as usize];
                return (gap == &**text).then_some((pc + 1, idx, parent));
            }
            Op::Run { slot } => return self.begin_run(pc, idx, parent, *slot),
            Op::Separator { .. } if matches!(pattern.ops[pc + 1], Op::Run { .. }) => {
                // The run after this separator may be empty, and takes the separator with it.
                let Op::Run { slot } = pattern.ops[pc + 1] else {
                    return None;
                };
                let alternative = (!at_end)
                    .then(|| self.separator_then_run(pc, idx, parent))
                    .flatten();
                if let Some(alternative) = alternative {
                    self.stack.push(alternative);
                }
                return self
                    .bind_run(slot, idx, idx)
                    .then_some((pc + 2, idx, parent));
            }
            Op::Enter { kind } if at_end || flat.node(idx).kind != *kind => {
                if !at_end && let Some(state) = self.in_other_brackets(pc, idx, *kind) {
                    return Some(state);
                }
                // A list that holds only runs may be absent.
                let skip = self.empty_list(pc)?;
                let ops = &pattern.ops[pc + 1..skip - 1];
                for op in ops {
                    if let Op::Run { slot } = op
                        && !self.bind_run(*slot, idx, idx)
                    {
                        return None;
                    }
                }
                return Some((skip, idx, parent));
            }
            _ => {}
        }
        if at_end {
            return None;
        }
        let node = flat.node(idx);
        match &pattern.ops[pc] {
            Op::Enter { .. } => Some((pc + 1, idx + 1, idx)),
            Op::Leaf { kind, text } => {
                let fits =
                    node.kind == *kind && node.flags() & MISSING == 0 && self.text_is(idx, text);
                fits.then_some((pc + 1, node.next, parent))
            }
            Op::Words { kind, text } => {
                let found = &self.source[node.start as usize..node.end as usize];
                let fits = node.kind == *kind
                    && std::str::from_utf8(found)
                        .is_ok_and(|found| found.split_whitespace().eq(text.split_whitespace()));
                fits.then_some((pc + 1, node.next, parent))
            }
            Op::Token { kind, text } => {
                let fits = node.kind == *kind
                    && node.flags() & MISSING == 0
                    && text.as_ref().is_none_or(|t| self.text_is(idx, t));
                fits.then_some((pc + 1, node.next, parent))
            }
            Op::Separator { kind } => {
                let fits = node.kind == *kind && node.flags() & MISSING == 0;
                fits.then_some((pc + 1, node.next, parent))
            }
            Op::One { slot } => {
                let whole = node.flags() & (flag::NAMED | flag::WORD) != 0
                    && node.flags() & (MISSING | flag::LIST | flag::CLAUSE) == 0
                    && (node.flags() & flag::DECLARATOR == 0 || flat.is_bare(idx))
                    && node.kind != crate::syntax::grammar::ERROR_KIND;
                let capture = Capture {
                    nodes: (idx, node.next),
                    bytes: (node.start, node.end),
                };
                if whole && let Some(inner) = self.terminated(pc, idx) {
                    return self
                        .bind(*slot, inner)
                        .then_some((pc + 2, node.next, parent));
                }
                (whole && self.bind(*slot, capture)).then_some((pc + 1, node.next, parent))
            }
            Op::Body {
                kind,
                open,
                close,
                slot,
            } => {
                let body = (node.kind == *kind)
                    .then(|| self.string_body(idx, open, close))
                    .flatten()?;
                let capture = Capture {
                    nodes: (idx, idx),
                    bytes: body,
                };
                self.bind(*slot, capture)
                    .then_some((pc + 1, node.next, parent))
            }
            Op::Leave | Op::Run { .. } | Op::Gap { .. } | Op::End => None,
        }
    }

    /// The node without its own last terminator, where the pattern writes that terminator as the next
    /// sibling: in the header of a C `for`, a declaration has it and an expression has not.
    fn terminated(&self, pc: usize, idx: u32) -> Option<Capture> {
        let flat = self.flat;
        let Op::Token { kind, .. } = &self.pattern.ops[pc + 1] else {
            return None;
        };
        let node = flat.node(idx);
        let last = node.next - 1;
        let ends = last > idx + 1
            && flat.node(last).parent == idx
            && flat.node(last).kind == *kind
            && flat.node(last).flags() & flag::TERMINATOR != 0;
        let follows = flat
            .nodes
            .get(node.next as usize)
            .is_some_and(|n| n.kind == *kind && n.parent == node.parent);
        (ends && !follows).then(|| Capture {
            nodes: (idx, last),
            bytes: (node.start, flat.node(self.sibling_before(last, idx)).end),
        })
    }

    /// The child of `parent` before a place among its children that is not the first.
    pub(super) fn sibling_before(&self, idx: u32, parent: u32) -> u32 {
        self.flat.child_before(idx, parent).unwrap_or(idx - 1)
    }

    /// Where the program goes on after the list entered at `pc`, if that list may be absent.
    fn empty_list(&self, pc: usize) -> Option<usize> {
        let Op::Enter { kind } = &self.pattern.ops[pc] else {
            return None;
        };
        if !self.pattern.list_kinds.contains(kind) {
            return None;
        }
        let mut at = pc + 1;
        loop {
            match &self.pattern.ops[at] {
                Op::Run { .. } | Op::Separator { .. } => at += 1,
                Op::Leave => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// The alternative in which the separator at `pc` is there and the run after it is not empty.
    fn separator_then_run(&self, pc: usize, idx: u32, parent: u32) -> Option<Alternative> {
        let Op::Separator { kind } = &self.pattern.ops[pc] else {
            return None;
        };
        let node = self.flat.node(idx);
        let first = node.next;
        if node.kind != *kind {
            return None;
        }
        // The separator of a one-element tuple has nothing after it, so the run may still be empty.
        Some(Alternative {
            pc: pc + 1,
            idx: first,
            parent,
            trail: self.trail.len(),
            kind: Choice::Extend { end: first },
            skipped: self.skipped,
        })
    }

    /// Begins a run at its shortest: empty.
    fn begin_run(
        &mut self,
        pc: usize,
        idx: u32,
        parent: u32,
        slot: Option<usize>,
    ) -> Option<(usize, u32, u32)> {
        let flat = self.flat;
        // Where the run is the last of its list, only one length can do.
        if let Op::Leave = self.pattern.ops[pc + 1] {
            let end = flat.node(parent).next;
            let fits = idx == end || self.run_fits(idx, end, parent);
            return (fits && self.bind_run(slot, idx, end)).then_some((pc + 1, end, parent));
        }
        if idx < flat.node(parent).next
            && let Some(end) = self.first_end(idx)
        {
            self.stack.push(Alternative {
                pc,
                idx,
                parent,
                trail: self.trail.len(),
                kind: Choice::Extend { end },
                skipped: self.skipped,
            });
        }
        // An empty run takes the separator after it along.
        let next = match self.pattern.ops[pc + 1] {
            Op::Separator { .. } => pc + 2,
            _ => pc + 1,
        };
        self.bind_run(slot, idx, idx).then_some((next, idx, parent))
    }

    /// The shortest non-empty end of a run that begins at `idx`.
    fn first_end(&self, idx: u32) -> Option<u32> {
        let node = self.flat.node(idx);
        (node.flags() & (flag::SEPARATOR | flag::CLAUSE) == 0).then_some(node.next)
    }

    /// Whether the siblings from `from` to `to` may be a run: no separator at either edge.
    fn run_fits(&self, from: u32, to: u32, parent: u32) -> bool {
        let last = self.sibling_before(to, parent);
        let mut at = from;
        while at < to {
            let node = self.flat.node(at);
            if node.flags() & flag::CLAUSE != 0 {
                return false;
            }
            at = node.next;
        }
        self.flat.node(from).flags() & flag::SEPARATOR == 0
            && self.flat.node(last).flags() & flag::SEPARATOR == 0
    }

    fn backtrack(&mut self) -> Option<(usize, u32, u32)> {
        while let Some(mut alt) = self.stack.pop() {
            // Ends of a run that were tried before cost time too.
            if self.is_spent() {
                return None;
            }
            self.undo(alt.trail);
            self.skipped = alt.skipped;
            match alt.kind {
                Choice::Resume => {
                    return Some((alt.pc, alt.idx, alt.parent));
                }
                Choice::Extend { end } => {
                    let flat = self.flat;
                    let limit = flat.node(alt.parent).next;
                    // The next longer end, past a separator if one stands there.
                    let mut element = (end < limit).then_some(end);
                    if end < limit && end > alt.idx && flat.node(end).flags() & flag::SEPARATOR != 0
                    {
                        element = Some(flat.node(end).next).filter(|e| *e < limit);
                    }
                    let longer = element
                        .filter(|e| flat.node(*e).flags() & (flag::CLAUSE | flag::SEPARATOR) == 0)
                        .map(|e| flat.node(e).next);
                    let (pc, idx, parent) = (alt.pc, alt.idx, alt.parent);
                    if let Some(longer) = longer {
                        alt.kind = Choice::Extend { end: longer };
                        self.stack.push(alt);
                    }
                    let Op::Run { slot } = self.pattern.ops[pc] else {
                        continue;
                    };
                    if !self.bind_run(slot, idx, end) {
                        continue;
                    }
                    if self.pattern.branches && !self.first_time(pc + 1, end) {
                        continue;
                    }
                    return Some((pc + 1, end, parent));
                }
            }
        }
        None
    }

    /// Counts a step; true when the candidate has had its share.
    fn is_spent(&mut self) -> bool {
        self.steps += 1;
        self.steps > limits::MATCH_STEPS
    }

    /// Remembers a state that was entered; false when it was entered before and so has failed.
    fn first_time(&mut self, pc: usize, idx: u32) -> bool {
        if self.lenient {
            return true;
        }
        let mut key = 0u64;
        if !self.pattern.repeated.is_empty() {
            // What the other slots hold cannot make a later operation fail.
            let repeated = self.pattern.repeated.iter();
            for bound in repeated.filter_map(|slot| self.bound[*slot]) {
                for word in [bound.bytes.0, bound.bytes.1] {
                    key = (key ^ u64::from(word))
                        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                        .rotate_left(23);
                }
            }
        }
        self.failed.insert((pc as u32, idx, key))
    }

    fn undo(&mut self, trail: usize) {
        for slot in self.trail.drain(trail..) {
            self.bound[slot] = None;
        }
    }

    pub(super) fn bind_run(&mut self, slot: Option<usize>, from: u32, to: u32) -> bool {
        if slot.is_some_and(|slot| !self.pattern.slots[slot].run) && !self.is_path(from, to) {
            return false;
        }
        let bytes = if from == to {
            let at = self.flat.nodes.get(from as usize).map_or(0, |n| n.start);
            (at, at)
        } else {
            let last = self.sibling_before(to, self.flat.node(from).parent);
            (self.flat.node(from).start, self.flat.node(last).end)
        };
        self.bind(
            slot,
            Capture {
                nodes: (from, to),
                bytes,
            },
        )
    }

    /// Whether the siblings from `from` to `to` are what one metavariable takes of a path.
    fn is_path(&self, from: u32, to: u32) -> bool {
        let mut at = from;
        while at < to {
            let node = self.flat.node(at);
            if node.flags() & flag::SEPARATOR != 0 {
                return false;
            }
            at = node.next;
        }
        from < to
    }

    /// Binds a slot, or compares with what it already holds.
    pub(super) fn bind(&mut self, slot: Option<usize>, capture: Capture) -> bool {
        let Some(slot) = slot else {
            return true;
        };
        match self.bound[slot] {
            None => {
                self.bound[slot] = Some(capture);
                self.trail.push(slot);
                true
            }
            Some(bound) => self.same_text(bound, capture),
        }
    }

    /// Whether two captures have the same token texts (D8).
    fn same_text(&self, a: Capture, b: Capture) -> bool {
        let has_gap = |covered: &Covered| !covered.holds(&a.place()) || !covered.holds(&b.place());
        if self.covered.is_some_and(has_gap) {
            return true;
        }
        let bytes = |c: Capture| &self.source[c.place()];
        if a.nodes.0 == a.nodes.1 || b.nodes.0 == b.nodes.1 {
            return bytes(a) == bytes(b);
        }
        let (mut left, mut right) = (Tokens::new(self.flat, a), Tokens::new(self.flat, b));
        loop {
            match (left.next(), right.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) => {
                    let text = |idx: u32| {
                        let n = self.flat.node(idx);
                        &self.source[n.start as usize..n.end as usize]
                    };
                    if text(x) != text(y) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    fn text_is(&self, idx: u32, text: &[u8]) -> bool {
        let node = self.flat.node(idx);
        let found = &self.source[node.start as usize..node.end as usize];
        if found == text {
            return true;
        }
        // Patterns have LF line ends; the same text in a CRLF file is the same token.
        text.contains(&b'\n')
            && found.contains(&b'\r')
            && found
                .iter()
                .enumerate()
                .filter(|(i, b)| **b != b'\r' || found.get(i + 1) != Some(&b'\n'))
                .map(|(_, b)| b)
                .eq(text.iter())
    }

    fn string_body(&self, idx: u32, open: &[u8], close: &[u8]) -> Option<(u32, u32)> {
        let flat = self.flat;
        let node = flat.node(idx);
        let text = &self.source[node.start as usize..node.end as usize];
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        // A longer quote that begins with this one (`"""`) is another literal.
        if let Some(first) = flat.children(idx).next() {
            let first = flat.node(first);
            let found = &self.source[first.start as usize..first.end as usize];
            if first.start == node.start
                && found.len() > open.len()
                && found.ends_with(&open[open.len() - 1..])
                && found.len() < text.len()
            {
                return None;
            }
        } else if inner.len() >= 4 && inner.starts_with(close) && inner.ends_with(close) {
            return None;
        }
        let start = node.start + open.len() as u32;
        Some((start, start + inner.len() as u32))
    }
}
