//! The folders that a run may touch, and the guard that every path of a tool goes through.
//!
//! A path is resolved component by component as the kernel would do it, so that neither `..` nor a
//! symbolic link (a dangling one included) leads out, and a path that does not exist yet resolves
//! too. This module knows no tool and never looks at the current directory: the host names the root.

mod places;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

pub use places::AllowedPlaces;

use crate::limits;

/// One folder tree that is open to the tools, with the extra roots that the host added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    extra_roots: Vec<PathBuf>,
}

/// Says why a path is not usable in this workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The root itself is not an absolute path.
    #[error("the workspace root '{}' is not an absolute path", path.display())]
    NotAbsolute {
        /// The root as it was given.
        path: PathBuf,
    },
    /// The root is a file or something else that holds no files.
    #[error("the workspace root '{}' is not a folder", path.display())]
    NotAFolder {
        /// The root as it was given.
        path: PathBuf,
    },
    /// The path leads out of every allowed root (D36).
    #[error(
        "path '{}' is outside the workspace '{}': only the workspace is open",
        path.display(),
        root.display()
    )]
    Outside {
        /// The path as the caller wrote it.
        path: PathBuf,
        /// The root of the workspace.
        root: PathBuf,
    },
    /// The path runs in a circle of symbolic links.
    #[error("path '{}' leads through too many symbolic links", path.display())]
    LinkLoop {
        /// The path as the caller wrote it.
        path: PathBuf,
    },
    /// The file system did not answer.
    #[error("cannot look up '{}'", path.display())]
    Io {
        /// The path as the caller wrote it.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl Workspace {
    /// Opens the folder `root`, which must be absolute and exist.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self {
            root: open_root(root)?,
            extra_roots: Vec::new(),
        })
    }

    /// Allows one more folder tree. Relative paths still belong to the first root.
    pub fn with_extra_root(mut self, root: &Path) -> Result<Self, WorkspaceError> {
        self.extra_roots.push(open_root(root)?);
        Ok(self)
    }

    /// The canonical root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The canonical extra roots, in the order in which the host added them.
    pub fn extra_roots(&self) -> &[PathBuf] {
        &self.extra_roots
    }

    /// Tells whether a canonical path lies in an allowed root.
    pub fn contains(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.extra_roots.iter().any(|root| path.starts_with(root))
    }

    /// Resolves a path of a tool, relative to the root or absolute, to the real path behind it.
    ///
    /// The result holds no `..` and no symbolic link, as far as the path exists. It need not exist.
    pub fn resolve(&self, user_path: impl AsRef<Path>) -> Result<PathBuf, WorkspaceError> {
        let user_path = user_path.as_ref();
        let real = real_path(&self.root, user_path)?;
        if self.contains(&real) {
            Ok(real)
        } else {
            Err(WorkspaceError::Outside {
                path: user_path.to_path_buf(),
                root: self.root.clone(),
            })
        }
    }

    /// Shows a path: relative to the root inside it, absolute elsewhere.
    ///
    /// What is not UTF-8 shows as U+FFFD and control characters show escaped, because a file name
    /// must not be able to forge a line of a report. The text is for reading, not for opening files.
    pub fn display(&self, path: &Path) -> String {
        display_under(&self.root, path)
    }
}

/// A path as answers show it: relative to a root with `/`, absolute outside; see [`Workspace::display`].
pub(crate) fn display_under(root: &Path, path: &Path) -> String {
    if let Some(plain) = plain_under(root, path) {
        return plain.to_owned();
    }
    let shown = match path.strip_prefix(root) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    };
    let lossy = shown.to_string_lossy();
    if !lossy.contains(char::is_control) {
        return lossy.into_owned();
    }
    let mut text = String::with_capacity(lossy.len() + 8);
    for ch in lossy.chars() {
        if ch.is_control() {
            text.extend(ch.escape_default());
        } else {
            text.push(ch);
        }
    }
    text
}

/// What nearly every path is: below the root, in ASCII, without anything that must be escaped. Lists have
/// tens of thousands of them, and looking at bytes takes a tenth of what taking components apart does.
fn plain_under<'a>(root: &Path, path: &'a Path) -> Option<&'a str> {
    let path = path.as_os_str().as_encoded_bytes();
    let inside = path.strip_prefix(root.as_os_str().as_encoded_bytes())?;
    let inside = inside.strip_prefix(b"/")?;
    let is_plain = inside
        .iter()
        .all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    // A name that begins with a dot may be the folder itself, and one with a slash is no name.
    let begins_well = !matches!(inside.first(), None | Some(b'.' | b'/'));
    if is_plain && begins_well {
        std::str::from_utf8(inside).ok()
    } else {
        None
    }
}

/// Finds the nearest folder at or above `start` that is a checkout of git, Mercurial or Jujutsu.
///
/// Only the entry counts, not its kind: `.git` is a file in a linked work tree.
pub fn enclosing_checkout(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .find(|folder| {
            [".git", ".hg", ".jj"]
                .iter()
                .any(|entry| folder.join(entry).symlink_metadata().is_ok())
        })
        .map(Path::to_path_buf)
}

fn open_root(root: &Path) -> Result<PathBuf, WorkspaceError> {
    if !root.is_absolute() {
        return Err(WorkspaceError::NotAbsolute {
            path: root.to_path_buf(),
        });
    }
    let real = root.canonicalize().map_err(|source| WorkspaceError::Io {
        path: root.to_path_buf(),
        source,
    })?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(WorkspaceError::NotAFolder {
            path: root.to_path_buf(),
        })
    }
}

/// Resolves links and `..` one component at a time.
///
/// `canonicalize` alone does not do: it fails on what does not exist, and for a dangling link its
/// failure hides that a write would land where the link points.
fn real_path(root: &Path, user_path: &Path) -> Result<PathBuf, WorkspaceError> {
    let mut done = root.to_path_buf();
    let mut todo: VecDeque<OsString> = components(user_path);
    let mut n_links = 0;
    while let Some(component) = todo.pop_front() {
        if component == "/" {
            done = PathBuf::from("/");
            continue;
        }
        if component == ".." {
            done.pop();
            continue;
        }
        let next = done.join(&component);
        match next.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                n_links += 1;
                if n_links > limits::MAX_SYMLINKS {
                    return Err(WorkspaceError::LinkLoop {
                        path: user_path.to_path_buf(),
                    });
                }
                let target = next.read_link().map_err(|source| WorkspaceError::Io {
                    path: user_path.to_path_buf(),
                    source,
                })?;
                let mut target = components(&target);
                target.append(&mut todo);
                todo = target;
            }
            Ok(_) => done = next,
            // A file in the middle of a path (`ENOTDIR`) is as absent as a missing folder; the
            // operation that follows says so in its own words.
            Err(err)
                if matches!(
                    err.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                done = next;
            }
            Err(source) => {
                return Err(WorkspaceError::Io {
                    path: user_path.to_path_buf(),
                    source,
                });
            }
        }
    }
    Ok(done)
}

fn components(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| component.as_os_str().to_os_string())
        .collect()
}

/// A path without `.` and `..`, taken as they are written: no link is followed.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                done.pop();
            }
            other => done.push(other),
        }
    }
    done
}
