//! One real server of a language over a project of its own, with the others of that language switched off.

use std::os::unix::fs::symlink;

use super::lsp::Project;
use super::peers;

/// A server that a test is about.
#[derive(Clone, Copy)]
pub(crate) struct Alone {
    id: &'static str,
    program: &'static str,
    /// The servers of the same language, itself among them.
    language: &'static [&'static str],
}

const PYTHON: &[&str] = &["basedpyright", "pyright", "ty", "pylsp", "ruff"];
const SCRIPTS: &[&str] = &["typescript-language-server", "tsc"];

const fn python(id: &'static str, program: &'static str) -> Alone {
    Alone {
        id,
        program,
        language: PYTHON,
    }
}

const fn only(id: &'static str) -> Alone {
    Alone {
        id,
        program: id,
        language: &[],
    }
}

pub(crate) const BASEDPYRIGHT: Alone = python("basedpyright", "basedpyright-langserver");
pub(crate) const PYRIGHT: Alone = python("pyright", "pyright-langserver");
pub(crate) const TY: Alone = python("ty", "ty");
pub(crate) const RUFF: Alone = python("ruff", "ruff");
pub(crate) const GOPLS: Alone = only("gopls");
pub(crate) const CLANGD: Alone = only("clangd");
pub(crate) const RUST_ANALYZER: Alone = only("rust-analyzer");

pub(crate) const TYPESCRIPT: Alone = Alone {
    id: "typescript-language-server",
    program: "typescript-language-server",
    language: SCRIPTS,
};

/// The compiler of TypeScript 7, which is in no folder of programs.
pub(crate) const TYPESCRIPT_7: Alone = Alone {
    id: "tsc",
    program: "tsc",
    language: SCRIPTS,
};

impl Alone {
    /// The name of the server, for messages.
    pub(crate) fn id(&self) -> &'static str {
        self.id
    }

    /// Makes a project; none where the server is not here, which is said.
    pub(crate) fn project(&self, files: &[(&str, &str)]) -> Option<Project> {
        let modules = match self.id {
            "tsc" => Some(peers::typescript_7()?),
            _ => {
                peers::find(self.program)?;
                None
            }
        };
        let project = Project::with(files, |_, mut options| {
            let others = self.language.iter().filter(|&&other| other != self.id);
            options.disabled = others.map(|&other| other.to_owned()).collect();
            options
        });
        if let Some(modules) = modules {
            symlink(modules, project.path("node_modules")).expect("writable");
        }
        Some(project)
    }
}
