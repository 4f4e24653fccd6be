//! `toolbox session`: one run over standard input and output, or the background session of the checkout.
//!
//! The process is the run: it ends when its input does, when nobody reads its output any more, or by a
//! signal, and every process that a tool started ends with it.

mod callers;
pub(crate) mod connection;
mod host_tools;
mod lanes;
pub(crate) mod lines;
pub(crate) mod outbox;
mod pool;
pub(crate) mod questions;
pub(crate) mod request;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use crossbeam_channel::{Sender, bounded};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use toolbox::limits;
use toolbox::run::Run;
use toolbox::tool::Tier;

use crate::args::{Global, Surface};
use crate::background;
use crate::host::Host;
use crate::output::{Console, Ending, Step};
use crate::vibe::{self, Allowance};

use callers::Callers;
use connection::{Connection, Role, Session};
use outbox::Outbox;
use questions::Questions;

/// `toolbox session`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    run: RunOptions,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Action {
    /// Say what the background session of this checkout does
    Status,
    /// End the background session of this checkout
    Stop,
}

/// What a run is like; each part of the toolbox reads its own field.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// What the run shows: everything, or what plan mode and read-only sub-agents see
    #[arg(long, value_enum, default_value_t)]
    pub(crate) surface: Surface,
    /// Approve calls up to this tier without asking: read, write or exec [default: read]
    #[arg(long, value_name = "TIER")]
    pub(crate) approve: Option<Tier>,
    /// Somebody reads the events and answers questions and approvals; without it they fail at once
    #[arg(long)]
    pub(crate) questions: bool,
    /// Let a question wait this long [default: for ever]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) question_timeout: Option<Duration>,
    /// Let a cell be silent this long before it is interrupted
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) eval_budget: Option<Duration>,
    /// Let the run spawn background workers
    #[arg(long)]
    pub(crate) vibe: bool,
    /// Show the tools of this agent: a file or an id
    #[arg(long, value_name = "FILE|ID")]
    pub(crate) agent: Option<String>,
    /// The conversation that questions go to
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
}

/// Reads a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "a number of seconds above 0, such as 30 or 0.5".to_owned())
}

/// Why a session ends.
pub(crate) enum End {
    /// Its input has ended or cannot be read, or a client wants its end.
    Input,
    /// Nobody reads its output.
    Output,
    /// Somebody asked for it.
    Signal(i32),
}

/// Runs a session, or asks the background session.
pub(crate) fn session(console: &Console, global: &Global, args: SessionArgs) -> Step {
    match args.action {
        Some(Action::Status) => background::status(console, global),
        Some(Action::Stop) => background::stop(console, global),
        None => over_stdio(console, global, &args.run),
    }
}

fn over_stdio(console: &Console, global: &Global, options: &RunOptions) -> Step {
    let global = &vibe::flags_of_the_run(global);
    let mut host = Host::open(console, global)?.for_session();
    if options.vibe && !vibe::is_configured(host.config()) {
        return Err(console.misuse_with_hint(
            "--vibe needs a worker, and none is configured",
            "set [vibe.fast] command in toolbox.toml; `toolbox vibe --help` has examples",
        ));
    }
    let mut options = options.clone();
    if let inherited @ Some(_) = Allowance::inherited() {
        // This process is a worker.
        let allowance = allowance(&host, &options).within(inherited);
        options.surface = allowance.surface;
        options.approve = Some(allowance.approve);
    }
    let options = &options;
    host.eval_budget = options.eval_budget;
    let (ends, end) = bounded(1);
    if let Err(err) = end_on_signals(ends.clone()) {
        return Err(failed(console, &format!("cannot listen to signals: {err}")));
    }
    host.recover(console);
    let session = start(console, host, options)?;
    let broken = ends.clone();
    let (out, writer) = Outbox::start("session", io::stdout(), move || {
        let _ = broken.try_send(End::Output);
    })
    .map_err(|err| failed(console, &format!("cannot start the session: {err}")))?;
    let questions = match options.questions {
        true => Questions::attended(out.clone()),
        false => Questions::unattended(out.clone()),
    };
    let connection = Connection::new(session.clone(), Role::Harness, out, questions);
    let reading = connection.clone();
    // Nobody joins it: it may hang in a read of an input that never ends.
    let reader = std::thread::Builder::new()
        .name("session-reader".to_owned())
        .spawn(move || {
            let _ = reading.serve(io::stdin().lock());
            let _ = ends.try_send(End::Input);
        });
    let ended = match reader {
        Ok(_) => end.recv().unwrap_or(End::Input),
        Err(err) => return Err(failed(console, &format!("cannot read the input: {err}"))),
    };
    if let End::Input = ended {
        // `printf ... | toolbox session` gets its answers.
        connection.drain(limits::SESSION_DRAIN);
    }
    connection.close();
    session.end();
    writer.finish(match ended {
        End::Input => limits::SESSION_LAST_FLUSH,
        End::Output | End::Signal(_) => limits::SESSION_FLUSH,
    });
    match ended {
        End::Input | End::Output => Ok(()),
        End::Signal(signal) => {
            end_by(signal);
            Ok(())
        }
    }
}

/// Starts a run of this kind.
pub(crate) fn start(console: &Console, host: Host, options: &RunOptions) -> Step<Arc<Session>> {
    let callers = Callers::default();
    let mut host = host.asking(Arc::new(callers.clone()), options);
    let told = callers.clone();
    host.on_delivery = Some(Arc::new(move |report, cancel| {
        told.delivered(report, cancel);
    }));
    host.vibe = options.vibe.then(|| allowance(&host, options));
    let (mut registry, ledger) = host.tools();
    if let Some(agent) = &options.agent {
        // The filter stays in force for what a harness registers later (D32).
        registry = crate::agent::toolset(console, agent)?.apply(registry);
    }
    if options.surface == Surface::Plan {
        registry = registry.limit(Tier::Read);
    }
    let policy = host.policy(options.approve);
    let run = Run::builder(registry)
        .observer(ledger)
        .after_write(host.diagnostics_on_write());
    Ok(Session::start(run, policy, callers))
}

/// What a run may do without asking.
fn allowance(host: &Host, options: &RunOptions) -> Allowance {
    let configured = host.config().sections.approval.auto;
    Allowance {
        surface: options.surface,
        approve: options.approve.or(configured).unwrap_or(Tier::Read),
    }
}

/// Ends this process by the signal that it got: whoever waits for it sees the truth.
pub(crate) fn end_by(signal: i32) {
    // It fails for unknown signals only, and none of those is caught.
    let _ = emulate_default_handler(signal);
}

/// Hands the first polite signal to the session; a second one ends the process at once.
pub(crate) fn end_on_signals(ends: Sender<End>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut signals = signals.forever();
            if let Some(signal) = signals.next() {
                let _ = ends.try_send(End::Signal(signal));
            }
            if let Some(signal) = signals.next() {
                // The watcher ends what is left.
                let _ = emulate_default_handler(signal);
            }
        })?;
    Ok(())
}

fn failed(console: &Console, message: &str) -> Ending {
    match console.misuse_with_hint(message, "try again") {
        Ending::Usage => Ending::Failed,
        ending => ending,
    }
}
