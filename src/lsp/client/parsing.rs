//! What clangd parses: the documents, and what they include on a thread of its own for each.
//!
//! Until that thread is done, clangd looks at the document with what was included before, and publishes what it
//! finds under the new version all the same. It says when such a parse begins and when it has ended: every change
//! and every save begins one in each open document, also where nothing that it includes has changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::cancel::Cancel;
use crate::lsp::client::{FileChange, Server};
use crate::lsp::documents::Stamp;
use crate::lsp::error::LspError;
use crate::lsp::servers::Ready;

/// A parse begins at once when the change was taken up. One whose beginning was not told, because another was
/// just ending, is not waited for longer.
const BEGINS: Duration = Duration::from_secs(3);

/// The endings of what nobody includes.
const SOURCES: [&str; 7] = ["c", "cc", "cpp", "cxx", "m", "mm", "cu"];

/// Whether a text includes something behind its first declaration.
fn includes_late(text: &str) -> bool {
    let mut is_late = false;
    let mut in_comment = false;
    for line in text.lines() {
        let line = line.trim();
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if let Some(directive) = line.strip_prefix('#') {
            if is_late && directive.trim_start().starts_with("include") {
                return true;
            }
        } else if line.starts_with("/*") {
            in_comment = !line.contains("*/");
        } else if !line.is_empty() && !line.starts_with("//") {
            is_late = true;
        }
    }
    false
}

impl Server {
    /// Waits until what a document includes has been parsed since a moment, and the document after that; tells
    /// whether that is so before the deadline.
    pub(crate) fn parsed(
        &self,
        path: &Path,
        since: Option<Instant>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<bool, LspError> {
        self.handle(path, deadline, cancel)?;
        // An older one, or one that was told not to, never says what it does.
        if self.look(|state| state.parsing.is_empty()) {
            return Ok(Instant::now() < deadline);
        }
        let begins = deadline.min(Instant::now() + BEGINS);
        let begun = self.wait(begins, cancel, |state| {
            let begun = state.parsing.get(path).and_then(|parsing| parsing.begun);
            (begun >= since || state.gone().is_some()).then_some(())
        });
        if begun.is_none() && Instant::now() < deadline {
            // The next question does not wait for it once more.
            self.shared.update(|state| {
                if let Some(parsing) = state.parsing.get_mut(path) {
                    parsing.begun = Some(Instant::now());
                }
            });
        }
        let ended = self.wait(deadline, cancel, |state| {
            let is_running = state.parsing.get(path).is_some_and(|it| it.is_running);
            (!is_running || state.gone().is_some()).then_some(())
        });
        if ended.is_some() {
            self.handle(path, deadline, cancel)?;
        }
        Ok(ended.is_some() && Instant::now() < deadline)
    }

    /// Tells whether what a document includes is being parsed, or is about to be.
    pub(crate) fn is_parsing(&self, path: &Path) -> bool {
        let sent = self.document(path).map(|document| document.sent);
        self.look(|state| {
            let parsing = state.parsing.get(path);
            parsing.is_some_and(|it| it.is_running || it.begun < sent)
        })
    }

    /// Has all other documents parsed anew where files changed in a way that clangd does not see: it knows what is
    /// included by its size and the second in which it was written.
    pub(crate) fn renew(&self, changes: &[(PathBuf, FileChange)]) {
        if self.row().ready != Ready::BackgroundIndex || changes.is_empty() {
            return;
        }
        let mut is_alike = false;
        let mut has_header = false;
        {
            let mut documents = self.shared.documents();
            let start = SystemTime::now().checked_sub(self.started().elapsed());
            let last = documents.looked_at().or(start);
            for (path, _) in changes {
                let Some(now) = Stamp::of(path) else {
                    continue;
                };
                let before = documents.note_stamp(path, now);
                if before == Some(now) {
                    continue;
                }
                is_alike |= match before {
                    Some(before) => before.is_like(now),
                    // What was there before was written at that moment at the latest.
                    None => last.is_some_and(|last| now.is_in_second_of(last)),
                };
                let ending = path.extension().and_then(|ending| ending.to_str());
                has_header |= ending.is_none_or(|ending| !SOURCES.contains(&ending));
            }
        }
        for path in self.open_documents() {
            // What stands behind the first declaration is not among what it looks at for a change.
            let is_missed = || {
                let document = self.document(&path);
                has_header && document.is_some_and(|it| includes_late(&it.text))
            };
            let is_changed = changes.iter().any(|(changed, _)| *changed == path);
            if !is_changed && (is_alike || is_missed()) {
                // One that is gone is found out by the next question.
                let _ = self.retell(&path);
            }
        }
    }

    /// Waits until no document is parsed any more, for a question that is answered from all of them.
    pub(super) fn all_parsed(&self, deadline: Instant, cancel: &Cancel) {
        for path in self.open_documents() {
            if self.is_parsing(&path) {
                let sent = self.document(&path).map(|document| document.sent);
                // The question itself finds out what has become of the server.
                let _ = self.parsed(&path, sent, deadline, cancel);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_included_behind_a_declaration_is_late() {
        for early in [
            "",
            "#include <a.h>\n#include <b.h>\nint x;\n",
            "// c\n/* d\n   e */\n#ifndef A\n#  include <a.h>\n#endif\n",
            "int x;\n#define include 1\n",
        ] {
            assert!(!includes_late(early), "{early}");
        }
        for late in [
            "int x;\n#include <a.h>\n",
            "extern \"C\" {\n# include <a.h>\n}\n",
        ] {
            assert!(includes_late(late), "{late}");
        }
    }
}
