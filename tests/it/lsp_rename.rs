//! `lsp_rename`: with real servers over several files, and with a scripted one that errs.

mod faults;
mod names;
mod real;
mod script;
mod told;

use std::sync::Arc;

use serde_json::{Value, json};
use toolbox::files::Committer;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{LspResources, Resources, connect};

use crate::support::lsp::Project;

/// A run that may rename.
fn renaming(project: &Project) -> Run {
    let committer = Committer::new(project.work().with_file_name("state"));
    let lsp = LspResources::new(project.supervisor.clone()).with_rename(Arc::new(committer));
    let resources = Resources {
        lsp: Some(lsp),
        ..Resources::default()
    };
    Run::builder(connect(&resources))
        .approver(AutoApprove::up_to(Tier::Write))
        .build()
}

fn call(run: &Run, args: Value) -> Result<Output, ToolError> {
    run.dispatch("lsp_rename", args, CallOptions::new())
}

/// Renames what must not be renamed; every file stays as it is.
#[track_caller]
pub(crate) fn refused_in(
    project: &Project,
    file: &str,
    line: usize,
    symbol: &str,
    new_name: &str,
) -> ToolError {
    let before = tree(project);
    let args = json!({"file": file, "line": line, "symbol": symbol, "new_name": new_name});
    let error = match call(&renaming(project), args) {
        Ok(output) => panic!("'{symbol}' was renamed to '{new_name}': {}", output.text),
        Err(error) => error,
    };
    assert_eq!(tree(project), before, "{error}");
    let hint = error.hint().unwrap_or_default();
    assert!(!hint.is_empty(), "{error}");
    error
}

/// Renames, which must succeed.
#[track_caller]
pub(crate) fn renamed_in(project: &Project, args: Value) -> Output {
    call(&renaming(project), args).expect("it is renamed")
}

/// Every file of a project with its text.
fn tree(project: &Project) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut left = vec![project.work()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).expect("readable").flatten() {
            let kind = entry.file_type().expect("a type");
            // What a compiler leaves there is its own.
            if kind.is_dir() && entry.file_name() != "target" {
                left.push(entry.path());
            } else if kind.is_file() {
                let text = std::fs::read(entry.path()).expect("readable");
                files.push((entry.path(), text));
            }
        }
    }
    files.sort();
    files
}

// R36, R37: its tier keeps it from surfaces that only read, where lsp stays.
#[test]
fn a_reading_surface_has_lsp_and_no_rename() {
    let project = Project::new(&[]);
    let lsp = LspResources::new(project.supervisor.clone());
    let committer = Committer::new(project.work().with_file_name("state"));
    let with = |lsp: LspResources| {
        connect(&Resources {
            lsp: Some(lsp),
            ..Resources::default()
        })
    };
    let names = |registry: &toolbox::registry::Registry| -> Vec<String> {
        let specs = registry.specs();
        specs.iter().map(|spec| spec.name.clone()).collect()
    };
    assert_eq!(names(&with(lsp.clone())), ["lsp"]);
    let both = with(lsp.with_rename(Arc::new(committer)));
    assert_eq!(names(&both), ["lsp", "lsp_rename"]);
    assert_eq!(
        both.get("lsp_rename").map(|spec| spec.tier),
        Some(Tier::Write)
    );
    assert_eq!(names(&both.limit(Tier::Read)), ["lsp"]);
}
