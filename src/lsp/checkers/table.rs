//! Which checker belongs to which root marker (D3); a checker is a row here and a parser in `formats`.

use super::formats::Format;

/// A kind of project and what checks it.
pub(super) struct Row {
    /// What its sources are written in.
    pub(super) language: &'static str,
    /// How the names of its sources end; declarations alone, such as headers, are none.
    pub(super) endings: &'static [&'static str],
    /// The files that mark a root.
    pub(super) markers: &'static [&'static str],
    pub(super) reach: Reach,
    /// What checks it: the first that is installed.
    pub(super) checkers: &'static [Checker],
}

impl Row {
    /// Tells whether a file of this name is a source of such a project.
    pub(super) fn has_source(&self, name: &str) -> bool {
        let is_declaration = name.ends_with(".d.ts");
        !is_declaration && self.endings.iter().any(|ending| name.ends_with(ending))
    }
}

/// Which of the folders with a marker are roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Each of them.
    Every,
    /// Those beneath no other: the checker looks into the folders below.
    Outermost,
    /// What `cargo metadata` calls the workspace of each.
    CargoWorkspace,
}

/// One checker.
pub(super) struct Checker {
    /// As reports name it.
    pub(super) id: &'static str,
    pub(super) program: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) run: How,
    pub(super) format: Format,
    pub(super) columns: Columns,
}

/// How a checker is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Once in the root.
    InRoot,
    /// Once in the root, with the interpreter of its virtual environment.
    WithInterpreter,
    /// Once over all files of compile_commands.json.
    OverFiles,
    /// Each command of compile_commands.json without its output; the program of the row is not looked at.
    CompileCommands,
}

/// In which units a checker counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    Characters,
    Utf16,
    Bytes,
}

pub(super) const TABLE: &[Row] = &[
    Row {
        language: "Rust",
        endings: &[".rs"],
        markers: &["Cargo.toml"],
        reach: Reach::CargoWorkspace,
        checkers: &[Checker {
            id: "cargo check",
            program: "cargo",
            args: &[
                "check",
                "--workspace",
                "--all-targets",
                "--keep-going",
                "--message-format=json",
            ],
            run: How::InRoot,
            format: Format::Cargo,
            columns: Columns::Characters,
        }],
    },
    Row {
        language: "Dart",
        endings: &[".dart"],
        markers: &["pubspec.yaml"],
        reach: Reach::Outermost,
        checkers: &[Checker {
            id: "dart analyze",
            program: "dart",
            args: &["analyze", "--format=machine"],
            run: How::InRoot,
            format: Format::DartMachine,
            columns: Columns::Utf16,
        }],
    },
    Row {
        language: "TypeScript",
        endings: &[".ts", ".tsx", ".mts", ".cts"],
        markers: &["tsconfig.json"],
        reach: Reach::Every,
        checkers: &[Checker {
            id: "tsc",
            program: "tsc",
            // A composite project would have its state written beside its sources.
            args: &[
                "--noEmit",
                "--pretty",
                "false",
                "--incremental",
                "--tsBuildInfoFile",
                "/dev/null",
            ],
            run: How::InRoot,
            format: Format::Tsc,
            columns: Columns::Utf16,
        }],
    },
    Row {
        language: "Go",
        endings: &[".go"],
        markers: &["go.mod"],
        reach: Reach::Every,
        checkers: &[Checker {
            id: "go vet",
            program: "go",
            args: &["vet", "-json", "./..."],
            run: How::InRoot,
            format: Format::GoVet,
            columns: Columns::Bytes,
        }],
    },
    Row {
        language: "Python",
        endings: &[".py"],
        markers: &[
            "pyproject.toml",
            "pyrightconfig.json",
            "setup.py",
            "setup.cfg",
            "requirements.txt",
            "Pipfile",
            "ty.toml",
            "ruff.toml",
            "mypy.ini",
        ],
        reach: Reach::Outermost,
        checkers: &[
            Checker {
                id: "basedpyright",
                program: "basedpyright",
                args: &["--outputjson"],
                run: How::WithInterpreter,
                format: Format::Pyright,
                columns: Columns::Utf16,
            },
            Checker {
                id: "pyright",
                program: "pyright",
                args: &["--outputjson"],
                run: How::WithInterpreter,
                format: Format::Pyright,
                columns: Columns::Utf16,
            },
            Checker {
                id: "ty",
                program: "ty",
                args: &["check", "--output-format", "concise", "--color", "never"],
                run: How::InRoot,
                format: Format::Lines,
                columns: Columns::Characters,
            },
            Checker {
                id: "ruff",
                program: "ruff",
                args: &["check", "--no-cache", "--output-format", "json", "."],
                run: How::InRoot,
                format: Format::Ruff,
                columns: Columns::Characters,
            },
            Checker {
                id: "mypy",
                program: "mypy",
                args: &[
                    "--show-column-numbers",
                    "--show-error-codes",
                    "--no-pretty",
                    "--no-error-summary",
                    "--no-color-output",
                    ".",
                ],
                run: How::InRoot,
                format: Format::Lines,
                columns: Columns::Characters,
            },
        ],
    },
    Row {
        language: "C or C++",
        endings: &[".c", ".cc", ".cpp", ".cxx", ".c++"],
        markers: &["compile_commands.json"],
        reach: Reach::Every,
        checkers: &[
            Checker {
                id: "clang-tidy",
                program: "clang-tidy",
                args: &["--quiet"],
                run: How::OverFiles,
                format: Format::Lines,
                columns: Columns::Bytes,
            },
            Checker {
                id: "compiler",
                program: "",
                args: &[],
                run: How::CompileCommands,
                format: Format::Lines,
                columns: Columns::Bytes,
            },
        ],
    },
];
