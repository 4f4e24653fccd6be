//! Calls of the tools whose state outlives one command.
//!
//! A debugger session, an interpreter, a warm language server live in the background session of the
//! checkout; every command that needs one calls it from here. The session starts by itself, and the
//! command says so once.

mod build;
mod client;
mod conversation;
mod place;
mod server;

use std::ffi::OsString;

use serde_json::{Value, json};
use toolbox::tool::{Output, Tier};

use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Ending, Step};
use crate::progress::Progress;

use client::{Found, Link};
use place::Place;

pub(crate) use server::{ServeArgs, serve};

/// The tools whose state outlives a command.
const KEPT: [&str; 9] = [
    "lsp",
    "lsp_rename",
    "debug",
    "eval",
    "vibe_spawn",
    "vibe_send",
    "vibe_wait",
    "vibe_kill",
    "vibe_list",
];

/// Tells whether a call belongs into the background session.
pub(crate) fn is_kept(name: &str, args: &Value) -> bool {
    // A command of the shell that runs on, and what is asked about it later.
    let runs_on = args["run_in_background"] == true || args["background_id"].is_string();
    KEPT.contains(&name) || (runs_on && matches!(name, "Bash" | "bash"))
}

/// How a command calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Via {
    /// Up to which tier calls that the call bridges to are approved without asking (D42).
    pub(crate) approve: Option<Tier>,
}

/// Calls a tool in the background session of this checkout; starts the session where none runs.
pub(crate) fn call(console: &Console, global: &Global, name: &str, args: Value) -> Step<Output> {
    call_with(console, global, name, args, Via::default())
}

/// The same, with more said about the call.
pub(crate) fn call_with(
    console: &Console,
    global: &Global,
    name: &str,
    args: Value,
    via: Via,
) -> Step<Output> {
    let host = Host::open(console, global)?;
    let progress = Progress::of_tool(console, name);
    let link = link(console, &host, global, &progress)?;
    let request = json!({
        "id": 1, "tool": name, "args": args, "approved": true, "approve": via.approve,
    });
    conversation::call(progress, link, &request, name).map_err(|error| console.fail(&error))
}

/// Calls a tool in the background session of this checkout where one of this build runs; `None` where none
/// does, or where it cannot be met.
pub(crate) fn call_if_running(
    console: &Console,
    host: &Host,
    name: &str,
    args: &Value,
) -> Step<Option<Output>> {
    let folder = host.meeting_folder(console)?;
    if !folder.is_dir() {
        return Ok(None);
    }
    let met = Place::open(&folder).ok();
    let link = met.and_then(|place| client::greet(&place).ok().flatten());
    let Some(link) = link.filter(|link| link.is_of(&build::Build::own())) else {
        return Ok(None);
    };
    let progress = Progress::of_tool(console, name);
    let request = json!({ "id": 1, "tool": name, "args": args, "approved": true });
    let output = conversation::call(progress, link, &request, name);
    output.map(Some).map_err(|error| console.fail(&error))
}

/// Says what the background session of this checkout does.
pub(crate) fn status(console: &Console, global: &Global) -> Step {
    let host = Host::open(console, global)?;
    let Some(mut link) = running(console, &host)? else {
        match console.json {
            true => console.print_json(&json!({ "running": false }))?,
            false => console.print(&none(&host))?,
        }
        return Err(Ending::Nothing);
    };
    let status = link.status().map_err(|error| console.fail(&error))?;
    if console.json {
        return console.print_json(&status);
    }
    console.show(&described(&status))
}

/// Ends the background session of this checkout.
pub(crate) fn stop(console: &Console, global: &Global) -> Step {
    let host = Host::open(console, global)?;
    let Some(link) = running(console, &host)? else {
        return match console.json {
            true => console.print_json(&json!({ "stopped": false })),
            false => console.print(&none(&host)),
        };
    };
    link.stop().map_err(|error| console.fail(&error))?;
    match console.json {
        true => console.print_json(&json!({ "stopped": true })),
        false => console.print(&format!(
            "ended the background session for {}",
            host.workspace.root().display()
        )),
    }
}

fn link(console: &Console, host: &Host, global: &Global, progress: &Progress) -> Step<Link> {
    let place = place(console, host)?;
    let root = host.workspace.root().display();
    let found = client::find_or_start(&place, &host.workspace, &inherited(global));
    // What is said now has the line to itself.
    progress.pause();
    match found.map_err(|error| console.fail(&error))? {
        Found::Running(link) => {
            let digest = host.config().digest();
            let link = link
                .configured_as(&digest)
                .map_err(|error| console.fail(&error))?;
            progress.resume();
            Ok(link)
        }
        Found::Started { link, replaced } => {
            if replaced {
                console.note("ended a background session of another build; its state is gone");
            }
            console.note(&format!(
                "started a background session for {root}; `toolbox session stop` ends it"
            ));
            progress.resume();
            Ok(link)
        }
    }
}

/// The global flags that a session takes over from the command that starts it.
fn inherited(global: &Global) -> Vec<OsString> {
    let mut flags = Vec::new();
    if let Some(config) = &global.config {
        // The session works in another folder.
        let config = std::path::absolute(config).unwrap_or_else(|_| config.clone());
        flags.extend(["--config".into(), config.into_os_string()]);
    }
    if global.trust_project {
        flags.push("--trust-project".into());
    }
    if let Some(enclosure) = &global.enclosure {
        flags.extend(["--enclosure".into(), enclosure.into()]);
    }
    flags
}

fn running(console: &Console, host: &Host) -> Step<Option<Link>> {
    let place = place(console, host)?;
    client::greet(&place).map_err(|error| console.fail(&error))
}

fn place(console: &Console, host: &Host) -> Step<Place> {
    let folder = host.meeting_folder(console)?;
    Place::open(&folder).map_err(|err| {
        let error = toolbox::tool::ToolError::from_cause(toolbox::tool::ErrorKind::Failed, err);
        console.fail(&error.with_hint("make the state folder a folder of your own"))
    })
}

fn none(host: &Host) -> String {
    format!(
        "no background session runs for {}",
        host.workspace.root().display()
    )
}

fn described(status: &Value) -> String {
    let text = |key: &str| status[key].as_str().unwrap_or_default();
    let number = |key: &str| status[key].as_u64().unwrap_or_default();
    let mut lines = format!(
        "background session for {}\npid {}, version {}, up for {} s, {}, ends after {} s without one\n",
        text("workspace"),
        number("pid"),
        text("version"),
        number("up_s"),
        // This command is one itself.
        match number("clients").saturating_sub(1) {
            0 => "no client".to_owned(),
            1 => "1 client".to_owned(),
            n => format!("{n} clients"),
        },
        number("idle_s"),
    );
    for call in status["calls"].as_array().into_iter().flatten() {
        let text = |key: &str| call[key].as_str().unwrap_or_default();
        lines.push_str(&format!("call {} ({})\n", text("tool"), text("state")));
    }
    for held in status["holds"].as_array().into_iter().flatten() {
        let text = |key: &str| held[key].as_str().unwrap_or_default();
        let (what, detail, state) = (text("what"), text("detail"), text("state"));
        lines.push_str(&format!("{what} {detail} ({state})\n"));
    }
    for process in status["processes"].as_array().into_iter().flatten() {
        let command = process["command"].as_str().unwrap_or_default();
        lines.push_str(&format!("process {} {command}\n", process["pid"]));
    }
    lines
}
