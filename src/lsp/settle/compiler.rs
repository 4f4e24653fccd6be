//! Waiting for the compiler that rust-analyzer runs after each save.
//!
//! What the compiler said last is true only of the files as they were when that check began. A check counts
//! where it began after the last save, no file of the project changed since, and the project was loaded: before
//! that the server drops what the compiler says of files that it does not know yet. Where none counts, the
//! file is saved once more, which starts one.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Settled, said, under_way, unreached};
use crate::cancel::Cancel;
use crate::lsp::client::{CHECK_TOKEN, ProgressEvent, Server, ServerState};
use crate::lsp::diagnostics::place::trusted;

/// Compilers start 0.1 to 0.4 s after a save; one that has not started by then is switched off.
const BEGINS: Duration = Duration::from_secs(3);

/// What a compiler found is published in the same moment in which its end is told, or just after.
const QUIET: Duration = Duration::from_millis(100);

/// So long after a save its own check may begin, also where another one ends in between.
const FOLLOWS: Duration = Duration::from_millis(500);

/// How often a check is asked for in one wait; others may save at the same time.
const ASKED: usize = 3;

/// What is to be done until a check counts.
enum Step {
    /// One counts and has ended.
    Done,
    /// One that will count has not begun or not ended yet.
    Wait,
    /// None will come by itself.
    Ask,
}

/// Waits for a check of what is on disk now, and asks for one where none is on its way.
pub(super) fn checked(server: &Server, path: &Path, deadline: Instant, cancel: &Cancel) -> Settled {
    let mut n_asked = 0;
    let mut asked_until = None;
    loop {
        if let Err(settled) = idle(server, deadline, cancel) {
            return settled;
        }
        let save = server.last_save();
        let step = server.look(|state| {
            let counts = |event: &ProgressEvent| {
                save.is_some_and(|save| event.at >= save.at) && Some(event.at) >= state.loaded_at
            };
            let is_outdated = save.is_none_or(|save| save.is_outdated);
            match last_begin(state) {
                Some(event) if counts(event) && !is_outdated => Step::Done,
                _ if is_outdated => Step::Ask,
                _ if save.map(|save| save.at) < state.loaded_at => Step::Ask,
                _ => Step::Wait,
            }
        });
        match step {
            Step::Done => break,
            Step::Ask if n_asked < ASKED => {
                n_asked += 1;
                asked_until = None;
                if let Err(err) = server.save(path) {
                    return Settled::Unavailable(err.to_string());
                }
                // One that is not open cannot be saved.
                if server.document(path).is_none() {
                    return Settled::Pending("it is not open".to_owned());
                }
            }
            Step::Ask => return Settled::Pending("files change while they are checked".to_owned()),
            Step::Wait => {
                // While it is busy, seconds may pass before it takes the save up; its answer shows that it
                // has.
                server.answers(deadline, cancel);
                let patience = *asked_until.get_or_insert_with(|| Instant::now() + BEGINS);
                let since = save.map(|save| save.at);
                let begun = server.wait(patience.min(deadline), cancel, |state| {
                    let is_newer = last_begin(state).is_some_and(|event| Some(event.at) >= since);
                    let is_over = state.gone().is_some() || state.quiescent() == Some(false);
                    (is_newer || is_over).then_some(())
                });
                if begun.is_none() {
                    return Settled::Pending(match Instant::now() < deadline {
                        true => "no check has begun".to_owned(),
                        false => under_way(server),
                    });
                }
            }
        }
    }
    outcome(server, path)
}

/// Waits for the end of the check that runs, and takes the last one for what it is.
pub(super) fn checked_last(
    server: &Server,
    path: &Path,
    deadline: Instant,
    cancel: &Cancel,
) -> Settled {
    let begins = (Instant::now() + BEGINS).min(deadline);
    loop {
        if let Err(settled) = idle(server, deadline, cancel) {
            return settled;
        }
        if server.look(|state| last_begin(state).is_some()) {
            return outcome(server, path);
        }
        // The first check follows the loading by itself.
        let begun = server.wait(begins, cancel, |state| {
            (last_begin(state).is_some() || state.gone().is_some()).then_some(())
        });
        if begun.is_none() {
            return Settled::Pending(match begins < deadline {
                true => "no check has begun".to_owned(),
                false => under_way(server),
            });
        }
    }
}

/// Waits until the server has loaded its project and no check runs, nor follows one that was cancelled.
fn idle(server: &Server, deadline: Instant, cancel: &Cancel) -> Result<(), Settled> {
    loop {
        let idle = server.wait(deadline, cancel, |state| {
            if let Some(why) = state.gone() {
                return Some(Err(format!("{} is gone: {why}", server.id())));
            }
            let is_idle = state.quiescent() == Some(true) && !state.is_checking();
            is_idle.then_some(Ok(()))
        });
        match idle {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(Settled::Unavailable(why)),
            None => return Err(Settled::Pending(under_way(server))),
        }
        if let Some(why) = broken(server) {
            return Err(Settled::Unavailable(why));
        }
        let last = server.look(|state| {
            let (begin, end) = (last_begin(state)?, last_end(state)?);
            Some((begin.at, end.at, state.loaded_at))
        });
        let Some((begun, ended, loaded)) = last else {
            return Ok(());
        };
        // It tells the end before what it found last; its answer shows that it has said both.
        server.answers(deadline, cancel);
        // A save cancels the check that runs, and the next one begins a moment later: as late as this one
        // began, where the machine is busy.
        let saved = server.last_save().map(|save| save.at);
        let lag = saved.filter(|saved| Some(*saved) >= loaded);
        let lag = lag.and_then(|saved| begun.checked_duration_since(saved));
        let quiet = lag.map_or(QUIET, |lag| (lag * 2).clamp(QUIET, BEGINS));
        let until = (ended + quiet).max(saved.map_or(ended, |saved| saved + FOLLOWS));
        let again = server.wait(until.min(deadline), cancel, |state| {
            let is_busy = state.is_checking() || state.quiescent() != Some(true);
            (is_busy || state.gone().is_some()).then_some(())
        });
        if again.is_none() {
            return Ok(());
        }
    }
}

/// What the check that has ended says about a file. One about which nothing was ever said is clean: the
/// compiler has looked at all of them, if it has run and nothing stopped it.
fn outcome(server: &Server, path: &Path) -> Settled {
    let items =
        server.look(|state| said(state, path).map_or_else(Vec::new, |said| said.items.clone()));
    let is_silent = trusted(server, &items).next().is_none();
    match failed(server.complaint().as_deref()) {
        Some(why) if is_silent => Settled::Unavailable(format!("{}: {why}", server.id())),
        _ => match unreached(server, path).filter(|_| is_silent) {
            Some(why) => Settled::Unavailable(why),
            None => Settled::Told(items),
        },
    }
}

/// Why the server has no project to check, if it has none.
fn broken(server: &Server) -> Option<String> {
    server.look(|state| {
        let health = state.health.as_ref().filter(|_| state.is_broken)?;
        let why = health.lines().find(|line| line.contains("Failed to load"));
        let Some(why) = why else {
            let first = health.lines().next().unwrap_or_default();
            return Some(format!("{}: {first}", server.id()));
        };
        // Complaints are strung together without a space between them.
        let why = why.find("Failed to load").map_or(why, |at| &why[at..]);
        Some(format!(
            "{}: {}; `diagnostics` of \"*\" shows what the build tool says",
            server.id(),
            why.trim_end_matches('.')
        ))
    })
}

/// Says that the compiler did not run to its end, where the server says so.
fn failed(health: Option<&str>) -> Option<String> {
    const SIGNS: [&str; 2] = [
        "check failed to start",
        "Flycheck failed to run the following command",
    ];
    let health = health?;
    SIGNS.iter().any(|sign| health.contains(sign)).then(|| {
        let error = health.lines().map(str::trim);
        let error = error.clone().find(|line| line.starts_with("error"));
        let error = error.map(|error| format!(" ({error})")).unwrap_or_default();
        format!(
            "the compiler did not come to look at it{error}; `diagnostics` of \"*\" shows what it says"
        )
    })
}

fn last_begin(state: &ServerState) -> Option<&ProgressEvent> {
    state
        .progress_log()
        .rfind(|event| event.began && event.token.contains(CHECK_TOKEN))
}

fn last_end(state: &ServerState) -> Option<&ProgressEvent> {
    state
        .progress_log()
        .rfind(|event| !event.began && event.token.contains(CHECK_TOKEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    // D2: a compiler that could not run has not said that anything is clean.
    #[test]
    fn a_check_that_did_not_run_is_known_by_the_health() {
        let health = "Failed to run build scripts of some packages.\n\nMore.cargo check failed to start: \
                      Cargo watcher failed\n  INFO x\nerror: failed to run custom build command\n";
        let why = failed(Some(health)).expect("it failed");
        assert!(
            why.contains("(error: failed to run custom build command)"),
            "{why}"
        );
        let why = failed(Some("cargo check failed to start: no such file")).expect("it failed");
        assert!(why.contains("look at it; `diagnostics`"), "{why}");
        assert_eq!(failed(Some("has sysroot errors")), None);
        assert_eq!(failed(None), None);
    }
}
