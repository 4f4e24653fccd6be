//! The flat tree: the nodes of a parse in preorder, without trivia.
//!
//! Matching never touches tree-sitter nodes. A file's tree is flattened once into an array in which
//! the children of node `i` begin at `i + 1` and its next sibling is at `nodes[i].next`; so every walk
//! is a loop, however deep the source. Comments, blank tokens and optional trailing separators and
//! terminators are left out, which makes them invisible to matching and to the comparison of repeated
//! metavariables alike (D8, D38). It must not know patterns.

mod regroup;

use std::ops::Range;

use crate::limits;
use crate::syntax::grammar::{ERROR_KIND, Grammar, flag};
use crate::syntax::split::Excerpt;

/// One node of the flat tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Kind id of the grammar.
    pub kind: u16,
    /// Low flags of the kind, see [`flag`]; TRIVIA stands for "missing" here.
    flags: u16,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Index of the node after this one's subtree.
    pub next: u32,
    /// Index of the parent; the root's is its own.
    pub parent: u32,
    /// Index of the sibling before; a first child has that of the last child here, so that neither is
    /// ever looked for by climbing, which would cost the depth of the source each time.
    prev: u32,
}

impl Node {
    /// The flags of the node that are kept with it.
    #[inline]
    pub fn flags(&self) -> u32 {
        u32::from(self.flags)
    }
}

/// Marks a node that the parser invented: no trivia node is ever in the array, so the bit is free.
pub(crate) const MISSING: u32 = flag::TRIVIA;

/// A flattened parse.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    /// Nodes in preorder.
    pub nodes: Vec<Node>,
    /// Byte ranges of the comments left out.
    pub comments: Vec<Range<u32>>,
    /// How many ERROR and MISSING nodes there are.
    pub n_errors: usize,
    /// Where the first of them stand.
    pub errors: Vec<Range<u32>>,
    /// Whether this is several trees one behind the other, not in the order of the source.
    pub is_forest: bool,
}

impl Flat {
    /// Flattens a tree.
    pub fn build(grammar: &Grammar, tree: &tree_sitter::Tree, source: &[u8]) -> Flat {
        Flat::flatten(grammar, tree, source, &mut Places::Shifted(0))
    }

    /// Flattens the tree of an excerpt; positions are those of the source.
    pub fn of_excerpt(
        grammar: &Grammar,
        tree: &tree_sitter::Tree,
        source: &[u8],
        excerpt: &Excerpt,
    ) -> Flat {
        let mut places = Places::Excerpt(excerpt, 0);
        Flat::flatten(grammar, tree, source, &mut places)
    }

    fn flatten(
        grammar: &Grammar,
        tree: &tree_sitter::Tree,
        source: &[u8],
        places: &mut Places<'_>,
    ) -> Flat {
        let mut flat = Flat::default();
        // An upper bound, except for code that is parsed again: trivia is left out.
        flat.nodes.reserve(tree.root_node().descendant_count());
        let mut builder = Builder {
            grammar,
            source,
            flat: &mut flat,
            nesting: 0,
        };
        builder.subtree(&mut tree.walk(), places, 0);
        regroup::regroup(&mut flat, grammar);
        if tree.root_node().has_error() {
            flat.note_errors();
        }
        flat
    }

    /// Puts another tree of the same source behind this one.
    pub fn append(&mut self, other: Flat) {
        let shift = self.nodes.len() as u32;
        self.is_forest |= shift > 0;
        self.nodes.extend(other.nodes.into_iter().map(|node| Node {
            next: node.next + shift,
            parent: node.parent + shift,
            prev: node.prev + shift,
            ..node
        }));
        self.comments.extend(other.comments);
        self.comments.sort_by_key(|comment| comment.start);
        self.n_errors += other.n_errors;
        let room = limits::ERRORS_NOTED.saturating_sub(self.errors.len());
        self.errors.extend(other.errors.into_iter().take(room));
    }

    /// The node at an index.
    #[inline]
    pub fn node(&self, idx: u32) -> &Node {
        &self.nodes[idx as usize]
    }

    /// Whether a node has no children here.
    #[inline]
    pub fn is_leaf(&self, idx: u32) -> bool {
        self.nodes[idx as usize].next == idx + 1
    }

    /// The sibling before a node.
    pub fn previous_sibling(&self, idx: u32) -> Option<u32> {
        let node = self.node(idx);
        (idx != node.parent && idx != node.parent + 1).then_some(node.prev)
    }

    /// The last child of a node.
    pub fn last_child(&self, idx: u32) -> Option<u32> {
        (!self.is_leaf(idx)).then(|| self.node(idx + 1).prev)
    }

    /// Whether a declarator is no more than the name or the pattern in it.
    pub fn is_bare(&self, idx: u32) -> bool {
        self.nodes.get(idx as usize + 1).is_some_and(|inner| {
            inner.parent == idx
                && inner.next == self.node(idx).next
                && inner.flags() & (flag::NAMED | flag::DECLARATOR) == flag::NAMED
        })
    }

    /// The child of `parent` that ends where `idx` begins, `idx` being a later child of it or one past
    /// its subtree.
    pub fn child_before(&self, idx: u32, parent: u32) -> Option<u32> {
        if idx == self.node(parent).next {
            self.last_child(parent)
        } else {
            self.previous_sibling(idx)
        }
    }

    fn note_errors(&mut self) {
        for node in &self.nodes {
            if node.kind == ERROR_KIND || node.flags() & MISSING != 0 {
                self.n_errors += 1;
                if self.errors.len() < limits::ERRORS_NOTED {
                    self.errors.push(node.start..node.end);
                }
            }
        }
    }

    /// The children of a node, in order.
    pub fn children(&self, idx: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.node(idx).next;
        let mut at = idx + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let child = at;
                at = self.node(at).next;
                child
            })
        })
    }

    /// Bytes that this tree holds in memory.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.comments.capacity() * size_of::<Range<u32>>()
    }
}

/// Where the nodes of a tree stand in the source.
enum Places<'a> {
    /// This far behind their place in the text that was parsed.
    Shifted(isize),
    /// As the excerpt says that was parsed, with its hint.
    Excerpt(&'a Excerpt, usize),
}

impl Places<'_> {
    #[inline]
    fn of(&mut self, range: Range<usize>) -> Range<usize> {
        match self {
            Places::Shifted(by) => {
                range.start.wrapping_add_signed(*by)..range.end.wrapping_add_signed(*by)
            }
            Places::Excerpt(excerpt, hint) => excerpt.place(range, hint),
        }
    }
}

struct Builder<'a> {
    grammar: &'a Grammar,
    /// The whole source: positions, also those of grafted code, are positions in it.
    source: &'a [u8],
    flat: &'a mut Flat,
    nesting: usize,
}

impl Builder<'_> {
    /// Appends the subtree under the cursor.
    fn subtree(
        &mut self,
        cursor: &mut tree_sitter::TreeCursor<'_>,
        places: &mut Places<'_>,
        parent: u32,
    ) {
        // The open ancestors are found through `parent`, so no stack is needed.
        let mut parent = parent;
        // Counted here: the cursor would walk up its own stack to answer.
        let mut depth = 0usize;
        loop {
            let ts = cursor.node();
            let mut kind = ts.kind_id();
            let mut flags = self.grammar.flags(kind);
            let range = places.of(ts.start_byte()..ts.end_byte());
            let (start, end) = (range.start as u32, range.end as u32);
            let text = &self.source[range];
            let mut descend = false;
            if flags & flag::TRIVIA != 0 {
                if flags & flag::NAMED != 0 {
                    self.flat.comments.push(start..end);
                }
            } else if flags & flag::SEMICOLON != 0
                && !self.flat.nodes.is_empty()
                && self.grammar.flags(self.flat.node(parent).kind) & flag::LOOSE != 0
            {
                // No more than a line end here.
            } else if text.is_empty() && ts.is_missing() {
                self.push(kind, (flags & !flag::TRIVIA) | MISSING, start, end, parent);
            } else if (flags & (flag::NAMED | flag::TEXT) != flag::NAMED)
                && text.iter().all(u8::is_ascii_whitespace)
            {
                // Newline tokens, zero-width terminators, blank text between elements.
            } else {
                if kind == ERROR_KIND {
                    flags = flag::NAMED;
                }
                if flags & flag::SAME != 0 {
                    if let Some(to) = self.grammar.counts_as(kind) {
                        kind = to;
                        flags = self.grammar.flags(kind);
                    }
                    self.rename(parent, kind);
                }
                let idx = self.push(kind, flags, start, end, parent);
                let grafted = flags & flag::TOKEN_TREE != 0
                    && self.grammar.flags(self.flat.node(parent).kind) & flag::TOKEN_TREE_PARENT
                        != 0
                    && self.graft(text, start, idx);
                if grafted {
                    self.close(idx);
                } else if cursor.goto_first_child() {
                    parent = idx;
                    descend = true;
                }
            }
            if descend {
                depth += 1;
                continue;
            }
            loop {
                if depth == 0 {
                    return;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                cursor.goto_parent();
                depth -= 1;
                let closed = parent;
                parent = self.flat.node(closed).parent;
                self.close(closed);
            }
        }
    }

    /// Gives the parent of a token the kind that it counts as.
    fn rename(&mut self, parent: u32, token: u16) {
        let Some(node) = self.flat.nodes.get_mut(parent as usize) else {
            return;
        };
        if let Some(to) = self.grammar.counts_as_with(node.kind, token) {
            node.kind = to;
            node.flags = self.grammar.flags(to) as u16 | node.flags & MISSING as u16;
        }
    }

    fn push(&mut self, kind: u16, flags: u32, start: u32, end: u32, parent: u32) -> u32 {
        let idx = self.flat.nodes.len() as u32;
        // The first child holds the last one so far.
        let prev = match self.flat.nodes.get_mut(parent as usize + 1) {
            Some(first) if parent != idx => std::mem::replace(&mut first.prev, idx),
            _ => idx,
        };
        self.flat.nodes.push(Node {
            kind,
            flags: flags as u16,
            start,
            end,
            next: idx + 1,
            parent,
            prev,
        });
        idx
    }

    /// Ends a node: fixes its `next` and drops an optional last separator or terminator.
    fn close(&mut self, idx: u32) {
        let len = self.flat.nodes.len() as u32;
        self.flat.nodes[idx as usize].next = len;
        self.pull_back_end(idx);
        if len <= idx + 2 {
            // One child at most: a lone `,` or `;` is what the node is made of.
            return;
        }
        let droppable = |n: &Node| n.flags() & flag::SEPARATOR != 0 && n.flags() & MISSING == 0;
        let last = len - 1;
        let last_node = *self.flat.node(last);
        if last_node.parent != idx {
            return;
        }
        if droppable(&last_node) {
            if !self.is_one_tuple(idx, last) {
                self.flat.nodes.pop();
                self.flat.nodes[idx as usize].next = last;
                self.flat.nodes[idx as usize + 1].prev = last_node.prev;
                let kind = self.flat.node(idx).kind;
                if self.grammar.flags(kind) & flag::OUTER_SEPARATOR != 0 {
                    self.flat.nodes[idx as usize].end = self.flat.node(last_node.prev).end;
                }
            }
        } else if self.grammar.flags(last_node.kind) & flag::CLOSER != 0 && last - 1 > idx + 1 {
            let before = *self.flat.node(last - 1);
            if before.parent == idx && droppable(&before) && !self.is_one_tuple(idx, last - 1) {
                self.flat.nodes.remove((last - 1) as usize);
                let closer = &mut self.flat.nodes[(last - 1) as usize];
                closer.next = last;
                closer.prev = before.prev;
                self.flat.nodes[idx as usize].next = last;
                self.flat.nodes[idx as usize + 1].prev = last - 1;
            }
        }
    }

    /// Ends a node where its last child ends when only blanks follow: some grammars let a line end, or
    /// the layout after it, belong to the node before.
    fn pull_back_end(&mut self, idx: u32) {
        let node = *self.flat.node(idx);
        if node.next == idx + 1 || self.grammar.flags(node.kind) & (flag::STRING | flag::TEXT) != 0
        {
            return;
        }
        let Some(last) = self.flat.last_child(idx) else {
            return;
        };
        let last_end = self.flat.node(last).end;
        let Some(mut rest) = self.source.get(last_end as usize..node.end as usize) else {
            return;
        };
        // Nor do the comments behind the last statement of a body that nothing closes.
        let in_suite = self.grammar.row.syntax.suite.is_some();
        while in_suite && let [b'#' | b'\\', ..] = rest.trim_ascii_start() {
            rest = memchr::memchr(b'\n', rest.trim_ascii_start())
                .map_or(&[], |end| &rest.trim_ascii_start()[end..]);
        }
        if last_end < node.end && rest.iter().all(u8::is_ascii_whitespace) {
            self.flat.nodes[idx as usize].end = last_end;
        }
    }

    /// Whether the separator at `idx` is what makes `parent` a tuple of one element.
    fn is_one_tuple(&self, parent: u32, idx: u32) -> bool {
        self.flat.node(parent).flags() & flag::TUPLE != 0
            && !self
                .flat
                .children(parent)
                .take_while(|c| *c < idx)
                .any(|c| self.flat.node(c).flags() & flag::SEPARATOR != 0)
    }

    /// Parses the content of a token list again as code; true when its nodes were appended below `idx`.
    fn graft(&mut self, text: &[u8], start: u32, idx: u32) -> bool {
        let Some(tokens) = &self.grammar.row.syntax.token_tree else {
            return false;
        };
        if text.len() < 2 || self.nesting >= limits::TOKEN_TREE_NESTING {
            return false;
        }
        let inner = &text[1..text.len() - 1];
        let first = self.flat.nodes.len();
        let bracket = |byte: u8| {
            let kind = std::str::from_utf8(&[byte])
                .map(|s| self.grammar.language.id_for_node_kind(s, false))
                .unwrap_or(0);
            (kind, self.grammar.flags(kind))
        };
        let (open, close) = (bracket(text[0]), bracket(text[text.len() - 1]));
        let end = start + text.len() as u32;
        if inner.iter().all(u8::is_ascii_whitespace) {
            self.push(open.0, open.1, start, start + 1, idx);
            self.push(close.0, close.1, end - 1, end, idx);
            return true;
        }
        for (before, after, kind) in tokens.scaffolds {
            let mut code = Vec::with_capacity(before.len() + inner.len() + after.len());
            code.extend_from_slice(before.as_bytes());
            code.extend_from_slice(inner);
            code.extend_from_slice(after.as_bytes());
            let Some(tree) = self.grammar.parse(&code) else {
                continue;
            };
            if tree.root_node().has_error() {
                continue;
            }
            let inner_range = before.len()..before.len() + inner.len();
            let Some(list) = list_around(&tree, kind, &inner_range) else {
                continue;
            };
            let mut places = Places::Shifted(start as isize + 1 - before.len() as isize);
            self.push(open.0, open.1, start, start + 1, idx);
            self.nesting += 1;
            let mut cursor = list.walk();
            let mut more = cursor.goto_first_child();
            while more {
                let child = cursor.node();
                let inside =
                    child.start_byte() >= inner_range.start && child.end_byte() <= inner_range.end;
                if inside && child.start_byte() < child.end_byte() {
                    self.subtree(&mut child.walk(), &mut places, idx);
                }
                more = cursor.goto_next_sibling();
            }
            self.nesting -= 1;
            self.push(close.0, close.1, end - 1, end, idx);
            debug_assert!(self.flat.nodes.len() > first);
            return true;
        }
        false
    }
}

/// The node of the given kind whose brackets stand directly around the range.
fn list_around<'t>(
    tree: &'t tree_sitter::Tree,
    kind: &str,
    inner: &Range<usize>,
) -> Option<tree_sitter::Node<'t>> {
    let mut node = tree
        .root_node()
        .descendant_for_byte_range(inner.start - 1, inner.end)?;
    while node.kind() != kind || node.start_byte() > inner.start - 1 {
        node = node.parent()?;
    }
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    let (first, last) = (children.first()?, children.last()?);
    let fits = first.end_byte() <= inner.start && last.start_byte() >= inner.end;
    fits.then_some(node)
}
