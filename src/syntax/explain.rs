//! How a pattern is read: each rung's verdict, the tree, and where the captures sit.

use std::fmt;

use serde::Serialize;

use crate::limits;
use crate::syntax::SyntaxError;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::ladder::restored;
use crate::syntax::languages::Context;
use crate::syntax::pattern::{self, Pattern};

/// How a pattern is read in a language.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The pattern.
    pub pattern: String,
    /// Id of the language.
    pub language: &'static str,
    /// The rung that a search uses; none where no rung takes the pattern.
    pub context: Option<Context>,
    /// What each rung says, in ladder order.
    pub rungs: Vec<Verdict>,
    /// The tree of the pattern on that rung, one node a line, indented.
    pub tree: String,
}

/// What one rung says to a pattern.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The rung.
    pub context: Context,
    /// The kind of node that it would search, where it takes the pattern.
    pub kind: Option<String>,
    /// Why it does not take the pattern.
    pub refused: Option<String>,
}

/// Explains a pattern. An unparseable one is explained too; only what is no pattern in any language
/// (empty, too long, a bare metavariable) is an error.
pub fn explain(
    grammar: &Grammar,
    text: &str,
    context: Option<Context>,
) -> Result<Explanation, SyntaxError> {
    let mut explanation = Explanation {
        pattern: text.to_owned(),
        language: grammar.row.id,
        context: None,
        rungs: Vec::new(),
        tree: String::new(),
    };
    let searched = match pattern::compile(grammar, text, context) {
        Ok(compiled) => Some(compiled.pattern.context),
        Err(SyntaxError::Unparseable { .. }) => None,
        Err(error) => return Err(error),
    };
    for rung in Context::ALL {
        let verdict = match pattern::compile(grammar, text, Some(rung)) {
            Ok(compiled) => {
                if searched == Some(rung) {
                    explanation.context = Some(rung);
                    explanation.tree = tree(grammar, &compiled.pattern);
                }
                Verdict {
                    context: rung,
                    kind: Some(compiled.pattern.kind.clone()),
                    refused: None,
                }
            }
            Err(SyntaxError::Unparseable { refusals, .. }) => Verdict {
                context: rung,
                kind: None,
                refused: refusals.into_iter().next().map(|r| r.reason),
            },
            Err(error) => return Err(error),
        };
        explanation.rungs.push(verdict);
    }
    Ok(explanation)
}

/// The nodes of the pattern, one a line; a metavariable shows as it was written.
fn tree(grammar: &Grammar, pattern: &Pattern) -> String {
    let placed = &pattern.placed;
    let flat = &placed.flat;
    let mut out = String::new();
    let mut n_lines = 0;
    for root in &placed.roots {
        let mut idx = *root;
        let end = flat.node(*root).next;
        // The ends of the nodes that the walk is inside of.
        let mut open: Vec<u32> = Vec::new();
        while idx < end {
            let node = flat.node(idx);
            while open.last().is_some_and(|end| *end <= idx) {
                open.pop();
            }
            let depth = open.len();
            n_lines += 1;
            if n_lines > limits::EXPLAINED_LINES {
                out.push_str("…\n");
                return out;
            }
            if depth > limits::EXPLAINED_LEVELS {
                out.push_str(&"  ".repeat(depth));
                out.push_str("…\n");
                idx = open.last().copied().unwrap_or(end);
                continue;
            }
            let range = node.start as usize..node.end as usize;
            let meta = placed.meta_of(node).filter(|m| {
                let descends = node.flags() & flag::LIST != 0
                    || (!m.run && node.flags() & flag::DECLARATOR != 0);
                !descends || flat.is_leaf(idx)
            });
            out.push_str(&"  ".repeat(depth));
            let kind = grammar.kind_name(node.kind);
            if let Some(meta) = meta {
                let what = if meta.run { "a run" } else { "one node" };
                out.push_str(&format!("{} ({what}, here: {kind})\n", meta.written()));
                idx = node.next;
                continue;
            }
            if flat.is_leaf(idx) {
                let text = restored(&placed.text, &range, &placed.metas);
                if text != kind {
                    out.push_str(&format!("{kind} `{text}`\n"));
                } else {
                    out.push_str(&format!("`{text}`\n"));
                }
            } else {
                out.push_str(&format!("{kind}\n"));
                open.push(node.next);
            }
            idx += 1;
        }
    }
    out
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}` in {}", self.pattern, self.language)?;
        for verdict in &self.rungs {
            let name = verdict.context.name();
            let used = if self.context == Some(verdict.context) {
                " <- searched"
            } else {
                ""
            };
            match (&verdict.kind, &verdict.refused) {
                (Some(kind), _) => writeln!(f, "  {name}: {kind}{used}")?,
                (None, Some(why)) => writeln!(f, "  {name}: no, {why}")?,
                (None, None) => writeln!(f, "  {name}: no")?,
            }
        }
        if self.tree.is_empty() {
            write!(f, "no rung takes it")
        } else {
            write!(f, "\n{}", self.tree.trim_end())
        }
    }
}
