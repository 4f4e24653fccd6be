//! Every row of the language table is walked: its sample parses, its names are its own, the kinds that
//! it mentions are kinds of its grammar, each of its scaffolds takes something, its cases are enough.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolbox::syntax::languages::{self, Accept, Context, Language, Rung};
use toolbox::syntax::{Grammars, pattern, text};

/// The languages for which the issue asks for twelve pairs of match and non-match.
const MANY: [&str; 15] = [
    "c",
    "cpp",
    "csharp",
    "dart",
    "go",
    "java",
    "javascript",
    "kotlin",
    "php",
    "python",
    "ruby",
    "rust",
    "swift",
    "tsx",
    "typescript",
];

fn folder(row: &Language) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/syntax")
        .join(row.id)
}

/// The sample of a language, or what keeps it from being there.
fn sample(row: &Language) -> Result<String, String> {
    let found: Vec<PathBuf> = std::fs::read_dir(folder(row))
        .map_err(|e| format!("{}: no folder: {e}", row.id))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "sample"))
        .collect();
    let [path] = found.as_slice() else {
        return Err(format!("{}: {} samples, not one", row.id, found.len()));
    };
    let by_name = languages::by_path(path).map(|l| l.id);
    if by_name != Some(row.id) {
        return Err(format!("{}: {path:?} is a file of {by_name:?}", row.id));
    }
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", row.id))
}

/// Every case of a language, those of all its files.
fn cases(row: &Language) -> Vec<Value> {
    let files = std::fs::read_dir(folder(row))
        .into_iter()
        .flatten()
        .flatten();
    let mut files: Vec<PathBuf> = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .filter(|path| !path.ends_with("rewrite.jsonl"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("test data is readable");
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        cases.extend(lines.map(|line| serde_json::from_str(line).expect("a case is JSON")));
    }
    cases
}

fn parse(row: &Language, source: &str) -> tree_sitter::Tree {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&(row.grammar)())
        .expect("the grammar fits the library");
    parser
        .parse(source, None)
        .expect("nothing cancels the parse")
}

/// Calls `visit` for every node; its children are passed over where it answers false.
fn walk(tree: &tree_sitter::Tree, mut visit: impl FnMut(tree_sitter::Node<'_>) -> bool) {
    let mut cursor = tree.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_language_parses_its_sample_without_an_error() {
    // R43: a broken or mismatched grammar shows on a real file.
    let mut wrong = Vec::new();
    for row in languages::ALL {
        let source = match sample(row) {
            Ok(source) => source,
            Err(why) => {
                wrong.push(why);
                continue;
            }
        };
        if source.lines().filter(|l| !l.trim().is_empty()).count() < 40 {
            wrong.push(format!("{}: the sample is too short to tell", row.id));
        }
        walk(&parse(row, &source), |node| {
            if node.is_error() || node.is_missing() {
                let line = node.start_position().row + 1;
                wrong.push(format!("{} line {line}: {node:?}", row.id));
            }
            node.has_error()
        });
    }
    assert_none(&wrong);
}

#[test]
fn the_matcher_sees_every_byte_of_a_sample() {
    // D38: every token that a pattern does not mention is significant. Text that a grammar keeps in no
    // child would be compared with nothing, so the kind that holds it must be listed in `strings`,
    // whose text is compared whole.
    let mut wrong = BTreeSet::new();
    for row in languages::ALL {
        let Ok(source) = sample(row) else { continue };
        let comments = row.syntax.comment_starts;
        walk(&parse(row, &source), |node| {
            if row.syntax.strings.contains(&node.kind()) || node.kind().contains("comment") {
                return false;
            }
            if node.child_count() == 0 {
                return false;
            }
            let mut at = node.start_byte();
            let mut cursor = node.walk();
            let ends = node
                .children(&mut cursor)
                .map(|c| (c.start_byte(), c.end_byte()));
            let edge = (node.end_byte(), node.end_byte());
            for (start, end) in ends.chain([edge]).collect::<Vec<_>>() {
                let gap = source[at..start.max(at)]
                    .trim_matches(|c: char| c.is_whitespace() || c == '\\' || c == '\u{feff}');
                if !gap.is_empty() && !comments.iter().any(|c| gap.starts_with(c)) {
                    wrong.insert(format!("{}: {} hides {gap:?}", row.id, node.kind()));
                }
                at = end.max(at);
            }
            true
        });
    }
    assert_none(&wrong.into_iter().collect::<Vec<_>>());
}

#[test]
fn no_two_languages_claim_one_name() {
    // R43, D9
    let mut wrong = Vec::new();
    let mut claim =
        |what: &str, names: Vec<&'static str>, seen: &mut BTreeMap<String, String>, id: &str| {
            for name in names {
                if let Some(other) = seen.insert(name.to_owned(), id.to_owned()) {
                    wrong.push(format!("{what} {name}: {other} and {id}"));
                }
            }
        };
    let mut seen: [BTreeMap<String, String>; 4] = Default::default();
    for row in languages::ALL {
        let names = [row.id].iter().chain(row.aliases).copied().collect();
        claim("name", names, &mut seen[0], row.id);
        claim("extension", row.extensions.to_vec(), &mut seen[1], row.id);
        claim("file name", row.file_names.to_vec(), &mut seen[2], row.id);
        claim(
            "interpreter",
            row.interpreters.to_vec(),
            &mut seen[3],
            row.id,
        );
    }
    for row in languages::ALL {
        for name in [row.id].iter().chain(row.aliases) {
            if name.to_lowercase() != **name {
                wrong.push(format!("name {name}: names are looked up in lower case"));
            }
            if languages::by_name(&name.to_uppercase()).map(|l| l.id) != Some(row.id) {
                wrong.push(format!("name {name}: does not find {}", row.id));
            }
        }
        for extension in row.extensions {
            if extension.starts_with('.') || extension.is_empty() {
                wrong.push(format!("extension {extension}: is written without the dot"));
            }
        }
    }
    assert_none(&wrong);
    let ids: Vec<&str> = languages::ALL.iter().map(|l| l.id).collect();
    assert!(ids.is_sorted(), "the table is sorted by id: {ids:?}");
}

#[test]
fn files_are_recognised_by_name_and_extension() {
    // D9
    for row in languages::ALL {
        for extension in row.extensions {
            let path = PathBuf::from(format!("a/b.c/file.{extension}"));
            assert_eq!(
                languages::by_path(&path).map(|l| l.id),
                Some(row.id),
                "{path:?}"
            );
        }
        for name in row.file_names {
            let path = Path::new("a/b.c").join(name);
            assert_eq!(
                languages::by_path(&path).map(|l| l.id),
                Some(row.id),
                "{path:?}"
            );
        }
    }
    for unknown in ["a/Makefile", "a/b.unknown", "a/py", ".rs", "a/.c", ""] {
        let found = languages::by_path(Path::new(unknown)).map(|l| l.id);
        assert_eq!(found, None, "{unknown:?}");
    }
    let shouting = languages::by_path(Path::new("SETUP.PY")).map(|l| l.id);
    assert_eq!(shouting, Some("python"), "extensions count in any case");
}

#[test]
fn scripts_are_recognised_by_their_first_line() {
    // D9
    for row in languages::ALL {
        for interpreter in row.interpreters {
            for line in [
                format!("#!/usr/bin/{interpreter}\nx"),
                format!("#!/usr/bin/env {interpreter}\r\nx"),
                format!("#! /usr/bin/env -S A=1 {interpreter} -x\n"),
                format!("#!/opt/bin/{interpreter}3.12"),
            ] {
                let found = languages::by_shebang(line.as_bytes()).map(|l| l.id);
                assert_eq!(found, Some(row.id), "{line:?}");
            }
        }
    }
    for line in [
        "#!/usr/bin/unknown\n",
        "#!\n",
        "#!/usr/bin/env\n",
        "#!/usr/bin/env -i\n",
        " #!/bin/python\n",
        "python\n",
        "",
    ] {
        assert!(languages::by_shebang(line.as_bytes()).is_none(), "{line:?}");
    }
    assert!(languages::by_shebang(b"#!/bin/\xff\n").is_none());
}

/// The kinds that a row mentions, each with what mentions it and whether it is named (`None`: either).
fn mentioned(row: &Language) -> Vec<(&'static str, &'static str, Option<bool>)> {
    let syntax = &row.syntax;
    let mut kinds = Vec::new();
    let mut add = |what, names: &[&'static str], named| {
        kinds.extend(names.iter().map(|name| (what, *name, named)));
    };
    let named = Some(true);
    add("lists", syntax.lists, named);
    add("declarators", syntax.declarators, named);
    add("strings", syntax.strings, named);
    add("attached", syntax.attached, named);
    add("tuples", syntax.tuples, None);
    add("text", syntax.text, named);
    add("loose", syntax.loose, named);
    add("clauses", syntax.clauses, named);
    add("nonempty", syntax.nonempty, named);
    add("trivia", syntax.trivia, None);
    add("words", syntax.words, None);
    // Most rows keep what the empty row says here, whether their grammar has it or not.
    if syntax.expression_statements != ["expression_statement"] {
        add("expression_statements", syntax.expression_statements, named);
    }
    if syntax.reserved_kinds != ["identifier"] {
        add("reserved_kinds", syntax.reserved_kinds, named);
    }
    if syntax.separators != [","] {
        add("separators", syntax.separators, Some(false));
    }
    if let Some(tokens) = &syntax.token_tree {
        add("token_tree", &[tokens.kind], named);
        add("token_tree", tokens.parents, named);
        let inner: Vec<&'static str> = tokens.scaffolds.iter().map(|s| s.2).collect();
        add("token_tree", &inner, named);
    }
    for rung in syntax.rungs {
        match rung.accepts {
            Accept::Any => {}
            Accept::Only(names) | Accept::Not(names) => add("rungs", names, named),
        }
    }
    kinds
}

#[test]
fn every_kind_that_a_row_mentions_is_a_kind_of_its_grammar() {
    // D14: a kind that is misspelt would silently never match.
    let mut wrong = Vec::new();
    for row in languages::ALL {
        let language = (row.grammar)();
        let known: BTreeSet<(&str, bool)> = (0..language.node_kind_count() as u16)
            .filter_map(|id| {
                let name = language.node_kind_for_id(id)?;
                Some((name, language.node_kind_is_named(id)))
            })
            .collect();
        for (what, name, named) in mentioned(row) {
            let there = match named {
                Some(named) => known.contains(&(name, named)),
                None => known.contains(&(name, true)) || known.contains(&(name, false)),
            };
            if !there {
                wrong.push(format!("{}: {what} names {name}", row.id));
            }
        }
    }
    assert_none(&wrong);
}

/// Pieces of a sample, the shortest few of each kind of node.
fn fragments(row: &Language, source: &str) -> Vec<String> {
    let mut by_kind: BTreeMap<u16, BTreeSet<(usize, &str)>> = BTreeMap::new();
    let tree = parse(row, source);
    walk(&tree, |node| {
        let text = source[node.byte_range()].trim();
        if node.is_named() && text.len() < 400 && !text.is_empty() {
            let kept = by_kind.entry(node.kind_id()).or_default();
            kept.insert((text.len(), text));
            if kept.len() > 4 {
                kept.pop_last();
            }
        }
        true
    });
    let texts = by_kind.values().flatten();
    let texts: BTreeSet<&str> = texts.map(|(_, text)| *text).collect();
    texts.into_iter().map(str::to_owned).collect()
}

/// Whether a scaffold takes a fragment: no error, and a node of a kind that it accepts stands for it.
fn takes(row: &Language, rung: &Rung, fragment: &str) -> bool {
    let indented = fragment.replace('\n', &format!("\n{}", rung.indent));
    [Some(""), row.syntax.terminator]
        .iter()
        .flatten()
        .any(|terminator| {
            let source = format!("{}{indented}{terminator}{}", rung.before, rung.after);
            let tree = parse(row, &source);
            let start = rung.before.len();
            let ends = [
                start + indented.len(),
                start + indented.len() + terminator.len(),
            ];
            let mut taken = false;
            walk(&tree, |node| {
                let stands = node.is_named() && node.start_byte() == start && {
                    let end = node.start_byte() + source[node.byte_range()].trim_end().len();
                    ends.contains(&end)
                };
                taken |= stands
                    && match rung.accepts {
                        Accept::Any => true,
                        Accept::Only(kinds) => kinds.contains(&node.kind()),
                        Accept::Not(kinds) => !kinds.contains(&node.kind()),
                    };
                true
            });
            taken && !tree.root_node().has_error()
        })
}

#[test]
fn every_scaffold_of_every_row_takes_something() {
    // D14: a scaffold that takes no case and no part of the sample is a mistake.
    let mut wrong = Vec::new();
    for row in languages::ALL {
        let mut known = sample(row).map(|s| fragments(row, &s)).unwrap_or_default();
        let cases = cases(row);
        let patterns = cases.iter().filter_map(|case| case["pattern"].as_str());
        known.extend(patterns.filter(|p| !p.contains('$')).map(str::to_owned));
        for rung in row.syntax.rungs {
            if !known.iter().any(|fragment| takes(row, rung, fragment)) {
                wrong.push(format!(
                    "{}: {} {:?}..{:?} takes no part of the sample",
                    row.id, rung.context, rung.before, rung.after
                ));
            }
        }
    }
    assert_none(&wrong);
}

/// How many patterns of a language are shown to match something and to pass something over.
///
/// A pattern passes something over when another case expects no match for it, or when a source holds
/// more nodes of the pattern's kind than matches.
fn pairs(grammars: &Grammars, row: &'static Language, cases: &[Value]) -> usize {
    let grammar = grammars.grammar(row);
    let mut by_pattern: BTreeMap<(String, String), (bool, bool)> = BTreeMap::new();
    for case in cases {
        let (Some(pattern), Some(count)) =
            (case["pattern"].as_str(), case["expected_count"].as_u64())
        else {
            continue;
        };
        let context = case["context"].as_str().unwrap_or("");
        let seen = by_pattern
            .entry((pattern.to_owned(), context.to_owned()))
            .or_default();
        let source = case["source"].as_str().expect("a case has a source");
        let Ok(compiled) = pattern::compile(grammar, pattern, Context::parse(context)) else {
            continue;
        };
        let found = text::find_in(grammar, &compiled.pattern, source.as_bytes())
            .map_or(0, |found| found.len());
        let mut candidates = 0;
        walk(&parse(row, source), |node| {
            candidates += usize::from(node.kind() == compiled.pattern.kind.as_str());
            true
        });
        seen.0 |= count > 0;
        seen.1 |= count == 0 || candidates > found;
    }
    by_pattern.values().filter(|seen| seen.0 && seen.1).count()
}

#[test]
fn every_language_has_enough_pairs_of_match_and_non_match() {
    // R43: what the issue asks for each language.
    let grammars = Grammars::bundled();
    let mut wrong = Vec::new();
    for row in languages::ALL {
        let cases = cases(row);
        let wanted = if MANY.contains(&row.id) { 12 } else { 3 };
        let n_pairs = pairs(&grammars, row, &cases);
        if n_pairs < wanted {
            wrong.push(format!("{}: {n_pairs} pairs of {wanted}", row.id));
        }
        let ids: BTreeSet<&str> = cases.iter().filter_map(|c| c["id"].as_str()).collect();
        if ids.len() != cases.len() {
            wrong.push(format!("{}: cases share an id", row.id));
        }
    }
    assert_none(&wrong);
}
