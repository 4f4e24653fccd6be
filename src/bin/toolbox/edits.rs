//! `toolbox ast-edit`.

use serde_json::{Value, json};

use crate::args::{AstEdit, Global};
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::paint;
use crate::search;
use crate::speak;

/// Stages a rewrite.
pub(crate) fn ast_edit(console: &Console, global: &Global, args: AstEdit) -> Step {
    let host = Host::open(console, global)?;
    host.edits(console)?;
    // Who leaves the rewrite out gives a path in its place, and would get that path as code.
    if args.paths.is_empty()
        && let Some(noun) = host.named(&args.rewrite)
    {
        return Err(console.misuse_with_hint(
            &format!("REWRITE is missing? `{}` is a {noun}", args.rewrite),
            "write PATTERN REWRITE PATH; to put that very text there, name a PATH after it, such as `.`",
        ));
    }
    let mut call = search::scope(console, &host, args.scope, &args.paths)?;
    call.insert("pattern".to_owned(), json!(args.pattern));
    call.insert("rewrite".to_owned(), json!(args.rewrite));
    call.insert(
        "allow_syntax_errors".to_owned(),
        json!(args.allow_syntax_errors),
    );
    let output = host.dispatch(console, "ast_edit", Value::Object(call))?;
    search::tell_skipped(console, &output.data);
    let edit_id = output.data["edit_id"].as_str();
    if console.color && !console.json {
        let text = speak::answer(&output);
        console.print(&paint::diff(&console.safe(&text)))?;
    } else {
        console.answer(&output)?;
    }
    if let Some(edit_id) = edit_id {
        if let Some(root) = host.root_elsewhere(&args.paths)
            && console.terminal
        {
            console.note(&format!("searched all of {}", root.display()));
        }
        console.note(&format!(
            "no file was changed; apply it with `toolbox resolve {edit_id} accept`"
        ));
    }
    found(edit_id.is_some())
}
