//! Building a Cargo package before it is debugged.
//!
//! Cargo says in its messages which executables it made, so nothing is guessed about target folders.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cancel::Cancel;
use crate::child::{Capture, Env, Processes, Program, Waited};
use crate::dap::error::DapError;
use crate::dap::protocol::text;
use crate::dap::supervisor::Timings;

/// Bytes of each of cargo's streams that are read.
const STREAM_BYTES: usize = 16 << 20;

/// Characters of a failed build that are shown.
const SHOWN_CHARS: usize = 8_000;

/// An executable that a build made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Made {
    name: String,
    source: PathBuf,
    executable: PathBuf,
}

/// Builds the package in `root` and returns the executable that `program` stands for: an executable, a
/// source file, the name of a target, or the package itself.
pub(crate) fn cargo(
    processes: &Processes,
    env: &Env,
    timings: &Timings,
    root: &Path,
    program: &Path,
    cancel: &Cancel,
) -> Result<PathBuf, DapError> {
    let mut args = vec!["build", "--message-format=json-render-diagnostics"];
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let is_source = program
        .extension()
        .is_some_and(|extension| extension == "rs");
    let folder = program.parent().and_then(Path::file_name);
    if is_source && folder.is_some_and(|folder| folder == "examples") {
        args.extend(["--example", &stem]);
    }
    let command =
        Program::new("cargo", root, env.clone().with("CARGO_TERM_COLOR", "never")).args(&args);
    let capture = Capture {
        input: Vec::new(),
        limit: STREAM_BYTES,
        timeout: timings.build_wait,
    };
    let captured = processes
        .capture(&command, capture, cancel)
        .map_err(DapError::io(format!(
            "run cargo build in '{}'",
            root.display()
        )))?;
    match captured.waited {
        Waited::Exited(exit) if exit.is_success() => {}
        Waited::Exited(_) => {
            return Err(DapError::Build(shown(&String::from_utf8_lossy(
                &captured.stderr,
            ))));
        }
        Waited::TimedOut => {
            return Err(DapError::Timeout {
                during: "running cargo build".to_owned(),
                after: timings.build_wait,
                said: String::new(),
            });
        }
        Waited::Cancelled => return Err(DapError::Cancelled),
    }
    choose(
        &made(&String::from_utf8_lossy(&captured.stdout)),
        root,
        program,
    )
}

/// The part of cargo's words that tells what is wrong.
fn shown(stderr: &str) -> String {
    let words: Vec<&str> = stderr
        .lines()
        .skip_while(|line| line.trim_start().starts_with("Compiling") || line.trim().is_empty())
        .collect();
    crate::text::clip(words.join("\n").trim(), SHOWN_CHARS).into_owned()
}

/// Reads the executables out of cargo's messages.
fn made(stdout: &str) -> Vec<Made> {
    stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| {
            let target = message.get("target")?;
            Some(Made {
                executable: PathBuf::from(text(&message, "executable")?),
                name: text(target, "name")?,
                source: PathBuf::from(text(target, "src_path")?),
            })
        })
        .collect()
}

fn choose(made: &[Made], root: &Path, program: &Path) -> Result<PathBuf, DapError> {
    let same = |left: &Path, right: &Path| {
        left == right
            || fs::canonicalize(left)
                .is_ok_and(|left| fs::canonicalize(right).is_ok_and(|right| left == right))
    };
    let stem = program.file_name().unwrap_or_default();
    let named = made
        .iter()
        .find(|row| same(&row.executable, program))
        .or_else(|| made.iter().find(|row| same(&row.source, program)))
        .or_else(|| made.iter().find(|row| stem == row.name.as_str()));
    if let Some(row) = named {
        return Ok(row.executable.clone());
    }
    match made {
        [] => Err(DapError::not_found(
            format!("the package in '{}' builds no program", root.display()),
            "name a binary or an example of it as `program`, such as examples/demo.rs",
        )),
        [one] => Ok(one.executable.clone()),
        several => {
            let names: Vec<&str> = several.iter().map(|row| row.name.as_str()).collect();
            Err(DapError::bad(
                format!(
                    "the package in '{}' builds several programs: {}",
                    root.display(),
                    names.join(", ")
                ),
                format!("name one of them as `program`, such as `{}`", names[0]),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Made {
        Made {
            name: name.to_owned(),
            source: PathBuf::from(format!("/w/src/bin/{name}.rs")),
            executable: PathBuf::from(format!("/t/debug/{name}")),
        }
    }

    #[test]
    fn a_program_is_found_by_path_source_or_name() {
        let all = [row("one"), row("two")];
        let root = Path::new("/w");
        for program in ["/t/debug/two", "/w/src/bin/two.rs", "/w/two", "two"] {
            let chosen = choose(&all, root, Path::new(program)).expect("it is there");
            assert_eq!(chosen, Path::new("/t/debug/two"), "{program}");
        }
        let error = choose(&all, root, root).expect_err("which?");
        assert!(error.to_string().contains("one, two"), "{error}");
        assert!(choose(&all[..1], root, root).is_ok());
        assert!(choose(&[], root, root).is_err());
    }

    #[test]
    fn executables_are_read_out_of_the_messages() {
        let stdout = "noise\n{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"x\",\
            \"src_path\":\"/w/src/main.rs\"},\"executable\":\"/t/x\"}\n\
            {\"target\":{\"name\":\"lib\",\"src_path\":\"/w/src/lib.rs\"},\"executable\":null}\n";
        let made = made(stdout);
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].executable, Path::new("/t/x"));
    }
}
