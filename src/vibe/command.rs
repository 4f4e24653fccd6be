//! The worker that is a command line.
//!
//! Every turn is one run of the command. How it is told what to do, and where its result is read, is said
//! by the options; placeholders in its arguments are filled with what belongs to the turn.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::child::{Env, Processes};
use crate::limits;
use crate::vibe::keeper::{self, Command, End};
use crate::vibe::template::{fill, mentions};
use crate::vibe::{Outcome, Ring, Turn, Worker};

/// What a host decides about one kind of worker.
#[derive(Clone, Debug)]
pub struct CommandOptions {
    /// A program and its arguments. `{brief}`, `{message}`, `{brief_file}`, `{message_file}`, `{result}` (a
    /// path for the result), `{id}`, `{label}`, `{tier}`, `{turn}`, `{conversation}` (a UUID) and
    /// the names of `placeholders` are filled in.
    pub argv: Vec<String>,
    /// Another command for every turn but the first, which gets the new messages and no brief: for workers
    /// that remember their conversation. Without it a turn gets the brief and all messages.
    pub resume: Option<Vec<String>>,
    /// How the brief is given.
    pub brief: Way,
    /// How later messages are given; when `None`, as the brief and together with it.
    pub message: Option<Way>,
    /// Where the result is read.
    pub result: ResultFrom,
    /// Where it works.
    pub cwd: PathBuf,
    /// Its environment. `TOOLBOX_WORKER_ID`, `_TIER`, `_TURN` and `_RESULT` are added.
    pub env: Env,
    /// More names for the arguments, and what is filled in.
    pub placeholders: Vec<(String, String)>,
}

/// How a text is given to a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// As an argument: at its placeholder, else as the last one.
    #[default]
    Argument,
    /// On standard input.
    Stdin,
    /// In a file, whose path is given as an argument: at its placeholder, else as the last one.
    File,
}

/// Where the result of a turn is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResultFrom {
    /// What it prints on standard output.
    #[default]
    Stdout,
    /// The file that `{result}` and `TOOLBOX_WORKER_RESULT` name; standard output when it is not written.
    File,
    /// A file relative to the folder that it works in, with placeholders; standard output when the turn did
    /// not write it.
    Path(String),
}

/// Runs a configured command for every turn.
#[derive(Clone, Debug)]
pub struct CommandWorker {
    processes: Processes,
    options: CommandOptions,
}

impl CommandOptions {
    /// Options of a command that gets its brief as the last argument and prints its result.
    pub fn new(argv: Vec<String>, cwd: impl Into<PathBuf>, env: Env) -> Self {
        Self {
            argv,
            resume: None,
            brief: Way::default(),
            message: None,
            result: ResultFrom::default(),
            cwd: cwd.into(),
            env,
            placeholders: Vec::new(),
        }
    }
}

impl ResultFrom {
    /// Reads the word of a configuration: `stdout`, `file`, or a path.
    pub fn from_word(word: &str) -> Self {
        match word {
            "stdout" => Self::Stdout,
            "file" => Self::File,
            path => Self::Path(path.to_owned()),
        }
    }
}

impl CommandWorker {
    /// Makes the worker; nothing is started.
    pub fn new(processes: Processes, options: CommandOptions) -> Self {
        Self { processes, options }
    }

    fn try_turn(&self, turn: &Turn<'_>) -> io::Result<Outcome> {
        let options = &self.options;
        let prepared = Prepared::new(options, turn)?;
        let mut env = options.env.clone();
        for (name, value) in [
            ("TOOLBOX_WORKER_ID", turn.id),
            ("TOOLBOX_WORKER_TIER", turn.tier.as_str()),
            ("TOOLBOX_WORKER_TURN", &turn.number.to_string()),
        ] {
            env.set(name, value);
        }
        env.set("TOOLBOX_WORKER_RESULT", &prepared.own_result);
        env.set("PWD", &options.cwd);
        let result_file = match &options.result {
            ResultFrom::Stdout => None,
            ResultFrom::File => Some(prepared.own_result.clone()),
            ResultFrom::Path(path) => Some(options.cwd.join(fill(path, &prepared.values))),
        };
        let before = result_file.as_deref().and_then(stamp);
        let stdout = Ring::new(limits::VIBE_OUTPUT_BYTES);
        let command = Command {
            argv: &prepared.argv,
            cwd: &options.cwd,
            env,
            input: &prepared.input,
            word: turn.conversation,
        };
        let end = keeper::run(
            &self.processes,
            command,
            (turn.output, &stdout),
            turn.cancel,
        )?;
        if end != End::Status(0) {
            let tail = turn.output.tail(limits::VIBE_TAIL_CHARS);
            let why = format!("{}: {end}", self.options.argv[0]);
            return Ok(Outcome::Failed(match tail.is_empty() {
                true => why,
                false => format!("{why}; it printed last:\n{tail}"),
            }));
        }
        // A file that an earlier turn left is no result of this one.
        let written = result_file
            .filter(|file| stamp(file) != before)
            .and_then(|file| read_result(&file));
        Ok(Outcome::Done(written.unwrap_or_else(|| stdout.text())))
    }
}

impl Worker for CommandWorker {
    fn check(&self) -> Result<(), String> {
        let options = &self.options;
        let Some(program) = options.argv.first() else {
            return Err("its command is empty".to_owned());
        };
        let path = options.env.get("PATH");
        match which::which_in(program, path, &options.cwd) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("there is no program '{program}'")),
        }
    }

    fn turn(&self, turn: &Turn<'_>) -> Outcome {
        self.try_turn(turn)
            .unwrap_or_else(|err| Outcome::Failed(format!("cannot run the command: {err}")))
    }
}

/// The command of one turn.
struct Prepared {
    argv: Vec<String>,
    input: PathBuf,
    own_result: PathBuf,
    values: Vec<(String, String)>,
}

impl Prepared {
    fn new(options: &CommandOptions, turn: &Turn<'_>) -> io::Result<Self> {
        let own_result = turn.folder.join(format!("turn-{}-result", turn.number));
        let mut prepared = Self {
            argv: options.argv.clone(),
            input: PathBuf::from("/dev/null"),
            values: [
                ("id", turn.id),
                ("label", turn.label),
                ("tier", turn.tier.as_str()),
                ("turn", &turn.number.to_string()),
                ("conversation", turn.conversation),
                ("result", &own_result.to_string_lossy()),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            own_result,
        };
        prepared.values.extend(options.placeholders.iter().cloned());
        let message_way = options.message.unwrap_or(options.brief);
        let (brief, message) = match &options.resume {
            Some(resume) if turn.number > 1 => {
                prepared.argv.clone_from(resume);
                let from = turn.messages.len().saturating_sub(turn.n_new);
                (String::new(), turn.messages[from..].join("\n\n"))
            }
            _ if message_way == options.brief => {
                let whole =
                    std::iter::once(turn.brief).chain(turn.messages.iter().map(String::as_str));
                (whole.collect::<Vec<_>>().join("\n\n"), String::new())
            }
            _ => (turn.brief.to_owned(), turn.messages.join("\n\n")),
        };
        let mut last = Vec::new();
        last.extend(prepared.give("brief", options.brief, brief, turn)?);
        last.extend(prepared.give("message", message_way, message, turn)?);
        for word in &mut prepared.argv {
            *word = fill(word, &prepared.values);
        }
        prepared.argv.extend(last);
        Ok(prepared)
    }

    /// Gives a text to the command; returns the argument that has no place of its own.
    fn give(
        &mut self,
        name: &str,
        way: Way,
        text: String,
        turn: &Turn<'_>,
    ) -> io::Result<Option<String>> {
        let path = turn.folder.join(format!("turn-{}-{name}", turn.number));
        let file = path.to_string_lossy().into_owned();
        let file_name = format!("{name}_file");
        let is_named = match way {
            Way::Argument => mentions(&self.argv, name),
            Way::File => mentions(&self.argv, &file_name),
            Way::Stdin => true,
        };
        let has_text = !text.is_empty();
        if has_text && (way != Way::Argument || mentions(&self.argv, &file_name)) {
            fs::write(&path, &text)?;
        }
        if has_text && way == Way::Stdin {
            self.input = path;
        }
        self.values.push((name.to_owned(), text.clone()));
        self.values.push((file_name, file.clone()));
        Ok(match way {
            _ if is_named || !has_text => None,
            Way::Argument => Some(text),
            Way::File => Some(file),
            Way::Stdin => None,
        })
    }
}

/// Tells one content of a file from another.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn read_result(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(limits::VIBE_OUTPUT_BYTES).unwrap_or(u64::MAX);
    fs::File::open(path)
        .ok()?
        .take(limit)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
