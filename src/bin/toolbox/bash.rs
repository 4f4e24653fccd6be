//! `toolbox bash`.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use toolbox::child::Processes;
use toolbox::shell::OnOutput;
use toolbox::tools::ShellResources;
use toolbox::workspace::Workspace;

use crate::args::Global;
use crate::background;
use crate::config::{BashSection as Section, wire};
use crate::host::{Host, output_dir};
use crate::output::{Console, Ending, Step};

/// The status of a command whose time was over, as timeout(1) has it.
const TIMED_OUT: u8 = 124;

/// The flags of `toolbox bash`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The exit code is that of COMMAND (124 when its time was over, 128 and the number for a signal), so that
`toolbox bash 'make test' && ...` does what it says; where COMMAND did not run at all it is 3.

Examples:
  toolbox bash 'cargo test 2>&1 | tail'
  toolbox bash --timeout 600 'make all'
  toolbox bash --run-in-background 'npm start'
  toolbox bash --background-id bash_1")]
pub(crate) struct BashFlags {
    /// The command; it reads no input
    #[arg(required_unless_present = "background_id", allow_hyphen_values = true)]
    command: Option<String>,
    /// End the command after this many seconds [default: 120; at most 600]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Leave the command running in the background session of this checkout, and name it
    #[arg(long, conflicts_with = "timeout")]
    run_in_background: bool,
    /// Ask for what a command in the background wrote since the last time
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["command", "timeout", "run_in_background"]
    )]
    background_id: Option<String>,
    /// What to do with the command in the background
    #[arg(long, value_enum, default_value_t, requires = "background_id")]
    action: ActionFlag,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ActionFlag {
    /// Tell what it wrote
    #[default]
    Output,
    /// End it with all its processes
    Kill,
}

/// The configured shell, or that of this machine: bash, or what every system has; commands get this process's
/// environment.
pub(crate) fn resources(
    workspace: &Workspace,
    processes: Processes,
    section: &Section,
    state_dir: Option<&Path>,
    on_output: Option<OnOutput>,
) -> ShellResources {
    let shell = |named: Option<&str>| match named {
        // One that is not there is told by whoever starts it.
        Some(named) => which::which(named).unwrap_or_else(|_| PathBuf::from(named)),
        None => which::which("bash").unwrap_or_else(|_| PathBuf::from("/bin/sh")),
    };
    let mut options = wire::bash(section, env::vars_os().collect(), shell);
    options.output_dir = state_dir.map(output_dir);
    options.on_output = on_output;
    ShellResources {
        processes,
        workspace: workspace.clone(),
        options,
    }
}

/// Writes output to the terminal as it comes. Nobody reads a terminal that is gone, and the command ends as
/// it would.
fn to_terminal() -> OnOutput {
    OnOutput::new(|bytes| {
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    })
}

/// Runs a command, and ends as it did.
pub(crate) fn bash(console: &Console, global: &Global, flags: BashFlags) -> Step {
    let mut shown = false;
    let in_background = flags.background_id.is_some() || flags.run_in_background;
    let output = if let Some(id) = flags.background_id {
        let action = match flags.action {
            ActionFlag::Output => "output",
            ActionFlag::Kill => "kill",
        };
        let call = json!({"background_id": id, "action": action});
        background::call(console, global, "Bash", call)?
    } else {
        let mut call = json!({"command": flags.command});
        if let Some(timeout) = flags.timeout {
            call["timeout"] = json!(timeout);
        }
        if flags.run_in_background {
            call["run_in_background"] = json!(true);
            background::call(console, global, "Bash", call)?
        } else {
            let mut host = Host::open(console, global)?;
            if console.terminal && !console.json {
                shown = true;
                host.on_output = Some(to_terminal());
            }
            host.dispatch(console, "Bash", call)?
        }
    };
    let data = &output.data;
    if console.json {
        console.print_json(data)?;
    } else {
        // The output is what a pipe wants; what is said about it goes beside it.
        if !shown {
            console.print_bytes(data["output"].as_str().unwrap_or_default())?;
        }
        for note in data["notes"].as_array().into_iter().flatten() {
            console.note(note.as_str().unwrap_or_default());
        }
        if let (Some(id), true) = (data["background_id"].as_str(), data["running"] == true) {
            console.note(&match in_background {
                true => format!("runs in the background as {id}"),
                // They belong to the run of this command, which is over.
                false => {
                    "what it left running ends now; `toolbox bash --run-in-background` keeps a \
                          command"
                        .to_owned()
                }
            });
        }
    }
    match status(data, in_background) {
        0 => Ok(()),
        status => Err(Ending::Status(status)),
    }
}

fn status(data: &Value, in_background: bool) -> u8 {
    if data["timed_out"] == true {
        return TIMED_OUT;
    }
    match data["exit_code"].as_i64() {
        Some(code) => u8::try_from(code).unwrap_or(u8::MAX),
        None if in_background => 0,
        // The shell went without a word, with all around it, as after `kill -9 0`: that is no success.
        None => match data["signal"].as_str() {
            Some("SIGKILL") => 137,
            Some("SIGTERM") => 143,
            _ => 1,
        },
    }
}
