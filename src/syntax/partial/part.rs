//! The parse of some ranges of a source.

use std::ops::Range;

use crate::syntax::grammar::{self, Grammar};
use crate::syntax::split::{Excerpt, Units};
use crate::syntax::tree::Flat;

/// A tree of some ranges of a source.
pub(super) struct Part<'a> {
    grammar: &'a Grammar,
    source: &'a [u8],
    excerpt: Excerpt,
    tree: tree_sitter::Tree,
}

impl<'a> Part<'a> {
    /// Parses ranges that were chosen from the units, ascending and apart. `None` when tree-sitter gives up.
    pub fn parse(
        grammar: &'a Grammar,
        source: &'a [u8],
        ranges: &[Range<usize>],
        units: &Units,
    ) -> Option<Part<'a>> {
        let excerpt = Excerpt::new(source, ranges, units);
        let tree = grammar.parse_as_is(excerpt.text())?;
        Some(Part {
            grammar,
            source,
            excerpt,
            tree,
        })
    }

    /// Whether the parser found an error.
    pub fn has_error(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// Where the errors stand in the source, in preorder.
    pub fn errors(&self) -> Vec<Range<usize>> {
        let mut hint = 0;
        let errors = grammar::errors(&self.tree).into_iter();
        errors
            .map(|error| self.excerpt.place(error, &mut hint))
            .collect()
    }

    /// The nodes, at their places in the source.
    pub fn flat(&self) -> Flat {
        Flat::of_excerpt(self.grammar, &self.tree, self.source, &self.excerpt)
    }
}
