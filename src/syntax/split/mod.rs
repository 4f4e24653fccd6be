//! Stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Inner,
    Block,
    Whole,
}
