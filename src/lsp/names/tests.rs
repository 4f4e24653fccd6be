//! Every row of the table, with what it takes and what it refuses.

use super::*;

/// Holds a name for `old`, alone in a text.
fn of(language: &str, name: &str) -> Result<(), NameError> {
    check(language, "old", 0, name)
}

// Each language with names it has and texts that are none; every row is here.
#[test]
fn every_language_takes_its_names_and_refuses_others() {
    let rows: &[(&str, &[&str], &[&str])] = &[
        (
            "rust",
            &[
                "x", "_", "_x1", "größe", "r#type", "'a", "self", "union", "名",
            ],
            &[
                "1x", "a-b", "", "a b", "$x", "type", "crate", "r#1", "x!", "x::y", "😀",
            ],
        ),
        (
            "python",
            &["x", "_x1", "größe", "match", "e\u{301}t\u{e9}", "名"],
            &["1x", "a-b", "a.b", "", "lambda", "None", "x\n", "$x", "😀"],
        ),
        (
            "typescript",
            &["x", "$x", "_", "#x", "größe", "of", "type", "a\u{200d}b"],
            &[
                "1 x", "a-b", "return", "", "a\nb", "x y", "this", "@x", "😀",
            ],
        ),
        (
            "go",
            &["x", "_", "größe", "string"],
            &["1x", "a-b", "func", "$x", ""],
        ),
        (
            "c",
            &["x", "_x", "$x", "class", "größe"],
            &["1x", "a-b", "int", "x y", ""],
        ),
        (
            "cpp",
            &["x", "~X", "final"],
            &["1x", "class", "a::b", "~", ""],
        ),
        (
            "java",
            &["x", "$x", "record", "größe"],
            &["1x", "a-b", "class", ""],
        ),
        (
            "kotlin",
            &["x", "`in`", "`a b`"],
            &["1x", "in", "``", "`a", "$x"],
        ),
        (
            "csharp",
            &["x", "@class", "größe"],
            &["1x", "class", "@1", "@", "$x"],
        ),
        (
            "dart",
            &["x", "$x", "_x", "await"],
            &["1x", "größe", "class", "a-b"],
        ),
        ("swift", &["x", "`in`", "😀"], &["1x", "a-b", "func"]),
        (
            "php",
            &["x", "$x", "größe"],
            &["1x", "a-b", "function", "$", "$1"],
        ),
        (
            "ruby",
            &["x", "@x", "@@x", "$x", "x?", "x!", "x="],
            &["1x", "a-b", "end", "@", "?"],
        ),
        ("lua", &["x", "_x"], &["1x", "größe", "local", "a.b"]),
        ("zig", &["x", "@\"a b\""], &["1x", "größe", "fn", "@\"\""]),
    ];
    for (language, names, others) in rows {
        for name in *names {
            assert_eq!(of(language, name), Ok(()), "{language}: {name:?}");
        }
        for name in *others {
            assert!(of(language, name).is_err(), "{language}: {name:?}");
        }
    }
    for naming in NAMINGS {
        let is_tried = |language| rows.iter().any(|(tried, ..)| *tried == language);
        assert!(
            naming.languages.iter().any(|it| is_tried(*it)),
            "{:?}",
            naming.languages
        );
    }
}

// Only the end of a line is refused where nothing is known of a language.
#[test]
fn an_unknown_language_is_left_to_its_server() {
    for language in ["css", "html", "json", "shellscript", ""] {
        for name in ["a-b", "1 x", "return", "größe!"] {
            assert_eq!(of(language, name), Ok(()), "{language}: {name}");
        }
        let error = of(language, "a\nb").expect_err("no name anywhere");
        assert!(
            error.to_string().starts_with("'a\\nb' is no name in"),
            "{error}"
        );
    }
}

// What is in quotes or part of a path is no name, and may become another that is none.
#[test]
fn what_is_no_name_now_may_become_what_it_likes() {
    for (text, at) in [
        ("{ 'a-b': 1 }", 3),
        ("import './lib'", 10),
        ("x = \"key\"", 5),
        ("`part`", 1),
        ("1.5", 0),
        ("-x", 0),
    ] {
        assert_eq!(check("typescript", text, at, "a-b"), Ok(()), "{text}");
    }
    // A place inside a name is the name.
    assert!(check("typescript", "wörter", 4, "a-b").is_err());
    // The mark of a lifetime is no quote.
    assert!(check("rust", "&'a str", 2, "1x").is_err());
}

// A member may be called `return`, a variable may not.
#[test]
fn members_may_have_the_name_of_a_keyword_where_the_language_lets_them() {
    assert_eq!(check("typescript", "it.remove()", 3, "delete"), Ok(()));
    assert_eq!(check("typescript", "it?.remove()", 4, "delete"), Ok(()));
    assert!(check("typescript", "remove()", 0, "delete").is_err());
    assert!(check("typescript", "[...remove]", 4, "delete").is_err());
    assert!(check("typescript", "it.remove()", 3, "a-b").is_err());
    assert!(check("python", "it.remove()", 3, "del").is_err());
    let error = check("python", "x", 0, "class").expect_err("reserved");
    assert_eq!(
        error.to_string(),
        "'class' is no name in python: it is a reserved word"
    );
    assert!(error.advice().contains("'class_'"));
}
