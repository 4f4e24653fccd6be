//! Patterns: from the user's text to the program that the matcher runs.
//!
//! A pattern is lexed for metavariables, placed by the ladder, and its tree is compiled in preorder to
//! a flat list of operations over preorder source nodes: `Enter` a node and `Leave` it with its
//! children exhausted, compare a `Leaf`, bind `One` node or a `Run` of siblings. Compilation is a loop
//! over the flat tree; nothing here recurses.

mod compiler;
mod outline;

use std::collections::HashMap;
use std::sync::Arc;

use crate::limits;
use crate::syntax::error::SyntaxError;
use crate::syntax::grammar::{BracketKinds, Grammar, flag};
use crate::syntax::ladder::{self, Placed, Refusal};
use crate::syntax::languages::Context;
use crate::syntax::matcher::GivenUp;
use crate::syntax::metavar::{Piece, lex};
use crate::syntax::pattern::compiler::Compiler;
use crate::syntax::pattern::outline::{OPTIONAL_TOKENS, fixed_runs};
use crate::syntax::prefilter::{self, Needles, TokenRun, TriviaStyle};
use crate::syntax::split::Shape;

/// One operation of a compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// The next sibling has this kind; its children follow, up to the matching `Leave`.
    Enter { kind: u16 },
    /// The children of the entered node are exhausted.
    Leave,
    /// The next sibling has this kind and this text.
    Leaf { kind: u16, text: Box<[u8]> },
    /// The next sibling is text between elements with these words; how they are spaced does not count.
    Words { kind: u16, text: Box<str> },
    /// The next sibling is this unnamed token; with a text where the kind does not tell it.
    Token { kind: u16, text: Option<Box<[u8]>> },
    /// The next sibling is this separator.
    Separator { kind: u16 },
    /// The next sibling is one node, bound to a slot.
    One { slot: Option<usize> },
    /// Zero or more siblings, bound to a slot.
    Run { slot: Option<usize> },
    /// The next sibling is a string literal with these quotes; its whole body is bound.
    Body {
        kind: u16,
        open: Box<[u8]>,
        close: Box<[u8]>,
        slot: Option<usize>,
    },
    /// The bytes since the last sibling are these (inside strings, where blanks count).
    Gap { text: Box<[u8]> },
    /// The end of the pattern.
    End,
}

/// A name that captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub name: String,
    pub run: bool,
}

/// A fragment compiled for one rung of the ladder.
pub struct Pattern {
    /// What tells it from every other pattern of its language.
    pub(crate) key: Arc<str>,
    /// The rung that took it.
    pub context: Context,
    /// Name of the root's kind; for a sequence, of its first root.
    pub kind: String,
    pub(crate) ops: Vec<Op>,
    pub(crate) slots: Vec<Slot>,
    /// The slots that are bound more than once.
    pub(crate) repeated: Vec<usize>,
    /// Whether several runs make the search branch.
    pub(crate) branches: bool,
    pub(crate) sequence: bool,
    /// Whether the root itself is an attribute or decorator.
    pub(crate) root_attached: bool,
    /// Whether the root is an expression, so that a rewrite may be put in parentheses.
    pub(crate) is_expression: bool,
    pub(crate) spine: Spine,
    pub(crate) needles: Needles,
    /// The tokens each on its own: what also a near miss must contain.
    pub(crate) loose_needles: Needles,
    pub(crate) shape: Shape,
    /// Kinds that merely wrap a list and may be absent where it is empty.
    pub(crate) list_kinds: Vec<u16>,
    /// What brackets with one metavariable in them also stand for.
    pub(crate) bracketed: Vec<BracketKinds>,
    /// Candidates of this pattern that were given up, by the file's content and their first byte.
    pub(crate) given_up: GivenUp,
    pub(crate) placed: Placed,
}

/// Where the match ends relative to its last root (D13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spine {
    /// At the root's own end.
    Closed,
    /// After a terminator or separator that the pattern writes and the tree keeps outside of the root.
    Over { terminator: &'static str },
    /// Before a terminator that the pattern does not write: this many levels down the right edge.
    Open { levels: Vec<SpineStep> },
}

/// One level of the right edge of an open pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpineStep {
    /// The pattern goes on in the last child.
    Last,
    /// The last child is the supplied terminator; the pattern goes on in the one before it.
    BeforeTerminator,
}

/// Everything that a text means in a language: the pattern of the chosen rung and why others refused.
pub struct Compiled {
    /// The pattern that is searched.
    pub pattern: Pattern,
    /// Other readings on the same rung, searched in turn where the ones before match nothing.
    pub alternatives: Vec<Pattern>,
    /// Rungs before it that refused the fragment.
    pub refusals: Vec<Refusal>,
}

/// Compiles a fragment on the first rung that takes it, or on the rung that `context` names.
pub fn compile(
    grammar: &Grammar,
    text: &str,
    context: Option<Context>,
) -> Result<Compiled, SyntaxError> {
    let pieces = read(text)?;
    let mut refusals = Vec::new();
    let asked = context;
    let contexts = match context {
        Some(context) => vec![context],
        None => Context::ALL.to_vec(),
    };
    for context in contexts {
        match ladder::place(grammar, &pieces, context) {
            Ok(readings) => {
                let readings = match asked {
                    Some(_) => readings,
                    None => yielded(grammar, &pieces, &readings).unwrap_or(readings),
                };
                let mut patterns: Vec<Pattern> = Vec::new();
                for placed in readings {
                    let pattern = Pattern::new(grammar, placed)?;
                    if patterns.iter().all(|p| p.ops != pattern.ops) {
                        patterns.push(pattern);
                    }
                }
                let alternatives = patterns.split_off(1);
                let pattern = patterns.remove(0);
                return Ok(Compiled {
                    pattern,
                    alternatives,
                    refusals,
                });
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    Err(SyntaxError::Unparseable {
        pattern: text.to_owned(),
        language: grammar.row.id,
        refusals,
    })
}

/// The readings on a later rung to which this one leaves the fragment.
fn yielded(grammar: &Grammar, pieces: &[Piece], readings: &[Placed]) -> Option<Vec<Placed>> {
    let first = readings.first()?;
    let kind = grammar.kind_name(first.flat.node(*first.roots.first()?).kind);
    let yields = grammar.row.syntax.yields.iter();
    let (_, _, later) = yields
        .copied()
        .find(|(rung, root, _)| *rung == first.context && *root == kind)?;
    ladder::place(grammar, pieces, later).ok()
}

/// Compiles a fragment on every rung that takes it after the given one.
pub(crate) fn compile_others(grammar: &Grammar, text: &str, chosen: Context) -> Vec<Pattern> {
    let Ok(pieces) = read(text) else {
        return Vec::new();
    };
    Context::ALL
        .into_iter()
        .filter(|c| *c != chosen)
        .filter_map(|c| ladder::place(grammar, &pieces, c).ok()?.into_iter().next())
        .filter_map(|placed| Pattern::new(grammar, placed).ok())
        .collect()
}

/// Lexes a pattern's text and refuses what is no pattern in any language.
fn read(text: &str) -> Result<Vec<Piece>, SyntaxError> {
    if text.len() > limits::PATTERN_BYTES {
        return Err(SyntaxError::PatternTooLong { bytes: text.len() });
    }
    let normal = text.replace("\r\n", "\n");
    let trimmed = dedent(normal.trim_end());
    if trimmed.trim().is_empty() {
        return Err(SyntaxError::EmptyPattern);
    }
    let pieces = lex(&trimmed);
    let only_meta = pieces.iter().all(|p| match p {
        Piece::Meta(_) => true,
        Piece::Text(t) => t
            .trim_matches(|c: char| c.is_whitespace() || c == ';')
            .is_empty(),
    });
    let n_metas = pieces
        .iter()
        .filter(|p| matches!(p, Piece::Meta(_)))
        .count();
    if only_meta && n_metas <= 1 {
        return Err(SyntaxError::BareMetavariable {
            pattern: text.trim().to_owned(),
        });
    }
    let mut kinds: HashMap<&str, bool> = HashMap::new();
    for piece in &pieces {
        let Piece::Meta(meta) = piece else { continue };
        if !meta.binds() {
            continue;
        }
        if *kinds.entry(&meta.name).or_insert(meta.run) != meta.run {
            return Err(SyntaxError::MixedMetavariable {
                name: meta.name.clone(),
            });
        }
    }
    Ok(pieces)
}

/// Removes the white space that all lines after the first share with the first's own indentation.
fn dedent(text: &str) -> String {
    let mut lines = text.lines().skip_while(|l| l.trim().is_empty());
    let Some(first) = lines.next() else {
        return String::new();
    };
    let indent = &first[..first.len() - first.trim_start().len()];
    let mut out = first.trim_start().to_owned();
    for line in lines {
        out.push('\n');
        out.push_str(line.strip_prefix(indent).unwrap_or(line));
    }
    out
}

impl Compiled {
    /// Every reading, the chosen one first.
    pub fn readings(&self) -> impl Iterator<Item = &Pattern> {
        std::iter::once(&self.pattern).chain(&self.alternatives)
    }
}

impl Pattern {
    /// The kinds of all roots of a sequence, a metavariable as it is written; none for one root.
    pub(crate) fn kinds(&self, grammar: &Grammar) -> Vec<String> {
        if !self.sequence {
            return Vec::new();
        }
        let roots = self.placed.roots.iter();
        roots
            .map(|root| {
                let node = self.placed.flat.node(*root);
                let range = node.start as usize..node.end as usize;
                // A metavariable may be written with a terminator of its own.
                let written = self.placed.metas.iter().find(|(_, stand_in)| {
                    stand_in.start == range.start
                        && stand_in.end <= range.end
                        && matches!(self.placed.text[stand_in.end..range.end].trim(), "" | ";")
                });
                match written {
                    Some((meta, _)) => meta.written(),
                    None => grammar.kind_name(node.kind).to_owned(),
                }
            })
            .collect()
    }

    fn new(grammar: &Grammar, placed: Placed) -> Result<Pattern, SyntaxError> {
        let mut compiler = Compiler {
            grammar,
            placed: &placed,
            ops: Vec::new(),
            slots: Vec::new(),
            slot_of: HashMap::new(),
            repeated: Vec::new(),
        };
        for root in &placed.roots {
            compiler.subtree(*root);
        }
        compiler.ops.push(Op::End);
        let (ops, slots) = (compiler.ops, compiler.slots);
        let repeated: Vec<usize> = (0..slots.len())
            .filter(|slot| compiler.repeated[*slot])
            .collect();
        let first = *placed.flat.node(placed.roots[0]);
        let n_runs = ops.iter().filter(|op| matches!(op, Op::Run { .. })).count();
        let spine = spine(grammar, &placed);
        let runs = fixed_runs(grammar, &ops);
        let singles = runs
            .iter()
            .flat_map(|run| &run.tokens)
            .map(|token| TokenRun {
                tokens: vec![token.clone()],
                echo: None,
                leads: false,
            })
            .collect();
        let style = TriviaStyle {
            line_comments: grammar.row.syntax.comment_starts,
            optional: OPTIONAL_TOKENS,
            longest_operator: prefilter::takes_longest_operator(grammar.row.id),
            ends: prefilter::Ends::of(grammar.row.id),
        };
        let shape = outline::shape(grammar, &placed, &ops, !repeated.is_empty());
        // The scaffold tells the rung and the spelling, the fragment the names.
        let written = ladder::restored(&placed.text, &placed.fragment, &placed.metas);
        let key = format!("{}\0{written}\0{}", placed.context.name(), placed.text);
        Ok(Pattern {
            key: key.into(),
            context: placed.context,
            kind: grammar.kind_name(first.kind).to_owned(),
            repeated,
            branches: n_runs > 1,
            sequence: placed.roots.len() > 1,
            root_attached: first.flags() & flag::ATTACHED != 0,
            is_expression: placed.roots.len() == 1 && is_expression(grammar, &placed),
            spine,
            needles: Needles::new(runs, style),
            loose_needles: Needles::new(singles, style),
            shape,
            list_kinds: grammar.kinds_with(flag::LIST),
            bracketed: grammar.bracketed(),
            given_up: GivenUp::default(),
            ops,
            slots,
            placed,
        })
    }
}

/// Whether the single root stands where an expression stands.
fn is_expression(grammar: &Grammar, placed: &Placed) -> bool {
    let root = placed.roots[0];
    if grammar.row.syntax.parentheses.is_none() {
        return false;
    }
    match placed.context {
        Context::Expression => true,
        Context::Statement => {
            let parent = placed.flat.node(root).parent;
            let parent = placed.flat.node(parent);
            !placed.wrote_terminator && parent.flags() & flag::EXPRESSION_STATEMENT != 0
        }
        _ => false,
    }
}

/// How the match's end relates to its last root.
fn spine(grammar: &Grammar, placed: &Placed) -> Spine {
    if let Some(terminator) = placed.wrote_separator {
        return Spine::Over { terminator };
    }
    let Some(terminator) = grammar.row.syntax.terminator else {
        return Spine::Closed;
    };
    let flat = &placed.flat;
    if placed.wrote_terminator {
        let last = *placed.roots.last().expect("a placed fragment has a root");
        let written_end = placed.text[..placed.fragment.end].trim_end().len();
        return if (flat.node(last).end as usize) < written_end {
            Spine::Over { terminator }
        } else {
            Spine::Closed
        };
    }
    let is_meta = |idx: u32| placed.meta_of(flat.node(idx)).is_some();
    let mut levels = Vec::new();
    let mut idx = *placed.roots.last().expect("a placed fragment has a root");
    loop {
        if is_meta(idx) {
            break;
        }
        let children: Vec<u32> = flat.children(idx).collect();
        let Some(last) = children.last().copied() else {
            break;
        };
        // A closing token that is no node of the tree: the node itself says where it ends.
        let own_end = (flat.node(idx).end as usize).min(placed.fragment.end);
        if (flat.node(last).end as usize) < placed.text[..own_end].trim_end().len() {
            break;
        }
        let supplied = flat.node(last).start as usize >= placed.fragment.end;
        if supplied && children.len() >= 2 {
            levels.push(SpineStep::BeforeTerminator);
            idx = children[children.len() - 2];
        } else {
            levels.push(SpineStep::Last);
            idx = last;
        }
    }
    Spine::Open { levels }
}
