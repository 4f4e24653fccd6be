//! Which build of the command this process is.
//!
//! Two builds of one version may speak differently, so the program file itself is looked at: its place and
//! its time. A file that was replaced while its process runs is another build.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// A build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Build {
    /// The version of the crate.
    pub(crate) version: String,
    /// Tells builds of one version apart.
    pub(crate) id: String,
}

impl Build {
    /// Looks at the program of this process.
    pub(crate) fn own() -> Self {
        let id = std::fs::metadata("/proc/self/exe").map_or_else(|_| "unknown".to_owned(), id_of);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id,
        }
    }
}

fn id_of(metadata: Metadata) -> String {
    format!(
        "{:x}-{:x}-{:x}-{:x}",
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        metadata.mtime_nsec() as u128 + metadata.mtime() as u128 * 1_000_000_000
    )
}
