//! From what a call asks for to what an adapter is told.
//!
//! Each dialect's launch and attach arguments stand here side by side, so that a difference is seen. What a
//! dialect cannot do is refused before anything is started.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::cancel::Cancel;
use crate::child::{Capture, Program, Waited};
use crate::dap::adapters::{Dialect, Transport};
use crate::dap::build;
use crate::dap::detect::{Detected, Surroundings, pick};
use crate::dap::error::DapError;
use crate::dap::family;
use crate::dap::session::Plan;
use crate::dap::supervisor::Shared;
use crate::workspace::Workspace;

/// What to launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The adapter; chosen by the program's extension or the root marker where it is not named.
    pub adapter: Option<String>,
    /// The program: a source file, an executable, or the folder of a package.
    pub program: Option<String>,
    /// A Python module to run in place of a program.
    pub module: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its folder; the workspace where it is not named.
    pub cwd: Option<String>,
    /// Variables besides those of the environment.
    pub env: BTreeMap<String, String>,
    /// Whether it stops at its first line.
    pub stop_on_entry: bool,
    /// How delve takes the program: `debug`, `test` or `exec`.
    pub mode: Option<String>,
}

/// What to attach to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachSpec {
    /// The adapter; needed where several are usable.
    pub adapter: Option<String>,
    /// Where the debuggee listens; this machine where it is not named.
    pub host: Option<String>,
    /// The port where it listens.
    pub port: Option<u16>,
    /// The number of a process.
    pub pid: Option<u32>,
    /// The address of a virtual machine's service.
    pub uri: Option<String>,
    /// The executable of the process.
    pub program: Option<String>,
}

/// What plans are made from.
pub(crate) struct Planner<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) workspace: &'a Workspace,
    pub(crate) cancel: &'a Cancel,
}

impl Planner<'_> {
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            env: &self.shared.env,
            processes: &self.shared.ground.processes,
            workspace: self.workspace.root(),
            cancel: self.cancel,
        }
    }

    pub(crate) fn launch(&self, spec: &LaunchSpec) -> Result<Plan, DapError> {
        let cwd = match &spec.cwd {
            Some(cwd) => self.folder(cwd)?,
            None => self.workspace.root().to_owned(),
        };
        let program = match (&spec.program, &spec.module) {
            (Some(_), Some(_)) => {
                return Err(DapError::bad(
                    "both program and module are given",
                    "pass one of them",
                ));
            }
            (None, None) => {
                return Err(DapError::bad(
                    "launch needs a program",
                    "pass `program`: a source file, an executable or the folder of a package",
                ));
            }
            (program, _) => program.as_deref(),
        };
        let path = program.map(|program| self.resolve(program)).transpose()?;
        let start = match &path {
            Some(path) if path.is_dir() => path.clone(),
            Some(path) => path.parent().unwrap_or(path).to_owned(),
            None => cwd.clone(),
        };
        let what = match &path {
            Some(path) => self.workspace.display(path),
            None => spec.module.clone().unwrap_or_default(),
        };
        let named = spec
            .adapter
            .as_deref()
            .or_else(|| spec.module.is_some().then_some("debugpy"));
        // A program that is not there has no adapter either; that it is not there is what to say.
        let exists = path.as_ref().is_none_or(|path| path.exists());
        let extension = path
            .as_deref()
            .filter(|path| !path.is_dir())
            .and_then(Path::extension);
        let surroundings = self.surroundings();
        let picked = pick(
            &surroundings,
            &self.shared.rows,
            named,
            extension,
            nearest_folder(&start),
            &format!("'{what}'"),
        );
        let detected = match picked {
            Err(DapError::Unavailable { .. }) if !exists => return Err(missing(&what)),
            other => other?,
        };
        let dialect = detected.row.dialect;
        supported(&detected, spec)?;
        let path = match path {
            Some(path) => Some(self.executable(dialect, path, exists, &what)?),
            None => None,
        };
        let mut scratch = None;
        let mut arguments = match dialect {
            Dialect::Debugpy => debugpy(&detected, spec, path.as_deref(), &cwd),
            Dialect::Lldb => self.lldb(spec, path.as_deref(), &cwd),
            Dialect::Delve => {
                let (arguments, folder) = delve(spec, path.as_deref(), &cwd)?;
                scratch = folder;
                arguments
            }
            Dialect::Gdb => json!({
                "program": path, "args": spec.args, "cwd": cwd, "env": spec.env,
                "stopAtBeginningOfMainSubprogram": spec.stop_on_entry,
            }),
            Dialect::Dart => json!({
                "program": path, "args": spec.args, "cwd": cwd, "env": spec.env,
            }),
            Dialect::Plain => json!({
                "program": path, "args": spec.args, "cwd": cwd, "env": spec.env,
                "stopOnEntry": spec.stop_on_entry,
            }),
        };
        extend(&mut arguments, &detected.row.launch);
        let folder = match dialect {
            // delve builds in its own folder, which must be in the module.
            Dialect::Delve => nearest_folder(&start),
            _ => &cwd,
        };
        Ok(Plan {
            notes: detected.borrowed().into_iter().collect(),
            reach: self.spawn(&detected, folder)?,
            row: detected.row,
            request: "launch",
            arguments,
            what,
            launched: true,
            scratch,
        })
    }

    pub(crate) fn attach(&self, spec: &AttachSpec) -> Result<Plan, DapError> {
        let start = self.workspace.root();
        let what = "attaching";
        let detected = pick(
            &self.surroundings(),
            &self.shared.rows,
            spec.adapter.as_deref(),
            None,
            start,
            what,
        )?;
        let host = spec.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
        let what = match (spec.port, spec.pid, &spec.uri) {
            (Some(port), _, _) => format!("{host}:{port}"),
            (_, Some(pid), _) => format!("process {pid}"),
            (_, _, Some(uri)) => uri.clone(),
            _ => spec.program.clone().unwrap_or_default(),
        };
        // Some adapters wait for a process that is not there, and gdb says that it has attached.
        if let (None, Some(number)) = (spec.port, spec.pid)
            && !family::is_alive(number)
        {
            return Err(DapError::not_found(
                format!("there is no process {number}"),
                "pass the number of a process that runs on this machine",
            ));
        }
        let needs = |fields: &str| {
            DapError::bad(
                format!("attaching with {} needs {fields}", detected.row.id),
                format!("pass {fields}"),
            )
        };
        // Where the debuggee itself speaks the protocol, no adapter stands in between.
        let mut direct = None;
        let mut arguments = match detected.row.dialect {
            Dialect::Debugpy => match (spec.port, spec.pid) {
                (Some(port), _) => {
                    direct = Some(port);
                    json!({"connect": {"host": host, "port": port}, "justMyCode": true,
                        "redirectOutput": true, "subProcess": false})
                }
                (None, Some(pid)) => json!({"processId": pid, "justMyCode": true,
                    "redirectOutput": true, "subProcess": false}),
                (None, None) => return Err(needs("`port` or `pid`")),
            },
            Dialect::Delve => match (spec.port, spec.pid) {
                (Some(port), _) => {
                    direct = Some(port);
                    json!({"mode": "remote"})
                }
                (None, Some(pid)) => json!({"mode": "local", "processId": pid}),
                (None, None) => return Err(needs("`port` or `pid`")),
            },
            Dialect::Dart => {
                let uri = match (&spec.uri, spec.port) {
                    (Some(uri), _) => uri.clone(),
                    // Only where the service was started without authentication codes.
                    (None, Some(port)) => format!("ws://{host}:{port}/ws"),
                    (None, None) => return Err(needs("`uri` of the VM service, or `port`")),
                };
                json!({ "vmServiceUri": uri })
            }
            Dialect::Lldb => match (spec.port, spec.pid, &spec.program) {
                (Some(port), _, _) => json!({"gdb-remote-hostname": host, "gdb-remote-port": port,
                    "program": self.optional(&spec.program)?}),
                (None, Some(pid), _) => json!({"pid": pid}),
                (None, None, Some(program)) => json!({"program": self.resolve(program)?}),
                (None, None, None) => return Err(needs("`pid`, `port` or `program`")),
            },
            Dialect::Gdb => match (spec.port, spec.pid) {
                (Some(port), _) => json!({ "target": format!("{host}:{port}") }),
                (None, Some(pid)) => json!({ "pid": pid }),
                (None, None) => return Err(needs("`port` or `pid`")),
            },
            Dialect::Plain => json!({"host": host, "port": spec.port, "processId": spec.pid,
                "uri": spec.uri, "program": self.optional(&spec.program)?}),
        };
        drop_nulls(&mut arguments);
        extend(&mut arguments, &detected.row.attach);
        let reach = match direct {
            Some(port) => crate::dap::transport::Reach::Connect { host, port },
            None => self.spawn(&detected, start)?,
        };
        Ok(Plan {
            notes: detected.borrowed().into_iter().collect(),
            reach,
            row: detected.row,
            request: "attach",
            arguments,
            what,
            launched: false,
            scratch: None,
        })
    }

    /// Resolves a path of a call within the workspace (D36).
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, DapError> {
        self.workspace
            .resolve(path)
            .map_err(|error| DapError::bad(error.to_string(), "name a file of the workspace"))
    }

    fn optional(&self, path: &Option<String>) -> Result<Option<PathBuf>, DapError> {
        path.as_deref().map(|path| self.resolve(path)).transpose()
    }

    fn folder(&self, path: &str) -> Result<PathBuf, DapError> {
        let folder = self.resolve(path)?;
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(DapError::not_found(
            format!("cwd '{path}' is no folder"),
            "name a folder, or leave it out for the workspace",
        ))
    }

    /// What is really debugged: where the adapter needs an executable, one is built.
    fn executable(
        &self,
        dialect: Dialect,
        path: PathBuf,
        exists: bool,
        what: &str,
    ) -> Result<PathBuf, DapError> {
        let native = matches!(dialect, Dialect::Lldb | Dialect::Gdb);
        if native && let Some(root) = self.cargo_package(&path) {
            let is_target = path.components().any(|part| part.as_os_str() == "target");
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            let is_name = !exists && !what.contains('/');
            let is_package = path.is_dir() || path.file_name().is_some_and(|n| n == "Cargo.toml");
            if is_target || (is_source && exists) || is_name || is_package {
                let shared = self.shared;
                let timings = &shared.ground.timings;
                let processes = &shared.ground.processes;
                let built =
                    build::cargo(processes, &shared.env, timings, &root, &path, self.cancel);
                return match built {
                    // An executable that this package does not make, such as a test's.
                    Err(DapError::BadArguments { .. } | DapError::NotFound { .. })
                        if path.is_file() && !is_source && !is_package =>
                    {
                        Ok(path)
                    }
                    other => other,
                };
            }
        }
        if !exists {
            return Err(missing(what));
        }
        let takes_folders = matches!(dialect, Dialect::Delve | Dialect::Plain);
        if path.is_dir() && !takes_folders {
            let hint = match dialect {
                Dialect::Debugpy => "name a file in it, or pass `module`",
                _ => "name a file in it",
            };
            return Err(DapError::bad(format!("program '{what}' is a folder"), hint));
        }
        if native && is_text(&path) {
            return Err(DapError::bad(
                format!("program '{what}' is source, and no Cargo package builds it"),
                "build it with debug information (cc -g) and name the executable",
            ));
        }
        Ok(path)
    }

    fn cargo_package(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors()
            .take_while(|folder| self.workspace.contains(folder))
            .find(|folder| folder.join("Cargo.toml").is_file())
            .map(Path::to_owned)
    }

    fn lldb(&self, spec: &LaunchSpec, path: Option<&Path>, cwd: &Path) -> Value {
        // A debuggee that reads gets the end of input at once, instead of waiting on lldb's terminal.
        let mut commands = vec!["settings set target.input-path /dev/null".to_owned()];
        if let Some(path) = path
            && self
                .cargo_package(path)
                .or_else(|| self.cargo_package(cwd))
                .is_some()
        {
            commands.extend(self.rust_printers(cwd));
        }
        // Older versions take the variables as a list only.
        let env: Vec<String> = spec
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        json!({
            "program": path, "args": spec.args, "cwd": cwd, "env": env,
            "stopOnEntry": spec.stop_on_entry,
            "initCommands": commands,
            // It needs a right that containers withhold, and nothing here depends on it.
            "disableASLR": false,
        })
    }

    /// The commands that show Rust's strings and vectors as what they are.
    fn rust_printers(&self, cwd: &Path) -> Vec<String> {
        let program =
            Program::new("rustc", cwd, self.shared.env.clone()).args(["--print", "sysroot"]);
        let capture = Capture {
            input: Vec::new(),
            limit: 4096,
            timeout: self.shared.ground.timings.request_wait,
        };
        let processes = &self.shared.ground.processes;
        let Ok(captured) = processes.capture(&program, capture, self.cancel) else {
            return Vec::new();
        };
        if !matches!(captured.waited, Waited::Exited(exit) if exit.is_success()) {
            return Vec::new();
        }
        let sysroot = String::from_utf8_lossy(&captured.stdout);
        let folder = Path::new(sysroot.trim()).join("lib/rustlib/etc");
        let (lookup, commands) = (folder.join("lldb_lookup.py"), folder.join("lldb_commands"));
        if !lookup.is_file() || !commands.is_file() {
            return Vec::new();
        }
        vec![
            format!("command script import \"{}\"", lookup.display()),
            format!("command source -s 0 \"{}\"", commands.display()),
        ]
    }

    fn spawn(
        &self,
        detected: &Detected,
        cwd: &Path,
    ) -> Result<crate::dap::transport::Reach, DapError> {
        let command = detected
            .program
            .as_ref()
            .map_err(|reason| DapError::Unavailable {
                what: "this".to_owned(),
                reasons: vec![reason.clone()],
            })?;
        let program = Program::new(command, cwd, self.shared.env.clone()).args(&detected.row.args);
        Ok(match &detected.row.transport {
            Transport::Stdio => crate::dap::transport::Reach::Stdio(program),
            Transport::ReverseDial(flag) => crate::dap::transport::Reach::ReverseDial {
                program,
                flag: flag.clone(),
            },
        })
    }
}

/// Refuses what the adapter has no word for.
fn supported(detected: &Detected, spec: &LaunchSpec) -> Result<(), DapError> {
    let dialect = detected.row.dialect;
    let lacks = [
        (
            spec.module.is_some() && dialect != Dialect::Debugpy,
            "`module`; only debugpy runs modules",
        ),
        (
            spec.mode.is_some() && dialect != Dialect::Delve,
            "`mode`; only delve has modes",
        ),
        (
            spec.stop_on_entry && dialect == Dialect::Dart,
            "stop on entry; set a breakpoint in main",
        ),
    ];
    match lacks.into_iter().find(|(asked, _)| *asked) {
        Some((_, feature)) => Err(DapError::Unsupported {
            adapter: detected.row.id.clone(),
            feature: feature.to_owned(),
        }),
        None => Ok(()),
    }
}

fn debugpy(detected: &Detected, spec: &LaunchSpec, path: Option<&Path>, cwd: &Path) -> Value {
    let python = detected.interpreter.as_ref();
    let python = python.or(detected.program.as_ref().ok());
    let mut arguments = json!({
        "type": "python", "request": "launch", "name": "toolbox",
        "program": path, "module": spec.module,
        "args": spec.args, "cwd": cwd, "env": spec.env,
        "python": python.map(|python| vec![python]),
        "console": "internalConsole", "redirectOutput": true,
        // A child that nobody attaches to would hang the program for ever.
        "subProcess": false,
        // Ending by sys.exit is an end and no uncaught exception, whatever its code.
        "breakOnSystemExit": [],
        "justMyCode": true, "stopOnEntry": spec.stop_on_entry,
    });
    drop_nulls(&mut arguments);
    arguments
}

fn delve(
    spec: &LaunchSpec,
    path: Option<&Path>,
    cwd: &Path,
) -> Result<(Value, Option<TempDir>), DapError> {
    let is_go = path.is_some_and(|path| path.extension().is_some_and(|ext| ext == "go"));
    let is_test = path.is_some_and(|path| path.to_string_lossy().ends_with("_test.go"));
    let is_dir = path.is_some_and(Path::is_dir);
    let mode = match spec.mode.as_deref() {
        Some(mode @ ("debug" | "test" | "exec")) => mode,
        Some(other) => {
            return Err(DapError::bad(
                format!("delve has no mode '{other}'"),
                "the modes are debug, test and exec",
            ));
        }
        None if is_test => "test",
        None if is_go || is_dir => "debug",
        None => "exec",
    };
    let program = path.map(|path| package_of(path, mode));
    let mut arguments = json!({
        "mode": mode, "program": program, "args": spec.args, "cwd": cwd, "env": spec.env,
        "stopOnEntry": spec.stop_on_entry, "outputMode": "remote", "hideSystemGoroutines": true,
        // In a checkout of another owner, as containers have it, the build fails over the stamp.
        "buildFlags": "-buildvcs=false",
    });
    let mut scratch = None;
    if mode != "exec" {
        // Otherwise the binary lands in the workspace, and stays when delve is killed.
        let folder = TempDir::with_prefix("toolbox-delve-")
            .map_err(DapError::io("make a folder for the binary"))?;
        arguments["output"] = json!(folder.path().join("debuggee"));
        scratch = Some(folder);
    }
    Ok((arguments, scratch))
}

/// A file stands for its package, unless the folder holds several programs of one file each.
fn package_of(path: &Path, mode: &str) -> PathBuf {
    let Some(folder) = path.parent().filter(|_| path.is_file() && mode != "exec") else {
        return path.to_owned();
    };
    let n_mains = fs::read_dir(folder).map_or(0, |entries| {
        entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "go"))
            .filter(|path| {
                fs::read_to_string(path)
                    .is_ok_and(|text| text.lines().any(|line| line.starts_with("func main()")))
            })
            .count()
    });
    if mode == "debug" && n_mains > 1 {
        path.to_owned()
    } else {
        folder.to_owned()
    }
}

fn missing(what: &str) -> DapError {
    DapError::not_found(
        format!("program '{what}' does not exist"),
        "paths are relative to the workspace; build the program first if it has to be built",
    )
}

/// The nearest folder that is there.
fn nearest_folder(path: &Path) -> &Path {
    path.ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(path)
}

/// Whether a file is source and no executable.
fn is_text(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read(&mut start));
    let is_source = path.extension().is_some_and(|extension| {
        ["c", "cc", "cpp", "cxx", "m", "mm", "rs", "h"]
            .iter()
            .any(|known| extension == *known)
    });
    is_source && read.is_ok() && start != *b"\x7FELF"
}

fn extend(arguments: &mut Value, extra: &Map<String, Value>) {
    if let Value::Object(map) = arguments {
        map.extend(extra.clone());
    }
}

fn drop_nulls(arguments: &mut Value) {
    if let Value::Object(map) = arguments {
        map.retain(|_, value| !value.is_null());
    }
}

#[cfg(test)]
mod tests;
