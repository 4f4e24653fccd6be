//! The compiler: the nodes of a placed fragment, in preorder, to operations.

use std::collections::HashMap;
use std::ops::Range;

use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::ladder::{Placed, restored};
use crate::syntax::metavar::Meta;
use crate::syntax::pattern::{Op, Slot};

pub(super) struct Compiler<'a> {
    pub grammar: &'a Grammar,
    pub placed: &'a Placed,
    pub ops: Vec<Op>,
    pub slots: Vec<Slot>,
    pub slot_of: HashMap<String, usize>,
    pub repeated: Vec<bool>,
}

impl Compiler<'_> {
    pub fn subtree(&mut self, root: u32) {
        let flat = &self.placed.flat;
        let end = flat.node(root).next;
        let mut idx = root;
        // Entered nodes, innermost last, each with where its last child so far ends.
        let mut open: Vec<(u32, usize)> = Vec::new();
        loop {
            while let Some((entered, last_end)) = open.last().copied()
                && flat.node(entered).next == idx
            {
                let node = flat.node(entered);
                if node.flags() & flag::STRING != 0 {
                    self.gap(last_end..node.end as usize);
                }
                self.ops.push(Op::Leave);
                open.pop();
                if let Some(top) = open.last_mut() {
                    top.1 = node.end as usize;
                }
            }
            if idx >= end {
                break;
            }
            let node = *flat.node(idx);
            if let Some((entered, last_end)) = open.last().copied()
                && flat.node(entered).flags() & flag::STRING != 0
            {
                self.gap(last_end..node.start as usize);
            }
            match self.node(idx) {
                Some(next) => {
                    if let Some(top) = open.last_mut() {
                        top.1 = node.end as usize;
                    }
                    idx = next;
                }
                None => {
                    open.push((idx, node.start as usize));
                    idx += 1;
                }
            }
        }
    }

    fn gap(&mut self, range: Range<usize>) {
        let text = self.placed.text[range].as_bytes();
        self.ops.push(Op::Gap { text: text.into() });
    }

    /// Emits one node; the index to go on at when the node is done, `None` when it was entered.
    fn node(&mut self, idx: u32) -> Option<u32> {
        let flat = &self.placed.flat;
        let node = *flat.node(idx);
        if self.placed.dropped.contains(&idx) {
            return Some(node.next);
        }
        let range = node.start as usize..node.end as usize;
        if let Some(meta) = self.placed.meta_of(&node) {
            let passed = node.flags() & flag::LIST != 0;
            let has_inner = flat.children(idx).next().is_some_and(|c| {
                let child = flat.node(c);
                child.start == node.start && child.end == node.end
            });
            if !(passed && has_inner) {
                let slot = self.slot(meta);
                self.ops.push(if meta.run || self.is_in_path(idx) {
                    Op::Run { slot }
                } else {
                    Op::One { slot }
                });
                return Some(node.next);
            }
        }
        if node.flags() & flag::EXPRESSION_STATEMENT != 0
            && let Some(op) = self.run_with_terminator(idx)
        {
            self.ops.push(op);
            return Some(node.next);
        }
        if node.flags() & flag::STRING != 0 {
            if let Some(op) = self.string_body(&range, node.kind) {
                self.ops.push(op);
                return Some(node.next);
            }
            if !self.holds_meta_node(idx) {
                self.leaf(node.kind, &range);
                return Some(node.next);
            }
        }
        if flat.is_leaf(idx) {
            if node.flags() & flag::SEPARATOR != 0 {
                self.ops.push(Op::Separator { kind: node.kind });
            } else if node.flags() & flag::NAMED == 0 {
                let text = &self.placed.text[range.clone()];
                let name = self.grammar.kind_name(node.kind);
                // `# include` and `#include` are one token, as are `not  in` and `not in`.
                let solid = |t: &str| t.split_whitespace().collect::<String>();
                let told = solid(text) == solid(name)
                    || (self.grammar.row.syntax.keywords_ignore_case
                        && text.eq_ignore_ascii_case(name));
                self.ops.push(Op::Token {
                    kind: node.kind,
                    text: (!told).then(|| text.as_bytes().into()),
                });
            } else if self.grammar.flags(node.kind) & flag::TEXT != 0 {
                let text = restored(&self.placed.text, &range, &self.placed.metas);
                self.ops.push(Op::Words {
                    kind: node.kind,
                    text: text.into(),
                });
            } else {
                self.leaf(node.kind, &range);
            }
            return Some(node.next);
        }
        self.ops.push(Op::Enter { kind: node.kind });
        None
    }

    /// Whether a node is a part of a path whose parts are no node together; not in a list of paths, in
    /// which one could not be told from the next.
    fn is_in_path(&self, idx: u32) -> bool {
        let flat = &self.placed.flat;
        let parent = flat.node(idx).parent;
        let kind = self.grammar.kind_name(flat.node(parent).kind);
        self.grammar.row.syntax.paths.contains(&kind)
            && flat
                .children(parent)
                .all(|c| flat.node(c).flags() & flag::SEPARATOR == 0)
    }

    /// The operation for `$$$NAME;` as a statement: a run of statements, not a run inside of one.
    fn run_with_terminator(&mut self, idx: u32) -> Option<Op> {
        let flat = &self.placed.flat;
        let mut children = flat.children(idx);
        let first = flat.node(children.next()?);
        let only = children.all(|c| flat.node(c).flags() & flag::TERMINATOR != 0);
        let meta = self.placed.meta_of(first).filter(|m| only && m.run)?;
        Some(Op::Run {
            slot: self.slot(meta),
        })
    }

    fn leaf(&mut self, kind: u16, range: &Range<usize>) {
        let mut text = restored(&self.placed.text, range, &self.placed.metas);
        if !self.placed.indent.is_empty() {
            text = text.replace(&format!("\n{}", self.placed.indent), "\n");
        }
        self.ops.push(Op::Leaf {
            kind,
            text: text.as_bytes().into(),
        });
    }

    fn slot(&mut self, meta: &Meta) -> Option<usize> {
        if !meta.binds() {
            return None;
        }
        if let Some(found) = self.slot_of.get(&meta.name) {
            self.repeated[*found] = true;
            return Some(*found);
        }
        self.slot_of.insert(meta.name.clone(), self.slots.len());
        self.repeated.push(false);
        self.slots.push(Slot {
            name: meta.name.clone(),
            run: meta.run,
        });
        Some(self.slots.len() - 1)
    }

    fn holds_meta_node(&self, idx: u32) -> bool {
        let flat = &self.placed.flat;
        (idx..flat.node(idx).next).any(|i| self.placed.meta_of(flat.node(i)).is_some())
    }

    /// The operation for a string literal whose whole body is one metavariable (D38).
    fn string_body(&mut self, range: &Range<usize>, kind: u16) -> Option<Op> {
        let metas = &self.placed.metas;
        let at = metas.partition_point(|(_, r)| r.start <= range.start);
        let (meta, inner) = metas.get(at).filter(|(_, r)| r.end < range.end)?;
        let open = &self.placed.text[range.start..inner.start];
        let close = &self.placed.text[inner.end..range.end];
        let quote = |c: char| matches!(c, '"' | '\'' | '`' | '[' | ']' | '/' | '<' | '>');
        let opens = open.ends_with(quote) && !open.chars().any(char::is_whitespace);
        let closes =
            close.starts_with(quote) && close.chars().all(|c| quote(c) || c == '#' || c == '=');
        if !opens || !closes {
            return None;
        }
        let (open, close) = (open.as_bytes().into(), close.as_bytes().into());
        let meta = meta.clone();
        Some(Op::Body {
            kind,
            open,
            close,
            slot: self.slot(&meta),
        })
    }
}
