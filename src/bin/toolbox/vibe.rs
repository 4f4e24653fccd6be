//! `toolbox vibe`: background workers at a terminal, and what workers inherit from the run that spawned
//! them.
//!
//! A worker that is a `toolbox session` gets the surface, the approvals and the configuration of its run, never
//! more (R130): they are in its environment, and a session that finds them there stays within them whatever its
//! flags say. The allowlist of an agent needs no such way: a run with one has no vibe tools.

use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use toolbox::child::{Env, Processes};
use toolbox::tool::Tier;
use toolbox::tools::VibeResources;
use toolbox::vibe::{CommandOptions, CommandWorker, RosterOptions, Worker};
use toolbox::workspace::Workspace;

use crate::args::{Global, Surface};
use crate::background;
use crate::config::{Config, wire};
use crate::host::Host;
use crate::output::{Console, Step};

/// Up to which tier a worker's own session approves calls.
const APPROVE: &str = "TOOLBOX_WORKER_APPROVE";

/// What a worker's own session shows.
const SURFACE: &str = "TOOLBOX_WORKER_SURFACE";

/// The toolbox.toml that the run was told to read; empty for the user's own.
const CONFIG: &str = "TOOLBOX_WORKER_CONFIG";

/// Whether the run trusts the toolbox.toml of its checkout: `yes` or nothing.
const TRUST: &str = "TOOLBOX_WORKER_TRUST";

/// The command in which the run's cells start, where a flag named it.
const ENCLOSURE: &str = "TOOLBOX_WORKER_ENCLOSURE";

pub(crate) const HELP: &str = "\
Lets background workers do things: agents with a command line, which toolbox.toml names.

  [vibe.fast]
  command = [\"my-agent\", \"--print\", \"{brief}\"]
  [vibe.good]
  command = [\"my-agent\", \"--model\", \"large\", \"--session\", \"{conversation}\"]
  brief = \"stdin\"                  # or \"argument\", \"file\"
  resume = [\"my-agent\", \"--resume\", \"{conversation}\"]
  result = \"stdout\"                # or \"file\" (at {result}), or a path such as \"out/{id}.md\"

  toolbox vibe spawn --tier fast --label 'rename the flag' 'Rename --foo to --bar in src and docs.'
  toolbox vibe wait worker_1

In a command {brief}, {message}, {brief_file}, {message_file}, {result}, {id}, {label}, {tier}, {turn}, \
{conversation}, {workspace}, {approve} and {surface} are filled in. Workers live in the background session of this \
checkout and end with it. A worker that is a `toolbox session` gets no more than its run has: \
`toolbox session --approve {approve} --surface {surface}`; it reads the toolbox.toml that its run reads.";

/// `toolbox vibe`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Vibe {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Start a worker and return at once with its id
    Spawn {
        /// All that the worker has to know; `-` reads standard input
        #[arg(required_unless_present = "file", conflicts_with = "file")]
        brief: Option<String>,
        /// Read the brief from a file
        #[arg(long, value_name = "F")]
        file: Option<PathBuf>,
        /// What it does, in a few words [default: the first line of the brief]
        #[arg(long, value_name = "TEXT")]
        label: Option<String>,
        /// The kind of worker
        #[arg(long, value_enum, default_value_t, value_name = "TIER")]
        tier: TierFlag,
    },
    /// Add a message to the instructions of a worker, and let it run again
    Send {
        /// The worker
        #[arg(value_name = "ID")]
        id: String,
        /// The message; `-` reads standard input
        message: String,
    },
    /// Wait until one of these workers settles, and show its result
    Wait {
        /// The workers
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Give up waiting after so many seconds; the worker goes on [default: 60]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<f64>,
    },
    /// Stop a worker with all its processes
    Kill {
        /// The worker
        #[arg(value_name = "ID")]
        id: String,
    },
    /// List the workers: tier, status, elapsed time, last result
    List,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum TierFlag {
    /// Mechanical work with a clear spec
    #[default]
    Fast,
    /// Design, judgement, or review of a fast worker's output
    Good,
}

/// What a run may do at most; its workers inherit it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) surface: Surface,
    pub(crate) approve: Tier,
}

impl Allowance {
    /// Returns what the run that spawned this process as a worker allows; `None` when none did.
    pub(crate) fn inherited() -> Option<Self> {
        Self::read(|name| env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let (surface, approve) = (variable(SURFACE), variable(APPROVE));
        if surface.is_none() && approve.is_none() {
            return None;
        }
        // What cannot be read allows nothing.
        Some(Self {
            surface: match surface.as_deref() {
                Some("all") => Surface::All,
                _ => Surface::Plan,
            },
            approve: approve
                .and_then(|tier| tier.parse().ok())
                .unwrap_or(Tier::Read),
        })
    }

    /// Returns what both allow.
    pub(crate) fn within(self, outer: Option<Self>) -> Self {
        let Some(outer) = outer else { return self };
        Self {
            surface: match (self.surface, outer.surface) {
                (Surface::All, Surface::All) => Surface::All,
                _ => Surface::Plan,
            },
            approve: self.approve.min(outer.approve),
        }
    }

    fn surface_word(self) -> &'static str {
        match self.surface {
            Surface::All => "all",
            Surface::Plan => "plan",
        }
    }
}

/// The global flags of a session: those of the run that spawned this process as a worker take the place of
/// its own.
pub(crate) fn flags_of_the_run(global: &Global) -> Global {
    let variable = |name: &str| env::var_os(name);
    let Some(config) = variable(CONFIG) else {
        return global.clone();
    };
    Global {
        config: (!config.is_empty()).then(|| PathBuf::from(config)),
        trust_project: variable(TRUST).is_some_and(|word| word == "yes"),
        enclosure: variable(ENCLOSURE)
            .and_then(|prefix| prefix.into_string().ok())
            .or_else(|| global.enclosure.clone()),
        ..global.clone()
    }
}

/// The variables by which a worker knows the global flags of its run.
pub(crate) fn variables_of(global: &Global, current_dir: &Path) -> Vec<(&'static str, OsString)> {
    let config = global.config.as_ref();
    let config = config.map_or_else(OsString::new, |file| {
        // A worker runs in another folder.
        current_dir.join(file).into_os_string()
    });
    let trust = if global.trust_project { "yes" } else { "" };
    let mut variables = vec![(CONFIG, config), (TRUST, trust.into())];
    if let Some(prefix) = &global.enclosure {
        variables.push((ENCLOSURE, prefix.into()));
    }
    variables
}

/// Whether a configuration names any worker.
pub(crate) fn is_configured(config: &Config) -> bool {
    let section = &config.sections.vibe;
    section.fast.command.is_some() || section.good.command.is_some()
}

/// Returns what vibe mode needs; none when no worker is configured.
pub(crate) fn resources(
    config: &Config,
    workspace: &Workspace,
    processes: &Processes,
    allowance: Allowance,
    state_dir: Option<&Path>,
    flags: &[(&'static str, OsString)],
) -> Option<VibeResources> {
    if !is_configured(config) {
        return None;
    }
    let mut variables: Env = env::vars_os().collect();
    variables.set(APPROVE, allowance.approve.as_str());
    variables.set(SURFACE, allowance.surface_word());
    for (name, value) in flags {
        variables.set(name, value);
    }
    let mut base = CommandOptions::new(Vec::new(), workspace.root(), variables);
    base.placeholders = [
        ("approve", allowance.approve.as_str().to_owned()),
        ("surface", allowance.surface_word().to_owned()),
        ("workspace", workspace.root().display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let worker = |section| {
        let options = wire::worker(section, base.clone())?;
        Some(Arc::new(CommandWorker::new(processes.clone(), options)) as Arc<dyn Worker>)
    };
    let section = &config.sections.vibe;
    Some(VibeResources::new(RosterOptions {
        fast: worker(&section.fast),
        good: worker(&section.good),
        folder: state_dir
            .map_or_else(env::temp_dir, Path::to_owned)
            .join("vibe"),
    }))
}

/// Does what a person asks of the workers.
pub(crate) fn vibe(console: &Console, global: &Global, args: Vibe) -> Step {
    if !is_configured(Host::open(console, global)?.config()) {
        return Err(console.misuse_with_hint(
            "no worker is configured",
            "set [vibe.fast] command in toolbox.toml; `toolbox vibe --help` has examples",
        ));
    }
    let (tool, call) = match args.action {
        Action::Spawn {
            brief,
            file,
            label,
            tier,
        } => {
            let brief = match (brief, file) {
                (_, Some(file)) => std::fs::read_to_string(&file).map_err(|err| {
                    console.misuse(&format!("cannot read '{}': {err}", file.display()))
                })?,
                (Some(brief), None) => given(console, brief)?,
                (None, None) => String::new(),
            };
            let label = label.unwrap_or_else(|| first_line(&brief));
            let tier = match tier {
                TierFlag::Fast => "fast",
                TierFlag::Good => "good",
            };
            let call = json!({ "brief": brief, "label": label, "tier": tier });
            ("vibe_spawn", call)
        }
        Action::Send { id, message } => {
            let message = given(console, message)?;
            ("vibe_send", json!({ "worker_id": id, "message": message }))
        }
        Action::Wait { ids, timeout } => {
            let mut call = json!({ "worker_id": ids });
            if let Some(seconds) = timeout {
                call["timeout_seconds"] = json!(seconds);
            }
            ("vibe_wait", call)
        }
        Action::Kill { id } => ("vibe_kill", json!({ "worker_id": id })),
        Action::List => ("vibe_list", Value::Object(serde_json::Map::new())),
    };
    let output = background::call(console, global, tool, call)?;
    if console.json {
        return console.print_json(&output.data);
    }
    // A result is shown as it is; only the first line of a spawn names a tool.
    match output.data["workers"][0]["id"].as_str() {
        Some(id) if tool == "vibe_spawn" => {
            let typed = format!("`toolbox vibe wait {id}` gives its result");
            console.show(&output.text.replace("vibe_wait gives its result", &typed))
        }
        _ => console.show(&output.text),
    }
}

/// Returns a text of the command line, or standard input for `-`.
fn given(console: &Console, text: String) -> Step<String> {
    if text != "-" {
        return Ok(text);
    }
    let mut read = String::new();
    std::io::stdin()
        .read_to_string(&mut read)
        .map_err(|err| console.misuse(&format!("cannot read standard input: {err}")))?;
    Ok(read)
}

fn first_line(brief: &str) -> String {
    let line = brief.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(surface: Option<&str>, approve: Option<&str>) -> Option<Allowance> {
        Allowance::read(|name| {
            let value = if name == SURFACE { surface } else { approve };
            value.map(str::to_owned)
        })
    }

    // R130: never more than the run that spawned it.
    #[test]
    fn a_worker_stays_within_its_run() {
        let allowance = |surface, approve| Allowance { surface, approve };
        let (all, plan) = (Surface::All, Surface::Plan);
        assert_eq!(read(None, None), None);
        assert_eq!(
            read(Some("all"), Some("write")),
            Some(allowance(all, Tier::Write))
        );
        let strictest = Some(allowance(plan, Tier::Read));
        assert_eq!(read(Some("everything"), Some("root")), strictest);
        assert_eq!(read(None, Some("exec")), Some(allowance(plan, Tier::Exec)));
        let own = allowance(all, Tier::Exec);
        assert_eq!(own.within(None), own);
        assert_eq!(
            own.within(read(Some("all"), Some("write"))),
            allowance(all, Tier::Write)
        );
        assert_eq!(own.within(strictest), allowance(plan, Tier::Read));
        let small = allowance(plan, Tier::Read);
        assert_eq!(small.within(Some(own)), small, "nor more than it asked for");
    }
}
