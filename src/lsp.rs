//! Language servers: edits, diagnostics and checkers.

pub mod edits;
