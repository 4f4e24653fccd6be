//! Sources and patterns made to hurt: extreme nesting, long lists, long lines, templates that double.
//!
//! Each case must end with an answer or a clear error. A stack overflow aborts the binary by itself; a
//! watchdog does so where the work does not end, because what is quadratic in 200,000 levels does not
//! end. No case asserts a duration.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use toolbox::cancel::Cancel;
use toolbox::syntax::cache::Cache;
use toolbox::syntax::explain::explain;
use toolbox::syntax::rewrite::{Rewrite, Rewritten};
use toolbox::syntax::search::{Query, Searcher};
use toolbox::syntax::text::find_in;
use toolbox::syntax::{Context, Grammar, Grammars, SyntaxError, languages, pattern};

const LEVELS: usize = 200_000;

/// Far more than any case takes, also on a slow machine that is busy with other tests.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs a case; ends the test binary with a message when it takes too long.
pub fn watched<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(LIMIT) {
                // Not captured, because an abort would lose what the harness captures.
                let _ = writeln!(std::io::stderr(), "{what}: no end after {LIMIT:?}");
                std::process::abort();
            }
        });
        let res = work();
        drop(done);
        res
    })
}

fn grammar<'a>(grammars: &'a Grammars, language: &str) -> &'a Grammar {
    grammars.grammar(languages::by_name(language).unwrap())
}

/// How many matches a pattern has in a source. Its metavariables should bind nothing, where matches
/// nest: their texts together are the square of the source.
fn count(language: &str, text: &str, source: &str) -> usize {
    let grammars = Grammars::bundled();
    let grammar = grammar(&grammars, language);
    let compiled = pattern::compile(grammar, text, None).unwrap();
    let mut n_found = 0;
    for pattern in compiled.readings() {
        n_found = find_in(grammar, pattern, source.as_bytes()).unwrap().len();
        if n_found > 0 {
            break;
        }
    }
    n_found
}

/// A folder with one file, searched or rewritten as the tools do it.
struct OneFile {
    folder: tempfile::TempDir,
    grammars: Grammars,
}

impl OneFile {
    fn new(name: &str, source: &str) -> OneFile {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), source).unwrap();
        OneFile {
            folder,
            grammars: Grammars::bundled(),
        }
    }

    fn searcher<'a>(&'a self, root: &'a Path) -> Searcher<'a> {
        Searcher {
            grammars: &self.grammars,
            root,
            cache: None,
            full_parse: false,
        }
    }

    fn query(&self, language: &str, text: &str) -> Query {
        let mut query = Query::new(text);
        query.language = Some(language.to_owned());
        query
    }

    fn rewrite(
        &self,
        language: &str,
        text: &str,
        template: &str,
    ) -> Result<Rewritten, SyntaxError> {
        let rewrite = Rewrite {
            query: self.query(language, text),
            template: template.to_owned(),
            allow_syntax_errors: false,
        };
        self.searcher(self.folder.path())
            .rewrite(&rewrite, &Cancel::new())
    }
}

fn nested(open: &str, core: &str, close: &str) -> String {
    format!("{}{core}{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

/// Sources of 200,000 levels, with a language.
fn deep_sources() -> Vec<(&'static str, &'static str, String)> {
    let chain = format!("x{}", ".a()".repeat(LEVELS));
    let sum = format!("x{}", " + x".repeat(LEVELS));
    let power = format!("{}x", "x ** ".repeat(LEVELS));
    vec![
        ("brackets", "javascript", nested("[", "x", "]")),
        ("parentheses", "javascript", nested("(", "x", ")")),
        ("calls", "javascript", nested("f(", "x", ")")),
        ("blocks", "javascript", nested("if(a){", "x", "}")),
        ("signs", "javascript", nested("!", "x", "")),
        ("chain", "javascript", chain.clone()),
        ("sum", "javascript", sum.clone()),
        ("power", "javascript", power.clone()),
        ("arrows", "javascript", nested("a=>", "x", "")),
        ("assignments", "javascript", nested("a=", "x", "")),
        (
            "brackets",
            "python",
            format!("v = {}\n", nested("[", "x", "]")),
        ),
        ("signs", "python", format!("v = {}\n", nested("-", "x", ""))),
        ("chain", "python", format!("{chain}\n")),
        ("power", "python", format!("{power}\n")),
        (
            "blocks",
            "rust",
            format!("fn m() {{ {} }}", nested("if a {", "x", "}")),
        ),
        (
            "elses",
            "rust",
            format!("fn m() {{ {} }}", nested("if a {} else ", "{ x }", "")),
        ),
        (
            "references",
            "rust",
            format!("fn m() {{ {} }}", nested("&", "x", "")),
        ),
        (
            "macro",
            "rust",
            format!("fn m() {{ a!({}); }}", nested("(", "x", ")")),
        ),
        ("chain", "rust", format!("fn m() {{ {chain} }}")),
        (
            "blocks",
            "c",
            format!("void m(void) {{ {} }}", nested("if(a){", "x();", "}")),
        ),
        (
            "signs",
            "c",
            format!("void m(void) {{ v = {}; }}", nested("!", "x", "")),
        ),
        ("chain", "dart", format!("m() {{ {chain}; }}")),
        (
            "brackets",
            "dart",
            format!("var v = {};", nested("[", "x", "]")),
        ),
        ("open", "rust", "(".repeat(LEVELS)),
        ("open", "javascript", "f(".repeat(LEVELS)),
        ("open", "python", "[".repeat(LEVELS)),
        ("open", "c", "{".repeat(LEVELS)),
        ("open", "dart", "{(".repeat(LEVELS)),
    ]
}

// R43, R47, D8, D38: no depth of a source overflows a stack, and none costs the square of its depth.
#[test]
fn deep_sources_are_matched() {
    for (name, language, source) in deep_sources() {
        let extension = languages::by_name(language).unwrap().extensions[0];
        let file = OneFile::new(&format!("a.{extension}"), &source);
        // Parsed once for all patterns.
        let cache = Cache::default();
        let mut searcher = file.searcher(file.folder.path());
        searcher.cache = Some(&cache);
        searcher.full_parse = true;
        for text in [
            "x",
            "f($A)",
            "$A.a()",
            "$A == $A",
            "$A + $B",
            "[$$$A]",
            "f($$$A, $B, $$$C)",
        ] {
            let query = file.query(language, text);
            let what = format!("`{text}` in {name} of {language}");
            match watched(&what, || searcher.search(&query, &Cancel::new())) {
                // Not every fragment is code in every language.
                Ok(_) | Err(SyntaxError::Unparseable { .. }) => {}
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
}

// R47, D8: runs, sequences and blocks over deep bodies.
#[test]
fn deep_bodies_are_matched() {
    let blocks = nested("if(a){", "x;", "}");
    let deep = LEVELS;
    watched("a run in each block", || {
        assert_eq!(count("javascript", "if(a){ $$$ }", &blocks), deep);
    });
    watched("a run after a statement", || {
        assert_eq!(count("javascript", "if(a){ x; $$$B }", &blocks), 1);
    });
    watched("two runs", || {
        assert_eq!(count("javascript", "if(a){\n$$$A\nx;\n$$$B\n}", &blocks), 1);
    });
    watched("a sequence", || {
        count("javascript", "$_;\n$_;", &blocks);
    });
    watched("a sequence with a run", || {
        count("javascript", "$_;\n$$$;\nx;", &blocks);
    });
    let lists = nested("[", "x", "]");
    watched("a run in each list", || {
        assert_eq!(count("javascript", "[$$$]", &lists), deep);
    });
    let equal = nested("g(a == a, ", "x", ")");
    watched("a repeated metavariable", || {
        assert_eq!(count("javascript", "$A == $A", &equal), deep);
    });
    let both = format!("{0} == {0}", nested("!", "x", ""));
    watched("deep equal sides", || {
        assert_eq!(count("javascript", "$A == $A", &both), 1);
    });
    let chain = format!("x{}", ".a()".repeat(LEVELS));
    watched("a chain", || {
        assert_eq!(count("javascript", "$_.a()", &chain), deep);
    });
    let elses = format!("fn m() {{ {} }}", nested("if a {} else ", "{ x }", ""));
    watched("a chain of else", || {
        assert_eq!(count("rust", "if $C {} else { $$$B }", &elses), 1);
    });
}

// D14: the nearest miss is looked for in deep sources too.
#[test]
fn deep_sources_are_hinted_at() {
    for (name, source, text) in [
        ("calls", nested("f(", "x", ")"), "f($A, $B, y)"),
        ("signs", nested("!", "x", ""), "!$A + x"),
        ("lists", nested("[", "x, y", "]"), "[$$$A, $B, $$$C, x, $D]"),
        (
            "blocks",
            format!(
                "let a;{}",
                "{".repeat(100_000) + "x;" + &"}".repeat(100_000)
            ),
            "{ $$$A; y; $$$B; x; }",
        ),
    ] {
        let file = OneFile::new("a.js", &source);
        let report = watched(&format!("hints for {name}"), || {
            file.searcher(file.folder.path())
                .search(&file.query("javascript", text), &Cancel::new())
        });
        assert!(report.unwrap().matches.is_empty(), "{name}");
    }
}

// D11, D16: nested matches are all rewritten, in time and memory that follow the size of the file.
#[test]
fn deep_matches_are_rewritten() {
    let deep = 60_000;
    for (name, open, close, text, template) in [
        ("calls", "neg(", ")", "neg($A)", "not($A)"),
        ("reordered", "neg(1, ", ")", "neg($A, $B)", "neg($B, $A)"),
        (
            "at the end",
            "neg(1, ",
            ")",
            "neg($A, $B)",
            "neg($A, $B, 2)",
        ),
        ("signs", "!", "", "!$A", "~$A"),
        ("precedence", "neg(", ")", "neg($A)", "-$A"),
    ] {
        let levels = if name == "calls" { LEVELS } else { deep };
        let source = format!("{}x{}", open.repeat(levels), close.repeat(levels));
        let file = OneFile::new("a.js", &source);
        let done = watched(name, || file.rewrite("javascript", text, template)).unwrap();
        assert_eq!(done.report.replacements, levels, "{name}");
        assert!(done.report.changes.len() <= 200, "{name}");
        if name == "calls" {
            let expected = nested("not(", "x", ")");
            assert!(done.files[0].bytes_after == expected.as_bytes());
        }
    }
    // Left-deep: all matches begin at the same place.
    let source = format!("x{}", ".a()".repeat(deep));
    let file = OneFile::new("a.js", &source);
    let done = watched("chain", || file.rewrite("javascript", "$A.a()", "$A.b()")).unwrap();
    assert_eq!(done.report.replacements, deep);
    let expected = format!("x{}", ".b()".repeat(deep));
    assert!(done.files[0].bytes_after == expected.as_bytes());
}

// D16: many matches side by side, each with a comment, each put in parentheses.
#[test]
fn many_matches_are_rewritten() {
    let n_lines = 20_000;
    let source = "y = sq(a + b /* c */); // d\n".repeat(n_lines);
    let file = OneFile::new("a.js", &source);
    let done = watched("20,000 matches", || {
        file.rewrite("javascript", "sq($A)", "$A * 2")
    })
    .unwrap();
    assert_eq!(done.report.replacements, n_lines);
    let expected = "y = (a + b) * 2; // d\n".repeat(n_lines);
    assert!(done.files[0].bytes_after == expected.as_bytes());
    let source = format!("f({});\n", "g(1), ".repeat(100_000));
    let file = OneFile::new("a.js", &source);
    let done = watched("a long line", || {
        file.rewrite("javascript", "g($A)", "h($A)")
    })
    .unwrap();
    assert_eq!(done.report.replacements, 100_000);
}

// D16: comments inside nested matches are looked at once each.
#[test]
fn comments_in_deep_matches_are_warned_of() {
    let levels = 50_000;
    let source = format!("{}x{}", "neg(/*c*/ ".repeat(levels), ")".repeat(levels));
    let file = OneFile::new("a.js", &source);
    let done = watched("comments", || {
        file.rewrite("javascript", "neg($A)", "not($A)")
    })
    .unwrap();
    assert_eq!(done.report.replacements, levels);
    assert!(!done.report.warnings.is_empty());
}

// D11: a template that doubles what nests is refused before it fills the memory.
#[test]
fn a_template_that_doubles_is_refused() {
    for template in ["g($A, $A)", "$A || $A"] {
        for levels in [24, 40] {
            let source = format!("{}x{};", "f(".repeat(levels), ")".repeat(levels));
            let file = OneFile::new("a.js", &source);
            let error = watched(template, || file.rewrite("javascript", "f($A)", template))
                .expect_err("its size is the power of its depth");
            assert!(error.to_string().contains("would exceed"), "{error}");
        }
    }
    // Indentation that grows with every level is quadratic in the output, which is refused too.
    let source = nested("f(", "x", ")");
    let file = OneFile::new("a.js", &source);
    let error = watched("indentation", || {
        file.rewrite("javascript", "f($A)", "g(\n  $A\n)")
    })
    .expect_err("its size is the square of its depth");
    assert!(error.to_string().contains("would exceed"), "{error}");
}

// R44, D14, D38: 200,000 levels in a pattern are too long; what is just short enough is read.
#[test]
fn deep_patterns_are_read_or_refused() {
    let grammars = Grammars::bundled();
    for language in ["javascript", "python", "rust", "c", "dart"] {
        let grammar = grammar(&grammars, language);
        for (open, core, close) in [
            ("[", "x", "]"),
            ("(", "$A", ")"),
            ("f(", "$$$A", ")"),
            ("!", "x", ""),
            ("-", "$A", ""),
            ("if(a){", "$$$B", "}"),
            ("", "x", ".a()"),
            ("(", "", ""),
            ("{", "$A", ""),
        ] {
            let what = format!("`{open}{core}{close}` in {language}");
            let long = nested(open, core, close);
            let error = watched(&what, || pattern::compile(grammar, &long, None).err());
            assert!(
                matches!(error, Some(SyntaxError::PatternTooLong { .. })),
                "{what}: {error:?}"
            );
            let levels = 2_000 / (open.len() + close.len());
            let text = format!("{}{core}{}", open.repeat(levels), close.repeat(levels));
            let compiled = watched(&what, || pattern::compile(grammar, &text, None).ok());
            if let Some(compiled) = compiled {
                let source = text
                    .replace("$A", "y")
                    .replace("$$$B", "")
                    .replace("$$$A", "");
                watched(&format!("match {what}"), || {
                    find_in(grammar, &compiled.pattern, source.as_bytes()).unwrap()
                });
            }
        }
    }
}

// D14: explaining a deep pattern shows a bounded tree.
#[test]
fn explaining_a_deep_pattern_is_bounded() {
    let grammars = Grammars::bundled();
    for (language, open, close) in [
        ("javascript", "[", "]"),
        ("javascript", "!", ""),
        ("rust", "&", ""),
        ("python", "f(", ")"),
    ] {
        let grammar = grammar(&grammars, language);
        let levels = 2_000 / (open.len() + close.len());
        let text = format!("{}$A{}", open.repeat(levels), close.repeat(levels));
        let shown = watched(&format!("explain {open}{close} in {language}"), || {
            explain(grammar, &text, Some(Context::Expression)).map(|e| e.to_string())
        })
        .unwrap();
        assert!(shown.len() < 4_000_000, "{} bytes", shown.len());
    }
}

// D14, D38: patterns of thousands of metavariables, in places where no spelling helps.
#[test]
fn patterns_of_many_metavariables_are_read_or_refused() {
    let grammars = Grammars::bundled();
    for language in ["javascript", "python", "rust", "c", "dart"] {
        let grammar = grammar(&grammars, language);
        let distinct: Vec<String> = (0..300).map(|i| format!("$A{i}")).collect();
        let same = vec!["$A"; 1_000];
        let runs = vec!["$$$"; 500];
        for (what, text) in [
            ("distinct", format!("f({})", distinct.join(", "))),
            ("the same", format!("f({})", same.join(", "))),
            ("runs", format!("f({})", runs.join(", "))),
            ("hopeless", format!("f({}", distinct[..100].join(" ) "))),
            ("statements", distinct[..100].join("\n")),
            ("strings", format!("f({})", vec!["\"$A\""; 300].join(", "))),
        ] {
            let what = format!("{what} in {language}");
            let compiled = watched(&what, || pattern::compile(grammar, &text, None).ok());
            if let Some(compiled) = compiled {
                watched(&format!("match {what}"), || {
                    find_in(grammar, &compiled.pattern, b"f(1, 2, 3)").unwrap()
                });
            }
        }
    }
}

// R47, D8: runs and metavariables over long lists take polynomial time, and find what is there.
#[test]
fn long_lists_are_matched() {
    let n = 10_000;
    let distinct: Vec<String> = (0..n).map(|i| format!("a{i}")).collect();
    let list = distinct.join(", ");
    let source = format!("f({list});");
    for (text, expected) in [
        ("f($$$A)", 1),
        ("f($$$A, $X, $$$B)", 1),
        ("f($$$A, $X, $$$B, $Y, $$$C)", 1),
        ("f($$$A, a9999)", 1),
        ("f($$$A, a9998)", 0),
        ("f($$$A, a5, $$$B, a9000, $$$C)", 1),
        ("f($$$A, a9000, $$$B, a5, $$$C)", 0),
        ("f($$$A, b, $$$B, b, $$$C, b, $$$D)", 0),
    ] {
        watched(text, || {
            assert_eq!(count("javascript", text, &source), expected, "{text}");
        });
    }
    // Where something repeats, every pair is compared.
    let list = distinct[..1_000].join(", ");
    let source = format!("f({list});");
    for text in [
        "f($$$A, $X, $$$B, $X, $$$C)",
        "f($$$A, $$$A)",
        "f($$$A, $X, $$$B, $X, $$$C, $X, $$$D)",
        "f($$$A, $X, $$$B, $Y, $$$C, nope, $$$D)",
    ] {
        watched(text, || {
            assert_eq!(count("javascript", text, &source), 0, "{text}");
        });
    }
    let twice = format!("f({list}, a7);");
    watched("a pair", || {
        assert_eq!(
            count("javascript", "f($$$A, $X, $$$B, $X, $$$C)", &twice),
            1
        );
    });
    let late = format!("f({list}, a990);");
    watched("a late pair", || {
        assert_eq!(count("javascript", "f($$$A, $X, $$$B, $X, $$$C)", &late), 1);
    });
    let same = format!("f({});", vec!["a"; 300].join(", "));
    watched("all the same", || {
        assert_eq!(
            count("javascript", "f($$$A, $X, $$$B, $X, $$$C, b)", &same),
            0
        );
    });
    let file = OneFile::new("a.js", &source);
    let report = watched("a near miss", || {
        let query = file.query("javascript", "f($$$A, b, $$$B, $X, $$$C, $X, $$$D)");
        file.searcher(file.folder.path())
            .search(&query, &Cancel::new())
    });
    assert!(report.unwrap().matches.is_empty());
}

// D15, R51: a file of one long line; positions of all its matches.
#[test]
fn one_long_line_is_searched() {
    let statement = "var a=f(1,\"é\");";
    let n = 5_000_000 / statement.len();
    let source = statement.repeat(n);
    let file = OneFile::new("a.js", &source);
    let mut query = file.query("javascript", "f($A, $B)");
    let searcher = file.searcher(file.folder.path());
    let report = watched("the first 50", || searcher.search(&query, &Cancel::new())).unwrap();
    assert_eq!(report.matches.len(), 50);
    assert!(report.truncated);
    assert_eq!(report.matches[1].column, statement.chars().count() + 7);
    query.max_results = 5_000;
    let report = watched("the first 5,000", || {
        searcher.search(&query, &Cancel::new())
    })
    .unwrap();
    assert_eq!(report.matches.len(), 5_000);
    let last = &report.matches[4_999];
    assert_eq!(last.column, 4_999 * statement.chars().count() + 7);
    assert!(
        report
            .matches
            .iter()
            .all(|m| m.lines[0].text.chars().count() < 300)
    );
    // Many lines, and matches on each.
    let lines = "var a = f(1, 2);\n".repeat(50_000);
    let file = OneFile::new("a.js", &lines);
    query.max_results = 50_000;
    let report = watched("50,000 lines", || {
        file.searcher(file.folder.path())
            .search(&query, &Cancel::new())
    })
    .unwrap();
    assert_eq!(report.matches.last().unwrap().line, 50_000);
}

// D15: nested matches do not make the answer the square of the source.
#[test]
fn answers_over_nested_matches_are_bounded() {
    let file = OneFile::new("a.js", &nested("f(", "x", ")"));
    let mut query = file.query("javascript", "f($A)");
    query.max_results = 2_000;
    let report = watched("nested answers", || {
        file.searcher(file.folder.path())
            .search(&query, &Cancel::new())
    })
    .unwrap();
    assert_eq!(report.matches.len(), 2_000);
    assert!(report.matches.iter().all(|m| m.text.len() < 20_000));
}
