//! Every product number, with where it comes from.

use std::time::Duration;

/// Parses that the pattern compiler may spend on one rung before it calls the fragment hopeless.
pub const SPELLINGS_PER_RUNG: usize = 320;

/// Bytes of pattern that these parses may take together: a long hopeless fragment gets fewer.
pub const SPELLED_BYTES_PER_RUNG: usize = 1 << 16;

/// How deep token lists inside token lists are parsed again as code; deeper ones stay tokens, so that
/// hostile nesting cannot make the work quadratic.
pub const TOKEN_TREE_NESTING: usize = 8;

/// Longest pattern or template, in bytes.
pub const PATTERN_BYTES: usize = 16_384;

/// Steps that matching one candidate may take before it is given up as no match; only patterns with
/// several runs and repeated metavariables can come near.
pub const MATCH_STEPS: usize = 4_000_000;

/// Results of one structural search, where the caller names no other number (R51).
pub const MAX_RESULTS: usize = 50;

/// Largest file that a structural search reads, in bytes; larger ones are named as skipped (D15).
pub const SEARCH_FILE_BYTES: u64 = 128 << 20;

/// Largest piece of source that is parsed at once, in bytes: a parse takes 20 to 100 bytes of memory
/// for each byte of source.
pub const PARSE_BYTES: usize = 12 << 20;

/// Source bytes that the answer to an empty search may parse to explain itself (D14).
pub const HINT_BYTES: usize = 1 << 17;

/// Longest text of one match or capture in an answer, in bytes; nested matches of a deep source would
/// otherwise print quadratically.
pub const MATCH_TEXT_BYTES: usize = 10_000;

/// Lines of one match that the text answer shows.
pub const MATCH_LINES: usize = 12;

/// Characters of one line that the text answer shows.
pub const LINE_CHARS: usize = 240;

/// Memory of the cache of parsed files in one run, in bytes; the least recently used go first.
pub const CACHE_BYTES: usize = 256 << 20;

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

/// Lines that are looked at to learn how a file indents.
pub const LAYOUT_LINES: usize = 2_000;

/// Levels and lines of a pattern's tree that its explanation shows: an indented line for each level of
/// a deep one would be quadratic.
pub const EXPLAINED_LEVELS: usize = 60;

/// See [`EXPLAINED_LEVELS`].
pub const EXPLAINED_LINES: usize = 2_000;

/// Largest content that a rewrite may give one file, in bytes: a template that uses a capture twice
/// doubles it at every level of nesting. What could not be parsed again could not be checked.
pub const REWRITE_BYTES: usize = PARSE_BYTES;

/// Captures and replacements that a rewrite may put into one file: each takes some fifty bytes of
/// memory while the result is checked, also where it adds no byte to the file.
pub const REWRITE_PIECES: usize = 4_000_000;

/// Replacements that one answer of a rewrite lists.
pub const CHANGES_SHOWN: usize = 200;

/// Syntax errors of one file whose places are kept.
pub const ERRORS_NOTED: usize = 1_000;

// The debugger.

/// How long a debug session lives, counted from its launch or attach (R73, D18).
pub const DEBUG_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// How long continue, a step or a launch waits for a stop before it answers `still running` (D19).
pub const DEBUG_STOP_WAIT: Duration = Duration::from_secs(20);

/// How long a launch waits for a stop where no breakpoint is set: nothing but a crash or the end can come.
pub const DEBUG_FREE_RUN_WAIT: Duration = Duration::from_secs(5);

/// How long an adapter may take from its start until it takes breakpoints; delve builds the program in
/// that time (measured: 25 s cold).
pub const DEBUG_START_WAIT: Duration = Duration::from_secs(180);

/// How long an adapter may take to answer one request.
pub const DEBUG_REQUEST_WAIT: Duration = Duration::from_secs(15);

/// How long a build before a launch may take.
pub const DEBUG_BUILD_WAIT: Duration = Duration::from_secs(600);

/// How long an adapter may take to part from the program before it is killed.
pub const DEBUG_PART_WAIT: Duration = Duration::from_secs(3);

/// Bytes of output that a debug session keeps (R89, D20).
pub const DEBUG_OUTPUT_BYTES: usize = 128 << 10;

/// Frames of one stack (R85).
pub const DEBUG_FRAMES: usize = 30;

/// Children of one variable (R87).
pub const DEBUG_CHILDREN: usize = 50;

/// Characters of one value among variables (R87).
pub const DEBUG_VALUE_CHARS: usize = 400;

/// Characters of the value of one evaluated expression, which was asked for alone.
pub const DEBUG_RESULT_CHARS: usize = 10_000;

/// Local variables that a stop shows.
pub const DEBUG_LOCALS: usize = 12;

/// Source lines that a stop shows on each side of the current one.
pub const DEBUG_SOURCE_LINES: usize = 3;

/// Largest message of a debug adapter, in bytes.
pub const DEBUG_MESSAGE_BYTES: usize = 64 << 20;

/// Bytes of an adapter's own words that are kept for its errors.
pub const DEBUG_WORDS_BYTES: usize = 8 << 10;
