//! `ast_grep`: finds code by shape. Arguments in, the engine's report out.

use schemars::JsonSchema;
use serde::Deserialize;

use super::syntax::{Paths, Scope, SyntaxResources, rung, syntax_error, unknown_language};
use crate::limits;
use crate::syntax::explain::explain;
use crate::syntax::languages;
use crate::syntax::report::SearchReport;
use crate::syntax::search::Query;
use crate::syntax::{Context, SyntaxError, pattern};
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};
use crate::walk::WalkOptions;

/// The tool `ast_grep`.
#[derive(Clone, Debug)]
pub struct AstGrep {
    resources: SyntaxResources,
}

/// The arguments of `ast_grep`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AstGrepArgs {
    /// A fragment of code in the language, with metavariables: `$NAME` is any one node, `$$$NAME` a run of
    /// siblings, `$_` a wildcard. Example: `if ($X != null) $X.dispose()`.
    pattern: String,
    /// A file or folder to search, or a list of them, relative to the workspace. Default: the whole
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
    /// How many matches to list at most.
    #[serde(default = "default_max_results")]
    #[schemars(range(min = 1))]
    max_results: usize,
    /// Globs that narrow the search, as in `.gitignore`: `src/**/*.ts`, `!*.test.ts`.
    #[serde(default)]
    globs: Vec<String>,
    /// Lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 50))]
    context_lines: usize,
    /// Whether hidden files and folders are searched too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` and the like exclude are searched too.
    #[serde(default)]
    no_ignore: bool,
}

/// So few matches may come from a reading that was not meant.
const FEW_MATCHES: usize = 5;

/// More lines around a match than this are the whole file, which reading it gives for less.
const MAX_CONTEXT_LINES: usize = 50;

fn default_max_results() -> usize {
    limits::MAX_RESULTS
}

impl AstGrep {
    /// Makes the tool over what it searches.
    pub fn new(resources: SyntaxResources) -> Self {
        Self { resources }
    }

    /// Says how a pattern is read on each rung, and searches nothing.
    pub fn explain(
        &self,
        pattern: &str,
        language: &str,
        context: Option<&str>,
    ) -> Result<Output, ToolError> {
        let row = languages::by_name(language).ok_or_else(|| unknown_language(language))?;
        let context = context.map(rung).transpose()?;
        let grammar = self.resources.grammars.grammar(row);
        let explanation = explain(grammar, pattern, context).map_err(syntax_error)?;
        Output::report(&explanation)
    }
}

impl Tool for AstGrep {
    const NAME: &'static str = "ast_grep";
    const TIER: Tier = Tier::Read;
    type Args = AstGrepArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: AstGrepArgs) -> Result<Output, ToolError> {
        let resources = &self.resources;
        if args.max_results == 0 {
            return Err(
                ToolError::invalid_args("max_results is 0: no match could be shown")
                    .with_hint("pass 1 or more, or leave it out"),
            );
        }
        if args.context_lines > MAX_CONTEXT_LINES {
            return Err(ToolError::invalid_args(format!(
                "context_lines is {}; the limit is {MAX_CONTEXT_LINES}",
                args.context_lines
            ))
            .with_hint("pass fewer lines, and read the file where you need more of it"));
        }
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
        let query = Query {
            max_results: args.max_results,
            context_lines: args.context_lines,
            shows_lines: resources.on_match.is_none(),
            ..scope.query(args.pattern, &resources.workspace)?
        };
        resources.check_pattern(&query, call.cancel())?;
        let searcher = resources.searcher();
        let mut report = match &resources.on_match {
            Some(on_match) => searcher.stream(
                &query,
                call.cancel(),
                // Plain texts and numbers always have a JSON form.
                &|found| serde_json::to_vec(&found).unwrap_or_default(),
                &mut |found: Vec<u8>| on_match.take(&found),
            ),
            None => searcher.search(&query, call.cancel()),
        }
        .map_err(syntax_error)?;
        if report.files_searched == 0 && report.files_skipped.is_empty() {
            report.hint = Some(self.no_file(&report.language, query, call)?);
        } else if (1..=FEW_MATCHES).contains(&report.shown) && query.context.is_none() {
            report.hint = self.other_readings(&query.pattern, &report);
        }
        let mut output = Output::text(report.to_string());
        output.data = report.into_json().map_err(|err| {
            ToolError::new(ErrorKind::Internal, "cannot write the report as JSON").caused_by(err)
        })?;
        Ok(output)
    }
}

impl AstGrep {
    /// Names the later rungs that take the pattern too, where it may mean something else there.
    fn other_readings(&self, pattern: &str, report: &SearchReport) -> Option<String> {
        // A statement or an expression is what it looks like; the other rungs share fragments.
        if matches!(report.context, Context::Statement | Context::Expression) {
            return None;
        }
        let row = languages::by_name(&report.language)?;
        let grammar = self.resources.grammars.grammar(row);
        let others = pattern::compile_others(grammar, pattern, report.context);
        let names: Vec<&str> = others.iter().map(|other| other.context.name()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "it also reads as {}; pass context to search one of these",
                names.join(", ")
            )
        })
    }

    /// Says what is there instead, where no file of the language is.
    fn no_file(&self, language: &str, query: Query, call: &Call<'_>) -> Result<String, ToolError> {
        let query = Query {
            language: None,
            ..query
        };
        let found = match self.resources.searcher().language(&query, call.cancel()) {
            Ok(row) => row.id.to_owned(),
            Err(SyntaxError::LanguageNeeded { found }) => found,
            Err(error) => return Err(syntax_error(error)),
        };
        Ok(format!("0 files of {language} here; found: {found}"))
    }
}

const DESCRIPTION: &str = "\
Finds code by its shape, not by its text: the pattern is parsed by the language's own grammar, so spacing, \
line breaks and comments do not matter, and nothing inside strings or comments matches.

Use it for calls, conditions, declarations and other code of a certain form. Use a text search for words in \
comments, strings and files that are no code; use the language server for the uses of one particular symbol.

The pattern is a complete fragment of code (a statement, an expression, a class member, a declaration) with:
  $NAME     any one node; the same name twice means the same text twice
  $$$NAME   a run of zero or more siblings (arguments, statements, members)
  $_ , $$$  the same without a name
  NAME is upper case: A-Z, digits, _. Everything else is literal code; \\$NAME is a literal $NAME.

Examples:
  print($$$ARGS)                         every call of print, whatever its arguments
  if ($X != null) $X.dispose()           guards that dispose what they test
  $OBJ.setState(() { $$$BODY })          calls with a closure
  def $F($$$ARGS): $$$BODY               Python functions
  fn $F($$$ARGS) -> Result<$T, $E> { $$$BODY }
  for ($I = 0; $I < $N; $I++) $BODY      one index in all three places

Every token of the pattern counts and so does every token it leaves out: `fn f() {}` is not `pub fn f() {}`, \
an `if` without `else` does not match one with it. An answer without matches says how the pattern was read \
and what is nearest.";
