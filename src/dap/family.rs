//! Whether a process belongs to an adapter.
//!
//! An adapter names its debuggee by a number. It is only believed when that process descends from the
//! adapter or sits in its session: whoever takes a wrong number for granted ends a stranger.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// How many parents are followed.
const GENERATIONS: usize = 64;

/// Tells whether `pid` is in the session of `adapter` or descends from it.
pub(crate) fn belongs(pid: u32, adapter: u32) -> bool {
    if pid == adapter {
        return false;
    }
    let mut next = pid;
    for _ in 0..GENERATIONS {
        let Some((parent, session)) = parent_and_session(next) else {
            return false;
        };
        if session == adapter || parent == adapter {
            return true;
        }
        if parent <= 1 {
            return false;
        }
        next = parent;
    }
    false
}

/// Tells whether a process of this number is there, whoever it belongs to.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    !matches!(test_kill_process(pid), Err(Errno::SRCH))
}

/// Tells whether a process has children, as far as the system says.
pub(crate) fn has_children(pid: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return false;
    };
    tasks
        .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
        .any(|children| !children.trim().is_empty())
}

/// Reads `/proc/PID/stat`, whose name field may hold anything, so the fields are counted from its end.
fn parent_and_session(pid: u32) -> Option<(u32, u32)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.get(stat.rfind(')')? + 1..)?;
    let mut fields = fields.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some((parent, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_until_it_is_not() {
        assert!(is_alive(std::process::id()));
        assert!(is_alive(1), "also one of somebody else");
        assert!(!is_alive(0) && !is_alive(u32::MAX) && !is_alive(i32::MAX.unsigned_abs()));
        assert!(!has_children(u32::MAX));
    }

    #[test]
    fn a_parent_is_family_and_a_stranger_is_not() {
        let own = std::process::id();
        let (parent, session) = parent_and_session(own).expect("this process is there");
        assert!(belongs(own, parent));
        assert!(belongs(own, session));
        assert!(!belongs(own, u32::MAX));
        assert!(!belongs(u32::MAX, own));
    }
}
