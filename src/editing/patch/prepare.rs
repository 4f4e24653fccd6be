//! Turns a patch into the operations of one commit. All files are read and changed in memory first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::apply::{ApplyError, Fuzz, apply};
use super::{Chunk, FilePatch, Patch};
use crate::editing::change::{Change, ChangeKind};
use crate::editing::content::{LoadError, Loaded, Text, load};
use crate::files::{ContentHash, Expect, Operation};
use crate::text::TextKind;
use crate::workspace::{Workspace, WorkspaceError};

/// What a patch will do.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The operations of the commit.
    pub operations: Vec<Operation>,
    /// The same as changes, in the order of the patch.
    pub changes: Vec<Change>,
    /// Files that the patch leaves as they are.
    pub unchanged: Vec<PathBuf>,
    /// For each file with places that were not exactly what the patch says, those places.
    pub fuzzy: Vec<(PathBuf, Vec<Fuzz>)>,
}

/// Why a patch cannot be applied; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct PrepareError {
    /// The path as the patch spells it.
    pub path: String,
    /// Why.
    #[source]
    pub reason: PrepareReason,
}

/// Why one file of a patch cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum PrepareReason {
    /// The path is not open to tools.
    #[error("the path cannot be used")]
    Path(#[source] WorkspaceError),
    /// The file could not be read.
    #[error("the file could not be read")]
    Load(#[source] LoadError),
    /// The file is no UTF-8 text.
    #[error("the file is no UTF-8 text")]
    NotText(TextKind),
    /// A file to be added, or to be moved onto, exists.
    #[error("something is there already")]
    Exists,
    /// The patch names the file in another place too.
    #[error("the patch names it more than once")]
    Twice,
    /// A symbolic link would be moved.
    #[error("it is a symbolic link, and a move would leave the file behind it")]
    MovedLink,
    /// The changes do not fit the text.
    #[error("the changes do not fit")]
    Apply(#[source] ApplyError),
}

/// A file that updates change, one after the other.
struct Updated {
    loaded: Loaded,
    text: Text,
    current: String,
    moved_to: Option<PathBuf>,
    fuzzy: Vec<Fuzz>,
}

enum Step<'a> {
    Add { real: PathBuf, text: &'a str },
    Delete { entry: PathBuf, loaded: Loaded },
    Update { real: PathBuf },
}

/// Reads and changes all files of a patch in memory; files over `limit` bytes are refused.
pub fn prepare(patch: &Patch, workspace: &Workspace, limit: u64) -> Result<Prepared, PrepareError> {
    let mut claims: BTreeSet<PathBuf> = BTreeSet::new();
    let mut updates: BTreeMap<PathBuf, Updated> = BTreeMap::new();
    let mut steps = Vec::new();
    for file in &patch.files {
        let named = file.path();
        let fail = |reason| PrepareError {
            path: named.to_owned(),
            reason,
        };
        let mut claim = |path: &Path| match claims.insert(path.to_path_buf()) {
            true => Ok(()),
            false => Err(fail(PrepareReason::Twice)),
        };
        match file {
            FilePatch::Add { text, .. } => {
                let real = resolve(workspace, named).map_err(fail)?;
                claim(&real)?;
                if real.symlink_metadata().is_ok() {
                    return Err(fail(PrepareReason::Exists));
                }
                steps.push(Step::Add { real, text });
            }
            FilePatch::Delete { .. } => {
                // A link goes itself, but not even its content may be looked at when it leads out.
                resolve(workspace, named).map_err(fail)?;
                let entry = entry(workspace, named).map_err(fail)?;
                claim(&entry)?;
                let loaded = load(&entry, limit).map_err(|err| fail(PrepareReason::Load(err)))?;
                steps.push(Step::Delete { entry, loaded });
            }
            FilePatch::Update {
                moved_to, chunks, ..
            } => {
                let real = resolve(workspace, named).map_err(fail)?;
                let known = updates.get(&real);
                if known.is_none_or(|known| known.moved_to.is_some() || moved_to.is_some()) {
                    claim(&real)?;
                }
                let target = match moved_to {
                    Some(to) => moved(workspace, named, &real, to)?,
                    None => None,
                };
                if let Some(target) = &target {
                    claim(target)?;
                }
                if known.is_none() {
                    let updated = open(&real, limit).map_err(fail)?;
                    updates.insert(real.clone(), updated);
                    steps.push(Step::Update { real: real.clone() });
                }
                if let Some(updated) = updates.get_mut(&real) {
                    updated.change(chunks).map_err(fail)?;
                    updated.moved_to = target;
                }
            }
        }
    }
    Ok(collect(steps, updates))
}

fn collect(steps: Vec<Step<'_>>, mut updates: BTreeMap<PathBuf, Updated>) -> Prepared {
    let mut prepared = Prepared::default();
    for step in steps {
        match step {
            Step::Add { real, text } => prepared.add(real, text),
            Step::Delete { entry, loaded } => prepared.delete(entry, &loaded),
            Step::Update { real } => {
                if let Some(updated) = updates.remove(&real) {
                    prepared.update(real, updated);
                }
            }
        }
    }
    prepared
}

impl Prepared {
    fn add(&mut self, path: PathBuf, text: &str) {
        let bytes = text.as_bytes().to_vec();
        self.changes.push(Change {
            path: path.clone(),
            kind: ChangeKind::Added,
            before: None,
            after: Some(text.to_owned()),
            hash_after: Some(ContentHash::of(&bytes)),
        });
        self.operations.push(Operation::Create {
            path,
            bytes,
            mode: None,
        });
    }

    fn delete(&mut self, path: PathBuf, loaded: &Loaded) {
        self.changes.push(Change {
            path: path.clone(),
            kind: ChangeKind::Deleted,
            before: Text::decode(&loaded.bytes).ok().map(|text| text.text),
            after: None,
            hash_after: None,
        });
        self.operations.push(Operation::Delete {
            path,
            expect: Expect::Hash(loaded.hash),
        });
    }

    fn update(&mut self, real: PathBuf, updated: Updated) {
        let bytes = updated.text.encode(&updated.current);
        let hash_after = ContentHash::of(&bytes);
        let expect = Expect::Hash(updated.loaded.hash);
        let same = hash_after == updated.loaded.hash;
        if !updated.fuzzy.is_empty() {
            self.fuzzy.push((real.clone(), updated.fuzzy));
        }
        let (path, kind) = match updated.moved_to {
            None if same => {
                self.unchanged.push(real);
                return;
            }
            None => {
                self.operations.push(Operation::Write {
                    path: real.clone(),
                    expect,
                    bytes,
                });
                (real, ChangeKind::Modified)
            }
            Some(to) => {
                if same {
                    self.operations.push(Operation::Rename {
                        from: real.clone(),
                        to: to.clone(),
                        expect,
                    });
                } else {
                    self.operations.push(Operation::Create {
                        path: to.clone(),
                        bytes,
                        mode: Some(updated.loaded.mode),
                    });
                    self.operations.push(Operation::Delete {
                        path: real.clone(),
                        expect,
                    });
                }
                (to, ChangeKind::Moved { from: real })
            }
        };
        self.changes.push(Change {
            path,
            kind,
            before: Some(updated.text.text),
            after: Some(updated.current),
            hash_after: Some(hash_after),
        });
    }
}

impl Updated {
    fn change(&mut self, chunks: &[Chunk]) -> Result<(), PrepareReason> {
        let applied = apply(&self.current, chunks).map_err(PrepareReason::Apply)?;
        self.current = applied.text;
        self.fuzzy.extend(applied.fuzzy);
        Ok(())
    }
}

fn open(real: &Path, limit: u64) -> Result<Updated, PrepareReason> {
    let loaded = load(real, limit).map_err(PrepareReason::Load)?;
    let text = Text::decode(&loaded.bytes).map_err(PrepareReason::NotText)?;
    Ok(Updated {
        current: text.text.clone(),
        loaded,
        text,
        moved_to: None,
        fuzzy: Vec::new(),
    })
}

/// Finds where a moved file goes; none when that is where it is.
fn moved(
    workspace: &Workspace,
    named: &str,
    real: &Path,
    to: &str,
) -> Result<Option<PathBuf>, PrepareError> {
    let fail = |path: &str, reason| PrepareError {
        path: path.to_owned(),
        reason,
    };
    let target = resolve(workspace, to).map_err(|reason| fail(to, reason))?;
    if target == real {
        return Ok(None);
    }
    let from = entry(workspace, named).map_err(|reason| fail(named, reason))?;
    if from != real {
        return Err(fail(named, PrepareReason::MovedLink));
    }
    if target.symlink_metadata().is_ok() {
        return Err(fail(to, PrepareReason::Exists));
    }
    Ok(Some(target))
}

fn resolve(workspace: &Workspace, path: &str) -> Result<PathBuf, PrepareReason> {
    workspace.resolve(path).map_err(PrepareReason::Path)
}

/// The directory entry that a path names: a link at its end is the link itself.
fn entry(workspace: &Workspace, path: &str) -> Result<PathBuf, PrepareReason> {
    let path = Path::new(path);
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = workspace.resolve(parent).map_err(PrepareReason::Path)?;
            Ok(parent.join(name))
        }
        _ => workspace.resolve(path).map_err(PrepareReason::Path),
    }
}
