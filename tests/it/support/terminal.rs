//! A real pseudo-terminal around a command, and what a person does at it.
//!
//! The command gets the terminal as its controlling one, as a shell would give it, so that Ctrl-C is a
//! signal and `/dev/tty` is there.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long a person waits for something to appear.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command at a terminal.
pub(crate) struct Terminal {
    controller: File,
    child: Child,
    shown: Receiver<Vec<u8>>,
    /// All that appeared so far, carriage returns left out.
    pub(crate) screen: String,
    /// How much of it was waited for.
    seen: usize,
}

impl Terminal {
    /// Starts a command, with its environment and folder, at a terminal of its own.
    pub(crate) fn start(command: &Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).expect("it is ours");
        unlockpt(&controller).expect("it is ours");
        let name = ptsname(&controller, Vec::new()).expect("a name");
        let name = name.into_string().expect("ASCII");
        let end = || {
            let file = OpenOptions::new().read(true).write(true).open(&name);
            Stdio::from(file.expect("it opens"))
        };
        // `setsid --ctty` makes standard input the controlling terminal of a new session.
        let mut around = Command::new("setsid");
        around.args(["--ctty", "--wait"]).arg(command.get_program());
        around.args(command.get_args()).env_clear();
        around.envs(
            command
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
        if let Some(folder) = command.get_current_dir() {
            around.current_dir(folder);
        }
        around.stdin(end()).stdout(end()).stderr(end());
        let child = around.spawn().expect("setsid of util-linux");
        // The command holds the only other ends now, so its end is the end of the stream.
        drop(around);
        let controller = File::from(controller);
        let mut reader = controller.try_clone().expect("a copy");
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n_bytes @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..n_bytes].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            controller,
            child,
            shown,
            screen: String::new(),
            seen: 0,
        }
    }

    /// Types something; `\x03` is Ctrl-C, `\x04` is Ctrl-D.
    pub(crate) fn types(&mut self, text: &str) {
        self.controller
            .write_all(text.as_bytes())
            .expect("it takes it");
    }

    /// Waits until a text appears after what was waited for before.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.screen[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.shown.recv_timeout(left) else {
                panic!("'{text}' never appeared on:\n{}", self.screen);
            };
            self.take(&bytes);
        }
    }

    /// Waits for the end of the command; returns its exit code and all that appeared.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        // The stream ends with the last process that holds the other end.
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) if left.is_zero() => panic!("it does not end:\n{}", self.screen),
                Err(_) => break,
            }
        }
        let status = self.child.wait().expect("it is our child");
        (status.code(), std::mem::take(&mut self.screen))
    }

    fn take(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).replace('\r', "");
        self.screen.push_str(&text);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; the hang-up of the terminal ends the rest.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
