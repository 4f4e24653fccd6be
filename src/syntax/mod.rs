//! Structural search and rewriting over tree-sitter grammars.

pub mod prefilter;
pub mod split;
pub mod staging;
