//! The thread that owns a server's state: it takes what was read, in order, and never waits for anything.
//!
//! Every request of the server is answered at once, an unknown one with an error: servers that register
//! something or ask for their configuration block until they hear. A message is sorted by its method
//! first, because the numbers of the server's requests may equal those of ours.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use serde_json::{Value, json};

use crate::child::Exit;
use crate::lsp::client::health::with_next_step;
use crate::lsp::client::state::{Phase, Registration, ServerState};
use crate::lsp::client::{Event, ReplyError, Shared, capabilities, start};
use crate::lsp::error::{METHOD_NOT_FOUND, Seconds};
use crate::lsp::published::{Diagnostic, Origin};
use crate::lsp::uri;
use crate::wire::Incoming;

/// How long the exit of a process that closed its output is waited for, to say how it ended.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// Bytes of standard error that a message quotes.
const WORDS_BYTES: usize = 600;

pub(super) fn start(
    name: &str,
    shared: Arc<Shared>,
    inbox: Receiver<Event>,
) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || own(&shared, &inbox))
}

fn own(shared: &Shared, inbox: &Receiver<Event>) {
    // Often enough to see a stall soon after it counts as one.
    let tick = (shared.launch.timeouts.stall / 4).max(Duration::from_millis(10));
    loop {
        match inbox.recv_timeout(tick) {
            Ok(Event::Incoming(Incoming::Message(message))) => take(shared, message),
            Ok(Event::Incoming(Incoming::Garbage(text))) => {
                shared.update(|state| state.garbage = Some(text));
            }
            Ok(Event::End) => {
                let why = ending(shared);
                die(shared, why);
                return;
            }
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => {
                die(shared, "it was shut down".to_owned());
                return;
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(why) = stalled(shared) {
                    // The end of the output follows from the kill, but the reason is this one.
                    die(shared, why);
                    shared.child.kill_tree(Duration::ZERO);
                    return;
                }
            }
        }
    }
}

/// Says why a server that does not read is given up.
fn stalled(shared: &Shared) -> Option<String> {
    let outbox = shared
        .outbox
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let since = outbox.as_ref()?.stalled()?;
    (since > shared.launch.timeouts.stall)
        .then(|| format!("it has read nothing for {}", Seconds(since)))
}

/// Says how a server ended that closed its output.
fn ending(shared: &Shared) -> String {
    let exit = shared.child.wait_timeout(EXIT_WAIT);
    let how = match exit {
        None => "it closed its output and still runs".to_owned(),
        Some(exit @ (Exit::Code(_) | Exit::Signal(_) | Exit::Unknown)) => exit.to_string(),
    };
    match last_words(&shared.child.stderr_tail()) {
        Some(words) => format!("{how}: {words}"),
        None => how,
    }
}

/// Returns the end of what a server wrote to standard error, in one line. A backtrace follows what
/// matters, so an error line is taken before the last one.
pub(crate) fn last_words(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let first_error = lines.iter().find(|line| line.starts_with("error"));
    let line = first_error.or(lines.last())?;
    Some(crate::text::clip(line, WORDS_BYTES).into_owned())
}

fn die(shared: &Shared, why: String) {
    shared.update(|state| {
        if !matches!(state.phase, Phase::Gone { .. }) {
            state.phase = Phase::Gone {
                why: why.clone(),
                at: Instant::now(),
            };
        }
        state.progress.clear();
    });
    shared.pending.close(Err(ReplyError::Gone(why)));
}

fn take(shared: &Shared, mut message: Value) {
    let params = message["params"].take();
    let method = message["method"].as_str().map(str::to_owned);
    match (method, message.get("id").cloned()) {
        (Some(method), Some(id)) if !id.is_null() => answer(shared, &method, &params, &id),
        (Some(method), _) => hear(shared, &method, &params),
        (None, Some(id)) => {
            if let Some(mark) = id.as_str() {
                shared.update(|state| state.on_mark(mark));
            }
            // Some servers send the number back as text.
            let id = id.as_i64().or_else(|| id.as_str()?.parse().ok());
            let reply = match message.get_mut("error") {
                Some(error) if !error.is_null() => Err(ReplyError::Refused(error.take())),
                _ => Ok(message["result"].take()),
            };
            // An answer that nobody waits for came too late.
            let _ = id.map(|id| shared.pending.settle(id, reply));
            if !shared.lock().surveys.is_empty() {
                // Who asks about the whole project waits for the reply and for progress at once.
                shared.changed.notify_all();
            }
        }
        (None, None) => {}
    }
}

/// Answers a request of the server.
fn answer(shared: &Shared, method: &str, params: &Value, id: &Value) {
    let result = match method {
        "workspace/configuration" => {
            let items = params["items"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            shared.update(|state| state.listing.on_configuration());
            let settings = &shared.launch.settings;
            let section = |item: &Value| {
                capabilities::section(settings, item["section"].as_str().unwrap_or_default())
            };
            Ok(Value::Array(items.iter().map(section).collect()))
        }
        "workspace/workspaceFolders" => Ok(json!([start::folder(&shared.launch.root)])),
        "client/registerCapability" => {
            shared.update(|state| register(state, &params["registrations"]));
            Ok(Value::Null)
        }
        "client/unregisterCapability" => {
            // The protocol itself has the misspelled name.
            let old = &params["unregisterations"];
            let list = if old.is_null() {
                &params["unregistrations"]
            } else {
                old
            };
            shared.update(|state| unregister(state, list));
            Ok(Value::Null)
        }
        "workspace/diagnostic/refresh" => {
            shared.update(|state| state.refreshes += 1);
            Ok(Value::Null)
        }
        "window/workDoneProgress/create"
        | "workspace/inlayHint/refresh"
        | "workspace/semanticTokens/refresh"
        | "workspace/codeLens/refresh"
        | "workspace/foldingRange/refresh"
        | "workspace/inlineValue/refresh" => Ok(Value::Null),
        "window/showMessageRequest" => {
            show(shared, params);
            Ok(Value::Null)
        }
        "window/showDocument" => Ok(json!({"success": false})),
        "workspace/applyEdit" => Ok(json!({
            "applied": false,
            "failureReason": "this client applies no edits that it did not ask for"
        })),
        _ => Err(json!({
            "code": METHOD_NOT_FOUND,
            "message": format!("this client does not know {method}")
        })),
    };
    let reply = match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    };
    // A server that is gone needs no answer.
    let _ = shared.send(&reply);
}

/// Takes note of what the server says unasked.
fn hear(shared: &Shared, method: &str, params: &Value) {
    match method {
        "textDocument/publishDiagnostics" => {
            let Some(path) = params["uri"].as_str().and_then(uri::to_path) else {
                return;
            };
            let version = params["version"].as_i64();
            let items = Diagnostic::read_all(&params["diagnostics"]);
            let is_open = shared.documents().get(&path).is_some();
            shared.update(|state| {
                let published = &mut state.published;
                published.say(path.clone(), Origin::Pushed, version, None, items);
                if !is_open {
                    published.forget_clean(&path);
                }
            });
        }
        "textDocument/clangd.fileStatus" => {
            let path = params["uri"].as_str().and_then(uri::to_path);
            if let (Some(path), Some(doing)) = (path, params["state"].as_str()) {
                shared.update(|state| state.on_parsing(path, doing));
            }
        }
        "$/progress" if shared.on_survey(params) => {}
        "$/progress" => shared.update(|state| state.on_progress(params)),
        "experimental/serverStatus" => shared.update(|state| {
            let was_loaded = state.quiescent == Some(true);
            state.quiescent = params["quiescent"].as_bool().or(state.quiescent);
            if state.quiescent == Some(true) && !was_loaded {
                state.loaded_at = Some(Instant::now());
            }
            let message = params["message"].as_str().map(str::to_owned);
            let health = params["health"].as_str();
            state.is_broken = health == Some("error");
            state.health = match health {
                Some("ok") | None => None,
                Some(health) => {
                    let message = message.unwrap_or_else(|| health.to_owned());
                    let launch = &shared.launch;
                    Some(with_next_step(message, &launch.row, &launch.environment()))
                }
            };
        }),
        // The TypeScript server's wrapper says no version of its own in `initialize`, and then this.
        "$/typescriptVersion" => shared.update(|state| {
            let said = |name: &str| params[name].as_str().map(str::to_owned);
            let version = said("version").map(|version| match said("source") {
                Some(source) => format!("TypeScript {version} ({source})"),
                None => format!("TypeScript {version}"),
            });
            state.version = state.version.take().or(version);
        }),
        // How the Dart server announced its analysis before it used progress.
        "$/analyzerStatus" => {
            let kind = match params["isAnalyzing"].as_bool() {
                Some(true) => "begin",
                _ => "end",
            };
            let value = json!({"kind": kind, "title": "Analyzing"});
            let progress = json!({"token": "ANALYZING", "value": value});
            shared.update(|state| state.on_progress(&progress));
        }
        "window/showMessage" | "window/logMessage" => show(shared, params),
        // Everything else is meant for editors.
        _ => {}
    }
}

fn show(shared: &Shared, params: &Value) {
    let level = params["type"]
        .as_u64()
        .and_then(|level| u8::try_from(level).ok());
    let text = params["message"].as_str().unwrap_or_default();
    shared.update(|state| {
        state.on_log(text);
        state.note(level.unwrap_or(4), text);
    });
}

fn register(state: &mut ServerState, registrations: &Value) {
    for registration in registrations.as_array().into_iter().flatten() {
        let Some((id, method)) = registration["id"]
            .as_str()
            .zip(registration["method"].as_str())
        else {
            continue;
        };
        let options = registration["registerOptions"].clone();
        if method == "workspace/didChangeWatchedFiles" {
            state.watchers.register(id, &options);
        }
        let registration = Registration {
            method: method.to_owned(),
            options,
        };
        state.registrations.insert(id.to_owned(), registration);
    }
}

fn unregister(state: &mut ServerState, list: &Value) {
    for id in list.as_array().into_iter().flatten() {
        if let Some(id) = id["id"].as_str() {
            state.registrations.remove(id);
            state.watchers.unregister(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_line_counts_more_than_the_backtrace_behind_it() {
        let stderr =
            "error: Unknown binary 'x' in official toolchain 'y'.\nstack backtrace:\n  0: main\n";
        let words = last_words(stderr).expect("words");
        assert!(words.starts_with("error: Unknown binary"), "{words}");
        assert_eq!(last_words("one\n two \n\n").as_deref(), Some("two"));
        assert_eq!(last_words(" \n"), None);
    }
}
