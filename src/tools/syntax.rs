//! What `ast_grep` and `ast_edit` share: their resource, their scope arguments, their errors.
//!
//! Paths of a caller become absolute here and nowhere else, through the guard of the workspace (D36); the
//! engine trusts them.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use crate::cancel::Cancel;
use crate::files::Committer;
use crate::syntax::cache::Cache;
use crate::syntax::search::{Query, Searcher};
use crate::syntax::staging::StagingStore;
use crate::syntax::{Context, Grammars, SyntaxError, hint, languages};
use crate::tool::{ErrorKind, ToolError};
use crate::walk::WalkOptions;
use crate::workspace::{Workspace, WorkspaceError};

/// What structural search needs.
#[derive(Clone)]
pub struct SyntaxResources {
    /// The grammars of the process, each loaded on first use.
    pub grammars: Arc<Grammars>,
    /// The files that may be searched and changed.
    pub workspace: Workspace,
    /// Parsed files of earlier searches of the run; without it every search parses anew.
    pub cache: Option<Arc<Cache>>,
    /// Where rewrites are staged and committed; without it nothing can be rewritten.
    pub edits: Option<Edits>,
    /// Who takes the matches of a search as they are found; the answer then counts them and lists none.
    pub on_match: Option<OnMatch>,
}

/// Takes the matches of a search in the order of the answer, each as one line of JSON; see
/// [`SyntaxResources::on_match`].
#[derive(Clone)]
pub struct OnMatch(Arc<Take>);

type Take = dyn Fn(&[u8]) -> ControlFlow<()> + Send + Sync;

impl OnMatch {
    /// Gives each match to `take`; a break ends the search, since nobody wants the rest.
    pub fn new(take: impl Fn(&[u8]) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub(super) fn take(&self, found: &[u8]) -> ControlFlow<()> {
        (self.0)(found)
    }
}

/// Where rewrites wait, and the commit that applies them.
#[derive(Clone)]
pub struct Edits {
    /// The staged edits.
    pub staging: Arc<StagingStore>,
    /// The one commit of the workspace.
    pub committer: Arc<Committer>,
}

impl SyntaxResources {
    /// Wires grammars and a workspace, with an empty cache and no way to rewrite.
    pub fn new(grammars: Arc<Grammars>, workspace: Workspace) -> Self {
        Self {
            grammars,
            workspace,
            cache: Some(Arc::default()),
            edits: None,
            on_match: None,
        }
    }

    /// Wires a place for staged edits and the commit that applies them.
    #[must_use]
    pub fn with_edits(mut self, staging: StagingStore, committer: Committer) -> Self {
        self.edits = Some(Edits {
            staging: Arc::new(staging),
            committer: Arc::new(committer.within(self.workspace.clone())),
        });
        self
    }

    /// Refuses a pattern that can match nothing before any file is read for it: one that ends where its
    /// body should begin parses in some grammars, with an empty body that no file has.
    pub(super) fn check_pattern(&self, query: &Query, cancel: &Cancel) -> Result<(), ToolError> {
        let row = self
            .searcher()
            .language(query, cancel)
            .map_err(syntax_error)?;
        let text = query.pattern.trim_end();
        if row.syntax.nonempty.is_empty() || !text.ends_with(':') || text.trim() == ":" {
            return Ok(());
        }
        let pattern = text.to_owned();
        let complete = format!("{text} $$$BODY");
        Err(syntax_error(SyntaxError::NoBody { pattern, complete }))
    }

    pub(super) fn searcher(&self) -> Searcher<'_> {
        Searcher {
            grammars: &self.grammars,
            root: self.workspace.root(),
            cache: self.cache.as_deref(),
            full_parse: false,
        }
    }
}

impl fmt::Debug for SyntaxResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyntaxResources")
            .field("workspace", &self.workspace)
            .field("edits", &self.edits)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Edits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edits")
            .field("staging", &self.staging)
            .field("state_dir", &self.committer.state_dir())
            .finish()
    }
}

/// The scope of a search as its caller wrote it.
pub(super) struct Scope {
    pub(super) paths: Option<Paths>,
    pub(super) language: Option<String>,
    pub(super) context: Option<String>,
    pub(super) walk: WalkOptions,
}

/// One path or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paths(pub(super) Vec<String>);

impl Scope {
    /// Makes the query for a pattern over this scope.
    pub(super) fn query(self, pattern: String, workspace: &Workspace) -> Result<Query, ToolError> {
        let Paths(paths) = self.paths.unwrap_or(Paths(Vec::new()));
        let paths: Vec<PathBuf> = paths
            .iter()
            .map(|path| workspace.resolve(path).map_err(path_error))
            .collect::<Result<_, _>>()?;
        let context = self.context.as_deref().map(rung).transpose()?;
        Ok(Query {
            language: self.language,
            context,
            paths,
            walk: self.walk,
            ..Query::new(pattern)
        })
    }
}

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Paths;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path or a list of paths")
            }

            fn visit_str<E: de::Error>(self, path: &str) -> Result<Paths, E> {
                Ok(Paths(vec![path.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Paths, A::Error> {
                let mut paths = Vec::new();
                while let Some(path) = seq.next_element()? {
                    paths.push(path);
                }
                Ok(Paths(paths))
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for Paths {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Paths".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}}
            ]
        })
    }
}

/// Reads the name of a rung.
pub(super) fn rung(name: &str) -> Result<Context, ToolError> {
    Context::parse(name).ok_or_else(|| {
        let known = Context::ALL.map(Context::name).join(", ");
        let name = name.to_owned();
        syntax_error(SyntaxError::UnknownContext { name, known })
    })
}

/// Names the languages that there are.
pub(super) fn unknown_language(name: &str) -> ToolError {
    let ids: Vec<&str> = languages::ALL.iter().map(|row| row.id).collect();
    syntax_error(SyntaxError::UnknownLanguage {
        name: name.to_owned(),
        known: ids.join(", "),
    })
}

/// Says how a path is refused, and what to pass instead.
pub(super) fn path_error(error: WorkspaceError) -> ToolError {
    let (kind, hint) = match &error {
        WorkspaceError::Outside { .. } => (
            ErrorKind::InvalidArgs,
            "pass a path inside the workspace, relative to it, or leave path out to search all of it",
        ),
        WorkspaceError::LinkLoop { .. } => {
            (ErrorKind::InvalidArgs, "pass the path of the real file")
        }
        WorkspaceError::Io { source, .. } => match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => (
                ErrorKind::NotFound,
                "check the path; it is relative to the workspace",
            ),
            _ => (
                ErrorKind::Failed,
                "pass a path that the toolbox may read, or leave path out",
            ),
        },
        WorkspaceError::NotAbsolute { .. } | WorkspaceError::NotAFolder { .. } => {
            (ErrorKind::Failed, "open the workspace again")
        }
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

/// Gives an error of the engine its kind and its next step.
pub(super) fn syntax_error(error: SyntaxError) -> ToolError {
    use ErrorKind::{Failed, InvalidArgs, NotFound, Unparseable};
    let (kind, hint) = match &error {
        SyntaxError::Cancelled => return ToolError::cancelled(),
        SyntaxError::EmptyPattern => (InvalidArgs, "write the code to find, such as `foo($X)`"),
        SyntaxError::BareMetavariable { .. } => (
            InvalidArgs,
            "write the code around it too, such as `foo($X)` or `return $X`",
        ),
        SyntaxError::PatternTooLong { .. } => (
            InvalidArgs,
            "search for a shorter fragment: `$$$` stands for any run of siblings",
        ),
        SyntaxError::MixedMetavariable { .. } => (
            InvalidArgs,
            "use two names: one for the node, one for the run",
        ),
        SyntaxError::NoBody { complete, .. } => {
            let hint = format!("write the body too: `{complete}`");
            return ToolError::from_cause(Unparseable, error).with_hint(hint);
        }
        SyntaxError::LanguageNeeded { found } => {
            let hint = match found.split_once(" (") {
                Some((only, rest)) if !rest.contains(", ") => {
                    format!("only {only} here: pass language \"{only}\"")
                }
                _ => "pass language, one of the ids above; it is inferred only when path names files of one language".to_owned(),
            };
            return ToolError::from_cause(InvalidArgs, error).with_hint(hint);
        }
        SyntaxError::Unparseable {
            pattern, language, ..
        } => {
            let smell = hint::smell(pattern, language)
                .or_else(|| hint::literal_smell(pattern))
                .or_else(|| hint::unbalanced(pattern));
            let hint = smell.unwrap_or_else(|| WHOLE_FRAGMENT.to_owned());
            return ToolError::from_cause(Unparseable, error).with_hint(hint);
        }
        SyntaxError::UnknownLanguage { .. } => (
            InvalidArgs,
            "pass one of these ids, or a usual alias such as py, rs, ts or js",
        ),
        SyntaxError::UnknownContext { .. } => (
            InvalidArgs,
            "pass one of these rungs, or leave context out: the first that takes the pattern is used",
        ),
        SyntaxError::MissingPath { .. } => (
            NotFound,
            "check the path; it is relative to the workspace; leave path out to search all of it",
        ),
        SyntaxError::BadPath { .. } => (
            InvalidArgs,
            "pass a regular file or a folder that can be read",
        ),
        SyntaxError::BadGlob { .. } => (
            InvalidArgs,
            "write globs as in .gitignore: `src/**/*.ts` takes files, `!*.test.ts` leaves them out",
        ),
        SyntaxError::Unbound { .. } => (
            InvalidArgs,
            "give that place of the pattern a name; `$_` and names that begin with `_` bind nothing",
        ),
        SyntaxError::Breaks { .. } => (
            Failed,
            "nothing was staged: correct the rewrite, narrow the pattern, or pass allow_syntax_errors to stage \
             it as it is",
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const WHOLE_FRAGMENT: &str = "\
write one complete statement, expression, member or declaration of the language, with every bracket closed; \
$NAME stands for one whole node, $$$NAME for a run of siblings";
