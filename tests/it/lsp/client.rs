//! The client with real servers: the start, documents, questions, diagnostics, the end.

use serde_json::json;
use toolbox::cancel::Cancel;
use toolbox::lsp::convert::Encoding;
use toolbox::lsp::published::Severity;
use toolbox::lsp::uri;

use crate::support::lsp::{Project, soon};
use crate::support::peers;

// R12, R31: clangd starts for a marker, takes documents, answers, pushes diagnostics and ends.
#[test]
fn clangd_answers_and_pushes() {
    if peers::find("clangd").is_none() {
        return;
    }
    let project = Project::new(&[
        ("compile_flags.txt", "-Wall\n"),
        (
            "a.c",
            "int add(int a, int b) { return a + b; }\nint main(void) { return add(1, 2); }\n",
        ),
    ]);
    let server = project.server("a.c");
    assert_eq!(server.encoding(), Encoding::Utf8);
    let path = project.path("a.c");
    let synced = server.sync(&path).expect("a text");
    assert_eq!((synced.version, synced.changed), (1, true));
    let params = json!({
        "textDocument": {"uri": uri::from_path(&path)},
        "position": {"line": 1, "character": 25}
    });
    let found = server
        .query("textDocument/definition", params, soon(), &Cancel::new())
        .expect("an answer");
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 0, "character": 4})
    );
    project.write("a.c", "int main(void) { return x; }\n");
    let synced = server.sync(&path).expect("a text");
    assert_eq!((synced.version, synced.changed), (2, true));
    let items = server.wait(soon(), &Cancel::new(), |state| {
        let said = state.published().of(&path)?;
        (said.version == Some(2)).then(|| said.items.clone())
    });
    let items = items.expect("it pushes");
    assert_eq!(items[0].severity, Severity::Error);
    assert_eq!(server.sync(&path).map(|synced| synced.changed), Ok(false));
    let pid = server.pid();
    drop(server);
    project.supervisor.stop_all();
    assert!(!std::path::Path::new(&format!("/proc/{pid}/cwd")).exists());
    assert_eq!(project.processes.live(), 0);
}

// R17: basedpyright registers its pull after the start, and is asked.
#[test]
fn basedpyright_is_pulled() {
    if peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let project = Project::new(&[("pyproject.toml", ""), ("a.py", "x: int = 'é'\n")]);
    let server = project.server("a.py");
    assert_eq!(server.id(), "basedpyright");
    let path = project.path("a.py");
    server.sync(&path).expect("a text");
    let pulls = server.wait(soon(), &Cancel::new(), |state| {
        state
            .supports("diagnosticProvider", "textDocument/diagnostic")
            .then_some(())
    });
    assert_eq!(pulls, Some(()));
    assert!(server.pulls());
    let items = server
        .pull(&path, soon(), &Cancel::new())
        .expect("an answer");
    let errors: Vec<_> = items
        .iter()
        .filter(|item| item.severity == Severity::Error)
        .collect();
    assert_eq!(errors.len(), 1, "{items:?}");
    assert_eq!(errors[0].code.as_deref(), Some("reportAssignmentType"));
}
