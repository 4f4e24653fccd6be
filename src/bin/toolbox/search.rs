//! `toolbox ast-grep`.

use std::time::Instant;

use serde_json::{Map, Value, json};
use toolbox::syntax::{Language, languages};

use crate::args::{AstGrep, Global, ScopeArgs};
use crate::host::{Host, found};
use crate::output::{Console, Step};
use crate::paint;

/// Searches, or says what is built in, or how a pattern is read.
pub(crate) fn ast_grep(console: &Console, global: &Global, args: AstGrep) -> Step {
    if args.list_languages {
        return list_languages(console);
    }
    // The parser of the command line requires it otherwise.
    let pattern = args.pattern.unwrap_or_default();
    let host = Host::open(console, global)?;
    if args.explain {
        let Some(language) = &args.scope.lang else {
            return Err(console.misuse("--explain needs a language: add -l LANG"));
        };
        let context = args.scope.context.as_deref();
        let explanation = host.explain(console, &pattern, language, context)?;
        return console.answer(&explanation);
    }
    let started = Instant::now();
    let mut call = scope(console, &host, args.scope, &args.paths)?;
    call.insert("pattern".to_owned(), json!(pattern));
    if let Some(max_results) = args.max_results {
        call.insert("max_results".to_owned(), json!(max_results));
    }
    if let Some(context_lines) = args.context_lines {
        call.insert("context_lines".to_owned(), json!(context_lines));
    }
    let output = host.dispatch(console, "ast_grep", Value::Object(call))?;
    tell_skipped(console, &output.data);
    console.detail(&format!("searched in {:.0?}", started.elapsed()));
    if console.color && !console.json {
        console.print(&paint::matches(&output))?;
    } else {
        console.answer(&output)?;
    }
    found(!is_empty(&output.data, "matches"))
}

/// Puts the scope of a command into the arguments of its tool.
pub(crate) fn scope(
    console: &Console,
    host: &Host,
    scope: ScopeArgs,
    paths: &[std::path::PathBuf],
) -> Step<Map<String, Value>> {
    let mut call = Map::new();
    let paths = host.paths(console, paths)?;
    if !paths.is_empty() {
        call.insert("path".to_owned(), json!(paths));
    }
    for (name, value) in [("language", scope.lang), ("context", scope.context)] {
        if let Some(value) = value {
            call.insert(name.to_owned(), json!(value));
        }
    }
    call.insert("globs".to_owned(), json!(scope.globs));
    call.insert("hidden".to_owned(), json!(scope.hidden));
    call.insert("no_ignore".to_owned(), json!(scope.no_ignore));
    Ok(call)
}

/// Names every skipped file; the answer itself names the first few.
pub(crate) fn tell_skipped(console: &Console, data: &Value) {
    for skipped in data["files_skipped"].as_array().into_iter().flatten() {
        let text = |key: &str| skipped[key].as_str().unwrap_or_default().to_owned();
        console.detail(&format!("skipped {}: {}", text("file"), text("reason")));
    }
}

/// Tells whether the list under a key holds nothing.
pub(crate) fn is_empty(data: &Value, key: &str) -> bool {
    data[key].as_array().is_none_or(Vec::is_empty)
}

fn list_languages(console: &Console) -> Step {
    if console.json {
        let row = |language: &&Language| {
            json!({
                "id": language.id,
                "aliases": language.aliases,
                "extensions": language.extensions,
                "file_names": language.file_names,
                "interpreters": language.interpreters,
            })
        };
        let rows: Vec<Value> = languages::ALL.iter().map(row).collect();
        return console.print_json(&json!({ "languages": rows }));
    }
    let mut text = String::new();
    for language in languages::ALL {
        let files: Vec<String> = language
            .extensions
            .iter()
            .map(|extension| format!(".{extension}"))
            .chain(language.file_names.iter().map(|name| (*name).to_owned()))
            .collect();
        let aliases = language.aliases.join(", ");
        text.push_str(&format!(
            "{:<12}{aliases:<24}{}\n",
            language.id,
            files.join(" ")
        ));
    }
    console.print(&text)
}
