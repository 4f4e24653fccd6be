//! Finding files by name ([`glob`]) and lines by text ([`grep`]).
//!
//! Both walk in parallel by the ignore rules of [`crate::walk`], answer in a fixed order, and say what the
//! rules left out where nothing was found. Paths of a query are absolute and resolved; this module knows no
//! tool and no language.

pub mod glob;
pub mod grep;
mod hits;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::WalkState;
use ignore::types::{Types, TypesBuilder};

use crate::cancel::Cancel;
use crate::limits;
use crate::text::clip;
use crate::walk::{self, WalkError, WalkOptions};
use crate::workspace::WorkspaceError;

/// Why nothing was looked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindingError {
    /// The pattern is empty.
    #[error("the pattern is empty")]
    EmptyPattern,
    /// The pattern is too long to be meant.
    #[error("the pattern has {bytes} bytes; the limit is {limit}", limit = limits::FIND_PATTERN_BYTES)]
    PatternTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The pattern is no glob.
    #[error("bad glob '{glob}': {reason}")]
    BadGlob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The pattern is no regular expression; the reason shows the place.
    #[error("bad pattern '{pattern}': {reason}")]
    BadRegex {
        /// The pattern.
        pattern: String,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// The pattern holds a line end, and lines are searched one by one.
    #[error("the pattern '{pattern}' holds a line end, and lines are searched one by one")]
    LineEnd {
        /// The pattern.
        pattern: String,
    },
    /// No type of file has this name.
    #[error("unknown file type '{name}'")]
    UnknownType {
        /// The name.
        name: String,
        /// Types whose names are near.
        near: Vec<String>,
    },
    /// A path that was to be searched is not there.
    #[error("no file or folder '{}'", path.display())]
    MissingPath {
        /// The path.
        path: PathBuf,
    },
    /// A path can be neither searched nor walked.
    #[error("cannot search '{}': {reason}", path.display())]
    BadPath {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A path is outside the workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Somebody cancelled the search.
    #[error("the search was cancelled")]
    Cancelled,
}

impl From<WalkError> for FindingError {
    fn from(error: WalkError) -> Self {
        let WalkError::BadGlob { glob, source } = error;
        Self::BadGlob {
            glob: quoted(&glob),
            reason: quoted(&source.to_string()),
        }
    }
}

/// A pattern, or what is said about one, as an error shows it: lines that nobody would read are cut.
fn quoted(text: &str) -> String {
    let lines = text.split('\n');
    let lines: Vec<_> = lines
        .map(|line| clip(line, limits::FIND_QUOTED_CHARS))
        .collect();
    lines.join("\n")
}

/// Files that the rules left out, counted where an answer is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Hidden files, or files in hidden folders.
    pub(crate) hidden: usize,
    /// All other files, the ignored ones included.
    pub(crate) plain: usize,
    /// Whether the count stopped early.
    pub(crate) more: bool,
}

/// Counts the files below folders that `accept` takes, whatever the rules say of hidden and ignored ones.
pub(crate) fn census(
    folders: &[PathBuf],
    types: Option<&Types>,
    globs: &[String],
    accept: &(dyn Fn(&Path, &Path) -> bool + Sync),
    cancel: &Cancel,
) -> Result<Census, FindingError> {
    let everything = WalkOptions {
        globs: globs.to_vec(),
        hidden: true,
        no_ignore: true,
    };
    let (hidden, plain, seen) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    for folder in folders {
        let mut builder = walk::builder(folder, &everything)?;
        if let Some(types) = types {
            builder.types(types.clone());
        }
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                if cancel.is_cancelled()
                    || seen.fetch_add(1, Ordering::Relaxed) >= limits::CENSUS_FILES
                {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else {
                    return WalkState::Continue;
                };
                if !entry.file_type().is_some_and(|kind| kind.is_file())
                    || !accept(folder, entry.path())
                {
                    return WalkState::Continue;
                }
                let counter = match is_hidden(folder, entry.path()) {
                    true => &hidden,
                    false => &plain,
                };
                counter.fetch_add(1, Ordering::Relaxed);
                WalkState::Continue
            })
        });
    }
    if cancel.is_cancelled() {
        return Err(FindingError::Cancelled);
    }
    Ok(Census {
        hidden: hidden.into_inner(),
        plain: plain.into_inner(),
        more: seen.into_inner() > limits::CENSUS_FILES,
    })
}

fn is_hidden(folder: &Path, path: &Path) -> bool {
    let inside = walk::below(folder, path);
    inside.starts_with(b".") || memchr::memmem::find(inside, b"/.").is_some()
}

/// Selects file types by their names, such as `rust` or `py`.
fn select_types(names: &[String]) -> Result<Option<Types>, FindingError> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known = builder.definitions();
    for name in names {
        if !known.iter().any(|row| row.name() == name) {
            let start: String = name.chars().take(2).collect();
            let near = known
                .iter()
                .filter(|row| {
                    row.name().starts_with(&start)
                        || row
                            .globs()
                            .iter()
                            .any(|glob| glob.strip_prefix("*.") == Some(name))
                })
                .map(|row| row.name().to_owned())
                .collect();
            return Err(FindingError::UnknownType {
                name: quoted(name),
                near,
            });
        }
        builder.select(name);
    }
    builder
        .build()
        .map(Some)
        .map_err(|err| FindingError::BadGlob {
            glob: quoted(&names.join(" ")),
            reason: quoted(&err.to_string()),
        })
}

/// Refuses patterns that cannot be meant.
fn check_pattern(pattern: &str) -> Result<(), FindingError> {
    if pattern.is_empty() {
        return Err(FindingError::EmptyPattern);
    }
    if pattern.len() > limits::FIND_PATTERN_BYTES {
        return Err(FindingError::PatternTooLong {
            bytes: pattern.len(),
        });
    }
    Ok(())
}

/// What the threads of a walk gathered; a thread that died of a defect takes nothing along.
fn gathered<T>(shared: Mutex<T>) -> T {
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}
