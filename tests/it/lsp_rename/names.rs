//! New names that would break the code: refused by the tool, whatever the server takes.

use super::*;
use crate::support::peers;

/// Renames one symbol to names that are none, and then to one that is.
fn check(project: &Project, at: (&str, usize, &str), bad: &[&str], good: &str) {
    let (file, line, symbol) = at;
    for name in bad {
        let error = refused_in(project, file, line, symbol, name);
        assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{name:?}: {error}");
        let shown = name.escape_debug().to_string();
        let named = shown.trim().is_empty() || error.message().contains(&shown);
        assert!(named, "{error} does not name {name:?}");
        let hint = error.hint().unwrap_or_default();
        assert!(hint.contains("pass"), "{hint}");
    }
    let args = json!({"file": file, "line": line, "symbol": symbol, "new_name": good});
    let output = call(&renaming(project), args).expect("it is renamed");
    assert!(output.text.contains(good), "{}", output.text);
}

// R42: the server would write any text into the code.
#[test]
fn typescript_takes_identifiers_only() {
    if peers::find("typescript-language-server").is_none() {
        return;
    }
    let project = Project::new(&[
        ("tsconfig.json", "{\"compilerOptions\":{\"types\":[]}}"),
        (
            "lib.ts",
            "export function greeting(): number {\n  return 1;\n}\nexport class Box {\n  remove(): void {}\n  'a-b' = 1;\n}\n",
        ),
        (
            "user.ts",
            "import { greeting, Box } from './lib';\n\nconst box = new Box();\nbox.remove();\nexport const x = [greeting(), box['a-b']];\n",
        ),
    ]);
    let bad = ["1 x", "return", "a-b", "", " ", "a\nb", "x.y", "a;"];
    check(&project, ("lib.ts", 1, "greeting"), &bad, "$größe");
    assert_eq!(
        project.read("user.ts").as_deref(),
        Some(
            "import { $größe, Box } from './lib';\n\nconst box = new Box();\nbox.remove();\nexport const x = [$größe(), box['a-b']];\n"
        )
    );
    // A member may be called like a keyword, from its declaration and from a use.
    check(&project, ("lib.ts", 5, "remove"), &["a-b", "1"], "delete");
    check(&project, ("user.ts", 4, "delete"), &["a b"], "return");
    // A key in quotes is no identifier, so it may become what it likes.
    check(&project, ("lib.ts", 6, "a-b"), &["a\nb"], "c-d e");
    assert!(
        project
            .read("user.ts")
            .is_some_and(|text| text.contains("box['c-d e']"))
    );
}

#[test]
fn python_takes_identifiers_only() {
    if peers::find("basedpyright-langserver").is_none() {
        return;
    }
    let project = Project::new(&[
        ("pyproject.toml", ""),
        ("lib.py", "def greeting() -> int:\n    return 1\n"),
        ("user.py", "from lib import greeting\n\nprint(greeting())\n"),
    ]);
    let bad = ["1 x", "return", "a-b", "", "a\nb", "$x", "lambda"];
    check(&project, ("lib.py", 1, "greeting"), &bad, "größe");
}

// A language that nothing is known of is left to its server; here it takes everything.
#[test]
fn an_unknown_language_is_left_to_its_server() {
    if peers::find("python3").is_none() {
        return;
    }
    let project = Project::with(
        &[("fake.toml", ""), ("a.fk", "one two\n")],
        |work, mut options| {
            let uri = toolbox::lsp::uri::from_path(&work.join("a.fk"));
            let range =
                json!({"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}});
            let scenario = json!({
                "capabilities": {"renameProvider": true},
                "answers": {"textDocument/rename": {"changes": {uri: [{"range": range, "newText": "2-b"}]}}},
            });
            options.rows.push(crate::support::lsp::fake_row(&scenario));
            options
        },
    );
    check(&project, ("a.fk", 1, "two"), &["a\nb", ""], "2-b");
    assert_eq!(project.read("a.fk").as_deref(), Some("one 2-b\n"));
}
