//! Tests of what the bytes of a source tell.

use super::*;

fn needles(runs: &[&[&str]]) -> Needles {
    let runs = runs.iter().map(|run| TokenRun::of(run)).collect();
    Needles::new(runs, TriviaStyle::of("rust"))
}

// R52, D38: white space, comments and optional terminators never hide a match.
#[test]
fn trivia_between_tokens_never_hides_a_run() {
    let needles = needles(&[&[".", "unwrap", "(", ")"]]);
    for source in [
        "a.unwrap()",
        "a . unwrap\n\t( )",
        "a. // why\n unwrap()",
        "a. /* why */ unwrap()",
        "a.unwrap( /* why */ )",
        "a.unwrap(,)",
        "a.\u{a0}unwrap()",
        "a.unwrap()unwrap",
        "a.unwrap\\\n()",
    ] {
        assert!(needles.may_match(source.as_bytes()), "{source}");
    }
    for source in [
        "",
        "unwrap",
        "a.unwrap_or()",
        "a.my_unwrap()",
        "a.unwrap(x)",
        "a::unwrap()",
        "a.unwrap(",
    ] {
        assert!(!needles.may_match(source.as_bytes()), "{source}");
    }
}

#[test]
fn slash_is_not_found_inside_the_comment_before_it() {
    let needles = needles(&[&["total", "/", "count"]]);
    assert!(needles.may_match(b"total /* of all */ / count"));
    assert!(needles.may_match(b"total / /* of all */ count"));
    assert!(needles.may_match(b"total // of all\n / count"));
    assert!(!needles.may_match(b"total * count"));
}

#[test]
fn an_assignment_is_not_found_in_a_longer_operator() {
    let run = || vec![TokenRun::of(&["="])];
    let needles = Needles::new(run(), TriviaStyle::of("typescript"));
    for source in [
        "a=b",
        "a = b",
        "let a: B<C>=d",
        "a ='='",
        "f(\"=\")",
        "*a++=b",
        "*a--=b",
        "a /* c */= b",
        "m!(a?=b)",
        "a=-1",
        "a=!b",
    ] {
        assert!(needles.may_match(source.as_bytes()), "{source}");
    }
    for source in [
        "a == b", "a === b", "a != b", "a <= b", "a += b", "(a) => b", "a := b",
    ] {
        assert!(!needles.may_match(source.as_bytes()), "{source}");
    }
    // An attribute of HTML may have any name.
    let needles = Needles::new(run(), TriviaStyle::of("html"));
    assert!(needles.may_match(b"<a b:=c>"));
}

#[test]
fn string_content_keeps_its_blanks() {
    let run = TokenRun {
        tokens: vec![
            Token::literal("\""),
            Token::literal(" two  words"),
            Token::literal("\""),
        ],
        echo: None,
        leads: false,
    };
    let needles = Needles::new(vec![run], TriviaStyle::of("rust"));
    assert!(needles.may_match(b"f(\" two  words\")"));
    assert!(!needles.may_match(b"f(\" two words\")"));
}

#[test]
fn every_run_must_occur_in_the_order_of_the_pattern() {
    let needles = needles(&[&["if", "let", "Some", "("], &[")", "="]]);
    assert!(needles.may_match(b"if let Some(x) = y {}"));
    assert!(needles.occurrences(b"if let Some(x) = y {}").is_some());
    assert!(needles.occurrences(b"(a) = b; if let Some(x)").is_none());
    assert!(needles.occurrences(b"if let None = y {}").is_none());
}

#[test]
fn a_range_is_asked_without_a_second_scan() {
    let source = b"fn a() { x.go() } fn b() { y.stop() } fn c() { z.go() }";
    let found = needles(&[&[".", "go", "("]]).occurrences(source).unwrap();
    assert!(found.within(0..18));
    assert!(!found.within(18..38));
    assert!(found.within(38..source.len()));
}

#[test]
fn a_range_is_asked_without_its_holes() {
    let source = b"fn a() { if f() { g() } } fn b() -> u8 { if f() { g() } }";
    let found = needles(&[&["fn"], &[")", "{"]])
        .occurrences(source)
        .unwrap();
    let at = |text: &str| {
        source
            .windows(text.len())
            .position(|w| w == text.as_bytes())
    };
    let second = at("fn b").unwrap()..source.len();
    let body = at("u8 {").unwrap() + 4..source.len() - 1;
    assert!(found.within_but_for(0..25, std::iter::once(8..24)));
    assert!(found.within(second.clone()));
    assert!(!found.within_but_for(second, std::iter::once(body)));
    assert!(!found.within_but_for(0..25, [0..3, 8..24].into_iter()));
}

#[test]
fn overlapping_symbols_are_found_at_every_offset() {
    let found = needles(&[&["=="]]).occurrences(b"a === b").unwrap();
    assert_eq!(found.hits, [[2, 3]]);
}

#[test]
fn brackets_and_separators_alone_are_no_needle() {
    assert!(!needles(&[&["("], &[")"], &[","], &["."], &["{"]]).usable());
    assert!(!needles(&[&["(", ")"]]).usable());
    assert!(needles(&[&[")", "{"]]).usable());
    assert!(!needles(&[]).usable());
    assert!(needles(&[]).may_match(b""));
    assert!(needles(&[&["=="]]).usable());
    assert!(needles(&[&["="]]).usable());
}

#[test]
fn keyword_token_with_a_blank_is_two_tokens() {
    let needles = needles(&[&["is not", "None"]]);
    assert!(needles.may_match(b"x is  not\tNone"));
    assert!(!needles.may_match(b"x is None"));
}

#[test]
fn a_word_that_leads_a_statement_stands_where_one_begins() {
    let run = |leads: bool| TokenRun {
        leads,
        ..TokenRun::of(&["if"])
    };
    let needles = |leads: bool| Needles::new(vec![run(leads)], TriviaStyle::of("python"));
    for source in [
        "if a: b",
        "\tif a: b",
        "x\r\n  if a: b",
        "x; if",
        "else: if",
        "\\\n if",
    ] {
        assert!(needles(true).may_match(source.as_bytes()), "{source}");
    }
    for source in ["x if a else b", "\"if\"", "(if", "async if"] {
        assert!(!needles(true).may_match(source.as_bytes()), "{source}");
        assert!(needles(false).may_match(source.as_bytes()), "{source}");
    }
}

#[test]
fn what_stands_in_a_string_is_no_code() {
    let source = b"'''if a''' if b";
    let hits = |tokens: &[&str]| {
        let needles = needles(&[tokens]);
        let all = needles.occurrences(source).unwrap();
        let left = Some(0..10);
        needles.outside_literals(all, left.as_slice()).hits
    };
    assert_eq!(hits(&["if"]), [[11]]);
    // The content of a string stands between its quotes.
    assert_eq!(hits(&["'''", "if"]), [[0, 7]]);
}
