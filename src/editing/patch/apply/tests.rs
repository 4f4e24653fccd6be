//! How changes find their places and what they leave of a file.

use super::*;
use crate::editing::patch::{FilePatch, parse};

/// Parses the changes of one file.
#[track_caller]
fn chunks(body: &str) -> Vec<Chunk> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch");
    match parse(&text).expect("a patch").files.remove(0) {
        FilePatch::Update { chunks, .. } => chunks,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(text: &str, body: &str, expected: &str) {
    match apply(text, &chunks(body)) {
        Ok(applied) => assert_eq!(applied.text, expected),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn fuzz(text: &str, body: &str, expected: &str, tolerance: Tolerance) {
    let applied = apply(text, &chunks(body)).expect("it applies");
    assert_eq!(applied.text, expected);
    assert_eq!(applied.fuzzy, [Fuzz { line: 1, tolerance }]);
}

#[track_caller]
fn fails(text: &str, body: &str, words: &str) -> ApplyError {
    let error = apply(text, &chunks(body)).expect_err("it fails");
    assert!(error.to_string().contains(words), "{error} lacks {words}");
    error
}

#[test]
fn changes_apply_in_order() {
    check(
        "a\nb\nc\nd\n",
        "@@\n a\n-b\n+B\n@@\n-d\n+D\n+E",
        "a\nB\nc\nD\nE\n",
    );
    check("x\ny\nx\ny\n", "@@\n-x\n@@\n-x", "y\ny\n");
    check(
        "def a\nx\ndef b\nx\n",
        "@@ def b\n-x\n+z",
        "def a\nx\ndef b\nz\n",
    );
    check(
        "class A\ndef f\nx\nclass B\ndef f\nx\n",
        "@@ class B\n@@ def f\n-x",
        "class A\ndef f\nx\nclass B\ndef f\n",
    );
    check("a\n", "@@\n-a", "");
}

#[test]
fn lines_alone_are_added_at_the_end_or_below_their_context() {
    check("a\n", "@@\n+b", "a\nb\n");
    check("", "@@\n+b", "b\n");
    check("a\nb\nc\n", "@@\n+d\n@@\n a\n-b\n+B", "a\nB\nc\nd\n");
    check("a\nb\n", "@@ a\n+x", "a\nx\nb\n");
    check("a\nb\n", "@@ a\n+x\n*** End of File", "a\nb\nx\n");
}

#[test]
fn the_end_of_the_file_is_only_at_the_end() {
    check("x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n");
    fails(
        "x\ny\n",
        "@@\n-x\n*** End of File",
        "failed to find expected lines at the end of the file:\nx",
    );
    // A last empty line stands for the end of the file.
    check("a\nb\n", "@@\n a\n-b\n+c\n\n*** End of File", "a\nc\n");
    check("a\nb\n", "@@\n-b\n \n+c", "a\n\nc\n");
}

// The four levels; the file's own context lines stay as they are.
#[test]
fn places_are_found_with_four_levels_of_tolerance() {
    check("a\nb\n", "@@\n a\n-b\n+c", "a\nc\n");
    fuzz(
        "a \nb\n",
        "@@\n a\n-b\n+c",
        "a \nc\n",
        Tolerance::TrailingSpace,
    );
    fuzz(
        "\ta\nb\n",
        "@@\n   a\n-b\n+c",
        "\ta\nc\n",
        Tolerance::SurroundingSpace,
    );
    fuzz(
        "a – “b”\nb\n",
        "@@\n a - \"b\"\n-b\n+c",
        "a – “b”\nc\n",
        Tolerance::Typography,
    );
    fails(
        "A\nb\n",
        "@@\n a\n-b\n+c",
        "failed to find expected lines:\na\nb",
    );
}

// D35: line endings and the final newline stay those of the file.
#[test]
fn endings_stay_those_of_the_file() {
    check("a\r\nb\r\n", "@@\n-a\n+x\n+y", "x\r\ny\r\nb\r\n");
    check("a\r\nb", "@@\n-b\n+x\n+y", "a\r\nx\r\ny");
    check("a\nb", "@@\n+c", "a\nb\nc");
    check("a\nb", "@@\n a\n-b", "a");
    check("a\r\nb\nc\n", "@@\n a\n+x\n b\n+y", "a\r\nx\nb\ny\nc\n");
    check("a", "@@\n-a\n+b", "b");
    check("a\n\n", "@@\n-a\n+b", "b\n\n");
}

#[test]
fn failures_name_what_was_looked_for_and_where() {
    fails("a\n", "@@ nope\n-a", "failed to find context 'nope'");
    let error = fails(
        "a\nb\n",
        "@@\n-b\n@@\n-a",
        "failed to find expected lines from line 3 on:\na",
    );
    assert!(
        matches!(
            error,
            ApplyError::NoLines {
                earlier: Some(1),
                ..
            }
        ),
        "{error:?}"
    );
    fails("", "@@\n-a", "failed to find expected lines:\na");
}
