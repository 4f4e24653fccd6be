//! `Glob`, `Grep`, `Bash` and `DeliverArtifacts` as a host calls them: through the gate of a run.

mod artifacts;
mod bash;
mod glob;
mod grep;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use toolbox::child::{Env, Processes, Watch};
use toolbox::registry::Registry;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::shell::ShellOptions;
use toolbox::tool::{ErrorKind, Output, Tier, ToolError};
use toolbox::tools::{ArtifactsResources, FindingResources, Resources, ShellResources, connect};
use toolbox::workspace::Workspace;

use crate::files_support::Place;

/// A workspace with a run over it that approves everything.
struct Bench {
    place: Place,
    run: Run,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Place::new();
        for (name, text) in files {
            place.write(name, text);
        }
        Self::over(place)
    }

    fn over(place: Place) -> Self {
        Self::with_shell(place, "bash")
    }

    fn with_shell(place: Place, shell: &str) -> Self {
        let run = Run::builder(registry(&place, shell))
            .approver(AutoApprove::up_to(Tier::Exec))
            .build();
        Self { place, run }
    }

    fn call(&self, name: &str, args: Value) -> Result<Output, ToolError> {
        self.run.dispatch(name, args, CallOptions::new())
    }

    #[track_caller]
    fn answer(&self, name: &str, args: Value) -> Output {
        self.call(name, args).expect("the call succeeds")
    }

    /// Calls a tool that must fail in this way, with words in the message and a next step.
    #[track_caller]
    fn refuses(&self, name: &str, args: Value, kind: ErrorKind, words: &str) -> ToolError {
        let error = match self.call(name, args) {
            Ok(output) => panic!("{name} succeeded: {}", output.text),
            Err(error) => error,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(words), "{error} lacks {words}");
        assert!(
            error.hint().is_some_and(|hint| !hint.is_empty()),
            "{error} has no hint"
        );
        error
    }
}

fn registry(place: &Place, shell: &str) -> Registry {
    let workspace = Workspace::open(&place.work()).expect("the folder exists");
    let env = Env::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let mut options = ShellOptions::new(shell.into(), env);
    options.output_dir = Some(place.state().join("output"));
    let folder = place.state().join("artifacts");
    let artifacts =
        ArtifactsResources::new(workspace.clone(), folder, place.state().join("journal"));
    connect(&Resources {
        finding: Some(FindingResources::new(workspace.clone())),
        shell: Some(ShellResources {
            processes: Processes::new(Watch::Shell),
            workspace,
            options,
        }),
        artifacts: Some(artifacts),
        ..Resources::default()
    })
}

fn strings(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().filter_map(Value::as_str).collect()
}

// R4, D33, D34: the tools exist with their resource only, under their names, in their tiers.
#[test]
fn tools_exist_only_with_their_resource() {
    let place = Place::new();
    let registry = registry(&place, "bash");
    for (name, alias, tier, parallel) in [
        ("Glob", "glob", Tier::Read, true),
        ("Grep", "grep", Tier::Read, true),
        ("Bash", "bash", Tier::Exec, true),
        ("DeliverArtifacts", "DeliverArtifacts", Tier::Write, false),
    ] {
        let spec = registry.get(name).expect("it is registered");
        assert_eq!((spec.tier, spec.parallel_safe), (tier, parallel), "{name}");
        assert_eq!(
            registry.get(alias).map(|spec| spec.name.as_str()),
            Some(name)
        );
        let absent = connect(&Resources::default());
        assert!(absent.get(name).is_none() && absent.get(alias).is_none());
        assert!(absent.unavailable().iter().any(|row| row.name == name));
    }
}
