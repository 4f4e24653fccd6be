//! Binary expressions that a grammar groups otherwise than its language.
//!
//! The Swift grammar reads `a == b && c` as `a == (b && c)`. Where a row says how strongly such kinds bind,
//! a node whose right side binds less than itself changes places with it, so that patterns find what
//! the source means. The array stays in preorder: one node moves to the front of another.

use crate::limits;
use crate::syntax::grammar::Grammar;
use crate::syntax::tree::Flat;

/// Regroups the binary expressions of a tree.
pub(super) fn regroup(flat: &mut Flat, grammar: &Grammar) {
    if !grammar.has_strengths() {
        return;
    }
    // Backwards, so that what is inside of a node is right before the node is looked at.
    for idx in (0..flat.nodes.len() as u32).rev() {
        for outer in idx..idx.saturating_add(limits::REGROUPED_LEVELS) {
            if !rotate(flat, grammar, outer) {
                break;
            }
        }
    }
}

/// Lets a node change places with its last child where that binds less; the node then is the next one.
fn rotate(flat: &mut Flat, grammar: &Grammar, outer: u32) -> bool {
    let Some(strength) = grammar.strength(flat.node(outer).kind) else {
        return false;
    };
    let Some(inner) = flat.last_child(outer) else {
        return false;
    };
    let weaker = grammar
        .strength(flat.node(inner).kind)
        .is_some_and(|s| s < strength);
    // In both a left side, an operator and a right side.
    let before = flat.previous_sibling(inner);
    let left = inner + 1;
    let (Some(before), true) = (before, weaker && !flat.is_leaf(inner)) else {
        return false;
    };
    let operator = flat.node(left).next;
    if operator >= flat.node(inner).next || inner - outer > limits::REGROUPED_NODES {
        return false;
    }
    let last = flat.node(left).prev;
    let (start, above, sibling) = {
        let node = flat.node(outer);
        (node.start, node.parent, node.prev)
    };
    let shifted = |idx: u32| {
        if (outer..inner).contains(&idx) {
            idx + 1
        } else {
            idx
        }
    };
    flat.nodes[outer as usize..=inner as usize].rotate_right(1);
    for node in &mut flat.nodes[outer as usize + 2..=inner as usize] {
        node.parent = shifted(node.parent);
        node.prev = shifted(node.prev);
        node.next = if node.next == inner {
            left
        } else {
            shifted(node.next)
        };
    }
    let after = flat.node(left).next;
    let end = flat.node(left).end;
    let nodes = &mut flat.nodes;
    let weak = &mut nodes[outer as usize];
    (weak.start, weak.parent, weak.prev) = (start, above, sibling);
    let strong = &mut nodes[outer as usize + 1];
    (strong.end, strong.next) = (end, after);
    (strong.parent, strong.prev) = (outer, last);
    // The strong node's first child points to its last one.
    nodes[outer as usize + 2].prev = left;
    let left_side = &mut nodes[left as usize];
    (left_side.parent, left_side.prev) = (outer + 1, before + 1);
    nodes[operator as usize].prev = outer + 1;
    let mut at = operator;
    while at < nodes[outer as usize].next {
        nodes[at as usize].parent = outer;
        at = nodes[at as usize].next;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Grammars, Language, languages};

    /// The nodes of a tree in brackets, checked to be linked as the array promises.
    fn shown(row: &'static Language, source: &str) -> String {
        let grammars = Grammars::bundled();
        let grammar = grammars.grammar(row);
        let tree = grammar.parse(source.as_bytes()).unwrap();
        let flat = Flat::build(grammar, &tree, source.as_bytes());
        for (idx, node) in (0u32..).zip(&flat.nodes) {
            let children: Vec<u32> = flat.children(idx).collect();
            for pair in children.windows(2) {
                assert_eq!(flat.previous_sibling(pair[1]), Some(pair[0]), "{source}");
            }
            assert_eq!(flat.last_child(idx), children.last().copied(), "{source}");
            for child in children {
                let inner = flat.node(child);
                assert_eq!(inner.parent, idx, "{source}");
                assert!(
                    node.start <= inner.start && inner.end <= node.end,
                    "{source}"
                );
            }
        }
        let mut out = String::new();
        let mut ends: Vec<u32> = Vec::new();
        for (idx, node) in (0u32..).zip(&flat.nodes) {
            while ends.last().is_some_and(|end| *end <= idx) {
                ends.pop();
                out.push(')');
            }
            if flat.is_leaf(idx) {
                out.push_str(&source[node.start as usize..node.end as usize]);
            } else {
                out.push('(');
                ends.push(node.next);
            }
        }
        out.push_str(&")".repeat(ends.len()));
        out
    }

    // R43: what the language reads together is one node, also where the grammar groups otherwise.
    #[test]
    fn operators_bind_as_their_language_says() {
        // The small build has no language that needs this.
        let Some(swift) = languages::by_name("swift") else {
            return;
        };
        for (source, expected) in [
            ("a == b && c", "(((a==b)&&c))"),
            ("a == b && c == d", "(((a==b)&&(c==d)))"),
            ("a && b || c && d", "(((a&&b)||(c&&d)))"),
            ("a ?? b == c && d", "((((a??b)==c)&&d))"),
            ("a...b == c || d", "((((a...b)==c)||d))"),
            ("a == b ? c : d && e", "(((a==b)?c:(d&&e)))"),
        ] {
            assert_eq!(shown(swift, source), expected, "{source}");
        }
    }

    #[test]
    fn what_the_grammar_groups_rightly_stays() {
        // The small build has no language that needs this.
        let Some(swift) = languages::by_name("swift") else {
            return;
        };
        for (source, expected) in [
            ("a && b == c", "((a&&(b==c)))"),
            ("a + b * c", "((a+(b*c)))"),
            ("a && (b || c)", "((a&&(((b||c)))))"),
        ] {
            assert_eq!(shown(swift, source), expected, "{source}");
        }
    }
}
