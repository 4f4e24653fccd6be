//! Reading and changing text files, as values: views, exact edits, patches, and what a run has seen.
//!
//! A file is loaded without ever waiting for a device, decoded without loss or refused, changed as text,
//! and given back with its byte order mark and line endings (D35). Nothing here writes: changes leave as
//! operations for the one commit. The module knows no tool, no arguments and no run.

mod change;
mod content;
mod ledger;
mod overwrite;

pub mod images;
pub mod notebook;
pub mod patch;
pub mod replace;
pub mod view;

pub use change::{Change, ChangeKind};
pub use content::{Endings, LoadError, Loaded, Special, Text, load};
pub use ledger::{Ledger, Turn};
pub use overwrite::{Overwritten, overwrite};
