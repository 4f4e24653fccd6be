//! One test binary.

mod child;
