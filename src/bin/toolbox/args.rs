//! The command line as its user writes it. Names and flags are a promise; what they mean is decided in the
//! commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::background::ServeArgs;
use crate::session::SessionArgs;
use crate::{ask, config, help};

/// The built-in tools of a coding agent's runtime.
#[derive(Debug, Parser)]
#[command(
    name = "toolbox",
    version,
    about = "The built-in tools of a coding agent's runtime",
    long_about = help::TOOLBOX,
    after_help = help::EXIT_CODES,
    propagate_version = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The folder to work in [default: the enclosing checkout, else the current folder]
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print one JSON object: the data, or {"error":{"kind","message","hint"}}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no notes on standard error; errors still are
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say on standard error what is used, what was skipped and how long it took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Read this file in the place of the user's own toolbox.toml
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Trust the toolbox.toml of the checkout, which may then name commands to run
    #[arg(long, global = true)]
    pub(crate) trust_project: bool,
    /// Start cells in this command, such as 'docker exec -i box'
    #[arg(long, global = true, value_name = "PREFIX COMMAND")]
    pub(crate) enclosure: Option<String>,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: ColorWhen,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find code by its shape
    #[command(alias = "ast_grep", long_about = help::AST_GREP, after_long_help = help::PATTERNS)]
    AstGrep(AstGrep),
    /// Stage a rewrite of code by its shape, and show the diff
    #[command(alias = "ast_edit", long_about = help::AST_EDIT, after_long_help = help::REWRITES)]
    AstEdit(AstEdit),
    /// Show a staged rewrite, apply it to all its files or to none, or drop it
    #[command(long_about = help::RESOLVE)]
    Resolve(Resolve),
    /// Hand finished files over: copies and a manifest in the artifacts folder
    DeliverArtifacts(crate::deliver_artifacts::DeliverArtifactsFlags),
    /// Run a shell command
    Bash(crate::bash::BashFlags),
    /// List files by a glob, the newest first
    Glob(crate::glob::GlobFlags),
    /// Search the contents of files
    Grep(crate::grep::GrepFlags),
    /// Ask whoever sits at the terminal a question, on a numbered card
    #[command(alias = "ask_user", long_about = ask::HELP)]
    AskUser(ask::AskUser),
    /// Show a file with numbered lines
    Read(crate::files::Read),
    /// Make a file or replace its whole content
    Write(crate::files::Write),
    /// Replace exact text in a file
    Edit(crate::files::Edit),
    /// Apply a patch in the format of apply_patch to all its files or to none
    #[command(alias = "apply_patch", long_about = help::APPLY_PATCH)]
    ApplyPatch(crate::files::ApplyPatch),
    /// Ask the language servers: definitions, references, hovers, symbols, diagnostics
    #[command(long_about = crate::lsp::HELP)]
    Lsp(crate::lsp::LspCommand),
    /// Rename a symbol in every file that uses it
    #[command(alias = "lsp_rename", long_about = crate::lsp_rename::HELP)]
    LspRename(crate::lsp_rename::LspRename),
    /// Run a cell of Python or JavaScript in an interpreter that lives on
    #[command(long_about = crate::eval::HELP)]
    Eval(crate::eval::EvalCommand),
    /// List the tools: name, tier, what they do, and why others are not there
    Tools(Tools),
    /// Call a tool by its name with its arguments as JSON
    #[command(long_about = help::CALL)]
    Call(Call),
    /// Fetch one web page as Markdown
    #[command(alias = "web_fetch")]
    WebFetch(crate::web::WebFetch),
    /// Search the web
    #[command(alias = "web_search")]
    WebSearch(crate::web::WebSearch),
    /// Run a program under a debugger: breakpoints, steps, stack, variables, output
    #[command(long_about = crate::debug::HELP)]
    Debug(Box<crate::debug::Debug>),
    /// Let background workers do things: spawn, send, wait, kill, list
    #[command(long_about = crate::vibe::HELP)]
    Vibe(crate::vibe::Vibe),
    /// Make, show, replace, list and serve agent configurations
    Agent(crate::agent::Agent),
    /// Show the effective configuration, each value with where it comes from
    #[command(after_long_help = config::reference())]
    Config(config::ShowConfig),
    /// Hold one run over standard input and output, JSON lines; or ask the background session
    #[command(long_about = help::SESSION)]
    Session(SessionArgs),
    /// Be the background session of a checkout
    #[command(hide = true)]
    BackgroundSession(ServeArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

/// Where to look, and how the pattern is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Id or alias of the language; inferred where every PATH is a file of one language
    #[arg(short, long = "lang", visible_alias = "language", value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Read the pattern on this rung only: statement, expression, "class member", ...
    #[arg(long, value_name = "RUNG")]
    pub(crate) context: Option<String>,
    /// Narrow by a glob as in .gitignore; `!GLOB` leaves files out (repeatable)
    #[arg(short, long = "glob", value_name = "GLOB")]
    pub(crate) globs: Vec<String>,
    /// Look into hidden files and folders too
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Look into ignored files too
    #[arg(long)]
    pub(crate) no_ignore: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AstGrep {
    /// The code to find, with $NAME for one node and $$$NAME for a run of siblings
    #[arg(required_unless_present = "list_languages")]
    pub(crate) pattern: Option<String>,
    /// Files and folders to search [default: the whole workspace]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// List at most this many matches [default: 50; all for --count and --files-with-matches]
    #[arg(long, value_name = "N")]
    pub(crate) max_results: Option<usize>,
    /// Show this many lines before and after each match
    #[arg(short = 'U', long, value_name = "N")]
    pub(crate) context_lines: Option<usize>,
    /// Show this many lines of each match at most
    #[arg(long, value_name = "N")]
    pub(crate) max_lines: Option<usize>,
    /// Print how many matches each file has, as FILE:N, and how many there are
    #[arg(short, long, conflicts_with_all = ["context_lines", "max_lines"])]
    pub(crate) count: bool,
    /// Print the names of the files with matches and nothing else
    #[arg(long, conflicts_with_all = ["count", "context_lines", "max_lines"])]
    pub(crate) files_with_matches: bool,
    /// Show how the pattern is read on every rung, and search nothing
    #[arg(
        long,
        requires = "pattern",
        conflicts_with_all = ["paths", "max_results", "context_lines", "max_lines", "count", "files_with_matches"]
    )]
    pub(crate) explain: bool,
    /// List the bundled languages
    #[arg(long, conflicts_with_all = ["pattern", "explain"])]
    pub(crate) list_languages: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AstEdit {
    /// The code to match, with $NAME for one node and $$$NAME for a run of siblings
    pub(crate) pattern: String,
    /// The code to put there, with the names of the pattern
    pub(crate) rewrite: String,
    /// Files and folders to rewrite in [default: the whole workspace]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Stage a result that has more syntax errors than the files have now
    #[arg(long)]
    pub(crate) allow_syntax_errors: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Resolve {
    /// The id that ast-edit named, such as edit_1, and `accept` or `discard`; the id alone shows the edit
    /// with its whole diff, the action alone takes the one edit that is staged
    #[arg(
        num_args = 1..=2,
        value_names = ["EDIT_ID", "ACTION"],
        required_unless_present_any = ["list", "discard_all"]
    )]
    pub(crate) words: Vec<String>,
    /// List what is staged in this workspace
    #[arg(long, conflicts_with_all = ["words", "discard_all"])]
    pub(crate) list: bool,
    /// Drop everything that is staged in this workspace
    #[arg(long, conflicts_with = "words")]
    pub(crate) discard_all: bool,
    /// Ask the language servers what the accepted edit broke, and wait for their answer
    #[arg(long, requires = "words")]
    pub(crate) diagnostics: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Tools {
    /// Whose view to show: everything, or what plan mode and read-only sub-agents see
    #[arg(long, value_enum, default_value_t)]
    pub(crate) surface: Surface,
    /// Show what an agent sees: a file with its configuration, or its id
    #[arg(long, value_name = "FILE|ID")]
    pub(crate) agent: Option<String>,
    /// Print the JSON schema of each tool's arguments
    #[arg(long)]
    pub(crate) schema: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Surface {
    /// Every registered tool
    #[default]
    All,
    /// The tools without side effects
    Plan,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Call {
    /// The name of the tool, as `toolbox tools` lists it
    pub(crate) name: String,
    /// Its arguments, a JSON object; `-` reads it from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
    /// Call it in the background session of this checkout, as tools with state always are
    #[arg(long)]
    pub(crate) background: bool,
    /// Approve calls that it bridges to up to this tier, in the background session: read, write or exec
    #[arg(long, value_name = "TIER", requires = "background")]
    pub(crate) approve: Option<toolbox::tool::Tier>,
}
