//! Parts of a source that a search leaves out must never change the tree of the parts it keeps.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use toolbox::syntax::prefilter::{Needles, TokenRun, TriviaStyle};
use toolbox::syntax::split::{Excerpt, Plan, Shape, UnitKind, Units, plan, plan_around, split};
use tree_sitter::{Language, Parser, Tree};

struct Case {
    language: &'static str,
    grammar: fn() -> Language,
    source: String,
}

/// Sources that hold what trips a small lexer; each is free of syntax errors as a whole.
fn cases() -> Vec<Case> {
    macro_rules! case {
        ($language:literal, $grammar:expr, $file:literal) => {
            Case {
                language: $language,
                grammar: || $grammar.into(),
                source: include_str!(concat!("../../testdata/syntax/split/", $file)).to_owned(),
            }
        };
    }
    #[cfg_attr(
        not(feature = "all-languages"),
        expect(unused_mut, reason = "the smaller build has no further grammars")
    )]
    let mut cases = vec![
        case!("rust", tree_sitter_rust::LANGUAGE, "nasty.rs"),
        case!("python", tree_sitter_python::LANGUAGE, "nasty.py"),
        case!("dart", tree_sitter_dart::LANGUAGE, "nasty.dart"),
        case!("c", tree_sitter_c::LANGUAGE, "nasty.c"),
        case!("javascript", tree_sitter_javascript::LANGUAGE, "nasty.js"),
    ];
    #[cfg(feature = "all-languages")]
    cases.extend([
        case!(
            "typescript",
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            "nasty.ts"
        ),
        case!("tsx", tree_sitter_typescript::LANGUAGE_TSX, "nasty.tsx"),
        case!("java", tree_sitter_java::LANGUAGE, "nasty.java"),
        case!("go", tree_sitter_go::LANGUAGE, "nasty.go"),
    ]);
    cases
}

impl Case {
    fn units(&self) -> Units {
        split(self.language, self.source.as_bytes()).expect(self.language)
    }

    fn parse(&self, text: &[u8]) -> Tree {
        let mut parser = Parser::new();
        parser.set_language(&(self.grammar)()).unwrap();
        parser.parse(text, None).unwrap()
    }

    fn parse_whole(&self) -> Tree {
        self.parse(self.source.as_bytes())
    }

    /// Compares the parse without the gaps with the parse of the whole.
    fn check(&self, full: &Tree, gaps: &[Range<usize>]) {
        let ranges = complement(gaps, self.source.len());
        if ranges.is_empty() {
            return;
        }
        let excerpt = Excerpt::new(self.source.as_bytes(), &ranges, &self.units());
        let partial = self.parse(excerpt.text());
        let gaps_text: Vec<&str> = gaps.iter().map(|gap| &self.source[gap.clone()]).collect();
        assert!(
            !partial.root_node().has_error(),
            "{}: error without {gaps_text:#?}",
            self.language
        );
        let mut hint = 0;
        let expected = rows(full, gaps, &mut |range| range);
        let found = rows(&partial, gaps, &mut |range| excerpt.place(range, &mut hint));
        let differs = expected.iter().zip(&found).find(|(a, b)| a != b);
        assert!(
            expected == found,
            "{}: {differs:?} ({} or {} nodes) without {gaps_text:#?}",
            self.language,
            expected.len(),
            found.len()
        );
    }

    /// Leaves out the chosen units.
    fn gaps(&self, units: &Units, dropped: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut gaps: Vec<Range<usize>> = Vec::new();
        let mut idx = 0;
        while let Some(unit) = units.list.get(idx) {
            if dropped(idx) {
                match gaps.last_mut() {
                    Some(last) if last.end == unit.range.start => last.end = unit.range.end,
                    _ => gaps.push(unit.range.clone()),
                }
                idx += 1 + unit.descendants;
            } else {
                idx += 1;
            }
        }
        gaps
    }
}

fn complement(gaps: &[Range<usize>], len: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    for gap in gaps {
        if gap.start > from {
            ranges.push(from..gap.start);
        }
        from = gap.end;
    }
    if from < len {
        ranges.push(from..len);
    }
    ranges
}

/// Kind, name, range and parent of each node that no gap touches.
///
/// A container ends elsewhere once its last member is gone, so Python's blocks and what has them, Go's
/// lists of statements and the branches of C conditionals, which no token of their own closes, are left
/// out of the comparison. So are the cases of a switch.
type Row = (String, bool, Range<usize>, String);

const ENDS_WITH_ITS_CONTENT: &[&str] = &[
    "block",
    "case_clause",
    "case_statement",
    "communication_case",
    "default_case",
    "expression_case",
    "switch_block_statement_group",
    "switch_case",
    "switch_default",
    "switch_statement_case",
    "switch_statement_default",
    "type_case",
    "class_definition",
    "decorated_definition",
    "elif_clause",
    "else_clause",
    "except_clause",
    "finally_clause",
    "for_statement",
    "function_definition",
    "if_statement",
    "match_statement",
    "preproc_elif",
    "preproc_else",
    "statement_list",
    "try_statement",
    "while_statement",
    "with_statement",
];

fn rows(
    tree: &Tree,
    gaps: &[Range<usize>],
    place: &mut dyn FnMut(Range<usize>) -> Range<usize>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let range = place(node.byte_range());
        let touched = gaps
            .iter()
            .any(|gap| gap.start < range.end && range.start < gap.end);
        if let Some(parent) = node.parent()
            && !touched
            && !range.is_empty()
            && !ENDS_WITH_ITS_CONTENT.contains(&node.kind())
        {
            // The grammars hang a comment at the edge of a block on the block or on its parent.
            let parent = match node.is_extra() {
                true => String::new(),
                false => parent.kind().to_owned(),
            };
            rows.push((node.kind().to_owned(), node.is_named(), range, parent));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return rows;
            }
        }
    }
}

#[test]
fn fixtures_are_whole_and_have_units_of_each_kind() {
    for case in cases() {
        let full = case.parse_whole();
        assert!(
            !full.root_node().has_error(),
            "{}: {}",
            case.language,
            full.root_node()
        );
        let units = case.units();
        let count = |kind| units.list.iter().filter(|unit| unit.kind == kind).count();
        assert!(count(UnitKind::Item) >= 8, "{}: {units:#?}", case.language);
        let has_containers = case.language != "go";
        assert_eq!(count(UnitKind::Container) > 0, has_containers);
        assert!(count(UnitKind::Block) > 0, "{}", case.language);
    }
}

// R43, R52: what a search leaves out changes nothing in what it sees.
#[test]
fn any_one_or_two_units_can_be_left_out() {
    for case in cases() {
        let full = case.parse_whole();
        let units = case.units();
        for first in 0..units.list.len() {
            case.check(&full, &case.gaps(&units, |idx| idx == first));
            for second in first + 1..units.list.len() {
                if (first + second) % 13 == 0 || second == first + 1 {
                    case.check(
                        &full,
                        &case.gaps(&units, |idx| idx == first || idx == second),
                    );
                }
            }
        }
    }
}

#[test]
fn any_one_unit_can_be_kept_alone() {
    for case in cases() {
        let full = case.parse_whole();
        let units = case.units();
        for kept in 0..units.list.len() {
            let holds = |idx: usize| idx <= kept && kept <= idx + units.list[idx].descendants;
            let inside = |idx: usize| kept <= idx && idx <= kept + units.list[kept].descendants;
            let gaps = case.gaps(&units, |idx| !holds(idx) && !inside(idx));
            case.check(&full, &gaps);
        }
    }
}

#[test]
fn line_endings_of_two_bytes_change_nothing() {
    for case in cases() {
        let case = Case {
            source: case.source.replace('\n', "\r\n"),
            ..case
        };
        let full = case.parse_whole();
        let units = case.units();
        for parity in 0..6 {
            case.check(&full, &case.gaps(&units, |idx| idx % 6 == parity));
            case.check(&full, &case.gaps(&units, |idx| idx % 6 != parity));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    // R43, R52: as above, for any set of units.
    #[test]
    fn any_set_of_units_can_be_left_out(seed in prop::collection::vec(any::<bool>(), 160)) {
        for case in cases() {
            let full = case.parse_whole();
            let units = case.units();
            // Few containers go whole, or little would be left to compare.
            let gaps = case.gaps(&units, |idx| {
                let whole = units.list[idx].kind != UnitKind::Container || idx % 5 == 0;
                whole && seed[idx % seed.len()]
            });
            case.check(&full, &gaps);
        }
    }

    // R43, D15: no match is lost in silence.
    #[test]
    fn a_plan_keeps_every_occurrence_and_the_tree_around_it(at in any::<prop::sample::Index>()) {
        for case in cases() {
            let full = case.parse_whole();
            let words: BTreeSet<&str> = code_words(&case, &full).into_iter().map(|word| word.1).collect();
            let word = *at.get(&words.into_iter().collect::<Vec<_>>());
            let needles = needles(case.language, &[&[word]]);
            for shape in [Shape::Inner, Shape::Block] {
                let ranges = match plan(case.language, &needles, shape, case.source.as_bytes()) {
                    Plan::Skip => panic!("{word} is in {}", case.language),
                    Plan::Whole => continue,
                    Plan::Ranges(ranges) => ranges,
                };
                for (start, text) in code_words(&case, &full) {
                    let kept = ranges.iter().any(|range| range.contains(&start));
                    prop_assert!(text != word || kept, "{word} at {start} of {}", case.language);
                }
                let len = case.source.len();
                case.check(&full, &complement(&ranges, len));
            }
            let mut places: Vec<Range<usize>> = code_words(&case, &full)
                .iter()
                .filter(|place| place.1 == word)
                .map(|place| place.0..place.0 + word.len())
                .collect();
            places.sort_by_key(|place| place.start);
            if let Plan::Ranges(ranges) = plan_around(&case.units(), &places, case.source.as_bytes()) {
                for place in &places {
                    let kept = ranges.iter().any(|range| range.contains(&place.start));
                    prop_assert!(kept, "{word} at {place:?} of {}", case.language);
                }
                case.check(&full, &complement(&ranges, case.source.len()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn no_input_makes_a_splitter_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let soup = pieces.concat().into_bytes();
        for language in LANGUAGES {
            for source in [&soup, &bytes, &[&soup[..], &bytes].concat()] {
                if let Some(units) = split(language, source) {
                    check_order(&units, source.len());
                }
                let needles = needles(language, &[&["if"]]);
                plan(language, &needles, Shape::Inner, source);
            }
        }
        for case in cases() {
            let source = case.source.as_bytes();
            let source = &source[..cut.index(source.len())];
            if let Some(units) = split(case.language, source) {
                check_order(&units, source.len());
            }
        }
    }

    // R52: spacing, wrapping and comments never hide a match.
    #[test]
    fn a_run_is_found_whatever_trivia_stands_between_its_tokens(
        tokens in prop::collection::vec(prop::sample::select(&["name", "x", "(", ")", "==", "/", ".", "if"][..]), 1..6),
        trivia in prop::collection::vec(prop::sample::select(TRIVIA), 6),
        before in prop::sample::select(&["", "y = ", "// c\n", "x.", "/"][..]),
    ) {
        let needles = needles("rust", &[&tokens]);
        let mut source = String::from(before);
        for (token, gap) in tokens.iter().zip(&trivia) {
            source += token;
            source += gap;
        }
        source += " end";
        // A comment cannot begin at a slash that stands there for itself.
        prop_assume!(!tokens.contains(&"/") || !source.contains("//"));
        prop_assert!(needles.may_match(source.as_bytes()), "{tokens:?} in {source:?}");
        prop_assert_eq!(needles.occurrences(source.as_bytes()).is_some(), true);
    }
}

const TRIVIA: &[&str] = &[
    " ",
    "\n\t",
    " /* c */ ",
    " // c\n",
    "\u{a0}",
    ", ",
    " /* ( x */ // ==\n",
    " // if name )\n\n",
];

const LANGUAGES: &[&str] = &[
    "rust",
    "python",
    "dart",
    "typescript",
    "tsx",
    "javascript",
    "jsx",
    "java",
    "go",
    "c",
    "cpp",
    "",
];

const PIECES: &[&str] = &[
    "{", "}", "(", ")", "[", "]", "<", ">", "'", "\"", "`", "\"\"\"", "'''", "/", "//", "/*", "*/",
    "\\", "\n", "\r\n", " ", "\t", "    ", "#", "#if A\n", "#else\n", "#endif\n", "$", "${",
    "r#\"", "\"#", "f\"{", "}\"", ":", ";", ",", "=", "=>", "->", ".", "@", "!", "é", "\u{feff}",
    "fn ", "class ", "impl ", "mod ", "if ", "else", "def ", "x", "case ", "import ", "export ",
    "func ", "switch ", "<a>", "</a>", "<T,>", "\0",
];

pub(crate) fn needles(language: &str, runs: &[&[&str]]) -> Needles {
    let runs = runs.iter().map(|run| TokenRun::of(run)).collect();
    Needles::new(runs, TriviaStyle::of(language))
}

/// Identifiers outside comments and literals, with where they start.
fn code_words<'a>(case: &'a Case, tree: &Tree) -> Vec<(usize, &'a str)> {
    let mut words = Vec::new();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        for idx in 0..node.child_count() {
            stack.push(node.child(idx).unwrap());
        }
        let text = &case.source[node.byte_range()];
        if node.child_count() == 0
            && node.kind().ends_with("identifier")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            words.push((node.start_byte(), text));
        }
    }
    words
}

fn check_order(units: &Units, len: usize) {
    let mut ends: Vec<(usize, usize)> = vec![(usize::MAX, len)];
    let mut from = 0;
    for (idx, unit) in units.list.iter().enumerate() {
        while ends.last().unwrap().0 <= idx {
            from = from.max(ends.pop().unwrap().1);
        }
        assert!(from <= unit.range.start && unit.range.start <= unit.range.end);
        assert!(unit.range.end <= ends.last().unwrap().1);
        assert!(unit.range.start <= unit.body && unit.body <= unit.range.end);
        from = unit.range.start;
        ends.push((idx + 1 + unit.descendants, unit.range.end));
    }
}
