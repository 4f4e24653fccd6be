//! The five tools of vibe mode: background workers. Arguments in, the roster's report out.
//!
//! They exist while the mode is on and no longer (R129): [`VibeResources::enter`] adds all five to a
//! registry, [`leave_vibe_mode`] removes them and thereby kills every worker. All are tier read, because the
//! gate is on the worker's own tools (R130).

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::limits;
use crate::registry::{Builder, Registry, RegistryError};
use crate::tool::{Call, ErrorKind, Held, Output, Tier, Tool, ToolError};
use crate::vibe::{Roster, RosterHandle, RosterOptions, VibeError, VibeReport, WorkerTier};

/// The names of the five tools.
pub const VIBE_TOOLS: [&str; 5] = [
    VibeSpawn::NAME,
    VibeSend::NAME,
    VibeWait::NAME,
    VibeKill::NAME,
    VibeList::NAME,
];

/// What vibe mode needs: kinds of workers. Each registry made from it has a roster of its own.
#[derive(Clone, Debug)]
pub struct VibeResources {
    /// Who works, and where files for workers go.
    pub options: RosterOptions,
}

impl VibeResources {
    /// Names who works.
    pub fn new(options: RosterOptions) -> Self {
        Self { options }
    }

    /// Enters vibe mode: adds the five tools, over a roster that is theirs.
    pub fn enter(&self, registry: &mut Registry) -> Result<(), RegistryError> {
        let (spawn, roster) = self.tools();
        registry.insert(spawn)?;
        registry.insert(VibeSend(roster.clone()))?;
        registry.insert(VibeWait(roster.clone()))?;
        registry.insert(VibeKill(roster.clone()))?;
        registry.insert(VibeList(roster))
    }

    pub(super) fn connect(&self, builder: Builder) -> Builder {
        let (spawn, roster) = self.tools();
        builder
            .add(spawn)
            .add(VibeSend(roster.clone()))
            .add(VibeWait(roster.clone()))
            .add(VibeKill(roster.clone()))
            .add(VibeList(roster))
    }

    fn tools(&self) -> (VibeSpawn, RosterHandle) {
        let roster = Roster::new(self.options.clone());
        let handle = roster.handle();
        let spawn = VibeSpawn {
            handle: handle.clone(),
            _roster: Arc::new(roster),
        };
        (spawn, handle)
    }
}

/// Leaves vibe mode: removes the five tools; their workers are killed when the registry lets go of them, as
/// `Run::update_registry` does at once (D28).
pub fn leave_vibe_mode(registry: &mut Registry) {
    for name in VIBE_TOOLS {
        registry.remove(name, OFF);
    }
}

/// Why the tools are not there.
pub(super) const OFF: &str = "vibe mode is off";

/// The tool `vibe_spawn`. It owns the roster, because no call of it takes long: when it goes, the workers
/// go, also while another call waits for one.
#[derive(Clone, Debug)]
pub struct VibeSpawn {
    handle: RosterHandle,
    _roster: Arc<Roster>,
}

/// The tool `vibe_send`.
#[derive(Clone, Debug)]
pub struct VibeSend(RosterHandle);

/// The tool `vibe_wait`.
#[derive(Clone, Debug)]
pub struct VibeWait(RosterHandle);

/// The tool `vibe_kill`.
#[derive(Clone, Debug)]
pub struct VibeKill(RosterHandle);

/// The tool `vibe_list`.
#[derive(Clone, Debug)]
pub struct VibeList(RosterHandle);

/// The arguments of `vibe_spawn`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VibeSpawnArgs {
    /// Everything that the worker has to know: the task, the files, what to leave alone, how to check, what
    /// to report. It sees nothing of this conversation.
    brief: String,
    /// What the worker does, in a few words: its name in vibe_list.
    label: String,
    /// `fast` for mechanical work with a clear spec; `good` for design, judgement, or review of a fast
    /// worker's output. Default: fast.
    #[serde(default)]
    tier: TierArg,
}

/// The kind of a worker.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TierArg {
    /// Mechanical work with a clear spec.
    #[default]
    Fast,
    /// Design, judgement, or review of a fast worker's output.
    Good,
}

/// The arguments of `vibe_send`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VibeSendArgs {
    /// The worker, such as `worker_1`.
    worker_id: String,
    /// What to add to its instructions.
    message: String,
}

/// The arguments of `vibe_wait`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VibeWaitArgs {
    /// The worker, such as `worker_1`; or a list of several: then the first that settles ends the wait.
    worker_id: OneOrMore,
    /// How many seconds to wait; 0 looks and returns. Default: 60; at most 3600. When the time is over the
    /// answer says that the worker is still running, and the worker goes on.
    timeout_seconds: Option<f64>,
}

/// An id, or a list of ids.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMore {
    /// One worker.
    One(String),
    /// Several workers.
    More(Vec<String>),
}

/// The arguments of `vibe_kill`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VibeKillArgs {
    /// The worker, such as `worker_1`.
    worker_id: String,
}

/// The arguments of `vibe_list`: none.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VibeListArgs {}

impl Tool for VibeSpawn {
    const NAME: &'static str = "vibe_spawn";
    const TIER: Tier = Tier::Read;
    type Args = VibeSpawnArgs;

    fn description(&self) -> String {
        SPAWN.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: VibeSpawnArgs) -> Result<Output, ToolError> {
        call.check_cancelled()?;
        let tier = match args.tier {
            TierArg::Fast => WorkerTier::Fast,
            TierArg::Good => WorkerTier::Good,
        };
        report(self.handle.spawn(tier, &args.label, &args.brief))
    }
}

impl Tool for VibeSend {
    const NAME: &'static str = "vibe_send";
    const TIER: Tier = Tier::Read;
    type Args = VibeSendArgs;

    fn description(&self) -> String {
        SEND.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: VibeSendArgs) -> Result<Output, ToolError> {
        call.check_cancelled()?;
        report(self.0.send(&args.worker_id, &args.message))
    }
}

impl Tool for VibeWait {
    const NAME: &'static str = "vibe_wait";
    const TIER: Tier = Tier::Read;
    type Args = VibeWaitArgs;

    fn description(&self) -> String {
        WAIT.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: VibeWaitArgs) -> Result<Output, ToolError> {
        let ids = match args.worker_id {
            OneOrMore::One(id) => vec![id],
            OneOrMore::More(ids) if ids.is_empty() => {
                return Err(ToolError::invalid_args("worker_id is an empty list")
                    .with_hint("name the workers to wait for; vibe_list has their ids"));
            }
            OneOrMore::More(ids) => ids,
        };
        let timeout = timeout(args.timeout_seconds)?;
        report(self.0.wait(&ids, timeout, call.cancel()))
    }
}

impl Tool for VibeKill {
    const NAME: &'static str = "vibe_kill";
    const TIER: Tier = Tier::Read;
    type Args = VibeKillArgs;

    fn description(&self) -> String {
        KILL.to_owned()
    }

    fn run(&self, _call: &Call<'_>, args: VibeKillArgs) -> Result<Output, ToolError> {
        report(self.0.kill(&args.worker_id))
    }
}

impl Tool for VibeList {
    const NAME: &'static str = "vibe_list";
    const TIER: Tier = Tier::Read;
    type Args = VibeListArgs;

    fn description(&self) -> String {
        LIST.to_owned()
    }

    fn held(&self) -> Vec<Held> {
        let workers = self.0.list().workers.into_iter();
        workers
            .map(|worker| Held {
                what: "worker".to_owned(),
                state: worker.status.to_string(),
                detail: format!("{}, {}", worker.id, worker.label),
            })
            .collect()
    }

    fn run(&self, _call: &Call<'_>, _args: VibeListArgs) -> Result<Output, ToolError> {
        Output::report(&self.0.list())
    }
}

fn timeout(seconds: Option<f64>) -> Result<Duration, ToolError> {
    let Some(seconds) = seconds else {
        return Ok(limits::VIBE_WAIT);
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|timeout| *timeout <= limits::VIBE_MAX_WAIT)
        .ok_or_else(|| {
            let most = limits::VIBE_MAX_WAIT.as_secs();
            ToolError::invalid_args(format!(
                "timeout_seconds is {seconds}; it must be 0 to {most}"
            ))
            .with_hint("wait again when the time is over; the worker goes on meanwhile")
        })
}

fn report(res: Result<VibeReport, VibeError>) -> Result<Output, ToolError> {
    Output::report(&res.map_err(vibe_error)?)
}

/// Gives an error of the engine its kind and its next step.
fn vibe_error(error: VibeError) -> ToolError {
    use ErrorKind::{Failed, InvalidArgs, NotFound, Unavailable};
    let workers = |known: &[String]| match known {
        [] => "there are no workers; spawn one with vibe_spawn".to_owned(),
        known => format!("the workers are: {}", known.join(", ")),
    };
    let (kind, hint) = match &error {
        VibeError::Cancelled => return ToolError::cancelled(),
        VibeError::Blank(_) => (InvalidArgs, "say what the worker has to do".to_owned()),
        VibeError::Nul(_) => (InvalidArgs, "leave the NUL out".to_owned()),
        VibeError::TooLong { .. } => (
            InvalidArgs,
            "write the long part to a file, and name the file".to_owned(),
        ),
        VibeError::NoWorker(tier) => (
            Unavailable,
            format!("set [vibe.{tier}] command in toolbox.toml, or spawn the other tier"),
        ),
        VibeError::Unusable { tier, .. } => (
            Unavailable,
            format!("check [vibe.{tier}] command in toolbox.toml"),
        ),
        VibeError::TooMany => (
            Failed,
            "wait for one with vibe_wait, or end one with vibe_kill".to_owned(),
        ),
        VibeError::Unknown { known, .. } => (NotFound, workers(known)),
        VibeError::Killed { known, .. } => (
            NotFound,
            match known.is_empty() {
                true => workers(known),
                false => format!("the workers that live are: {}", known.join(", ")),
            },
        ),
        VibeError::Closed => (Unavailable, "enter vibe mode again".to_owned()),
        VibeError::System(_) => (Failed, "check the state folder of the host".to_owned()),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

/// The limits that the descriptions name.
const _: () = assert!(
    limits::VIBE_WAIT.as_secs() == 60
        && limits::VIBE_MAX_WAIT.as_secs() == 3600
        && limits::VIBE_WORKERS == 16
);

const SPAWN: &str = "\
Starts a background worker and returns at once with its id; the worker keeps running while you do other \
things.

The worker sees the brief and nothing of this conversation: name the files, the constraints, what done means \
and what to report. Take tier `fast` for mechanical work with a clear spec, `good` for design, judgement, or \
review of a fast worker's output. Split independent work into several workers (16 at most at once), and give \
no two of them the same files to change. vibe_wait gives the result.";

const SEND: &str = "\
Adds a message to the instructions of a worker and lets it work again: a running worker gets it after its \
current turn, any other at once; the answer says which. Use it to correct, to answer a question, or to ask \
for more. A worker that was killed gets no messages.";

const WAIT: &str = "\
Waits until a worker has settled and returns its result. Given several ids, it returns at the first that \
settles, and waiting again for the same ids waits for the next one: each result is delivered once. When \
timeout_seconds (60 by default) is over, the answer says still running, with the last that the worker \
printed; nothing happens to the worker, so just wait again.";

const KILL: &str = "\
Stops a worker with every process that it started. It gets no messages afterwards; vibe_list still shows it. \
Killing it twice is no error.";

const LIST: &str = "\
Lists the workers: id, tier, status (running, idle, done, failed, killed), how long they worked, and the \
beginning of the last result.";
