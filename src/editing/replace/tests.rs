//! Exact edits: where they match, what they put in, and how they fail.

use super::*;

fn edit<'a>(old: &'a str, new: &'a str, scope: Scope) -> Edit<'a> {
    Edit { old, new, scope }
}

#[track_caller]
fn check(text: &str, old: &str, new: &str, expected: &str) {
    let replaced = replace(text, &[edit(old, new, Scope::Unique)]).expect("it applies");
    assert_eq!(replaced.text, expected);
}

#[track_caller]
fn fails(text: &str, old: &str, new: &str, words: &str) {
    let error = replace(text, &[edit(old, new, Scope::Unique)]).expect_err("it fails");
    assert!(error.to_string().contains(words), "{error} lacks {words}");
}

// R145: exact and unique, or every place.
#[test]
fn a_text_is_replaced_once_or_everywhere() {
    check("a b c", "b", "x$1", "a x$1 c");
    check("aé\n", "é", "", "a\n");
    let all = replace("aXbXaaa", &[edit("aa", "y", Scope::All)]).expect("it applies");
    assert_eq!((all.text.as_str(), &all.counts[..]), ("aXbXya", &[1][..]));
    let all = replace("aXbX", &[edit("X", "", Scope::All)]).expect("it applies");
    assert_eq!((all.text.as_str(), &all.counts[..]), ("ab", &[2][..]));
}

// R145: an ambiguous text names the lines; texts that overlap are two places.
#[test]
fn an_ambiguous_text_is_refused_with_its_lines() {
    fails("f\ng\nf\n", "f", "h", "in 2 places: lines 1, 3");
    fails("aaa", "aa", "b", "in 2 places: lines 1, 1");
    let many = "f\n".repeat(11);
    fails(
        &many,
        "f",
        "h",
        "in 11 places: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more",
    );
    fails("\r\n\r\n", "\n", "x", "in 2 places");
    fails(&"f\n".repeat(999), "f", "h", "in 999 places");
    fails(&"f\n".repeat(1_001), "f", "h", "in at least 1000 places");
}

// R145: nothing found, nothing to change.
#[test]
fn edits_that_mean_nothing_are_refused() {
    fails("a", "", "b", "empty");
    fails("a", "a", "a", "the same");
    fails("a", "b", "c", "not in the file");
    fails("", "b", "c", "not in the file");
    fails("a\r\nb\r\n", "a\r\nb", "a\nb", "the same");
}

// D35: CRLF files match old texts with LF and keep their endings.
#[test]
fn crlf_files_take_lf_edits() {
    check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n");
    check("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n");
    check("a\r\nb\r\n", "\nb", "", "a\r\n");
    check("a\r\nb\r\n", "a\n", "", "b\r\n");
    check("a\r\nb", "b", "b\nc", "a\r\nb\r\nc");
    check("a\nb\n", "a", "x\r\ny", "x\ny\nb\n");
}

// D35: in a file with both endings the place decides.
#[test]
fn mixed_files_keep_the_ending_of_the_place() {
    check("a\r\nb\nc\n", "a", "a\nx", "a\r\nx\r\nb\nc\n");
    check("a\r\nb\nc\n", "b", "b\nx", "a\r\nb\nx\nc\n");
    check("a\nb\r\nc", "c", "c\nx", "a\nb\r\nc\r\nx");
}

// R145: several edits apply in order, and none when one fails.
#[test]
fn several_edits_apply_in_order_or_not_at_all() {
    let edits = [
        edit("a", "b", Scope::Unique),
        edit("bb", "c", Scope::Unique),
    ];
    assert_eq!(replace("ab", &edits).expect("they apply").text, "c");
    let edits = [edit("a", "b", Scope::Unique), edit("a", "c", Scope::Unique)];
    let error = replace("a", &edits).expect_err("the second fails");
    assert_eq!(
        error.to_string(),
        "edit 2 of 2: the old text is not in the file"
    );
}

// R145: what is nearly there is named.
#[test]
fn near_misses_are_named() {
    fails(
        "x\n\tif a:\n",
        "    if a:",
        "y",
        "line 2 differs only in the spaces at its ends: the file has \"\\tif a:\"",
    );
    fails(
        "a  \nb\n",
        "a\nb",
        "y",
        "line 1 differs only in the spaces at its end",
    );
    fails("say “hi”\n", "say \"hi\"", "y", "spaces, quotes or dashes");
    fails(
        "a\nb\n",
        "a\r\nb",
        "y",
        "line endings of the file, which are lf",
    );
    fails(
        "first\nsecond\n",
        "     1\tfirst\n     2\tsecond",
        "y",
        "without the line numbers",
    );
    fails(
        "first\nsecond\nthird\n",
        "first\nother\nthird",
        "y",
        "it begins at line 1, but line 2 is \"second\"",
    );
    fails(
        "let a  = \u{201C}x\u{201D};\n",
        "a = \"x\"",
        "y",
        "line 1 differs only in spaces, quotes or dashes",
    );
    fails("a\nb", "b\n", "y", "line 2 has it without the line breaks");
    fails("a\nb", "A", "y", "not in the file");
}
