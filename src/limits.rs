//! Every product number, each with the requirement or the measurement that it comes from.

use std::time::Duration;

/// How long a writer waits for the lock that another writer of the same workspace holds.
///
/// A commit takes milliseconds; only the baseline that its observer takes (D6) is slower, and that
/// wait is bounded too.
pub const COMMIT_LOCK_WAIT: Duration = Duration::from_secs(20);

/// The threads that sync the files of one commit (measured: 300 files on a disk of 10 ms a sync).
pub const SYNC_THREADS: usize = 8;

/// How long a staged edit can be accepted (D12, D43: staged edits expire after seven days).
pub const STAGED_EDIT_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The lines of a diff preview before it is clipped with a notice (R60).
pub const DIFF_LINES: usize = 200;

/// The unchanged lines around a change in a diff preview, as `diff -u` has them.
pub const DIFF_CONTEXT_LINES: usize = 3;

/// How long the comparison of two texts looks for the shortest diff before it settles for a longer one.
pub const DIFF_EFFORT: Duration = Duration::from_millis(500);

/// The bytes in which a NUL makes a file binary, as ripgrep decides it.
pub const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// The symbolic links that one path may lead through, as Linux counts them.
pub const MAX_SYMLINKS: usize = 40;
