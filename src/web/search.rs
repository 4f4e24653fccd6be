//! Web searches through a provider; a SearXNG instance is one.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::cancel::Cancel;
use crate::limits;
use crate::web::fetch::{FetchError, Fetcher};
use crate::web::guard::Allowed;

/// Searches the web.
pub trait SearchProvider: Send + Sync {
    /// Returns hits in the order of the provider, domains not yet filtered.
    fn search(&self, words: &str, cancel: &Cancel) -> Result<Hits, SearchError>;
}

/// What a search found, and what it could not ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// The hits, the best first.
    pub results: Vec<Hit>,
    /// What the provider asked in vain, each with the reason, such as `google: timeout`: nothing found says
    /// little then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
}

/// One hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The title of the page.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A few words of it.
    pub snippet: String,
}

/// What to search for, and which hits to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub words: String,
    /// Keep only hits of these domains and those beneath; all when empty.
    pub allowed_domains: Vec<String>,
    /// Leave out hits of these domains and those beneath.
    pub blocked_domains: Vec<String>,
    /// Keep so many.
    pub max_results: usize,
}

/// Why there are no hits.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The provider cannot be reached.
    #[error("cannot reach the search provider")]
    Unreachable(#[from] FetchError),
    /// The provider answers something else than hits.
    #[error("the search provider at {url} answers {what}")]
    Answer {
        /// The provider.
        url: String,
        /// What it answers.
        what: String,
    },
}

/// A SearXNG instance, asked through its JSON API.
#[derive(Clone, Debug)]
pub struct Searxng {
    base: Url,
    fetcher: Fetcher,
}

impl SearchQuery {
    /// Searches, and keeps what the query allows; a page is listed once.
    pub fn run(&self, provider: &dyn SearchProvider, cancel: &Cancel) -> Result<Hits, SearchError> {
        let mut kept: Vec<Hit> = Vec::new();
        let found = provider.search(&self.words, cancel)?;
        for hit in found.results {
            let wanted = self.allowed_domains.is_empty() || is_in(&hit.url, &self.allowed_domains);
            if wanted
                && !is_in(&hit.url, &self.blocked_domains)
                && !kept.iter().any(|other| other.url == hit.url)
            {
                kept.push(hit);
            }
        }
        kept.truncate(self.max_results);
        Ok(Hits {
            results: kept,
            unanswered: found.unanswered,
        })
    }
}

impl Searxng {
    /// Uses the instance at `base`, such as `https://search.example.org`. The host of the run chose it, so
    /// it may be on this machine.
    pub fn new(base: &str, time: Duration) -> Result<Self, String> {
        let mut base = Url::parse(base).map_err(|err| format!("'{base}' is no URL: {err}"))?;
        let Some(host) = base
            .host_str()
            .filter(|_| matches!(base.scheme(), "http" | "https"))
        else {
            return Err(format!("'{base}' is no http or https URL"));
        };
        let fetcher = Fetcher::new(Allowed::host(host), time);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { base, fetcher })
    }

    fn answer(&self, what: impl Into<String>) -> SearchError {
        SearchError::Answer {
            url: self.base.to_string(),
            what: what.into(),
        }
    }
}

impl SearchProvider for Searxng {
    fn search(&self, words: &str, cancel: &Cancel) -> Result<Hits, SearchError> {
        // https://docs.searxng.org/dev/search_api.html; the keys are those that an instance sends.
        #[derive(Deserialize)]
        struct Answer {
            results: Vec<Row>,
            #[serde(default)]
            unresponsive_engines: Vec<Value>,
        }
        #[derive(Deserialize)]
        struct Row {
            title: Option<String>,
            /// Tables of keys and values are results too, and lead to no page.
            url: Option<String>,
            content: Option<String>,
        }
        let mut url = self
            .base
            .join("search")
            .map_err(|err| self.answer(err.to_string()))?;
        url.query_pairs_mut()
            .append_pair("q", words)
            .append_pair("format", "json");
        let (status, bytes) = self.fetcher.body(&url, cancel)?;
        match status {
            200 => {}
            403 => {
                return Err(
                    self.answer("403: its settings do not allow the format json (search.formats)")
                );
            }
            429 => {
                return Err(self.answer("429: its limiter takes no more searches for a while"));
            }
            status => return Err(self.answer(format!("status {status}{}", said(&bytes)))),
        }
        let answer: Answer = serde_json::from_slice(&bytes).map_err(|err| {
            self.answer(match bytes.trim_ascii_start().first() {
                Some(b'<') => {
                    "a page of HTML instead of hits: is this the address of the instance itself?"
                        .to_owned()
                }
                _ => format!("something else than hits: {err}"),
            })
        })?;
        let hit = |row: Row| {
            Some(Hit {
                title: row.title.unwrap_or_default().trim().to_owned(),
                url: row.url.filter(|url| !url.is_empty())?,
                snippet: shortened(row.content.unwrap_or_default().trim()),
            })
        };
        Ok(Hits {
            results: answer.results.into_iter().filter_map(hit).collect(),
            unanswered: answer.unresponsive_engines.iter().map(engine).collect(),
        })
    }
}

/// What went wrong in the words of the instance: `{"error": "No query"}`.
fn said(bytes: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Complaint {
        error: String,
    }
    match serde_json::from_slice::<Complaint>(bytes) {
        Ok(complaint) => format!(": {}", shortened(complaint.error.trim())),
        Err(_) => String::new(),
    }
}

/// An engine that did not answer: a pair of its name and the reason.
fn engine(pair: &Value) -> String {
    let words: Vec<&str> = match pair {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        Value::String(word) => vec![word],
        _ => Vec::new(),
    };
    match words.is_empty() {
        true => "an engine".to_owned(),
        false => shortened(&words.join(": ")),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(limits::SEARCH_SNIPPET_CHARS).collect()
}

/// Whether a page is of one of the domains or beneath one.
fn is_in(page: &str, domains: &[String]) -> bool {
    let url = Url::parse(page).ok();
    let Some(host) = url.as_ref().and_then(Url::host_str) else {
        return false;
    };
    domains.iter().any(|domain| {
        let domain = domain
            .trim_start_matches("*.")
            .trim_matches('.')
            .to_ascii_lowercase();
        !domain.is_empty()
            && host
                .strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_covers_what_is_beneath_it_and_nothing_beside() {
        let covered = |page: &str| is_in(page, &["Example.org".to_owned()]);
        assert!(covered("https://example.org/x") && covered("http://a.b.example.org:8080/"));
        assert!(!covered("https://notexample.org/") && !covered("https://example.org.evil.com/"));
        assert!(!covered("nonsense"));
        assert!(!is_in("https://example.org/", &[String::new()]));
        assert!(is_in("https://docs.rs/x", &["*.docs.rs".to_owned()]));
    }
}
