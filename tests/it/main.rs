//! One test binary.

mod split;
