//! The one test binary: each module holds one tool or one concern.

mod child;
mod cli;
mod contract;
mod files;
mod files_crash;
mod files_faults;
mod files_rivals;
mod files_support;
mod hostile;
mod kernel;
mod properties;
mod readme;
mod rewrite_cases;
mod rewrite_more;
mod split;
mod split_plan;
mod staging;
mod support;
mod syntax_cases;
mod syntax_partial;
mod syntax_samples;
mod tidy;
mod tools_syntax;
mod workspace;
