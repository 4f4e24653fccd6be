//! Every key of `toolbox.toml`: what it takes, who may set it, what it is without being set, what it does.
//!
//! The table is the reference. The reader, the help and `toolbox config` go by it, so a key is documented or
//! it does not exist.

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its path; `*` stands for a name.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    pub(crate) reach: Reach,
    /// What holds when nobody sets it, as TOML; none where something else then decides.
    pub(crate) default: Option<&'static str>,
    pub(crate) doc: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tier,
    Decision,
    Rules,
    Bool,
    Text,
    /// A path or a name of a program.
    Program,
    /// A program and its arguments.
    Argv,
    Texts,
    /// Absolute paths of folders.
    Folders,
    /// A path of a folder.
    Folder,
    /// More than nothing; fractions are allowed.
    Seconds,
    /// A whole number above zero.
    Count,
    /// An http or https address.
    Url,
    /// How a worker is told what to do.
    Brief,
    /// Any table.
    Table,
    /// Names and texts.
    Variables,
}

/// Whose files may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Anybody's: it names no command, opens nothing and approves nothing.
    Anybody,
    /// A checkout that is not trusted may only make it stricter.
    Stricter,
    /// The user's, and a trusted checkout's.
    Trusted,
    /// The user's alone.
    User,
}

impl Kind {
    /// Says what is expected.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Tier => "\"read\", \"write\" or \"exec\"",
            Self::Decision => "\"allow\", \"ask\" or \"deny\"",
            Self::Rules => {
                "a list of tables such as {tool=\"Bash\", command=\"cargo test\", decision=\"allow\"}"
            }
            Self::Bool => "true or false",
            Self::Text => "a string",
            Self::Program => "a string that names a program",
            Self::Argv => "a list of strings, a program and its arguments",
            Self::Texts => "a list of strings",
            Self::Folders => "a list of absolute paths",
            Self::Folder => "a string that names a folder",
            Self::Seconds => "a number of seconds above zero",
            Self::Count => "a whole number above zero",
            Self::Url => "a string with an http:// or https:// address",
            Self::Brief => "\"argument\", \"stdin\" or \"file\"",
            Self::Table => "a table",
            Self::Variables => "a table of strings",
        }
    }
}

impl Reach {
    fn says(self) -> &'static str {
        match self {
            Self::Anybody => "",
            Self::Stricter => " An untrusted checkout can only make it stricter.",
            Self::Trusted => " Not from an untrusted checkout.",
            Self::User => " From the user's file alone.",
        }
    }
}

/// Makes a row.
const fn key(
    path: &'static str,
    kind: Kind,
    reach: Reach,
    default: Option<&'static str>,
    doc: &'static str,
) -> Key {
    Key {
        path,
        kind,
        reach,
        default,
        doc,
    }
}

/// Every key, in the order in which they are shown.
pub(crate) const KEYS: &[Key] = &[
    key(
        "trusted",
        Kind::Folders,
        Reach::User,
        Some("[]"),
        "Roots of checkouts whose own toolbox.toml is trusted as this file is.",
    ),
    key(
        "enclosure",
        Kind::Argv,
        Reach::Trusted,
        None,
        "Command that cells are started in, such as [\"docker\", \"exec\", \"-i\", \"box\"] (--enclosure).",
    ),
    key(
        "approval.auto",
        Kind::Tier,
        Reach::Stricter,
        Some("\"read\""),
        "Calls up to this tier run without a question, where no rule says otherwise.",
    ),
    key(
        "approval.tools.*",
        Kind::Decision,
        Reach::Stricter,
        None,
        "What becomes of the calls of one tool that no rule is about.",
    ),
    key(
        "approval.rules",
        Kind::Rules,
        Reach::Stricter,
        Some("[]"),
        "Rules about the arguments of calls; those of all files hold together: deny goes before ask, ask \
         before allow. A rule has `tool`, `decision`, and `command` (the first words of a plain command) or \
         `path` (a glob under the root); `argument` (a JSON pointer) for tools of a host.",
    ),
    key(
        "ask.timeout_s",
        Kind::Seconds,
        Reach::Anybody,
        None,
        "How long a question or an approval waits for an answer; for ever when not set.",
    ),
    key(
        "lsp.disabled",
        Kind::Texts,
        Reach::Anybody,
        Some("[]"),
        "Language servers, by name, that are not used.",
    ),
    key(
        "lsp.idle_s",
        Kind::Seconds,
        Reach::Anybody,
        Some("900"),
        "How long a language server lives without being asked anything.",
    ),
    key(
        "lsp.max_servers",
        Kind::Count,
        Reach::Anybody,
        Some("8"),
        "How many language servers run at once; the least recently used ends first.",
    ),
    key(
        "lsp.server.*.command",
        Kind::Program,
        Reach::Trusted,
        None,
        "Program of a language server: a new one, or another binary of a built-in one.",
    ),
    key(
        "lsp.server.*.args",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Its arguments.",
    ),
    key(
        "lsp.server.*.languages",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Extensions of the files that it serves, such as [\"rs\"].",
    ),
    key(
        "lsp.server.*.root_markers",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Files that mark the root of a project that it serves.",
    ),
    key(
        "lsp.server.*.init_options",
        Kind::Table,
        Reach::Trusted,
        None,
        "Its initializationOptions.",
    ),
    key(
        "lsp.server.*.settings",
        Kind::Table,
        Reach::Trusted,
        None,
        "What it gets when it asks for its configuration.",
    ),
    key(
        "lsp.server.*.env",
        Kind::Variables,
        Reach::Trusted,
        None,
        "Variables of its environment.",
    ),
    key(
        "lsp.server.*.disabled",
        Kind::Bool,
        Reach::Trusted,
        None,
        "Whether it is not used.",
    ),
    key(
        "lsp.checkers.disabled",
        Kind::Texts,
        Reach::Anybody,
        Some("[]"),
        "Checkers of whole projects, by name, that are not run.",
    ),
    key(
        "debug.adapter.*.command",
        Kind::Program,
        Reach::Trusted,
        None,
        "Program of a debug adapter: a new one, or another binary of a built-in one.",
    ),
    key(
        "debug.adapter.*.args",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Its arguments.",
    ),
    key(
        "debug.adapter.*.root_markers",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Files that mark the root of a project that it debugs.",
    ),
    key(
        "debug.adapter.*.extensions",
        Kind::Texts,
        Reach::Trusted,
        None,
        "Extensions of the programs that it debugs.",
    ),
    key(
        "debug.adapter.*.attach",
        Kind::Table,
        Reach::Trusted,
        None,
        "What it gets with every attach besides the arguments of the call.",
    ),
    key(
        "eval.budget_s",
        Kind::Seconds,
        Reach::Anybody,
        Some("300"),
        "How long a cell may do nothing before it is interrupted.",
    ),
    key(
        "eval.python",
        Kind::Program,
        Reach::Trusted,
        None,
        "Python interpreter of cells; else .venv, venv, VIRTUAL_ENV and PATH decide.",
    ),
    key(
        "eval.node",
        Kind::Program,
        Reach::Trusted,
        None,
        "Node of JavaScript cells; else PATH decides.",
    ),
    key(
        "vibe.fast.command",
        Kind::Argv,
        Reach::Trusted,
        None,
        "Program of a worker for mechanical work, and its arguments.",
    ),
    key(
        "vibe.fast.brief",
        Kind::Brief,
        Reach::Trusted,
        None,
        "How it gets its brief; as an argument when not set.",
    ),
    key(
        "vibe.fast.message",
        Kind::Brief,
        Reach::Trusted,
        None,
        "How it gets later messages; when not set, as the brief and together with it.",
    ),
    key(
        "vibe.fast.resume",
        Kind::Argv,
        Reach::Trusted,
        None,
        "Command of its later turns, which gets the new messages alone.",
    ),
    key(
        "vibe.fast.result",
        Kind::Text,
        Reach::Trusted,
        None,
        "Where its result is read: \"stdout\" (when not set), \"file\" (which {result} names), or a path.",
    ),
    key(
        "vibe.good.command",
        Kind::Argv,
        Reach::Trusted,
        None,
        "Program of a worker for design, judgement and review, and its arguments.",
    ),
    key(
        "vibe.good.brief",
        Kind::Brief,
        Reach::Trusted,
        None,
        "How it gets its brief; as an argument when not set.",
    ),
    key(
        "vibe.good.message",
        Kind::Brief,
        Reach::Trusted,
        None,
        "How it gets later messages; when not set, as the brief and together with it.",
    ),
    key(
        "vibe.good.resume",
        Kind::Argv,
        Reach::Trusted,
        None,
        "Command of its later turns, which gets the new messages alone.",
    ),
    key(
        "vibe.good.result",
        Kind::Text,
        Reach::Trusted,
        None,
        "Where its result is read: \"stdout\" (when not set), \"file\" (which {result} names), or a path.",
    ),
    key(
        "web.allow_private",
        Kind::Texts,
        Reach::Trusted,
        Some("[]"),
        "Hosts on private addresses that may be fetched, such as [\"localhost\", \"10.0.0.0/8\"].",
    ),
    key(
        "web.search.searxng",
        Kind::Url,
        Reach::Trusted,
        None,
        "Address of a SearXNG instance; without one there is no WebSearch.",
    ),
    key(
        "session.idle_s",
        Kind::Seconds,
        Reach::Anybody,
        Some("1800"),
        "How long the background session lives without a client.",
    ),
    key(
        "artifacts.dir",
        Kind::Folder,
        Reach::Trusted,
        None,
        "Folder that delivered files are copied to, relative to the root or absolute.",
    ),
];

/// Finds the key of a path.
pub(crate) fn find(path: &[String]) -> Option<&'static Key> {
    KEYS.iter().find(|key| {
        let mut steps = key.path.split('.');
        path.iter()
            .all(|step| steps.next().is_some_and(|own| own == "*" || own == step))
            && steps.next().is_none()
    })
}

/// Lists what may stand under a path, sorted; empty when nothing may.
pub(crate) fn below(path: &[String]) -> Vec<&'static str> {
    let mut steps: Vec<&str> = KEYS
        .iter()
        .filter_map(|key| {
            let mut steps = key.path.split('.');
            let fits = path
                .iter()
                .all(|step| steps.next().is_some_and(|own| own == "*" || own == step));
            steps.next().filter(|_| fits)
        })
        .collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// The reference of all keys.
pub(crate) fn reference() -> String {
    let mut text = String::from("Keys of toolbox.toml:\n");
    for key in KEYS {
        let path = key.path.replace('*', "NAME");
        let default = key
            .default
            .map(|default| format!(" [default: {default}]"))
            .unwrap_or_default();
        text.push_str(&format!(
            "  {path} = {}{default}\n      {}{}\n",
            key.kind.expected(),
            key.doc,
            key.reach.says()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbox::limits;

    // What `toolbox config` calls a default is what holds.
    #[test]
    fn the_defaults_are_the_limits() {
        let default = |path: &str| {
            let key = KEYS.iter().find(|key| key.path == path);
            key.and_then(|key| key.default).expect("a default")
        };
        for (path, limit) in [
            ("lsp.idle_s", limits::LSP_IDLE),
            ("eval.budget_s", limits::CELL_BUDGET),
            ("session.idle_s", limits::BACKGROUND_IDLE),
        ] {
            assert_eq!(default(path), limit.as_secs().to_string(), "{path}");
        }
        let servers = limits::LSP_SERVERS.to_string();
        assert_eq!(default("lsp.max_servers"), servers);
    }

    #[test]
    fn no_key_is_a_table_of_another() {
        for key in KEYS {
            let path: Vec<String> = key.path.split('.').map(str::to_owned).collect();
            assert_eq!(find(&path).map(|found| found.path), Some(key.path));
            assert!(below(&path).is_empty(), "{}", key.path);
            assert!(
                !key.doc.is_empty() && key.doc.ends_with('.'),
                "{}",
                key.path
            );
        }
        assert!(find(&["approval".to_owned()]).is_none());
        assert_eq!(below(&["approval".to_owned()]), ["auto", "rules", "tools"]);
        assert!(reference().contains("\n  lsp.server.NAME.command = "));
    }
}
