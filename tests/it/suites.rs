//! Bodies that end with their indentation: what is parsed without the statements around it answers as the whole
//! file does.

use std::fmt::Write as _;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use toolbox::cancel::Cancel;
use toolbox::syntax::Grammars;
use toolbox::syntax::cache::Cache;
use toolbox::syntax::search::{Query, Searcher};

/// Statements of one logical line; `{}` is the indentation of the line.
const SIMPLE: &[&str] = &[
    "return x",
    "return (a,\n   b  # if c: d\n)",
    "x = a if b else c",
    "x = [a for a in b if c]",
    "x = x",
    "print(a); return b",
    "raise E(a) from b",
    "\"\"\"Text that says\n  if a: return b\n\"\"\"",
    "f\"\"\"{a if b else c} return\"\"\"",
    "'if a: b'",
    "assert a, 'return'",
    "pass;",
    "import a.b as c",
    "from a import (b,\nc)",
    "x = \\\n  yield_it(a)",
    "match(x)",
    "case[x]: y = 1",
    "print(lambda: a)",
    "del a[0]  # return",
];

/// Headers and the clauses that may go on with them.
const COMPOUND: &[(&str, &[&str])] = &[
    ("if a:", &["elif b:", "else:"]),
    ("if b:", &["elif a:", "else:"]),
    ("if c:", &[]),
    ("for x in c:", &["else:"]),
    ("if (a and\n  b):", &["else:"]),
    ("for a in b:", &["else:"]),
    ("while a:", &[]),
    ("try:", &["except E as a:", "else:", "finally:"]),
    ("with a as b, c:", &[]),
    ("def f(a, b=c):", &[]),
    ("async def g(self):", &[]),
    ("class A(B):", &[]),
    ("@a.b(c)\n{}def f(a):", &[]),
    ("@a\n{}class A:", &[]),
    ("match a:", &[]),
];

const COMMENTS: &[&str] = &["# return x", "# if a: b", "#"];

/// Mostly the same, so that what stands side by side may be taken for one body.
const INDENTATIONS: &[&str] = &["    ", "    ", "    ", "    ", "  ", "\t", " "];

const PATTERNS: &[&str] = &[
    "return $X",
    "if $C: $$$B",
    "if $C: return $X",
    "for $A in $B: $$$C",
    "def $F($$$A): $$$B",
    "class $C($$$A): $$$B",
    "while $C: $$$B",
    "with $$$A: $$$B",
    "print($$$A)",
    "$X = $X",
    "raise $E from $F",
    "$A if $B else $C",
    "assert $A, 'return'",
    "case $P: $$$B",
    "import $X",
    "0",
    "if 0: $$$B",
];

/// Writes a program as a list of choices says, which runs out sooner or later.
struct Writer<'a> {
    choices: std::slice::Iter<'a, u8>,
    text: String,
}

impl Writer<'_> {
    /// One of some; the first when there are no choices left.
    fn one_of(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |choice| *choice as usize % n)
    }

    fn body(&mut self, indentation: &str, depth: usize, cases: bool) {
        let n_statements = 1 + self.one_of(4);
        for _ in 0..n_statements {
            if self.one_of(4) == 3 {
                // At any indentation, also one that no statement has.
                let comment = COMMENTS[self.one_of(COMMENTS.len())];
                let at = self.one_of(indentation.len() + 3);
                let _ = writeln!(self.text, "{}{comment}", " ".repeat(at));
            }
            if self.one_of(6) == 5 {
                self.text.push_str("  \n\n");
            }
            if cases {
                self.statement("case [a, 1]:", indentation, depth);
            } else if depth < 5 && self.choices.len() > 0 && self.one_of(2) == 1 {
                let (header, clauses) = COMPOUND[self.one_of(COMPOUND.len())];
                self.statement(header, indentation, depth);
                let is_try = header == "try:";
                for (at, clause) in clauses.iter().enumerate() {
                    if is_try && at == 0 || self.one_of(2) == 1 {
                        self.statement(clause, indentation, depth);
                    }
                }
            } else {
                let simple = SIMPLE[self.one_of(SIMPLE.len())];
                let _ = writeln!(self.text, "{indentation}{simple}");
            }
        }
    }

    fn statement(&mut self, header: &str, indentation: &str, depth: usize) {
        let header = header.replace("{}", indentation);
        let _ = write!(self.text, "{indentation}{header}");
        let is_match = header == "match a:";
        match self.one_of(5) {
            4 if !is_match => {
                self.text.push_str(" return x  # why\n");
                return;
            }
            3 => self.text.push_str("  # if b: c\n"),
            _ => self.text.push('\n'),
        }
        let deeper = INDENTATIONS[self.one_of(INDENTATIONS.len())];
        self.body(&format!("{indentation}{deeper}"), depth + 1, is_match);
    }
}

fn program(choices: &[u8]) -> String {
    let mut writer = Writer {
        choices: choices.iter(),
        text: String::new(),
    };
    while writer.choices.len() > 0 {
        writer.body("", 0, false);
    }
    if choices.last().is_some_and(|last| last % 3 == 0) {
        writer.text.truncate(writer.text.trim_end().len());
    }
    writer.text
}

/// How a file is read: whole, or in part, beside what earlier patterns left in a cache.
#[derive(Clone, Copy)]
enum How<'a> {
    Whole,
    InPart(Option<&'a Cache>),
}

type Found = Vec<(usize, usize, Vec<String>)>;

fn found(grammars: &Grammars, root: &Path, pattern: &str, how: How<'_>) -> Found {
    let searcher = Searcher {
        grammars,
        root,
        cache: match how {
            How::InPart(cache) => cache,
            How::Whole => None,
        },
        full_parse: matches!(how, How::Whole),
    };
    let query = Query {
        language: Some("python".to_owned()),
        max_results: usize::MAX,
        ..Query::new(pattern)
    };
    let report = searcher.search(&query, &Cancel::new()).expect("a pattern");
    let matches = report.matches.into_iter().map(|m| {
        let captured = m.captures.into_values().chain(m.runs.into_values());
        (m.start_byte, m.end_byte, captured.collect())
    });
    matches.collect()
}

/// Two bodies of one statement, in which what is left has one indentation and nothing around it.
const SIDE_BY_SIDE: &str = "\
def f(self, c, d):
    for i in c:
        if a:
            for s in c:
                if s in d:
                    g(s)
        elif b:
            z = compute_something_that_is_left_out(1)
            for t in c:
                if t:
                    g(t)
            if e:
                raise Error(\"text\")
        else:
            raise Error(\"text\")
";

// D15: what is left of one clause is not taken for the end of the one before.
#[test]
fn clauses_part_what_is_left_in_their_bodies() {
    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.py"), SIDE_BY_SIDE).expect("writable");
    for pattern in PATTERNS {
        let truth = found(&grammars, folder.path(), pattern, How::Whole);
        let partly = found(&grammars, folder.path(), pattern, How::InPart(None));
        assert_eq!(partly, truth, "{pattern}");
    }
    let n_ifs = found(&grammars, folder.path(), "if $C: $$$B", How::InPart(None)).len();
    assert_eq!(n_ifs, 3);
}

// D15: every answer is that of a full parse, whatever the layout, captures included.
#[test]
fn statements_without_those_around_them_answer_as_the_whole_file() {
    let grammars = Grammars::bundled();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.py");
    let config = ProptestConfig {
        cases: 80,
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let readable = std::cell::Cell::new(0);
    let n_found = std::cell::RefCell::new(vec![0; PATTERNS.len()]);
    proptest!(config, |(choices in vec(any::<u8>(), 10..400), crlf in any::<bool>())| {
        let mut source = program(&choices);
        if crlf {
            source = source.replace('\n', "\r\n");
        }
        std::fs::write(&file, &source).expect("writable");
        let searcher = Searcher { grammars: &grammars, root: folder.path(), cache: None, full_parse: false };
        if !searcher.reads_without_errors("python", &file) {
            return Ok(());
        }
        readable.set(readable.get() + 1);
        let cache = Cache::default();
        for (at, pattern) in PATTERNS.iter().enumerate() {
            let truth = found(&grammars, folder.path(), pattern, How::Whole);
            let partly = found(&grammars, folder.path(), pattern, How::InPart(None));
            n_found.borrow_mut()[at] += truth.len();
            prop_assert_eq!(&partly, &truth, "{} in\n{}", pattern, source);
            // What is parsed then holds what the patterns before needed, too.
            let beside = found(&grammars, folder.path(), pattern, How::InPart(Some(&cache)));
            prop_assert_eq!(beside, truth, "{} after others in\n{}", pattern, source);
        }
    });
    // Programs that the grammar refuses would show nothing, and so would patterns without a match. Some three of
    // five are read; so few as here are never read by chance.
    assert!(readable.get() > 10, "{}", readable.get());
    let none: Vec<&str> = (PATTERNS.iter().zip(n_found.borrow().iter()))
        .filter(|(_, n)| **n == 0)
        .map(|(pattern, _)| *pattern)
        .collect();
    assert!(none.iter().all(|p| p.contains('0')), "{none:?}");
}
