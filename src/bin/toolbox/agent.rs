//! `toolbox agent`: versioned agent configurations, from the command line and over HTTP.

mod http;

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use toolbox::agents::{Agent as Configuration, AgentError, AgentFields, AgentStore, parse_body};
use toolbox::tool::{ErrorKind, ToolError};
use toolbox::toolset::Toolset;

use crate::args::Global;
use crate::host;
use crate::output::{Console, Ending, Step};

/// The longest body that a file or standard input may hold; the HTTP API has the same.
pub(crate) const BODY_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, Args)]
pub(crate) struct Agent {
    /// The folder that keeps the agents [default: the state folder of the user]
    #[arg(long, value_name = "DIR", global = true)]
    store: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Make an agent
    Create(Fields),
    /// Show an agent, its current version or another
    Get {
        /// The id of the agent
        id: String,
        /// Show this version
        #[arg(long, value_name = "N")]
        agent_version: Option<u64>,
    },
    /// Replace every field of an agent: what is not given is removed
    Replace {
        /// The id of the agent
        id: String,
        /// The version to be replaced; it must be the current one
        #[arg(long, value_name = "N")]
        agent_version: Option<u64>,
        #[command(flatten)]
        fields: Fields,
    },
    /// List the agents
    List,
    /// Serve the agents over HTTP until SIGINT or SIGTERM
    #[command(after_long_help = SERVE)]
    Serve(Serve),
}

/// The fields of an agent: by flags, or as one JSON object.
#[derive(Clone, Debug, Args)]
struct Fields {
    /// What the agent is called
    #[arg(long)]
    name: Option<String>,
    /// The model that it runs on
    #[arg(long)]
    model: Option<String>,
    /// Its system prompt
    #[arg(long)]
    instructions: Option<String>,
    /// The field `tools` as JSON, such as '[{"type":"agent_toolset_20260401"}]'
    #[arg(long, value_name = "JSON")]
    tools: Option<String>,
    /// Take all fields from a JSON file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "model", "instructions", "tools"])]
    file: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Serve {
    /// Where to listen; port 0 takes a free one and prints it
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8765")]
    addr: SocketAddr,
    /// Read the Bearer token from the first line of this file [default: the variable TOOLBOX_AGENT_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Listen on an address that is not loopback; the connection is not encrypted
    #[arg(long)]
    allow_remote: bool,
}

const SERVE: &str = "\
The API, each request with `Authorization: Bearer TOKEN`:
  POST /api/v1/cloud/agents                            make an agent
  GET  /api/v1/cloud/agents                            list them
  GET  /api/v1/cloud/agents/{id}                       one agent; ?version=N for an older version
  PUT  /api/v1/cloud/agents/{id}                       replace it: `version` must be the current one
  POST /api/v1/cloud/agents/{id}/sessions              open a session pinned to the current version
  GET  /api/v1/cloud/agents/{id}/sessions/{sid}        that session
  GET  /api/v1/cloud/agents/{id}/sessions/{sid}/tools  the tools that it exposes, with their schemas

The token never stands on the command line, where every user of the machine could read it.";

/// Runs one of the actions.
pub(crate) fn agent(console: &Console, global: &Global, args: Agent) -> Step {
    let store = open(console, args.store.as_deref())?;
    let answer = |agent: Result<Configuration, AgentError>| {
        let agent = agent.map_err(|err| fail(console, &err))?;
        warn(console, &agent);
        print(console, &agent)
    };
    match args.action {
        Action::Create(fields) => {
            let body = fields.body(console)?;
            answer(AgentFields::from_body(&body).and_then(|fields| store.create(fields)))
        }
        Action::Get { id, agent_version } => answer(match agent_version {
            Some(version) => store.version(&id, version),
            None => store.get(&id),
        }),
        Action::Replace {
            id,
            agent_version,
            fields,
        } => {
            let mut body = fields.body(console)?;
            if let (Some(version), Some(map)) = (agent_version, body.as_object_mut()) {
                map.insert("version".to_owned(), json!(version));
            }
            answer(
                AgentFields::from_replacement(&body)
                    .and_then(|(version, fields)| store.replace(&id, version, fields)),
            )
        }
        Action::List => list(console, &store),
        Action::Serve(serve) => http::serve(console, global, store, &serve),
    }
}

/// Opens the store of the user, or the one that was named.
fn open(console: &Console, folder: Option<&Path>) -> Step<AgentStore> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => host::state_base()
            .ok_or_else(|| {
                console.misuse("no state folder: set HOME or XDG_STATE_HOME to an absolute path")
            })?
            .join("agents"),
    };
    Ok(AgentStore::open(folder, |tools| {
        Toolset::parse(tools)
            .map(drop)
            .map_err(|err| err.to_string())
    }))
}

/// What `--agent FILE|ID` exposes: a file with the fields of an agent, or an agent of the store.
pub(crate) fn toolset(console: &Console, spec: &str) -> Step<Toolset> {
    let path = Path::new(spec);
    let tools = if path.is_file() {
        let body = read_json(console, path)?;
        if !body.is_object() {
            return Err(console.misuse(&format!("'{spec}' holds no JSON object")));
        }
        body.get("tools").cloned()
    } else {
        let agent = open(console, None)?.get(spec).map_err(|err| match err {
            AgentError::UnknownAgent(_) => console.misuse_with_hint(
                &format!("--agent names neither a file nor an agent: '{spec}'"),
                "`toolbox agent list` shows the agents",
            ),
            err => fail(console, &err),
        })?;
        agent.tools
    };
    let toolset = Toolset::parse(tools.as_ref()).map_err(|err| {
        console.fail(&ToolError::new(
            ErrorKind::InvalidArgs,
            format!("{spec}: {err}"),
        ))
    })?;
    if let Some(warning) = toolset.warning() {
        console.note(warning);
    }
    Ok(toolset)
}

impl Fields {
    /// The body that a request over HTTP would have.
    fn body(&self, console: &Console) -> Step<Value> {
        if let Some(file) = &self.file {
            return read_json(console, file);
        }
        let mut map = Map::new();
        let texts = [
            ("name", &self.name),
            ("model", &self.model),
            ("instructions", &self.instructions),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                map.insert(key.to_owned(), json!(text));
            }
        }
        if let Some(tools) = &self.tools {
            let tools = parse_body(tools.as_bytes())
                .map_err(|err| console.misuse(&format!("--tools: {err}")))?;
            map.insert("tools".to_owned(), tools);
        }
        Ok(Value::Object(map))
    }
}

fn read_json(console: &Console, path: &Path) -> Step<Value> {
    let mut bytes = Vec::new();
    let limit = BODY_BYTES as u64 + 1;
    let read = match path == Path::new("-") {
        true => std::io::stdin().take(limit).read_to_end(&mut bytes),
        false => {
            std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        }
    };
    read.map_err(|err| console.misuse(&format!("cannot read '{}': {err}", path.display())))?;
    if bytes.len() > BODY_BYTES {
        return Err(console.misuse(&format!(
            "'{}' is over the limit of {BODY_BYTES} bytes",
            path.display()
        )));
    }
    parse_body(&bytes).map_err(|err| console.misuse(&format!("'{}': {err}", path.display())))
}

fn warn(console: &Console, agent: &Configuration) {
    let toolset = Toolset::parse(agent.tools.as_ref());
    if let Some(warning) = toolset.ok().and_then(|toolset| toolset.warning()) {
        console.note(warning);
    }
}

fn print(console: &Console, agent: &Configuration) -> Step {
    console.print_json(&json!(agent))
}

fn list(console: &Console, store: &AgentStore) -> Step {
    let agents = store.list().map_err(|err| fail(console, &err))?;
    if console.json {
        return console.print_json(&json!({ "agents": agents }));
    }
    if agents.is_empty() {
        console.note("no agent yet: `toolbox agent create --name NAME` makes one");
        return Err(Ending::Nothing);
    }
    let rows: String = agents
        .iter()
        .map(|agent| {
            format!(
                "{}  version {}  {}  {}\n",
                agent.id,
                agent.version,
                agent.name.as_deref().unwrap_or("(no name)"),
                exposed(agent)
            )
        })
        .collect();
    console.show(&rows)
}

/// What an agent sees, in a few words.
fn exposed(agent: &Configuration) -> String {
    match Toolset::parse(agent.tools.as_ref()) {
        Ok(Toolset::Nothing) => "no tools".to_owned(),
        Ok(Toolset::Everything) => "all tools".to_owned(),
        Ok(Toolset::Only(names)) => names.join(", "),
        Err(err) => format!("tools are refused: {err}"),
    }
}

fn fail(console: &Console, err: &AgentError) -> Ending {
    let kind = match err {
        AgentError::Invalid(_) => ErrorKind::InvalidArgs,
        AgentError::UnknownAgent(_)
        | AgentError::UnknownVersion { .. }
        | AgentError::UnknownSession(_) => ErrorKind::NotFound,
        AgentError::Conflict { .. } => ErrorKind::Stale,
        _ => ErrorKind::Failed,
    };
    let mut message = err.to_string();
    let mut source = std::error::Error::source(err);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    let error = ToolError::new(kind, message);
    console.fail(&match err {
        AgentError::UnknownAgent(_) => error.with_hint("`toolbox agent list` shows the agents"),
        AgentError::Conflict { .. } => {
            error.with_hint("get the agent again, and replace the version that it has now")
        }
        _ => error,
    })
}
