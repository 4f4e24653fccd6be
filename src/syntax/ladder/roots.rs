//! The nodes that a placed fragment stands for, and the readings that a rung refuses.

use std::ops::Range;

use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::ladder::{Placed, meta_of};
use crate::syntax::languages::{Accept, Context, Rung};
use crate::syntax::tree::Flat;

/// Finds the nodes that the fragment stands for, or says why it stands for none.
pub(super) fn find_roots(
    grammar: &Grammar,
    placed: &mut Placed,
    rung: &Rung,
) -> Result<(), String> {
    placed.fragment = without_edge_comments(&placed.flat, &placed.text, &placed.fragment);
    if rung.context == Context::MatchArm && !grammar.row.syntax.outer_separators.is_empty() {
        let written = &placed.text[placed.fragment.clone()];
        let mut separators = grammar.row.syntax.separators.iter();
        if let Some(separator) = separators.find(|s| written.ends_with(**s)) {
            let kept = written.len() - separator.len();
            placed.fragment.end = placed.fragment.start + written[..kept].trim_end().len();
            placed.extended_end = placed.fragment.end;
            placed.wrote_separator = Some(separator);
        }
    }
    let flat = &placed.flat;
    let (left, right) = (placed.fragment.start, placed.fragment.end);
    let right_extended = if placed.extended_end > placed.fragment.end {
        placed.extended_end
    } else {
        right
    };
    // Down to the smallest node that holds the whole fragment; an only child of equal range is entered
    // as long as it is named and no metavariable.
    let holds = |idx: u32| {
        let n = flat.node(idx);
        n.start as usize <= left && n.end as usize >= right
    };
    let metas = &placed.metas;
    let is_meta = |idx: u32| meta_of(metas, flat.node(idx)).is_some();
    let fits = |idx: u32| {
        let n = flat.node(idx);
        n.start as usize == left && (n.end as usize == right || n.end as usize == right_extended)
    };
    let is_whole = |idx: u32| {
        let kinds = grammar.row.syntax.whole;
        !kinds.is_empty() && kinds.contains(&grammar.kind_name(flat.node(idx).kind))
    };
    let mut outermost: Option<u32> = None;
    let mut idx = 0;
    loop {
        if outermost.is_none() && fits(idx) && idx != 0 && !is_list(flat, idx) {
            outermost = Some(idx);
        }
        let child = flat.children(idx).find(|c| holds(*c));
        match child {
            Some(child)
                if !(fits(idx) && is_whole(idx))
                    && flat.node(child).flags() & flag::NAMED != 0
                    && !(fits(idx) && is_meta(child) && !is_list(flat, idx)) =>
            {
                idx = child;
            }
            _ => break,
        }
    }
    let written_end = placed.text[..right].chars().next_back();
    let terminator = grammar.row.syntax.terminator;
    let ends_written = terminator.is_some_and(|t| placed.text[..right].ends_with(t))
        && written_end.is_some()
        && !placed.metas.iter().any(|(_, r)| r.end == right);
    placed.wrote_terminator = ends_written;
    if fits(idx) && !is_list(flat, idx) && idx != 0 {
        let outer = outermost.unwrap_or(idx);
        accepts(grammar, rung, flat, outer)?;
        refuses_inside(grammar, rung, flat, outer, idx)?;
        let mut root = idx;
        if ends_written {
            // An explicit terminator asks for the statement, also where the terminator is no part of
            // the tree.
            let mut at = outer;
            loop {
                if flat.node(at).flags() & flag::EXPRESSION_STATEMENT != 0 {
                    root = at;
                    break;
                }
                if at == idx {
                    break;
                }
                at += 1;
            }
        }
        placed.roots = vec![root];
        return Ok(());
    }
    // A sequence of siblings.
    let inside: Vec<u32> = flat
        .children(idx)
        .filter(|c| {
            let n = flat.node(*c);
            (n.end as usize > left && (n.start as usize) < right_extended) || fits(*c)
        })
        .collect();
    let crossing = inside.iter().any(|c| {
        let n = flat.node(*c);
        (n.start as usize) < left || n.end as usize > right_extended
    });
    let mut roots: Vec<u32> = inside;
    // The terminators around a last statement are no elements of a sequence.
    while roots.last().is_some_and(|c| {
        let n = flat.node(*c);
        n.flags() & flag::NAMED == 0 && n.flags() & (flag::TERMINATOR | flag::SEPARATOR) != 0
    }) {
        roots.pop();
    }
    let (Some(first), Some(last)) = (roots.first(), roots.last()) else {
        return Err("the fragment holds no node".to_owned());
    };
    let starts = flat.node(*first).start as usize == left;
    let last_end = flat.node(*last).end as usize;
    let rest_is_terminator = placed.text[last_end.min(right)..right]
        .chars()
        .all(|c| c.is_whitespace() || terminator.is_some_and(|t| t.contains(c)));
    if crossing || !starts || !rest_is_terminator {
        return Err(format!(
            "the fragment is only a part of a node ({})",
            grammar.kind_name(flat.node(idx).kind)
        ));
    }
    if roots.len() == 1 {
        let only = roots[0];
        if is_meta(only) {
            return Err("the fragment is a bare metavariable".to_owned());
        }
        accepts(grammar, rung, flat, only)?;
        let mut root = only;
        if !ends_written {
            while let Some(child) = flat.children(root).next()
                && !is_whole(root)
                && flat.node(child).next == flat.node(root).next
                && flat.node(child).flags() & flag::NAMED != 0
                && flat.node(child).start == flat.node(root).start
                && flat.node(child).end == flat.node(root).end
                && !is_meta(child)
            {
                root = child;
            }
        }
        placed.roots = vec![root];
        return Ok(());
    }
    let sequences = matches!(
        rung.context,
        Context::Statement | Context::ClassMember | Context::Declaration
    );
    // A word that is attached to a parameter stands beside it (Dart's `required`).
    let (last, before) = (*last, &roots[..roots.len() - 1]);
    let has_prefix = rung.context == Context::Parameter
        && before
            .iter()
            .all(|c| flat.node(*c).flags() & flag::ATTACHED != 0)
        && flat.node(last).flags() & flag::NAMED != 0;
    let sequences = sequences || has_prefix;
    let part = flag::NAMED
        | flag::TERMINATOR
        | flag::SEPARATOR
        | if has_prefix { flag::ATTACHED } else { 0 };
    let all_named = roots.iter().all(|c| flat.node(*c).flags() & part != 0);
    if !sequences || !all_named {
        return Err(format!(
            "the fragment is {} nodes side by side in {}",
            roots.len(),
            grammar.kind_name(flat.node(idx).kind)
        ));
    }
    for pair in roots.windows(2) {
        let single = |idx: u32| meta_of(metas, flat.node(idx)).is_some_and(|m| !m.run);
        let between = flat.node(pair[0]).end as usize..flat.node(pair[1]).start as usize;
        let separate = placed.text[between].contains(['\n', ';']);
        if !separate && (single(pair[0]) || single(pair[1])) {
            return Err("two nodes side by side on one line are no statements".to_owned());
        }
    }
    // What is attached to the node after it is judged by that node.
    let last = *roots.last().expect("a sequence has roots");
    let attached = |idx: u32| flat.node(idx).flags() & flag::ATTACHED != 0;
    let judged = roots.iter().filter(|r| !attached(**r) || attached(last));
    for root in judged {
        if flat.node(*root).flags() & flag::NAMED != 0 {
            accepts(grammar, rung, flat, *root)?;
        }
    }
    placed.roots = roots;
    Ok(())
}

/// A child that makes no sense in its parent.
pub(super) fn nonsense(grammar: &Grammar, placed: &Placed) -> Option<String> {
    let never = grammar.row.syntax.never;
    let flat = &placed.flat;
    if never.is_empty() {
        return None;
    }
    let (first, last) = (*placed.roots.first()?, *placed.roots.last()?);
    (first..flat.node(last).next).find_map(|idx| {
        let node = flat.node(idx);
        let parent = grammar.kind_name(flat.node(node.parent).kind);
        let kind = grammar.kind_name(node.kind);
        let inside = flat.node(node.parent).start as usize >= placed.fragment.start;
        let has_leaf = |text: &str| {
            (node.parent + 1..idx).any(|i| {
                let n = flat.node(i);
                flat.is_leaf(i) && &placed.text[n.start as usize..n.end as usize] == text
            })
        };
        let refused = never.iter().any(|(outer, inner, unless)| {
            *outer == parent && *inner == kind && (unless.is_empty() || !has_leaf(unless))
        });
        (inside && refused).then(|| format!("a {kind} is no part of this {parent}"))
    })
}

/// A modifier of the root that the rung does not take.
pub(super) fn refused_word(grammar: &Grammar, placed: &Placed, rung: &Rung) -> Option<String> {
    let flat = &placed.flat;
    let mut root = *placed.roots.first()?;
    // The root may be the inside of a statement that carries the modifiers.
    while flat.node(flat.node(root).parent).start == flat.node(root).start
        && flat.node(root).parent != root
        && flat.node(flat.node(root).parent).start as usize >= placed.fragment.start
    {
        root = flat.node(root).parent;
    }
    (root..flat.node(root).next)
        .filter(|idx| flat.is_leaf(*idx))
        .filter(|idx| {
            let parent = flat.node(*idx).parent;
            let kind = grammar.kind_name(flat.node(parent).kind);
            parent == root || *idx == root || kind.contains("modifier")
        })
        .map(|idx| {
            let n = flat.node(idx);
            &placed.text[n.start as usize..n.end as usize]
        })
        .find(|text| rung.refused_words.contains(text))
        .map(str::to_owned)
}

/// A keyword that the grammar took for an identifier.
pub(super) fn keyword_as_name(grammar: &Grammar, placed: &Placed) -> Option<String> {
    let reserved = grammar.row.syntax.reserved;
    if reserved.is_empty() {
        return None;
    }
    let flat = &placed.flat;
    let text = |idx: u32| {
        let n = flat.node(idx);
        &placed.text[n.start as usize..n.end as usize]
    };
    let (first, last) = (*placed.roots.first()?, *placed.roots.last()?);
    (first..flat.node(last).next)
        .find(|idx| {
            flat.is_leaf(*idx)
                && flat.node(*idx).flags() & flag::NAMED != 0
                && grammar
                    .row
                    .syntax
                    .reserved_kinds
                    .contains(&grammar.kind_name(flat.node(*idx).kind))
                && reserved.contains(&text(*idx))
                && !flat
                    .previous_sibling(*idx)
                    .is_some_and(|p| matches!(text(p), "." | "&." | "::" | "?." | "def" | "->"))
        })
        .map(|idx| text(idx).to_owned())
}

fn is_list(flat: &Flat, idx: u32) -> bool {
    flat.node(idx).flags() & flag::LIST != 0
}

/// Refuses a kind that the rung excludes also where it is wrapped in a node of the same range.
fn refuses_inside(
    grammar: &Grammar,
    rung: &Rung,
    flat: &Flat,
    outer: u32,
    root: u32,
) -> Result<(), String> {
    if let Accept::Not(_) = rung.accepts {
        for idx in outer + 1..=root {
            accepts(grammar, rung, flat, idx)?;
        }
    }
    Ok(())
}

fn accepts(grammar: &Grammar, rung: &Rung, flat: &Flat, idx: u32) -> Result<(), String> {
    let kind = grammar.kind_name(flat.node(idx).kind);
    let taken = match rung.accepts {
        Accept::Any => true,
        Accept::Only(kinds) => kinds.contains(&kind),
        Accept::Not(kinds) => !kinds.contains(&kind),
    };
    if taken {
        Ok(())
    } else {
        Err(format!(
            "it would be read as {kind}, which is no {}",
            rung.context
        ))
    }
}

/// The fragment's range without white space and comments at its edges: neither counts in a pattern.
fn without_edge_comments(flat: &Flat, text: &str, range: &Range<usize>) -> Range<usize> {
    let (mut left, mut right) = trimmed(text, range);
    for comment in &flat.comments {
        if comment.start as usize == left && (comment.end as usize) < right {
            (left, _) = trimmed(text, &(comment.end as usize..right));
        }
    }
    for comment in flat.comments.iter().rev() {
        // Some grammars let a line comment reach over the line end.
        let end = text[..comment.end as usize].trim_end().len();
        if end == right && comment.start as usize > left {
            (_, right) = trimmed(text, &(left..comment.start as usize));
        }
    }
    left..right
}

/// The fragment's range without white space at its edges.
fn trimmed(text: &str, range: &Range<usize>) -> (usize, usize) {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    (start, start + inner.trim().len())
}
