//! The ladder: finds a rung whose scaffold takes the fragment, and the spelling of each metavariable.
//!
//! A fragment is never parsed bare: `dispose(x)` at the top level of a Dart file is a signature. Each
//! rung puts text on both sides of it. A rung takes the fragment when the whole scaffolded text parses
//! without an ERROR or MISSING node, no node crosses the fragment's edges (but for a supplied
//! terminator), and the outermost node has a kind that the rung's row accepts (D13, D14). Metavariables
//! are spelled by stand-ins; a form other than the bare identifier counts only where its text is
//! exactly one node.

use std::collections::HashMap;
use std::ops::Range;

use crate::limits;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::languages::{Accept, Context, Rung};
use crate::syntax::metavar::{Meta, Piece};
use crate::syntax::tree::{Flat, Node};

/// A fragment that a rung took.
pub(crate) struct Placed {
    pub context: Context,
    /// The scaffolded text.
    pub text: String,
    /// Where the fragment stands in it, a supplied terminator excluded.
    pub fragment: Range<usize>,
    /// One past the supplied terminator, or `fragment.end`.
    pub extended_end: usize,
    pub flat: Flat,
    /// The stand-ins, in order: where each stands in `text`.
    pub metas: Vec<(Meta, Range<usize>)>,
    /// Node index of the root, or of the first root of a sequence.
    pub roots: Vec<u32>,
    /// Whether the fragment writes its own terminator after the last root.
    pub wrote_terminator: bool,
    /// Separators that only spell a list of one and are no part of the pattern.
    pub dropped: Vec<u32>,
    /// What the scaffold put before every line of the fragment but its first.
    pub indent: &'static str,
}

impl Placed {
    /// The metavariable whose stand-in is exactly this node.
    pub fn meta_of(&self, node: &Node) -> Option<&Meta> {
        meta_of(&self.metas, node)
    }
}

fn meta_of<'a>(metas: &'a [(Meta, Range<usize>)], node: &Node) -> Option<&'a Meta> {
    let range = node.start as usize..node.end as usize;
    // The stand-ins are in order and apart.
    let idx = metas.partition_point(|(_, r)| r.start < range.start);
    let (meta, found) = metas.get(idx)?;
    (*found == range).then_some(meta)
}

/// Why a rung did not take the fragment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Refusal {
    /// The rung.
    pub context: Context,
    /// What was wrong, in words.
    pub reason: String,
    /// Whether the language has no such rung at all.
    #[serde(skip)]
    pub no_such_place: bool,
}

/// Tries one context; every scaffold of it in row order, first without and then with the terminator.
/// Gives the readings of all scaffolds that take the fragment, the first one first.
pub(crate) fn place(
    grammar: &Grammar,
    pieces: &[Piece],
    context: Context,
) -> Result<Vec<Placed>, Refusal> {
    let mut readings = Vec::new();
    let syntax = &grammar.row.syntax;
    let mut best: Option<Miss> = None;
    let rungs: Vec<&Rung> = syntax
        .rungs
        .iter()
        .filter(|r| r.context == context)
        .collect();
    if rungs.is_empty() {
        return Err(Refusal {
            context,
            reason: format!("{} has no such place", grammar.row.id),
            no_such_place: true,
        });
    }
    for terminator in [None, syntax.terminator] {
        if terminator.is_none() && best.is_some() {
            break;
        }
        for rung in &rungs {
            match spell(grammar, pieces, rung, terminator.unwrap_or("")) {
                Ok(placed) => readings.push(placed),
                Err(miss) => {
                    if best.as_ref().is_none_or(|b| miss.cost < b.cost) {
                        best = Some(miss);
                    }
                }
            }
        }
        if !readings.is_empty() {
            return Ok(readings);
        }
    }
    Err(Refusal {
        context,
        reason: best.map_or_else(String::new, |m| m.reason),
        no_such_place: false,
    })
}

struct Miss {
    cost: usize,
    reason: String,
}

/// Searches the spellings of the metavariables for one that the scaffold takes.
///
/// All of them bare first; then one form for all runs, one form for all; then each metavariable on its
/// own, by descent on the cost of the parse. The search is bounded, so a hopeless fragment costs a
/// hundred tiny parses per rung and not the power of its metavariables.
fn spell(
    grammar: &Grammar,
    pieces: &[Piece],
    rung: &Rung,
    terminator: &str,
) -> Result<Placed, Miss> {
    let n_forms = grammar.row.syntax.forms.len();
    let metas: Vec<&Meta> = pieces
        .iter()
        .filter_map(|p| match p {
            Piece::Meta(m) => Some(m),
            Piece::Text(_) => None,
        })
        .collect();
    let mut tried = 0;
    let length: usize = pieces.iter().map(Piece::len).sum();
    let most =
        (limits::SPELLED_BYTES_PER_RUNG / length.max(1)).clamp(1, limits::SPELLINGS_PER_RUNG);
    let mut attempt = |forms: &[usize]| {
        tried += 1;
        if tried > most {
            return None;
        }
        if statements_on_one_line(grammar, pieces, forms) {
            return Some(Err(Miss {
                cost: usize::MAX - 1,
                reason: String::new(),
            }));
        }
        Some(try_forms(grammar, pieces, rung, terminator, forms))
    };
    let mut current = vec![0; metas.len()];
    // A run with a word after it on its line would be read as a type and a name; so would any
    // metavariable on a line of its own before a line that is another statement.
    let statement_form = grammar.row.syntax.forms.iter().position(|f| *f == "{};");
    let mut before_word = runs_before_words(pieces);
    for (before_word, alone) in before_word.iter_mut().zip(alone_on_lines(pieces)) {
        *before_word |= alone;
    }
    if let Some(form) = statement_form
        && !grammar.row.syntax.terminator_optional
        && before_word.contains(&true)
    {
        let forms: Vec<usize> = before_word
            .iter()
            .map(|b| if *b { form } else { 0 })
            .collect();
        if let Some(Ok(placed)) = attempt(&forms) {
            return Ok(placed);
        }
    }
    let mut best = match attempt(&current) {
        Some(Err(miss)) => miss,
        Some(Ok(placed)) => return Ok(placed),
        None => {
            return Err(Miss {
                cost: usize::MAX,
                reason: String::new(),
            });
        }
    };
    let has_singles = metas.iter().any(|m| !m.run);
    for all in [false, true] {
        if (!all && !metas.iter().any(|m| m.run)) || (all && !has_singles) {
            continue;
        }
        for form in 1..n_forms {
            let forms: Vec<usize> = metas
                .iter()
                .map(|m| if all || m.run { form } else { 0 })
                .collect();
            match attempt(&forms) {
                Some(Ok(placed)) => return Ok(placed),
                Some(Err(miss)) => {
                    if miss.cost < best.cost {
                        best = miss;
                        current = forms;
                    }
                }
                None => return Err(best),
            }
        }
    }
    // One metavariable in a form of its own, with every form of the runs: by far the common case.
    let singles: Vec<usize> = (0..metas.len()).filter(|i| !metas[*i].run).collect();
    let n_run_forms = if metas.iter().any(|m| m.run) {
        n_forms
    } else {
        1
    };
    for run_form in 0..n_run_forms {
        for single in &singles {
            for form in 1..n_forms {
                let forms: Vec<usize> = (0..metas.len())
                    .map(|i| match () {
                        () if i == *single => form,
                        () if metas[i].run => run_form,
                        () => 0,
                    })
                    .collect();
                match attempt(&forms) {
                    Some(Ok(placed)) => return Ok(placed),
                    Some(Err(miss)) => {
                        if miss.cost < best.cost {
                            best = miss;
                            current = forms;
                        }
                    }
                    None => return Err(best),
                }
            }
        }
    }
    // Coordinate descent, from the best uniform spelling and then from all bare.
    for start in [current.clone(), vec![0; metas.len()]] {
        let mut current = start;
        let mut cost = usize::MAX;
        for _pass in 0..2 {
            let before = current.clone();
            for idx in 0..metas.len() {
                let mut kept = current[idx];
                for form in 0..n_forms {
                    current[idx] = form;
                    match attempt(&current) {
                        Some(Ok(placed)) => return Ok(placed),
                        Some(Err(miss)) => {
                            if miss.cost < cost {
                                cost = miss.cost;
                                kept = form;
                            }
                            if miss.cost < best.cost {
                                best = miss;
                            }
                        }
                        None => return Err(best),
                    }
                }
                current[idx] = kept;
            }
            if before == current {
                break;
            }
        }
    }
    Err(best)
}

/// For each metavariable, whether it is a run with a word after it on its line.
fn runs_before_words(pieces: &[Piece]) -> Vec<bool> {
    let mut flags = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Meta(meta) = piece else { continue };
        let word = matches!(pieces.get(at + 1), Some(Piece::Text(t)) if {
            let rest = t.trim_start_matches([' ', '\t']);
            rest.len() < t.len() && rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        });
        flags.push(meta.run && word);
    }
    flags
}

/// Which metavariables have a line to themselves that is followed by one of other text.
fn alone_on_lines(pieces: &[Piece]) -> Vec<bool> {
    let text = |at: Option<usize>| match at.and_then(|at| pieces.get(at)) {
        Some(Piece::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let mut alone = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if let Piece::Text(_) = piece {
            continue;
        }
        let begins = at == 0
            || text(at.checked_sub(1)).is_some_and(|t| {
                t.rfind('\n')
                    .is_some_and(|line| t[line..].trim().is_empty())
            });
        let goes_on = text(Some(at + 1)).is_some_and(|t| {
            let rest = t.trim_start_matches([' ', '\t']);
            rest.starts_with('\n') && !rest.trim_start().starts_with(['}', ')', ']', '.'])
        });
        alone.push(begins && goes_on);
    }
    alone
}

/// Whether the forms make two single metavariables with only blanks between them two statements:
/// `$T $NAME` is a type and a name, or nothing.
fn statements_on_one_line(grammar: &Grammar, pieces: &[Piece], forms: &[usize]) -> bool {
    let mut n_metas = 0;
    pieces.iter().enumerate().any(|(at, piece)| {
        let Piece::Meta(meta) = piece else {
            return false;
        };
        n_metas += 1;
        let blank = |t: &str| t.trim().is_empty() && !t.contains('\n');
        !meta.run
            && grammar.row.syntax.forms[forms[n_metas - 1]].ends_with(';')
            && matches!(pieces.get(at + 1), Some(Piece::Text(t)) if blank(t))
            && matches!(pieces.get(at + 2), Some(Piece::Meta(next)) if !next.run)
    })
}

/// Spells the fragment with the given forms, parses it in the scaffold and checks it.
fn try_forms(
    grammar: &Grammar,
    pieces: &[Piece],
    rung: &Rung,
    terminator: &str,
    forms: &[usize],
) -> Result<Placed, Miss> {
    let syntax = &grammar.row.syntax;
    let mut text = rung.before.to_owned();
    let fragment_start = text.len();
    let mut metas = Vec::new();
    let mut numbers = HashMap::new();
    for piece in pieces {
        match piece {
            Piece::Text(t) if rung.indent.is_empty() => text.push_str(t),
            Piece::Text(t) => text.push_str(&t.replace('\n', &format!("\n{}", rung.indent))),
            Piece::Meta(meta) => {
                let form = syntax.forms[forms[metas.len()]];
                let start = text.len();
                // One name has one stand-in: some scanners pair names (HTML's tags).
                let mut number = metas.len();
                if meta.binds() {
                    number = *numbers.entry(meta.name.as_str()).or_insert(number);
                }
                text.push_str(&form.replace("{}", &format!("zq{number}x")));
                metas.push((meta.clone(), start..text.len()));
            }
        }
    }
    let fragment = fragment_start..text.len();
    text.push_str(terminator);
    let extended_end = text.len();
    text.push_str(rung.after);
    let gave_up = || Miss {
        cost: usize::MAX - 1,
        reason: "the parser gave up".to_owned(),
    };
    let tree = grammar.parse(text.as_bytes()).ok_or_else(gave_up)?;
    if tree.root_node().has_error() {
        return Err(describe_errors(grammar, &tree, &text, &fragment, &metas));
    }
    let flat = Flat::build(grammar, &tree, text.as_bytes());
    let mut placed = Placed {
        context: rung.context,
        text,
        fragment,
        extended_end,
        flat,
        metas,
        roots: Vec::new(),
        wrote_terminator: false,
        indent: rung.indent,
        dropped: Vec::new(),
    };
    let mut inexact = 0;
    let singles = syntax.singles;
    let nodes = if !singles.is_empty() || forms.iter().any(|form| *form > 0) {
        spelled_nodes(&placed.flat, &placed.metas)
    } else {
        HashMap::new()
    };
    for (meta, range) in &placed.metas {
        // A run alone in the brackets of one node stands for a list, which has another kind.
        let alone = meta.run
            && nodes.get(range).is_some_and(|node| {
                let parent = placed.flat.node(placed.flat.node(*node).parent);
                singles.contains(&grammar.kind_name(parent.kind))
            });
        inexact += usize::from(alone);
    }
    for (idx, form) in forms.iter().enumerate() {
        let range = placed.metas[idx].1.clone();
        if *form == 0 || nodes.contains_key(&range) {
            continue;
        }
        // A terminator that is no part of the tree here does not keep the form from being one node.
        let shorter = range.start..range.end - 1;
        if placed.metas[idx].0.run
            && placed.text[range.clone()].ends_with(',')
            && let Some(node) = nodes.get(&shorter)
            && let Some(separator) = lone_separator(&placed.flat, *node)
        {
            placed.dropped.push(separator);
            placed.metas[idx].1 = shorter;
            continue;
        }
        let loose = placed.text[range.clone()].ends_with(';')
            && nodes.get(&shorter).is_some_and(|node| {
                let parent = placed.flat.node(placed.flat.node(*node).parent);
                let semicolon = grammar.language.id_for_node_kind(";", false);
                grammar.flags(parent.kind) & flag::LOOSE != 0
                    || grammar.flags(semicolon) & flag::TRIVIA != 0
            });
        if loose {
            placed.metas[idx].1 = shorter;
        } else {
            inexact += 1;
        }
    }
    if inexact > 0 {
        return Err(Miss {
            cost: 1000 + inexact,
            reason: "a stand-in is not one node".to_owned(),
        });
    }
    find_roots(grammar, &mut placed, rung).map_err(|reason| Miss { cost: 10, reason })?;
    if let Some(reason) = nonsense(grammar, &placed) {
        return Err(Miss { cost: 12, reason });
    }
    if let Some(word) = refused_word(grammar, &placed, rung) {
        return Err(Miss {
            cost: 12,
            reason: format!("'{word}' has no meaning in a {}", rung.context),
        });
    }
    match keyword_as_name(grammar, &placed) {
        Some(word) => Err(Miss {
            cost: 15,
            reason: format!("'{word}' is a keyword and would be read as a name"),
        }),
        None => Ok(placed),
    }
}

/// The separator after the only element of a tuple.
fn lone_separator(flat: &Flat, node: u32) -> Option<u32> {
    let parent = flat.node(node).parent;
    let separator = flat.node(node).next;
    let only = flat.node(parent).flags() & flag::TUPLE != 0
        && flat
            .nodes
            .get(separator as usize)
            .is_some_and(|n| n.parent == parent && n.flags() & flag::SEPARATOR != 0);
    only.then_some(separator)
}

/// The outermost node of each stand-in, with and without its last byte, found in one pass.
fn spelled_nodes(flat: &Flat, metas: &[(Meta, Range<usize>)]) -> HashMap<Range<usize>, u32> {
    let mut nodes = HashMap::new();
    for (idx, node) in flat.nodes.iter().enumerate() {
        let range = node.start as usize..node.end as usize;
        let at = metas.partition_point(|(_, r)| r.start < range.start);
        let spelled = metas.get(at).is_some_and(|(_, r)| {
            r.start == range.start && (r.end == range.end || r.end == range.end + 1)
        });
        if spelled {
            nodes.entry(range).or_insert(idx as u32);
        }
    }
    nodes
}

/// Finds the nodes that the fragment stands for, or says why it stands for none.
fn find_roots(grammar: &Grammar, placed: &mut Placed, rung: &Rung) -> Result<(), String> {
    let flat = &placed.flat;
    let (left, right) = trimmed(&placed.text, &placed.fragment);
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
    let all_named = roots
        .iter()
        .all(|c| flat.node(*c).flags() & (flag::NAMED | flag::TERMINATOR | flag::SEPARATOR) != 0);
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
fn nonsense(grammar: &Grammar, placed: &Placed) -> Option<String> {
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
fn refused_word(grammar: &Grammar, placed: &Placed, rung: &Rung) -> Option<String> {
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
fn keyword_as_name(grammar: &Grammar, placed: &Placed) -> Option<String> {
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

/// The fragment's range without white space at its edges.
fn trimmed(text: &str, range: &Range<usize>) -> (usize, usize) {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    (start, start + inner.trim().len())
}

/// Turns the errors of a parse into a cost and a sentence about the first one.
fn describe_errors(
    grammar: &Grammar,
    tree: &tree_sitter::Tree,
    text: &str,
    fragment: &Range<usize>,
    metas: &[(Meta, Range<usize>)],
) -> Miss {
    let mut cost = 0;
    let mut first: Option<String> = None;
    let mut cursor = tree.walk();
    'walk: loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            cost += 20 + (node.end_byte() - node.start_byte());
            if first.is_none() {
                let shown = shown_at(text, node.start_byte()..node.end_byte(), fragment, metas);
                first = Some(if node.is_missing() {
                    format!("'{}' is missing {shown}", node.kind())
                } else {
                    format!("syntax error {shown}")
                });
            }
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    let _ = grammar;
    Miss {
        cost: cost + 20,
        reason: first.unwrap_or_else(|| "syntax error".to_owned()),
    }
}

/// Words for a place in the scaffolded text, in terms of what the user wrote.
fn shown_at(
    text: &str,
    range: Range<usize>,
    fragment: &Range<usize>,
    metas: &[(Meta, Range<usize>)],
) -> String {
    if range.start >= fragment.end {
        return "at the end of the pattern".to_owned();
    }
    let start = range.start.max(fragment.start);
    let end = range.end.clamp(start, fragment.end);
    let mut shown = restored(text, &(start..end), metas);
    if shown.trim().is_empty() {
        shown = restored(text, &(start..fragment.end), metas);
    }
    let shown: String = shown.trim().chars().take(40).collect();
    format!("at `{}`", shown.replace('\n', "\\n"))
}

/// A slice of the scaffolded text with the stand-ins turned back into what the user wrote.
pub(crate) fn restored(text: &str, range: &Range<usize>, metas: &[(Meta, Range<usize>)]) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let first = metas.partition_point(|(_, r)| r.end <= at);
    for (meta, meta_range) in &metas[first..] {
        if meta_range.start >= range.end {
            break;
        }
        if meta_range.start > at {
            out.push_str(text.get(at..meta_range.start).unwrap_or(""));
        }
        out.push_str(&meta.written());
        at = meta_range.end;
    }
    if at < range.end {
        out.push_str(text.get(at..range.end).unwrap_or(""));
    }
    out
}
