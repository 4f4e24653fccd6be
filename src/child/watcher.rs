//! The process that ends what a killed host leaves behind.
//!
//! It holds the reading end of a pipe whose writing end only the host has, so the end of file is the end
//! of the host, however that came about. Lines tell it what is in the host's charge:
//!
//! ```text
//! + ID PID START     the process PID, started at START, leads a tree; ID names the record
//! - ID               the host has ended that tree itself
//! ```
//!
//! At the end of file it kills the recorded trees. A record whose start time does not fit any more is a
//! reused number and is left alone. The watcher runs in a session of its own and ignores polite signals,
//! so what ends the host's terminal or group does not end it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::child::tree::{self, Root};
use crate::child::{Env, Isolation, Program, before_exec};

/// Who watches over the children of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// `/bin/sh` with a script: what any host has.
    #[default]
    Shell,
    /// A program that calls [`run`] on its standard input, such as the `toolbox` command itself.
    Program {
        /// The program.
        program: PathBuf,
        /// The arguments that make it watch.
        args: Vec<OsString>,
    },
}

/// Reads records until the host is gone, then kills what is still recorded.
pub fn run(records: impl Read) {
    let mut roots: BTreeMap<u64, Root> = BTreeMap::new();
    for line in BufReader::new(records).split(b'\n') {
        // A pipe that cannot be read is the same as one that has ended.
        let Ok(line) = line else { break };
        let line = String::from_utf8_lossy(&line);
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["+", id, pid, start] => {
                let (Ok(id), Ok(pid), Ok(start)) = (id.parse(), pid.parse(), start.parse()) else {
                    continue;
                };
                if let Some(pid) = tree::pid(pid) {
                    roots.insert(
                        id,
                        Root {
                            pid,
                            start,
                            pinned: false,
                            keeper: false,
                        },
                    );
                }
            }
            ["-", id] => {
                if let Ok(id) = id.parse() {
                    roots.remove(&id);
                }
            }
            _ => {}
        }
    }
    tree::end(&roots.into_values().collect::<Vec<_>>(), Duration::ZERO);
}

/// What [`run`] does, for hosts that name no program. Fields of `/proc/PID/stat` are counted after the
/// program's name: `$2` is the parent, `$3` the group, `$4` the session, `${20}` the start time.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
live=
while read -r op id pid start; do
    case $op in
    +) live="$live $id:$pid:$start" ;;
    -)
        kept=
        for record in $live; do
            case $record in "$id":*) ;; *) kept="$kept $record" ;; esac
        done
        live=$kept
        ;;
    esac
done
roots=' '
for record in $live; do
    rest=${record#*:}
    pid=${rest%%:*}
    start=${rest#*:}
    now=
    if { read -r line <"/proc/$pid/stat"; } 2>/dev/null; then
        set -- ${line##*) }
        now=${20}
    fi
    case $start in
    0) roots="$roots$pid " ;;
    *) case $now in '' | "$start") roots="$roots$pid " ;; esac ;;
    esac
done
[ "$roots" = ' ' ] && exit 0
for round in 1 2 3 4 5 6 7 8; do
    found=' '
    alive=
    grown=yes
    while [ -n "$grown" ]; do
        grown=
        for file in /proc/[0-9]*/stat; do
            { read -r line <"$file"; } 2>/dev/null || continue
            pid=${line%% *}
            case $found in *" $pid "*) continue ;; esac
            set -- ${line##*) }
            belongs=
            for number in "$pid" "$3" "$4"; do
                case $roots in *" $number "*) belongs=yes ;; esac
            done
            case $found in *" $2 "*) belongs=yes ;; esac
            [ -n "$belongs" ] && [ "$pid" != $$ ] || continue
            found="$found$pid "
            grown=yes
            case $1 in Z | X) ;; *) alive="$alive $pid" ;; esac
        done
    done
    [ -z "$alive" ] && exit 0
    kill -KILL $alive 2>/dev/null
done
"#;

/// A running watcher, seen from the host.
#[derive(Debug)]
pub(crate) struct Watcher {
    process: std::process::Child,
    records: Arc<OwnedFd>,
    /// Kept so that a child that writes its record never meets a broken pipe, whose signal would end it
    /// before its exec. It does not keep the watcher from seeing the end: that comes from the other side.
    _reader: PipeReader,
    abandoned: bool,
}

impl Watcher {
    pub(crate) fn start(watch: &Watch) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        // A watcher that does not read must not block the start of a child for ever.
        rustix::io::ioctl_fionbio(&writer, true)?;
        let program = match watch {
            Watch::Shell => {
                Program::new("/bin/sh", "/", Env::new()).args(["-c", SCRIPT, "toolbox-watch"])
            }
            Watch::Program { program, args } => Program::new(program, "/", Env::new()).args(args),
        };
        let mut command = program.command();
        command.stdin(Stdio::from(reader.try_clone()?));
        before_exec(&mut command, Isolation::Session, None);
        let process = command.spawn().map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("cannot start the watcher {program}: {error}"),
            )
        })?;
        Ok(Self {
            process,
            records: Arc::new(OwnedFd::from(writer)),
            _reader: reader,
            abandoned: false,
        })
    }

    /// Lets go of a watcher that still has work: it ends what is recorded as soon as the pipe closes.
    pub(crate) fn abandon(mut self) {
        self.abandoned = true;
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Returns where a child writes its own record.
    pub(crate) fn records(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.records)
    }

    pub(crate) fn record(&self, id: u64, root: Root) -> io::Result<()> {
        self.write(format_args!("+ {id} {} {}\n", root.pid, root.start))
    }

    pub(crate) fn forget(&self, id: u64) -> io::Result<()> {
        self.write(format_args!("- {id}\n"))
    }

    fn write(&self, line: std::fmt::Arguments<'_>) -> io::Result<()> {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = text.write_fmt(line);
        write_line(self.records.as_fd(), text.as_bytes())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Nothing is in charge any more, so there is nothing to wait for; see `abandon`.
        if !self.abandoned {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Writes the record of the calling process. It runs between fork and exec: no allocation, no lock.
pub(crate) fn record_self(records: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    let pid = rustix::process::getpid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs();
    let mut line = Line::default();
    line.text(b"+ ");
    line.number(id);
    line.text(b" ");
    line.number(u64::from(pid));
    line.text(b" ");
    line.number(own_start_time().unwrap_or(0));
    line.text(b"\n");
    write_line(records, line.bytes())
}

/// A line is shorter than what a pipe takes in one piece, so lines of several writers never mix.
fn write_line(records: BorrowedFd<'_>, line: &[u8]) -> io::Result<()> {
    loop {
        match rustix::io::write(records, line) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn own_start_time() -> Option<u64> {
    let mut buffer = [0; 1024];
    let file = rustix::fs::open(
        c"/proc/self/stat",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .ok()?;
    let n = rustix::io::read(&file, &mut buffer).ok()?;
    let line = buffer.get(..n)?;
    let after_name = line.iter().rposition(|byte| *byte == b')')? + 2;
    let start = line
        .get(after_name..)?
        .split(|byte| *byte == b' ')
        .nth(19)?;
    start.iter().try_fold(0u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Formats without allocating. Three numbers and their separators fit.
struct Line {
    bytes: [u8; 80],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            bytes: [0; 80],
            length: 0,
        }
    }
}

impl Line {
    fn text(&mut self, text: &[u8]) {
        for byte in text {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.text(&digits[first..]);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_record_fits_its_line() {
        let mut line = Line::default();
        line.text(b"+ ");
        line.number(u64::MAX);
        line.text(b" ");
        line.number(u64::from(u32::MAX));
        line.text(b" ");
        line.number(u64::MAX);
        line.text(b"\n");
        let expected = format!("+ {} {} {}\n", u64::MAX, u32::MAX, u64::MAX);
        assert_eq!(line.bytes(), expected.as_bytes());
        assert!(line.bytes().ends_with(b"\n"));
    }

    #[test]
    fn own_start_time_agrees_with_the_process_table() {
        assert_eq!(
            own_start_time(),
            tree::start_time(rustix::process::getpid())
        );
        assert!(own_start_time().is_some_and(|start| start > 0));
    }

    /// Hands three victims to a watcher and lets the host go; tells which of them it killed.
    fn killed_by(watch: &Watch) -> [bool; 3] {
        let mut victims = [(), (), ()].map(|()| {
            let mut command = Program::new("/bin/sleep", "/", Env::new())
                .args(["600"])
                .command();
            command.spawn().expect("spawn")
        });
        let mut watcher = Watcher::start(watch).expect("a watcher");
        for (id, victim) in (1..).zip(&victims) {
            let pid = tree::pid(victim.id()).expect("a number");
            let start = tree::start_time(pid).expect("it lives");
            let start = if id == 2 { start + 1 } else { start };
            let root = Root {
                pid,
                start,
                pinned: false,
                keeper: false,
            };
            watcher.record(id, root).expect("the watcher reads");
        }
        watcher.forget(3).expect("the watcher reads");
        // Closes the only writing end, as the death of the host does.
        let (_, other) = io::pipe().expect("a pipe");
        watcher.records = Arc::new(OwnedFd::from(other));
        watcher.process.wait().expect("the watcher ends");
        // The kill has been sent; the first victim may still be about to end.
        let _ = tree::await_end_of(victims[0].id(), Duration::from_secs(20));
        let res = victims
            .each_mut()
            .map(|victim| matches!(victim.try_wait(), Ok(Some(_))));
        for victim in &mut victims {
            let _ = victim.kill();
            let _ = victim.wait();
        }
        res
    }

    #[test]
    fn the_shell_spares_reused_numbers_and_what_the_host_ended_itself() {
        assert_eq!(killed_by(&Watch::Shell), [true, false, false]);
    }

    #[test]
    fn a_record_of_a_reused_number_or_no_record_at_all_harms_nobody() {
        let own = rustix::process::getpid();
        // The number of this very process with a start time that is not its own.
        run(
            format!("+ 1 {own} 1\nnonsense\n+ x y z\n- 7\n+ 2 -5 0\n+ 3 0 0\n+ 4 4294967295 0\n")
                .as_bytes(),
        );
    }
}
