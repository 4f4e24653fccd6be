//! `WebSearch`: hits of a search provider.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::web_fetch::fetch_error;
use crate::limits;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};
use crate::web::{FetchError, Hits, SearchError, SearchProvider, SearchQuery};

/// The tool `WebSearch`.
#[derive(Clone)]
pub struct WebSearch {
    provider: Arc<dyn SearchProvider>,
}

/// The arguments of `WebSearch`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchArgs {
    /// The words to search for.
    query: String,
    /// Keep only hits of these domains and those beneath them, such as `docs.rs`. Not together with
    /// `blocked_domains`.
    #[serde(default)]
    allowed_domains: Vec<String>,
    /// Leave out hits of these domains and those beneath them.
    #[serde(default)]
    blocked_domains: Vec<String>,
    /// How many hits to return at most.
    #[serde(default = "default_max_results")]
    #[schemars(range(min = 1, max = 50))]
    max_results: usize,
}

const MOST_RESULTS: usize = 50;

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Report(Hits);

fn default_max_results() -> usize {
    limits::SEARCH_HITS
}

impl WebSearch {
    /// Makes the tool over a provider.
    pub fn new(provider: Arc<dyn SearchProvider>) -> Self {
        Self { provider }
    }
}

impl Tool for WebSearch {
    const NAME: &'static str = "WebSearch";
    const TIER: Tier = Tier::Read;
    type Args = WebSearchArgs;

    fn description(&self) -> String {
        "Searches the web and returns titles, addresses and a few words of each hit. Use it to find a page \
         that you do not have the address of; read the page with WebFetch. For code of this workspace use \
         Grep or ast_grep."
            .to_owned()
    }

    fn run(&self, call: &Call<'_>, args: WebSearchArgs) -> Result<Output, ToolError> {
        if args.query.trim().is_empty() {
            return Err(
                ToolError::invalid_args("the query is empty").with_hint("pass words to search for")
            );
        }
        if !args.allowed_domains.is_empty() && !args.blocked_domains.is_empty() {
            return Err(ToolError::invalid_args(
                "allowed_domains and blocked_domains are both given",
            )
            .with_hint("pass one of them"));
        }
        if !(1..=MOST_RESULTS).contains(&args.max_results) {
            return Err(ToolError::invalid_args(format!(
                "max_results is {}: pass 1 to {MOST_RESULTS}",
                args.max_results
            )));
        }
        let query = SearchQuery {
            words: args.query.trim().to_owned(),
            allowed_domains: args.allowed_domains,
            blocked_domains: args.blocked_domains,
            max_results: args.max_results,
        };
        let hits = query
            .run(&*self.provider, call.cancel())
            .map_err(|err| match err {
                SearchError::Unreachable(FetchError::Cancelled) => ToolError::cancelled(),
                SearchError::Unreachable(err) => {
                    let cause = fetch_error(err);
                    ToolError::new(
                        ErrorKind::Unavailable,
                        format!("the search provider cannot be reached: {}", cause.message()),
                    )
                    .with_hint("check [web.search] in toolbox.toml")
                }
                err => ToolError::from_cause(ErrorKind::Failed, err)
                    .with_hint("check [web.search] in toolbox.toml"),
            })?;
        Output::report(&Report(hits))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hits {
            results,
            unanswered,
        } = &self.0;
        if results.is_empty() {
            f.write_str("no hits")?;
        }
        for (idx, hit) in results.iter().enumerate() {
            if idx > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}. {}\n   {}", idx + 1, hit.title, hit.url)?;
            if !hit.snippet.is_empty() {
                writeln!(
                    f,
                    "   {}",
                    hit.snippet.split_whitespace().collect::<Vec<_>>().join(" ")
                )?;
            }
        }
        match unanswered.is_empty() {
            true => Ok(()),
            false => write!(f, "\n[did not answer: {}]", unanswered.join("; ")),
        }
    }
}

impl fmt::Debug for WebSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearch").finish_non_exhaustive()
    }
}
