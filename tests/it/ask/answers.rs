//! What is typed at a card, and how a card reads.

use super::*;
use expect_test::expect;
use proptest::prelude::*;
use serde_json::json;
use toolbox::ask::CardCall;
use toolbox::text::terminal::{printable, visible};

#[track_caller]
fn check(card: &Card, line: &str, expected: Reply) {
    assert_eq!(card.parse(line), Ok(expected), "{line:?}");
}

#[track_caller]
fn refuse(card: &Card, line: &str, words: &str) {
    let error = card.parse(line).expect_err("no answer").to_string();
    assert_eq!(error, words, "{line:?}");
}

// R121, R123, D26
#[test]
fn one_option_is_chosen_by_number_or_label() {
    let card = card(&["Postgres", "SQLite", "none of them"]);
    for (line, choice) in [
        ("1", 1),
        (" 2 ", 2),
        ("03", 3),
        ("2-2", 2),
        ("2,2", 2),
        ("Postgres", 1),
        ("sqlite", 2),
        ("None Of Them", 3),
    ] {
        check(&card, line, chosen(&[choice]));
    }
    refuse(&card, "0", "0 is out of range: the options are 1 to 3");
    refuse(&card, "4", "4 is out of range: the options are 1 to 3");
    let huge = "99999999999999999999999";
    refuse(
        &card,
        huge,
        &format!("{huge} is out of range: the options are 1 to 3"),
    );
    refuse(&card, "1,3", "only one option may be chosen, not 2");
    refuse(&card, "1 2 3", "only one option may be chosen, not 3");
    refuse(
        &card,
        "Oracle",
        "'Oracle' is none of the options, and no free text is accepted",
    );
    refuse(
        &card,
        "-1",
        "'-1' is none of the options, and no free text is accepted",
    );
    check(&card, "", Reply::Skipped);
    check(&card, " \t\r\n", Reply::Skipped);
}

// R123
#[test]
fn several_options_are_chosen_by_lists_and_ranges() {
    let card = Card {
        multi_select: true,
        ..card(&["a", "b", "c", "d"])
    };
    for (line, choices) in [
        ("1,3", &[1, 3][..]),
        ("3, 1", &[1, 3]),
        ("2-4", &[2, 3, 4]),
        ("2 - 4", &[2, 3, 4]),
        ("1 3", &[1, 3]),
        ("1,3-4", &[1, 3, 4]),
        ("1-4,2", &[1, 2, 3, 4]),
        ("1,,3,", &[1, 3]),
        ("b", &[2]),
        ("d, A", &[1, 4]),
    ] {
        check(&card, line, chosen(choices));
    }
    refuse(&card, "4-2", "the range 4-2 runs backwards");
    refuse(&card, "2-5", "5 is out of range: the options are 1 to 4");
    refuse(&card, "0-2", "0 is out of range: the options are 1 to 4");
    refuse(
        &card,
        "1-2-3",
        "'1-2-3' is none of the options, and no free text is accepted",
    );
    refuse(
        &card,
        "a, x",
        "'a, x' is none of the options, and no free text is accepted",
    );
    refuse(
        &card,
        ",",
        "',' is none of the options, and no free text is accepted",
    );
}

// R122
#[test]
fn free_text_is_taken_where_it_is_allowed() {
    let open = Card {
        allow_free_text: true,
        ..card(&["two", "four"])
    };
    check(&open, "2", chosen(&[2]));
    check(&open, "four", chosen(&[2]));
    check(&open, "neither of both", typed("neither of both"));
    check(&open, "2 apples", typed("2 apples"));
    refuse(&open, "7", "7 is out of range: the options are 1 to 2");
    check(&open, "\"7\"", typed("7"));
    let text = Card {
        allow_free_text: true,
        ..card(&[])
    };
    check(&text, "7", typed("7"));
    check(&text, "\x1b[31mred\x1b[0m\u{202e}", typed("red"));
    check(&text, "\x1b[A", Reply::Skipped);
}

// The number that the card shows goes before a label that is a number.
#[test]
fn labels_that_are_numbers_are_still_reached() {
    let card = card(&["8", "1"]);
    check(&card, "1", chosen(&[1]));
    check(&card, "8", chosen(&[1]));
    let cases = self::card(&["Go", "go"]);
    check(&cases, "go", chosen(&[2]));
    check(&cases, "Go", chosen(&[1]));
    refuse(
        &cases,
        "GO",
        "'GO' is none of the options, and no free text is accepted",
    );
}

// R126
#[test]
fn an_approval_is_a_yes_or_a_no_and_enter_is_no() {
    let card = Card::approval(call(json!({})));
    for (line, approved) in [
        ("y", true),
        ("YES", true),
        ("n", false),
        ("No", false),
        ("", false),
        (" ", false),
    ] {
        check(&card, line, Reply::Decided { approved });
    }
    for line in ["1", "yy", "ok", "y n"] {
        refuse(&card, line, "type y to allow the call or n to deny it");
    }
}

// What a program answers is checked like what a person types.
#[test]
fn an_answer_of_a_program_is_checked() {
    let card = Card {
        multi_select: true,
        ..card(&["a", "b", "c"])
    };
    assert_eq!(card.answer(&[3, 1, 3], Some(" ")), Ok(chosen(&[1, 3])));
    assert_eq!(card.labels(&[1, 3]), ["a", "c"]);
    assert_eq!(card.labels(&[0, 4]), [""; 0]);
    for (choices, text, words) in [
        (&[0][..], None, "0 is out of range: the options are 1 to 3"),
        (&[4], None, "4 is out of range: the options are 1 to 3"),
        (&[], None, "the answer is empty"),
        (
            &[],
            Some("x"),
            "'x' is none of the options, and no free text is accepted",
        ),
    ] {
        let error = card.answer(choices, text).expect_err("no answer");
        assert_eq!(error.to_string(), words);
    }
    assert!(card.decide(true).is_err());
    let approval = Card::approval(call(json!({})));
    assert!(approval.answer(&[1], None).is_err());
    assert_eq!(
        approval.decide(false),
        Ok(Reply::Decided { approved: false })
    );
}

fn call(args: serde_json::Value) -> CardCall {
    CardCall {
        tool: "Bash".to_owned(),
        tier: "exec".to_owned(),
        args,
        outer: vec!["eval".to_owned()],
    }
}

// R116, R120, R121
#[test]
fn a_question_reads_as_plain_numbered_lines() {
    let mut card = card(&["Postgres", "SQLite"]);
    card.question = "Which database?\nIt is for the tests.".to_owned();
    card.context = Some("The schema hangs on it.".to_owned());
    card.options[0].description = Some("needs\na server".to_owned());
    expect![[r#"
        Question: Which database?
          It is for the tests.
        Context: The schema hangs on it.
          1. Postgres: needs a server
          2. SQLite
        Type a number from 1 to 2. Enter = skip.
    "#]]
    .assert_eq(&card.render());
    card.multi_select = true;
    card.allow_free_text = true;
    assert!(card.render().ends_with(
        "Type numbers from 1 to 2, such as 1,2 or 1-2, or an answer of your own. Enter = skip.\n"
    ));
    card.options.clear();
    assert!(
        card.render()
            .ends_with("\nType your answer. Enter = skip.\n")
    );
}

// A question must neither steer the terminal nor forge a line of its card.
#[test]
fn a_card_prints_no_control_characters() {
    let evil =
        "a\x1b[2J\x1b]0;title\x07b\u{9b}31m\u{202e}c\r\u{200b}\u{2066}\u{feff}d\u{2028}e\u{7f}";
    assert_eq!(printable(evil), "a]0;titleb31mcde");
    assert_eq!(printable("a\tb\nc"), "a b\nc");
    assert_eq!(printable("\x1b["), "[");
    assert_eq!(printable("\x1b[31"), "[31");
    let mut card = card(&["x\n  2. forged"]);
    card.question = "q\nType y.".to_owned();
    let text = card.render();
    assert_eq!(text.lines().nth(1), Some("  Type y."));
    assert_eq!(text.lines().nth(2), Some("  1. x   2. forged"));
    // Of what runs nothing is hidden: it is shown as an escape.
    let approval = Card::approval(call(json!({"command": "rm \u{202e}x\x1b[2K\ry"})));
    assert!(
        approval
            .render()
            .contains("command: rm \\u{202e}x\\u{1b}[2K\\u{d}y\n"),
        "{}",
        approval.render()
    );
    assert_eq!(visible("a\u{200b}"), "a\\u{200b}");
}

// Long arguments are cut on the screen alone; the cap is told at n + 1 and not at n.
#[test]
fn an_approval_shows_so_much_of_the_arguments() {
    let lines = |n_lines: usize| {
        let text = vec!["x"; n_lines].join("\n");
        Card::approval(call(json!({ "command": text }))).render()
    };
    // The first line is the name of the argument.
    assert!(!lines(59).contains("more line"));
    assert!(lines(60).contains("\n  ... (1 more lines; all of them would run)\n"));
    let wide = |n_chars: usize| Card::approval(call(json!("y".repeat(n_chars)))).render();
    // The quotes count.
    assert!(!wide(398).contains("more characters"));
    assert!(wide(399).contains(" ... (1 more characters)\n"));
    expect![[r#"
        Approval: May Bash run?
        Tool: Bash (tier exec)
        Called from: eval
        Arguments:
          a: {
            "b": [
              1
            ]
          }
          c: d
        Type y to allow it, n to deny it. Enter = deny.
    "#]]
    .assert_eq(&Card::approval(call(json!({"a": {"b": [1]}, "c": "d"}))).render());
    assert!(
        Card::approval(call(json!({})))
            .render()
            .contains("\n  (none)\n")
    );
}

proptest! {
    // No line breaks the reader, and what it accepts fits the card.
    #[test]
    fn any_line_is_an_answer_that_fits_or_an_error(
        line in ".{0,40}|[0-9, -]{0,12}",
        n_options in 0_usize..5,
        multi_select: bool,
        allow_free_text: bool,
    ) {
        let labels: Vec<String> = (0..n_options).map(|idx| format!("o{idx}")).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let card = Card { multi_select, allow_free_text, ..card(&labels) };
        if let Ok(Reply::Answered { choices, text }) = card.parse(&line) {
            prop_assert!(choices.iter().all(|choice| (1..=n_options).contains(choice)));
            prop_assert!(multi_select || choices.len() <= 1);
            prop_assert!(allow_free_text || text.is_none());
            prop_assert!(!choices.is_empty() || text.is_some());
        }
    }

    #[test]
    fn nothing_that_steers_is_printed(text in any::<String>()) {
        let mut card = card(&[text.as_str()]);
        card.question = text.clone();
        card.context = Some(text.clone());
        let rendered = card.render() + &Card::approval(call(json!({ "a": text }))).render();
        prop_assert!(!rendered.chars().any(|ch| ch != '\n' && ch.is_control()));
    }
}

// R116, R126: who hears a card line by line, without colour, place and drawing, hears the number and the name
// of every option, what is allowed, and what Enter does.
#[test]
fn a_card_is_whole_when_it_is_read_aloud() {
    let mut question = card(&["keep", "drop"]);
    question.context = Some("the table is old".to_owned());
    question.options[1].description = Some("its rows are gone".to_owned());
    question.multi_select = true;
    question.allow_free_text = true;
    let approval = Card::approval(CardCall {
        outer: vec!["eval".to_owned(), "task".to_owned()],
        ..call(json!({"command": "make\nType y", "timeout": 9}))
    });
    let heard = |card: &Card| {
        let text = card.render();
        assert!(text.is_ascii(), "nothing is drawn: {text}");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines.join(" / ")
    };
    expect!["Question: Which? / Context: the table is old / 1. keep / 2. drop: its rows are gone / Type numbers from 1 to 2, such as 1,2 or 1-2, or an answer of your own. Enter = skip."]
        .assert_eq(&heard(&question));
    expect!["Approval: May Bash run? / Tool: Bash (tier exec) / Called from: eval, then task / Arguments: / command, 2 lines: / line 1: make / line 2: Type y / timeout: 9 / Type y to allow it, n to deny it. Enter = deny."]
        .assert_eq(&heard(&approval));
}
