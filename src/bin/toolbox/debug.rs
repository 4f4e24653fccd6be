//! `toolbox debug`: one operation of the debugger for each command, against the background session.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use toolbox::child::Processes;
use toolbox::dap::{Options, Supervisor};
use toolbox::tools::DebugResources;
use toolbox::workspace::Workspace;

use crate::args::Global;
use crate::background;
use crate::config::{DebugSection, wire};
use crate::host::Host;
use crate::output::{Console, Step};

pub(crate) const HELP: &str = "\
Runs a program under a real debugger. The session lives on between commands, in the background session of \
this checkout, for 30 minutes at most.

  toolbox debug adapters
  toolbox debug breakpoints --file a.py --lines 3,9     before or during a session; --clear clears the file
  toolbox debug launch a.py -- --flag x                 runs to the first stop
  toolbox debug stack | threads | scopes | variables REFERENCE
  toolbox debug evaluate 'len(items)'
  toolbox debug step-over | step-in | step-out | continue | run-to a.py:20 | pause
  toolbox debug set-variable NAME VALUE
  toolbox debug output | status | restart | terminate";

/// `toolbox debug`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Debug {
    /// What to do
    #[arg(value_enum)]
    operation: Operation,
    /// What the operation is about: the program of launch, the port of attach, FILE:LINE of breakpoints and
    /// run-to, the expression of evaluate, the reference of variables, the frame of scopes, NAME VALUE of
    /// set-variable
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    /// The source file of breakpoints and run-to
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The lines to stop at, such as 3,9: all of the file
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    lines: Option<Vec<usize>>,
    /// Clear the breakpoints of the file
    #[arg(long, conflicts_with = "lines")]
    clear: bool,
    /// Stop only where this expression is true
    #[arg(long, value_name = "EXPR")]
    condition: Option<String>,
    /// Stop only at certain hits, such as 5 or '>= 3'
    #[arg(long, value_name = "HITS")]
    hit_condition: Option<String>,
    /// Write this text instead of stopping; expressions stand in braces
    #[arg(long, value_name = "TEXT")]
    log_message: Option<String>,
    /// The kinds of exception to stop at, such as raised,uncaught; empty for none
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    exceptions: Option<Vec<String>>,
    /// The adapter, as `toolbox debug adapters` lists it
    #[arg(long, value_name = "ID")]
    adapter: Option<String>,
    /// The program of launch
    #[arg(long, value_name = "PATH")]
    program: Option<String>,
    /// The folder that the program runs in [default: the workspace]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A variable for the program (repeatable)
    #[arg(long = "env", value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Stop at the first line
    #[arg(long)]
    stop_on_entry: bool,
    /// A Python module to run in place of a program
    #[arg(long, value_name = "MODULE")]
    module: Option<String>,
    /// How delve takes the program: debug, test or exec
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Where the program to attach to listens [default: this machine]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// The port where the program to attach to listens
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The number of the process to attach to
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// The URI of the Dart VM service to attach to
    #[arg(long, value_name = "URI")]
    uri: Option<String>,
    /// The thread [default: the one that stopped]
    #[arg(long, visible_alias = "thread", value_name = "ID")]
    thread_id: Option<i64>,
    /// The frame [default: the top one]
    #[arg(long, visible_alias = "frame", value_name = "ID")]
    frame_id: Option<i64>,
    /// What variables or set-variable look into
    #[arg(long, value_name = "ID")]
    reference: Option<i64>,
    /// The expression of evaluate
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    /// The variable of set-variable
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The new value of set-variable
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// The line of run-to
    #[arg(long, value_name = "N")]
    line: Option<usize>,
    /// Wait this long for a stop [default: 20]
    #[arg(long, visible_alias = "timeout-seconds", value_name = "SECONDS")]
    timeout: Option<u64>,
    /// End also a program that was attached to
    #[arg(long)]
    kill: bool,
    /// The arguments of the program
    #[arg(last = true, value_name = "ARG")]
    args: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Operation {
    Adapters,
    Status,
    Breakpoints,
    Launch,
    Attach,
    Continue,
    Pause,
    #[value(alias = "step_over", alias = "next")]
    StepOver,
    #[value(alias = "step_in")]
    StepIn,
    #[value(alias = "step_out")]
    StepOut,
    #[value(alias = "run_to")]
    RunTo,
    Threads,
    Stack,
    Scopes,
    Variables,
    Evaluate,
    #[value(alias = "set_variable")]
    SetVariable,
    Output,
    Restart,
    Terminate,
}

/// What debug sessions are started with: the environment of this process, and the user's adapters.
pub(crate) fn resources(
    workspace: &Workspace,
    processes: Processes,
    section: &DebugSection,
) -> DebugResources {
    let mut options = Options::new(std::env::vars_os().collect());
    options.adapters = wire::debug(section);
    if let Some(stop_wait) = section.stop_wait {
        options.timings.stop_wait = stop_wait;
    }
    DebugResources {
        supervisor: Supervisor::new(processes, options),
        workspace: workspace.clone(),
    }
}

/// Does one operation.
pub(crate) fn debug(console: &Console, global: &Global, args: Debug) -> Step {
    let call = arguments(console, global, args)?;
    let output = background::call(console, global, "debug", Value::Object(call))?;
    console.answer(&output)
}

fn arguments(console: &Console, global: &Global, mut args: Debug) -> Step<Map<String, Value>> {
    let host = Host::open(console, global)?;
    let words = std::mem::take(&mut args.words);
    take_words(console, &mut args, words)?;
    let mut call = Map::new();
    let name = args.operation.to_possible_value();
    let name = name.map(|name| name.get_name().replace('-', "_"));
    call.insert("operation".to_owned(), json!(name));
    let path = |path: &Path| -> Step<String> {
        let paths = host.paths(console, &[path.to_owned()])?;
        Ok(paths.into_iter().next().unwrap_or_default())
    };
    let mut put = |name: &str, value: Value| {
        let empty = value.is_null() || value == json!(false) || value == json!([]);
        if !empty {
            call.insert(name.to_owned(), value);
        }
    };
    put("file", json!(args.file.as_deref().map(path).transpose()?));
    put("cwd", json!(args.cwd.as_deref().map(path).transpose()?));
    // The name of a target of a package is no path.
    let program = match args.program {
        Some(program) if host.named(&program).is_some() => Some(path(Path::new(&program))?),
        other => other,
    };
    put("program", json!(program));
    put("lines", json!(args.lines));
    put("condition", json!(args.condition));
    put("hit_condition", json!(args.hit_condition));
    put("log_message", json!(args.log_message));
    put("adapter", json!(args.adapter));
    put("args", json!(args.args));
    put("env", environment(console, &args.env)?);
    put("stop_on_entry", json!(args.stop_on_entry));
    put("module", json!(args.module));
    put("mode", json!(args.mode));
    put("host", json!(args.host));
    put("port", json!(args.port));
    put("pid", json!(args.pid));
    put("uri", json!(args.uri));
    put("thread_id", json!(args.thread_id));
    put("frame_id", json!(args.frame_id));
    put("reference", json!(args.reference));
    put("expression", json!(args.expression));
    put("name", json!(args.name));
    put("value", json!(args.value));
    put("line", json!(args.line));
    put("timeout_seconds", json!(args.timeout));
    put("kill", json!(args.kill));
    if args.clear {
        call.insert("lines".to_owned(), json!([]));
    }
    if let Some(mut kinds) = args.exceptions {
        kinds.retain(|kind| !kind.is_empty());
        call.insert("exceptions".to_owned(), json!(kinds));
    }
    Ok(call)
}

/// Gives the words of the command line to what they stand for.
fn take_words(console: &Console, args: &mut Debug, words: Vec<String>) -> Step {
    let n_words = words.len();
    let mut words = words.into_iter();
    let Some(first) = words.next() else {
        return Ok(());
    };
    let too_many = |taken: usize| n_words > taken;
    let misuse = |what: &str| Err(console.misuse(what));
    let number = |word: &str| {
        word.parse()
            .map_err(|_| console.misuse(&format!("'{word}' is no number")))
    };
    match args.operation {
        Operation::Launch if !too_many(1) => args.program = Some(first),
        Operation::Launch => {
            return Err(console.misuse_with_hint(
                "launch takes one program",
                "write the program's arguments after `--`",
            ));
        }
        Operation::Attach if !too_many(1) => {
            let port = first.parse();
            args.port = Some(port.map_err(|_| console.misuse(&format!("'{first}' is no port")))?);
        }
        Operation::Breakpoints | Operation::RunTo if !too_many(1) => {
            let (file, lines) = match first.rsplit_once(':') {
                Some((file, lines)) => (file.to_owned(), Some(lines.to_owned())),
                None => (first, None),
            };
            args.file = Some(PathBuf::from(file));
            if let Some(lines) = lines {
                let parsed: Result<Vec<usize>, _> = lines.split(',').map(str::parse).collect();
                let Ok(lines) = parsed else {
                    return misuse("write FILE:LINE, such as a.py:3");
                };
                match args.operation {
                    Operation::RunTo => args.line = lines.first().copied(),
                    _ => args.lines = Some(lines),
                }
            }
        }
        Operation::Evaluate => {
            let all: Vec<String> = std::iter::once(first).chain(words).collect();
            args.expression = Some(all.join(" "));
        }
        Operation::Variables if !too_many(1) => args.reference = Some(number(&first)?),
        Operation::Scopes if !too_many(1) => args.frame_id = Some(number(&first)?),
        Operation::SetVariable => {
            args.name = Some(first);
            let value: Vec<String> = words.collect();
            if !value.is_empty() {
                args.value = Some(value.join(" "));
            }
        }
        _ => return misuse(&format!("too many words: '{first}'")),
    }
    Ok(())
}

fn environment(console: &Console, pairs: &[String]) -> Step<Value> {
    if pairs.is_empty() {
        return Ok(Value::Null);
    }
    let mut map = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(console.misuse(&format!("--env {pair}: write NAME=VALUE")));
        };
        map.insert(name.to_owned(), json!(value));
    }
    Ok(Value::Object(map))
}
