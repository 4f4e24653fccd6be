//! The symbols of a document, as a tree, and of the workspace, by name (R24, R25, D4).

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lsp_types::{Position, Range};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::error::Unusable;
use crate::lsp::navigate::tell_incomplete;
use crate::lsp::places::{Place, Reader};
use crate::lsp::question::{AskError, Gap};
use crate::lsp::reach::{Extent, Needle};
use crate::lsp::supervisor::Supervisor;
use crate::lsp::uri;

/// Symbols, with how many there are.
#[derive(Clone, Debug, Serialize)]
pub struct SymbolsReport {
    #[serde(skip)]
    subject: String,
    /// The symbols: those of a document in its order, each behind the one that contains it.
    pub symbols: Vec<Symbol>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// Why the answer may miss something, if it may.
    pub incomplete: Option<Gap>,
    /// The servers that answered.
    pub servers: Vec<String>,
    /// The servers that did not, and why.
    pub failed: Vec<String>,
    /// The files outside the workspace that are named.
    #[serde(skip)]
    pub outside: Vec<PathBuf>,
}

/// One symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is, such as `function`.
    pub kind: &'static str,
    /// The file that declares it.
    pub file: String,
    /// The line of its name, from 1.
    pub line: usize,
    /// The column of its name, from 1.
    pub column: usize,
    /// The last line of its declaration, where that is known.
    pub end_line: Option<usize>,
    /// What it is inside of.
    pub container: Option<String>,
    /// What the server adds, such as a signature.
    pub detail: Option<String>,
    /// How many symbols contain it.
    pub depth: usize,
}

/// Lists the symbols of a document; with a query those whose name has it, whatever the case (D4).
pub fn of_document(
    supervisor: &Supervisor,
    path: &Path,
    query: Option<&str>,
    cancel: &Cancel,
) -> Result<SymbolsReport, AskError> {
    let opened = supervisor.open_now(path, cancel)?;
    let method = "textDocument/documentSymbol";
    opened.needs(
        "documentSymbolProvider",
        method,
        "the symbols of a document",
    )?;
    let params = json!({"textDocument": {"uri": uri::from_path(path)}});
    let deadline = supervisor.request_deadline(&opened);
    let answer = opened.server.query(method, params, deadline, cancel)?;
    let mut reader = Reader::new(supervisor.workspace(), &opened.server);
    let mut symbols = Vec::new();
    flatten(&answer, path, None, 0, &mut reader, &mut symbols);
    if let Some(query) = query {
        let query = query.to_lowercase();
        symbols.retain(|symbol| symbol.name.to_lowercase().contains(&query));
    }
    let total = symbols.len();
    symbols.truncate(limits::LSP_DOCUMENT_SYMBOLS);
    Ok(SymbolsReport {
        subject: supervisor.workspace().display(path),
        shown: symbols.len(),
        total,
        symbols,
        // A document's own symbols need no index.
        incomplete: None,
        servers: vec![opened.server.id().to_owned()],
        failed: Vec::new(),
        outside: reader.outside,
    })
}

/// Searches the symbols of the workspace in every project that a server answers for.
pub fn of_workspace(
    supervisor: &Supervisor,
    query: &str,
    cancel: &Cancel,
) -> Result<SymbolsReport, AskError> {
    let projects = supervisor.projects(cancel);
    let mut report = SymbolsReport {
        subject: format!("'{query}'"),
        symbols: Vec::new(),
        shown: 0,
        total: 0,
        incomplete: None,
        servers: Vec::new(),
        failed: Vec::new(),
        outside: Vec::new(),
    };
    if projects.is_empty() {
        return Err(Unusable {
            path: supervisor.workspace().root().to_path_buf(),
            reasons: Vec::new(),
            cancelled: cancel.is_cancelled(),
        }
        .into());
    }
    // The servers load side by side; only the answers are taken in order.
    for project in &projects {
        supervisor.warm_up(project);
    }
    let mut last_error = None;
    let begun = Instant::now();
    for sample in &projects {
        match search(supervisor, sample, begun, query, cancel, &mut report) {
            Ok(()) => {}
            Err(error) => {
                report.failed.push(error.to_string());
                last_error = Some(error);
            }
        }
    }
    if report.servers.is_empty()
        && let Some(error) = last_error
    {
        return Err(error);
    }
    let lower = query.to_lowercase();
    let rank = |symbol: &Symbol| {
        let name = symbol.name.to_lowercase();
        (
            symbol.name != query,
            name != lower,
            !name.starts_with(&lower),
            !name.contains(&lower),
        )
    };
    report.symbols.sort_by(|one, two| {
        let key = |symbol: &Symbol| {
            (
                rank(symbol),
                symbol.file.clone(),
                symbol.line,
                symbol.column,
            )
        };
        key(one).cmp(&key(two))
    });
    report.symbols.dedup();
    report.total = report.symbols.len();
    report.symbols.truncate(limits::LSP_WORKSPACE_SYMBOLS);
    report.shown = report.symbols.len();
    Ok(report)
}

/// Adds what one server finds.
fn search(
    supervisor: &Supervisor,
    sample: &Path,
    begun: Instant,
    query: &str,
    cancel: &Cancel,
    report: &mut SymbolsReport,
) -> Result<(), AskError> {
    // Some servers know a project only once a file of it is open.
    let mut opened = supervisor.open_since(sample, begun, cancel)?;
    let method = "workspace/symbol";
    opened.needs(
        "workspaceSymbolProvider",
        method,
        "the symbols of a workspace",
    )?;
    supervisor.widen(&mut opened, Needle::Part(query), cancel)?;
    supervisor.load_projects(&mut opened, Needle::Part(query), Extent::Projects, cancel)?;
    let deadline = supervisor.project_deadline(&opened);
    let ask = || {
        let params = json!({ "query": query });
        opened.server.query(method, params, deadline, cancel)
    };
    let mut answers = vec![ask()?];
    for path in &opened.beside {
        // It searches the projects of the file that it was asked about last.
        opened.server.handle(path, deadline, cancel)?;
        answers.push(ask()?);
    }
    let mut reader = Reader::new(supervisor.workspace(), &opened.server);
    let values = answers.iter().filter_map(Value::as_array).flatten();
    for value in values {
        let resolved = resolve(&opened.server, value, deadline, cancel);
        let value = resolved.as_ref().unwrap_or(value);
        let Some(place) = Place::read(&value["location"]) else {
            continue;
        };
        if reader.is_gone(&place.uri) {
            continue;
        }
        let location = reader.location(&place);
        report.symbols.push(Symbol {
            name: text(value, "name").unwrap_or_default(),
            kind: kind(value),
            file: location.file,
            line: location.line,
            column: location.column,
            end_line: None,
            container: text(value, "containerName"),
            detail: None,
            depth: 0,
        });
    }
    report.outside.append(&mut reader.outside);
    report.servers.push(opened.server.id().to_owned());
    if report.incomplete.is_none() {
        report.incomplete = opened.incomplete();
    }
    Ok(())
}

/// Asks for the range of a symbol that came without one.
fn resolve(server: &Server, value: &Value, deadline: Instant, cancel: &Cancel) -> Option<Value> {
    let has_range = !value["location"]["range"].is_null();
    let resolves = server.look(|state| {
        let options = state.provider("workspaceSymbolProvider", "workspace/symbol");
        options.is_some_and(|options| options["resolveProvider"] == json!(true))
    });
    if has_range || !resolves {
        return None;
    }
    server
        .query("workspaceSymbol/resolve", value.clone(), deadline, cancel)
        .ok()
}

/// Lists a tree of `DocumentSymbol`, or the flat `SymbolInformation`, in the order of the document.
fn flatten(
    values: &Value,
    path: &Path,
    container: Option<&str>,
    depth: usize,
    reader: &mut Reader<'_>,
    symbols: &mut Vec<Symbol>,
) {
    // A tree deeper than any program's ends here rather than in the stack.
    const DEEPEST: usize = 200;
    let mut entries: Vec<(&Value, Range, Range)> = values
        .as_array()
        .into_iter()
        .flatten()
        .map(|value| {
            let range =
                |value: &Value| -> Option<Range> { serde_json::from_value(value.clone()).ok() };
            let whole = range(&value["range"]).or(range(&value["location"]["range"]));
            let whole = whole.unwrap_or_default();
            (
                value,
                range(&value["selectionRange"]).unwrap_or(whole),
                whole,
            )
        })
        .collect();
    entries.sort_by_key(|(_, selection, _)| (selection.start.line, selection.start.character));
    for (value, selection, whole) in entries {
        let name = text(value, "name").unwrap_or_default();
        let (line, column, _) = reader.at(path, selection.start);
        // A range that ends at the beginning of a line does not reach into it.
        let end = match whole.end {
            Position { line, character: 0 } if line > whole.start.line => line as usize,
            end => end.line as usize + 1,
        };
        symbols.push(Symbol {
            name: name.clone(),
            kind: kind(value),
            file: reader.show(path),
            line,
            column,
            end_line: Some(end.max(line)),
            container: text(value, "containerName").or(container.map(str::to_owned)),
            detail: text(value, "detail"),
            depth,
        });
        if depth < DEEPEST {
            let children = &value["children"];
            flatten(children, path, Some(&name), depth + 1, reader, symbols);
        }
    }
}

pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    let text = value[name].as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the name of a symbol's kind.
pub(crate) fn kind(value: &Value) -> &'static str {
    const KINDS: [&str; 26] = [
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
        "interface",
        "function",
        "variable",
        "constant",
        "string",
        "number",
        "boolean",
        "array",
        "object",
        "key",
        "null",
        "enum member",
        "struct",
        "event",
        "operator",
        "type parameter",
    ];
    let number = value["kind"]
        .as_u64()
        .and_then(|kind| usize::try_from(kind).ok());
    let index = number.and_then(|number| number.checked_sub(1));
    index
        .and_then(|index| KINDS.get(index))
        .copied()
        .unwrap_or("symbol")
}

impl fmt::Display for SymbolsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        let noun = if self.total == 1 { "symbol" } else { "symbols" };
        match self.total {
            0 => writeln!(f, "no symbols: {subject}")?,
            total if total > self.shown => writeln!(
                f,
                "{total} {noun}: {subject}, {} shown, {} cut",
                self.shown,
                total - self.shown
            )?,
            total => writeln!(f, "{total} {noun}: {subject}")?,
        }
        let is_document = self
            .symbols
            .first()
            .is_some_and(|symbol| symbol.end_line.is_some());
        for symbol in &self.symbols {
            let indent = "  ".repeat(symbol.depth);
            if is_document {
                write!(
                    f,
                    "{indent}{} {} :{}",
                    symbol.kind, symbol.name, symbol.line
                )?;
                if let Some(end) = symbol.end_line.filter(|end| *end > symbol.line) {
                    write!(f, "-{end}")?;
                }
            } else {
                let Symbol {
                    kind,
                    name,
                    file,
                    line,
                    ..
                } = symbol;
                write!(f, "{kind} {name} {file}:{line}")?;
                if let Some(container) = &symbol.container {
                    write!(f, " in {container}")?;
                }
            }
            writeln!(f)?;
        }
        for failed in &self.failed {
            writeln!(f, "not asked: {failed}")?;
        }
        tell_incomplete(f, self.incomplete.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names() {
        assert_eq!(kind(&json!({"kind": 12})), "function");
        assert_eq!(kind(&json!({"kind": 26})), "type parameter");
        for odd in [json!({"kind": 0}), json!({"kind": 27}), json!({})] {
            assert_eq!(kind(&odd), "symbol");
        }
    }
}
