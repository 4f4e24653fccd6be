//! Looking at a stopped debuggee: threads, stack, scopes, variables, expressions.

use serde_json::json;

use crate::cancel::Cancel;
use crate::dap::error::DapError;
use crate::dap::machine::{Handle, State, Stop};
use crate::dap::protocol::{Frame, Scope, Variable, int, rows, text};
use crate::dap::report::{
    EvaluateReport, FrameEntry, ScopeEntry, ScopesReport, SetReport, StackReport, ThreadEntry,
    ThreadsReport, VariableEntry, VariablesReport,
};
use crate::dap::session::Session;
use crate::limits;
use crate::workspace::Workspace;

impl Session {
    /// Returns the stop, or says why there is none.
    pub(crate) fn stop(&self, operation: &'static str) -> Result<Stop, DapError> {
        match &self.monitor.look().state {
            State::Stopped(stop) => Ok(stop.clone()),
            State::Starting | State::Running => Err(DapError::Running(operation)),
            State::Exited(end) => Err(super::control::ended(end, self.timings.lifetime)),
        }
    }

    pub(crate) fn threads(&self, cancel: &Cancel) -> Result<ThreadsReport, DapError> {
        if let Some(end) = self.end() {
            return Err(super::control::ended(&end, self.timings.lifetime));
        }
        let body = self.ask("threads", serde_json::Value::Null, cancel)?;
        let stop = self.stop("threads").ok();
        let here = stop.as_ref().and_then(|stop| stop.thread);
        let read = |row: &serde_json::Value| {
            let id = int(row, "id")?;
            let state = match &stop {
                Some(_) if Some(id) == here => "stopped here",
                Some(_) => "stopped",
                None => "running",
            };
            Some(ThreadEntry {
                name: text(row, "name").unwrap_or_default(),
                state: state.to_owned(),
                id,
            })
        };
        Ok(ThreadsReport {
            threads: rows(&body, "threads", read),
        })
    }

    /// The thread that an operation is about: the named one, the stopped one, else the first that lives.
    pub(crate) fn thread(
        &self,
        named: Option<i64>,
        stop: &Stop,
        cancel: &Cancel,
    ) -> Result<i64, DapError> {
        if let Some(thread) = named.or(stop.thread) {
            return Ok(thread);
        }
        let threads = self.threads(cancel)?.threads;
        // delve marks the current goroutine so, and names none in the stop after a pause.
        let current = threads.iter().find(|thread| thread.name.starts_with('*'));
        let thread = current.or(threads.first()).map(|thread| thread.id);
        let thread = thread.unwrap_or_else(|| self.monitor.look().last_thread.unwrap_or(1));
        self.monitor.change(|machine| {
            if let State::Stopped(now) = &mut machine.state
                && now.serial == stop.serial
            {
                now.thread = Some(thread);
                machine.last_thread = Some(thread);
            }
        });
        Ok(thread)
    }

    pub(crate) fn stack(
        &self,
        workspace: &Workspace,
        named: Option<i64>,
        cancel: &Cancel,
    ) -> Result<StackReport, DapError> {
        let stop = self.stop("stack")?;
        let thread = self.thread(named, &stop, cancel)?;
        // One more than is shown tells whether there are more, also where the adapter gives no total.
        let (frames, total) = self.frames(thread, limits::DEBUG_FRAMES + 1, cancel)?;
        let total = total.unwrap_or_default().max(frames.len());
        let frames: Vec<FrameEntry> = frames
            .into_iter()
            .take(limits::DEBUG_FRAMES)
            .map(|frame| FrameEntry {
                id: self.monitor.change(|machine| {
                    let id = machine.give(Handle::Frame(frame.id));
                    machine.name_frame(id, &frame.function);
                    id
                }),
                file: shown_file(workspace, &frame),
                function: frame.function,
                line: frame.line,
            })
            .collect();
        Ok(StackReport {
            thread_id: thread,
            shown: frames.len(),
            frames,
            total,
        })
    }

    /// Asks for the innermost frames of a thread.
    pub(crate) fn frames(
        &self,
        thread: i64,
        levels: usize,
        cancel: &Cancel,
    ) -> Result<(Vec<Frame>, Option<usize>), DapError> {
        let arguments = json!({"threadId": thread, "startFrame": 0, "levels": levels});
        let body = self.ask("stackTrace", arguments, cancel)?;
        let mut frames = rows(&body, "stackFrames", Frame::read);
        // Some adapters give all there are.
        frames.truncate(levels);
        let total = int(&body, "totalFrames").and_then(|total| usize::try_from(total).ok());
        Ok((frames, total))
    }

    pub(crate) fn scopes(
        &self,
        frame_id: Option<i64>,
        cancel: &Cancel,
    ) -> Result<ScopesReport, DapError> {
        let (frame, _) = self.frame("scopes", frame_id, cancel)?;
        let body = self.ask("scopes", json!({ "frameId": frame }), cancel)?;
        let scopes = rows(&body, "scopes", Scope::read)
            .into_iter()
            .map(|scope| ScopeEntry {
                reference: self.give(Handle::Reference(scope.reference)),
                name: scope.name,
                expensive: scope.expensive,
            })
            .collect();
        Ok(ScopesReport {
            frame_id: self.give(Handle::Frame(frame)),
            scopes,
        })
    }

    pub(crate) fn variables(
        &self,
        reference: i64,
        cancel: &Cancel,
    ) -> Result<VariablesReport, DapError> {
        self.stop("variables")?;
        let wire = self.reference(reference)?;
        let (variables, total) = self.children(wire, limits::DEBUG_CHILDREN + 1, cancel)?;
        let variables: Vec<VariableEntry> = variables
            .into_iter()
            .take(limits::DEBUG_CHILDREN)
            .map(|variable| self.entry(variable, limits::DEBUG_VALUE_CHARS))
            .collect();
        Ok(VariablesReport {
            shown: variables.len(),
            variables,
            total,
        })
    }

    /// Asks for the children of a reference of the adapter; returns how many there are, too.
    pub(crate) fn children(
        &self,
        wire: i64,
        at_most: usize,
        cancel: &Cancel,
    ) -> Result<(Vec<Variable>, usize), DapError> {
        let known = self.monitor.look().size(wire);
        let mut arguments = json!({ "variablesReference": wire });
        // A million elements are not sent to show fifty; adapters that do not page send all.
        if known > at_most {
            arguments["start"] = json!(0);
            arguments["count"] = json!(at_most);
        }
        let body = self.ask("variables", arguments, cancel)?;
        let variables = rows(&body, "variables", Variable::read);
        let total = known.max(variables.len());
        Ok((variables, total))
    }

    /// A variable as it is shown.
    pub(crate) fn entry(&self, variable: Variable, max_chars: usize) -> VariableEntry {
        let (value, truncated) = cut(&variable.value, max_chars);
        let reference = self.monitor.change(|machine| {
            machine.note_size(variable.reference, variable.n_children);
            machine.give(Handle::Reference(variable.reference))
        });
        VariableEntry {
            name: variable.name,
            value,
            kind: variable.kind,
            reference,
            truncated,
        }
    }

    pub(crate) fn evaluate(
        &self,
        expression: &str,
        frame_id: Option<i64>,
        cancel: &Cancel,
    ) -> Result<EvaluateReport, DapError> {
        let (frame, function) = self.frame("evaluate", frame_id, cancel)?;
        let arguments = json!({"expression": expression, "frameId": frame,
            "context": self.row.evaluate_context()});
        let body = self.ask("evaluate", arguments, cancel)?;
        let variable = Variable {
            name: String::new(),
            value: text(&body, "result").unwrap_or_default(),
            kind: text(&body, "type").unwrap_or_default(),
            reference: int(&body, "variablesReference").unwrap_or_default(),
            n_children: usize::try_from(int(&body, "indexedVariables").unwrap_or_default())
                .unwrap_or_default(),
        };
        let entry = self.entry(variable, limits::DEBUG_RESULT_CHARS);
        Ok(EvaluateReport {
            value: entry.value,
            kind: entry.kind,
            reference: entry.reference,
            truncated: entry.truncated,
            frame: function,
            frame_id: self.give(Handle::Frame(frame)),
        })
    }

    pub(crate) fn set_variable(
        &self,
        reference: Option<i64>,
        name: &str,
        value: &str,
        cancel: &Cancel,
    ) -> Result<SetReport, DapError> {
        self.stop("set_variable")?;
        if !self.can("supportsSetVariable") {
            return Err(DapError::Unsupported {
                adapter: self.row.id.clone(),
                feature: "way to set variables".to_owned(),
            });
        }
        let wire = match reference {
            Some(reference) => self.reference(reference)?,
            None => self.scope_of(name, cancel)?,
        };
        let arguments = json!({"variablesReference": wire, "name": name, "value": value});
        let body = self.ask("setVariable", arguments, cancel)?;
        // lldb of version 19 calls it so.
        let now = text(&body, "value").or_else(|| text(&body, "result"));
        let (value, _) = cut(
            &now.unwrap_or_else(|| value.to_owned()),
            limits::DEBUG_VALUE_CHARS,
        );
        Ok(SetReport {
            name: name.to_owned(),
            value,
            kind: text(&body, "type").unwrap_or_default(),
        })
    }

    /// Finds the scope of the top frame that holds a variable.
    fn scope_of(&self, name: &str, cancel: &Cancel) -> Result<i64, DapError> {
        let (frame, function) = self.frame("set_variable", None, cancel)?;
        let body = self.ask("scopes", json!({ "frameId": frame }), cancel)?;
        for scope in rows(&body, "scopes", Scope::read) {
            if scope.expensive {
                continue;
            }
            let (variables, _) = self.children(scope.reference, usize::MAX, cancel)?;
            if variables.iter().any(|variable| variable.name == name) {
                return Ok(scope.reference);
            }
        }
        Err(DapError::not_found(
            format!("there is no variable '{name}' in {function}"),
            "pass the `reference` of the scope or the variable that holds it",
        ))
    }

    /// The adapter's number of a frame, and its function: the named one, else the top of the stop.
    pub(crate) fn frame(
        &self,
        operation: &'static str,
        frame_id: Option<i64>,
        cancel: &Cancel,
    ) -> Result<(i64, String), DapError> {
        let stop = self.stop(operation)?;
        if let Some(id) = frame_id {
            let function = self.monitor.look().function(id);
            return match self.monitor.look().take("frame", id)? {
                Handle::Frame(frame) => Ok((frame, function)),
                Handle::Reference(_) => Err(DapError::bad(
                    format!("{id} is a reference and no frame"),
                    "pass it to `variables`; frames come from `stack`",
                )),
            };
        }
        let thread = self.thread(None, &stop, cancel)?;
        let (frames, _) = self.frames(thread, 1, cancel)?;
        let top = frames.into_iter().next().ok_or_else(|| {
            DapError::not_found(
                format!("thread {thread} has no frame"),
                "see `threads` for others",
            )
        })?;
        let function = top.function.clone();
        self.monitor.change(|machine| {
            let id = machine.give(Handle::Frame(top.id));
            machine.name_frame(id, &function);
        });
        Ok((top.id, function))
    }

    fn reference(&self, id: i64) -> Result<i64, DapError> {
        if id == 0 {
            return Err(DapError::bad(
                "reference 0 holds nothing",
                "pass a reference from `scopes`, `variables` or `evaluate`",
            ));
        }
        match self.monitor.look().take("reference", id)? {
            Handle::Reference(reference) => Ok(reference),
            Handle::Frame(_) => Err(DapError::bad(
                format!("{id} is a frame and no reference"),
                "pass it to `scopes`, and the references that it gives to `variables`",
            )),
        }
    }

    pub(crate) fn give(&self, handle: Handle) -> i64 {
        self.monitor.change(|machine| machine.give(handle))
    }

    /// A request about the debuggee.
    pub(crate) fn ask(
        &self,
        command: &str,
        arguments: serde_json::Value,
        cancel: &Cancel,
    ) -> Result<serde_json::Value, DapError> {
        self.client
            .request(command, arguments, self.timings.request_wait, cancel)
            .map_err(|error| match error {
                DapError::Died { .. } => self.explain(error),
                other => other,
            })
    }
}

/// Where a frame is, as answers show it.
pub(crate) fn shown_file(workspace: &Workspace, frame: &Frame) -> Option<String> {
    match &frame.path {
        Some(path) => Some(workspace.display(std::path::Path::new(path))),
        None => frame.source.clone(),
    }
}

/// Cuts a value between characters; tells whether it was cut.
pub(crate) fn cut(value: &str, max_chars: usize) -> (String, bool) {
    let shown = crate::text::clip(value, max_chars);
    let truncated = shown.len() != value.len() || shown != value;
    (shown.into_owned(), truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    // R87: 400 characters are whole, 401 are cut.
    #[test]
    fn values_are_cut_between_characters() {
        let whole = "é".repeat(limits::DEBUG_VALUE_CHARS);
        assert_eq!(
            cut(&whole, limits::DEBUG_VALUE_CHARS),
            (whole.clone(), false)
        );
        let (shown, truncated) = cut(&format!("{whole}é"), limits::DEBUG_VALUE_CHARS);
        assert_eq!(shown, format!("{whole}…"));
        assert!(truncated);
    }
}
