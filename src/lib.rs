//! The built-in tools of a coding agent's runtime.

pub mod cancel;
pub mod child;
pub mod diff;
pub mod files;
pub mod limits;
pub mod registry;
pub mod run;
pub mod syntax;
pub mod text;
pub mod tool;
pub mod tools;
pub mod walk;
pub mod workspace;
