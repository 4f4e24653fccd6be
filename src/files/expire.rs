//! Files that are kept for a while, such as output that was too long for an answer.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Removes the files of a folder whose names begin with `prefix` and that nobody changed for `lifetime`.
///
/// One that cannot be looked at or removed stays; a folder or a link is never touched.
pub fn remove_old(folder: &Path, prefix: &str, lifetime: Duration) {
    let now = SystemTime::now();
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(prefix);
        // The metadata is that of the entry itself, never of what a link points to.
        let is_old = ours
            && entry.metadata().is_ok_and(|metadata| {
                let age = metadata
                    .modified()
                    .map(|changed| now.duration_since(changed));
                metadata.is_file() && matches!(age, Ok(Ok(age)) if age > lifetime)
            });
        if is_old {
            let _ = fs::remove_file(entry.path());
        }
    }
}
