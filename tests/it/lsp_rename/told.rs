//! What a rename's own result says of errors: old ones under a new name are not told, new ones are.

use toolbox::lsp::diagnostics::Bounds;
use toolbox::tools::DiagnosticsOnWrite;

use super::*;
use crate::after_write::patient;
use crate::support::lsp::fake_row;
use crate::support::peers;

/// A run that renames and tells what its writes broke.
fn telling(project: &Project, bounds: Bounds) -> Run {
    let committer = Committer::new(project.work().with_file_name("state"));
    let lsp = LspResources::new(project.supervisor.clone()).with_rename(Arc::new(committer));
    let resources = Resources {
        lsp: Some(lsp),
        ..Resources::default()
    };
    let hook = DiagnosticsOnWrite::with_bounds(project.supervisor.clone(), bounds);
    Run::builder(connect(&resources))
        .approver(AutoApprove::up_to(Tier::Write))
        .after_write(Arc::new(hook))
        .build()
}

fn item(message: &str) -> Value {
    let place = json!({"line": 0, "character": 0});
    json!({"range": {"start": place, "end": place}, "severity": 1, "message": message})
}

// R32, R38: an error that names what was renamed is the old one, in the renamed file and beside it.
#[test]
fn an_old_error_under_its_new_name_is_not_told() {
    if peers::find("python3").is_none() {
        return;
    }
    let files = [("fake.toml", ""), ("a.fk", "one two\n"), ("b.fk", "four\n")];
    let project = Project::with(&files, |work, mut options| {
        let uri = toolbox::lsp::uri::from_path(&work.join("a.fk"));
        let place = |at: u32| json!({"line": 0, "character": at});
        let edit = json!({"range": {"start": place(4), "end": place(7)}, "newText": "zwei"});
        let said = |on: &str, version: Value, items: Value, about: &str| json!({"on": on, "version": version, "items": items, "file": "a.fk", "about": about});
        let before = json!([item("undefined: two"), item("not two2")]);
        let after = json!([
            item("undefined: zwei"),
            item("not two2"),
            item("zwei is there twice")
        ]);
        let beside = json!([item("b has no two")]);
        let beside_after = json!([item("b has no zwei"), item("zwei2 is another")]);
        let scenario = json!({
            "capabilities": {"renameProvider": true},
            "answers": {"textDocument/rename": {"changes": {uri: [edit]}}},
            "publish": [
                said("textDocument/didOpen", json!(null), beside, "b.fk"),
                said("textDocument/didOpen", json!("same"), before, "a.fk"),
                said("textDocument/didChange", json!(null), beside_after, "b.fk"),
                said("textDocument/didChange", json!("same"), after, "a.fk"),
            ],
        });
        options.rows.push(fake_row(&scenario));
        options
    });
    let run = telling(&project, patient());
    let args = json!({"file": "a.fk", "line": 1, "symbol": "two", "new_name": "zwei"});
    let output = call(&run, args).expect("it is renamed");
    let told = |key: &str| -> Vec<String> {
        let list = output.data["diagnostics"][key]
            .as_array()
            .expect("a list")
            .iter();
        list.map(|it| it["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(
        told("diagnostics"),
        ["zwei is there twice"],
        "{}",
        output.text
    );
    assert_eq!(told("elsewhere"), ["zwei2 is another"], "{}", output.text);
}

// The same with a real server, there and back; a name that is taken is told.
#[test]
fn basedpyright_tells_of_a_rename_only_what_it_broke() {
    if peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let files = [
        ("pyproject.toml", ""),
        (
            "a.py",
            "def total(a: int) -> int:\n    return a\n\n\ndef other() -> int:\n    return total(\"x\")\n",
        ),
        ("b.py", "from a import total\n\nprint(total(\"y\"))\n"),
    ];
    let project = Project::with(&files, |_, mut options| {
        options.disabled = ["pyright", "ty", "ruff", "pylsp"]
            .map(str::to_owned)
            .to_vec();
        options
    });
    let run = telling(&project, patient());
    for (from, to) in [("total", "grand"), ("grand", "total")] {
        let args = json!({"file": "a.py", "line": 1, "symbol": from, "new_name": to});
        let output = call(&run, args).expect("it is renamed");
        assert!(!output.text.contains("new diagnostics"), "{}", output.text);
        assert_eq!(output.data["taken"], json!([]), "{}", output.text);
        assert_eq!(
            output.data["diagnostics"]["state"], "found",
            "{}",
            output.data
        );
    }
    let args = json!({"file": "a.py", "line": 1, "symbol": "total", "new_name": "other"});
    let output = call(&run, args).expect("it is renamed");
    assert!(output.text.contains("obscured"), "{}", output.text);
    // Few servers look for it, so the text is looked at.
    let told =
        "to be checked: 'other' stood already at a.py:5; it may mean another thing there now";
    assert!(output.text.contains(told), "{}", output.text);
}

// R38, D12: a file that may not be written, reached by a link or not, keeps every file as it is, and is named.
#[test]
fn a_file_that_may_not_be_written_is_named_and_none_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    if peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let files = [
        ("pyproject.toml", ""),
        ("a.py", "def total() -> int:\n    return 1\n"),
        ("b.py", "from a import total\n\nprint(total())\n"),
    ];
    let project = Project::new(&files);
    let set = |mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(project.path("b.py"), mode).expect("it is ours");
    };
    set(0o444);
    let error = refused_in(&project, "a.py", 1, "total", "grand");
    assert!(error.to_string().contains("b.py"), "{error}");
    set(0o644);
    // Through a link the file itself changes, and the link stays one.
    std::os::unix::fs::symlink("a.py", project.path("link.py")).expect("writable");
    let args = json!({"file": "link.py", "line": 1, "symbol": "total", "new_name": "grand"});
    renamed_in(&project, args);
    let text = project.read("b.py").expect("it is there");
    assert!(text.contains("print(grand())"), "{text}");
    let link = project
        .path("link.py")
        .symlink_metadata()
        .expect("it is there");
    assert!(link.file_type().is_symlink());
}
