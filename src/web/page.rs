//! What the bytes of an answer are, and how they become text.

use encoding_rs::{Encoding, UTF_8};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, HtmlToMarkdown};
use url::Url;

use crate::limits;

/// Bytes in which a page declares its own encoding, as the HTML standard has it.
const DECLARED_WITHIN: usize = 1024;

/// The body of an answer.
pub(super) struct Content<'a> {
    /// The header `Content-Type`.
    pub(super) header: &'a str,
    pub(super) bytes: &'a [u8],
    /// Where relative links start from.
    pub(super) base: &'a Url,
}

impl Content<'_> {
    /// Returns the page as Markdown, or the text itself; the error says what the bytes are instead.
    pub(super) fn text(&self) -> Result<String, String> {
        let kind = media_type(self.header);
        let named = charset(self.header);
        let bytes = self.bytes;
        let text = decode(bytes, named, is_html(&kind));
        // A server may name no type, or one that its bytes disprove.
        if text.contains('\0') {
            return Err("binary data".to_owned());
        }
        let html = is_html(&kind) || (kind.is_empty() && looks_like_html(&text));
        match html {
            true => markdown(&text, self.base),
            false => Ok(text),
        }
    }
}

/// Returns the media type of a header, in lower case and without parameters.
pub(super) fn media_type(header: &str) -> String {
    let kind = header.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Tells whether a media type may hold text; an unknown or missing one is decided by the bytes.
pub(super) fn may_be_text(kind: &str) -> bool {
    let Some((top, sub)) = kind.split_once('/') else {
        return true;
    };
    if top == "text" {
        return true;
    }
    const TEXTS: [&str; 16] = [
        "json",
        "xml",
        "xhtml+xml",
        "javascript",
        "ecmascript",
        "x-javascript",
        "typescript",
        "yaml",
        "x-yaml",
        "toml",
        "x-sh",
        "x-httpd-php",
        "sql",
        "graphql",
        "x-ndjson",
        "rtf",
    ];
    top == "application"
        && (TEXTS.contains(&sub)
            || sub.ends_with("+json")
            || sub.ends_with("+xml")
            || sub.ends_with("+yaml"))
        || kind == "image/svg+xml"
        || top == "message"
}

/// Cuts a text to so many characters; tells whether it was longer.
pub(super) fn clip(mut text: String, chars: usize) -> (String, bool) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => {
            text.truncate(at);
            (text, true)
        }
        None => (text, false),
    }
}

fn is_html(kind: &str) -> bool {
    matches!(kind, "text/html" | "application/xhtml+xml")
}

fn looks_like_html(text: &str) -> bool {
    let beginning: String = text.trim_start().chars().take(256).collect();
    let beginning = beginning.to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|tag| beginning.starts_with(tag))
}

fn charset(header: &str) -> Option<&'static Encoding> {
    let label = header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })?;
    Encoding::for_label(label.trim().trim_matches('"').as_bytes())
}

/// Decodes by the byte order mark, the header, what the page declares, and else as UTF-8.
fn decode(bytes: &[u8], named: Option<&'static Encoding>, html: bool) -> String {
    let declared = || html.then(|| declared(bytes)).flatten();
    let encoding = named.or_else(declared).unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

/// The encoding that a page declares in its head.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]);
    let beginning = beginning.to_ascii_lowercase();
    let at = beginning.find("charset=")? + "charset=".len();
    let label: String = beginning[at..]
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|&c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    Encoding::for_label(label.as_bytes())
}

fn markdown(html: &str, base: &Url) -> Result<String, String> {
    let too_deep = || {
        format!(
            "HTML that nests deeper than {} elements",
            limits::FETCH_NESTING
        )
    };
    // The parser looks through all open elements at every tag, so a hopeless page is not parsed at all.
    if may_open(html) > limits::FETCH_OPEN_ELEMENTS {
        return Err(too_deep());
    }
    let base = base.clone();
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec![
            "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head",
        ])
        .add_handler(
            vec!["a", "img"],
            move |handlers: &dyn Handlers, element: Element<'_>| {
                with_whole_links(handlers, element, &base)
            },
        )
        .build();
    let tree = converter
        .html_to_tree(html)
        .map_err(|err| format!("HTML that cannot be read: {err}"))?;
    // The conversion goes down the tree by recursion, and a stack has an end.
    if is_deeper(&tree, limits::FETCH_NESTING) {
        return Err(too_deep());
    }
    let text = converter.tree_to_markdown(&tree);
    let title =
        title(html).filter(|title| !text.trim_start().starts_with('#') && !title.is_empty());
    Ok(match title {
        Some(title) => format!("# {title}\n\n{}\n", text.trim()),
        None => format!("{}\n", text.trim()),
    })
}

/// How many elements a page may have open at once, estimated from its tags alone.
///
/// Tags that the parser closes by itself are not counted; what stands in comments and scripts is.
fn may_open(html: &str) -> usize {
    const CLOSED_BY_ITSELF: [&str; 30] = [
        "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li",
        "link", "meta", "optgroup", "option", "p", "param", "path", "rp", "rt", "source", "tbody",
        "td", "tfoot", "th", "thead", "tr", "track", "wbr",
    ];
    let mut open = 0usize;
    let mut most = 0;
    for tag in html.split('<').skip(1) {
        let (closes, rest) = match tag.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let name: String = rest
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .take(16)
            .collect::<String>()
            .to_ascii_lowercase();
        if name.is_empty() || CLOSED_BY_ITSELF.contains(&name.as_str()) {
            continue;
        }
        if closes {
            open = open.saturating_sub(1);
        } else {
            open += 1;
            most = most.max(open);
        }
    }
    most
}

/// A link of a page means nothing without the page, so each becomes a whole one.
fn with_whole_links(
    handlers: &dyn Handlers,
    element: Element<'_>,
    base: &Url,
) -> Option<HandlerResult> {
    let mut attrs = element.attrs.to_vec();
    for attr in &mut attrs {
        if matches!(&*attr.name.local, "href" | "src") {
            // A picture inside of the page would be thousands of letters.
            if attr.value.trim_start().starts_with("data:") {
                attr.value = "data:".into();
            } else if let Ok(whole) = base.join(&attr.value) {
                attr.value = whole.as_str().into();
            }
        }
    }
    let mut element = element;
    element.attrs = &attrs;
    handlers.fallback(element)
}

/// Whether a tree has a node below so many others; without recursion.
fn is_deeper(tree: &std::rc::Rc<htmd::Node>, limit: usize) -> bool {
    let mut level = vec![std::rc::Rc::clone(tree)];
    for _ in 0..=limit {
        level = level
            .iter()
            .flat_map(|node| node.children.borrow().clone())
            .collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

/// The title of a page: its head is not converted.
fn title(html: &str) -> Option<String> {
    let lower = html
        .get(..html.len().min(1 << 16))
        .unwrap_or(html)
        .to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let raw = html.get(start..end)?;
    let plain = HtmlToMarkdown::new().convert(raw).ok()?;
    Some(plain.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, bytes: &[u8]) -> Result<String, String> {
        let base = Url::parse("https://host/dir/page").expect("a URL");
        Content {
            header,
            bytes,
            base: &base,
        }
        .text()
    }

    #[test]
    fn html_becomes_markdown_with_whole_links() {
        let html = "<html><head><title>The &amp; page</title><style>x{}</style></head><body>\
            <h2>Part</h2><p>See <a href='../other?q=1'>this</a> and <b>that</b>.</p>\
            <script>alert(1)</script><ul><li>one<li>two</ul>\
            <img alt=pic src='/p.png'><pre><code>let x;\n</code></pre>\
            <table><tr><th>a<th>b</tr><tr><td>1<td>2</tr></table></body></html>";
        let text = read("text/html; charset=utf-8", html.as_bytes()).expect("text");
        for part in [
            "## Part",
            "[this](https://host/other?q=1)",
            "**that**",
            "one",
            "![pic](https://host/p.png)",
            "```\nlet x;\n```",
            "| a",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("alert") && !text.contains("x{}"), "{text}");
        // The page begins with a heading of its own, so the title is not repeated above it.
        assert!(text.starts_with("## Part"), "{text}");
        let text = read("text/html", b"<title> A\n title</title><p>x").expect("text");
        assert_eq!(text, "# A title\n\nx\n");
    }

    #[test]
    fn text_stays_what_it_is() {
        assert_eq!(read("text/plain", b"<b>x</b>").as_deref(), Ok("<b>x</b>"));
        assert_eq!(read("application/json", b"{}").as_deref(), Ok("{}"));
        assert_eq!(read("", b"plain").as_deref(), Ok("plain"));
        assert_eq!(read("", b"<!DOCTYPE html><p>x").as_deref(), Ok("x\n"));
    }

    #[test]
    fn encodings_are_read_from_mark_header_and_page() {
        assert_eq!(
            read("text/plain; charset=ISO-8859-1", b"\xe9").as_deref(),
            Ok("é")
        );
        assert_eq!(read("text/plain", b"\xef\xbb\xbfx").as_deref(), Ok("x"));
        assert_eq!(read("text/plain", b"\xff\xfex\0").as_deref(), Ok("x"));
        let page = b"<meta charset='windows-1251'><p>\xef\xf0\xe8";
        assert_eq!(read("text/html", page).as_deref(), Ok("при\n"));
        // The header goes before the page, and what neither names is UTF-8.
        assert_eq!(
            read("text/html; charset=\"utf-8\"", "<p>é".as_bytes()).as_deref(),
            Ok("é\n")
        );
        assert_eq!(
            read("text/plain; charset=nonsense", "é".as_bytes()).as_deref(),
            Ok("é")
        );
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        for kind in [
            "image/png",
            "application/pdf",
            "application/octet-stream",
            "video/mp4",
            "font/woff2",
        ] {
            assert!(!may_be_text(kind), "{kind}");
        }
        for kind in [
            "",
            "text/css",
            "application/json",
            "application/ld+json",
            "image/svg+xml",
        ] {
            assert!(may_be_text(kind), "{kind}");
        }
        assert_eq!(read("text/plain", b"a\0b"), Err("binary data".to_owned()));
    }

    #[test]
    fn a_page_that_nests_too_deep_is_refused() {
        let deep = |levels: usize| format!("{}x", "<div>".repeat(levels));
        let at_most = limits::FETCH_NESTING;
        let convert = move |levels: usize| {
            std::thread::Builder::new()
                .stack_size(limits::FETCH_STACK_BYTES)
                .spawn(move || read("text/html", deep(levels).as_bytes()))
                .expect("a thread")
                .join()
                .expect("no panic")
        };
        // The document, its root and its body are levels too, and the text is one.
        assert_eq!(convert(at_most - 3).as_deref(), Ok("x\n"));
        assert!(convert(at_most - 2).is_err());
        assert!(convert(200_000).is_err());
    }

    #[test]
    fn a_text_is_cut_at_characters() {
        assert_eq!(clip("é€".to_owned(), 2), ("é€".to_owned(), false));
        assert_eq!(clip("é€x".to_owned(), 2), ("é€".to_owned(), true));
    }
}
