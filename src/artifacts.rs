//! Delivering files: copies of finished results in the artifacts folder of a run, with a manifest.
//!
//! ```text
//! FOLDER/manifest.json     {"artifacts":[{"path","size","sha256","mime"}]}, sorted by path
//! FOLDER/files/PATH        the copies, under their paths in the workspace
//! ```
//!
//! A delivery is one commit of [`crate::files`]: all copies and the manifest, or nothing, also across a
//! crash. What is delivered again replaces what was there. This module knows no tool.

mod mime;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cancel::Cancel;
use crate::files::{
    CommitError, Committer, ContentHash, Expect, NoObserver, Operation, make_private_dir,
};
use crate::limits;
use crate::workspace::{Workspace, WorkspaceError};

/// How often a delivery begins anew when another one came in between.
const ATTEMPTS: usize = 5;

/// A delivered file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its path in the workspace.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Its media type.
    pub mime: String,
}

/// What a delivery put down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArtifactsReport {
    /// The files, sorted by path.
    pub artifacts: Vec<Artifact>,
    /// The folder that holds the manifest and the copies.
    pub folder: String,
}

/// The folder that one run delivers into.
pub struct Artifacts {
    workspace: Workspace,
    folder: PathBuf,
    committer: Committer,
}

/// Why a file cannot be delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The path is outside the workspace, or cannot be looked up.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Nothing is there.
    #[error("no file '{path}'")]
    Missing {
        /// The path.
        path: String,
    },
    /// It is a symbolic link.
    #[error("'{path}' is a symbolic link")]
    Link {
        /// The path.
        path: String,
    },
    /// It is a folder, a device or the like.
    #[error("'{path}' is no regular file")]
    NotRegular {
        /// The path.
        path: String,
    },
    /// It cannot be read.
    #[error("cannot read '{path}'")]
    Unreadable {
        /// The path.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Two files would get one name.
    #[error("'{path}' has the name of another file of this delivery")]
    SameName {
        /// The path.
        path: String,
    },
}

/// Why nothing was delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactsError {
    /// No file was named.
    #[error("no file was named")]
    Nothing,
    /// Too many files.
    #[error("{n_files} files were named; the limit is {limit}", limit = limits::ARTIFACT_FILES)]
    TooMany {
        /// How many.
        n_files: usize,
    },
    /// The files are too large.
    #[error("the files have over {limit} bytes together", limit = limits::ARTIFACT_BYTES)]
    TooLarge,
    /// Some files cannot be delivered.
    #[error("nothing was delivered: {}", listed(unfit))]
    Unfit {
        /// All of them, and why.
        unfit: Vec<Unfit>,
    },
    /// The manifest of earlier deliveries cannot be read.
    #[error("cannot read the manifest '{}': {reason}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The copies could not be made.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Somebody cancelled the delivery.
    #[error("the delivery was cancelled")]
    Cancelled,
}

fn listed(unfit: &[Unfit]) -> String {
    let words: Vec<String> = unfit.iter().map(ToString::to_string).collect();
    words.join("; ")
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    artifacts: Vec<Artifact>,
}

/// A file that was read.
struct Copy {
    artifact: Artifact,
    /// Its path below `files`.
    name: PathBuf,
    bytes: Vec<u8>,
}

impl Artifacts {
    /// Delivers into `folder`, which is made when needed; the lock and the journal are in `state_dir`. Both
    /// are absolute.
    pub fn new(workspace: Workspace, folder: PathBuf, state_dir: PathBuf) -> Self {
        Self {
            workspace,
            folder,
            committer: Committer::new(state_dir),
        }
    }

    /// Copies files of the workspace, all or none.
    pub fn deliver(
        &self,
        paths: &[String],
        cancel: &Cancel,
    ) -> Result<ArtifactsReport, ArtifactsError> {
        let copies = self.read_all(paths, cancel)?;
        make_private_dir(&self.folder).map_err(|err| ArtifactsError::Manifest {
            path: self.folder.clone(),
            reason: err.to_string(),
        })?;
        for attempt in 1.. {
            let operations = self.operations(&copies)?;
            match self.committer.commit(&operations, &NoObserver) {
                Ok(_) => break,
                // Another delivery came between the look at the folder and the commit.
                Err(CommitError::Stale { .. } | CommitError::Refused { .. })
                    if attempt < ATTEMPTS => {}
                Err(err) => return Err(err.into()),
            }
        }
        Ok(ArtifactsReport {
            artifacts: copies.into_iter().map(|copy| copy.artifact).collect(),
            folder: self.folder.display().to_string(),
        })
    }

    fn read_all(&self, paths: &[String], cancel: &Cancel) -> Result<Vec<Copy>, ArtifactsError> {
        if paths.is_empty() {
            return Err(ArtifactsError::Nothing);
        }
        if paths.len() > limits::ARTIFACT_FILES {
            let n_files = paths.len();
            return Err(ArtifactsError::TooMany { n_files });
        }
        let mut found = BTreeMap::new();
        let mut names = BTreeSet::new();
        let mut unfit = Vec::new();
        let mut room = limits::ARTIFACT_BYTES;
        for path in paths {
            if cancel.is_cancelled() {
                return Err(ArtifactsError::Cancelled);
            }
            let (real, name) = match self.look_up(path) {
                Ok(found) => found,
                Err(reason) => {
                    unfit.push(reason);
                    continue;
                }
            };
            if found.contains_key(&real) {
                continue;
            }
            if !names.insert(name.clone()) {
                unfit.push(Unfit::SameName { path: path.clone() });
                continue;
            }
            match read(&real, room) {
                Ok(None) => return Err(ArtifactsError::TooLarge),
                Ok(Some(bytes)) => {
                    room -= bytes.len() as u64;
                    let artifact = Artifact {
                        path: self.workspace.display(&real),
                        size: bytes.len() as u64,
                        sha256: ContentHash::of(&bytes).to_string(),
                        mime: mime::of(&real, &bytes).to_owned(),
                    };
                    let copy = Copy {
                        artifact,
                        name,
                        bytes,
                    };
                    found.insert(real, copy);
                }
                Err(source) => unfit.push(Unfit::Unreadable {
                    path: path.clone(),
                    source,
                }),
            }
        }
        if !unfit.is_empty() {
            return Err(ArtifactsError::Unfit { unfit });
        }
        let mut copies: Vec<Copy> = found.into_values().collect();
        copies.sort_by(|a, b| a.artifact.path.cmp(&b.artifact.path));
        Ok(copies)
    }

    /// Finds the file behind a path, and its name below `files`.
    fn look_up(&self, path: &str) -> Result<(PathBuf, PathBuf), Unfit> {
        let real = self.workspace.resolve(path)?;
        let named = |path: &str| path.to_owned();
        let is_link = fs::symlink_metadata(self.workspace.root().join(path))
            .is_ok_and(|metadata| metadata.is_symlink());
        if is_link {
            return Err(Unfit::Link { path: named(path) });
        }
        match fs::symlink_metadata(&real) {
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => return Err(Unfit::NotRegular { path: named(path) }),
            Err(err)
                if matches!(
                    err.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(Unfit::Missing { path: named(path) });
            }
            Err(source) => {
                let path = named(path);
                return Err(Unfit::Unreadable { path, source });
            }
        }
        if let Ok(inside) = real.strip_prefix(self.workspace.root()) {
            let inside = inside.to_owned();
            return Ok((real, inside));
        }
        // A file of another root keeps the name of that root before its own path.
        let root = self
            .workspace
            .extra_roots()
            .iter()
            .find(|root| real.starts_with(root));
        let name = root.and_then(|root| {
            let inside = real.strip_prefix(root).ok()?;
            Some(Path::new(root.file_name()?).join(inside))
        });
        let name = name.unwrap_or_else(|| real.file_name().map(PathBuf::from).unwrap_or_default());
        Ok((real, name))
    }

    fn operations(&self, copies: &[Copy]) -> Result<Vec<Operation>, ArtifactsError> {
        let files = self.folder.join("files");
        let mut operations: Vec<Operation> = copies
            .iter()
            .map(|copy| write_or_create(files.join(&copy.name), Expect::Any, copy.bytes.clone()))
            .collect();
        let path = self.folder.join("manifest.json");
        let bad = |reason: String| ArtifactsError::Manifest {
            path: path.clone(),
            reason,
        };
        let before = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(err) if err.kind() == io::ErrorKind::NotFound => None,
            Err(err) => return Err(bad(err.to_string())),
        };
        let mut manifest: Manifest = match &before {
            Some(bytes) => serde_json::from_slice(bytes).map_err(|err| bad(err.to_string()))?,
            None => Manifest::default(),
        };
        let new = copies.iter().map(|copy| &copy.artifact);
        manifest
            .artifacts
            .retain(|old| !new.clone().any(|artifact| artifact.path == old.path));
        manifest.artifacts.extend(new.cloned());
        manifest.artifacts.sort_by(|a, b| a.path.cmp(&b.path));
        let mut bytes = serde_json::to_vec_pretty(&manifest).map_err(|err| bad(err.to_string()))?;
        bytes.push(b'\n');
        operations.push(match before {
            Some(before) => Operation::Write {
                path,
                expect: Expect::Hash(ContentHash::of(&before)),
                bytes,
            },
            None => Operation::Create {
                path,
                bytes,
                mode: None,
            },
        });
        Ok(operations)
    }
}

fn write_or_create(path: PathBuf, expect: Expect, bytes: Vec<u8>) -> Operation {
    match fs::symlink_metadata(&path).is_ok() {
        true => Operation::Write {
            path,
            expect,
            bytes,
        },
        false => Operation::Create {
            path,
            bytes,
            mode: None,
        },
    }
}

/// Reads a file of at most `room` bytes; `None` when it has more. A link that came into its place since it
/// was looked at is not followed, and a pipe is not waited for.
fn read(path: &Path, room: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file any more"));
    }
    let mut bytes = Vec::new();
    file.take(room + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= room).then_some(bytes))
}

impl fmt::Display for ArtifactsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for artifact in &self.artifacts {
            let Artifact {
                path, size, mime, ..
            } = artifact;
            writeln!(f, "{path} ({size} bytes, {mime})")?;
        }
        let n_files = self.artifacts.len();
        let files = if n_files == 1 { "file" } else { "files" };
        write!(f, "\ndelivered {n_files} {files} to {}", self.folder)
    }
}
