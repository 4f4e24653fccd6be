//! `WebFetch` and `WebSearch` against servers on loopback.

mod searxng;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::limits;
use toolbox::run::{CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, ToolError};
use toolbox::tools::{Resources, WebResources, connect};
use toolbox::web::{Allowed, Fetcher, Searxng};

/// A server that answers each request by its path, and remembers the paths.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

type Answer = (u16, Vec<(&'static str, String)>, Vec<u8>);

impl Site {
    fn new(answer: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        // It ends with the test process: nobody waits for a connection that may never come.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
                    let mut first = String::new();
                    let _ = reader.read_line(&mut first);
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
                        line.clear();
                    }
                    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                    seen.lock().expect("no panic").push(path.clone());
                    let Some((status, headers, body)) = answer(&path) else {
                        // It never answers, until the other end has gone.
                        let _ = reader.read_line(&mut line);
                        return;
                    };
                    let mut head = format!(
                        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n",
                        body.len()
                    );
                    for (name, value) in headers {
                        head.push_str(&format!("{name}: {value}\r\n"));
                    }
                    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
                    let _ = stream.write_all(&body);
                });
            }
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn text(kind: &str, body: impl Into<Vec<u8>>) -> Option<Answer> {
    Some((200, vec![("Content-Type", kind.to_owned())], body.into()))
}

fn moved(to: impl Into<String>) -> Option<Answer> {
    Some((302, vec![("Location", to.into())], Vec::new()))
}

fn run_with(web: WebResources) -> Run {
    let resources = Resources {
        web: Some(web),
        ..Resources::default()
    };
    Run::builder(connect(&resources)).build()
}

fn fetch_within(time: Duration, allowed: &[&str], url: &str) -> Result<Output, ToolError> {
    let allowed = Allowed::new(allowed).expect("sound");
    let run = run_with(WebResources::new(Fetcher::new(allowed, time)));
    run.dispatch("WebFetch", json!({ "url": url }), CallOptions::new())
}

fn fetch(allowed: &[&str], url: &str) -> Result<Output, ToolError> {
    fetch_within(Duration::from_secs(60), allowed, url)
}

const HERE: &[&str] = &["127.0.0.1"];

// R148: one page with GET, as Markdown.
#[test]
fn a_page_comes_as_markdown() {
    let site = Site::new(|_| {
        text(
            "text/html; charset=utf-8",
            "<h1>T</h1><p><a href=b>x</a></p>",
        )
    });
    let output = fetch(HERE, &site.url("/a#part")).expect("a page");
    let link = site.url("/b");
    assert_eq!(output.text, format!("# T\n\n[x]({link})\n"));
    assert_eq!(output.data["status"], json!(200));
    assert_eq!(output.data["content_type"], json!("text/html"));
    assert_eq!(output.data["truncated"], json!(false));
    // The fragment stays with the reader.
    assert_eq!(site.asked(), ["/a"]);
}

// R148: what is not public is refused before anything is connected to, whatever its spelling.
#[test]
fn addresses_of_this_machine_are_refused_unless_allowed() {
    let site = Site::new(|_| text("text/plain", "secret"));
    let port = site.port;
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
    ] {
        let error = fetch(&["10.0.0.0/8"], &format!("http://{host}:{port}/")).expect_err(host);
        assert_eq!(error.kind(), ErrorKind::Denied, "{host}: {error:?}");
        assert!(error.message().contains("refused to connect"), "{error:?}");
    }
    assert_eq!(site.asked(), [""; 0]);
    // The name is allowed, and by it the address that it resolves to.
    fetch(&["localhost"], &format!("http://localhost:{port}/")).expect("it is allowed");
    assert_eq!(site.asked(), ["/"]);
}

// R148: redirects on the same host are followed, and each hop is checked.
#[test]
fn redirects_stay_on_the_host() {
    let site = Site::new(|path| match path {
        "/one" => moved("two"),
        "/two" => moved("/three?x=1"),
        "/loop" => moved("/loop"),
        "/six" => moved("/6/1"),
        "/file" => moved("file:///etc/passwd"),
        hop if hop.starts_with("/6/") => match hop {
            "/6/5" => text("text/plain", "after five"),
            _ => moved(format!(
                "/6/{}",
                hop[3..].parse::<u32>().expect("a number") + 1
            )),
        },
        _ => text("text/plain", "found"),
    });
    let output = fetch(HERE, &site.url("/one")).expect("a page");
    assert_eq!(output.data["final_url"], json!(site.url("/three?x=1")));
    assert!(output.text.ends_with("found"), "{}", output.text);
    assert_eq!(
        fetch(HERE, &site.url("/six")).expect("five hops").data["status"],
        json!(200)
    );
    assert!(
        fetch(HERE, &site.url("/loop"))
            .expect_err("a circle")
            .message()
            .contains("more than 5")
    );
    let error = fetch(HERE, &site.url("/file")).expect_err("no web address");
    assert!(error.message().contains("only http and https"), "{error:?}");
}

// R148: a redirect to any closed address, however it is spelled, is reported or refused at its hop.
#[test]
fn a_redirect_to_a_closed_address_is_never_followed() {
    let closed = Site::new(|_| text("text/plain", "secret"));
    let port = closed.port;
    let targets: Vec<String> = [
        "127.0.0.1.",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "[fe80::1]",
    ]
    .iter()
    .map(|host| format!("http://{host}:{port}/x"))
    .collect();
    let to = targets.clone();
    let site = Site::new(move |path| {
        let idx = path[1..].parse::<usize>().expect("a number");
        moved(to[idx].clone())
    });
    for (idx, target) in targets.iter().enumerate() {
        let output = fetch(HERE, &site.url(&format!("/{idx}"))).expect(target);
        assert!(
            output.data["redirect"].is_string(),
            "{target}: {}",
            output.data
        );
        // Whoever follows the report is refused at the address itself.
        let error = fetch(&["192.0.2.1"], target).expect_err(target);
        assert_eq!(error.kind(), ErrorKind::Denied, "{target}: {error:?}");
    }
    let user = format!("http://public.example@127.0.0.1:{port}/");
    let to = user.clone();
    let site = Site::new(move |_| moved(to.clone()));
    let error = fetch(HERE, &site.url("/")).expect_err("a user name");
    assert!(error.message().contains("user name"), "{error:?}");
    assert_eq!(
        fetch(HERE, &user).expect_err("a user name").kind(),
        ErrorKind::InvalidArgs
    );
    assert_eq!(closed.asked(), [""; 0]);
}

#[test]
fn a_redirect_to_another_host_is_reported_and_not_followed() {
    let other = Site::new(|_| text("text/plain", "secret"));
    let target = format!("http://localhost:{}/x", other.port);
    let to = target.clone();
    let site = Site::new(move |_| moved(to.clone()));
    let output = fetch(&["127.0.0.0/8", "::1"], &site.url("/")).expect("a report");
    assert_eq!(output.data["redirect"], json!(target));
    assert_eq!(output.data["status"], json!(302));
    assert!(output.text.contains("another host"), "{}", output.text);
    assert_eq!(other.asked(), [""; 0]);
    // Another port of the same host is another server.
    let other_port = other.url("/");
    let site = Site::new(move |_| moved(other_port.clone()));
    assert!(
        fetch(HERE, &site.url("/"))
            .expect("a report")
            .text
            .contains("another port")
    );
    assert_eq!(other.asked(), [""; 0]);
}

#[test]
fn a_page_is_cut_at_the_limit_and_not_before() {
    let site = Site::new(|path| {
        let more = usize::from(path == "/more");
        text("text/plain", "é".repeat(limits::FETCH_CHARS + more))
    });
    let whole = fetch(HERE, &site.url("/whole")).expect("a page");
    assert_eq!(whole.data["truncated"], json!(false));
    let cut = fetch(HERE, &site.url("/more")).expect("a page");
    assert_eq!(cut.data["truncated"], json!(true));
    assert!(cut.text.ends_with("[cut here: the page goes on]"));
    let markdown = cut.data["markdown"].as_str().expect("text");
    assert_eq!(markdown.chars().count(), limits::FETCH_CHARS);
}

#[test]
fn a_body_without_end_is_read_up_to_the_limit() {
    let site = Site::new(|_| text("text/plain", "x".repeat(limits::FETCH_BYTES + (8 << 20))));
    let output = fetch(HERE, &site.url("/")).expect("a page");
    assert_eq!(output.data["truncated"], json!(true));
}

#[test]
fn what_is_no_text_is_refused_with_a_way_out() {
    let site = Site::new(|path| match path {
        "/png" => text("image/png", b"\x89PNG\r\n".to_vec()),
        "/lie" => text("text/plain", b"a\0b".to_vec()),
        "/deep" => text("text/html", "<div>".repeat(100_000)),
        _ => text("application/json", "{\"a\":1}"),
    });
    for path in ["/png", "/lie", "/deep"] {
        let error = fetch(HERE, &site.url(path)).expect_err(path);
        assert_eq!(error.kind(), ErrorKind::Failed, "{path}");
        assert!(
            error.hint().is_some_and(|hint| hint.contains("curl")),
            "{path}"
        );
    }
    assert_eq!(
        fetch(HERE, &site.url("/json")).expect("JSON is text").text,
        "{\"a\":1}"
    );
}

#[test]
fn a_status_is_no_failure_of_the_fetch() {
    let site = Site::new(|_| {
        Some((
            404,
            vec![("Content-Type", "text/plain".to_owned())],
            b"gone".to_vec(),
        ))
    });
    let output = fetch(HERE, &site.url("/")).expect("an answer");
    assert_eq!(output.data["status"], json!(404));
    assert!(
        output.text.contains("status 404") && output.text.ends_with("gone"),
        "{}",
        output.text
    );
}

#[test]
fn a_server_that_never_answers_runs_into_the_limit() {
    let site = Site::new(|_| None);
    let error =
        fetch_within(Duration::from_millis(50), HERE, &site.url("/")).expect_err("too slow");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
}

#[test]
fn a_fetch_can_be_cancelled() {
    let cancel = Cancel::new();
    let inner = cancel.clone();
    // The server itself cancels, once the request is under way.
    let site = Site::new(move |_| {
        inner.cancel();
        None
    });
    let allowed = Allowed::new(HERE).expect("sound");
    let run = run_with(WebResources::new(Fetcher::new(
        allowed,
        Duration::from_secs(60),
    )));
    let options = CallOptions::new().with_cancel(cancel);
    let error = run.dispatch("web_fetch", json!({ "url": site.url("/") }), options);
    assert_eq!(
        error.expect_err("it was cancelled").kind(),
        ErrorKind::Cancelled
    );
}

#[test]
fn bad_addresses_are_errors_of_the_arguments() {
    for url in [
        "",
        "example.com/x",
        "file:///etc/passwd",
        "http://user:secret@host/",
    ] {
        let error = fetch(HERE, url).expect_err(url);
        assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{url}");
    }
    let site = Site::new(|_| None);
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = closed.local_addr().expect("an address");
    drop(closed);
    let error = fetch(HERE, &format!("http://{addr}/")).expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::Failed, "{error:?}");
    drop(site);
}

fn search(site: &Site, args: Value) -> Result<Output, ToolError> {
    let provider = Searxng::new(&site.url(""), Duration::from_secs(60)).expect("a URL");
    let fetcher = Fetcher::new(Allowed::default(), Duration::from_secs(60));
    let run = run_with(WebResources::new(fetcher).with_search(provider));
    run.dispatch("WebSearch", args, CallOptions::new())
}

fn hits(urls: &[String]) -> Option<Answer> {
    let rows: Vec<Value> = urls
        .iter()
        .map(|url| json!({ "title": " T ", "url": url, "content": "a\n b", "score": 1 }))
        .collect();
    text(
        "application/json",
        json!({ "query": "q", "results": rows }).to_string(),
    )
}

// R149: a search through the provider that the host configured, on this machine or not.
#[test]
fn a_search_returns_what_the_domains_allow() {
    let urls = [
        "https://docs.rs/a",
        "https://evil.com/docs.rs",
        "https://docs.rs/a",
        "https://x.docs.rs/b",
    ];
    let urls = urls.map(str::to_owned);
    let site = Site::new(move |_| hits(&urls));
    let listed = |args: Value| {
        let output = search(&site, args).expect("hits");
        let rows = output.data["results"].as_array().expect("a list").clone();
        rows.iter()
            .map(|row| row["url"].as_str().expect("a URL").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        listed(json!({ "query": "a & b" })),
        [
            "https://docs.rs/a",
            "https://evil.com/docs.rs",
            "https://x.docs.rs/b"
        ]
    );
    assert_eq!(site.asked(), ["/search?q=a+%26+b&format=json"]);
    assert_eq!(
        listed(json!({ "query": "q", "allowed_domains": ["docs.rs"] })),
        ["https://docs.rs/a", "https://x.docs.rs/b"]
    );
    assert_eq!(
        listed(json!({ "query": "q", "blocked_domains": ["docs.rs"] })),
        ["https://evil.com/docs.rs"]
    );
    let output = search(&site, json!({ "query": "q", "max_results": 1 })).expect("hits");
    assert_eq!(output.text, "1. T\n   https://docs.rs/a\n   a b\n");
    for bad in [
        json!({ "query": " " }),
        json!({ "query": "q", "max_results": 0 }),
        json!({ "query": "q", "max_results": 51 }),
        json!({ "query": "q", "allowed_domains": ["a"], "blocked_domains": ["b"] }),
    ] {
        assert_eq!(
            search(&site, bad.clone()).expect_err("bad").kind(),
            ErrorKind::InvalidArgs,
            "{bad}"
        );
    }
}

#[test]
fn hits_are_capped_at_ten() {
    let page = |count: usize| {
        (0..count)
            .map(|n| format!("https://a.org/{n}"))
            .collect::<Vec<_>>()
    };
    let site = Site::new(move |path| hits(&page(if path.contains("ten") { 10 } else { 11 })));
    let count = |words: &str| {
        let output = search(&site, json!({ "query": words })).expect("hits");
        output.data["results"].as_array().map(Vec::len)
    };
    assert_eq!((count("ten"), count("eleven")), (Some(10), Some(10)));
    let more = search(&site, json!({ "query": "x", "max_results": 11 })).expect("hits");
    assert_eq!(more.data["results"].as_array().map(Vec::len), Some(11));
}

#[test]
fn a_provider_that_does_not_serve_json_says_so() {
    let site = Site::new(|path| match path {
        path if path.contains("forbidden") => Some((403, Vec::new(), Vec::new())),
        path if path.contains("html") => text("text/html", "<html>"),
        _ => text("application/json", r#"{"results":[]}"#),
    });
    let message = |words: &str| {
        search(&site, json!({ "query": words }))
            .expect_err(words)
            .message()
            .to_owned()
    };
    assert!(message("forbidden").contains("search.formats"));
    assert!(message("html").contains("a page of HTML instead of hits"));
    assert_eq!(
        search(&site, json!({ "query": "none" }))
            .expect("no hits")
            .text,
        "no hits"
    );
    assert!(Searxng::new("ftp://x", Duration::from_secs(1)).is_err());
}

// R149, D32: without a provider the tool is not there, and the reason is.
#[test]
fn without_a_provider_there_is_no_search() {
    let fetcher = Fetcher::new(Allowed::default(), Duration::from_secs(1));
    let run = run_with(WebResources::new(fetcher));
    let names: Vec<String> = run.specs().into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["WebFetch"]);
    let absent = run.unavailable();
    let reason = absent
        .iter()
        .find(|absent| absent.name == "WebSearch")
        .expect("it is named");
    assert!(reason.reason.contains("[web.search]"), "{reason:?}");
    let bare = Run::builder(connect(&Resources::default())).build();
    assert!(bare.specs().is_empty());
}
