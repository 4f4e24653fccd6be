//! From what a server said to what is told: paths as answers show them, places as people count them.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Diagnostic, Severity};
use crate::lsp::client::Server;
use crate::lsp::convert::Lines;
use crate::lsp::detect::guesses_flags;
use crate::lsp::published;
use crate::lsp::uri;
use crate::text::{LineIndex, UTF8_BOM};
use crate::workspace::Workspace;

/// Turns what a server said about a file into errors and warnings, sorted, each once.
pub(crate) fn told(
    workspace: &Workspace,
    server: &Server,
    path: &Path,
    items: &[published::Diagnostic],
) -> Vec<Diagnostic> {
    if items.is_empty() {
        return Vec::new();
    }
    // The text that the server has is the one in which it counts.
    let text = match server.document(path) {
        Some(document) => document.text,
        None => on_disk(path),
    };
    let lines = Lines::new(&text);
    let index = LineIndex::new(text.as_bytes());
    let file = workspace.display(path);
    let encoding = server.row().diagnoses_in.unwrap_or(server.encoding());
    let mut told: Vec<Diagnostic> = trusted(server, items)
        .filter_map(|item| {
            let at = index.position(lines.offset(item.range.start, encoding));
            Some(Diagnostic {
                path: path.to_owned(),
                file: file.clone(),
                line: at.line,
                column: at.column,
                severity: severity(item.severity)?,
                code: item.code.clone(),
                message: item.message.clone(),
                source: Some(
                    item.source
                        .clone()
                        .unwrap_or_else(|| server.id().to_owned()),
                ),
            })
        })
        .collect();
    told.sort();
    told.dedup();
    told
}

/// What rust-analyzer calls what it finds itself, beside what the compiler says.
const NATIVE: Option<&str> = Some("rust-analyzer");

/// Leaves out what a server says that is no news or not known to be true.
///
/// rust-analyzer publishes what it finds itself beside what the compiler finds, each in its time: where the
/// compiler speaks of the same line, its words are told, and of the syntax it alone is told: it may see the same
/// mistake in another line. Without the standard library it does not know that
/// `&[i32; 1]` is a `&[i32]`, so that of its own findings only those about the syntax count.
pub(crate) fn trusted<'a>(
    server: &Server,
    items: &'a [published::Diagnostic],
) -> impl Iterator<Item = &'a published::Diagnostic> {
    let is_blind = items.iter().any(|item| item.source.as_deref() == NATIVE) && server.lacks_std();
    trusted_of(items, is_blind)
}

fn trusted_of(
    items: &[published::Diagnostic],
    is_blind: bool,
) -> impl Iterator<Item = &published::Diagnostic> {
    let is_syntax = |item: &published::Diagnostic| item.code.as_deref() == Some("syntax-error");
    without_twins(items)
        .filter(move |item| !is_blind || item.source.as_deref() != NATIVE || is_syntax(item))
}

fn without_twins(items: &[published::Diagnostic]) -> impl Iterator<Item = &published::Diagnostic> {
    // A compiler that stops at the syntax has no code for that.
    let stops_at_syntax = items.iter().any(|item| {
        let is_error = item.severity == published::Severity::Error;
        item.source.as_deref() == Some("rustc") && is_error && item.code.is_none()
    });
    items.iter().filter(move |item| {
        let is_syntax = item.code.as_deref() == Some("syntax-error");
        if item.source.as_deref() == NATIVE && is_syntax && stops_at_syntax {
            return false;
        }
        let is_twin = |other: &published::Diagnostic| {
            other.source.as_deref() != NATIVE
                && (other.code == item.code || other.severity == item.severity)
                && other.range.start.line == item.range.start.line
        };
        item.source.as_deref() != NATIVE || !items.iter().any(is_twin)
    })
}

/// What a type checker calls a name that is not defined.
const UNDEFINED: [&str; 2] = ["reportUndefinedVariable", "unresolved-reference"];

/// Leaves out what a linter says of a name that is not defined where a type checker says it of the same
/// place.
pub(crate) fn without_repeats<T>(list: &mut Vec<T>, of: impl Fn(&T) -> &Diagnostic) {
    let code = |diagnostic: &Diagnostic| diagnostic.code.clone().unwrap_or_default();
    let place = |it: &Diagnostic| (it.path.clone(), it.line, it.column);
    let is_said = |it: &&Diagnostic| {
        // pyflakes has no codes.
        UNDEFINED.contains(&code(it).as_str())
            || (it.source.as_deref() == Some("pyflakes")
                && it.message.starts_with("undefined name"))
    };
    let said: Vec<_> = list.iter().map(&of).filter(is_said).map(place).collect();
    list.retain(|it| code(of(it)) != "F821" || !said.contains(&place(of(it))));
}

/// Says why what a server said about a file need not be so, if that is the case: without the flags of the
/// compiler a header may be missing for that alone, and what follows from it is no error either.
pub(crate) fn doubt(
    server: &Server,
    path: &Path,
    items: &[published::Diagnostic],
) -> Option<String> {
    let missing = items.iter().find(|item| is_missing_header(item))?;
    let guess = guesses_flags(server.row(), server.root(), path)?;
    Some(format!("{}: {}; {guess}", server.id(), missing.message))
}

/// Whether a server of C says that it does not find a header.
pub(crate) fn is_missing_header(item: &published::Diagnostic) -> bool {
    item.code.as_deref() == Some("pp_file_not_found")
}

fn severity(severity: published::Severity) -> Option<Severity> {
    match severity {
        published::Severity::Error => Some(Severity::Error),
        published::Severity::Warning => Some(Severity::Warning),
        published::Severity::Information | published::Severity::Hint => None,
    }
}

fn on_disk(path: &Path) -> Arc<str> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let bytes = bytes.strip_prefix(UTF8_BOM).unwrap_or(&bytes);
    String::from_utf8_lossy(bytes).into()
}

/// The symbols of a file, to name what a diagnostic is in.
#[derive(Debug, Default)]
pub(crate) struct Outline(Vec<Scope>);

#[derive(Debug)]
struct Scope {
    /// With those around it: `Outer.method`.
    name: String,
    /// First and last line, from 1.
    lines: (usize, usize),
    depth: usize,
}

impl Outline {
    /// Reads the answer to `textDocument/documentSymbol`, a tree or a list.
    pub(crate) fn read(symbols: &Value) -> Self {
        let mut scopes = Vec::new();
        read(symbols, "", 0, &mut scopes);
        Self(scopes)
    }

    /// The innermost symbol around a line, from 1.
    pub(crate) fn around(&self, line: usize) -> Option<&str> {
        self.0
            .iter()
            .filter(|scope| scope.lines.0 <= line && line <= scope.lines.1)
            .max_by_key(|scope| (scope.depth, scope.lines.0))
            .map(|scope| scope.name.as_str())
    }
}

/// Nesting beyond which symbols of a hostile answer are not read.
const MAX_DEPTH: usize = 32;

fn read(symbols: &Value, outer: &str, depth: usize, scopes: &mut Vec<Scope>) {
    for symbol in symbols.as_array().map(Vec::as_slice).unwrap_or_default() {
        let Some(name) = symbol["name"].as_str() else {
            continue;
        };
        let range = match symbol.get("range") {
            Some(range) => range,
            None => &symbol["location"]["range"],
        };
        let line = |end: &str| {
            let line = range[end]["line"].as_u64()?;
            usize::try_from(line).ok()?.checked_add(1)
        };
        let outer = match symbol["containerName"].as_str() {
            Some(container) => container,
            None => outer,
        };
        let name = match outer.is_empty() {
            true => name.to_owned(),
            false => format!("{outer}.{name}"),
        };
        if let (Some(first), Some(last)) = (line("start"), line("end"))
            // A name that stands on one line is a variable more often than a scope.
            && (first < last || symbol["children"].as_array().is_some_and(|all| !all.is_empty())
                || is_scope(symbol["kind"].as_u64()))
        {
            scopes.push(Scope {
                name: name.clone(),
                lines: (first, last),
                depth,
            });
        }
        if depth < MAX_DEPTH {
            read(&symbol["children"], &name, depth + 1, scopes);
        }
    }
}

/// Classes, methods, constructors, interfaces, functions, structs.
fn is_scope(kind: Option<u64>) -> bool {
    matches!(kind, Some(5 | 6 | 9 | 11 | 12 | 23))
}

/// The parameters of a request about a whole file.
pub(crate) fn document(path: &Path) -> Value {
    json!({"textDocument": {"uri": uri::from_path(path)}})
}

#[cfg(test)]
mod tests {
    use super::*;

    // R32: what the compiler says of a line is told once, in its words; elsewhere rust-analyzer is believed, as
    // long as it knows the standard library.
    #[test]
    fn what_the_server_finds_itself_is_believed_where_it_can_know() {
        let item = |line: u32, source: &str, code: &str, severity: u32| {
            let place = json!({"line": line, "character": 0});
            let range = json!({"start": place, "end": place});
            let raw = json!({
                "range": range, "source": source, "code": code, "severity": severity, "message": "m",
            });
            published::Diagnostic::read(&raw).expect("it has a message")
        };
        let items = [
            item(1, "rustc", "E0061", 1),
            item(1, "rust-analyzer", "E0107", 1),
            item(1, "rust-analyzer", "unused", 2),
            item(2, "rust-analyzer", "E0308", 1),
            item(3, "rust-analyzer", "syntax-error", 1),
            item(4, "rustc", "dead_code", 2),
            item(4, "rust-analyzer", "E0308", 1),
        ];
        let told = |is_blind: bool| -> Vec<String> {
            let told = trusted_of(&items, is_blind);
            let shown = |it: &published::Diagnostic| {
                format!(
                    "{} {}",
                    it.range.start.line,
                    it.code.as_deref().unwrap_or_default()
                )
            };
            told.map(shown).collect()
        };
        assert_eq!(
            told(false),
            [
                "1 E0061",
                "1 unused",
                "2 E0308",
                "3 syntax-error",
                "4 dead_code",
                "4 E0308"
            ]
        );
        assert_eq!(told(true), ["1 E0061", "3 syntax-error", "4 dead_code"]);
        // The compiler sees a mistake in the syntax elsewhere; a warning without a code is none.
        let syntax = |severity: u32| {
            let mut items = vec![item(3, "rust-analyzer", "syntax-error", 1)];
            let mut other = item(1, "rustc", "", severity);
            other.code = None;
            items.push(other);
            trusted_of(&items, false).count()
        };
        assert_eq!((syntax(1), syntax(2)), (1, 2));
    }

    // R32: the symbol around a diagnostic is the innermost one, in a tree as in a list.
    #[test]
    fn the_innermost_symbol_is_named_with_those_around_it() {
        let range = |start: u32, end: u32| json!({"start": {"line": start}, "end": {"line": end}});
        let tree = Outline::read(&json!([
            {"name": "Outer", "kind": 5, "range": range(0, 9), "children": [
                {"name": "method", "kind": 6, "range": range(2, 4)},
                {"name": "field", "kind": 8, "range": range(6, 6)},
            ]},
            {"name": "f", "kind": 12, "range": range(11, 11)},
            {"name": 7},
        ]));
        assert_eq!(tree.around(3), Some("Outer.method"));
        assert_eq!(tree.around(7), Some("Outer"));
        assert_eq!(tree.around(12), Some("f"));
        assert_eq!(tree.around(11), None);
        let list = Outline::read(&json!([
            {"name": "Outer", "kind": 5, "location": {"range": range(0, 9)}},
            {"name": "method", "kind": 6, "containerName": "Outer", "location": {"range": range(2, 4)}},
        ]));
        assert_eq!(list.around(3), Some("Outer.method"));
        assert_eq!(Outline::read(&json!(null)).around(1), None);
    }
}
