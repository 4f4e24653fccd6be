//! The files that an edit touches, as they would be after each of its steps.
//!
//! Nothing is written: at the end the state of each path before and after becomes one operation of the
//! commit. So a rename back and forth costs nothing, two files may swap their names, and text edits after a
//! rename land in the file under its new name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Change, EditError, FileChange};
use crate::files::{ContentHash, Expect, Operation};
use crate::limits;
use crate::workspace::Workspace;

/// The files of one edit; paths are absolute, the folders in them real ones.
pub(super) struct Tree<'a> {
    workspace: &'a Workspace,
    before: BTreeMap<PathBuf, Found>,
    now: BTreeMap<PathBuf, Option<Content>>,
}

/// A file as it is on disk.
struct Found {
    hash: ContentHash,
    bytes: Vec<u8>,
}

/// A file as it would be.
#[derive(Clone)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) n_edits: usize,
    /// The path at which the file is on disk; none for a new one.
    origin: Option<PathBuf>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            before: BTreeMap::new(),
            now: BTreeMap::new(),
        }
    }

    /// The real path of a file whose text changes: links are followed, as the commit writes through them.
    pub(super) fn target(&self, path: &Path) -> Result<PathBuf, EditError> {
        self.workspace
            .resolve(path)
            .map_err(|source| EditError::Outside { source })
    }

    /// The path of an entry that is made, moved or removed: a link is not followed, and is refused.
    pub(super) fn entry(&self, path: &Path) -> Result<PathBuf, EditError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(EditError::NotRegular {
                path: path.to_owned(),
            });
        };
        let entry = self.target(parent)?.join(name);
        match entry.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => Err(EditError::Link { path: entry }),
            _ => Ok(entry),
        }
    }

    /// The content at a path now, none where no file is.
    pub(super) fn content(&mut self, path: &Path) -> Result<Option<&mut Content>, EditError> {
        if !self.now.contains_key(path) {
            let found = load(path)?;
            let content = found.as_ref().map(|found| Content {
                bytes: found.bytes.clone(),
                n_edits: 0,
                origin: Some(path.to_owned()),
            });
            self.now.insert(path.to_owned(), content);
            if let Some(found) = found {
                self.before.insert(path.to_owned(), found);
            }
        }
        Ok(self.now.get_mut(path).and_then(Option::as_mut))
    }

    /// The hash of a file as it was on disk when it was first looked at.
    pub(super) fn origin_hash(&self, path: &Path) -> Option<ContentHash> {
        let content = self.now.get(path)?.as_ref()?;
        let found = self.before.get(content.origin.as_ref()?)?;
        Some(found.hash)
    }

    pub(super) fn create(&mut self, path: &Path) -> Result<(), EditError> {
        let origin = self
            .content(path)?
            .and_then(|content| content.origin.clone());
        let content = Content {
            bytes: Vec::new(),
            n_edits: 0,
            origin,
        };
        self.now.insert(path.to_owned(), Some(content));
        Ok(())
    }

    pub(super) fn delete(&mut self, path: &Path) -> Result<(), EditError> {
        if self.content(path)?.is_none() {
            return Err(EditError::Missing {
                path: path.to_owned(),
            });
        }
        self.now.insert(path.to_owned(), None);
        Ok(())
    }

    /// Moves a file; what was at `to` is replaced.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), EditError> {
        let Some(content) = self.content(from)?.cloned() else {
            return Err(EditError::Missing {
                path: from.to_owned(),
            });
        };
        if from == to {
            return Ok(());
        }
        self.content(to)?;
        self.now.insert(from.to_owned(), None);
        self.now.insert(to.to_owned(), Some(content));
        Ok(())
    }

    /// The files beneath a folder as they are now, sorted; none when it is no folder.
    pub(super) fn beneath(&self, folder: &Path) -> Result<Option<Vec<PathBuf>>, EditError> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let mut files = BTreeSet::new();
        let mut todo = vec![folder.to_owned()];
        while let Some(next) = todo.pop() {
            for entry in fs::read_dir(&next).map_err(|source| unreadable(&next, source))? {
                let entry = entry.map_err(|source| unreadable(&next, source))?;
                let kind = entry
                    .file_type()
                    .map_err(|source| unreadable(&entry.path(), source))?;
                if kind.is_dir() {
                    todo.push(entry.path());
                } else if kind.is_file() {
                    files.insert(entry.path());
                } else {
                    return Err(EditError::NotRegular { path: entry.path() });
                }
                if files.len() > limits::RENAMED_FOLDER_FILES {
                    return Err(EditError::TooMany {
                        path: folder.to_owned(),
                    });
                }
            }
        }
        for (path, content) in &self.now {
            if !path.starts_with(folder) {
                continue;
            }
            match content {
                Some(_) => files.insert(path.clone()),
                None => files.remove(path),
            };
        }
        Ok(Some(files.into_iter().collect()))
    }

    /// Turns what changed into operations of one commit, with what a report says of each.
    pub(super) fn finish(self) -> (Vec<Operation>, Vec<FileChange>) {
        let Self { before, now, .. } = self;
        let moved = moves(&before, &now);
        let from_of: BTreeMap<&Path, &Path> = moved.iter().map(|(from, to)| (*to, *from)).collect();
        let mut operations = Vec::new();
        let mut changes = Vec::new();
        for (path, content) in &now {
            let old = before.get(path);
            let from = from_of.get(path.as_path()).copied();
            let change = match (old, content) {
                (None, None) => continue,
                (Some(found), Some(content)) => {
                    if found.hash == ContentHash::of(&content.bytes) {
                        continue;
                    }
                    operations.push(Operation::Write {
                        path: path.clone(),
                        expect: Expect::Hash(found.hash),
                        bytes: content.bytes.clone(),
                    });
                    Change::Modified
                }
                // The change is told where the file went.
                (Some(_), None) if moved.contains_key(path.as_path()) => continue,
                (Some(found), None) => {
                    operations.push(Operation::Delete {
                        path: path.clone(),
                        expect: Expect::Hash(found.hash),
                    });
                    Change::Deleted
                }
                (None, Some(content)) => {
                    let origin = from.and_then(|from| before.get(from).map(|found| (from, found)));
                    match origin {
                        Some((from, found)) if found.hash == ContentHash::of(&content.bytes) => {
                            operations.push(Operation::Rename {
                                from: from.to_owned(),
                                to: path.clone(),
                                expect: Expect::Hash(found.hash),
                            });
                        }
                        Some((from, found)) => operations.push(Operation::Move {
                            from: from.to_owned(),
                            to: path.clone(),
                            expect: Expect::Hash(found.hash),
                            bytes: content.bytes.clone(),
                        }),
                        None => operations.push(Operation::Create {
                            path: path.clone(),
                            bytes: content.bytes.clone(),
                            mode: None,
                        }),
                    }
                    match origin {
                        Some(_) => Change::Moved,
                        None => Change::Added,
                    }
                }
            };
            let old = from.map_or(old, |from| before.get(from));
            changes.push(FileChange {
                path: path.clone(),
                from: from.map(Path::to_owned),
                change,
                n_edits: content.as_ref().map_or(0, |content| content.n_edits),
                old: old.map(|found| shown(&found.bytes)).unwrap_or_default(),
                new: content
                    .as_ref()
                    .map(|content| shown(&content.bytes))
                    .unwrap_or_default(),
            });
        }
        (operations, changes)
    }
}

/// Which file went where: from a path that is empty now to one that was empty before.
fn moves<'a>(
    before: &'a BTreeMap<PathBuf, Found>,
    now: &'a BTreeMap<PathBuf, Option<Content>>,
) -> BTreeMap<&'a Path, &'a Path> {
    let is_gone = |path: &Path| matches!(now.get(path), Some(None));
    now.iter()
        .filter(|(to, _)| !before.contains_key(*to))
        .filter_map(|(to, content)| Some((content.as_ref()?.origin.as_deref()?, to.as_path())))
        .filter(|(from, _)| before.contains_key(*from) && is_gone(from))
        .collect()
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn load(path: &Path) -> Result<Option<Found>, EditError> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(err)
            if matches!(
                err.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(source) => return Err(unreadable(path, source)),
    };
    if !metadata.is_file() {
        return Err(EditError::NotRegular {
            path: path.to_owned(),
        });
    }
    let bytes = fs::read(path).map_err(|source| unreadable(path, source))?;
    Ok(Some(Found {
        hash: ContentHash::of(&bytes),
        bytes,
    }))
}

fn unreadable(path: &Path, source: io::Error) -> EditError {
    EditError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// Tells whether the mode lets nobody write; the commit refuses such a file, and a preview says so too.
pub(super) fn is_read_only(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.mode() & 0o222 == 0)
}
