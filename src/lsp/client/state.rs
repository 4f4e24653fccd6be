//! What is known of a server from what it said: one value behind one lock, changed by one thread.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lsp::client::listing::Listing;
use crate::lsp::client::watch::Watchers;
use crate::lsp::convert::Encoding;
use crate::lsp::published::Published;

/// The tokens of the progress of rust-analyzer's compiler have this in them.
pub(crate) const CHECK_TOKEN: &str = "flycheck";

/// Progress events and messages that are kept.
const KEPT: usize = 64;

/// What a server said of itself so far.
#[derive(Debug)]
pub struct ServerState {
    pub(crate) phase: Phase,
    pub(crate) capabilities: Value,
    pub(crate) encoding: Encoding,
    pub(crate) version: Option<String>,
    pub(crate) registrations: BTreeMap<String, Registration>,
    pub(crate) watchers: Watchers,
    pub(crate) progress: BTreeMap<String, Progress>,
    pub(crate) progress_log: VecDeque<ProgressEvent>,
    pub(crate) quiescent: Option<bool>,
    /// Since when it has nothing left to load.
    pub(crate) loaded_at: Option<Instant>,
    /// What the server complains about.
    pub(crate) health: Option<String>,
    /// The complaint that was told last.
    pub(crate) told_health: Option<String>,
    /// The end of what was on standard error when the project was described anew.
    pub(crate) forgiven: String,
    /// Whether it says that it cannot work properly for that.
    pub(crate) is_broken: bool,
    pub(crate) messages: VecDeque<Message>,
    pub(crate) published: Published,
    /// What a server does with its documents, where it says so.
    pub(crate) parsing: BTreeMap<PathBuf, Parsing>,
    /// How often the server asked that diagnostics be pulled again.
    pub(crate) refreshes: u64,
    /// The questions about the whole project that are out, by number, and whether the server has said that
    /// it has looked at everything.
    pub(crate) surveys: BTreeMap<i64, bool>,
    pub(crate) listing: Listing,
    pub(crate) garbage: Option<String>,
    pub(crate) n_timeouts: u32,
    /// How many documents were opened, and how many of them are known to have been handled.
    pub(crate) n_opened: u64,
    pub(crate) n_handled: u64,
    /// Whether the beginning of the loading was waited for once.
    pub(crate) awaited_begin: bool,
}

/// How far a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Ready,
    Gone { why: String, at: Instant },
}

/// A capability that a server registered after it had started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Registration {
    pub(crate) method: String,
    pub(crate) options: Value,
}

/// Work that a server said it is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What it is called; servers may leave it empty.
    pub title: String,
    /// The latest remark.
    pub message: Option<String>,
    /// How much of it is done, where the server says it.
    pub percentage: Option<u64>,
    /// Since when.
    pub since: Instant,
}

/// What clangd does with a document: a thread of its own parses what it includes, and before that is done
/// the document is parsed with what was included before.
/// <https://clangd.llvm.org/extensions#file-status>
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parsing {
    /// When the last parse of what it includes began; none has begun otherwise.
    pub(crate) begun: Option<Instant>,
    /// Whether it has not ended.
    pub(crate) is_running: bool,
}

/// The beginning or the end of some work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressEvent {
    /// The token that names the work.
    pub token: String,
    /// What it is called.
    pub title: String,
    /// Whether it began; it ended otherwise.
    pub began: bool,
    /// When the event came.
    pub at: Instant,
}

/// Something that a server wanted shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// 1 is an error, 2 a warning, 3 information, 4 a log line.
    pub level: u8,
    /// The text.
    pub text: String,
}

impl ServerState {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            phase: Phase::Starting,
            capabilities: Value::Null,
            encoding: Encoding::default(),
            version: None,
            registrations: BTreeMap::new(),
            watchers: Watchers::new(root),
            progress: BTreeMap::new(),
            progress_log: VecDeque::new(),
            quiescent: None,
            loaded_at: None,
            health: None,
            told_health: None,
            forgiven: String::new(),
            is_broken: false,
            messages: VecDeque::new(),
            published: Published::default(),
            parsing: BTreeMap::new(),
            refreshes: 0,
            surveys: BTreeMap::new(),
            listing: Listing::default(),
            garbage: None,
            n_timeouts: 0,
            n_opened: 0,
            n_handled: 0,
            awaited_begin: false,
        }
    }

    /// Returns what the server said about files.
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// Returns the work that has begun and not ended, by token.
    pub fn progress(&self) -> &BTreeMap<String, Progress> {
        &self.progress
    }

    /// Tells whether it says that it is looking for what is wrong. The answers to questions do not wait for that.
    pub fn is_diagnosing(&self) -> bool {
        self.is_checking() || self.progress.values().any(Progress::is_diagnosing)
    }

    /// Tells whether the compiler that rust-analyzer runs is at work: what it said before is taken back then.
    pub(crate) fn is_checking(&self) -> bool {
        self.progress
            .keys()
            .any(|token| token.contains(CHECK_TOKEN))
    }

    /// Tells whether a server that announces its looking is at it, or has not come to the last save.
    pub(crate) fn has_more_to_say(&self, saved: Option<Instant>) -> bool {
        let announces = self.progress_log().any(|event| is_diagnosing(&event.title));
        let is_due = saved.is_some_and(|saved| {
            // What came after an older save may not be kept any more.
            let is_kept = self.progress_log().next().is_some_and(|it| it.at <= saved);
            let has_looked = self.progress_log().any(|event| {
                !event.began && event.at >= saved && event.title == "diagnosing saved files"
            });
            is_kept && !has_looked
        });
        self.is_diagnosing() || (announces && is_due)
    }

    /// Returns the last beginnings and ends of work, oldest first.
    pub fn progress_log(&self) -> impl DoubleEndedIterator<Item = &ProgressEvent> {
        self.progress_log.iter()
    }

    /// Returns whether the server has nothing left to do; `None` when it never speaks of it.
    pub fn quiescent(&self) -> Option<bool> {
        self.quiescent
    }

    /// Returns how often the server asked that diagnostics be pulled again.
    pub fn refreshes(&self) -> u64 {
        self.refreshes
    }

    /// Returns why the server is gone, if it is.
    pub fn gone(&self) -> Option<&str> {
        match &self.phase {
            Phase::Gone { why, .. } => Some(why),
            Phase::Starting | Phase::Ready => None,
        }
    }

    /// Tells whether it has a capability, static (`renameProvider`) or registered (`textDocument/rename`).
    pub fn supports(&self, provider: &str, method: &str) -> bool {
        self.provider(provider, method).is_some()
    }

    /// Returns the static capability `name`, or the options of a dynamic registration of `method`.
    pub(crate) fn provider(&self, name: &str, method: &str) -> Option<Value> {
        match &self.capabilities[name] {
            Value::Null | Value::Bool(false) => self
                .registrations
                .values()
                .find(|registration| registration.method == method)
                .map(|registration| registration.options.clone()),
            options => Some(options.clone()),
        }
    }

    pub(super) fn note(&mut self, level: u8, text: &str) {
        push(
            &mut self.messages,
            Message {
                level,
                text: text.to_owned(),
            },
        );
    }

    pub(super) fn on_progress(&mut self, params: &Value) {
        let token = token(&params["token"]);
        let value = &params["value"];
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let now = Instant::now();
        match value["kind"].as_str() {
            Some("begin") => {
                let title = text("title").unwrap_or_default();
                let progress = Progress {
                    title: title.clone(),
                    message: text("message"),
                    percentage: value["percentage"].as_u64(),
                    since: now,
                };
                self.progress.insert(token.clone(), progress);
                self.log_progress(token, title, true, now);
            }
            Some("report") => {
                if let Some(progress) = self.progress.get_mut(&token) {
                    progress.message = text("message").or(progress.message.take());
                    progress.percentage = value["percentage"].as_u64().or(progress.percentage);
                }
            }
            Some("end") => {
                if let Some(progress) = self.progress.remove(&token) {
                    self.log_progress(token, progress.title, false, now);
                }
            }
            _ => {}
        }
    }

    /// Takes what clangd says that it does with a document.
    pub(super) fn on_parsing(&mut self, path: PathBuf, doing: &str) {
        let parsing = self.parsing.entry(path).or_default();
        let is_running = doing.contains("includes");
        if is_running && !parsing.is_running {
            parsing.begun = Some(Instant::now());
        }
        parsing.is_running = is_running;
    }

    fn log_progress(&mut self, token: String, title: String, began: bool, at: Instant) {
        let event = ProgressEvent {
            token,
            title,
            began,
            at,
        };
        push(&mut self.progress_log, event);
    }
}

impl Progress {
    /// Whether it is what gopls does after a change, when it is asked to announce that.
    pub(crate) fn is_diagnosing(&self) -> bool {
        is_diagnosing(&self.title)
    }
}

fn is_diagnosing(title: &str) -> bool {
    title.starts_with("diagnosing ")
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let title = if self.title.is_empty() {
            "working"
        } else {
            &self.title
        };
        f.write_str(title)?;
        if let Some(percentage) = self.percentage {
            write!(f, " {percentage}%")?;
        }
        if let Some(message) = &self.message {
            write!(f, " ({message})")?;
        }
        let running = self.since.elapsed();
        if running > Duration::from_secs(60) {
            write!(f, ", for {} s", running.as_secs())?;
        }
        Ok(())
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == KEPT {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// A token is a number or a text, and some servers write numbers as text.
fn token(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn work_begins_reports_and_ends() {
        let mut state = ServerState::new(PathBuf::from("/"));
        let mut tell = |token: Value, kind: &str| {
            state.on_progress(&json!({"token": token, "value": {"kind": kind, "message": kind}}));
        };
        tell(json!("a"), "begin");
        tell(json!(7), "begin");
        tell(json!("a"), "report");
        tell(json!("unknown"), "report");
        tell(json!("unknown"), "end");
        tell(json!(7), "end");
        assert_eq!(state.progress.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(state.progress["a"].message.as_deref(), Some("report"));
        let log: Vec<(&str, bool)> = state
            .progress_log()
            .map(|event| (event.token.as_str(), event.began))
            .collect();
        assert_eq!(log, [("a", true), ("7", true), ("7", false)]);
    }

    // A save is looked at when the work that follows it has ended; who announces nothing is not waited for.
    #[test]
    fn a_save_is_looked_at_when_its_work_has_ended() {
        let mut state = ServerState::new(PathBuf::from("/"));
        let tell = |state: &mut ServerState, kind: &str, title: &str| {
            state.on_progress(&json!({"token": "t", "value": {"kind": kind, "title": title}}));
        };
        tell(&mut state, "begin", "Setting up");
        tell(&mut state, "end", "");
        let saved = || Some(Instant::now());
        assert!(!state.has_more_to_say(saved()), "it announces nothing");
        tell(&mut state, "begin", "diagnosing opened files");
        assert!(state.has_more_to_say(None) && state.is_diagnosing());
        tell(&mut state, "end", "");
        assert!(!state.has_more_to_say(None) && !state.is_diagnosing());
        let saved = saved();
        assert!(state.has_more_to_say(saved), "it has not begun");
        tell(&mut state, "begin", "diagnosing changed files");
        tell(&mut state, "end", "");
        assert!(state.has_more_to_say(saved), "that was the change");
        tell(&mut state, "begin", "diagnosing saved files");
        assert!(state.has_more_to_say(saved));
        tell(&mut state, "end", "");
        assert!(!state.has_more_to_say(saved));
        for _ in 0..KEPT {
            tell(&mut state, "begin", "diagnosing opened files");
            tell(&mut state, "end", "");
        }
        assert!(!state.has_more_to_say(saved), "it is long ago");
    }

    // What stands beside it in the words of clangd is about the document itself.
    #[test]
    fn a_parse_of_what_a_document_includes_begins_and_ends() {
        let mut state = ServerState::new(PathBuf::from("/"));
        let path = PathBuf::from("/a.c");
        let mut tell = |doing: &str| {
            state.on_parsing(path.clone(), doing);
            state.parsing[&path]
        };
        assert!(tell("file is queued").begun.is_none());
        let begun = tell("includes are queued, running Update").begun;
        assert!(begun.is_some());
        let still = tell("parsing includes, parsing main file");
        assert!(still.is_running && still.begun == begun);
        let ended = tell("file is queued");
        assert!(!ended.is_running && ended.begun == begun);
        let again = tell("parsing includes");
        assert!(again.is_running && again.begun > begun);
    }

    #[test]
    fn a_provider_is_static_or_registered() {
        let mut state = ServerState::new(PathBuf::from("/"));
        state.capabilities = json!({"renameProvider": true, "hoverProvider": false});
        assert!(
            state
                .provider("renameProvider", "textDocument/rename")
                .is_some()
        );
        assert!(
            state
                .provider("hoverProvider", "textDocument/hover")
                .is_none()
        );
        state.registrations.insert(
            "1".to_owned(),
            Registration {
                method: "textDocument/hover".to_owned(),
                options: json!({"x": 1}),
            },
        );
        let options = state.provider("hoverProvider", "textDocument/hover");
        assert_eq!(options, Some(json!({"x": 1})));
    }
}
