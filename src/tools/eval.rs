//! `eval`: runs a cell in an interpreter that lives on, and bridges what the cell calls.
//!
//! The bridge re-enters the gate of the run (R109); it adds no rule of its own.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::cancel::Cancel;
use crate::child::Processes;
use crate::kernel::{
    CallFailure, CallReply, Cell, CellHost, KernelError, KernelOptions, Kernels, Language, Picture,
};
use crate::tool::{Call, Detached, ErrorKind, Held, Image, Output, Tier, Tool, ToolError};

/// What `eval` needs: where processes are started, and how interpreters are.
///
/// Each registry made from it has interpreters of its own, so that two runs share no variables.
#[derive(Clone, Debug)]
pub struct EvalResources {
    processes: Processes,
    options: KernelOptions,
}

/// The tool `eval`.
#[derive(Debug)]
pub struct Eval {
    kernels: Kernels,
}

/// The arguments of `eval`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalArgs {
    /// The cell. The value of its last expression is shown; variables and imports stay for the next cell.
    code: String,
    /// What the cell does, in 5 to 10 words: its label in the transcript.
    description: String,
    /// The language. Default: python.
    #[serde(default)]
    language: CellLanguage,
    /// Whether the interpreter is thrown away and started clean before the cell runs.
    #[serde(default)]
    reset: bool,
    /// How many seconds the cell may be silent before it is interrupted; 0 is for ever. Default: 300. Say
    /// more for a long computation that prints nothing.
    budget_s: Option<f64>,
}

/// The language of a cell.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CellLanguage {
    /// The project's Python.
    #[default]
    Python,
    /// Node.js.
    Javascript,
}

impl EvalResources {
    /// Names what starts processes and how interpreters are started.
    pub fn new(processes: Processes, options: KernelOptions) -> Self {
        Self { processes, options }
    }
}

impl Eval {
    /// Makes the tool; no interpreter runs before the first cell.
    pub fn new(resources: &EvalResources) -> Self {
        let kernels = Kernels::new(resources.processes.clone(), resources.options.clone());
        Self { kernels }
    }
}

impl Tool for Eval {
    const NAME: &'static str = "eval";
    const TIER: Tier = Tier::Exec;
    const PARALLEL_SAFE: bool = false;
    type Args = EvalArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn held(&self) -> Vec<Held> {
        let held = |(language, busy): (Language, bool)| Held {
            what: "interpreter".to_owned(),
            state: if busy { "runs a cell" } else { "idle" }.to_owned(),
            detail: language.as_str().to_owned(),
        };
        self.kernels.live().into_iter().map(held).collect()
    }

    fn run(&self, call: &Call<'_>, args: EvalArgs) -> Result<Output, ToolError> {
        if args.description.trim().is_empty() {
            return Err(
                ToolError::invalid_args("description is blank: it labels the cell")
                    .with_hint("say in 5 to 10 words what the cell does"),
            );
        }
        let cell = Cell {
            code: &args.code,
            language: match args.language {
                CellLanguage::Python => Language::Python,
                CellLanguage::Javascript => Language::JavaScript,
            },
            reset: args.reset,
            budget: budget(args.budget_s)?,
        };
        let bridge: Arc<dyn CellHost> = Arc::new(Bridged(call.detach()));
        let report = self
            .kernels
            .run(&cell, &bridge, call.cancel())
            .map_err(kernel_error)?;
        let images = report.pictures().into_iter().map(|picture| Image {
            mime: picture.mime,
            bytes: picture.bytes,
        });
        Ok(Output::report(&report)?.with_images(images.collect()))
    }
}

/// Reads the budget of one cell; the outer option is whether one was named.
fn budget(seconds: Option<f64>) -> Result<Option<Option<Duration>>, ToolError> {
    let Some(seconds) = seconds else {
        return Ok(None);
    };
    match Duration::try_from_secs_f64(seconds) {
        Ok(budget) if budget.is_zero() => Ok(Some(None)),
        Ok(budget) => Ok(Some(Some(budget))),
        Err(_) => Err(ToolError::invalid_args(format!(
            "budget_s is {seconds}: no number of seconds"
        ))
        .with_hint("pass 0 for no limit, or leave it out for 300")),
    }
}

/// Lets a cell call the tools of the run.
struct Bridged(Detached);

impl CellHost for Bridged {
    fn call(&self, name: &str, args: Value, cancel: Cancel) -> Result<CallReply, CallFailure> {
        let output = self
            .0
            .dispatch(name, args, cancel)
            .map_err(|error| CallFailure {
                kind: error.kind().as_str().to_owned(),
                message: error.message().to_owned(),
                hint: error.hint().map(str::to_owned),
            })?;
        Ok(CallReply {
            text: output.text,
            data: output.data,
            images: output
                .images
                .into_iter()
                .map(|image| Picture {
                    mime: image.mime,
                    bytes: image.bytes,
                })
                .collect(),
        })
    }
}

fn kernel_error(error: KernelError) -> ToolError {
    let (kind, hint) = match &error {
        KernelError::NoInterpreter { .. } => (
            ErrorKind::Unavailable,
            "install it, or make a virtual environment in .venv",
        ),
        KernelError::Spawn { .. } | KernelError::NotReady { .. } => (
            ErrorKind::Unavailable,
            "check that the interpreter starts on its own",
        ),
        KernelError::NoEnclosure { .. } => (
            ErrorKind::Unavailable,
            "start the enclosure yourself; a cell never does, and never runs outside it instead",
        ),
        KernelError::Cancelled => return ToolError::cancelled(),
        KernelError::Io(_) => (ErrorKind::Failed, "run the cell again"),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Runs a cell of Python (or JavaScript) in an interpreter that lives on: variables, imports and loaded data \
stay for the next cell, as in a notebook.

The value of the last expression is shown (not after `;`). display(x) shows more; pandas frames come as \
tables, matplotlib figures as pictures without savefig or show. Top-level await works. %pip install, %cd, \
%timeit, !cmd, %%bash and the like work in Python.

In a cell, tool(name, args) calls any of your own tools and returns its text (a str with .data for the \
structured result): contents = tool(\"Read\", {\"path\": \"lib/auth.py\"}). Call many at once from threads \
or with await tool.aio(name, args); in JavaScript await tool(name, args) and Promise.all. A failing tool \
raises. Loops over many files or calls belong in one cell and not in many turns.

A cell that is silent for 5 minutes is interrupted; waiting for a tool does not count. input() raises: ask \
with ask_user. Pass reset to start clean. The answer says whether variables survived an interrupt or crash.";
