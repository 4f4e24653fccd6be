//! `Write`: makes a file, or gives one a new content.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::files::{
    ChangeReport, FileResources, Writing, changed_since, load_error, not_text, resolve,
};
use crate::editing::{Change, ChangeKind, LoadError, Loaded, Text, load, overwrite};
use crate::files::{ContentHash, Expect, Operation};
use crate::limits;
use crate::tool::{Call, Output, Tier, Tool, ToolError};

/// The tool `Write`.
#[derive(Clone)]
pub struct Write {
    writing: Writing,
}

/// The arguments of `Write`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteArgs {
    /// The file, relative to the workspace or absolute. Missing folders are made.
    path: String,
    /// The whole new content.
    content: String,
}

impl Write {
    /// Makes the tool over the files of a run; none without a commit.
    pub fn new(files: &FileResources) -> Option<Self> {
        Some(Self {
            writing: Writing::new(files)?,
        })
    }

    fn create(&self, content: String, real: PathBuf) -> (Operation, Change, Vec<String>) {
        let bytes = content.clone().into_bytes();
        let change = Change {
            path: real.clone(),
            kind: ChangeKind::Added,
            before: None,
            after: Some(content),
            hash_after: Some(ContentHash::of(&bytes)),
        };
        let operation = Operation::Create {
            path: real,
            bytes,
            mode: None,
        };
        (operation, change, Vec::new())
    }

    /// Works out the new content of a file that exists; none when it has it already.
    fn replace(
        &self,
        content: &str,
        loaded: Loaded,
    ) -> Result<Option<(Operation, Change, Vec<String>)>, ToolError> {
        let files = self.writing.files();
        let shown = files.workspace.display(&loaded.path);
        if files
            .ledger
            .last_seen(&loaded.path)
            .is_some_and(|seen| seen != loaded.hash)
        {
            return Err(changed_since(&shown));
        }
        let text = Text::decode(&loaded.bytes).map_err(|kind| not_text(kind, &shown))?;
        let overwritten = overwrite(&text, content);
        let bytes = text.encode(&overwritten.text);
        let hash_after = ContentHash::of(&bytes);
        if hash_after == loaded.hash {
            return Ok(None);
        }
        let operation = Operation::Write {
            path: loaded.path.clone(),
            expect: Expect::Hash(loaded.hash),
            bytes,
        };
        let change = Change {
            path: loaded.path,
            kind: ChangeKind::Modified,
            before: Some(text.text),
            after: Some(overwritten.text),
            hash_after: Some(hash_after),
        };
        Ok(Some((operation, change, overwritten.kept)))
    }
}

impl Tool for Write {
    const NAME: &'static str = "Write";
    const TIER: Tier = Tier::Write;
    type Args = WriteArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: WriteArgs) -> Result<Output, ToolError> {
        let files = self.writing.files();
        let workspace = &files.workspace;
        let real = resolve(workspace, &args.path)?;
        let turn = self.writing.turn();
        let (operation, change, notes) = match load(&real, limits::TEXT_FILE_BYTES) {
            Err(LoadError::Missing) => self.create(args.content, real),
            Err(error) => return Err(load_error(error, workspace, &real)),
            Ok(loaded) => {
                let hash = loaded.hash;
                match self.replace(&args.content, loaded)? {
                    Some(planned) => planned,
                    None => {
                        files.ledger.record(&real, hash);
                        let shown = workspace.display(&real);
                        let note = format!("{shown} has this content already");
                        let mut report = ChangeReport::nothing();
                        report.notes.push(note);
                        return Output::report(&report);
                    }
                }
            }
        };
        let mut report = self
            .writing
            .commit(call, turn, &[operation], vec![change])?;
        report.notes.extend(notes);
        Output::report(&report)
    }
}

const DESCRIPTION: &str = "\
Writes a whole file: makes it, with the folders that it needs, or replaces its content.

For a change of a part of a file use Edit, which is shorter and cannot lose the rest. A file that exists keeps \
its mode, its byte order mark, its line endings and its final newline; the answer says where that changed what \
was passed. A file that changed on disk since this run last read it is refused: Read it again first. Binary \
files and files in other encodings than UTF-8 are refused.";
