//! What goes to standard output and standard error, and the exit code that it ends with.
//!
//! A reader that went away is no failure: `toolbox ast-grep ... | head` succeeds.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use toolbox::text::terminal;
use toolbox::tool::{Output, ToolError};

use crate::args::{ColorWhen, Global};
use crate::speak;

/// How a command ended, where it did not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All is done; also when nobody reads the output any more.
    Done,
    /// Nothing was found.
    Nothing,
    /// The command line itself is wrong.
    Usage,
    /// The tool failed.
    Failed,
    /// A command that was run ended so.
    Status(u8),
}

/// A step of a command; an error ends the command.
pub(crate) type Step<T = ()> = Result<T, Ending>;

/// The two streams, and how to write on them.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    pub(crate) color: bool,
    /// Whether messages speak of flags, and not of the arguments of tools.
    pub(crate) flags: bool,
    /// Whether a person reads the answer.
    pub(crate) terminal: bool,
    color_errors: bool,
    terminal_errors: bool,
    pub(crate) quiet: bool,
    /// Whether the terminal knows no control sequences.
    pub(crate) dumb: bool,
}

impl Ending {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Nothing => 1,
            Self::Usage => 2,
            Self::Failed => 3,
            Self::Status(status) => status,
        })
    }
}

impl Console {
    pub(crate) fn new(global: &Global) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let plain = dumb || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |terminal: bool| match global.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !plain,
        };
        Self {
            json: global.json,
            verbose: global.verbose,
            flags: true,
            terminal: io::stdout().is_terminal(),
            color: color(io::stdout().is_terminal()),
            color_errors: color(io::stderr().is_terminal()),
            terminal_errors: io::stderr().is_terminal(),
            quiet: global.quiet,
            dumb,
        }
    }

    /// Takes out of a text what could steer the terminal that it goes to; a program that reads a pipe gets
    /// it as it is. Colours are laid over what comes back.
    pub(crate) fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.terminal {
            true => terminal::content(text),
            false => Cow::Borrowed(text),
        }
    }

    /// Writes what came from files, programs, models or the web.
    pub(crate) fn show(&self, text: &str) -> Step {
        self.print(&self.safe(text))
    }

    /// Writes a text of our own to standard output, with a line end at its end.
    pub(crate) fn print(&self, text: &str) -> Step {
        let mut out = io::stdout().lock();
        let res = out.write_all(text.as_bytes()).and_then(|()| {
            if text.is_empty() || text.ends_with('\n') {
                Ok(())
            } else {
                out.write_all(b"\n")
            }
        });
        written(res.and_then(|()| out.flush()))
    }

    /// Writes a text to standard output as it is.
    pub(crate) fn print_bytes(&self, text: &str) -> Step {
        let mut out = io::stdout().lock();
        written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Writes a JSON value to standard output.
    pub(crate) fn print_json(&self, value: &Value) -> Step {
        if self.terminal {
            return self.print(&terminal::json(&format!("{value:#}")));
        }
        // Thousands of matches are not spelled out in memory first.
        let mut out = io::BufWriter::new(io::stdout().lock());
        let res = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
        written(
            res.and_then(|()| out.write_all(b"\n"))
                .and_then(|()| out.flush()),
        )
    }

    /// Writes what a tool gave back: its text, or its data.
    pub(crate) fn answer(&self, output: &Output) -> Step {
        match self.json {
            true => self.print_json(&output.data),
            false if self.flags => self.show(&speak::answer(output)),
            false => self.show(&output.text),
        }
    }

    /// Says something on standard error that is no error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.complain("note", "1;36", text);
        }
    }

    /// Says on standard error what only a curious user wants to know.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbose {
            self.complain("note", "1;36", text);
        }
    }

    /// Reports an error of a tool and gives the ending.
    pub(crate) fn fail(&self, error: &ToolError) -> Ending {
        if self.json {
            return match self.print_json(&json!({ "error": error })) {
                Ok(()) => Ending::Failed,
                Err(ending) => ending,
            };
        }
        let (message, hint) = match self.flags {
            true => speak::error(error),
            false => (error.message().to_owned(), error.hint().map(str::to_owned)),
        };
        self.complain("error", "1;31", &message);
        if let Some(hint) = hint {
            self.complain("hint", "1;32", &hint);
        }
        Ending::Failed
    }

    /// Reports a command line that cannot be followed.
    pub(crate) fn misuse(&self, message: &str) -> Ending {
        self.misuse_with_hint(message, "see `toolbox --help`")
    }

    /// Reports a command line that cannot be followed, and what to type instead.
    pub(crate) fn misuse_with_hint(&self, message: &str, hint: &str) -> Ending {
        self.complain("error", "1;31", message);
        self.complain("hint", "1;32", hint);
        Ending::Usage
    }

    fn complain(&self, label: &str, color: &str, text: &str) {
        let label = match self.color_errors {
            true => format!("\x1b[{color}m{label}:\x1b[0m"),
            false => format!("{label}:"),
        };
        // Messages quote paths and lines of files.
        let text = match self.terminal_errors {
            true => terminal::content(text),
            false => Cow::Borrowed(text),
        };
        // Whoever closed standard error does not want to know.
        let _ = writeln!(io::stderr(), "{label} {text}");
    }
}

/// Prints what the argument parser has to say: help and version are success.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let ending = if error.use_stderr() {
        Ending::Usage
    } else {
        Ending::Done
    };
    match error.print() {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => Ending::Failed.code(),
        _ => ending.code(),
    }
}

pub(crate) fn written(res: io::Result<()>) -> Step {
    match res {
        Ok(()) => Ok(()),
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Err(Ending::Done),
        Err(err) => {
            let _ = writeln!(io::stderr(), "error: cannot write the output: {err}");
            Err(Ending::Failed)
        }
    }
}
