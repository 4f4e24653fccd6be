//! Python cells: what persists, what is shown, and what the answer says.

use serde_json::json;
use toolbox::run::CallOptions;
use toolbox::tool::ErrorKind;

use super::{Lab, peers};

// R96, R101, R102
#[test]
fn variables_live_until_a_reset() {
    if peers::find("python3").is_none() {
        return;
    }
    let lab = Lab::new();
    let output = lab.python("x = 1");
    assert_eq!(output.data["result"], json!(null));
    let output = lab.python("x");
    assert_eq!(output.data["result"], "1");
    assert_eq!(output.data["execution_count"], 2);
    assert_eq!(output.text, "Out[2]: 1");
    let output = lab.cell(json!({"code": "'x' in globals()", "description": "d", "reset": true}));
    assert_eq!(output.data["result"], "False");
    assert_eq!(output.data["execution_count"], 1);
    assert!(output.text.starts_with("[the interpreter was reset"));
    assert_eq!(lab.processes.live(), 1);
    drop(lab.run);
    assert_eq!(lab.processes.live(), 0);
}

// R99, D22
#[test]
fn a_description_is_required() {
    let lab = Lab::new();
    for args in [
        json!({"code": "1"}),
        json!({"code": "1", "description": " \n"}),
    ] {
        let error = lab
            .run
            .dispatch("eval", args, CallOptions::new())
            .expect_err("no label");
        assert_eq!(error.kind(), ErrorKind::InvalidArgs);
        assert!(error.message().contains("description"));
    }
    assert_eq!(lab.processes.live(), 0, "nothing was started");
}
