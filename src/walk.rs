//! Finding files: ignore rules as ripgrep applies them, sorted, regular files only.
//!
//! It must not know languages: the caller says which files it takes. What cannot be read is part of the
//! answer, never silently left out.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::overrides::OverrideBuilder;
use ignore::{WalkBuilder, WalkState};

use crate::cancel::Cancel;

/// How a tree is walked.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Globs that narrow the walk, in gitignore syntax relative to the walked folder; a `!` excludes.
    pub globs: Vec<String>,
    /// Whether hidden files and folders are walked.
    pub hidden: bool,
    /// Whether ignore files are disregarded.
    pub no_ignore: bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walked {
    /// Regular files, sorted by path, each once.
    pub files: Vec<PathBuf>,
    /// What could not be walked, and why, sorted.
    pub skipped: Vec<(PathBuf, String)>,
}

/// Why a walk did not begin.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// A glob is not well formed.
    #[error("bad glob '{glob}'")]
    BadGlob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        #[source]
        source: ignore::Error,
    },
}

/// Walks folders and collects the files that `accept` takes. Symbolic links are not followed, except
/// where `paths` names one. A file named in `paths` is taken whatever the ignore rules and `accept` say.
pub fn walk(
    paths: &[PathBuf],
    options: &WalkOptions,
    accept: &(dyn Fn(&Path) -> bool + Sync),
    cancel: &Cancel,
) -> Result<Walked, WalkError> {
    let found = Mutex::new(Walked::default());
    for path in paths {
        let Ok(metadata) = std::fs::metadata(path) else {
            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
            found
                .skipped
                .push((path.clone(), "cannot be read".to_owned()));
            continue;
        };
        if metadata.is_file() {
            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
            found.files.push(path.clone());
            continue;
        }
        if !metadata.is_dir() {
            let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
            found
                .skipped
                .push((path.clone(), "not a regular file".to_owned()));
            continue;
        }
        walk_folder(path, options, accept, cancel, &found)?;
    }
    let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    found.files.sort_unstable_by(|a, b| order(a).cmp(order(b)));
    found.files.dedup();
    found.skipped.sort();
    found.skipped.dedup();
    Ok(found)
}

/// Paths are ordered by their bytes, so that the order is the same on every run and locale.
pub(crate) fn order(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The part of a path that lies below the folder whose walk met it. Comparing bytes is enough there, and
/// takes a tenth of what comparing components does.
pub(crate) fn below<'a>(folder: &Path, path: &'a Path) -> &'a [u8] {
    let path = order(path);
    let inside = path.strip_prefix(order(folder)).unwrap_or(path);
    inside.strip_prefix(b"/").unwrap_or(inside)
}

/// Prepares the walk of one folder by these rules, for callers that look at entries as they come.
pub(crate) fn builder(folder: &Path, options: &WalkOptions) -> Result<WalkBuilder, WalkError> {
    let mut overrides = OverrideBuilder::new(folder);
    for glob in &options.globs {
        overrides.add(glob).map_err(|source| WalkError::BadGlob {
            glob: glob.clone(),
            source,
        })?;
    }
    let overrides = overrides.build().map_err(|source| WalkError::BadGlob {
        glob: options.globs.join(" "),
        source,
    })?;
    let mut builder = WalkBuilder::new(folder);
    builder
        .hidden(!options.hidden)
        .ignore(!options.no_ignore)
        .git_ignore(!options.no_ignore)
        .git_global(!options.no_ignore)
        .git_exclude(!options.no_ignore)
        .parents(!options.no_ignore)
        .overrides(overrides)
        .filter_entry(|entry| entry.file_name() != ".git");
    Ok(builder)
}

fn walk_folder(
    folder: &Path,
    options: &WalkOptions,
    accept: &(dyn Fn(&Path) -> bool + Sync),
    cancel: &Cancel,
    found: &Mutex<Walked>,
) -> Result<(), WalkError> {
    let walker = builder(folder, options)?.build_parallel();
    walker.run(|| {
        let mut batch = Batch {
            found,
            walked: Walked::default(),
        };
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) => {
                    let regular = entry.file_type().is_some_and(|t| t.is_file());
                    if regular && accept(entry.path()) {
                        batch.walked.files.push(entry.into_path());
                    }
                }
                Err(error) => batch.walked.skipped.push(described(folder, &error)),
            }
            WalkState::Continue
        })
    });
    Ok(())
}

/// What one walking thread found; handed over when the thread ends, so that files cost no lock each.
struct Batch<'a> {
    found: &'a Mutex<Walked>,
    walked: Walked,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut found = self.found.lock().unwrap_or_else(|e| e.into_inner());
        found.files.append(&mut self.walked.files);
        found.skipped.append(&mut self.walked.skipped);
    }
}

/// Says what could not be walked, and why.
pub(crate) fn described(folder: &Path, error: &ignore::Error) -> (PathBuf, String) {
    let mut inner = error;
    let mut path = folder.to_owned();
    loop {
        match inner {
            ignore::Error::WithPath { path: at, err } => {
                path = at.clone();
                inner = err;
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
                inner = err;
            }
            ignore::Error::Loop { child, .. } => {
                return (child.clone(), "a loop of symbolic links".to_owned());
            }
            other => return (path, other.to_string()),
        }
    }
}
