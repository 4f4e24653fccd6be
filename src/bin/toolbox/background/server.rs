//! The process of a background session: one run, a socket, many clients.
//!
//! A client is a command of the same user; what it disconnects from is cancelled. The session ends by
//! itself when nobody has been there for half an hour, by `toolbox session stop`, or by a signal, and ends
//! every process of its run. It holds nothing of the command that started it but its environment.

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use serde_json::{Value, json};
use toolbox::child::Processes;
use toolbox::limits;
use toolbox::run::{CallOptions, CallState};
use toolbox::text::clip;
use toolbox::text::terminal::printable;
use toolbox::tool::Held;

use crate::args::Global;
use crate::background::build::Build;
use crate::background::place::Place;
use crate::host::Host;
use crate::output::{Console, Ending, Step};
use crate::session::connection::{Connection, Control, Role, Session};
use crate::session::outbox::Outbox;
use crate::session::questions::Questions;
use crate::session::{self, End, RunOptions, seconds};
use crate::vibe;

/// The hidden command that a background session is.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// The name under which the starting command waits for the session to be ready
    #[arg(long, value_name = "NAME")]
    ready: String,
    /// End after this long without a client
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    idle: Option<Duration>,
}

/// Clients at once; one more is turned away.
const CLIENTS: usize = 256;

struct Server {
    session: Arc<Session>,
    workspace: String,
    build: Build,
    since: SystemTime,
    idle: Duration,
    /// The processes that its tools started.
    processes: Processes,
    /// What configuration it has.
    config: String,
    ends: Sender<End>,
    clients: Mutex<Clients>,
    dismissed: Condvar,
}

struct Clients {
    /// The session is about to end: nobody is let in.
    closing: bool,
    last: u64,
    streams: BTreeMap<u64, UnixStream>,
    /// When the last client left.
    left: Instant,
}

/// Runs the background session of a checkout.
pub(crate) fn serve(console: &Console, global: &Global, args: ServeArgs) -> Step {
    let host = Host::open(console, global)?.for_background();
    let folder = host.meeting_folder(console)?;
    let place = Place::open(&folder).map_err(|_| Ending::Failed)?;
    let outcome = start(console, &place, host, args.idle);
    let word = match &outcome {
        Ok(_) => "ready".to_owned(),
        Err(reason) => reason.clone(),
    };
    // Whoever waits for the word may have gone.
    if let Ok(mut waiting) = place.connect_to(&args.ready) {
        let _ = waiting.write_all(word.as_bytes());
    }
    let started = outcome.map_err(|_| Ending::Failed)?;
    started.run(&place)
}

/// A session that serves.
struct Started {
    server: Arc<Server>,
    end: crossbeam_channel::Receiver<End>,
    lock: crate::background::place::Lock,
}

fn start(
    console: &Console,
    place: &Place,
    host: Host,
    idle: Option<Duration>,
) -> Result<Started, String> {
    let (ends, end) = bounded(1);
    session::end_on_signals(ends.clone()).map_err(|err| format!("no signals: {err}"))?;
    let (lock, listener) = place
        .serve(limits::BACKGROUND_START)
        .map_err(|err| format!("cannot listen in '{}': {err}", place.path().display()))?
        .ok_or("another background session serves this checkout")?;
    host.recover(console);
    let options = RunOptions {
        vibe: vibe::is_configured(host.config()),
        ..RunOptions::default()
    };
    let config = host.config().digest();
    let idle = idle.or(host.config().sections.session.idle);
    let processes = host.processes.clone();
    let server = Arc::new(Server {
        workspace: host.workspace.root().display().to_string(),
        session: session::start(console, host, &options)
            .map_err(|_| "the run could not be put together")?,
        build: Build::own(),
        since: SystemTime::now(),
        idle: idle.unwrap_or(limits::BACKGROUND_IDLE),
        processes,
        config,
        ends,
        clients: Mutex::new(Clients {
            closing: false,
            last: 0,
            streams: BTreeMap::new(),
            left: Instant::now(),
        }),
        dismissed: Condvar::new(),
    });
    let accepting = Arc::clone(&server);
    // Nobody joins it: it ends with the process.
    std::thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || accepting.accept(&listener))
        .map_err(|err| format!("no thread: {err}"))?;
    Ok(Started { server, end, lock })
}

impl Started {
    fn run(self, place: &Place) -> Step {
        let server = self.server;
        let ended = loop {
            match self.end.recv_timeout(server.patience()) {
                Ok(end) => break Some(end),
                // Whoever spawned a worker comes back for its result.
                Err(RecvTimeoutError::Timeout) if server.has_workers() => server.touch(),
                Err(RecvTimeoutError::Timeout) if server.close_if_idle() => break None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        // A command that looks now finds no socket, and starts the next session, which waits for the lock.
        let _ = place.unserve(&self.lock);
        server.close();
        server.session.end();
        server.see_off(limits::SESSION_FLUSH);
        match ended {
            Some(End::Signal(signal)) => {
                session::end_by(signal);
                Ok(())
            }
            Some(End::Input | End::Output) | None => Ok(()),
        }
    }
}

impl Server {
    fn accept(self: &Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            if !is_own(&stream) {
                continue;
            }
            let Some(number) = self.admit(&stream) else {
                continue;
            };
            let server = Arc::clone(self);
            let spawned = std::thread::Builder::new()
                .name(format!("client-{number}"))
                .spawn(move || {
                    let _ = server.attend(stream);
                    server.dismiss(number);
                });
            if spawned.is_err() {
                self.dismiss(number);
            }
        }
    }

    fn attend(self: &Arc<Self>, stream: UnixStream) -> std::io::Result<()> {
        let input = BufReader::new(stream.try_clone()?);
        let hangs = stream.try_clone()?;
        let (out, writer) = Outbox::start("client", stream, move || {
            // The reading side sees the end then.
            let _ = hangs.shutdown(Shutdown::Both);
        })?;
        out.tell(&json!({ "hello": {
            "version": self.build.version, "build": self.build.id, "pid": std::process::id(),
            "config": self.config,
        }}));
        let control: Arc<dyn Control> = Arc::<Self>::clone(self);
        let questions = Questions::attended(out.clone());
        let session = Arc::clone(&self.session);
        let connection = Connection::new(session, Role::Command(control), out, questions);
        let served = connection.serve(input);
        connection.close();
        writer.finish(limits::SESSION_FLUSH);
        served
    }

    fn admit(&self, stream: &UnixStream) -> Option<u64> {
        let mut clients = self.lock();
        if clients.closing || clients.streams.len() >= CLIENTS {
            return None;
        }
        let stream = stream.try_clone().ok()?;
        clients.last += 1;
        let number = clients.last;
        clients.streams.insert(number, stream);
        Some(number)
    }

    fn dismiss(&self, number: u64) {
        let mut clients = self.lock();
        if let Some(stream) = clients.streams.remove(&number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        clients.left = Instant::now();
        drop(clients);
        self.dismissed.notify_all();
    }

    /// How long to wait before looking whether the session is idle.
    fn patience(&self) -> Duration {
        let clients = self.lock();
        match clients.streams.is_empty() {
            true => self.idle.saturating_sub(clients.left.elapsed()),
            false => self.idle,
        }
    }

    /// Whether a background worker works.
    fn has_workers(&self) -> bool {
        let options = CallOptions::new().approved_by_caller();
        let listed = self
            .session
            .handle()
            .dispatch("vibe_list", json!({}), options);
        // Without vibe mode there is no such tool.
        listed.is_ok_and(|listed| {
            let workers = listed.data["workers"].as_array();
            workers
                .into_iter()
                .flatten()
                .any(|worker| worker["status"] == "running")
        })
    }

    /// Lets the time without a client begin anew.
    fn touch(&self) {
        self.lock().left = Instant::now();
    }

    fn close_if_idle(&self) -> bool {
        let mut clients = self.lock();
        clients.closing |= clients.streams.is_empty() && clients.left.elapsed() >= self.idle;
        clients.closing
    }

    /// Lets nobody in any more, and ends what clients have under way.
    fn close(&self) {
        let mut clients = self.lock();
        clients.closing = true;
        for stream in clients.streams.values() {
            // Nothing more is read; the answers of what is cancelled still go out.
            let _ = stream.shutdown(Shutdown::Read);
        }
    }

    /// Waits until the clients have read what was left to say.
    fn see_off(&self, wait: Duration) {
        let deadline = Instant::now() + wait;
        let mut clients = self.lock();
        while !clients.streams.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (clients, _) = self
                .dismissed
                .wait_timeout(clients, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Control for Server {
    fn status(&self) -> Value {
        let seconds = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default()
                .as_secs()
        };
        let call = |info: &toolbox::run::CallInfo| {
            let state = match info.state {
                CallState::Approving => "approving",
                CallState::Queued => "queued",
                CallState::Running => "running",
            };
            json!({ "tool": info.chain.names().collect::<Vec<_>>().join(" > "), "state": state })
        };
        let calls = self.session.handle().calls();
        let holds = |(tool, held): (String, Held)| json!({ "tool": tool, "what": held.what, "state": held.state, "detail": held.detail });
        let held = self.session.handle().held().into_iter().map(holds);
        json!({
            "pid": std::process::id(),
            "version": self.build.version,
            "build": self.build.id,
            "workspace": self.workspace,
            "since": seconds(self.since),
            "up_s": self.since.elapsed().unwrap_or_default().as_secs(),
            "idle_s": self.idle.as_secs(),
            "clients": self.lock().streams.len(),
            "calls": calls.iter().map(call).collect::<Vec<_>>(),
            "holds": held.collect::<Vec<_>>(),
            "processes": self.processes.pids().into_iter().map(process).collect::<Vec<_>>(),
        })
    }

    fn stop(&self) {
        let _ = self.ends.try_send(End::Input);
    }
}

/// Says what a process is that holds the state of a tool: an interpreter, an adapter, a server, a worker.
fn process(pid: u32) -> Value {
    // One that has just ended has no command line any more.
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<String> = command
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| match word.contains(&b'\n') {
            // A program that is given as an argument says nothing to whoever looks for theirs.
            true => "…".to_owned(),
            false => printable(&String::from_utf8_lossy(word)),
        })
        .collect();
    let command = words.join(" ");
    json!({ "pid": pid, "command": clip(&command, limits::LINE_CHARS) })
}

/// Whether a peer is of the same user. The folder keeps others away already; this holds where its mode
/// was changed.
fn is_own(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| admits(peer.uid.as_raw(), rustix::process::geteuid().as_raw()))
}

fn admits(peer: u32, own: u32) -> bool {
    peer == own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_user_is_turned_away() {
        assert!(admits(1000, 1000));
        assert!(!admits(1001, 1000) && !admits(0, 1000) && !admits(1000, 0));
        let (own, _other) = UnixStream::pair().expect("a pair");
        assert!(is_own(&own));
    }
}
