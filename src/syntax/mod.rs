//! Structural search and rewriting over tree-sitter grammars.

pub mod cache;
mod embed;
pub mod error;
pub mod explain;
pub mod grammar;
pub(crate) mod hint;
pub mod ladder;
pub mod languages;
mod matcher;
mod metavar;
mod partial;
pub mod pattern;
mod place;
pub mod prefilter;
pub mod report;
pub mod rewrite;
pub mod search;
mod source;
pub mod split;
pub mod staging;
mod template;
pub mod text;
mod tree;

pub use error::SyntaxError;
pub use grammar::{Grammar, Grammars};
pub use languages::{Context, Language};
