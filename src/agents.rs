//! Agent configurations with versions, in one folder on disk.
//!
//! Every version of an agent is a file of its own and never changes; the highest is the current one.
//! Writers take the lock of the folder, so two processes, or two threads, that replace the same version
//! get one new version and one conflict (R164 to R166). A version becomes visible by one rename, so a crash
//! leaves the old state or the new one. A session is a file that names the version it began with (R167).
//! What `tools` may hold is decided by whoever opens the store: this module only keeps it.

mod body;
mod record;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

pub use crate::agents::body::parse_body;
pub use crate::agents::record::{Agent, AgentFields, AgentSession};

use crate::agents::record::{is_id, new_id};
use crate::files::{DirLock, LockError, make_private_dir, sync_folder, write_atomically};

/// How long a writer waits for the one before it; each takes milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(20);

const LOCK: &str = "agents.lock";

/// The agents of one folder; clones share it.
#[derive(Clone)]
pub struct AgentStore {
    folder: PathBuf,
    check: Arc<Check>,
}

/// Says what is wrong with a field `tools`, if anything.
type Check = dyn Fn(Option<&Value>) -> Result<(), String> + Send + Sync;

/// Why the store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The body or one of its fields has no meaning.
    #[error("{0}")]
    Invalid(String),
    /// No agent has this id.
    #[error("no agent '{0}'")]
    UnknownAgent(String),
    /// The agent has no such version.
    #[error("agent '{agent}' has no version {version}")]
    UnknownVersion {
        /// The agent.
        agent: String,
        /// The version asked for.
        version: u64,
    },
    /// No session has this id.
    #[error("no session '{0}'")]
    UnknownSession(String),
    /// Another version is current than the one to be replaced (R166); the message is a promise.
    #[error("Version conflict. Expected version {current}, got {sent}.")]
    Conflict {
        /// The version that is current.
        current: u64,
        /// The version that was to be replaced.
        sent: u64,
    },
    /// The folder could not be locked.
    #[error("cannot lock the agents")]
    Lock(#[from] LockError),
    /// A file could not be read or written.
    #[error("cannot {action} '{}'", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file does not hold what this module wrote.
    #[error("'{}' is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl AgentStore {
    /// Opens the store in `folder`, which is made when something is first written. `check` says what is
    /// wrong with a field `tools`.
    pub fn open(
        folder: impl Into<PathBuf>,
        check: impl Fn(Option<&Value>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            folder: folder.into(),
            check: Arc::new(check),
        }
    }

    /// Makes an agent; its version is 1.
    pub fn create(&self, fields: AgentFields) -> Result<Agent, AgentError> {
        self.check(&fields)?;
        let _lock = self.lock()?;
        let now = SystemTime::now();
        let agent = Agent::new(new_id("agent_"), fields, 1, now, now);
        self.write_version(&agent)?;
        Ok(agent)
    }

    /// Replaces every field of an agent; `version` must be the current one (R163 to R165).
    pub fn replace(
        &self,
        id: &str,
        version: u64,
        fields: AgentFields,
    ) -> Result<Agent, AgentError> {
        // Whether the agent is there is said first: nobody can correct the body of an agent that is not.
        let _lock = match self.exists(id) {
            true => self.lock()?,
            false => return Err(AgentError::UnknownAgent(id.to_owned())),
        };
        self.check(&fields)?;
        let current = self.get(id)?;
        if current.version != version {
            return Err(AgentError::Conflict {
                current: current.version,
                sent: version,
            });
        }
        let created = current.created();
        let next = Agent::new(
            current.id,
            fields,
            current.version + 1,
            created,
            SystemTime::now(),
        );
        self.write_version(&next)?;
        Ok(next)
    }

    /// Returns the current version of an agent.
    pub fn get(&self, id: &str) -> Result<Agent, AgentError> {
        let version = self.versions(id)?.pop();
        match version {
            Some(version) => self.read_version(id, version),
            None => Err(AgentError::UnknownAgent(id.to_owned())),
        }
    }

    /// Returns one version of an agent.
    pub fn version(&self, id: &str, version: u64) -> Result<Agent, AgentError> {
        if !self.versions(id)?.contains(&version) {
            let agent = id.to_owned();
            return Err(AgentError::UnknownVersion { agent, version });
        }
        self.read_version(id, version)
    }

    /// Returns the versions of an agent, oldest first.
    pub fn versions(&self, id: &str) -> Result<Vec<u64>, AgentError> {
        if !self.exists(id) {
            return Err(AgentError::UnknownAgent(id.to_owned()));
        }
        let folder = self.agent_folder(id);
        let mut versions: Vec<u64> = names(&folder)?
            .iter()
            .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
            .collect();
        versions.sort_unstable();
        Ok(versions)
    }

    /// Returns the current version of every agent, the oldest agent first.
    pub fn list(&self) -> Result<Vec<Agent>, AgentError> {
        let folder = self.folder.join("agents");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut agents = Vec::new();
        for id in names(&folder)?.into_iter().filter(|name| is_id(name)) {
            match self.get(&id) {
                Ok(agent) => agents.push(agent),
                // A crash between making the folder and its first version left it empty.
                Err(AgentError::UnknownAgent(_)) => {}
                Err(err) => return Err(err),
            }
        }
        agents.sort_by(|a, b| (&a.created_at, &a.id).cmp(&(&b.created_at, &b.id)));
        Ok(agents)
    }

    /// Opens a session of an agent, pinned to the current version (R167).
    pub fn open_session(&self, agent_id: &str) -> Result<AgentSession, AgentError> {
        let agent = self.get(agent_id)?;
        let session = AgentSession::new(new_id("session_"), &agent, SystemTime::now());
        let folder = self.folder.join("sessions");
        self.make(&folder)?;
        let path = folder.join(format!("{}.json", session.id));
        write_json(&path, &session)?;
        Ok(session)
    }

    /// Returns a session of an agent.
    pub fn session(&self, agent_id: &str, id: &str) -> Result<AgentSession, AgentError> {
        let unknown = || AgentError::UnknownSession(id.to_owned());
        if !is_id(id) {
            return Err(unknown());
        }
        let path = self.folder.join("sessions").join(format!("{id}.json"));
        let session: AgentSession = read_json(&path)?.ok_or_else(unknown)?;
        match session.agent_id == agent_id {
            true => Ok(session),
            false => Err(unknown()),
        }
    }

    fn check(&self, fields: &AgentFields) -> Result<(), AgentError> {
        (self.check)(fields.tools.as_ref()).map_err(AgentError::Invalid)
    }

    fn lock(&self) -> Result<DirLock, AgentError> {
        self.make(&self.folder)?;
        Ok(DirLock::acquire(&self.folder, LOCK, LOCK_WAIT)?)
    }

    fn agent_folder(&self, id: &str) -> PathBuf {
        self.folder.join("agents").join(id)
    }

    /// An id becomes part of a path, so only what this module could have made is looked for.
    fn exists(&self, id: &str) -> bool {
        is_id(id) && self.agent_folder(id).is_dir()
    }

    fn make(&self, folder: &Path) -> Result<(), AgentError> {
        make_private_dir(folder).map_err(failed("make the folder", folder))
    }

    fn write_version(&self, agent: &Agent) -> Result<(), AgentError> {
        let folder = self.agent_folder(&agent.id);
        self.make(&folder)?;
        write_json(&folder.join(file_name(agent.version)), agent)?;
        let agents = self.folder.join("agents");
        sync_folder(&agents).map_err(failed("sync the folder", &agents))
    }

    fn read_version(&self, id: &str, version: u64) -> Result<Agent, AgentError> {
        let path = self.agent_folder(id).join(file_name(version));
        let agent: Option<Agent> = read_json(&path)?;
        match agent {
            Some(agent) if agent.id == id && agent.version == version => Ok(agent),
            _ => Err(AgentError::Damaged {
                path,
                reason: format!("it is not version {version} of '{id}'"),
            }),
        }
    }
}

impl std::fmt::Debug for AgentStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentStore")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn file_name(version: u64) -> String {
    format!("{version:08}.json")
}

fn names(folder: &Path) -> Result<Vec<String>, AgentError> {
    let failed = failed("list the folder", folder);
    let entries = fs::read_dir(folder).map_err(&failed)?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(&failed)?.file_name();
        names.extend(name.to_str().map(str::to_owned));
    }
    Ok(names)
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), AgentError> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .map_err(|err| failed("write", path)(io::Error::other(err)))?;
    bytes.push(b'\n');
    write_atomically(path, &bytes).map_err(failed("write", path))
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, AgentError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(failed("read", path)(err)),
    };
    let damaged = |err: serde_json::Error| AgentError::Damaged {
        path: path.to_owned(),
        reason: err.to_string(),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> AgentError {
    let path = path.to_owned();
    move |source| AgentError::Io {
        action,
        path: path.clone(),
        source,
    }
}
