//! What holds for any pattern over any source, tried on sources of the base languages with patterns
//! made of their own pieces. The seeds are fixed, so a failure comes back.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngSeed, TestCaseError};
use toolbox::cancel::Cancel;
use toolbox::syntax::cache::Cache;
use toolbox::syntax::rewrite::{Rewrite, Rewritten};
use toolbox::syntax::search::{Query, Searcher};
use toolbox::syntax::text::{Found, find_in};
use toolbox::syntax::{Context, Grammars, SyntaxError, languages, pattern};

use crate::hostile::watched;

const LANGUAGES: [&str; 5] = ["rust", "python", "c", "javascript", "dart"];

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20),
        ..ProptestConfig::default()
    }
}

/// A source with its named nodes.
struct Sample {
    language: &'static str,
    text: String,
    nodes: Vec<(Range<usize>, String)>,
}

impl Sample {
    fn all() -> Vec<Sample> {
        LANGUAGES.into_iter().map(Sample::of).collect()
    }

    fn of(language: &'static str) -> Sample {
        let row = languages::by_name(language).unwrap();
        let file = format!("testdata/syntax/property/sample.{}", row.extensions[0]);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&(row.grammar)()).unwrap();
        let tree = parser.parse(&text, None).unwrap();
        assert!(!tree.root_node().has_error(), "{language}");
        let mut nodes = Vec::new();
        let mut cursor = tree.walk();
        'walk: loop {
            let node = cursor.node();
            if cursor.depth() > 0 && node.is_named() && !node.is_extra() {
                nodes.push((node.byte_range(), node.kind().to_owned()));
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'walk;
                }
            }
        }
        nodes.sort_by_key(|(r, _)| (r.start, std::cmp::Reverse(r.end)));
        Sample {
            language,
            text,
            nodes,
        }
    }

    /// The text of a node as one would write it at the start of a line.
    fn written(&self, range: &Range<usize>) -> String {
        let line = self.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line..];
        let indent = &rest[..rest.len() - rest.trim_start_matches(' ').len()];
        self.text[range.clone()].replace(&format!("\n{indent}"), "\n")
    }

    /// A node with some of the nodes in it turned into metavariables.
    fn fragment(&self, node: Index, holes: &[(Index, usize)]) -> String {
        let small: Vec<_> = self.nodes.iter().filter(|(r, _)| r.len() < 400).collect();
        let (range, _) = small[node.index(small.len())];
        let inner: Vec<&Range<usize>> = self
            .nodes
            .iter()
            .map(|(r, _)| r)
            .filter(|r| r.start >= range.start && r.end <= range.end && r.len() < range.len())
            .collect();
        let mut text = self.text[range.clone()].to_owned();
        let mut floor = range.end;
        let mut chosen: Vec<_> = holes
            .iter()
            .filter(|_| !inner.is_empty())
            .map(|(at, name)| (inner[at.index(inner.len())], name))
            .collect();
        chosen.sort_by_key(|(r, _)| std::cmp::Reverse(r.start));
        for (hole, name) in chosen {
            if hole.end <= floor {
                let name = ["$A", "$B", "$$$C", "$_", "$$$"][*name];
                text.replace_range(hole.start - range.start..hole.end - range.start, name);
                floor = hole.start;
            }
        }
        text
    }
}

/// Writes literal dollars where a metavariable would be read.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let named = rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        if c == '$' && (named || rest.starts_with("$$")) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A change to a text: an insertion, a deletion, a doubling.
fn mutated(text: &str, edits: &[(Index, usize, String)]) -> String {
    let mut text = text.to_owned();
    for (at, what, extra) in edits {
        let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        if places.is_empty() {
            return extra.clone();
        }
        let at = places[at.index(places.len())];
        match what {
            0 => text.insert_str(at, extra),
            1 => text.truncate(at),
            2 => {
                text.remove(at);
            }
            _ => {
                let tail = text[at..].to_owned();
                text.insert_str(at, &tail);
            }
        }
        let mut end = text.len().min(20_000);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

fn edits() -> impl Strategy<Value = Vec<(Index, usize, String)>> {
    let extra = prop_oneof![
        "[(){}\\[\\];,.:\"'`$#@!<>=+*/\\\\ \n\t-]{1,4}",
        "\\PC{1,3}",
        Just("$$$A".to_owned()),
        Just("/*".to_owned()),
        Just("\r\n".to_owned()),
        Just("'''".to_owned()),
    ];
    prop::collection::vec((any::<Index>(), 0..4_usize, extra), 0..4)
}

fn holes() -> impl Strategy<Value = Vec<(Index, usize)>> {
    prop::collection::vec((any::<Index>(), 0..5_usize), 0..4)
}

fn find(
    grammars: &Grammars,
    language: &str,
    text: &str,
    context: Option<Context>,
    source: &[u8],
) -> Result<Vec<Found>, SyntaxError> {
    let grammar = grammars.grammar(languages::by_name(language).unwrap());
    let compiled = pattern::compile(grammar, text, context)?;
    let mut found = Vec::new();
    for pattern in compiled.readings() {
        found = find_in(grammar, pattern, source)?;
        if !found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// A folder with a file of a language in it.
fn folder(language: &str, source: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let extension = languages::by_name(language).unwrap().extensions[0];
    std::fs::write(folder.path().join(format!("a.{extension}")), source).unwrap();
    folder
}

fn rewrite(
    grammars: &Grammars,
    language: &str,
    text: &str,
    template: &str,
    source: &[u8],
) -> Result<Rewritten, SyntaxError> {
    let folder = folder(language, source);
    let searcher = Searcher {
        grammars,
        root: folder.path(),
        cache: None,
        full_parse: false,
    };
    let mut query = Query::new(text);
    query.language = Some(language.to_owned());
    let rewrite = Rewrite {
        query,
        template: template.to_owned(),
        allow_syntax_errors: false,
    };
    searcher.rewrite(&rewrite, &Cancel::new())
}

fn rewritten(
    grammars: &Grammars,
    language: &str,
    text: &str,
    template: &str,
    source: &str,
) -> String {
    match rewrite(grammars, language, text, template, source.as_bytes()) {
        Ok(done) => match done.files.into_iter().next() {
            Some(file) => String::from_utf8(file.bytes_after).unwrap(),
            None => source.to_owned(),
        },
        Err(_) => source.to_owned(),
    }
}

// R43, R44: no pattern and no source makes the engine panic or hang.
#[test]
fn random_patterns_and_sources_end() {
    let grammars = Grammars::bundled();
    let samples = Sample::all();
    let text = prop_oneof![
        "\\PC{0,40}",
        "[a-z(){}\\[\\];,.:\"'`$A-C#@!<>=+*/\\\\ \n-]{0,40}",
        "(\\$[A-C]|\\$\\$\\$[A-C]?|[a-z]+|[(){};,.=+]| |\n){0,10}",
    ];
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    proptest!(config(150), |(text in text, bytes in bytes, edits in edits(), language in 0..5_usize)| {
        let sample = &samples[language];
        watched(&text, || {
            let source = mutated(&sample.text, &edits);
            let _ = find(&grammars, sample.language, &text, None, source.as_bytes());
            let _ = find(&grammars, sample.language, &text, None, &bytes);
            let _ = find(&grammars, sample.language, &sample.text, None, &bytes);
        });
    });
}

// R43, R44, R57: neither do patterns that are made of the source.
#[test]
fn patterns_of_the_source_end() {
    let grammars = Grammars::bundled();
    let samples = Sample::all();
    proptest!(config(140), |(
        node in any::<Index>(), holes in holes(), in_pattern in edits(), in_source in edits(),
        other in any::<Index>(), language in 0..5_usize,
    )| {
        let sample = &samples[language];
        let text = mutated(&sample.fragment(node, &holes), &in_pattern);
        let template = mutated(&sample.fragment(other, &holes), &in_pattern);
        watched(&text, || {
            let source = mutated(&sample.text, &in_source);
            let _ = find(&grammars, sample.language, &text, None, source.as_bytes());
            let _ = rewrite(&grammars, sample.language, &text, &template, source.as_bytes());
        });
    });
}

// R45, D13, D14: the text of a node finds that node, on the rung that reads it as its kind.
#[test]
fn the_text_of_a_node_finds_it() {
    let grammars = Grammars::bundled();
    let (mut n_nodes, mut n_taken) = (0, 0);
    let mut wrong: Vec<String> = Vec::new();
    let mut untaken: BTreeMap<String, usize> = BTreeMap::new();
    for sample in Sample::all() {
        let grammar = grammars.grammar(languages::by_name(sample.language).unwrap());
        let mut seen = std::collections::HashSet::new();
        for (at, (range, kind)) in sample.nodes.iter().enumerate() {
            let text = &sample.text[range.clone()];
            // Of nodes of equal range the innermost is matched; what stands in a literal, or holds one
            // whose lines do not move with it, is no fragment of code.
            let wraps = sample.nodes.get(at + 1).is_some_and(|(r, _)| r == range);
            let literal = text.contains("\"\"\"") || text.contains("'''") || text.contains('`');
            if wraps || literal || text.len() > 600 || !seen.insert((text, kind)) {
                continue;
            }
            let chosen = [
                "statement",
                "expression",
                "declaration",
                "definition",
                "call",
                "item",
            ]
            .iter()
            .any(|part| kind.ends_with(part));
            // An attribute stands before a Rust item as a sibling: without it the item is another (D11).
            let before = sample.text[..range.start].trim_end();
            let has_attribute = kind.ends_with("_item") && before.ends_with(']');
            if !chosen || has_attribute || at % 2 == 1 {
                continue;
            }
            n_nodes += 1;
            let pattern_text = escaped(&sample.written(range));
            let mut taken = false;
            let mut is_found = false;
            for context in Context::ALL {
                let Ok(compiled) = pattern::compile(grammar, &pattern_text, Some(context)) else {
                    continue;
                };
                for pattern in compiled.readings().filter(|p| p.kind == *kind) {
                    taken = true;
                    let found = find_in(grammar, pattern, sample.text.as_bytes()).unwrap();
                    is_found |= found.iter().any(|f| {
                        let (short, long) =
                            (f.range.end.min(range.end), f.range.end.max(range.end));
                        let rest = &sample.text[short..long];
                        f.range.start == range.start
                            && rest.chars().all(|c| c == ';' || c.is_whitespace())
                    });
                }
                if is_found {
                    break;
                }
            }
            n_taken += usize::from(taken);
            if taken && !is_found {
                wrong.push(format!("{} {kind}: {pattern_text}", sample.language));
            } else if !taken {
                *untaken
                    .entry(format!("{} {kind}", sample.language))
                    .or_default() += 1;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} not found:\n{}",
        wrong.len(),
        wrong.join("\n---\n")
    );
    // What no rung reads as its kind: parts of a statement (a declarator's body, a `for` header's
    // declaration), which mean something only inside it.
    assert!(
        n_taken * 10 >= n_nodes * 9,
        "{n_taken} of {n_nodes}: {untaken:#?}"
    );
}

// D10, R57: an identity rewrite is byte-identical, with any spelling of the same.
#[test]
fn an_identity_rewrite_changes_nothing() {
    let grammars = Grammars::bundled();
    let samples = Sample::all();
    proptest!(config(400), |(node in any::<Index>(), holes in holes(), language in 0..5_usize)| {
        let sample = &samples[language];
        let text = sample.fragment(node, &holes);
        let new = rewritten(&grammars, sample.language, &text, &text, &sample.text);
        prop_assert_eq!(&new, &sample.text);
    });
}

// D11: bytes outside of the matches never change, whatever the pattern and the template; only an element
// that is deleted takes its separator, and the blanks at it, along.
#[test]
fn bytes_outside_of_matches_stay() {
    let grammars = Grammars::bundled();
    let samples = Sample::all();
    let template = prop_oneof![
        Just("zf($A)"),
        Just("$A"),
        Just("zz"),
        Just(""),
        Just("{\n  $$$C\n}"),
        Just("zf($$$C, zz)"),
        Just("$B + $A"),
        Just("zz;"),
    ];
    proptest!(config(400), |(
        node in any::<Index>(), holes in holes(), template in template, language in 0..5_usize,
    )| {
        let sample = &samples[language];
        let text = sample.fragment(node, &holes);
        let found = find(&grammars, sample.language, &text, None, sample.text.as_bytes());
        let Ok(found) = found else { return Ok(()); };
        let new = rewritten(&grammars, sample.language, &text, template, &sample.text);
        let counted = |text: &str| match template {
            "" => text.replace([',', ' ', '\t', '\r', '\n'], ""),
            _ => text.to_owned(),
        };
        let new = counted(&new);
        let mut at = 0;
        let mut end = 0;
        for found in &found {
            if found.range.start < end {
                continue;
            }
            let kept = &counted(&sample.text[end..found.range.start]);
            let place = new[at..].find(kept.as_str());
            let first = end == 0;
            prop_assert!(
                place.is_some() && (!first || place == Some(0)),
                "{:?} -> {:?} in {} lost {:?}", text, template, sample.language, kept
            );
            at += place.unwrap_or(0) + kept.len();
            end = found.range.end;
        }
        let rest = counted(&sample.text[end..]);
        prop_assert!(new[at..].ends_with(&rest), "{text:?} -> {template:?}");
    });
}

// R57: a rewrite and its inverse restore the file.
#[test]
fn a_rewrite_and_its_inverse_restore_the_file() {
    let grammars = Grammars::bundled();
    for (language, names) in [
        ("rust", ["classify", "drop", "closure"]),
        ("python", ["len", "log", "main"]),
        ("c", ["free", "printf", "total"]),
        ("javascript", ["group", "load", "read"]),
        ("dart", ["print", "log", "done"]),
    ] {
        let sample = Sample::of(language);
        for name in names {
            let (old, new) = (format!("{name}($$$A)"), "zq_other($$$A)");
            let there = rewritten(&grammars, language, &old, new, &sample.text);
            if name != "classify" {
                assert_ne!(there, sample.text, "{language} {name}");
            }
            let back = rewritten(&grammars, language, new, &old, &there);
            assert_eq!(back, sample.text, "{language} {name}");
        }
    }
}

fn searched(searcher: &Searcher<'_>, language: &str, text: &str) -> Result<String, String> {
    let mut query = Query::new(text);
    query.language = Some(language.to_owned());
    query.max_results = 7;
    match searcher.search(&query, &Cancel::new()) {
        Ok(report) => Ok(serde_json::to_string(&report).unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

// D15: threads, shortcuts and the cache never change an answer.
#[test]
fn answers_depend_on_nothing_else() {
    let grammars = Grammars::bundled();
    let pools = [1, 2, 8].map(|n| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .unwrap()
    });
    for language in LANGUAGES {
        let sample = Sample::of(language);
        let folder = folder(language, sample.text.as_bytes());
        let extension = languages::by_name(language).unwrap().extensions[0];
        for (at, cut) in [3, 2].into_iter().enumerate() {
            let part = &sample.text[..sample.text.floor_char_boundary(sample.text.len() / cut)];
            let name = format!("b{at}.{extension}");
            std::fs::write(folder.path().join(name), part).unwrap();
            let name = format!("c{at}.{extension}");
            std::fs::write(folder.path().join(name), sample.text.repeat(cut)).unwrap();
        }
        let cache = Cache::default();
        let with = |cache, full_parse| Searcher {
            grammars: &grammars,
            root: folder.path(),
            cache,
            full_parse,
        };
        let last = folder.path().join(format!("d.{extension}"));
        let n_round = Cell::new(0);
        proptest!(config(24), |(node in any::<Index>(), holes in holes())| {
            let text = sample.fragment(node, &holes);
            // A file that changes between two searches; its length tells, whatever the clock does.
            n_round.set(n_round.get() + 1);
            std::fs::write(&last, format!("{}{}", sample.text, "\n".repeat(n_round.get()))).unwrap();
            let expected = searched(&with(None, true), language, &text);
            let same = |what: &str, got| {
                if got == expected {
                    return Ok(());
                }
                Err(TestCaseError::fail(format!("{what}: {text}\n{got:?}\n{expected:?}")))
            };
            for pool in &pools {
                let n = pool.current_num_threads();
                let got = pool.install(|| searched(&with(None, false), language, &text));
                same(&format!("{n} threads"), got)?;
            }
            same("cold cache", searched(&with(Some(&cache), false), language, &text))?;
            same("warm cache", searched(&with(Some(&cache), false), language, &text))?;
        });
    }
}

/// An element of a pattern's list.
#[derive(Clone, Debug)]
enum Element {
    Literal(usize),
    One(usize),
    Run(usize),
}

type Bindings = BTreeMap<String, Vec<String>>;

/// Matches lists as the words of D8 say it: every split is tried, short runs first.
fn naive(pattern: &[Element], list: &[String], bound: &Bindings) -> Option<Bindings> {
    let Some((first, rest)) = pattern.split_first() else {
        return list.is_empty().then(|| bound.clone());
    };
    let lengths = match first {
        Element::Run(_) => 0..=list.len(),
        _ => 1..=1,
    };
    lengths.filter(|n| *n <= list.len()).find_map(|n| {
        let taken = list[..n].to_vec();
        let mut bound = bound.clone();
        match first {
            Element::Literal(which) if taken[0] != word(*which) => return None,
            Element::Literal(_) => {}
            Element::One(name) | Element::Run(name) => {
                let kind = if let Element::One(_) = first {
                    "S"
                } else {
                    "R"
                };
                let old = bound.insert(format!("{kind}{name}"), taken.clone());
                if old.is_some_and(|old| old != taken) {
                    return None;
                }
            }
        }
        naive(rest, &list[n..], &bound)
    })
}

fn word(which: usize) -> String {
    ["x", "y", "z"][which].to_owned()
}

// R46, R47, D8: runs and repeated metavariables match as all splits of the list do.
#[test]
fn lists_match_as_all_splits_do() {
    let grammars = Grammars::bundled();
    let element = prop_oneof![
        (0..3_usize).prop_map(Element::Literal),
        (0..2_usize).prop_map(Element::One),
        (0..3_usize).prop_map(Element::Run),
    ];
    let list = prop::collection::vec((0..3_usize).prop_map(word), 0..7);
    proptest!(config(1500), |(
        elements in prop::collection::vec(element, 1..6), list in list, language in 0..5_usize,
        trailing in any::<bool>(),
    )| {
        let language = LANGUAGES[language];
        let written: Vec<String> = elements.iter().map(|e| match e {
            Element::Literal(which) => word(*which),
            Element::One(name) => format!("$S{name}"),
            Element::Run(name) => format!("$$$R{name}"),
        }).collect();
        let comma = if trailing && language != "c" && !list.is_empty() { "," } else { "" };
        let call = format!("f({}{comma})", list.join(", "));
        let source = match language {
            "rust" => format!("fn m() {{ {call}; }}"),
            "c" => format!("void m(void) {{ {call}; }}"),
            "dart" => format!("m() {{ {call}; }}"),
            _ => format!("{call}\n"),
        };
        let text = format!("f({})", written.join(", "));
        let found = find(&grammars, language, &text, None, source.as_bytes()).unwrap();
        let expected = naive(&elements, &list, &Bindings::new());
        prop_assert_eq!(found.len(), usize::from(expected.is_some()), "{} {} {}", language, text, source);
        if let (Some(found), Some(expected)) = (found.first(), expected) {
            for (name, texts) in expected {
                let got = found.captures.get(&name).or(found.runs.get(&name));
                prop_assert_eq!(got, Some(&texts.join(", ")), "{} {}", text, source);
            }
        }
    });
}
