//! What the search can know of a pattern without matching: its fixed tokens, and how it relates to the
//! units of a file.

use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::ladder::Placed;
use crate::syntax::languages::Context;
use crate::syntax::pattern::Op;
use crate::syntax::prefilter::{Echo, Token, TokenRun};
use crate::syntax::split::Shape;

/// Tokens that a source may have or lack between two tokens of a pattern.
pub(super) const OPTIONAL_TOKENS: &[&str] = &[",", ";"];

/// What every match must contain, as runs of adjacent tokens.
pub(super) fn fixed_runs(grammar: &Grammar, ops: &[Op]) -> Vec<TokenRun> {
    let syntax = &grammar.row.syntax;
    let mut runs: Vec<TokenRun> = Vec::new();
    let mut current: Vec<Token> = Vec::new();
    let leads = match ops {
        [Op::Enter { kind }, Op::Token { .. }, ..] => {
            syntax.leads.contains(&grammar.kind_name(*kind))
        }
        _ => false,
    };
    // The metavariable directly before the tokens, and whether its expression begins with it.
    let mut before: Option<(usize, bool)> = None;
    // Ends a run before the operation at a place.
    let mut flush = |current: &mut Vec<Token>, at: usize| {
        let slot = match ops.get(at) {
            Some(Op::One { slot }) => *slot,
            _ => None,
        };
        let same = before.filter(|(known, _)| slot == Some(*known));
        let echo = same.map(|(_, begins)| Echo {
            begins,
            ends: matches!(ops.get(at + 1), Some(Op::Leave | Op::End)),
        });
        before = slot.map(|slot| (slot, at > 0 && matches!(ops[at - 1], Op::Enter { .. })));
        if !current.is_empty() {
            runs.push(TokenRun {
                tokens: std::mem::take(current),
                echo,
                leads: leads && runs.is_empty(),
            });
        }
    };
    for (at, op) in ops.iter().enumerate() {
        match op {
            Op::Enter { .. } | Op::Leave | Op::Gap { .. } => {}
            Op::Leaf { text, .. } => match std::str::from_utf8(text) {
                // A text with line ends may stand with other line ends in the source.
                Ok(text) if !text.contains('\n') => current.push(Token::new(text)),
                _ => flush(&mut current, at),
            },
            Op::Token { kind, text } => {
                let name = grammar.kind_name(*kind);
                let text = text
                    .as_deref()
                    .and_then(|t| std::str::from_utf8(t).ok())
                    .unwrap_or(name);
                if syntax.keywords_ignore_case && text.chars().all(char::is_alphabetic) {
                    flush(&mut current, at);
                } else {
                    // A directive may have blanks after its sign: `# include`.
                    let (sign, name) = match text.strip_prefix('#') {
                        Some(name) if name.starts_with(char::is_alphabetic) => ("#", name),
                        _ => ("", text),
                    };
                    current.extend((!sign.is_empty()).then(|| Token::new(sign)));
                    current.extend(name.split_whitespace().map(Token::new));
                }
            }
            Op::Separator { kind } => {
                // Beside a run, a separator goes when the run is empty.
                let beside = matches!(ops.get(at + 1), Some(Op::Run { .. }))
                    || (at > 0 && matches!(ops[at - 1], Op::Run { .. }));
                if beside {
                    flush(&mut current, at);
                } else {
                    current.push(Token::new(grammar.kind_name(*kind)));
                }
            }
            Op::Words { text, .. } => {
                flush(&mut current, at);
                for word in text.split_whitespace() {
                    current.push(Token::literal(word));
                    flush(&mut current, at);
                }
            }
            Op::One { .. } | Op::Run { .. } | Op::End => flush(&mut current, at),
            Op::Body { open, close, .. } => {
                if let Ok(open) = std::str::from_utf8(open) {
                    current.push(Token::new(open));
                }
                flush(&mut current, at);
                if let Ok(close) = std::str::from_utf8(close) {
                    current.push(Token::new(close));
                }
            }
        }
    }
    flush(&mut current, ops.len());
    runs
}

/// How the pattern relates to the units of a file.
pub(super) fn shape(grammar: &Grammar, placed: &Placed, ops: &[Op], repeats: bool) -> Shape {
    let flat = &placed.flat;
    let kind = grammar.kind_name(flat.node(placed.roots[0]).kind);
    // The constants and the members of an enum of Java are two lists.
    let is_one_list = !kind.contains("enum");
    if placed.roots.len() == 1 && !repeats && is_one_list && has_open_bodies_only(grammar, ops) {
        return Shape::Outline;
    }
    if placed.roots.len() > 1
        || placed.context != Context::Statement && placed.context != Context::Expression
    {
        // Items, members and sequences may hold units or span several of them.
        let simple = matches!(
            placed.context,
            Context::Type | Context::Parameter | Context::MatchArm | Context::ObjectMember
        );
        if !simple || placed.roots.len() > 1 {
            return Shape::Whole;
        }
    }
    let root = placed.roots[0];
    let braces = (root..flat.node(root).next).any(|i| {
        let n = flat.node(i);
        n.flags() & flag::LIST != 0 || matches!(grammar.kind_name(n.kind), "{" | "do" | "begin")
    });
    let container = [
        "class",
        "impl",
        "mod",
        "module",
        "trait",
        "interface",
        "enum",
        "struct",
        "extension",
        "mixin",
        "namespace",
        "object",
        // A conditional of C holds what stands between its lines.
        "preproc_",
    ]
    .iter()
    .any(|k| kind.contains(k));
    if container {
        return Shape::Whole;
    }
    // The statements of a case stand in no braces of its own.
    let is_case = ["case", "default", "switch_block", "switch_rule"]
        .iter()
        .any(|word| kind.contains(word));
    if braces || is_case {
        Shape::Block
    } else {
        Shape::Inner
    }
}

/// Whether each body of the pattern that ends with its indentation is exactly one run, and there is one.
fn has_open_suites_only(grammar: &Grammar, suite: &str, ops: &[Op]) -> bool {
    let mut bodies = ops
        .iter()
        .enumerate()
        .filter(|(_, op)| matches!(op, Op::Enter { kind } if grammar.kind_name(*kind) == suite));
    let is_open = |at: usize| matches!(ops.get(at + 1..at + 3), Some([Op::Run { .. }, Op::Leave]));
    let has_body = bodies.clone().next().is_some();
    has_body && bodies.all(|(at, _)| is_open(at))
}

/// Whether the pattern has braces and what stands in each pair of them is exactly one run. Only such a
/// pattern matches the same nodes when what stands in the braces of the source is left out.
fn has_open_bodies_only(grammar: &Grammar, ops: &[Op]) -> bool {
    let is_token = |op: Option<&Op>, name: &str| matches!(op, Some(Op::Token { kind, .. }) if grammar.kind_name(*kind) == name);
    let is_list = |op: Option<&Op>| matches!(op, Some(Op::Enter { kind }) if grammar.flags(*kind) & flag::LIST != 0);
    if let Some(suite) = grammar.row.syntax.suite {
        return has_open_suites_only(grammar, suite, ops);
    }
    let mut n_bodies = 0;
    for at in 0..ops.len() {
        if ["do", "begin"]
            .iter()
            .any(|word| is_token(ops.get(at), word))
        {
            // In some languages these words open a body; where they do not, a brace follows.
            if !is_token(ops.get(at + 2), "{") {
                return false;
            }
        }
        if !is_token(ops.get(at), "{") {
            continue;
        }
        let mut next = at + 1;
        let listed = is_list(ops.get(next));
        next += usize::from(listed);
        if !matches!(ops.get(next), Some(Op::Run { .. })) {
            return false;
        }
        next += 1 + usize::from(listed);
        if !is_token(ops.get(next), "}") {
            return false;
        }
        n_bodies += 1;
    }
    n_bodies > 0
}
