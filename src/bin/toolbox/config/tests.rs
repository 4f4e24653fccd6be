//! The keys and the types of the configuration agree, and no text breaks the reader.

use super::*;

fn load(user: &str, project: &str, trust: bool) -> Result<Config, LoadError> {
    let temp = tempfile::tempdir().expect("a folder");
    let root = temp.path().canonicalize().expect("it exists");
    let file = root.join("user.toml");
    fs::write(&file, user).expect("a file");
    fs::write(root.join(FILE_NAME), project).expect("a file");
    Config::load(&Sources {
        named: Some(file),
        root,
        trust,
        ..Sources::default()
    })
}

/// A file that sets every key.
const EVERYTHING: &str = r#"
trusted = ["/w"]
enclosure = ["docker", "exec", "-i", "box"]
[approval]
auto = "write"
tools = { Bash = "ask", write = "deny" }
rules = [
  { tool = "Bash", command = "cargo test", decision = "allow" },
  { tool = "Write", path = "docs/**", decision = "allow" },
  { tool = "deploy", argument = "/target", path = "prod/**", decision = "deny" },
]
[ask]
timeout_s = 60
[read]
lines = 500
line_length = 300
[glob]
files = 7
[grep]
results = 8
[bash]
shell = "zsh"
timeout_s = 60
max_timeout_s = 61
env = { CI = "1" }
[lsp]
disabled = ["pyright"]
idle_s = 1.5
max_servers = 3
[lsp.server.mine]
command = "my-ls"
args = ["--stdio"]
languages = ["mine"]
root_markers = ["mine.toml"]
restart_on = ["mine.toml"]
init_options = { a = { b = [1, 2.5, true] } }
settings = { x = 1979-05-27 }
env = { A = "b" }
disabled = false
[lsp.write]
baseline_s = 1
settle_s = 2
compiler_s = 4
late_s = 0.5
[lsp.checkers]
disabled = ["mypy"]
enabled = false
time_s = 60
[debug]
stop_wait_s = 5
[debug.adapter.mine]
command = "my-dap"
args = []
root_markers = ["mine.toml"]
extensions = ["mine"]
attach = { host = "localhost" }
launch = { a = 1 }
transport = "stdio"
[eval]
budget_s = 10
python = "/usr/bin/python3"
node = "node"
[vibe.fast]
command = ["worker", "--fast"]
brief = "stdin"
message = "stdin"
resume = ["worker", "--more"]
result = "out.md"
[vibe.good]
command = ["worker"]
brief = "argument"
message = "stdin"
resume = ["worker", "--more"]
result = "out.md"
[web]
allow_private = ["localhost", "10.0.0.0/8"]
search.searxng = "http://localhost:8888"
[session]
idle_s = 1800
[artifacts]
dir = "out"
"#;

#[test]
fn every_key_has_a_type_that_takes_it() {
    let config = load(EVERYTHING, "", false).expect("a good file");
    let set: Vec<String> = config
        .values
        .values()
        .filter(|setting| setting.origin != Origin::Default)
        .filter_map(|setting| keys::find(&setting.path))
        .map(|key| key.path.to_owned())
        .collect();
    for key in KEYS.iter().filter(|key| key.path != RULES) {
        assert!(set.iter().any(|path| path == key.path), "{}", key.path);
    }
    assert_eq!(config.rules.len(), 3);
    let sections = &config.sections;
    assert_eq!(
        sections.lsp.idle,
        Some(std::time::Duration::from_millis(1500))
    );
    assert_eq!(
        sections.approval.tools["Write"],
        Decision::Deny,
        "aliases are resolved"
    );
    assert_eq!(
        sections.lsp.server["mine"].command.as_deref(),
        Some("my-ls")
    );
    assert_eq!(sections.vibe.fast.brief, Some(model::Brief::Stdin));
}

// What is shown can be read again and means the same.
#[test]
fn what_is_shown_is_a_file() {
    let config = load(EVERYTHING, "", false).expect("a good file");
    let shown = show::tests_text(&config);
    let again = load(&shown, "", false).expect("what is shown can be read");
    assert_eq!(again.tree(), config.tree());
    assert_eq!(again.rules.len(), config.rules.len());
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "(\\PC|\\n|\\[|\\]|=|\"|\\.|a|approval|auto|rules){0,80}") {
        let _ = load(&text, &text, false);
    }
}

// D37: the rules of the file are those of the run.
#[test]
fn the_policy_is_that_of_the_file() {
    use toolbox::registry::Registry;
    use toolbox::run::{CallOptions, Run};
    use toolbox::tool::{Output, ToolSpec};

    let temp = tempfile::tempdir().expect("a folder");
    let workspace = Workspace::open(&temp.path().canonicalize().expect("it exists")).expect("one");
    let spec = |name: &str, tier| ToolSpec {
        name: name.to_owned(),
        tier,
        parallel_safe: true,
        description: String::new(),
        schema: json!({"type": "object"}),
    };
    let user = "
approval.tools = { Read = \"deny\" }
approval.rules = [
  { tool = \"bash\", command = \"cargo test\", decision = \"allow\" },
  { tool = \"Write\", path = \"docs/**\", decision = \"allow\" },
]
";
    let config = load(user, "", false).expect("a good file");
    let mut builder = Registry::builder();
    for (name, tier) in [
        ("Bash", Tier::Exec),
        ("Write", Tier::Write),
        ("Read", Tier::Read),
        ("Grep", Tier::Read),
    ] {
        builder = builder.add_dynamic(spec(name, tier), |_, _| Ok(Output::default()));
    }
    let registry = builder.build().expect("four tools");
    let run = Run::builder(registry)
        .approver(config.policy(&workspace))
        .build();
    let runs = |tool: &str, args| run.dispatch(tool, args, CallOptions::new()).is_ok();
    assert!(runs("Bash", json!({"command": "cargo test --lib"})));
    assert!(!runs("Bash", json!({"command": "cargo test; rm x"})));
    for name in ["path", "file_path"] {
        assert!(runs("Write", json!({name: "docs/a"})));
        assert!(!runs("Write", json!({name: "docs/../a"})));
    }
    assert!(!runs("Read", json!({})));
    assert!(runs("Grep", json!({})));
}
