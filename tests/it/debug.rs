//! `debug` as a host calls it: through the gate of a run, on real adapters and on a fake one.
//!
//! Every process that a test starts carries a mark in its environment, so that what is left over is found
//! in `/proc`, whoever its parent is by then.

mod attached;
mod bench;
mod dart;
mod faults;
mod gdb;
mod go;
mod lifetime;
mod native;
mod offline;
mod python;
mod terminal;

use bench::{Bench, fake};
