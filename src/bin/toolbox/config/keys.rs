//! Every key of `toolbox.toml`: what it takes, who may set it, what it is without being set, what it does.
//!
//! The table is the reference. The reader, the help and `toolbox config` go by it, so a key is documented or
//! it does not exist.

mod table;

pub(crate) use self::table::KEYS;

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
    /// How a debug adapter is reached.
    Transport,
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
            Self::Seconds => "a number of seconds above zero, up to 1000000000",
            Self::Count => "a whole number above zero",
            Self::Url => "a string with an http:// or https:// address",
            Self::Brief => "\"argument\", \"stdin\" or \"file\"",
            Self::Transport => "\"stdio\", or a flag such as \"--client-addr=\"",
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
        for (path, limit) in [
            ("bash.timeout_s", limits::BASH_TIMEOUT),
            ("bash.max_timeout_s", limits::BASH_MAX_TIMEOUT),
            ("lsp.write.baseline_s", limits::WRITE_BASELINE),
            ("lsp.write.settle_s", limits::WRITE_SETTLE),
            ("lsp.write.compiler_s", limits::WRITE_SETTLE_COMPILER),
            ("lsp.write.late_s", limits::WRITE_SETTLE_LATE),
            ("lsp.checkers.time_s", limits::CHECK_TIME),
            ("debug.stop_wait_s", limits::DEBUG_STOP_WAIT),
        ] {
            assert_eq!(default(path), limit.as_secs_f64().to_string(), "{path}");
        }
        for (path, limit) in [
            ("lsp.max_servers", limits::LSP_SERVERS),
            ("read.lines", limits::READ_LINES),
            ("read.line_length", limits::READ_LINE_CHARS),
            ("glob.files", limits::GLOB_FILES),
            ("grep.results", limits::GREP_RESULTS),
        ] {
            assert_eq!(default(path), limit.to_string(), "{path}");
        }
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
