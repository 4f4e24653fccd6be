//! Answers that come from a part of a file equal those of a full parse, captures included.
//!
//! Bodies are left out of the first parse, so each of these cases gives wrong or empty runs when what
//! stands in the bodies is not looked at again.

use std::path::Path;

use toolbox::cancel::Cancel;
use toolbox::syntax::Grammars;
use toolbox::syntax::cache::Cache;
use toolbox::syntax::report::SearchReport;
use toolbox::syntax::search::{Query, Searcher};

const RUST: &str = r##"
/// Has `fn inner() { }` in a comment.
fn outer(a: u32) {
    // fn not_this() { }
    let text = "fn quoted() { }"; let raw = r#"} fn raw() { "#;
    fn inner(b: u32) { first(b); second(b); third(b, '{', "a long enough line of text"); }
    let closure = |x: u32| { one(x); two(x).unwrap(); three(x, "another long line of text") };
    vec![1, 2, 3].iter().for_each(|x| { println!("{x} {{}}"); call(*x); /* end */ });
    macro_call! { fn in_macro() { a(); b(); c(); d(); e(); f(); g(); h(); i(); j(); } }
    // last comment
}

impl Thing {
    fn method(c: u32) { /* only a comment, and one that is long enough to be left out of it all */ }
    fn matching(c: u32) {
        match c { 1 => { aaaa(); bbbb(); cccc(); dddd(); eeee(); } _ => { ffff(); gggg(); hhhh(); } }
        unsafe { read_something_from(memory, at, a, place); write_something_to(memory, at, it) }
        loop { unsafe { nested_read_of_memory(at, another, place, with, many, arguments); } break; }
    }
}
struct Fields { first: Vec<u32>, second: Vec<u32>, third: Vec<u32>, fourth: Vec<u32>, }
"##;

const C: &str = r##"
#include <stdio.h>
static int first(int a) { /* first */ if (a) { puts("if (b) { }"); puts("more than enough text"); } return a; }
int second(int a) {
    if (a == 1) { do_this(a); do_that(a); do_something_else(a, "with some text in it"); } else { other(); }
    while (a) { a = step_of_the_loop(a, "a text that is long enough to be left out"); if (a) { break; } }
#ifdef DEBUG
    if (a == 2) { puts("directives stand around this one"); puts("so it is read with care"); }
#endif
    if (a == 3) {
        puts("a directive stands at the end of this body, after enough of text");
#ifdef DEBUG
        puts("debug");
#endif
    }
    do a = another_long_name_of_a_function(a); while (a < 10); if (a) first(a); else second(a);
    switch (a) { case 1: a = long_name_of_a_function_one(a); break; default: a = first(a); return a; }
    return first(a);
}
"##;

#[cfg(feature = "all-languages")]
const GO: &str = r##"
package p

func first(a int) {
	// a comment before
	call(a); other(a, "func quoted() { }")
	last(a, `raw } text`) // after
}

func second(a int) {
	f := func(b int) { inner(b); inner(b); inner(b, "some long text in here"); inner(b) }
	if err != nil {
		return wrap(err, "if err != nil { }", "and more text that makes it long");
	}
	if err != nil { f(1); f(2); f(3, "and a text that is long enough to matter here"); f(4) }
	defer f.Close()
}
"##;

const JS: &str = r##"
function first(a) { // c
  const t = `function ${function quoted(b) { return b + "a text that is long enough" }} () {`;
  if (a) { one(a); two(a, /[{]/); three(a, "if (b) { }", "and some more of it all"); }
  return a
}
class Thing { method(a) { if (a) { this.first(a); this.second(a); this.third(a, 'long text') } } }
const f = (a) => { call(a); call(a); if (a) { return [a, a, "this is a text of many words"]; } call(b) };
if (a) { f({ a: 1, b: 2, function: 3 }); f("the last statement has no semicolon here") }
else { other("and here is the clause that belongs to it") }
"##;

#[cfg(feature = "all-languages")]
const JAVA: &str = r##"
class Thing<T> {
    int count; // fields
    void first(int a) { if (a == 1) { one(); two(); three("if (b) { }", "more than enough text"); } }
    void second(int a) {
        try { open(); read("some text that is long enough to be left out"); } catch (Error e) { log(e); }
        Runnable r = () -> { if (a == 2) { four(); five("this one is inside of a lambda"); } };
        throw new Error("unreachable");
    }
}
"##;

const DART: &str = r##"
class Thing extends Base {
  void first(int a) { // c
    setState(() { count = count + 1; other = '${count} setState(() { })'; third = "long enough"; });
  }
  Future<void> second() async { await call(1); await call(2); await call('a text of some length'); }
}
"##;

const CASES: &[(&str, &str, &str, &[&str])] = &[
    (
        "rust",
        "a.rs",
        RUST,
        &[
            "fn $F($$$A) { $$$B }",
            "|$A| { $$$B }",
            "unsafe { $$$B }",
            "loop { $$$B }",
            "match $X { $$$A }",
            "impl $T { $$$B }",
            "struct $S { $$$F }",
            "$X.unwrap()",
        ],
    ),
    (
        "c",
        "a.c",
        C,
        &[
            "if ($C) { $$$B }",
            "while ($C) { $$$B }",
            "return $X;",
            "if ($C) $S else $T",
            "if ($C) $S",
            "do $S while ($C);",
            "case $A: $$$B",
            "first($A)",
        ],
    ),
    #[cfg(feature = "all-languages")]
    (
        "go",
        "a.go",
        GO,
        &[
            "func $F($$$A) { $$$B }",
            "if $E != nil { $$$B }",
            "defer $X.Close()",
        ],
    ),
    (
        "javascript",
        "a.js",
        JS,
        &[
            "if ($C) { $$$B }",
            "function $F($$$A) { $$$B }",
            "($A) => { $$$B }",
            "return $X",
            "class $C { $$$B }",
        ],
    ),
    #[cfg(feature = "all-languages")]
    (
        "java",
        "A.java",
        JAVA,
        &[
            "if ($C) { $$$B }",
            "try { $$$A } catch ($E $N) { $$$B }",
            "void $M($$$P) { $$$B }",
            "throw new $E($$$A);",
        ],
    ),
    (
        "dart",
        "a.dart",
        DART,
        &["setState(() { $$$B })", "await $X"],
    ),
];

fn search(searcher: &Searcher<'_>, language: &str, pattern: &str) -> SearchReport {
    let query = Query {
        language: Some(language.to_owned()),
        max_results: usize::MAX,
        ..Query::new(pattern)
    };
    searcher.search(&query, &Cancel::new()).unwrap()
}

fn lines(report: &SearchReport) -> Vec<String> {
    let line = |m: &toolbox::syntax::report::MatchReport| {
        format!(
            "{} {}..{} {:?} {:?}",
            m.file, m.start_byte, m.end_byte, m.captures, m.runs
        )
    };
    report.matches.iter().map(line).collect()
}

fn searcher<'a>(grammars: &'a Grammars, root: &'a Path, cache: Option<&'a Cache>) -> Searcher<'a> {
    Searcher {
        grammars,
        root,
        cache,
        full_parse: false,
    }
}

// D15: a search of parts answers as a full parse does; D8, D13: runs reach from their first to their
// last element.
#[test]
fn parts_of_a_file_answer_as_the_whole() {
    let grammars = Grammars::bundled();
    for (language, name, source, patterns) in CASES {
        let folder = tempfile::tempdir().unwrap();
        for source in [source.to_string(), source.replace('\n', "\r\n")] {
            std::fs::write(folder.path().join(name), source).unwrap();
            let root = folder.path();
            let whole = Searcher {
                full_parse: true,
                ..searcher(&grammars, root, None)
            };
            let cache = Cache::default();
            for pattern in *patterns {
                let truth = search(&whole, language, pattern);
                assert!(!truth.matches.is_empty(), "{language}: {pattern}");
                let part = search(&searcher(&grammars, root, None), language, pattern);
                assert_eq!(lines(&part), lines(&truth), "{language}: {pattern}");
                // Trees that earlier patterns left in the cache change nothing.
                for _ in 0..2 {
                    let cached = searcher(&grammars, root, Some(&cache));
                    let cached = search(&cached, language, pattern);
                    assert_eq!(
                        lines(&cached),
                        lines(&truth),
                        "cached {language}: {pattern}"
                    );
                }
            }
        }
    }
}
