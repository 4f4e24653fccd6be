//! Language servers: edits, diagnostics and checkers.

pub mod checkers;
pub mod diagnostics;
pub mod edits;
pub mod ledger;
