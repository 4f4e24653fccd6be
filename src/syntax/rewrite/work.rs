//! The rewrite of one file: plan, write, parse again, check, warn.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use crate::diff;
use crate::files::ContentHash;
use crate::limits;
use crate::syntax::SyntaxError;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::matcher::{self, Match};
use crate::syntax::pattern::Pattern;
use crate::syntax::place::clipped;
use crate::syntax::report::SkippedFile;
use crate::syntax::rewrite::binding::rebound_else;
use crate::syntax::rewrite::deletion;
use crate::syntax::rewrite::grouping::Grouping;
use crate::syntax::rewrite::{ChangeReport, RewrittenFile};
use crate::syntax::search::Searcher;
use crate::syntax::source::{self, Unsearchable};
use crate::syntax::template::{
    Inserted, Layout, Output, Place, Planned, Template, TemplatePiece, Writer,
};
use crate::syntax::tree::Flat;
use crate::text::{LineIndex, clip};

pub(super) struct Work<'a> {
    pub searcher: &'a Searcher<'a>,
    pub grammar: &'a Grammar,
    pub pattern: &'a Pattern,
    pub template: &'a Template,
    pub one_expression: bool,
    pub allow_syntax_errors: bool,
}

pub(super) enum FileOutcome {
    Skipped(SkippedFile),
    Changed {
        file: RewrittenFile,
        diff: String,
        n_changes: usize,
        /// The first of them.
        changes: Vec<ChangeReport>,
        warnings: Vec<String>,
    },
}

/// Matches that a search has seen in a part of the file and that errors elsewhere hide in the whole of it.
fn out_of_reach(
    shown: &str,
    flat: &Flat,
    found: &[Match],
    starts: &[u32],
    index: &LineIndex<'_>,
) -> Vec<String> {
    if flat.n_errors == 0 {
        return Vec::new();
    }
    let reached: HashSet<u32> = found.iter().map(|m| m.range.start).collect();
    let mut lines: Vec<usize> = starts
        .iter()
        .filter(|start| !reached.contains(start))
        .map(|start| index.line_of(*start as usize))
        .collect();
    lines.dedup();
    lines
        .iter()
        .map(|line| {
            format!("{shown}:{line}: the match is not rewritten: the grammar finds syntax errors around it")
        })
        .collect()
}

impl Work<'_> {
    /// Rewrites one file; `starts` are where the search has seen its matches.
    pub fn file(&self, path: &Path, starts: &[u32]) -> Result<FileOutcome, SyntaxError> {
        let shown = self.searcher.shown(path);
        let skipped = |why: Unsearchable| {
            Ok(FileOutcome::Skipped(SkippedFile {
                file: shown.clone(),
                reason: why.to_string(),
            }))
        };
        let mut source = Vec::new();
        let read = source::read_into(path, &mut source).and_then(|_| source::check_text(&source));
        if let Err(why) = read {
            return skipped(why);
        }
        let flat = match self.searcher.parse_whole(self.grammar, path, &source) {
            Ok(flat) => flat,
            Err(why) => return skipped(why),
        };
        let found = matcher::find(self.pattern, &flat, &source, usize::MAX);
        let index = LineIndex::new(&source);
        let mut warnings = out_of_reach(&shown, &flat, &found, starts, &index);
        let mut plan = plan(found, self.pattern, self.template);
        deletion::widen(
            &deletion::Source {
                grammar: self.grammar,
                flat: &flat,
                bytes: &source,
            },
            self.template,
            &mut plan.planned,
        );
        for (range, why) in &plan.skipped {
            let line = index.line_of(range.start as usize);
            let text = short(&source[range.start as usize..range.end as usize]);
            warnings.push(format!("{shown}:{line}: `{text}` is not rewritten: {why}"));
        }
        let layout = Layout::of(&source);
        let parentheses = self.grammar.row.syntax.parentheses.unwrap_or(("(", ")"));
        let writer = |parenthesised: &HashSet<Place>| {
            Writer {
                source: &source,
                flat: &flat,
                template: self.template,
                layout: &layout,
                planned: &plan.planned,
                top: &plan.top,
                parenthesised,
                parentheses,
            }
            .write()
        };
        let too_large = || SyntaxError::Breaks {
            file: shown.clone(),
            reason: format!(
                "its new content would exceed {} bytes",
                limits::REWRITE_BYTES
            ),
        };
        let mut output = writer(&HashSet::new()).ok_or_else(too_large)?;
        let mut tree = match self.searcher.parse_whole(self.grammar, path, &output.bytes) {
            Ok(tree) => tree,
            Err(why) => return skipped(why),
        };
        if self.grammar.row.syntax.parentheses.is_some() {
            let grouping = Grouping {
                grammar: self.grammar,
                template: self.template,
                planned: &plan.planned,
                one_expression: self.one_expression,
                old: &flat,
            };
            let attempt = |places: &HashSet<Place>| {
                let output = writer(places)?;
                let tree = self
                    .searcher
                    .parse_whole(self.grammar, path, &output.bytes)
                    .ok()?;
                Some((output, tree))
            };
            (output, tree) = grouping.settle((output, tree), &attempt);
        }
        if let Err(error) = self.check(&shown, &flat, &tree, &output, &source) {
            if !self.allow_syntax_errors {
                return Err(error);
            }
            warnings.push(error.to_string());
        }
        let lost = lost_comments(self.template, &flat, &plan.planned);
        warnings.extend(lost.iter().map(|comment| {
            let line = index.line_of(comment.start as usize);
            let text = short(&source[comment.start as usize..comment.end as usize]);
            format!("{shown}:{line}: the comment `{text}` would be removed")
        }));
        if let Some(terminator) = self.grammar.row.syntax.terminator {
            let doubled =
                doubled_terminators(terminator, &source, self.template, &plan.planned, &output);
            warnings.extend(doubled.iter().map(|at| {
                let line = index.line_of(*at);
                format!("{shown}:{line}: `{terminator}` would be doubled")
            }));
        }
        let changed = self.changed(&plan.planned, &output, &source);
        let changes = changed
            .iter()
            .take(limits::CHANGES_SHOWN)
            .map(|inserted| {
                let range = plan.planned[inserted.planned].found.range.clone();
                ChangeReport {
                    file: shown.clone(),
                    line: index.line_of(range.start as usize),
                    before: clipped(&source[range.start as usize..range.end as usize]),
                    after: clipped(&output.bytes[inserted.range.clone()]),
                }
            })
            .collect();
        let n_changes = changed.len();
        let diff = diff::unified(
            &lossy(&source),
            &lossy(&output.bytes),
            &shown,
            limits::DIFF_CONTEXT_LINES,
        );
        Ok(FileOutcome::Changed {
            file: RewrittenFile {
                path: path.to_owned(),
                hash_before: ContentHash::of(&source),
                bytes_after: output.bytes,
            },
            diff,
            n_changes,
            changes,
            warnings,
        })
    }

    /// The replacements that differ from what they replace, outermost first at each place.
    fn changed<'o>(
        &self,
        planned: &[Planned],
        output: &'o Output,
        source: &[u8],
    ) -> Vec<&'o Inserted> {
        let mut changed: Vec<&Inserted> = output
            .inserted
            .iter()
            .filter(|i| i.piece.is_none())
            .filter(|i| {
                let range = &planned[i.planned].found.range;
                source[range.start as usize..range.end as usize] != output.bytes[i.range.clone()]
            })
            .collect();
        // Planned matches are in order. A capture that the template uses twice writes the matches
        // inside it twice.
        changed.sort_by_key(|i| i.planned);
        changed.dedup_by_key(|i| i.planned);
        changed
    }

    /// Refuses a result that has more syntax errors than the source, or an emptied body.
    fn check(
        &self,
        shown: &str,
        old: &Flat,
        new: &Flat,
        output: &Output,
        source: &[u8],
    ) -> Result<(), SyntaxError> {
        let refuse = |at: usize, what: &str| {
            let index = LineIndex::new(&output.bytes);
            let line = index.line_of(at);
            let text = index.line(line).unwrap_or_default();
            Err(SyntaxError::Breaks {
                file: shown.to_owned(),
                reason: format!("line {line} would {what}: `{}`", clip(text.trim(), 80)),
            })
        };
        if new.n_errors > old.n_errors {
            let inserted = |at: u32| {
                output
                    .inserted
                    .iter()
                    .any(|i| i.range.start <= at as usize && at as usize <= i.range.end)
            };
            let at = new
                .errors
                .iter()
                .find(|e| inserted(e.start) || inserted(e.end))
                .or(new.errors.first())
                .map_or(0, |e| e.start as usize);
            return refuse(at, "be a syntax error");
        }
        if let Some(at) = rebound_else(self.grammar, new, output) {
            return refuse(at, "bind its `else` to another `if`");
        }
        let before = empty_bodies(self.grammar, old, source);
        let after = empty_bodies(self.grammar, new, &output.bytes);
        if after.len() > before.len() {
            let inserted = |at: usize| output.inserted.iter().any(|i| i.range.start >= at);
            let at = after
                .iter()
                .copied()
                .rfind(|at| inserted(*at))
                .unwrap_or(after[0]);
            let more = match after.len() - before.len() - 1 {
                0 => String::new(),
                1 => " (and so would 1 more place in this file)".to_owned(),
                n => format!(" (and so would {n} more places in this file)"),
            };
            let what = format!("have an empty body, which the language does not allow{more}");
            return refuse(at, &what);
        }
        Ok(())
    }
}

/// The comments inside of matches that no capture keeps (D16).
fn lost_comments(template: &Template, flat: &Flat, planned: &[Planned]) -> Vec<Range<u32>> {
    // A comment is lost or kept by the innermost match that holds it: matches only nest inside of
    // what the outer one keeps. Both lists are in order, so one sweep does.
    let mut lost = Vec::new();
    let mut next = 0;
    let mut open: Vec<&Match> = Vec::new();
    for comment in &flat.comments {
        while let Some(plan) = planned.get(next)
            && plan.found.range.start <= comment.start
        {
            let start = plan.found.range.start;
            while open.last().is_some_and(|m| m.range.end <= start) {
                open.pop();
            }
            open.push(&plan.found);
            next += 1;
        }
        while open.last().is_some_and(|m| m.range.end <= comment.start) {
            open.pop();
        }
        let Some(found) = open.last() else { continue };
        let kept = found.captures.iter().enumerate().any(|(slot, c)| {
            template.uses(slot) && c.bytes.0 <= comment.start && comment.end <= c.bytes.1
        });
        if !kept && comment.end <= found.range.end {
            lost.push(comment.clone());
        }
    }
    lost
}

/// Where a rewrite, or a run in it, that ends in the terminator stands before another one.
fn doubled_terminators(
    terminator: &str,
    source: &[u8],
    template: &Template,
    planned: &[Planned],
    output: &Output,
) -> Vec<usize> {
    let ends = |bytes: &[u8]| bytes.trim_ascii_end().ends_with(terminator.as_bytes());
    let mut seen = HashSet::new();
    let mut doubled = Vec::new();
    let begins = |bytes: &[u8]| bytes.trim_ascii_start().starts_with(terminator.as_bytes());
    for inserted in &output.inserted {
        let found = &planned[inserted.planned].found;
        let text = &output.bytes[inserted.range.clone()];
        let (start, end) = (found.range.start as usize, found.range.end as usize);
        let is_doubled = match inserted.piece.map(|piece| &template.pieces[piece]) {
            None => ends(text) && !ends(&source[start..end]) && begins(&source[end..]),
            Some(TemplatePiece::Slot { slot, run: true }) => {
                let (_, end) = found.captures[*slot].bytes;
                ends(text)
                    && begins(&output.bytes[inserted.range.end..])
                    && !begins(&source[end as usize..])
            }
            Some(_) => false,
        };
        if is_doubled && seen.insert(inserted.planned) {
            doubled.push(start);
        }
    }
    doubled
}

/// The matches to replace, as a forest, and those that cannot be.
struct Plan {
    planned: Vec<Planned>,
    top: Vec<usize>,
    skipped: Vec<(Range<u32>, &'static str)>,
}

/// Decides which matches are replaced: all that lie in no other, and those inside captures that the
/// template keeps; of partly overlapping ones the leftmost, outermost (D11).
fn plan(mut found: Vec<Match>, pattern: &Pattern, template: &Template) -> Plan {
    found.sort_by_key(|m| (m.range.start, std::cmp::Reverse(m.range.end)));
    let mut plan = Plan {
        planned: Vec::new(),
        top: Vec::new(),
        skipped: Vec::new(),
    };
    let used: Vec<bool> = (0..pattern.slots.len()).map(|s| template.uses(s)).collect();
    let mut open: Vec<usize> = Vec::new();
    for m in found {
        while let Some(last) = open.last()
            && plan.planned[*last].found.range.end <= m.range.start
        {
            open.pop();
        }
        let idx = plan.planned.len();
        if let Some(outer) = open.last().copied() {
            let outer_match = &plan.planned[outer].found;
            if m.range.end > outer_match.range.end || m.range == outer_match.range {
                plan.skipped
                    .push((m.range, "it overlaps a match that begins before it"));
                continue;
            }
            let kept =
                outer_match.captures.iter().zip(&used).any(|(c, used)| {
                    *used && c.bytes.0 <= m.range.start && m.range.end <= c.bytes.1
                });
            if !kept {
                plan.skipped.push((
                    m.range,
                    "it lies inside a match, outside of what the rewrite keeps",
                ));
                continue;
            }
            plan.planned[outer].inner.push(idx);
        } else {
            plan.top.push(idx);
        }
        open.push(idx);
        plan.planned.push(Planned {
            found: m,
            inner: Vec::new(),
        });
    }
    plan
}

/// Where bodies that must not be empty are empty.
fn empty_bodies(grammar: &Grammar, flat: &Flat, source: &[u8]) -> Vec<usize> {
    if grammar.row.syntax.nonempty.is_empty() {
        return Vec::new();
    }
    let mut empty = Vec::new();
    for (idx, node) in flat.nodes.iter().enumerate() {
        let idx = idx as u32;
        let body = grammar.flags(node.kind) & flag::NONEMPTY != 0;
        if body && flat.is_leaf(idx) {
            empty.push(node.start as usize);
        }
        // A header whose body is gone altogether ends in its colon.
        if !body && !flat.is_leaf(idx) && node.flags() & flag::NAMED != 0 {
            let last = flat.children(idx).last();
            let headless = last.is_some_and(|last| {
                let n = flat.node(last);
                n.flags() & flag::NAMED == 0 && &source[n.start as usize..n.end as usize] == b":"
            });
            let kind = grammar.kind_name(node.kind);
            if headless
                && (kind.ends_with("_statement")
                    || kind.ends_with("_definition")
                    || kind.ends_with("_clause"))
            {
                empty.push(node.start as usize);
            }
        }
    }
    empty
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A text on one line, for a warning.
fn short(bytes: &[u8]) -> String {
    let text = lossy(&bytes[..bytes.len().min(1_000)]);
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(&one_line, 60).into_owned()
}
