//! Whether a server that lists the files of its project by itself has done so since files came or went.
//!
//! Pyright and its kin look for files some time after they were told of a change, and every question puts
//! that off. They log how many they found. That they will look is known at once: told of a file that counts,
//! they ask for diagnostics to be pulled again before they answer anything else, so an unknown request sent
//! behind the news marks the moment by which that must have come.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::lsp::client::state::ServerState;
use crate::lsp::client::watch::FileChange;
use crate::lsp::client::{Shared, message};
use crate::lsp::servers::Ready;

/// What a mark is called; a number follows.
const MARK: &str = "toolbox/mark/";

/// What is known of the lists that a server made.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// How many it has logged.
    n_made: u64,
    /// How often it had asked for a pull when it logged the last one.
    refreshes_then: u64,
    /// How often it had asked for a pull when each mark was sent.
    marks: BTreeMap<String, u64>,
    n_marks: u64,
    /// Whether it will list again.
    is_due: bool,
    /// Whether it was made to read its configuration anew and has not begun to.
    is_reload_due: bool,
}

impl Listing {
    /// Tells whether every file that the server was told of is in its list.
    pub(super) fn is_complete(&self) -> bool {
        self.n_made > 0 && self.marks.is_empty() && !self.is_due && !self.is_reload_due
    }

    /// Gives up waiting for a list that does not come, except for the first.
    pub(super) fn give_up(&mut self) {
        self.marks.clear();
        self.is_due = false;
        self.is_reload_due = false;
    }

    /// Takes note that the server is about to be made to read its configuration anew.
    pub(super) fn reload(&mut self) {
        self.is_reload_due = true;
    }

    /// The server asks for its settings: what it lists from here on is by its new configuration.
    pub(super) fn on_configuration(&mut self) {
        if std::mem::take(&mut self.is_reload_due) {
            self.is_due = true;
        }
    }

    fn on_reply(&mut self, id: &str, refreshes: u64) {
        let Some(before) = self.marks.remove(id) else {
            return;
        };
        let has_listed = self.refreshes_then > before;
        self.is_due |= refreshes > before && !has_listed;
    }

    fn on_list(&mut self, refreshes: u64) {
        self.n_made += 1;
        self.refreshes_then = refreshes;
        self.is_due = false;
    }
}

impl ServerState {
    /// Takes a log line; it may be the one that a list leaves.
    pub(super) fn on_log(&mut self, text: &str) {
        let found = text.strip_prefix("Found ");
        let is_list = found
            .is_some_and(|rest| rest.ends_with(" source files") || rest.ends_with(" source file"));
        if is_list || text.starts_with("No source files found") {
            let refreshes = self.refreshes;
            self.listing.on_list(refreshes);
        }
    }

    /// Takes the answer to a mark.
    pub(super) fn on_mark(&mut self, id: &str) {
        let refreshes = self.refreshes;
        self.listing.on_reply(id, refreshes);
    }
}

impl Shared {
    /// Sends a mark behind the news of files that came or went, where that may change the server's list.
    pub(super) fn mark(&self, changes: &[&(PathBuf, FileChange)], refreshes: u64) {
        let row = &self.launch.row;
        let counts = changes
            .iter()
            .any(|(_, change)| *change != FileChange::Changed);
        if row.ready != Ready::Listing || !counts {
            return;
        }
        let id = self.update(|state| {
            state.listing.n_marks += 1;
            let id = format!("{MARK}{}", state.listing.n_marks);
            state.listing.marks.insert(id.clone(), refreshes);
            id
        });
        let mut request = message(None, "$/toolbox/mark", Value::Null);
        request["id"] = json!(id);
        // A server that is gone has no list.
        let _ = self.send(&request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ServerState {
        let mut state = ServerState::new(PathBuf::from("/"));
        assert!(!state.listing.is_complete(), "it has listed nothing yet");
        state.on_log("Found 12 source files");
        assert!(state.listing.is_complete());
        state
    }

    fn told(state: &mut ServerState) {
        let refreshes = state.refreshes;
        state.listing.marks.insert("m".to_owned(), refreshes);
    }

    #[test]
    fn a_log_line_about_anything_else_is_no_list() {
        let mut state = ServerState::new(PathBuf::from("/"));
        for text in [
            "Found 3 errors",
            "Searching for source files",
            "source files",
        ] {
            state.on_log(text);
            assert!(!state.listing.is_complete(), "{text}");
        }
        state.on_log("No source files found.");
        assert!(state.listing.is_complete());
    }

    // A server that cares for the news asks for a pull before it answers the mark, and lists later.
    #[test]
    fn news_that_counts_make_a_list_due_and_others_do_not() {
        let mut state = state();
        told(&mut state);
        assert!(!state.listing.is_complete(), "it may not have heard yet");
        state.on_mark("m");
        assert!(state.listing.is_complete(), "the file is none of its own");

        told(&mut state);
        state.refreshes += 1;
        state.on_mark("m");
        assert!(!state.listing.is_complete(), "it will list");
        state.on_log("Found 1 source file");
        assert!(state.listing.is_complete());
    }

    // What it lists before it has asked for its settings is by the old configuration.
    #[test]
    fn only_a_list_made_by_the_new_configuration_counts() {
        let mut state = state();
        state.listing.on_configuration();
        assert!(state.listing.is_complete(), "it asked for another reason");
        state.listing.reload();
        state.on_log("Found 12 source files");
        assert!(!state.listing.is_complete());
        state.listing.on_configuration();
        state.listing.on_configuration();
        assert!(!state.listing.is_complete());
        state.on_log("Found 3 source files");
        assert!(state.listing.is_complete());
        state.listing.reload();
        state.listing.give_up();
        assert!(state.listing.is_complete(), "it does not come");
    }

    // A list under way when the news came lacks the file; one that was made for them has it.
    #[test]
    fn only_a_list_made_after_the_news_counts() {
        let mut state = state();
        told(&mut state);
        state.on_log("Found 12 source files");
        state.refreshes += 1;
        state.on_mark("m");
        assert!(!state.listing.is_complete());
        state.on_log("Found 13 source files");
        assert!(state.listing.is_complete());

        told(&mut state);
        state.refreshes += 1;
        state.on_log("Found 14 source files");
        state.on_mark("m");
        assert!(state.listing.is_complete());
    }
}
