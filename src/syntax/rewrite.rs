//! Rewriting: the engine of `ast_edit`. It proposes new contents and writes nothing (R58).

mod binding;
mod deletion;
mod dollars;
mod grouping;
mod report;
mod work;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::diff::Clipped;
use crate::files::ContentHash;
use crate::limits;
use crate::syntax::SyntaxError;
use crate::syntax::grammar::Grammar;
use crate::syntax::hint;
use crate::syntax::languages::Context;
use crate::syntax::metavar::{self, Piece};
use crate::syntax::pattern::{self, Pattern};
use crate::syntax::report::given_up;
use crate::syntax::rewrite::work::{FileOutcome, Work};
use crate::syntax::search::{Query, Searcher, Sweep};
use crate::syntax::template::{Template, Unbound};

pub use report::{ChangeReport, EditReport};

/// What to rewrite, and how. The query's `max_results` does not bound it.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// What to match, and where.
    pub query: Query,
    /// The template: text with the pattern's metavariables.
    pub template: String,
    /// Whether a result with more syntax errors than before is proposed all the same.
    pub allow_syntax_errors: bool,
}

/// A rewrite worked out: the report, and the contents to stage.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// What to answer. Its `edit_id` is to be filled in by whoever stages the files.
    pub report: EditReport,
    /// The files that change; empty when nothing is to be staged (D10).
    pub files: Vec<RewrittenFile>,
}

/// The new content of one file.
#[derive(Clone, Debug)]
pub struct RewrittenFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The content that the rewrite was worked out for.
    pub hash_before: ContentHash,
    /// The whole new content.
    pub bytes_after: Vec<u8>,
}

impl Searcher<'_> {
    /// Works out a rewrite over every match.
    pub fn rewrite(&self, rewrite: &Rewrite, cancel: &Cancel) -> Result<Rewritten, SyntaxError> {
        let query = &rewrite.query;
        let row = self.language(query, cancel)?;
        let grammar = self.grammars.grammar(row);
        let rewrite = &Rewrite {
            template: match row.syntax.suite {
                Some(_) => below_their_headers(&rewrite.template),
                None => rewrite.template.clone(),
            },
            ..rewrite.clone()
        };
        let compiled = pattern::compile(grammar, &query.pattern, query.context)?;
        if rewrite.template.len() > limits::PATTERN_BYTES {
            return Err(SyntaxError::PatternTooLong {
                bytes: rewrite.template.len(),
            });
        }
        Template::new(&rewrite.template, &compiled.pattern, grammar).map_err(unbound)?;
        let target = self.target(query, row, cancel)?;
        // A quick scan finds the files; each of those is then read once more and parsed whole.
        let mut found: Vec<(PathBuf, u32)> = Vec::new();
        let sweep = Sweep {
            grammar,
            files: &target.files,
            max: usize::MAX,
            cancel,
        };
        let (pattern, scan) = self.scan_readings(
            &sweep,
            &compiled,
            &|_, file, _, m| (file.to_owned(), m.range.start),
            &mut |place| {
                found.push(place);
                ControlFlow::Continue(())
            },
        )?;
        let template = Template::new(&rewrite.template, pattern, grammar).map_err(unbound)?;
        let near = scan.near;
        let n_matched = found.len();
        let matched: Vec<(&Path, Vec<u32>)> = found
            .chunk_by(|a, b| a.0 == b.0)
            .map(|found| {
                let starts = found.iter().map(|(_, start)| *start).collect();
                (found[0].0.as_path(), starts)
            })
            .collect();
        let identity = rewrite.template.trim() == query.pattern.trim();
        let work = Work {
            searcher: self,
            grammar,
            pattern,
            template: &template,
            one_expression: is_one_expression(grammar, pattern, rewrite),
            allow_syntax_errors: rewrite.allow_syntax_errors,
        };
        let outcomes: Vec<Result<FileOutcome, SyntaxError>> = if identity {
            Vec::new()
        } else {
            matched
                .par_iter()
                .map(|(file, starts)| {
                    if cancel.is_cancelled() {
                        return Err(SyntaxError::Cancelled);
                    }
                    work.file(file, starts)
                })
                .collect()
        };
        let mut skipped = target.skipped;
        skipped.extend(scan.skipped);
        let mut report = EditReport {
            edit_id: None,
            language: row.id.to_owned(),
            context: pattern.context,
            kind: pattern.kind.clone(),
            kinds: pattern.kinds(grammar),
            matched: n_matched,
            replacements: 0,
            files: 0,
            files_searched: scan.n_files - scan.n_skipped,
            diff: String::new(),
            diff_truncated: false,
            diff_notice: String::new(),
            changes: Vec::new(),
            files_skipped: Vec::new(),
            warnings: Vec::new(),
            hint: None,
        };
        let mut files = Vec::new();
        for outcome in outcomes {
            match outcome? {
                FileOutcome::Skipped(file) => skipped.push(file),
                FileOutcome::Changed {
                    file,
                    diff,
                    n_changes,
                    changes,
                    warnings,
                } => {
                    report.warnings.extend(warnings);
                    if n_changes == 0 {
                        continue;
                    }
                    report.replacements += n_changes;
                    report.files += 1;
                    report.diff.push_str(&diff);
                    let room = limits::CHANGES_SHOWN - report.changes.len();
                    report.changes.extend(changes.into_iter().take(room));
                    files.push(file);
                }
            }
        }
        let clipped = Clipped::of_diff(&report.diff);
        report.diff_truncated = clipped.is_cut();
        report.diff_notice = clipped.notice();
        report.diff = clipped.text;
        report.warnings.extend(given_up(pattern.given_up.count()));
        if !pattern.slots.is_empty() {
            let literal = dollars::literal(&rewrite.template, &query.pattern, row.id);
            report.warnings.extend(literal);
        }
        skipped.sort();
        report.files_skipped = skipped;
        if matched.is_empty() {
            report.hint = hint::explain(self, grammar, query, pattern, &near, cancel);
        }
        Ok(Rewritten { report, files })
    }
}

/// Puts runs that stand behind the header of a statement (`if $C: $$$B`) on a line of their own: a body of
/// several statements has no place beside its header where bodies end with their indentation.
fn below_their_headers(template: &str) -> String {
    let lines: Vec<String> = template
        .split('\n')
        .map(|line| {
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_header = |header: &str| {
                let word = header.trim_start();
                let word = &word[..word
                    .find(|c: char| !c.is_ascii_alphabetic())
                    .unwrap_or(word.len())];
                HEADERS.contains(&word)
            };
            match line.trim_end().rsplit_once(':') {
                Some((header, body)) if is_header(header) && is_run(body.trim()) => {
                    format!("{header}:\n{indent}    {}", body.trim())
                }
                _ => line.to_owned(),
            }
        })
        .collect();
    lines.join("\n")
}

/// The words that begin a statement with a body.
const HEADERS: &[&str] = &[
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match",
    "try", "while", "with",
];

/// Whether a text is nothing but the name of a run.
fn is_run(text: &str) -> bool {
    matches!(metavar::lex(text).as_slice(), [Piece::Meta(meta)] if meta.run && !meta.name.is_empty())
}

fn unbound(unbound: Unbound) -> SyntaxError {
    SyntaxError::Unbound {
        name: unbound.name,
        bound: if unbound.bound.is_empty() {
            "none".to_owned()
        } else {
            unbound.bound.join(", ")
        },
    }
}

/// Whether the template is one expression that takes the place of one.
fn is_one_expression(grammar: &Grammar, pattern: &Pattern, rewrite: &Rewrite) -> bool {
    let Some((open, close)) = grammar.row.syntax.parentheses else {
        return false;
    };
    let as_expression = |text: &str| {
        pattern::compile(grammar, text, Some(Context::Expression))
            .ok()
            .filter(|c| c.pattern.is_expression)
    };
    // Where statements are bare expressions the place says nothing: what takes parentheses is one.
    let bare = !grammar
        .row
        .syntax
        .expression_statements
        .contains(&"expression_statement");
    let takes_parentheses = |text: &str| {
        bare && pattern::compile(grammar, text, None).is_ok_and(|c| !c.pattern.sequence)
            && pattern::compile(grammar, &format!("{open}{text}{close}"), None).is_ok_and(|c| {
                matches!(c.pattern.context, Context::Statement | Context::Expression)
                    && !c.pattern.sequence
            })
    };
    let is_code = matches!(pattern.context, Context::Statement | Context::Expression);
    // The last expression of a block is no statement of its own, so the statement rung does not tell.
    let replaces_one = pattern.is_expression
        || as_expression(&rewrite.query.pattern).is_some_and(|c| c.pattern.ops == pattern.ops)
        || is_code && takes_parentheses(&rewrite.query.pattern);
    // A `yield` needs parentheses nearly everywhere but in a statement of its own.
    let as_statement =
        |text: &str| pattern::compile(grammar, text, None).is_ok_and(|c| c.pattern.is_expression);
    replaces_one
        && (as_expression(&rewrite.template).is_some()
            || as_statement(&rewrite.template)
            || takes_parentheses(&rewrite.template))
}

#[cfg(test)]
mod tests {
    use super::*;

    // D16: a body of several statements does not stand beside its header.
    #[test]
    fn runs_are_laid_below_the_headers_of_their_bodies() {
        for (template, expected) in [
            ("while $C: $$$B", "while $C:\n    $$$B"),
            (
                "if $C:\n  for $X in $Y: $$$B\nelse: $$$D ",
                "if $C:\n  for $X in $Y:\n      $$$B\nelse:\n    $$$D",
            ),
            ("while $C:\n    $$$B", "while $C:\n    $$$B"),
            ("if $C: return $X", "if $C: return $X"),
            ("f(a, lambda: $$$B)", "f(a, lambda: $$$B)"),
            ("lambda $X: $$$B", "lambda $X: $$$B"),
            ("x: $$$B", "x: $$$B"),
        ] {
            assert_eq!(below_their_headers(template), expected, "{template}");
        }
    }
}
