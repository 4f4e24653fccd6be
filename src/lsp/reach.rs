//! Makes an answer whole where a server knows less than its project.
//!
//! Some servers know, without a description of the project, only the files that are open; others look into
//! so many files and leave out the rest without a word. The files that have the name in question are opened
//! for the first kind, up to a bound, and counted for the second. Where that is not enough the answer is
//! limited, and says why and what helps.

mod projects;

use std::path::{Path, PathBuf};
use std::time::Instant;

use memchr::memmem;
use rayon::prelude::*;

use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::{Readiness, Server};
use crate::lsp::diagnostics::place::is_missing_header;
use crate::lsp::error::LspError;
use crate::lsp::question::{AskError, Opened};
use crate::lsp::servers::{ReachRule, RootRule};
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::{Target, is_identifier};
use crate::text::counted;
use crate::walk::{WalkOptions, walk};

/// What a file must have to matter to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needle<'a> {
    /// A name as a whole word.
    Word(&'a str),
    /// A part of a name, whatever the case.
    Part(&'a str),
    /// Nothing: what is asked about has no name to look for.
    Any,
}

/// How far a server looks for an answer, where several projects lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Into every project that is loaded.
    Projects,
    /// Into the project of the file alone.
    Project,
}

/// The files of a project that matter to a question.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    pub(crate) files: Vec<PathBuf>,
    /// How many were looked into.
    n_searched: usize,
    /// How many were not, because there are too many.
    pub(crate) n_left: usize,
    /// Whether others may use what is asked about under another name.
    is_aliased: bool,
}

/// Folders that hold the code of others or copies; servers leave them out as well.
const FOREIGN: [&str; 4] = ["!node_modules", "!venv", "!__pycache__", "!target"];

impl Supervisor {
    /// Sees that the server knows every file that may use the symbol at a place, or notes why it does not.
    pub(crate) fn widen_for(
        &self,
        opened: &mut Opened,
        target: Target,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        let text = std::sync::Arc::clone(&opened.text);
        match word_at(&text, target) {
            Some(word) => self.widen(opened, Needle::Word(word), cancel),
            None => self.widen(opened, Needle::Any, cancel),
        }
    }

    /// Does [`Self::load_projects`] for the symbol at a place.
    pub(crate) fn load_projects_for(
        &self,
        opened: &mut Opened,
        target: Target,
        extent: Extent,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        let text = std::sync::Arc::clone(&opened.text);
        let needle = word_at(&text, target).map_or(Needle::Any, Needle::Word);
        self.load_projects(opened, needle, extent, cancel)
    }

    /// Sees that every project that may use what is asked about is loaded, where several lie side by side, or
    /// notes why one is not. A question that the server answers from one project alone is limited to it.
    pub(crate) fn load_projects(
        &self,
        opened: &mut Opened,
        needle: Needle<'_>,
        extent: Extent,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        if !opened.readiness.is_ready() || !is_script(&opened.server) {
            return Ok(());
        }
        if let Some(why) = projects::importers(self, opened, needle) {
            opened.readiness = Readiness::Limited(why);
            return Ok(());
        }
        let is_described = match &opened.server.row().reach {
            ReachRule::Described(names) => is_described(&opened.path, opened.server.root(), names),
            ReachRule::Project | ReachRule::Searched { .. } => false,
        };
        if !is_described {
            return Ok(());
        }
        let deadline = self.loading_deadline(opened.begun);
        let loaded = projects::load(self, opened, needle, deadline, cancel)?;
        if loaded.has_opened {
            // What was opened may have made the server load more.
            opened.readiness = opened.server.wait_ready(&opened.path, deadline, cancel)?;
        }
        let why = loaded.lack.or(match extent {
            Extent::Project => loaded.beyond,
            Extent::Projects => None,
        });
        opened.beside = loaded.beside;
        if let Some(why) = why
            && opened.readiness.is_ready()
        {
            opened.readiness = Readiness::Limited(why);
        }
        Ok(())
    }

    /// Sees that the server of a question about the whole project knows every file that matters to it, or
    /// notes why it does not.
    pub(crate) fn widen(
        &self,
        opened: &mut Opened,
        needle: Needle<'_>,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        if !opened.readiness.is_ready() {
            return Ok(());
        }
        let server = &opened.server;
        let why = match &server.row().reach {
            ReachRule::Project => None,
            ReachRule::Described(names) if is_described(&opened.path, server.root(), names) => None,
            ReachRule::Described(names) => {
                let deadline = self.loading_deadline(opened.begun);
                let naming = naming(server, needle, cancel);
                let why = open(server, &naming, deadline, cancel)?;
                if why.is_none() {
                    // What was opened may have made the server load more.
                    opened.readiness = server.wait_ready(&opened.path, deadline, cancel)?;
                }
                why.map(|why| {
                    let file = names.first().map_or("", String::as_str);
                    let advice = advice(&server.row().root);
                    format!(
                        "without {file} {} knows only open files, and {why}; {advice}",
                        server.id()
                    )
                })
            }
            ReachRule::Searched {
                naming: most,
                files,
            } => {
                let naming = naming(server, needle, cancel);
                let n_files = naming.n_searched + naming.n_left;
                let why = match (naming.files.len() > *most, n_files > *files) {
                    (true, _) => Some(format!(
                        "{} looks into {most} files that name it and {} do",
                        server.id(),
                        naming.files.len()
                    )),
                    (false, true) => Some(format!(
                        "{} looks into {files} files and the project has {n_files}",
                        server.id()
                    )),
                    (false, false) => None,
                };
                why.map(|why| format!("{why}; another server of the language finds all of them"))
            }
        };
        if let Some(why) = why {
            opened.readiness = Readiness::Limited(why);
        }
        Ok(())
    }
}

/// Returns the whole name that a target is part of; nothing where it is no name.
pub(crate) fn word_at(text: &str, target: Target) -> Option<&str> {
    let before = &text[..target.start];
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, ch)| is_identifier(*ch))
        .last()
        .map_or(target.start, |(at, _)| at);
    let after = &text[target.start..];
    let length = after.find(|ch| !is_identifier(ch)).unwrap_or(after.len());
    let word = &text[start..target.start + length];
    (!word.is_empty()).then_some(word)
}

/// Whether a file that describes the project lies above `path`, or at the root.
fn is_described(path: &Path, root: &Path, names: &[String]) -> bool {
    path.ancestors()
        .skip(1)
        .take_while(|folder| folder.starts_with(root))
        .any(|folder| names.iter().any(|name| folder.join(name).is_file()))
}

fn advice(root: &RootRule) -> &'static str {
    match root {
        RootRule::Node => "write a tsconfig.json or jsconfig.json that includes the files",
        RootRule::Markers(_) | RootRule::Cargo | RootRule::Pubspec => {
            "have the build write it (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, meson, or bear -- make)"
        }
    }
}

/// Whether a server is one of TypeScript.
pub(crate) fn is_script(server: &Server) -> bool {
    projects::SERVERS.contains(&server.id())
}

/// Whether a server answers for a file by its name.
fn serves(server: &Server, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    server.row().language_of(&name).is_some()
}

/// Finds the files of a server's project that have the needle.
pub(crate) fn naming(server: &Server, needle: Needle<'_>, cancel: &Cancel) -> Naming {
    let serves = |path: &Path| serves(server, path);
    let options = WalkOptions {
        globs: FOREIGN.map(str::to_owned).to_vec(),
        ..WalkOptions::default()
    };
    // The globs above are well formed, so the walk begins.
    let walked = walk(&[server.root().to_path_buf()], &options, &serves, cancel);
    let mut files = walked.map(|walked| walked.files).unwrap_or_default();
    let n_left = files.len().saturating_sub(limits::LSP_SCANNED_FILES);
    files.truncate(limits::LSP_SCANNED_FILES);
    let n_searched = files.len();
    // An import may give a script's default export any name, so in a small project all files are taken.
    let is_script = server.row().root == RootRule::Node;
    let needle = match is_script && n_searched <= limits::LSP_NAMING_FILES {
        true => Needle::Any,
        false => needle,
    };
    let has = |path: &PathBuf| {
        !cancel.is_cancelled() && std::fs::read(path).is_ok_and(|text| needle.is_in(&text))
    };
    let files: Vec<PathBuf> = files.into_par_iter().filter(has).collect();
    let has_default = |path: &PathBuf| std::fs::read(path).is_ok_and(|text| exports_default(&text));
    Naming {
        is_aliased: is_script && needle != Needle::Any && files.par_iter().any(has_default),
        files,
        n_searched,
        n_left,
    }
}

/// Whether a script exports something that importers name themselves.
fn exports_default(text: &[u8]) -> bool {
    let marks: [&[u8]; 4] = [
        b"export default",
        b"as default",
        b"module.exports",
        b"export =",
    ];
    marks.iter().any(|mark| memmem::find(text, mark).is_some())
}

/// Opens the files and waits until the server has handled them. Returns why some are not known to it.
fn open(
    server: &Server,
    naming: &Naming,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Option<String>, AskError> {
    let n_files = naming.files.len();
    let mut files: Vec<&PathBuf> = naming.files.iter().collect();
    // Those that are open stay so, and cost nothing.
    files.sort_by_key(|path| server.document(path).is_none());
    files.truncate(limits::LSP_NAMING_FILES);
    let n_opened = files.len();
    let mut new = Vec::new();
    let mut unreadable = None;
    for path in files {
        match server.sync(path) {
            Ok(synced) if synced.changed => new.push(path),
            Ok(_) => {}
            Err(error @ LspError::Unreadable { .. }) => unreadable = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let mut n_unhandled = 0;
    for path in &new {
        match Instant::now() < deadline {
            true => server.handle(path, deadline, cancel)?,
            false => n_unhandled += 1,
        }
    }
    // The last of them may have been given up for the time.
    let is_late = !new.is_empty() && Instant::now() >= deadline;
    if n_opened < n_files {
        return Ok(Some(format!(
            "{} name it, of which {n_opened} were opened",
            counted(n_files, "file")
        )));
    }
    if naming.n_left > 0 {
        return Ok(Some(format!(
            "{} of the project were not searched for it",
            counted(naming.n_left, "file")
        )));
    }
    if is_late {
        let n_late = n_unhandled.max(1);
        return Ok(Some(format!(
            "{} of {n_opened} that name it were not read in time",
            n_late
        )));
    }
    if naming.is_aliased {
        let why = "a file that does not name it may import it under another name";
        return Ok(Some(why.to_owned()));
    }
    Ok(unreadable
        .map(|error| error.to_string())
        .or_else(|| missing_header(server, &naming.files)))
}

/// Names a header that a server of C does not find in one of the files: what it declares, and who uses that, is
/// not known then.
fn missing_header(server: &Server, files: &[PathBuf]) -> Option<String> {
    files.iter().find_map(|path| {
        let items = server.look(|state| Some(state.published().of(path)?.items.clone()))?;
        let missing = items.iter().find(|item| is_missing_header(item))?;
        let shown = path.strip_prefix(server.root()).unwrap_or(path);
        Some(format!("{} in {}", missing.message, shown.display()))
    })
}

impl Needle<'_> {
    pub(crate) fn is_in(self, text: &[u8]) -> bool {
        match self {
            Self::Word(word) => {
                memmem::find_iter(text, word).any(|at| is_whole(text, at, word.len()))
            }
            Self::Any => true,
            Self::Part(part) => {
                let lower = String::from_utf8_lossy(text).to_lowercase();
                memmem::find(lower.as_bytes(), part.to_lowercase().as_bytes()).is_some()
            }
        }
    }
}

/// Whether nothing that continues a name stands beside a hit. Any byte beyond ASCII may be part of one, so
/// that it is no reason to leave a file out.
fn is_whole(text: &[u8], at: usize, length: usize) -> bool {
    let joins =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = at.checked_sub(1).and_then(|at| text.get(at));
    !joins(before) && !joins(text.get(at + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_whole_and_a_part_is_any_case() {
        let word = |text: &str| Needle::Word("add").is_in(text.as_bytes());
        assert!(word("x = add(1)") && word("add") && word("é.add"));
        assert!(!word("address") && !word("my_add") && !word("add2") && !word(""));
        assert!(word("address; add"), "a later hit counts");
        let part = |text: &str| Needle::Part("dD").is_in(text.as_bytes());
        assert!(part("ADDRESS") && part("add") && !part("axd"));
    }

    #[test]
    fn a_target_is_widened_to_its_name() {
        let text = "let wörter$1 = a + b;";
        let at = |symbol: &str| {
            let start = text.find(symbol).expect("it is there");
            let end = start + symbol.len();
            word_at(text, Target { start, end })
        };
        assert_eq!(at("rter"), Some("wörter$1"));
        assert_eq!(at("wörter$1"), Some("wörter$1"));
        assert_eq!(at("a"), Some("a"));
        assert_eq!(at("+"), None);
    }
}
