//! `apply_patch`: one patch over any number of files, all or none.

use schemars::JsonSchema;
use serde::Deserialize;

use super::files::{ChangeReport, FileResources, Writing, load_error, not_text, path_error};
use crate::editing::patch::seek::Tolerance;
use crate::editing::patch::{
    ApplyError, Fuzz, ParseError, PrepareError, PrepareReason, parse, prepare,
};
use crate::limits;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};

/// The tool `apply_patch`.
#[derive(Clone)]
pub struct ApplyPatch {
    writing: Writing,
}

/// The arguments of `apply_patch`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyPatchArgs {
    /// The patch, from `*** Begin Patch` to `*** End Patch`.
    patch: String,
}

impl ApplyPatch {
    /// Makes the tool over the files of a run; none without a commit.
    pub fn new(files: &FileResources) -> Option<Self> {
        Some(Self {
            writing: Writing::new(files)?,
        })
    }
}

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const TIER: Tier = Tier::Write;
    type Args = ApplyPatchArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: ApplyPatchArgs) -> Result<Output, ToolError> {
        let patch = parse(&args.patch).map_err(parse_error)?;
        let files = self.writing.files();
        let workspace = &files.workspace;
        let turn = self.writing.turn();
        let prepared = prepare(&patch, workspace, limits::TEXT_FILE_BYTES)
            .map_err(|err| self.prepare_error(err))?;
        let unchanged = prepared.unchanged.iter().map(|path| {
            let shown = workspace.display(path);
            format!("{shown} is as the patch wants it already")
        });
        let fuzzy = prepared.fuzzy.iter().flat_map(|(path, places)| {
            let shown = workspace.display(path);
            places.iter().map(move |fuzz| fuzz_note(&shown, *fuzz))
        });
        let notes: Vec<String> = fuzzy.chain(unchanged).collect();
        let mut report = match prepared.operations.is_empty() {
            true => ChangeReport::nothing(),
            false => self
                .writing
                .commit(call, turn, &prepared.operations, prepared.changes)?,
        };
        report.notes.extend(notes);
        Output::report(&report)
    }
}

impl ApplyPatch {
    fn prepare_error(&self, error: PrepareError) -> ToolError {
        let workspace = &self.writing.files().workspace;
        let PrepareError { path, reason } = error;
        let shown = path.escape_debug().to_string();
        let failed = |kind, message: String, hint: &str| {
            ToolError::new(kind, format!("{message}; nothing was changed")).with_hint(hint)
        };
        match reason {
            PrepareReason::Path(err) => path_error(err),
            PrepareReason::Load(err) => match workspace.resolve(&path) {
                Ok(real) => load_error(err, workspace, &real),
                Err(err) => path_error(err),
            },
            PrepareReason::NotText(kind) => not_text(kind, &shown),
            PrepareReason::Exists => failed(
                ErrorKind::Failed,
                format!("{shown} exists already"),
                "change it with *** Update File, or replace its whole content with Write",
            ),
            PrepareReason::Twice => failed(
                ErrorKind::InvalidArgs,
                format!("the patch names {shown} more than once"),
                "put all that happens to one file into one section",
            ),
            PrepareReason::MovedLink => failed(
                ErrorKind::InvalidArgs,
                format!("{shown} is a symbolic link and cannot be moved"),
                "name the file that it points to",
            ),
            PrepareReason::Apply(err) => {
                let patch_line = match err {
                    ApplyError::NoContext { patch_line, .. }
                    | ApplyError::NoLines { patch_line, .. } => patch_line,
                };
                let hint = match &err {
                    ApplyError::NoLines {
                        earlier: Some(line),
                        ..
                    } => format!(
                        "they are at line {line}, above the change before: put the changes into the order of \
                         the file"
                    ),
                    ApplyError::NoLines { .. } | ApplyError::NoContext { .. } => {
                        "Read the file and write the lines as they are now".to_owned()
                    }
                };
                // The lines that were not found end the message.
                let message =
                    format!("nothing was changed: {shown}, line {patch_line} of the patch: {err}");
                ToolError::new(ErrorKind::NotFound, message).with_hint(hint)
            }
        }
    }
}

fn fuzz_note(shown: &str, fuzz: Fuzz) -> String {
    let what = match fuzz.tolerance {
        Tolerance::Exact => "nothing",
        Tolerance::TrailingSpace => "spaces at the ends of lines",
        Tolerance::SurroundingSpace => "spaces around lines",
        Tolerance::Typography => "spaces around lines and typographic quotes, dashes or spaces",
    };
    format!(
        "fuzzy match in {shown} at line {}: {what} differed from the patch",
        fuzz.line
    )
}

fn parse_error(error: ParseError) -> ToolError {
    let hint = match &error {
        ParseError::NoBegin | ParseError::NoEnd => {
            "write *** Begin Patch, the sections of the files, *** End Patch, and nothing around them"
        }
        ParseError::Empty => "add a section such as *** Update File: PATH",
        ParseError::NoHeader { .. } => {
            "begin each file with its header; every line of an added file starts with '+', an empty one too"
        }
        ParseError::NoPath { .. } => "write the path after the colon",
        ParseError::EmptyUpdate { .. } | ParseError::EmptyChunk { .. } => {
            "write @@ and below it lines that start with ' ', '-' or '+'"
        }
        ParseError::NoMarker { .. } | ParseError::Unmarked { .. } => {
            "put @@ before each change, and ' ', '-' or '+' before each of its lines"
        }
    };
    ToolError::invalid_args(error.to_string()).with_hint(hint)
}

const DESCRIPTION: &str = "\
Applies one patch to any number of files: all of them change, or none does.

*** Begin Patch
*** Update File: src/app.py
*** Move to: src/main.py
@@ def greet():
-    print(\"hi\")
+    print(\"hello\")
*** Add File: notes.txt
+first line
*** Delete File: old.txt
*** End Patch

The format is this and no unified diff: there are no line numbers. In an update each change begins with @@, \
which may name a line above it, such as the function that it is in; then come lines with ' ' (stays), '-' (goes) \
or '+' (comes). Give about three lines around each change, and write changes in the order of the file. \
*** End of File after a change says that it is at the end. *** Move to is optional. Lines added under @@ alone \
go to the end of the file, those under @@ LINE right below that line.

Lines are looked for exactly, then without regard to spaces at their ends, then to spaces around them, then to \
typographic quotes and dashes; the answer names every place that was not exact. Line endings and the final \
newline stay as the file has them. A file that exists cannot be added, nor be moved onto. For a single change \
Edit is shorter; for a whole new content use Write.";
