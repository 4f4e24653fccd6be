//! A `WorkspaceEdit` of a server, planned wholly in memory for the one commit.
//!
//! All of it is checked before anything is written: what lies outside the workspace, what is no UTF-8, what
//! may not be written, edits that overlap or speak of another version of a file. One problem refuses all,
//! because half a rename is worse than none. This module writes nothing and asks no server.

mod text;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

use text::{BadEdit, WireTextEdit, apply, split_bom};
use tree::{Tree, is_read_only};

use crate::files::{ContentHash, Operation};
use crate::lsp::convert::Encoding;
use crate::lsp::uri;
use crate::workspace::{Workspace, WorkspaceError};

/// What a plan must know besides the edit.
pub struct Context<'a> {
    /// Where files may be changed.
    pub workspace: &'a Workspace,
    /// In which units the server counts.
    pub encoding: Encoding,
    /// Which version of a file the server was given; none for a file that it reads from disk itself.
    pub open: &'a dyn Fn(&Path) -> Option<OpenDocument>,
}

/// A file whose text the server has from us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenDocument {
    /// The version that it was told.
    pub version: i64,
    /// The content on disk from which that text came.
    pub hash: ContentHash,
}

/// What an edit would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The operations of one commit; empty when the edit changes nothing.
    pub operations: Vec<Operation>,
    /// What changes, sorted by path.
    pub files: Vec<FileChange>,
    /// What the server wants confirmed, in its words.
    pub to_confirm: Vec<String>,
    /// The folders that are moved or removed whole: what is left of them holds no file.
    pub left_folders: Vec<PathBuf>,
}

/// What changes in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, under its new name.
    pub path: PathBuf,
    /// Where it was before, when it moves.
    pub from: Option<PathBuf>,
    /// What happens to it.
    pub change: Change,
    /// How many places of its text change.
    pub n_edits: usize,
    /// Its text before.
    pub old: String,
    /// Its text afterwards.
    pub new: String,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It is new.
    Added,
    /// Its text changes.
    Modified,
    /// It goes away.
    Deleted,
    /// It gets another name, and perhaps another text.
    Moved,
}

/// Says why an edit cannot be made; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The server's answer is no edit.
    #[error("the server's edit cannot be read")]
    Malformed(#[source] serde_json::Error),
    /// The edit names something that is no file on disk.
    #[error("the server's edit names '{uri}', which is no file on disk")]
    NotAFile {
        /// What it names.
        uri: String,
    },
    /// The edit leads out of the workspace (D36).
    #[error("the server's edit leads out of the workspace")]
    Outside {
        /// Which path, and out of what.
        #[source]
        source: WorkspaceError,
    },
    /// The file is not there.
    #[error("the server's edit changes '{}', which does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is there already, and the edit does not say what then.
    #[error("the server's edit makes '{}', which exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is a device or something else that is not edited.
    #[error("'{}' is not a regular file", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// A symbolic link would be moved or removed.
    #[error("the server's edit moves or removes '{}', which is a symbolic link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The file is not UTF-8, so its positions mean nothing (D12).
    #[error("'{}' is not valid UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// The mode of the file forbids writing (D12).
    #[error("'{}' is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be read.
    #[error("cannot read '{}'", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The edit was made for another content than the file has.
    #[error("the server's edit of '{}' is for another version of it: {detail}", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
        /// Which versions differ.
        detail: String,
    },
    /// Two edits claim the same text.
    #[error("the server's edits of '{}' overlap at line {line}", path.display())]
    Overlap {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A folder that holds too much would be moved or removed.
    #[error("the server's edit moves or removes the folder '{}', which holds too many files", path.display())]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
}

/// Plans an edit; `edit` is the `WorkspaceEdit` as it came, null for none.
pub fn plan(edit: &Value, context: &Context<'_>) -> Result<Planned, EditError> {
    let edit = Option::<WireEdit>::deserialize(edit)
        .map_err(EditError::Malformed)?
        .unwrap_or_default();
    let mut planner = Planner {
        context,
        tree: Tree::new(context.workspace),
        waiting: BTreeMap::new(),
        annotations: BTreeSet::new(),
        left_folders: Vec::new(),
    };
    // A server that sends both means the same edit twice.
    match edit.document_changes {
        Some(changes) if !changes.is_empty() => {
            for change in changes {
                planner.step(change)?;
            }
        }
        _ => {
            for (uri, edits) in edit.changes.unwrap_or_default() {
                planner.collect(&uri, None, edits)?;
            }
        }
    }
    planner.flush()?;
    let annotations = edit.change_annotations.unwrap_or_default();
    let to_confirm = planner
        .annotations
        .iter()
        .filter_map(|id| annotations.get(id))
        .filter(|annotation| annotation.needs_confirmation)
        .map(|annotation| match &annotation.description {
            Some(description) => format!("{}: {description}", annotation.label),
            None => annotation.label.clone(),
        })
        .collect();
    let (operations, mut files) = planner.tree.finish();
    for file in &mut files {
        file.n_edits = n_places(file);
    }
    Ok(Planned {
        operations,
        files,
        to_confirm,
        left_folders: planner.left_folders,
    })
}

/// How many places change: a server that replaces the whole text (pylsp does) sends one edit for all.
fn n_places(file: &FileChange) -> usize {
    if file.n_edits != 1 {
        return file.n_edits;
    }
    let diff = TextDiff::configure()
        .timeout(crate::limits::DIFF_EFFORT)
        .diff_lines(&file.old, &file.new);
    diff.grouped_ops(0).len().max(1)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireEdit {
    changes: Option<BTreeMap<String, Vec<WireTextEdit>>>,
    document_changes: Option<Vec<WireChange>>,
    change_annotations: Option<BTreeMap<String, WireAnnotation>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum WireChange {
    File(WireFileOperation),
    Text(WireDocumentEdit),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDocumentEdit {
    text_document: WireDocument,
    edits: Vec<WireTextEdit>,
}

#[derive(Debug, Deserialize)]
struct WireDocument {
    uri: String,
    version: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum WireFileOperation {
    Create {
        uri: String,
        #[serde(default)]
        options: WireOptions,
        #[serde(rename = "annotationId")]
        annotation_id: Option<String>,
    },
    Rename {
        #[serde(rename = "oldUri")]
        old_uri: String,
        #[serde(rename = "newUri")]
        new_uri: String,
        #[serde(default)]
        options: WireOptions,
        #[serde(rename = "annotationId")]
        annotation_id: Option<String>,
    },
    Delete {
        uri: String,
        #[serde(default)]
        options: WireOptions,
        #[serde(rename = "annotationId")]
        annotation_id: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireOptions {
    overwrite: bool,
    ignore_if_exists: bool,
    ignore_if_not_exists: bool,
    recursive: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireAnnotation {
    label: String,
    #[serde(default)]
    needs_confirmation: bool,
    description: Option<String>,
}

struct Planner<'a> {
    context: &'a Context<'a>,
    tree: Tree<'a>,
    /// Text edits that wait for the next operation on files: all edits of one file speak of one text.
    waiting: BTreeMap<PathBuf, Vec<WireTextEdit>>,
    annotations: BTreeSet<String>,
    left_folders: Vec<PathBuf>,
}

impl Planner<'_> {
    fn step(&mut self, change: WireChange) -> Result<(), EditError> {
        match change {
            WireChange::Text(edit) => self.collect(
                &edit.text_document.uri,
                edit.text_document.version,
                edit.edits,
            ),
            WireChange::File(operation) => {
                self.flush()?;
                self.operate(operation)
            }
        }
    }

    fn collect(
        &mut self,
        uri: &str,
        version: Option<i64>,
        edits: Vec<WireTextEdit>,
    ) -> Result<(), EditError> {
        let path = self.tree.target(&file_path(uri)?)?;
        if self.tree.content(&path)?.is_none() {
            return Err(EditError::Missing { path });
        }
        self.check_version(&path, version)?;
        let annotations = edits.iter().filter_map(|edit| edit.annotation_id.clone());
        self.annotations.extend(annotations);
        self.waiting.entry(path).or_default().extend(edits);
        Ok(())
    }

    /// A server may have moved on, or lag behind; gopls says 0 for a file that it read from disk itself.
    fn check_version(&self, path: &Path, version: Option<i64>) -> Result<(), EditError> {
        let Some(open) = (self.context.open)(path) else {
            return Ok(());
        };
        let stale = |detail: String| {
            Err(EditError::Stale {
                path: path.to_owned(),
                detail,
            })
        };
        match version {
            Some(version) if version != 0 && version != open.version => stale(format!(
                "the server speaks of version {version}, the current one is {}",
                open.version
            )),
            _ if self.tree.origin_hash(path) != Some(open.hash) => {
                stale("it changed on disk since the server was asked".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<(), EditError> {
        for (path, edits) in std::mem::take(&mut self.waiting) {
            let encoding = self.context.encoding;
            let Some(content) = self.tree.content(&path)? else {
                return Err(EditError::Missing { path });
            };
            let (bom, rest) = split_bom(&content.bytes);
            let Ok(text) = std::str::from_utf8(rest) else {
                return Err(EditError::NotUtf8 { path });
            };
            let applied = match apply(text, &edits, encoding) {
                Ok(applied) => applied,
                Err(BadEdit::Overlap { line }) => {
                    return Err(EditError::Overlap { path, line });
                }
                Err(BadEdit::Behind { line, n_lines }) => {
                    let detail = format!("it changes line {line}, and there are {n_lines}");
                    return Err(EditError::Stale { path, detail });
                }
            };
            if applied.text == text {
                continue;
            }
            let mut bytes = bom.to_vec();
            bytes.extend_from_slice(applied.text.as_bytes());
            content.bytes = bytes;
            content.n_edits += applied.n_edits;
            if is_read_only(&path) {
                return Err(EditError::ReadOnly { path });
            }
        }
        Ok(())
    }

    fn operate(&mut self, operation: WireFileOperation) -> Result<(), EditError> {
        let (WireFileOperation::Create { annotation_id, .. }
        | WireFileOperation::Rename { annotation_id, .. }
        | WireFileOperation::Delete { annotation_id, .. }) = &operation;
        self.annotations.extend(annotation_id.clone());
        match operation {
            WireFileOperation::Create { uri, options, .. } => {
                let path = self.tree.entry(&file_path(&uri)?)?;
                match self.vacate(&path, options)? {
                    true => self.tree.create(&path),
                    false => Ok(()),
                }
            }
            WireFileOperation::Rename {
                old_uri,
                new_uri,
                options,
                ..
            } => {
                let from = self.tree.entry(&file_path(&old_uri)?)?;
                let to = self.tree.entry(&file_path(&new_uri)?)?;
                self.rename(&from, &to, options)
            }
            WireFileOperation::Delete { uri, options, .. } => {
                let path = self.tree.entry(&file_path(&uri)?)?;
                self.delete(&path, options)
            }
        }
    }

    fn rename(&mut self, from: &Path, to: &Path, options: WireOptions) -> Result<(), EditError> {
        let Some(files) = self.tree.beneath(from)? else {
            self.check_writable(from)?;
            return match self.vacate(to, options)? {
                true => self.tree.rename(from, to),
                false => Ok(()),
            };
        };
        self.left_folders.push(from.to_owned());
        for file in files {
            let Ok(inner) = file.strip_prefix(from) else {
                continue;
            };
            let to = to.join(inner);
            self.check_writable(&file)?;
            if self.vacate(&to, options)? {
                self.tree.rename(&file, &to)?;
            }
        }
        Ok(())
    }

    fn delete(&mut self, path: &Path, options: WireOptions) -> Result<(), EditError> {
        if let Some(files) = self.tree.beneath(path)? {
            if !options.recursive && !files.is_empty() {
                return Err(EditError::NotRegular {
                    path: path.to_owned(),
                });
            }
            for file in files {
                self.check_writable(&file)?;
                self.tree.delete(&file)?;
            }
            self.left_folders.push(path.to_owned());
            return Ok(());
        }
        if options.ignore_if_not_exists && self.tree.content(path)?.is_none() {
            return Ok(());
        }
        self.check_writable(path)?;
        self.tree.delete(path)
    }

    /// Whether a file may be put at `path`; `false` when the edit says to leave alone what is there.
    fn vacate(&mut self, path: &Path, options: WireOptions) -> Result<bool, EditError> {
        if self.tree.content(path)?.is_none() || options.overwrite {
            return Ok(true);
        }
        match options.ignore_if_exists {
            true => Ok(false),
            false => Err(EditError::Exists {
                path: path.to_owned(),
            }),
        }
    }

    fn check_writable(&self, path: &Path) -> Result<(), EditError> {
        match is_read_only(path) {
            true => Err(EditError::ReadOnly {
                path: path.to_owned(),
            }),
            false => Ok(()),
        }
    }
}

fn file_path(uri: &str) -> Result<PathBuf, EditError> {
    uri::to_path(uri).ok_or_else(|| EditError::NotAFile {
        uri: uri.to_owned(),
    })
}
