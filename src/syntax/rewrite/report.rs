//! What `ast_edit` answers: one struct, `Serialize` for programs, `Display` for readers.

use std::fmt;

use serde::Serialize;

use crate::syntax::languages::Context;
use crate::syntax::report::{SkippedFile, read_as, without_preface};
use crate::text::{counted, counted_plural};

/// The answer of `ast_edit`.
#[derive(Clone, Debug, Serialize)]
pub struct EditReport {
    /// The id to resolve, where anything is staged.
    pub edit_id: Option<String>,
    /// Id of the language.
    pub language: String,
    /// The rung on which the pattern was read.
    pub context: Context,
    /// The kind of node that was matched; of a sequence, its first.
    pub kind: String,
    /// All root kinds of a sequence, a metavariable as it is written; empty for one node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// How many places match, those included that the rewrite leaves as they are.
    pub matched: usize,
    /// How many places change.
    pub replacements: usize,
    /// In how many files.
    pub files: usize,
    /// The files that were looked at.
    pub files_searched: usize,
    /// A unified diff of all files, its first lines where it is long.
    pub diff: String,
    /// Whether the diff is not shown whole.
    pub diff_truncated: bool,
    /// What of it is not shown, in sentences.
    #[serde(skip)]
    pub diff_notice: String,
    /// Each replacement, in order, up to 200.
    pub changes: Vec<ChangeReport>,
    /// Files that were not looked at, and why.
    pub files_skipped: Vec<SkippedFile>,
    /// What the reader should know before accepting.
    pub warnings: Vec<String>,
    /// What may be wrong with the pattern, where nothing matched.
    pub hint: Option<String>,
}

/// One replacement.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeReport {
    /// The file, relative to the workspace.
    pub file: String,
    /// First line of what is replaced, from 1.
    pub line: usize,
    /// What is replaced.
    pub before: String,
    /// What replaces it.
    pub after: String,
}

impl EditReport {
    /// `12 replacements in 4 files` (D10).
    pub fn counts(&self) -> String {
        format!(
            "{} in {}",
            counted(self.replacements, "replacement"),
            counted(self.files, "file")
        )
    }
}

impl fmt::Display for EditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read_as = read_as(self.context, &self.kind, &self.kinds);
        let searched = counted(self.files_searched, "file");
        match &self.edit_id {
            Some(id) => writeln!(
                f,
                "(proposed) {} {read_as}; nothing is written yet: call resolve with edit_id \"{id}\"",
                self.counts()
            )?,
            None if self.replacements == 0 && self.matched > 0 => writeln!(
                f,
                "{} {read_as}, {searched} searched; the rewrite changes none of them, so nothing is staged",
                counted_plural(self.matched, "match", "matches"),
            )?,
            None => writeln!(
                f,
                "{} {read_as}, {searched} searched; nothing is staged",
                self.counts()
            )?,
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for skipped in self.files_skipped.iter().take(5) {
            writeln!(f, "skipped {} ({})", skipped.file, skipped.reason)?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "{}", without_preface(hint, self.context))?;
        }
        if !self.diff.is_empty() {
            write!(f, "\n{}", self.diff.trim_end())?;
        }
        if !self.diff_notice.is_empty() {
            write!(f, "\n{}", self.diff_notice.trim_end())?;
        }
        Ok(())
    }
}
