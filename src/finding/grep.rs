//! Lines by a regular expression, in parallel, answered by path and line.
//!
//! Every walking thread searches the files that it meets. The answer keeps the first matches in the order
//! of paths, so its memory is bounded by the limit and not by what a pattern matches; everything is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use ignore::types::Types;
use serde::Serialize;

use crate::cancel::Cancel;
use crate::finding::hits::{FileSink, Source, Want};
use crate::finding::{
    FindingError, census, check_pattern, gathered, is_hidden, quoted, select_types,
};
use crate::limits;
use crate::text::counted_plural;
use crate::walk::{self, WalkOptions};
use crate::workspace::Workspace;

pub use crate::finding::hits::Hit;

/// What to search, and what to tell of it.
#[derive(Clone, Debug)]
pub struct GrepQuery {
    /// The regular expression.
    pub pattern: String,
    /// The files and folders to search, resolved; none is the whole workspace.
    pub paths: Vec<PathBuf>,
    /// What the answer holds.
    pub mode: Mode,
    /// How many files (of `Content`: matches) are listed.
    pub limit: usize,
    /// Lines shown before a match.
    pub before: usize,
    /// Lines shown after a match.
    pub after: usize,
    /// Whether the case of letters does not matter.
    pub ignore_case: bool,
    /// Whether the pattern is a plain text.
    pub fixed: bool,
    /// Whether only whole words match.
    pub word: bool,
    /// Whether a match may span lines; `.` matches line ends then.
    pub multiline: bool,
    /// Names of file types that are searched, such as `rust`.
    pub types: Vec<String>,
    /// Ignore rules and globs.
    pub walk: WalkOptions,
}

/// What an answer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The names of the files that match.
    #[default]
    FilesWithMatches,
    /// The matching lines.
    Content,
    /// How many matches each file has.
    Count,
}

/// How many matches a file has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileCount {
    /// The file.
    pub file: String,
    /// Its matches.
    pub count: u64,
}

/// What a search found, by path and line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GrepReport {
    /// The matches; empty unless the content was asked for.
    pub matches: Vec<Hit>,
    /// The files that the answer names.
    pub files: Vec<String>,
    /// The matches of each file; empty unless the counts were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<FileCount>,
    /// How many files (of content: matches) are listed.
    pub shown: u64,
    /// How many there are.
    pub total: u64,
    /// How many files have a match.
    pub files_matched: u64,
    /// How many files were searched.
    pub files_searched: u64,
    /// Files that hold no text.
    pub binary: u64,
    /// What could not be searched, and other things worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to try, where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip)]
    mode: Mode,
}

/// What all threads write into.
#[derive(Debug, Default)]
struct Gathered {
    files: BTreeMap<PathKey, FileHits>,
    /// Matches (or files) that `files` holds.
    kept: usize,
    total: u64,
    files_matched: u64,
    files_searched: u64,
    binary: u64,
    plain: usize,
    notes: BTreeSet<String>,
    seen: BTreeSet<PathBuf>,
}

/// Paths compare by their bytes, as everywhere in answers; `Path` compares by components.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PathKey(Vec<u8>);

#[derive(Debug)]
struct FileHits {
    path: PathBuf,
    count: u64,
    hits: Vec<Hit>,
}

/// What the threads share.
struct Context<'a> {
    workspace: &'a Workspace,
    query: &'a GrepQuery,
    matcher: RegexMatcher,
    cancel: &'a Cancel,
    gathered: Mutex<Gathered>,
    /// Whether the paths may overlap, so that a file could be met twice.
    overlapping: bool,
}

/// Searches.
pub fn grep(
    workspace: &Workspace,
    query: &GrepQuery,
    cancel: &Cancel,
) -> Result<GrepReport, FindingError> {
    check_pattern(&query.pattern)?;
    let types = select_types(&query.types)?;
    let context = Context {
        workspace,
        query,
        matcher: matcher(query)?,
        cancel,
        gathered: Mutex::default(),
        overlapping: query.paths.len() > 1,
    };
    let (files, folders) = split(workspace, &query.paths)?;
    for folder in &folders {
        context.search_folder(folder, types.as_ref())?;
    }
    let mut worker = Worker::new(&context);
    for file in &files {
        worker.search(file, true);
    }
    drop(worker);
    if cancel.is_cancelled() {
        return Err(FindingError::Cancelled);
    }
    let gathered = gathered(context.gathered);
    let hint = match gathered.total {
        0 => why_nothing(query, &folders, types.as_ref(), &gathered, cancel)?,
        _ => None,
    };
    Ok(report(workspace, query, gathered, hint))
}

fn matcher(query: &GrepQuery) -> Result<RegexMatcher, FindingError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(query.ignore_case)
        .fixed_strings(query.fixed)
        .word(query.word)
        // `$` shall hold before the line end of a Windows file too.
        .crlf(true);
    if query.multiline {
        builder.line_terminator(None).dot_matches_new_line(true);
    }
    builder.build(&query.pattern).map_err(|err| {
        let pattern = quoted(&query.pattern);
        match err.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => FindingError::LineEnd { pattern },
            _ => FindingError::BadRegex {
                pattern,
                reason: quoted(&err.to_string()),
            },
        }
    })
}

fn searcher(query: &GrepQuery) -> Searcher {
    let content = query.mode == Mode::Content;
    let mut builder = SearcherBuilder::new();
    builder
        .line_terminator(LineTerminator::crlf())
        .line_number(content)
        .multi_line(query.multiline)
        .heap_limit(Some(limits::GREP_HEAP_BYTES))
        .binary_detection(BinaryDetection::quit(0));
    if content {
        builder
            .before_context(query.before)
            .after_context(query.after);
    }
    builder.build()
}

/// Tells files from folders; the workspace stands for no path at all.
fn split(
    workspace: &Workspace,
    paths: &[PathBuf],
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), FindingError> {
    if paths.is_empty() {
        return Ok((Vec::new(), vec![workspace.root().to_owned()]));
    }
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|err| match err.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                FindingError::MissingPath {
                    path: PathBuf::from(workspace.display(path)),
                }
            }
            _ => bad_path(workspace, path, &err.to_string()),
        })?;
        if metadata.is_dir() {
            folders.push(path.clone());
        } else if metadata.is_file() {
            files.push(path.clone());
        } else {
            return Err(bad_path(
                workspace,
                path,
                "it is neither a file nor a folder",
            ));
        }
    }
    Ok((files, folders))
}

fn bad_path(workspace: &Workspace, path: &Path, reason: &str) -> FindingError {
    FindingError::BadPath {
        path: PathBuf::from(workspace.display(path)),
        reason: reason.to_owned(),
    }
}

impl Context<'_> {
    fn search_folder(&self, folder: &Path, types: Option<&Types>) -> Result<(), FindingError> {
        let mut builder = walk::builder(folder, &self.query.walk)?;
        if let Some(types) = types {
            builder.types(types.clone());
        }
        builder.build_parallel().run(|| {
            let mut worker = Worker::new(self);
            Box::new(move |entry| {
                if self.cancel.is_cancelled() {
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                        worker.plain += usize::from(!is_hidden(folder, entry.path()));
                        worker.search(entry.path(), false);
                    }
                    Ok(_) => {}
                    Err(err) => {
                        let (path, reason) = walk::described(folder, &err);
                        worker.note(&path, &reason);
                    }
                }
                WalkState::Continue
            })
        });
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One searching thread, and what it counted; handed over when it ends.
struct Worker<'a> {
    context: &'a Context<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
    files_searched: u64,
    binary: u64,
    plain: usize,
    notes: BTreeSet<String>,
}

impl<'a> Worker<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            // A clone has scratch space of its own.
            matcher: context.matcher.clone(),
            searcher: searcher(context.query),
            files_searched: 0,
            binary: 0,
            plain: 0,
            notes: BTreeSet::new(),
        }
    }

    fn search(&mut self, path: &Path, named: bool) {
        let context = self.context;
        if context.overlapping && !context.lock().seen.insert(path.to_owned()) {
            return;
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(err) => return self.note(path, &err.to_string()),
        };
        let want = match context.query.mode {
            Mode::FilesWithMatches => Want::Any,
            Mode::Count => Want::Count,
            Mode::Content if context.lock().is_full(path, context.query.limit) => Want::Count,
            Mode::Content => Want::Hits(context.query.limit),
        };
        // A file that is named is searched whatever it holds.
        let detection = match named {
            true => BinaryDetection::convert(0),
            false => BinaryDetection::quit(0),
        };
        self.searcher.set_binary_detection(detection);
        let mut source = Source::new(file, named, context.cancel);
        let mut sink = FileSink::new(&self.matcher, want);
        let searched = self
            .searcher
            .search_reader(&self.matcher, &mut source, &mut sink);
        let (count, hits, stopped_at) = (sink.count, sink.hits, sink.stopped_at);
        self.files_searched += 1;
        if source.binary {
            self.binary += 1;
            return;
        }
        if let Err(err) = searched
            && !context.cancel.is_cancelled()
        {
            self.note(path, &err.to_string());
        }
        if let Some(offset) = stopped_at
            && !named
        {
            self.note(
                path,
                &format!("not text from byte {offset} on; searched up to there"),
            );
        }
        if count > 0 {
            let found = FileHits {
                path: path.to_owned(),
                count,
                hits,
            };
            context.lock().add(found, context.query);
        }
    }

    fn note(&mut self, path: &Path, reason: &str) {
        let path = self.context.workspace.display(path);
        self.notes.insert(format!("{path}: {reason}"));
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut gathered = self.context.lock();
        gathered.files_searched += self.files_searched;
        gathered.binary += self.binary;
        gathered.plain += self.plain;
        gathered.notes.append(&mut self.notes);
    }
}

impl Gathered {
    /// Whether nothing of this file can be shown: enough matches come before it.
    fn is_full(&self, path: &Path, limit: usize) -> bool {
        self.kept >= limit
            && self
                .files
                .last_key_value()
                .is_none_or(|(last, _)| last.0.as_slice() < walk::order(path))
    }

    fn add(&mut self, found: FileHits, query: &GrepQuery) {
        self.files_matched += 1;
        self.total += match query.mode {
            Mode::Content => found.count,
            Mode::FilesWithMatches | Mode::Count => 1,
        };
        let weight = |file: &FileHits| match query.mode {
            Mode::Content => file.hits.len(),
            Mode::FilesWithMatches | Mode::Count => 1,
        };
        if self.is_full(&found.path, query.limit) {
            return;
        }
        self.kept += weight(&found);
        let key = PathKey(walk::order(&found.path).to_owned());
        self.files.insert(key, found);
        while let Some(last) = self.files.last_entry() {
            let weight = weight(last.get());
            if self.kept - weight < query.limit {
                break;
            }
            self.kept -= weight;
            last.remove();
        }
    }
}

fn report(
    workspace: &Workspace,
    query: &GrepQuery,
    gathered: Gathered,
    hint: Option<String>,
) -> GrepReport {
    let mut report = GrepReport {
        total: gathered.total,
        files_matched: gathered.files_matched,
        files_searched: gathered.files_searched,
        binary: gathered.binary,
        notes: gathered.notes.into_iter().collect(),
        hint,
        mode: query.mode,
        ..GrepReport::default()
    };
    for found in gathered.files.into_values() {
        let file = workspace.display(&found.path);
        match query.mode {
            Mode::FilesWithMatches => {}
            Mode::Count => report.counts.push(FileCount {
                file: file.clone(),
                count: found.count,
            }),
            Mode::Content => {
                let room = query.limit - report.matches.len();
                let hits = found.hits.into_iter().take(room);
                report.matches.extend(hits.map(|hit| Hit {
                    file: file.clone(),
                    ..hit
                }));
            }
        }
        report.files.push(file);
    }
    report.shown = match query.mode {
        Mode::Content => report.matches.len(),
        Mode::FilesWithMatches | Mode::Count => report.files.len(),
    } as u64;
    report
}

/// Says what was not searched, where nothing was found.
fn why_nothing(
    query: &GrepQuery,
    folders: &[PathBuf],
    types: Option<&Types>,
    gathered: &Gathered,
    cancel: &Cancel,
) -> Result<Option<String>, FindingError> {
    let found = census(folders, types, &query.walk.globs, &|_, _| true, cancel)?;
    let mut words = Vec::new();
    let at_least = if found.more { "at least " } else { "" };
    let ignored = found.plain.saturating_sub(gathered.plain);
    if ignored > 0 && !query.walk.no_ignore {
        let files = counted_plural(ignored, "ignored file was", "ignored files were");
        words.push(format!("{at_least}{files} not searched: pass no_ignore"));
    }
    if found.hidden > 0 && !query.walk.hidden {
        let files = counted_plural(found.hidden, "hidden file was", "hidden files were");
        words.push(format!("{at_least}{files} not searched: pass hidden"));
    }
    if gathered.binary > 0 {
        let files = counted_plural(
            gathered.binary as usize,
            "binary file was",
            "binary files were",
        );
        words.push(format!("{files} skipped: name one as path to search it"));
    }
    if gathered.files_searched == 0 && words.is_empty() {
        words.push("no file is there to search: check path, glob and type".to_owned());
    }
    Ok((!words.is_empty()).then(|| words.join("; ")))
}

impl fmt::Display for GrepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::FilesWithMatches => {
                for file in &self.files {
                    writeln!(f, "{file}")?;
                }
            }
            Mode::Count => {
                for row in &self.counts {
                    writeln!(f, "{}:{}", row.file, row.count)?;
                }
            }
            Mode::Content => self.write_matches(f)?,
        }
        if self.total == 0 {
            let files = counted_plural(self.files_searched as usize, "file", "files");
            write!(f, "no matches in {files}")?;
        } else {
            writeln!(f)?;
            if self.shown < self.total {
                write!(f, "{} of ", self.shown)?;
            }
            let total = self.total as usize;
            match self.mode {
                Mode::Content => {
                    let files = counted_plural(self.files_matched as usize, "file", "files");
                    write!(
                        f,
                        "{} in {files}",
                        counted_plural(total, "match", "matches")
                    )?;
                }
                Mode::FilesWithMatches | Mode::Count => {
                    write!(f, "{} with matches", counted_plural(total, "file", "files"))?;
                }
            }
        }
        for note in self.notes.iter().take(limits::GREP_RESULTS) {
            write!(f, "\n{note}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n{hint}")?;
        }
        Ok(())
    }
}

impl GrepReport {
    fn write_matches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut file = "";
        let mut next_line = 0;
        let with_context = self
            .matches
            .iter()
            .any(|hit| !hit.before.is_empty() || !hit.after.is_empty());
        for hit in &self.matches {
            let first = hit.line.saturating_sub(hit.before.len() as u64);
            if hit.file != file {
                let gap = if file.is_empty() { "" } else { "\n" };
                writeln!(f, "{gap}{}", hit.file)?;
            } else if with_context && first > next_line {
                writeln!(f, "--")?;
            }
            file = &hit.file;
            next_line = first;
            let lines = hit
                .before
                .iter()
                .map(|line| (line.as_str(), '-'))
                .chain(hit.text.split('\n').map(|line| (line, ':')))
                .chain(hit.after.iter().map(|line| (line.as_str(), '-')));
            for (line, mark) in lines {
                writeln!(f, "{next_line}{mark} {line}")?;
                next_line += 1;
            }
        }
        Ok(())
    }
}
