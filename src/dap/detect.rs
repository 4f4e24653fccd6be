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

/// How long a program may take to tell what it has.
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
    /// The project's own Python, where the adapter has to be that of another.
    pub(crate) interpreter: Option<PathBuf>,
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
        let mut found = "root marker and program found".to_owned();
        if let Some(borrowed) = self.borrowed() {
            found.push_str("; ");
            found.push_str(&borrowed);
        }
        if !self.row.verified {
            found.push_str("; unverified: no session with it was ever run");
        }
        found
    }

    /// Says whose debugpy debugs the project's own Python, where that has none.
    pub(crate) fn borrowed(&self) -> Option<String> {
        let (own, program) = (self.interpreter.as_ref()?, self.program.as_ref().ok()?);
        Some(format!(
            "{} has no debugpy: that of {} debugs it",
            own.display(),
            program.display()
        ))
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
        let (program, interpreter) = match row.dialect {
            Dialect::Debugpy => match self.python(row, base) {
                Ok((program, interpreter)) => (Ok(program), interpreter),
                Err(reason) => (Err(reason), None),
            },
            Dialect::Gdb => (self.gdb(row), None),
            Dialect::Dart | Dialect::Lldb | Dialect::Delve | Dialect::Plain => {
                (self.on_path(&row.programs), None)
            }
        };
        Detected {
            program,
            interpreter,
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

    /// The Python with debugpy: the project's own before that of the `PATH` (R95). Where the project's own
    /// has none, the other's debugpy debugs it: the program still runs in its own environment, and that
    /// Python is the second of the two.
    fn python(&self, row: &AdapterRow, root: &Path) -> Result<(PathBuf, Option<PathBuf>), String> {
        let own = [root, self.workspace]
            .into_iter()
            .flat_map(|folder| [".venv", "venv"].map(|venv| folder.join(venv).join("bin")))
            .flat_map(|bin| ["python3", "python"].map(|name| bin.join(name)))
            .find(|python| is_program(python));
        // Who configured a path means that one.
        let named = row.programs.first().is_some_and(|name| name.contains('/'));
        let Some(own) = own.filter(|_| !named) else {
            let python = self.on_path(&row.programs)?;
            self.has_debugpy(&python)?;
            return Ok((python, None));
        };
        let Err(reason) = self.has_debugpy(&own) else {
            return Ok((own, None));
        };
        // Only one that works is a debuggee for somebody else's debugpy.
        let works = self.probe(&own, &["-c", "pass"]).is_ok();
        match self.on_path(&row.programs) {
            Ok(other) if works && other != own && self.has_debugpy(&other).is_ok() => {
                Ok((other, Some(own)))
            }
            _ => Err(reason),
        }
    }

    fn has_debugpy(&self, python: &Path) -> Result<(), String> {
        let shown = python.display();
        self.probe(python, &["-c", "import debugpy"])
            .map_err(|words| {
                format!(
                    "{shown} cannot import debugpy ({words}): run `{shown} -m pip install debugpy`"
                )
            })
    }

    /// A gdb that speaks the protocol: it came with version 14, and is written in the Python that some gdb
    /// are built without.
    fn gdb(&self, row: &AdapterRow) -> Result<PathBuf, String> {
        let gdb = self.on_path(&row.programs)?;
        let ask = ["-nx", "-q", "-batch", "-ex", "python import gdb.dap"];
        self.probe(&gdb, &ask).map_err(|words| {
            format!(
                "{} does not speak the protocol, as version 14 and later do ({words})",
                gdb.display()
            )
        })?;
        Ok(gdb)
    }

    /// Runs a program that tells by its status whether something is there; else its last words.
    fn probe(&self, program: &Path, args: &[&str]) -> Result<(), String> {
        let command =
            Program::new(program, self.workspace, self.env.clone()).args(args.iter().copied());
        let capture = Capture {
            input: Vec::new(),
            limit: 4096,
            timeout: PROBE_WAIT,
        };
        let captured = self
            .processes
            .capture(&command, capture, self.cancel)
            .map_err(|err| format!("it does not start: {err}"))?;
        if matches!(captured.waited, crate::child::Waited::Exited(exit) if exit.is_success()) {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&captured.stderr);
        Err(match stderr.lines().last() {
            Some(words) => words.to_owned(),
            None => "it did not answer in time".to_owned(),
        })
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
            (depth, !detected.row.is_second_choice())
        });
    let Some(nearest) = nearest else {
        return Err(unavailable(what, &all));
    };
    let rivals: Vec<&str> = all
        .iter()
        .filter(|other| {
            other.usable()
                && other.root == nearest.root
                && other.row.is_second_choice() == nearest.row.is_second_choice()
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
