//! Language servers under supervision: real ones, and a scripted one for what real ones rarely do.

mod client;
mod faults;
mod servers;
mod tool;
