//! JavaScript cells: what persists, where modules come from, what is shown.

use std::time::Duration;

use serde_json::json;
use toolbox::cancel::Cancel;
use toolbox::run::CallOptions;

use super::{Lab, cancel_after, peers};

fn lab() -> Option<Lab> {
    peers::find("node")?;
    Some(Lab::new())
}

// R96, R100, R101
#[test]
fn bindings_live_until_a_reset() {
    let Some(lab) = lab() else { return };
    lab.javascript(
        "const a = 1; let b = 2; class C { f() { return 3 } }; function g() { return 4 }",
    );
    assert_eq!(
        lab.javascript("[a, b, new C().f(), g()]").data["result"],
        "[ 1, 2, 3, 4 ]"
    );
    let args =
        json!({"code": "typeof a", "description": "d", "language": "javascript", "reset": true});
    assert_eq!(lab.cell(args).data["result"], "'undefined'");
}

#[test]
fn modules_come_from_the_workspace() {
    let Some(lab) = lab() else { return };
    lab.write("m.mjs", "export const z = 7; export default 'main';");
    lab.write("c.cjs", "module.exports = { c: 5 };");
    std::fs::create_dir_all(lab.root().join("node_modules/only-esm")).expect("a folder");
    lab.write(
        "node_modules/only-esm/package.json",
        r#"{"name": "only-esm", "exports": {"import": "./x.mjs"}}"#,
    );
    lab.write("node_modules/only-esm/x.mjs", "export const esm = true;");
    let output = lab.javascript(
        "import d, { z as zed } from './m.mjs';\nimport * as all from './m.mjs';\n\
         import { esm } from 'only-esm';\nimport { join } from 'node:path';\n[d, zed, all.z, esm, join('a', 'b')]",
    );
    assert_eq!(output.data["result"], "[ 'main', 7, 7, true, 'a/b' ]");
    assert_eq!(
        lab.javascript("zed + require('./c.cjs').c").data["result"],
        "12"
    );
    assert_eq!(
        lab.javascript("(await import('./m.mjs')).z").data["result"],
        "7"
    );
}

#[test]
fn a_loop_that_never_yields_is_interrupted_with_state_kept() {
    let Some(lab) = lab() else { return };
    lab.javascript("const x = 41");
    for code in [
        "for (;;) {}",
        "await null; for (;;) {}",
        "/^(a+)+$/.test('a'.repeat(50) + 'b')",
        "await new Promise(() => {})",
        "require('child_process').execSync('sleep 600')",
    ] {
        let cancel = Cancel::new();
        let _timer = cancel_after(&cancel, Duration::from_millis(500));
        let args = json!({"code": code, "description": "d", "language": "javascript"});
        let output = lab
            .run
            .dispatch("eval", args, CallOptions::new().with_cancel(cancel))
            .expect("a report");
        assert_eq!(
            output.data["status"], "interrupted",
            "{code}: {:#}",
            output.data
        );
        assert_eq!(lab.javascript("x + 1").data["result"], "42", "{code}");
    }
}

#[test]
fn an_error_shows_the_users_frames_and_line() {
    let Some(lab) = lab() else { return };
    let output = lab.javascript("function boom() {\n  throw new TypeError('bad')\n}\nboom()");
    assert_eq!(
        output.data["error"],
        json!({
            "name": "TypeError",
            "value": "bad",
            "traceback": "cell-1.js:2\n    throw new TypeError('bad')\nTypeError: bad\n    at boom (cell-1.js:2:9)\n    at cell-1.js:4:1",
        })
    );
    let output = lab.javascript("const q = ;");
    assert_eq!(
        output.data["error"]["traceback"],
        "cell-2.js:1\n    const q = ;\n              ^\nSyntaxError: Unexpected token ';'"
    );
    assert_eq!(lab.javascript("throw 5").data["error"]["value"], "5");
    // An error that is shown or printed has no frames of the kernel either.
    let shown = lab.javascript("console.log(new Error('a').stack); new Error('b')");
    assert_eq!(shown.data["output"], "Error: a\n    at cell-4.js:1:13\n");
    assert_eq!(shown.data["result"], "Error: b\n    at cell-4.js:1:36");
}

#[test]
fn what_a_cell_does_to_the_language_does_not_hurt_the_kernel() {
    let Some(lab) = lab() else { return };
    lab.javascript("JSON = 1; Promise = 2; Buffer = 3; console.log = null; Object.entries = null");
    assert_eq!(lab.javascript("[1, 2]").data["result"], "[ 1, 2 ]");
    lab.javascript("tool = 1; display = 2; delete globalThis.tool; delete globalThis.display");
    assert_eq!(
        lab.javascript("[typeof tool, typeof display]").data["result"],
        "[ 'function', 'function' ]"
    );
    lab.javascript("process.stdout.end(); process.stderr.destroy()");
    let output = lab.javascript("process.stdout.write('still\\n'); undefined");
    assert_eq!(output.data["output"], "still\n");
}

#[test]
fn a_closed_pipe_ends_the_interpreter_and_no_file_gets_a_frame() {
    let Some(lab) = lab() else { return };
    let output = lab.javascript(
        "const fs = require('fs'); fs.closeSync(4); const f = fs.openSync('f', 'w'); display('x')",
    );
    assert_eq!(output.data["status"], "died");
    assert_eq!(output.data["exit_code"], 70);
    assert_eq!(std::fs::read(lab.root().join("f")).expect("there"), b"");
}

#[test]
fn the_end_of_the_process_is_seen() {
    let Some(lab) = lab() else { return };
    let output = lab.javascript("process.exit(3)");
    assert_eq!(output.data["status"], "died");
    assert_eq!(output.data["exit_code"], 3);
    assert_eq!(output.data["state_kept"], false);
    assert_eq!(lab.javascript("1").data["execution_count"], 1);
}

#[test]
fn displays_have_their_media_type() {
    let Some(lab) = lab() else { return };
    let output = lab.javascript(
        "display.html('<b>x</b>'); display({[Symbol.for('Jupyter.display')]() { return {'text/markdown': '# T', 'text/plain': 'T'} }}); \
         display(Buffer.from('iVBORw0KGgo=', 'base64'))",
    );
    let mimes: Vec<&str> = output.data["displays"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|display| display["mime"].as_str())
        .collect();
    assert_eq!(mimes, ["text/html", "text/markdown", "image/png"]);
    assert_eq!(output.images.len(), 1);
}
