//! Paths as URIs and back: the only place that knows how the protocol writes a file's name.
//!
//! Servers spell the same file in several ways (`%3A`, lower-case escapes), so URIs are never compared as
//! text: they are decoded to a path first.

use std::path::{Path, PathBuf};

use url::Url;

/// Returns the URI of an absolute path; a relative one, which no caller has, gives that of the root.
pub fn from_path(path: &Path) -> String {
    Url::from_file_path(path).map_or_else(|()| "file:///".to_owned(), String::from)
}

/// Returns the path of a `file:` URI; `None` for every other scheme and for what is no URI.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let url = Url::parse(uri).ok()?;
    if url.scheme() != "file" {
        return None;
    }
    url.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Paths with spaces, `#`, `%`, `?` and non-ASCII survive the way there and back.
    #[test]
    fn odd_names_survive_both_ways() {
        for name in [
            "/a b/c.rs",
            "/a#b/100%.py",
            "/é/?x.ts",
            "/a[1]/b+c&d.c",
            "/😀",
        ] {
            let uri = from_path(Path::new(name));
            assert!(!uri.contains([' ', '#', '?']), "{uri}");
            assert_eq!(to_path(&uri).as_deref(), Some(Path::new(name)), "{uri}");
        }
    }

    #[test]
    fn other_spellings_are_the_same_path_and_other_schemes_are_none() {
        assert_eq!(to_path("file:///a%20b%2fc"), to_path("file:///a%20b%2Fc"));
        assert_eq!(to_path("file:///c%2B.c"), Some(PathBuf::from("/c+.c")));
        assert_eq!(to_path("untitled:1"), None);
        assert_eq!(to_path("jdt://contents/rt.jar"), None);
        assert_eq!(to_path("no uri"), None);
    }
}
