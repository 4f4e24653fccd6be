//! Files outside the workspace that a run may read, because a language server named them (D36).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits;

/// A growing set of single files that a run may read besides its workspace.
///
/// Clones share the set: whoever learns of a place allows it, and whoever reads asks. It never allows a
/// folder, and nothing but reading.
#[derive(Clone, Debug, Default)]
pub struct AllowedPlaces(Arc<Mutex<BTreeSet<PathBuf>>>);

impl AllowedPlaces {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a file, by its real path; what is no regular file, or one too many, is left out.
    pub fn allow(&self, path: &Path) {
        let Ok(real) = path.canonicalize() else {
            return;
        };
        if !real.is_file() {
            return;
        }
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() < limits::ALLOWED_PLACES {
            places.insert(real);
        }
    }

    /// Tells whether the file at a real path was allowed.
    pub fn contains(&self, real: &Path) -> bool {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.contains(real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D36: single files that exist, by their real paths, and no folder.
    #[test]
    fn a_place_is_one_existing_file() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (file, other) = (root.join("a"), root.join("b"));
        std::fs::write(&file, "").unwrap();
        std::fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&file, root.join("link")).unwrap();
        let places = AllowedPlaces::new();
        places.clone().allow(&root.join("link"));
        places.allow(&root);
        places.allow(&root.join("missing"));
        assert!(places.contains(&file));
        assert!(!places.contains(&other) && !places.contains(&root));
    }
}
