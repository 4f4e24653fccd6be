//! Which interpreter runs the cells: the project's own before the one on the `PATH`.
//!
//! A project's packages live in its virtual environment, and code run by another Python fails in ways
//! that read as broken code. Inside an enclosure the host cannot look: there a line of shell chooses in the
//! same order, and the kernel says which one it became.

use std::path::{Path, PathBuf};

use crate::child::{Env, is_program};
use crate::kernel::{KernelError, KernelOptions, Language};

/// How to start an interpreter, up to its own arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) language: Language,
    /// The words before the interpreter's arguments.
    pub(crate) words: Vec<String>,
}

/// Chooses inside an enclosure; `"$@"` are the arguments of the interpreter.
const CHOOSE_PYTHON: &str = "for p in .venv/bin/python3 .venv/bin/python venv/bin/python3 \
    venv/bin/python \"${VIRTUAL_ENV:-/nonexistent}/bin/python3\"; do \
    if [ -x \"$p\" ]; then exec \"$p\" \"$@\"; fi; done; exec python3 \"$@\"";

impl Interpreter {
    pub(crate) fn find(language: Language, options: &KernelOptions) -> Result<Self, KernelError> {
        let named = match language {
            Language::Python => &options.python,
            Language::JavaScript => &options.node,
        };
        if let Some(program) = named {
            return Ok(Self::direct(language, program));
        }
        if !options.enclosure.is_empty() {
            let words = match language {
                Language::Python => vec!["sh", "-c", CHOOSE_PYTHON, "sh"],
                Language::JavaScript => vec!["node"],
            };
            let words = words.into_iter().map(str::to_owned).collect();
            return Ok(Self { language, words });
        }
        let found = match language {
            Language::Python => python(options),
            Language::JavaScript => on_path(&options.env, &["node", "nodejs"]),
        };
        found
            .map(|program| Self::direct(language, &program))
            .ok_or_else(|| match language {
                Language::Python => KernelError::NoInterpreter {
                    program: "python3",
                    looked: format!(
                        "neither in .venv or venv of {} nor in VIRTUAL_ENV nor on the PATH",
                        options.folder.display()
                    ),
                },
                Language::JavaScript => KernelError::NoInterpreter {
                    program: "node",
                    looked: "it is not on the PATH".to_owned(),
                },
            })
    }

    fn direct(language: Language, program: &Path) -> Self {
        Self {
            language,
            words: vec![program.to_string_lossy().into_owned()],
        }
    }
}

fn python(options: &KernelOptions) -> Option<PathBuf> {
    let own = [".venv", "venv"].map(|name| options.folder.join(name));
    own.iter()
        .chain(&options.virtual_env)
        .flat_map(|folder| ["bin/python3", "bin/python"].map(|name| folder.join(name)))
        .find(|program| is_program(program))
        .or_else(|| on_path(&options.env, &["python3", "python"]))
}

fn on_path(env: &Env, names: &[&str]) -> Option<PathBuf> {
    let path = env.get("PATH")?;
    names
        .iter()
        .find_map(|name| which::which_in(name, Some(path), "/").ok())
}
