//! One test binary.

mod files;
mod files_crash;
mod files_faults;
mod files_rivals;
mod files_support;
mod staging;
mod workspace;
