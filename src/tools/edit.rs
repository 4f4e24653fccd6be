//! `Edit`: exact replacements in one file, all or none.

use schemars::JsonSchema;
use serde::Deserialize;

use super::files::{FileResources, Unseen, Writing, changed_since, load_file, not_text, resolve};
use crate::editing::replace::{Edit as Replacement, ReplaceError, ReplaceReason, Scope, replace};
use crate::editing::{Change, ChangeKind, Loaded, Text};
use crate::files::{ContentHash, Expect, Operation};
use crate::limits;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};

/// The tool `Edit`.
#[derive(Clone)]
pub struct Edit {
    writing: Writing,
}

/// The arguments of `Edit`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditArgs {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The text to replace, exactly as the file has it, without the line numbers that Read shows. It must be
    /// in the file once, unless `replace_all` is set: add lines around it to make it unique.
    old_string: Option<String>,
    /// The text to put there; empty deletes.
    new_string: Option<String>,
    /// Replaces every occurrence instead of exactly one.
    #[serde(default)]
    replace_all: bool,
    /// Several edits instead of one, made in this order, each in the result of the one before. All are made or
    /// none.
    edits: Option<Vec<OneEdit>>,
}

/// One of several edits.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneEdit {
    /// The text to replace, exactly as the file has it.
    old_string: String,
    /// The text to put there; empty deletes.
    new_string: String,
    /// Replaces every occurrence instead of exactly one.
    #[serde(default)]
    replace_all: bool,
}

impl Edit {
    /// Makes the tool over the files of a run; none without a commit.
    pub fn new(files: &FileResources) -> Option<Self> {
        Some(Self {
            writing: Writing::new(files)?,
        })
    }

    /// Refuses a file that the run has not seen as it is.
    fn check_seen(&self, loaded: &Loaded, shown: &str) -> Result<(), ToolError> {
        let files = self.writing.files();
        match (files.ledger.last_seen(&loaded.path), files.unseen) {
            (Some(seen), _) if seen != loaded.hash => Err(changed_since(shown)),
            (None, Unseen::Refuse) => {
                let message = format!("{shown} was not read in this run; nothing was changed");
                Err(ToolError::new(ErrorKind::Stale, message)
                    .with_hint("Read it first, then edit what it says"))
            }
            (Some(_), _) | (None, Unseen::Accept) => Ok(()),
        }
    }
}

impl EditArgs {
    fn edits(&self) -> Result<Vec<Replacement<'_>>, ToolError> {
        let one = |old, new, all| Replacement {
            old,
            new,
            scope: if all { Scope::All } else { Scope::Unique },
        };
        let hint = "pass old_string and new_string, or edits with a list of them";
        match (&self.old_string, &self.new_string, &self.edits) {
            (Some(old), Some(new), None) => Ok(vec![one(old, new, self.replace_all)]),
            (None, None, Some(edits)) if !edits.is_empty() && !self.replace_all => Ok(edits
                .iter()
                .map(|edit| one(&edit.old_string, &edit.new_string, edit.replace_all))
                .collect()),
            (None, None, Some(edits)) if edits.is_empty() => {
                Err(ToolError::invalid_args("edits is empty").with_hint(hint))
            }
            (None, None, Some(_)) => Err(ToolError::invalid_args(
                "replace_all belongs to each of the edits",
            )
            .with_hint("set it in the entries of edits that need it")),
            (Some(_), None, None) => {
                Err(ToolError::invalid_args("new_string is missing").with_hint(hint))
            }
            (None, Some(_), None) => {
                Err(ToolError::invalid_args("old_string is missing").with_hint(hint))
            }
            (None, None, None) => {
                Err(ToolError::invalid_args("there is nothing to edit").with_hint(hint))
            }
            (_, _, Some(_)) => Err(ToolError::invalid_args(
                "edits and old_string or new_string exclude each other",
            )
            .with_hint(hint)),
        }
    }
}

impl Tool for Edit {
    const NAME: &'static str = "Edit";
    const TIER: Tier = Tier::Write;
    type Args = EditArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: EditArgs) -> Result<Output, ToolError> {
        let edits = args.edits()?;
        let workspace = &self.writing.files().workspace;
        let real = resolve(workspace, &args.path)?;
        let turn = self.writing.turn();
        let loaded = load_file(workspace, &real, limits::TEXT_FILE_BYTES)?;
        let shown = workspace.display(&real);
        self.check_seen(&loaded, &shown)?;
        let text = Text::decode(&loaded.bytes).map_err(|kind| not_text(kind, &shown))?;
        let replaced = replace(&text.text, &edits).map_err(|err| replace_error(err, &shown))?;
        let bytes = text.encode(&replaced.text);
        let change = Change {
            path: real.clone(),
            kind: ChangeKind::Modified,
            before: Some(text.text),
            after: Some(replaced.text),
            hash_after: Some(ContentHash::of(&bytes)),
        };
        let operation = Operation::Write {
            path: real,
            expect: Expect::Hash(loaded.hash),
            bytes,
        };
        let mut report = self
            .writing
            .commit(call, turn, &[operation], vec![change])?;
        let count: usize = replaced.counts.iter().sum();
        if count > 1 {
            report.notes.push(format!("{count} places were replaced"));
        }
        Output::report(&report)
    }
}

fn replace_error(error: ReplaceError, shown: &str) -> ToolError {
    let (kind, hint) = match &error.reason {
        ReplaceReason::EmptyOld => (
            ErrorKind::InvalidArgs,
            "pass the text to replace; Write makes a new file",
        ),
        ReplaceReason::Same => (
            ErrorKind::InvalidArgs,
            "nothing would change; line endings always stay those of the file",
        ),
        ReplaceReason::NotFound { .. } => (
            ErrorKind::NotFound,
            "copy the text exactly as Read shows it, without the line numbers",
        ),
        ReplaceReason::Ambiguous { .. } => (
            ErrorKind::InvalidArgs,
            "add lines around it until it is unique, or set replace_all",
        ),
    };
    ToolError::new(kind, format!("{shown}: {error}; nothing was changed")).with_hint(hint)
}

const DESCRIPTION: &str = "\
Replaces exact text in one file. Read the file first: an edit of a file that this run has not read, or that \
changed on disk since, is refused.

old_string must be in the file exactly once, with every space as the file has it; set replace_all to change \
every occurrence. Line feeds match the file's own line endings, and what you put in takes them. For several \
changes of one file pass edits: they are made in order, all or none. No byte outside the replaced text changes.

For many like changes of code across files use ast_edit; for a name use lsp_rename; for a patch over several \
files use apply_patch; for a new file use Write.";
