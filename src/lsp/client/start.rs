//! Starting a server: the process, the threads, `initialize`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::child::{Env, Isolation, Processes, Program, Stderr, Stream};
use crate::limits;
use crate::lsp::client::state::{Phase, ServerState};
use crate::lsp::client::{Event, Server, Shared, Timeouts, capabilities};
use crate::lsp::client::{owner, scratch};
use crate::lsp::convert::Encoding;
use crate::lsp::detect;
use crate::lsp::documents::Documents;
use crate::lsp::error::{LspError, Seconds};
use crate::lsp::servers::ServerRow;
use crate::lsp::uri;
use crate::wire::{Incoming, Outbox, Pending, read_frames};

/// Everything that starting a server needs.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) row: Arc<ServerRow>,
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// Where the program was found.
    pub(crate) origin: String,
    /// What is tried where it does not run, in this order.
    pub(crate) others: Vec<detect::Program>,
    /// The programs that were tried before it, and why each does not run.
    pub(crate) passed_over: Vec<String>,
    /// What marks the root.
    pub(crate) marker: String,
    pub(crate) env: Env,
    pub(crate) init_options: Value,
    pub(crate) settings: Value,
    pub(crate) timeouts: Timeouts,
}

/// A server did not come up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The program could not be started.
    #[error("`{command}` does not start: {why}")]
    NoProcess {
        /// The command.
        command: String,
        /// What the system said.
        why: String,
    },
    /// The server refused to serve, in its own words.
    #[error("it refused to start: {message}")]
    Refused {
        /// The message of its error.
        message: String,
    },
    /// The process ended before it answered.
    #[error("it ended before it answered: {why}")]
    Ended {
        /// How, with the last that it said.
        why: String,
    },
    /// The start was given up.
    #[error("its start was given up")]
    Aborted,
    /// It did not answer in time.
    #[error("it did not answer `initialize` within {after}{said}")]
    TimedOut {
        /// How long it had.
        after: String,
        /// The last that it said, if anything.
        said: String,
    },
}

impl StartError {
    /// Whether another or a whole program could help.
    pub(crate) fn is_about_the_program(&self) -> bool {
        matches!(self, Self::NoProcess { .. } | Self::Ended { .. })
    }
}

impl Launch {
    /// Returns the command line, for messages.
    pub(crate) fn command(&self) -> String {
        let mut words = vec![self.program.display().to_string()];
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }

    /// Returns the environment of the process.
    pub(crate) fn environment(&self) -> Env {
        let mut env = self.env.clone();
        for (name, value) in &self.row.env {
            env.set(name, value);
        }
        env
    }

    /// Says why this program and this root.
    pub(crate) fn why(&self) -> String {
        let mut why = format!("{}; root marker {}", self.origin, self.marker);
        for passed in &self.passed_over {
            why.push_str(&format!("; passed over: {passed}"));
        }
        if let Some(guess) = detect::guesses_flags(&self.row, &self.root, &self.root) {
            why.push_str(&format!("; {guess}"));
        }
        why
    }

    /// Passes this program over for a reason that names it; returns the launch of the next one, if there is
    /// one, and all reasons otherwise.
    pub(crate) fn pass_over(mut self, reason: String) -> Result<Self, String> {
        self.passed_over.push(reason);
        if self.others.is_empty() {
            return Err(self.passed_over.join("; "));
        }
        let next = self.others.remove(0);
        self.program = next.path;
        self.args = next.args;
        self.origin = next.origin;
        Ok(self)
    }

    /// Returns the programs that may be started, for whoever wants to know whether they are still the same.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Path> {
        let others = self.others.iter().map(|other| other.path.as_path());
        std::iter::once(self.program.as_path()).chain(others)
    }
}

impl Server {
    /// Starts a server and waits until it has answered `initialize`.
    ///
    /// It blocks for as long as the row may take; the supervisor calls it on a thread of its own.
    pub(crate) fn start(
        launch: Launch,
        processes: &Processes,
        cancel: &Cancel,
    ) -> Result<Arc<Self>, StartError> {
        let command = launch.command();
        let no_process = |err: std::io::Error| StartError::NoProcess {
            command: command.clone(),
            why: err.to_string(),
        };
        let mut env = launch.environment();
        let scratch = match launch.row.leaves_files {
            true => scratch::own(&mut env),
            false => None,
        };
        let program = Program::new(&launch.program, &launch.root, env)
            .args(&launch.args)
            .isolation(Isolation::Session)
            .stdin(Stream::Piped)
            .stdout(Stream::Piped)
            .stderr(Stderr::Tail(limits::LSP_STDERR_BYTES));
        let mut child = processes.spawn(&program).map_err(no_process)?;
        let streams = child.take_stdin().zip(child.take_stdout());
        let (stdin, stdout) = streams.expect("both streams were asked for above");
        let label = format!("lsp-{}", child.pid());
        let outbox = Outbox::start(&format!("{label}-out"), stdin).map_err(no_process)?;
        // Unbounded, because the reader must never be held up: a server that waits for its output to be
        // read does not read its input.
        let (events, inbox) = crossbeam_channel::unbounded();
        let sink = events.clone();
        read_frames(
            &format!("{label}-in"),
            stdout,
            limits::LSP_MESSAGE_BYTES,
            move |incoming: Option<Incoming>| {
                let _ = sink.send(incoming.map_or(Event::End, Event::Incoming));
            },
        )
        .map_err(no_process)?;
        let mut state = ServerState::new(launch.root.clone());
        // It would answer from the one file that it was given; one that says how it is corrects this.
        state.health = detect::lacks_tool(&launch.row, &launch.environment());
        state.is_broken = state.health.is_some();
        let shared = Arc::new(Shared {
            name: launch.row.id.clone(),
            child,
            outbox: Mutex::new(Some(outbox)),
            pending: Pending::new(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            documents: Mutex::new(Documents::default()),
            used: Mutex::new(Instant::now()),
            started: Instant::now(),
            launch,
            scratch: Mutex::new(scratch),
        });
        let owner = owner::start(&format!("{label}-own"), Arc::clone(&shared), inbox);
        let server = Arc::new(Self {
            shared,
            events,
            owner: Mutex::new(Some(owner.map_err(no_process)?)),
        });
        server.initialize(cancel)?;
        Ok(server)
    }

    fn initialize(&self, cancel: &Cancel) -> Result<(), StartError> {
        let shared = &self.shared;
        let launch = &shared.launch;
        let deadline = Instant::now() + launch.timeouts.start;
        let params = params(launch);
        let res = shared.request("initialize", params, deadline, cancel);
        let answer = res.map_err(|err| match err {
            LspError::Refused { message, .. } => StartError::Refused { message },
            LspError::TimedOut { .. } => StartError::TimedOut {
                after: Seconds(launch.timeouts.start).to_string(),
                said: owner::last_words(&shared.child.stderr_tail())
                    .map(|words| format!("; its last words: {words}"))
                    .unwrap_or_default(),
            },
            LspError::Gone { why, .. } => {
                // A write may fail before the end of the output is seen; the end says more.
                let state = Shared::wait(
                    shared,
                    Instant::now() + launch.timeouts.shutdown,
                    &Cancel::new(),
                    |state| state.gone().map(str::to_owned),
                );
                StartError::Ended {
                    why: state.unwrap_or(why),
                }
            }
            LspError::Cancelled | LspError::Unreadable { .. } => StartError::Aborted,
        })?;
        shared.update(|state| {
            let capabilities = &answer["capabilities"];
            // Some servers answer the older name of the encoding, beside the capabilities or in them.
            let encoding = [
                &capabilities["positionEncoding"],
                &answer["offsetEncoding"],
                &capabilities["offsetEncoding"],
            ];
            let named = encoding.iter().find_map(|name| name.as_str());
            let named = named.map(Encoding::named);
            state.encoding = launch.row.counts_in.or(named).unwrap_or_default();
            let named = version(&answer["serverInfo"]["version"]);
            state.version = named.or(state.version.take());
            state.capabilities = capabilities.clone();
            if state.phase == Phase::Starting {
                state.phase = Phase::Ready;
            }
        });
        let tell = |method: &str, params: Value| {
            shared
                .notify(method, params)
                .map_err(|err| StartError::Ended {
                    why: err.to_string(),
                })
        };
        tell("initialized", json!({}))?;
        if launch
            .settings
            .as_object()
            .is_some_and(|settings| !settings.is_empty())
        {
            tell(
                "workspace/didChangeConfiguration",
                json!({"settings": launch.settings}),
            )?;
        }
        Ok(())
    }
}

fn params(launch: &Launch) -> Value {
    let root = uri::from_path(&launch.root);
    let mut params = json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "toolbox", "version": env!("CARGO_PKG_VERSION")},
        "locale": "en",
        "rootUri": root,
        "rootPath": launch.root.to_string_lossy(),
        "workspaceFolders": [folder(&launch.root)],
        "capabilities": capabilities::client(launch.row.pull),
        "trace": "off",
    });
    let mut init_options = launch.init_options.clone();
    let is_open = init_options.is_null() || init_options.is_object();
    if is_open
        && init_options["fallbackFlags"].is_null()
        && let Some(flags) = detect::fallback_flags(&launch.row, &launch.root)
    {
        init_options["fallbackFlags"] = json!(flags);
    }
    if !init_options.is_null() {
        params["initializationOptions"] = init_options;
    }
    params
}

/// Returns a folder as the protocol names it.
pub(super) fn folder(root: &Path) -> Value {
    let name = root.file_name().unwrap_or(root.as_os_str());
    json!({"uri": uri::from_path(root), "name": name.to_string_lossy()})
}

/// What a server calls its version; gopls puts the whole record of its build there.
fn version(said: &Value) -> Option<String> {
    let said = said.as_str()?;
    let short = match serde_json::from_str::<Value>(said) {
        Ok(Value::Object(build)) => ["Version", "GoVersion"]
            .into_iter()
            .find_map(|key| build.get(key)?.as_str().filter(|word| !word.is_empty()))?
            .to_owned(),
        _ => said.lines().next()?.to_owned(),
    };
    Some(short)
}
