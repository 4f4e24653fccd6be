//! Which adapters are usable here, and why the others are not (R70, R75).
//!
//! An adapter is usable where a root marker and its program are found, looked at anew for every call: a
//! virtual environment that was made a minute ago counts. A project's own Python comes before any other
//! (R95), and it must be able to import debugpy.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cancel::Cancel;
use crate::child::{Capture, Env, Processes, Program, is_program};
use crate::dap::adapters::{AdapterRow, Dialect};
use crate::dap::error::DapError;

/// How long a Python may take to tell whether it has debugpy.
const PROBE_WAIT: Duration = Duration::from_secs(20);

/// How deep below the workspace markers are looked for, and how many folders.
const DEPTH: usize = 2;
const FOLDERS: usize = 500;

/// Folders that hold other people's projects.
const PASSED_OVER: [&str; 5] = ["node_modules", "target", "vendor", "venv", "build"];

/// An adapter in this place.
#[derive(Clone, Debug)]
pub(crate) struct Detected {
    pub(crate) row: AdapterRow,
    /// The folder of the marker.
    pub(crate) root: Option<PathBuf>,
    /// The program, or why there is none.
    pub(crate) program: Result<PathBuf, String>,
}

impl Detected {
    pub(crate) fn usable(&self) -> bool {
        self.root.is_some() && self.program.is_ok()
    }

    /// What makes it usable, or what is missing.
    pub(crate) fn reason(&self) -> String {
        let markers = self.row.markers.join(", ");
        let marker = match &self.root {
            Some(_) => None,
            None if markers.is_empty() => {
                Some("it has no root marker: name it as `adapter`".to_owned())
            }
            None => Some(format!("no {markers} here")),
        };
        let program = self.program.as_ref().err().cloned();
        let missing: Vec<String> = marker.into_iter().chain(program).collect();
        if !missing.is_empty() {
            return missing.join("; ");
        }
        if self.row.verified {
            "root marker and program found".to_owned()
        } else {
            "root marker and program found; unverified: no session with it was ever run".to_owned()
        }
    }
}

/// Where to look, and with what.
pub(crate) struct Surroundings<'a> {
    pub(crate) env: &'a Env,
    pub(crate) processes: &'a Processes,
    pub(crate) workspace: &'a Path,
    pub(crate) cancel: &'a Cancel,
}

impl Surroundings<'_> {
    /// Looks at one adapter from `start`, a folder in the workspace.
    pub(crate) fn detect(&self, row: &AdapterRow, start: &Path) -> Detected {
        let root = self.root(row, start);
        let base = root.as_deref().unwrap_or(start);
        Detected {
            program: self.program(row, base),
            root,
            row: row.clone(),
        }
    }

    /// The nearest folder with a marker at or above `start`; at the root of the workspace, also below.
    fn root(&self, row: &AdapterRow, start: &Path) -> Option<PathBuf> {
        let marked = |folder: &Path| row.markers.iter().any(|name| folder.join(name).is_file());
        let above = start
            .ancestors()
            .take_while(|folder| folder.starts_with(self.workspace))
            .find(|folder| marked(folder));
        if let Some(folder) = above {
            return Some(folder.to_owned());
        }
        if start != self.workspace || row.markers.is_empty() {
            return None;
        }
        let mut level = vec![self.workspace.to_owned()];
        let mut n_folders = 0;
        for _ in 0..DEPTH {
            let mut next = Vec::new();
            for folder in &level {
                for inner in folders(folder) {
                    n_folders += 1;
                    if n_folders > FOLDERS {
                        return None;
                    }
                    if marked(&inner) {
                        return Some(inner);
                    }
                    next.push(inner);
                }
            }
            level = next;
        }
        None
    }

    fn program(&self, row: &AdapterRow, root: &Path) -> Result<PathBuf, String> {
        if row.dialect == Dialect::Debugpy {
            return self.python(row, root);
        }
        self.on_path(&row.programs)
    }

    fn on_path(&self, names: &[String]) -> Result<PathBuf, String> {
        let path = self.env.get("PATH").unwrap_or_default();
        let found = names
            .iter()
            .find_map(|name| which::which_in(name, Some(path), self.workspace).ok());
        let first = names.first().map_or("", String::as_str);
        found.ok_or_else(|| match names.len() {
            0 | 1 => format!("{first} is not on PATH"),
            n => format!("{first} is not on PATH, nor under {} other names", n - 1),
        })
    }

    /// The project's own Python, else that of the `PATH`; either must have debugpy.
    fn python(&self, row: &AdapterRow, root: &Path) -> Result<PathBuf, String> {
        let own = [root, self.workspace]
            .into_iter()
            .flat_map(|folder| [".venv", "venv"].map(|venv| folder.join(venv).join("bin")))
            .flat_map(|bin| ["python3", "python"].map(|name| bin.join(name)))
            .find(|python| is_program(python));
        // Who configured a path means that one.
        let named = row.programs.first().is_some_and(|name| name.contains('/'));
        let python = match own {
            Some(python) if !named => python,
            _ => self.on_path(&row.programs)?,
        };
        self.probe(&python)?;
        Ok(python)
    }

    fn probe(&self, python: &Path) -> Result<(), String> {
        let program =
            Program::new(python, self.workspace, self.env.clone()).args(["-c", "import debugpy"]);
        let capture = Capture {
            input: Vec::new(),
            limit: 4096,
            timeout: PROBE_WAIT,
        };
        let shown = python.display();
        let captured = self
            .processes
            .capture(&program, capture, self.cancel)
            .map_err(|err| format!("{shown} does not start: {err}"))?;
        if matches!(captured.waited, crate::child::Waited::Exited(exit) if exit.is_success()) {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&captured.stderr);
        let words = stderr.lines().last().unwrap_or("it did not answer in time");
        Err(format!(
            "{shown} cannot import debugpy ({words}): run `{shown} -m pip install debugpy`"
        ))
    }
}

/// Picks the adapter for a program: the named one, else by the extension, else by the nearest marker (D17).
pub(crate) fn pick(
    surroundings: &Surroundings<'_>,
    rows: &[AdapterRow],
    named: Option<&str>,
    extension: Option<&OsStr>,
    start: &Path,
    what: &str,
) -> Result<Detected, DapError> {
    if let Some(name) = named {
        let Some(row) = rows.iter().find(|row| row.id == name) else {
            let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            return Err(DapError::not_found(
                format!("there is no debug adapter '{name}'"),
                format!("the adapters are: {}", ids.join(", ")),
            ));
        };
        let detected = surroundings.detect(row, start);
        // Who names an adapter needs no marker to find it.
        return match &detected.program {
            Ok(_) => Ok(detected),
            Err(reason) => Err(DapError::Unavailable {
                what: what.to_owned(),
                reasons: vec![format!("{name}: {reason}")],
            }),
        };
    }
    let by_extension = extension.and_then(OsStr::to_str).and_then(|extension| {
        rows.iter()
            .find(|row| row.extensions.iter().any(|known| known == extension))
    });
    if let Some(row) = by_extension {
        let detected = surroundings.detect(row, start);
        if detected.usable() {
            return Ok(detected);
        }
        // Another adapter may take over for the same projects, as gdb does for lldb.
        let stand_in = rows
            .iter()
            .filter(|other| other.id != row.id && other.markers == row.markers)
            .map(|other| surroundings.detect(other, start))
            .find(Detected::usable);
        return stand_in.ok_or_else(|| unavailable(what, &[detected]));
    }
    let all: Vec<Detected> = rows
        .iter()
        .map(|row| surroundings.detect(row, start))
        .collect();
    let nearest = all
        .iter()
        .filter(|detected| detected.usable())
        .max_by_key(|detected| {
            let depth = detected
                .root
                .as_ref()
                .map_or(0, |root| root.components().count());
            (depth, detected.row.verified)
        });
    let Some(nearest) = nearest else {
        return Err(unavailable(what, &all));
    };
    let rivals: Vec<&str> = all
        .iter()
        .filter(|other| {
            other.usable()
                && other.root == nearest.root
                && other.row.verified == nearest.row.verified
        })
        .map(|other| other.row.id.as_str())
        .collect();
    if rivals.len() > 1 {
        return Err(DapError::bad(
            format!(
                "several adapters are usable for {what}: {}",
                rivals.join(", ")
            ),
            format!("pass adapter: `{}`, for example", rivals[0]),
        ));
    }
    Ok(nearest.clone())
}

fn unavailable(what: &str, detected: &[Detected]) -> DapError {
    DapError::Unavailable {
        what: what.to_owned(),
        reasons: detected
            .iter()
            .map(|detected| format!("{}: {}", detected.row.id, detected.reason()))
            .collect(),
    }
}

/// The folders in a folder that may hold a project, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let name = name.to_str()?;
            let kept = !name.starts_with('.') && !PASSED_OVER.contains(&name);
            (kept && entry.file_type().ok()?.is_dir()).then(|| entry.path())
        })
        .collect();
    folders.sort();
    folders
}
