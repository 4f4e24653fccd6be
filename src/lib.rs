//! The built-in tools of a coding agent's runtime, as a library; the command `toolbox` is a thin rim over
//! it.
//!
//! Three tools stand so far. `ast_grep` finds code by its shape, `ast_edit` stages a rewrite of what it
//! finds, `resolve` applies the staged rewrite to all files or to none.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use toolbox::files::Committer;
//! use toolbox::run::{AutoApprove, CallOptions, Run};
//! use toolbox::syntax::Grammars;
//! use toolbox::syntax::staging::StagingStore;
//! use toolbox::tool::Tier;
//! use toolbox::tools::{Resources, SyntaxResources, connect};
//! use toolbox::workspace::Workspace;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let temp = tempfile::tempdir()?;
//! # let (checkout, state) = (temp.path().join("checkout"), temp.path().join("state"));
//! # std::fs::create_dir(&checkout)?;
//! std::fs::write(checkout.join("a.js"), "dispose(timer);\n")?;
//!
//! // The process owns the grammars; a run owns what `connect` wires.
//! let grammars = Arc::new(Grammars::bundled());
//! let syntax = SyntaxResources::new(grammars, Workspace::open(&checkout)?)
//!     .with_edits(StagingStore::in_memory(), Committer::new(state));
//! let registry = connect(&Resources { syntax: Some(syntax), ..Resources::default() });
//! let run = Run::builder(registry).approver(AutoApprove::up_to(Tier::Write)).build();
//!
//! let call = |name: &str, args| run.dispatch(name, args, CallOptions::new());
//! let found = call("ast_grep", json!({"pattern": "dispose($X)", "language": "javascript"}))?;
//! assert_eq!(found.data["matches"][0]["captures"]["X"], "timer");
//!
//! let edit = json!({"pattern": "dispose($X)", "rewrite": "$X.dispose()", "language": "javascript"});
//! let proposed = call("ast_edit", edit)?;
//! assert!(proposed.text.starts_with("(proposed) 1 replacement in 1 file"));
//! call("resolve", json!({"edit_id": proposed.data["edit_id"], "action": "accept"}))?;
//! assert_eq!(std::fs::read_to_string(checkout.join("a.js"))?, "timer.dispose();\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Bird's eye
//!
//! A host (a program that links the library, or the command) opens a [`workspace`], wires ports into
//! [`tools::Resources`], and gets a [`registry`] of tools from [`tools::connect`]. A [`run`] is the gate in
//! front of that registry: every call is looked up, approved, queued where the tool is not parallel-safe,
//! run, and its writes are told to observers. All of it is synchronous; what takes long looks at a
//! [`cancel`] token.
//!
//! A call of `ast_grep` as data: arguments become a query (a pattern, absolute paths, globs); the pattern is
//! parsed inside scaffolds of its language until a rung of the ladder takes it; files are listed by path;
//! on every core each is read, its bytes checked for the pattern's tokens, the part that may match parsed,
//! matched over flat trees; the first matches in path order become a report, whose `Display` is the text
//! and whose `Serialize` is the JSON. A call of `ast_edit` goes the same way, makes new file contents from
//! the matches, parses them again, and stages them. `resolve` hands them to the one commit.
//!
//! # Code map
//!
//! Floors: a module imports its own floor and lower ones, and engines never each other.
//!
//! | floor | modules |
//! | --- | --- |
//! | 0, ground | [`limits`] every product number · [`cancel`] the token that stops · [`workspace`] root, path guard, display paths · [`text`] lines and columns · [`diff`] unified previews · [`walk`] files by ignore rules · [`files`] the commit: hashes, journal, all or nothing · [`child`] processes that end with their host · [`wire`] frames and replies of protocols |
//! | 1, engines | [`dap`] debug sessions over the debug adapter protocol · [`lsp`] language servers: table, detection, client, supervision, diagnostics, renames, project checkers · [`syntax`] grammars, patterns, matching, search, rewriting, staging · [`ask`] cards and who answers them · [`agents`] agent configurations and their versions · [`web`] pages and searches · [`editing`] views, exact edits, patches, what a run has seen · [`finding`] files by name, lines by text · [`kernel`] persistent interpreters · [`shell`] commands and what they leave running · [`artifacts`] results handed over · [`vibe`] background workers |
//! | 2, contract | [`tool`] what a tool is · [`registry`] the tools of a surface · [`run`] the gate · [`toolset`] what an agent's configuration exposes |
//! | 3, tools | [`tools`] one file per tool, `Resources`, `connect` |
//! | 4, command | `src/bin/toolbox`: arguments, environment, terminal |
//!
//! In [`syntax`]: `languages` holds one row per language (a file each in `languages/`), `grammar` a loaded
//! grammar, `ladder` and `pattern` compile a fragment, `prefilter` and `split` decide from bytes what need
//! not be parsed, `tree` is the flat tree, `matcher` matches it, `search` and `report` answer, `rewrite` and
//! `template` make new contents, `staging` keeps them, `explain` shows how a pattern was read.
//!
//! One place to add each thing: a language is a row in `syntax/languages` and a folder of test data; a tool
//! is a file in `tools` and a line in [`tools::connect`]; a number is a constant in [`limits`].
//!
//! # Invariants
//!
//! **Architecture Invariant:** engines know no tool and no other engine; the contract knows no engine; only
//! `tools` knows both an engine and the JSON arguments of a call.
//!
//! **Architecture Invariant:** a tool is a value that owns its resource. Without the port there is no tool,
//! and a filter removes tools instead of refusing them.
//!
//! **Architecture Invariant:** [`run::Run::dispatch`] is the one gate; a call bridged out of a tool
//! re-enters there and nowhere else.
//!
//! **Architecture Invariant:** files are changed by [`files::Committer`] and nothing else in the library.
//! All operations of a commit happen or none does, also across a crash.
//!
//! **Architecture Invariant:** only [`child`] starts processes.
//!
//! **Architecture Invariant:** the library reads neither the environment nor the home folder nor the current
//! folder, and never prints. The command does, and passes values in.
//!
//! **Architecture Invariant:** a shortcut (a byte filter, a partial parse, a cache) never changes an answer;
//! where it is unsure the whole file is parsed. The answer for a file that the grammar reads without an error
//! is that of its whole tree. Behind an error a whole tree is a guess, so there a part that reads without one
//! is the answer, and where grammars stumble over correct code (C, JavaScript, TypeScript) each unit with an
//! error is read by itself.
//!
//! **Architecture Invariant:** results are sorted by path and position before they are capped, whatever the
//! number of threads.
//!
//! **Architecture Invariant:** matching is no recursion over the source, and no input makes the library
//! panic.
//!
//! `tests/it/tidy.rs` reads the sources and holds the walls that can be read off them.

pub mod agents;
pub mod artifacts;
pub mod ask;
pub mod cancel;
pub mod child;
pub mod dap;
pub mod diff;
pub mod editing;
pub mod files;
pub mod finding;
pub mod kernel;
pub mod limits;
pub mod lsp;
pub mod registry;
pub mod run;
pub mod shell;
pub mod syntax;
pub mod text;
pub mod tool;
pub mod tools;
pub mod toolset;
pub mod vibe;
pub mod walk;
pub mod web;
pub mod wire;
pub mod workspace;
