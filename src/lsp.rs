//! Language servers: which one answers for a file, its process, its documents, its answers.
//!
//! [`servers`] is the table, `detect` finds the row, the root and the binary of a file at the moment of
//! the call (R13), [`client`] is one running server, [`supervisor`] starts, restarts and stops them for one
//! run. [`question`] brings a file up to date and finds a symbol in it; `navigate`, `hover`, `symbols`,
//! `hierarchy`, `actions` and `status` each hold one kind of answer. Everything is addressed by path, line and symbol; [`convert`] and [`uri`] are the only places that
//! know how the protocol counts and names. [`settle`] waits until a server has spoken about a text,
//! [`diagnostics`] tells what it said and, after a write, what is new by the [`ledger`]; [`rename`] and
//! [`edits`] plan changes of files, [`checkers`] check a project without a server. This engine knows no tool.

pub mod actions;
pub mod checkers;
pub mod client;
pub mod convert;
mod detect;
pub mod diagnostics;
pub mod documents;
pub mod edits;
pub mod error;
pub mod hierarchy;
pub mod hover;
pub mod ledger;
pub mod names;
pub mod navigate;
pub mod places;
pub mod published;
pub mod question;
mod reach;
pub mod rename;
pub mod servers;
pub mod settle;
pub mod status;
pub mod supervisor;
pub mod symbol;
pub mod symbols;
pub mod uri;

pub use crate::lsp::client::Server;
pub use crate::lsp::error::{LspError, Unusable};
pub use crate::lsp::supervisor::{Options, Supervisor};
