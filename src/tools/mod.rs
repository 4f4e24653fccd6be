//! The tools, and what a run must have for each of them to exist.
//!
//! [`Resources`] holds the ports that a host wired for one run; [`connect`] turns them into the registry
//! of that run. A tool takes its resource by value, so there is no tool without it (R4). This is the only
//! place that knows both an engine and the JSON arguments of a call.

mod ast_edit;
mod ast_grep;
mod bash;
mod deliver_artifacts;
mod finding;
mod glob;
mod grep;
mod resolve;
mod syntax;

pub use ast_edit::AstEdit;
pub use ast_grep::AstGrep;
pub use bash::{Bash, ShellResources};
pub use deliver_artifacts::{ArtifactsResources, DeliverArtifacts, OnDelivery};
pub use finding::FindingResources;
pub use glob::Glob;
pub use grep::Grep;
pub use resolve::{Resolve, recovery_note};
pub use syntax::{Edits, SyntaxResources};

use crate::registry::{Builder, Registry};

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
}

/// Makes the registry of a run: every tool whose resource is there, and why the others are not.
///
/// Call it once per run: tools of one registry share what belongs to the run, such as its staged edits.
pub fn connect(resources: &Resources) -> Registry {
    let builder = connect_syntax(Registry::builder(), resources.syntax.as_ref());
    let builder = connect_finding(builder, resources.finding.as_ref());
    let builder = connect_shell(builder, resources.shell.as_ref());
    let builder = connect_artifacts(builder, resources.artifacts.as_ref());
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
