//! Files outside the workspace that a run may read: single ones that a language server named, and what its
//! own tools keep of output that was too long for an answer (D36).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits;

/// A growing set of files that a run may read besides its workspace.
///
/// Clones share the set: whoever learns of a place allows it, and whoever reads asks. It never allows a
/// tree, and nothing but reading.
#[derive(Clone, Debug, Default)]
pub struct AllowedPlaces(Arc<Mutex<Places>>);

#[derive(Debug, Default)]
struct Places {
    files: BTreeSet<PathBuf>,
    /// Folders whose own files may be read, as the host named them: they may not exist yet.
    folders: BTreeSet<PathBuf>,
}

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
        if places.files.len() < limits::ALLOWED_PLACES {
            places.files.insert(real);
        }
    }

    /// Allows the regular files that lie in a folder itself, now or later; what lies deeper stays closed.
    ///
    /// A host names the folder in which its tools keep long output, which an answer then names.
    pub fn allow_files_in(&self, folder: &Path) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.folders.len() < limits::ALLOWED_PLACES {
            places.folders.insert(folder.to_owned());
        }
    }

    /// Tells whether the file at a real path was allowed.
    pub fn contains(&self, real: &Path) -> bool {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.files.contains(real)
            || real.parent().is_some_and(|parent| {
                let mut folders = places.folders.iter();
                folders.any(|folder| is_at(folder, parent)) && real.is_file()
            })
    }
}

/// Whether a folder is at a real path. A link in its own place is not it: whoever put it there may not say
/// what is open.
fn is_at(folder: &Path, real: &Path) -> bool {
    let above = folder.parent().and_then(|above| above.canonicalize().ok());
    match (above, folder.file_name()) {
        (Some(above), Some(name)) => {
            real.file_name() == Some(name) && real.parent() == Some(&above)
        }
        _ => false,
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

    // D36: of a folder its own files, and neither what lies deeper or beside nor what a link leads to.
    #[test]
    fn a_folder_gives_its_own_files_and_no_others() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let folder = root.join("output");
        let places = AllowedPlaces::new();
        places.allow_files_in(&folder);
        assert!(!places.contains(&folder.join("a.log")), "it is not there");
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        for file in ["output/a.log", "output/deep/b", "beside", "output.log"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        assert!(places.contains(&folder.join("a.log")));
        for closed in [
            "output/deep/b",
            "output/deep",
            "output",
            "beside",
            "output.log",
        ] {
            assert!(!places.contains(&root.join(closed)), "{closed}");
        }
        // A link instead of the folder opens nothing, even for real paths that run through its name.
        std::fs::rename(&folder, root.join("moved")).unwrap();
        std::os::unix::fs::symlink(root.join("moved"), &folder).unwrap();
        assert!(!places.contains(&root.join("moved/a.log")));
    }
}
