//! Tools that the host of a session brings along (R109).
//!
//! They join the registry under their tier and pass the gate as any other; a call to one goes out as the
//! event `call` and waits for the line `return`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Sender, bounded};
use serde_json::{Value, json};
use toolbox::registry::{Registry, RegistryError};
use toolbox::tool::{Call, ErrorKind, Output, ToolError, ToolSpec};

use crate::session::outbox::Outbox;
use crate::session::request::HostTool;

type Returned = Result<Output, ToolError>;

/// The calls that wait for their host; clones share them.
#[derive(Clone)]
pub(crate) struct HostCalls(Arc<Shared>);

struct Shared {
    out: Outbox,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    last: u64,
    waiting: BTreeMap<String, Sender<Returned>>,
}

impl HostCalls {
    pub(crate) fn new(out: Outbox) -> Self {
        Self(Arc::new(Shared {
            out,
            state: Mutex::default(),
        }))
    }

    /// Adds a tool of the host; tells whether this surface shows it.
    pub(crate) fn register(
        &self,
        registry: &mut Registry,
        tool: HostTool,
    ) -> Result<bool, ToolError> {
        check_schema(&tool)?;
        let name = tool.name.clone();
        let spec = ToolSpec {
            name: tool.name,
            tier: tool.tier,
            parallel_safe: tool.parallel_safe,
            description: tool.description,
            schema: tool.schema,
        };
        let calls = self.clone();
        let tool = spec.name.clone();
        registry
            .insert_dynamic(spec, move |call, args| calls.run(&tool, call, args))
            .map_err(|err| {
                let hint = match &err {
                    RegistryError::Duplicate(_) | RegistryError::Alias(..) => "choose another name",
                    RegistryError::BadName(_)
                    | RegistryError::OpenArguments(_)
                    | RegistryError::BadSchema(_) => "nothing was registered",
                };
                ToolError::from_cause(ErrorKind::InvalidArgs, err).with_hint(hint)
            })?;
        Ok(registry.get(&name).is_some())
    }

    /// Gives what the host returned to the call that waits for it.
    pub(crate) fn give_back(&self, call: &str, returned: Returned) -> Result<(), ToolError> {
        let Some(waiting) = self.lock().waiting.remove(call) else {
            let message = format!("no call {call} waits for a return");
            return Err(ToolError::new(ErrorKind::NotFound, message)
                .with_hint("it has returned, was cancelled, or was never made"));
        };
        let _ = waiting.try_send(returned);
        Ok(())
    }

    /// Ends every waiting call.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for waiting in std::mem::take(&mut state.waiting).into_values() {
            let _ = waiting.try_send(Err(gone()));
        }
    }

    fn run(&self, tool: &str, call: &Call<'_>, args: Value) -> Returned {
        let (sender, returned) = bounded(1);
        let number = {
            let mut state = self.lock();
            if state.closed {
                return Err(gone());
            }
            state.last += 1;
            let number = format!("c_{}", state.last);
            state.waiting.insert(number.clone(), sender.clone());
            number
        };
        let outer: Vec<&str> = call.chain().names().collect();
        let mut event = json!({ "event": "call", "call": number, "tool": tool, "args": args });
        if let [outer @ .., _] = &outer[..]
            && !outer.is_empty()
        {
            event["outer"] = Value::from(outer.to_vec());
        }
        self.0.out.tell(&event);
        let waker = call.cancel().on_cancel(move || {
            let _ = sender.try_send(Err(ToolError::cancelled()));
        });
        // A host takes as long as it takes, by contract; a cancel or its end stops the wait.
        let res = returned.recv().unwrap_or_else(|_| Err(gone()));
        drop(waker);
        if self.lock().waiting.remove(&number).is_some() {
            self.0
                .out
                .tell(&json!({ "event": "call_cancelled", "call": number }));
        }
        res
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gone() -> ToolError {
    ToolError::new(ErrorKind::Cancelled, "the host of the tool has gone")
}

/// A model interface takes the schema of an object and nothing else.
fn check_schema(tool: &HostTool) -> Result<(), ToolError> {
    let bad = |what: &str| {
        let message = format!("the schema of '{}' {what}", tool.name);
        Err(ToolError::invalid_args(message).with_hint(
            "pass a JSON schema of an object: {\"type\":\"object\",\"properties\":{..}}",
        ))
    };
    if !tool.schema.is_object() {
        return bad("is missing or no object");
    }
    if tool.schema["type"] != "object" {
        return bad("does not have the type \"object\"");
    }
    if !matches!(tool.schema["properties"], Value::Null | Value::Object(_)) {
        return bad("has properties that are no object");
    }
    if !matches!(tool.schema["required"], Value::Null | Value::Array(_)) {
        return bad("has a `required` that is no list");
    }
    Ok(())
}
