//! What this process gives to the library: the workspace, the state folder, a run.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use toolbox::ask::{NobodyThere, QuestionPort};
use toolbox::child::{Processes, Watch};
use toolbox::editing::Ledger;
use toolbox::files::{Committer, ContentHash};
use toolbox::lsp::diagnostics::Bounds;
use toolbox::registry::Registry;
use toolbox::run::{CallOptions, Policy, Run};
use toolbox::shell::OnOutput;
use toolbox::syntax::Grammars;
use toolbox::syntax::staging::StagingStore;
use toolbox::tool::{Output, Tier};
use toolbox::tools::{
    self, AstGrep, Cards, DiagnosticsOnWrite, Edits, FileResources, FindingResources, LspResources,
    OnDelivery, OnMatch, Questions, Resources, ShellResources, SyntaxResources, WebResources,
    recovery_note,
};
use toolbox::workspace::{Workspace, enclosing_checkout};

use crate::args::Global;
use crate::bash;
use crate::cards;
use crate::config::{self, Config, Sources, wire};
use crate::debug;
use crate::deliver_artifacts;
use crate::eval;
use crate::lsp;
use crate::output::{Console, Ending, Step};
use crate::progress::Progress;
use crate::session::RunOptions;
use crate::vibe::{self, Allowance};

/// Letters of a content hash that name a state folder: short, because a socket's path has little room.
const STATE_NAME_LETTERS: usize = 32;

/// The conversation of a command: that of the person at the terminal (D43).
const CONVERSATION: &str = "terminal";

const CONFIG_HINT: &str = "`toolbox config --help` lists every key of toolbox.toml";

/// Everything that one command works with.
pub(crate) struct Host {
    pub(crate) workspace: Workspace,
    current_dir: PathBuf,
    /// Where this user's state of the workspace is kept; none when there is no home to put it in.
    state_dir: Option<PathBuf>,
    /// Whether `-C` named the workspace: relative paths are then looked up in it first.
    workspace_named: bool,
    syntax: SyntaxResources,
    config: Config,
    web: WebResources,
    /// Where questions of a command appear.
    questions: Arc<dyn QuestionPort>,
    /// How long a question waits; `None` is for ever.
    pub(crate) question_timeout: Option<Duration>,
    /// The conversation that asks them (R127).
    conversation: String,
    /// How long a cell may be silent, where the caller says another time than the default.
    pub(crate) eval_budget: Option<Duration>,
    /// Who sees the output of shell commands while they run.
    pub(crate) on_output: Option<OnOutput>,
    /// Who is told of deliveries.
    pub(crate) on_delivery: Option<OnDelivery>,
    /// What workers may do, while vibe mode is on.
    pub(crate) vibe: Option<Allowance>,
    /// By which variables workers know the global flags.
    worker_variables: Vec<(&'static str, OsString)>,
    /// Whether one run serves many calls.
    in_session: bool,
    /// Every process that the tools start; one watcher ends them all.
    pub(crate) processes: Processes,
    /// The language servers: the tools and what watches the writes share them.
    lsp: OnceLock<LspResources>,
}

impl Host {
    /// Looks around and opens the workspace. Nothing is written, and no grammar is loaded.
    pub(crate) fn open(console: &Console, global: &Global) -> Step<Self> {
        let current_dir = env::current_dir()
            .map_err(|err| console.misuse(&format!("cannot tell the current folder: {err}")))?;
        let root = match &global.workspace {
            Some(folder) => current_dir.join(folder),
            None => enclosing_checkout(&current_dir).unwrap_or_else(|| current_dir.clone()),
        };
        let workspace = Workspace::open(&root).map_err(|err| {
            let folder = global.workspace.as_deref().and_then(Path::to_str);
            if let Some(number) = folder.filter(|folder| is_number(folder)) {
                return console.misuse_with_hint(
                    &format!("-C names a folder, and there is none called '{number}'"),
                    &format!("lines of context: -U {number}"),
                );
            }
            let cause = std::error::Error::source(&err).map(|cause| format!(": {cause}"));
            console.misuse(&format!("{err}{}", cause.unwrap_or_default()))
        })?;
        console.detail(&format!("workspace {}", workspace.root().display()));
        let config = load_config(console, global, &current_dir, &workspace)?;
        let mut resources = SyntaxResources::new(Arc::new(Grammars::bundled()), workspace.clone());
        // One command searches once: what it parsed serves nobody after it.
        resources.cache = None;
        let state_dir = state_dir(workspace.root());
        if let Some(state_dir) = &state_dir {
            resources = resources.with_edits(
                StagingStore::on_disk(state_dir),
                Committer::new(state_dir.clone()),
            );
        }
        let worker_variables = vibe::variables_of(global, &current_dir);
        Ok(Self {
            workspace,
            current_dir,
            state_dir,
            workspace_named: global.workspace.is_some(),
            syntax: resources,
            questions: cards::terminal(),
            conversation: CONVERSATION.to_owned(),
            web: wire::web(&config.sections.web)
                .map_err(|err| console.misuse_with_hint(&err, CONFIG_HINT))?,
            question_timeout: config.sections.ask.timeout,
            config,
            eval_budget: None,
            on_output: None,
            on_delivery: None,
            vibe: None,
            worker_variables,
            in_session: false,
            processes: Processes::new(Watch::Shell),
            lsp: OnceLock::new(),
        })
    }

    /// Serves the background session: what it parsed is worth keeping, and its edits are those of the
    /// commands of the checkout (D43).
    pub(crate) fn for_background(mut self) -> Self {
        self.in_session = true;
        self.questions = Arc::new(NobodyThere);
        self.syntax.cache = Some(Arc::default());
        self
    }

    /// Returns the folder where the background session of the checkout is met.
    pub(crate) fn meeting_folder(&self, console: &Console) -> Step<PathBuf> {
        let state_dir = &self.edits(console)?.committer;
        let state_dir = state_dir.state_dir();
        // The runtime folder goes with the login, and so should the socket. One of another user, as after
        // `sudo`, is none of ours.
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let own = |path: &PathBuf| {
            let metadata = std::fs::metadata(path);
            let user = rustix::process::geteuid().as_raw();
            path.is_absolute() && metadata.is_ok_and(|it| it.is_dir() && it.uid() == user)
        };
        Ok(match (runtime.filter(own), state_dir.file_name()) {
            (Some(runtime), Some(name)) => runtime.join("toolbox").join(name),
            _ => state_dir.join("session"),
        })
    }

    /// Serves one run that lives on: what it parsed is worth keeping, and its edits are its own (D43).
    pub(crate) fn for_session(mut self) -> Self {
        self.in_session = true;
        // A harness may have been started from a terminal; its questions are still not asked there.
        self.questions = Arc::new(NobodyThere);
        self.syntax.cache = Some(Arc::default());
        if let Some(edits) = &mut self.syntax.edits {
            edits.staging = Arc::new(StagingStore::in_memory());
        }
        self
    }

    /// Asks elsewhere than at the terminal.
    pub(crate) fn asking(mut self, port: Arc<dyn QuestionPort>, options: &RunOptions) -> Self {
        self.questions = port;
        self.question_timeout = options.question_timeout.or(self.question_timeout);
        if let Some(conversation) = &options.conversation {
            self.conversation.clone_from(conversation);
        }
        self
    }

    /// Returns the tools of this workspace.
    pub(crate) fn registry(&self) -> Registry {
        self.tools().0
    }

    /// Returns the tools for a run, and what must watch the writes of that run: its memory of what it read.
    pub(crate) fn tools(&self) -> (Registry, Arc<Ledger>) {
        let files = self.files();
        let ledger = Arc::clone(&files.ledger);
        (tools::connect(&self.resources(files)), ledger)
    }

    /// Returns the tool that one command calls, and where it knows none of that name all of them: what a
    /// command does not need it should not wait for.
    fn one_tool(&self, name: &str) -> Registry {
        let files = || Some(self.files());
        let finding = || Some(self.finding());
        let none = Resources::default;
        let one = match name {
            "Read" | "read" | "Write" | "write" | "Edit" | "edit" | "apply_patch" => Resources {
                files: files(),
                ..none()
            },
            "Glob" | "glob" | "Grep" | "grep" => Resources {
                finding: finding(),
                ..none()
            },
            "Bash" | "bash" => Resources {
                shell: Some(self.shell()),
                ..none()
            },
            "ast_grep" | "ast_edit" | "resolve" => Resources {
                syntax: Some(self.syntax.clone()),
                ..none()
            },
            "WebFetch" | "web_fetch" | "WebSearch" | "web_search" => Resources {
                web: Some(self.web.clone()),
                ..none()
            },
            _ => self.resources(self.files()),
        };
        tools::connect(&one)
    }

    fn finding(&self) -> FindingResources {
        FindingResources {
            limits: wire::finding(&self.config.sections),
            ..FindingResources::new(self.workspace.clone())
        }
    }

    fn shell(&self) -> ShellResources {
        bash::resources(
            &self.workspace,
            self.processes.clone(),
            &self.config.sections.bash,
            self.state_dir.as_deref(),
            self.on_output.clone(),
        )
    }

    /// The folder of the pictures that cells show.
    pub(crate) fn figures(&self) -> PathBuf {
        let folder = self.state_dir.as_deref();
        folder
            .unwrap_or_else(|| self.workspace.root())
            .join("figures")
    }

    /// Wires every port of a run.
    fn resources(&self, files: FileResources) -> Resources {
        Resources {
            syntax: Some(self.syntax.clone()),
            web: Some(self.web.clone()),
            finding: Some(self.finding()),
            shell: Some(self.shell()),
            artifacts: deliver_artifacts::resources(
                &self.workspace,
                self.config.sections.artifacts.dir.as_deref(),
                self.on_delivery.clone(),
                self.state_dir.as_deref(),
            ),
            questions: Some(self.questions()),
            conversation: Some(self.conversation.clone()),
            lsp: Some(self.lsp().clone().with_outside(files.allowed.clone())),
            debug: Some(debug::resources(
                &self.workspace,
                self.processes.clone(),
                &self.config.sections.debug,
            )),
            files: Some(files),
            eval: Some(eval::resources(
                &self.workspace,
                self.processes.clone(),
                &self.config,
                self.eval_budget,
                self.state_dir.as_deref(),
            )),
            vibe: self.vibe.and_then(|allowance| {
                let flags = &self.worker_variables;
                let state_dir = self.state_dir.as_deref();
                let (config, workspace) = (&self.config, &self.workspace);
                vibe::resources(
                    config,
                    workspace,
                    &self.processes,
                    allowance,
                    state_dir,
                    flags,
                )
            }),
        }
    }

    /// Returns the language servers of this workspace; none is started.
    fn lsp(&self) -> &LspResources {
        self.lsp.get_or_init(|| {
            let mut resources = lsp::resources(
                &self.workspace,
                self.processes.clone(),
                wire::lsp(&self.config.sections.lsp),
            );
            let section = &self.config.sections.lsp;
            resources.checkers = resources
                .checkers
                .map(|checkers| wire::checkers(section, checkers));
            match &self.syntax.edits {
                Some(edits) => resources.with_rename(Arc::clone(&edits.committer)),
                None => resources,
            }
        })
    }

    /// Returns what tells a run which diagnostics its writes brought (R30).
    pub(crate) fn diagnostics_on_write(&self) -> Arc<DiagnosticsOnWrite> {
        let bounds = wire::bounds(&self.config.sections.lsp.write);
        let supervisor = self.lsp().supervisor.clone();
        Arc::new(DiagnosticsOnWrite::with_bounds(supervisor, bounds))
    }

    /// Returns the configuration of this workspace; it was read once.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// What may run without a question, and the cards that ask about the rest (D37). For a command it
    /// decides about what it bridges to, since typing it is its own approval (D42). A tier that was named
    /// goes before the configured one.
    pub(crate) fn policy(&self, auto: Option<Tier>) -> Policy {
        let cards = Cards::new(self.questions()).in_conversation(self.conversation.clone());
        let policy = self.config.policy(&self.workspace).asking(Arc::new(cards));
        match auto {
            Some(tier) => policy.up_to(tier),
            None => policy,
        }
    }

    /// Where the questions and approvals appear: for a command its terminal.
    pub(crate) fn questions(&self) -> Questions {
        Questions::new(Arc::clone(&self.questions)).with_timeout(self.question_timeout)
    }

    /// Returns the files of this workspace; all writers share the commit of the staged edits.
    fn files(&self) -> FileResources {
        let mut files = FileResources::new(self.workspace.clone());
        files.limits = wire::read(&self.config.sections.read);
        // Bash and eval name files with the whole of a long output; they can be read, and nothing beside.
        if let Some(folder) = &self.state_dir {
            files.allowed.allow_files_in(&output_dir(folder));
        }
        // A command reads the file itself as it starts; a run remembers what it has read (D35).
        let files = match self.in_session {
            true => files,
            false => files.one_shot(),
        };
        match &self.syntax.edits {
            Some(edits) => files.with_committer(Arc::clone(&edits.committer)),
            None => files,
        }
    }

    /// Returns where edits are staged.
    pub(crate) fn edits(&self, console: &Console) -> Step<&Edits> {
        self.syntax.edits.as_ref().ok_or_else(|| {
            console.misuse("no state folder: set HOME or XDG_STATE_HOME to an absolute path")
        })
    }

    /// Finishes or undoes what an interrupted command left. Whoever may write calls it first.
    pub(crate) fn recover(&self, console: &Console) {
        let Some(edits) = &self.syntax.edits else {
            return;
        };
        // Nothing was ever written here: nothing can be left over, and no folder is made.
        if !edits.committer.state_dir().exists() {
            return;
        }
        match edits.committer.recover() {
            Ok(recovered) => {
                for recovered in &recovered {
                    console.note(&recovery_note(recovered, &self.workspace));
                }
            }
            // A writer tries again and fails with this reason itself; a reader need not.
            Err(err) => console.note(&format!("could not recover an interrupted change: {err}")),
        }
    }

    /// Calls a tool. A tool that may write finds no change half done.
    pub(crate) fn dispatch(&self, console: &Console, name: &str, args: Value) -> Step<Output> {
        self.dispatch_watched(console, name, args, None)
    }

    /// The same, and the language servers say what the writes broke. They start with the command, so they
    /// are given more time than in a session, where they run (D12).
    pub(crate) fn dispatch_and_diagnose(
        &self,
        console: &Console,
        name: &str,
        args: Value,
    ) -> Step<Output> {
        let bounds = Bounds {
            baseline: Duration::from_secs(15),
            settle: Duration::from_secs(30),
            compiler: Duration::from_secs(120),
            late: Duration::ZERO,
        };
        let supervisor = self.lsp().supervisor.clone();
        let hook = DiagnosticsOnWrite::with_bounds(supervisor, bounds);
        self.dispatch_watched(console, name, args, Some(Arc::new(hook)))
    }

    fn dispatch_watched(
        &self,
        console: &Console,
        name: &str,
        args: Value,
        hook: Option<Arc<DiagnosticsOnWrite>>,
    ) -> Step<Output> {
        let registry = self.one_tool(name);
        if registry
            .get(name)
            .is_some_and(|spec| spec.tier > Tier::Read)
        {
            self.recover(console);
        }
        let run = Run::builder(registry).approver(self.policy(None));
        let run = match hook {
            Some(hook) => run.after_write(hook).build(),
            None => run.build(),
        };
        let progress = match self.on_output {
            // The output itself is on the screen.
            Some(_) => Progress::none(),
            None => Progress::of_tool(console, name),
        };
        let result = run.dispatch(name, args, CallOptions::new().approved_by_caller());
        drop(progress);
        result.map_err(|error| console.fail(&error))
    }

    /// Has the matches of a search handed over as they are found.
    pub(crate) fn list_matches(&mut self, on_match: Option<OnMatch>) {
        self.syntax.on_match = on_match;
    }

    /// Says how a pattern is read.
    pub(crate) fn explain(
        &self,
        console: &Console,
        pattern: &str,
        language: &str,
        context: Option<&str>,
    ) -> Step<Output> {
        AstGrep::new(self.syntax.clone())
            .explain(pattern, language, context)
            .map_err(|error| console.fail(&error))
    }

    /// Returns the root where a search without paths looks, when that is not the current folder.
    pub(crate) fn root_elsewhere(&self, paths: &[PathBuf]) -> Option<&Path> {
        let here = self.current_dir.canonicalize().ok()?;
        let root = self.workspace.root();
        (paths.is_empty() && root != here).then_some(root)
    }

    /// Returns what a word names as a path.
    pub(crate) fn named(&self, word: &str) -> Option<&'static str> {
        if word.trim().is_empty() || word.contains('\n') {
            return None;
        }
        let metadata = std::fs::metadata(self.located(Path::new(word))).ok()?;
        Some(if metadata.is_dir() { "folder" } else { "file" })
    }

    /// Where a path of the command line is: relative to the current folder, or with `-C DIR` to DIR, as
    /// git and make have it. A path that exists only relative to the current folder is that one.
    fn located(&self, path: &Path) -> PathBuf {
        let here = self.current_dir.join(path);
        let there = self.workspace.root().join(path);
        let elsewhere = self.workspace_named && (there.exists() || !here.exists());
        if elsewhere { there } else { here }
    }

    /// Makes the path arguments of a command absolute.
    pub(crate) fn paths(&self, console: &Console, paths: &[PathBuf]) -> Step<Vec<String>> {
        let absolute = |path: &PathBuf| {
            let path = self.located(path);
            path.to_str().map(str::to_owned).ok_or_else(|| {
                console.misuse(&format!(
                    "the path '{}' is not UTF-8: name a folder above it",
                    path.display()
                ))
            })
        };
        paths.iter().map(absolute).collect()
    }
}

/// Where this user's state is kept; none when there is no home to put it in.
pub(crate) fn state_base() -> Option<PathBuf> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local").join("state")))?;
    Some(base.join("toolbox"))
}

fn load_config(
    console: &Console,
    global: &Global,
    current_dir: &Path,
    workspace: &Workspace,
) -> Step<Config> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from);
    let sources = Sources {
        user: config::user_file(variable("XDG_CONFIG_HOME"), variable("HOME")),
        named: global.config.as_ref().map(|file| current_dir.join(file)),
        root: workspace.root().to_owned(),
        trust: global.trust_project,
        enclosure: global.enclosure.clone(),
    };
    let config = Config::load(&sources)
        .map_err(|err| console.misuse_with_hint(&err.to_string(), CONFIG_HINT))?;
    for line in config.ignored() {
        console.detail(&line);
    }
    Ok(config)
}

/// The state folder of a workspace, by its canonical path.
fn state_dir(root: &Path) -> Option<PathBuf> {
    let mut name = ContentHash::of(root.as_os_str().as_encoded_bytes()).to_string();
    name.truncate(STATE_NAME_LETTERS);
    Some(state_base()?.join(name))
}

/// Where output goes that is too long for an answer, in the state folder of a workspace.
pub(crate) fn output_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("output")
}

/// Whether a word is a number: who gives one to a flag that takes none means lines of context.
pub(crate) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Turns "nothing found" into its exit code.
pub(crate) fn found(anything: bool) -> Step {
    if anything {
        Ok(())
    } else {
        Err(Ending::Nothing)
    }
}
