//! Language servers under supervision: the engine, without the tool.

mod client;
