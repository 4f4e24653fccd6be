//! Brackets with one metavariable in them whose kind in the tree depends on what stands between them.
//!
//! `sizeof($X)` is read with an expression in parentheses, and a type in them is another node; so is a
//! generator that is the only argument of a call. Rows name such kinds; here the pattern's brackets are
//! matched with the source's.

use crate::syntax::matcher::Capture;
use crate::syntax::matcher::machine::Machine;
use crate::syntax::pattern::Op;

impl Machine<'_> {
    /// Matches the brackets entered at `pc` with those that begin at `idx`, which have another kind.
    pub(super) fn in_other_brackets(
        &mut self,
        pc: usize,
        idx: u32,
        list: u16,
    ) -> Option<(usize, u32, u32)> {
        let flat = self.flat;
        let node = flat.node(idx);
        let kinds = *self.pattern.bracketed.iter().find(|k| k.list == list)?;
        if flat.node(node.parent).kind != kinds.under {
            return None;
        }
        // Either one node that begins and ends with the brackets, or three siblings.
        let (open, close) = if node.kind == kinds.instead {
            (idx + 1, flat.last_child(idx)?)
        } else {
            let inner = flat.nodes.get(node.next as usize)?;
            let fits = inner.kind == kinds.instead && inner.parent == node.parent;
            (idx, fits.then_some(inner.next)?)
        };
        let around = flat.nodes.get(open as usize)?.parent;
        let first = flat.node(open).next;
        if flat.nodes.get(close as usize)?.parent != around || first >= close {
            return None;
        }
        let last = flat.previous_sibling(close)?;
        let capture = Capture {
            nodes: (first, close),
            bytes: (flat.node(first).start, flat.node(last).end),
        };
        let pattern = self.pattern;
        let is_token = |op: &Op, idx: u32| matches!(op, Op::Token { kind, .. } if *kind == flat.node(idx).kind);
        let ops = &pattern.ops[pc + 1..];
        let length = ops.iter().position(|op| matches!(op, Op::Leave))?;
        let [before, slots @ .., after] = &ops[..length] else {
            return None;
        };
        if !is_token(before, open) || !is_token(after, close) {
            return None;
        }
        // One element takes it: the single metavariable, or the first run where there is none.
        let n_singles = slots
            .iter()
            .filter(|op| matches!(op, Op::One { .. }))
            .count();
        let mut taken = false;
        for op in slots {
            match op {
                Op::One { slot } if !taken && n_singles == 1 => {
                    taken = true;
                    if !self.bind(*slot, capture) {
                        return None;
                    }
                }
                Op::Run { slot } if !taken && n_singles == 0 => {
                    taken = true;
                    if !self.bind(*slot, capture) {
                        return None;
                    }
                }
                Op::Run { slot } => {
                    if !self.bind_run(*slot, first, first) {
                        return None;
                    }
                }
                Op::Separator { .. } => {}
                _ => return None,
            }
        }
        let (next, parent) = (flat.node(close).next, node.parent);
        taken.then_some((pc + 1 + length + 1, next, parent))
    }
}
