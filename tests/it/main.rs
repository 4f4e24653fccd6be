//! One test binary.

mod child;
mod contract;
mod tidy;
