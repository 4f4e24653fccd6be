//! `toolbox session` as the harness that embeds it sees it: lines in, lines out, the end.

mod agent;
mod background;
mod calls;
mod cells;
mod configured;
mod driver;
mod ends;
mod held;
mod host_tools;
mod progress;
mod questions;
mod vibe;
