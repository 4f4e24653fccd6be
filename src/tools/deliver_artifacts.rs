//! `DeliverArtifacts`: hands finished files over. Arguments in, the engine's report out.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::syntax::Paths;
use crate::artifacts::{Artifacts, ArtifactsError, ArtifactsReport, Unfit};
use crate::cancel::Cancel;
use crate::files::CommitError;
use crate::tool::{Call, ErrorKind, Output, Tier, Tool, ToolError};
use crate::workspace::{Workspace, WorkspaceError};

/// Is told of every delivery, so that a session can make an event of it; the token is that of the call.
pub type OnDelivery = Arc<dyn Fn(&ArtifactsReport, &Cancel) + Send + Sync>;

/// What `DeliverArtifacts` needs.
#[derive(Clone)]
pub struct ArtifactsResources {
    /// Where the files come from.
    pub workspace: Workspace,
    /// Where they go.
    pub folder: PathBuf,
    /// Where the lock and the journal of deliveries are.
    pub state_dir: PathBuf,
    /// Who is told.
    pub on_delivery: Option<OnDelivery>,
}

/// The tool `DeliverArtifacts`.
pub struct DeliverArtifacts {
    artifacts: Artifacts,
    resources: ArtifactsResources,
}

/// The arguments of `DeliverArtifacts`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliverArtifactsArgs {
    /// The files to deliver, relative to the workspace: a path or a list of them.
    #[serde(alias = "path", alias = "files")]
    #[schemars(with = "Paths")]
    paths: Paths,
}

impl ArtifactsResources {
    /// Wires a folder that nobody is told about.
    pub fn new(workspace: Workspace, folder: PathBuf, state_dir: PathBuf) -> Self {
        Self {
            workspace,
            folder,
            state_dir,
            on_delivery: None,
        }
    }
}

impl fmt::Debug for ArtifactsResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArtifactsResources")
            .field("workspace", &self.workspace)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl DeliverArtifacts {
    /// Makes the tool over the folder that it delivers into.
    pub fn new(resources: ArtifactsResources) -> Self {
        let ArtifactsResources {
            workspace,
            folder,
            state_dir,
            ..
        } = resources.clone();
        Self {
            artifacts: Artifacts::new(workspace, folder, state_dir),
            resources,
        }
    }
}

impl Tool for DeliverArtifacts {
    const NAME: &'static str = "DeliverArtifacts";
    const TIER: Tier = Tier::Write;
    // Deliveries of one run are told in the order in which they happened.
    const PARALLEL_SAFE: bool = false;
    type Args = DeliverArtifactsArgs;

    fn description(&self) -> String {
        DESCRIPTION.to_owned()
    }

    fn run(&self, call: &Call<'_>, args: DeliverArtifactsArgs) -> Result<Output, ToolError> {
        let Paths(paths) = args.paths;
        let report = self
            .artifacts
            .deliver(&paths, call.cancel())
            .map_err(artifacts_error)?;
        if let Some(tell) = &self.resources.on_delivery {
            tell(&report, call.cancel());
        }
        Output::report(&report)
    }
}

/// Gives an error of the engine its kind and its next step.
fn artifacts_error(error: ArtifactsError) -> ToolError {
    use ErrorKind::{Failed, InvalidArgs, NotFound};
    let (kind, hint) = match &error {
        ArtifactsError::Cancelled => return ToolError::cancelled(),
        ArtifactsError::Nothing => (InvalidArgs, "pass the paths of the files to deliver"),
        ArtifactsError::TooMany { .. } => (InvalidArgs, "put them into one archive first"),
        ArtifactsError::TooLarge => (
            InvalidArgs,
            "deliver fewer files at once, or compress them first",
        ),
        ArtifactsError::Unfit { unfit } => match unfit.first() {
            Some(Unfit::Missing { .. }) => {
                (NotFound, "check the path; it is relative to the workspace")
            }
            Some(Unfit::Workspace(WorkspaceError::Outside { .. })) => (
                InvalidArgs,
                "copy the file into the workspace first, and pass its path there",
            ),
            Some(Unfit::Unreadable { .. } | Unfit::Workspace(_)) => {
                (Failed, "pass files that can be read")
            }
            Some(Unfit::SameName { .. }) => (
                InvalidArgs,
                "deliver them one after the other under names of their own",
            ),
            Some(Unfit::Link { .. } | Unfit::NotRegular { .. }) | None => (
                InvalidArgs,
                "pass regular files, each by its own path; list a folder's files, or put them into one archive",
            ),
        },
        ArtifactsError::Manifest { .. } => (
            Failed,
            "the folder of delivered files must be writable, and its manifest.json whole: repair or remove it",
        ),
        ArtifactsError::Commit(CommitError::Locked(_)) => (Failed, "try again"),
        ArtifactsError::Commit(_) => (
            Failed,
            "nothing was delivered; the folder of delivered files must be writable",
        ),
    };
    ToolError::from_cause(kind, error).with_hint(hint)
}

const DESCRIPTION: &str = "\
Delivers finished files to the user: copies of them go to the artifacts folder of the run, and a manifest \
lists their paths, sizes, hashes and media types.

Use it for results that the user asked for, such as a report, a picture or an archive, once they are \
complete; not for source files that were only changed. All files are delivered or none. Links, folders and \
files outside the workspace are refused. A file that is delivered again replaces its earlier copy.";
