//! Finds and ends everything that belongs to a child: its group, its session and its descendants.
//!
//! A group alone is not enough: debug adapters and shells with job control put what they start into groups
//! of their own. Members are held by process descriptors, so a number that is reused in between is never
//! signalled.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// How often the tree is looked at again after SIGKILL: something may have forked in between.
const ROUNDS: usize = 8;

/// How long one round waits. The kernel ends a process at once, unless it hangs in a driver.
const ROUND_WAIT: Duration = Duration::from_secs(1);

/// The head of a tree of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// Its number, which is also that of the group and session that it may lead.
    pub(crate) pid: Pid,
    /// When it started, in clock ticks since boot; 0 when that is not known. Number and start time together
    /// name a process for good.
    pub(crate) start: u64,
    /// Whether this process is the parent and has not reaped it, so that the number cannot be reused.
    pub(crate) pinned: bool,
    /// Whether orphans of the tree become its children: they are found only while it lives, so it is ended
    /// last.
    pub(crate) keeper: bool,
}

/// One line of the process table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    start: u64,
    /// A zombie has ended and only waits to be reaped.
    alive: bool,
}

/// Returns a process number; `None` for 0 and for what no process can have.
pub(crate) fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Returns when a process started, if it is there.
pub(crate) fn start_time(pid: Pid) -> Option<u64> {
    read_row(pid.as_raw_nonzero().get()).map(|row| row.start)
}

/// Ends the trees: SIGTERM and a wait of `grace`, then SIGKILL to what is left.
pub(crate) fn end(roots: &[Root], grace: Duration) {
    if roots.is_empty() {
        return;
    }
    // What was seen once stays a part of the tree: its parent, by which it was found, may end before it.
    let mut seen = roots.to_vec();
    let keepers: Vec<i32> = roots
        .iter()
        .filter(|root| root.keeper)
        .map(|root| root.pid.as_raw_nonzero().get())
        .collect();
    if !grace.is_zero() {
        let members = look(&mut seen, &[]);
        signal(roots, &members, Signal::TERM);
        await_end(look(&mut seen, &keepers), grace);
    }
    if !keepers.is_empty() {
        for _ in 0..ROUNDS {
            let members = look(&mut seen, &keepers);
            if members.is_empty() {
                break;
            }
            signal(&[], &members, Signal::KILL);
            await_end(members, ROUND_WAIT);
        }
    }
    for _ in 0..ROUNDS {
        let members = look(&mut seen, &[]);
        // Also when no member is seen: without a readable process table the group is all there is.
        signal(roots, &members, Signal::KILL);
        if members.is_empty() {
            return;
        }
        await_end(members, ROUND_WAIT);
    }
}

/// Waits until nothing of the tree lives but its root; returns how many processes do.
pub(crate) fn others(root: Root, patience: Duration) -> usize {
    let deadline = Instant::now() + patience;
    let host = rustix::process::getpid().as_raw_nonzero().get();
    let own = root.pid.as_raw_nonzero().get();
    loop {
        // One that starts another and ends at that moment shows in the table only: it is looked at again.
        let rows = members(&[root], &read_table(), host);
        let n_living = rows.iter().filter(|row| row.pid != own).count();
        let left = deadline.saturating_duration_since(Instant::now());
        if n_living == 0 || left.is_zero() {
            return n_living;
        }
        await_end(open(living(&[root]), &[own]), left);
    }
}

/// Parses a line of `/proc/PID/stat`. The name of the program stands in parentheses and may hold anything,
/// parentheses and line ends included, so the fields are counted from the last one.
fn parse_row(line: &str) -> Option<Row> {
    let pid = line.split(' ').next()?.parse().ok()?;
    let mut fields = line.get(line.rfind(')')? + 1..)?.split_ascii_whitespace();
    let alive = !matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // starttime is field 22 of the line; four fields after the name are read (proc_pid_stat(5)).
    let start = fields.nth(15)?.parse().ok()?;
    Some(Row {
        pid,
        parent,
        group,
        session,
        start,
        alive,
    })
}

fn read_row(pid: i32) -> Option<Row> {
    // The program's name may be no UTF-8.
    parse_row(&String::from_utf8_lossy(
        &fs::read(format!("/proc/{pid}/stat")).ok()?,
    ))
}

fn read_table() -> Vec<Row> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read_row)
        .collect()
}

/// Picks the living members of the trees.
fn members(roots: &[Root], table: &[Row], own: i32) -> Vec<Row> {
    let ours: BTreeSet<i32> = roots
        .iter()
        .map(|root| (root.pid.as_raw_nonzero().get(), root.start))
        // A root that is gone still has its number reserved while its group or session has members. A
        // process of another start time got the number later, so nothing of ours is left behind it.
        .filter(|(pid, start)| {
            table
                .iter()
                .find(|row| row.pid == *pid)
                .is_none_or(|row| *start == 0 || row.start == *start)
        })
        .map(|(pid, _)| pid)
        .collect();
    let mut found: BTreeSet<i32> = BTreeSet::new();
    loop {
        let before = found.len();
        for row in table {
            let belongs = [row.pid, row.group, row.session]
                .iter()
                .any(|number| ours.contains(number));
            if row.pid != own && row.pid != 1 && (belongs || found.contains(&row.parent)) {
                found.insert(row.pid);
            }
        }
        if found.len() == before {
            break;
        }
    }
    table
        .iter()
        .filter(|row| row.alive && found.contains(&row.pid))
        .copied()
        .collect()
}

/// Opens the living members of the trees, without the processes `spared`, and takes note of all.
fn look(seen: &mut Vec<Root>, spared: &[i32]) -> Vec<OwnedFd> {
    let rows = living(seen);
    for row in &rows {
        let known = seen
            .iter()
            .any(|root| root.pid.as_raw_nonzero().get() == row.pid);
        if let Some(pid) = Pid::from_raw(row.pid).filter(|_| !known) {
            seen.push(Root {
                pid,
                start: row.start,
                pinned: false,
                keeper: false,
            });
        }
    }
    open(rows, spared)
}

/// The living members of the trees.
fn living(roots: &[Root]) -> Vec<Row> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    members(roots, &read_table(), own)
}

fn open(rows: Vec<Row>, spared: &[i32]) -> Vec<OwnedFd> {
    rows.into_iter()
        .filter(|row| !spared.contains(&row.pid))
        .filter_map(|row| {
            let descriptor = pidfd_open(Pid::from_raw(row.pid)?, PidfdFlags::empty()).ok()?;
            // The descriptor names whoever has the number now; the start time says whether that is the one.
            (read_row(row.pid)?.start == row.start).then_some(descriptor)
        })
        .collect()
}

fn signal(roots: &[Root], members: &[OwnedFd], signal: Signal) {
    // A process that ended in between takes no signal, which is what was wanted.
    for root in roots.iter().filter(|root| root.pinned) {
        // The group in one stroke: no member can fork out of it in between.
        let _ = kill_process_group(root.pid, signal);
    }
    for member in members {
        let _ = pidfd_send_signal(member, signal);
    }
}

fn await_end(mut members: Vec<OwnedFd>, timeout: Duration) {
    let deadline = Instant::now() + timeout;
    while !members.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(timespec) = Timespec::try_from(left) else {
            return;
        };
        let mut fds: Vec<PollFd<'_>> = members
            .iter()
            .map(|member| PollFd::new(member, PollFlags::IN))
            .collect();
        match poll(&mut fds, Some(&timespec)) {
            Ok(0) => return,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let ended: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ended = ended.into_iter();
        members.retain(|_| !ended.next().unwrap_or(false));
    }
}

/// Waits until a process has ended, or the timeout; tells whether it has.
#[cfg(test)]
pub(crate) fn await_end_of(number: u32, timeout: Duration) -> bool {
    let Some(pid) = pid(number) else { return true };
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
    await_end(descriptor.into_iter().collect(), timeout);
    read_row(pid.as_raw_nonzero().get()).is_none_or(|row| !row.alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pid: i32, parent: i32, group: i32, session: i32, start: u64) -> Row {
        Row {
            pid,
            parent,
            group,
            session,
            start,
            alive: true,
        }
    }

    fn root(pid: i32, start: u64) -> Root {
        Root {
            pid: Pid::from_raw(pid).expect("positive"),
            start,
            pinned: false,
            keeper: false,
        }
    }

    fn pids(roots: &[Root], table: &[Row]) -> Vec<i32> {
        members(roots, table, 5).iter().map(|row| row.pid).collect()
    }

    #[test]
    fn a_line_parses_whatever_the_program_is_called() {
        let line = "42 (a) R 9 (b\n) S 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987 1 2";
        let expected = Row {
            pid: 42,
            parent: 7,
            group: 42,
            session: 40,
            start: 987,
            alive: true,
        };
        assert_eq!(parse_row(line), Some(expected));
        assert_eq!(parse_row("42 (a) S 7"), None);
        assert_eq!(parse_row(""), None);
    }

    #[test]
    fn group_session_and_descendants_belong_and_others_do_not() {
        let table = [
            row(10, 5, 10, 10, 1),
            row(11, 10, 10, 10, 2), // in the group
            row(12, 1, 12, 10, 3),  // an orphan in the session
            row(13, 11, 13, 13, 4), // a descendant in a session of its own
            row(20, 5, 20, 20, 5),  // another child
            row(5, 1, 10, 10, 0),   // the caller itself, never
        ];
        assert_eq!(pids(&[root(10, 1)], &table), [10, 11, 12, 13]);
    }

    #[test]
    fn a_reused_number_is_left_alone_and_a_leaderless_group_is_not() {
        let table = [row(10, 1, 10, 10, 99), row(11, 10, 10, 10, 100)];
        assert_eq!(pids(&[root(10, 1)], &table), [0; 0]);
        assert_eq!(pids(&[root(10, 99)], &table), [10, 11]);
        let orphan = [row(11, 1, 10, 3, 2)];
        assert_eq!(pids(&[root(10, 1)], &orphan), [11]);
    }

    #[test]
    fn a_zombie_is_no_living_member() {
        let zombie = Row {
            alive: false,
            ..row(10, 5, 10, 10, 1)
        };
        assert_eq!(pids(&[root(10, 1)], &[zombie]), [0; 0]);
    }
}
