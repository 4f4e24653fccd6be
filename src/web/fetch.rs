//! One page over HTTP.

use std::error::Error as _;
use std::fmt;
use std::io::Read;
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use ureq::http::{Response, StatusCode};
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::DefaultConnector;
use url::Url;

use crate::cancel::Cancel;
use crate::limits;
use crate::text::clip;
use crate::web::guard::{Allowed, Forbidden, GuardedResolver};
use crate::web::page::{self, Content};

/// What to say that one would rather have.
const ACCEPTED: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// Fetches pages; clones share it.
#[derive(Clone)]
pub struct Fetcher {
    agent: Agent,
    time: Duration,
}

/// One page, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What was asked for.
    pub url: Url,
    /// Where it was found, after redirects.
    pub final_url: Url,
    /// The status of the answer.
    pub status: u16,
    /// The media type, without parameters; empty where the server named none.
    pub content_type: String,
    /// The page as Markdown, or the text itself where it is no HTML.
    pub markdown: String,
    /// Whether the page goes on behind what was kept.
    pub truncated: bool,
    /// The other host that the page has moved to; it was not asked.
    pub moved: Option<Redirect>,
}

/// A redirect that was not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Where it points.
    pub to: Url,
    /// Why it was not followed.
    pub why: &'static str,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The text is no URL that can be fetched.
    #[error("cannot fetch '{url}': {reason}")]
    BadUrl {
        /// The text.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The address is not one of the public internet, and was not allowed.
    #[error("refused to connect to {0}")]
    Forbidden(String),
    /// The answer is no text.
    #[error("'{url}' is {content_type}, which is no text")]
    NoText {
        /// The page.
        url: String,
        /// The media type, or what was found.
        content_type: String,
    },
    /// Redirects lead in circles or too far.
    #[error("'{0}' was redirected more than {max} times", max = limits::FETCH_REDIRECTS)]
    TooManyRedirects(String),
    /// The page took too long.
    #[error("'{url}' took longer than {} s", time.as_secs_f64())]
    Timeout {
        /// The page.
        url: String,
        /// The limit.
        time: Duration,
    },
    /// The call was cancelled.
    #[error("the fetch was cancelled")]
    Cancelled,
    /// The connection failed, or the server broke the protocol.
    #[error("cannot fetch '{url}': {reason}")]
    Failed {
        /// The page.
        url: String,
        /// What happened.
        reason: String,
    },
}

impl Fetcher {
    /// Makes a fetcher; `allowed` may be reached although it is not public. A whole fetch, redirects
    /// included, takes at most `time`.
    pub fn new(allowed: Allowed, time: Duration) -> Self {
        Self::over(DefaultResolver::default(), allowed, time)
    }

    fn over(inner: impl Resolver, allowed: Allowed, time: Duration) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Each hop is checked here before it is followed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // A proxy would connect to an address that nobody checked.
            .proxy(None)
            .max_response_header_size(64 << 10)
            .user_agent(concat!("toolbox/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(time))
            .build();
        let resolver = GuardedResolver { inner, allowed };
        Self {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            time,
        }
    }

    /// Fetches one page with GET.
    pub fn fetch(&self, url: &str, cancel: &Cancel) -> Result<Page, FetchError> {
        let asked = parse(url)?;
        let fetcher = self.clone();
        self.elsewhere(url, cancel, move |cancel| fetcher.page(asked, cancel))
    }

    /// Fetches the body of an answer whatever its type, for a program that reads it.
    pub(super) fn body(&self, url: &Url, cancel: &Cancel) -> Result<(u16, Vec<u8>), FetchError> {
        let fetcher = self.clone();
        let asked = url.clone();
        self.elsewhere(url.as_str(), cancel, move |cancel| {
            let response = fetcher.get(&asked)?;
            let status = response.status().as_u16();
            let (bytes, _) = fetcher.read(&asked, response, cancel)?;
            Ok((status, bytes))
        })
    }

    /// Runs what blocks in a thread of its own, so that a cancel is answered at once.
    ///
    /// The thread that stays behind ends with its own time limit.
    fn elsewhere<T: Send + 'static>(
        &self,
        url: &str,
        cancel: &Cancel,
        work: impl FnOnce(&Cancel) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<T, FetchError> {
        let (sender, done) = crossbeam_channel::bounded(1);
        let (waker, woken) = crossbeam_channel::bounded::<()>(1);
        let _guard = cancel.on_cancel(move || {
            // A full channel has been woken already.
            let _ = waker.try_send(());
        });
        let inner = cancel.child();
        std::thread::Builder::new()
            .name("fetch".to_owned())
            .stack_size(limits::FETCH_STACK_BYTES)
            .spawn(move || {
                let _ = sender.send(work(&inner));
            })
            .map_err(|err| FetchError::Failed {
                url: url.to_owned(),
                reason: err.to_string(),
            })?;
        // The agent's own limit comes first; this one is for what it does not cover.
        let deadline = Instant::now() + self.time + Duration::from_secs(5);
        crossbeam_channel::select! {
            recv(done) -> res => res.unwrap_or_else(|_| Err(FetchError::Failed {
                url: url.to_owned(),
                reason: "the page could not be read".to_owned(),
            })),
            recv(woken) -> _ => Err(FetchError::Cancelled),
            default(deadline.saturating_duration_since(Instant::now())) => Err(self.timeout(url)),
        }
    }

    fn page(&self, asked: Url, cancel: &Cancel) -> Result<Page, FetchError> {
        let mut url = asked.clone();
        for _ in 0..=limits::FETCH_REDIRECTS {
            if cancel.is_cancelled() {
                return Err(FetchError::Cancelled);
            }
            let response = self.get(&url)?;
            let status = response.status();
            let Some(target) = redirect(&url, &response)? else {
                return self.content(asked, url, response, cancel);
            };
            if let Some(why) = not_followed(&url, &target) {
                return Ok(Page {
                    url: asked,
                    final_url: url,
                    status: status.as_u16(),
                    content_type: String::new(),
                    markdown: String::new(),
                    truncated: false,
                    moved: Some(Redirect { to: target, why }),
                });
            }
            url = target;
        }
        Err(FetchError::TooManyRedirects(asked.to_string()))
    }

    fn content(
        &self,
        asked: Url,
        url: Url,
        response: Response<ureq::Body>,
        cancel: &Cancel,
    ) -> Result<Page, FetchError> {
        let header = response.headers().get(CONTENT_TYPE);
        let header = header
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let header = header.to_owned();
        let status = response.status().as_u16();
        let kind = page::media_type(&header);
        if !page::may_be_text(&kind) {
            return Err(FetchError::NoText {
                url: url.to_string(),
                content_type: kind,
            });
        }
        let (bytes, cut) = self.read(&url, response, cancel)?;
        let content = Content {
            header: &header,
            bytes: &bytes,
            base: &url,
        };
        let text = content.text().map_err(|reason| FetchError::NoText {
            url: url.to_string(),
            content_type: reason,
        })?;
        let (markdown, clipped) = page::clip(text, limits::FETCH_CHARS);
        Ok(Page {
            url: asked,
            final_url: url,
            status,
            content_type: kind,
            markdown,
            truncated: cut || clipped,
            moved: None,
        })
    }

    fn get(&self, url: &Url) -> Result<Response<ureq::Body>, FetchError> {
        // The fragment is for the reader; a server never sees it.
        let mut bare = url.clone();
        bare.set_fragment(None);
        self.agent
            .get(bare.as_str())
            .header(ACCEPT, ACCEPTED)
            .call()
            .map_err(|err| self.failed(url, err))
    }

    /// Reads a body up to the limit; tells whether it goes on.
    fn read(
        &self,
        url: &Url,
        response: Response<ureq::Body>,
        cancel: &Cancel,
    ) -> Result<(Vec<u8>, bool), FetchError> {
        let mut reader = response
            .into_body()
            .into_with_config()
            .limit(u64::MAX)
            .reader();
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            if cancel.is_cancelled() {
                return Err(FetchError::Cancelled);
            }
            let count = reader
                .read(&mut buffer)
                .map_err(|err| self.broken(url, err))?;
            if count == 0 {
                return Ok((bytes, false));
            }
            // What counts is what came out of the decompression.
            let room = limits::FETCH_BYTES - bytes.len();
            bytes.extend_from_slice(&buffer[..count.min(room)]);
            if count > room {
                return Ok((bytes, true));
            }
        }
    }

    fn broken(&self, url: &Url, err: std::io::Error) -> FetchError {
        match err.downcast::<ureq::Error>() {
            Ok(err) => self.failed(url, err),
            Err(err) => FetchError::Failed {
                url: url.to_string(),
                reason: err.to_string(),
            },
        }
    }

    fn failed(&self, url: &Url, err: ureq::Error) -> FetchError {
        let reason = match err {
            ureq::Error::Timeout(_) => return self.timeout(url.as_str()),
            ureq::Error::Other(err) if err.is::<Forbidden>() => {
                return FetchError::Forbidden(err.to_string());
            }
            ureq::Error::HostNotFound => {
                format!(
                    "the host '{}' is not known",
                    url.host_str().unwrap_or_default()
                )
            }
            err => match err.source() {
                Some(cause) => format!("{err}: {cause}"),
                None => err.to_string(),
            },
        };
        FetchError::Failed {
            url: url.to_string(),
            reason,
        }
    }

    fn timeout(&self, url: &str) -> FetchError {
        FetchError::Timeout {
            url: url.to_owned(),
            time: self.time,
        }
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

/// Reads what was asked for.
fn parse(text: &str) -> Result<Url, FetchError> {
    let bad = |reason: &str| FetchError::BadUrl {
        url: clip(text, QUOTED_CHARS).into_owned(),
        reason: reason.to_owned(),
    };
    let url = Url::parse(text.trim()).map_err(|err| match err {
        url::ParseError::RelativeUrlWithoutBase => {
            bad("name the whole URL, such as https://host/path")
        }
        err => bad(&err.to_string()),
    })?;
    fetchable(&url).map_err(bad)?;
    Ok(url)
}

const _: () = assert!(
    limits::FETCH_URL_BYTES == 8192,
    "the message below names it"
);

/// Characters of a refused address that an error quotes.
const QUOTED_CHARS: usize = 200;

fn fetchable(url: &Url) -> Result<(), &'static str> {
    if url.as_str().len() > limits::FETCH_URL_BYTES {
        return Err("it is longer than 8192 bytes");
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only http and https are fetched");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("it has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL with a user name or a password is not fetched");
    }
    Ok(())
}

/// Where an answer redirects to, if it does.
fn redirect(url: &Url, response: &Response<ureq::Body>) -> Result<Option<Url>, FetchError> {
    let followed = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    if !followed.contains(&response.status()) {
        return Ok(None);
    }
    let bad = |reason: String| FetchError::Failed {
        url: url.to_string(),
        reason,
    };
    let text = String::from_utf8_lossy(location.as_bytes());
    let bad_target = |why: &str| {
        bad(format!(
            "it redirects to '{}': {why}",
            clip(&text, QUOTED_CHARS)
        ))
    };
    let target = url
        .join(&text)
        .map_err(|err| bad_target(&err.to_string()))?;
    fetchable(&target).map_err(bad_target)?;
    Ok(Some(target))
}

/// Why a redirect is reported instead of followed.
fn not_followed(from: &Url, to: &Url) -> Option<&'static str> {
    if from.host() != to.host() {
        return Some("it is another host");
    }
    match (from.scheme(), to.scheme()) {
        ("https", "http") => Some("it leaves the encrypted connection"),
        // From the standard port of one scheme to that of the other.
        ("http", "https") if from.port().is_none() && to.port().is_none() => None,
        _ if from.port_or_known_default() != to.port_or_known_default() => {
            Some("it is another port of the host")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::{Arc, Mutex};

    use ureq::config::Config;
    use ureq::http::Uri;
    use ureq::unversioned::resolver::ResolvedSocketAddrs;
    use ureq::unversioned::transport::NextTimeout;

    use super::*;

    /// Names that change their mind: each question takes the next answer.
    #[derive(Clone, Debug)]
    struct Names(Arc<Mutex<VecDeque<Vec<SocketAddr>>>>);

    impl Resolver for Names {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let answer = self.0.lock().unwrap().pop_front();
            let mut addrs = self.empty();
            for addr in answer.ok_or(ureq::Error::HostNotFound)? {
                addrs.push(addr);
            }
            Ok(addrs)
        }
    }

    impl Names {
        fn new(answers: &[&[SocketAddr]]) -> Self {
            let answers = answers.iter().map(|answer| answer.to_vec());
            Self(Arc::new(Mutex::new(answers.collect())))
        }

        fn fetch(&self, allowed: &[&str]) -> Result<Page, FetchError> {
            let allowed = Allowed::new(allowed).unwrap();
            let fetcher = Fetcher::over(self.clone(), allowed, Duration::from_secs(60));
            fetcher.fetch("http://some.name/one", &Cancel::new())
        }

        fn n_left(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    // R148: of a name with a good and a bad address, in either order, none is connected to.
    #[test]
    fn one_bad_address_of_a_name_is_enough() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let good = listener.local_addr().unwrap();
        let bad: SocketAddr = "169.254.169.254:80".parse().unwrap();
        for answer in [[good, bad], [bad, good]] {
            let err = Names::new(&[&answer]).fetch(&["127.0.0.1"]).unwrap_err();
            assert!(err.to_string().contains("169.254.169.254"), "{err}");
            assert!(matches!(err, FetchError::Forbidden(_)));
        }
        let untouched = listener.accept().unwrap_err().kind();
        assert_eq!(untouched, std::io::ErrorKind::WouldBlock);
    }

    // R148: a name is asked once for each hop, its answer is what is connected to, and every hop is checked.
    #[test]
    fn a_name_that_changes_its_mind_changes_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let good = listener.local_addr().unwrap();
        let bad: SocketAddr = "10.0.0.1:80".parse().unwrap();
        let server = std::thread::spawn(move || {
            for answer in [
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi",
                "HTTP/1.1 302 Found\r\nlocation: /two\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            ] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let names = Names::new(&[&[good], &[bad]]);
        assert_eq!(names.fetch(&["127.0.0.1"]).unwrap().markdown, "hi");
        assert_eq!(names.n_left(), 1, "it was asked once");
        let names = Names::new(&[&[good], &[bad], &[good]]);
        let err = names.fetch(&["127.0.0.1"]).unwrap_err();
        assert!(err.to_string().contains("10.0.0.1"), "{err}");
        assert_eq!(names.n_left(), 1);
        server.join().unwrap();
    }

    fn url(text: &str) -> Url {
        parse(text).expect("it can be fetched")
    }

    // R148: one page with GET, over HTTP.
    #[test]
    fn only_whole_web_addresses_are_fetched() {
        for bad in [
            "",
            "example.com",
            "/path",
            "file:///etc/passwd",
            "ftp://host/x",
            "javascript:alert(1)",
            "http://",
            "http://user@host/",
            "http://user:secret@host/",
        ] {
            assert!(
                matches!(parse(bad), Err(FetchError::BadUrl { .. })),
                "{bad}"
            );
        }
        assert_eq!(url(" https://host/a b ").as_str(), "https://host/a%20b");
        // An address of the limit is fetched, and one that is longer is not repeated.
        let long = |bytes: usize| format!("http://a/{}", "x".repeat(bytes - "http://a/".len()));
        assert!(parse(&long(limits::FETCH_URL_BYTES)).is_ok());
        let err = parse(&long(limits::FETCH_URL_BYTES + 1)).expect_err("too long");
        assert!(
            err.to_string()
                .ends_with("…': it is longer than 8192 bytes"),
            "{err}"
        );
        assert!(err.to_string().len() < 300);
        // Numbers that stand for an address are read before they are checked.
        assert_eq!(url("http://2130706433/").host_str(), Some("127.0.0.1"));
        assert_eq!(url("http://0x7f.1/").host_str(), Some("127.0.0.1"));
    }

    #[test]
    fn only_redirects_on_the_same_host_are_followed() {
        let follow = |from: &str, to: &str| not_followed(&url(from), &url(to)).is_none();
        assert!(follow("http://a/x", "http://a/y"));
        assert!(follow("http://a/x", "https://a/y"));
        assert!(follow("http://A/x", "http://a:80/y"));
        assert!(!follow("http://a/x", "http://b/x"));
        assert!(!follow("http://a/x", "http://www.a/x"));
        assert!(!follow("https://a/x", "http://a/x"));
        assert!(!follow("http://a/x", "http://a:8080/x"));
        assert!(!follow("http://a:8080/x", "https://a/x"));
    }
}
