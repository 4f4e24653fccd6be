//! The table of language servers, as data.
//!
//! A row says which files a server serves, what it is called on disk, where its projects begin and what it
//! must be told. The built-in rows are in `rows`; a host adds, changes and disables rows with plain
//! [`ServerRow`] values. For one language the first usable row of the table answers; linters answer beside
//! it.

mod rows;

use serde_json::Value;

use crate::lsp::convert::Encoding;

pub use crate::lsp::servers::rows::BUILT_IN;

/// One language server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerRow {
    /// The name that `status` and the configuration use.
    pub id: String,
    /// The command and its arguments; the first of several whose program is found is used.
    pub commands: Vec<Vec<String>>,
    /// The files that it serves, each with the language id that the protocol wants: `.rs` is an ending,
    /// anything else a whole name.
    pub files: Vec<(String, String)>,
    /// Where its projects begin.
    pub root: RootRule,
    /// Whether it answers for its language or only adds diagnostics.
    pub slot: Slot,
    /// Where a project may bring the binary along.
    pub local: Local,
    /// What it is given as `initializationOptions`.
    pub init_options: Value,
    /// What it is given when it asks for its configuration.
    pub settings: Value,
    /// Variables that are set for it.
    pub env: Vec<(String, String)>,
    /// Whether its diagnostics are asked for; otherwise it pushes them.
    pub pull: bool,
    /// How it shows that it has loaded its project.
    pub ready: Ready,
    /// Which files it knows of once it has.
    pub reach: ReachRule,
    /// The units in which it counts inside a line, where it counts in others than it says.
    pub counts_in: Option<Encoding>,
    /// The same for the places of its diagnostics, where they differ from the rest.
    pub diagnoses_in: Option<Encoding>,
    /// What a line of its standard error has that says why the project is not loaded as it is described;
    /// nothing where it says so by the protocol or not at all.
    pub complains: String,
    /// The lowest version, as `--version` gives it, that is a server at all.
    pub since: Option<u32>,
    /// Whether its program may be there and still not run, so that `--version` is asked first.
    pub probe: bool,
    /// The build tool that it asks about the project, without which it can load none.
    pub needs: Option<String>,
    /// Files whose change it notices late or never, by their names in its root and in the folders around what
    /// is open: it is started again then.
    pub restart_on: Vec<String>,
    /// Whether it leaves large temporary files behind when it is killed, so that it gets a folder of its own for
    /// them.
    pub leaves_files: bool,
    /// Whether no test has run it yet.
    pub unverified: bool,
    /// What to do where its program is missing.
    pub install: String,
}

/// Where a server's project begins, looking from a file upwards and never above the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootRule {
    /// The nearest folder with a marker of the first group that is there at all.
    Markers(Vec<Vec<String>>),
    /// The Cargo workspace that the nearest package belongs to; `rust-project.json` otherwise.
    Cargo,
    /// The topmost `pubspec.yaml` that declares a workspace, else the nearest.
    Pubspec,
    /// The nearest folder with a lock file of Node's package managers, else with a project file; nothing
    /// where a Deno project is nearer.
    Node,
}

/// Whether a server answers questions or only adds diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// It answers for its language; one per file.
    Primary,
    /// It adds diagnostics beside the primary one.
    Linter,
}

/// Where a project may bring a server along; looked at before the `PATH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    /// Nowhere.
    None,
    /// In `node_modules/.bin`.
    Node,
    /// In `.venv/bin` and `venv/bin`.
    Python,
}

/// How a server shows that its answers are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Every answer is whole, or waits by itself; only running progress is waited for.
    Progress,
    /// It sends `experimental/serverStatus` with `quiescent`.
    Quiescent,
    /// It reports progress soon after the first document is opened, and answers from what is open before
    /// that: the progress is waited for, for a moment.
    ProgressAfterOpen,
    /// It indexes in the background where there is a compilation database, and reports that.
    BackgroundIndex,
    /// It publishes the diagnostics of a document once it has analysed it, and knows nothing of it before.
    Publication,
    /// It logs how many files it found, at first and whenever files came or went; until then it answers from
    /// what is open. Every question puts that off, so it has to be waited for.
    Listing,
}

/// Which files a server knows of once it has loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachRule {
    /// All of the project.
    Project,
    /// All of the project where one of these files lies in a folder at or above the one asked about; only
    /// what is open, and what that includes, elsewhere.
    Described(Vec<String>),
    /// It looks into so many files that name a symbol, out of so many that it reads, and leaves out the rest
    /// without a word.
    Searched {
        /// Files that have the name.
        naming: usize,
        /// Files of the project.
        files: usize,
    },
}

/// A row of the table as the source has it; [`ServerRow`] is the same with owned values.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    id: &'static str,
    commands: &'static [&'static [&'static str]],
    files: &'static [(&'static str, &'static str)],
    root: Root,
    slot: Slot,
    local: Local,
    /// JSON text, or nothing.
    init_options: &'static str,
    /// JSON text, or nothing.
    settings: &'static str,
    env: &'static [(&'static str, &'static str)],
    pull: bool,
    ready: Ready,
    reach: Reach,
    counts_in: Option<Encoding>,
    diagnoses_in: Option<Encoding>,
    complains: &'static str,
    since: Option<u32>,
    probe: bool,
    needs: &'static str,
    restart_on: &'static [&'static str],
    leaves_files: bool,
    unverified: bool,
    install: &'static str,
}

/// [`ReachRule`] as the source has it.
#[derive(Clone, Copy, Debug)]
enum Reach {
    Project,
    Described(&'static [&'static str]),
    Searched { naming: usize, files: usize },
}

#[derive(Clone, Copy, Debug)]
enum Root {
    Markers(&'static [&'static [&'static str]]),
    Cargo,
    Pubspec,
    Node,
}

/// What most rows have.
const DEFAULT: Row = Row {
    id: "",
    commands: &[],
    files: &[],
    root: Root::Markers(&[]),
    slot: Slot::Primary,
    local: Local::None,
    init_options: "",
    settings: "",
    env: &[],
    pull: false,
    ready: Ready::Progress,
    reach: Reach::Project,
    counts_in: None,
    diagnoses_in: None,
    complains: "",
    since: None,
    probe: false,
    needs: "",
    restart_on: &[],
    leaves_files: false,
    unverified: false,
    install: "",
};

impl Row {
    /// Returns the row with owned values.
    pub fn to_row(self) -> ServerRow {
        let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let pairs = |pairs: &[(&str, &str)]| {
            let owned = |(one, two): &(&str, &str)| ((*one).to_owned(), (*two).to_owned());
            pairs.iter().map(owned).collect()
        };
        // A test parses every text of the table, so nothing is lost here.
        let json = |text: &str| serde_json::from_str(text).unwrap_or_default();
        ServerRow {
            id: self.id.to_owned(),
            commands: self.commands.iter().map(|words| strings(words)).collect(),
            files: pairs(self.files),
            root: match self.root {
                Root::Markers(groups) => {
                    RootRule::Markers(groups.iter().map(|words| strings(words)).collect())
                }
                Root::Cargo => RootRule::Cargo,
                Root::Pubspec => RootRule::Pubspec,
                Root::Node => RootRule::Node,
            },
            slot: self.slot,
            local: self.local,
            init_options: json(self.init_options),
            settings: json(self.settings),
            env: pairs(self.env),
            pull: self.pull,
            ready: self.ready,
            reach: match self.reach {
                Reach::Project => ReachRule::Project,
                Reach::Described(names) => ReachRule::Described(strings(names)),
                Reach::Searched { naming, files } => ReachRule::Searched { naming, files },
            },
            counts_in: self.counts_in,
            diagnoses_in: self.diagnoses_in,
            complains: self.complains.to_owned(),
            since: self.since,
            probe: self.probe,
            needs: (!self.needs.is_empty()).then(|| self.needs.to_owned()),
            restart_on: strings(self.restart_on),
            leaves_files: self.leaves_files,
            unverified: self.unverified,
            install: self.install.to_owned(),
        }
    }
}

impl ServerRow {
    /// Makes a row of a user: what it does not say is as most rows have it.
    pub fn new(id: &str, command: Vec<String>) -> Self {
        Self {
            id: id.to_owned(),
            commands: vec![command],
            ..DEFAULT.to_row()
        }
    }

    /// Returns the language id of a file that this server serves.
    pub fn language_of(&self, file_name: &str) -> Option<&str> {
        let serves = |(pattern, _): &&(String, String)| {
            if pattern.starts_with('.') {
                // `.d.ts` ends like `.ts`, and a file that is only an ending has no name.
                file_name.len() > pattern.len() && file_name.ends_with(pattern.as_str())
            } else {
                file_name == pattern
            }
        };
        let found = self.files.iter().find(serves);
        found.map(|(_, language)| language.as_str())
    }

    /// Returns the markers of the root, for messages.
    pub fn markers(&self) -> Vec<&str> {
        match &self.root {
            RootRule::Markers(groups) => groups.iter().flatten().map(String::as_str).collect(),
            RootRule::Cargo => vec!["Cargo.toml", "rust-project.json"],
            RootRule::Pubspec => vec!["pubspec.yaml"],
            RootRule::Node => {
                let mut markers = LOCK_FILES.to_vec();
                markers.extend(NODE_PROJECTS);
                markers
            }
        }
    }

    /// Returns the names of its program, for messages.
    pub fn programs(&self) -> Vec<&str> {
        self.commands
            .iter()
            .filter_map(|words| words.first())
            .map(String::as_str)
            .collect()
    }
}

/// The lock files that tell where a project of Node begins.
pub(crate) const LOCK_FILES: [&str; 6] = [
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "npm-shrinkwrap.json",
];

/// What else does, where no lock file is.
pub(crate) const NODE_PROJECTS: [&str; 3] = ["tsconfig.json", "jsconfig.json", "package.json"];

/// Returns the built-in rows, in the order in which they are tried.
pub fn built_in() -> Vec<ServerRow> {
    BUILT_IN.iter().map(|row| row.to_row()).collect()
}

#[cfg(test)]
mod tests;
