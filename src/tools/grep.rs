//! `Grep`: lines by a regular expression. Arguments in, the engine's report out.

use schemars::JsonSchema;
use serde::Deserialize;

use super::finding::{FindingResources, check_limit, finding_error};
use super::syntax::{Paths, path_error};
use crate::finding::grep::{GrepQuery, Mode, grep};
use crate::limits;
use crate::tool::{Call, Output, Tier, Tool, ToolError};
use crate::walk::WalkOptions;

/// The tool `Grep`.
#[derive(Clone, Debug)]
pub struct Grep {
    resources: FindingResources,
}

/// The arguments of `Grep`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrepArgs {
    /// A regular expression in Rust's syntax (no look-around, no back-references). Examples: `TODO|FIXME`,
    /// `fn \w+_test`, `log\(.*error`.
    pattern: String,
    /// A file or folder to search, or a list of them. Default: the workspace. A file that is named is
    /// searched whatever the ignore rules say.
    #[serde(default)]
    #[schemars(with = "Paths")]
    path: Option<Paths>,
    /// `files_with_matches` lists the files, `content` the lines, `count` the number of matching lines of
    /// each file. Default: files_with_matches.
    #[serde(default)]
    output_mode: OutputMode,
    /// Globs that narrow the search, as in `.gitignore`: `*.rs`, `src/**`, `!*.test.ts`.
    #[serde(default, alias = "globs")]
    #[schemars(with = "Paths")]
    glob: Option<Paths>,
    /// A type of file, or a list of types, that narrows the search: `rust`, `py`, `js`, `ts`, `go`, `java`.
    #[serde(default, rename = "type", alias = "types")]
    #[schemars(with = "Paths")]
    kind: Option<Paths>,
    /// Whether upper and lower case are the same.
    #[serde(default, alias = "-i", alias = "case_insensitive")]
    ignore_case: bool,
    /// Whether the pattern is a plain text and no regular expression.
    #[serde(default, alias = "-F")]
    fixed: bool,
    /// Whether the pattern must match whole words.
    #[serde(default, alias = "-w")]
    word: bool,
    /// Whether a match may span lines: `\n` is allowed then, and `.` matches line ends too.
    #[serde(default)]
    multiline: bool,
    /// Lines to show before each match (`content` only).
    #[serde(default, alias = "-B")]
    #[schemars(range(max = 50))]
    before: Option<usize>,
    /// Lines to show after each match (`content` only).
    #[serde(default, alias = "-A")]
    #[schemars(range(max = 50))]
    after: Option<usize>,
    /// Lines to show before and after each match (`content` only).
    #[serde(default, alias = "-C")]
    #[schemars(range(max = 50))]
    context: Option<usize>,
    /// How many files, or with `content` matches, to list at most. Default: 100, where the host names no other
    /// number.
    #[serde(default, alias = "limit")]
    #[schemars(range(min = 1))]
    head_limit: Option<usize>,
    /// Whether hidden files and folders are searched too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` and the like exclude are searched too.
    #[serde(default)]
    no_ignore: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

impl Grep {
    /// Makes the tool over the workspace that it searches.
    pub fn new(resources: FindingResources) -> Self {
        Self { resources }
    }
}

impl Tool for Grep {
    const NAME: &'static str = "Grep";
    const TIER: Tier = Tier::Read;
    type Args = GrepArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: GrepArgs) -> Result<Output, ToolError> {
        let workspace = &self.resources.workspace;
        let limit = args.head_limit.unwrap_or(self.resources.limits.results);
        check_limit(limit, "head_limit is 0: nothing could be shown")?;
        let before = context_lines("before", args.before.or(args.context))?;
        let after = context_lines("after", args.after.or(args.context))?;
        let paths = list(args.path)
            .iter()
            .map(|path| workspace.resolve(path).map_err(path_error))
            .collect::<Result<_, _>>()?;
        let query = GrepQuery {
            pattern: args.pattern,
            paths,
            mode: match args.output_mode {
                OutputMode::FilesWithMatches => Mode::FilesWithMatches,
                OutputMode::Content => Mode::Content,
                OutputMode::Count => Mode::Count,
            },
            limit,
            before,
            after,
            ignore_case: args.ignore_case,
            fixed: args.fixed,
            word: args.word,
            multiline: args.multiline,
            types: list(args.kind),
            walk: WalkOptions {
                globs: list(args.glob),
                hidden: args.hidden,
                no_ignore: args.no_ignore,
            },
        };
        let report = grep(workspace, &query, call.cancel()).map_err(finding_error)?;
        Output::report(&report)
    }
}

fn list(words: Option<Paths>) -> Vec<String> {
    words.map_or_else(Vec::new, |Paths(words)| words)
}

fn context_lines(name: &str, lines: Option<usize>) -> Result<usize, ToolError> {
    let lines = lines.unwrap_or(0);
    if lines > limits::GREP_CONTEXT_LINES {
        let limit = limits::GREP_CONTEXT_LINES;
        return Err(ToolError::invalid_args(format!(
            "{name} is {lines} lines; the limit is {limit}"
        ))
        .with_hint("pass fewer lines, and read the file where you need more of it"));
    }
    Ok(lines)
}

const DESCRIPTION: &str = "\
Searches the contents of files for a regular expression and lists the files that match, their lines, or how \
many lines match.

Use it for words and texts; use ast_grep for code of a certain form, the language server for the uses of one \
symbol, and Glob for files by name. Results are sorted by path. Hidden files, those that .gitignore excludes \
and binary files are left out, unless hidden or no_ignore is passed or a file is named; an empty answer says \
how many were. UTF-16 files with a byte order mark are searched as text.";
