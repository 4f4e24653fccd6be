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
    Delete { entry: PathBuf, doomed: Doomed },
    Update { real: PathBuf },
}

/// A file that goes: what it holds, and its text where that can be shown.
struct Doomed {
    hash: ContentHash,
    text: Option<String>,
}

/// Reads and changes all files of a patch in memory; files over `limit` bytes are refused.
pub fn prepare(patch: &Patch, workspace: &Workspace, limit: u64) -> Result<Prepared, PrepareError> {
    let mut planner = Planner {
        workspace,
        limit,
        claims: BTreeSet::new(),
        updates: BTreeMap::new(),
        steps: Vec::new(),
    };
    for file in &patch.files {
        match file {
            FilePatch::Add { path, text } => planner.add(path, text),
            FilePatch::Delete { path } => planner.delete(path),
            FilePatch::Update {
                path,
                moved_to,
                chunks,
            } => planner.update(path, moved_to.as_deref(), chunks),
        }?;
    }
    Ok(collect(planner.steps, planner.updates))
}

struct Planner<'a> {
    workspace: &'a Workspace,
    limit: u64,
    /// Every path that a section takes, so that no two take the same.
    claims: BTreeSet<PathBuf>,
    updates: BTreeMap<PathBuf, Updated>,
    steps: Vec<Step<'a>>,
}

impl<'a> Planner<'a> {
    fn add(&mut self, named: &str, text: &'a str) -> Result<(), PrepareError> {
        let real = self.vacant(named)?;
        self.steps.push(Step::Add { real, text });
        Ok(())
    }

    fn delete(&mut self, named: &str) -> Result<(), PrepareError> {
        let fail = |reason| because(named, reason);
        // A link goes itself, but not even its content may be looked at when it leads out.
        resolve(self.workspace, named).map_err(fail)?;
        let entry = entry(self.workspace, named).map_err(fail)?;
        self.claim(named, &entry)?;
        let doomed = doomed(&entry, self.limit).map_err(|err| fail(PrepareReason::Load(err)))?;
        self.steps.push(Step::Delete { entry, doomed });
        Ok(())
    }

    fn update(
        &mut self,
        named: &str,
        moved_to: Option<&str>,
        chunks: &[Chunk],
    ) -> Result<(), PrepareError> {
        let fail = |reason| because(named, reason);
        let real = resolve(self.workspace, named).map_err(fail)?;
        let known = self.updates.get(&real);
        let is_known = known.is_some();
        // Only updates that leave the file where it is may follow each other.
        if known.is_none_or(|known| known.moved_to.is_some() || moved_to.is_some()) {
            self.claim(named, &real)?;
        }
        let target = match moved_to {
            Some(to) => self.target(named, &real, to)?,
            None => None,
        };
        if !is_known {
            let updated = open(&real, self.limit).map_err(fail)?;
            self.updates.insert(real.clone(), updated);
            self.steps.push(Step::Update { real: real.clone() });
        }
        if let Some(updated) = self.updates.get_mut(&real) {
            updated.change(chunks).map_err(fail)?;
            updated.moved_to = target;
        }
        Ok(())
    }

    /// Finds where a moved file goes; none when that is where it is.
    fn target(
        &mut self,
        named: &str,
        real: &Path,
        to: &str,
    ) -> Result<Option<PathBuf>, PrepareError> {
        let target = resolve(self.workspace, to).map_err(|reason| because(to, reason))?;
        if target == real {
            return Ok(None);
        }
        let from = entry(self.workspace, named).map_err(|reason| because(named, reason))?;
        if from != real {
            return Err(because(named, PrepareReason::MovedLink));
        }
        self.vacant(to).map(Some)
    }

    /// Claims a path where nothing is.
    fn vacant(&mut self, named: &str) -> Result<PathBuf, PrepareError> {
        let real = resolve(self.workspace, named).map_err(|reason| because(named, reason))?;
        self.claim(named, &real)?;
        match real.symlink_metadata() {
            Ok(_) => Err(because(named, PrepareReason::Exists)),
            Err(_) => Ok(real),
        }
    }

    fn claim(&mut self, named: &str, path: &Path) -> Result<(), PrepareError> {
        match self.claims.insert(path.to_path_buf()) {
            true => Ok(()),
            false => Err(because(named, PrepareReason::Twice)),
        }
    }
}

fn because(named: &str, reason: PrepareReason) -> PrepareError {
    PrepareError {
        path: named.to_owned(),
        reason,
    }
}

fn doomed(entry: &Path, limit: u64) -> Result<Doomed, LoadError> {
    match load(entry, limit) {
        Ok(loaded) => Ok(Doomed {
            hash: loaded.hash,
            text: Text::decode(&loaded.bytes).ok().map(|text| text.text),
        }),
        // Whatever its size, a file can go; nobody wants to see it in a diff.
        Err(LoadError::TooLarge { .. }) => Ok(Doomed {
            hash: ContentHash::of_file(entry).map_err(LoadError::Io)?,
            text: None,
        }),
        Err(error) => Err(error),
    }
}

fn collect(steps: Vec<Step<'_>>, mut updates: BTreeMap<PathBuf, Updated>) -> Prepared {
    let mut prepared = Prepared::default();
    for step in steps {
        match step {
            Step::Add { real, text } => prepared.add(real, text),
            Step::Delete { entry, doomed } => prepared.delete(entry, doomed),
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

    fn delete(&mut self, path: PathBuf, doomed: Doomed) {
        self.changes.push(Change {
            path: path.clone(),
            kind: ChangeKind::Deleted,
            before: doomed.text,
            after: None,
            hash_after: None,
        });
        self.operations.push(Operation::Delete {
            path,
            expect: Expect::Hash(doomed.hash),
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
                    self.operations.push(Operation::Move {
                        from: real.clone(),
                        to: to.clone(),
                        expect,
                        bytes,
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
