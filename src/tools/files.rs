//! What Read, Write, Edit and `apply_patch` share: their resource, their path guard, their commit, their
//! report and their errors.

mod near;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::diff::Clipped;
use crate::editing::{Change, ChangeKind, Ledger, LoadError, Loaded, Special, Turn, load};
use crate::files::{CommitError, Committer, Entry, LockError, Operation, Recovered};
use crate::limits;
use crate::text::TextKind;
use crate::tool::{Call, ErrorKind, ToolError};
use crate::tools::recovery_note;
use crate::workspace::{AllowedPlaces, Workspace, WorkspaceError};

/// What the file tools need.
#[derive(Clone)]
pub struct FileResources {
    /// The files that may be read and changed.
    pub workspace: Workspace,
    /// The one commit of the workspace; without it nothing can be written.
    pub committer: Option<Arc<Committer>>,
    /// What the run has seen of each file. Give it to the run as an observer too, so that it follows what
    /// other tools of the run write.
    pub ledger: Arc<Ledger>,
    /// Files outside the workspace that Read may open all the same (D36): what language servers name, and
    /// the folder in which the host keeps long output.
    pub allowed: AllowedPlaces,
    /// What Edit does about a file that the run has not read.
    pub unseen: Unseen,
    /// How much Read shows.
    pub limits: ReadLimits,
}

/// What Edit does about a file that the run has not read (D35).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// Refuses: whoever changes a file in a run must have looked at it.
    #[default]
    Refuse,
    /// Takes it as it is when the call starts: a run of one command has no earlier call.
    Accept,
}

/// How much Read shows where the caller does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Lines of a text.
    pub lines: usize,
    /// Characters of a line.
    pub line_chars: usize,
    /// Bytes of text in all.
    pub text_bytes: usize,
    /// Bytes of the largest text file.
    pub file_bytes: u64,
    /// Bytes of the largest picture.
    pub image_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            lines: limits::READ_LINES,
            line_chars: limits::READ_LINE_CHARS,
            text_bytes: limits::READ_TEXT_BYTES,
            file_bytes: limits::TEXT_FILE_BYTES,
            image_bytes: limits::IMAGE_FILE_BYTES,
        }
    }
}

impl FileResources {
    /// Wires a workspace to read, and nothing to write with.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            committer: None,
            ledger: Arc::default(),
            allowed: AllowedPlaces::new(),
            unseen: Unseen::default(),
            limits: ReadLimits::default(),
        }
    }

    /// Wires the commit that all writers of the workspace share.
    #[must_use]
    pub fn with_committer(mut self, committer: Arc<Committer>) -> Self {
        self.committer = Some(committer);
        self
    }

    /// Takes files as they are when a call starts, for a run of one command (D35).
    #[must_use]
    pub fn one_shot(mut self) -> Self {
        self.unseen = Unseen::Accept;
        self
    }
}

impl fmt::Debug for FileResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileResources")
            .field("workspace", &self.workspace)
            .field("unseen", &self.unseen)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The files of a run as a tool that changes them has them: it exists only where a commit is wired.
#[derive(Clone)]
pub(super) struct Writing {
    files: FileResources,
    committer: Arc<Committer>,
}

impl Writing {
    pub(super) fn new(files: &FileResources) -> Option<Self> {
        Some(Self {
            files: files.clone(),
            committer: files.committer.clone()?,
        })
    }

    pub(super) fn files(&self) -> &FileResources {
        &self.files
    }

    /// Waits for the other changes of this run, so that each is made on what the former left.
    pub(super) fn turn(&self) -> Turn<'_> {
        self.files.ledger.turn()
    }

    /// Commits and records; the turn ends before the observers look at the result.
    pub(super) fn commit(
        &self,
        call: &Call<'_>,
        turn: Turn<'_>,
        operations: &[Operation],
        changes: Vec<Change>,
    ) -> Result<ChangeReport, ToolError> {
        call.check_cancelled()?;
        let report = self
            .committer
            .commit_silently(operations, call.observer())
            .map_err(|err| commit_error(err, &self.files.workspace))?;
        for change in &changes {
            match change.hash_after {
                Some(hash) => self.files.ledger.record(&change.path, hash),
                None => self.files.ledger.forget(&change.path),
            }
            if let ChangeKind::Moved { from } = &change.kind {
                self.files.ledger.forget(from);
            }
        }
        drop(turn);
        if !report.touched.is_empty() {
            call.observer().after(&report.touched);
        }
        Ok(ChangeReport::new(
            &changes,
            &report.recovered,
            &self.files.workspace,
        ))
    }
}

/// What a change of files answers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ChangeReport {
    files: Vec<FileRow>,
    /// The unified diff of all files, clipped.
    diff: String,
    diff_truncated: bool,
    /// What else happened: a conversion, a tolerant match, an interrupted change that was recovered.
    pub(super) notes: Vec<String>,
    /// The part of the diff that the text shows: the content of a file that came or went is no news.
    #[serde(skip)]
    shown: String,
}

/// One changed file.
#[derive(Clone, Debug, Serialize)]
struct FileRow {
    file: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

impl ChangeReport {
    fn new(changes: &[Change], recovered: &[Recovered], workspace: &Workspace) -> Self {
        let mut whole = String::new();
        let mut shown = String::new();
        for change in changes {
            let diff = change.diff(workspace);
            whole.push_str(&diff);
            if matches!(change.kind, ChangeKind::Modified | ChangeKind::Moved { .. }) {
                shown.push_str(&diff);
            }
        }
        let clipped = Clipped::of_diff(&whole);
        let row = |change: &Change| FileRow {
            file: workspace.display(&change.path),
            change: change.kind.name(),
            from: match &change.kind {
                ChangeKind::Moved { from } => Some(workspace.display(from)),
                ChangeKind::Added | ChangeKind::Modified | ChangeKind::Deleted => None,
            },
        };
        Self {
            files: changes.iter().map(row).collect(),
            diff_truncated: clipped.is_cut(),
            diff: clipped.to_string(),
            notes: recovered
                .iter()
                .map(|recovered| recovery_note(recovered, workspace))
                .collect(),
            shown: Clipped::of_diff(&shown).to_string(),
        }
    }

    /// The report of a call that found everything as it wants it.
    pub(super) fn nothing() -> Self {
        Self {
            files: Vec::new(),
            diff: String::new(),
            diff_truncated: false,
            notes: Vec::new(),
            shown: String::new(),
        }
    }
}

impl fmt::Display for ChangeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.files.is_empty() {
            write!(f, "nothing changed")?;
        }
        for (row_idx, row) in self.files.iter().enumerate() {
            if row_idx > 0 {
                writeln!(f)?;
            }
            match &row.from {
                Some(from) => write!(f, "{} {from} to {}", row.change, row.file)?,
                None => write!(f, "{} {}", row.change, row.file)?,
            }
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        if !self.shown.is_empty() {
            write!(f, "\n\n{}", self.shown)?;
        }
        Ok(())
    }
}

/// Resolves the path of a file to be changed.
pub(super) fn resolve(workspace: &Workspace, path: &str) -> Result<PathBuf, ToolError> {
    if path.is_empty() || path.contains('\0') {
        return Err(
            ToolError::invalid_args(format!("'{}' is no path", path.escape_debug()))
                .with_hint("pass the path of a file, relative to the workspace"),
        );
    }
    workspace.resolve(path).map_err(path_error)
}

/// Resolves the path of a file to be read, which a language server or the host may have opened (D36).
pub(super) fn resolve_readable(files: &FileResources, path: &str) -> Result<PathBuf, ToolError> {
    resolve(&files.workspace, path).or_else(|error| {
        let real = files.workspace.root().join(path).canonicalize();
        match real {
            Ok(real) if files.allowed.contains(&real) => Ok(real),
            _ => Err(error),
        }
    })
}

/// Loads a file; the error names it, and what to do.
pub(super) fn load_file(
    workspace: &Workspace,
    real: &Path,
    limit: u64,
) -> Result<Loaded, ToolError> {
    load(real, limit).map_err(|err| load_error(err, workspace, real))
}

/// Says why a file could not be loaded.
pub(super) fn load_error(error: LoadError, workspace: &Workspace, real: &Path) -> ToolError {
    let shown = workspace.display(real);
    match error {
        LoadError::Missing => missing(workspace, real),
        LoadError::Folder => {
            ToolError::invalid_args(format!("{shown} is a folder")).with_hint(near::entries(real))
        }
        LoadError::Special(special) => {
            let message = format!("{shown} is {}, not a regular file", special.name());
            ToolError::new(ErrorKind::Failed, message).with_hint(match special {
                Special::Pipe | Special::Socket => {
                    "it was not opened, because that could wait for ever"
                }
                Special::Device => "it was not opened; name a regular file",
            })
        }
        LoadError::TooLarge { size, limit } => {
            let message = format!("{shown} has {size} bytes; the limit is {limit}");
            ToolError::new(ErrorKind::Failed, message).with_hint(
                "search it for the part that matters, or cut that part out into a smaller file",
            )
        }
        LoadError::Io(source) => {
            let denied = source.kind() == io::ErrorKind::PermissionDenied;
            let error = ToolError::new(ErrorKind::Failed, format!("cannot read {shown}"));
            error.caused_by(source).with_hint(match denied {
                true => "its permissions do not let this process read it",
                false => "see to the cause and call again",
            })
        }
    }
}

/// Says that a file is not there, and which path was probably meant.
fn missing(workspace: &Workspace, real: &Path) -> ToolError {
    let shown = workspace.display(real);
    let near = near::suggestions(workspace, real);
    let error = ToolError::new(ErrorKind::NotFound, format!("no file '{shown}'"));
    error.with_hint(if near.is_empty() {
        "nothing has a name like it; paths are relative to the workspace".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    })
}

/// Says that a file is no UTF-8 text, and so cannot be changed.
pub(super) fn not_text(kind: TextKind, shown: &str) -> ToolError {
    let error = |what: &str| ToolError::new(ErrorKind::Failed, format!("{shown} is {what}"));
    match kind {
        TextKind::Utf16Le => {
            error("UTF-16 text (little-endian), not UTF-8").with_hint(convert("UTF-16LE"))
        }
        TextKind::Utf16Be => {
            error("UTF-16 text (big-endian), not UTF-8").with_hint(convert("UTF-16BE"))
        }
        TextKind::NotUtf8 => {
            error("text in another encoding than UTF-8").with_hint(convert("ISO-8859-1"))
        }
        TextKind::Binary | TextKind::Utf8 | TextKind::Utf8Bom => {
            error("binary").with_hint("it was left alone: only text can be read and edited")
        }
    }
}

fn convert(encoding: &str) -> String {
    format!(
        "it was left alone, because it would not survive byte for byte; convert it first, such as with \
         `iconv -f {encoding} -t UTF-8`"
    )
}

/// Says how a path is refused, and what to pass instead.
pub(super) fn path_error(error: WorkspaceError) -> ToolError {
    let (kind, hint) = match &error {
        WorkspaceError::Outside { .. } => (
            ErrorKind::InvalidArgs,
            "pass the path of a file inside the workspace, relative to it",
        ),
        WorkspaceError::LinkLoop { .. } => {
            (ErrorKind::InvalidArgs, "pass the path of the real file")
        }
        WorkspaceError::Io { .. } => (ErrorKind::Failed, "see to the cause and call again"),
        WorkspaceError::NotAbsolute { .. } | WorkspaceError::NotAFolder { .. } => {
            (ErrorKind::Failed, "open the workspace again")
        }
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

/// The error of a file that is not what the run last saw of it.
pub(super) fn changed_since(shown: &str) -> ToolError {
    let message =
        format!("{shown} changed on disk since it was last read here; nothing was changed");
    ToolError::new(ErrorKind::Stale, message).with_hint("Read it again, then repeat the change")
}

fn commit_error(error: CommitError, workspace: &Workspace) -> ToolError {
    let (kind, hint) = match &error {
        CommitError::Stale { files } => {
            let files: Vec<String> = files
                .iter()
                .map(|file| {
                    let shown = workspace.display(&file.path);
                    match file.found {
                        Entry::Absent => format!("{shown} (gone)"),
                        _ => shown,
                    }
                })
                .collect();
            let message = format!(
                "changed on disk in the same moment: {}; nothing was changed",
                files.join(", ")
            );
            return ToolError::new(ErrorKind::Stale, message)
                .with_hint("Read it again, then repeat the change");
        }
        CommitError::Refused { files } => {
            let files: Vec<String> = files
                .iter()
                .map(|file| format!("{} ({})", workspace.display(&file.path), file.reason))
                .collect();
            let message = format!(
                "cannot be changed: {}; nothing was changed",
                files.join(", ")
            );
            return ToolError::new(ErrorKind::Failed, message)
                .with_hint("leave it as it is, or ask for its permissions to be changed");
        }
        CommitError::Locked(LockError::Io { .. }) => (
            ErrorKind::Failed,
            "the state folder cannot be used: see to it, or name another in XDG_STATE_HOME",
        ),
        CommitError::Locked(_) => (
            ErrorKind::Timeout,
            "another writer holds this workspace: try again when it has ended",
        ),
        _ => (ErrorKind::Failed, "see to the cause and call again"),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}
