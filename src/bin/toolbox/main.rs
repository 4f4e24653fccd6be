//! The command `toolbox`: a thin rim over the library.
//!
//! Only here are the environment, the current folder and the terminal looked at; the library gets values.
//! A command calls its tool through the gate of a run, as every other host does. Typing it is its own
//! approval (D42).

mod agent;
mod allocator;
mod args;
mod ask;
mod background;
mod bash;
mod call;
mod cards;
mod config;
mod debug;
mod deliver_artifacts;
mod edits;
mod eval;
mod files;
mod glob;
mod grep;
mod help;
mod host;
mod inspect;
mod lsp;
mod lsp_rename;
mod matches;
mod output;
mod paint;
mod progress;
mod search;
mod session;
mod shorten;
mod speak;
mod staged;
mod vibe;
mod web;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use output::{Console, Ending};

fn main() -> ExitCode {
    allocator::install();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(err) => return output::usage(&err),
    };
    let mut console = Console::new(&cli.global);
    // Whoever calls a tool by its name with JSON reads of its arguments; everybody else types flags.
    console.flags = !matches!(cli.command, Command::Call(_) | Command::Session(_));
    let ending = match cli.command {
        Command::AstGrep(args) => search::ast_grep(&console, &cli.global, args),
        Command::AstEdit(args) => edits::ast_edit(&console, &cli.global, args),
        Command::Resolve(args) => staged::resolve(&console, &cli.global, args),
        Command::Bash(args) => bash::bash(&console, &cli.global, args),
        Command::DeliverArtifacts(args) => {
            deliver_artifacts::deliver_artifacts(&console, &cli.global, args)
        }
        Command::Glob(args) => glob::glob(&console, &cli.global, args),
        Command::Grep(args) => grep::grep(&console, &cli.global, args),
        Command::AskUser(args) => ask::ask_user(&console, &cli.global, args),
        Command::Read(args) => files::read(&console, &cli.global, args),
        Command::Write(args) => files::write(&console, &cli.global, args),
        Command::Edit(args) => files::edit(&console, &cli.global, args),
        Command::ApplyPatch(args) => files::apply_patch(&console, &cli.global, args),
        Command::Lsp(args) => lsp::lsp(&console, &cli.global, args),
        Command::LspRename(args) => lsp_rename::lsp_rename(&console, &cli.global, args),
        Command::Eval(args) => eval::eval(&console, &cli.global, args),
        Command::Tools(args) => inspect::tools(&console, &cli.global, args),
        Command::Call(args) => call::call(&console, &cli.global, args),
        Command::WebFetch(args) => web::fetch(&console, &cli.global, args),
        Command::WebSearch(args) => web::search(&console, &cli.global, args),
        Command::Debug(args) => debug::debug(&console, &cli.global, *args),
        Command::Vibe(args) => vibe::vibe(&console, &cli.global, args),
        Command::Agent(args) => agent::agent(&console, &cli.global, args),
        Command::Config(args) => config::config(&console, &cli.global, args),
        Command::Session(args) => session::session(&console, &cli.global, args),
        Command::BackgroundSession(args) => background::serve(&console, &cli.global, args),
        Command::Completions { shell } => inspect::completions(&console, shell),
        Command::Man => inspect::man(&console),
    };
    ending
        .map_or_else(|ending| ending, |()| Ending::Done)
        .code()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_arguments_of_every_command_fit_together() {
        Cli::command().debug_assert();
    }
}
