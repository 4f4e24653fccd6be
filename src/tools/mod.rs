//! The tools, and what a run must have for each of them to exist.
//!
//! [`Resources`] holds the ports that a host wired for one run; [`connect`] turns them into the registry
//! of that run. A tool takes its resource by value, so there is no tool without it (R4). This is the only
//! place that knows both an engine and the JSON arguments of a call.

mod after_write;
mod apply_patch;
mod approvals;
mod ask_user;
mod ast_edit;
mod ast_grep;
mod bash;
mod debug;
mod deliver_artifacts;
mod edit;
mod eval;
mod files;
mod finding;
mod glob;
mod grep;
mod lsp;
mod lsp_rename;
mod read;
mod resolve;
mod syntax;
mod vibe;
mod web;
mod web_fetch;
mod web_search;

mod write;

pub use after_write::DiagnosticsOnWrite;
pub use apply_patch::ApplyPatch;
pub use approvals::{Cards, RULE_TARGETS, RuleTarget, TOOL_ALIASES};
pub use ask_user::{AskUser, Questions};
pub use ast_edit::AstEdit;
pub use ast_grep::AstGrep;
pub use bash::{Bash, ShellResources};
pub use debug::{Debug, DebugArgs, DebugResources};
pub use deliver_artifacts::{ArtifactsResources, DeliverArtifacts, OnDelivery};
pub use edit::Edit;
pub use eval::{Eval, EvalResources};
pub use files::{FileResources, ReadLimits, Unseen};
pub use finding::{FindingLimits, FindingResources};
pub use glob::Glob;
pub use grep::Grep;
pub use lsp::{Lsp, LspArgs, LspResources};
pub use lsp_rename::{LspRename, LspRenameArgs};
pub use read::Read;
pub use resolve::{Resolve, recovery_note};
pub use syntax::{Edits, OnMatch, SyntaxResources};
pub use vibe::{
    VIBE_TOOLS, VibeKill, VibeList, VibeResources, VibeSend, VibeSpawn, VibeWait, leave_vibe_mode,
};
pub use web::WebResources;
pub use web_fetch::WebFetch;
pub use web_search::WebSearch;
pub use write::Write;

use std::sync::Arc;

use crate::registry::{Builder, Registry};
use crate::tool::Tool;

/// The ports that a host wired for one run; a tool exists when what it needs is here.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Grammars and the files to search: `ast_grep`, and with a place for staged edits `ast_edit` and
    /// `resolve`.
    pub syntax: Option<SyntaxResources>,
    /// The files to list and to search as text: `Glob` and `Grep`.
    pub finding: Option<FindingResources>,
    /// A shell and where it may start processes: `Bash`.
    pub shell: Option<ShellResources>,
    /// The folder of delivered files: `DeliverArtifacts`.
    pub artifacts: Option<ArtifactsResources>,
    /// Pages and searches: `WebFetch`, and with a provider `WebSearch`.
    pub web: Option<WebResources>,
    /// Where questions go: `ask_user`, which needs a conversation too.
    pub questions: Option<Questions>,
    /// The conversation that the run serves: the space in which its cards appear (R127, D43).
    pub conversation: Option<String>,
    /// Files to read: `Read`, and with a commit `Write`, `Edit` and `apply_patch`.
    pub files: Option<FileResources>,
    /// A debug supervisor and a folder: `debug`, which needs a conversation too.
    pub debug: Option<DebugResources>,
    /// Language servers and the workspace that they serve: `lsp`.
    pub lsp: Option<LspResources>,
    /// Interpreters: `eval`.
    pub eval: Option<EvalResources>,
    /// Kinds of background workers, while vibe mode is on: `vibe_spawn`, `vibe_send`, `vibe_wait`,
    /// `vibe_kill` and `vibe_list`.
    pub vibe: Option<VibeResources>,
}

/// Makes the registry of a run: every tool whose resource is there, and why the others are not.
///
/// Call it once per run: tools of one registry share what belongs to the run, such as its staged edits.
pub fn connect(resources: &Resources) -> Registry {
    let builder = connect_syntax(Registry::builder(), resources.syntax.as_ref());
    let builder = connect_finding(builder, resources.finding.as_ref());
    let builder = connect_shell(builder, resources.shell.as_ref());
    let builder = connect_artifacts(builder, resources.artifacts.as_ref());
    let builder = connect_web(builder, resources.web.as_ref());
    let builder = connect_questions(builder, resources);
    let builder = connect_files(builder, resources.files.as_ref());
    let builder = connect_debug(builder, resources);
    let builder = connect_lsp(builder, resources.lsp.as_ref());
    let builder = connect_eval(builder, resources.eval.as_ref());
    let builder = connect_vibe(builder, resources.vibe.as_ref());
    builder
        .build()
        .expect("the built-in tools have distinct names and closed arguments")
}

fn connect_syntax(builder: Builder, syntax: Option<&SyntaxResources>) -> Builder {
    let Some(syntax) = syntax else {
        let reason = "no grammars are wired for this run";
        return builder
            .unavailable("ast_grep", reason)
            .unavailable("ast_edit", reason)
            .unavailable("resolve", reason);
    };
    let builder = builder.add(AstGrep::new(syntax.clone()));
    match &syntax.edits {
        Some(edits) => builder
            .add(AstEdit::new(syntax.clone(), edits.clone()))
            .add(Resolve::new(syntax.workspace.clone(), edits.clone())),
        None => {
            let reason = "no place for staged edits is wired for this run";
            builder
                .unavailable("ast_edit", reason)
                .unavailable("resolve", reason)
        }
    }
}

fn connect_web(builder: Builder, web: Option<&WebResources>) -> Builder {
    let builder = builder
        .alias("web_fetch", WebFetch::NAME)
        .alias("web_search", WebSearch::NAME);
    let Some(web) = web else {
        let reason = "no connection to the web is wired for this run";
        return builder
            .unavailable(WebFetch::NAME, reason)
            .unavailable(WebSearch::NAME, reason);
    };
    let builder = builder.add(WebFetch::new(web.fetcher.clone()));
    match &web.search {
        Some(provider) => builder.add(WebSearch::new(Arc::clone(provider))),
        None => builder.unavailable(
            WebSearch::NAME,
            "no search provider is configured: set [web.search] searxng in toolbox.toml",
        ),
    }
}

fn connect_questions(builder: Builder, resources: &Resources) -> Builder {
    match (&resources.questions, &resources.conversation) {
        (Some(questions), Some(conversation)) => {
            builder.add(AskUser::new(questions.clone(), conversation))
        }
        (None, _) => builder.unavailable("ask_user", "no port for questions is wired for this run"),
        (Some(_), None) => builder.unavailable(
            "ask_user",
            "the run serves no conversation in which a question could appear",
        ),
    }
}

fn connect_files(builder: Builder, files: Option<&FileResources>) -> Builder {
    const WRITERS: [&str; 3] = [Write::NAME, Edit::NAME, ApplyPatch::NAME];
    // The lower-case names stand for those of the sources (D33).
    let builder = builder
        .alias("read", Read::NAME)
        .alias("write", Write::NAME)
        .alias("edit", Edit::NAME);
    let missing = |builder: Builder, reason: &str| {
        let note = |builder: Builder, name: &&str| builder.unavailable(name, reason);
        WRITERS.iter().fold(builder, note)
    };
    let Some(files) = files else {
        let reason = "no files are wired for this run";
        return missing(builder.unavailable(Read::NAME, reason), reason);
    };
    let builder = builder.add(Read::new(files.clone()));
    match (Write::new(files), Edit::new(files), ApplyPatch::new(files)) {
        (Some(write), Some(edit), Some(patch)) => builder.add(write).add(edit).add(patch),
        _ => missing(builder, "no commit is wired for this run"),
    }
}

fn connect_lsp(builder: Builder, lsp: Option<&LspResources>) -> Builder {
    let Some(lsp) = lsp else {
        let reason = "no language servers are wired for this run";
        return builder
            .unavailable("lsp", reason)
            .unavailable("lsp_rename", reason);
    };
    let builder = builder.add(Lsp::new(lsp.clone()));
    match &lsp.committer {
        Some(committer) => builder.add(LspRename::new(lsp.clone(), Arc::clone(committer))),
        None => builder.unavailable("lsp_rename", "no commit is wired for this run"),
    }
}

fn connect_finding(builder: Builder, finding: Option<&FindingResources>) -> Builder {
    let builder = builder.alias("glob", "Glob").alias("grep", "Grep");
    match finding {
        Some(finding) => builder
            .add(Glob::new(finding.clone()))
            .add(Grep::new(finding.clone())),
        None => {
            let reason = "no workspace is wired for this run";
            builder
                .unavailable("Glob", reason)
                .unavailable("Grep", reason)
        }
    }
}

fn connect_shell(builder: Builder, shell: Option<&ShellResources>) -> Builder {
    let builder = builder.alias("bash", "Bash");
    match shell {
        Some(shell) => builder.add(Bash::new(shell)),
        None => builder.unavailable("Bash", "no shell is wired for this run"),
    }
}

fn connect_artifacts(builder: Builder, artifacts: Option<&ArtifactsResources>) -> Builder {
    match artifacts {
        Some(artifacts) => builder.add(DeliverArtifacts::new(artifacts.clone())),
        None => builder.unavailable(
            "DeliverArtifacts",
            "no folder for delivered files is wired for this run",
        ),
    }
}

fn connect_eval(builder: Builder, eval: Option<&EvalResources>) -> Builder {
    match eval {
        Some(eval) => builder.add(Eval::new(eval)),
        None => builder.unavailable("eval", "no interpreters are wired for this run"),
    }
}

fn connect_vibe(builder: Builder, vibe: Option<&VibeResources>) -> Builder {
    match vibe {
        Some(vibe) => vibe.connect(builder),
        None => VIBE_TOOLS.iter().fold(builder, |builder, name| {
            builder.unavailable(name, vibe::OFF)
        }),
    }
}

fn connect_debug(builder: Builder, resources: &Resources) -> Builder {
    match (&resources.debug, &resources.conversation) {
        (Some(debug), Some(conversation)) => builder.add(Debug::new(debug, conversation)),
        (None, _) => builder.unavailable(Debug::NAME, "no debug supervisor is wired for this run"),
        (Some(_), None) => builder.unavailable(
            Debug::NAME,
            "the run serves no conversation that a debug session could belong to",
        ),
    }
}
