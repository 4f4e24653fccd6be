//! `toolbox call`: any tool by its name.

use std::io::Read;

use serde_json::Value;
use toolbox::tool::ToolError;

use crate::args::{Call, Global};
use crate::background::{self, Via};
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::search::is_empty;

/// Calls a tool with raw arguments.
pub(crate) fn call(console: &Console, global: &Global, args: Call) -> Step {
    let mut text = args.arguments;
    if text == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|err| console.misuse(&format!("cannot read standard input: {err}")))?;
    }
    let arguments: Value = serde_json::from_str(&text).map_err(|err| {
        let error = ToolError::invalid_args(format!("the arguments are no JSON: {err}"));
        console.fail(&error.with_hint("pass one JSON object, such as '{\"edit_id\":\"edit_1\"}'"))
    })?;
    let output = if args.background || background::is_kept(&args.name, &arguments) {
        let via = Via {
            approve: args.approve,
        };
        background::call_with(console, global, &args.name, arguments, via)?
    } else {
        Host::open(console, global)?.dispatch(console, &args.name, arguments)?
    };
    console.answer(&output)?;
    // The same codes as those of the subcommands.
    match args.name.as_str() {
        "ast_grep" => found(!is_empty(&output.data, "matches")),
        "ast_edit" => found(output.data["edit_id"].is_string()),
        "eval" => crate::eval::ended_well(&output),
        _ => Ok(()),
    }
}
