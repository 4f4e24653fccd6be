//! One test binary.

mod split;
mod split_plan;
