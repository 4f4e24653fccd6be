//! Structural search over files: the engine of `ast_grep`.
//!
//! One way: list the files, then for each, on every core, read, look for the pattern's tokens in the
//! bytes, parse what may match, match, and report in path order. Only the walk and the reads touch the
//! disk. Results are those of a full parse of every file, in an order that does not depend on the
//! number of threads (D15); the search stops as soon as the first `max_results` in that order are known.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::cancel::Cancel;
use crate::limits;
use crate::syntax::SyntaxError;
use crate::syntax::cache::Cache;
use crate::syntax::embed;
use crate::syntax::grammar::{Grammar, Grammars};
use crate::syntax::hint;
use crate::syntax::languages::{self, Context, Language};
use crate::syntax::matcher::Match;
use crate::syntax::partial::Parsed;
use crate::syntax::pattern::{self, Compiled, Pattern};
use crate::syntax::place::clipped;
use crate::syntax::report::{MatchReport, SearchReport, ShownLine, SkippedFile};
use crate::syntax::source::{self, Unsearchable};
use crate::walk::{self, WalkError, WalkOptions};
use crate::workspace::display_under;

/// What to search, and where.
#[derive(Clone, Debug)]
pub struct Query {
    /// The fragment.
    pub pattern: String,
    /// Id or alias of the language; inferred where every path is a file of one language.
    pub language: Option<String>,
    /// The rung to read the pattern on; the first that takes it where `None`.
    pub context: Option<Context>,
    /// Absolute paths to search; the whole scope where empty.
    pub paths: Vec<PathBuf>,
    /// How folders are walked.
    pub walk: WalkOptions,
    /// How many matches to list at most.
    pub max_results: usize,
    /// Lines of context to show around a match.
    pub context_lines: usize,
    /// Whether the matches carry the lines to show. Programs take places and texts, and need none.
    pub shows_lines: bool,
}

impl Query {
    /// A query for a pattern over the whole scope, with the default cap.
    pub fn new(pattern: impl Into<String>) -> Query {
        Query {
            pattern: pattern.into(),
            language: None,
            context: None,
            paths: Vec::new(),
            walk: WalkOptions::default(),
            max_results: limits::MAX_RESULTS,
            context_lines: 0,
            shows_lines: true,
        }
    }
}

/// What every search of one run shares.
pub struct Searcher<'a> {
    /// The grammars of the process.
    pub grammars: &'a Grammars,
    /// The folder that paths are shown relative to, and that is searched where a query names none.
    pub root: &'a Path,
    /// Parsed files of earlier searches of the run.
    pub cache: Option<&'a Cache>,
    /// Whether every file is parsed whole, to check the shortcuts against: they answer the same in every file
    /// that is read without errors.
    pub full_parse: bool,
}

/// The files that a query means, and the language that they are read in.
pub(crate) struct Target {
    pub files: Vec<PathBuf>,
    pub skipped: Vec<SkippedFile>,
}

/// One pass over files: with which grammar, over which, for how many matches at most, and until when.
pub(crate) struct Sweep<'a> {
    pub grammar: &'a Grammar,
    pub files: &'a [PathBuf],
    pub max: usize,
    pub cancel: &'a Cancel,
}

impl Searcher<'_> {
    /// Searches.
    pub fn search(&self, query: &Query, cancel: &Cancel) -> Result<SearchReport, SyntaxError> {
        let mut matches = Vec::new();
        let mut report = self.stream(query, cancel, &|found| found, &mut |found| {
            matches.push(found);
            ControlFlow::Continue(())
        })?;
        report.matches = matches;
        Ok(report)
    }

    /// Searches, and hands over what `each` makes of every match as soon as all before it are known, in the
    /// order of the answer, so that thousands of them need not be held. The report counts them and lists
    /// none. `each` runs on the thread that found the match; a break from `take` ends the search.
    pub fn stream<T: Send>(
        &self,
        query: &Query,
        cancel: &Cancel,
        each: &(dyn Fn(MatchReport) -> T + Sync),
        take: &mut (dyn FnMut(T) -> ControlFlow<()> + Send),
    ) -> Result<SearchReport, SyntaxError> {
        let row = self.language(query, cancel)?;
        let grammar = self.grammars.grammar(row);
        let compiled = pattern::compile(grammar, &query.pattern, query.context)?;
        let target = self.target(query, row, cancel)?;
        let sweep = Sweep {
            grammar,
            files: &target.files,
            max: query.max_results,
            cancel,
        };
        let (pattern, scan) = self.scan_readings(
            &sweep,
            &compiled,
            &|pattern, file, parsed, m| each(self.report(pattern, file, parsed, m, query)),
            take,
        )?;
        let mut skipped = target.skipped;
        skipped.extend(scan.skipped);
        skipped.sort();
        let mut report = SearchReport {
            language: row.id.to_owned(),
            context: pattern.context,
            kind: pattern.kind.clone(),
            kinds: pattern.kinds(grammar),
            files_searched: scan.n_files - scan.n_skipped,
            files_skipped: skipped,
            shown: scan.n_found,
            truncated: scan.truncated,
            given_up: compiled.readings().map(|p| p.given_up.count()).sum(),
            files_matched: scan.n_matched,
            matches: Vec::new(),
            hint: None,
        };
        if scan.n_found == 0 && query.max_results > 0 {
            report.hint = hint::explain(self, grammar, query, pattern, &scan.near, cancel);
        }
        Ok(report)
    }

    /// Whether the grammar of a language reads a file without an error. Where it does not, a search of parts
    /// may read more of it than a parse of the whole.
    pub fn reads_without_errors(&self, language: &str, file: &Path) -> bool {
        let Some(row) = languages::by_name(language) else {
            return false;
        };
        let mut source = Vec::new();
        source::read_into(file, &mut source).is_ok()
            && self
                .parse_whole(self.grammars.grammar(row), file, &source)
                .is_ok_and(|flat| flat.n_errors == 0)
    }

    /// Decides the language of a query (D9).
    pub(crate) fn language(
        &self,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<&'static Language, SyntaxError> {
        if let Some(name) = &query.language {
            return languages::by_name(name).ok_or_else(|| SyntaxError::UnknownLanguage {
                name: name.clone(),
                known: ids(),
            });
        }
        let files_only = !query.paths.is_empty() && query.paths.iter().all(|p| p.is_file());
        if files_only {
            let rows: Vec<_> = query.paths.iter().map(|p| of_file(p)).collect();
            if let Some(Some(first)) = rows.first()
                && rows.iter().all(|r| r.is_some_and(|r| r.id == first.id))
            {
                return Ok(first);
            }
        }
        Err(SyntaxError::LanguageNeeded {
            found: self.languages_here(query, cancel)?,
        })
    }

    /// The languages below the paths of a query with their file counts, most files first.
    fn languages_here(&self, query: &Query, cancel: &Cancel) -> Result<String, SyntaxError> {
        let paths = self.paths(query)?;
        let walked = walk::walk(&paths, &query.walk, &|_| true, cancel).map_err(walk_error)?;
        let mut counts: Vec<(usize, &str)> = Vec::new();
        for row in walked.files.iter().filter_map(|f| languages::by_path(f)) {
            match counts.iter_mut().find(|c| c.1 == row.id) {
                Some(count) => count.0 += 1,
                None => counts.push((1, row.id)),
            }
        }
        counts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        if counts.is_empty() {
            return Ok("no file of a known language".to_owned());
        }
        Ok(counts
            .iter()
            .map(|(n, id)| format!("{id} ({n})"))
            .collect::<Vec<_>>()
            .join(", "))
    }

    fn paths(&self, query: &Query) -> Result<Vec<PathBuf>, SyntaxError> {
        if query.paths.is_empty() {
            return Ok(vec![self.root.to_owned()]);
        }
        for path in &query.paths {
            let shown = || self.shown(path);
            let metadata = std::fs::metadata(path).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => SyntaxError::MissingPath { path: shown() },
                _ => SyntaxError::BadPath {
                    path: shown(),
                    reason: e.to_string(),
                },
            })?;
            if !metadata.is_file() && !metadata.is_dir() {
                return Err(SyntaxError::BadPath {
                    path: shown(),
                    reason: "it is neither a regular file nor a folder".to_owned(),
                });
            }
        }
        Ok(query.paths.clone())
    }

    /// Lists the files of a query that are read in its language, sorted.
    pub(crate) fn target(
        &self,
        query: &Query,
        row: &'static Language,
        cancel: &Cancel,
    ) -> Result<Target, SyntaxError> {
        let paths = self.paths(query)?;
        let accept = |path: &Path| match languages::by_path(path) {
            Some(found) => found.id == row.id || embed::hosts(found, row),
            None => !row.interpreters.is_empty() && is_script_of(path, row),
        };
        let walked = walk::walk(&paths, &query.walk, &accept, cancel).map_err(walk_error)?;
        if cancel.is_cancelled() {
            return Err(SyntaxError::Cancelled);
        }
        Ok(Target {
            files: walked.files,
            skipped: walked
                .skipped
                .into_iter()
                .map(|(path, reason)| SkippedFile {
                    file: self.shown(&path),
                    reason,
                })
                .collect(),
        })
    }

    /// A path as answers show it: relative to the root with `/`, absolute outside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        display_under(self.root, path)
    }

    fn report(
        &self,
        pattern: &Pattern,
        file: &Path,
        parsed: &Parsed<'_>,
        m: &Match,
        query: &Query,
    ) -> MatchReport {
        let places = parsed.places();
        let range = m.place();
        let start = places.position(range.start);
        let end = places.position(range.end);
        let shown = match query.shows_lines {
            true => {
                let first = start.line.saturating_sub(query.context_lines).max(1);
                first..(end.line + query.context_lines).min(places.line_count()) + 1
            }
            false => 0..0,
        };
        let mut lines = Vec::new();
        for number in shown {
            let matched = (start.line..=end.line).contains(&number);
            if matched && number >= start.line + limits::MATCH_LINES {
                continue;
            }
            let around = (number == start.line).then_some(range.start);
            let Some(text) = places.shown_line(number, around) else {
                break;
            };
            lines.push(ShownLine {
                number,
                text,
                matched,
            });
        }
        let mut captures = BTreeMap::new();
        let mut runs = BTreeMap::new();
        for (slot, capture) in pattern.slots.iter().zip(&m.captures) {
            let bytes = &parsed.source[capture.place()];
            let map = if slot.run { &mut runs } else { &mut captures };
            map.insert(slot.name.clone(), clipped(bytes));
        }
        MatchReport {
            file: self.shown(file),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            start_byte: range.start,
            end_byte: range.end,
            text: clipped(&parsed.source[range]),
            captures,
            runs,
            lines,
        }
    }

    /// Runs the readings of a pattern in turn until one finds something, and hands over what `each` makes of
    /// its matches. Gives the reading that did, or the first where none does, with the last scan.
    pub(crate) fn scan_readings<'p, T: Send>(
        &self,
        sweep: &Sweep<'_>,
        compiled: &'p Compiled,
        each: &(dyn Fn(&Pattern, &Path, &Parsed<'_>, &Match) -> T + Sync),
        take: &mut (dyn FnMut(T) -> ControlFlow<()> + Send),
    ) -> Result<(&'p Pattern, Scan), SyntaxError> {
        let mut scan = |pattern: &'p Pattern| {
            let each = |file: &Path, parsed: &Parsed<'_>, m: &Match| each(pattern, file, parsed, m);
            self.scan(sweep, pattern, &each, take)
        };
        let mut last = scan(&compiled.pattern)?;
        for other in &compiled.alternatives {
            if last.n_found > 0 {
                break;
            }
            last = scan(other)?;
            if last.n_found > 0 {
                return Ok((other, last));
            }
        }
        Ok((&compiled.pattern, last))
    }

    /// Runs a pattern over files and hands over what `each` makes of the matches, in order.
    fn scan<T: Send>(
        &self,
        sweep: &Sweep<'_>,
        pattern: &Pattern,
        each: &(dyn Fn(&Path, &Parsed<'_>, &Match) -> T + Sync),
        take: &mut (dyn FnMut(T) -> ControlFlow<()> + Send),
    ) -> Result<Scan, SyntaxError> {
        let Sweep {
            grammar,
            files,
            max,
            cancel,
        } = *sweep;
        let progress = Mutex::new(Progress {
            done: (0..files.len()).map(|_| None).collect(),
            scan: Scan::default(),
            max,
            ended: false,
            take,
        });
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let worker = || {
            let mut buffer = Vec::new();
            loop {
                let idx = next.fetch_add(1, Ordering::Relaxed);
                if idx >= files.len() || stop.load(Ordering::Relaxed) || cancel.is_cancelled() {
                    break;
                }
                let file = &files[idx];
                let mut found = Vec::new();
                let limit = max.saturating_add(1);
                let outcome = self.file(
                    grammar,
                    pattern,
                    file,
                    &mut buffer,
                    limit,
                    &mut |parsed, m| {
                        found.push(each(file, parsed, m));
                    },
                );
                let done = match outcome {
                    Ok(near) => Done {
                        found: Ok(found),
                        near,
                    },
                    Err(why) => Done {
                        found: Err(why),
                        near: false,
                    },
                };
                let mut progress = progress.lock().unwrap_or_else(|e| e.into_inner());
                progress.done[idx] = Some(done);
                progress.advance(files, &|file| self.shown(file));
                if progress.ended {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        };
        rayon::scope(|scope| {
            let n_workers = rayon::current_num_threads().min(files.len());
            for _ in 0..n_workers {
                scope.spawn(|_| worker());
            }
        });
        if cancel.is_cancelled() {
            return Err(SyntaxError::Cancelled);
        }
        let progress = progress.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(progress.scan)
    }
}

/// What a scan found, without the matches.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub n_found: usize,
    /// Files with one of them.
    pub n_matched: usize,
    pub truncated: bool,
    pub n_files: usize,
    pub n_skipped: usize,
    pub skipped: Vec<SkippedFile>,
    /// The files that hold the pattern's tokens.
    pub near: Vec<PathBuf>,
}

struct Done<T> {
    found: Result<Vec<T>, Unsearchable>,
    near: bool,
}

/// What is done, and how far all before it is done too: the matches leave in order, and only what waits
/// for a file before it is held.
struct Progress<'t, T> {
    done: Vec<Option<Done<T>>>,
    scan: Scan,
    max: usize,
    /// Whether no file after the last one that was counted can add to the answer.
    ended: bool,
    take: &'t mut (dyn FnMut(T) -> ControlFlow<()> + Send),
}

impl<T> Progress<'_, T> {
    fn advance(&mut self, files: &[PathBuf], shown: &dyn Fn(&Path) -> String) {
        let scan = &mut self.scan;
        while !self.ended
            && let Some(slot) = self.done.get_mut(scan.n_files)
            && let Some(done) = slot.take()
        {
            let file = &files[scan.n_files];
            scan.n_files += 1;
            if done.near {
                scan.near.push(file.clone());
            }
            let found = match done.found {
                Ok(found) => found,
                Err(why) => {
                    scan.n_skipped += 1;
                    scan.skipped.push(SkippedFile {
                        file: shown(file),
                        reason: why.to_string(),
                    });
                    continue;
                }
            };
            scan.n_matched += usize::from(!found.is_empty() && scan.n_found < self.max);
            for item in found {
                if scan.n_found == self.max {
                    scan.truncated = true;
                    self.ended = true;
                    break;
                }
                scan.n_found += 1;
                if (self.take)(item).is_break() {
                    self.ended = true;
                    break;
                }
            }
        }
    }
}

/// The language of one named file: by name, extension, or `#!` line.
pub(crate) fn of_file(path: &Path) -> Option<&'static Language> {
    languages::by_path(path).or_else(|| languages::by_shebang(&first_bytes(path)))
}

/// Whether a file without extension is a script of a language. Only executable files are opened.
fn is_script_of(path: &Path, row: &Language) -> bool {
    use std::os::unix::fs::PermissionsExt;
    if path.extension().is_some() {
        return false;
    }
    let executable =
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    executable && languages::by_shebang(&first_bytes(path)).is_some_and(|l| l.id == row.id)
}

fn first_bytes(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(metadata) = std::fs::metadata(path)
        && metadata.is_file()
        && let Ok(file) = std::fs::File::open(path)
    {
        // What cannot be read has no first line.
        let _ = file.take(128).read_to_end(&mut bytes);
    }
    bytes
}

fn ids() -> String {
    languages::ALL
        .iter()
        .map(|l| l.id)
        .collect::<Vec<_>>()
        .join(", ")
}

fn walk_error(error: WalkError) -> SyntaxError {
    match error {
        WalkError::BadGlob { glob, source } => SyntaxError::BadGlob {
            glob,
            reason: source.to_string(),
        },
    }
}
