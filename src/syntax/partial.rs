//! Matching one file by parsing as little of it as the pattern allows.
//!
//! The plan for the bytes comes from the splitters; here it is carried out and its results are made
//! those of a full parse. A pattern whose bodies are runs (`fn $F() { $$$B }`) is searched with the
//! bodies left out: that tells where the matches are, and what a body holds is then read off its tokens,
//! or, where those leave a doubt, off a second parse of the units around the matches. It must not know
//! how files are found or reported.

mod apart;
mod part;
mod room;
mod suites;

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::limits;
use crate::syntax::cache::{Answer, Covered, Held, Known, PartTree};
use crate::syntax::embed;
use crate::syntax::grammar::{Grammar, flag};
use crate::syntax::languages;
use crate::syntax::matcher::{self, Match};
use crate::syntax::pattern::Pattern;
use crate::syntax::place::Places;
use crate::syntax::search::Searcher;
use crate::syntax::source::{self, Stamp, Unsearchable};
use crate::syntax::split::{
    Content, Plan, Shape, Units, content, plan_around, plan_of_units, split,
};
use crate::syntax::tree::Flat;

use part::Part;

/// A file ready to report matches of.
pub(crate) struct Parsed<'a> {
    pub source: &'a [u8],
    places: OnceCell<Places<'a>>,
}

impl<'a> Parsed<'a> {
    /// The places of the source, found once for all matches.
    pub fn places(&self) -> &Places<'a> {
        self.places.get_or_init(|| Places::new(self.source))
    }
}

/// One file in one state.
struct Source<'a> {
    file: &'a Path,
    stamp: Stamp,
    bytes: &'a [u8],
    /// What an earlier search left of this state.
    held: Option<&'a Held>,
    units: OnceCell<Option<Arc<Units>>>,
}

impl Source<'_> {
    /// What the source is cut into, found once.
    fn units(&self, language: &str) -> Option<Arc<Units>> {
        let units = self.units.get_or_init(|| {
            let known = self.held.and_then(|held| held.units.clone());
            known.or_else(|| split(language, self.bytes).map(Arc::new))
        });
        units.clone()
    }
}

impl Searcher<'_> {
    /// Matches one file; says whether it holds the pattern's tokens, be it in other places.
    pub(crate) fn file(
        &self,
        grammar: &Grammar,
        pattern: &Pattern,
        file: &Path,
        buffer: &mut Vec<u8>,
        limit: usize,
        each: &mut dyn FnMut(&Parsed<'_>, &Match),
    ) -> Result<bool, Unsearchable> {
        let id = grammar.row.id;
        let cache = self.cache.filter(|_| !self.full_parse);
        let stamp = cache.and_then(|_| source::stamp(file));
        let known = match (cache, stamp) {
            (Some(cache), Some(stamp)) => cache.find(file, id, stamp, &pattern.key),
            _ => Known::default(),
        };
        let answer = known.answer.filter(|answer| answer.serves(limit));
        if let Some(answer) = &answer
            && answer.matches.is_empty()
        {
            return Ok(answer.near);
        }
        let source = match (&known.held, stamp) {
            (Some(held), Some(stamp)) => Source {
                file,
                stamp,
                bytes: &held.source,
                held: Some(held),
                units: OnceCell::new(),
            },
            _ => {
                let stamp = source::read_into(file, buffer)?;
                source::check_text(buffer)?;
                Source {
                    file,
                    stamp,
                    bytes: buffer,
                    held: None,
                    units: OnceCell::new(),
                }
            }
        };
        let bytes = source.bytes;
        let parsed = Parsed {
            source: bytes,
            places: OnceCell::new(),
        };
        // The file may have changed since it was asked for.
        if let Some(answer) = answer.filter(|_| stamp == Some(source.stamp)) {
            for m in answer.matches.iter().take(limit) {
                each(&parsed, m);
            }
            return Ok(true);
        }
        // Most files of most searches end here, so only one token is searched for at first.
        let may_match = self.full_parse || pattern.loose_needles.rarest_occurs(bytes);
        let matches = match may_match {
            true => self.matches(grammar, pattern, &source, limit)?,
            false => None,
        };
        let near = match &matches {
            Some(_) => true,
            None => may_match && pattern.loose_needles.may_match(bytes),
        };
        let matches = matches.unwrap_or_default();
        for m in &matches {
            each(&parsed, m);
        }
        // Whether candidates are given up is to be said each time.
        if let Some(cache) = cache
            && pattern.given_up.count() == 0
        {
            let answer = Answer {
                pattern: Arc::clone(&pattern.key),
                matches,
                limit,
                near,
            };
            cache.remember(file, id, source.stamp, answer);
        }
        Ok(near)
    }

    /// The matches in one file; `None` when its bytes hold none.
    fn matches(
        &self,
        grammar: &Grammar,
        pattern: &Pattern,
        source: &Source<'_>,
        limit: usize,
    ) -> Result<Option<Vec<Match>>, Unsearchable> {
        let bytes = source.bytes;
        let lacks_tokens = || pattern.needles.usable() && !pattern.needles.may_match(bytes);
        if languages::by_path(source.file).is_some_and(|h| embed::hosts(h, grammar.row)) {
            if lacks_tokens() {
                return Ok(None);
            }
            let flat = self.parse_whole(grammar, source.file, bytes)?;
            let found = matcher::find(pattern, &flat, bytes, limit);
            return Ok(Some(found));
        }
        // Cutting a file into units takes longer than matching a tree that is there.
        let is_whole = source
            .held
            .map(|held| &held.tree)
            .is_some_and(|t| t.covered == Covered::Whole && !is_guess(grammar, &t.flat));
        let plan = if self.full_parse {
            Plan::Whole
        } else if is_whole {
            match lacks_tokens() {
                true => Plan::Skip,
                false => Plan::Whole,
            }
        } else {
            let id = grammar.row.id;
            let units = || source.units(id);
            plan_of_units(id, &pattern.needles, pattern.shape, bytes, &units)
        };
        let Some(needed) = to_parse(plan) else {
            return Ok(None);
        };
        let (flat, covered) = self.flat(grammar, source, needed)?;
        // What only seems to match must not take the place of what does.
        let in_first = match pattern.repeated.is_empty() {
            true => limit,
            false => usize::MAX,
        };
        let mut found = find(pattern, &flat, &covered, bytes, in_first);
        let settled = match pattern.shape {
            // Captures with gaps were taken for the same.
            _ if !pattern.repeated.is_empty() => found.iter().all(|m| covered.holds(&m.place())),
            Shape::Outline => suites::settle(grammar, &flat, &covered, source, &mut found)
                .unwrap_or_else(|| settle(grammar, &flat, &covered, bytes, &mut found)),
            _ => true,
        };
        if settled {
            found.truncate(limit);
            return Ok(Some(found));
        }
        drop(flat);
        let places: Vec<Range<usize>> = found.iter().map(Match::place).collect();
        let around = match source.units(grammar.row.id) {
            Some(units) => plan_around(&units, &places, bytes),
            None => Plan::Whole,
        };
        let Some(needed) = to_parse(around) else {
            return Ok(Some(Vec::new()));
        };
        let (flat, covered) = self.flat(grammar, source, needed)?;
        let mut found = find(pattern, &flat, &covered, bytes, limit);
        found.retain(|m| covered.holds(&m.place()));
        Ok(Some(found))
    }

    /// A tree of at least the needed part of a file, and what it covers.
    fn flat(
        &self,
        grammar: &Grammar,
        source: &Source<'_>,
        needed: Covered,
    ) -> Result<(Arc<Flat>, Covered), Unsearchable> {
        let units = || source.units(grammar.row.id);
        let Some(cache) = self.cache else {
            let (flat, covered) = parse(grammar, source.bytes, needed, &units)?;
            return Ok((Arc::new(flat), covered));
        };
        let serves = |tree: &&PartTree| match is_guess(grammar, &tree.flat) {
            true => tree.asked == needed,
            false => tree.covered.covers(&needed),
        };
        let trees = source.held.into_iter();
        let mut trees = trees.flat_map(|held| std::iter::once(&held.tree).chain(&held.other));
        if let Some(tree) = trees.find(serves) {
            return Ok((Arc::clone(&tree.flat), tree.covered.clone()));
        }
        // A second parse in one search widens the first one's.
        let id = grammar.row.id;
        let before = cache.find(source.file, id, source.stamp, "").held;
        let wanted = match &before {
            Some(held) if !is_guess(grammar, &held.tree.flat) => needed.union(&held.tree.covered),
            _ => needed.clone(),
        };
        let (mut flat, mut covered) = parse(grammar, source.bytes, wanted.clone(), &units)?;
        if is_guess(grammar, &flat) && wanted != needed {
            (flat, covered) = parse(grammar, source.bytes, needed.clone(), &units)?;
        }
        flat.nodes.shrink_to_fit();
        let flat = Arc::new(flat);
        let kept = Held {
            source: match source.held {
                Some(held) => Arc::clone(&held.source),
                None => Arc::from(source.bytes),
            },
            tree: PartTree {
                flat: Arc::clone(&flat),
                covered: covered.clone(),
                asked: needed,
            },
            other: before
                .filter(|_| is_guess(grammar, &flat))
                .map(|held| held.tree.clone()),
            units: source.units.get().cloned().flatten(),
        };
        cache.keep(source.file, grammar.row.id, source.stamp, Arc::new(kept));
        Ok((flat, covered))
    }

    /// The tree of a whole file, or of the code of the grammar's language inside it.
    pub(crate) fn parse_whole(
        &self,
        grammar: &Grammar,
        file: &Path,
        source: &[u8],
    ) -> Result<Flat, Unsearchable> {
        bounded(source.len())?;
        let host = languages::by_path(file).filter(|h| embed::hosts(h, grammar.row));
        let flat = match host {
            Some(host) => embed::parse(self.grammars.grammar(host), grammar, source),
            None => (grammar.parse(source)).map(|tree| Flat::build(grammar, &tree, source)),
        };
        flat.ok_or(Unsearchable::Unparsed)
    }
}

fn to_parse(plan: Plan) -> Option<Covered> {
    match plan {
        Plan::Skip => None,
        Plan::Whole => Some(Covered::Whole),
        Plan::Ranges(ranges) => Some(Covered::Ranges(ranges)),
    }
}

/// Gives the runs that stand alone in braces the extent that they have in a full parse, where the tokens
/// tell it; false when a match is in doubt.
fn settle(
    grammar: &Grammar,
    flat: &Flat,
    covered: &Covered,
    source: &[u8],
    found: &mut [Match],
) -> bool {
    for m in found {
        if covered.holds(&m.place()) {
            continue;
        }
        for capture in &mut m.captures {
            // A string's body has no nodes, and a single node says itself how far it reaches.
            let (from, to) = capture.nodes;
            let Some(body) = body_around(grammar, flat, from, to) else {
                continue;
            };
            let inner = flat.node(body.open).end as usize..flat.node(body.close).start as usize;
            if covered.holds(&inner) {
                continue;
            }
            match extent(grammar, flat.node(body.parent).kind, source, inner) {
                Extent::Empty => {}
                Extent::Bytes(range) => capture.bytes = (range.start as u32, range.end as u32),
                Extent::Doubtful => return false,
            }
        }
    }
    true
}

/// The braces directly around some siblings.
struct Body {
    parent: u32,
    open: u32,
    close: u32,
}

fn body_around(grammar: &Grammar, flat: &Flat, from: u32, to: u32) -> Option<Body> {
    let is_token = |idx: u32, name: &str| {
        flat.nodes.get(idx as usize).is_some_and(|node| {
            node.flags() & flag::NAMED == 0 && grammar.kind_name(node.kind) == name
        })
    };
    let (mut first, mut past) = (from, to);
    loop {
        if first == 0 || first as usize >= flat.nodes.len() {
            return None;
        }
        if let Some(open) = flat.previous_sibling(first) {
            let around = is_token(open, "{") && is_token(past, "}");
            let parent = flat.node(open).parent;
            return (around && flat.node(past).parent == parent).then_some(Body {
                parent,
                open,
                close: past,
            });
        }
        // A list has no braces of its own; they are beside it.
        let parent = flat.node(first).parent;
        if flat.node(parent).flags() & flag::LIST == 0 || flat.node(parent).next != past {
            return None;
        }
        (first, past) = (parent, flat.node(parent).next);
    }
}

enum Extent {
    Empty,
    Bytes(Range<usize>),
    Doubtful,
}

/// From the first to the last token in braces.
fn extent(grammar: &Grammar, parent: u16, source: &[u8], inner: Range<usize>) -> Extent {
    let end = inner.end;
    let range = match content(grammar.row.id, source, inner) {
        Content::Unclear => return Extent::Doubtful,
        Content::Empty => return Extent::Empty,
        Content::Tokens(range) => range,
    };
    // Where a line end may stand for a `;`, the tree leaves some of them out.
    let loose = grammar.flags(parent) & flag::LOOSE != 0 || grammar.has_loose_lists;
    // Where nothing ends the last statement, its node may reach over the comments after it.
    let trailed = grammar.row.syntax.terminator_optional
        && !source[range.end..end].iter().all(u8::is_ascii_whitespace);
    if trailed {
        return Extent::Doubtful;
    }
    match (source[range.start], source[range.end - 1]) {
        // A last comma may belong to the last element (a Rust match arm) or be no part of the run.
        (b',' | b';', _) | (_, b',') => Extent::Doubtful,
        (_, b';') if loose => Extent::Doubtful,
        _ => Extent::Bytes(range),
    }
}

/// Whether a tree tells no more than how the parser went on after errors. What it makes of the code
/// around them depends on all that it has read, so it says nothing about another part of the source.
fn is_guess(grammar: &Grammar, flat: &Flat) -> bool {
    grammar.row.syntax.stumbles && flat.n_errors > 0
}

/// The matches in a tree, in the order of the source also where the tree was put together.
fn find(
    pattern: &Pattern,
    flat: &Flat,
    covered: &Covered,
    source: &[u8],
    limit: usize,
) -> Vec<Match> {
    let part = (*covered != Covered::Whole).then_some(covered);
    let find = |limit: usize| matcher::find_in_part(pattern, flat, source, limit, part);
    // No match begins with what only stands for something else.
    let is_real = |m: &Match| {
        let start = m.range.start as usize;
        covered.holds(&(start..start + 1))
    };
    let mut found = match flat.is_forest {
        true => find(usize::MAX),
        false => find(limit),
    };
    if !found.iter().all(is_real) {
        if found.len() == limit {
            found = find(usize::MAX);
        }
        found.retain(is_real);
    }
    if flat.is_forest {
        found.sort_by_key(|m| (m.range.start, std::cmp::Reverse(m.range.end)));
    }
    found.truncate(limit);
    found
}

/// Parses the wanted part of a source; the answer says what the tree covers. A partial tree with an error
/// is not to be trusted, so then the whole is parsed, or, where the grammar stumbles over correct code too,
/// each unit with an error by itself.
pub(crate) fn parse(
    grammar: &Grammar,
    source: &[u8],
    wanted: Covered,
    units: &dyn Fn() -> Option<Arc<Units>>,
) -> Result<(Flat, Covered), Unsearchable> {
    if let Covered::Ranges(ranges) = &wanted
        && let Some(units) = units()
    {
        let bytes = ranges.iter().map(|r| r.len()).sum();
        bounded(bytes)?;
        let _room = room::take(bytes);
        let part = Part::parse(grammar, source, ranges, &units).ok_or(Unsearchable::Unparsed)?;
        if !part.has_error() {
            return Ok((part.flat(), wanted));
        }
        if grammar.row.syntax.stumbles
            && let Some(parsed) = apart::parse(grammar, source, ranges, &units, part)
        {
            return Ok(parsed);
        }
    }
    bounded(source.len())?;
    let _room = room::take(source.len());
    let tree = grammar.parse(source).ok_or(Unsearchable::Unparsed)?;
    Ok((Flat::build(grammar, &tree, source), Covered::Whole))
}

fn bounded(bytes: usize) -> Result<(), Unsearchable> {
    if bytes > limits::PARSE_BYTES {
        return Err(Unsearchable::TooLargeToParse(bytes));
    }
    Ok(())
}
