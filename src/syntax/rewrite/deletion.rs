//! Deleting elements of a list: what goes with an element is its separator (D8, D11).
//!
//! A rewrite to nothing is one of the text only where the match is no element of a list; in `[f(), a]`
//! it would leave `[, a]`. The range of such a match is widened over the separator after it, or the one
//! before it where it is the last, and over its line where it has one to itself. Elements that go side by
//! side are widened as one.

use std::collections::HashMap;
use std::ops::Range;

use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::template::{Planned, Template, TemplatePiece};
use crate::syntax::tree::Flat;

/// A file as it is parsed.
pub(super) struct Source<'a> {
    pub grammar: &'a Grammar,
    pub flat: &'a Flat,
    pub bytes: &'a [u8],
}

/// Siblings that go, all of them elements of one list.
struct Group {
    /// Indexes of planned matches, in order.
    planned: Vec<usize>,
    first: u32,
    /// One past the last node.
    end: u32,
}

/// Widens the ranges of matches whose replacement is empty over the separators that go with them.
pub(super) fn widen(source: &Source<'_>, template: &Template, planned: &mut [Planned]) {
    let may_be_empty = template.pieces.iter().all(|piece| match piece {
        TemplatePiece::Text(text) => text.trim().is_empty(),
        TemplatePiece::Slot { run, .. } => *run,
    });
    if !may_be_empty {
        return;
    }
    let is_empty = |plan: &Planned| {
        template.pieces.iter().all(|piece| match piece {
            TemplatePiece::Text(_) => true,
            TemplatePiece::Slot { slot, .. } => {
                let (start, end) = plan.found.captures[*slot].bytes;
                start == end
            }
        })
    };
    let mut outer = HashMap::new();
    for (idx, plan) in planned.iter().enumerate() {
        outer.extend(plan.inner.iter().map(|inner| (*inner, idx)));
    }
    let mut groups: Vec<Group> = Vec::new();
    for (idx, plan) in planned.iter().enumerate() {
        if !is_empty(plan) {
            continue;
        }
        let (first, end) = source.element(plan);
        match groups.last_mut() {
            // Only a separator stands between the two.
            Some(group)
                if source.separator_at(group.end, group.first) && group.end + 1 == first =>
            {
                group.planned.push(idx);
                group.end = end;
            }
            _ => groups.push(Group {
                planned: vec![idx],
                first,
                end,
            }),
        }
    }
    for group in groups {
        let Some(range) = source.with_separator(&group) else {
            continue;
        };
        let fits = group.planned.iter().all(|idx| {
            outer.get(idx).is_none_or(|outer| {
                let captures = &planned[*outer].found.captures;
                captures
                    .iter()
                    .any(|c| c.bytes.0 <= range.start && range.end <= c.bytes.1)
            })
        });
        if !fits {
            continue;
        }
        let starts: Vec<u32> = group
            .planned
            .iter()
            .map(|idx| planned[*idx].found.range.start)
            .collect();
        for (n, idx) in group.planned.iter().enumerate() {
            let start = if n == 0 { range.start } else { starts[n] };
            let end = starts.get(n + 1).copied().unwrap_or(range.end);
            planned[*idx].found.range = start..end;
        }
    }
}

impl Source<'_> {
    /// The outermost nodes of the range of a match: an argument is more than the expression in it.
    fn element(&self, plan: &Planned) -> (u32, u32) {
        let (mut first, mut end) = (plan.found.root, plan.found.root_end);
        loop {
            let parent = self.flat.node(first).parent;
            let node = self.flat.node(parent);
            let same = node.start == self.flat.node(first).start
                && node.next == end
                && parent != first
                && parent != 0;
            if !same {
                return (first, end);
            }
            (first, end) = (parent, node.next);
        }
    }

    /// Whether a separator stands at an index among the siblings of a node.
    fn separator_at(&self, idx: u32, sibling: u32) -> bool {
        self.flat.nodes.get(idx as usize).is_some_and(|node| {
            node.parent == self.flat.node(sibling).parent && self.is_separator(idx)
        })
    }

    fn is_separator(&self, idx: u32) -> bool {
        let node = self.flat.node(idx);
        node.flags() & flag::SEPARATOR != 0
            && &self.bytes[node.start as usize..node.end as usize] != b";"
    }

    /// What goes with the elements of a group, themselves included; `None` where they are in no list.
    fn with_separator(&self, group: &Group) -> Option<Range<u32>> {
        let flat = self.flat;
        let parent = flat.node(group.first).parent;
        let list = flat.node(parent);
        let start = flat.node(group.first).start;
        let last = flat.child_before(group.end, parent)?;
        let end = flat.node(last).end;
        let before = flat
            .previous_sibling(group.first)
            .filter(|idx| self.is_separator(*idx));
        let has_next = self.separator_at(group.end, group.first);
        let closer = (group.end < list.next).then(|| flat.node(group.end).kind);
        let ends_list = closer.is_some_and(|k| self.grammar.flags(k) & flag::CLOSER != 0);
        let is_outer = self.grammar.flags(flat.node(group.first).kind) & flag::OUTER_SEPARATOR != 0;
        // A separator at the end of a list is no part of the tree.
        let after = (has_next || ends_list || before.is_some() || is_outer)
            .then(|| self.separator_after(end as usize))
            .flatten();
        let n_left = flat
            .children(parent)
            .filter(|c| flat.node(*c).flags() & flag::NAMED != 0)
            .filter(|c| !(group.first..group.end).contains(c))
            .count();
        let is_tuple = list.flags() & flag::TUPLE != 0 && n_left == 1;
        let line_start = self.bytes[..start as usize]
            .iter()
            .rposition(|b| !matches!(b, b' ' | b'\t'))
            .map_or(Some(0), |at| (self.bytes[at] == b'\n').then_some(at + 1));
        if is_tuple {
            // The separator before the last element makes the one that is left a tuple.
            let before = before.filter(|_| !has_next)?;
            return Some(flat.node(before).end..end);
        }
        let line_end = after.and_then(|after| self.line_end(after));
        if let (Some(line), Some(line_end)) = (line_start, line_end) {
            return Some(line as u32..line_end as u32);
        }
        match (after, before) {
            (Some(after), before) if has_next || is_outer || before.is_none() => {
                let blanks = self.bytes[after..]
                    .iter()
                    .take_while(|b| matches!(b, b' ' | b'\t'))
                    .count();
                Some(start..(after + blanks) as u32)
            }
            (_, Some(before)) => Some(flat.node(before).start..end),
            // What stands between several of them goes in any case.
            (_, None) => (group.planned.len() > 1).then_some(start..end),
        }
    }

    /// One past the separator that follows an offset, with only white space between.
    fn separator_after(&self, offset: usize) -> Option<usize> {
        let rest = &self.bytes[offset..];
        let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let separators = self.grammar.row.syntax.separators.iter();
        separators
            .filter(|s| **s != ";")
            .find(|s| rest[blanks..].starts_with(s.as_bytes()))
            .map(|s| offset + blanks + s.len())
    }

    /// One past the line end that follows an offset, with only blanks between.
    fn line_end(&self, offset: usize) -> Option<usize> {
        let rest = &self.bytes[offset..];
        let blanks = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t' | b'\r'))
            .count();
        (rest.get(blanks) == Some(&b'\n')).then_some(offset + blanks + 1)
    }
}
