//! Parsers on outputs that real checkers wrote, and the report.

use std::path::{Path, PathBuf};

use super::formats::{Finding, Format};
use super::table::{Columns, TABLE};
use super::*;

fn parsed(format: Format, output: &str) -> Vec<String> {
    let findings = format.parse(output, Path::new("/w"), Path::new("/w/marker"));
    findings.iter().map(shown).collect()
}

fn shown(finding: &Finding) -> String {
    format!(
        "{}:{}:{} {} {} {}",
        finding.path.display(),
        finding.line,
        finding.column,
        finding.severity,
        finding.code.as_deref().unwrap_or("-"),
        finding.message.replace('\n', " / ")
    )
}

// D3: a row has markers, checkers with a way to run and names of their own.
#[test]
fn every_row_of_the_table_is_whole() {
    let mut markers: Vec<&str> = Vec::new();
    for row in TABLE {
        assert!(!row.markers.is_empty() && !row.checkers.is_empty());
        assert!(!row.endings.is_empty() && !row.language.is_empty());
        markers.extend(row.markers);
        for checker in row.checkers {
            assert!(!checker.id.is_empty());
            let needs_program = checker.run != How::CompileCommands;
            assert_eq!(needs_program, !checker.program.is_empty(), "{}", checker.id);
            // Whatever a checker writes, its parser gives an answer.
            for noise in [
                "",
                "{",
                "[",
                "a:1",
                "x(1",
                "|||||||",
                "a:1:1: error",
                "\u{1F600}:1:2: ",
            ] {
                checker
                    .format
                    .parse(noise, Path::new("/w"), Path::new("/w/m"));
            }
        }
    }
    let all = markers.len();
    markers.sort();
    markers.dedup();
    assert_eq!(markers.len(), all, "a marker belongs to one row");
}

#[test]
fn cargo_messages() {
    let output = include_str!("../../../testdata/lsp-checkers/cargo.jsonl");
    assert_eq!(
        parsed(Format::Cargo, output),
        [
            "/w/src/main.rs:3:18 error E0308 mismatched types / expected `u32`, found `&str`",
            "/w/src/main.rs:2:9 warning unused_variables unused variable: `unused`",
            "/w/src/main.rs:6:5 error - cannot find macro `nope` in this scope",
        ]
    );
}

#[test]
fn dart_machine_lines() {
    let output = "\
ERROR|COMPILE_TIME_ERROR|UNDEFINED_IDENTIFIER|/w/lib/a\\|b.dart|3|7|4|Undefined name 'x\\\\y'.
INFO|HINT|UNUSED_IMPORT|/w/lib/a.dart|1|8|9|Unused import.
WARNING|STATIC_WARNING|DEAD_CODE|/w/lib/a.dart|9|1|2|Dead code.
Analyzing w...
";
    assert_eq!(
        parsed(Format::DartMachine, output),
        [
            "/w/lib/a|b.dart:3:7 error undefined_identifier Undefined name 'x\\y'.",
            "/w/lib/a.dart:9:1 warning dead_code Dead code.",
        ]
    );
}

#[test]
fn tsc_lines() {
    let output = "\
a (1).ts(1,7): error TS2322: Type '{ a: string; }' is not assignable to type '{ a: number; }'.
  Types of property 'a' are incompatible.
sub/b.ts(2,41): error TS2339: Property 'foo' does not exist on type 'number'.
error TS18003: No inputs were found in config file '/w/tsconfig.json'.
Found 3 errors.
";
    assert_eq!(
        parsed(Format::Tsc, output),
        [
            "/w/a (1).ts:1:7 error TS2322 Type '{ a: string; }' is not assignable to type \
             '{ a: number; }'. /   Types of property 'a' are incompatible.",
            "/w/sub/b.ts:2:41 error TS2339 Property 'foo' does not exist on type 'number'.",
            "/w/marker:0:0 error TS18003 No inputs were found in config file '/w/tsconfig.json'.",
        ]
    );
}

#[test]
fn go_vet_json_and_what_does_not_compile() {
    let output = "\
# demo/bad
vet: bad/bad.go:7:9: undeclared name: undefinedName
# demo
{
\t\"demo\": {
\t\t\"printf\": [
\t\t\t{
\t\t\t\t\"posn\": \"/w/main.go:6:2\",
\t\t\t\t\"message\": \"fmt.Printf format %d has arg \\\"text\\\" of wrong type string\"
\t\t\t}
\t\t]
\t}
}
# demo/more
./more.go:1:2: expected declaration
";
    assert_eq!(
        parsed(Format::GoVet, output),
        [
            "/w/bad/bad.go:7:9 error - undeclared name: undefinedName",
            "/w/main.go:6:2 warning printf fmt.Printf format %d has arg \"text\" of wrong type string",
            "/w/more.go:1:2 error - expected declaration",
        ]
    );
}

#[test]
fn pyright_json() {
    let output = r#"No configuration file found.
{
    "version": "1.40.2",
    "generalDiagnostics": [
        {"file": "/w/a.py", "severity": "error",
         "message": "Type \"Literal['text']\" is not assignable\n  to \"int\"",
         "range": {"start": {"line": 1, "character": 9}, "end": {"line": 1, "character": 15}},
         "rule": "reportAssignmentType"},
        {"file": "/w/a.py", "severity": "information", "message": "x",
         "range": {"start": {"line": 1, "character": 9}, "end": {"line": 1, "character": 15}}}
    ],
    "summary": {"filesAnalyzed": 1}
}
"#;
    assert_eq!(
        parsed(Format::Pyright, output),
        [
            "/w/a.py:2:10 error reportAssignmentType Type \"Literal['text']\" is not assignable /   to \
             \"int\""
        ]
    );
}

#[test]
fn ruff_json() {
    let output = r#"[
      {"code": "F401", "filename": "/w/a.py", "location": {"column": 8, "row": 1},
       "message": "`os` imported but unused"},
      {"code": "F821", "filename": "/w/a.py", "location": {"column": 12, "row": 5},
       "message": "Undefined name `undefined_name`"},
      {"code": "invalid-syntax", "filename": "/w/b.py", "location": {"column": 1, "row": 1},
       "message": "Expected an expression"}
    ]"#;
    assert_eq!(
        parsed(Format::Ruff, output),
        [
            "/w/a.py:1:8 warning F401 `os` imported but unused",
            "/w/a.py:5:12 error F821 Undefined name `undefined_name`",
            "/w/b.py:1:1 error invalid-syntax Expected an expression",
        ]
    );
}

#[test]
fn lines_of_compilers_clang_tidy_mypy_and_ty() {
    let output = "\
a.c: In function 'main':
a.c:1:26: warning: initialization of 'int' from 'char *' [-Wint-conversion]
    1 | int main(void) { int x = \"text\"; return y; }
a.c:1:41: error: 'y' undeclared (first use in this function)
a.c:1:41: note: each undeclared identifier is reported only once
b.c:3:10: fatal error: 'x.h' file not found
/w/c.cc:5:3: warning: do not use [] here [bugprone-array,cert-x]
m.py:5: error: Name \"undefined\" is not defined  [name-defined]
t.py:2:10: error[invalid-assignment] Object of type `Literal[\"text\"]` is not assignable to `int`
Found 2 diagnostics
";
    assert_eq!(
        parsed(Format::Lines, output),
        [
            "/w/a.c:1:26 warning -Wint-conversion initialization of 'int' from 'char *'",
            "/w/a.c:1:41 error - 'y' undeclared (first use in this function)",
            "/w/b.c:3:10 error - 'x.h' file not found",
            "/w/c.cc:5:3 warning bugprone-array,cert-x do not use [] here",
            "/w/m.py:5:0 error name-defined Name \"undefined\" is not defined",
            "/w/t.py:2:10 error invalid-assignment Object of type `Literal[\"text\"]` is not assignable \
             to `int`",
        ]
    );
}

fn check(outcome: Outcome) -> Check {
    Check {
        checker: "tsc".to_owned(),
        root: "web".to_owned(),
        outcome,
        detail: None,
    }
}

fn diagnostic(line: usize, severity: Severity) -> Diagnostic {
    Diagnostic {
        path: PathBuf::from("/w/a.ts"),
        file: "a.ts".to_owned(),
        line,
        column: 1,
        severity,
        code: Some("TS1".to_owned()),
        message: "bad".to_owned(),
        source: Some("tsc".to_owned()),
    }
}

// D2: what was not checked never reads as clean.
#[test]
fn only_a_whole_check_is_clean() {
    let state = |outcomes: &[Outcome]| {
        let checks = outcomes.iter().map(|outcome| check(*outcome)).collect();
        CheckReport::new(checks, Vec::new()).state
    };
    assert_eq!(
        state(&[Outcome::Done, Outcome::Done]),
        DiagnosticState::Clean
    );
    assert_eq!(
        state(&[Outcome::Done, Outcome::TimedOut]),
        DiagnosticState::Pending
    );
    for outcome in [
        Outcome::Cut,
        Outcome::Failed,
        Outcome::NotInstalled,
        Outcome::Skipped,
        Outcome::NoMarker,
    ] {
        assert_eq!(
            state(&[Outcome::Done, outcome]),
            DiagnosticState::Unavailable
        );
    }
    assert_eq!(state(&[]), DiagnosticState::Unavailable);
    let report = CheckReport::new(vec![check(Outcome::NotInstalled)], Vec::new());
    assert_eq!(
        report.to_string(),
        "not known: nothing was checked\nnot checked: web: tsc is not installed"
    );
}

#[test]
fn errors_come_first_and_a_long_list_is_cut_with_both_numbers() {
    let report = |n: usize| {
        let mut found = vec![diagnostic(900, Severity::Error)];
        found.extend((1..n).map(|line| diagnostic(line, Severity::Warning)));
        found.push(diagnostic(900, Severity::Error));
        CheckReport::new(vec![check(Outcome::Done)], found)
    };
    let exact = report(limits::DIAGNOSTICS_SHOWN);
    assert_eq!((exact.shown, exact.total, exact.errors), (100, 100, 1));
    assert_eq!(exact.state, DiagnosticState::Found);
    let text = exact.to_string();
    assert!(text.starts_with("1 error, 99 warnings (tsc in web)\na.ts:900:1: error[TS1]: bad\n"));
    assert!(!text.contains("shown of"));
    let one_more = report(limits::DIAGNOSTICS_SHOWN + 1);
    assert_eq!((one_more.shown, one_more.total), (100, 101));
    assert!(one_more.to_string().ends_with("… 100 shown of 101"));
}

// D3: the host can veto what may run code of the project.
#[test]
fn a_veto_is_an_error_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let vetoed = Checkers::disabled("this checkout is not trusted").with_time(Duration::ZERO);
    let error = vetoed.check(&workspace, &Cancel::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "project checkers are disabled: this checkout is not trusted"
    );
}

// The columns of an answer count characters, whatever the checker counts.
#[test]
fn columns_become_characters() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    std::fs::write(&file, "x\nä😀b\n").unwrap();
    let mut columns = ColumnsOf::default();
    assert_eq!(columns.of(&file, 2, 7, Columns::Bytes), 3);
    assert_eq!(columns.of(&file, 2, 4, Columns::Utf16), 3);
    assert_eq!(columns.of(&file, 2, 3, Columns::Characters), 3);
    assert_eq!(columns.of(&file, 2, 99, Columns::Bytes), 95);
    assert_eq!(columns.of(Path::new("/none"), 9, 4, Columns::Utf16), 4);
}
