//! Calls of the tools whose state outlives one command.
//!
//! A debugger session, an interpreter, a warm language server live in the background session of the
//! checkout; every command that needs one calls it from here.

use serde_json::Value;
use toolbox::tool::Output;

use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};

/// Calls a tool in the background session of this checkout; starts the session where none runs.
pub(crate) fn call(console: &Console, global: &Global, name: &str, args: Value) -> Step<Output> {
    let host = Host::open(console, global)?;
    host.dispatch(console, name, args)
}
