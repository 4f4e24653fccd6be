//! Drives the search engine for the benchmark: one search, the same search again, and the check of the
//! shortcuts against full parses. It measures nothing of other tools; `benches/structural` does.
//!
//! `engine search LANG PATTERN FOLDER [MAX]` prints the matches as JSON lines; `engine again LANG PATTERN
//! FOLDER` searches twice with one cache and prints the CPU and wall seconds of the second search;
//! `engine verify LANG FOLDER` reads patterns from its input, one a line, and compares each answer with
//! that of a full parse of every file. `engine cells FOLDER` runs `1+1` in one interpreter again and again
//! and prints the median and the least wall milliseconds of a cell, as the caller of a linked crate has it.

#![expect(
    unsafe_code,
    reason = "the clock of the process is read by a C function"
)]

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use toolbox::cancel::Cancel;
use toolbox::child::{Processes, Watch};
use toolbox::kernel::KernelOptions;
use toolbox::run::{AutoApprove, CallOptions, Run};
use toolbox::syntax::Grammars;
use toolbox::syntax::cache::Cache;
use toolbox::syntax::report::{MatchReport, SearchReport};
use toolbox::syntax::search::{Query, Searcher};
use toolbox::tool::Tier;
use toolbox::tools::{EvalResources, Resources, connect};

#[path = "../src/bin/toolbox/allocator.rs"]
mod allocator;

fn main() -> ExitCode {
    allocator::install();
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["search", language, pattern, folder] => search(language, pattern, folder, usize::MAX),
        ["search", language, pattern, folder, max] => match max.parse() {
            Ok(max) => search(language, pattern, folder, max),
            Err(_) => usage(),
        },
        ["again", language, pattern, folder] => again(language, pattern, folder),
        ["verify", language, folder] => verify(language, folder),
        ["cells", folder] => cells(folder),
        // Without arguments it is `cargo bench` that calls; the comparison needs its corpora.
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "engine search|again LANG PATTERN FOLDER, engine verify LANG FOLDER < PATTERNS, or engine cells FOLDER"
    );
    ExitCode::from(2)
}

fn query(language: &str, pattern: &str, max_results: usize) -> Query {
    Query {
        language: Some(language.to_owned()),
        max_results,
        ..Query::new(pattern)
    }
}

fn run(searcher: &Searcher<'_>, query: &Query) -> Option<SearchReport> {
    match searcher.search(query, &Cancel::new()) {
        Ok(report) => Some(report),
        Err(err) => {
            eprintln!("{}: {err}", query.pattern);
            None
        }
    }
}

fn root(folder: &str) -> PathBuf {
    std::fs::canonicalize(folder).unwrap_or_else(|_| PathBuf::from(folder))
}

fn searcher<'a>(
    grammars: &'a Grammars,
    root: &'a Path,
    cache: Option<&'a Cache>,
    full_parse: bool,
) -> Searcher<'a> {
    Searcher {
        grammars,
        root,
        cache,
        full_parse,
    }
}

fn search(language: &str, pattern: &str, folder: &str, max: usize) -> ExitCode {
    let (grammars, root) = (Grammars::bundled(), root(folder));
    let searcher = searcher(&grammars, &root, None, false);
    let Some(report) = run(&searcher, &query(language, pattern, max)) else {
        return ExitCode::FAILURE;
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for found in &report.matches {
        let written = serde_json::to_writer(&mut out, found).is_ok() && writeln!(out).is_ok();
        if !written {
            return ExitCode::FAILURE;
        }
    }
    if let Some(hint) = &report.hint {
        eprintln!("{hint}");
    }
    ExitCode::SUCCESS
}

fn again(language: &str, pattern: &str, folder: &str) -> ExitCode {
    let (grammars, root, cache) = (Grammars::bundled(), root(folder), Cache::default());
    let searcher = searcher(&grammars, &root, Some(&cache), false);
    let query = query(language, pattern, usize::MAX);
    let Some(first) = run(&searcher, &query) else {
        return ExitCode::FAILURE;
    };
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let Some(second) = run(&searcher, &query) else {
        return ExitCode::FAILURE;
    };
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    assert_eq!(
        ranges(&first),
        ranges(&second),
        "the cache changed the answer"
    );
    println!(
        "{cpu:.4}\t{wall:.4}\t{}\t{}",
        second.matches.len(),
        cache.bytes()
    );
    ExitCode::SUCCESS
}

/// How often the cell is run, after a few that are not counted.
const CELLS: usize = 300;

fn cells(folder: &str) -> ExitCode {
    let options = KernelOptions::new(root(folder), std::env::vars_os().collect());
    let registry = connect(&Resources {
        eval: Some(EvalResources::new(Processes::new(Watch::Shell), options)),
        ..Resources::default()
    });
    let run = Run::builder(registry)
        .approver(AutoApprove::up_to(Tier::Exec))
        .build();
    let mut times = Vec::new();
    for n in 0..CELLS + 20 {
        let args = serde_json::json!({"code": "1+1", "description": "a cell of the benchmark"});
        let began = Instant::now();
        let answer = run.dispatch("eval", args, CallOptions::new());
        let took = began.elapsed().as_secs_f64() * 1e3;
        match answer {
            Ok(answer) if answer.data["result"] == "2" => {}
            other => {
                eprintln!("a cell failed: {other:?}");
                return ExitCode::FAILURE;
            }
        }
        if n >= 20 {
            times.push(took);
        }
    }
    times.sort_by(f64::total_cmp);
    println!("{:.4}\t{:.4}", times[CELLS / 2], times[0]);
    ExitCode::SUCCESS
}

/// The CPU time of the process so far.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a whole timespec of this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn verify(language: &str, folder: &str) -> ExitCode {
    let (grammars, root) = (Grammars::bundled(), root(folder));
    // One cache of whole trees serves every pattern; the searches under test use none.
    let cache = Cache::with_limit(12 << 30);
    let full = searcher(&grammars, &root, Some(&cache), true);
    let partial = searcher(&grammars, &root, None, false);
    let mut n_different = 0;
    for pattern in std::io::stdin().lock().lines().map_while(Result::ok) {
        let query = query(language, &pattern, usize::MAX);
        let (Some(truth), Some(answer)) = (run(&full, &query), run(&partial, &query)) else {
            n_different += 1;
            continue;
        };
        // What a file with errors holds is a guess of the parser, and a part may be read better.
        let mut errors: HashMap<String, bool> = HashMap::new();
        let mut is_guess = |file: &str| {
            *errors
                .entry(file.to_owned())
                .or_insert_with(|| !full.reads_without_errors(language, &root.join(file)))
        };
        let (theirs, ours) = (ranges(&truth), ranges(&answer));
        let (guessed, wrong): (Vec<_>, Vec<_>) = theirs
            .symmetric_difference(&ours)
            .partition(|found| is_guess(&found.0));
        let same = wrong.is_empty() && truth.files_skipped == answer.files_skipped;
        let verdict = if same { "same" } else { "DIFFERENT" };
        println!(
            "{verdict}\t{pattern}\t{}\t{} in files with errors",
            truth.matches.len(),
            guessed.len()
        );
        n_different += usize::from(!same);
        let shown = wrong
            .iter()
            .take(40)
            .chain(guessed.iter().take(DIFFERENCES));
        for found in shown {
            let side = if theirs.contains(*found) {
                "only"
            } else {
                "not"
            };
            println!("  {side} in the full parse: {}:{}", found.0, found.1);
        }
    }
    match n_different {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// How many matches in files with errors are shown.
const DIFFERENCES: usize = 20;

/// Every match with its captures, by file, as lines that can be compared.
fn ranges(report: &SearchReport) -> BTreeSet<(String, String)> {
    let line = |m: &MatchReport| {
        format!(
            "{} {}..{} {:?} {:?}",
            m.line, m.start_byte, m.end_byte, m.captures, m.runs
        )
    };
    let matches = report.matches.iter();
    matches.map(|m| (m.file.clone(), line(m))).collect()
}
