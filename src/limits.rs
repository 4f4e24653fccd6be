//! Every product number, with where it comes from.

use std::time::Duration;

/// What stands for ever where a time is added to a clock, which has an end: some thirty years.
pub const FOREVER: Duration = Duration::from_secs(1_000_000_000);

/// Parses that the pattern compiler may spend on one rung before it calls the fragment hopeless.
pub const SPELLINGS_PER_RUNG: usize = 320;

/// Bytes of pattern that these parses may take together: a long hopeless fragment gets fewer.
pub const SPELLED_BYTES_PER_RUNG: usize = 1 << 16;

/// How deep token lists inside token lists are parsed again as code; deeper ones stay tokens, so that
/// hostile nesting cannot make the work quadratic.
pub const TOKEN_TREE_NESTING: usize = 8;

/// How often one binary expression may change places with its right side, which has as many levels as a
/// language has strengths of operators.
pub const REGROUPED_LEVELS: u32 = 12;

/// Nodes on the left of a binary expression that changes places; more stay where the grammar puts them, so
/// that hostile nesting cannot make the work quadratic.
pub const REGROUPED_NODES: u32 = 1_000;

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
pub const HINT_BYTES: usize = 3 << 14;

/// The same for the first file that is looked at, so that a hint about one large file is possible.
pub const HINT_FILE_BYTES: usize = 1 << 17;

/// Longest text of one match or capture in an answer, in bytes; nested matches of a deep source would
/// otherwise print quadratically.
pub const MATCH_TEXT_BYTES: usize = 10_000;

/// Lines of one match that the text answer shows.
pub const MATCH_LINES: usize = 12;

/// Characters of one line that the text answer shows.
pub const LINE_CHARS: usize = 240;

/// Source that all threads together parse at once, in bytes, where there is more than one file of it: a parse
/// takes some hundred times as much memory.
pub const PARSED_AT_ONCE_BYTES: usize = 1 << 20;

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

/// Ids of expired edits that are remembered, so that they are told from ids that never were (D12).
pub const EXPIRED_EDITS: usize = 1_000;

/// Bytes of one line of a diff preview before the line is cut with a notice (R60).
pub const DIFF_LINE_BYTES: usize = 1_000;

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

// The web.

/// Bytes of a page that are read, after decompression (R148).
pub const FETCH_BYTES: usize = 5 << 20;

/// Longest address of a page, in bytes; servers take no longer ones.
pub const FETCH_URL_BYTES: usize = 8_192;

/// Characters of a page that an answer holds.
pub const FETCH_CHARS: usize = 100_000;

/// How long one page may take, its redirects included.
pub const FETCH_TIME: Duration = Duration::from_secs(30);

/// Redirects on the same host that one fetch follows.
pub const FETCH_REDIRECTS: usize = 5;

/// How deep the elements of a page may nest; browsers keep to 512.
pub const FETCH_NESTING: usize = 600;

/// Open elements, as its tags tell, above which a page is not even parsed: parsing takes time by the square
/// of them (measured: 5,000 take a third of a second unoptimised, 200,000 take minutes).
pub const FETCH_OPEN_ELEMENTS: usize = 5_000;

/// The stack of the thread that converts a page: enough for [`FETCH_NESTING`] levels unoptimised.
pub const FETCH_STACK_BYTES: usize = 64 << 20;

/// Hits of a web search, where the caller names no other number (R149).
pub const SEARCH_HITS: usize = 10;

/// Characters of what a hit quotes of its page.
pub const SEARCH_SNIPPET_CHARS: usize = 500;
// Questions and approvals.

/// Options that one question may have: more than this is a list to read, not a choice to make.
pub const ASK_OPTIONS: usize = 50;

/// Longest question, context, label or description, in bytes.
pub const ASK_TEXT_BYTES: usize = 8 * 1024;

/// Lines of a call's arguments that an approval shows; the whole is what runs.
pub const ASK_CALL_LINES: usize = 60;

/// Characters of one such line.
pub const ASK_CALL_CHARS: usize = 400;
// Sessions.

/// Longest line that a session reads, in bytes; the rest of a longer one is passed over unread.
pub const SESSION_LINE_BYTES: usize = 16 << 20;

/// Calls of a session that run at once, each on a thread of its own; more wait in a queue. A call that
/// waits for a person or for its host keeps its thread.
pub const SESSION_THREADS: usize = 256;

/// Calls of a session that wait for a thread; one more is refused.
pub const SESSION_QUEUE: usize = 8_192;

/// Bytes of unread output at which the calls of a session wait with their answers.
pub const SESSION_OUTPUT_BYTES: usize = 16 << 20;

/// Bytes of unread output at which a session ends: its reader has stopped.
pub const SESSION_OUTPUT_BYTES_MAX: usize = 128 << 20;

/// How long calls under way may go on after the end of a session's input, before they are cancelled.
pub const SESSION_DRAIN: Duration = Duration::from_secs(2);

/// How long the end of a session waits until its last lines are read.
pub const SESSION_FLUSH: Duration = Duration::from_secs(2);

/// The same after the end of its input: nothing runs any more, and whoever reads slowly should lose nothing.
pub const SESSION_LAST_FLUSH: Duration = Duration::from_secs(30);

/// Longest id of a call, in bytes of its JSON.
pub const SESSION_ID_BYTES: usize = 256;

/// How long a background session lives without a client (interface: "ends itself after 30 idle minutes").
pub const BACKGROUND_IDLE: Duration = Duration::from_secs(30 * 60);

/// How long a command waits for its background session to start, or for an old one to end.
pub const BACKGROUND_START: Duration = Duration::from_secs(20);

/// How long a command that is interrupted waits for the answer of its call: an evaluated cell has 5 s of
/// grace (D23).
pub const BACKGROUND_CANCEL: Duration = Duration::from_secs(10);

/// After this long a command at a terminal shows that it works.
pub const PROGRESS_DELAY: Duration = Duration::from_secs(1);
// Files: Read, Write, Edit and apply_patch.

/// Lines that one Read shows where the caller names no other number (R143).
pub const READ_LINES: usize = 2_000;

/// Characters of one line that a Read shows where the caller names no other number (R143).
pub const READ_LINE_CHARS: usize = 2_000;

/// Bytes of text that one Read gives back, whatever its lines: about what 100,000 tokens hold.
pub const READ_TEXT_BYTES: usize = 400_000;

/// Largest text file that is read, edited or patched, in bytes.
pub const TEXT_FILE_BYTES: u64 = 64 << 20;

/// Largest picture that a Read gives back, in bytes: what model interfaces take.
pub const IMAGE_FILE_BYTES: u64 = 5 << 20;

/// Lines and characters of each output of a notebook's cell that a Read shows.
pub const NOTEBOOK_OUTPUT_LINES: usize = 40;

/// See [`NOTEBOOK_OUTPUT_LINES`].
pub const NOTEBOOK_OUTPUT_CHARS: usize = 4_000;

/// Pictures of a notebook's outputs that one Read gives back; together they are no larger than one picture may
/// be (R143).
pub const NOTEBOOK_PICTURES: usize = 20;

/// Places of an ambiguous text that an error of Edit lists.
pub const EDIT_PLACES: usize = 10;

/// Places of an ambiguous text that are counted: places that overlap would take quadratic time.
pub const EDIT_PLACES_COUNTED: usize = 1_000;

/// Largest text, in bytes, in which something like a text that is not there is looked for.
pub const NEAR_TEXT_BYTES: usize = 4 << 20;

/// Entries of a folder that the answer to reading it lists.
pub const FOLDER_ENTRIES: usize = 50;

/// Entries that are looked at for a path that is nearly right.
pub const NEAR_PATH_ENTRIES: usize = 20_000;

/// Files outside the workspace that language servers may open to one run's reading (D36).
pub const ALLOWED_PLACES: usize = 100_000;
// Language servers (R12 to R42).

/// How long a language server may take to answer `initialize`; slow ones load a runtime first.
pub const LSP_START: Duration = Duration::from_secs(45);

/// How long a language server may take to answer one question of the tool.
pub const LSP_REQUEST: Duration = Duration::from_secs(20);

/// How long a server may take to answer one question about all of its project: some read every file for the
/// first one.
pub const LSP_PROJECT_REQUEST: Duration = Duration::from_secs(60);

/// How long a question waits for a server to load and index; the answer then says `index incomplete`.
pub const LSP_READY: Duration = Duration::from_secs(30);

/// How long `shutdown` may take, and how long SIGTERM, before the whole tree is killed.
pub const LSP_SHUTDOWN: Duration = Duration::from_secs(2);

/// How long a server may leave its input unread before it counts as wedged.
pub const LSP_STALL: Duration = Duration::from_secs(10);

/// How long a server without questions is kept.
pub const LSP_IDLE: Duration = Duration::from_secs(15 * 60);

/// Language servers that one run keeps; the least recently used is stopped for another.
pub const LSP_SERVERS: usize = 8;

/// Documents that one server has open; the least recently used is closed for another.
pub const LSP_DOCUMENTS: usize = 50;

/// Largest document that is given to a language server, in bytes.
pub const LSP_DOCUMENT_BYTES: u64 = 8 << 20;

/// Largest message that is taken from a language server, in bytes.
pub const LSP_MESSAGE_BYTES: usize = 64 << 20;

/// Bytes of a language server's standard error that are kept.
pub const LSP_STDERR_BYTES: usize = 64 << 10;

/// How long to wait after the first, second and third crash of a server before it is started again.
pub const LSP_RESTARTS: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(8),
];

/// The time in which as many crashes as there are restarts make a server broken until `reload`.
pub const LSP_CRASH_WINDOW: Duration = Duration::from_secs(5 * 60);

/// Uses of a symbol that an answer lists (R22); places of a definition are held to the same.
pub const LSP_REFERENCES: usize = 50;

/// Symbols of a workspace search that an answer lists (R24).
pub const LSP_WORKSPACE_SYMBOLS: usize = 100;

/// Symbols of a document that an answer lists (R25).
pub const LSP_DOCUMENT_SYMBOLS: usize = 200;

/// Code actions that an answer lists.
pub const LSP_CODE_ACTIONS: usize = 50;

/// Bytes of documentation that a hover shows.
pub const LSP_HOVER_BYTES: usize = 8_000;

/// Files that are looked at to find what changed on disk behind the servers, or which servers a checkout
/// could use.
pub const LSP_SCANNED_FILES: usize = 20_000;

/// Files that are opened because they have the name a question is about, with a server that knows of open
/// files only; fewer than [`LSP_DOCUMENTS`], so that none is closed for another before the answer.
pub const LSP_NAMING_FILES: usize = 40;

/// A look at those files that took longer is followed by a rest of as much time; answers in that time say
/// so.
pub const LSP_DEAR_LOOK: Duration = Duration::from_millis(500);

// Diagnostics, checkers and renames (R30 to R42).

/// Files that a folder may hold which a server's edit moves or removes.
pub const RENAMED_FOLDER_FILES: usize = 10_000;

/// How long all project checkers of one question may take together (D3): a cold `cargo check` takes minutes.
pub const CHECK_TIME: Duration = Duration::from_secs(300);

/// Bytes of the output of one checker that are read.
pub const CHECK_OUTPUT_BYTES: usize = 32 << 20;

/// Roots that are checked; more are named as not checked (D3).
pub const CHECK_ROOTS: usize = 50;

/// Files of one compile_commands.json that are checked.
pub const CHECK_COMMANDS: usize = 500;

/// Diagnostics that one answer lists.
pub const DIAGNOSTICS_SHOWN: usize = 100;

/// How long the baseline of a write may take, while other writers wait (D6).
pub const WRITE_BASELINE: Duration = Duration::from_millis(1_500);

/// How long the result of a write waits for the diagnostics of most servers (D6).
pub const WRITE_SETTLE: Duration = Duration::from_secs(3);

/// The same for a server that runs a compiler over the project.
pub const WRITE_SETTLE_COMPILER: Duration = Duration::from_secs(15);

/// So many results in a row a server may let pass without a word, before it is waited for no longer than
/// [`WRITE_SETTLE_SILENT`].
pub const WRITE_SILENCES: usize = 2;

/// How long the result of a write waits for a server that has stayed silent before.
pub const WRITE_SETTLE_SILENT: Duration = Duration::from_millis(300);

/// How long a later result waits for diagnostics that are still pending.
pub const WRITE_SETTLE_LATE: Duration = Duration::from_millis(300);

/// Written files of one call that are opened in their servers; the servers hear of more by their names.
pub const WRITE_OPENED: usize = 20;

/// New diagnostics in files that were not written, of which one result tells.
pub const WRITE_ELSEWHERE: usize = 5;

/// New diagnostics in written files of which one result tells.
pub const WRITE_SHOWN: usize = 30;

/// How long a language server may take to work out a rename.
pub const RENAME_TIME: Duration = Duration::from_secs(60);

/// Places with the name that a server without the standard library is asked about before a rename (R38).
pub const RENAME_ASKED: usize = 100;
// Finding files and text, shell commands, delivered artifacts.

/// Files that one answer of `Glob` lists, where the caller names no other number (R146).
pub const GLOB_FILES: usize = 100;

/// Files or matches that one answer of `Grep` lists, where the caller names no other number (R147).
pub const GREP_RESULTS: usize = 100;

/// Lines before and after a match that `Grep` shows at most.
pub const GREP_CONTEXT_LINES: usize = 50;

/// Characters of one line that `Grep` shows: minified sources have lines of megabytes.
pub const GREP_LINE_CHARS: usize = 400;

/// Memory that one line, and with `multiline` one file, may take while it is searched, in bytes.
pub const GREP_HEAP_BYTES: usize = 128 << 20;

/// Longest pattern of a text search or glob, in bytes.
pub const FIND_PATTERN_BYTES: usize = 16_384;

/// Characters of each line of a pattern that an error quotes.
pub const FIND_QUOTED_CHARS: usize = 200;

/// Files that an empty answer looks at to say what the rules left out.
pub const CENSUS_FILES: usize = 50_000;

/// How long a shell command may take, where the caller names no other time (R142).
pub const BASH_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest time that a caller may name for a shell command (R142).
pub const BASH_MAX_TIMEOUT: Duration = Duration::from_secs(600);

/// How long the processes of a shell command have after SIGTERM.
pub const BASH_GRACE: Duration = Duration::from_secs(2);

/// How long processes that a shell left behind have to end before they count as running in the background.
pub const BASH_LINGER: Duration = Duration::from_millis(150);

/// Characters of a command's output that an answer holds: half of it from the start, half from the end
/// (R142).
pub const BASH_OUTPUT_CHARS: usize = 30_000;

/// Bytes of output that the file of one command takes; what comes later is read and dropped.
pub const BASH_FILE_BYTES: u64 = 1 << 30;

/// How long files of output and of pictures are kept (R142, D25).
pub const OUTPUT_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Longest command, in bytes: the system takes no argument over 128 KiB.
pub const BASH_COMMAND_BYTES: usize = 100_000;

/// Commands that run in the background of one run at once.
pub const BASH_JOBS: usize = 50;

/// Files that one delivery takes (R150).
pub const ARTIFACT_FILES: usize = 100;

/// Bytes that the files of one delivery have together: they are in memory until all are known to be there
/// (R150).
pub const ARTIFACT_BYTES: u64 = 100 << 20;
// Cells of `eval`.

/// How long a cell may be silent before it is interrupted (R111).
pub const CELL_BUDGET: Duration = Duration::from_secs(5 * 60);

/// How long an interrupted cell has before its interpreter is killed (D23).
pub const CELL_GRACE: Duration = Duration::from_secs(5);

/// How long an interpreter may take to start; the machine may be busy, and an enclosure slow.
pub const KERNEL_START: Duration = Duration::from_secs(60);

/// How long an interpreter has to run its exit handlers when it is no longer needed.
pub const KERNEL_QUIT: Duration = Duration::from_millis(500);

/// Bytes of a cell's output, of its result and of each text display that an answer shows (D25).
pub const CELL_TEXT_BYTES: usize = 50_000;

/// Lines of the same (D25).
pub const CELL_TEXT_LINES: usize = 3_000;

/// Longest frame of a kernel, in bytes: a picture or the data of a tool.
pub const KERNEL_FRAME_BYTES: usize = 64 << 20;

/// Bridged calls of one cell that run at once; further ones wait.
pub const BRIDGED_CALLS: usize = 64;

/// Bytes of one cell's output that are kept in a file; what comes after is counted alone.
pub const SPILL_BYTES: u64 = 1 << 30;

/// Bytes that are kept of what is printed while no cell runs.
pub const LATE_BYTES: usize = 1 << 16;

/// Displays of one cell that an answer holds.
pub const CELL_DISPLAYS: usize = 200;

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

/// How long an adapter may take to be reached and to say what it can do (measured: 0.5 s at most).
pub const DEBUG_HELLO_WAIT: Duration = Duration::from_secs(30);

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
// Background workers.

/// Workers of one run that work at once.
pub const VIBE_WORKERS: usize = 16;

/// Workers that have settled and were told about, and that are still listed and take messages (R132, R135).
pub const VIBE_KEPT: usize = 64;

/// How long `vibe_wait` waits where the caller names no other time (R133).
pub const VIBE_WAIT: Duration = Duration::from_secs(60);

/// The longest time that a caller may name for `vibe_wait`.
pub const VIBE_MAX_WAIT: Duration = Duration::from_secs(3600);

/// How long the processes of a killed worker have after SIGTERM.
pub const VIBE_GRACE: Duration = Duration::from_secs(2);

/// How long the kill of a worker waits for its end.
pub const VIBE_TEARDOWN: Duration = Duration::from_secs(10);

/// Longest brief and longest message, in bytes: the system takes no argument over 128 KiB.
pub const VIBE_TEXT_BYTES: usize = 100_000;

/// Characters of a label; what comes after is left out.
pub const VIBE_LABEL_CHARS: usize = 80;

/// Bytes of a worker's output that are kept, and of its result that are read.
pub const VIBE_OUTPUT_BYTES: usize = 256 << 10;

/// Characters of a result that its delivery shows: half of it from the start, half from the end.
pub const VIBE_RESULT_CHARS: usize = 30_000;

/// Characters of a result that a list shows.
pub const VIBE_PREVIEW_CHARS: usize = 500;

/// Characters of the end of a worker's output that an answer holds.
pub const VIBE_TAIL_CHARS: usize = 2_000;

/// Lines of the same that the text of an answer shows of a worker that works.
pub const VIBE_TAIL_LINES: usize = 5;
