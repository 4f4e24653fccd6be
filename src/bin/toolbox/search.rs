//! `toolbox ast-grep`.

use std::time::Instant;

use serde_json::{Map, Value, json};
use toolbox::syntax::{Language, languages};
use toolbox::tool::Output;

use crate::args::{AstGrep, Global, ScopeArgs};
use crate::host::{Host, found, is_number};
use crate::matches::Listing;
use crate::output::{Console, Step};
use crate::paint;
use crate::shorten;
use crate::speak;

/// Searches, or says what is built in, or how a pattern is read.
pub(crate) fn ast_grep(console: &Console, global: &Global, args: AstGrep) -> Step {
    if args.list_languages {
        return list_languages(console);
    }
    // The parser of the command line requires it otherwise.
    let pattern = args.pattern.unwrap_or_default();
    let mut host = Host::open(console, global)?;
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
    let short = args.count || args.files_with_matches;
    if let Some(max_results) = args.max_results.or(short.then_some(usize::MAX)) {
        call.insert("max_results".to_owned(), json!(max_results));
    }
    if let Some(context_lines) = args.context_lines {
        call.insert("context_lines".to_owned(), json!(context_lines));
    }
    // A person's terminal is shown the same object with what could steer it taken out.
    let listing = (console.json && !short && !console.terminal).then(Listing::new);
    host.list_matches(listing.as_ref().map(Listing::on_match));
    let mut output = host.dispatch(console, "ast_grep", Value::Object(call))?;
    tell_skipped(console, &output.data);
    console.detail(&format!("searched in {:.0?}", started.elapsed()));
    let anything = output.data["shown"] != 0;
    if let Some(listing) = listing {
        listing.close(&output.data)?;
        return found(anything);
    }
    if short {
        match args.count {
            true => print_counts(console, &output)?,
            false => print_files(console, &output)?,
        }
        return found(anything);
    }
    if let Some(max_lines) = args.max_lines
        && !console.json
    {
        output.text = shorten::lines(&output.text, &output.data, max_lines);
    }
    if console.color && !console.json {
        output.text = console.safe(&speak::answer(&output)).into_owned();
        console.print(&paint::matches(&output))?;
    } else {
        console.answer(&output)?;
    }
    if let Some(root) = host.root_elsewhere(&args.paths)
        && console.terminal
    {
        console.note(&format!("searched all of {}", root.display()));
    }
    found(anything)
}

/// Prints the number of matches of each file, and the sentence of the whole answer.
fn print_counts(console: &Console, output: &Output) -> Step {
    let counts = shorten::counts(&output.data);
    if console.json {
        let data = &output.data;
        let mut row = json!({
            "count": data["shown"],
            "truncated": data["truncated"],
            "files": counts,
            "files_searched": data["files_searched"],
            "files_skipped": data["files_skipped"],
            "hint": data["hint"],
        });
        keep_given_up(&mut row, data);
        return console.print_json(&row);
    }
    let mut text = String::new();
    for (file, count) in &counts {
        text.push_str(&format!("{file}:{count}\n"));
    }
    let spoken = speak::answer(output);
    let summary = spoken.rsplit("\n\n").next().unwrap_or_default();
    console.show(&format!("{text}{summary}"))
}

/// Prints the files with matches; without one, why.
fn print_files(console: &Console, output: &Output) -> Step {
    let counts = shorten::counts(&output.data);
    let files: Vec<&str> = counts.keys().copied().collect();
    if console.json {
        let data = &output.data;
        let mut row = json!({ "files": files, "truncated": data["truncated"] });
        keep_given_up(&mut row, data);
        return console.print_json(&row);
    }
    if output.data.get("given_up").is_some() {
        console.note("candidates were given up: files may be missing");
    }
    if output.data["truncated"] == Value::Bool(true) {
        console.note("more matches exist than --max-results: files may be missing");
    }
    if files.is_empty() {
        console.note(&speak::answer(output));
        return Ok(());
    }
    console.show(&files.join("\n"))
}

/// Says also in a shorter answer how many candidates were given up.
fn keep_given_up(row: &mut Value, data: &Value) {
    if let Some(n) = data.get("given_up") {
        row["given_up"] = n.clone();
    }
}

/// Puts the scope of a command into the arguments of its tool.
pub(crate) fn scope(
    console: &Console,
    host: &Host,
    scope: ScopeArgs,
    paths: &[std::path::PathBuf],
) -> Step<Map<String, Value>> {
    if let Some(number) = scope
        .context
        .as_deref()
        .filter(|context| is_number(context))
    {
        return Err(console.misuse_with_hint(
            &format!("--context names a rung of the ladder, and '{number}' is none"),
            &format!("lines of context: -U {number}"),
        ));
    }
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
