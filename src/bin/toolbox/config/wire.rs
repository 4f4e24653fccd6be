//! From sections of the configuration to the options of engines. Only here do both meet.

use std::path::PathBuf;

use toolbox::child::Env;
use toolbox::dap::{AdapterRow, Transport, builtin};
use toolbox::limits;
use toolbox::lsp::Options;
use toolbox::lsp::checkers::Checkers;
use toolbox::lsp::diagnostics::Bounds;
use toolbox::lsp::servers::{RootRule, ServerRow, built_in};
use toolbox::shell::ShellOptions;
use toolbox::tools::{FindingLimits, ReadLimits, WebResources};
use toolbox::vibe::{CommandOptions, ResultFrom, Way};
use toolbox::web::{Allowed, Fetcher, Searxng};

use super::model::{self, Bash, Brief, Debug, Lsp, Sections, Server, Web, Worker};

/// How much Read shows.
pub(crate) fn read(section: &model::Read) -> ReadLimits {
    let default = ReadLimits::default();
    ReadLimits {
        lines: section.lines.unwrap_or(default.lines),
        line_chars: section.line_length.unwrap_or(default.line_chars),
        ..default
    }
}

/// How much Glob and Grep list.
pub(crate) fn finding(sections: &Sections) -> FindingLimits {
    let default = FindingLimits::default();
    FindingLimits {
        files: sections.glob.files.unwrap_or(default.files),
        results: sections.grep.results.unwrap_or(default.results),
    }
}

/// The shell of commands, in this environment; `found` says which one where the file names none.
pub(crate) fn bash(
    section: &Bash,
    mut env: Env,
    found: impl FnOnce(Option<&str>) -> PathBuf,
) -> ShellOptions {
    for (name, value) in &section.env {
        env.set(name, value);
    }
    let mut options = ShellOptions::new(found(section.shell.as_deref()), env);
    options.timeout = section.timeout.unwrap_or(options.timeout);
    let longest = section.max_timeout.unwrap_or(options.max_timeout);
    options.max_timeout = longest.max(options.timeout);
    options
}

/// How long writes wait for diagnostics.
pub(crate) fn bounds(section: &model::Write) -> Bounds {
    let default = Bounds::default();
    Bounds {
        baseline: section.baseline.unwrap_or(default.baseline),
        settle: section.settle.unwrap_or(default.settle),
        compiler: section.compiler.unwrap_or(default.compiler),
        late: section.late.unwrap_or(default.late),
    }
}

/// What may check whole projects, and for how long. A program that is disabled as a language server is not
/// run as a checker either, except the compiler that a project of TypeScript is built with.
pub(crate) fn checkers(lsp: &Lsp, checkers: Checkers) -> Checkers {
    let section = &lsp.checkers;
    if section.enabled == Some(false) {
        return Checkers::disabled("`lsp.checkers.enabled` is false in toolbox.toml");
    }
    let mut without = self::lsp(lsp).disabled;
    without.retain(|id| id != "tsc");
    without.extend_from_slice(&section.disabled);
    let checkers = checkers.without(&without);
    match section.time {
        Some(time) => checkers.with_time(time),
        None => checkers,
    }
}

/// Makes the options of the language servers.
pub(crate) fn lsp(section: &Lsp) -> Options {
    let mut options = Options::default();
    options.disabled.clone_from(&section.disabled);
    if let Some(idle) = section.idle {
        options.idle = idle;
    }
    if let Some(max_servers) = section.max_servers {
        options.max_servers = max_servers;
    }
    let known = built_in();
    for (id, server) in &section.server {
        let built_in = known.iter().find(|row| row.id == *id).cloned();
        if server.disabled == Some(true) {
            options.disabled.push(id.clone());
            if built_in.is_some() {
                continue;
            }
        }
        // A new server needs a program; `toolbox config` shows what is set, and `lsp status` what runs.
        let row = match (built_in, &server.command) {
            (Some(row), _) => row,
            (None, Some(command)) => ServerRow::new(id, vec![command.clone()]),
            (None, None) => continue,
        };
        options.rows.push(changed(row, server, &known));
    }
    options
}

/// Makes the debug adapters of the user; a table that neither is new nor names a built-in one says nothing.
pub(crate) fn debug(section: &Debug) -> Vec<AdapterRow> {
    let known = builtin();
    let row = |(id, adapter): (&String, &super::model::Adapter)| {
        let built_in = known.iter().find(|row| row.id == *id).cloned();
        let mut row = match (built_in, &adapter.command) {
            (Some(row), _) => row,
            (None, Some(command)) => AdapterRow::plain(id, command, Vec::new()),
            (None, None) => return None,
        };
        if let Some(command) = &adapter.command {
            row.programs = vec![command.clone()];
        }
        if let Some(args) = &adapter.args {
            row.args.clone_from(args);
        }
        if let Some(markers) = &adapter.root_markers {
            row.markers.clone_from(markers);
        }
        if let Some(extensions) = &adapter.extensions {
            let bare = |extension: &String| extension.trim_start_matches('.').to_owned();
            row.extensions = extensions.iter().map(bare).collect();
        }
        if let Some(attach) = &adapter.attach {
            row.attach.clone_from(attach);
        }
        if let Some(launch) = &adapter.launch {
            row.launch.clone_from(launch);
        }
        if let Some(transport) = &adapter.transport {
            row.transport = match transport.as_str() {
                "stdio" => Transport::Stdio,
                flag => Transport::ReverseDial(flag.to_owned()),
            };
        }
        Some(row)
    };
    section.adapter.iter().filter_map(row).collect()
}

/// Makes the options of a worker from those that all have; none when no command is set.
pub(crate) fn worker(section: &Worker, base: CommandOptions) -> Option<CommandOptions> {
    let way = |brief| match brief {
        Brief::Argument => Way::Argument,
        Brief::Stdin => Way::Stdin,
        Brief::File => Way::File,
    };
    Some(CommandOptions {
        argv: section.command.clone()?,
        resume: section.resume.clone(),
        brief: section.brief.map(way).unwrap_or_default(),
        message: section.message.map(way),
        result: section
            .result
            .as_deref()
            .map(ResultFrom::from_word)
            .unwrap_or_default(),
        ..base
    })
}

/// Makes the connection to the web; the error says which key is wrong.
pub(crate) fn web(section: &Web) -> Result<WebResources, String> {
    let allowed = Allowed::new(&section.allow_private)
        .map_err(|err| format!("`web.allow_private` is wrong: {err}"))?;
    let web = WebResources::new(Fetcher::new(allowed, limits::FETCH_TIME));
    let Some(address) = &section.search.searxng else {
        return Ok(web);
    };
    let searxng = Searxng::new(address, limits::FETCH_TIME)
        .map_err(|err| format!("`web.search.searxng` is wrong: {err}"))?;
    Ok(web.with_search(searxng))
}

fn changed(mut row: ServerRow, server: &Server, known: &[ServerRow]) -> ServerRow {
    match (&server.command, &server.args) {
        (Some(command), args) => {
            let own = row.commands.first().and_then(|words| words.get(1..));
            let args = args
                .clone()
                .unwrap_or_else(|| own.unwrap_or_default().to_vec());
            row.commands = vec![std::iter::once(command.clone()).chain(args).collect()];
        }
        (None, Some(args)) => {
            for words in &mut row.commands {
                words.truncate(1);
                words.extend(args.iter().cloned());
            }
        }
        (None, None) => {}
    }
    if let Some(languages) = &server.languages {
        row.files = languages
            .iter()
            .map(|language| language.trim_start_matches('.'))
            .map(|ending| (format!(".{ending}"), language_id(ending, known)))
            .collect();
    }
    if let Some(markers) = &server.root_markers {
        row.root = RootRule::Markers(vec![markers.clone()]);
    }
    if let Some(names) = &server.restart_on {
        row.restart_on.clone_from(names);
    }
    if let Some(init_options) = &server.init_options {
        row.init_options.clone_from(init_options);
    }
    if let Some(settings) = &server.settings {
        row.settings.clone_from(settings);
    }
    row.env.extend(
        server
            .env
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    row
}

/// The language id that the protocol wants for files with an ending: as a built-in row has it, else the
/// ending itself.
fn language_id(ending: &str, known: &[ServerRow]) -> String {
    let name = format!("file.{ending}");
    known
        .iter()
        .find_map(|row| row.language_of(&name))
        .unwrap_or(ending)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Lsp {
        toml::from_str(text).expect("a section")
    }

    #[test]
    fn a_server_of_the_file_changes_a_built_in_row_or_is_a_new_one() {
        let options = lsp(&section(
            "disabled = ['gopls']\nidle_s = 5\nmax_servers = 2\n\
             [server.rust-analyzer]\ncommand = '/opt/ra'\nenv = { A = 'b' }\n\
             [server.mine]\ncommand = 'mine'\nargs = ['--stdio']\nlanguages = ['.rs', 'mine']\n\
             root_markers = ['mine.toml']\n[server.clangd]\ndisabled = true\n[server.nothing]\nargs = []\n\
             [server.off]\ncommand = 'off'\ndisabled = true\n",
        ));
        assert_eq!(options.disabled, ["gopls", "clangd", "off"]);
        assert_eq!(options.max_servers, 2);
        assert_eq!(options.idle.as_secs(), 5);
        let [mine, off, rust_analyzer] = &options.rows[..] else {
            panic!("{:?}", options.rows)
        };
        assert_eq!(off.id, "off", "`status` tells of it");
        assert_eq!(mine.commands, [["mine", "--stdio"]]);
        assert_eq!(mine.language_of("a.rs"), Some("rust"));
        assert_eq!(mine.language_of("a.mine"), Some("mine"));
        assert_eq!(mine.markers(), ["mine.toml"]);
        assert_eq!(rust_analyzer.commands[0][0], "/opt/ra");
        assert_eq!(rust_analyzer.root, RootRule::Cargo, "the rest is as it was");
        assert!(
            rust_analyzer
                .env
                .contains(&("A".to_owned(), "b".to_owned()))
        );
    }

    // D3: what is disabled as a server does not run as a checker; the compiler of TypeScript is both.
    #[test]
    fn a_disabled_server_does_not_check_the_project_either() {
        let processes = toolbox::child::Processes::new(toolbox::child::Watch::Shell);
        let made = |text: &str| {
            let checkers_of = Checkers::new(processes.clone(), Env::new());
            format!("{:?}", checkers(&section(text), checkers_of))
        };
        let text = "disabled = ['basedpyright', 'tsc']\n[server.ty]\ndisabled = true\n[checkers]\ndisabled = ['mypy']\n";
        let without = r#"without: ["basedpyright", "ty", "mypy"]"#;
        assert!(made(text).contains(without), "{}", made(text));
        assert!(made("").contains("without: []"), "{}", made(""));
    }

    #[test]
    fn an_adapter_of_the_file_changes_a_built_in_row_or_is_a_new_one() {
        let section: Debug = toml::from_str(
            "[adapter.delve]\ntransport = 'stdio'\nlaunch = { showLog = true }\n\
             [adapter.mine]\ncommand = 'mine'\ntransport = '--call-back='\n[adapter.nothing]\nargs = []\n",
        )
        .expect("a section");
        let rows = debug(&section);
        let [delve, mine] = &rows[..] else {
            panic!("{rows:?}")
        };
        assert_eq!(delve.transport, Transport::Stdio);
        assert_eq!(delve.launch["showLog"], true);
        assert_eq!(delve.programs, ["dlv"], "the rest is as it was");
        let flag = Transport::ReverseDial("--call-back=".to_owned());
        assert_eq!(mine.transport, flag);
    }

    #[test]
    fn times_and_numbers_of_the_file_hold() {
        let sections: Sections = toml::from_str(
            "read = { lines = 3, line_length = 4 }\nglob.files = 5\ngrep.results = 6\n\
             bash = { shell = 'zsh', timeout_s = 900, env = { A = 'b' } }\n\
             lsp.write = { settle_s = 0.5 }\n",
        )
        .expect("sections");
        let limits = read(&sections.read);
        assert_eq!((limits.lines, limits.line_chars), (3, 4));
        let limits = finding(&sections);
        assert_eq!((limits.files, limits.results), (5, 6));
        let shell = |name: Option<&str>| PathBuf::from(name.unwrap_or("none"));
        let options = bash(&sections.bash, Env::new(), shell);
        assert_eq!(options.shell, PathBuf::from("zsh"));
        assert_eq!(options.timeout.as_secs(), 900);
        assert_eq!(options.max_timeout.as_secs(), 900, "never below the other");
        let default = Bounds::default();
        let bounds = bounds(&sections.lsp.write);
        assert_eq!(bounds.settle.as_millis(), 500);
        assert_eq!(bounds.compiler, default.compiler);
    }

    #[test]
    fn a_worker_without_a_command_is_none() {
        let base = || CommandOptions::new(Vec::new(), "/", toolbox::child::Env::new());
        let section = |text: &str| -> Worker { toml::from_str(text).expect("a section") };
        assert!(worker(&section("brief = 'stdin'"), base()).is_none());
        let text = "command = ['a', 'b']\nbrief = 'stdin'\nmessage = 'file'\nresult = 'out.md'\nresume = ['c']";
        let options = worker(&section(text), base()).expect("a worker");
        assert_eq!(options.argv, ["a", "b"]);
        assert_eq!(
            (options.brief, options.message),
            (Way::Stdin, Some(Way::File))
        );
        assert_eq!(options.result, ResultFrom::Path("out.md".to_owned()));
        assert_eq!(options.resume, Some(vec!["c".to_owned()]));
    }

    #[test]
    fn the_web_section_is_checked() {
        let section = |text: &str| -> Web { toml::from_str(text).expect("a section") };
        assert!(web(&section("")).is_ok_and(|web| web.search.is_none()));
        let full =
            section("allow_private = ['localhost', '10.0.0.0/8']\nsearch.searxng = 'http://x'");
        assert!(web(&full).is_ok_and(|web| web.search.is_some()));
        let error = web(&section("allow_private = ['a b']")).err();
        assert!(error.is_some_and(|error| error.starts_with("`web.allow_private` is wrong")));
    }
}
