//! Keeping a server's documents equal to the files on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::limits;
use crate::lsp::client::watch::FileChange;
use crate::lsp::client::{Server, Shared};
use crate::lsp::documents::{Content, Document, Documents, Stamp};
use crate::lsp::error::LspError;
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
        let documents = self.shared.documents();
        let Some(document) = documents.get(path) else {
            return Ok(());
        };
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
        let uri = uri::from_path(path);
        if was_open {
            // The whole text is a valid change for servers that sync by change too.
            self.notify(
                "textDocument/didChange",
                json!({
                    "textDocument": {"uri": uri, "version": version},
                    "contentChanges": [{"text": &*text}]
                }),
            )?;
        } else {
            self.notify(
                "textDocument/didOpen",
                json!({"textDocument": {
                    "uri": uri,
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
        self.update(|state| state.published.forget_clean(path));
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
