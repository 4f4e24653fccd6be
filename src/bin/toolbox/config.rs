//! The configuration: the user's `toolbox.toml`, the checkout's own, the flags; later wins.
//!
//! A checkout comes from anywhere. As long as the user does not trust its root, its file may set what is
//! harmless, and may make approvals stricter; what names a command, opens something or approves something is
//! left out, and said. Rules of approval add up over all files, so that no file takes a refusal back.

mod keys;
mod model;
mod parse;
mod show;
pub(crate) mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolbox::files::ContentHash;
use toolbox::run::{Decision, Policy, plain_words};
use toolbox::tool::Tier;
use toolbox::workspace::Workspace;

pub(crate) use self::keys::reference;
pub(crate) use self::model::{Bash as BashSection, Debug as DebugSection, Sections};
pub(crate) use self::show::{ShowConfig, config};

use self::keys::{KEYS, Reach};
use self::parse::{ConfigError, Origin, Owner, Setting};

/// Name of the file, in both places.
const FILE_NAME: &str = "toolbox.toml";

/// Largest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// The effective configuration.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The values with their types.
    pub(crate) sections: Sections,
    values: BTreeMap<Vec<String>, Setting>,
    rules: Vec<Setting>,
    files: Vec<FileUse>,
    ignored: Vec<Ignored>,
}

/// Where to look, and what the command line says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The user's file; need not be there.
    pub(crate) user: Option<PathBuf>,
    /// The file that takes its place; has to be there.
    pub(crate) named: Option<PathBuf>,
    /// The canonical root of the workspace.
    pub(crate) root: PathBuf,
    /// Whether the command line trusts the root.
    pub(crate) trust: bool,
    /// The command of `--enclosure`.
    pub(crate) enclosure: Option<String>,
}

/// A file that was looked for.
#[derive(Clone, Debug)]
struct FileUse {
    owner: Owner,
    file: PathBuf,
    state: FileState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileState {
    Absent,
    Read,
    /// Only what is harmless in it was taken.
    Untrusted,
}

/// A setting that was left out.
#[derive(Clone, Debug)]
struct Ignored {
    path: Vec<String>,
    origin: Origin,
    reason: &'static str,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Wrong(#[from] ConfigError),
    #[error("cannot read the configuration '{}': {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("--enclosure takes a command of plain words, such as 'docker exec -i box', not '{0}'")]
    Enclosure(String),
    #[error("the keys of the configuration and its types have drifted apart: {0}")]
    Drift(#[from] serde_json::Error),
}

impl Config {
    /// Reads and merges.
    pub(crate) fn load(sources: &Sources) -> Result<Self, LoadError> {
        let mut config = Self {
            sections: Sections::default(),
            values: BTreeMap::new(),
            rules: Vec::new(),
            files: Vec::new(),
            ignored: Vec::new(),
        };
        for key in KEYS.iter().filter(|key| key.path != RULES) {
            if let Some(default) = key.default {
                let value = serde_json::from_str(default)?;
                config.set(key.path, value, Origin::Default);
            }
        }
        let (user, needed) = match (&sources.named, &sources.user) {
            (Some(named), _) => (Some(named), true),
            (None, user) => (user.as_ref(), false),
        };
        if let Some(file) = user {
            config.take_file(file, Owner::User, true, needed)?;
        }
        let project = sources.root.join(FILE_NAME);
        if user.is_none_or(|user| !same_file(user, &project)) {
            let trusted = sources.trust || config.trusts(&sources.root);
            config.take_file(&project, Owner::Project, trusted, false)?;
        }
        if let Some(line) = &sources.enclosure {
            let words = plain_words(line).ok_or_else(|| LoadError::Enclosure(line.clone()))?;
            config.set("enclosure", json!(words), Origin::Flag("--enclosure"));
        }
        config.sections = serde_json::from_value(config.tree())?;
        Ok(config)
    }

    /// Makes the policy of a run in a workspace: what is approved, denied and asked about.
    pub(crate) fn policy(&self, workspace: &Workspace) -> Policy {
        let approval = &self.sections.approval;
        let mut policy =
            Policy::new(approval.auto.unwrap_or(Tier::Read)).workspace(workspace.clone());
        for (tool, decision) in &approval.tools {
            policy = policy.tool(tool, *decision);
        }
        for (rule, _) in self
            .rules
            .iter()
            .filter_map(|setting| setting.rule.as_ref())
        {
            policy = policy.rule(rule.clone());
        }
        policy
    }

    /// Tells one effective configuration from another.
    pub(crate) fn digest(&self) -> String {
        let rules: Vec<&Value> = self.rules.iter().map(|rule| &rule.value).collect();
        let all = json!({ "values": self.tree(), "rules": rules });
        ContentHash::of(all.to_string().as_bytes()).to_string()
    }

    /// Says what was left out, one line each.
    pub(crate) fn ignored(&self) -> Vec<String> {
        self.ignored
            .iter()
            .map(|ignored| {
                let key = show::key(&ignored.path);
                format!("{}: `{key}` is ignored: {}", ignored.origin, ignored.reason)
            })
            .collect()
    }

    fn take_file(
        &mut self,
        file: &Path,
        owner: Owner,
        trusted: bool,
        needed: bool,
    ) -> Result<(), LoadError> {
        let text = read(file).map_err(|err| LoadError::Unreadable {
            file: file.to_owned(),
            reason: err.to_string(),
        })?;
        if text.is_none() && needed {
            return Err(LoadError::Unreadable {
                file: file.to_owned(),
                reason: "there is no such file".to_owned(),
            });
        }
        let state = match (&text, trusted) {
            (None, _) => FileState::Absent,
            (Some(_), true) => FileState::Read,
            (Some(_), false) => FileState::Untrusted,
        };
        self.files.push(FileUse {
            owner,
            file: file.to_owned(),
            state,
        });
        for setting in parse::read(file, &text.unwrap_or_default(), owner)? {
            self.take(setting, owner, trusted);
        }
        Ok(())
    }

    fn take(&mut self, setting: Setting, owner: Owner, trusted: bool) {
        let reach = keys::find(&setting.path).map_or(Reach::User, |key| key.reach);
        let refused = match (reach, owner) {
            (_, Owner::User) | (Reach::Anybody, _) => None,
            (Reach::User, Owner::Project) => Some("only the user's own file may set it"),
            (Reach::Trusted, _) if !trusted => Some(
                "the checkout is not trusted (--trust-project, or `trusted` in the user's file)",
            ),
            (Reach::Stricter, _) if !trusted && !self.tightens(&setting) => {
                Some("a checkout that is not trusted can only make it stricter")
            }
            (Reach::Trusted | Reach::Stricter, _) => None,
        };
        if let Some(reason) = refused {
            self.ignored.push(Ignored {
                path: setting.path,
                origin: setting.origin,
                reason,
            });
        } else if setting.rule.is_some() {
            self.rules.push(setting);
        } else {
            self.values.insert(setting.path.clone(), setting);
        }
    }

    /// Whether a setting forbids more than what holds, and allows nothing more.
    fn tightens(&self, setting: &Setting) -> bool {
        if let Some((_, decision)) = &setting.rule {
            return *decision != Decision::Allow;
        }
        if let Some(allowed) = setting.value.as_bool() {
            return !allowed;
        }
        let word = |setting: &Setting| setting.value.as_str().map(str::to_owned);
        let now = self.values.get(&setting.path).and_then(word);
        let Some(wanted) = word(setting) else {
            return false;
        };
        if setting.path.iter().any(|step| step == "auto") {
            let tier = |word: &str| word.parse::<Tier>().ok();
            return tier(&wanted) < now.as_deref().and_then(tier);
        }
        // Without a word of the user's the tier decides, which asks at the strictest.
        let decision = |word: &str| word.parse::<Decision>().ok();
        decision(&wanted) > now.as_deref().map_or(Some(Decision::Allow), decision)
    }

    fn trusts(&self, root: &Path) -> bool {
        let trusted = self.values.get(&vec!["trusted".to_owned()]);
        let roots = trusted.and_then(|setting| setting.value.as_array());
        roots.into_iter().flatten().any(|trusted| {
            trusted
                .as_str()
                .and_then(|trusted| fs::canonicalize(trusted).ok())
                .is_some_and(|trusted| trusted == root)
        })
    }

    fn set(&mut self, path: &str, value: Value, origin: Origin) {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let setting = Setting {
            path: path.clone(),
            value,
            origin,
            rule: None,
        };
        self.values.insert(path, setting);
    }

    /// The values as nested tables.
    fn tree(&self) -> Value {
        let mut root = Map::new();
        for setting in self.values.values() {
            insert(&mut root, &setting.path, setting.value.clone());
        }
        Value::Object(root)
    }
}

/// The path of the rules, which add up.
const RULES: &str = "approval.rules";

/// Where the user's own file is, by the two variables that say so.
pub(crate) fn user_file(config_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let base = config_home
        .filter(absolute)
        .or_else(|| Some(home.filter(absolute)?.join(".config")))?;
    Some(base.join("toolbox").join(FILE_NAME))
}

/// Puts a value at a path. No key is a table of another; the table of keys has a test that says so.
fn insert(table: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            table.insert(last.clone(), value);
        }
        [step, rest @ ..] => {
            let inner = table
                .entry(step.clone())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Reads a file; `None` when there is none. What is no plain file of a sensible size is an error: a pipe in
/// a checkout must not hold up every command.
fn read(file: &Path) -> io::Result<Option<String>> {
    let metadata = match fs::metadata(file) {
        Err(err)
            if matches!(
                err.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if metadata.len() > FILE_BYTES {
        return Err(io::Error::other(format!("it is over {FILE_BYTES} bytes")));
    }
    let mut bytes = Vec::new();
    fs::File::open(file)?
        .take(FILE_BYTES)
        .read_to_end(&mut bytes)?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|err| io::Error::other(format!("it is not UTF-8: {}", err.utf8_error())))
}

#[cfg(test)]
mod tests;
