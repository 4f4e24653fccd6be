//! The configuration with types, one struct a section: plain values for whoever wires a port from them.

#![allow(
    dead_code,
    reason = "a section is read by the tool that it is about, and not every build has all tools"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolbox::run::Decision;
use toolbox::tool::Tier;

/// All sections; what is not set is `None` or empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Sections {
    pub(crate) trusted: Vec<PathBuf>,
    pub(crate) enclosure: Option<Vec<String>>,
    pub(crate) approval: Approval,
    pub(crate) ask: Ask,
    pub(crate) read: Read,
    pub(crate) glob: Glob,
    pub(crate) grep: Grep,
    pub(crate) bash: Bash,
    pub(crate) lsp: Lsp,
    pub(crate) debug: Debug,
    pub(crate) eval: Eval,
    pub(crate) vibe: Vibe,
    pub(crate) web: Web,
    pub(crate) session: Session,
    pub(crate) artifacts: Artifacts,
}

/// `[approval]`; its rules are kept beside the sections, compiled.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Approval {
    pub(crate) auto: Option<Tier>,
    pub(crate) tools: BTreeMap<String, Decision>,
}

/// `[ask]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ask {
    #[serde(rename = "timeout_s", deserialize_with = "seconds")]
    pub(crate) timeout: Option<Duration>,
}

/// `[read]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) lines: Option<usize>,
    pub(crate) line_length: Option<usize>,
}

/// `[glob]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Glob {
    pub(crate) files: Option<usize>,
}

/// `[grep]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Grep {
    pub(crate) results: Option<usize>,
}

/// `[bash]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Bash {
    pub(crate) shell: Option<String>,
    #[serde(rename = "timeout_s", deserialize_with = "seconds")]
    pub(crate) timeout: Option<Duration>,
    #[serde(rename = "max_timeout_s", deserialize_with = "seconds")]
    pub(crate) max_timeout: Option<Duration>,
    pub(crate) env: BTreeMap<String, String>,
}

/// `[lsp]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Lsp {
    pub(crate) disabled: Vec<String>,
    #[serde(rename = "idle_s", deserialize_with = "seconds")]
    pub(crate) idle: Option<Duration>,
    pub(crate) max_servers: Option<usize>,
    pub(crate) server: BTreeMap<String, Server>,
    pub(crate) checkers: Checkers,
    pub(crate) write: Write,
}

/// `[lsp.write]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Write {
    #[serde(rename = "baseline_s", deserialize_with = "seconds")]
    pub(crate) baseline: Option<Duration>,
    #[serde(rename = "settle_s", deserialize_with = "seconds")]
    pub(crate) settle: Option<Duration>,
    #[serde(rename = "compiler_s", deserialize_with = "seconds")]
    pub(crate) compiler: Option<Duration>,
    #[serde(rename = "late_s", deserialize_with = "seconds")]
    pub(crate) late: Option<Duration>,
}

/// `[lsp.server.NAME]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) command: Option<String>,
    pub(crate) args: Option<Vec<String>>,
    /// Extensions of files, without a dot.
    pub(crate) languages: Option<Vec<String>>,
    pub(crate) root_markers: Option<Vec<String>>,
    pub(crate) restart_on: Option<Vec<String>>,
    pub(crate) init_options: Option<Value>,
    pub(crate) settings: Option<Value>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) disabled: Option<bool>,
}

/// `[lsp.checkers]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Checkers {
    pub(crate) disabled: Vec<String>,
    pub(crate) enabled: Option<bool>,
    #[serde(rename = "time_s", deserialize_with = "seconds")]
    pub(crate) time: Option<Duration>,
}

/// `[debug]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Debug {
    #[serde(rename = "stop_wait_s", deserialize_with = "seconds")]
    pub(crate) stop_wait: Option<Duration>,
    pub(crate) adapter: BTreeMap<String, Adapter>,
}

/// `[debug.adapter.NAME]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Adapter {
    pub(crate) command: Option<String>,
    pub(crate) args: Option<Vec<String>>,
    pub(crate) root_markers: Option<Vec<String>>,
    pub(crate) extensions: Option<Vec<String>>,
    pub(crate) attach: Option<Map<String, Value>>,
    pub(crate) launch: Option<Map<String, Value>>,
    pub(crate) transport: Option<String>,
}

/// `[eval]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Eval {
    #[serde(rename = "budget_s", deserialize_with = "seconds")]
    pub(crate) budget: Option<Duration>,
    pub(crate) python: Option<String>,
    pub(crate) node: Option<String>,
}

/// `[vibe.fast]` and `[vibe.good]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Vibe {
    pub(crate) fast: Worker,
    pub(crate) good: Worker,
}

/// One kind of worker.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Worker {
    /// A program and its arguments.
    pub(crate) command: Option<Vec<String>>,
    pub(crate) brief: Option<Brief>,
    pub(crate) message: Option<Brief>,
    pub(crate) resume: Option<Vec<String>>,
    pub(crate) result: Option<String>,
}

/// How a worker gets a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Brief {
    Argument,
    Stdin,
    File,
}

/// `[web]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Web {
    pub(crate) allow_private: Vec<String>,
    pub(crate) search: Search,
}

/// `[web.search]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Search {
    pub(crate) searxng: Option<String>,
}

/// `[session]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Session {
    #[serde(rename = "idle_s", deserialize_with = "seconds")]
    pub(crate) idle: Option<Duration>,
}

/// `[artifacts]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Artifacts {
    pub(crate) dir: Option<PathBuf>,
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds)
        .map(Some)
        .map_err(serde::de::Error::custom)
}
