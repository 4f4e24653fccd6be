//! Keeping a server's documents equal to the files on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::limits;
use crate::lsp::client::watch::FileChange;
use crate::lsp::client::{Server, Shared};
use crate::lsp::documents::{Content, Document, Documents, Save, Stamp};
use crate::lsp::error::LspError;
use crate::lsp::servers::Ready;
use crate::lsp::uri;

/// A document as the server has it after a sync.
#[derive(Clone, Debug)]
pub struct Synced {
    /// The version that the server was told.
    pub version: i64,
    /// The text that it has, without a byte order mark.
    pub text: Arc<str>,
    /// Whether the server was told anything: the document was opened or its text had changed.
    pub changed: bool,
}

impl Server {
    /// Opens a file, or gives the server its present content where that has changed (R31).
    ///
    /// The file is read; it must exist and be UTF-8.
    pub fn sync(&self, path: &Path) -> Result<Synced, LspError> {
        self.shared.touch();
        let mut documents = self.shared.documents();
        let synced = self.shared.sync(&mut documents, path);
        documents.touch(path);
        synced
    }

    /// Brings every open document up to its file, and closes those whose file is gone. Returns what
    /// changed.
    pub fn sync_open(&self) -> Vec<PathBuf> {
        let mut documents = self.shared.documents();
        let mut changed = Vec::new();
        for path in documents.suspects() {
            match self.shared.sync(&mut documents, &path) {
                Ok(synced) if !synced.changed => {}
                Ok(_) => changed.push(path),
                Err(_) => {
                    // It is gone, or no text any more: the server shall look for itself.
                    self.shared.close(&mut documents, &path);
                    changed.push(path);
                }
            }
        }
        changed
    }

    /// Tells the server that a file was saved, where it wants to hear that.
    pub fn save(&self, path: &Path) -> Result<(), LspError> {
        let mut documents = self.shared.documents();
        let Some(document) = documents.get(path).cloned() else {
            return Ok(());
        };
        documents.saved();
        let save = {
            let state = self.shared.lock();
            let options = state.capabilities["textDocumentSync"]["save"].clone();
            match options {
                Value::Null => state.provider("none", "textDocument/didSave"),
                options => Some(options),
            }
        };
        let mut params = json!({"textDocument": {"uri": uri::from_path(path)}});
        if save.is_some_and(|options| options["includeText"] == json!(true)) {
            params["text"] = json!(&*document.text);
        }
        // It is told also where nothing was said of saving: older servers take it for granted.
        self.shared.notify("textDocument/didSave", params)
    }

    /// Returns the last save that the server was told of.
    pub(crate) fn last_save(&self) -> Option<Save> {
        self.shared.documents().last_save()
    }

    /// Notes that files of its project changed on disk: what it said before may not hold any more.
    pub(crate) fn stir(&self) {
        self.shared.documents().stir();
    }

    /// Takes a document for one that was given to the server after the last change.
    pub(crate) fn settle_stir(&self, path: &Path) {
        self.shared.documents().settle_stir(path);
    }

    /// Tells whether files of the project changed since the server was given the text of a document.
    pub(crate) fn is_stirred(&self, path: &Path) -> bool {
        self.shared.documents().is_stirred(path)
    }

    /// Gives the server the text of an open document once more, so that it looks at it again; returns the
    /// version that this has.
    pub(crate) fn retell(&self, path: &Path) -> Result<i64, LspError> {
        let mut documents = self.shared.documents();
        let version = documents.retell(path);
        let (Some(version), Some(document)) = (version, documents.get(path)) else {
            return Err(LspError::unreadable(path, "it is not open"));
        };
        let mut params = change(path, version, &document.text);
        // A text that is the same is no reason for clangd to look at the headers again; this is:
        // https://clangd.llvm.org/extensions#force-diagnostics-generation
        if self.row().ready == Ready::BackgroundIndex {
            params["forceRebuild"] = json!(true);
            params["wantDiagnostics"] = json!(true);
        }
        self.shared.notify("textDocument/didChange", params)?;
        Ok(version)
    }

    /// Gives the server the content of a file that is not open, and leaves it so. A server that only hears
    /// that the file changed reads it in its own time, and answers from the old content until then.
    pub(crate) fn present(&self, path: &Path) -> Result<(), LspError> {
        // Nothing else may open or close it in between.
        let documents = self.shared.documents();
        if documents.get(path).is_some() {
            return Ok(());
        }
        let content = Content::read(path)?;
        let uri = uri::from_path(path);
        self.shared.notify(
            "textDocument/didOpen",
            json!({"textDocument": {
                "uri": uri,
                "languageId": self.shared.language_of(path),
                "version": 1,
                "text": &*content.text
            }}),
        )?;
        self.shared.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        )
    }

    /// Closes a document.
    pub fn close(&self, path: &Path) {
        self.shared.close(&mut self.shared.documents(), path);
    }

    /// Returns a document as the server has it.
    pub fn document(&self, path: &Path) -> Option<Document> {
        self.shared.documents().get(path).cloned()
    }

    /// Returns the paths of the open documents, sorted.
    pub fn open_documents(&self) -> Vec<PathBuf> {
        self.shared.documents().paths()
    }

    /// Returns the paths of the open documents, the one that was asked about last first.
    pub(crate) fn recent_documents(&self) -> Vec<PathBuf> {
        let mut recent = self.shared.documents().excess(0);
        recent.reverse();
        recent
    }

    /// Tells the server which files changed on disk, as far as it registered for them.
    pub fn watched_files(&self, changes: &[(PathBuf, FileChange)]) -> Result<(), LspError> {
        let (wanted, refreshes) = {
            let state = self.shared.lock();
            let wants =
                |(path, change): &&(PathBuf, FileChange)| state.watchers.want(path, *change);
            let wanted: Vec<&(PathBuf, FileChange)> = changes.iter().filter(wants).collect();
            (wanted, state.refreshes)
        };
        if wanted.is_empty() {
            return Ok(());
        }
        let told: Vec<Value> = wanted
            .iter()
            .map(|(path, change)| json!({"uri": uri::from_path(path), "type": *change as u8}))
            .collect();
        self.shared
            .notify("workspace/didChangeWatchedFiles", json!({"changes": told}))?;
        self.shared.mark(&wanted, refreshes);
        Ok(())
    }

    /// Tells the server that files were renamed: the old documents are closed, and it hears of the rename
    /// where it asked to.
    pub fn did_rename(&self, renames: &[(PathBuf, PathBuf)]) -> Result<(), LspError> {
        for (from, _) in renames {
            self.close(from);
        }
        let wants = {
            let state = self.shared.lock();
            let operations = &state.capabilities["workspace"]["fileOperations"]["didRename"];
            !operations.is_null() || state.provider("none", "workspace/didRenameFiles").is_some()
        };
        if !wants {
            return Ok(());
        }
        let files: Vec<Value> = renames
            .iter()
            .map(|(from, to)| json!({"oldUri": uri::from_path(from), "newUri": uri::from_path(to)}))
            .collect();
        self.shared
            .notify("workspace/didRenameFiles", json!({"files": files}))
    }

    /// Tells whether the server watches any files through this client.
    pub(crate) fn is_watching(&self) -> bool {
        !self.shared.lock().watchers.is_empty()
    }
}

impl Shared {
    fn sync(&self, documents: &mut Documents, path: &Path) -> Result<Synced, LspError> {
        let content = Content::read(path)?;
        if let Some(document) = documents.get(path)
            && document.hash == content.hash
        {
            let synced = Synced {
                version: document.version,
                text: Arc::clone(&document.text),
                changed: false,
            };
            documents.restamp(path, content.stamp);
            return Ok(synced);
        }
        let was_open = documents.get(path).is_some();
        let text = Arc::clone(&content.text);
        let version = documents.put(path, content);
        if was_open {
            self.notify("textDocument/didChange", change(path, version, &text))?;
        } else {
            self.notify(
                "textDocument/didOpen",
                json!({"textDocument": {
                    "uri": uri::from_path(path),
                    "languageId": self.language_of(path),
                    "version": version,
                    "text": &*text
                }}),
            )?;
            self.update(|state| state.n_opened += 1);
            for excess in documents.excess(limits::LSP_DOCUMENTS) {
                self.close(documents, &excess);
            }
        }
        Ok(Synced {
            version,
            text,
            changed: true,
        })
    }

    fn close(&self, documents: &mut Documents, path: &Path) {
        if documents.remove(path).is_none() {
            return;
        }
        // A server that is gone has nothing open.
        let _ = self.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri::from_path(path)}}),
        );
        self.update(|state| {
            state.parsing.remove(path);
            state.published.forget_clean(path);
        });
        if Stamp::of(path).is_none() {
            self.update(|state| state.published.forget(path));
        }
    }

    fn language_of(&self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let language = self.launch.row.language_of(&name);
        language.unwrap_or("plaintext").to_owned()
    }
}

/// The parameters that give a document a new text; the whole of it is a valid change for servers that sync by
/// change, too.
fn change(path: &Path, version: i64, text: &str) -> Value {
    json!({
        "textDocument": {"uri": uri::from_path(path), "version": version},
        "contentChanges": [{"text": text}]
    })
}
