//! `toolbox web-fetch` and `toolbox web-search`.

use clap::Args;
use serde_json::json;

use crate::args::Global;
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::search::is_empty;

#[derive(Clone, Debug, Args)]
pub(crate) struct WebFetch {
    /// The whole address of the page
    url: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WebSearch {
    /// The words to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Keep only hits of this domain and those beneath it (repeatable)
    #[arg(long, value_name = "DOMAIN", conflicts_with = "blocked_domains")]
    allowed_domains: Vec<String>,
    /// Leave out hits of this domain and those beneath it (repeatable)
    #[arg(long, value_name = "DOMAIN")]
    blocked_domains: Vec<String>,
    /// List so many hits at most [default: 10]
    #[arg(long, value_name = "N")]
    max_results: Option<usize>,
}

/// Fetches a page.
pub(crate) fn fetch(console: &Console, global: &Global, args: WebFetch) -> Step {
    let host = Host::open(console, global)?;
    let output = host.dispatch(console, "WebFetch", json!({ "url": args.url }))?;
    console.answer(&output)
}

/// Searches; nothing found is exit code 1.
pub(crate) fn search(console: &Console, global: &Global, args: WebSearch) -> Step {
    let host = Host::open(console, global)?;
    let mut call = json!({
        "query": args.query.join(" "),
        "allowed_domains": args.allowed_domains,
        "blocked_domains": args.blocked_domains,
    });
    if let Some(max_results) = args.max_results {
        call["max_results"] = json!(max_results);
    }
    let output = host.dispatch(console, "WebSearch", call)?;
    console.answer(&output)?;
    found(!is_empty(&output.data, "results"))
}
