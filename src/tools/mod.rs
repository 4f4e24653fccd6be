//! The tools, and what a run must have for each of them to exist.
//!
//! [`Resources`] holds the ports that a host wired for one run; [`connect`] turns them into the registry
//! of that run. A tool takes its resource by value, so there is no tool without it (R4). This is the only
//! place that knows both an engine and the JSON arguments of a call.

mod ast_edit;
mod ast_grep;
mod debug;
mod resolve;
mod syntax;

pub use ast_edit::AstEdit;
pub use ast_grep::AstGrep;
pub use debug::{Debug, DebugArgs, DebugResources};
pub use resolve::{Resolve, recovery_note};
pub use syntax::{Edits, SyntaxResources};

use crate::registry::{Builder, Registry};

/// The ports that a host wired for one run; a tool exists when what it needs is here.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Grammars and the files to search: `ast_grep`, and with a place for staged edits `ast_edit` and
    /// `resolve`.
    pub syntax: Option<SyntaxResources>,
    /// A debug supervisor, a folder and a conversation: `debug`.
    pub debug: Option<DebugResources>,
}

/// Makes the registry of a run: every tool whose resource is there, and why the others are not.
///
/// Call it once per run: tools of one registry share what belongs to the run, such as its staged edits.
pub fn connect(resources: &Resources) -> Registry {
    let builder = connect_syntax(Registry::builder(), resources.syntax.as_ref());
    let builder = connect_debug(builder, resources.debug.as_ref());
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

fn connect_debug(builder: Builder, debug: Option<&DebugResources>) -> Builder {
    match debug {
        Some(debug) => builder.add(Debug::new(debug.clone())),
        None => builder.unavailable("debug", "no debug supervisor is wired for this run"),
    }
}
