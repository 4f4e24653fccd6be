//! The debug adapters that are known, as data.
//!
//! One row says how an adapter is found, started and spoken to. What differs in kind, such as the shape of
//! the launch arguments, is a [`Dialect`], of which there are few; a new adapter is a row.

use serde_json::{Map, Value};

/// One debug adapter: where it fits, how it is found, how it is started.
#[derive(Clone, Debug, PartialEq)]
pub struct AdapterRow {
    /// The name by which a call picks it.
    pub id: String,
    /// The programs that it goes by; the first that is found is started. A path stands for itself, a name
    /// is looked up.
    pub programs: Vec<String>,
    /// The arguments that make the program speak the protocol.
    pub args: Vec<String>,
    /// A file of one of these names marks the root of a project that it can debug.
    pub markers: Vec<String>,
    /// Extensions of the programs that it debugs, without the dot.
    pub extensions: Vec<String>,
    /// How it is reached.
    pub transport: Transport,
    /// Whose launch and attach arguments it takes.
    pub dialect: Dialect,
    /// Arguments of every launch besides those of the call; they win.
    pub launch: Map<String, Value>,
    /// The same for every attach.
    pub attach: Map<String, Value>,
    /// Whether sessions with it were seen to work.
    pub verified: bool,
}

/// How an adapter is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Over its standard input and output.
    Stdio,
    /// It calls us: this flag with `HOST:PORT` behind it tells where we listen.
    ReverseDial(String),
}

/// Whose launch and attach arguments an adapter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `dart debug_adapter`.
    Dart,
    /// `debugpy`.
    Debugpy,
    /// `lldb-dap`.
    Lldb,
    /// `dlv dap`.
    Delve,
    /// `gdb -i=dap`.
    Gdb,
    /// Any other: `program`, `args`, `cwd`, `env`, `stopOnEntry`, and what its row adds.
    Plain,
}

/// A row of the table below.
struct Builtin {
    id: &'static str,
    programs: &'static [&'static str],
    args: &'static [&'static str],
    markers: &'static [&'static str],
    extensions: &'static [&'static str],
    transport: Option<&'static str>,
    dialect: Dialect,
    verified: bool,
}

const BUILTIN: &[Builtin] = &[
    // R91. Arguments after the adapter's own documentation; no SDK was at hand to run it.
    Builtin {
        id: "dart",
        programs: &["dart"],
        args: &["debug_adapter"],
        markers: &["pubspec.yaml"],
        extensions: &["dart"],
        transport: None,
        dialect: Dialect::Dart,
        verified: false,
    },
    // R92.
    Builtin {
        id: "debugpy",
        programs: &["python3", "python"],
        args: &["-m", "debugpy.adapter"],
        markers: &["pyproject.toml", "setup.py", "requirements.txt"],
        extensions: &["py", "pyw"],
        transport: None,
        dialect: Dialect::Debugpy,
        verified: true,
    },
    // R93. Distributions install it under its version, and before version 18 it was called lldb-vscode.
    Builtin {
        id: "lldb",
        programs: &[
            "lldb-dap",
            "lldb-dap-24",
            "lldb-dap-23",
            "lldb-dap-22",
            "lldb-dap-21",
            "lldb-dap-20",
            "lldb-dap-19",
            "lldb-dap-18",
            "lldb-vscode",
            "lldb-vscode-17",
            "lldb-vscode-16",
            "lldb-vscode-15",
            "lldb-vscode-14",
        ],
        args: &[],
        markers: &["Cargo.toml", "CMakeLists.txt"],
        extensions: &["rs", "c", "cc", "cpp", "cxx", "m", "mm"],
        transport: None,
        dialect: Dialect::Lldb,
        verified: true,
    },
    // R94.
    Builtin {
        id: "delve",
        programs: &["dlv"],
        args: &["dap"],
        markers: &["go.mod"],
        extensions: &["go"],
        transport: Some("--client-addr="),
        dialect: Dialect::Delve,
        verified: true,
    },
    // Version 14 and later speak the protocol; 16 was run. It takes over where lldb is missing, or when it is
    // named.
    Builtin {
        id: "gdb",
        programs: &["gdb"],
        args: &["-i=dap", "-q"],
        markers: &["Cargo.toml", "CMakeLists.txt"],
        extensions: &[],
        transport: None,
        dialect: Dialect::Gdb,
        verified: true,
    },
];

/// The adapters that are known without being configured.
pub fn builtin() -> Vec<AdapterRow> {
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    BUILTIN
        .iter()
        .map(|row| AdapterRow {
            id: row.id.to_owned(),
            programs: list(row.programs),
            args: list(row.args),
            markers: list(row.markers),
            extensions: list(row.extensions),
            transport: row.transport.map_or(Transport::Stdio, |flag| {
                Transport::ReverseDial(flag.to_owned())
            }),
            dialect: row.dialect,
            launch: Map::new(),
            attach: Map::new(),
            verified: row.verified,
        })
        .collect()
}

impl AdapterRow {
    /// Describes an adapter that speaks over its standard input and output and takes the usual arguments.
    pub fn plain(id: impl Into<String>, program: impl Into<String>, args: Vec<String>) -> Self {
        Self {
            id: id.into(),
            programs: vec![program.into()],
            args,
            markers: Vec::new(),
            extensions: Vec::new(),
            transport: Transport::Stdio,
            dialect: Dialect::Plain,
            launch: Map::new(),
            attach: Map::new(),
            verified: true,
        }
    }

    /// The context in which expressions are evaluated. lldb takes some words of a `repl` as commands; the
    /// `repl` of debugpy takes statements besides.
    pub(crate) fn evaluate_context(&self) -> &'static str {
        match self.dialect {
            Dialect::Debugpy => "repl",
            Dialect::Dart | Dialect::Lldb | Dialect::Delve | Dialect::Gdb | Dialect::Plain => {
                "watch"
            }
        }
    }

    /// Whether it gives way to another that can debug the same, unless it is named.
    pub(crate) fn is_second_choice(&self) -> bool {
        self.dialect == Dialect::Gdb
    }

    /// Whether the debuggee writes to the adapter's own standard output (delve before 1.23).
    pub(crate) fn output_is_debuggees(&self) -> bool {
        self.dialect == Dialect::Delve
    }
}

/// The known adapters with those of the user: a row of the same name takes the place of the known one.
pub(crate) fn with_users(users: &[AdapterRow]) -> Vec<AdapterRow> {
    let mut rows = builtin();
    for user in users {
        match rows.iter_mut().find(|row| row.id == user.id) {
            Some(row) => *row = user.clone(),
            None => rows.push(user.clone()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    // R91 to R94
    #[test]
    fn every_row_can_be_found_and_started() {
        let rows = builtin();
        let mut ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["dart", "debugpy", "lldb", "delve", "gdb"]);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rows.len());
        for row in &rows {
            assert!(
                !row.programs.is_empty() && !row.markers.is_empty(),
                "{}",
                row.id
            );
            assert!(row.extensions.iter().all(|ext| !ext.starts_with('.')));
        }
        let command = |row: &AdapterRow| format!("{} {}", row.programs[0], row.args.join(" "));
        let commands: Vec<String> = rows.iter().take(4).map(command).collect();
        assert_eq!(
            commands,
            [
                "dart debug_adapter",
                "python3 -m debugpy.adapter",
                "lldb-dap ",
                "dlv dap"
            ]
        );
    }

    #[test]
    fn a_row_of_the_user_replaces_or_joins() {
        let mine = AdapterRow::plain("lldb", "/opt/lldb", Vec::new());
        let other = AdapterRow::plain("ruby", "rdbg", Vec::new());
        let rows = with_users(&[mine.clone(), other.clone()]);
        assert_eq!(rows.len(), BUILTIN.len() + 1);
        assert!(rows.contains(&mine) && rows.contains(&other));
    }
}
