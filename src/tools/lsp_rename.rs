//! `lsp_rename`: renames a symbol in every file that uses it (R36 to R42).
//!
//! It is a tool of its own because its tier decides who sees it. The server's edit is planned in memory and
//! goes through the one commit, so all files change or none does.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lsp::{LspResources, ask_error, file_of};
use crate::diff::{Clipped, unified};
use crate::files::{CommitError, Committer, LockError, WriteObserver};
use crate::limits;
use crate::lsp::edits::{Change, FileChange};
use crate::lsp::question::Spot;
use crate::lsp::rename::{Rename, RenameError, rename};
use crate::text::counted;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};

/// The tool `lsp_rename`.
#[derive(Clone)]
pub struct LspRename {
    resources: LspResources,
    committer: Arc<Committer>,
}

/// The arguments of `lsp_rename`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LspRenameArgs {
    /// The file, relative to the workspace.
    file: String,
    /// The line of the symbol, from 1.
    #[schemars(range(min = 1))]
    line: usize,
    /// The symbol as it is written on that line; `name#2` is its second occurrence there, `s.name` the
    /// name behind `s`.
    symbol: String,
    /// Its new name: one that the language allows, no reserved word.
    new_name: String,
    /// Whether only to show the diff and change nothing.
    #[serde(default)]
    dry_run: bool,
}

/// What `lsp_rename` answers.
#[derive(Debug, Serialize)]
struct Report {
    /// Every file that changes, sorted.
    files: Vec<Row>,
    /// How many places of text change.
    edits: usize,
    /// Whether nothing was written.
    dry_run: bool,
    /// The unified diff, for a dry run; its first lines.
    diff: Option<String>,
    /// What the server wants looked at.
    notes: Vec<String>,
    /// The first places at which the new name stood before, `file:line`: few servers look whether it now means
    /// another thing there.
    taken: Vec<String>,
    #[serde(skip)]
    symbol: String,
    #[serde(skip)]
    new_name: String,
}

#[derive(Debug, Serialize)]
struct Row {
    file: String,
    edits: usize,
    change: Change,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

/// Tells who watches the writes of the call that its commit renames something.
struct Renaming<'a> {
    observer: &'a dyn WriteObserver,
    from: &'a str,
    to: &'a str,
}

impl WriteObserver for Renaming<'_> {
    fn before(&self, paths: &[PathBuf]) {
        self.observer.renaming(self.from, self.to);
        self.observer.before(paths);
    }

    fn after(&self, paths: &[PathBuf]) {
        self.observer.after(paths);
    }
}

/// Places that are told of a name that is taken.
const TAKEN_NAMED: usize = 5;

/// Files that the text names; the data names all of them.
const FILES_NAMED: usize = 50;

impl LspRename {
    /// Makes the tool over the servers of a run and the commit of its workspace.
    pub fn new(resources: LspResources, committer: Arc<Committer>) -> Self {
        Self {
            resources,
            committer,
        }
    }

    fn report(&self, rename: &Rename, args: &LspRenameArgs) -> Report {
        let workspace = self.resources.supervisor.workspace();
        let row = |file: &FileChange| Row {
            file: workspace.display(&file.path),
            edits: file.n_edits,
            change: file.change,
            from: file.from.as_ref().map(|from| workspace.display(from)),
        };
        let planned = &rename.planned;
        let files: Vec<Row> = planned.files.iter().map(row).collect();
        let diff = args.dry_run.then(|| {
            let diffs: String = planned
                .files
                .iter()
                .map(|file| {
                    let name = workspace.display(&file.path);
                    unified(&file.old, &file.new, &name, limits::DIFF_CONTEXT_LINES)
                })
                .collect();
            Clipped::of_diff(&diffs).to_string()
        });
        Report {
            edits: files.iter().map(|row| row.edits).sum(),
            files,
            dry_run: args.dry_run,
            diff,
            notes: planned.to_confirm.clone(),
            taken: rename
                .taken(&args.new_name)
                .map(|(path, line)| format!("{}:{line}", workspace.display(path)))
                .take(TAKEN_NAMED)
                .collect(),
            symbol: rename.name.clone(),
            new_name: args.new_name.clone(),
        }
    }
}

impl Tool for LspRename {
    const NAME: &'static str = "lsp_rename";
    const TIER: Tier = Tier::Write;
    const PARALLEL_SAFE: bool = false;
    type Args = LspRenameArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: LspRenameArgs) -> Result<Output, ToolError> {
        if args.new_name.trim().is_empty() {
            return Err(ToolError::invalid_args("new_name is empty")
                .with_hint("pass the name that the symbol shall have"));
        }
        let supervisor = &self.resources.supervisor;
        let path = file_of(supervisor, &args.file)?;
        let spot = Spot {
            path: &path,
            line: args.line,
            symbol: &args.symbol,
        };
        let planned =
            rename(supervisor, spot, &args.new_name, call.cancel()).map_err(rename_error)?;
        call.check_cancelled()?;
        let report = self.report(&planned, &args);
        if !args.dry_run {
            let observer = Renaming {
                observer: call.observer(),
                from: &planned.name,
                to: &args.new_name,
            };
            self.committer
                .commit(&planned.planned.operations, &observer)
                .map_err(commit_error)?;
            for folder in &planned.planned.left_folders {
                remove_empty(folder);
            }
            planned.announce(supervisor, call.cancel());
        }
        Output::report(&report)
    }
}

impl fmt::Debug for LspRename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LspRename")
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} '{}' to '{}': {} in {}",
            match self.dry_run {
                true => "(dry run) would rename",
                false => "renamed",
            },
            self.symbol,
            self.new_name,
            counted(self.edits, "edit"),
            counted(self.files.len(), "file")
        )?;
        for row in self.files.iter().take(FILES_NAMED) {
            match (&row.from, row.change) {
                (Some(from), _) => write!(f, "\n{from} -> {}", row.file)?,
                (None, Change::Added) => write!(f, "\n{} (new)", row.file)?,
                (None, Change::Deleted) => write!(f, "\n{} (deleted)", row.file)?,
                (None, Change::Modified | Change::Moved) => write!(f, "\n{}", row.file)?,
            }
            if row.edits > 0 {
                write!(f, ": {}", counted(row.edits, "edit"))?;
            }
        }
        if self.files.len() > FILES_NAMED {
            let more = self.files.len() - FILES_NAMED;
            write!(f, "\n… {} more", counted(more, "file"))?;
        }
        for note in &self.notes {
            write!(f, "\nto be checked, says the server: {note}")?;
        }
        if !self.taken.is_empty() {
            let (name, places) = (&self.new_name, self.taken.join(", "));
            write!(
                f,
                "\nto be checked: '{name}' stood already at {places}; it may mean another thing there now"
            )?;
        }
        if let Some(diff) = &self.diff {
            write!(f, "\n\n{}", diff.trim_end())?;
        }
        Ok(())
    }
}

/// Removes what a folder that was moved or removed leaves: folders without files. One that holds something
/// by now stays.
fn remove_empty(folder: &Path) {
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_dir());
    if !is_folder(folder) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        remove_empty(&entry.path());
    }
    // A folder with anything in it is not removed.
    let _ = fs::remove_dir(folder);
}

fn rename_error(error: RenameError) -> ToolError {
    let (kind, hint) = match error {
        RenameError::Ask(error) => return ask_error(error),
        RenameError::Incomplete { .. } => (
            ErrorKind::Timeout,
            "nothing was changed; try again when it has loaded: lsp with action \"status\" shows how far it is",
        ),
        RenameError::Limited { .. } => (
            ErrorKind::Unavailable,
            "nothing was changed; do as it says and call again, or use ast_edit, which needs no server",
        ),
        RenameError::Name(ref error) => {
            let hint = format!("nothing was changed; {}", error.advice());
            return ToolError::from_cause(ErrorKind::InvalidArgs, error.clone()).with_hint(hint);
        }
        RenameError::NotRenamable { .. } => (
            ErrorKind::Failed,
            "nothing was changed; check the symbol and the new name, or rename at its declaration",
        ),
        RenameError::Nothing { .. } => (
            ErrorKind::NotFound,
            "nothing was changed; check the new name (it may be the present one), or rename at the \
             declaration",
        ),
        RenameError::Edit(crate::lsp::edits::EditError::Stale { .. }) => (
            ErrorKind::Stale,
            "nothing was changed; call lsp_rename again",
        ),
        RenameError::Edit(_) => (
            ErrorKind::Failed,
            "nothing was changed: a rename is done in all files or in none; ast_edit can rename by shape",
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

fn commit_error(error: CommitError) -> ToolError {
    let (kind, hint) = match &error {
        CommitError::Stale { .. } => (
            ErrorKind::Stale,
            "call lsp_rename again: the files changed meanwhile",
        ),
        CommitError::Locked(LockError::Io { .. }) => (
            ErrorKind::Failed,
            "the state folder cannot be used: see to it, or name another in XDG_STATE_HOME",
        ),
        CommitError::Locked(_) => (
            ErrorKind::Timeout,
            "another writer holds this workspace: try again when it has ended",
        ),
        CommitError::Refused { .. } => {
            (ErrorKind::Failed, "make these files writable and try again")
        }
        _ => (ErrorKind::Failed, "see to the cause and call again"),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Renames one symbol (a variable, function, class, field, parameter) in every file that uses it, as the language \
server sees it: other symbols of the same name, strings and comments stay. All files are changed or none.

The symbol is addressed by file, line (from 1) and symbol: the name as it stands on that line; name#2 is its \
second occurrence there. Pass dry_run to see the diff first. A rename is refused while the server is still \
indexing, because it would miss files: call again then. Use ast_edit to change a shape of code instead of a \
symbol.";
