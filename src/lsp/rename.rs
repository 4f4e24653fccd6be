//! Renaming a symbol: asked of its server, planned in memory; nothing is written here (R38).
//!
//! A server that has not loaded its project renames in the one file that it knows and says nothing of it,
//! so an incomplete index is a refusal and not a remark.

mod origin;
mod text;
mod uses;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::files::ContentHash;
use crate::limits;
use crate::lsp::client::{FileChange, Readiness, Server};
use crate::lsp::convert::Lines;
use crate::lsp::edits::{Change, Context, EditError, OpenDocument, Planned, plan};
use crate::lsp::error::{LspError, METHOD_NOT_FOUND};
use crate::lsp::names::{self, NameError};
use crate::lsp::question::{AskError, Opened, Spot};
use crate::lsp::reach::{Extent, Needle, word_at};
use crate::lsp::servers::Ready;
use crate::lsp::supervisor::Supervisor;
use crate::lsp::symbol::Target;
use crate::lsp::uri;

use origin::from_origin;

/// Why a symbol is not renamed; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenameError {
    /// The question could not be asked, or was not answered.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The server has not loaded the project, so a rename would miss files.
    #[error("{server} would rename only what it has indexed so far (index incomplete: {why})")]
    Incomplete {
        /// The server.
        server: String,
        /// What is under way.
        why: String,
    },
    /// The server does not know all of the project and never will as it is, so a rename would miss files.
    #[error("{server} would not rename every use (index incomplete: {why})")]
    Limited {
        /// The server.
        server: String,
        /// Why, and what helps.
        why: String,
    },
    /// The new name is none in the language of the file.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The server does not rename this.
    #[error("{server} cannot rename '{symbol}' here{}", said(reason))]
    NotRenamable {
        /// The server.
        server: String,
        /// The symbol.
        symbol: String,
        /// Its own words, if it had any.
        reason: String,
    },
    /// The edit changes nothing.
    #[error("{server} found nothing to rename for '{symbol}'")]
    Nothing {
        /// The server.
        server: String,
        /// The symbol.
        symbol: String,
    },
    /// The edit cannot be made.
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// A rename that is ready to be committed.
#[derive(Debug)]
pub struct Rename {
    /// What is to be done.
    pub planned: Planned,
    /// The whole name that goes away.
    pub name: String,
    /// Who made it, and must hear of it afterwards.
    server: Arc<Server>,
}

fn said(reason: &str) -> String {
    match reason.is_empty() {
        true => String::new(),
        false => format!(": {reason}"),
    }
}

/// Asks for a rename and plans it.
pub fn rename(
    supervisor: &Supervisor,
    spot: Spot<'_>,
    new_name: &str,
    cancel: &Cancel,
) -> Result<Rename, RenameError> {
    supervisor.check_spot(spot)?;
    // What is no name is refused at once, however long the server still takes to load.
    let mut opened = supervisor.open_now(spot.path, cancel)?;
    let target = supervisor.locate(&opened, spot).map_err(AskError::from)?;
    check_name(supervisor, &opened, target, new_name, cancel)?;
    let deadline = supervisor.ready_deadline(opened.begun);
    let ready = opened.server.wait_ready(spot.path, deadline, cancel);
    opened.readiness = ready.map_err(AskError::from)?;
    opened.needs("renameProvider", "textDocument/rename", "rename")?;
    supervisor.widen_for(&mut opened, target, cancel)?;
    supervisor.load_projects_for(&mut opened, target, Extent::Projects, cancel)?;
    let server = &opened.server;
    // A server that has loaded the project and complains of something beside it may still know every use in
    // the project: what it answers is looked at below.
    let server_id = || server.id().to_owned();
    match opened.readiness.clone() {
        Readiness::Ready => {}
        Readiness::Incomplete(why) => {
            let server = server_id();
            return Err(RenameError::Incomplete { server, why });
        }
        Readiness::Limited(why) => {
            let server = server_id();
            return Err(RenameError::Limited { server, why });
        }
    }
    let deadline = opened.begun + limits::RENAME_TIME.max(supervisor.options().timeouts.request);
    let refused = |reason: String| RenameError::NotRenamable {
        server: server.id().to_owned(),
        symbol: spot.symbol.to_owned(),
        reason,
    };
    prepare(&opened, target, spot.symbol, deadline, cancel).map_err(|problem| match problem {
        Problem::Refused(reason) => refused(reason),
        Problem::Server(error) => AskError::from(error).into(),
    })?;
    let edit = match from_origin(supervisor, &opened, target, new_name, deadline, cancel) {
        Some(edit) => edit,
        None => {
            let mut params = opened.at(target);
            params["newName"] = json!(new_name);
            match ask(server, "textDocument/rename", &params, deadline, cancel) {
                Ok(edit) => edit,
                Err(LspError::Refused { message, .. }) => return Err(refused(message)),
                Err(error) => return Err(AskError::from(error).into()),
            }
        }
    };
    let context = Context {
        workspace: supervisor.workspace(),
        encoding: server.encoding(),
        open: &|path| open_document(server, path),
    };
    let mut planned = plan(&edit, &context)?;
    let name = word_at(&opened.text, target)
        .unwrap_or(spot.symbol)
        .to_owned();
    let complaint = server.complaint();
    let complaint = complaint.filter(|_| server.row().ready == Ready::Quiescent);
    if let Some(complaint) = complaint {
        let places = uses::unknown(supervisor, &opened, &name, &edit, deadline, cancel)?;
        if let Some(places) = places {
            let server = server_id();
            let cause = complaint.lines().next().unwrap_or_default();
            let why = format!("{places}: {cause}");
            return Err(RenameError::Limited { server, why });
        }
    } else {
        let gap = opened.incomplete();
        let why = gap.map(|gap| gap.why().to_owned());
        planned.to_confirm.extend(why);
    }
    if planned.operations.is_empty() {
        return Err(RenameError::Nothing {
            server: server.id().to_owned(),
            symbol: spot.symbol.to_owned(),
        });
    }
    Ok(Rename {
        planned,
        name,
        server: Arc::clone(server),
    })
}

/// Refuses a name that would break the code: not every server does.
fn check_name(
    supervisor: &Supervisor,
    opened: &Opened,
    target: Target,
    new_name: &str,
    cancel: &Cancel,
) -> Result<(), RenameError> {
    let file = opened
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let language = opened.server.row().language_of(&file).unwrap_or_default();
    match names::check(language, &opened.text, target.start, new_name) {
        // A member may have the name of a keyword; whether it is one only its declaration tells.
        Err(NameError::Reserved { .. }) if is_member(supervisor, opened, target, cancel) => Ok(()),
        res => Ok(res?),
    }
}

/// Whether what stands at a place is declared there as a member of something.
fn is_member(supervisor: &Supervisor, opened: &Opened, target: Target, cancel: &Cancel) -> bool {
    const MEMBERS: [u64; 4] = [6, 7, 8, 22];
    let method = "textDocument/documentSymbol";
    let params = json!({"textDocument": {"uri": uri::from_path(&opened.path)}});
    let deadline = supervisor.request_deadline(opened);
    let Ok(symbols) = opened.server.query(method, params, deadline, cancel) else {
        return false;
    };
    let at = opened.at(target)["position"].take();
    let mut left: Vec<&Value> = symbols.as_array().into_iter().flatten().collect();
    while let Some(symbol) = left.pop() {
        let kind = symbol["kind"].as_u64().unwrap_or_default();
        if symbol["selectionRange"]["start"] == at && MEMBERS.contains(&kind) {
            return true;
        }
        left.extend(symbol["children"].as_array().into_iter().flatten());
    }
    false
}

impl Rename {
    /// Returns the lines of the changed files on which a name stood before, in code or not.
    pub fn taken<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a Path, usize)> {
        let files = self.planned.files.iter();
        files.flat_map(move |file| {
            let lines = file.old.lines().enumerate();
            let named = lines.filter(move |(_, line)| Needle::Word(name).is_in(line.as_bytes()));
            named.map(|(at, _)| (file.path.as_path(), at + 1))
        })
    }

    /// Tells the servers of what was committed: renamed files, new texts, saves. The observer of the commit
    /// may have told them part of it; texts that they have already are not sent again.
    pub fn announce(&self, supervisor: &Supervisor, cancel: &Cancel) {
        let files = &self.planned.files;
        let renames: Vec<(PathBuf, PathBuf)> = files
            .iter()
            .filter_map(|file| Some((file.from.clone()?, file.path.clone())))
            .collect();
        let mut changes = Vec::new();
        for file in files {
            let change = match file.change {
                Change::Added | Change::Moved => FileChange::Created,
                Change::Modified => FileChange::Changed,
                Change::Deleted => FileChange::Deleted,
            };
            changes.push((file.path.clone(), change));
            changes.extend(file.from.clone().map(|from| (from, FileChange::Deleted)));
        }
        for server in supervisor.servers() {
            if !renames.is_empty() {
                // A server that is gone hears of nothing.
                let _ = server.did_rename(&renames);
            }
            let is_its_own = Arc::ptr_eq(&server, &self.server);
            // clangd never looks at a file again that it has indexed and that nobody opens.
            let opens = is_its_own && server.row().ready == Ready::BackgroundIndex;
            let mut absorbed = Vec::new();
            for (n, file) in files.iter().enumerate() {
                match file.change {
                    Change::Deleted => server.close(&file.path),
                    Change::Added | Change::Modified | Change::Moved => {
                        let is_open = server.document(&file.path).is_some();
                        let is_new = is_its_own && file.from.is_some();
                        let is_opened = is_open || is_new || (opens && n < limits::WRITE_OPENED);
                        if is_opened && server.sync(&file.path).is_ok_and(|synced| synced.changed) {
                            let _ = server.save(&file.path);
                        }
                        if is_opened {
                            absorbed.push(file.path.clone());
                        }
                    }
                }
            }
            if is_its_own {
                server.renew(&changes);
                server.absorb(&absorbed, cancel);
            }
        }
        supervisor.files_changed(&changes);
    }
}

fn open_document(server: &Server, path: &Path) -> Option<OpenDocument> {
    let document = server.document(path)?;
    let hash: ContentHash = document.hash;
    Some(OpenDocument {
        version: document.version,
        hash,
    })
}

enum Problem {
    Refused(String),
    Server(LspError),
}

/// Asks whether the symbol can be renamed at all, where the server offers that.
fn prepare(
    opened: &Opened,
    target: Target,
    symbol: &str,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(), Problem> {
    let server = &opened.server;
    let offers = server.capabilities()["renameProvider"]["prepareProvider"] == json!(true);
    if !offers {
        return Ok(());
    }
    let method = "textDocument/prepareRename";
    let answer = match ask(server, method, &opened.at(target), deadline, cancel) {
        Ok(answer) => answer,
        Err(LspError::Refused {
            code: METHOD_NOT_FOUND,
            ..
        }) => return Ok(()),
        Err(LspError::Refused { message, .. }) => return Err(Problem::Refused(message)),
        Err(error) => return Err(Problem::Server(error)),
    };
    if answer.is_null() {
        return Err(Problem::Refused(
            "it is no symbol that can be renamed".to_owned(),
        ));
    }
    let range = match answer.get("range") {
        Some(range) => range,
        None => &answer,
    };
    let Ok(range) = serde_json::from_value::<lsp_types::Range>(range.clone()) else {
        // `defaultBehavior`: the client finds the word itself, as it has.
        return Ok(());
    };
    // What the server would rename must be what was named, or another symbol beside it changes.
    let range = Lines::new(&opened.text).range(range, server.encoding());
    if target.start < range.start || target.start > range.end {
        let other = opened.text.get(range).unwrap_or_default();
        return Err(Problem::Refused(format!(
            "it would rename '{other}' instead of '{symbol}'"
        )));
    }
    Ok(())
}

/// Asking for a rename changes nothing, so it may be repeated like any reading request.
fn ask(
    server: &Server,
    method: &str,
    params: &Value,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<Value, LspError> {
    server.query(method, params.clone(), deadline, cancel)
}
