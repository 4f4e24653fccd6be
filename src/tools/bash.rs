//! `Bash`: shell commands. Arguments in, the engine's report out.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::child::Processes;
use crate::limits;
use crate::shell::{Shell, ShellError, ShellOptions};
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError};
use crate::workspace::Workspace;

/// What `Bash` needs.
#[derive(Clone, Debug)]
pub struct ShellResources {
    /// Who starts the processes.
    pub processes: Processes,
    /// Where commands run.
    pub workspace: Workspace,
    /// The shell, its environment, its limits.
    pub options: ShellOptions,
}

/// The tool `Bash`. Its value owns the working folder and the background commands of one run.
#[derive(Debug)]
pub struct Bash {
    shell: Shell,
    options: ShellOptions,
}

/// The arguments of `Bash`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashArgs {
    /// The command, as it would be typed into a shell; it may have several lines.
    command: Option<String>,
    /// What the command does, in a few words, for whoever approves it.
    #[serde(rename = "description")]
    _description: Option<String>,
    /// Seconds after which the command is ended with all its processes. Default: 120; at most 600, where the
    /// host names no other times.
    timeout: Option<u64>,
    /// Whether to return at once and let the command run: the answer names its background_id. It has no
    /// timeout.
    #[serde(default)]
    run_in_background: bool,
    /// A command that runs in the background, such as `bash_1`, to be asked or ended instead of running a
    /// command.
    background_id: Option<String>,
    /// With background_id: `output` tells what came since the last time, `kill` ends the command. Default:
    /// output.
    action: Option<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Output,
    Kill,
}

impl Bash {
    /// Makes the tool; its working folder is the root of the workspace.
    pub fn new(resources: &ShellResources) -> Self {
        let ShellResources {
            processes,
            workspace,
            options,
        } = resources.clone();
        Self {
            shell: Shell::new(processes, workspace, options.clone()),
            options,
        }
    }
}

impl Tool for Bash {
    const NAME: &'static str = "Bash";
    const TIER: Tier = Tier::Exec;
    // Commands in the foreground queue in the engine, because they share a working folder; asking for the
    // output of a background command or ending it must not wait for them.
    const PARALLEL_SAFE: bool = true;
    type Args = BashArgs;

    fn description(&self) -> String {
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        DESCRIPTION
            .replace("{timeout}", &seconds(self.options.timeout))
            .replace("{max_timeout}", &seconds(self.options.max_timeout))
    }

    fn held(&self) -> Vec<Held> {
        let held = |id: String| Held {
            what: "background command".to_owned(),
            state: "running".to_owned(),
            detail: id,
        };
        self.shell.running().into_iter().map(held).collect()
    }

    fn run(&self, call: &Call<'_>, args: BashArgs) -> Result<Output, ToolError> {
        let said = |error: ShellError| shell_error(error, &self.options);
        let report = match (&args.command, &args.background_id) {
            (Some(_), Some(_)) => {
                return Err(
                    ToolError::invalid_args("both command and background_id are there")
                        .with_hint("pass command to run one, or background_id to ask for one"),
                );
            }
            (None, None) => {
                return Err(ToolError::invalid_args("there is no command")
                    .with_hint("pass command, or background_id with action"));
            }
            (None, Some(id)) => {
                if args.timeout.is_some() || args.run_in_background {
                    return Err(ToolError::invalid_args(
                        "timeout and run_in_background belong to a command",
                    )
                    .with_hint("pass background_id and action alone"));
                }
                match args.action.unwrap_or(Action::Output) {
                    Action::Output => self.shell.output(id),
                    Action::Kill => self.shell.kill(id),
                }
            }
            (Some(_), None) if args.action.is_some() => {
                return Err(ToolError::invalid_args("action belongs to background_id")
                    .with_hint("leave action out to run the command"));
            }
            (Some(command), None) if args.run_in_background => {
                if args.timeout.is_some() {
                    return Err(ToolError::invalid_args(
                        "a command in the background has no timeout",
                    )
                    .with_hint("leave timeout out, and end the command with action `kill`"));
                }
                call.check_cancelled()?;
                self.shell.start_in_background(command)
            }
            (Some(command), None) => {
                let timeout = args.timeout.map(Duration::from_secs);
                self.shell.run(command, timeout, call.cancel())
            }
        };
        Output::report(&report.map_err(said)?)
    }
}

/// Gives an error of the engine its kind and its next step.
fn shell_error(error: ShellError, options: &ShellOptions) -> ToolError {
    use ErrorKind::{Failed, InvalidArgs, NotFound, Unavailable};
    let (kind, hint) = match &error {
        ShellError::Cancelled => return ToolError::cancelled(),
        ShellError::EmptyCommand => (InvalidArgs, "write the command to run".to_owned()),
        ShellError::Nul => (
            InvalidArgs,
            "write such bytes as `printf '\\0'` does".to_owned(),
        ),
        ShellError::CommandTooLong { .. } => (
            InvalidArgs,
            "write the text to a file first, and run a short command over it".to_owned(),
        ),
        ShellError::BadTimeout { .. } => (
            InvalidArgs,
            format!(
                "timeout is in seconds, {} where it is left out; what takes longer can run_in_background",
                options.timeout.as_secs()
            ),
        ),
        ShellError::UnknownJob { known, .. } => {
            let hint = match known.is_empty() {
                true => "no command was left running in this run".to_owned(),
                false => format!("there are {}", known.join(", ")),
            };
            (NotFound, hint)
        }
        ShellError::TooManyJobs => (
            Failed,
            "end one of them with background_id and action `kill`".to_owned(),
        ),
        ShellError::Start { .. } => (
            Unavailable,
            "the host names the shell: check that it is installed".to_owned(),
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

/// The limits that the description names are those of the requirements.
const _: () = assert!(
    limits::BASH_TIMEOUT.as_secs() == 120
        && limits::BASH_MAX_TIMEOUT.as_secs() == 600
        && limits::BASH_OUTPUT_CHARS == 30_000
);

const DESCRIPTION: &str = "\
Runs a command in a shell of its own and returns its output, standard error included, and its exit code.

Use it to build, test, install, run scripts and call programs. Use Read, Grep, Glob and Edit to look at and \
change files: they say more where nothing is found and check what they write.

The working folder is kept between commands as long as it is inside the workspace; variables and functions \
are not. Standard input is empty, so pass the flags that keep a program from asking. A command is ended with \
all its processes after {timeout} seconds, or after timeout (at most {max_timeout}). Of an output over 30,000 characters the \
middle is left out, and the whole is in a file that is named.

For servers and long work pass run_in_background: the answer names a background_id, with which action \
`output` tells what is new and `kill` ends it. What a command leaves running with `&` gets such an id too. \
All of them end with the run.";
