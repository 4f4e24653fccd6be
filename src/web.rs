//! The web: one page at a time, and searches through a provider.
//!
//! Whoever asks for a page may have been told to by a page, so an address is trusted with nothing: every
//! hop's host is resolved once, all its addresses are checked, and exactly those are connected to. What
//! points into this machine or its network is refused unless the host of the run allows it. This module
//! knows no tool and no run.

mod fetch;
mod guard;
mod page;
mod search;

pub use crate::web::fetch::{FetchError, Fetcher, Page, Redirect};
pub use crate::web::guard::{Allowed, BadAllowance};
pub use crate::web::search::{Hit, Hits, SearchError, SearchProvider, SearchQuery, Searxng};
