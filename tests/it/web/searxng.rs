//! A SearXNG instance as the provider of searches. The answers are those of a real one (2026.8) whose
//! engines were local ones; https://docs.searxng.org/dev/search_api.html names the keys.

use super::*;

/// Two pages, a table that leads to no page, and an engine that could not be reached.
const FOUND: &str = r#"{"query": "foo", "results": [{"url": "https://docs.rs/regex/latest/regex/", "title": "regex - Rust", "content": "A regex <b>engine</b> for Rust", "engine": "pages", "template": "default.html", "parsed_url": ["https", "docs.rs", "/regex/latest/regex/", "", "", ""], "img_src": "", "thumbnail": "", "priority": "", "engines": ["pages"], "positions": [1], "score": 1.0, "category": "general", "publishedDate": null}, {"url": "https://github.com/rust-lang/regex", "title": "rust-lang/regex", "content": "An implementation", "engine": "pages", "template": "default.html", "parsed_url": ["https", "github.com", "/rust-lang/regex", "", "", ""], "img_src": "", "thumbnail": "", "priority": "", "engines": ["pages"], "positions": [2], "score": 0.5, "category": "general", "publishedDate": null}, {"title": "", "content": "", "img_src": "", "iframe_src": "", "audio_src": "", "thumbnail": "", "publishedDate": null, "pubdate": "", "length": null, "views": "", "author": "", "metadata": "", "priority": "", "engines": ["demo"], "open_group": false, "close_group": false, "positions": [1], "score": 1.0, "category": "general", "template": "keyvalue.html", "url": null, "engine": "demo", "parsed_url": null, "kvmap": {"query": "foo", "language": "all", "value": "demo"}, "caption": "Demo Offline Engine Result #1", "key_title": "Name", "value_title": "Value"}], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["broken", "HTTP connection error"]]}"#;

/// Nothing, because nobody answered.
const SILENT: &str = r#"{"query": "foo", "results": [], "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["broken", "unexpected crash"], ["pages", "timeout"]]}"#;

const FORBIDDEN: &str = "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n<p>You don&#39;t have the permission to access the requested resource. It is either read-protected or not readable by the server.</p>\n";

const PAGE: &str =
    "<!DOCTYPE html>\n<html class=\"no-js theme-auto center-alignment-no\" lang=\"en-EN\" >\n";

fn answering(status: u16, kind: &'static str, body: &'static str) -> Site {
    Site::new(move |_| {
        let headers = vec![("Content-Type", kind.to_owned())];
        Some((status, headers, body.as_bytes().to_vec()))
    })
}

fn answer(status: u16, kind: &'static str, body: &'static str) -> Result<Output, ToolError> {
    let site = answering(status, kind, body);
    search(&site, json!({ "query": "foo" }))
}

// R149: the pages are hits in the order of the instance; what leads to no page is left out; an engine that
// did not answer is told.
#[test]
fn a_recorded_answer_gives_its_pages() {
    let output = answer(200, "application/json", FOUND).expect("hits");
    assert_eq!(
        output.data,
        json!({
            "results": [
                {
                    "title": "regex - Rust",
                    "url": "https://docs.rs/regex/latest/regex/",
                    "snippet": "A regex <b>engine</b> for Rust",
                },
                {
                    "title": "rust-lang/regex",
                    "url": "https://github.com/rust-lang/regex",
                    "snippet": "An implementation",
                },
            ],
            "unanswered": ["broken: HTTP connection error"],
        })
    );
    assert!(
        output
            .text
            .ends_with("\n[did not answer: broken: HTTP connection error]"),
        "{}",
        output.text
    );
}

// R149: nothing found is not the same as nobody asked.
#[test]
fn silence_is_told_from_nothing_found() {
    let output = answer(200, "application/json", SILENT).expect("an answer");
    assert_eq!(
        output.text,
        "no hits\n[did not answer: broken: unexpected crash; pages: timeout]"
    );
    let plain = r#"{"query": "foo", "results": [], "unresponsive_engines": []}"#;
    let output = answer(200, "application/json", plain).expect("an answer");
    assert_eq!(output.text, "no hits");
    assert_eq!(output.data, json!({ "results": [] }));
    // An engine that is told of in another way is still one that did not answer.
    let odd = r#"{"results": [], "unresponsive_engines": ["a", ["b"], [], 7]}"#;
    let output = answer(200, "application/json", odd).expect("an answer");
    assert_eq!(
        output.data["unanswered"],
        json!(["a", "b", "an engine", "an engine"])
    );
}

// R149: what an instance says instead of hits, and what to do about it.
#[test]
fn an_instance_that_gives_no_hits_says_why() {
    const HTML: &str = "text/html; charset=utf-8";
    for (status, kind, body, words) in [
        (
            403,
            HTML,
            FORBIDDEN,
            "403: its settings do not allow the format json (search.formats)",
        ),
        (
            429,
            HTML,
            "Too Many Requests",
            "429: its limiter takes no more searches",
        ),
        (200, HTML, PAGE, "a page of HTML instead of hits"),
        (
            400,
            "application/json",
            r#"{"error": "No query"}"#,
            "status 400: No query",
        ),
        (
            500,
            "application/json",
            r#"{"error": "search error"}"#,
            "status 500: search error",
        ),
        (502, HTML, "<html>Bad Gateway", "status 502"),
        (
            200,
            "application/json",
            r#"{"query": "foo"}"#,
            "something else than hits",
        ),
        (200, "application/json", "", "something else than hits"),
    ] {
        let error = answer(status, kind, body).expect_err(words);
        assert_eq!(error.kind(), ErrorKind::Failed, "{words}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("[web.search]")),
            "{error:?}"
        );
    }
}
