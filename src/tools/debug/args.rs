//! The arguments of `debug`.
//!
//! One struct serves all operations, because a model sees one tool. An argument that an operation does not
//! take is an error: whoever passes `lines` to `launch` means something that would not happen.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dap::LineBreakpoint;
use crate::tool::ToolError;

/// The longest wait that a call may ask for.
const MAX_WAIT_SECONDS: u64 = 600;

/// The arguments of `debug`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebugArgs {
    /// What to do.
    #[serde(alias = "action")]
    pub(super) operation: Operation,
    /// launch, attach: the adapter (`dart`, `debugpy`, `lldb`, `delve`, ...). Default: by the program's
    /// extension, then by the root marker.
    pub(super) adapter: Option<String>,
    /// breakpoints, run_to: the source file, relative to the workspace.
    pub(super) file: Option<String>,
    /// breakpoints: all lines of the file to stop at, each a number or an object with a `condition`,
    /// `hit_condition` or `log_message`; `[]` clears the file.
    pub(super) lines: Option<Vec<Line>>,
    /// breakpoints: a condition for every line that has none of its own.
    pub(super) condition: Option<String>,
    /// breakpoints: a hit condition for every line that has none of its own, such as `5` or `>= 3`.
    pub(super) hit_condition: Option<String>,
    /// breakpoints: writes this text instead of stopping; expressions stand in braces: `i is {i}`.
    pub(super) log_message: Option<String>,
    /// breakpoints: the kinds of exception to stop at; `[]` for none.
    pub(super) exceptions: Option<Vec<String>>,
    /// launch: a source file, an executable, or the folder of a package. attach with lldb: the executable.
    pub(super) program: Option<String>,
    /// launch: the program's arguments.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// launch: the program's folder. Default: the workspace.
    pub(super) cwd: Option<String>,
    /// launch: variables besides those of the environment.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// launch: stop at the first line.
    #[serde(default)]
    pub(super) stop_on_entry: bool,
    /// launch with debugpy: a module to run in place of a program.
    pub(super) module: Option<String>,
    /// launch with delve: `debug`, `test` or `exec`.
    pub(super) mode: Option<String>,
    /// attach: where the program listens. Default: this machine.
    pub(super) host: Option<String>,
    /// attach: the port where the program listens.
    pub(super) port: Option<u16>,
    /// attach: the number of the process.
    pub(super) pid: Option<u32>,
    /// attach with dart: the URI of the VM service.
    pub(super) uri: Option<String>,
    /// continue, pause, steps, stack: the thread. Default: the one that stopped.
    pub(super) thread_id: Option<i64>,
    /// scopes, evaluate: the frame, from `stack` or a stop. Default: the top frame.
    pub(super) frame_id: Option<i64>,
    /// variables, set_variable: what to look into, from `scopes`, `variables`, `evaluate` or a stop.
    pub(super) reference: Option<i64>,
    /// evaluate: an expression of the program's language.
    pub(super) expression: Option<String>,
    /// set_variable: the variable.
    pub(super) name: Option<String>,
    /// set_variable: its new value, as an expression of the program's language.
    pub(super) value: Option<String>,
    /// run_to: the line, from 1.
    pub(super) line: Option<usize>,
    /// launch, attach, restart, continue, pause, steps, run_to: how long to wait for a stop. Default: 20
    /// seconds; 5 where nothing is set that could stop the program.
    #[schemars(range(max = 600))]
    pub(super) timeout_seconds: Option<u64>,
    /// terminate: end also a program that was attached to.
    #[serde(default)]
    pub(super) kill: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Adapters,
    Status,
    Breakpoints,
    Launch,
    Attach,
    Continue,
    Pause,
    StepOver,
    StepIn,
    StepOut,
    RunTo,
    Threads,
    Stack,
    Scopes,
    Variables,
    Evaluate,
    SetVariable,
    Output,
    Restart,
    Terminate,
}

/// A line to stop at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Line {
    /// The line, from 1.
    Number(usize),
    /// The line with conditions.
    Detailed(DetailedLine),
}

/// A line with conditions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DetailedLine {
    /// The line, from 1.
    line: usize,
    /// Stops only where this expression is true.
    condition: Option<String>,
    /// Stops only at certain hits, such as `5` or `>= 3`.
    hit_condition: Option<String>,
    /// Writes this text instead of stopping.
    log_message: Option<String>,
}

impl From<Line> for LineBreakpoint {
    fn from(line: Line) -> Self {
        match line {
            Line::Number(line) => Self::at(line),
            Line::Detailed(line) => Self {
                line: line.line,
                condition: line.condition,
                hit_condition: line.hit_condition,
                log_message: line.log_message,
            },
        }
    }
}

impl Operation {
    /// The operations that a given argument belongs to.
    fn takes(argument: &str) -> &'static [Self] {
        use Operation as Op;
        match argument {
            "file" => &[Op::Breakpoints, Op::RunTo],
            "lines" | "condition" | "hit_condition" | "log_message" | "exceptions" => {
                &[Op::Breakpoints]
            }
            "program" | "adapter" => &[Op::Launch, Op::Attach],
            "args" | "cwd" | "env" | "stop_on_entry" | "module" | "mode" => &[Op::Launch],
            "host" | "port" | "pid" | "uri" => &[Op::Attach],
            "thread_id" => &[
                Op::Continue,
                Op::Pause,
                Op::StepOver,
                Op::StepIn,
                Op::StepOut,
                Op::Stack,
            ],
            "frame_id" => &[Op::Scopes, Op::Evaluate],
            "reference" => &[Op::Variables, Op::SetVariable],
            "expression" => &[Op::Evaluate],
            "name" | "value" => &[Op::SetVariable],
            "line" => &[Op::RunTo],
            "timeout_seconds" => &[
                Op::Launch,
                Op::Attach,
                Op::Restart,
                Op::Continue,
                Op::Pause,
                Op::StepOver,
                Op::StepIn,
                Op::StepOut,
                Op::RunTo,
            ],
            "kill" => &[Op::Terminate],
            _ => &[],
        }
    }

    /// The name that the arguments use.
    fn name(self) -> &'static str {
        match self {
            Self::Adapters => "adapters",
            Self::Status => "status",
            Self::Breakpoints => "breakpoints",
            Self::Launch => "launch",
            Self::Attach => "attach",
            Self::Continue => "continue",
            Self::Pause => "pause",
            Self::StepOver => "step_over",
            Self::StepIn => "step_in",
            Self::StepOut => "step_out",
            Self::RunTo => "run_to",
            Self::Threads => "threads",
            Self::Stack => "stack",
            Self::Scopes => "scopes",
            Self::Variables => "variables",
            Self::Evaluate => "evaluate",
            Self::SetVariable => "set_variable",
            Self::Output => "output",
            Self::Restart => "restart",
            Self::Terminate => "terminate",
        }
    }
}

impl DebugArgs {
    /// Refuses arguments that the operation does not take.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        let given = [
            ("file", self.file.is_some()),
            ("lines", self.lines.is_some()),
            ("condition", self.condition.is_some()),
            ("hit_condition", self.hit_condition.is_some()),
            ("log_message", self.log_message.is_some()),
            ("exceptions", self.exceptions.is_some()),
            ("program", self.program.is_some()),
            ("adapter", self.adapter.is_some()),
            ("args", !self.args.is_empty()),
            ("cwd", self.cwd.is_some()),
            ("env", !self.env.is_empty()),
            ("stop_on_entry", self.stop_on_entry),
            ("module", self.module.is_some()),
            ("mode", self.mode.is_some()),
            ("host", self.host.is_some()),
            ("port", self.port.is_some()),
            ("pid", self.pid.is_some()),
            ("uri", self.uri.is_some()),
            ("thread_id", self.thread_id.is_some()),
            ("frame_id", self.frame_id.is_some()),
            ("reference", self.reference.is_some()),
            ("expression", self.expression.is_some()),
            ("name", self.name.is_some()),
            ("value", self.value.is_some()),
            ("line", self.line.is_some()),
            ("timeout_seconds", self.timeout_seconds.is_some()),
            ("kill", self.kill),
        ];
        for (argument, is_given) in given {
            let takes = Operation::takes(argument);
            if is_given && !takes.contains(&self.operation) {
                let names: Vec<&str> = takes.iter().map(|operation| operation.name()).collect();
                return Err(ToolError::invalid_args(format!(
                    "{} takes no argument `{argument}`",
                    self.operation.name()
                ))
                .with_hint(format!("`{argument}` belongs to {}", names.join(", "))));
            }
        }
        if let Some(seconds) = self.timeout_seconds
            && seconds > MAX_WAIT_SECONDS
        {
            return Err(ToolError::invalid_args(format!(
                "timeout_seconds is {seconds}; the limit is {MAX_WAIT_SECONDS}"
            ))
            .with_hint("wait again with `status` or `pause` after a shorter time"));
        }
        Ok(())
    }
}

/// The value of an argument that an operation needs.
pub(super) fn or_missing<T>(
    value: Option<T>,
    operation: &str,
    argument: &str,
) -> Result<T, ToolError> {
    value.ok_or_else(|| {
        ToolError::invalid_args(format!("{operation}: missing argument `{argument}`"))
            .with_hint(format!("pass `{argument}` with {operation}"))
    })
}
