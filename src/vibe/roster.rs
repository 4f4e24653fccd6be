//! The workers of one run.
//!
//! One lock guards what is known of all workers; it is never held while a worker works. Each worker that
//! works has a thread, which goes from turn to turn until no message is left.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::cancel::Cancel;
use crate::limits;
use crate::vibe::identity::{conversation, id_of, number_of};
use crate::vibe::report::shortened;
use crate::vibe::{
    Note, Outcome, Ring, Turn, VibeError, VibeReport, Worker, WorkerStatus, WorkerTier, WorkerView,
};

/// What a host decides about the workers of a run.
#[derive(Clone, Debug)]
pub struct RosterOptions {
    /// Who does mechanical work.
    pub fast: Option<Arc<dyn Worker>>,
    /// Who designs, judges and reviews.
    pub good: Option<Arc<dyn Worker>>,
    /// Where files for workers are put, in a folder that goes with the roster.
    pub folder: PathBuf,
}

/// The workers of one run; closing or dropping it kills them all.
#[derive(Debug)]
pub struct Roster(RosterHandle);

/// A way to the workers of a roster; it does not keep the roster open.
#[derive(Clone, Debug)]
pub struct RosterHandle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: RosterOptions,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    last_id: u64,
    workers: BTreeMap<u64, Entry>,
    folder: Option<Arc<TempDir>>,
}

#[derive(Debug)]
struct Entry {
    label: String,
    tier: WorkerTier,
    conversation: String,
    status: WorkerStatus,
    brief: String,
    messages: Vec<String>,
    /// How many messages a turn has been given.
    n_seen: usize,
    turns: usize,
    /// The time of the turns that have ended.
    worked: Duration,
    /// Since when it works.
    began: Option<Instant>,
    result: Option<String>,
    /// Whether a wait, or whoever killed it, has been told how it settled.
    delivered: bool,
    output: Arc<Ring>,
    cancel: Cancel,
    /// Whether its thread works.
    busy: bool,
    thread: Option<JoinHandle<()>>,
}

/// What a thread needs for one turn.
struct Job {
    id: String,
    label: String,
    tier: WorkerTier,
    conversation: String,
    number: usize,
    brief: String,
    messages: Vec<String>,
    n_new: usize,
    output: Arc<Ring>,
    cancel: Cancel,
}

impl Roster {
    /// Makes a roster without workers.
    pub fn new(options: RosterOptions) -> Self {
        Self(RosterHandle(Arc::new(Shared {
            options,
            state: Mutex::default(),
            changed: Condvar::new(),
        })))
    }

    /// Returns the way to its workers.
    pub fn handle(&self) -> RosterHandle {
        self.0.clone()
    }

    /// Kills every worker and takes no more; a wait that is under way ends.
    pub fn close(&self) {
        self.0.0.close();
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        self.close();
    }
}

impl RosterHandle {
    /// Starts a worker and returns at once (R131).
    pub fn spawn(
        &self,
        tier: WorkerTier,
        label: &str,
        brief: &str,
    ) -> Result<VibeReport, VibeError> {
        check_text("brief", brief)?;
        check_text("label", label)?;
        let worker = self.0.worker(tier)?;
        worker
            .check()
            .map_err(|reason| VibeError::Unusable { tier, reason })?;
        let mut state = self.0.lock();
        state.admit()?;
        state.make_folder(&self.0.options)?;
        state.forget();
        state.last_id += 1;
        let number = state.last_id;
        let one_line = label.split_whitespace().collect::<Vec<_>>().join(" ");
        let entry = Entry {
            label: one_line.chars().take(limits::VIBE_LABEL_CHARS).collect(),
            tier,
            conversation: conversation(number),
            status: WorkerStatus::Running,
            brief: brief.to_owned(),
            messages: Vec::new(),
            n_seen: 0,
            turns: 0,
            worked: Duration::ZERO,
            began: None,
            result: None,
            delivered: false,
            output: Arc::new(Ring::new(limits::VIBE_OUTPUT_BYTES)),
            cancel: Cancel::new(),
            busy: false,
            thread: None,
        };
        state.workers.insert(number, entry);
        self.0.start(&mut state, number, worker);
        Ok(state.report(&[number], Note::Spawned))
    }

    /// Adds a message to the instructions of a worker (R132, D27): one that works gets it after its turn,
    /// any other works again at once.
    pub fn send(&self, id: &str, message: &str) -> Result<VibeReport, VibeError> {
        check_text("message", message)?;
        let mut state = self.0.lock();
        let number = state.find(id)?;
        let known = state.living();
        let entry = state.workers.get(&number);
        let (status, tier) = entry.map_or((WorkerStatus::Killed, WorkerTier::Fast), |entry| {
            (entry.status, entry.tier)
        });
        let note = match status {
            WorkerStatus::Killed if state.closed => return Err(VibeError::Closed),
            WorkerStatus::Killed => {
                let id = id.to_owned();
                return Err(VibeError::Killed { id, known });
            }
            WorkerStatus::Running => Note::AfterTheCurrentTurn,
            WorkerStatus::Idle | WorkerStatus::Done | WorkerStatus::Failed => {
                state.admit()?;
                Note::RunsAgain
            }
        };
        let worker = self.0.worker(tier)?;
        if let Some(entry) = state.workers.get_mut(&number) {
            entry.messages.push(message.to_owned());
        }
        if note == Note::RunsAgain {
            self.0.start(&mut state, number, worker);
        }
        Ok(state.report(&[number], note))
    }

    /// Waits until one of the workers settles, or for the time (R133, D28).
    ///
    /// A worker whose result was delivered before counts when all the others have settled too.
    pub fn wait(
        &self,
        ids: &[String],
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<VibeReport, VibeError> {
        let waker = Arc::clone(&self.0);
        let _guard = cancel.on_cancel(move || {
            // Taking the lock orders this after the waiter's look at the token.
            drop(waker.lock());
            waker.changed.notify_all();
        });
        let deadline = Instant::now() + timeout;
        let mut state = self.0.lock();
        let mut numbers = ids
            .iter()
            .map(|id| state.find(id))
            .collect::<Result<Vec<_>, _>>()?;
        numbers.sort_unstable();
        numbers.dedup();
        loop {
            let settled: Vec<bool> = numbers
                .iter()
                .filter_map(|number| state.workers.get(number))
                .filter(|entry| entry.status != WorkerStatus::Running)
                .map(|entry| !entry.delivered)
                .collect();
            if settled.contains(&true) || settled.len() == numbers.len() {
                return Ok(state.deliver(&numbers, Note::Settled));
            }
            if cancel.is_cancelled() {
                return Err(VibeError::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(state.deliver(&numbers, Note::StillRunning));
            }
            (state, _) = self
                .0
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Kills a worker with its processes (R134, D28); doing it twice is no error.
    pub fn kill(&self, id: &str) -> Result<VibeReport, VibeError> {
        let mut state = self.0.lock();
        let number = state.find(id)?;
        let Some(entry) = state.workers.get_mut(&number) else {
            return Ok(state.report(&[number], Note::KilledBefore));
        };
        if entry.status == WorkerStatus::Killed && !entry.busy {
            return Ok(state.report(&[number], Note::KilledBefore));
        }
        let cancel = entry.kill();
        drop(state);
        // The wakers run here, and no lock is held.
        cancel.cancel();
        self.0.changed.notify_all();
        let is_busy = |state: &State| state.workers.get(&number).is_some_and(|entry| entry.busy);
        let state = self.0.wait_while(is_busy, limits::VIBE_TEARDOWN);
        let note = match is_busy(&state) {
            true => Note::StillEnding,
            false => Note::Killed,
        };
        Ok(state.report(&[number], note))
    }

    /// Lists every worker with the beginning of its last result (R135).
    pub fn list(&self) -> VibeReport {
        let state = self.0.lock();
        let numbers: Vec<u64> = state.workers.keys().copied().collect();
        let mut report = state.report(&numbers, Note::Listed);
        for (view, entry) in report.workers.iter_mut().zip(state.workers.values()) {
            let result = entry.result.as_deref();
            view.result = result.map(|result| shortened(result, limits::VIBE_PREVIEW_CHARS));
        }
        report
    }
}

impl Shared {
    fn worker(&self, tier: WorkerTier) -> Result<Arc<dyn Worker>, VibeError> {
        let worker = match tier {
            WorkerTier::Fast => &self.options.fast,
            WorkerTier::Good => &self.options.good,
        };
        worker.clone().ok_or(VibeError::NoWorker(tier))
    }

    /// Starts the thread of a worker that does not work.
    fn start(self: &Arc<Self>, state: &mut State, number: u64, worker: Arc<dyn Worker>) {
        let Some(entry) = state.workers.get_mut(&number) else {
            return;
        };
        // The thread before it has ended its last turn, so it waits for nothing any more.
        if let Some(thread) = entry.thread.take() {
            let _ = thread.join();
        }
        entry.status = WorkerStatus::Running;
        entry.began = Some(Instant::now());
        entry.busy = true;
        entry.delivered = false;
        // The turn begins here: a message that comes before its thread runs is for the next one.
        let job = entry.begin(number);
        let folder = state.folder.clone();
        let shared = Arc::clone(self);
        let spawned = std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .spawn(move || shared.work(number, &*worker, job, folder));
        let Some(entry) = state.workers.get_mut(&number) else {
            return;
        };
        match spawned {
            Ok(thread) => entry.thread = Some(thread),
            Err(err) => {
                entry.busy = false;
                entry.settle(Outcome::Failed(format!("cannot start a thread: {err}")));
            }
        }
    }

    fn work(&self, number: u64, worker: &dyn Worker, job: Job, folder: Option<Arc<TempDir>>) {
        let folder = folder
            .as_ref()
            .map_or(Path::new(""), |folder| folder.path());
        let folder = folder.join(&job.id);
        // A file that cannot be written into it fails the turn in words of its own.
        let _ = std::fs::create_dir_all(&folder);
        let mut next = Some(job);
        while let Some(job) = next {
            let turn = Turn {
                id: &job.id,
                label: &job.label,
                tier: job.tier,
                conversation: &job.conversation,
                number: job.number,
                brief: &job.brief,
                messages: &job.messages,
                n_new: job.n_new,
                folder: &folder,
                output: &job.output,
                cancel: &job.cancel,
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| worker.turn(&turn)))
                .unwrap_or_else(|_| Outcome::Failed("the worker failed from a defect".to_owned()));
            next = self.end(number, outcome);
        }
    }

    /// Ends a turn, and begins the next one where messages came meanwhile.
    fn end(&self, number: u64, outcome: Outcome) -> Option<Job> {
        let mut state = self.lock();
        let entry = state.workers.get_mut(&number)?;
        let again = entry.status == WorkerStatus::Running && entry.n_seen < entry.messages.len();
        let next = if again {
            // The next turn does what this one did and more; its result is the one that is delivered.
            entry.result = Some(outcome.into_text());
            Some(entry.begin(number))
        } else {
            entry.settle(outcome);
            entry.busy = false;
            None
        };
        drop(state);
        self.changed.notify_all();
        next
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let tokens: Vec<Cancel> = state.workers.values_mut().map(Entry::kill).collect();
        drop(state);
        for token in tokens {
            token.cancel();
        }
        self.changed.notify_all();
        let is_busy = |state: &State| state.workers.values().any(|entry| entry.busy);
        let mut state = self.wait_while(is_busy, limits::VIBE_TEARDOWN);
        let threads: Vec<JoinHandle<()>> = state
            .workers
            .values_mut()
            .filter(|entry| !entry.busy)
            .filter_map(|entry| entry.thread.take())
            .collect();
        let folder = state.folder.take();
        drop(state);
        for thread in threads {
            let _ = thread.join();
        }
        drop(folder);
    }

    fn wait_while(
        &self,
        condition: impl Fn(&State) -> bool,
        patience: Duration,
    ) -> MutexGuard<'_, State> {
        let state = self.lock();
        let res = self
            .changed
            .wait_timeout_while(state, patience, |state| condition(state));
        res.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Fails when nothing more may run.
    fn admit(&self) -> Result<(), VibeError> {
        if self.closed {
            return Err(VibeError::Closed);
        }
        let n_busy = self.workers.values().filter(|entry| entry.busy).count();
        match n_busy >= limits::VIBE_WORKERS {
            true => Err(VibeError::TooMany),
            false => Ok(()),
        }
    }

    /// Drops the oldest workers that have settled and were told about, beyond those that are kept for
    /// another message.
    fn forget(&mut self) {
        let told = |entry: &Entry| {
            let settled = !entry.busy && entry.status != WorkerStatus::Running;
            settled && (entry.delivered || entry.status == WorkerStatus::Killed)
        };
        let numbers: Vec<u64> = self
            .workers
            .iter()
            .filter(|(_, entry)| told(entry))
            .map(|(number, _)| *number)
            .collect();
        // One more is about to come.
        let n_over = (numbers.len() + 1).saturating_sub(limits::VIBE_KEPT);
        for number in &numbers[..n_over] {
            self.workers.remove(number);
        }
    }

    fn make_folder(&mut self, options: &RosterOptions) -> Result<(), VibeError> {
        if self.folder.is_none() {
            let made = std::fs::create_dir_all(&options.folder).and_then(|()| {
                tempfile::Builder::new()
                    .prefix("workers-")
                    .tempdir_in(&options.folder)
            });
            let folder = made.map_err(|err| VibeError::System(err.to_string()))?;
            self.folder = Some(Arc::new(folder));
        }
        Ok(())
    }

    fn find(&self, id: &str) -> Result<u64, VibeError> {
        number_of(id)
            .filter(|number| self.workers.contains_key(number))
            .ok_or_else(|| VibeError::Unknown {
                id: id.to_owned(),
                known: self.workers.keys().map(|number| id_of(*number)).collect(),
            })
    }

    fn living(&self) -> Vec<String> {
        self.workers
            .iter()
            .filter(|(_, entry)| entry.status != WorkerStatus::Killed)
            .map(|(number, _)| id_of(*number))
            .collect()
    }

    fn report(&self, numbers: &[u64], note: Note) -> VibeReport {
        let view = |number: &u64| Some(self.workers.get(number)?.view(*number));
        VibeReport {
            workers: numbers.iter().filter_map(view).collect(),
            note,
        }
    }

    /// Reports, with the results that were not delivered before.
    fn deliver(&mut self, numbers: &[u64], note: Note) -> VibeReport {
        let mut report = self.report(numbers, note);
        for view in &mut report.workers {
            let number = self.find(&view.id).unwrap_or_default();
            let Some(entry) = self.workers.get_mut(&number) else {
                continue;
            };
            if entry.status != WorkerStatus::Running && !entry.delivered {
                let result = entry.result.as_deref();
                view.result = result.map(|result| shortened(result, limits::VIBE_RESULT_CHARS));
                entry.delivered = true;
            }
        }
        report
    }
}

impl Entry {
    /// Begins a turn, which gets every message that came so far.
    fn begin(&mut self, number: u64) -> Job {
        self.turns += 1;
        self.output.clear();
        let n_new = self.messages.len() - self.n_seen;
        self.n_seen = self.messages.len();
        Job {
            id: id_of(number),
            label: self.label.clone(),
            tier: self.tier,
            conversation: self.conversation.clone(),
            number: self.turns,
            brief: self.brief.clone(),
            messages: self.messages.clone(),
            n_new,
            output: Arc::clone(&self.output),
            cancel: self.cancel.clone(),
        }
    }

    fn settle(&mut self, outcome: Outcome) {
        self.worked += self
            .began
            .take()
            .map_or(Duration::ZERO, |began| began.elapsed());
        // What a killed worker came to is the work of the kill.
        if self.status == WorkerStatus::Running {
            self.status = match outcome {
                Outcome::Done(_) => WorkerStatus::Done,
                Outcome::Idle(_) => WorkerStatus::Idle,
                Outcome::Failed(_) => WorkerStatus::Failed,
            };
            self.result = Some(outcome.into_text());
            self.delivered = false;
        }
    }

    fn kill(&mut self) -> Cancel {
        // Whoever kills it knows; a result that it had before is still delivered.
        if self.status == WorkerStatus::Running {
            self.delivered = true;
        }
        self.status = WorkerStatus::Killed;
        self.cancel.clone()
    }

    fn view(&self, number: u64) -> WorkerView {
        let elapsed = self.worked + self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let output = match self.status {
            WorkerStatus::Running | WorkerStatus::Killed => {
                Some(self.output.tail(limits::VIBE_TAIL_CHARS))
            }
            WorkerStatus::Idle | WorkerStatus::Done | WorkerStatus::Failed => None,
        };
        WorkerView {
            id: id_of(number),
            label: self.label.clone(),
            tier: self.tier,
            status: self.status,
            elapsed_s: (elapsed.as_secs_f64() * 10.0).round() / 10.0,
            turns: self.turns,
            result: None,
            output: output.filter(|output| !output.is_empty()),
            delivered: self.delivered && self.result.is_some(),
        }
    }
}

impl Outcome {
    fn into_text(self) -> String {
        match self {
            Self::Done(text) | Self::Idle(text) | Self::Failed(text) => text,
        }
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), VibeError> {
    if text.trim().is_empty() {
        return Err(VibeError::Blank(what));
    }
    if text.contains('\0') {
        return Err(VibeError::Nul(what));
    }
    match text.len() {
        bytes if bytes > limits::VIBE_TEXT_BYTES => Err(VibeError::TooLong { what, bytes }),
        _ => Ok(()),
    }
}
