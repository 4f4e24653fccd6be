//! What a server complains about, and what the user can do about it.
//!
//! A complaint stays as long as its cause does. Some come by the protocol and end by it; others are only
//! written to standard error, and end when the project's own file that they speak of changes.

use crate::child::Env;
use crate::lsp::client::Server;
use crate::lsp::detect::lacks_tool;
use crate::lsp::servers::ServerRow;
use crate::text::clip;

/// What to do where rust-analyzer has no standard library. It answers for everything else.
const NO_STD: &str = "rust-analyzer does not have the sources of the standard library, so what is in it is \
                      not found, nor what is passed to its macros; run `rustup component add rust-src` (or \
                      install your system's package of it), then `reload`";

/// The same when it was told before.
const STILL_NO_STD: &str =
    "rust-analyzer still does not have the sources of the standard library (rust-src)";

/// Bytes of a complaint on standard error that are told.
const COMPLAINT_BYTES: usize = 400;

/// So much of what was on standard error is remembered to know what came later.
const REMEMBERED_BYTES: usize = 400;

/// Puts the next step into a complaint that has one.
pub(super) fn with_next_step(message: String, row: &ServerRow, env: &Env) -> String {
    if message.contains("has sysroot errors") {
        return format!("{NO_STD}\n{message}");
    }
    let is_unloaded = message.contains("Failed to load workspaces");
    let lack = is_unloaded.then(|| lacks_tool(row, env)).flatten();
    lack.unwrap_or(message)
}

impl Server {
    /// Returns what it complains about now, told or not.
    pub(crate) fn complaint(&self) -> Option<String> {
        let health = self.shared.lock().health.clone();
        health.or_else(|| self.written_complaint())
    }

    /// Returns what it complains about in one line. A complaint that was told before may be shorter.
    pub(crate) fn health(&self) -> Option<String> {
        let health = self.complaint()?;
        let mut state = self.shared.lock();
        let was_told = state.told_health.as_ref() == Some(&health);
        let line = match was_told && health.starts_with(NO_STD) {
            true => STILL_NO_STD.to_owned(),
            false => health.lines().next()?.to_owned(),
        };
        state.told_health = Some(health);
        Some(line)
    }

    /// Tells whether it does not know the standard library of its language: then it does not know the types
    /// of most expressions either, nor what stands in the arguments of the library's macros.
    pub(crate) fn lacks_std(&self) -> bool {
        let state = self.shared.lock();
        let health = state.health.as_deref();
        health.is_some_and(|health| health.starts_with(NO_STD))
    }

    /// Takes note that a file which says what the project is has changed: what was written to standard error
    /// about it before may not hold any more.
    pub(crate) fn forgive(&self) {
        if !self.row().complains.is_empty() {
            let mut tail = self.stderr_tail();
            let from = tail.len().saturating_sub(REMEMBERED_BYTES);
            let from = (from..tail.len()).find(|at| tail.is_char_boundary(*at));
            let seen = tail.split_off(from.unwrap_or(tail.len()));
            self.shared.lock().forgiven = seen;
        }
    }

    /// What it last wrote to standard error that says that the project is not loaded.
    fn written_complaint(&self) -> Option<String> {
        let sign = &self.row().complains;
        if sign.is_empty() {
            return None;
        }
        let tail = self.stderr_tail();
        let forgiven = self.shared.lock().forgiven.clone();
        let line = complaint_in(&tail, &forgiven, sign)?;
        let line = clip(line, COMPLAINT_BYTES);
        Some(format!("{}: {line}", self.id()))
    }
}

/// Finds the last line with `sign` after what was forgiven, from the sign on.
fn complaint_in<'a>(tail: &'a str, forgiven: &str, sign: &str) -> Option<&'a str> {
    let seen = tail.rfind(forgiven).filter(|_| !forgiven.is_empty());
    let new = seen.map_or(tail, |at| &tail[at + forgiven.len()..]);
    let lines = new.lines().rev();
    lines
        .filter_map(|line| line.find(sign).map(|at| &line[at..]))
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::servers::built_in;

    // A complaint ends with its cause, and a new one is told.
    #[test]
    fn what_was_written_before_the_cause_changed_is_forgiven() {
        let sign = "Failed to load project";
        let tail = "INFO 1\nERROR Failed to load project: one\nINFO 2\n";
        assert_eq!(
            complaint_in(tail, "", sign),
            Some("Failed to load project: one")
        );
        assert_eq!(complaint_in(tail, "one\nINFO 2\n", sign), None);
        let again = format!("{tail}ERROR Failed to load project, keeping: two\n");
        assert_eq!(
            complaint_in(&again, "one\nINFO 2\n", sign),
            Some("Failed to load project, keeping: two")
        );
        assert_eq!(complaint_in("", "", sign), None);
    }

    // R14: the cause is named where it is known, and a manifest that is broken is another one.
    #[test]
    fn a_missing_cargo_is_told_from_a_broken_manifest() {
        let message = || "Failed to load workspaces.".to_owned();
        let temp = tempfile::tempdir().expect("a folder");
        let env = Env::new().with("PATH", temp.path());
        let rows = built_in();
        let row = |id: &str| rows.iter().find(|row| row.id == id).expect("a row");
        let rust = row("rust-analyzer");
        let told = with_next_step(message(), rust, &env);
        assert!(told.starts_with("cargo is not on the PATH, so"), "{told}");
        // gopls looks for its own tool, and only on the PATH.
        assert!(lacks_tool(row("gopls"), &env).is_some_and(|why| why.starts_with("go is not")));
        assert_eq!(lacks_tool(row("clangd"), &env), None);
        let cargo = std::env::current_exe().expect("a program");
        let env = env.with("CARGO", &cargo).with("GO", cargo);
        assert_eq!(with_next_step(message(), rust, &env), message());
        assert!(lacks_tool(row("gopls"), &env).is_some());
    }
}
