//! `WebFetch`: one page as Markdown.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};
use crate::web::{FetchError, Fetcher, Page};

/// The tool `WebFetch`.
#[derive(Clone, Debug)]
pub struct WebFetch {
    fetcher: Fetcher,
}

/// The arguments of `WebFetch`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebFetchArgs {
    /// The whole address of the page, such as `https://docs.rs/serde/latest/serde/`.
    url: String,
}

#[derive(Debug, Serialize)]
struct Report {
    url: String,
    final_url: String,
    status: u16,
    content_type: String,
    markdown: String,
    truncated: bool,
    /// Where the page has moved to, where that was not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
    #[serde(skip)]
    why: &'static str,
}

impl WebFetch {
    /// Makes the tool over what fetches.
    pub fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }
}

impl Tool for WebFetch {
    const NAME: &'static str = "WebFetch";
    const TIER: Tier = Tier::Read;
    type Args = WebFetchArgs;

    fn description(&self) -> String {
        format!(
            "Fetches one public web page with GET and returns it as Markdown, with whole links; JSON and other \
             text come as they are. Use it for documentation that you have the address of. It runs no \
             JavaScript, sends no cookies, and refuses this machine and private networks. A redirect to \
             another host is reported and not followed: fetch the address that it names. At most {} \
             characters are returned. For files that are no text, or for other methods, use curl in Bash.",
            limits::FETCH_CHARS
        )
    }

    fn run(&self, call: &Call<'_>, args: WebFetchArgs) -> Result<Output, ToolError> {
        let page = self
            .fetcher
            .fetch(&args.url, call.cancel())
            .map_err(fetch_error)?;
        Output::report(&Report::from(page))
    }
}

/// Says an error of a fetch in the terms of tools.
pub(super) fn fetch_error(err: FetchError) -> ToolError {
    let (kind, hint) = match &err {
        FetchError::BadUrl { .. } => (
            ErrorKind::InvalidArgs,
            "pass an address such as https://host/path",
        ),
        FetchError::Forbidden(_) => (
            ErrorKind::Denied,
            "only public addresses are fetched; whoever runs this may allow others in toolbox.toml: [web] allow_private",
        ),
        FetchError::NoText { .. } => (ErrorKind::Failed, "save it with curl in Bash"),
        FetchError::TooManyRedirects(_) => (ErrorKind::Failed, "the page redirects in circles"),
        FetchError::Timeout { .. } => (ErrorKind::Timeout, "try again later, or another source"),
        FetchError::Cancelled => return ToolError::cancelled(),
        FetchError::Failed { .. } => (ErrorKind::Failed, "check the address"),
    };
    ToolError::from_cause(kind, err).with_hint(hint)
}

impl From<Page> for Report {
    fn from(page: Page) -> Self {
        Self {
            url: page.url.into(),
            final_url: page.final_url.into(),
            status: page.status,
            content_type: page.content_type,
            markdown: page.markdown,
            truncated: page.truncated,
            why: page.moved.as_ref().map_or("", |moved| moved.why),
            redirect: page.moved.map(|moved| moved.to.into()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(to) = &self.redirect {
            return write!(
                f,
                "{} redirects to {to} ({}), which was not followed: fetch that address if it is wanted",
                self.final_url, self.why
            );
        }
        if self.final_url != self.url {
            writeln!(f, "found at {}", self.final_url)?;
        }
        if self.status != 200 {
            writeln!(f, "the server answered with status {}", self.status)?;
        }
        f.write_str(&self.markdown)?;
        if self.truncated {
            write!(f, "\n[cut here: the page goes on]")?;
        }
        Ok(())
    }
}
