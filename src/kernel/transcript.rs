//! What a cell printed: bounded in memory, whole in a file where it is too long for an answer.
//!
//! Output and displays keep their order: a display remembers after which byte of the output it came. Of a
//! long output the head and the tail are kept (D25).

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::{make_private_dir, remove_old};
use crate::limits;

/// The output of one cell.
#[derive(Debug)]
pub(crate) struct Transcript {
    folder: Option<PathBuf>,
    /// All of it while it is short, then its head.
    head: Vec<u8>,
    /// The end of it, once it is long.
    tail: Vec<u8>,
    long: bool,
    n_lines: usize,
    total: u64,
    spill: Option<Spill>,
}

/// A text as an answer shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The parts between displays: the parts at index `i` comes before display `i`.
    pub(crate) parts: Vec<String>,
    /// The file that holds it whole, when something was left out.
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug)]
struct Spill {
    file: File,
    path: PathBuf,
    written: u64,
}

const HALF_BYTES: usize = limits::CELL_TEXT_BYTES / 2;
const HALF_LINES: usize = limits::CELL_TEXT_LINES / 2;

impl Transcript {
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Self {
            folder: folder.map(Path::to_path_buf),
            head: Vec::new(),
            tail: Vec::new(),
            long: false,
            n_lines: 0,
            total: 0,
            spill: None,
        }
    }

    /// Returns how many bytes came so far.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Takes what was printed next.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.n_lines += count_lines(bytes);
        if self.long {
            self.keep(bytes);
            self.tail.extend_from_slice(bytes);
            if self.tail.len() > 4 * limits::CELL_TEXT_BYTES {
                let excess = self.tail.len() - HALF_BYTES;
                self.tail.drain(..excess);
            }
            return;
        }
        self.head.extend_from_slice(bytes);
        // A last line without its end is a line too.
        let open = usize::from(self.head.last().is_some_and(|byte| *byte != b'\n'));
        if self.head.len() > limits::CELL_TEXT_BYTES
            || self.n_lines + open > limits::CELL_TEXT_LINES
        {
            self.long = true;
            let all = std::mem::take(&mut self.head);
            self.spill = self
                .folder
                .as_deref()
                .and_then(|folder| Spill::create(folder).ok());
            self.keep(&all);
            let cut = head_end(&all);
            self.head = all[..cut].to_vec();
            self.tail = all[cut..].to_vec();
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(spill) = &mut self.spill else { return };
        let room = limits::SPILL_BYTES.saturating_sub(spill.written);
        let bytes = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        if spill.file.write_all(bytes).is_err() {
            // A full disk must not end the cell; what is there so far is still named.
            spill.written = limits::SPILL_BYTES;
        } else {
            spill.written += bytes.len() as u64;
        }
    }

    /// Returns the text, cut at these offsets, which ascend.
    pub(crate) fn finish(self, cuts: &[u64]) -> Shown {
        let Self {
            head,
            mut tail,
            long,
            total,
            spill,
            ..
        } = self;
        if !long {
            return Shown {
                parts: split(&head, 0, cuts).collect(),
                file: None,
            };
        }
        let start = tail_start(&tail);
        tail.drain(..start);
        let tail_at = total - tail.len() as u64;
        let left_out = tail_at - head.len() as u64;
        let file = spill.map(|spill| spill.path);
        let place = match &file {
            Some(path) => format!("the whole is in {}", path.display()),
            None => "there is no place to keep them".to_owned(),
        };
        let start = if head.ends_with(b"\n") { "" } else { "\n" };
        let gap = format!("{start}[... {left_out} bytes left out: {place} ...]\n");
        let n_head = cuts.partition_point(|cut| *cut <= head.len() as u64);
        let (head_cuts, tail_cuts) = cuts.split_at(n_head);
        let mut parts: Vec<String> = split(&head, 0, head_cuts).collect();
        let mut rest = split(&tail, tail_at, tail_cuts);
        if let Some(last) = parts.last_mut() {
            last.push_str(&gap);
            last.push_str(&rest.next().unwrap_or_default());
        }
        parts.extend(rest);
        Shown { parts, file }
    }
}

impl Spill {
    fn create(folder: &Path) -> io::Result<Self> {
        make_private_dir(folder)?;
        remove_old(folder, "output-", limits::OUTPUT_LIFETIME);
        let (file, path) = tempfile::Builder::new()
            .prefix("output-")
            .suffix(".txt")
            .tempfile_in(folder)?
            .keep()
            .map_err(|error| error.error)?;
        Ok(Self {
            file,
            path,
            written: 0,
        })
    }
}

/// Caps one text as the output of a cell is capped; the file holds it whole.
pub(crate) fn cap(text: String, folder: Option<&Path>) -> (String, Option<PathBuf>) {
    let mut transcript = Transcript::new(folder);
    transcript.push(text.as_bytes());
    if !transcript.long {
        return (text, None);
    }
    let shown = transcript.finish(&[]);
    (shown.parts.concat(), shown.file)
}

fn count_lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Where the head of a long text ends: within both limits, between two characters, and after a line when
/// one ends in the last part of it.
fn head_end(all: &[u8]) -> usize {
    let mut end = memchr::memchr_iter(b'\n', all)
        .nth(HALF_LINES - 1)
        .map_or(all.len(), |at| at + 1)
        .min(HALF_BYTES)
        .min(all.len());
    while end > 0 && end < all.len() && is_continuation(all[end]) {
        end -= 1;
    }
    match memchr::memrchr(b'\n', &all[..end]) {
        Some(at) if at + 1 > end - end / 4 => at + 1,
        _ => end,
    }
}

/// Where the tail of a long text starts, by the same rules.
fn tail_start(tail: &[u8]) -> usize {
    let open = usize::from(tail.last().is_some_and(|byte| *byte != b'\n'));
    let by_lines = memchr::memrchr_iter(b'\n', tail)
        .nth(HALF_LINES - open)
        .map_or(0, |at| at + 1);
    let mut start = tail.len().saturating_sub(HALF_BYTES).max(by_lines);
    while start < tail.len() && is_continuation(tail[start]) {
        start += 1;
    }
    let rest = &tail[start..];
    match memchr::memchr(b'\n', rest) {
        Some(at) if start > by_lines && at < rest.len() / 4 => start + at + 1,
        _ => start,
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Cuts bytes that start at offset `at` into one text more than there are cuts.
fn split<'a>(bytes: &'a [u8], at: u64, cuts: &'a [u64]) -> impl Iterator<Item = String> + 'a {
    let place = move |cut: u64| {
        let within = cut.saturating_sub(at);
        usize::try_from(within).map_or(bytes.len(), |within| within.min(bytes.len()))
    };
    let starts = std::iter::once(0).chain(cuts.iter().map(move |cut| place(*cut)));
    let ends = cuts
        .iter()
        .map(move |cut| place(*cut))
        .chain(std::iter::once(bytes.len()));
    starts
        .zip(ends)
        .map(|(start, end)| String::from_utf8_lossy(&bytes[start..end.max(start)]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Shown {
        let mut transcript = Transcript::new(None);
        // In pieces, as it comes from a pipe.
        for chunk in text.as_bytes().chunks(7_001) {
            transcript.push(chunk);
        }
        transcript.finish(&[])
    }

    // D25: 50 KB and 3,000 lines are whole, one more is not.
    #[test]
    fn output_is_cut_over_either_limit_and_not_at_it() {
        let line = "x".repeat(9) + "\n";
        let whole = line.repeat(3_000);
        assert_eq!(shown(&whole).parts.concat(), whole);
        let cut = shown(&(whole.clone() + "y")).parts.concat();
        assert!(
            cut.len() < whole.len() + 100 && cut.ends_with("y"),
            "{}",
            cut.len()
        );
        assert!(cut.contains("bytes left out"));
        assert!(cut.lines().count() <= 3_001, "{}", cut.lines().count());
        let whole = "x".repeat(50_000);
        assert_eq!(shown(&whole).parts.concat(), whole);
        let cut = shown(&(whole + "y")).parts.concat();
        assert!(cut.contains("[... 1 bytes left out") && cut.ends_with('y'));
    }

    #[test]
    fn the_whole_of_a_long_output_is_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut transcript = Transcript::new(Some(folder.path()));
        let text: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
        for chunk in text.as_bytes().chunks(4_096) {
            transcript.push(chunk);
        }
        assert_eq!(transcript.total(), text.len() as u64);
        let shown = transcript.finish(&[]);
        let path = shown.file.expect("a file");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        let cut = shown.parts.concat();
        assert!(cut.starts_with("line 0\n") && cut.ends_with("line 39999\n"));
        assert!(cut.contains(&path.display().to_string()));
        assert!(cut.len() < limits::CELL_TEXT_BYTES + 200);
    }

    #[test]
    fn displays_keep_their_place() {
        let mut transcript = Transcript::new(None);
        transcript.push(b"one");
        let first = transcript.total();
        transcript.push(b"two");
        let second = transcript.total();
        assert_eq!(
            transcript.finish(&[first, second]).parts,
            ["one", "two", ""]
        );
        let mut transcript = Transcript::new(None);
        transcript.push(b"start");
        let first = transcript.total();
        transcript.push("é".repeat(60_000).as_bytes());
        let second = transcript.total();
        transcript.push(b"end");
        let parts = transcript.finish(&[first, second]).parts;
        assert_eq!((parts[0].as_str(), parts[2].as_str()), ("start", "end"));
        assert!(parts[1].contains("left out") && !parts[1].contains('\u{FFFD}'));
    }
}
