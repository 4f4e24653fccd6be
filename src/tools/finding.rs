//! What `Glob` and `Grep` share: their resource and their errors.

use crate::finding::FindingError;
use crate::limits;
use crate::tool::{ErrorKind, ToolError};
use crate::workspace::Workspace;

use super::syntax::path_error;

/// What finding files and text needs.
#[derive(Clone, Debug)]
pub struct FindingResources {
    /// The files that may be listed and searched.
    pub workspace: Workspace,
    /// How much is listed where the caller does not say.
    pub limits: FindingLimits,
}

/// How much `Glob` and `Grep` list where the caller does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingLimits {
    /// Files of `Glob`.
    pub files: usize,
    /// Files or matches of `Grep`.
    pub results: usize,
}

impl Default for FindingLimits {
    fn default() -> Self {
        Self {
            files: limits::GLOB_FILES,
            results: limits::GREP_RESULTS,
        }
    }
}

impl FindingResources {
    /// Wires a workspace.
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            limits: FindingLimits::default(),
        }
    }
}

/// Refuses a limit under which nothing could be shown, in the words of the caller.
pub(super) fn check_limit(limit: usize, refusal: &str) -> Result<(), ToolError> {
    if limit > 0 {
        return Ok(());
    }
    Err(ToolError::invalid_args(refusal).with_hint("pass 1 or more, or leave it out"))
}

/// Gives an error of the engine its kind and its next step.
pub(super) fn finding_error(error: FindingError) -> ToolError {
    use ErrorKind::{InvalidArgs, NotFound};
    let error = match error {
        FindingError::Workspace(error) => return path_error(error),
        error => error,
    };
    let (kind, hint) = match &error {
        FindingError::Cancelled | FindingError::Workspace(_) => return ToolError::cancelled(),
        FindingError::EmptyPattern => (InvalidArgs, "write what to look for"),
        FindingError::PatternTooLong { .. } => (InvalidArgs, "look for a shorter text"),
        FindingError::BadGlob { .. } => (
            InvalidArgs,
            "`*` and `?` stay inside one folder, `**/` crosses folders, `{a,b}` and `[abc]` are alternatives; \
             a `\\` before such a character takes it as it is",
        ),
        FindingError::BadRegex { .. } => (
            InvalidArgs,
            "write a regular expression in Rust's syntax; for a plain text pass fixed, or put `\\` before \
             each of ( ) [ ] { } . * + ? ^ $ |",
        ),
        FindingError::LineEnd { .. } => (InvalidArgs, "pass multiline to match across lines"),
        FindingError::UnknownType { near, .. } => {
            let hint = match near.is_empty() {
                true => "types are names such as rust, py, js, ts, go or java; for other files pass glob, such as `*.ext`"
                    .to_owned(),
                false => format!("did you mean {}? For other files pass glob, such as `*.ext`", near.join(", ")),
            };
            return ToolError::from_cause(InvalidArgs, error).with_hint(hint);
        }
        FindingError::MissingPath { .. } => (
            NotFound,
            "check the path; it is relative to the workspace; leave path out to search all of it",
        ),
        FindingError::BadPath { .. } => (
            InvalidArgs,
            "pass a regular file or a folder that can be read",
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}
