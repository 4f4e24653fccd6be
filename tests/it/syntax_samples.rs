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
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            !name.is_some_and(|name| name.starts_with("rewrite"))
        })
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

fn parser(row: &Language) -> tree_sitter::Parser {
    let mut parser = tree_sitter::Parser::new();
    parser
        .set_language(&(row.grammar)())
        .expect("the grammar fits the library");
    parser
}

fn parse(parser: &mut tree_sitter::Parser, source: &str) -> tree_sitter::Tree {
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
        walk(&parse(&mut parser(row), &source), |node| {
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
        walk(&parse(&mut parser(row), &source), |node| {
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
    // Extensions are looked up as they are written, then in small letters.
    for row in languages::ALL {
        let is_small = |word: &&&str| !word.contains(char::is_uppercase);
        assert!(row.extensions.iter().all(|it| is_small(&it)), "{}", row.id);
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

#[cfg(feature = "all-languages")]
#[test]
fn the_usual_names_find_their_language() {
    // D9: what people write, fixed here apart from the table.
    for (name, id) in [
        ("sh", "bash"),
        ("c++", "cpp"),
        ("cs", "csharp"),
        ("ex", "elixir"),
        ("golang", "go"),
        ("hs", "haskell"),
        ("tf", "hcl"),
        ("js", "javascript"),
        ("kt", "kotlin"),
        ("py", "python"),
        ("rb", "ruby"),
        ("rs", "rust"),
        ("sol", "solidity"),
        ("ts", "typescript"),
        ("YML", "yaml"),
    ] {
        let found = languages::by_name(name).map(|l| l.id);
        assert_eq!(found, Some(id), "{name}");
    }
    for (path, id) in [
        ("PKGBUILD", "bash"),
        ("home/.bashrc", "bash"),
        ("a.test.tsx", "tsx"),
        ("types.d.ts", "typescript"),
        ("Cargo.lock", "toml"),
        ("infra/main.tf", "hcl"),
        ("mix.exs", "elixir"),
        ("x.yml", "yaml"),
        ("page.HTM", "html"),
    ] {
        let found = languages::by_path(Path::new(path)).map(|l| l.id);
        assert_eq!(found, Some(id), "{path}");
    }
    for (line, id) in [
        ("#!/bin/sh", "bash"),
        ("#!/bin/bash -e", "bash"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.12", "python"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/ruby", "ruby"),
        ("#!/usr/bin/lua5.4", "lua"),
    ] {
        let found = languages::by_shebang(line.as_bytes()).map(|l| l.id);
        assert_eq!(found, Some(id), "{line}");
    }
}

/// The languages whose rows are built on one another: most rows stand alone.
fn family(row: &'static Language) -> &'static [&'static str] {
    const SCRIPTS: &[&str] = &["javascript", "jsx", "typescript", "tsx"];
    if SCRIPTS.contains(&row.id) {
        SCRIPTS
    } else {
        std::slice::from_ref(&row.id)
    }
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
    add("attached", syntax.attached, None);
    add("tuples", syntax.tuples, None);
    add("text", syntax.text, named);
    add("loose", syntax.loose, named);
    add("clauses", syntax.clauses, None);
    add("outer_separators", syntax.outer_separators, named);
    for row in syntax.bracketed {
        add("bracketed", &[row.list, row.instead, row.under], named);
    }
    for (_, kind, _) in syntax.yields {
        add("yields", &[*kind], named);
    }
    for (kind, _) in syntax.strengths {
        add("strengths", &[*kind], named);
    }
    add("nonempty", syntax.nonempty, named);
    add("singles", syntax.singles, named);
    add("whole", syntax.whole, named);
    add("trivia", syntax.trivia, None);
    add("words", syntax.words, None);
    add("paths", syntax.paths, named);
    for (from, token, to) in syntax.same {
        add("same", &[*from, *to], named);
        if !token.is_empty() {
            add("same", &[*token], Some(false));
        }
    }
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
        // The rows of a family share their lists, so a kind of one of its grammars is no typing error.
        let family = family(row).iter().filter_map(|id| languages::by_name(id));
        let mut known: BTreeSet<(String, bool)> = BTreeSet::new();
        for row in family {
            let language = (row.grammar)();
            known.extend((0..language.node_kind_count() as u16).filter_map(|id| {
                let name = language.node_kind_for_id(id)?;
                Some((name.to_owned(), language.node_kind_is_named(id)))
            }));
        }
        for (what, name, named) in mentioned(row) {
            let is_kind = |named: bool| known.contains(&(name.to_owned(), named));
            let there = named.map_or_else(|| is_kind(true) || is_kind(false), is_kind);
            if !there {
                wrong.push(format!("{}: {what} names {name}", row.id));
            }
        }
    }
    assert_none(&wrong);
}

/// Pieces of some sources, the shortest few of each kind of node.
fn fragments(parser: &mut tree_sitter::Parser, sources: &[String]) -> Vec<String> {
    let mut by_kind: BTreeMap<u16, BTreeSet<(usize, &str)>> = BTreeMap::new();
    for source in sources {
        let tree = parse(parser, source);
        if tree.root_node().has_error() {
            continue;
        }
        walk(&tree, |node| {
            let text = source[node.byte_range()].trim();
            if node.is_named() && text.len() < 400 && !text.is_empty() {
                let kept = by_kind.entry(node.kind_id()).or_default();
                kept.insert((text.len(), text));
                if kept.len() > 3 {
                    kept.pop_last();
                }
            }
            true
        });
    }
    let texts = by_kind.values().flatten();
    let texts: BTreeSet<&str> = texts.map(|(_, text)| *text).collect();
    texts.into_iter().map(str::to_owned).collect()
}

/// Whether a scaffold takes a fragment: no error, and a node of a kind that it accepts stands for it.
fn takes(row: &Language, parser: &mut tree_sitter::Parser, rung: &Rung, fragment: &str) -> bool {
    let indented = fragment.replace('\n', &format!("\n{}", rung.indent));
    [Some(""), row.syntax.terminator]
        .iter()
        .flatten()
        .any(|terminator| {
            let source = format!("{}{indented}{terminator}{}", rung.before, rung.after);
            let tree = parse(parser, &source);
            if tree.root_node().has_error() {
                return false;
            }
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
            taken
        })
}

#[test]
fn every_scaffold_of_every_row_takes_something() {
    // D14: a scaffold that takes no part of the sample or of a case's source is a mistake.
    let mut scaffolds: BTreeMap<(&str, String), bool> = BTreeMap::new();
    for row in languages::ALL {
        let mut parser = parser(row);
        let cases = cases(row);
        let mut sources: Vec<String> = sample(row).into_iter().collect();
        let of_cases = cases.iter().filter_map(|case| case["source"].as_str());
        sources.extend(of_cases.map(str::to_owned));
        let known = fragments(&mut parser, &sources);
        for rung in row.syntax.rungs {
            let taken = known
                .iter()
                .any(|fragment| takes(row, &mut parser, rung, fragment));
            let place = format!("{} {:?}..{:?}", rung.context, rung.before, rung.after);
            // The rows of a family share their scaffolds: one that lives in one of them lives.
            *scaffolds.entry((family(row)[0], place)).or_default() |= taken;
        }
    }
    let wrong: Vec<String> = scaffolds
        .into_iter()
        .filter(|(_, lives)| !lives)
        .map(|((id, place), _)| format!("{id}: {place} takes nothing known"))
        .collect();
    assert_none(&wrong);
}

/// How many patterns of a language, up to `wanted`, are shown to match something and to pass something
/// over.
///
/// A pattern passes something over when another case expects no match for it, or when a source holds
/// more nodes of the pattern's kind than matches.
fn pairs(grammars: &Grammars, row: &'static Language, cases: &[Value], wanted: usize) -> usize {
    let grammar = grammars.grammar(row);
    let mut parser = parser(row);
    let shown = |by_pattern: &BTreeMap<(String, String), (bool, bool)>| {
        by_pattern.values().filter(|seen| seen.0 && seen.1).count()
    };
    let mut by_pattern = BTreeMap::new();
    for case in cases {
        let (Some(pattern), Some(count)) =
            (case["pattern"].as_str(), case["expected_count"].as_u64())
        else {
            continue;
        };
        let context = case["context"].as_str().unwrap_or("");
        let seen = by_pattern
            .entry((pattern.to_owned(), context.to_owned()))
            .or_insert((false, false));
        let source = case["source"].as_str().expect("a case has a source");
        let Ok(compiled) = pattern::compile(grammar, pattern, Context::parse(context)) else {
            continue;
        };
        let found = text::find_in(grammar, &compiled.pattern, source.as_bytes())
            .map_or(0, |found| found.len());
        let mut candidates = 0;
        walk(&parse(&mut parser, source), |node| {
            candidates += usize::from(node.kind() == compiled.pattern.kind.as_str());
            true
        });
        seen.0 |= count > 0;
        seen.1 |= count == 0 || candidates > found;
        if shown(&by_pattern) >= wanted {
            break;
        }
    }
    shown(&by_pattern)
}

#[test]
fn every_language_has_enough_pairs_of_match_and_non_match() {
    // R43: what the issue asks for each language.
    let grammars = Grammars::bundled();
    let mut wrong = Vec::new();
    for row in languages::ALL {
        let cases = cases(row);
        let wanted = if MANY.contains(&row.id) { 12 } else { 3 };
        let n_pairs = pairs(&grammars, row, &cases, wanted);
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
