//! What a command wrote: its start and its end in memory, the whole in a file once it is too long.
//!
//! Memory is bounded whatever a command writes. A window is what was not yet told; telling it empties it,
//! while the file goes on.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::{make_private_dir, remove_old};
use crate::limits;

/// Bytes of each half that are kept: a character has at most four.
const HALF_BYTES: usize = HALF_CHARS * 4;
const HALF_CHARS: usize = limits::BASH_OUTPUT_CHARS / 2;

/// Output that was not yet told.
#[derive(Debug)]
pub(super) struct Window {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_bytes: u64,
    n_chars: u64,
    folder: Option<PathBuf>,
    file: Option<OutputFile>,
    /// Why there is no file although there should be one.
    trouble: Option<String>,
}

/// A file that takes the whole output.
#[derive(Debug)]
struct OutputFile {
    file: File,
    path: PathBuf,
    n_bytes: u64,
}

/// A window in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) file: Option<PathBuf>,
    pub(super) notes: Vec<String>,
}

impl Window {
    /// Makes an empty window; `folder` is where files of output go.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            n_bytes: 0,
            n_chars: 0,
            folder,
            file: None,
            trouble: None,
        }
    }

    /// Takes what the command wrote.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let n_chars = bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        self.n_bytes += bytes.len() as u64;
        self.n_chars += n_chars as u64;
        if self.is_long() {
            self.start_file();
        }
        if let Some(file) = &mut self.file
            && let Err(err) = file.write(bytes)
        {
            self.fail(&err);
        }
        let room = HALF_BYTES - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(HALF_BYTES)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(HALF_BYTES);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Begins the file now, with what is in memory; later calls do nothing.
    pub(super) fn start_file(&mut self) {
        let (None, None, Some(folder)) = (&self.file, &self.trouble, &self.folder) else {
            return;
        };
        let (front, back) = self.tail.as_slices();
        let started = OutputFile::create(folder).and_then(|mut file| {
            for part in [self.head.as_slice(), front, back] {
                file.write(part)?;
            }
            Ok(file)
        });
        match started {
            Ok(file) => self.file = Some(file),
            Err(err) => self.fail(&err),
        }
    }

    /// Where the whole output goes.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }

    /// Tells what is in the window and empties it. With more to come, half a character at the end is left
    /// for the next time.
    pub(super) fn tell(&mut self, more_to_come: bool) -> Told {
        let mut told = Told {
            file: self.file().map(Path::to_path_buf),
            ..Told::default()
        };
        let mut tail: Vec<u8> = std::mem::take(&mut self.tail).into();
        let mut head = std::mem::take(&mut self.head);
        let cut = self.n_bytes > (head.len() + tail.len()) as u64;
        let last = if tail.is_empty() {
            &mut head
        } else {
            &mut tail
        };
        let left = match more_to_come {
            true => last.split_off(last.len() - n_unfinished(last)),
            false => Vec::new(),
        };
        if cut {
            let begun = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80);
            let begun = begun.count();
            let head = String::from_utf8_lossy(&head).into_owned();
            let tail = String::from_utf8_lossy(&tail[begun..]).into_owned();
            told.text = self.shortened(&head, &tail);
        } else {
            head.append(&mut tail);
            let text = String::from_utf8_lossy(&head).into_owned();
            told.text = match text.chars().count() > limits::BASH_OUTPUT_CHARS {
                true => self.shortened(&text, &text),
                false => text,
            };
        }
        if let Some(trouble) = &self.trouble {
            told.notes
                .push(format!("the whole output is not kept: {trouble}"));
        }
        if let Some(file) = &self.file
            && file.n_bytes > limits::BASH_FILE_BYTES
        {
            let limit = limits::BASH_FILE_BYTES;
            told.notes.push(format!(
                "the file holds the first {limit} bytes of {}",
                file.n_bytes
            ));
        }
        self.n_bytes = left.len() as u64;
        self.n_chars = u64::from(!left.is_empty());
        self.head = left;
        told
    }

    fn shortened(&self, head: &str, tail: &str) -> String {
        let start: String = head.chars().take(HALF_CHARS).collect();
        let n_tail = tail.chars().count();
        let end: String = tail
            .chars()
            .skip(n_tail.saturating_sub(HALF_CHARS))
            .collect();
        let n_left_out = self
            .n_chars
            .saturating_sub(limits::BASH_OUTPUT_CHARS as u64);
        let place = match self.file() {
            Some(path) => format!("; the whole is in {}", path.display()),
            None => String::new(),
        };
        format!("{start}\n[{n_left_out} characters left out{place}]\n{end}")
    }

    /// Bytes that begin no character count too, or a flood of them would never be long.
    fn is_long(&self) -> bool {
        self.n_chars.max(self.n_bytes / 4) > limits::BASH_OUTPUT_CHARS as u64
    }

    fn fail(&mut self, err: &io::Error) {
        self.trouble = Some(err.to_string());
        self.file = None;
    }
}

impl OutputFile {
    fn create(folder: &Path) -> io::Result<Self> {
        make_private_dir(folder)?;
        remove_old(folder, "bash-", limits::OUTPUT_LIFETIME);
        let file = tempfile::Builder::new()
            .prefix("bash-")
            .suffix(".log")
            .tempfile_in(folder)?;
        let (file, path) = file.keep().map_err(|err| err.error)?;
        Ok(Self {
            file,
            path,
            n_bytes: 0,
        })
    }

    /// Writes up to the limit and counts all.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = limits::BASH_FILE_BYTES.saturating_sub(self.n_bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        self.n_bytes += bytes.len() as u64;
        self.file.write_all(&bytes[..room.min(bytes.len())])
    }
}

/// How many bytes at the end begin a character that is not complete.
fn n_unfinished(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    match std::str::from_utf8(bytes.get(start..).unwrap_or_default()) {
        Ok(_) => 0,
        Err(_) => (1..=3.min(bytes.len()))
            .find(|n| {
                let end = &bytes[bytes.len() - n..];
                std::str::from_utf8(end)
                    .is_err_and(|err| err.valid_up_to() == 0 && err.error_len().is_none())
            })
            .unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;

    fn window(folder: &tempfile::TempDir) -> Window {
        Window::new(Some(folder.path().to_owned()))
    }

    // R142: 30,000 characters are shown whole, one more is cut in the middle, and the whole is in a file.
    #[test]
    fn the_cap_is_exact_and_counts_characters() {
        let folder = tempfile::tempdir().unwrap();
        let mut exact = window(&folder);
        let text = "é".repeat(limits::BASH_OUTPUT_CHARS);
        exact.push(text.as_bytes());
        let told = exact.tell(false);
        assert_eq!((told.text, told.file), (text.clone(), None));

        let mut more = window(&folder);
        more.push(text.as_bytes());
        more.push(b"x");
        let told = more.tell(false);
        let path = told.file.expect("a file");
        let marker = format!(
            "\n[1 characters left out; the whole is in {}]\n",
            path.display()
        );
        let (head, tail) = told.text.split_once(&marker).expect("the marker");
        assert_eq!(head, "é".repeat(HALF_CHARS));
        assert_eq!(tail, format!("{}x", "é".repeat(HALF_CHARS - 1)));
        assert_eq!(fs::read_to_string(path).unwrap(), format!("{text}x"));
    }

    // R142: a flood takes bounded memory, and its file has all of it.
    #[test]
    fn a_flood_keeps_its_start_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        for flood in [&b"0123456789"[..], b"\x80", "日本語".as_bytes()] {
            let mut window = window(&folder);
            let chunk = flood.repeat(100_000 / flood.len());
            for _ in 0..50 {
                window.push(&chunk);
                assert!(window.head.len() + window.tail.len() <= 2 * HALF_BYTES);
            }
            let told = window.tell(false);
            let n_chars = told.text.chars().count();
            assert!(n_chars < limits::BASH_OUTPUT_CHARS + 300, "{n_chars}");
            assert!(n_chars > limits::BASH_OUTPUT_CHARS, "{n_chars}");
            let file = fs::read(told.file.unwrap()).unwrap();
            assert_eq!(file, chunk.repeat(50));
        }
    }

    // R142: every telling holds what came since the last, and no character is torn.
    #[test]
    fn a_window_is_told_once() {
        let mut window = Window::new(None);
        window.push("a€".as_bytes());
        window.push(&"€".as_bytes()[..2]);
        assert_eq!(window.tell(true).text, "a€");
        assert_eq!(window.tell(true).text, "");
        window.push(&"€".as_bytes()[2..]);
        window.push(b"\xFF");
        assert_eq!(window.tell(true).text, "€\u{FFFD}");
        window.push(&"€".as_bytes()[..2]);
        assert_eq!(window.tell(false).text, "\u{FFFD}");
    }

    // R142: without a place for the file the answer says that the rest is gone.
    #[test]
    fn a_file_that_cannot_be_made_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("file");
        fs::write(&blocked, "").unwrap();
        let mut window = Window::new(Some(blocked.join("sub")));
        window.push(&[b'x'; limits::BASH_OUTPUT_CHARS + 1]);
        let told = window.tell(false);
        assert_eq!(told.file, None);
        assert!(told.notes[0].starts_with("the whole output is not kept: "));
        let mut window = Window::new(None);
        window.push(&[b'x'; limits::BASH_OUTPUT_CHARS + 1]);
        assert!(window.tell(false).text.contains("[1 characters left out]"));
    }

    #[test]
    fn old_files_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * limits::OUTPUT_LIFETIME;
        for name in ["bash-old.log", "other.log", "bash-new.log"] {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != "bash-new.log" {
                file.set_modified(old).unwrap();
            }
        }
        OutputFile::create(folder.path()).unwrap();
        let there = |name: &str| folder.path().join(name).exists();
        assert_eq!(
            [
                there("bash-old.log"),
                there("other.log"),
                there("bash-new.log")
            ],
            [false, true, true]
        );
    }
}
