//! `resolve`: applies a staged edit to all its files or to none, or drops it (R65 to R68, D12).

use std::fmt;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::syntax::Edits;
use crate::files::{CommitError, LockError, Recovered};
use crate::syntax::staging::{Accepted, Staged, StagingError};
use crate::text::counted;
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError};
use crate::workspace::Workspace;

/// The tool `resolve`.
#[derive(Clone, Debug)]
pub struct Resolve {
    workspace: Workspace,
    edits: Edits,
}

/// The arguments of `resolve`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveArgs {
    /// The id of a `(proposed)` result, such as `edit_1`.
    edit_id: String,
    /// `accept` applies the edit to all its files or to none; `discard` drops it.
    action: ResolveAction,
}

// Without doc comments on its variants the schema is a plain list of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ResolveAction {
    Accept,
    Discard,
}

/// What `resolve` answers.
#[derive(Clone, Debug, Serialize)]
struct ResolveReport {
    edit_id: String,
    action: ResolveAction,
    /// The files of the edit, as answers show them.
    files: Vec<String>,
    replacements: usize,
    /// What else happened: an interrupted change that was recovered, an edit that was applied before.
    notes: Vec<String>,
}

/// Files that the text names; the data names all of them.
const FILES_NAMED: usize = 50;

impl Resolve {
    /// Makes the tool over where edits are staged.
    pub fn new(workspace: Workspace, edits: Edits) -> Self {
        Self { workspace, edits }
    }

    fn accept(&self, edit_id: &str, call: &Call<'_>) -> Result<ResolveReport, ToolError> {
        let Accepted {
            files,
            replacements,
            already_applied,
            recovered,
        } = self
            .edits
            .staging
            .accept(
                edit_id,
                &self.edits.committer,
                call.observer(),
                SystemTime::now(),
            )
            .map_err(|err| staging_error(err, &self.workspace))?;
        let mut notes: Vec<String> = recovered
            .iter()
            .map(|recovered| recovery_note(recovered, &self.workspace))
            .collect();
        if already_applied {
            notes.push(
                "its files had the new content already: an earlier accept was interrupted after its commit"
                    .to_owned(),
            );
        }
        Ok(ResolveReport {
            edit_id: edit_id.to_owned(),
            action: ResolveAction::Accept,
            files: files
                .iter()
                .map(|path| self.workspace.display(path))
                .collect(),
            replacements,
            notes,
        })
    }

    fn discard(&self, edit_id: &str) -> Result<ResolveReport, ToolError> {
        let now = SystemTime::now();
        let staging = &self.edits.staging;
        let mut report = ResolveReport {
            edit_id: edit_id.to_owned(),
            action: ResolveAction::Discard,
            files: Vec::new(),
            replacements: 0,
            notes: Vec::new(),
        };
        match staging.find(edit_id, now) {
            Ok(staged) => {
                report.replacements = staged.proposal.replacements;
                let files = staged.proposal.files.iter();
                report.files = files
                    .map(|file| self.workspace.display(&file.path))
                    .collect();
            }
            // A damaged edit can still be dropped; what it would have changed is lost.
            Err(StagingError::Damaged { reason, .. }) => {
                report.notes.push(format!("it was damaged ({reason})"));
            }
            Err(err) => return Err(staging_error(err, &self.workspace)),
        }
        staging
            .discard(edit_id, now)
            .map_err(|err| staging_error(err, &self.workspace))?;
        Ok(report)
    }
}

impl Tool for Resolve {
    const NAME: &'static str = "resolve";
    const TIER: Tier = Tier::Write;
    const PARALLEL_SAFE: bool = false;
    type Args = ResolveArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn held(&self) -> Vec<Held> {
        let listing = self.edits.staging.list(SystemTime::now());
        let held = |staged: Staged| {
            let (n, n_files) = (staged.proposal.replacements, staged.proposal.files.len());
            Held {
                what: "staged edit".to_owned(),
                state: if staged.rejected {
                    "rejected"
                } else {
                    "pending"
                }
                .to_owned(),
                detail: format!(
                    "{}, {} in {}",
                    staged.edit_id,
                    counted(n, "replacement"),
                    counted(n_files, "file")
                ),
            }
        };
        // What cannot be listed is told by whoever resolves it.
        listing
            .unwrap_or_default()
            .edits
            .into_iter()
            .map(held)
            .collect()
    }

    fn run(&self, call: &Call<'_>, args: ResolveArgs) -> Result<Output, ToolError> {
        let report = match args.action {
            ResolveAction::Accept => self.accept(&args.edit_id, call)?,
            ResolveAction::Discard => self.discard(&args.edit_id)?,
        };
        Output::report(&report)
    }
}

impl fmt::Display for ResolveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = match self.action {
            ResolveAction::Accept => "accepted",
            ResolveAction::Discard => "discarded",
        };
        write!(
            f,
            "({done}) {}: {} in {}",
            self.edit_id,
            counted(self.replacements, "replacement"),
            counted(self.files.len(), "file")
        )?;
        if self.action == ResolveAction::Discard {
            write!(f, "; no file was changed")?;
        } else {
            for file in self.files.iter().take(FILES_NAMED) {
                write!(f, "\n{file}")?;
            }
            if self.files.len() > FILES_NAMED {
                write!(
                    f,
                    "\n… {} more",
                    counted(self.files.len() - FILES_NAMED, "file")
                )?;
            }
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

/// Says what was done about a change that was interrupted.
pub fn recovery_note(recovered: &Recovered, workspace: &Workspace) -> String {
    let shown = |paths: &[std::path::PathBuf]| {
        let paths: Vec<String> = paths.iter().map(|path| workspace.display(path)).collect();
        paths.join(", ")
    };
    match recovered {
        Recovered::Finished { files } => {
            format!("an interrupted change was finished: {}", shown(files))
        }
        Recovered::Undone { files } => {
            format!("an interrupted change was undone: {}", shown(files))
        }
        Recovered::Conflicted { files, conflicts } => {
            let conflicts: Vec<String> = conflicts
                .iter()
                .map(|conflict| match &conflict.kept {
                    Some(kept) => format!(
                        "{} (its old content is in {})",
                        workspace.display(&conflict.path),
                        kept.display()
                    ),
                    None => workspace.display(&conflict.path),
                })
                .collect();
            let undone = match files.is_empty() {
                true => String::new(),
                false => format!("undone in {}; ", shown(files)),
            };
            format!(
                "an interrupted change was {undone}left alone in files that somebody changed since: {}",
                conflicts.join(", ")
            )
        }
        Recovered::MovedAside { journal, reason } => format!(
            "the journal of an interrupted change could not be used ({reason}); it is kept as {}",
            journal.display()
        ),
    }
}

/// Gives an error of staging its kind and its next step.
pub(super) fn staging_error(error: StagingError, workspace: &Workspace) -> ToolError {
    use ErrorKind::{Expired, Failed, NotFound, Stale, Timeout};
    let again = "run ast_edit again, then resolve its new edit_id";
    let (kind, hint) = match &error {
        StagingError::Unknown { pending, .. } => (
            NotFound,
            match pending.is_empty() {
                true => "run ast_edit first; an edit_id is used up by accept and by discard",
                false => {
                    "pass one of the pending ids; an edit_id is used up by accept and by discard"
                }
            },
        ),
        StagingError::Changed { edit_id, files } => {
            let files: Vec<String> = files.iter().map(|path| workspace.display(path)).collect();
            let message = format!(
                "{edit_id} was not applied and no file was changed; changed since it was staged: {}",
                files.join(", ")
            );
            return ToolError::new(Stale, message)
                .with_hint(format!("{again}; {edit_id} can only be discarded now"));
        }
        StagingError::Expired { .. } => (Expired, again),
        StagingError::Rejected { .. } => (Stale, again),
        StagingError::NotAccepted { source, .. } => match source {
            CommitError::Locked(LockError::Io { .. }) => (
                Failed,
                "the state folder cannot be used: see to it, or name another in XDG_STATE_HOME",
            ),
            CommitError::Locked(_) => (
                Timeout,
                "another writer holds this workspace: try again when it has ended",
            ),
            CommitError::Refused { .. } => (
                Failed,
                "make these files writable and resolve again, or discard the edit",
            ),
            CommitError::Stale { .. } => (Stale, again),
            _ => (
                Failed,
                "see to the cause and resolve again, or discard the edit",
            ),
        },
        StagingError::NotConsumed { .. } => (
            Failed,
            "the files are right; discard the edit to take it off the list",
        ),
        StagingError::Recovery(_) => (
            Failed,
            "see to the cause; the interrupted change is finished or undone at the next attempt",
        ),
        StagingError::Damaged { .. } => (Failed, again),
        StagingError::Locked(LockError::Io { .. }) => (
            Failed,
            "the state folder cannot be used: see to it, or name another in XDG_STATE_HOME",
        ),
        StagingError::Locked(_) => (
            Timeout,
            "another process uses the staged edits: try again when it has ended",
        ),
        StagingError::Io { .. } => (Failed, "see to the cause and call again"),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Applies or drops a change that ast_edit staged. Pass the edit_id of its (proposed) result and action accept \
or discard.

Accept compares every file with what it was when the edit was staged; if any differs, no file is changed and \
the error lists them: run ast_edit again then. All files are changed or none, also if something fails midway. \
An edit_id is used up by accept and by discard. Read the diff before you accept.";
