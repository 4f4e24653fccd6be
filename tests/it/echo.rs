//! `$X = $X` and its kin: that a file is skipped for the bytes on both sides of the operator changes no answer.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use toolbox::cancel::Cancel;
use toolbox::syntax::Grammars;
use toolbox::syntax::languages;
use toolbox::syntax::search::{Query, Searcher};

/// Pieces of expressions; what they make together need not be one.
const PIECES: &[&str] = &[
    "a", "b", "ab", ".c", "(a)", "[0]", "\"s t\"", "\"b;\"", "\")\"", "'c'", "-", "*", "!", "as",
    "f(a, b)", "{}", "..", "::", "/", "<a>", "é", "`;`", "@", "\\", "in", "not",
];

/// What may stand between them.
const GAPS: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    " /* a; */ ",
    " // b)\n",
    " # c;\n",
    "\n\n",
    ";",
    ",",
];

/// What may stand before and after the whole.
const AROUND: &[(&str, &str)] = &[
    ("", "\n"),
    ("f();\n", ";\ng();\n"),
    ("if (", ") { g(); }"),
    ("fn f() { ", " }"),
    ("void f() { ", "; }"),
    ("class A { void f() { ", "; } }"),
    ("package p\nfunc f() {\n", "\n}"),
    ("// a\n", " // a\n"),
    ("x = [", "]\n"),
    ("a\n", "\nb\n"),
    ("\"", "\""),
];

const PATTERNS: &[&str] = &[
    "$X = $X",
    "$X == $X",
    "$X + $X",
    "$X < $X",
    "$X = $X + $Y",
    "$X == $X.$Y",
    "$Y.$X == $X",
];

const LANGUAGES: &[&str] = &[
    "c",
    "dart",
    "go",
    "java",
    "javascript",
    "python",
    "rust",
    "tsx",
    "typescript",
];

fn places(
    grammars: &Grammars,
    language: &str,
    root: &Path,
    pattern: &str,
    full_parse: bool,
) -> Vec<(usize, usize)> {
    let searcher = Searcher {
        grammars,
        root,
        cache: None,
        full_parse,
    };
    let query = Query {
        language: Some(language.to_owned()),
        ..Query::new(pattern)
    };
    let report = searcher.search(&query, &Cancel::new()).expect("a pattern");
    let places = report.matches.iter().map(|m| (m.start_byte, m.end_byte));
    places.collect()
}

// D15, D8: every answer is that of a full parse, where both captures are the same and where they are nearly so.
#[test]
fn skipped_files_hold_no_match() {
    let grammars = Grammars::bundled();
    for language in LANGUAGES {
        // A small build has fewer languages.
        let Some(row) = languages::by_name(language) else {
            continue;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(format!("a.{}", row.extensions[0]));
        let side = || vec((0..PIECES.len(), 0..GAPS.len()), 1..4);
        let simple = || vec((0..4_usize, 0..3_usize), 1..3);
        let cases = (
            prop_oneof![side(), simple()],
            prop_oneof![side(), simple()],
            any::<bool>(),
            0..PATTERNS.len(),
            0..AROUND.len(),
            vec(0..GAPS.len(), 6),
        );
        let config = ProptestConfig {
            cases: 24,
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        proptest!(config, |((left, right, is_same, pattern, around, gaps) in cases)| {
            let pattern = PATTERNS[pattern];
            let operator = pattern.split_whitespace().nth(1).expect("an operator");
            let text = |pieces: &[(usize, usize)], more: usize| -> String {
                let each = pieces.iter().enumerate();
                let joined = each.map(|(at, (piece, gap))| {
                    let gap = match at {
                        0 => "",
                        _ => GAPS[(gap + more) % GAPS.len()],
                    };
                    format!("{gap}{}", PIECES[*piece])
                });
                joined.collect()
            };
            let other = match is_same {
                true => text(&left, gaps[0] % 2),
                false => text(&right, 0),
            };
            let (before, after) = AROUND[around];
            let gap = |at: usize| GAPS[gaps[at] % 6];
            let source = format!(
                "{before}{}{}{operator}{}{other}{after}",
                text(&left, 0), gap(1), gap(2)
            );
            std::fs::write(&file, &source).expect("writable");
            let truth = places(&grammars, language, folder.path(), pattern, true);
            let found = places(&grammars, language, folder.path(), pattern, false);
            prop_assert_eq!(found, truth, "{}: {} in {:?}", language, pattern, source);
        });
        // What all of them are about is there to be found.
        let mut found = AROUND.iter().map(|(before, after)| {
            std::fs::write(&file, format!("{before}a == a{after}")).expect("writable");
            places(&grammars, language, folder.path(), "$X == $X", false).len()
        });
        assert!(found.any(|n_found| n_found == 1), "{language}");
    }
}
