//! One line on standard error that says a long command works.
//!
//! It appears after a second, only at a terminal and never with `--quiet`; with `--json` only where a
//! person reads the answer as well. It is erased before anything else is printed. What it says costs the
//! work nothing: a thread of its own looks at the clock.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use toolbox::limits;
use toolbox::text::terminal::printable;

use crate::output::Console;

/// How often the line is drawn anew.
const STEP: Duration = Duration::from_millis(250);

/// Columns that the line may take: one that wraps could not be erased.
const COLUMNS: usize = 79;

/// What a tool takes its time with.
const DOING: [(&str, &str); 4] = [
    ("ast_grep", "searching"),
    ("ast_edit", "searching"),
    ("Grep", "searching"),
    ("lsp", "asking the language server"),
];

/// A line of progress; dropping it erases the line.
#[must_use = "dropping it erases the line"]
pub(crate) struct Progress(Option<Shown>);

struct Shown {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    doing: String,
    since: Instant,
    phase: Phase,
    /// Whether the line is on the screen.
    drawn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// Something else has the screen.
    Paused,
    Done,
}

impl Progress {
    /// Shows nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// Begins to wait for a tool.
    pub(crate) fn of_tool(console: &Console, name: &str) -> Self {
        let known = DOING.iter().find(|(tool, _)| *tool == name);
        match known {
            Some((_, doing)) => Self::start(console, doing),
            // A card is on the screen then.
            None if name == "ask_user" => Self(None),
            None => Self::start(console, &format!("running {name}")),
        }
    }

    /// Begins to wait; `doing` says what takes so long, such as `searching`.
    pub(crate) fn start(console: &Console, doing: &str) -> Self {
        let person = !console.json || console.terminal;
        if console.quiet || console.dumb || !person || !io::stderr().is_terminal() {
            return Self(None);
        }
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                doing: doing.to_owned(),
                since: Instant::now(),
                phase: Phase::Running,
                drawn: false,
            }),
            changed: Condvar::new(),
        });
        let drawing = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || drawing.draw());
        // Without a thread nothing is shown, and the work goes on.
        Self(thread.ok().map(|thread| Shown {
            shared,
            thread: Some(thread),
        }))
    }

    /// Erases the line until [`Self::resume`]: a question has the screen.
    pub(crate) fn pause(&self) {
        self.turn(Phase::Paused);
    }

    /// Shows the line again.
    pub(crate) fn resume(&self) {
        self.turn(Phase::Running);
    }

    fn turn(&self, phase: Phase) {
        if let Some(shown) = &self.0 {
            let mut state = shown.shared.lock();
            state.phase = phase;
            if phase != Phase::Running {
                state.erase();
            }
            drop(state);
            shown.shared.changed.notify_all();
        }
    }
}

impl Shared {
    fn draw(&self) {
        let mut state = self.lock();
        while state.phase != Phase::Done {
            let age = state.since.elapsed();
            let wait = match age < limits::PROGRESS_DELAY {
                true => limits::PROGRESS_DELAY - age,
                false => STEP,
            };
            (state, _) = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner);
            if state.phase == Phase::Running && state.since.elapsed() >= limits::PROGRESS_DELAY {
                state.redraw();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn redraw(&mut self) {
        let seconds = self.since.elapsed().as_secs();
        let line = printable(&format!("{} … {seconds} s", self.doing)).replace('\n', " ");
        let line: String = line.chars().take(COLUMNS).collect();
        self.drawn = true;
        // Whoever closed standard error does not want to know.
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }

    fn erase(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.turn(Phase::Done);
        if let Some(mut shown) = self.0.take()
            && let Some(thread) = shown.thread.take()
        {
            let _ = thread.join();
        }
    }
}
