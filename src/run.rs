//! One run: the gate that every call of every tool passes.
//!
//! Find, approve, lock if the tool is not parallel-safe, run, append what the write observers have to say.
//! A call from a model, from a person, from a host and from within another tool take the same way (R109).
//! The gate knows no tool by name. It holds no lock while a tool runs, save the tool's own turn, which is
//! the point of that turn.

mod approval;
mod command;
mod observers;
mod options;
mod policy;
mod subject;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use crate::run::approval::{Approval, ApprovalRequest, Approver, AutoApprove};
pub use crate::run::command::plain_words;
pub use crate::run::observers::{AfterWrite, Observers};
pub use crate::run::options::CallOptions;
pub use crate::run::policy::{Decision, Policy, PolicyError, Rule};
pub use crate::run::subject::{SubjectKind, Target};

use crate::cancel::Cancel;
use crate::files::WriteObserver;
use crate::registry::{Registered, Registry, RegistryError, Unavailable};
use crate::run::observers::{Recorder, Watching};
use crate::tool::{Bridge, Call, Chain, ErrorKind, Held, Output, Tool, ToolError, ToolSpec};

/// How long the end of a run waits for its calls. An evaluated cell has 5 s of grace after an interrupt
/// (D23); the rest is for ending its processes.
const DRAIN: Duration = Duration::from_secs(10);

/// How deep calls may nest. Real chains are three or four deep; the bound keeps a host tool that calls
/// itself from exhausting the stack.
const MAX_NESTING: usize = 32;

/// A run; dropping it cancels its calls, waits for them within a bound and lets go of its tools.
///
/// Tools own what they need, so a run that ends releases its processes (R3).
pub struct Run {
    handle: RunHandle,
    drain: Duration,
}

/// A way to call the tools of a run from any thread; it does not keep the run open.
#[derive(Clone)]
pub struct RunHandle(Arc<Gate>);

type StartHook = dyn Fn(&Chain, &Cancel) + Send + Sync;

/// One call that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// Counts up from 1 in the run.
    pub id: u64,
    /// The tool, and the calls that it is nested in, outermost first.
    pub chain: Chain,
    /// How far it is.
    pub state: CallState,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallState {
    /// Somebody decides about it.
    Approving,
    /// It waits for its turn.
    Queued,
    /// The tool works.
    Running,
}

/// Puts a run together.
pub struct RunBuilder {
    registry: Registry,
    approver: Arc<dyn Approver>,
    observers: Vec<Arc<dyn WriteObserver>>,
    after_write: Vec<Arc<dyn AfterWrite>>,
    on_start: Option<Arc<StartHook>>,
    drain: Duration,
}

struct Gate {
    registry: RwLock<Registry>,
    approver: Arc<dyn Approver>,
    watchers: Watching,
    on_start: Option<Arc<StartHook>>,
    calls: Mutex<Calls>,
    idle: Condvar,
}

#[derive(Default)]
struct Calls {
    closed: bool,
    last_id: u64,
    under_way: BTreeMap<u64, (CallInfo, Cancel)>,
}

/// The bridge of one call: what it reaches is decided by whoever decides about the call itself.
#[derive(Clone)]
struct BridgeOf {
    gate: Arc<Gate>,
    approver: Arc<dyn Approver>,
}

/// How one call enters the gate.
struct Entry<'a> {
    outer: &'a Chain,
    cancel: Cancel,
    /// Whether the caller approved it already.
    approved: bool,
    approver: &'a Arc<dyn Approver>,
}

/// Keeps a call in the list of those under way.
struct Ticket<'a> {
    gate: &'a Gate,
    id: u64,
}

impl Run {
    /// Starts a run over a registry; without more, reading tools are approved and no other.
    pub fn builder(registry: Registry) -> RunBuilder {
        RunBuilder {
            registry,
            approver: Arc::new(AutoApprove::default()),
            observers: Vec::new(),
            after_write: Vec::new(),
            on_start: None,
            drain: DRAIN,
        }
    }

    /// Calls a tool and waits for its result; `name` may be an alias.
    pub fn dispatch(
        &self,
        name: &str,
        args: Value,
        options: CallOptions,
    ) -> Result<Output, ToolError> {
        self.handle.dispatch(name, args, options)
    }

    /// Returns a handle for other threads; its calls fail as cancelled once the run has ended.
    pub fn handle(&self) -> RunHandle {
        self.handle.clone()
    }

    /// Cancels every call under way; the run stays usable.
    pub fn cancel_calls(&self) {
        self.handle.0.cancel_calls();
    }

    /// Returns the calls under way, oldest first.
    pub fn calls(&self) -> Vec<CallInfo> {
        self.handle.calls()
    }

    /// Returns what is registered now, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.handle.specs()
    }

    /// Returns what is not registered and why, sorted by name.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.handle.unavailable()
    }

    /// Changes the registry while the run goes on; calls under way keep the tool that they found.
    pub fn update_registry<R>(&self, change: impl FnOnce(&mut Registry) -> R) -> R {
        let mut registry = self
            .handle
            .0
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut changed = registry.clone();
        let res = change(&mut changed);
        let before = std::mem::replace(&mut *registry, changed);
        drop(registry);
        // What was removed is dropped without the lock, because that may end its processes.
        drop(before);
        res
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.handle.0.close(self.drain);
    }
}

impl RunHandle {
    /// Calls a tool and waits for its result; `name` may be an alias.
    pub fn dispatch(
        &self,
        name: &str,
        args: Value,
        options: CallOptions,
    ) -> Result<Output, ToolError> {
        let entry = Entry {
            outer: &Chain::default(),
            // The caller's token may outlive the call and serve others, so the call gets one of its own.
            cancel: options.cancel.child(),
            approved: options.approved,
            approver: options.approver.as_ref().unwrap_or(&self.0.approver),
        };
        self.0.dispatch(name, args, entry)
    }

    /// Returns the calls under way, oldest first.
    pub fn calls(&self) -> Vec<CallInfo> {
        self.0
            .lock_calls()
            .under_way
            .values()
            .map(|(info, _)| info.clone())
            .collect()
    }

    /// Returns what is registered now, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0
            .read_registry()
            .specs()
            .into_iter()
            .cloned()
            .collect()
    }

    /// Returns what is not registered and why, sorted by name.
    pub fn unavailable(&self) -> Vec<Unavailable> {
        self.0.read_registry().unavailable()
    }

    /// Returns what the tools keep between calls, each with the name of its tool; it answers at once.
    pub fn held(&self) -> Vec<(String, Held)> {
        let tools = self.0.read_registry().registered();
        let of = |tool: &Arc<Registered>| {
            let name = tool.spec.name.clone();
            tool.held()
                .into_iter()
                .map(move |held| (name.clone(), held))
        };
        tools.iter().flat_map(of).collect()
    }

    /// Returns the canonical name of a tool that is not parallel-safe, `None` for any other: a host that
    /// calls from several threads keeps the calls of such a tool in order by it.
    pub fn lane(&self, name: &str) -> Option<String> {
        let registry = self.0.read_registry();
        let spec = registry.get(name)?;
        (!spec.parallel_safe).then(|| spec.name.clone())
    }
}

impl RunBuilder {
    /// Asks this approver about every call.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Adds a tool that the host describes by values (R109). It joins the registry under its tier and
    /// passes the same gate as any other; a surface that is limited below it does not get it.
    pub fn tool(
        mut self,
        spec: ToolSpec,
        run: impl Fn(&Call<'_>, Value) -> Result<Output, ToolError> + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        self.registry.insert_dynamic(spec, run)?;
        Ok(self)
    }

    /// Adds a tool of the host that has a type.
    pub fn typed_tool<T: Tool>(mut self, tool: T) -> Result<Self, RegistryError> {
        self.registry.insert(tool)?;
        Ok(self)
    }

    /// Tells this observer about the writes of every call.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn WriteObserver>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Tells this observer about the writes of every call and lets it append to the results.
    #[must_use]
    pub fn after_write(mut self, hook: Arc<dyn AfterWrite>) -> Self {
        let observer: Arc<dyn WriteObserver> = hook.clone();
        self.observers.push(observer);
        self.after_write.push(hook);
        self
    }

    /// Calls `hook` whenever a tool begins to run, bridged calls included (R154): the last name of the
    /// chain is the tool, and the token is that of the call. It must not block.
    #[must_use]
    pub fn on_start(mut self, hook: impl Fn(&Chain, &Cancel) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Arc::new(hook));
        self
    }

    /// Sets how long the end of the run waits for its calls.
    #[must_use]
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// Starts the run.
    pub fn build(self) -> Run {
        let gate = Gate {
            registry: RwLock::new(self.registry),
            approver: self.approver,
            watchers: Watching::new(self.observers, self.after_write),
            on_start: self.on_start,
            calls: Mutex::default(),
            idle: Condvar::new(),
        };
        Run {
            handle: RunHandle(Arc::new(gate)),
            drain: self.drain,
        }
    }
}

impl Gate {
    fn dispatch(
        self: &Arc<Self>,
        name: &str,
        args: Value,
        entry: Entry<'_>,
    ) -> Result<Output, ToolError> {
        let Entry {
            outer,
            cancel,
            approved,
            approver,
        } = entry;
        if self.lock_calls().closed {
            return Err(ended());
        }
        let tool = self.read_registry().lookup(name)?;
        let args = tool.normalise(args)?;
        let run = tool.prepare(&args)?;
        let chain = self.nest(outer, &tool)?;
        let ticket = self.begin(chain.clone(), cancel.clone())?;
        if !approved {
            let request = ApprovalRequest {
                spec: &tool.spec,
                args: &args,
                outer,
                cancel: &cancel,
            };
            approve(&**approver, &request)?;
        }
        ticket.set_state(CallState::Queued);
        let turn = if tool.spec.parallel_safe {
            None
        } else {
            Some(tool.queue.enter(&cancel).ok_or_else(ToolError::cancelled)?)
        };
        if cancel.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        ticket.set_state(CallState::Running);
        if let Some(hook) = &self.on_start {
            // What is told about calls never takes one down.
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&chain, &cancel)));
        }
        let watchers = self.watchers.now();
        let recorder = Recorder::new(&watchers.observers);
        let bridge = BridgeOf {
            gate: Arc::clone(self),
            approver: Arc::clone(approver),
        };
        let call = Call::new(chain, cancel.clone(), &recorder, &bridge);
        let res = guard(&tool, || run(&call));
        // The next call may start while the observers look at what this one wrote.
        drop(turn);
        let mut output = res.map_err(|error| {
            if cancel.is_cancelled() {
                as_cancelled(error)
            } else {
                error
            }
        })?;
        let written = recorder.into_written();
        for hook in &watchers.after_write {
            // A failing observer never loses the result of a write (D6).
            let before = output.clone();
            if catch_unwind(AssertUnwindSafe(|| {
                hook.append(&written, &cancel, &mut output)
            }))
            .is_err()
            {
                output = before;
            }
        }
        Ok(output)
    }

    fn nest(&self, outer: &Chain, tool: &Registered) -> Result<Chain, ToolError> {
        let name = tool.spec.name.as_str();
        let nested = outer.contains(name);
        if nested && !tool.spec.parallel_safe {
            let message = format!("{name} is busy: this call is nested in another call of {name}");
            return Err(ToolError::new(ErrorKind::Busy, message).with_hint(format!(
                "do it without {name}, or after the outer call has ended"
            )));
        }
        if nested && outer.depth() >= MAX_NESTING {
            let message = format!("{name} is busy: calls are nested {MAX_NESTING} deep");
            return Err(ToolError::new(ErrorKind::Busy, message));
        }
        Ok(outer.nest(name))
    }

    fn begin(&self, chain: Chain, cancel: Cancel) -> Result<Ticket<'_>, ToolError> {
        let mut calls = self.lock_calls();
        if calls.closed {
            return Err(ended());
        }
        calls.last_id += 1;
        let id = calls.last_id;
        let info = CallInfo {
            id,
            chain,
            state: CallState::Approving,
        };
        calls.under_way.insert(id, (info, cancel));
        Ok(Ticket { gate: self, id })
    }

    fn cancel_calls(&self) {
        // The wakers of a token run here, and may look at the calls: no lock is held.
        let tokens: Vec<Cancel> = self
            .lock_calls()
            .under_way
            .values()
            .map(|(_, cancel)| cancel.clone())
            .collect();
        for token in tokens {
            token.cancel();
        }
    }

    fn close(&self, bound: Duration) {
        self.lock_calls().closed = true;
        self.cancel_calls();
        let deadline = Instant::now() + bound;
        let mut calls = self.lock_calls();
        while !calls.under_way.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (calls, _) = self
                .idle
                .wait_timeout(calls, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        drop(calls);
        // A handle may outlive the run; the tools and what they own must not, nor who watches the writes with
        // language servers of its own. They are dropped outside the lock, because dropping one ends its
        // processes.
        self.watchers.end();
        let tools = std::mem::take(
            &mut *self
                .registry
                .write()
                .unwrap_or_else(PoisonError::into_inner),
        );
        drop(tools);
    }

    fn read_registry(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bridge for BridgeOf {
    fn dispatch(&self, from: &Call<'_>, name: &str, args: Value) -> Result<Output, ToolError> {
        let entry = Entry {
            outer: from.chain(),
            cancel: from.cancel().child(),
            approved: false,
            approver: &self.approver,
        };
        self.gate.dispatch(name, args, entry)
    }

    fn detach(&self) -> Arc<dyn Bridge> {
        Arc::new(self.clone())
    }
}

impl Ticket<'_> {
    fn set_state(&self, state: CallState) {
        if let Some((info, _)) = self.gate.lock_calls().under_way.get_mut(&self.id) {
            info.state = state;
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.gate.lock_calls().under_way.remove(&self.id);
        self.gate.idle.notify_all();
    }
}

/// Asks about a call; the arguments in the request are the ones that run.
fn approve(approver: &dyn Approver, request: &ApprovalRequest<'_>) -> Result<(), ToolError> {
    // No answer is a refusal, and a panic is no answer (D37).
    let approval = catch_unwind(AssertUnwindSafe(|| approver.approve(request)))
        .unwrap_or_else(|_| Approval::Denied("the approver failed".to_owned()));
    match approval {
        _ if request.cancel.is_cancelled() => Err(ToolError::cancelled()),
        Approval::Granted => Ok(()),
        Approval::Denied(reason) => {
            let message = format!("{} was not approved: {reason}", request.spec.name);
            Err(ToolError::new(ErrorKind::Denied, message).with_hint("nothing ran"))
        }
    }
}

/// Runs a tool; a panic becomes the error `internal`, and the run goes on.
fn guard(
    tool: &Registered,
    run: impl FnOnce() -> Result<Output, ToolError>,
) -> Result<Output, ToolError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let words = payload
            .downcast_ref::<&str>()
            .map(|words| (*words).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        let message = format!(
            "{} failed from a defect of its own: {words}",
            tool.spec.name
        );
        Err(ToolError::new(ErrorKind::Internal, message))
    })
}

fn ended() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "the run has ended")
}

/// A tool that was stopped often fails in the words of what was stopped; the caller asked for the stop.
fn as_cancelled(error: ToolError) -> ToolError {
    match error.kind() {
        ErrorKind::Cancelled | ErrorKind::Internal => error,
        _ => ToolError::cancelled().caused_by(error),
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle")
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RunBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunBuilder")
            .field("registry", &self.registry)
            .finish_non_exhaustive()
    }
}
