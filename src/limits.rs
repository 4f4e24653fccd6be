//! Every product number, with where it comes from.

/// Parses that the pattern compiler may spend on one rung before it calls the fragment hopeless.
pub const SPELLINGS_PER_RUNG: usize = 160;

/// How deep token lists inside token lists are parsed again as code; deeper ones stay tokens, so that
/// hostile nesting cannot make the work quadratic.
pub const TOKEN_TREE_NESTING: usize = 8;

/// Longest pattern or template, in bytes.
pub const PATTERN_BYTES: usize = 65_536;

/// Steps that matching one candidate may take before it is given up as no match; only patterns with
/// several runs and repeated metavariables can come near.
pub const MATCH_STEPS: usize = 4_000_000;
