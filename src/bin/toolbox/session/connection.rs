//! One reader and one writer of a session.
//!
//! Lines are read and understood in order on one thread, which never waits for a call, a person or the
//! reader of the answers. Calls run on the threads of the session and answer as they finish.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolbox::cancel::Cancel;
use toolbox::limits;
use toolbox::run::{CallOptions, Policy, Run, RunBuilder, RunHandle};
use toolbox::tool::{ErrorKind, Output, ToolError};

use crate::session::callers::{Caller, Callers};
use crate::session::host_tools::HostCalls;
use crate::session::lanes::Lanes;
use crate::session::lines::{Line, next_line};
use crate::session::outbox::Outbox;
use crate::session::pool::Pool;
use crate::session::questions::Questions;
use crate::session::request::{self, BadLine, CallId, CallRequest, HostTool, Request};

/// One run and its threads; connections share it.
pub(crate) struct Session {
    handle: RunHandle,
    /// Gone once the session has ended.
    run: RwLock<Option<Run>>,
    pool: Pool,
    /// The calls of tools that are not parallel-safe.
    lanes: Lanes,
    callers: Callers,
    /// Decides about calls; a call may bring a tier of its own.
    policy: Policy,
}

/// What the other end of a connection is.
pub(crate) enum Role {
    /// The harness that owns the session.
    Harness,
    /// A command of the same user that uses the background session of its checkout.
    Command(Arc<dyn Control>),
}

/// The background session behind a connection.
pub(crate) trait Control: Send + Sync {
    /// Says what the session does.
    fn status(&self) -> Value;
    /// Lets the session end.
    fn stop(&self);
}

/// A client of a session.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Shared>);

struct Shared {
    session: Arc<Session>,
    role: Role,
    out: Outbox,
    questions: Questions,
    host_calls: HostCalls,
    calls: Mutex<Calls>,
    /// A call has ended.
    ended: Condvar,
}

#[derive(Default)]
struct Calls {
    closed: bool,
    under_way: BTreeMap<CallId, UnderWay>,
}

#[derive(Clone)]
struct UnderWay {
    cancel: Cancel,
    /// Set by whoever answers first: the thread that takes the call, or the cancel of one that still waits.
    taken: Arc<AtomicBool>,
}

impl Session {
    /// Starts the run; what happens within calls is told to the clients that made them.
    pub(crate) fn start(run: RunBuilder, policy: Policy, callers: Callers) -> Arc<Self> {
        let told = callers.clone();
        let run = run
            .approver(policy.clone())
            .on_start(move |chain, cancel| told.began(chain, cancel))
            .build();
        let pool = Pool::new(limits::SESSION_THREADS, limits::SESSION_QUEUE);
        Arc::new(Self {
            handle: run.handle(),
            run: RwLock::new(Some(run)),
            lanes: Lanes::new(pool.clone(), limits::SESSION_QUEUE),
            pool,
            callers,
            policy,
        })
    }

    /// Returns the way to the run.
    pub(crate) fn handle(&self) -> &RunHandle {
        &self.handle
    }

    /// Ends the run: cancels its calls, waits for them within a bound, lets go of its tools and thereby of
    /// every process.
    pub(crate) fn end(&self) {
        let run = self
            .run
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(run);
        self.pool.close(Duration::from_secs(1));
    }

    fn register(&self, host_calls: &HostCalls, tool: HostTool) -> Result<bool, ToolError> {
        match &*self.run.read().unwrap_or_else(PoisonError::into_inner) {
            Some(run) => run.update_registry(|registry| host_calls.register(registry, tool)),
            None => Err(ToolError::new(ErrorKind::Cancelled, "the run has ended")),
        }
    }
}

impl Connection {
    pub(crate) fn new(
        session: Arc<Session>,
        role: Role,
        out: Outbox,
        questions: Questions,
    ) -> Self {
        Self(Arc::new(Shared {
            session,
            role,
            host_calls: HostCalls::new(out.clone()),
            out,
            questions,
            calls: Mutex::default(),
            ended: Condvar::new(),
        }))
    }

    /// Reads and follows lines until the end of input.
    pub(crate) fn serve(&self, mut input: impl BufRead) -> io::Result<()> {
        while let Some(line) = next_line(&mut input, limits::SESSION_LINE_BYTES)? {
            self.follow(line);
        }
        Ok(())
    }

    /// Follows one line; whatever it says, the session goes on.
    pub(crate) fn follow(&self, line: Line) {
        let request = match line {
            Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => return,
            Line::Whole(line) => request::read(&line),
            Line::TooLong(beginning) => Err(request::too_long(&beginning)),
        };
        let (about, error) = match request {
            Ok(request) => match self.obey(request) {
                Ok(()) => return,
                Err((key, value, error)) => (Some((key, value)), error),
            },
            Err(BadLine { about, error }) => (about, error),
        };
        self.0.out.tell(&complaint(about, &error));
    }

    /// Lets the calls under way end by themselves, at most for `wait`. Nobody answers any more: what waits
    /// for the client ends at once.
    pub(crate) fn drain(&self, wait: Duration) {
        self.0.questions.close();
        self.0.host_calls.close();
        let deadline = Instant::now() + wait;
        let mut calls = self.lock();
        while !calls.under_way.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (calls, _) = self
                .0
                .ended
                .wait_timeout(calls, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Cancels every call and ends every question; what comes later is not followed.
    pub(crate) fn close(&self) {
        let mut calls = self.lock();
        calls.closed = true;
        let under_way: Vec<(CallId, UnderWay)> = calls
            .under_way
            .iter()
            .map(|(id, call)| (id.clone(), call.clone()))
            .collect();
        drop(calls);
        for (id, call) in under_way {
            self.cancel_call(&id, &call);
        }
        self.0.questions.close();
        self.0.host_calls.close();
    }

    fn obey(&self, request: Request) -> Result<(), (&'static str, Value, ToolError)> {
        let shared = &self.0;
        match request {
            Request::Call(call) => {
                let id = call.id.value();
                self.call(call).map_err(|error| ("id", id, error))
            }
            Request::ListTools => {
                let handle = shared.session.handle();
                shared.out.tell(&json!({
                    "tools": handle.specs(),
                    "unavailable": handle.unavailable(),
                }));
                Ok(())
            }
            Request::Cancel(id) => self
                .cancel(&id)
                .map_err(|error| ("cancel", id.value(), error)),
            Request::Answer { question, answer } => shared
                .questions
                .answer(&question, answer)
                .map_err(|error| ("answer", Value::from(question), error)),
            Request::Register(tool) => {
                let name = tool.name.clone();
                self.register(tool)
                    .map_err(|error| ("register", Value::from(name), error))
            }
            Request::Return { call, result } => shared
                .host_calls
                .give_back(&call, result)
                .map_err(|error| ("return", Value::from(call), error)),
            Request::Status => {
                let control = self
                    .control()
                    .map_err(|error| ("status", true.into(), error))?;
                shared.out.tell(&json!({ "status": control.status() }));
                Ok(())
            }
            Request::Stop => {
                let control = self
                    .control()
                    .map_err(|error| ("stop", true.into(), error))?;
                shared.out.tell(&json!({ "stopping": true }));
                control.stop();
                Ok(())
            }
        }
    }

    fn control(&self) -> Result<&dyn Control, ToolError> {
        match &self.0.role {
            Role::Command(control) => Ok(&**control),
            Role::Harness => Err(ToolError::invalid_args(
                "this is no background session: it ends with its input",
            )),
        }
    }

    fn register(&self, tool: HostTool) -> Result<(), ToolError> {
        if let Role::Command(_) = self.0.role {
            return Err(
                ToolError::invalid_args("the background session takes no tools of a host")
                    .with_hint("run `toolbox session` for a run of your own"),
            );
        }
        let name = tool.name.clone();
        let shown = self.0.session.register(&self.0.host_calls, tool)?;
        self.0
            .out
            .tell(&json!({ "registered": name, "shown": shown }));
        Ok(())
    }

    fn call(&self, call: CallRequest) -> Result<(), ToolError> {
        if let Role::Harness = self.0.role
            && (call.approved || call.approve.is_some())
        {
            return Err(ToolError::invalid_args(
                "`approved` and `approve` are for the commands of a background session",
            )
            .with_hint("start the session with --approve TIER, or answer its approvals"));
        }
        let under_way = UnderWay {
            cancel: Cancel::new(),
            taken: Arc::default(),
        };
        let mut calls = self.lock();
        if calls.closed {
            return Err(ToolError::cancelled());
        }
        if calls.under_way.contains_key(&call.id) {
            return Err(ToolError::invalid_args(format!(
                "a call with the id {} is under way",
                call.id
            ))
            .with_hint("give every call an id of its own"));
        }
        calls.under_way.insert(call.id.clone(), under_way.clone());
        drop(calls);
        let session = &self.0.session;
        let lane = session
            .handle
            .lane(&call.tool)
            .or_else(|| shared_folder(&call));
        let (connection, id) = (self.clone(), call.id.clone());
        let job = move || connection.run(call, &under_way);
        let submitted = match lane {
            Some(lane) => session.lanes.submit(lane, job),
            None => session.pool.submit(job),
        };
        submitted.map_err(|_| {
            self.lock().under_way.remove(&id);
            ToolError::new(
                ErrorKind::Unavailable,
                format!("{} calls wait already", limits::SESSION_QUEUE),
            )
            .with_hint("wait for answers before calling on")
        })
    }

    fn run(&self, call: CallRequest, under_way: &UnderWay) {
        if under_way.taken.swap(true, Ordering::AcqRel) {
            return;
        }
        let entered = self.0.session.callers.enter(Caller {
            id: call.id.clone(),
            cancel: under_way.cancel.clone(),
            out: self.0.out.clone(),
            questions: self.0.questions.clone(),
        });
        let mut options = CallOptions::new().with_cancel(under_way.cancel.clone());
        if call.approved {
            options = options.approved_by_caller();
        }
        if let Some(tier) = call.approve {
            let policy = self.0.session.policy.clone();
            options = options.with_approver(Arc::new(policy.up_to(tier)));
        }
        let result = self
            .0
            .session
            .handle()
            .dispatch(&call.tool, call.args, options);
        drop(entered);
        // The id is free again before the answer says so.
        self.lock().under_way.remove(&call.id);
        self.0.out.answer(&answer(&call.id, result));
        self.0.ended.notify_all();
    }

    fn cancel(&self, id: &CallId) -> Result<(), ToolError> {
        let Some(call) = self.lock().under_way.get(id).cloned() else {
            let message = format!("no call {id} is under way");
            return Err(ToolError::new(ErrorKind::NotFound, message)
                .with_hint("it has been answered, or was never made"));
        };
        self.cancel_call(id, &call);
        Ok(())
    }

    fn cancel_call(&self, id: &CallId, call: &UnderWay) {
        call.cancel.cancel();
        // A call that still waits for a thread is answered here: it may wait long for one.
        if !call.taken.swap(true, Ordering::AcqRel) {
            self.lock().under_way.remove(id);
            self.0.out.tell(&answer(id, Err(ToolError::cancelled())));
            self.0.ended.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane of commands of the shell in the foreground: they are no danger to one another, but share a
/// working folder, so `cd` and what follows it keep their order. What is asked about others passes them.
fn shared_folder(call: &CallRequest) -> Option<String> {
    let in_foreground = call.args["command"].is_string() && call.args["run_in_background"] != true;
    (matches!(&*call.tool, "Bash" | "bash") && in_foreground).then(|| "Bash".to_owned())
}

fn answer(id: &CallId, result: Result<Output, ToolError>) -> Value {
    match result {
        Ok(output) => {
            let images: Vec<Value> = output
                .images
                .iter()
                .map(|image| json!({ "mime": image.mime, "data": STANDARD.encode(&image.bytes) }))
                .collect();
            json!({
                "id": id.value(), "ok": true,
                "text": output.text, "data": output.data, "images": images,
            })
        }
        Err(error) => json!({ "id": id.value(), "ok": false, "error": error }),
    }
}

fn complaint(about: Option<(&'static str, Value)>, error: &ToolError) -> Value {
    let mut line = json!({ "ok": false, "error": error });
    let (key, value) = about.unwrap_or(("id", Value::Null));
    line[key] = value;
    line
}
