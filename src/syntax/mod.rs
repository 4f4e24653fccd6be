//! Structural search and rewriting over tree-sitter grammars.

pub mod error;
pub mod grammar;
pub mod ladder;
pub mod languages;
mod matcher;
mod metavar;
pub mod pattern;
pub mod prefilter;
pub mod split;
pub mod staging;
pub mod text;
mod tree;

pub use error::SyntaxError;
pub use grammar::{Grammar, Grammars};
pub use languages::{Context, Language};
