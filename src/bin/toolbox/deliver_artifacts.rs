//! `toolbox deliver-artifacts`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolbox::tools::{ArtifactsResources, OnDelivery};
use toolbox::workspace::Workspace;

use crate::args::Global;
use crate::host::Host;
use crate::output::{Console, Step};

/// The flags of `toolbox deliver-artifacts`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The folder holds manifest.json and, below files/, the copies under their paths in the workspace.

Example:
  toolbox deliver-artifacts report.pdf plots/a.png")]
pub(crate) struct DeliverArtifactsFlags {
    /// The files to deliver
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// The artifacts folder of this checkout, the configured one or one in the state folder; none when there is
/// no home to put that in.
pub(crate) fn resources(
    workspace: &Workspace,
    configured: Option<&Path>,
    on_delivery: Option<OnDelivery>,
    state_dir: Option<&Path>,
) -> Option<ArtifactsResources> {
    let state_dir = state_dir?;
    let folder = match configured {
        Some(folder) => workspace.root().join(folder),
        None => state_dir.join("artifacts"),
    };
    let journal = state_dir.join("artifacts-journal");
    let resources = ArtifactsResources::new(workspace.clone(), folder, journal);
    Some(ArtifactsResources {
        on_delivery,
        ..resources
    })
}

/// Delivers files.
pub(crate) fn deliver_artifacts(
    console: &Console,
    global: &Global,
    flags: DeliverArtifactsFlags,
) -> Step {
    let host = Host::open(console, global)?;
    let call = json!({"paths": host.paths(console, &flags.paths)?});
    let output = host.dispatch(console, "DeliverArtifacts", call)?;
    match console.json {
        true => console.print_json(&output.data),
        false => console.show(&output.text),
    }
}
