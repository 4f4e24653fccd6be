//! `ast_edit`: works a rewrite out and stages it; no file changes before `resolve` (R58).

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Deserialize;

use super::resolve::staging_error;
use super::syntax::{Edits, Paths, Scope, SyntaxResources, syntax_error};
use crate::syntax::rewrite::{Rewrite, RewrittenFile};
use crate::syntax::staging::{Proposal, StagedFile};
use crate::syntax::{SyntaxError, hint};
use crate::tool::{Call, Output, Tier, Tool, ToolError};
use crate::walk::WalkOptions;

/// The tool `ast_edit`.
#[derive(Clone, Debug)]
pub struct AstEdit {
    resources: SyntaxResources,
    edits: Edits,
}

/// The arguments of `ast_edit`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AstEditArgs {
    /// What to match, as in `ast_grep`: code with `$NAME` for one node and `$$$NAME` for a run of siblings.
    pattern: String,
    /// What to put there: code with the metavariables of the pattern. Empty text deletes the match.
    rewrite: String,
    /// A file or folder to rewrite in, or a list of them, relative to the workspace. Default: the whole
    /// workspace.
    #[serde(default)]
    #[schemars(with = "Paths")]
    path: Option<Paths>,
    /// Id of the language, such as `dart`, `python`, `rust`, `c`, `typescript`. Inferred when `path` is a
    /// file; required otherwise.
    language: Option<String>,
    /// Reads the pattern on this rung only: `statement`, `expression`, `class member`, `declaration`,
    /// `type`, `parameter`, `match arm`, `object member`, `decorator` or `import`. Default: the first that
    /// takes it.
    context: Option<String>,
    /// Whether to stage a result that has more syntax errors than the files have now; it is refused
    /// otherwise.
    #[serde(default)]
    allow_syntax_errors: bool,
    /// Globs that narrow the scope, as in `.gitignore`: `src/**/*.ts`, `!*.test.ts`.
    #[serde(default)]
    globs: Vec<String>,
    /// Whether hidden files and folders are rewritten too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` and the like exclude are rewritten too.
    #[serde(default)]
    no_ignore: bool,
}

impl AstEdit {
    /// Makes the tool over what it searches and where it stages.
    pub fn new(resources: SyntaxResources, edits: Edits) -> Self {
        Self { resources, edits }
    }
}

impl Tool for AstEdit {
    const NAME: &'static str = "ast_edit";
    const TIER: Tier = Tier::Write;
    type Args = AstEditArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: AstEditArgs) -> Result<Output, ToolError> {
        let resources = &self.resources;
        let scope = Scope {
            paths: args.path,
            language: args.language,
            context: args.context,
            walk: WalkOptions {
                globs: args.globs,
                hidden: args.hidden,
                no_ignore: args.no_ignore,
            },
        };
        let rewrite = Rewrite {
            query: scope.query(args.pattern, &resources.workspace)?,
            template: args.rewrite,
            allow_syntax_errors: args.allow_syntax_errors,
        };
        resources.check_pattern(&rewrite.query, call.cancel())?;
        let rewritten = resources
            .searcher()
            .rewrite(&rewrite, call.cancel())
            .map_err(|error| rewrite_error(error, &rewrite.template))?;
        let mut report = rewritten.report;
        if !rewritten.files.is_empty() {
            let proposal = Proposal {
                pattern: rewrite.query.pattern,
                rewrite: rewrite.template,
                language: report.language.clone(),
                replacements: report.replacements,
                files: rewritten.files.into_iter().map(staged).collect(),
            };
            // Nobody who cancelled knows the id, so nothing may be left under it.
            call.check_cancelled()?;
            let edit_id = self
                .edits
                .staging
                .stage(proposal, SystemTime::now())
                .map_err(|err| staging_error(err, &resources.workspace))?;
            report.edit_id = Some(edit_id.to_string());
        }
        Output::report(&report)
    }
}

/// As for a search, and says where the rewrite itself is not whole.
fn rewrite_error(error: SyntaxError, template: &str) -> ToolError {
    let unbalanced = match &error {
        SyntaxError::Breaks { .. } => hint::unbalanced(template),
        _ => None,
    };
    let error = syntax_error(error);
    match (unbalanced, error.hint().map(str::to_owned)) {
        (Some(unbalanced), Some(hint)) => {
            error.with_hint(format!("in the rewrite {unbalanced}; {hint}"))
        }
        _ => error,
    }
}

fn staged(file: RewrittenFile) -> StagedFile {
    StagedFile {
        path: file.path,
        hash_before: file.hash_before,
        bytes_after: file.bytes_after,
    }
}

const DESCRIPTION: &str = "\
Rewrites code by its shape over many files at once. It writes nothing: it stages the change, shows the diff \
and names an edit_id; call resolve with that edit_id and action accept to apply it, or discard to drop it. \
Accepting is all or nothing and is refused when a file has changed since.

Use it for the same change in many places: renamed functions, swapped arguments, a call that becomes a method. \
For one place that you know, edit the file directly; to rename a symbol, use the language server.

The pattern is that of ast_grep: $NAME is one node, $$$NAME a run of siblings. The rewrite is code in which \
these names stand for what they matched; a name that the pattern does not bind is an error. Text that spans \
lines is indented to its new place, and a capture whose meaning its new place would change is put in \
parentheses. Try the pattern with ast_grep first when you are not sure what it finds.

Examples (pattern, then rewrite):
  dispose($X)                     $X.dispose()
  assertEquals($A, $B)            assertThat($B).isEqualTo($A)
  $L.lock(); $$$B; $L.unlock();   synchronized ($L) { $$$B }
  print($$$ARGS)                  log.info($$$ARGS)
  if ($C) { return true } else { return false }    return $C";
