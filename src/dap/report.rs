//! What the operations of a session found. `Display` is what a model or a person reads, `Serialize` the
//! JSON of the same.

use std::fmt;

use serde::Serialize;

/// The adapters, and whether they are usable here (R75).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdaptersReport {
    /// One entry for each known adapter.
    pub adapters: Vec<AdapterEntry>,
}

/// One adapter here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterEntry {
    /// The name by which `adapter` picks it.
    pub id: String,
    /// Whether it can be started here.
    pub usable: bool,
    /// What was found, or what is missing.
    pub reason: String,
    /// The command that starts it, if its program was found.
    pub command: Option<String>,
    /// The folder of its root marker, if there is one.
    pub root: Option<String>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file, relative to the workspace.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// Where a session is (R76): the answer to everything that lets the program go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StopReport {
    /// `none`, `starting`, `running`, `stopped` or `exited`.
    pub state: String,
    /// Why it stopped or ended.
    pub reason: Option<String>,
    /// The thread that stopped.
    pub thread_id: Option<i64>,
    /// Its top frame.
    pub frame_id: Option<i64>,
    /// The file of the top frame.
    pub file: Option<String>,
    /// The line of the top frame.
    pub line: Option<usize>,
    /// The function of the top frame.
    pub function: Option<String>,
    /// The lines around it.
    pub source: Vec<SourceLine>,
    /// The breakpoint that was hit.
    pub breakpoint: Option<Place>,
    /// The first local variables.
    pub locals: Vec<VariableEntry>,
    /// The exception that was raised.
    pub exception: Option<ExceptionEntry>,
    /// The program's exit status, after its end.
    pub exit_code: Option<i64>,
    /// The breakpoints that no stop was at, after the end.
    pub never_hit: Vec<Place>,
    /// What the program wrote since the last answer; the last part of it.
    pub new_output: String,
    /// The adapter.
    pub adapter: Option<String>,
    /// What is debugged.
    pub program: Option<String>,
    /// What is worth knowing besides.
    pub notes: Vec<String>,
}

/// One line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// Whether the program stands there.
    pub current: bool,
}

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExceptionEntry {
    /// Its type, or the adapter's name for it.
    pub name: String,
    /// What it says.
    pub message: Option<String>,
    /// When the program stops at such, such as `always` or `unhandled`.
    pub mode: Option<String>,
}

/// A variable, or an element of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableEntry {
    /// Its name.
    pub name: String,
    /// Its value, cut.
    pub value: String,
    /// Its type, if the adapter says.
    #[serde(rename = "type")]
    pub kind: String,
    /// Under which `variables` lists what it holds; 0 when it holds nothing.
    pub reference: i64,
    /// Whether the value was cut.
    pub truncated: bool,
}

/// Breakpoints (R77).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakpointsReport {
    /// The file, when one was named.
    pub file: Option<String>,
    /// Its breakpoints, or those of all files.
    pub breakpoints: Vec<BreakpointEntry>,
    /// The kinds of exception to stop at, if they were chosen.
    pub exceptions: Option<Vec<String>>,
    /// What is worth knowing besides.
    pub notes: Vec<String>,
    /// Whether a session has seen them.
    #[serde(skip)]
    pub live: bool,
}

/// One breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakpointEntry {
    /// The file.
    pub file: String,
    /// The line where it is.
    pub line: usize,
    /// Whether the program can stop there; without a session nobody knows.
    pub verified: bool,
    /// The line that was asked for, when the adapter put it elsewhere.
    pub moved_from: Option<usize>,
    /// What the adapter says of it.
    pub message: Option<String>,
    /// Stops only where this is true.
    pub condition: Option<String>,
    /// Stops only at certain hits.
    pub hit_condition: Option<String>,
    /// Does not stop but writes this.
    pub log_message: Option<String>,
    /// How often it was hit in this session.
    pub hits: u64,
}

/// The threads (R84).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadsReport {
    /// One entry for each.
    pub threads: Vec<ThreadEntry>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadEntry {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// `running` or `stopped`; the one that `stack` shows is `stopped here`.
    pub state: String,
}

/// A stack (R85).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackReport {
    /// The thread.
    pub thread_id: i64,
    /// The frames, innermost first.
    pub frames: Vec<FrameEntry>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are, as far as the adapter says.
    pub total: usize,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrameEntry {
    /// Under which `scopes` and `evaluate` find it, until the program goes on.
    pub id: i64,
    /// The function.
    pub function: String,
    /// The file, or the adapter's name of the source; null where there is none.
    pub file: Option<String>,
    /// The line, from 1; 0 where there is none.
    pub line: usize,
}

/// The scopes of a frame (R86).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScopesReport {
    /// The frame.
    pub frame_id: i64,
    /// One entry for each scope.
    pub scopes: Vec<ScopeEntry>,
}

/// One scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScopeEntry {
    /// Its name.
    pub name: String,
    /// Under which `variables` lists it.
    pub reference: i64,
    /// Whether listing it takes long.
    pub expensive: bool,
}

/// Variables (R87).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariablesReport {
    /// One entry for each that is listed.
    pub variables: Vec<VariableEntry>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
}

/// The value of an expression (R88).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvaluateReport {
    /// The value, cut.
    pub value: String,
    /// Its type, if the adapter says.
    #[serde(rename = "type")]
    pub kind: String,
    /// Under which `variables` lists what it holds; 0 when it holds nothing.
    pub reference: i64,
    /// Whether the value was cut.
    pub truncated: bool,
    /// The function of the frame that it was evaluated in.
    pub frame: String,
    /// That frame.
    pub frame_id: i64,
}

/// A variable that was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetReport {
    /// The variable.
    pub name: String,
    /// Its new value.
    pub value: String,
    /// Its type, if the adapter says.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What the program wrote (R89).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputReport {
    /// The last part of its output and error.
    pub text: String,
    /// How many bytes came before that and were dropped.
    pub dropped_bytes: u64,
}

impl fmt::Display for AdaptersReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, adapter) in self.adapters.iter().enumerate() {
            let usable = if adapter.usable {
                "usable"
            } else {
                "not usable"
            };
            if idx > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {usable}: {}", adapter.id, adapter.reason)?;
            if let Some(root) = &adapter.root {
                write!(f, " (root {root}")?;
                match &adapter.command {
                    Some(command) => write!(f, ", {command})")?,
                    None => write!(f, ")")?,
                }
            } else if let Some(command) = &adapter.command {
                write!(f, " ({command})")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for StopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.as_deref().unwrap_or("the program");
        match self.state.as_str() {
            "none" => write!(f, "no debug session")?,
            "running" => write!(f, "still running: {program}")?,
            "exited" => {
                let reason = self.reason.as_deref().unwrap_or("exited");
                write!(f, "{reason}")?;
                if let Some(code) = self.exit_code {
                    write!(f, " with code {code}")?;
                }
                write!(f, ": {program}")?;
            }
            "stopped" => self.write_stop(f)?,
            other => write!(f, "{other}: {program}")?,
        }
        for line in &self.source {
            let mark = if line.current { "->" } else { "  " };
            let text = format!("{mark} {:>4}  {}", line.line, line.text);
            write!(f, "\n{}", text.trim_end())?;
        }
        if !self.locals.is_empty() {
            write!(f, "\nlocals:")?;
            for local in &self.locals {
                write!(f, "\n  {local}")?;
            }
        }
        if !self.never_hit.is_empty() {
            let places: Vec<String> = self.never_hit.iter().map(Place::to_string).collect();
            write!(f, "\nbreakpoints never hit: {}", places.join(", "))?;
        }
        if !self.new_output.is_empty() {
            write!(f, "\noutput since the last answer:")?;
            for line in self.new_output.lines() {
                write!(f, "\n  {line}")?;
            }
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

impl StopReport {
    fn write_stop(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "stopped ({})",
            self.reason.as_deref().unwrap_or("unknown")
        )?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}")?,
            (Some(file), None) => write!(f, " in {file}")?,
            _ => {}
        }
        if let Some(function) = &self.function {
            write!(f, " in {function}")?;
        }
        if let Some(thread) = self.thread_id {
            write!(f, ", thread {thread}")?;
        }
        if let Some(frame) = self.frame_id {
            write!(f, ", frame {frame}")?;
        }
        if let Some(breakpoint) = &self.breakpoint {
            write!(f, "\nhit breakpoint {breakpoint}")?;
        }
        if let Some(exception) = &self.exception {
            write!(f, "\nexception {}", exception.name)?;
            if let Some(message) = &exception.message {
                write!(f, ": {message}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for VariableEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.kind.is_empty() {
            write!(f, ": {}", self.kind)?;
        }
        write!(f, " = {}", one_line(&self.value))?;
        if self.reference != 0 {
            write!(f, "  [reference {}]", self.reference)?;
        }
        Ok(())
    }
}

impl fmt::Display for BreakpointsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.breakpoints.len()) {
            (Some(file), 0) => write!(f, "no breakpoints in {file}")?,
            (None, 0) => write!(f, "no breakpoints")?,
            (_, 1) => write!(f, "1 breakpoint")?,
            (_, n) => write!(f, "{n} breakpoints")?,
        }
        if !self.live && !self.breakpoints.is_empty() {
            write!(f, ", set at the next launch")?;
        }
        for breakpoint in &self.breakpoints {
            write!(f, "\n  {breakpoint}")?;
            if self.live {
                match (breakpoint.verified, &breakpoint.message) {
                    (true, _) => write!(f, ", verified")?,
                    (false, Some(message)) => write!(f, ", not verified: {message}")?,
                    (false, None) => write!(f, ", not verified")?,
                }
                if breakpoint.hits > 0 {
                    write!(f, ", hits {}", breakpoint.hits)?;
                }
            }
        }
        if let Some(exceptions) = &self.exceptions {
            match exceptions.is_empty() {
                true => write!(f, "\nexceptions: none")?,
                false => write!(f, "\nexceptions: {}", exceptions.join(", "))?,
            }
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

impl fmt::Display for BreakpointEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if let Some(from) = self.moved_from {
            write!(f, " (moved from line {from})")?;
        }
        let details = [
            ("when", &self.condition),
            ("at hits", &self.hit_condition),
            ("logs", &self.log_message),
        ];
        for (word, detail) in details {
            if let Some(detail) = detail {
                write!(f, " {word} `{detail}`")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for ThreadsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.threads.is_empty() {
            return write!(f, "no threads");
        }
        for (idx, thread) in self.threads.iter().enumerate() {
            let end = if idx > 0 { "\n" } else { "" };
            write!(f, "{end}{}  {} ({})", thread.id, thread.name, thread.state)?;
        }
        Ok(())
    }
}

impl fmt::Display for StackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.thread_id)?;
        for (idx, frame) in self.frames.iter().enumerate() {
            write!(f, "\n  #{idx} {}", frame.function)?;
            match &frame.file {
                Some(file) if frame.line > 0 => write!(f, " at {file}:{}", frame.line)?,
                Some(file) => write!(f, " in {file}")?,
                None => {}
            }
            write!(f, "  [frame {}]", frame.id)?;
        }
        if self.total > self.shown {
            write!(f, "\n  … {} more", self.total - self.shown)?;
        }
        Ok(())
    }
}

impl fmt::Display for ScopesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.frame_id)?;
        for scope in &self.scopes {
            write!(f, "\n  {}  [reference {}]", scope.name, scope.reference)?;
            if scope.expensive {
                write!(f, " (takes long)")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for VariablesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variables.is_empty() {
            return write!(f, "nothing in it");
        }
        for (idx, variable) in self.variables.iter().enumerate() {
            let end = if idx > 0 { "\n" } else { "" };
            write!(f, "{end}{variable}")?;
        }
        if self.total > self.shown {
            write!(f, "\n… {} more", self.total - self.shown)?;
        }
        Ok(())
    }
}

impl fmt::Display for EvaluateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() && self.reference != 0 {
            write!(f, "{{...}}")?;
        } else if self.value.is_empty() {
            write!(f, "(no value)")?;
        } else {
            write!(f, "{}", self.value)?;
        }
        if !self.kind.is_empty() {
            write!(f, "  ({})", self.kind)?;
        }
        if self.reference != 0 {
            write!(f, "  [reference {}]", self.reference)?;
        }
        if !self.frame.is_empty() {
            write!(f, "\nin {}", self.frame)?;
        }
        Ok(())
    }
}

impl fmt::Display for SetReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, one_line(&self.value))
    }
}

impl fmt::Display for OutputReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dropped_bytes > 0 {
            writeln!(f, "[{} bytes before this were dropped]", self.dropped_bytes)?;
        }
        if self.text.is_empty() {
            return write!(f, "no output");
        }
        f.write_str(&self.text)
    }
}

/// A value on one line of a list.
fn one_line(value: &str) -> String {
    value.replace('\r', "\\r").replace('\n', "\\n")
}
