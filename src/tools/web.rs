//! What the tools of the web stand on.

use std::fmt;
use std::sync::Arc;

use crate::web::{Fetcher, SearchProvider};

/// The port of `WebFetch`, and of `WebSearch` where a provider is configured.
#[derive(Clone)]
pub struct WebResources {
    /// Fetches pages.
    pub fetcher: Fetcher,
    /// Searches; `WebSearch` exists only with one.
    pub search: Option<Arc<dyn SearchProvider>>,
}

impl WebResources {
    /// Fetches, and searches nowhere.
    pub fn new(fetcher: Fetcher) -> Self {
        Self {
            fetcher,
            search: None,
        }
    }

    /// Searches through this provider.
    #[must_use]
    pub fn with_search(mut self, provider: impl SearchProvider + 'static) -> Self {
        self.search = Some(Arc::new(provider));
        self
    }
}

impl fmt::Debug for WebResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebResources")
            .field("fetcher", &self.fetcher)
            .field("search", &self.search.is_some())
            .finish()
    }
}
