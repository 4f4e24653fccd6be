//! `toolbox tools`, and what clap prints about the command itself.

use clap::CommandFactory;
use serde_json::{Value, json};
use toolbox::tool::{Tier, ToolSpec};

use crate::args::{Cli, Global, Surface, Tools};
use crate::host::Host;
use crate::output::{Console, Ending, Step};

/// Lists the tools of this workspace.
pub(crate) fn tools(console: &Console, global: &Global, args: Tools) -> Step {
    let mut registry = Host::open(console, global)?.registry();
    if let Some(agent) = &args.agent {
        registry = crate::agent::toolset(console, agent)?.apply(registry);
    }
    if args.surface == Surface::Plan {
        registry = registry.limit(Tier::Read);
    }
    if console.json || args.schema {
        let row = |spec: &&ToolSpec| {
            let mut row = json!({
                "name": spec.name,
                "tier": spec.tier,
                "parallel_safe": spec.parallel_safe,
                "description": spec.description,
            });
            if args.schema {
                row["schema"] = spec.schema.clone();
            }
            row
        };
        let rows: Vec<Value> = registry.specs().iter().map(row).collect();
        return console
            .print_json(&json!({ "tools": rows, "unavailable": registry.unavailable() }));
    }
    let mut text = String::new();
    let unavailable = registry.unavailable();
    let names = registry.specs().into_iter().map(|spec| spec.name.len());
    let width = names
        .chain(unavailable.iter().map(|absent| absent.name.len()))
        .max()
        .unwrap_or_default();
    for spec in registry.specs() {
        let first = spec
            .description
            .split(['\n', '.', ':'])
            .next()
            .unwrap_or_default();
        text.push_str(&format!("{:<width$} {:<6} {first}\n", spec.name, spec.tier));
    }
    for absent in unavailable {
        text.push_str(&format!(
            "{:<width$} -      not registered: {}\n",
            absent.name, absent.reason
        ));
    }
    console.show(&text)
}

/// Prints the completions of a shell.
pub(crate) fn completions(console: &Console, shell: clap_complete::Shell) -> Step {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "toolbox", &mut script);
    console.print(&String::from_utf8_lossy(&script))
}

/// Prints the man page, the subcommands included.
pub(crate) fn man(console: &Console) -> Step {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let render = |command: &clap::Command, page: &mut Vec<u8>| {
        clap_mangen::Man::new(command.clone()).render(page)
    };
    let mut res = render(&command, &mut page);
    for subcommand in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        res = res.and_then(|()| render(subcommand, &mut page));
    }
    if let Err(err) = res {
        return Err(
            match console.misuse(&format!("cannot render the man page: {err}")) {
                Ending::Usage => Ending::Failed,
                ending => ending,
            },
        );
    }
    console.print(&String::from_utf8_lossy(&page))
}
