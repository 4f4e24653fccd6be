//! The one test binary: each module holds one tool or one concern.

mod child;
mod contract;
mod files;
mod files_crash;
mod files_faults;
mod files_rivals;
mod files_support;
mod hostile;
mod rewrite_more;
mod split;
mod staging;
mod syntax_cases;
mod tidy;
mod workspace;
