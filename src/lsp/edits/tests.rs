//! Plans of whole edits over a folder of their own; nothing is written by any of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;
use tempfile::TempDir;
use url::Url;

use super::*;

struct Project {
    _temp: TempDir,
    workspace: Workspace,
    outside: PathBuf,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("a b#ü");
        fs::create_dir(&root).unwrap();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            workspace: Workspace::open(&root).unwrap(),
            outside: temp.path().canonicalize().unwrap(),
            _temp: temp,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.workspace.root().join(name)
    }

    fn uri(&self, name: &str) -> String {
        Url::from_file_path(self.path(name)).unwrap().to_string()
    }

    fn plan(&self, edit: &Value) -> Result<Planned, EditError> {
        self.plan_with(edit, &|_| None)
    }

    fn plan_with(
        &self,
        edit: &Value,
        open: &dyn Fn(&Path) -> Option<OpenDocument>,
    ) -> Result<Planned, EditError> {
        let context = Context {
            workspace: &self.workspace,
            encoding: Encoding::Utf16,
            open,
        };
        plan(edit, &context)
    }

    /// What the plan does, a line for each operation.
    fn operations(&self, edit: &Value) -> Vec<String> {
        let name = |path: &Path| self.workspace.display(path);
        let planned = self.plan(edit).unwrap();
        let shown = planned.operations.iter().map(|operation| match operation {
            Operation::Write { path, bytes, .. } => {
                format!("write {} {}", name(path), String::from_utf8_lossy(bytes))
            }
            Operation::Create { path, bytes, .. } => {
                format!("create {} {}", name(path), String::from_utf8_lossy(bytes))
            }
            Operation::Delete { path, .. } => format!("delete {}", name(path)),
            Operation::Move {
                from, to, bytes, ..
            } => {
                let text = String::from_utf8_lossy(bytes);
                format!("move {} {} {text}", name(from), name(to))
            }
            Operation::Rename { from, to, .. } => format!("rename {} {}", name(from), name(to)),
        });
        shown.collect()
    }

    fn refusal(&self, edit: &Value) -> String {
        self.plan(edit).unwrap_err().to_string()
    }
}

fn text_edit(line: u32, start: u32, end: u32, new_text: &str) -> Value {
    json!({
        "range": {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end}
        },
        "newText": new_text,
    })
}

// R38: both forms, several files, also those that no one opened; percent-encoded names are decoded.
#[test]
fn both_forms_of_an_edit_change_all_files() {
    let project = Project::new(&[("a.c", "old();\n"), ("sub/b ü.c", "x = old;\n")]);
    let (a, b) = (project.uri("a.c"), project.uri("sub/b ü.c"));
    assert!(b.contains("%20") && b.contains("%23"));
    let edits = |uri: &str| match uri == a {
        true => json!([text_edit(0, 0, 3, "new")]),
        false => json!([text_edit(0, 4, 7, "new")]),
    };
    let by_path = json!({"changes": {a.clone(): edits(&a), b.clone(): edits(&b)}});
    let in_order = json!({"documentChanges": [
        {"textDocument": {"uri": a, "version": null}, "edits": edits(&a)},
        {"textDocument": {"uri": b, "version": 0}, "edits": edits(&b)},
    ]});
    for edit in [&by_path, &in_order] {
        assert_eq!(
            project.operations(edit),
            ["write a.c new();\n", "write sub/b ü.c x = new;\n"]
        );
    }
    let mut both = in_order.clone();
    both["changes"] = by_path["changes"].clone();
    let planned = project.plan(&both).unwrap();
    assert_eq!(planned.files.len(), 2);
    assert!(planned.files.iter().all(|file| file.n_edits == 1));
}

#[test]
fn an_edit_that_changes_nothing_plans_nothing() {
    let project = Project::new(&[("a.c", "old();\n")]);
    let same = json!({"changes": {project.uri("a.c"): [text_edit(0, 0, 3, "old")]}});
    for edit in [json!(null), json!({}), json!({"documentChanges": []}), same] {
        let planned = project.plan(&edit).unwrap();
        assert_eq!((planned.operations.len(), planned.files.len()), (0, 0));
    }
}

#[test]
fn edits_after_a_rename_address_the_new_name() {
    let project = Project::new(&[("old.dart", "class Old {}\n"), ("main.dart", "Old();\n")]);
    let (old, new, main) = (
        project.uri("old.dart"),
        project.uri("new.dart"),
        project.uri("main.dart"),
    );
    let edit = json!({"documentChanges": [
        {"textDocument": {"uri": main}, "edits": [text_edit(0, 0, 3, "New")]},
        {"kind": "rename", "oldUri": old, "newUri": new},
        {"textDocument": {"uri": new}, "edits": [text_edit(0, 6, 9, "New")]},
    ]});
    assert_eq!(
        project.operations(&edit),
        [
            "write main.dart New();\n",
            "move old.dart new.dart class New {}\n",
        ]
    );
    let planned = project.plan(&edit).unwrap();
    let moved = &planned.files[1];
    assert_eq!(
        (moved.change, &moved.from),
        (Change::Moved, &Some(project.path("old.dart")))
    );
    // The old name is gone by then.
    let edit = json!({"documentChanges": [
        {"kind": "rename", "oldUri": old, "newUri": new},
        {"textDocument": {"uri": old}, "edits": [text_edit(0, 0, 1, "x")]},
    ]});
    assert!(
        project
            .refusal(&edit)
            .contains("old.dart', which does not exist")
    );
}

#[test]
fn files_may_swap_their_names_and_a_round_trip_is_nothing() {
    let project = Project::new(&[("a", "1"), ("b", "2"), ("dir/c", "3")]);
    let rename = |from: &str, to: &str| json!({"kind": "rename", "oldUri": project.uri(from), "newUri": project.uri(to)});
    let swap = json!({"documentChanges": [rename("a", "t"), rename("b", "a"), rename("t", "b")]});
    assert_eq!(project.operations(&swap), ["write a 2", "write b 1"]);
    let back = json!({"documentChanges": [rename("a", "t"), rename("t", "a")]});
    assert_eq!(project.operations(&back), [""; 0]);
    let whole_folder = json!({"documentChanges": [rename("dir", "folder")]});
    assert_eq!(project.operations(&whole_folder), ["rename dir/c folder/c"]);
}

#[test]
fn options_say_what_happens_where_a_file_is_already() {
    let project = Project::new(&[("a", "1"), ("b", "2")]);
    let step = |kind: &str, options: Value| {
        json!({"documentChanges": [{
            "kind": kind, "uri": project.uri("a"), "oldUri": project.uri("a"), "newUri": project.uri("b"),
            "options": options,
        }]})
    };
    let none: [&str; 0] = [];
    assert!(
        project
            .refusal(&step("create", json!({})))
            .contains("exists already")
    );
    assert_eq!(
        project.operations(&step("create", json!({"ignoreIfExists": true}))),
        none
    );
    assert_eq!(
        project.operations(&step("create", json!({"overwrite": true}))),
        ["write a "]
    );
    assert!(
        project
            .refusal(&step("rename", json!({})))
            .contains("b', which exists already")
    );
    assert_eq!(
        project.operations(&step("rename", json!({"ignoreIfExists": true}))),
        none
    );
    assert_eq!(
        project.operations(&step(
            "rename",
            json!({"overwrite": true, "ignoreIfExists": true})
        )),
        ["delete a", "write b 1"]
    );
    assert_eq!(project.operations(&step("delete", json!({}))), ["delete a"]);
    let gone = json!({"documentChanges": [{"kind": "delete", "uri": project.uri("zz")}]});
    assert!(project.refusal(&gone).contains("does not exist"));
    let tolerant = json!({"documentChanges": [
        {"kind": "delete", "uri": project.uri("zz"), "options": {"ignoreIfNotExists": true}}
    ]});
    assert_eq!(project.operations(&tolerant), none);
}

// D36: nothing outside the workspace is changed, neither by name nor through a link.
#[test]
fn what_leads_out_of_the_workspace_refuses_all() {
    let project = Project::new(&[("a.c", "old\n")]);
    fs::write(project.outside.join("secret"), "old\n").unwrap();
    symlink(project.outside.join("secret"), project.path("link")).unwrap();
    let edits = json!([text_edit(0, 0, 3, "new")]);
    let beside = Url::from_file_path(project.outside.join("secret")).unwrap();
    for uri in [
        beside.to_string(),
        project.uri("link"),
        project.uri("../secret"),
    ] {
        let edit = json!({"changes": {project.uri("a.c"): edits, uri: edits}});
        assert!(project.refusal(&edit).contains("out of the workspace"));
    }
    for uri in ["untitled:1", "http://example.com/a.c", "no uri"] {
        let edit = json!({"changes": {uri: edits}});
        assert!(project.refusal(&edit).contains("no file on disk"), "{uri}");
    }
}

// D12: a link inside the workspace is written through; it is never moved or removed.
#[test]
fn links_are_written_through_and_never_moved() {
    let project = Project::new(&[("real.c", "old\n")]);
    symlink("real.c", project.path("link.c")).unwrap();
    let edits = json!([text_edit(0, 0, 3, "new")]);
    // The same edit under both names is one edit.
    let edit = json!({"changes": {project.uri("real.c"): edits, project.uri("link.c"): edits}});
    assert_eq!(project.operations(&edit), ["write real.c new\n"]);
    let moved = json!({"documentChanges": [
        {"kind": "rename", "oldUri": project.uri("link.c"), "newUri": project.uri("n.c")}
    ]});
    assert!(project.refusal(&moved).contains("symbolic link"));
}

// D12: byte order mark and CRLF survive; what is no UTF-8 or read-only is refused.
#[test]
fn encodings_survive_and_what_cannot_be_edited_is_refused() {
    let project = Project::new(&[("bom.cs", "\u{feff}old\r\nb\r\n"), ("ro.c", "old\n")]);
    fs::write(project.path("latin.c"), b"caf\xE9\n").unwrap();
    fs::set_permissions(project.path("ro.c"), fs::Permissions::from_mode(0o444)).unwrap();
    let edit = |name: &str| json!({"changes": {project.uri(name): [text_edit(0, 0, 3, "n\nw")]}});
    assert_eq!(
        project.operations(&edit("bom.cs")),
        ["write bom.cs \u{feff}n\r\nw\r\nb\r\n"]
    );
    assert!(
        project
            .refusal(&edit("latin.c"))
            .contains("not valid UTF-8")
    );
    assert!(project.refusal(&edit("ro.c")).contains("read-only"));
    assert!(project.refusal(&edit("gone.c")).contains("does not exist"));
}

// R38: an edit made for another version of an open file would land in the wrong places.
#[test]
fn versions_count_for_open_files_only() {
    let project = Project::new(&[("a.c", "old\n")]);
    let at = |version: Value| {
        json!({"documentChanges": [{
            "textDocument": {"uri": project.uri("a.c"), "version": version},
            "edits": [text_edit(0, 0, 3, "new")]
        }]})
    };
    let hash = ContentHash::of(b"old\n");
    let open = |_: &Path| Some(OpenDocument { version: 3, hash });
    for version in [json!(3), json!(0), json!(null)] {
        assert!(project.plan_with(&at(version), &open).is_ok());
    }
    let stale = project.plan_with(&at(json!(2)), &open).unwrap_err();
    assert!(
        stale
            .to_string()
            .contains("version 2, the current one is 3")
    );
    let elsewhere = ContentHash::of(b"other\n");
    let changed = |_: &Path| {
        Some(OpenDocument {
            version: 3,
            hash: elsewhere,
        })
    };
    let stale = project.plan_with(&at(json!(3)), &changed).unwrap_err();
    assert!(stale.to_string().contains("changed on disk"));
    assert!(project.plan(&at(json!(7))).is_ok(), "nobody opened it");
}

#[test]
fn overlapping_edits_refuse_the_whole_edit() {
    let project = Project::new(&[("a.c", "old\n"), ("b.c", "x\nold\n")]);
    let edit = json!({"changes": {
        project.uri("a.c"): [text_edit(0, 0, 3, "new")],
        project.uri("b.c"): [text_edit(1, 0, 3, "new"), text_edit(1, 2, 3, "!")],
    }});
    let refusal = project.refusal(&edit);
    assert!(refusal.contains("b.c' overlap at line 2"), "{refusal}");
}

// A server that replaces the whole text (pylsp) still tells how many places changed.
#[test]
fn a_whole_file_replacement_counts_its_places() {
    let project = Project::new(&[("a.py", "old = 1\nx\ny\nz\nprint(old)\n")]);
    let edit = json!({"changes": {project.uri("a.py"): [{
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 5, "character": 0}},
        "newText": "new = 1\nx\ny\nz\nprint(new)\n",
    }]}});
    assert_eq!(project.plan(&edit).unwrap().files[0].n_edits, 2);
}

#[test]
fn what_the_server_wants_confirmed_is_told() {
    let project = Project::new(&[("a.c", "old\n")]);
    let mut change = text_edit(0, 0, 3, "new");
    change["annotationId"] = json!("n");
    let annotated = |needs: bool| {
        json!({
            "changes": {project.uri("a.c"): [change]},
            "changeAnnotations": {"n": {"label": "in a comment", "needsConfirmation": needs}},
        })
    };
    let planned = project.plan(&annotated(true)).unwrap();
    assert_eq!(planned.to_confirm, ["in a comment"]);
    assert!(
        project
            .plan(&annotated(false))
            .unwrap()
            .to_confirm
            .is_empty()
    );
}

#[test]
fn an_answer_that_is_no_edit_is_an_error() {
    let project = Project::new(&[]);
    for edit in [
        json!(7),
        json!({"changes": 1}),
        json!({"documentChanges": [{"kind": "melt"}]}),
    ] {
        assert!(project.refusal(&edit).contains("cannot be read"), "{edit}");
    }
}
