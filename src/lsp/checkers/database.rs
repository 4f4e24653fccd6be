//! What checks the files of a compilation database: each of its commands, run so that it only checks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;

use super::compile::{self, Entry};
use super::roots::Job;
use super::table::Checker;
use super::{Checking, Found, Outcome, Stopped};
use crate::child::{Env, Program, Waited};
use crate::limits;

/// Makes gcc 11 and later count columns in bytes, as older ones and clang do: by itself it counts those of a
/// terminal, where a tab reaches to the next multiple of 8 and a wide character is two.
/// <https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html>
const BYTE_COLUMNS: &str = "-fdiagnostics-column-unit=byte";

impl Checking<'_> {
    /// Reads the database of a root; an error where it has nothing to check or too much.
    pub(super) fn entries(&self, job: &Job) -> Result<Vec<Entry>, Stopped> {
        let failed = |why: String| (Outcome::Failed, Some(why));
        let text = std::fs::read_to_string(&job.marker).map_err(|err| failed(err.to_string()))?;
        let mut entries = compile::entries(&text, &job.root)
            .map_err(|err| failed(format!("compile_commands.json: {err}")))?;
        entries.retain(|entry| self.workspace.contains(&entry.file));
        if entries.is_empty() {
            let why = "compile_commands.json names no compiler for a file of the workspace";
            return Err(failed(why.to_owned()));
        }
        if entries.len() > limits::CHECK_COMMANDS {
            let why = format!("compile_commands.json has {} files", entries.len());
            return Err((Outcome::Skipped, Some(why)));
        }
        Ok(entries)
    }

    /// Runs every command of the database.
    pub(super) fn compile_all(
        &self,
        checker: &'static Checker,
        job: &Job,
    ) -> Result<Found, Stopped> {
        let entries = self.entries(job)?;
        let compilers: BTreeMap<PathBuf, &Entry> = entries
            .iter()
            .map(|entry| (entry.compiler(), entry))
            .collect();
        let counting: BTreeMap<PathBuf, bool> = compilers
            .into_par_iter()
            .map(|(compiler, entry)| (compiler, self.counts_bytes_if_told(entry)))
            .collect();
        let found: Result<Vec<Found>, Stopped> = entries
            .par_iter()
            .map(|entry| {
                let is_told = counting.get(&entry.compiler()) == Some(&true);
                self.compile(checker, entry, is_told.then_some(BYTE_COLUMNS), job)
            })
            .collect();
        Ok(found?.into_iter().fold(Found::default(), Found::join))
    }

    /// Tells whether a compiler takes the option: others fail, or warn of it.
    fn counts_bytes_if_told(&self, entry: &Entry) -> bool {
        let language = match entry.program.contains("++") {
            true => "c++",
            false => "c",
        };
        let program = Program::new(entry.compiler(), &entry.folder, self.plain()).args([
            BYTE_COLUMNS,
            "-fsyntax-only",
            "-x",
            language,
            "/dev/null",
        ]);
        self.capture(&program).is_ok_and(|captured| {
            let done = matches!(captured.waited, Waited::Exited(exit) if exit.is_success());
            done && captured.stderr.is_empty()
        })
    }

    fn compile(
        &self,
        checker: &'static Checker,
        entry: &Entry,
        counting: Option<&'static str>,
        job: &Job,
    ) -> Result<Found, Stopped> {
        let program = Program::new(entry.compiler(), &entry.folder, self.plain())
            .args(counting)
            .args(&entry.args);
        let job = Job {
            row: job.row,
            root: entry.folder.clone(),
            marker: entry.file.clone(),
        };
        // It is the database that names the program, so the reason has to.
        let named = |why: String| format!("{}: {why}", entry.program);
        let found = self.findings(checker, &program, &job);
        found.map_err(|(outcome, why)| (outcome, why.map(named)))
    }

    /// The environment in which the quotation marks of messages are plain ones.
    fn plain(&self) -> Env {
        self.settings.env.clone().with("LC_ALL", "C")
    }
}
