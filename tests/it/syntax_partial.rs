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
fn arms(a: Option<u32>) {
    match a { Some(b) => { if b { // a comment that is long enough to be left out of the first parse
    } } Some(c) => c, None => call(a, "a long enough line of text to be left out of the first"), }
}

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
    (void) a;
    do a = another_long_name_of_a_function(a); while (a < 10); if (a) first(a); else second(a);
    switch (a) { case 1: a = long_name_of_a_function_one(a); break; default: a = first(a); return a; }
    return first(a);
}
#ifdef DEBUG
static void dump(int a) { puts("dumped with a text that is long enough"); }
#else
#define dump(a)
#endif
"##;

const PYTHON: &str = r##"
class Thing(Base):
    """Doc with if x: in it, and long enough to be left out of the first parse."""

    field = compute_a_long_value(of_a_class, "if a: b", with_more_text_than_needed)

    # A comment before the method, long enough to be left out as well.
    @decorated
    def plain(self): return self.value_of_some_long_name + 1

    def method(self, a=("x", "if y: z")):  # after the colon
        # first comment
        if a:
            one(a, "a text that is long enough to be left out"); two(a)
            # last comment of the body
        elif b:
            three(a, "a text that is long enough to be left out")
            four(a)

            # after a blank line
        # comment before else
        else:
            if c: five(a)
            try:
                six(a, "a text that is long enough to be left out")
            except (KeyError, ValueError):
                a = 1
                b = compute(a, "a text that is long enough to be left out of it")
            finally:
                c = 1
                seven(a, "a text that is long enough to be left out")
        for x in a:
            while x:
                x = step(x, "a text that is long enough to be left out")
                x = \\
                    again(x)  # and a comment at its end
            else:
                done(x, "a text that is long enough to be left out")
        if last:
            return (
                a,
                b,
            )  # the end
        # trailing comment of the method


async def run(a):
    async with open(a) as b:
        await first(b, "a text that is long enough to be left out of it")
    if a:
        x = '''
if not_code:
    nothing
'''
    if b:
        pass;
    match a:
        case 1:
            eight(a, "a text that is long enough to be left out of it")
        case _:
            if a:
                nine(a, "a text that is long enough to be left out of it")
    return a
if __name__ == "__main__":
    run(1)"##;

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
const same = call(function() { one("a text that is long enough to be left out"); a === b; }) === call(function() {
    one("a text that is long enough to be left out"); a === b; });
const other = call(function() { one("a text that is long enough to be left out"); a === b; }) === call(function() {
    two("a text that is long enough to be left out"); a === b; });
const arrow = (a, b) => { return a == b || a >= b || step(a, b, "a text that is long enough to be left out"); };
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
class Switches {
    int first(int a) {
        switch (a) {
            case 1: one(a, "a text that is long enough to be left out"); two(a); return a;
            case 2: return three(a, "a text that is long enough to be left out of it");
            default: a = 1; four(a, "a text that is long enough to be left out of it"); break;
        }
        return 0;
    }
}

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
void apply(Map changes, List deps) {
  if (changes.isEmpty) {
    one(changes, 'a text that is long enough to be left out of it');
  }
  (changes[deps] ??= {})[deps] = two(deps, 'a text that is long enough');
  while (deps.isNotEmpty) {
    three(deps, 'a text that is long enough to be left out of it');
  }
  (deps as List).clear();
}

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
            "Some($X) => $X",
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
            "#ifdef DEBUG\n    puts(\"debug\");\n#endif",
            "#ifdef DEBUG\nstatic void dump(int a) { puts(\"dumped with a text that is long enough\"); }\n#else\n#define dump(a)\n#endif",
            "static int first($$$A) { $$$B }",
            "int second($A) { $$$B }",
            "f()",
            "void",
            "$T $F() { $$$B }",
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
        "python",
        "a.py",
        PYTHON,
        &[
            "if $C: $$$B",
            "if $C:\n    $$$A\nelif $D:\n    $$$B\nelse:\n    $$$E",
            "def $F($$$A): $$$B",
            "async def $F($$$A): $$$B",
            "class $C($$$A): $$$B",
            "for $X in $Y: $$$B",
            "while $C:\n    $$$A\nelse:\n    $$$B",
            "try:\n    $$$A\nexcept $E:\n    $$$B\nfinally:\n    $$$C",
            "except $E: $$$B",
            "finally: $$$B",
            "return $X",
            "return",
            "$F($$$A)",
            "field = $X",
            "nine($$$A)",
            "$F()",
            "...",
            "pass",
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
            "$A === $A",
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
            "case $X: $$$B",
            "case $X: return $Y;",
            "default: $$$B",
        ],
    ),
    (
        "dart",
        "a.dart",
        DART,
        &[
            "setState(() { $$$B })",
            "await $X",
            "if ($C) { $$$B }",
            "while ($C) { $$$B }",
            "if ($C) $$$B",
            "$X = $Y",
        ],
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

/// What only a stand-in for something left out could match.
const NOWHERE: &[&str] = &["return", "f()", "$T $F() { $$$B }", "...", "pass", "$F()"];

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
                assert!(
                    !truth.matches.is_empty() || NOWHERE.contains(pattern),
                    "{language}: {pattern}"
                );
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

/// What is written in a part of a file that the grammar cannot read as a whole.
const BROKEN_C: &str = r##"
JEMALLOC_INLINE arena_t *
choose(tsd_t *tsd, arena_t *arena) {
    if (arena != NULL) { puts("a line that is long enough to be left out of it"); return arena; }
    return (va_arg(ap, char *) + a);
}

#ifdef __cplusplus
extern "C" {
#endif

int second(int a) {
    puts("a line that is long enough to be left out of it");
    if (a) { return a + 1; }
    switch (a) {
    case 1: puts("a line that is long enough to be left out of it"); puts("more"); break;
    default: return a ? second(a) : 0;
    }
}
"##;

// R43, D15: an error in one unit does not hide what stands in the others, and the same question has the
// same answer whatever was asked before.
#[test]
fn units_beside_an_error_are_read() {
    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("a.c"), BROKEN_C).unwrap();
    assert!(!searcher(&grammars, root, None).reads_without_errors("c", &root.join("a.c")));
    let cache = Cache::default();
    let patterns = ["return $X;", "if ($C) { $$$B }", "puts($X)", "second($X)"];
    for pattern in patterns.iter().chain(&patterns) {
        let cold = search(&searcher(&grammars, root, None), "c", pattern);
        let warm = search(&searcher(&grammars, root, Some(&cache)), "c", pattern);
        assert_eq!(lines(&cold), lines(&warm), "{pattern}");
    }
    let lines_of = |pattern| -> Vec<usize> {
        let report = search(&searcher(&grammars, root, None), "c", pattern);
        report.matches.iter().map(|m| m.line).collect()
    };
    assert_eq!(lines_of("return $X;"), [4, 5, 14, 17]);
    assert_eq!(lines_of("if ($C) { $$$B }"), [4, 14]);
    assert_eq!(lines_of("second($X)"), [17]);
    assert_eq!(lines_of("case 1: $$$B"), [16]);
}

/// The overloads have no semicolons between them, which the grammar does not know.
#[cfg(feature = "all-languages")]
const BROKEN_TS: &str = r##"
export const dual: {
  <A extends Rest>(arity: number, body: A): (...args: Array<any>) => A
  <A extends Rest>(isFirst: (args: IArguments) => boolean, body: A): A
} = function(arity, body) {
  if (typeof arity === "function") {
    return function(this: any) { return arity(arguments) ? body.apply(this, arguments) : later(body) }
  }
  return one(arity, body)
}

export function two(value: number) {
  if (value > 2) {
    stop(value, "a line that is long enough to be left out")
  }
  return value
}
"##;

// R43, R59, D16: a match that only a part of the file shows is found, and said not to be rewritten.
#[cfg(feature = "all-languages")]
#[test]
fn a_match_that_an_error_hides_from_a_rewrite_is_said() {
    use toolbox::syntax::rewrite::Rewrite;

    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.ts"), BROKEN_TS).unwrap();
    let searcher = searcher(&grammars, folder.path(), None);
    let found = search(&searcher, "typescript", "if ($C) { $$$B }");
    let found: Vec<usize> = found.matches.iter().map(|m| m.line).collect();
    assert_eq!(found, [6, 13]);
    let rewrite = Rewrite {
        query: Query {
            language: Some("typescript".to_owned()),
            ..Query::new("if ($C) { $$$B }")
        },
        template: "while ($C) { $$$B }".to_owned(),
        allow_syntax_errors: false,
    };
    let report = searcher.rewrite(&rewrite, &Cancel::new()).unwrap().report;
    assert_eq!((report.matched, report.replacements), (2, 1));
    assert_eq!(
        report.warnings,
        ["a.ts:6: the match is not rewritten: the grammar finds syntax errors around it"]
    );
}

// D15: what only seems to match in a part of a file takes no place from what does match.
#[test]
fn seeming_matches_do_not_count_against_the_cap() {
    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().unwrap();
    let call = |a: &str, b: &str| {
        let body = |name: &str| {
            format!("function() {{ {name}(\"a text that is long enough to be left out\"); }}")
        };
        format!("run({}, {});\n", body(a), body(b))
    };
    let mut source = call("one", "two").repeat(20);
    source.push_str(&call("three", "three").repeat(3));
    std::fs::write(folder.path().join("a.js"), source).unwrap();
    let searcher = searcher(&grammars, folder.path(), None);
    for (max, truncated) in [(2, true), (3, false)] {
        let query = Query {
            language: Some("javascript".to_owned()),
            max_results: max,
            ..Query::new("run($X, $X)")
        };
        let report = searcher.search(&query, &Cancel::new()).unwrap();
        assert_eq!((report.shown, report.truncated), (max, truncated));
    }
}

// D15: what a search leaves in the cache answers the next one whatever its cap, its pattern, and the file's state,
// also where there is room for no tree.
#[test]
fn what_the_cache_knows_changes_no_answer() {
    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    let call = |n: usize| format!("#[a]\nfn f{n}() {{ g({n}); h({n}, {n}) }}\n");
    let write = |n_calls: usize| std::fs::write(&file, (0..n_calls).map(call).collect::<String>());
    for limit in [0, 2_000, usize::MAX] {
        write(20).unwrap();
        let cache = Cache::with_limit(limit);
        let searcher = searcher(&grammars, folder.path(), Some(&cache));
        let found = |pattern: &str, max_results: usize| {
            let query = Query {
                language: Some("rust".to_owned()),
                max_results,
                ..Query::new(pattern)
            };
            let report = searcher.search(&query, &Cancel::new()).unwrap();
            let captures: Vec<_> = report.matches.into_iter().map(|m| m.captures).collect();
            assert_eq!(captures.len(), report.shown);
            (captures, report.truncated, report.hint)
        };
        for (max, n_found) in [(3, 3), (2, 2), (19, 19), (20, 20), (99, 20), (1, 1)] {
            let (captures, truncated, _) = found("g($X)", max);
            let numbers: Vec<String> = captures.iter().map(|c| c["X"].clone()).collect();
            let expected: Vec<String> = (0..n_found).map(|n| n.to_string()).collect();
            assert_eq!((numbers, truncated), (expected, max < 20), "{limit} {max}");
        }
        // The same tokens with other names, a run for a node, and no match with the tokens all there.
        assert_eq!(found("h($X, $X)", 99).0.len(), 20);
        assert_eq!(found("h($X, $Y)", 99).0[1].len(), 2);
        assert_eq!(found("h($X)", 99).0.len(), 0);
        assert_eq!(found("h($$$X)", 99).0.len(), 20);
        for _ in 0..2 {
            let (captures, _, hint) = found("fn f3() { $$$B }", 99);
            assert!(captures.is_empty() && hint.is_some(), "{limit} {hint:?}");
        }
        write(5).unwrap();
        assert_eq!(found("g($X)", 99).0.len(), 5, "{limit}");
        assert!(cache.bytes() <= limit);
    }
}
