//! `debug`: drives a debugger through one tool with many operations. Arguments in, the engine's report out.

mod args;

use std::sync::Arc;
use std::time::Duration;

use args::or_missing;
pub use args::{DebugArgs, Operation};

use crate::dap::{AttachSpec, Conversation, DapError, LaunchSpec, LineBreakpoint, Supervisor};
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError};
use crate::workspace::Workspace;

/// What `debug` needs besides a conversation: a supervisor of debug sessions and a folder to work in (R69).
#[derive(Clone, Debug)]
pub struct DebugResources {
    /// Starts adapters; the process has one.
    pub supervisor: Supervisor,
    /// Where programs and sources are.
    pub workspace: Workspace,
}

/// The tool `debug`.
#[derive(Clone, Debug)]
pub struct Debug {
    conversation: Arc<Conversation>,
}

impl Debug {
    /// Makes the tool of a conversation, which has one session (R72); the session ends with the tool (R3).
    pub fn new(resources: &DebugResources, conversation: &str) -> Self {
        let conversation = resources
            .supervisor
            .conversation(conversation, resources.workspace.clone());
        Self {
            conversation: Arc::new(conversation),
        }
    }
}

impl Tool for Debug {
    const NAME: &'static str = "debug";
    const TIER: Tier = Tier::Exec;
    // A `continue` that overtakes a `stack` would make it read other frames (R71).
    const PARALLEL_SAFE: bool = false;
    type Args = DebugArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn held(&self) -> Vec<Held> {
        let held = |(program, state): (String, &str)| Held {
            what: "debug session".to_owned(),
            state: state.to_owned(),
            detail: program,
        };
        self.conversation.glance().into_iter().map(held).collect()
    }

    fn run(&self, call: &Call<'_>, args: DebugArgs) -> Result<Output, ToolError> {
        args.check()?;
        let cancel = call.cancel();
        let debugger = &*self.conversation;
        let wait = args.timeout_seconds.map(Duration::from_secs);
        let (thread, frame) = (args.thread_id, args.frame_id);
        match args.operation {
            Operation::Adapters => Output::report(&debugger.adapters(cancel)),
            Operation::Status => report(debugger.status(cancel)),
            Operation::Breakpoints => self.breakpoints(call, args),
            Operation::Launch => {
                let spec = LaunchSpec {
                    adapter: args.adapter,
                    program: args.program,
                    module: args.module,
                    args: args.args,
                    cwd: args.cwd,
                    env: args.env,
                    stop_on_entry: args.stop_on_entry,
                    mode: args.mode,
                };
                report(debugger.launch(spec, wait, cancel))
            }
            Operation::Attach => {
                let spec = AttachSpec {
                    adapter: args.adapter,
                    host: args.host,
                    port: args.port,
                    pid: args.pid,
                    uri: args.uri,
                    program: args.program,
                };
                report(debugger.attach(spec, wait, cancel))
            }
            Operation::Continue => report(debugger.go_on(thread, wait, cancel)),
            Operation::Pause => report(debugger.pause(thread, wait, cancel)),
            Operation::StepOver => report(debugger.step_over(thread, wait, cancel)),
            Operation::StepIn => report(debugger.step_in(thread, wait, cancel)),
            Operation::StepOut => report(debugger.step_out(thread, wait, cancel)),
            Operation::RunTo => {
                let file = or_missing(args.file, "run_to", "file")?;
                let line = or_missing(args.line, "run_to", "line")?;
                report(debugger.run_to(&file, line, wait, cancel))
            }
            Operation::Threads => report(debugger.threads(cancel)),
            Operation::Stack => report(debugger.stack(thread, cancel)),
            Operation::Scopes => report(debugger.scopes(frame, cancel)),
            Operation::Variables => {
                let reference = or_missing(args.reference, "variables", "reference")?;
                report(debugger.variables(reference, cancel))
            }
            Operation::Evaluate => {
                let expression = or_missing(args.expression, "evaluate", "expression")?;
                report(debugger.evaluate(&expression, frame, cancel))
            }
            Operation::SetVariable => {
                let name = or_missing(args.name, "set_variable", "name")?;
                let value = or_missing(args.value, "set_variable", "value")?;
                report(debugger.set_variable(args.reference, &name, &value, cancel))
            }
            Operation::Output => report(debugger.output()),
            Operation::Restart => report(debugger.restart(wait, cancel)),
            Operation::Terminate => report(debugger.terminate(args.kill, cancel)),
        }
    }
}

impl Debug {
    fn breakpoints(&self, call: &Call<'_>, args: DebugArgs) -> Result<Output, ToolError> {
        let debugger = &*self.conversation;
        let cancel = call.cancel();
        let (condition, hit_condition, log_message) =
            (args.condition, args.hit_condition, args.log_message);
        let mut answer = None;
        if args.exceptions.is_some() {
            let res = debugger.set_exceptions(args.exceptions, cancel);
            answer = Some(res.map_err(dap_error)?);
        }
        match (args.file, args.lines) {
            (None, None) => {}
            (Some(_), None) if answer.is_none() => {
                return Err(
                    ToolError::invalid_args("breakpoints: missing argument `lines`")
                        .with_hint("pass the lines of the file; an empty list clears it"),
                );
            }
            (Some(file), Some(lines)) => {
                let lines = lines.into_iter().map(|line| {
                    let line = LineBreakpoint::from(line);
                    LineBreakpoint {
                        condition: line.condition.or_else(|| condition.clone()),
                        hit_condition: line.hit_condition.or_else(|| hit_condition.clone()),
                        log_message: line.log_message.or_else(|| log_message.clone()),
                        ..line
                    }
                });
                let res = debugger.set_breakpoints(&file, lines.collect(), cancel);
                let mut set = res.map_err(dap_error)?;
                if let Some(exceptions) = answer {
                    set.notes.extend(exceptions.notes);
                }
                answer = Some(set);
            }
            _ => {
                return Err(ToolError::invalid_args(
                    "breakpoints: `file` and `lines` belong together",
                )
                .with_hint("pass both, or neither to list all breakpoints"));
            }
        }
        Output::report(&answer.unwrap_or_else(|| debugger.breakpoints()))
    }
}

fn report<R: std::fmt::Display + serde::Serialize>(
    res: Result<R, DapError>,
) -> Result<Output, ToolError> {
    Output::report(&res.map_err(dap_error)?)
}

/// Gives an error of the engine its kind and the next step.
fn dap_error(error: DapError) -> ToolError {
    let (kind, hint) = match &error {
        DapError::BadArguments { hint, .. } => (ErrorKind::InvalidArgs, hint.clone()),
        DapError::NotFound { hint, .. } => (ErrorKind::NotFound, hint.clone()),
        DapError::Unavailable { .. } => (
            ErrorKind::Unavailable,
            "`adapters` tells what is usable; a named `adapter` needs no root marker".to_owned(),
        ),
        DapError::NoSession => (
            ErrorKind::NotFound,
            "`launch` a program or `attach` to one first".to_owned(),
        ),
        DapError::Ended(_) => (
            ErrorKind::NotFound,
            "`launch` again, or `restart`; `output`, `status` and `breakpoints` still answer"
                .to_owned(),
        ),
        DapError::Expired(_) => (
            ErrorKind::Expired,
            "`launch` again, or `restart`; breakpoints were kept".to_owned(),
        ),
        DapError::SessionLives { .. } => (
            ErrorKind::Failed,
            "`terminate` it first, or `restart` it".to_owned(),
        ),
        DapError::Running(_) => (
            ErrorKind::Failed,
            "`pause` it, or wait for its next stop with `continue`".to_owned(),
        ),
        DapError::Stale { .. } => (
            ErrorKind::Stale,
            "ask `stack` and `scopes` for new ids".to_owned(),
        ),
        DapError::Unsupported { .. } => (
            ErrorKind::Unavailable,
            "leave it out, or pick another `adapter`".to_owned(),
        ),
        DapError::Refused { .. } => (
            ErrorKind::Failed,
            "the words are the adapter's; `status` tells where the session is".to_owned(),
        ),
        DapError::Died { .. } => (
            ErrorKind::Failed,
            "`launch` again; `adapters` tells which adapter is started".to_owned(),
        ),
        DapError::Timeout { .. } => (
            ErrorKind::Timeout,
            "`status` tells where the session is; `terminate` ends it".to_owned(),
        ),
        DapError::Build(_) => (
            ErrorKind::Failed,
            "repair the errors and launch again".to_owned(),
        ),
        DapError::Cancelled => return ToolError::cancelled(),
        DapError::Io { .. } => (
            ErrorKind::Failed,
            "`adapters` tells what is usable here".to_owned(),
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Runs a program under a real debugger: stops it at lines, steps, and shows its stack, variables and output. \
Use it to see what a program does, instead of adding prints and guessing.

One conversation has one session. The usual way:
  {\"operation\": \"breakpoints\", \"file\": \"src/app.py\", \"lines\": [12, 40]}
  {\"operation\": \"launch\", \"program\": \"src/app.py\", \"args\": [\"--fast\"]}
  {\"operation\": \"evaluate\", \"expression\": \"len(items)\"}
  {\"operation\": \"step_over\"}   {\"operation\": \"continue\"}   {\"operation\": \"terminate\"}

Operations:
  adapters     which debuggers are usable here, and why not the others
  status       whether a session is there, and where it stands
  breakpoints  file, lines: sets all breakpoints of the file, also before a launch; [] clears it; without \
arguments lists them. A line is a number or {\"line\", \"condition\", \"hit_condition\", \"log_message\"}. \
exceptions: kinds of exception to stop at, such as [\"raised\", \"uncaught\"] for Python
  launch       program, args, cwd, env, stop_on_entry; module (Python), mode (Go: debug, test, exec). A \
Cargo package is built first: pass its folder, a source file or the name of a target
  attach       port, or pid, or uri (Dart): a program that runs already; it goes on when the session ends
  continue, step_over, step_in, step_out   thread_id?: waits for the next stop, 20 seconds at most \
(timeout_seconds), and then says `still running`, which is no error; `continue` again waits on
  run_to       file, line: continues to that line
  pause        thread_id?
  threads, stack (thread_id?), scopes (frame_id?), variables (reference), evaluate (expression, frame_id?)
  set_variable name, value, reference?
  output       what the program wrote, also after its end
  restart      the same launch again; breakpoints stay
  terminate    ends the session; kill: true also ends what was attached to

Every stop tells the reason, the place with source lines, the breakpoint and the first locals. Frame ids and \
references end when the program goes on. Standard input of the program is empty. A session lives 30 minutes.";
