//! Files by a glob: the newest first, or by path.
//!
//! The literal head of a pattern is where the walk starts, so `target/doc/**/*.html` costs what lies there,
//! and a folder or file that is named exactly is found although the ignore rules leave it out.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkState;
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, open, statx};
use serde::Serialize;

use crate::cancel::Cancel;
use crate::finding::{FindingError, census, check_pattern, gathered, quoted};
use crate::limits;
use crate::text::counted_plural;
use crate::walk::{self, WalkOptions, order};
use crate::workspace::Workspace;

/// What to list.
#[derive(Clone, Debug)]
pub struct GlobQuery {
    /// The glob, relative to `base`; without a slash it takes files at any depth.
    pub pattern: String,
    /// The folder that the pattern is relative to, resolved.
    pub base: PathBuf,
    /// The order of the answer.
    pub order: Order,
    /// How many files are listed.
    pub limit: usize,
    /// Whether hidden files and folders are listed.
    pub hidden: bool,
    /// Whether ignore files are disregarded.
    pub no_ignore: bool,
}

/// The order of a list of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The file that changed last comes first.
    #[default]
    Newest,
    /// By the bytes of the path.
    Path,
}

/// The files that a glob takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GlobReport {
    /// The files, in the order that was asked for.
    pub files: Vec<String>,
    /// How many are listed.
    pub shown: usize,
    /// How many there are.
    pub total: usize,
    /// What the list leaves out, and what is worth knowing of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to try, where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip)]
    order: Order,
}

/// A file and when it changed.
#[derive(Debug)]
struct Found {
    path: PathBuf,
    changed: Option<Changed>,
}

/// When a file changed: seconds and nanoseconds since 1970.
type Changed = (i64, u32);

/// What the threads of a walk found.
#[derive(Debug, Default)]
struct Walked {
    found: Vec<Found>,
    dead_links: usize,
    outside_links: usize,
    unreadable: Vec<(PathBuf, String)>,
}

/// The pattern, split where its first wildcard is.
#[derive(Debug)]
struct Plan {
    start: PathBuf,
    /// What a path below the start must match; every path does where there is none.
    matcher: Option<GlobMatcher>,
    max_depth: Option<usize>,
}

/// Lists the files of a glob.
pub fn glob(
    workspace: &Workspace,
    query: &GlobQuery,
    cancel: &Cancel,
) -> Result<GlobReport, FindingError> {
    check_pattern(&query.pattern)?;
    let plan = plan(workspace, query)?;
    let mut walked = walk_plan(workspace, query, &plan, cancel)?;
    if let Some(exact) = named_exactly(workspace, query)
        && !walked.found.iter().any(|found| found.path == exact.path)
    {
        walked.found.push(exact);
    }
    let total = walked.found.len();
    let mut report = GlobReport {
        files: Vec::new(),
        shown: total.min(query.limit),
        total,
        notes: notes(workspace, &walked),
        hint: None,
        order: query.order,
    };
    report.files = ranked(walked.found, query)
        .iter()
        .map(|found| workspace.display(&found.path))
        .collect();
    if total == 0 {
        report.hint = Some(why_nothing(workspace, query, &plan, cancel)?);
    }
    Ok(report)
}

fn plan(workspace: &Workspace, query: &GlobQuery) -> Result<Plan, FindingError> {
    let bad = |reason: &str| FindingError::BadGlob {
        glob: quoted(&query.pattern),
        reason: reason.to_owned(),
    };
    let mut pattern = query.pattern.as_str();
    let anywhere = !pattern.contains('/');
    let mut head = PathBuf::new();
    if pattern.starts_with('/') {
        head.push("/");
        pattern = pattern.trim_start_matches('/');
    }
    while let Some((component, rest)) = pattern.split_once('/') {
        if component.contains(['*', '?', '[', '{', '\\']) {
            break;
        }
        head.push(component);
        pattern = rest.trim_start_matches('/');
    }
    if pattern.split('/').any(|component| component == "..") {
        return Err(bad("`..` can only come before the first wildcard"));
    }
    let tail = match pattern {
        // A folder is asked for: what it holds is meant.
        "" | "." => "**".to_owned(),
        _ if anywhere => format!("**/{pattern}"),
        _ => pattern.to_owned(),
    };
    let matcher = GlobBuilder::new(&tail)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|err| bad(&err.kind().to_string()))?;
    let matcher = (!matches!(tail.as_str(), "**" | "**/*")).then(|| matcher.compile_matcher());
    // Alternatives may hold slashes, so this is a bound and not the depth itself.
    let max_depth = (!tail.contains("**")).then(|| tail.matches('/').count() + 1);
    Ok(Plan {
        start: workspace.resolve(query.base.join(head))?,
        matcher,
        max_depth,
    })
}

fn walk_plan(
    workspace: &Workspace,
    query: &GlobQuery,
    plan: &Plan,
    cancel: &Cancel,
) -> Result<Walked, FindingError> {
    if !plan.start.is_dir() {
        return Ok(Walked::default());
    }
    let options = WalkOptions {
        globs: Vec::new(),
        hidden: query.hidden,
        no_ignore: query.no_ignore,
    };
    let shared = Mutex::new(Walked::default());
    let mut builder = walk::builder(&plan.start, &options)?;
    builder.max_depth(plan.max_depth);
    builder.build_parallel().run(|| {
        let mut batch = Batch {
            shared: &shared,
            walked: Walked::default(),
            clock: Clock::default(),
        };
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) => batch.look_at(entry, workspace, query, plan),
                Err(err) => {
                    let row = walk::described(&plan.start, &err);
                    batch.walked.unreadable.push(row);
                }
            }
            WalkState::Continue
        })
    });
    if cancel.is_cancelled() {
        return Err(FindingError::Cancelled);
    }
    Ok(gathered(shared))
}

/// What one walking thread found; handed over when it ends, so that files cost no lock each.
struct Batch<'a> {
    shared: &'a Mutex<Walked>,
    walked: Walked,
    clock: Clock,
}

/// Tells when files changed. A thread meets the files of a folder one after the other, so the folder is kept
/// open and each is looked up by its name alone: that halves the cost of the newest first.
#[derive(Debug, Default)]
struct Clock {
    folder: PathBuf,
    open: Option<OwnedFd>,
}

impl Clock {
    fn changed(&mut self, path: &Path) -> Option<Changed> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        if self.open.is_none() || self.folder.as_os_str() != folder.as_os_str() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.open = open(folder, flags, Mode::empty()).ok();
            folder.clone_into(&mut self.folder);
        }
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let stat = statx(self.open.as_ref()?, name, flags, StatxFlags::MTIME).ok()?;
        Some((stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec))
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let walked = &mut self.walked;
        shared.found.append(&mut walked.found);
        shared.unreadable.append(&mut walked.unreadable);
        shared.dead_links += walked.dead_links;
        shared.outside_links += walked.outside_links;
    }
}

impl Batch<'_> {
    fn look_at(
        &mut self,
        entry: ignore::DirEntry,
        workspace: &Workspace,
        query: &GlobQuery,
        plan: &Plan,
    ) {
        let Some(kind) = entry.file_type() else {
            return;
        };
        if !kind.is_file() && !kind.is_symlink() || !plan.takes(entry.path()) {
            return;
        }
        if kind.is_symlink() {
            let walked = &mut self.walked;
            match fs::metadata(entry.path()) {
                Err(_) => walked.dead_links += 1,
                Ok(metadata) if !metadata.is_file() => {}
                Ok(_) if workspace.resolve(entry.path()).is_err() => walked.outside_links += 1,
                Ok(metadata) => walked.found.push(Found {
                    changed: Some(changed(&metadata)),
                    path: entry.into_path(),
                }),
            }
            return;
        }
        let changed = match query.order {
            Order::Newest => self.clock.changed(entry.path()),
            Order::Path => None,
        };
        self.walked.found.push(Found {
            changed,
            path: entry.into_path(),
        });
    }
}

impl Plan {
    fn takes(&self, path: &Path) -> bool {
        let Some(matcher) = &self.matcher else {
            return true;
        };
        matcher.is_match(OsStr::from_bytes(walk::below(&self.start, path)))
    }
}

fn changed(metadata: &fs::Metadata) -> Changed {
    let nanoseconds = u32::try_from(metadata.mtime_nsec()).unwrap_or(0);
    (metadata.mtime(), nanoseconds)
}

/// Looks for the file whose very name the pattern is, whatever the ignore rules say and whatever its name
/// would mean as a glob.
fn named_exactly(workspace: &Workspace, query: &GlobQuery) -> Option<Found> {
    let named = query.base.join(&query.pattern);
    let real = workspace.resolve(&named).ok()?;
    let metadata = fs::metadata(&real).ok()?;
    metadata.is_file().then(|| {
        // A link is listed under its own name, as the walk lists it.
        let parent = named
            .parent()
            .and_then(|parent| workspace.resolve(parent).ok());
        let path = match (parent, named.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => real,
        };
        Found {
            path,
            changed: Some(changed(&metadata)),
        }
    })
}

/// Puts the first files of the order in front, and drops the rest.
fn ranked(mut found: Vec<Found>, query: &GlobQuery) -> Vec<Found> {
    let compare = |a: &Found, b: &Found| {
        let by_path = order(&a.path).cmp(order(&b.path));
        match query.order {
            Order::Newest => b.changed.cmp(&a.changed).then(by_path),
            Order::Path => by_path,
        }
    };
    if query.limit < found.len() {
        if query.limit > 0 {
            found.select_nth_unstable_by(query.limit - 1, compare);
        }
        found.truncate(query.limit);
    }
    found.sort_unstable_by(compare);
    found
}

fn notes(workspace: &Workspace, walked: &Walked) -> Vec<String> {
    let mut notes = Vec::new();
    let strange = walked
        .found
        .iter()
        .filter(|found| found.path.to_str().is_none())
        .count();
    if strange > 0 {
        let names = counted_plural(strange, "name is", "names are");
        notes.push(format!("{names} not UTF-8 and shown with U+FFFD"));
    }
    if walked.dead_links > 0 {
        let links = counted_plural(walked.dead_links, "link", "links");
        notes.push(format!("{links} to nothing left out"));
    }
    if walked.outside_links > 0 {
        let links = counted_plural(walked.outside_links, "link", "links");
        notes.push(format!("{links} out of the workspace left out"));
    }
    let mut unreadable: Vec<String> = walked
        .unreadable
        .iter()
        .map(|(path, reason)| format!("cannot list {}: {reason}", workspace.display(path)))
        .collect();
    unreadable.sort();
    unreadable.dedup();
    notes.append(&mut unreadable);
    notes
}

/// Says what an empty list may come from.
fn why_nothing(
    workspace: &Workspace,
    query: &GlobQuery,
    plan: &Plan,
    cancel: &Cancel,
) -> Result<String, FindingError> {
    if !plan.start.is_dir() {
        let folder = workspace.display(&plan.start);
        return Ok(format!("there is no folder '{folder}'"));
    }
    let named = query.base.join(&query.pattern);
    if workspace.resolve(&named).is_ok_and(|path| path.is_dir()) {
        let pattern = query.pattern.trim_end_matches('/');
        return Ok(format!(
            "'{pattern}' is a folder; `{pattern}/**` lists its files"
        ));
    }
    let takes = |_: &Path, path: &Path| plan.takes(path);
    let found = census(std::slice::from_ref(&plan.start), None, &[], &takes, cancel)?;
    let mut left_out = Vec::new();
    if found.plain > 0 && !query.no_ignore {
        let files = counted_plural(found.plain, "ignored file matches", "ignored files match");
        left_out.push(format!("{files}: pass no_ignore to list them"));
    }
    if found.hidden > 0 && !query.hidden {
        let files = counted_plural(found.hidden, "hidden file matches", "hidden files match");
        left_out.push(format!("{files}: pass hidden to list them"));
    }
    Ok(match left_out.is_empty() {
        true => format!(
            "`*` stays inside one folder and `**/` crosses them; the pattern is relative to '{}'",
            workspace.display(&query.base)
        ),
        false => left_out.join("; "),
    })
}

impl fmt::Display for GlobReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for file in &self.files {
            writeln!(f, "{file}")?;
        }
        if self.total == 0 {
            write!(f, "no files found")?;
        } else if self.shown < self.total {
            let order = match self.order {
                Order::Newest => "the newest first",
                Order::Path => "by path",
            };
            write!(f, "\n{} of {} files, {order}", self.shown, self.total)?;
        } else {
            write!(f, "\n{}", counted_plural(self.total, "file", "files"))?;
        }
        for note in self.notes.iter().take(limits::GLOB_FILES) {
            write!(f, "\n{note}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n{hint}")?;
        }
        Ok(())
    }
}
