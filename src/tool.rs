//! The contract between a tool and whatever runs it.
//!
//! A tool is a type that owns its resource and takes typed arguments; a call is what it may use while it
//! runs; an output or an error is what comes back. This module knows no engine and no tool, so that every
//! engine can be tested without it and every tool looks the same to a library, a session and a terminal.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::cancel::Cancel;
use crate::files::{NoObserver, WriteObserver};

/// A tool with typed arguments, bound to the resource that it needs.
///
/// A value of the type cannot exist without its resource, so a run without that resource has no such tool
/// (R4). `Args` denies unknown fields; its doc comments become the schema.
pub trait Tool: Send + Sync + 'static {
    /// The canonical name, as the requirements write it.
    const NAME: &'static str;
    /// What the tool may do; it decides which surface sees the tool (R7).
    const TIER: Tier;
    /// Whether two calls may run at once. When not, calls queue in the order in which they came.
    const PARALLEL_SAFE: bool = true;
    /// Other names that dispatch accepts; the schema shows the canonical one only (D33).
    const ALIASES: &'static [&'static str] = &[];
    /// The arguments.
    type Args: DeserializeOwned + JsonSchema;

    /// Tells a model what the tool does and when to use it.
    fn description(&self) -> String;

    /// Does the work.
    fn run(&self, call: &Call<'_>, args: Self::Args) -> Result<Output, ToolError>;

    /// Says what the tool keeps between its calls. It answers at once: it waits for no call and asks no
    /// process.
    fn held(&self) -> Vec<Held> {
        Vec::new()
    }
}

/// Something that a tool keeps between its calls, and that ends with its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// What it is, such as `debug session`.
    pub what: String,
    /// How it is, such as `stopped`.
    pub state: String,
    /// Which one it is.
    pub detail: String,
}

/// What a tool may do to the world, from least to most.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No side effects (R9).
    Read,
    /// Changes files (R10).
    Write,
    /// Starts or controls processes (R11).
    Exec,
}

impl Tier {
    /// Every tier, in order.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Exec];

    /// Returns the name that the command line and the JSON use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exec => "exec",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text names no tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tier '{0}': one of read, write, exec")]
pub struct UnknownTier(String);

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.as_str() == text)
            .ok_or_else(|| UnknownTier(text.to_owned()))
    }
}

/// What a surface shows of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The canonical name.
    pub name: String,
    /// What the tool may do.
    pub tier: Tier,
    /// Whether two calls may run at once.
    pub parallel_safe: bool,
    /// What the tool does, for a model.
    pub description: String,
    /// The JSON schema (draft 2020-12) of the arguments.
    pub schema: Value,
}

/// Runs other tools on behalf of a running one.
///
/// A run implements it with its own gate, so a bridged call passes the same approvals, locks and
/// observers as any other (R109).
pub trait Bridge: Send + Sync {
    /// Calls the tool `name` from within `from`.
    fn dispatch(&self, from: &Call<'_>, name: &str, args: Value) -> Result<Output, ToolError>;

    /// Returns the same bridge as a value of its own.
    fn detach(&self) -> Arc<dyn Bridge>;
}

/// What a tool may use while it runs.
///
/// It is `Sync`: a tool may hand it to scoped threads, and their bridged calls run in parallel.
pub struct Call<'a> {
    chain: Chain,
    cancel: Cancel,
    observer: &'a dyn WriteObserver,
    bridge: &'a dyn Bridge,
}

impl<'a> Call<'a> {
    /// Makes the call that a run hands to a tool; the last name of `chain` is the tool's own.
    pub fn new(
        chain: Chain,
        cancel: Cancel,
        observer: &'a dyn WriteObserver,
        bridge: &'a dyn Bridge,
    ) -> Self {
        Self {
            chain,
            cancel,
            observer,
            bridge,
        }
    }

    /// Returns the token that says when to stop.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the observer that every commit of this call must be given.
    pub fn observer(&self) -> &'a dyn WriteObserver {
        self.observer
    }

    /// Returns the names of the calls that this one is nested in, its own name last.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Calls another tool through the gate of the same run.
    pub fn dispatch(&self, name: &str, args: Value) -> Result<Output, ToolError> {
        self.bridge.dispatch(self, name, args)
    }

    /// Returns this call with another token: what it bridges to can be stopped without stopping it.
    #[must_use]
    pub fn with_cancel(&self, cancel: Cancel) -> Call<'a> {
        Call {
            chain: self.chain.clone(),
            cancel,
            observer: self.observer,
            bridge: self.bridge,
        }
    }

    /// Returns the bridge of this call for threads that nobody joins.
    ///
    /// A tool that must end in time cannot wait for what it bridges to: that may not heed its cancel.
    pub fn detach(&self) -> Detached {
        Detached {
            chain: self.chain.clone(),
            bridge: self.bridge.detach(),
        }
    }

    /// Returns the error `cancelled` once somebody asked to stop.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            Err(ToolError::cancelled())
        } else {
            Ok(())
        }
    }
}

impl Call<'static> {
    /// Makes a call outside any run: it observes no writes and reaches no other tool.
    pub fn detached(cancel: &Cancel) -> Self {
        Self {
            chain: Chain::default(),
            cancel: cancel.clone(),
            observer: &NoObserver,
            bridge: &NoBridge,
        }
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("chain", &self.chain)
            .field("cancel", &self.cancel)
            .finish_non_exhaustive()
    }
}

/// The bridge of a call that may have ended; what it reaches passes the same gate.
#[derive(Clone)]
pub struct Detached {
    chain: Chain,
    bridge: Arc<dyn Bridge>,
}

impl Detached {
    /// Calls another tool as the call itself would; once the run has ended it fails as cancelled.
    pub fn dispatch(&self, name: &str, args: Value, cancel: Cancel) -> Result<Output, ToolError> {
        let from = Call::new(self.chain.clone(), cancel, &NoObserver, &NoBridge);
        self.bridge.dispatch(&from, name, args)
    }
}

impl fmt::Debug for Detached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detached")
            .field("chain", &self.chain)
            .finish_non_exhaustive()
    }
}

/// The bridge of a call outside any run: no tool is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBridge;

impl Bridge for NoBridge {
    fn dispatch(&self, _from: &Call<'_>, name: &str, _args: Value) -> Result<Output, ToolError> {
        Err(ToolError::new(
            ErrorKind::UnknownTool,
            format!("no tool '{name}': this call belongs to no run"),
        ))
    }

    fn detach(&self) -> Arc<dyn Bridge> {
        Arc::new(Self)
    }
}

/// The names of nested calls, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain(Vec<Arc<str>>);

impl Chain {
    /// Returns this chain with one more call inside.
    pub fn nest(&self, name: &str) -> Self {
        let mut names = self.0.clone();
        names.push(Arc::from(name));
        Self(names)
    }

    /// Tells whether a call of this name is under way in the chain.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|link| &**link == name)
    }

    /// Returns the names, outermost first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|link| &**link)
    }

    /// Returns how many calls the chain holds.
    pub fn depth(&self) -> usize {
        self.0.len()
    }
}

/// What a successful call gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What a model or a person reads.
    pub text: String,
    /// The same as JSON.
    pub data: Value,
    /// Pictures that belong to the result.
    pub images: Vec<Image>,
}

/// One picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The media type, such as `image/png`.
    pub mime: String,
    /// The encoded picture.
    pub bytes: Vec<u8>,
}

impl Output {
    /// Makes an output whose text and data come from one report, so that they cannot drift.
    ///
    /// The error is `internal`: only a report that has no JSON form (a map with keys that are no strings)
    /// ends there.
    pub fn report<R: fmt::Display + Serialize>(report: &R) -> Result<Self, ToolError> {
        let data = serde_json::to_value(report).map_err(|err| {
            ToolError::new(ErrorKind::Internal, "cannot write the report as JSON").caused_by(err)
        })?;
        Ok(Self {
            text: report.to_string(),
            data,
            images: Vec::new(),
        })
    }

    /// Makes an output of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Adds pictures.
    #[must_use]
    pub fn with_images(mut self, images: Vec<Image>) -> Self {
        self.images.extend(images);
        self
    }

    /// Adds a paragraph to the text, and to the data under `key` when the data is an object.
    pub fn append(&mut self, key: &str, text: &str, data: Value) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
        if let Value::Object(map) = &mut self.data {
            map.insert(key.to_owned(), data);
        }
    }
}

/// The closed set of kinds of error; the names are a promise to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments do not fit the schema or each other.
    InvalidArgs,
    /// What the arguments name does not exist.
    NotFound,
    /// No such tool on this surface.
    UnknownTool,
    /// The resource is there, but nothing usable behind it.
    Unavailable,
    /// A pattern that no context accepts.
    Unparseable,
    /// The content changed since it was captured.
    Stale,
    /// Not approved; nothing ran.
    Denied,
    /// A call nested in itself.
    Busy,
    /// A deadline passed.
    Timeout,
    /// A session or a staged edit outlived its time.
    Expired,
    /// Somebody cancelled the call.
    Cancelled,
    /// The work itself failed.
    Failed,
    /// A defect of the toolbox.
    Internal,
}

impl ErrorKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::InvalidArgs,
        Self::NotFound,
        Self::UnknownTool,
        Self::Unavailable,
        Self::Unparseable,
        Self::Stale,
        Self::Denied,
        Self::Busy,
        Self::Timeout,
        Self::Expired,
        Self::Cancelled,
        Self::Failed,
        Self::Internal,
    ];

    /// Returns the name that the JSON uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgs => "invalid_args",
            Self::NotFound => "not_found",
            Self::UnknownTool => "unknown_tool",
            Self::Unavailable => "unavailable",
            Self::Unparseable => "unparseable",
            Self::Stale => "stale",
            Self::Denied => "denied",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a call did not succeed, in words that name the next step.
///
/// `Display` is the message; as JSON it is `{"kind","message","hint"}`.
#[derive(Debug)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// Makes an error without hint and cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            source: None,
        }
    }

    /// Makes the error of arguments that do not fit.
    pub fn invalid_args(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgs, message)
    }

    /// Makes the error of a call that was cancelled.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// Makes an error whose message is that of `cause` and of everything beneath it.
    pub fn from_cause(kind: ErrorKind, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        Self {
            kind,
            message: chain_of(&*cause),
            hint: None,
            source: Some(cause),
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the cause; its words join the message, because a model sees nothing else.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let cause = cause.into();
        self.message = format!("{}: {}", self.message, chain_of(&*cause));
        self.source = Some(cause);
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns what to do next.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

fn chain_of(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        // Many errors repeat their cause in their own message.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        next = cause.source();
    }
    text
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|cause| cause as &(dyn Error + 'static))
    }
}

impl Serialize for ToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ToolError", 3)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("hint", &self.hint)?;
        object.end()
    }
}
