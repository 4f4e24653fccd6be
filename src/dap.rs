//! Debug sessions over the debug adapter protocol.
//!
//! A [`Supervisor`] belongs to the process: it knows the adapters and starts them. A [`Conversation`] is
//! opened from it and has at most one session at a time; it keeps the breakpoints that were asked for, so
//! that they can be set before a launch and survive it. What an operation found comes back as a report. The
//! protocol's orders differ by adapter and version, so everything is decided from what came, and nothing is
//! waited for without a deadline. This module knows no tool and no JSON arguments of a call.
//!
//! Inside: `adapters` (the table) and `detect` (what is usable here), `plan` and `build` (how a program is
//! launched), `transport` and `client` (the wire), `machine` (the state), `session` (its start) and
//! `keeper` (its end), `control` (going on and stopping) and `inspect` (looking), `report` (what callers see).

mod adapters;
mod breakpoints;
mod build;
mod client;
mod clock;
mod control;
mod conversation;
mod detect;
mod error;
mod family;
mod inspect;
mod keeper;
mod machine;
mod output;
mod plan;
mod protocol;
mod report;
mod session;
mod supervisor;
mod transport;

pub use crate::dap::adapters::{AdapterRow, Dialect, Transport, builtin};
pub use crate::dap::breakpoints::LineBreakpoint;
pub use crate::dap::clock::{Clock, ManualClock, SystemClock};
pub use crate::dap::conversation::Conversation;
pub use crate::dap::error::DapError;
pub use crate::dap::plan::{AttachSpec, LaunchSpec};
pub use crate::dap::report::{
    AdapterEntry, AdaptersReport, BreakpointEntry, BreakpointsReport, EvaluateReport,
    ExceptionEntry, FrameEntry, OutputReport, Place, ScopeEntry, ScopesReport, SetReport,
    SourceLine, StackReport, StopReport, ThreadEntry, ThreadsReport, VariableEntry,
    VariablesReport,
};
pub use crate::dap::supervisor::{Options, Supervisor, Timings};
