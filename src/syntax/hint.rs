//! Why nothing matched: what the other rungs would have found, and what is nearly the pattern (D14).

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cancel::Cancel;
use crate::limits;
use crate::syntax::cache::Covered;
use crate::syntax::grammar::Grammar;
use crate::syntax::matcher;
use crate::syntax::partial;
use crate::syntax::pattern::{self, Pattern};
use crate::syntax::place::clipped;
use crate::syntax::report::counted_plural;
use crate::syntax::search::Query;
use crate::syntax::source;
use crate::syntax::split::{Plan, Shape, plan};

/// Looks again at the files that hold the pattern's tokens, a bounded amount of source, and puts what it
/// finds into sentences.
pub(crate) fn explain(
    grammar: &Grammar,
    query: &Query,
    pattern: &Pattern,
    files: &[PathBuf],
    cancel: &Cancel,
) -> Option<String> {
    // Reading the pattern on every rung takes longer than scanning many files, so not for no file.
    let others = if query.context.is_none() && !files.is_empty() {
        pattern::compile_others(grammar, &query.pattern, pattern.context)
    } else {
        Vec::new()
    };
    let mut counts = vec![0; others.len()];
    let mut misses: BTreeMap<String, usize> = BTreeMap::new();
    let mut parsed_bytes = 0;
    let mut complete = true;
    let mut buffer = Vec::new();
    for file in files {
        if cancel.is_cancelled() {
            break;
        }
        if source::read_into(file, &mut buffer).is_err() || source::check_text(&buffer).is_err() {
            continue;
        }
        let wanted = |p: &Pattern| !p.needles.usable() || p.needles.may_match(&buffer);
        let near = pattern.loose_needles.may_match(&buffer);
        if !near && !others.iter().any(wanted) {
            continue;
        }
        // What holds all the tokens is enough: a near miss has them too, and so has another reading.
        let needed = match plan(
            grammar.row.id,
            &pattern.loose_needles,
            Shape::Block,
            &buffer,
        ) {
            Plan::Ranges(ranges) => Covered::Ranges(ranges),
            Plan::Whole | Plan::Skip => Covered::Whole,
        };
        let n_bytes = match &needed {
            Covered::Ranges(ranges) => ranges.iter().map(|range| range.len()).sum(),
            Covered::Whole => buffer.len(),
        };
        if parsed_bytes + n_bytes > limits::HINT_BYTES {
            complete = false;
            break;
        }
        parsed_bytes += n_bytes;
        let Ok((flat, _)) = partial::parse(grammar, &buffer, needed) else {
            continue;
        };
        for (count, other) in counts.iter_mut().zip(&others) {
            *count += matcher::find(other, &flat, &buffer, usize::MAX).len();
        }
        if near {
            for miss in matcher::near_misses(pattern, &flat, &buffer, 1000) {
                let node = flat.node(miss.extra);
                let text = clipped(&buffer[node.start as usize..node.end as usize]);
                *misses.entry(first_line(&text)).or_default() += 1;
            }
        }
    }
    let mut sentences = Vec::new();
    let at_least = if complete { "" } else { "at least " };
    for (count, other) in counts.iter().zip(&others) {
        if *count > 0 {
            sentences.push(format!(
                "0 matches as {}; {at_least}{count} as {} ({}): pass context \"{}\"",
                pattern.context, other.context, other.kind, other.context
            ));
        }
    }
    if let Some((text, n)) = misses.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))) {
        sentences.push(format!(
            "nearest miss: {at_least}{} {} only by `{text}`, which the pattern does not mention",
            counted_plural(*n, &pattern.kind, &format!("{} nodes", pattern.kind)),
            if *n == 1 { "differs" } else { "differ" },
        ));
    }
    if sentences.is_empty() {
        sentences.extend(smells(&query.pattern));
    }
    (!sentences.is_empty()).then(|| sentences.join("\n"))
}

/// What in the pattern's text looks like another pattern language.
fn smells(pattern: &str) -> Option<String> {
    let regex = [".*", ".+", "\\w", "\\d", "\\s", "\\(", "[^", "(?"];
    if let Some(found) = regex.iter().find(|r| pattern.contains(**r)) {
        return Some(format!(
            "the pattern holds `{found}`, which looks like a regular expression; it is code with $NAME for a node and $$$NAME for a run"
        ));
    }
    if pattern.trim_end().ends_with(':') {
        return Some(
            "the pattern ends in `:`; a statement needs its body, such as `$$$BODY`".to_owned(),
        );
    }
    if pattern.contains('$')
        && pattern
            .split('$')
            .skip(1)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    {
        return Some(
            "`$name` in lower case is literal text; a metavariable is written $NAME".to_owned(),
        );
    }
    None
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.trim().len() {
        format!("{short}…")
    } else {
        short
    }
}
