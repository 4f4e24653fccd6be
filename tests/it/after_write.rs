//! Diagnostics on write: with real servers, and with one that misbehaves on purpose.

mod elsewhere;
mod faults;
mod late;
mod real;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolbox::files::{Committer, ContentHash, Expect, Operation};
use toolbox::lsp::diagnostics::Bounds;
use toolbox::registry::Registry;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};
use toolbox::tools::DiagnosticsOnWrite;

use crate::support::lsp::Project;

/// Writes whole files through the commit, as every writing tool does.
struct Put {
    root: PathBuf,
    committer: Committer,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PutArgs {
    /// Pairs of a file and its new text.
    files: Vec<(String, String)>,
}

impl Tool for Put {
    const NAME: &'static str = "put";
    const TIER: Tier = Tier::Write;
    type Args = PutArgs;

    fn description(&self) -> String {
        "Writes files.".to_owned()
    }

    fn run(&self, call: &Call<'_>, args: PutArgs) -> Result<Output, ToolError> {
        let operations: Vec<Operation> = args
            .files
            .into_iter()
            .map(|(file, text)| {
                let path = self.root.join(file);
                let bytes = text.into_bytes();
                match std::fs::read(&path) {
                    Ok(old) => Operation::Write {
                        path,
                        expect: Expect::Hash(ContentHash::of(&old)),
                        bytes,
                    },
                    Err(_) => Operation::Create {
                        path,
                        bytes,
                        mode: None,
                    },
                }
            })
            .collect();
        self.committer
            .commit(&operations, call.observer())
            .map_err(|err| ToolError::from_cause(ErrorKind::Failed, err))?;
        Ok(Output {
            text: "written".to_owned(),
            data: json!({}),
            images: Vec::new(),
        })
    }
}

/// Says nothing and writes nothing.
struct Look;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LookArgs {}

impl Tool for Look {
    const NAME: &'static str = "look";
    const TIER: Tier = Tier::Read;
    type Args = LookArgs;

    fn description(&self) -> String {
        "Looks.".to_owned()
    }

    fn run(&self, _call: &Call<'_>, _args: LookArgs) -> Result<Output, ToolError> {
        Ok(Output::text("looked"))
    }
}

/// Bounds that only a failure meets.
pub(crate) fn patient() -> Bounds {
    Bounds {
        baseline: Duration::from_secs(100),
        settle: Duration::from_secs(100),
        compiler: Duration::from_secs(100),
        late: Duration::from_secs(100),
    }
}

/// A run over a project that tells what its writes broke.
pub(crate) struct Writing<'a> {
    project: &'a Project,
    run: Run,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(project: &'a Project, bounds: Bounds) -> Self {
        let put = Put {
            root: project.work(),
            committer: Committer::new(project.work().with_file_name("state")),
        };
        let registry = Registry::builder()
            .add(put)
            .add(Look)
            .build()
            .expect("two tools");
        let hook = DiagnosticsOnWrite::with_bounds(project.supervisor.clone(), bounds);
        let run = Run::builder(registry)
            .approver(AutoApprove::up_to(Tier::Write))
            .after_write(Arc::new(hook))
            .build();
        Self { project, run }
    }

    fn put(&self, files: &[(&str, &str)]) -> Output {
        let res = self
            .run
            .dispatch("put", json!({ "files": files }), CallOptions::new());
        let output = res.expect("the write happens");
        for (file, text) in files {
            let on_disk = std::fs::read_to_string(self.project.path(file)).expect("it is there");
            assert_eq!(on_disk, *text, "no server keeps a write from happening");
        }
        output
    }

    /// Writes one file and returns what the result says beside the write itself.
    pub(crate) fn write(&self, file: &str, text: &str) -> String {
        let text = self.put(&[(file, text)]).text;
        text.strip_prefix("written")
            .expect("it is first")
            .trim()
            .to_owned()
    }

    fn look(&self) -> String {
        let res = self.run.dispatch("look", json!({}), CallOptions::new());
        let text = res.expect("it looks").text;
        text.strip_prefix("looked")
            .expect("it is first")
            .trim()
            .to_owned()
    }
}
