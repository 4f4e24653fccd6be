//! To be written.

/// Parsed files of one run.
#[derive(Debug, Default)]
pub struct Cache;
