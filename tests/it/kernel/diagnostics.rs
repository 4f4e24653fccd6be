//! What a cell writes through the bridge passes diagnostics on write, as a write of the model does.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolbox::files::Committer;
use toolbox::kernel::KernelOptions;
use toolbox::lsp::diagnostics::Bounds;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{Output, Tier};
use toolbox::tools::{DiagnosticsOnWrite, EvalResources, FileResources, Resources, connect};
use toolbox::workspace::Workspace;

use crate::support::lsp::{Project, environment};
use crate::support::peers;

/// Bounds that only a failure meets.
const PATIENT: Bounds = Bounds {
    baseline: Duration::from_secs(100),
    settle: Duration::from_secs(100),
    compiler: Duration::from_secs(100),
    late: Duration::from_secs(100),
};

fn run_over(project: &Project) -> Run {
    let workspace = Workspace::open(&project.work()).expect("the folder exists");
    let state = project.work().with_file_name("state");
    let committer = Committer::new(state).within(workspace.clone());
    let files = FileResources::new(workspace).with_committer(Arc::new(committer));
    let home = project.work().with_file_name("home");
    let options = KernelOptions::new(project.work(), environment(&home));
    let registry = connect(&Resources {
        eval: Some(EvalResources::new(project.processes.clone(), options)),
        files: Some(files.clone()),
        ..Resources::default()
    });
    let hook = DiagnosticsOnWrite::with_bounds(project.supervisor.clone(), PATIENT);
    Run::builder(registry)
        .approver(AutoApprove::up_to(Tier::Exec))
        .observer(files.ledger.clone())
        .after_write(Arc::new(hook))
        .build()
}

#[track_caller]
fn cell(run: &Run, code: &str) -> Output {
    let args = json!({"code": code, "description": "writes a file"});
    let output = run.dispatch("eval", args, CallOptions::new());
    let output = output.expect("a report");
    assert_eq!(output.data["status"], "ok", "{:#}", output.data);
    output
}

// R33, R109: a bridged Write tells the cell what it broke, in its text and in its data; a sound one nothing.
#[test]
fn a_bridged_write_gets_diagnostics_on_write() {
    if peers::find("basedpyright-langserver").is_none() || peers::find("python3").is_none() {
        return;
    }
    let project = Project::new(&[("pyproject.toml", "")]);
    let run = run_over(&project);
    let sound = cell(
        &run,
        "r = tool('write', {'path': 'a.py', 'content': 'n: int = 1\\n'})\nprint(r)\nr.data['diagnostics']['state']",
    );
    assert_eq!(sound.data["result"], "'clean'", "{:#}", sound.data);
    let said = sound.data["output"].as_str().expect("a text");
    assert!(!said.contains("diagnostics"), "{said}");
    let broken = cell(
        &run,
        "r = tool('Write', {'path': 'a.py', 'content': 'n: int = \"x\"\\n'})\nprint(r)\n\
         d = r.data['diagnostics']; d['state'], [(x['line'], x['code']) for x in d['diagnostics']]",
    );
    let said = broken.data["output"].as_str().expect("a text");
    assert!(said.contains("new diagnostics:\n"), "{said}");
    assert!(
        said.contains("a.py:1:10: error[reportAssignmentType]: "),
        "{said}"
    );
    assert_eq!(
        broken.data["result"],
        "('found', [(1, 'reportAssignmentType')])"
    );
}
