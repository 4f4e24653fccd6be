//! Which changes of files a server wants to hear of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::lsp::uri;

/// What happened to a file; the numbers are those of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileChange {
    /// It was made.
    Created = 1,
    /// Its content changed.
    Changed = 2,
    /// It is gone.
    Deleted = 3,
}

/// The patterns that a server registered, by registration.
#[derive(Debug)]
pub(crate) struct Watchers {
    root: PathBuf,
    by_registration: BTreeMap<String, Vec<Watcher>>,
}

#[derive(Debug)]
struct Watcher {
    /// Where the pattern counts from; none for a pattern that is absolute.
    base: Option<PathBuf>,
    glob: GlobMatcher,
    kinds: u64,
}

impl Watchers {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            by_registration: BTreeMap::new(),
        }
    }

    pub(super) fn register(&mut self, id: &str, options: &Value) {
        let watchers = options["watchers"].as_array();
        let read = |watcher: &Value| {
            let pattern = &watcher["globPattern"];
            let (base, text) = match pattern {
                Value::String(text) if text.starts_with('/') => (None, text.clone()),
                Value::String(text) => (Some(self.root.clone()), text.clone()),
                relative => {
                    let base = &relative["baseUri"];
                    let base = base.as_str().or(base["uri"].as_str())?;
                    let text = relative["pattern"].as_str()?.to_owned();
                    (Some(uri::to_path(base)?), text)
                }
            };
            let glob = GlobBuilder::new(&text)
                .literal_separator(true)
                .build()
                .ok()?;
            Some(Watcher {
                base,
                glob: glob.compile_matcher(),
                kinds: watcher["kind"].as_u64().unwrap_or(7),
            })
        };
        let watchers = watchers.into_iter().flatten().filter_map(read).collect();
        self.by_registration.insert(id.to_owned(), watchers);
    }

    pub(super) fn unregister(&mut self, id: &str) {
        self.by_registration.remove(id);
    }

    /// Tells whether anything is watched.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_registration.values().all(Vec::is_empty)
    }

    /// Tells whether the server wants to hear of a change.
    pub(crate) fn want(&self, path: &Path, change: FileChange) -> bool {
        // The mask has 1 for created, 2 for changed and 4 for deleted.
        let bit = match change {
            FileChange::Created => 1,
            FileChange::Changed => 2,
            FileChange::Deleted => 4,
        };
        self.by_registration.values().flatten().any(|watcher| {
            if watcher.kinds & bit == 0 {
                return false;
            }
            match &watcher.base {
                None => watcher.glob.is_match(path),
                Some(base) => path
                    .strip_prefix(base)
                    .is_ok_and(|inside| watcher.glob.is_match(inside)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_are_relative_absolute_or_have_a_base_and_masks_count() {
        let mut watchers = Watchers::new(PathBuf::from("/root"));
        watchers.register(
            "1",
            &json!({"watchers": [
                {"globPattern": "**/*.{rs,toml}", "kind": 6},
                {"globPattern": "/abs/*.py"},
                {"globPattern": {"baseUri": "file:///other%20place", "pattern": "*.ts"}},
                {"globPattern": {"baseUri": {"uri": "file:///folder", "name": "f"}, "pattern": "**"}},
                {"globPattern": 3},
            ]}),
        );
        let want = |path: &str, change| watchers.want(Path::new(path), change);
        assert!(want("/root/src/a.rs", FileChange::Changed));
        assert!(want("/root/a.toml", FileChange::Deleted));
        assert!(
            !want("/root/a.rs", FileChange::Created),
            "the mask excludes it"
        );
        assert!(!want("/elsewhere/a.rs", FileChange::Changed));
        assert!(want("/abs/x.py", FileChange::Created));
        assert!(!want("/abs/deep/x.py", FileChange::Created));
        assert!(want("/other place/x.ts", FileChange::Created));
        assert!(want("/folder/any/thing", FileChange::Created));
        watchers.unregister("1");
        assert!(watchers.is_empty());
    }
}
