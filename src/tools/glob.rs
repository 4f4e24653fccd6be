//! `Glob`: files by a pattern of their path. Arguments in, the engine's report out.

use schemars::JsonSchema;
use serde::Deserialize;

use super::finding::{FindingResources, check_limit, finding_error};
use super::syntax::path_error;
use crate::finding::glob::{GlobQuery, Order, glob};
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};

/// The tool `Glob`.
#[derive(Clone, Debug)]
pub struct Glob {
    resources: FindingResources,
}

/// The arguments of `Glob`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobArgs {
    /// The pattern: `*` and `?` stay inside one folder, `**/` crosses folders, `{a,b}` and `[abc]` are
    /// alternatives, `\` escapes. Without a slash it takes files at any depth. Examples: `*.rs`,
    /// `src/**/*.{ts,tsx}`, `**/test_*.py`.
    pattern: String,
    /// The folder that the pattern is relative to. Default: the workspace.
    path: Option<String>,
    /// `newest` lists the file that changed last first, `path` sorts by name. Default: newest.
    #[serde(default)]
    sort: Sort,
    /// How many files to list at most. Default: 100, where the host names no other number.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Whether hidden files and folders are listed too.
    #[serde(default)]
    hidden: bool,
    /// Whether files that `.gitignore` and the like exclude are listed too.
    #[serde(default)]
    no_ignore: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    #[default]
    Newest,
    Path,
}

impl Glob {
    /// Makes the tool over the workspace that it lists.
    pub fn new(resources: FindingResources) -> Self {
        Self { resources }
    }
}

impl Tool for Glob {
    const NAME: &'static str = "Glob";
    const TIER: Tier = Tier::Read;
    type Args = GlobArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: GlobArgs) -> Result<Output, ToolError> {
        let workspace = &self.resources.workspace;
        let limit = args.limit.unwrap_or(self.resources.limits.files);
        check_limit(limit, "limit is 0: nothing could be shown")?;
        let base = match &args.path {
            None => workspace.root().to_owned(),
            Some(path) => {
                let base = workspace.resolve(path).map_err(path_error)?;
                if !base.is_dir() {
                    let kind = match base.exists() {
                        true => ErrorKind::InvalidArgs,
                        false => ErrorKind::NotFound,
                    };
                    return Err(ToolError::new(kind, format!("path '{path}' is no folder"))
                        .with_hint(
                            "pass the folder to look in, or leave path out to look everywhere",
                        ));
                }
                base
            }
        };
        let query = GlobQuery {
            pattern: args.pattern,
            base,
            order: match args.sort {
                Sort::Newest => Order::Newest,
                Sort::Path => Order::Path,
            },
            limit,
            hidden: args.hidden,
            no_ignore: args.no_ignore,
        };
        let report = glob(workspace, &query, call.cancel()).map_err(finding_error)?;
        Output::report(&report)
    }
}

const DESCRIPTION: &str = "\
Lists files by a pattern of their path, the file that changed last first.

Use it to find files by name; use Grep for what is in them. Hidden files and those that .gitignore excludes \
are left out, unless the pattern begins with the folder that holds them (`.github/**`, `target/doc/*.html`), \
names a file exactly, or hidden or no_ignore is passed. An empty answer says whether such files match.";
