//! The one test binary: each module holds one tool or one concern.

mod syntax_cases;
mod files;
mod files_crash;
mod files_faults;
mod files_support;
mod staging;
mod workspace;
mod child;
mod contract;
mod tidy;
