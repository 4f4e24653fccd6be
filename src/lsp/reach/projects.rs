//! The projects of TypeScript that lie side by side under one root.
//!
//! Servers of TypeScript answer from the projects that are loaded, and load one when a file of it is opened. One
//! tells which files a project has, so that of the files that name what is asked about only those are opened that
//! no loaded project has: one of each further project, and those that no `tsconfig.json` takes in. Of another it is
//! taken that a project has what lies below its `tsconfig.json`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;
use serde_json::json;

use super::{FOREIGN, Needle, exports_default, serves};
use crate::cancel::Cancel;
use crate::limits;
use crate::lsp::client::Server;
use crate::lsp::error::LspError;
use crate::lsp::question::{AskError, Opened};
use crate::lsp::supervisor::Supervisor;
use crate::text::counted;
use crate::workspace::lexical;

/// The server that tells, and looks for some things in one project alone.
pub(super) const TELLS: &str = "typescript-language-server";

/// The servers that this is about.
pub(super) const SERVERS: [&str; 2] = [TELLS, "tsc"];

/// What came of loading.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Whether anything was opened.
    pub(super) has_opened: bool,
    /// Why something that matters is not loaded.
    pub(super) lack: Option<String>,
    /// Why an answer from the project of the file alone may miss something.
    pub(super) beyond: Option<String>,
    /// An open file of each further project.
    pub(super) beside: Vec<PathBuf>,
}

/// The files of a project.
struct Project {
    /// The file that describes it, or a name that the server made up.
    name: String,
    files: BTreeSet<PathBuf>,
}

/// Opens a file of every project that names what is asked about.
pub(super) fn load(
    supervisor: &Supervisor,
    opened: &Opened,
    needle: Needle<'_>,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Loaded, AskError> {
    let server = &*opened.server;
    let (mut outside, n_unseen) = sources(supervisor, server);
    let all = match server.id() == TELLS {
        true => Vec::new(),
        false => outside.clone(),
    };
    let of = |path: &Path| match server.id() == TELLS {
        true => project(server, path, deadline, cancel),
        false => Ok(Some(described(server.root(), path, &all))),
    };
    let Some(own) = of(&opened.path)? else {
        // An older version does not tell.
        return Ok(Loaded::default());
    };
    outside.retain(|path| !own.files.contains(path));
    let naming = naming(&outside, &opened.text, needle);
    let mut loaded = Loaded::default();
    if n_unseen > 0 {
        let unseen = counted(n_unseen, "file");
        loaded.lack = Some(format!("{unseen} of the project were not searched for it"));
    }
    if naming.is_empty() {
        return Ok(loaded);
    }
    let config = Path::new(&own.name);
    let shown = match config.is_file() {
        true => supervisor.workspace().display(config),
        false => "the file and what it imports".to_owned(),
    };
    let beyond = format!(
        "{TELLS} looks for this in one project alone ({shown}), and {} outside of it may use it; `references` \
         looks there, too",
        counted(naming.len(), "file")
    );
    loaded.beyond = (server.id() == TELLS).then_some(beyond);
    let mut known = own.files;
    let mut n_opened = 0;
    let mut n_left = 0;
    // Those that are open stay so, and cost nothing.
    let is_open = |path: &PathBuf| server.document(path).is_some();
    let (open, closed): (Vec<PathBuf>, Vec<PathBuf>) = naming.into_iter().partition(is_open);
    for path in open.into_iter().chain(closed) {
        if known.contains(&path) {
            continue;
        }
        let is_late = Instant::now() >= deadline || cancel.is_cancelled();
        if n_opened == limits::LSP_NAMING_FILES || is_late {
            n_left += 1;
            continue;
        }
        n_opened += 1;
        match server.sync(&path) {
            Ok(synced) => loaded.has_opened |= synced.changed,
            Err(error @ LspError::Unreadable { .. }) => {
                loaded.lack = Some(error.to_string());
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        match of(&path)? {
            Some(project) => {
                known.extend(project.files);
                loaded.beside.push(path);
            }
            None => n_left += 1,
        }
    }
    if n_left > 0 {
        loaded.lack = Some(format!(
            "{} that may use it belong to projects that are not loaded, because there are too many or loading \
             takes too long",
            counted(n_left, "file")
        ));
    }
    Ok(loaded)
}

/// Why an answer misses something where files of the workspace outside of the server's root import from it and
/// name what is asked about: another server has them. Two packages side by side are so, where nothing above
/// them says that they belong together.
pub(super) fn importers(
    supervisor: &Supervisor,
    opened: &Opened,
    needle: Needle<'_>,
) -> Option<String> {
    let server = &*opened.server;
    let root = server.root();
    if matches!(needle, Needle::Part(_)) || supervisor.workspace().root() == root {
        return None;
    }
    let (files, _) = supervisor
        .inner()
        .files_below(supervisor.workspace().root());
    let outside = files.into_par_iter().filter(|path| {
        !path.starts_with(root)
            && serves(server, path)
            && std::fs::read(path)
                .is_ok_and(|text| needle.is_in(&text) && imports_from(path, &text, root))
    });
    let mut outside: Vec<PathBuf> = outside.collect();
    outside.sort();
    let first = outside.first()?;
    let shown = |path: &Path| supervisor.workspace().display(path);
    Some(format!(
        "{} knows what is in {}, and {} outside of it {} from there and may use it ({}); name both folders in \
         `workspaces` of a package.json above them, or in `references` of a tsconfig.json",
        server.id(),
        shown(root),
        counted(outside.len(), "file"),
        if outside.len() == 1 {
            "imports"
        } else {
            "import"
        },
        shown(first)
    ))
}

/// Whether a script has a string that is the relative path of something below a folder.
fn imports_from(path: &Path, text: &[u8], folder: &Path) -> bool {
    let Some(here) = path.parent() else {
        return false;
    };
    let quotes = memchr::memchr3_iter(b'"', b'\'', b'`', text);
    quotes
        .filter(|at| text.get(at + 1) == Some(&b'.'))
        .any(|at| {
            let rest = &text[at + 1..text.len().min(at + 1 + LONGEST_IMPORT)];
            let end = rest.iter().position(|byte| *byte == text[at]);
            let name = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
            name.is_some_and(|name| lexical(&here.join(name)).starts_with(folder))
        })
}

/// Longer strings are no paths of imports.
const LONGEST_IMPORT: usize = 1000;

/// The sources below the root, and how many were never looked at.
fn sources(supervisor: &Supervisor, server: &Server) -> (Vec<PathBuf>, usize) {
    let (mut files, n_unseen) = supervisor.inner().files_below(server.root());
    let is_foreign = |name: &str| {
        FOREIGN
            .iter()
            .any(|glob| glob.strip_prefix('!') == Some(name))
    };
    files.retain(|path| {
        let inside = path.strip_prefix(server.root()).unwrap_or(path);
        let mut parts = inside.iter().filter_map(|part| part.to_str());
        serves(server, path) && !parts.any(is_foreign)
    });
    (files, n_unseen)
}

/// Those of the files that may use what is asked about. Who imports a default export gives it any name.
fn naming(files: &[PathBuf], text: &str, needle: Needle<'_>) -> Vec<PathBuf> {
    let read: Vec<(&PathBuf, Vec<u8>)> = files
        .par_iter()
        .filter_map(|path| Some((path, std::fs::read(path).ok()?)))
        .collect();
    let is_aliased = |text: &[u8]| needle.is_in(text) && exports_default(text);
    let is_any = matches!(needle, Needle::Word(_))
        && (is_aliased(text.as_bytes()) || read.par_iter().any(|(_, text)| is_aliased(text)));
    let naming = read
        .into_par_iter()
        .filter(|(_, text)| is_any || needle.is_in(text));
    naming.map(|(path, _)| path.clone()).collect()
}

/// The project of the nearest configuration above a file.
fn described(root: &Path, path: &Path, all: &[PathBuf]) -> Project {
    let nearest = |path: &Path| {
        let folders = path.ancestors().skip(1);
        let mut folders = folders.take_while(|folder| folder.starts_with(root));
        folders.find_map(|folder| {
            let names = ["tsconfig.json", "jsconfig.json"];
            let mut files = names.into_iter().map(|name| folder.join(name));
            files.find(|file| file.is_file())
        })
    };
    let config = nearest(path);
    let files = all.iter().filter(|other| nearest(other) == config);
    Project {
        files: files.cloned().collect(),
        name: config.unwrap_or_default().to_string_lossy().into_owned(),
    }
}

/// Asks which project a file is in that is open; nothing where the server does not say.
fn project(
    server: &Server,
    path: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Option<Project>, AskError> {
    let params = json!({
        "command": "typescript.tsserverRequest",
        "arguments": ["projectInfo", {"file": path.to_string_lossy(), "needFileNameList": true}],
    });
    let reply = match server.request("workspace/executeCommand", params, deadline, cancel) {
        Ok(reply) => reply,
        Err(error @ (LspError::Gone { .. } | LspError::Cancelled)) => return Err(error.into()),
        Err(LspError::Refused { .. } | LspError::TimedOut { .. } | LspError::Unreadable { .. }) => {
            return Ok(None);
        }
    };
    let body = &reply["body"];
    let files = body["fileNames"].as_array().map(|files| {
        let paths = files.iter().filter_map(|file| file.as_str());
        paths.map(PathBuf::from).collect()
    });
    let name = body["configFileName"].as_str().unwrap_or_default();
    Ok(files.map(|files| Project {
        name: name.to_owned(),
        files,
    }))
}
