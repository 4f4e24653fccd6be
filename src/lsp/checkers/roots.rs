//! Where the checkers run: every root marker of the workspace, what is installed for it, and what has none.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Settings;
use super::table::{Checker, How, Reach, Row, TABLE};
use crate::cancel::Cancel;
use crate::child::{Env, is_program};
use crate::walk::{WalkError, WalkOptions, walk};
use crate::workspace::Workspace;

/// Folders that hold what others wrote; a checker of the project does not start there.
const FOREIGN: [&str; 6] = [
    "node_modules",
    "site-packages",
    "target",
    "vendor",
    "venv",
    "testdata",
];

/// Where build systems leave compile_commands.json, which is often ignored by git.
const BUILD_FOLDERS: [&str; 5] = ["", "build", "builddir", "out", "cmake-build-debug"];

const DATABASE: &str = "compile_commands.json";

/// One checker that is to run in one folder.
pub(super) struct Job {
    pub(super) row: &'static Row,
    pub(super) root: PathBuf,
    /// The file that marks the root.
    pub(super) marker: PathBuf,
}

/// Sources of one kind of project that no root is there for.
pub(super) struct Bare {
    pub(super) row: &'static Row,
    pub(super) n_files: usize,
    /// The first of them.
    pub(super) first: PathBuf,
}

/// What there is to check, and what has nothing that could say how.
pub(super) struct Survey {
    /// Every root, sorted by path within each kind of project.
    pub(super) jobs: Vec<Job>,
    pub(super) bare: Vec<Bare>,
}

/// Finds every root, and the sources outside of all roots.
pub(super) fn survey(
    workspace: &Workspace,
    covered: &dyn Fn(&Path) -> Option<CargoWorkspace>,
    cancel: &Cancel,
) -> Result<Survey, WalkError> {
    let options = WalkOptions {
        globs: FOREIGN.iter().map(|folder| format!("!{folder}/")).collect(),
        ..WalkOptions::default()
    };
    let matters = |path: &Path| {
        let is_marker = |row: &Row, name| row.markers.contains(&name);
        let matters = |name| {
            let mut rows = TABLE.iter();
            rows.any(|row| is_marker(row, name) || row.has_source(name))
        };
        name_of(path).is_some_and(matters)
    };
    let walked = walk(&[workspace.root().to_owned()], &options, &matters, cancel)?;
    let is_marker = |path: &PathBuf| {
        let mut rows = TABLE.iter();
        name_of(path).is_some_and(|name| rows.any(|row| row.markers.contains(&name)))
    };
    let mut markers: BTreeSet<PathBuf> = walked
        .files
        .iter()
        .filter(|path| is_marker(path))
        .cloned()
        .collect();
    let hidden = BUILD_FOLDERS.iter().map(|folder| {
        let folder = workspace.root().join(folder);
        folder.join(DATABASE)
    });
    markers.extend(hidden.filter(|path| path.is_file()));
    Ok(Survey {
        jobs: TABLE
            .iter()
            .flat_map(|row| roots(row, &markers, covered))
            .collect(),
        bare: TABLE
            .iter()
            .filter_map(|row| bare(row, &markers, &walked.files))
            .collect(),
    })
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

fn bare(row: &'static Row, markers: &BTreeSet<PathBuf>, files: &[PathBuf]) -> Option<Bare> {
    let own = markers
        .iter()
        .filter(|path| name_of(path).is_some_and(|name| row.markers.contains(&name)));
    let covered: BTreeSet<&Path> = own
        .filter_map(|marker| {
            let folder = marker.parent()?;
            // What a build system leaves beside its output is about the folder above.
            let is_output = name_of(folder).is_some_and(|name| BUILD_FOLDERS.contains(&name));
            match row.markers.contains(&DATABASE) && is_output {
                true => folder.parent(),
                false => Some(folder),
            }
        })
        .collect();
    let mut bare = files.iter().filter(|path| {
        let mut above = path.ancestors().skip(1);
        name_of(path).is_some_and(|name| row.has_source(name))
            && !above.any(|folder| covered.contains(folder))
    });
    let first = bare.next()?.clone();
    Some(Bare {
        row,
        n_files: 1 + bare.count(),
        first,
    })
}

/// The packages that one check covers.
pub(super) struct CargoWorkspace {
    pub(super) root: PathBuf,
    pub(super) manifests: BTreeSet<PathBuf>,
}

impl CargoWorkspace {
    /// Reads the answer of `cargo metadata --no-deps`.
    pub(super) fn read(metadata: &[u8]) -> Option<Self> {
        let metadata: Value = serde_json::from_slice(metadata).ok()?;
        let packages = metadata["packages"].as_array()?.iter();
        Some(Self {
            root: PathBuf::from(metadata["workspace_root"].as_str()?),
            manifests: packages
                .filter_map(|package| Some(PathBuf::from(package["manifest_path"].as_str()?)))
                .collect(),
        })
    }
}

fn roots(
    row: &'static Row,
    markers: &BTreeSet<PathBuf>,
    covered: &dyn Fn(&Path) -> Option<CargoWorkspace>,
) -> Vec<Job> {
    let name = |path: &Path| {
        let name = name_of(path)?;
        row.markers.iter().position(|marker| *marker == name)
    };
    let mut own: Vec<&PathBuf> = markers.iter().filter(|path| name(path).is_some()).collect();
    // Of several markers in one folder the first of the row stands for it.
    own.sort_by_key(|path| (path.parent(), name(path)));
    own.dedup_by_key(|path| path.parent());
    let mut jobs: Vec<Job> = Vec::new();
    let mut done = BTreeSet::new();
    for marker in own {
        let Some(folder) = marker.parent() else {
            continue;
        };
        let mut root = folder.to_owned();
        match row.reach {
            Reach::Every => {}
            Reach::Outermost => {
                if jobs.iter().any(|job| folder.starts_with(&job.root)) {
                    continue;
                }
            }
            Reach::CargoWorkspace => {
                if done.contains(marker) {
                    continue;
                }
                if let Some(found) = covered(marker) {
                    done.extend(found.manifests);
                    root = found.root;
                }
                if jobs.iter().any(|job| job.root == root) {
                    continue;
                }
            }
        }
        jobs.push(Job {
            row,
            root,
            marker: marker.clone(),
        });
    }
    jobs
}

/// The first checker of a row that is installed, and where; those of the project come before the `PATH`.
pub(super) fn installed(
    row: &'static Row,
    root: &Path,
    workspace: &Workspace,
    settings: &Settings,
) -> Option<(&'static Checker, PathBuf)> {
    let mut used = row
        .checkers
        .iter()
        .filter(|checker| settings.uses(checker.id));
    let env = &settings.env;
    used.find_map(|checker| {
        if checker.run == How::CompileCommands {
            return Some((checker, PathBuf::new()));
        }
        find(checker.program, root, workspace, env).map(|path| (checker, path))
    })
}

/// Looks a program up for a root.
pub(super) fn find(name: &str, root: &Path, workspace: &Workspace, env: &Env) -> Option<PathBuf> {
    let above = root
        .ancestors()
        .take_while(|folder| folder.starts_with(workspace.root()));
    let local = above.flat_map(|folder| {
        ["node_modules/.bin", ".venv/bin", "venv/bin"].map(|inner| folder.join(inner))
    });
    let path = env.get("PATH").unwrap_or_default();
    local
        .chain(folders(path))
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

/// The folders of a `PATH`; a relative one would depend on where the host happens to be.
fn folders(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    let folders = path.as_bytes().split(|&byte| byte == b':');
    folders
        .map(|folder| PathBuf::from(OsStr::from_bytes(folder)))
        .filter(|folder| folder.is_absolute())
}

/// The interpreter of the virtual environment at or above a root.
pub(super) fn interpreter(root: &Path, workspace: &Workspace) -> Option<PathBuf> {
    root.ancestors()
        .take_while(|folder| folder.starts_with(workspace.root()))
        .flat_map(|folder| [".venv/bin/python", "venv/bin/python"].map(|inner| folder.join(inner)))
        .find(|path| is_program(path))
}
