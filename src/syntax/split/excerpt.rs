//! The text of the parts of a source that a search parses, one behind the other.
//!
//! A parser could be told which ranges to read, but then it looks for the range of each token from the first
//! one on, and a source with some hundred gaps takes longer to read in parts than whole. A text of its own
//! is read at full speed and may hold stand-ins; the places of its nodes are translated back.

use std::ops::Range;

use super::{UnitKind, Units};

/// Parts of a source put together, and where each of its bytes comes from.
#[derive(Debug, Clone, Default)]
pub struct Excerpt {
    text: Vec<u8>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    /// Where it begins in the text.
    at: usize,
    /// What of the source it is or stands for.
    source: Range<usize>,
    /// Whether it is the same bytes.
    is_copy: bool,
}

/// Stands for a body without which its statement would be a syntax error. No pattern has this name.
const STAND_IN: &str = "__left_out_of_the_parse__";

/// The same for the body of a `match` statement. A pattern that it fits fits every real case too, and then
/// none was left out.
const CASE_STAND_IN: &str = "case __left_out_of_the_parse__: __left_out_of_the_parse__";

/// Stands for what is before the body of a function. In C it may be a macro over which the grammar stumbles.
const HEADER_STAND_IN: &str = "void f()";

/// Stands for what is around a statement that is deeper than the one before it.
const PARENT_STAND_IN: &str = "if 0:\n";

impl Excerpt {
    /// Puts some ranges of a source together, ascending and apart, which the units of the source were
    /// chosen from.
    pub fn new(source: &[u8], ranges: &[Range<usize>], units: &Units) -> Excerpt {
        let mut excerpt = Excerpt::with_room(ranges);
        let mut gaps = Gaps::new(units);
        let mut orphans = match units.needs_member {
            true => orphans(source, ranges, &gaps),
            false => Vec::new(),
        }
        .into_iter()
        .peekable();
        let mut from = 0;
        for range in ranges {
            excerpt.stand_in(source, from..range.start, &mut gaps);
            from = range.start;
            while let Some(orphan) = orphans.next_if(|orphan| orphan.at < range.end) {
                excerpt.copy(source, &(from..orphan.at.max(from)));
                from = orphan.at.max(from);
                excerpt.copy(source, &orphan.indentation);
                excerpt.put(PARENT_STAND_IN, orphan.parent);
            }
            excerpt.copy(source, &(from..range.end));
            from = range.end;
        }
        excerpt.stand_in(source, from..source.len(), &mut gaps);
        excerpt
    }

    /// Puts some ranges of a source together that are each a text of its own, on lines of their own.
    pub fn of_texts(source: &[u8], ranges: &[Range<usize>]) -> Excerpt {
        let mut excerpt = Excerpt::with_room(ranges);
        let mut from = 0;
        for range in ranges {
            if !excerpt.text.is_empty() {
                excerpt.put("\n", from..range.start);
            }
            excerpt.copy(source, range);
            from = range.end;
        }
        excerpt
    }

    fn with_room(ranges: &[Range<usize>]) -> Excerpt {
        let bytes: usize = ranges.iter().map(|range| range.len()).sum();
        Excerpt {
            text: Vec::with_capacity(bytes + bytes / 8),
            pieces: Vec::with_capacity(ranges.len() * 2),
        }
    }

    /// What to parse.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The place in the source of a range of the text. `hint` belongs to the caller: zero at first, and
    /// where ranges come in the order of their starts, as in preorder, their pieces are found at once.
    pub fn place(&self, range: Range<usize>, hint: &mut usize) -> Range<usize> {
        if self.pieces.get(*hint).is_none_or(|p| p.at > range.start) {
            *hint = self.piece(|piece| piece.at <= range.start);
        }
        let is_in_next = |at: usize| self.pieces.get(at + 1).is_some_and(|p| p.at <= range.start);
        while is_in_next(*hint) {
            *hint += 1;
        }
        let Some(piece) = self.pieces.get(*hint) else {
            return 0..0;
        };
        let start = match piece.is_copy {
            true => piece.source.start + (range.start - piece.at),
            false => piece.source.start,
        };
        if range.is_empty() {
            return start..start;
        }
        let piece = match self.pieces.get(*hint + 1) {
            Some(next) if next.at < range.end => &self.pieces[self.piece(|p| p.at < range.end)],
            _ => piece,
        };
        let end = match piece.is_copy {
            true => piece.source.start + (range.end - piece.at),
            false => piece.source.end,
        };
        start..end.max(start)
    }

    /// The last piece of those that come first.
    fn piece(&self, comes_first: impl Fn(&Piece) -> bool) -> usize {
        self.pieces.partition_point(comes_first).saturating_sub(1)
    }

    fn copy(&mut self, source: &[u8], range: &Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.pieces.push(Piece {
            at: self.text.len(),
            source: range.clone(),
            is_copy: true,
        });
        self.text.extend_from_slice(&source[range.clone()]);
    }

    fn put(&mut self, text: &str, stands_for: Range<usize>) {
        self.pieces.push(Piece {
            at: self.text.len(),
            source: stands_for,
            is_copy: false,
        });
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Puts a stand-in where a gap takes all that a body has, or a header from its body.
    fn stand_in(&mut self, source: &[u8], gap: Range<usize>, gaps: &mut Gaps<'_>) {
        let body = match gaps.needed_in(&gap) {
            Some(Needed::Body(body)) => body,
            Some(Needed::Header(header)) => return self.put(HEADER_STAND_IN, header),
            None => return,
        };
        let (line, first) = first_code(source, body.clone());
        self.copy(source, &(line..first));
        let is_case = source[first..body.end]
            .strip_prefix(b"case")
            .and_then(|rest| rest.first())
            .is_some_and(|byte| b" \t([{\"'".contains(byte));
        let text = match is_case {
            true => CASE_STAND_IN,
            false => STAND_IN,
        };
        self.put(text, first..body.end);
        self.put("\n", body.end..body.end);
    }
}

/// A statement that is parsed without the statement around it.
struct Orphan {
    at: usize,
    /// The outermost statement around it that is left out: from its first token, which no match may have.
    parent: Range<usize>,
    /// What stands before that token on its line.
    indentation: Range<usize>,
}

/// The statements that need something around them to be indented. Those that follow each other at one
/// indentation share it.
fn orphans(source: &[u8], ranges: &[Range<usize>], gaps: &Gaps<'_>) -> Vec<Orphan> {
    let list = &gaps.units.list;
    let first: Vec<(usize, usize)> = list
        .iter()
        .map(|unit| first_code(source, unit.range.clone()))
        .collect();
    let is_kept = |at: usize| {
        let next = ranges.partition_point(|range| range.end <= at);
        ranges.get(next).is_some_and(|range| range.start <= at)
    };
    let kept: Vec<bool> = first.iter().map(|(_, first)| is_kept(*first)).collect();
    let bodies = gaps.bodies();
    let mut orphans = Vec::new();
    // The innermost statement that is kept around the last orphans, the body of it that they are in, and their
    // indentation.
    let mut group: Option<(Option<usize>, usize, &[u8])> = None;
    for idx in (0..list.len()).filter(|idx| kept[*idx]) {
        let mut outermost = None;
        let mut around = gaps.parents[idx];
        while let Some(parent) = around.filter(|parent| !kept[*parent]) {
            outermost = Some(parent);
            around = gaps.parents[parent];
        }
        let Some(parent) = outermost else {
            // A statement beside theirs ends them.
            group.take_if(|(inside, _, _)| *inside == around);
            continue;
        };
        let (line, token) = first[idx];
        let place = (around, bodies[parent], &source[line..token]);
        if group != Some(place) {
            let (line, token) = first[parent];
            orphans.push(Orphan {
                at: list[idx].range.start,
                parent: token..list[parent].range.end,
                indentation: line..token,
            });
            group = Some(place);
        }
    }
    orphans
}

/// Where the first line of a body that is more than a comment begins, and its first token.
fn first_code(source: &[u8], body: Range<usize>) -> (usize, usize) {
    let mut line = body.start;
    loop {
        let rest = &source[line..body.end];
        let indentation = rest.iter().position(|byte| !b" \t\x0c".contains(byte));
        let first = line + indentation.unwrap_or(rest.len());
        match source[first..body.end].first() {
            Some(b'#' | b'\n' | b'\r') => {
                let rest = &source[first..body.end];
                match memchr::memchr(b'\n', rest) {
                    Some(end) => line = first + end + 1,
                    None => return (line, first),
                }
            }
            _ => return (line, first),
        }
    }
}

/// What must not be missing where a gap is.
enum Needed {
    /// A body that must have a statement.
    Body(Range<usize>),
    Header(Range<usize>),
}

/// Looks for what the gaps of a source, which must come in order, would take away from something that stays.
struct Gaps<'a> {
    units: &'a Units,
    parents: Vec<Option<usize>>,
    at: usize,
}

impl<'a> Gaps<'a> {
    fn new(units: &'a Units) -> Gaps<'a> {
        Gaps {
            units,
            parents: match units.needs_member {
                true => units.parents(),
                false => Vec::new(),
            },
            at: 0,
        }
    }

    /// The first statement of the body that each unit is in: what stands around several bodies parts them.
    fn bodies(&self) -> Vec<usize> {
        let list = &self.units.list;
        let mut last = vec![0; list.len() + 1];
        let mut bodies = Vec::with_capacity(list.len());
        for (idx, unit) in list.iter().enumerate() {
            let last = &mut last[self.parents[idx].map_or(0, |parent| parent + 1)];
            if unit.begins_body {
                *last = idx;
            }
            bodies.push(*last);
        }
        bodies
    }

    fn needed_in(&mut self, gap: &Range<usize>) -> Option<Needed> {
        let list = &self.units.list;
        while list.get(self.at).is_some_and(|u| u.range.start < gap.start) {
            self.at += 1;
        }
        let first = list.get(self.at)?;
        if self.units.needs_member {
            let starts = !gap.is_empty() && first.range.start == gap.start && first.begins_body;
            let body = starts.then(|| gap.start..self.body_end(self.at))?;
            return (body.end <= gap.end).then_some(Needed::Body(body));
        }
        // Other units may be gone before it.
        while let Some(unit) = list.get(self.at)
            && unit.range.start < gap.end
        {
            if unit.kind == UnitKind::Header && unit.range.end == gap.end {
                return Some(Needed::Header(unit.range.clone()));
            }
            self.at += 1;
        }
        None
    }

    /// Where the body ends that begins with a unit.
    fn body_end(&self, first: usize) -> usize {
        let list = &self.units.list;
        let past = match self.parents[first] {
            Some(parent) => parent + 1 + list[parent].descendants,
            None => list.len(),
        };
        let mut end = list[first].range.end;
        let mut next = first + 1 + list[first].descendants;
        while next < past && !list[next].begins_body {
            end = list[next].range.end;
            next += 1 + list[next].descendants;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::split::split;

    fn excerpt(source: &str, kept: &[&str]) -> Excerpt {
        let units = split("python", source.as_bytes()).unwrap();
        let ranges: Vec<Range<usize>> = kept
            .iter()
            .map(|part| {
                let at = source.find(part).unwrap();
                at..at + part.len()
            })
            .collect();
        Excerpt::new(source.as_bytes(), &ranges, &units)
    }

    fn text(excerpt: &Excerpt) -> String {
        String::from_utf8_lossy(excerpt.text()).replace(STAND_IN, "_")
    }

    // R43: a place in the text is a place in the source.
    #[test]
    fn places_are_those_of_the_source() {
        let source = "a\nb\nc\nd\n";
        let excerpt = excerpt(source, &["a\n", "c\n"]);
        assert_eq!(text(&excerpt), "a\nc\n");
        let mut hint = 0;
        assert_eq!(excerpt.place(0..4, &mut hint), 0..6);
        assert_eq!(excerpt.place(0..2, &mut hint), 0..2);
        assert_eq!(excerpt.place(2..3, &mut hint), 4..5);
        assert_eq!(excerpt.place(4..4, &mut hint), 6..6);
        // Out of order too.
        assert_eq!(excerpt.place(0..1, &mut hint), 0..1);
        assert_eq!(excerpt.place(1..3, &mut hint), 1..5);
    }

    #[test]
    fn a_body_that_is_gone_gets_a_stand_in() {
        let source = "def f():\n  # why\n  a\n  b\nx\nif y:\n\tc\nelse:\n\td\n";
        let excerpt = excerpt(source, &["def f():\n", "if y:\n\tc\nelse:\n"]);
        assert_eq!(text(&excerpt), "def f():\n  _\nif y:\n\tc\nelse:\n\t_\n");
        let at = excerpt.text.windows(2).position(|w| w == b"__").unwrap();
        let body = excerpt.place(at..at + STAND_IN.len(), &mut 0);
        assert_eq!(&source[body], "a\n  b\n");
    }

    #[test]
    fn a_body_that_keeps_a_statement_gets_none() {
        let source = "def f():\n  a\n  b\n";
        assert_eq!(
            text(&excerpt(source, &["def f():\n", "  b\n"])),
            "def f():\n  b\n"
        );
        assert_eq!(
            text(&excerpt(source, &["def f():\n  a\n"])),
            "def f():\n  a\n"
        );
    }

    #[test]
    fn the_cases_of_a_match_are_replaced_by_a_case() {
        let source = "match x:\n  case 1:\n    a\n  case 2:\n    b\n";
        let shown = text(&excerpt(source, &["match x:\n"]));
        assert_eq!(shown, "match x:\n  case _: _\n");
        let shown = text(&excerpt(source, &["match x:\n  case 1:\n"]));
        assert_eq!(shown, "match x:\n  case 1:\n    _\n");
    }

    #[test]
    fn texts_stand_on_lines_of_their_own() {
        let source = b"<a>x</a><b>y</b>";
        let excerpt = Excerpt::of_texts(source, &[3..4, 11..12]);
        assert_eq!(excerpt.text(), b"x\ny");
        assert_eq!(excerpt.place(2..3, &mut 0), 11..12);
        assert_eq!(excerpt.place(0..3, &mut 0), 3..12);
        assert!(Excerpt::of_texts(source, &[]).text().is_empty());
    }
}
