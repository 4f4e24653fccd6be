//! The spellings of metavariables: which stand-ins make a scaffold take a fragment.

use std::collections::HashMap;
use std::ops::Range;

use crate::limits;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::ladder::roots::{find_roots, keyword_as_name, nonsense, refused_word};
use crate::syntax::ladder::{Placed, restored};
use crate::syntax::languages::Rung;
use crate::syntax::metavar::{Meta, Piece};
use crate::syntax::tree::Flat;

pub(super) struct Miss {
    pub cost: usize,
    pub reason: String,
}

impl Miss {
    /// A miss whose reason is known, or needs none.
    fn again(cost: usize) -> Self {
        Self {
            cost,
            reason: String::new(),
        }
    }
}

/// Searches the spellings of the metavariables for one that the scaffold takes.
///
/// All of them bare first; then one form for all runs, one form for all; then each metavariable on its
/// own, by descent on the cost of the parse. The search is bounded, so a hopeless fragment costs a
/// hundred tiny parses per rung and not the power of its metavariables.
pub(super) fn spell(
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
    // The rounds below come to the same spelling again and again. One that has failed is never better than
    // the best miss, so its cost is all that is left of it.
    let mut failed: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut attempt = |forms: &[usize]| {
        if let Some(cost) = failed.get(forms) {
            return Some(Err(Miss::again(*cost)));
        }
        tried += 1;
        if tried > most {
            return None;
        }
        let res = if statements_on_one_line(grammar, pieces, forms)
            || label_after_label(grammar, pieces, forms)
        {
            Err(Miss::again(usize::MAX - 1))
        } else {
            try_forms(grammar, pieces, rung, terminator, forms)
        };
        if let Err(miss) = &res {
            failed.insert(forms.to_vec(), miss.cost);
        }
        Some(res)
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

/// Whether the forms make a run right after the colon of a label another label: what follows
/// `default:` are its statements.
fn label_after_label(grammar: &Grammar, pieces: &[Piece], forms: &[usize]) -> bool {
    let mut n_metas = 0;
    pieces.iter().enumerate().any(|(at, piece)| {
        let Piece::Meta(meta) = piece else {
            return false;
        };
        n_metas += 1;
        let form = grammar.row.syntax.forms[forms[n_metas - 1]];
        let before = at.checked_sub(1).and_then(|at| pieces.get(at));
        meta.run
            && form.starts_with("case ")
            && form.ends_with([':', ';'])
            && matches!(before, Some(Piece::Text(t)) if t.trim_end().ends_with(':'))
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
    let last_line = text[fragment_start..].rsplit('\n').next().unwrap_or("");
    if !terminator.is_empty() && syntax.comment_starts.iter().any(|c| last_line.contains(c)) {
        // A comment at the end must not take the terminator in.
        text.push('\n');
    }
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
        wrote_separator: None,
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
        {
            let kind = placed.flat.node(*node).kind;
            let separator = lone_separator(&placed.flat, *node);
            if separator.is_some() || grammar.flags(kind) & flag::OUTER_SEPARATOR != 0 {
                placed.dropped.extend(separator);
                placed.metas[idx].1 = shorter;
                continue;
            }
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
