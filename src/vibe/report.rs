//! What the five actions answer.

use std::fmt;

use serde::Serialize;

use crate::limits;
use crate::vibe::{WorkerStatus, WorkerTier};

/// Workers, and what happened to them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VibeReport {
    /// The workers that the call was about, in the order of their ids.
    pub workers: Vec<WorkerView>,
    /// What the call did.
    pub note: Note,
}

/// One worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerView {
    /// The id, such as `worker_1`.
    pub id: String,
    /// A few words about what it does.
    pub label: String,
    /// Its kind.
    pub tier: WorkerTier,
    /// How it is.
    pub status: WorkerStatus,
    /// How many seconds it has worked, in all turns together.
    pub elapsed_s: f64,
    /// How many turns it has begun.
    pub turns: usize,
    /// Its last result. A wait has it once; a list has its beginning every time.
    pub result: Option<String>,
    /// The end of what it printed, while there is no result that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Whether a wait has had the last result before.
    pub delivered: bool,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A worker was spawned and works.
    Spawned,
    /// The message waits for the end of the current turn.
    AfterTheCurrentTurn,
    /// The worker works again.
    RunsAgain,
    /// A worker has settled.
    Settled,
    /// The time was over first.
    StillRunning,
    /// The worker and its processes were ended.
    Killed,
    /// It had been killed before.
    KilledBefore,
    /// The worker was told to end, and takes its time.
    StillEnding,
    /// These are all workers.
    Listed,
}

impl fmt::Display for VibeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.workers.is_empty() {
            return f.write_str("no workers yet");
        }
        for (idx, worker) in self.workers.iter().enumerate() {
            if idx > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{worker}")?;
            match self.note {
                Note::Spawned => f.write_str("; vibe_wait gives its result")?,
                Note::AfterTheCurrentTurn => {
                    f.write_str("; it works through the message after the current turn")?;
                }
                Note::RunsAgain => f.write_str("; it works again, with the message")?,
                Note::Killed => f.write_str("; its processes have ended")?,
                Note::KilledBefore => f.write_str("; it had been killed before")?,
                Note::StillEnding => f.write_str("; it is still ending")?,
                Note::Settled | Note::StillRunning | Note::Listed => {
                    let waited = self.note != Note::Listed;
                    worker.write_what_it_said(f, waited)?;
                }
            }
        }
        if self.note == Note::StillRunning {
            f.write_str("\nstill running; wait again to go on waiting")?;
        }
        Ok(())
    }
}

impl WorkerView {
    fn write_what_it_said(&self, f: &mut fmt::Formatter<'_>, waited: bool) -> fmt::Result {
        let running = self.status == WorkerStatus::Running;
        match (&self.result, &self.output) {
            (Some(result), _) if !running => write!(f, "\n{}", result.trim_end()),
            (_, Some(output)) if running => {
                let lines: Vec<&str> = output.lines().collect();
                let from = lines.len().saturating_sub(limits::VIBE_TAIL_LINES);
                write!(f, "; it printed last:\n{}", lines[from..].join("\n"))
            }
            (_, Some(output)) => write!(f, "; it printed last:\n{output}"),
            (None, None) if waited && self.delivered => {
                f.write_str("; its result was delivered before")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for WorkerView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.status {
            WorkerStatus::Running => "for",
            _ => "after",
        };
        write!(
            f,
            "{} ({}) {}: {} {verb} {:.1} s, {} turn{}",
            self.id,
            self.tier,
            self.label,
            self.status,
            self.elapsed_s,
            self.turns,
            if self.turns == 1 { "" } else { "s" }
        )
    }
}

/// Shortens a text to so many characters: its beginning, its end, and how much is left out between.
pub(super) fn shortened(text: &str, max_chars: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= max_chars {
        return text.to_owned();
    }
    let half = max_chars / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(n_chars - half).collect();
    format!(
        "{head}\n[{} characters left out]\n{tail}",
        n_chars - 2 * half
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_over_the_cap_loses_its_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcüefg", 6), "abc\n[1 characters left out]\nefg");
    }
}
